"""Decoder-only models of transformers that read an article once for all of its samples.

Tokens lie in one row without padding: the articles, then the samples. A sample attends to its article and to itself.

Notation: B articles, S source tokens, R samples, T target tokens, N tokens in all, L decoded tokens, V ids.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from rlsum.data.subwords import IGNORED
from rlsum.models.pretrained.prefix_attention import (
    attending,
    attention,
    attention_gradients,
    check_dropout,
    merged,
    refusal,
)

if TYPE_CHECKING:
    from transformers import PreTrainedModel

__all__ = ["TOLERANCE", "decode", "logits", "refusal"]

TOLERANCE = 1e-4
"""nats by which log-probabilities of float32 may differ from those of plain rows"""

FULL = 0.75  # share of texts without an end at which the others leave the computation


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
    k = len(target) // len(src)
    packed = _Packed.of(lengths, [samples[i * k : (i + 1) * k] for i in range(len(src))])
    read = torch.arange(src.shape[1], device=src.device)
    mask, after = read < src_lengths.unsqueeze(1), src_lengths.repeat_interleave(k).unsqueeze(1)
    own = torch.arange(target.shape[1] - 1, device=src.device)
    positions = torch.cat([read.expand_as(src)[mask], (after + own)[inputs]])
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
    choose: Callable[[Tensor, Tensor], Tensor],
    max_length: int,
    ends: Sequence[int],
    pad: int,
) -> Tensor:
    """Ids (R, L) of summaries of the articles ``rows`` (R,), in any order; ``pad`` after an end.

    ``choose`` is called with the ids so far (R, t) and scores (R, V) float32, and returns the next ids (R,). It stops
    at ``max_length`` ids, or when every summary has one of the ``ends``; scores after an end mean nothing. See logits()
    for the other arguments.
    """
    check_dropout(network)
    read = torch.arange(src.shape[1], device=src.device)
    mask = read < src_lengths.unsqueeze(1)
    keys = _Keys(src_lengths, rows, max_length)
    first = _run(network, keys.read, src[mask], read.expand_as(src)[mask], src_lengths.cumsum(0) - 1)
    scores, ids = first[rows], torch.empty(len(rows), 0, dtype=torch.long, device=src.device)
    ended = torch.zeros(len(rows), dtype=torch.bool, device=src.device)
    stops, read_on = torch.tensor(list(ends), device=src.device), torch.arange(len(rows), device=src.device)
    while True:
        chosen = choose(ids, scores.float()).masked_fill(ended, pad)
        ids, ended = torch.cat([ids, chosen.unsqueeze(1)], 1), ended | torch.isin(chosen, stops)
        if ids.shape[1] == max_length or ended.all():
            return ids
        going = ~ended[read_on]
        if going.sum() <= FULL * len(read_on):
            read_on = read_on[going]
            keys.keep(going)
        keys.step = ids.shape[1]
        places = src_lengths[rows[read_on]] + ids.shape[1] - 1
        after = _run(network, keys.extend, chosen[read_on], places, None)
        scores = after if len(after) == len(rows) else after.new_zeros(scores.shape).index_copy(0, read_on, after)


def _run(network: PreTrainedModel, attend: Any, ids: Tensor, positions: Tensor, places: Tensor | None) -> Tensor:
    """Scores (P, V) after the tokens at ``places`` (P,) of one row of ids (N,); after all by default."""
    only: dict[str, Any] = {} if places is None else {"logits_to_keep": places}
    with attending(network, attend):
        scores: Tensor = network(
            input_ids=ids.unsqueeze(0), position_ids=positions.unsqueeze(0), use_cache=False, return_dict=True, **only
        ).logits.squeeze(0)
    return scores


# ---- scoring ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Packed:
    """Where articles and their samples lie in a row.

    articles   a slice an article
    samples    a slice an article, of all of its samples
    lengths    numbers of tokens of each of these
    """

    articles: list[slice]
    samples: list[slice]
    lengths: list[list[int]]

    @classmethod
    def of(cls, articles: list[int], samples: list[list[int]]) -> _Packed:
        ends = torch.tensor([0, *articles, *(sum(lengths) for lengths in samples)]).cumsum(0).tolist()
        slices = [slice(start, end) for start, end in pairwise(ends)]
        return cls(slices[: len(articles)], slices[len(articles) :], samples)

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
        out = query.new_empty(1, query.shape[2], query.shape[1], value.shape[3])
        total = torch.empty(query.shape[:3], device=query.device)
        to = out.transpose(1, 2)
        for article, samples, lengths in zip(packed.articles, packed.samples, packed.lengths, strict=True):
            read = key[:, :, article], value[:, :, article]
            to[:, :, article], total[:, :, article] = attention(scale, True, query[:, :, article], *read)
            if samples.start < samples.stop:
                asked = query[:, :, samples]
                own = attention(scale, True, *(_split(x[:, :, samples], lengths) for x in (query, key, value)))
                own = _joined(own[0], lengths), _joined(own[1], lengths)
                to[:, :, samples], total[:, :, samples] = merged(attention(scale, False, asked, *read), own)
        ctx.save_for_backward(query, key, value, out, total)
        ctx.packed, ctx.scale = packed, scale
        return out

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        query, key, value, out, total = ctx.saved_tensors
        tensors = grad.transpose(1, 2), query, key, value, out.transpose(1, 2), total
        gradients = [torch.empty_like(x) for x in (query, key, value)]
        by_query, by_key, by_value = gradients
        for article, samples, lengths in zip(ctx.packed.articles, ctx.packed.samples, ctx.packed.lengths, strict=True):
            inputs = [x[:, :, article] for x in tensors]
            for gradient, values in zip(gradients, attention_gradients(ctx.scale, True, *inputs), strict=True):
                gradient[:, :, article] = values
            if samples.start < samples.stop:
                inputs = [x[:, :, article if x is key or x is value else samples] for x in tensors]
                by_asked, *by_read = attention_gradients(ctx.scale, False, *inputs)
                by_key[:, :, article] += by_read[0]
                by_value[:, :, article] += by_read[1]
                split = [_split(x[:, :, samples], lengths) for x in tensors]
                own = [_joined(x, lengths) for x in attention_gradients(ctx.scale, True, *split)]
                for gradient, values in zip(gradients, own, strict=True):
                    gradient[:, :, samples] = values
                by_query[:, :, samples] += by_asked
        return by_query, by_key, by_value, None, None


def _split(row: Tensor, lengths: list[int]) -> Tensor:
    """Samples (k, H, T, ...) of a row (1, H, N, ...); sums are padded so that nothing is attended to."""
    if min(lengths) == max(lengths):
        return row[0].unflatten(1, (len(lengths), -1)).transpose(0, 1)
    padding = 0.0 if row.dim() == 4 else 1e6
    samples = row[0].transpose(0, 1).split(lengths)
    return pad_sequence(samples, batch_first=True, padding_value=padding).transpose(1, 2)


def _joined(samples: Tensor, lengths: list[int]) -> Tensor:
    """The row (1, H, N, ...) of samples (k, H, T, ...)."""
    if min(lengths) == max(lengths):
        return samples.transpose(0, 1).flatten(1, 2).unsqueeze(0)
    return torch.cat([sample[:, :length] for sample, length in zip(samples, lengths, strict=True)], 1).unsqueeze(0)


# ---- decoding -----------------------------------------------------------------------------------------------------


@dataclass
class _Keys:
    """Keys and values of articles, once an article, and of their summaries; a pair a layer.

    src_lengths (B,), rows (R,): the article of a summary; longest: ids of a summary; step: ids that it has by now.
    """

    src_lengths: Tensor
    rows: Tensor
    longest: int
    step: int = 0
    articles: dict[int, tuple[Tensor, Tensor]] = field(default_factory=dict)  # (B, H, S, D)
    summaries: dict[int, tuple[Tensor, Tensor]] = field(default_factory=dict)  # (R, H, L, D)

    def __post_init__(self) -> None:
        self.packed = _Packed.of(self.src_lengths.tolist(), [[0]] * len(self.src_lengths))
        beyond = torch.arange(int(self.src_lengths.max()), device=self.rows.device) >= self.src_lengths.unsqueeze(1)
        self.mask = torch.zeros(beyond.shape, device=beyond.device).masked_fill(beyond, float("-inf"))[:, None, None]
        self._group()

    def _group(self) -> None:
        """Give each summary a slot beside the others of its article."""
        rows, numbers = self.rows, self.rows.bincount(minlength=len(self.src_lengths))
        order, every = rows.argsort(stable=True), torch.arange(len(rows), device=rows.device)
        self.most = int(numbers.max())  # summaries of an article
        self.slots = torch.empty_like(order)
        self.slots[order] = rows[order] * self.most + every - (numbers.cumsum(0) - numbers)[rows[order]]
        self.owners = every.new_zeros(len(numbers) * self.most)  # the summary in a slot; any in empty ones
        self.owners[self.slots] = every

    def keep(self, going: Tensor) -> None:
        """Go on with these summaries, a mask (R,)."""
        self.rows = self.rows[going]
        self.summaries = {layer: (keys[going], values[going]) for layer, (keys, values) in self.summaries.items()}
        self._group()

    def read(self, layer: int, query: Tensor, key: Tensor, value: Tensor, scale: float) -> Tensor:
        """See Attend: articles attend to themselves, and their keys and values are kept."""
        lengths = self.src_lengths.tolist()
        self.articles[layer] = _padded(key, lengths), _padded(value, lengths)
        shape = (len(self.rows), key.shape[1], self.longest)
        self.summaries[layer] = key.new_empty(*shape, key.shape[3]), value.new_empty(*shape, value.shape[3])
        return self.packed(layer, query, key, value, scale)

    def extend(self, layer: int, query: Tensor, key: Tensor, value: Tensor, scale: float) -> Tensor:
        """See Attend: the last token of each summary attends to its article and to the summary."""
        for kept, new in zip(self.summaries[layer], (key, value), strict=True):
            kept[:, :, self.step - 1] = new[0].transpose(0, 1)
        last = query[0].transpose(0, 1)  # (R, H, D)
        asked = last[self.owners].unflatten(0, (-1, self.most)).transpose(1, 2)  # (B, H, summaries, D)
        shared = attention(scale, False, asked, *self.articles[layer], self.mask.to(query.dtype))
        own = attention(scale, False, last.unsqueeze(2), *(kept[:, :, : self.step] for kept in self.summaries[layer]))
        by_row = [x.transpose(1, 2).flatten(0, 1)[self.slots].unsqueeze(2) for x in shared]
        return merged((by_row[0], by_row[1]), own)[0].squeeze(2).unsqueeze(0)


def _padded(row: Tensor, lengths: list[int]) -> Tensor:
    return pad_sequence(row[0].transpose(0, 1).split(lengths), batch_first=True).transpose(1, 2)
