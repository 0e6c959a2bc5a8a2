import random
from dataclasses import replace

import numpy as np
import pytest
from calibration.preference import draw_votes
from votes import study_of, votes_of

from human_eval.planning.simulation import Assumptions
from human_eval.report.findings import findings, headline, verdict
from human_eval.report.tables import verdict_table
from human_eval.report.warnings import warnings
from human_eval.statistics.analysis import analyse
from human_eval.statistics.settings import THESE, AnalysisSettings, Planned
from human_eval.votes.votes import CheckResult
from rlsum.errors import UserError
from rlsum.evaluation.statistics import holm

FAST = AnalysisSettings(resamples=300)


def simulated(preference, *, items=60, judges=6, seed=0, **options):
    counts = draw_votes(Assumptions(preference, 0.2, 0.3), items, judges, 1, np.random.default_rng(seed))[0]
    values = np.array([np.repeat([-1, 0, 1], row.astype(int)) for row in counts], dtype=float)
    return votes_of(np.random.default_rng(seed).permuted(values, axis=1), **options)


@pytest.fixture(scope="module")
def votes():
    """b is preferred overall, nothing is to be found in focus, and judge6 clicks at random."""
    rows = [*simulated(0.8), *simulated(0.5, seed=1, criterion="focus")]
    rng = random.Random(0)
    clicks = [[rng.choice([-1, 1])] for _ in range(60)]
    for criterion in ("overall", "focus"):
        rows += [replace(row, judge="judge6", task=f"c{row.task}") for row in votes_of(clicks, criterion=criterion)]
    checks = [CheckResult("judge6", f"check{n}", "identical", True) for n in range(3)]
    return study_of(rows, checks=checks)


def test_what_was_planted_is_found_and_what_was_not_is_not(votes):
    found = analyse(votes, FAST)
    preferred = {each.criterion: each.preferred() for each in found.outcomes}
    assert preferred == {"overall": "b", "focus": None}
    assert [each.judge for each in found.excluded] == ["judge6"]
    assert {row.judge for row in found.kept.rows} == {f"judge{n}" for n in range(6)}
    with_all = {each.criterion: each for each in found.everyone}
    assert with_all["overall"].half.share < found.outcomes[0].half.share  # noise draws it to one half
    assert analyse(votes, replace(FAST, rules=replace(FAST.rules, max_failed=1))).everyone == ()


def test_the_order_of_votes_changes_nothing(votes):
    shuffled = list(votes.rows)
    random.Random(1).shuffle(shuffled)
    found, again = analyse(votes, FAST), analyse(replace(votes, rows=tuple(shuffled)), FAST)
    assert repr(again.outcomes) == repr(found.outcomes)  # repr, since NaN is not itself
    assert repr(again.agreement) == repr(found.agreement)
    assert repr(again.judges) == repr(found.judges)


def test_families_of_holm(votes):
    one = analyse(votes, FAST).outcomes
    assert [each.p_holm for each in one] == pytest.approx(holm([each.half.p for each in one]))
    apart = analyse(votes, replace(FAST, primary="overall")).outcomes
    assert [each.p_holm for each in apart] == [each.half.p for each in apart]  # two families of one


def test_claims_have_an_order(votes):
    """These judges before judges like these, and of each pair the primary criterion before others."""
    for settings in (FAST, replace(FAST, primary="focus"), replace(FAST, primary="overall")):
        overall, focus = sorted(analyse(votes, settings).outcomes, key=lambda row: row.criterion, reverse=True)
        assert all(not row.alike.p_holm < row.these.p_holm for row in (overall, focus))
        assert (overall.preferred() == "b") == (settings.primary != "focus")  # nothing is detected in focus
        if settings.primary == "focus":
            assert overall.p_holm == focus.p_holm > overall.half.p
            assert overall.these.low < 0.5 < overall.these.high


