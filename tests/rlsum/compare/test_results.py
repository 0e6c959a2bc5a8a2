from __future__ import annotations

import json
from dataclasses import replace

import comparisons
import numpy as np
import pytest

from rlsum.compare.results import best, compare, gather, metric_means, property_means, unchanged

GAINS = {"rouge-l": 0.2, "rouge-2": 0.2, "rouge-l.constant": -0.2, "oracle": 0.5}


@pytest.fixture
def results(tmp_path):
    return gather(*comparisons.finished(tmp_path, GAINS), "beam")


def test_a_row_has_the_scores_of_every_seed_and_article(results):
    assert results.systems["rouge-l"].metrics["rouge-1"].shape == (3, 80)
    assert results.systems["oracle"].metrics["rouge-1"].shape == (1, 80)
    assert results.metrics == ["rouge-l", "rouge-2", "rouge-1"]


def test_the_interval_of_a_mean_ends_where_a_score_ends(tmp_path):
    folder, cells = comparisons.finished(tmp_path, {"rouge-l": -0.25}, seeds=(1, 2), metrics=["rouge-1", "bertscore"])
    for cell in (cell for cell in cells if cell.name == "rouge-l-2"):  # another seed, another level
        comparisons.finish(folder, cell, {name: np.full(80, 0.6) for name in folder.comparison.specs})
    results = gather(folder, cells, "beam")
    means = metric_means(results, results.systems["rouge-l"])
    assert (means["rouge-1"].low, means["rouge-1"].high) == (0, 1)
    assert means["bertscore"].low < 0
    assert means["bertscore"].high > 1
    assert min(test.difference.low for test in results.against["none"]) < -1  # a difference may be below 0
    lengths = {"length": np.array([[1.0, 2, 3], [40, 50, 60]]), "novelty": np.array([[0.0, 0, 0.1], [0.8, 1, 1]])}
    found = property_means(replace(results.systems["rouge-l"], properties=lengths))
    assert found["length"].low == 0
    assert found["length"].high > 60
    assert (found["novelty"].low, found["novelty"].high) == (0, 1)


def test_differences_are_paired_by_seed_and_article(results):
    systems = results.systems
    found = compare(systems["rouge-l"], systems["none"], "rouge-l").difference
    expected = (systems["rouge-l"].metrics["rouge-l"] - systems["none"].metrics["rouge-l"]).mean()
    assert found.mean == pytest.approx(expected)
    assert found.low < found.mean < found.high
    assert found.p < 0.05
    back = compare(systems["none"], systems["rouge-l"], "rouge-l").difference
    assert (back.mean, back.low, back.high, back.p) == pytest.approx((-found.mean, -found.high, -found.low, found.p))


def test_all_rows_are_compared_with_start_and_control_as_families(results):
    assert list(results.against) == ["start", "none"]
    tests = {(test.system, test.metric): test for test in results.against["none"]}
    assert len(tests) == 5 * 3  # the other competing rows, by three metrics
    assert all(test.difference.p_holm >= test.difference.p for test in tests.values())
    assert tests["rouge-l", "rouge-1"].shown
    assert not tests["start", "rouge-1"].shown
    assert tests["rouge-l.constant", "rouge-l"].difference.mean < 0


def test_the_best_is_alone_only_where_it_is_told_apart(tmp_path):
    tied = gather(*comparisons.finished(tmp_path / "tied", GAINS), "beam")
    top = best(tied, "rouge-1")
    assert {top.best, *top.tied} == {"rouge-l", "rouge-2"}  # the oracle does not compete
    alone = gather(*comparisons.finished(tmp_path / "alone", {"rouge-2": 0.2}), "beam")
    assert best(alone, "rouge-1").best == "rouge-2"
    assert best(alone, "rouge-1").shown


def test_a_cell_that_is_not_finished_is_undefined_and_named(tmp_path):
    folder, cells = comparisons.finished(tmp_path, GAINS)
    folder.scores(next(cell for cell in cells if cell.name == "rouge-2-2"), "beam").unlink()
    results = gather(folder, cells, "beam")
    assert results.failed == {"rouge-2-2": "not finished: waiting"}
    scores = results.systems["rouge-2"].metrics["rouge-l"]
    assert (np.isnan(scores).all(axis=1).tolist(), scores.shape) == ([False, True, False], (3, 80))
    assert compare(results.systems["rouge-2"], results.systems["start"], "rouge-l").difference.seeds == 2


def test_only_articles_that_every_file_has_are_compared(tmp_path):
    folder, cells = comparisons.finished(tmp_path, GAINS)
    comparisons.finish(folder, cells[0], {name: np.ones(50) for name in folder.comparison.specs})
    results = gather(folder, cells, "beam")
    assert len(results.ids) == 50
    assert results.systems["start"].metrics["rouge-l"][0].tolist() == [1.0] * 50


def test_a_chosen_system_is_compared_with_too(tmp_path):
    folder, cells = comparisons.finished(tmp_path, GAINS, compared_with="rouge-2")
    assert list(gather(folder, cells, "beam").against) == ["start", "none", "rouge-2"]


def test_a_run_that_ended_as_its_start_is_named(tmp_path):
    folder, cells = comparisons.finished(tmp_path, GAINS)
    assert unchanged(gather(folder, cells, "beam")) == {}
    start, trained = (
        folder.scores(next(cell for cell in cells if cell.name == name), "beam") for name in ("start-2", "rouge-2-2")
    )
    same = json.loads(start.read_text())
    same["metrics"]["rouge-1"] = [
        score + 1e-7 for score in same["metrics"]["rouge-1"]
    ]  # an encoder rounds by its batch
    trained.write_text(json.dumps(same))
    assert unchanged(gather(folder, cells, "beam")) == {"rouge-2": [2]}
