from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from linear_program import least_cost
from scipy.optimize import linear_sum_assignment

from rewards import transport
from rewards.transport import TransportError, exact_cost

seeds = st.integers(0, 2**32 - 1)


def random_problem(seed: int, rows: int, columns: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    return random.dirichlet(np.ones(rows)), random.dirichlet(np.ones(columns)), random.random((rows, columns))


@settings(deadline=None, max_examples=40)
@given(seeds, st.integers(1, 7), st.integers(1, 7))
def test_equals_the_linear_program(seed: int, rows: int, columns: int) -> None:
    first, second, cost = random_problem(seed, rows, columns)
    assert exact_cost(first, second, cost) == pytest.approx(least_cost(first, second, cost), abs=1e-7)


@settings(deadline=None, max_examples=20)
@given(seeds, st.integers(2, 12))
def test_equals_the_assignment_for_equal_weights(seed: int, size: int) -> None:
    cost = np.random.default_rng(seed).random((size, size))
    rows, columns = linear_sum_assignment(cost)
    weights = np.full(size, 1 / size)
    assert exact_cost(weights, weights, cost) == pytest.approx(cost[rows, columns].mean(), abs=1e-12)


def test_by_hand() -> None:
    # .7 and .3 to .5 and .5: .5 stays, .2 moves over 2, .3 stays.
    assert exact_cost(np.array([0.7, 0.3]), np.array([0.5, 0.5]), np.array([[0.0, 2.0], [2.0, 0.0]])) == pytest.approx(
        0.4
    )


@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (5, 1)])
def test_a_single_item_has_one_plan(shape: tuple[int, int]) -> None:
    first, second, cost = random_problem(0, *shape)
    assert exact_cost(first, second, cost) == pytest.approx(first @ cost @ second)


def test_without_an_optimum_there_is_no_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "PIVOTS", 1)
    with pytest.raises(TransportError, match="30 x 30"):
        exact_cost(*random_problem(0, 30, 30))
