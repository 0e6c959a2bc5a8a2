from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from linear_program import least_cost

from rewards.embedding import similarity
from rewards.embedding.similarity import (
    Exact,
    MeanCosine,
    Points,
    SquaredCosines,
    directed,
    greedy,
    harmonic,
    tempered,
)
from rewards.embedding.space import Space, token_mean, unit, without_noise
from rewards.encoding.loading import EncoderSource


def points(seed: int, length: int, width: int = 5) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return unit(torch.randn(length, width, generator=generator, dtype=torch.float64))


def even(vectors: torch.Tensor) -> Points:
    return Points(vectors, torch.full((len(vectors),), 1 / len(vectors), dtype=torch.float64))


@pytest.mark.parametrize("iterations", [1, 2, 7])
@pytest.mark.parametrize("entropy", [False, True])
def test_sinkhorn_against_a_plain_one(iterations: int, entropy: bool) -> None:
    cosines, temperature = (points(0, 5) @ points(1, 3).T).numpy(), 0.2
    plan = np.exp(cosines / temperature)
    for _ in range(iterations):
        plan /= plan.sum(axis=0)
        plan /= plan.sum(axis=1, keepdims=True)
    expected = (plan * (cosines - entropy * temperature * np.log(plan))).sum(axis=1).mean()
    assert float(tempered(torch.tensor(cosines), temperature, iterations, entropy)) == pytest.approx(expected)


def test_mean_cosine_and_squared_cosines_against_brute_force() -> None:
    first, second = even(points(0, 4)), even(points(1, 7))
    for one in (first, even(points(2, 9))):  # the second is long for its width: summed the other way round
        cosines = [[float(row @ column) for column in second.vectors] for row in one.vectors]
        assert float(MeanCosine("self")(one, second)) == pytest.approx(np.mean(cosines))
        assert float(SquaredCosines("self")(one, second)) == pytest.approx(np.square(cosines).sum())


def test_greedy_against_brute_force() -> None:
    cosines, weights = points(0, 4) @ points(1, 7).T, torch.tensor([0.1, 0.4, 0.5, 0.0], dtype=torch.float64)
    best = [max(float(value) for value in row) for row in cosines]
    expected = sum(float(weight) * value for weight, value in zip(weights, best, strict=True))
    assert float(greedy(cosines, weights)) == pytest.approx(expected)


def test_no_iteration_is_a_softmax_and_eq_7_with_entropy() -> None:
    cosines, temperature = (points(0, 4) @ points(1, 7).T).numpy(), 0.3
    weights = np.exp(cosines / temperature)
    expected = (weights / weights.sum(axis=1, keepdims=True) * cosines).sum(axis=1).mean()
    assert float(tempered(torch.tensor(cosines), temperature, 0)) == pytest.approx(expected)
    printed = temperature / 4 * np.log(weights.sum(axis=1)).sum()
    assert float(tempered(torch.tensor(cosines), temperature, 0, entropy=True)) == pytest.approx(printed)


def test_temperatures_run_from_the_best_partner_to_the_mean() -> None:
    cosines = points(0, 4) @ points(1, 7).T
    weights = torch.full((4,), 0.25, dtype=torch.float64)
    assert float(tempered(cosines, 1e-4, 0)) == pytest.approx(float(greedy(cosines, weights)), abs=1e-6)
    assert float(tempered(cosines, 1e4, 0)) == pytest.approx(float(cosines.mean()), abs=1e-4)


def test_recall_is_precision_with_sides_exchanged() -> None:
    cosines = points(0, 4) @ points(1, 6).T
    over_rows = partial(tempered, temperature=0.1)
    assert directed(over_rows, cosines, "recall") == directed(over_rows, cosines.T, "precision")
    precision, recall = directed(over_rows, cosines, "precision"), directed(over_rows, cosines, "recall")
    assert float(directed(over_rows, cosines, "f1")) == pytest.approx(float(harmonic(precision, recall)))


