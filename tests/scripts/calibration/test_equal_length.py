import pytest
from calibration.equal_length import World, rates


@pytest.mark.parametrize("shape", ["line", "cap", "peak"])
def test_a_gain_by_length_alone_is_gone_and_the_level_holds(shape):
    found = rates(World(3, 100, 16, shape, noise=0.02), draws=150, seed=0)
    assert abs(found["raw"][0]) > 0.01
    assert found["local line"][0] == pytest.approx(0, abs=0.002)
    assert found["local line"][2] < 0.09
    if shape == "cap":
        assert found["line"][0] < -0.004
