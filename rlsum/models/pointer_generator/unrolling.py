"""The decoder over all steps with its graph: teacher-forced, or while it draws samples, which are then scored for free.

Notation: B articles, R rows, T target tokens, L decoded tokens, V words, N pairs of a row and a step.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from rlsum.data.vocabulary import BOS, PAD
from rlsum.models.execution import execution
from rlsum.models.pointer_generator import search
from rlsum.models.pointer_generator.encoder import Encoded, State, StepOutput
from rlsum.models.pointer_generator.kernels.word_scores import WordOdds
from rlsum.models.pointer_generator.network import Network
from rlsum.models.pointer_generator.search import Chooser
from rlsum.models.summarizer import Tokens


class Unrolled(NamedTuple):
    """All steps of the decoder: outputs (N, ...), coverage penalties (N,), places (N,) in the flattened target (R * T).

    ``odds``: of the words after each output, as far as they were computed; None: none.
    """

    steps: StepOutput
    overlap: Tensor
    place: Tensor
    odds: WordOdds | None = None


class _Trace:
    def __init__(self) -> None:
        self.outputs: list[StepOutput] = []
        self.overlaps: list[Tensor] = []
        self.rows: list[Tensor] = []

    def add(self, rows: Tensor, out: StepOutput, before: State, after: State) -> None:
        """The output of the next step; ``rows`` (n,) are the numbers of its first rows, the others are left out."""
        self.outputs.append(out.select(slice(len(rows))))
        self.overlaps.append(torch.minimum(after.spent - before.spent, before.spent).sum(-1)[: len(rows)])
        self.rows.append(rows)

    def unrolled(self, width: int, odds: WordOdds | None = None) -> Unrolled:
        """The steps for targets of ``width`` tokens. Rare looks for ended texts leave more behind them."""
        steps = StepOutput(*map(torch.cat, zip(*self.outputs[:width], strict=True)))
        place = torch.cat([rows * width + t for t, rows in enumerate(self.rows[:width])])
        return Unrolled(steps, torch.cat(self.overlaps[:width]), place, odds)


def forced(model: Network, encoded: Encoded, embedded: Tensor, target: Tensor) -> Unrolled:
    """Unroll over targets (R, T) from the embeddings (R, T, E) of the words before each of theirs.

    On a CPU, rows that have ended take no steps; on a GPU, to look for ends would cost more.
    """
    rows, width = torch.arange(len(target), device=target.device), target.shape[1]
    drops = execution(target.device).drops_ended
    lengths = (target != PAD).sum(-1).clamp(min=1).tolist() if drops else [width] * len(target)
    state, trace = model.start(encoded), _Trace()
    for t, word in enumerate(embedded.unbind(1)):  # embedded[:, t]: backward would build T full-size gradients
        if t in lengths:
            kept = torch.tensor([i for i, row in enumerate(rows.tolist()) if lengths[row] > t], device=rows.device)
            if len(kept) == 0:
                break
            rows, encoded, state = rows[kept], encoded.select(kept), state.select(kept)
        out, after = model.step(encoded, state, word[rows] if len(rows) < len(word) else word)
        trace.add(rows, out, state, after)
        state = after
    return trace.unrolled(width)


class DrawnSteps(NamedTuple):
    """Samples and greedy texts (both of width L), and the steps of references and samples.

    ``target`` (R, T): what these steps read, first the references, then the samples, padded to the longest.
    """

    samples: Tokens
    greedy: Tokens
    target: Tensor
    unrolled: Unrolled


def drawn(
    model: Network, encoded: Encoded, references: Tensor, greedy: int, choose: Chooser, length: int, keep: bool
) -> DrawnSteps:
    """One pass over references and samples, with their graph, and greedy texts, which get no gradient.

    ``encoded``: articles of the references (C, T), of the samples, then of the ``greedy`` texts, so many.
    ``choose`` sees samples, then greedy texts, of at most ``length`` tokens. ``keep`` the odds of all words.

    Rows that have ended are dropped as in ``search.rollout``, so the same random numbers draw the same samples. On a
    GPU they stay until all have ended.
    """
    device, count, steps = references.device, len(encoded.mask), max(length, references.shape[1])
    fixed, learning = len(references), count - greedy  # those left
    texts = search.Texts(count - fixed, length, encoded.memory.states)
    embed, columns, trace = model.embedder(), model.word_columns(), _Trace()
    odds = model.word_odds(count + learning * (steps if keep else 1))
    rows, ends = torch.arange(count, device=device), (references != PAD).sum(-1).clamp(min=1)
    state, how = model.start(encoded), execution(device)
    worth = search.WORTH_DROPPING if how.drops_ended else 0.0
    padded, gradient = F.pad(references, (1, steps - references.shape[1]), value=PAD), torch.is_grad_enabled()
    padded[:, 0] = BOS
    for t in range(steps):
        with torch.set_grad_enabled(gradient and learning > 0):
            out, after = model.step(encoded, state, embed(torch.cat([padded[rows[:fixed], t], texts.previous])))
        trace.add(rows[:learning], out, state, after)
        state = after
        if len(texts.alive):
            with torch.no_grad():  # one product for all rows: with few, it takes the time to read the layer's weight
                words = model.words(encoded, out)
                some, of_words = slice(fixed, None), odds.add(columns, words.features, learning if keep else 0)
                words = words.select(some)
                texts.add(choose, model.next_words(words.mixed(*(values[some] for values in of_words)), words))
        if (t + 1) % how.steps_between_looks and t + 1 != length:
            continue
        drop = int(texts.running.sum()) <= len(texts.alive) * worth
        going = torch.cat([ends[rows[:fixed]] > t + 1, texts.running | (not drop)])
        if drop or int(going.sum()) <= len(rows) * worth:
            kept = going.nonzero().squeeze(1)
            if not len(kept):
                break
            fixed, learning = int(going[:fixed].sum()), int(going[:learning].sum())
            rows, encoded, state = rows[kept], encoded.select(kept, learning), state.select(kept)
            if drop:
                texts.drop()
    samples, best = texts.tokens().split(len(texts.ids) - greedy)
    width = max(samples.ids.shape[1], references.shape[1])
    target = torch.cat([F.pad(ids, (0, width - ids.shape[1]), value=PAD) for ids in (references, samples.ids)])
    return DrawnSteps(samples, best, target, trace.unrolled(width, odds if keep else None))
