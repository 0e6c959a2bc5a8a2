from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rewards.centering import by_dimension, by_sentence, token_mean, unit
from rewards.similarity import harmonic, tempered_mover, twmd, twmd_self


def points(seed: int, length: int, width: int = 5) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return unit(torch.randn(length, width, generator=generator, dtype=torch.float64))


def test_one_iteration_by_hand() -> None:
    cosines, temperature = np.array([[1.0, 0.5], [0.2, 0.9]]), 0.5
    plan = np.exp(cosines / temperature)
    plan /= plan.sum(axis=0)
    plan /= plan.sum(axis=1, keepdims=True)
    expected = (plan * cosines).sum(axis=1).mean()
    found = tempered_mover(torch.tensor(cosines), temperature, iterations=1)
    assert float(found) == pytest.approx(expected, abs=1e-12)


def test_recall_is_precision_with_sides_exchanged() -> None:
    cosines = points(0, 4) @ points(1, 6).T
    assert twmd(cosines, "recall", 0.1, 1) == twmd(cosines.T, "precision", 0.1, 1)
    precision, recall = twmd(cosines, "precision", 0.1, 1), twmd(cosines, "recall", 0.1, 1)
    assert float(twmd(cosines, "f1", 0.1, 1)) == pytest.approx(float(harmonic(precision, recall)))


def test_many_iterations_balance_the_plan_and_low_temperature_finds_the_matching() -> None:
    cosines = torch.tensor([[0.9, 0.8], [0.85, 0.1]], dtype=torch.float64)
    assert float(tempered_mover(cosines, 0.005, 500)) == pytest.approx((0.8 + 0.85) / 2, abs=1e-3)  # exact transport
    assert float(tempered_mover(cosines, 100.0, 1)) == pytest.approx(float(cosines.mean()), abs=1e-2)


@pytest.mark.parametrize(
    ("precision", "recall", "expected"),
    [(0.5, 1.0, 2 / 3), (-0.2, 0.3, -0.2), (0.3, -0.2, -0.2), (-0.5, -0.1, -0.5), (0.0, 0.4, 0.0), (-0.1, 0.1, -0.1)],
)
def test_harmonic_never_explodes(precision: float, recall: float, expected: float) -> None:
    assert float(harmonic(torch.tensor(precision), torch.tensor(recall))) == pytest.approx(expected)


@settings(deadline=None)
@given(st.integers(0, 1000), st.integers(1, 8), st.sampled_from([0.02, 0.1, 1.0]), st.integers(1, 5))
def test_self_score_is_the_score_with_itself(seed: int, length: int, temperature: float, iterations: int) -> None:
    cosines = points(seed, length) @ points(seed, length).T
    own = float(twmd_self(cosines, temperature, iterations))
    for direction in ("precision", "recall", "f1"):
        assert float(twmd(cosines, direction, temperature, iterations)) == pytest.approx(own)  # type: ignore[arg-type]


def test_tiny_temperatures_stay_finite() -> None:
    assert torch.isfinite(twmd(points(0, 9) @ points(1, 3).T, "f1", 1e-5, 50))


def test_gradients_reach_the_vectors() -> None:
    first = points(0, 4).requires_grad_()
    twmd(first @ points(1, 3).T, "f1", 0.1, 2).backward()
    assert first.grad is not None
    assert first.grad.abs().sum() > 0


def test_centerings() -> None:
    vectors = points(0, 4)
    torch.testing.assert_close(by_dimension(vectors).sum(dim=1), torch.zeros(4, dtype=torch.float64))
    torch.testing.assert_close(by_sentence(vectors).sum(dim=0), torch.zeros(5, dtype=torch.float64))
    both = [points(1, 2), points(2, 6)]
    torch.testing.assert_close(token_mean(both), torch.cat(both).mean(dim=0))  # a token counts once, not a text


def test_a_zero_vector_stays_zero() -> None:
    assert torch.equal(unit(torch.zeros(1, 3)), torch.zeros(1, 3))
