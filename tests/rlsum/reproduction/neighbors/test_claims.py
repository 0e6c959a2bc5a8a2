from __future__ import annotations

import math

import pytest

from rlsum.reproduction.neighbors.claims import Claim, above, all_of, by_sign, claims_table


@pytest.mark.parametrize(
    ("difference", "p", "verdict"),
    [
        (0.1, 0.01, "holds"),
        (-0.1, 0.01, "does not hold"),
        (0.1, 0.05, "cannot be said"),
        (0.1, math.nan, "cannot be said"),
        (math.nan, math.nan, "cannot be said"),
    ],
)
def test_by_sign(difference, p, verdict):
    assert by_sign(difference, p) == verdict


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.3, 0.5, "holds"),
        (0.1, 0.2, "does not hold"),
        (0.1, 0.3, "cannot be said"),
        (math.nan, math.nan, "cannot be said"),
    ],
)
def test_above_a_bound(low, high, verdict):
    assert above(low, high, 0.25) == verdict


def test_one_failure_refutes_and_one_doubt_leaves_open():
    assert all_of(["holds", "holds"]) == "holds"
    assert all_of(["holds", "cannot be said", "does not hold"]) == "does not hold"
    assert all_of(["holds", "cannot be said"]) == "cannot be said"
    assert all_of([]) == "cannot be said"


def test_claims_are_rows():
    table = claims_table([Claim("it rains", "holds", "10 mm")])
    assert table.rows == [{"claim": "it rains", "verdict": "holds", "numbers": "10 mm"}]
