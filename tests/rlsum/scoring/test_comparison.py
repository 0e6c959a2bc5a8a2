from __future__ import annotations

import numpy as np
import pytest

import rewards
from rlsum.records import Output
from rlsum.scoring.comparison import Resampling, compare, compare_all, intervals
from rlsum.scoring.outputs import SystemScores, score_system
from rlsum.scoring.tables import difference_table


def scores(system: str, ids: str, values: list[float]) -> SystemScores:
    return SystemScores(system, tuple(ids), {"m": np.array(values)}, {})


def test_items_are_paired_by_id_whatever_their_order():
    ids, values = "uvwxyz", np.arange(6.0)
    found = compare(scores("b", ids[::-1], list(values[::-1] + 1)), scores("a", ids, list(values)), "m", Resampling())
    assert found.interval.mean == 1
    assert np.isnan(found.interval.low)  # every pair differs by 1 exactly: paired, nothing varies
    assert (found.shared, found.unpaired) == (6, 0)
    assert found.p == pytest.approx(2 / 64)


def test_items_of_one_system_only_are_counted():
    found = compare(scores("b", "xyq", [2, 3, 9]), scores("a", "xyz", [1, np.nan, 7]), "m", Resampling())
    assert (found.shared, found.unpaired, found.interval.n) == (2, 2, 1)
    assert found.interval.mean == 1


def test_systems_without_a_common_item_have_no_difference():
    found = compare(scores("b", "x", [2]), scores("a", "y", [1]), "m", Resampling())
    assert np.isnan([found.interval.mean, found.p]).all()
    assert found.shared == 0


def test_everything_compared_at_once_is_adjusted_together():
    first = scores("a", "123456", [0] * 6)
    others = [scores("b", "123456", [1] * 6), scores("c", "123456", [1, -1, 1, -1, 1, -1])]
    found = compare_all([first, *others], first, Resampling())
    assert [item.system for item in found] == ["b", "c"]
    assert [item.p for item in found] == [pytest.approx(2 / 64), 1]
    assert [item.p_holm for item in found] == [pytest.approx(4 / 64), 1]


def test_intervals_and_what_is_said_of_them_have_the_level_of_their_settings():
    usual, half = Resampling(resamples=500), Resampling(level=0.5, resamples=500)
    first, second = scores("a", "123456", [0] * 6), scores("b", "123456", [1, 2, 3, -1, 4, 5])
    wide, narrow = (compare_all([first, second], first, how) for how in (usual, half))
    assert wide[0].interval.low < narrow[0].interval.low < narrow[0].interval.high < wide[0].interval.high
    values = second.metrics["m"]
    assert usual.interval(values).low < half.interval(values).low
    assert "50% interval" in half.note
    assert usual.alpha == 0.05
    marked = [difference_table(wide, how, "Against a").rows[0][2].mark for how in (usual, half)]
    assert marked == [False, True]  # p = 4 / 64


def test_an_interval_ends_where_a_score_ends():
    low = np.array([0.0, 0.001, 0.0, 0.02, 0.0, 0.3, 0.0, 0.001])
    found = intervals({"m": low, "other": low}, Resampling(), {"m": "rouge-2|direction:f1", "other": "own:metric|v:1"})
    assert found["m"].low == 0 or found["m"].high == 1
    assert found["other"].low < 0 or found["other"].high > 1


def test_the_value_of_a_corpus_is_tested_as_it_is_shown():
    reward = rewards.from_spec("bleu")
    draw = np.random.default_rng(3)
    references = [" ".join(draw.choice([*"abcdefgh"], 12)) for _ in range(40)]

    def outputs(system, kept):
        texts = [" ".join(word if draw.random() < kept else "x" for word in text.split()) for text in references]
        rows = (
            Output(str(n), "", (text,), own, system)
            for n, (text, own) in enumerate(zip(references, texts, strict=True))
        )
        return score_system(system, list(rows), {"bleu": reward})

    good, bad, same = outputs("good", 0.95), outputs("bad", 0.7), outputs("same", 0.7)
    resampling = Resampling(resamples=500)
    tests = {(test.system, test.metric): test for test in compare_all([good, bad, same], bad, resampling)}
    of_good, of_same = tests["good", "bleu of the corpus"], tests["same", "bleu of the corpus"]
    assert of_good.interval.mean == pytest.approx(good.corpus["bleu"] - bad.corpus["bleu"])
    assert np.isnan(of_good.interval.low)
    assert of_good.p == pytest.approx(1 / 501)
    assert of_same.p > 0.05
    assert of_good.shared == of_good.interval.n == 40


def test_corpora_are_compared_on_the_articles_that_both_have():
    reward = rewards.from_spec("bleu")
    texts = ["a b c d e f", "g h i j k l", "a c e g i k m"]
    rows = [Output(str(n), "", (text,), text, "all") for n, text in enumerate(texts)]
    whole, part = (score_system(name, chosen, {"bleu": reward}) for name, chosen in (("all", rows), ("part", rows[1:])))
    (_, found) = compare_all([whole, part], whole, Resampling(resamples=10))
    assert (found.metric, found.shared, found.unpaired, found.interval.mean) == ("bleu of the corpus", 2, 1, 0.0)


def test_texts_without_references_are_in_no_test_of_corpora():
    """Of six articles four have references in both: 16 ways to swap, two of which differ as much."""
    reward, reference = rewards.from_spec("bleu"), ("w the storm town hit the big red w0",)
    left, right = (
        [Output(str(n), "", reference if n >= lost else (), text, name) for n in range(6)]
        for name, text, lost in (
            ("A", "w the storm town hit the big x", 0),
            ("G", "w the storm town hit the big w0", 2),
        )
    )
    systems = [score_system(rows[0].system, rows, {"bleu": reward}) for rows in (left, right)]
    mean, found = compare_all(systems, systems[0], Resampling(resamples=5_000))
    assert found.interval.n == mean.interval.n == 4
    assert found.shared == 6
    assert found.p == pytest.approx(1 / 8, abs=0.03)
    few = [score_system(rows[0].system, rows[2:], {"bleu": reward}).corpus["bleu"] for rows in (right, left)]
    assert found.interval.mean == pytest.approx(few[0] - few[1])
