from __future__ import annotations

import agreement
import numpy as np
import pytest

from rlsum.judgments.records import Judgment

LABELS = np.array([1.0, 0, 1, 0, 1])
SCORES = np.array([5.0, 2, 2, 1, 4])
ONES = np.ones(5)


def test_statistics_by_hand() -> None:
    """Of six pairs five are in order and one is tied; each document counts as often as it is drawn."""
    assert agreement.auc(SCORES, LABELS, ONES) == pytest.approx(5.5 / 6)
    assert agreement.auc(SCORES, LABELS, np.array([0.0, 1, 1, 1, 0])) == pytest.approx(1.5 / 2)
    assert np.isnan(agreement.auc(SCORES, np.ones(5), ONES))
    assert agreement.threshold(SCORES, LABELS) == 3
    said = (SCORES >= 3).astype(float)
    assert agreement.balanced(said, LABELS, ONES) == pytest.approx((2 / 3 + 1) / 2)
    assert agreement.balanced(said, LABELS, np.array([1.0, 1, 4, 1, 1])) == pytest.approx((2 / 6 + 1) / 2)


def test_the_threshold_comes_from_other_documents() -> None:
    """Documents whose labels go with the scores, and none whose rows are in both halves."""
    rows = [
        Judgment(str(n), "", "a text", (), f"article {n // 4}", scores={"overall": float(n % 2)}) for n in range(80)
    ]
    scores = np.array([row.scores["overall"] for row in rows], dtype=float)
    cells = agreement.of_benchmark(rows, {"right": scores, "wrong": -scores}, seed=0)
    assert [cell.text for cell in cells["texts, consistent ones"]] == ["40", "20"]
    assert [cell.text for cell in cells["right"]] == ["100.0", "100.0"]
    assert [cell.text for cell in cells["wrong"]] == ["50.0", "0.0"]


def test_pairs() -> None:
    rows = [Judgment(str(n), "", "a", (), f"article {n % 4}") for n in range(8)]
    cells = agreement.of_pairs(rows, {"one": np.array([1.0, 2, 3, 4, 0, 2, 4, 0])}, seed=0)
    assert cells["one"][0].text == "62.5"


def test_a_sample_has_whole_inputs_and_a_smaller_one_is_in_it() -> None:
    rows = [Judgment(str(n // 3), str(n % 3), "a", ()) for n in range(30)]
    small, large = (agreement.sample(rows, count, 1) for count in (2, 5))
    assert (len(small), len(large)) == (6, 15)
    assert {row.key for row in small} < {row.key for row in large}
