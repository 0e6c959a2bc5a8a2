"""Greedy decoding, sampling and beam search over extended word ids. No gradient.

Notation: R rows being decoded, W beam width, V' = V + unknown words of the batch's articles, L decoded length.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from rlsum.data.vocabulary import BOS, EOS, PAD, UNK
from rlsum.models.decoding import Decoding
from rlsum.models.summarizer import Tokens

if TYPE_CHECKING:
    from rlsum.models.pointer_generator import Encoded, PointerGenerator, State
    from rlsum.models.word_scores import WordColumns

WORTH_DROPPING = 0.75  # ended rows are dropped once so few are left: dropping copies the articles of the others
BLOCKED = float("-inf")
NEVER = -1e9  # log of "impossible": finite, so that no inf - inf appears in a gradient


class Chooser(Protocol):
    """How the next words are chosen."""

    def __call__(self, p: Tensor, rows: Tensor, t: int) -> Tensor:
        """Ids (R,) chosen by p (R, V') as token ``t`` of the rows with these numbers (R,)."""


def greedy(p: Tensor, rows: Tensor, t: int) -> Tensor:
    """The most probable id; never UNK, which is no word a reader could use. PAD, the one id below it, never has p."""
    return p[:, UNK + 1 :].argmax(-1) + UNK + 1


def sampler(temperature: float, noise: Tensor | None = None) -> Chooser:
    """Draw from p ** (1 / temperature), made to sum to 1, with the numbers that ``noise`` (all rows, L) has of a row.

    Without it the numbers come from torch's generator, for the rows that are left at each step.
    """
    own = None if noise is None else noise.unsqueeze(-1)

    def sample(p: Tensor, rows: Tensor, t: int) -> Tensor:
        weight = p if temperature == 1 else (p / p.amax(-1, keepdim=True)) ** (1 / temperature)
        if own is None:
            return draw(weight, torch.rand((len(p), 1), dtype=torch.float64, device=p.device))
        return draw(weight, own[rows, t])

    return sample


def draw(weight: Tensor, uniform: Tensor) -> Tensor:
    """Ids (R,) with probabilities in proportion to ``weight`` (R, V), by inverting the cumulative distribution.

    ``uniform`` (R, 1) float64 in [0, 1).
    """
    cumulative = weight.cumsum(-1, dtype=torch.float64)
    point = uniform * cumulative[:, -1:]
    return torch.searchsorted(cumulative, point, right=True).clamp(max=weight.shape[-1] - 1).squeeze(-1)


def split_at(cut: int, first: Chooser, rest: Chooser) -> Chooser:
    """One chooser for rows before ``cut``, another for the rows from there on."""

    def choose(p: Tensor, rows: Tensor, t: int) -> Tensor:
        before = int((rows < cut).sum())  # rows come in ascending order
        return torch.cat([first(p[:before], rows[:before], t), rest(p[before:], rows[before:], t)])

    return choose


def rollout(model: PointerGenerator, encoded: Encoded, choose: Chooser, decoding: Decoding) -> Tokens:
    """Decode every row of ``encoded`` with ``choose`` until all rows have ended or max_length is reached."""
    rows, device = len(encoded.states), encoded.states.device
    ids = torch.full((rows, decoding.max_length), PAD, device=device)
    precision = torch.promote_types(encoded.states.dtype, torch.float32)
    log_probs = torch.zeros((rows, decoding.max_length), dtype=precision, device=device)
    state, columns = model.start(encoded), model.word_columns()
    alive = torch.arange(rows, device=device)  # the rows that encoded and state hold
    previous, running = torch.full_like(alive, BOS), torch.ones_like(alive, dtype=torch.bool)
    for t in range(decoding.max_length):
        p, state = _advance(model, encoded, state, previous, columns)
        allowed = _constrain(_log(p), ids[alive, :t], t, decoding).softmax(-1) if _constrained(t, decoding) else p
        previous = choose(allowed, alive, t).masked_fill(~running, PAD)
        ids[alive, t] = previous
        log_probs[alive, t] = _log(p.gather(1, previous.unsqueeze(1)).squeeze(1)).masked_fill(~running, 0.0)
        running = running & (previous != EOS)
        left = int(running.sum())
        if left == 0:
            break
        if left <= len(alive) * WORTH_DROPPING:
            keep = running.nonzero().squeeze(1)
            alive, previous, running = alive[keep], previous[keep], running[keep]
            encoded, state = encoded.select(keep), state.select(keep)
    return Tokens(ids[:, : t + 1], log_probs[:, : t + 1])


def beam(model: PointerGenerator, encoded: Encoded, decoding: Decoding) -> Tokens:
    """The best hypothesis of each row by log p / length ** length_penalty.

    All R rows keep W hypotheses and advance together as R*W rows. A row is done, as in See et al. 2017, when W of its
    hypotheses have ended; a beam of 1 is then greedy decoding. Where max_length comes first, the open ones compete with
    those that ended: one that ended early may be far less probable than all that were cut off.
    """
    rows, width, device = len(encoded.states), decoding.beam, encoded.states.device
    encoded = encoded.select(torch.arange(rows, device=device).repeat_interleave(width))
    state, columns = model.start(encoded), model.word_columns()
    beams = Beams.start(rows, width, device)
    finished: list[list[Hypothesis]] = [[] for _ in range(rows)]
    for t in range(decoding.max_length):
        p, state = _advance(model, encoded, state, beams.last(), columns)
        log_p = _log(p)
        allowed = _without_unknown(_constrain(log_p, beams.ids, t, decoding) if _constrained(t, decoding) else log_p)
        origin, beams = _grow(beams, log_p, allowed, finished, decoding)
        state = state.select(origin)
        open_rows = [i for i, row in enumerate(beams.rows) if len(finished[row]) < width]
        if not open_rows:
            break
        if len(open_rows) <= len(beams.rows) * WORTH_DROPPING:
            beams, places = beams.select(open_rows)
            encoded, state = encoded.select(places), state.select(places)
    for i, row in enumerate(beams.rows):
        if len(finished[row]) < width:  # cut off at max_length
            place = i * width + int(beams.total[i].argmax())  # the best open one: all are equally long
            total = beams.total[i].max().item()
            finished[row].append(Hypothesis.of(total, beams.ids[place], beams.log_prob[place], decoding))
    return _best(finished)


class Hypothesis(NamedTuple):
    """A text that ended or was cut off: its rank, its ids and their log-probabilities, both (length,)."""

    rank: float
    ids: Tensor
    log_prob: Tensor

    @classmethod
    def of(cls, total: float, ids: Tensor, log_prob: Tensor, decoding: Decoding) -> Hypothesis:
        """Ranked by ``total``, its log p, over its length to the power of the penalty."""
        return cls(total / len(ids) ** decoding.length_penalty, ids, log_prob)


class Beams(NamedTuple):
    """Open hypotheses: W for each of ``rows`` (numbers of the articles), one after the other.

    total (rows, W) log p of each, -inf for none; ids and log_prob (rows * W, t) what they hold so far
    """

    rows: list[int]
    total: Tensor
    ids: Tensor
    log_prob: Tensor

    @classmethod
    def start(cls, rows: int, width: int, device: torch.device) -> Beams:
        """One real hypothesis a row: W copies of the same beginning would stay W copies."""
        total = torch.full((rows, width), BLOCKED, device=device)
        total[:, 0] = 0.0
        nothing = torch.empty((rows * width, 0), device=device)
        return cls(list(range(rows)), total, nothing.long(), nothing)

    def last(self) -> Tensor:
        """The last id of each hypothesis (rows * W,)."""
        return self.ids[:, -1] if self.ids.shape[1] else self.ids.new_full((len(self.ids),), BOS)

    def select(self, kept: list[int]) -> tuple[Beams, Tensor]:
        """Only some of the rows, by place; and the places of their hypotheses."""
        index = torch.tensor(kept, device=self.ids.device)
        width = self.total.shape[1]
        places = (index.unsqueeze(1) * width + torch.arange(width, device=index.device)).flatten()
        rows = [self.rows[i] for i in kept]
        return Beams(rows, self.total[index], self.ids[places], self.log_prob[places]), places


def _grow(
    beams: Beams, log_p: Tensor, allowed: Tensor, finished: list[list[Hypothesis]], decoding: Decoding
) -> tuple[Tensor, Beams]:
    """Extend every hypothesis by a word; ended ones go to ``finished``, the W best open ones of a row stay.

    Returns which hypothesis each of the new ones came from (rows * W,), and the new ones.
    """
    rows, width = beams.total.shape
    first = torch.arange(rows, device=log_p.device).unsqueeze(1)
    best, flat = (beams.total.unsqueeze(2) + allowed.view(rows, width, -1)).flatten(1).topk(2 * width)
    token = flat % log_p.shape[1]
    origin = (first * width + flat // log_p.shape[1]).flatten()
    ids = torch.cat([beams.ids[origin], token.flatten().unsqueeze(1)], 1)
    log_prob = torch.cat([beams.log_prob[origin], log_p[origin, token.flatten()].unsqueeze(1)], 1)
    for i, place in ((token == EOS) & (best > BLOCKED))[:, :width].nonzero().tolist():
        ended = finished[beams.rows[i]]
        if len(ended) < width:
            row = i * 2 * width + place
            ended.append(Hypothesis.of(best[i, place].item(), ids[row], log_prob[row], decoding))
    # of 2W candidates at most W end, so W open ones remain
    total, keep = best.masked_fill(token == EOS, BLOCKED).topk(width)
    kept = (first * 2 * width + keep).flatten()
    return origin[kept], Beams(beams.rows, total, ids[kept], log_prob[kept])


def _best(finished: list[list[Hypothesis]]) -> Tokens:
    """The best hypothesis of each row, padded to the longest."""
    chosen = [max(hypotheses, key=lambda hypothesis: hypothesis.rank) for hypotheses in finished]
    ids = pad_sequence([hypothesis.ids for hypothesis in chosen], batch_first=True, padding_value=PAD)
    return Tokens(ids, pad_sequence([hypothesis.log_prob for hypothesis in chosen], batch_first=True))


def _advance(
    model: PointerGenerator, encoded: Encoded, state: State, previous: Tensor, columns: WordColumns
) -> tuple[Tensor, State]:
    """P (R, V') of the next word after ``previous`` (R,), and the state behind it."""
    inputs = previous.masked_fill(previous >= len(model.vocabulary), UNK)
    out, after = model.step(encoded, state, model.embed(inputs))
    return model.distribution(encoded, out, columns), after


def _log(p: Tensor) -> Tensor:
    return p.log().clamp_(min=NEVER)


def _without_unknown(log_p: Tensor) -> Tensor:
    return log_p.index_fill(1, torch.tensor([UNK], device=log_p.device), BLOCKED)


def _constrained(t: int, decoding: Decoding) -> bool:
    return t < decoding.min_length or decoding.block_ngrams > 0


def _constrain(log_p: Tensor, ids: Tensor, t: int, decoding: Decoding) -> Tensor:
    """Log p with the end forbidden before min_length, and repeated n-grams forbidden.

    Where that leaves no word at all, the end is allowed again.
    """
    allowed = log_p.masked_fill(log_p == NEVER, BLOCKED)
    if t < decoding.min_length:
        allowed[:, EOS] = BLOCKED
    if decoding.block_ngrams:
        for row, history in enumerate(ids.tolist()):
            allowed[row, _completions(history, decoding.block_ngrams)] = BLOCKED
    stuck = _without_unknown(allowed).amax(-1) == BLOCKED
    allowed[:, EOS] = torch.where(stuck, log_p[:, EOS], allowed[:, EOS])
    return allowed


def _completions(history: list[int], n: int) -> list[int]:
    """Ids that would complete an n-gram that ``history`` already holds."""
    beginning = history[len(history) - n + 1 :] if n > 1 else []
    return [history[i + n - 1] for i in range(len(history) - n + 1) if history[i : i + n - 1] == beginning]
