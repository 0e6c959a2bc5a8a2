from __future__ import annotations

import numpy as np
import pytest
from calibration.verdicts import SHAPES, false_claims, world


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_equal_systems_seldom_get_a_claim(shape):
    generator = np.random.default_rng(0)
    found = [false_claims(world(shape, 2, 50, 3, generator)) for _ in range(40)]
    assert np.mean(found, axis=0).max() <= 0.15


def test_one_seed_gets_none():
    generator = np.random.default_rng(0)
    assert not any(map(any, (false_claims(world(shape, 1, 50, 3, generator)) for shape in SHAPES)))