def test_a_verdict_that_one_judge_decides_is_told_with_the_name():
    """One who always prefers a among four coin-tossers made a headline in 65 to 83% of studies."""
    tosses = np.random.default_rng(4).choice([-1, 1], (40, 5))
    tosses[:, 0] = -1
    found = analyse(study_of(votes_of(tosses)), FAST)
    (outcome,) = found.outcomes
    assert (outcome.leaning(), outcome.preferred()) == ("a", None)
    assert outcome.decided_by == ("judge0",)
    assert headline(found).startswith("No reliable preference is shown for a over b (not shown without judge0; 60.5%, ")
    assert "overall, a and b: the preference is not shown without judge0" in warnings(found)
    sure = analyse(study_of(votes_of(np.where(np.random.default_rng(0).random((40, 6)) < 0.9, 1, -1))), FAST)
    assert sure.outcomes[0].decided_by == ()
    assert headline(sure).startswith("These judges, and judges like them, prefer b to a (")


def test_judges_with_few_checks_are_named_with_the_verdict_without_them():
    """Who took over a part-done booklet could not be excluded, and the result rested on that judge alone."""
    tosses = np.random.default_rng(4).choice([-1, 1], (40, 5))
    tosses[:, 0] = -1
    checks = [
        CheckResult(f"judge{n}", f"check{k}", "identical", False) for n in range(5) for k in range(3 - 2 * (n == 0))
    ]
    found = analyse(study_of(votes_of(tosses), checks=checks), FAST)
    assert found.unchecked == ("judge0",)
    told = warnings(found)
    assert "judge0 answered fewer than 2 checks, so the rule could not leave this judge out" in told
    (without,) = (line for line in told if line.startswith("without them: overall, a and b: "))
    assert without.endswith("; no difference is detected")
    assert analyse(study_of(votes_of(tosses)), FAST).unchecked == ()  # a study without checks


def test_a_verdict_that_judges_with_few_checks_hide_is_told_and_so_is_the_same_verdict():
    checks = [CheckResult(f"judge{n}", f"check{k}", "identical", False) for n in range(2, 5) for k in range(2)]
    hidden = np.where(np.arange(5) < 2, -1, 1) * np.ones((20, 1))
    hidden[:10, 4] = -1
    told = warnings(analyse(study_of(votes_of(hidden), checks=checks), FAST))
    (without,) = (line for line in told if line.startswith("without them: overall, a and b: b would have 83.3% ("))
    assert without.endswith("; of other judges nothing is shown")
    tosses = votes_of(np.random.default_rng(0).choice([-1, 1], (30, 5)))
    few = "answered fewer than 2 checks, so the rule could not leave them out; "
    assert f"judge0, judge1 {few}without them the same is detected" in warnings(
        analyse(study_of(tosses, checks=checks), FAST)
    )
    (all_,) = (line for line in warnings(analyse(study_of(tosses, checks=checks[:1]), FAST)) if few in line)
    assert all_.endswith("no other judge is left")


def test_a_verdict_is_told_from_the_side_of_the_winner():
    votes = [replace(row, preference=-row.preference) for row in simulated(0.9)]
    found = analyse(study_of(votes), FAST).outcomes[0]
    assert verdict(found, 0.05).startswith("overall: a is preferred to b by these judges (")
    share = float(verdict(found, 0.05).split("(")[1].split("%")[0])
    assert share == pytest.approx(100 * (1 - found.half.share), abs=0.06)


def test_warnings_of_small_studies_and_of_the_naive_test():
    few = warnings(analyse(study_of(votes_of(np.ones((4, 2)))), FAST))
    assert any("4 items and 1 test: no result of these judges could have been significant" in each for each in few)
    assert any(each.startswith("no preference is claimed, since") and ": 2 judges: no test" in each for each in few)
    # eight items of which six are unanimous: 18 to 6 votes, but 6 to 2 items
    split = np.array([[1, 1, 1]] * 6 + [[-1, -1, -1]] * 2)
    warned = warnings(analyse(study_of(votes_of(split)), FAST))
    assert any("a test on pooled votes would have claimed a difference" in each for each in warned)


