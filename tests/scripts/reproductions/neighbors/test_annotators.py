from __future__ import annotations

import numpy as np
import pytest
from reproductions.neighbors.annotators import annotators, difficulty
from reproductions.neighbors.tasks import JudgedTexts

NONE = np.nan


def judged(votes):
    votes = np.array(votes, dtype=np.float64)
    names = tuple(map(str, range(len(votes))))
    return JudgedTexts("t", names, np.nanmean(votes, axis=1), names, votes)


VOTES = [[0.0, 0.2, NONE], [0.2, 0.4, NONE], [0.4, 0.6, NONE], [0.6, 0.8, NONE], [0.8, 1.0, 0.0]]


def test_every_annotator_on_the_texts_they_judged():
    found = annotators(judged(VOTES))
    assert found.texts.tolist() == [5, 5, 1]
    # Four times .1 from the mean; the last text's mean is .6, so the two are .2 and .4 from it.
    assert found.errors == pytest.approx([(4 * 0.01 + 0.04) / 5, (4 * 0.01 + 0.16) / 5, NONE], nan_ok=True)
    assert found.correlations[2] != found.correlations[2]  # one text: nothing to correlate
    means = [0.1, 0.3, 0.5, 0.7, 0.6]  # ranks 1 2 3 5 4 against 1 2 3 4 5
    assert judged(VOTES).scores == pytest.approx(means)
    assert found.correlations[:2] == pytest.approx([0.9, 0.9])


def test_against_the_others_alone():
    found = annotators(judged(VOTES), own=False)
    # The first against the second alone, and in the last text against the mean of 1 and 0.
    assert found.errors[0] == pytest.approx((4 * 0.04 + 0.09) / 5)
    assert found.errors[1] == pytest.approx((4 * 0.04 + 0.36) / 5)


def test_the_average_leaves_out_who_judged_too_little():
    found = annotators(judged(VOTES))
    mean = found.average(found.errors)
    assert mean.value == pytest.approx(np.nanmean(found.errors))
    assert mean.low <= mean.value <= mean.high
    assert found.best == (pytest.approx(0.016), pytest.approx(0.9))


def test_without_enough_texts_nobody_is_best():
    found = annotators(judged(VOTES[:3]))
    assert np.isnan(found.best).all()
    assert np.isnan(found.average(found.errors).value)


def test_easier_texts_are_found_easier():
    generator = np.random.default_rng(0)
    spread = np.where(np.arange(60) < 30, 0.02, 0.3)
    votes = judged(0.5 + generator.normal(size=(60, 8)) * spread[:, None])
    easy = np.arange(60) < 30
    found = difficulty(votes, easy, swaps=500)
    squared = (votes.judgments - votes.scores[:, None]) ** 2
    assert found.covered == pytest.approx(squared[:30].mean())
    assert found.all == pytest.approx(squared.mean())
    assert found.p == pytest.approx(1 / 501)
    assert difficulty(votes, np.arange(60) % 2 == 0, swaps=500).p > 0.05


def test_the_average_is_over_annotators_not_over_votes():
    votes = np.full((10, 2), NONE)
    votes[:, 0] = 0.0
    votes[0, 1] = 1.0
    found = difficulty(judged(votes), np.ones(10, dtype=bool))
    assert found.all == pytest.approx((0.25 / 10 + 0.25) / 2)
    assert np.isnan(found.p)  # all texts are covered: nothing to compare


def test_nothing_covered_is_no_mean():
    found = difficulty(judged(VOTES), np.zeros(5, dtype=bool))
    assert np.isnan(found.covered)
    assert np.isnan(found.p)
    assert found.share == 0
