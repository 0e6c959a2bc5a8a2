import numpy as np
import pytest
from reproductions.neighbors.annotators import annotators
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


def test_the_average_leaves_out_who_judged_too_little():
    found = annotators(judged(VOTES))
    mean = found.average(found.errors)
    assert mean.value == pytest.approx(np.nanmean(found.errors))
    assert mean.low <= mean.value <= mean.high


def test_without_enough_texts_nobody_counts():
    found = annotators(judged(VOTES[:3]))
    assert np.isnan(found.average(found.errors).value)
