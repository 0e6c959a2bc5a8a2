"""Many pairs of texts: one by one on a CPU, where padding costs more than it saves; elsewhere padded and together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from rewards.embedding.similarity import Measure, Points

if TYPE_CHECKING:
    from torch import Tensor

Pair = tuple[Points, Points]

ENTRIES = 2**24  # cosines and coordinates of a batch, padding counted: 128 MiB


def compared(measure: Measure, pairs: Sequence[Pair]) -> Tensor:
    """``C`` of at least one pair, ``(n,)`` float64, on the device of the vectors."""
    import torch

    if _on_cpu(pairs) or not measure.differentiable:
        return torch.stack([measure(*pair) for pair in pairs])
    return padded(measure, pairs)


def equal(pairs: Sequence[Pair]) -> Tensor:
    """Whether both texts of at least one pair have the same vectors, ``(n,)`` bool, on the device of the vectors."""
    import torch

    if _on_cpu(pairs):
        return torch.tensor([torch.equal(first.vectors, second.vectors) for first, second in pairs])
    alike = [number for number, (first, second) in enumerate(pairs) if len(first.vectors) == len(second.vectors)]
    same = pairs[0][0].vectors.new_zeros(len(pairs), dtype=torch.bool)
    if alike:
        same[torch.tensor(alike)] = padded(_equal, [pairs[number] for number in alike])
    return same


def padded(function: Callable[[Points, Points], Tensor], pairs: Sequence[Pair]) -> Tensor:
    """``function`` of all pairs, ``(n,)``, in batches of pairs of similar length."""
    import torch

    batches = list(_batches(pairs))
    results = [function(*map(together, zip(*(pairs[number] for number in batch), strict=True))) for batch in batches]
    values = torch.cat(results)
    return values[torch.tensor(list(chain.from_iterable(batches))).argsort().to(values.device)]


def together(texts: Sequence[Points]) -> Points:
    """Points of many texts, padded with zeros on the right."""
    import torch
    from torch.nn.utils.rnn import pad_sequence

    lengths = [len(text.vectors) for text in texts]
    vectors = pad_sequence([text.vectors for text in texts], batch_first=True)
    weights = pad_sequence([text.weights for text in texts], batch_first=True)
    mask = torch.arange(max(lengths)) < torch.tensor(lengths).unsqueeze(-1)
    return Points(vectors, weights, mask.to(vectors.device))


def _batches(pairs: Sequence[Pair]) -> Iterator[list[int]]:
    """The numbers of pairs by batches of at most ``ENTRIES``, or of one pair."""
    sizes = [(len(first.vectors), len(second.vectors)) for first, second in pairs]
    width = pairs[0][0].vectors.shape[1]
    batch: list[int] = []
    rows = columns = 0
    for number in sorted(range(len(pairs)), key=lambda number: max(sizes[number])):
        wider, longer = max(rows, sizes[number][0]), max(columns, sizes[number][1])
        if batch and (len(batch) + 1) * (wider * longer + (wider + longer) * width) > ENTRIES:
            yield batch
            batch, (wider, longer) = [], sizes[number]
        batch.append(number)
        rows, columns = wider, longer
    yield batch


def _equal(first: Points, second: Points) -> Tensor:
    return (first.vectors == second.vectors).flatten(1).all(dim=1)


def _on_cpu(pairs: Sequence[Pair]) -> bool:
    return pairs[0][0].vectors.device.type == "cpu"
