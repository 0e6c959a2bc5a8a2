from dataclasses import replace

import numpy as np
import pytest
from rated import Share, changed, rated

from rewards import Plain
from rewards.errors import RewardError
from rlsum.errors import UserError
from rlsum.judgments.records import Judgment
from rlsum.meta_evaluation.scores import judge_scores, lengths, scored, short_labels


def test_rows_columns_and_what_is_left_out():
    found = changed(changed(rated(), 3, scores={"overall": None}), 5, candidate="right")
    table = scored(found, {"share": Share()})
    assert len(table) == len(found.rows) - 1
    assert table.left_out == {"without a score 'overall'": 1}
    assert table.metrics == ["share"]
    assert table.lengths == ["length (letters)"]
    assert table.inputs[0] == ("", "i0")
    ones = sum(len(row.candidate.split()) == 1 for place, row in enumerate(found.rows) if place != 3)
    assert ones
    assert table.columns["share"].undefined == {"it has one word": ones}
    assert np.isnan(table.scores("share")).sum() == ones
    assert table.judges.scores.shape == (len(table), 2)
    assert not table.judges.named


def test_batch_mates_are_of_one_group():
    calls = []

    def spying(candidates, references=None, sources=None):
        calls.append(list(candidates))
        return np.ones(len(candidates))

    found = rated(groups=("a", "b"))
    rewards = pytest.importorskip("rewards.base")
    scored(found, {"spy": rewards.Plain("spy", spying)})
    assert calls == [[row.candidate for row in found.rows if row.group == group] for group in ("a", "b")]


def test_wrong_scores_and_wrong_metrics():
    with pytest.raises(UserError, match=r"no row has the score 'overal'.*did you mean.*overall"):
        scored(rated(), {}, score="overal")

    class Endless(Share):
        def __call__(self, candidates, references=None, sources=None, columns=None):
            return np.full(len(candidates), np.inf)

    with pytest.raises(RewardError, match=r"is inf for .* candidates, first for .*; it must be finite"):
        scored(rated(), {"endless": Endless()})


def test_lengths():
    rows = [Judgment("1", "s", "It's 2 o'clock: über-müde_x!", ()), Judgment("2", "s", "", ())]
    found = {unit: lengths(rows, unit).tolist() for unit in ("letters", "words", "whitespace", "characters")}
    assert found == {"letters": [7, 0], "words": [8, 0], "whitespace": [4, 0], "characters": [28, 0]}


def test_judges_are_people_only_where_they_are_named():
    def row(name, raw, judges=()):
        return Judgment(name, "s", "c", (), raw_scores={"overall": raw} if raw else {}, judges=judges)

    named = judge_scores([row("1", (1.0, 2.0), ("bo", "ann")), row("2", (3.0,), ("ann",)), row("3", ())], "overall")
    assert named.named
    np.testing.assert_equal(named.scores, [[2, 1], [3, np.nan], [np.nan, np.nan]])
    mixed = judge_scores([row("1", (1.0, None), ("bo", "ann")), row("2", (3.0,))], "overall")
    assert not mixed.named
    np.testing.assert_equal(mixed.scores, [[1, np.nan], [3, np.nan]])
    assert judge_scores([row("1", (None,)), row("2", ())], "overall") is None


def test_labels_lose_what_all_of_a_name_share():
    labels = ["sms(vectors=/a/v.txt, normalize=unit)", "sms(vectors=/a/v.txt)", "rouge-l(stemmer=true)", "weighted"]
    assert list(short_labels(labels).values()) == ["sms(normalize=unit)", "sms", "rouge-l(stemmer=true)", "weighted"]


def test_a_metric_that_reads_sources_says_why_a_text_is_undefined():
    from source_rewards import copied

    judgments = changed(rated(), 2, candidate="")
    rows = tuple(replace(row, source="right") for row in judgments.rows)
    table = scored(replace(judgments, rows=rows), {"copied": Plain("copied", copied)})
    assert table.columns["copied"].undefined == {"copied returned NaN": 1}