def test_too_few_items_for_as_many_tests_are_pointed_out():
    rows = [replace(row, criterion=name) for name in "abcd" for row in votes_of(np.ones((7, 2)))]
    study = study_of(rows)
    told = "7 items and 4 tests: no result of these judges could have been significant"
    found = analyse(study, FAST)
    assert all(outcome.preferred() is None for outcome in found.outcomes)
    assert any(told in each for each in warnings(found))
    alone = Planned(7, 2, 1, 2, THESE)
    apart = analyse(study, replace(FAST, primary="a", planned=alone))  # of one criterion, seven items are enough
    assert apart.outcomes[0].preferred() == "b"
    assert not any("could have been significant" in each for each in warnings(apart))  # nor are three too many


def leaning(own, *, items=60, seed=0):
    """Votes of judges with shares ``own`` of b, each on every item."""
    return votes_of(np.where(np.random.default_rng(seed).random((items, len(own))) < own, 1, -1))


def test_what_three_judges_prefer_is_claimed_only_of_them_and_only_as_planned():
    """Three judges with tastes of their own, and equal systems, made a claim in up to 26% of studies."""
    votes = study_of(leaning([0.85, 0.85, 0.45], items=200))
    found = analyse(votes, FAST)
    (outcome,) = found.outcomes
    assert (outcome.leaning(), outcome.preferred(), outcome.preferred_by_others()) == ("b", None, None)
    assert np.isnan(outcome.random_judges.p)
    assert outcome.shown == outcome.these
    assert headline(found).startswith("3 judges on 200 articles cannot show a preference for b or a (b 70.0%, ")
    assert verdict_table(found).rows[0][3].text == "none claimed"
    warned = " ".join(warnings(found))
    assert "no preference is claimed, since nothing can be shown of other judges: 3 judges" in warned
    assert "1 of 3 judges chose the other: judge2 (" in warned
    asked = analyse(votes, replace(FAST, planned=Planned(200, 3, 1, 3, THESE)))
    assert asked.outcomes[0].preferred() == "b"
    assert headline(asked).startswith("These judges prefer b to a (70.0%, ")
    assert any("about these judges alone, tastes of their own included: 3 judges" in line for line in warnings(asked))


def test_judges_who_differ_much_decide_for_themselves_alone():
    found = analyse(study_of(leaning([0.9, 0.85, 0.8, 0.5, 0.45, 0.3])), FAST)
    assert (found.outcomes[0].leaning(), found.outcomes[0].preferred()) == ("b", None)
    assert "no difference claimed between a and b (b has 59.2%, " in findings(found)[0]
    assert any("that others like them prefer it, too, is not shown" in each for each in warnings(found))
    wide = analyse(study_of(leaning([0.95, 0.95, 0.95, 0.9, 0.2, 0.25])), FAST)
    assert headline(wide).startswith("No preference beyond what 6 judges may have of their own is shown for b or a (b ")
    asked = replace(FAST, planned=Planned(60, 6, 1, 6, THESE))
    assert analyse(wide.votes, asked).outcomes[0].preferred() == "b"  # the question of the plan
    united = analyse(study_of(leaning([0.7] * 6)), FAST)
    assert united.outcomes[0].preferred_by_others() == "b"
    assert "judges like these prefer b, too (" in findings(united)[0]
    assert not any("may not prefer" in each for each in warnings(united))


@pytest.mark.parametrize("seed", range(4))
def test_an_interval_never_contradicts_its_decision(seed):
    generator = np.random.default_rng(seed)
    rows = []
    for number in range(5):
        share = generator.choice([0.5, 0.55, 0.62, 0.7])
        votes = leaning([share] * 6, items=40, seed=10 * seed + number)
        rows += [replace(row, criterion=f"c{number}") for row in votes]
    for outcome in analyse(study_of(rows), replace(FAST, resamples=2_000)).outcomes:
        for verdict_of, found in ((outcome.these, outcome.leaning()), (outcome.alike, outcome.preferred_by_others())):
            one_sided = verdict_of.low >= 0.5 or verdict_of.high <= 0.5
            assert one_sided == (found is not None)


