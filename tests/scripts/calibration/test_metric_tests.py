from dataclasses import replace

import numpy as np
import pytest
from calibration.metric_tests import NULLS, POWERS, World, _permutation_p, power, rejections

from rlsum.evaluation.permutation import p_values, swapped_differences
from rlsum.evaluation.rows import paired_rows

BY_NAME = {world.name: world for world in NULLS}


def test_worlds_are_what_they_say():
    world = World("", inputs=200, rows=5, shared=0.4, r=0.5, gain=0.1, between=0.6)
    human, a, b = world.draw(200, np.random.default_rng(0))
    assert human.shape == (200, 200, 5)
    found = np.corrcoef([human.ravel(), a.ravel(), b.ravel()])
    assert found[0, 1:] == pytest.approx([0.6, 0.5], abs=0.02)
    assert found[1, 2] == pytest.approx(0.6, abs=0.02)
    assert np.corrcoef(human[..., 0].ravel(), human[..., 1].ravel())[0, 1] == pytest.approx(0.4, abs=0.02)
    unlike = replace(world, gain=0.0, shape="unlike").draw(1000, np.random.default_rng(0))
    r = [np.corrcoef(unlike[0].ravel(), scores.ravel())[0, 1] for scores in unlike[1:]]
    assert r == pytest.approx([0.5, 0.5], abs=0.02)


def test_the_simulated_permutation_is_the_one_of_the_library():
    world = World("", inputs=40, rows=3, shared=0.3, gain=0.1)
    human, a, b = world.draw(4, np.random.default_rng(1))
    simulated = _permutation_p(human, a, b, 4000, np.random.default_rng(2))
    names = np.repeat(np.arange(40), 3)
    for draw, p in enumerate(simulated):
        rows = paired_rows(human[draw].ravel(), a[draw].ravel(), b[draw].ravel(), names)
        swapped = swapped_differences(*rows, "pearson", "pooled", resamples=4000)
        assert p_values(swapped.difference, swapped.swaps)[0] == pytest.approx(p, abs=0.03)


def test_few_draws_show_the_same_picture():
    independent = rejections(BY_NAME["independent, normal, Pearson"], draws=1000)
    assert 0.03 < independent.williams < 0.075
    clustered = rejections(BY_NAME["4 rows an input, 60% shared"], draws=1000)
    assert clustered.williams > 0.12
    assert clustered.clustered < 0.075
    found = power(POWERS[0], (0.0, 0.2), draws=300)
    assert found[1].williams > 0.6 > 0.2 > found[0].williams


@pytest.mark.slow
@pytest.mark.parametrize("world", NULLS, ids=lambda world: world.name)
def test_levels(world):
    found = rejections(world, draws=20_000)
    alike = world.shape != "unlike"
    if world.rows == 1 and world.shape == "normal" and not world.ranked:
        assert 0.04 <= found.williams <= 0.06
    if world.rows > 1:
        assert found.williams > 0.07
    if world.shape == "skewed" and not world.ranked:
        assert found.williams > 0.1
    if alike:
        assert found.clustered <= 0.06


@pytest.mark.slow
def test_power_grows_with_the_difference():
    for world in POWERS[:2]:
        found = [each.clustered for each in power(world, (0.0, 0.05, 0.1, 0.2), draws=2000)]
        assert found == sorted(found)
        assert found[-1] > 0.8
