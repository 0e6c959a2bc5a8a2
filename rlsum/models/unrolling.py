"""The decoder over all steps with its graph: teacher-forced, or while it draws samples, which are then scored for free.

Notation: B articles, R rows, T target tokens, L decoded tokens, V words, N pairs of a row and a step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import torch
import torch.nn.functional as F
from torch import Tensor

from rlsum.data.vocabulary import BOS, PAD
from rlsum.models import search
from rlsum.models.encoder import Encoded, State
from rlsum.models.search import Chooser
from rlsum.models.summarizer import Tokens
from rlsum.models.word_scores import WordColumns, WordOdds, precision


class StepOutput(NamedTuple):
    """One decoder step: features [s_t; h*_t] (R, 3H), log attention (R, S) float32, logit of p_gen (R, 1) float32."""

    features: Tensor
    log_attention: Tensor
    gate: Tensor

    def select(self, rows: Tensor | slice) -> StepOutput:
        """Rows by number (R,), or a range of them."""
        return StepOutput(*(part[rows] for part in self))


class Unrolled(NamedTuple):
    """All steps of the decoder: outputs (N, ...), coverage penalties (N,), places (N,) in the flattened target (R * T).

    ``odds``: of the words after each output, as far as they were computed; None: none.
    """

    steps: StepOutput
    overlap: Tensor
    place: Tensor
    odds: WordOdds | None = None


class Decoder(Protocol):
    """A model that is unrolled."""

    def start(self, encoded: Encoded) -> State:
        """The state before the first word."""

    def step(self, encoded: Encoded, state: State, embedded: Tensor) -> tuple[StepOutput, State]:
        """Read the embedding (R, E) of the previous word; see PointerGenerator."""

    def embedder(self) -> Callable[[Tensor], Tensor]:
        """Extended ids (R,) -> embeddings (R, E), for all steps."""

    def word_columns(self) -> WordColumns:
        """The output layer, prepared once for all steps of a decoding."""

    def word_odds(self, capacity: int) -> WordOdds:
        """Room for the odds of all words after ``capacity`` outputs."""

    def hidden_out(self, features: Tensor) -> Tensor:
        """What the output layer reads (R, H)."""

    def mix(self, p: Tensor, odds: Tensor, total: Tensor, out: StepOutput, mask: Tensor, extended: Tensor) -> None:
        """Write P (R, V + unknowns) of the next words to ``p``, from the odds (R, V) and totals (R,) of words."""


class _Trace:
    """Collects the outputs of steps."""

    def __init__(self) -> None:
        self.outputs: list[StepOutput] = []
        self.overlaps: list[Tensor] = []
        self.rows: list[Tensor] = []

    def add(self, rows: Tensor, out: StepOutput, before: State, after: State) -> None:
        """The output of the next step for some rows (n,)."""
        self.outputs.append(out)
        self.overlaps.append(torch.minimum(after.spent - before.spent, before.spent).sum(-1))
        self.rows.append(rows)

    def unrolled(self, width: int, odds: WordOdds | None = None) -> Unrolled:
        """All steps, for targets of ``width`` tokens."""
        steps = StepOutput(*map(torch.cat, zip(*self.outputs, strict=True)))
        place = torch.cat([rows * width + t for t, rows in enumerate(self.rows)])
        return Unrolled(steps, torch.cat(self.overlaps), place, odds)


def forced(model: Decoder, encoded: Encoded, embedded: Tensor, target: Tensor) -> Unrolled:
    """Unroll over targets (R, T) from the embeddings (R, T, E) of the words before each of theirs.

    On a CPU, rows that have ended take no steps; on a GPU, to look for ends would cost more.
    """
    rows, width, cpu = torch.arange(len(target), device=target.device), target.shape[1], target.device.type == "cpu"
    lengths = (target != PAD).sum(-1).clamp(min=1).tolist() if cpu else [width] * len(target)
    state, trace = model.start(encoded), _Trace()
    for t, word in enumerate(embedded.unbind(1)):  # embedded[:, t]: backward would build T full-size gradients
        if t in lengths:
            kept = torch.tensor([i for i, row in enumerate(rows.tolist()) if lengths[row] > t])
            if len(kept) == 0:
                break
            rows, encoded, state = rows[kept], encoded.select(kept), state.select(kept)
        out, after = model.step(encoded, state, word[rows] if len(rows) < len(word) else word)
        trace.add(rows, out, state, after)
        state = after
    return trace.unrolled(width)


class DrawnSteps(NamedTuple):
    """Samples and greedy texts (both of width L), and the steps of samples and references.

    ``target`` (R, T): what the steps read, first the samples, then the references, padded to the longest.
    """

    samples: Tokens
    greedy: Tokens
    target: Tensor
    unrolled: Unrolled


def drawn(
    model: Decoder,
    learners: Encoded,
    others: Encoded | None,
    references: Tensor,
    choose: Chooser,
    length: int,
    keep: bool,
) -> DrawnSteps:
    """One pass over samples and references, with their graph, and greedy texts, without.

    ``learners``: R articles, of the samples, then of the references (R - samples, T). ``others``: of the greedy texts.
    ``choose`` sees samples, then greedy texts, of at most ``length`` tokens. ``keep`` the odds of all words.

    Rows that have ended are dropped as in ``search.rollout``, so the same random numbers draw the same samples. On a
    GPU they stay until all have ended.
    """
    device, count = references.device, len(learners.mask)
    n = cut = count - len(references)  # samples left
    texts = search.Texts(cut + (0 if others is None else len(others.mask)), length, learners.memory.states)
    embed, columns, trace = model.embedder(), model.word_columns(), _Trace()
    odds = model.word_odds(len(texts.ids) + count * (max(length, references.shape[1]) if keep else 1))
    rows, ends = torch.arange(count, device=device), (references != PAD).sum(-1).clamp(min=1)
    state, other = model.start(learners), None if others is None else model.start(others)
    worth = search.WORTH_DROPPING if device.type == "cpu" else 0.0
    padded = F.pad(references, (0, max(0, length - references.shape[1])), value=PAD)
    for t in range(padded.shape[1]):
        outputs = []
        if len(rows):
            read = padded[rows[n:] - cut, t - 1] if t else rows.new_full((len(rows) - n,), BOS)
            out, after = model.step(learners, state, embed(torch.cat([texts.previous[:n], read])))
            trace.add(rows, out, state, after)
            state = after
            outputs.append((learners, out, n))
        with torch.no_grad():
            if others is not None and other is not None and len(texts.alive) > n:
                out, other = model.step(others, other, embed(texts.previous[n:]))
                outputs.append((others, out, len(texts.alive) - n))
            if len(texts.alive):
                texts.add(choose, _next_words(model, columns, odds, outputs, len(rows) if keep else 0))
        if (t + 1) % search.steps_between_looks(device) and t + 1 != length:
            continue
        drop = int(texts.running.sum()) <= len(texts.alive) * worth
        learning = torch.cat([texts.running[:n] | (not drop), ends[rows[n:] - cut] > t + 1])
        if drop or int(learning.sum()) <= len(rows) * worth:
            kept = learning.nonzero().squeeze(1)
            rows, (learners, state) = rows[kept], _select(learners, state, kept)
        if drop and others is not None and other is not None:
            others, other = _select(others, other, texts.running[n:].nonzero().squeeze(1))
        if drop:
            n = int(texts.running[:n].sum())
            texts.drop()
        if not len(rows) and not len(texts.alive):
            break
    samples, greedy = texts.tokens().split(cut)
    width = max(samples.ids.shape[1], references.shape[1])
    target = torch.cat([F.pad(ids, (0, width - ids.shape[1]), value=PAD) for ids in (samples.ids, references)])
    return DrawnSteps(samples, greedy, target, trace.unrolled(width, odds if keep else None))


def _next_words(
    model: Decoder, columns: WordColumns, odds: WordOdds, outputs: list[tuple[Encoded, StepOutput, int]], kept: int
) -> Tensor:
    """P (C, V + unknowns) of the next words after the first rows of each of the outputs, as many as they say.

    All rows share the product with the output layer: with few rows, it takes the time to read the layer's weight.
    """
    features = torch.cat([model.hidden_out(out.features) for _, out, _ in outputs])
    of_words, total = odds.add(columns, features, kept)
    p = of_words.new_empty(sum(count for _, _, count in outputs), of_words.shape[1] + outputs[0][0].unknowns)
    first = start = 0
    for encoded, out, count in outputs:
        some, of_step = slice(count), slice(start, start + count)
        model.mix(
            p[first : first + count],
            of_words[of_step],
            total[of_step],
            out.select(some),
            encoded.mask[some],
            encoded.extended[some],
        )
        first, start = first + count, start + len(out.features)
    return p


def _select(encoded: Encoded, state: State, rows: Tensor) -> tuple[Encoded, State]:
    """Rows by number. Where none is left, nothing is read any more."""
    return (encoded.select(rows), state.select(rows)) if len(rows) else (encoded, state)


# ---- weights that every step reads -----------------------------------------------------------------------------------


class SharedWeight:
    """A weight (n, m), and perhaps a bias (n,), for the products or look-ups of all steps.

    Its gradient is one product, or one sum, after the last step: autograd would build and add up one in every step.
    Products use the precision of autocast if enabled. ``without``: a row whose look-ups give no gradient.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None = None, without: int | None = None) -> None:
        self._steps = _Steps(without)
        dtype = precision(weight)
        bias = None if bias is None else bias.to(dtype)
        self._weight, self._bias = _Root.apply(weight.to(dtype), bias, self._steps)

    def product(self, inputs: Tensor) -> Tensor:
        """(R, m) -> (R, n): inputs weight' + bias."""
        product: Tensor = _Product.apply(inputs.to(self._weight.dtype), self._weight, self._bias, self._steps)
        return product

    def rows(self, ids: Tensor) -> Tensor:
        """(R,) -> (R, m): rows of the weight."""
        found: Tensor = _LookUp.apply(self._weight, ids, self._steps)
        return found


