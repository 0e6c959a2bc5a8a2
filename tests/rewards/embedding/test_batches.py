from __future__ import annotations

import pytest
import torch

from rewards.embedding import batches
from rewards.embedding.batches import compared, padded
from rewards.embedding.similarity import Greedy, MeanCosine, Measure, Points, SquaredCosines, Tempered
from rewards.embedding.space import unit

MEASURES = (
    MeanCosine("self"),
    SquaredCosines("self"),
    *(Greedy(direction) for direction in ("precision", "recall", "f1")),
    *(
        Tempered(direction, temperature, iterations, entropy, "self")
        for direction in ("precision", "recall", "f1")
        for temperature in (0.005, 0.1, 3.0)
        for iterations in (None, 1, 4)
        for entropy in (False, True)
    ),
)
SIZES = ((3, 5), (1, 1), (9, 2), (4, 4), (2, 30), (17, 16), (1, 8))


def some() -> list[tuple[Points, Points]]:
    """Pairs of texts of some lengths, whose vectors keep a gradient."""
    generator = torch.Generator().manual_seed(0)

    def text(length: int) -> Points:
        vectors = unit(torch.randn(length, 5, generator=generator, dtype=torch.float64)).requires_grad_()
        return Points(vectors, vectors.new_full((length,), 1 / length))

    return [(text(rows), text(columns)) for rows, columns in SIZES]


@pytest.mark.parametrize("entries", [1, 300, 2**24])
@pytest.mark.parametrize("measure", MEASURES, ids=str)
def test_padding_changes_no_score_and_no_gradient(
    measure: Measure, entries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "ENTRIES", entries)
    alone, together = some(), some()
    expected, found = compared(measure, alone), padded(measure, together)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)
    expected.sum().backward()
    found.sum().backward()
    for pair, other in zip(alone, together, strict=True):
        for one, two in zip(pair, other, strict=True):
            torch.testing.assert_close(two.vectors.grad, one.vectors.grad, rtol=0, atol=1e-10)
