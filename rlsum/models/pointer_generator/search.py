"""Greedy decoding, sampling and beam search over extended word ids. No gradient.

Notation: R rows being decoded, W beam width, V' = V + unknown words of the batch's articles, L decoded length.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import torch
import torch.nn.functional as F
from torch import Tensor

from rlsum.data.vocabulary import BOS, EOS, PAD, UNK
from rlsum.models.constraints import Constraints
from rlsum.models.decoding import Decoding, Sampling
from rlsum.models.drawing import draw, most_probable
from rlsum.models.execution import execution
from rlsum.models.pointer_generator.encoder import Encoded
from rlsum.models.pointer_generator.kernels import tempering
from rlsum.models.pointer_generator.network import Network
from rlsum.models.pointer_generator.stepping import Steps
from rlsum.models.sampling import BLOCKED, NEVER, NextWords, allowed, log_policy
from rlsum.models.summarizer import Tokens

WORTH_DROPPING = 0.9  # ended rows are dropped once at most this share is left


class Chooser(Protocol):
    """Chooses the next words."""

    def __call__(self, words: NextWords, rows: Tensor, ids: Tensor) -> tuple[Tensor, Tensor]:
        """Ids (R,) of the next token and their log-probabilities (R,), from those of all words after the ids (R, t).

        ``rows`` (R,) are the row numbers in the whole batch. May overwrite p.
        """


def greedy(constraints: Constraints, temperature: float) -> Chooser:
    """Choose the most probable id except UNK that is not forbidden; p is the model's, whatever the temperature."""

    def choose(words: NextWords, rows: Tensor, ids: Tensor) -> tuple[Tensor, Tensor]:
        if constraints.may_forbid(ids.shape[1]):
            forbidden = constraints.select(rows).after(ids)
            log_p, chosen = allowed(_log(words.p), forbidden, temperature, words.log_p).max(-1)
            return chosen, log_p
        words.p[:, EOS].clamp_(min=torch.finfo(words.p.dtype).tiny)  # chosen where nothing else is possible
        chosen = most_probable(words.p[:, UNK + 1 :]) + UNK + 1  # p of PAD is 0
        return chosen, _log(words.p.gather(1, chosen.unsqueeze(1)).squeeze(1))

    return choose


def sampler(sampling: Sampling, constraints: Constraints, noise: Tensor | None = None) -> Chooser:
    """Draw from p without UNK, cut and tempered by ``sampling``; log-probabilities are those of this distribution.

    ``noise`` (all rows, L) float64 in [0, 1) gives the random number of each token. None: torch's generator, for the
    rows that are left at each step. Without options no step looks whether UNK alone has p above 1e-38: the end is drawn
    then.
    """
    uniform = None if noise is None else noise.unsqueeze(-1)

    def choose(words: NextWords, rows: Tensor, ids: Tensor) -> tuple[Tensor, Tensor]:
        p = words.p
        if uniform is None:
            point = torch.rand((len(p), 1), dtype=torch.float64, device=p.device)
        else:
            point = uniform[rows, ids.shape[1]]
        if sampling.plain:  # without a pass over the log-probabilities
            p[:, UNK] = 0.0
            p[:, EOS].clamp_(min=torch.finfo(p.dtype).tiny)  # drawn where nothing else is possible
            return draw(p, point)
        forbidden = constraints.select(rows).after(ids)
        if sampling.cuts:
            return draw(log_policy(_log(p), forbidden, sampling, exact=words.log_p).exp(), point)
        looks = constraints.may_forbid(ids.shape[1])
        return draw(tempering.weights_(words, forbidden, sampling, looks), point)

    return choose


def split_at(cut: int, total: int, first: Chooser, rest: Chooser) -> Chooser:
    """Use ``first`` for rows before ``cut`` of ``total`` rows, ``rest`` for the others."""
    counted: list[tuple[Tensor, int]] = []  # rows, and how many are before the cut: one look while they are the same

    def choose(words: NextWords, rows: Tensor, ids: Tensor) -> tuple[Tensor, Tensor]:
        if not counted or counted[0][0] is not rows:
            counted[:] = [(rows, cut if len(rows) == total else int((rows < cut).sum()))]  # rows ascend
        before = counted[0][1]
        sampled, others = words.select(0, before), words.select(before, len(rows))
        halves = first(sampled, rows[:before], ids[:before]), rest(others, rows[before:], ids[before:])
        chosen, log_prob = (torch.cat(pair) for pair in zip(*halves, strict=True))
        return chosen, log_prob

    return choose


