import numpy as np
import pytest
from calibration.claims import BLOCK, CROWDS, SYSTEMS, claims


@pytest.mark.parametrize("kind", SYSTEMS)
@pytest.mark.parametrize("crowd", CROWDS)
def test_equal_systems_seldom_get_a_claim(kind, crowd):
    generator = np.random.default_rng(0)
    assigned = np.array([generator.choice(10, 3, replace=False) for _ in range(30)])
    leaning, preferred, side, together = np.concatenate(
        [claims(kind, assigned, 10, crowd, generator) for _ in range(2)], axis=1
    )
    assert len(together) == 2 * BLOCK
    assert not (preferred & ~leaning).any()
    assert preferred.mean() <= 0.12  # of 5%, 100 studies: more with a probability of .2%
    assert side.mean() <= 0.06  # of 1%
    assert (together == preferred | side).all()
