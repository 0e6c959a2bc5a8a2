"""Decoder-only models of transformers that read an article once for all of its samples.

Tokens lie in one row without padding: the articles, then the samples. A sample attends to its article and to itself.

Notation: B articles, S source tokens, R samples, T target tokens, N tokens in all, L decoded tokens, V ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from rlsum.data.subwords import IGNORED
from rlsum.models.execution import execution
from rlsum.models.graphs import Repeated
from rlsum.models.pretrained import steps
from rlsum.models.pretrained.prefix_attention import (
    Slots,
    attending,
    attention,
    attention_gradients,
    attention_to_both,
    check_dropout,
    merged,
    refusal,
)
from rlsum.models.pretrained.steps import Choose

if TYPE_CHECKING:
    from transformers import PreTrainedModel

__all__ = ["TOLERANCE", "decode", "logits", "refusal"]

FEW = 0.25  # share of texts for which another graph is worth recording
TOLERANCE = 1e-4
"""nats by which log-probabilities of float32 may differ from those of plain rows"""


def logits(network: PreTrainedModel, src: Tensor, src_lengths: Tensor, target: Tensor) -> Tensor:
    """Scores (R, T, V) of the ids that may stand at each place of a target; 0 where the target is IGNORED.

    src           (B, S) ids of articles, with anything after their lengths
    src_lengths   (B,)
    target        (R, T) ids with IGNORED after each end; R is a multiple of B, the samples of an article follow another

    Scores differ from those of plain rows by rounding alone, as do gradients, also with checkpoints that are not
    reentrant. Raises ValueError if the network drops out numbers.
    """
    check_dropout(network)
    kept = target != IGNORED
    inputs = kept[:, 1:]  # the token before a place that is scored
    lengths, samples = src_lengths.tolist(), inputs.sum(1).tolist()
    packed, k = _Packed(lengths, samples, src.device), len(target) // len(src)
    read = torch.arange(src.shape[1], device=src.device)
    mask, after = read < src_lengths.unsqueeze(1), src_lengths.repeat_interleave(k).unsqueeze(1)
    offsets = torch.arange(target.shape[1] - 1, device=src.device)
    positions = torch.cat([read.expand_as(src)[mask], (after + offsets)[inputs]])
    ids = torch.cat([src[mask], target[:, :-1][inputs]])
    before = torch.zeros_like(target)  # where the token before a place lies
    before[:, 0] = (src_lengths.cumsum(0) - 1).repeat_interleave(k)
    before[:, 1:][inputs] = torch.arange(sum(lengths), len(ids), device=src.device)
    scores = _run(network, packed, ids, positions, before[kept])
    if len(scores) == kept.numel():
        return scores.view(*target.shape, -1)
    return scores.new_zeros(*target.shape, scores.shape[-1]).masked_scatter(kept.unsqueeze(-1), scores)


@torch.no_grad()
def decode(
    network: PreTrainedModel,
    src: Tensor,
    src_lengths: Tensor,
    rows: Tensor,
    choose: Choose,
    max_length: int,
    ends: Sequence[int],
    pad: int,
) -> Tensor:
    """Ids (R, L) of summaries of the articles ``rows`` (R,), in any order; see ``steps.decode`` and logits()."""
    check_dropout(network)
    read = torch.arange(src.shape[1], device=src.device)
    mask, keys = read < src_lengths.unsqueeze(1), _Keys(network, src_lengths, rows, max_length)
    first = _run(network, keys.read, src[mask], read.expand_as(src)[mask], src_lengths.cumsum(0) - 1)
    return steps.decode(keys, first[rows], choose, max_length, ends, pad)


def _run(network: PreTrainedModel, attend: Any, ids: Tensor, positions: Tensor, places: Tensor | None) -> Tensor:
    """Scores (P, V) after the tokens at ``places`` (P,) of one row of ids (N,); after all by default."""
    only: dict[str, Any] = {} if places is None else {"logits_to_keep": places}
    with attending(network, attend):
        scores: Tensor = network(
            input_ids=ids.unsqueeze(0), position_ids=positions.unsqueeze(0), use_cache=False, return_dict=True, **only
        ).logits.squeeze(0)
    return scores


# ---- scoring ------------------------------------------------------------------------------------------------------


class _Texts:
    """Where texts lie in a row of tokens, one behind the other, and where padded to the longest of them."""

    def __init__(self, start: int, lengths: Sequence[int], device: torch.device) -> None:
        self.slice, self.width = slice(start, start + sum(lengths)), max(lengths)
        self.padded = self.mask = None
        if min(lengths) < self.width:
            sizes, offsets = torch.tensor(lengths), torch.arange(self.width)
            there = offsets < sizes.unsqueeze(1)
            places = (start + sizes.cumsum(0) - sizes).unsqueeze(1) + offsets
            self.padded = places.where(there, 0).flatten().to(device)  # (texts * width,), any token in empty places
            self.filled = there.flatten().nonzero().squeeze(1).to(device)  # the places of the tokens
            self.empty = ~there.flatten().to(device)
            self.mask = torch.zeros(there.shape).masked_fill(~there, float("-inf"))[:, None, None].to(device)

    def of(self, row: Tensor, rows: int) -> Tensor:
        """Texts (rows, H, T, ...) of a row (1, H, N, ...), some side by side if there are more than ``rows``.

        Sums of exponentials, (1, H, N), are padded so that nothing is attended to.
        """
        if self.padded is None:
            flat = row[0, :, self.slice]
        else:
            flat = row[0].index_select(1, self.padded)
            flat = flat if row.dim() > 3 else flat.masked_fill(self.empty, 1e6)
        return flat.unflatten(1, (rows, -1)).transpose(0, 1)

    def back(self, texts: Tensor) -> Tensor:
        """Tokens (n, H, ...) of texts (rows, H, T, ...)."""
        flat = texts.transpose(1, 2).flatten(0, 1)
        return flat if self.padded is None else flat.index_select(0, self.filled)

    def both_back(self, attended: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        """The same of outputs and sums."""
        return self.back(attended[0]), self.back(attended[1])


class _Packed:
    """Articles, then their samples, in one row."""

    def __init__(self, articles: list[int], samples: list[int], device: torch.device) -> None:
        self.count, self.rows = len(articles), len(samples)
        self.articles = _Texts(0, articles, device)
        self.samples = _Texts(sum(articles), samples, device) if sum(samples) else None

    def __call__(self, layer: int, query: Tensor, key: Tensor, value: Tensor, scale: float) -> Tensor:
        """See Attend."""
        out: Tensor = _SharedArticle.apply(query, key, value, self, scale)
        return out


class _SharedArticle(torch.autograd.Function):
    """Attention of articles to themselves, and of samples to their article and themselves.

    The gradient of either set of keys follows from the output and the sum over both.
    """

    @staticmethod
    def forward(ctx: Any, query: Tensor, key: Tensor, value: Tensor, packed: _Packed, scale: float) -> Tensor:
        articles, samples = packed.articles, packed.samples
        asked, keys, values = (articles.of(x, packed.count) for x in (query, key, value))
        outs = [articles.both_back(attention(scale, True, asked, keys, values))]
        if samples is not None:
            shared = attention(scale, False, samples.of(query, packed.count), keys, values, articles.mask)
            asked, keys, values = (samples.of(x, packed.rows) for x in (query, key, value))
            within = attention(scale, True, asked, keys, values)
            outs.append(merged(samples.both_back(shared), samples.both_back(within)))
        out, total = (torch.cat(tokens).unsqueeze(0) for tokens in zip(*outs, strict=True))
        ctx.save_for_backward(query, key, value, out, total)
        ctx.packed, ctx.scale = packed, scale
        return out

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        query, key, value, out, total = ctx.saved_tensors
        packed, articles, samples = ctx.packed, ctx.packed.articles, ctx.packed.samples
        tensors = grad.transpose(1, 2), query, key, value, out.transpose(1, 2), total.transpose(1, 2)
        inputs = [articles.of(x, packed.count) for x in tensors]
        gradients = [[x] for x in attention_gradients(ctx.scale, True, *inputs)]
        if samples is not None:
            sample_grad, asked, _, _, sample_out, sums = (samples.of(x, packed.count) for x in tensors)
            read = sample_grad, asked, inputs[2], inputs[3], sample_out, sums  # keys and values of the article
            shared = attention_gradients(ctx.scale, False, *read, articles.mask)
            within = attention_gradients(ctx.scale, True, *(samples.of(x, packed.rows) for x in tensors))
            for gradient, by_summary in zip(gradients, within, strict=True):
                gradient.append(samples.back(by_summary))
            gradients[0][1] += samples.back(shared[0])
            for gradient, by_read in zip(gradients[1:], shared[1:], strict=True):
                gradient[0] += by_read
        rows = [torch.cat([articles.back(first), *rest]) for first, *rest in gradients]
        by_query, by_key, by_value = (row.transpose(0, 1).unsqueeze(0) for row in rows)
        return by_query, by_key, by_value, None, None


# ---- decoding -----------------------------------------------------------------------------------------------------


class _Keys:
    """Keys and values of articles, once an article, and of their summaries; a pair a layer. See ``steps.Steps``.

    src_lengths (B,), rows (R,): the article of a summary; longest: ids of a summary.
    """

    def __init__(self, network: PreTrainedModel, src_lengths: Tensor, rows: Tensor, longest: int) -> None:
        self.packed = _Packed(src_lengths.tolist(), [0] * len(src_lengths), rows.device)
        self.network, self.src_lengths, self.rows = network, src_lengths, rows
        self.articles: dict[int, tuple[Tensor, Tensor]] = {}  # (B, H, S, D)
        self.summaries: dict[int, tuple[Tensor, Tensor]] = {}  # (R, H, L, D)
        self.places = torch.arange(longest, device=rows.device)
        self._group()

    def _group(self) -> None:
        """Give each summary a slot beside the others of its article."""
        rows, numbers = self.rows, self.rows.bincount(minlength=self.packed.count)
        order, every = rows.argsort(stable=True), torch.arange(len(rows), device=rows.device)
        slots = torch.empty_like(order)
        most = int(numbers.max())  # summaries of an article
        slots[order] = rows[order] * most + every - (numbers.cumsum(0) - numbers)[rows[order]]
        owners = every.new_zeros(len(numbers) * most)  # the summary in a slot; any in empty ones
        owners[slots] = every
        self.slots = None if len(owners) == len(slots) and torch.equal(slots, every) else Slots(owners, slots)
        self.repeated = Repeated(rows.device)

    def next(self, ids: Tensor, place: int) -> Tensor:
        """See ``steps.Steps``."""
        self.read_until = len(self.places) if execution(ids.device).graphs else place + 1
        return self.repeated(self._step, ids, self.places[place])

    def _step(self, ids: Tensor, place: Tensor) -> Tensor:
        return _run(self.network, partial(self.extend, place), ids, self.src_lengths[self.rows] + place, None)

    def keep(self, going: Tensor) -> bool:
        """See ``steps.Steps``: where steps are a graph, few must be left, since another one is recorded for them."""
        if execution(going.device).graphs and len(going) > FEW * len(self.rows):
            return False
        self.rows = self.rows[going]
        self.summaries = {layer: (keys[going], values[going]) for layer, (keys, values) in self.summaries.items()}
        self._group()
        return True

    def read(self, layer: int, query: Tensor, key: Tensor, value: Tensor, scale: float) -> Tensor:
        """See Attend: articles attend to themselves, and their keys and values are kept."""
        keys, values = (self.packed.articles.of(x, self.packed.count).contiguous() for x in (key, value))
        shape = (len(self.rows), key.shape[1], len(self.places))
        self.articles[layer] = keys, values
        self.summaries[layer] = key.new_zeros(*shape, key.shape[3]), value.new_zeros(*shape, value.shape[3])
        return self.packed(layer, query, key, value, scale)

    def extend(self, place: Tensor, layer: int, query: Tensor, key: Tensor, value: Tensor, scale: float) -> Tensor:
        """See Attend: the last token of each summary attends to its article and to the summary."""
        for kept, new in zip(self.summaries[layer], (key, value), strict=True):
            kept.index_copy_(2, place.view(1), new[0].transpose(0, 1).unsqueeze(2))
        summaries = [kept[:, :, : self.read_until] for kept in self.summaries[layer]]
        later = None if self.read_until < len(self.places) else self.places > place
        last, mask = query[0].transpose(0, 1), self.packed.articles.mask
        return attention_to_both(scale, last, self.articles[layer], summaries, mask, later, self.slots).unsqueeze(0)