def test_many_iterations_balance_the_plan_and_low_temperature_finds_the_matching() -> None:
    cosines = torch.tensor([[0.9, 0.8], [0.85, 0.1]], dtype=torch.float64)
    assert float(tempered(cosines, 0.005, 500)) == pytest.approx((0.8 + 0.85) / 2, abs=1e-3)  # exact transport
    assert float(tempered(cosines, 100.0)) == pytest.approx(float(cosines.mean()), abs=1e-2)


def test_long_texts_in_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    cosines = points(0, 9) @ points(1, 7).T
    whole = [tempered(cosines, 0.1, 3, True), tempered(cosines.T, 0.1), tempered(cosines, 0.1, 0)]
    monkeypatch.setattr(similarity, "BLOCK", 15)
    blocks = [tempered(cosines, 0.1, 3, True), tempered(cosines.T, 0.1), tempered(cosines, 0.1, 0)]
    torch.testing.assert_close(whole, blocks)


@pytest.mark.parametrize(
    ("precision", "recall", "expected"),
    [(0.5, 1.0, 2 / 3), (-0.2, 0.3, -0.2), (0.3, -0.2, -0.2), (-0.5, -0.1, -0.5), (0.0, 0.4, 0.0), (-0.1, 0.1, -0.1)],
)
def test_harmonic_never_explodes(precision: float, recall: float, expected: float) -> None:
    assert float(harmonic(torch.tensor(precision), torch.tensor(recall))) == pytest.approx(expected)


@settings(deadline=None)
@given(st.integers(0, 1000), st.integers(1, 8), st.sampled_from([0.02, 0.1, 1.0]), st.integers(1, 5))
def test_a_text_with_itself_is_the_same_both_ways(seed: int, length: int, temperature: float, iterations: int) -> None:
    cosines = points(seed, length) @ points(seed, length).T
    over_rows = partial(tempered, temperature=temperature, iterations=iterations)
    own = float(over_rows(cosines))
    for direction in ("precision", "recall", "f1"):
        assert float(directed(over_rows, cosines, direction)) == pytest.approx(own)  # type: ignore[arg-type]


def test_tiny_temperatures_stay_finite() -> None:
    assert torch.isfinite(tempered(points(0, 9) @ points(1, 3).T, 1e-5, 50))


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 1000), st.integers(1, 6), st.integers(1, 6))
def test_exact_transport_against_a_linear_program(seed: int, rows: int, columns: int) -> None:
    first, second = points(seed, rows), points(seed + 1, columns)
    supply = torch.rand(rows, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) + 0.1
    supply, demand = supply / supply.sum(), torch.full((columns,), 1 / columns, dtype=torch.float64)
    solved = least_cost(supply.numpy(), demand.numpy(), -(first @ second.T).numpy())
    found = float(Exact()(Points(first, supply), Points(second, demand)))
    assert found == pytest.approx(-solved, abs=1e-8)


def test_centerings() -> None:
    texts, source = [points(0, 4), points(3, 6)], EncoderSource("unread", layer=None)
    by_dimension = Space(source, "dimension", "all")._centred(torch.cat(texts), [4, 6])
    torch.testing.assert_close(by_dimension.sum(dim=1), torch.zeros(10, dtype=torch.float64))
    by_sentence = Space(source, "sentence", "all")._centred(torch.cat(texts), [4, 6])
    for rows in by_sentence.split([4, 6]):
        torch.testing.assert_close(rows.sum(dim=0), torch.zeros(5, dtype=torch.float64))
    both = [points(1, 2), points(2, 6)]
    torch.testing.assert_close(token_mean(both), torch.cat(both).mean(dim=0))  # a token counts once, not a text


def test_what_centering_left_of_rounding_is_nothing() -> None:
    vectors = points(0, 2)
    centred = torch.stack([vectors[0] * 1e-7, vectors[1] * 1e-2])
    torch.testing.assert_close(without_noise(centred, vectors), torch.stack([vectors[0] * 0, vectors[1] * 1e-2]))


def test_a_zero_vector_stays_zero() -> None:
    assert torch.equal(unit(torch.zeros(1, 3)), torch.zeros(1, 3))