def test_who_did_not_read_is_named():
    hasty = {"judge0": 0.1, "judge1": 0.2}
    rows = [replace(row, seconds=hasty.get(row.judge, row.seconds)) for row in leaning([0.7] * 3)]
    rows += [replace(row, judge="still", task=f"s{row.task}") for row in votes_of(np.zeros((60, 1)))]
    warned = warnings(analyse(study_of(rows), FAST))
    assert "judge0 (0.1 s) and judge1 (0.2 s) took less time per task (median) than reading takes" in warned
    assert "still gave the same answer, no difference, in all of 60 judgments" in warned
    assert not any(each.startswith("judge2") for each in warned)


def test_sides_and_length_are_warned_of():
    rows = [replace(row, preference=1 if row.left == "b" else -1) for row in votes_of(np.ones((30, 2)))]
    assert any("on the left got 100.0% of the votes" in each for each in warnings(analyse(study_of(rows), FAST)))
    rows = votes_of(np.random.default_rng(0).choice([-1, 1], (30, 3)))
    longer = [replace(row, longer=row.preference) for row in rows]
    assert any("the longer text got" in each for each in warnings(analyse(study_of(longer), FAST)))


def test_ties_are_warned_of_if_they_change_the_verdict_not_if_they_change_one_of_many_p():
    rows = votes_of([[1, 0, 0]] * 12 + [[-1, -1, -1]] * 2)
    even = [row for n in range(9) for row in votes_of([[1, -1, 0], [-1, 1, 0]] * 7, criterion=f"other{n}")]
    assert any("treatment of ties" in each for each in warnings(analyse(study_of(rows), FAST)))
    assert not any("treatment of ties" in each for each in warnings(analyse(study_of(rows + even), FAST)))


@pytest.mark.parametrize("values", [[[1]], [[1, 1, 1]], [[0, 0], [0, 0], [0, 0]], [[1], [-1], [0], [1], [1], [1]]])
def test_one_item_one_judge_all_ties(values):
    found = analyse(study_of(votes_of(values)), FAST)
    assert found.outcomes[0].preferred() is None
    assert "no difference detected" in findings(found)[0]


def test_three_systems_are_ranked():
    rows = [
        *simulated(0.7, pair=("a", "b")),
        *simulated(0.8, pair=("a", "c"), seed=1),
        *simulated(0.7, pair=("b", "c"), seed=2),
    ]
    found = analyse(study_of(rows), FAST)
    assert [row.system for row in found.rankings["overall"].systems] == ["c", "b", "a"]
    assert "overall: from strongest to weakest: c, b, a" in findings(found)
    assert headline(found).startswith("These judges, and judges like them, prefer b to a (")
    assert headline(found).endswith("). Shares of the answers of 6 judges on 60 articles.")
    decided = replace(found.outcomes[0], decided_by=("judge0",))
    told = headline(replace(found, outcomes=(decided, *found.outcomes[1:])))
    assert told.startswith("These judges, and judges like them, prefer c to a (")  # what is shown comes first
    assert "; no reliable preference is shown for b over a (not shown without judge0; " in told
    undetected = [replace(row, alike=replace(row.alike, p_holm=1.0)) for row in found.outcomes]
    assert "overall: no order of the systems is shown" in findings(replace(found, outcomes=tuple(undetected)))
    partly = replace(found, outcomes=(*found.outcomes[:2], undetected[2]))
    assert "overall: no complete order of the systems is shown; detected: b over a, c over a" in findings(partly)
    apart = [row for row in rows if row.pair == ("a", "b")] + votes_of([[1], [-1]], pair=("c", "d"))
    assert any("no chain of comparisons" in each for each in warnings(analyse(study_of(apart), FAST)))


