from __future__ import annotations

import pytest
from calibration.equal_length import World, rates


def test_a_gain_by_length_alone_is_gone_and_the_level_holds():
    found = rates(World(3, 100, 8), draws=300, seed=0)
    assert found["raw"][0] > 0.02
    assert found["regression"][0] == pytest.approx(0, abs=0.003)
    assert found["regression"][2] < 0.09
    assert found["regression"][1] < found["about equal"][1]
