import numpy as np
import pytest
from calibration.verdicts import FURTHER, SHAPES, false_claims, world


def claims(shape, seeds, generator):
    """Of the page, and of tests one by one."""
    own, *others = (world(shape, seeds, 50, 3, generator) for _ in range(1 + FURTHER))
    return false_claims(own, others)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_equal_systems_seldom_get_a_claim(shape):
    generator = np.random.default_rng(0)
    said, alone = np.mean([claims(shape, 2, generator) for _ in range(40)], axis=0)
    assert said.max() <= 0.15
    assert (said <= alone).all()


def test_one_seed_gets_none():
    generator = np.random.default_rng(0)
    assert not any(any(claims(shape, 1, generator)[0]) for shape in SHAPES)
