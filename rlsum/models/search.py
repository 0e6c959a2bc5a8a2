"""Greedy decoding, sampling and beam search over extended word ids. No gradient.

Notation: R rows being decoded, W beam width, V' = V + unknown words of the batch's articles, L decoded length.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from rlsum.data.vocabulary import BOS, EOS, PAD, UNK
from rlsum.models.decoding import Decoding
from rlsum.models.summarizer import Tokens

if TYPE_CHECKING:
    from rlsum.models.pointer_generator import Encoded, PointerGenerator, State

Chooser = Callable[[Tensor, Tensor], Tensor]  # log p (R, V') and the numbers of its rows (R,) -> chosen ids (R,)
WORTH_DROPPING = 0.75  # ended rows are dropped once so few are left: dropping copies the articles of the others
BLOCKED = float("-inf")
IMPOSSIBLE = -1e8  # the model's log p of what cannot be (padding, words of other articles) is finite, but lower


def greedy(log_p: Tensor, rows: Tensor) -> Tensor:
    """The most probable id; never UNK, which is no word a reader could use."""
    return _without_unknown(log_p).argmax(-1)


def sampler(temperature: float) -> Chooser:
    """Draw from softmax(log p / temperature) by inverting the cumulative distribution."""

    def sample(log_p: Tensor, rows: Tensor) -> Tensor:
        cumulative = (log_p / temperature).softmax(-1).double().cumsum(-1)
        total = cumulative[:, -1:]
        point = torch.rand(total.shape, dtype=total.dtype, device=total.device) * total
        return torch.searchsorted(cumulative, point, right=True).clamp(max=log_p.shape[-1] - 1).squeeze(-1)

    return sample


def split_at(cut: int, first: Chooser, rest: Chooser) -> Chooser:
    """One chooser for rows before ``cut``, another for the rows from there on."""

    def choose(log_p: Tensor, rows: Tensor) -> Tensor:
        before = int((rows < cut).sum())  # rows come in ascending order
        return torch.cat([first(log_p[:before], rows[:before]), rest(log_p[before:], rows[before:])])

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
        log_p, state = _advance(model, encoded, state, previous, columns)
        previous = choose(_constrain(log_p, ids[alive, :t], t, decoding), alive).masked_fill(~running, PAD)
        ids[alive, t] = previous
        log_probs[alive, t] = log_p.gather(1, previous.unsqueeze(1)).squeeze(1).masked_fill(~running, 0.0)
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
    """The best finished hypothesis of each row by log p / length ** length_penalty; the best open one if none ended.

    All R rows keep W hypotheses and advance together as R*W rows. A row is done, as in See et al. 2017, when W of its
    hypotheses have ended; a beam of 1 is then greedy decoding.
    """
    rows, width = len(encoded.states), decoding.beam
    device = encoded.states.device
    first_row = torch.arange(rows, device=device).unsqueeze(1) * width  # (R, 1)
    encoded = encoded.select(torch.arange(rows, device=device).repeat_interleave(width))
    state, columns = model.start(encoded), model.word_columns()
    previous = torch.full((rows * width,), BOS, device=device)
    # only the first hypothesis is real at the start: W copies of the same beginning would stay W copies
    total = torch.full((rows, width), BLOCKED, device=device)
    total[:, 0] = 0.0
    ids = torch.empty((rows * width, 0), dtype=torch.long, device=device)
    steps = torch.empty((rows * width, 0), device=device)
    finished: list[list[tuple[float, Tensor, Tensor]]] = [[] for _ in range(rows)]
    for t in range(decoding.max_length):
        log_p, state = _advance(model, encoded, state, previous, columns)
        allowed = _without_unknown(_constrain(log_p, ids, t, decoding))
        best, flat = (total.unsqueeze(2) + allowed.view(rows, width, -1)).flatten(1).topk(2 * width)
        parent, token = flat // log_p.shape[1], flat % log_p.shape[1]
        origin = (first_row + parent).flatten()
        grown = torch.cat([ids[origin], token.flatten().unsqueeze(1)], 1)
        grown_steps = torch.cat([steps[origin], log_p[origin, token.flatten()].unsqueeze(1)], 1)
        _collect(finished, best, token, grown, grown_steps, decoding)
        # of 2W candidates at most W end, so W open ones remain
        total, keep = best.masked_fill(token == EOS, BLOCKED).topk(width)
        kept = (torch.arange(rows, device=device).unsqueeze(1) * 2 * width + keep).flatten()
        ids, steps, state, previous = grown[kept], grown_steps[kept], state.select(origin[kept]), grown[kept, -1]
        if all(len(hypotheses) == width for hypotheses in finished):
            break
    return _best(finished, total, ids, steps, decoding)


def _advance(
    model: PointerGenerator, encoded: Encoded, state: State, previous: Tensor, columns: Tensor
) -> tuple[Tensor, State]:
    """Log p (R, V') of the next word after ``previous`` (R,), and the state behind it."""
    inputs = previous.masked_fill(previous >= len(model.vocabulary), UNK)
    out, after = model.step(encoded, state, model.embed(inputs))
    return model.log_distribution(encoded, out, columns), after


def _without_unknown(log_p: Tensor) -> Tensor:
    return log_p.index_fill(1, torch.tensor([UNK], device=log_p.device), BLOCKED)


def _constrain(log_p: Tensor, ids: Tensor, t: int, decoding: Decoding) -> Tensor:
    """Log p with the end forbidden before min_length, and repeated n-grams forbidden.

    Where that leaves no word at all, the end is allowed again.
    """
    if t >= decoding.min_length and not decoding.block_ngrams:
        return log_p
    allowed = log_p.masked_fill(log_p < IMPOSSIBLE, BLOCKED)
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


def _collect(
    finished: list[list[tuple[float, Tensor, Tensor]]],
    best: Tensor,
    token: Tensor,
    grown: Tensor,
    grown_steps: Tensor,
    decoding: Decoding,
) -> None:
    """Move hypotheses that ended among the W best to their row's finished list, until it holds W."""
    width = decoding.beam
    ended = (token == EOS) & (best > BLOCKED)
    for row, rank in ended[:, :width].nonzero().tolist():
        if len(finished[row]) < width:
            place = row * 2 * width + rank
            score = best[row, rank].item() / grown.shape[1] ** decoding.length_penalty
            finished[row].append((score, grown[place], grown_steps[place]))


def _best(
    finished: list[list[tuple[float, Tensor, Tensor]]], total: Tensor, ids: Tensor, steps: Tensor, decoding: Decoding
) -> Tokens:
    """The best hypothesis of each row, padded to the longest."""
    chosen = []
    for row, hypotheses in enumerate(finished):
        if not hypotheses:  # cut off at max_length: the best open hypothesis
            place = row * decoding.beam + int(total[row].argmax())
            hypotheses = [(0.0, ids[place], steps[place])]
        chosen.append(max(hypotheses, key=lambda hypothesis: hypothesis[0]))
    pad_to = max(len(tokens) for _, tokens, _ in chosen)
    out_ids = torch.full((len(chosen), pad_to), PAD, device=ids.device)
    out_steps = torch.zeros((len(chosen), pad_to), device=ids.device)
    for i, (_, tokens, log_probs) in enumerate(chosen):
        out_ids[i, : len(tokens)], out_steps[i, : len(tokens)] = tokens, log_probs
    return Tokens(out_ids, out_steps)