def test_metric_scores_help_where_they_are_good_and_harm_nowhere():
    generator = np.random.default_rng(0)
    quality = generator.uniform(-0.4, 0.4, 500)
    values = np.where(generator.random((80, 3)) < 0.6 + quality[:80, None], 1, -1)
    names = [f"item{number:03d}" for number in range(500)]
    good = {"a": dict.fromkeys(names, 0.0), "b": dict(zip(names, quality.tolist(), strict=True))}
    noise = {"a": dict.fromkeys(names, 0.0), "b": dict(zip(names, generator.random(500).tolist(), strict=True))}
    noise["b"]["item000"] = float("nan")
    found = analyse(study_of(votes_of(values)), FAST, {"good": good, "noise": noise})
    controls = found.controls["overall", ("a", "b")]
    assert controls["good"].width < 0.95
    assert controls["noise"].width == pytest.approx(1, abs=0.05)
    assert controls["noise"].undefined == 1
    assert (controls["good"].judged, controls["good"].others) == (80, 420)
    assert found.metrics["overall"]["good"].share > 0.7
    assert any("the scores of good correlate" in each for each in findings(found))


def test_the_best_of_twelve_useless_metrics_is_claimed_at_5_percent():
    generator = np.random.default_rng(0)
    names, claimed = [f"item{number:03d}" for number in range(60)], 0
    for _ in range(12):
        scores = {
            f"m{number}": {system: dict(zip(names, generator.random(60).tolist(), strict=True)) for system in "ab"}
            for number in range(12)
        }
        votes = study_of(votes_of(generator.choice([-1, 1], (30, 2))))
        said = findings(analyse(votes, replace(FAST, resamples=20), scores))
        claimed += any("narrower" in each and "no metric" not in each for each in said)
    assert claimed <= 3  # of 12 at 5%: more with a probability of .2%


def test_sides_of_a_half_returned_study_are_not_called_balanced():
    votes = np.where(np.random.default_rng(0).random((40, 2)) < 0.85, 1, -1)  # by side: 1 is the left
    rows = [replace(row, preference=row.preference if row.left == "b" else -row.preference) for row in votes_of(votes)]
    balanced = " ".join(warnings(analyse(study_of(rows), FAST)))
    assert "sides are balanced among these votes" in balanced
    returned = [row for row in rows if row.left == "b" or row.position < 16]
    said = " ".join(warnings(analyse(study_of(returned), FAST)))
    assert "sides are not balanced among these votes (b was on the left in 71.4%" in said
    assert "which favours b by about" in said


def test_nothing_to_analyse_is_said():
    empty = study_of(votes_of([[1]]))
    with pytest.raises(UserError, match="no judgments of pairs"):
        analyse(replace(empty, rows=()), FAST)
    with pytest.raises(UserError, match="primary criterion 'style': judges were not asked it; choose one of overall"):
        analyse(empty, replace(FAST, primary="style"))
    checks = tuple(CheckResult("judge0", f"check{n}", "identical", True) for n in range(2))
    with pytest.raises(UserError, match=r"all judges are excluded \(judge0: failed 2 of 2 checks\); .*max_failed="):
        analyse(replace(empty, checks=checks), FAST)


def test_agreement_does_not_depend_on_which_system_is_called_the_first():
    rows = [*simulated(0.8), *simulated(0.8, pair=("a", "c"), seed=1)]
    turned = [replace(row, pair=("c", "a"), preference=-row.preference) if "c" in row.pair else row for row in rows]
    found, other = analyse(study_of(rows), FAST).agreement, analyse(study_of(turned), FAST).agreement
    for name, each in found["overall", ("a", "c")].items():
        assert other["overall", ("c", "a")][name].value == pytest.approx(each.value)
    assert found["overall", ("a", "b")] == other["overall", ("a", "b")]


@pytest.mark.parametrize("name", ["judge", "anonymous-"])
def test_of_judges_whom_a_file_does_not_name_nothing_is_said_of_judges_like_them(name):
    """One person may have filled in all rows."""
    votes = np.where(np.random.default_rng(1).random((24, 12)) < 0.9, 1, -1)
    rows = [replace(row, judge=row.judge.replace("judge", name)) for row in votes_of(votes)]
    (found,) = analyse(study_of(rows), AnalysisSettings(resamples=99)).outcomes
    assert found.half.p <= 0.05
    assert np.isnan(found.random_judges.p) == (name == "anonymous-")
    assert ("no names" in found.random_judges.reason) == (name == "anonymous-")