class Texts:
    """R texts that grow by a token a step: ids and log-probabilities (R, L) so far.

    alive     numbers of the rows that are still decoded
    previous  their last tokens, BOS before the first
    running   whether they have not ended
    """

    def __init__(self, rows: int, length: int, like: Tensor) -> None:
        """At most ``length`` tokens each. ``like``: any tensor of the model."""
        self.ids = torch.full((rows, length), PAD, device=like.device)
        precision = torch.promote_types(like.dtype, torch.float32)
        self.log_prob = torch.zeros((rows, length), dtype=precision, device=like.device)
        self.alive = torch.arange(rows, device=like.device)
        self.previous, self.running = torch.full_like(self.alive, BOS), torch.ones_like(self.alive, dtype=torch.bool)
        self.length = 0

    def add(self, choose: Chooser, words: NextWords) -> None:
        """Choose the next tokens of the alive rows from their probabilities."""
        t = self.length
        chosen, log_prob = choose(words, self.alive, self.ids[self.alive, :t])
        self.previous = chosen.masked_fill(~self.running, PAD)
        self.ids[self.alive, t] = self.previous
        self.log_prob[self.alive, t] = log_prob.masked_fill(~self.running, 0.0).to(self.log_prob.dtype)
        self.length += 1
        self.running = self.running & (self.previous != EOS) & (self.length < self.ids.shape[1])

    def drop(self) -> Tensor:
        """Drop the rows that have ended. Returns the positions of the others among those that were alive."""
        kept = self.running.nonzero().squeeze(1)
        self.alive, self.previous, self.running = self.alive[kept], self.previous[kept], self.running[kept]
        return kept

    def tokens(self) -> Tokens:
        """All texts, as wide as the longest."""
        width = int((self.ids != PAD).any(0).sum())
        return Tokens(self.ids[:, :width], self.log_prob[:, :width])


def rollout(model: Network, encoded: Encoded, choose: Chooser, max_length: int) -> Tokens:
    """Decode every row of ``encoded`` with ``choose`` until all rows have ended or have ``max_length`` tokens."""
    texts = Texts(len(encoded.mask), max_length, encoded.memory.states)
    steps, between_looks = Steps(model, encoded), execution(encoded.mask.device).steps_between_looks
    for t in range(max_length):
        texts.add(choose, steps.next(texts.previous))
        if (t + 1) % between_looks:
            continue
        left = int(texts.running.sum())
        if left == 0:
            break
        if left <= len(texts.alive) * WORTH_DROPPING:
            steps.select(texts.drop())
    return texts.tokens()


def beam(model: Network, encoded: Encoded, decoding: Decoding, constraints: Constraints) -> Tokens:
    """The best hypothesis of each row by log p / length ** length_penalty.

    All R rows keep W hypotheses and advance together as R*W rows. When a row is done, ``early_stopping`` says, see
    ``Ended.close``; by default a beam of 1 is greedy decoding. At max_length, the best open hypothesis joins the
    ended ones: one that ended early may be far less probable. As ``generate`` of transformers.
    """
    rows, width, device = len(encoded.mask), decoding.beam, encoded.mask.device
    encoded = encoded.select(torch.arange(rows, device=device).repeat_interleave(width))
    state, columns = model.start(encoded), model.word_columns()
    beams, ended = Beams.start(rows, width, device), Ended(rows, decoding, device)
    between_looks = execution(device).steps_between_looks
    for t in range(decoding.max_length):
        p, words, state = model.advance(encoded, state, beams.last(), columns)
        log_p, forbidden = _log(p), constraints.select(beams.rows.repeat_interleave(width)).after(beams.ids)
        if constraints.may_forbid(t):
            exact = model.next_words(p, words).log_p
            possible = allowed(log_p, forbidden, decoding.temperature, exact)
            log_p = torch.where(possible > BLOCKED, possible, log_p)
        else:
            possible = forbidden.mark(log_p.clone(), BLOCKED)
        origin, beams = _grow(beams, log_p, possible, ended)
        state = state.select(origin)
        if t + 1 == decoding.max_length:
            break
        ended.close(beams)
        if (t + 1) % between_looks:
            continue
        going = (~ended.done[beams.rows]).nonzero().squeeze(1)
        if not len(going):
            break
        if len(going) <= len(beams.rows) * WORTH_DROPPING:
            beams, kept = beams.select(going)
            encoded, state = encoded.select(kept), state.select(kept)
    return ended.best(beams)


