import argparse

import numpy as np
import pytest
from calibration.preference import false_alarms, pooled_p
from scipy.stats import binomtest


def test_pooled_p_is_the_binomial_test():
    counts = np.array([[7, 3, 15], [4, 0, 4], [0, 5, 0], [1, 0, 0]], dtype=float)
    assert pooled_p(counts) == pytest.approx([binomtest(15, 22).pvalue, 1.0, 1.0, 1.0])


def test_the_naive_test_does_not_keep_its_level_where_votes_agree():
    *_, uncorrelated, _, _, agreeing = false_alarms(100, 3, 0.0, argparse.Namespace(draws=2_000, seed=0))
    sign_flip, naive = (float(cell.rstrip("%")) for cell in agreeing.split(", "))
    assert 3 <= sign_flip <= 6
    assert naive > 13
    assert float(uncorrelated.split(", ")[1].rstrip("%")) <= 6