class _Steps:
    """What the backward passes of the steps leave: inputs or ids (R, ...), and gradients (R, ...) of the outputs."""

    def __init__(self, without: int | None) -> None:
        self.without, self.task = without, -1
        self.parts: list[tuple[Tensor, Tensor]] = []

    def add(self, inputs: Tensor, grad: Tensor) -> None:
        task = torch._C._current_graph_task_id()
        if task != self.task:  # what an earlier backward pass left did not reach the root
            self.parts, self.task = [], task
        self.parts.append((inputs, grad))

    def take(self) -> tuple[Tensor, Tensor] | None:
        parts, self.parts = self.parts, []
        if not parts:
            return None
        inputs, grads = (torch.cat(part) for part in zip(*parts, strict=True))
        return inputs, grads


class _Root(torch.autograd.Function):
    """Identity. Its backward runs after those of all steps and returns the gradients that they left."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, bias: Tensor | None, steps: _Steps) -> tuple[Tensor, Tensor | None]:
        ctx.steps, ctx.shape, ctx.has_bias = steps, weight.shape, bias is not None
        ctx.set_materialize_grads(False)  # the steps return no gradients
        return weight.view_as(weight), None if bias is None else bias.view_as(bias)

    @staticmethod
    def backward(ctx: Any, *_: None) -> tuple[Tensor | None, Tensor | None, None]:
        taken = ctx.steps.take()
        if taken is None:
            return None, None, None
        inputs, grad = taken
        if inputs.is_floating_point():
            return grad.t() @ inputs, grad.sum(0) if ctx.has_bias else None, None
        d_weight = grad.new_zeros(ctx.shape).index_add_(0, inputs, grad)
        if ctx.steps.without is not None:
            d_weight[ctx.steps.without] = 0.0
        return d_weight, None, None


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, inputs: Tensor, weight: Tensor, bias: Tensor | None, steps: _Steps) -> Tensor:
        ctx.steps = steps
        ctx.save_for_backward(inputs, weight)
        return F.linear(inputs, weight, bias)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None, None]:
        inputs, weight = ctx.saved_tensors
        grad = grad.to(weight.dtype)
        ctx.steps.add(inputs, grad)
        return grad @ weight, None, None, None


class _LookUp(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weight: Tensor, ids: Tensor, steps: _Steps) -> Tensor:
        ctx.steps = steps
        ctx.save_for_backward(ids)
        return weight[ids]

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[None, None, None]:
        (ids,) = ctx.saved_tensors
        ctx.steps.add(ids, grad)
        return None, None, None