class Ended:
    """The W best hypotheses of each row that have ended, and the rows that are done.

    rank           (R, W) float64, log p over length ** penalty, the best first, -inf for none
    ids, log_prob  (R, W, L) their tokens; log-probabilities in float64
    done           (R,) bool
    """

    def __init__(self, rows: int, decoding: Decoding, device: torch.device) -> None:
        self.decoding, shape = decoding, (rows, decoding.beam)
        self.rank = torch.full(shape, BLOCKED, dtype=torch.float64, device=device)
        self.ids = torch.full((*shape, decoding.max_length), PAD, device=device)
        self.log_prob = torch.zeros(self.ids.shape, dtype=torch.float64, device=device)
        self.done = torch.zeros(rows, dtype=torch.bool, device=device)

    def add(self, rows: Tensor, total: Tensor, ids: Tensor, log_prob: Tensor, wanted: Tensor) -> None:
        """Hypotheses of ``rows`` (r,) that end: their log p (r, n), tokens (r, n, t), which ones are ``wanted`` (r, n).

        Rows that are done take no more.
        """
        length = ids.shape[2]
        wanted = wanted & ~self.done[rows].unsqueeze(1)
        if execution(wanted.device).looks_for_lost and not wanted.any():  # a GPU would wait to know
            return
        rank = total.double() / length**self.decoding.length_penalty
        rank = torch.cat([self.rank[rows], rank.masked_fill(~wanted, BLOCKED)], 1)
        self.rank[rows], order = (best[:, : self.decoding.beam] for best in rank.sort(descending=True, stable=True))
        for kept, new in ((self.ids, ids), (self.log_prob, log_prob)):
            every = torch.cat([kept[rows], F.pad(new.to(kept.dtype), (0, kept.shape[2] - length))], 1)  # PAD is 0
            kept[rows] = every.gather(1, order.unsqueeze(2).expand(-1, -1, kept.shape[2]))

    def close(self, beams: Beams) -> None:
        """Find the rows that are done, as transformers' ``early_stopping`` says.

        True: W have ended (See et al. 2017). False: and the best open one would not be among them if it ended now.
        "never": and not with any length up to ``max_length``, at which a penalty above 0 ranks it highest.
        """
        lowest, decoding = self.rank[beams.rows, -1], self.decoding
        done = lowest > BLOCKED
        if decoding.early_stopping is not True:
            never = decoding.early_stopping == "never" and decoding.length_penalty > 0
            length = decoding.max_length if never else beams.ids.shape[1]
            done &= beams.total.amax(1).double() / length**decoding.length_penalty <= lowest
        self.done[beams.rows] |= done

    def best(self, beams: Beams) -> Tokens:
        """The best hypothesis of each row; of rows that are not done, an open one that was cut off may be that."""
        open_total, place = beams.total.max(1, keepdim=True)  # all open ones are equally long
        ids, log_prob = (
            tokens.unflatten(0, beams.total.shape).gather(1, place.unsqueeze(2).expand(-1, -1, tokens.shape[1]))
            for tokens in (beams.ids, beams.log_prob)
        )
        self.add(beams.rows, open_total, ids, log_prob, torch.ones_like(place, dtype=torch.bool))
        width = int((self.ids[:, 0] != PAD).any(0).sum())
        return Tokens(self.ids[:, 0, :width], self.log_prob[:, 0, :width].to(beams.log_prob.dtype))


class Beams(NamedTuple):
    """Open hypotheses: W for each row number in ``rows`` (rows,), one after the other.

    total          (rows, W) log p of each, -inf for none
    ids, log_prob  (rows * W, t) their tokens so far
    """

    rows: Tensor
    total: Tensor
    ids: Tensor
    log_prob: Tensor

    @classmethod
    def start(cls, rows: int, width: int, device: torch.device) -> Beams:
        """One hypothesis a row: W copies of it would stay W copies."""
        total = torch.full((rows, width), BLOCKED, device=device)
        total[:, 0] = 0.0
        empty = torch.empty((rows * width, 0), device=device)
        return cls(torch.arange(rows, device=device), total, empty.long(), empty)

    def last(self) -> Tensor:
        """The last id of each hypothesis (rows * W,)."""
        return self.ids[:, -1] if self.ids.shape[1] else self.ids.new_full((len(self.ids),), BOS)

    def select(self, kept: Tensor) -> tuple[Beams, Tensor]:
        """Some of the rows, by position in ``rows``; and the positions (len(kept) * W,) of their hypotheses."""
        width = self.total.shape[1]
        flat = (kept.unsqueeze(1) * width + torch.arange(width, device=kept.device)).flatten()
        return Beams(self.rows[kept], self.total[kept], self.ids[flat], self.log_prob[flat]), flat


def _grow(beams: Beams, log_p: Tensor, possible: Tensor, ended: Ended) -> tuple[Tensor, Beams]:
    """Extend every hypothesis by a word: those that end go to ``ended``, the W best open ones of a row stay.

    Returns the position of the hypothesis that each new one extends (rows * W,), and the new ones.
    """
    rows, width = beams.total.shape
    first = torch.arange(rows, device=log_p.device).unsqueeze(1)
    best, flat = (beams.total.unsqueeze(2) + possible.view(rows, width, -1)).flatten(1).topk(2 * width)
    token = flat % log_p.shape[1]
    origin = (first * width + flat // log_p.shape[1]).flatten()
    ids = torch.cat([beams.ids[origin], token.flatten().unsqueeze(1)], 1)
    log_prob = torch.cat([beams.log_prob[origin], log_p[origin, token.flatten()].unsqueeze(1)], 1)
    ends = (token == EOS) & (best > BLOCKED)
    of_row = [tokens.unflatten(0, (rows, -1))[:, :width] for tokens in (ids, log_prob)]
    ended.add(beams.rows, best[:, :width], of_row[0], of_row[1], ends[:, :width])
    # at most W of the 2W candidates end, so W open ones remain
    total, keep = best.masked_fill(token == EOS, BLOCKED).topk(width)
    kept = (first * 2 * width + keep).flatten()
    return origin[kept], Beams(beams.rows, total, ids[kept], log_prob[kept])


def _log(p: Tensor) -> Tensor:
    return p.log().clamp_(min=NEVER)
