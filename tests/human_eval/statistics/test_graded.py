"""Graded answers and several texts at once: from a built study to the analysis."""

from dataclasses import replace

import numpy as np
import pytest
from graded import WORTH, answer_of
from scipy.stats import permutation_test, ttest_1samp
from studies import NAMES, outputs
from votes import study_of, votes_of

from human_eval.answers import KINDS
from human_eval.collection.responses import Response, fault
from human_eval.criteria import standard
from human_eval.design.build import build
from human_eval.design.design import StudyDesign
from human_eval.design.outputs import align
from human_eval.report.findings import findings
from human_eval.report.tables import all_tables, scores_table
from human_eval.statistics.analysis import analyse
from human_eval.statistics.preference import preference
from human_eval.statistics.random_judges import random_judges
from human_eval.statistics.ranking import ranked
from human_eval.statistics.scores import both_bad, system_scores
from human_eval.statistics.settings import THESE, AnalysisSettings, Planned
from human_eval.study import StudyError
from human_eval.votes.unblind import unblind
from human_eval.votes.votes import Score
from rlsum.evaluation.statistics import LEVEL, Uncertainty

GRADED = ["strength", "strength-bad", "likert-5", "likert-7", "ranking", "best-worst"]


def built(answers, systems=3, items=12, judges=5, twins=(), **changes):
    """A study in which the systems and items in ``twins`` have the text of system 0."""
    rows = outputs(items + 6, systems)
    same = {row.id: row.candidate for row in rows if row.system == NAMES[0]}
    rows = [replace(row, candidate=same[row.id]) if (row.system, row.id) in twins else row for row in rows]
    checks = {"identical": int(answers != "best-worst"), "shuffled": 1, "swapped": 0, **changes}
    aligned = align([(row.system, row) for row in rows])
    design = StudyDesign(items=items, judges=judges, booklet=6, **checks)
    return build(aligned, design, standard(answers, 2 if answers.startswith("strength") else systems), seed=3)


def judged(study, key, name, quality):
    """Everybody answers by the quality of the systems; words in disorder are worth nothing."""
    responses = []
    for task in study.tasks:
        secret = key.tasks[task.id]
        seen = [quality[system] for system in secret.shown]
        if secret.kind == "shuffled":
            places = [place for place, system in enumerate(secret.shown) if secret.shown.count(system) > 1]
            seen[places[secret.expected == "left"]] = 0
        answers = {asked.id: answer_of(name, seen) for asked in study.criteria}
        responses.append(Response(study.id, task.id, f"judge{task.booklet}", answers, seconds=30.0))
    assert {fault(response, study) for response in responses} == {""}
    return responses


@pytest.mark.parametrize("name", GRADED)
def test_a_whole_study_finds_the_systems_in_their_order(name):
    study, key = built(name)
    votes = unblind(study, key, judged(study, key, name, WORTH))
    planned = Planned(12, 5, 3, 5, THESE)  # of so few items nothing else is claimed
    analysis = analyse(votes, AnalysisSettings(resamples=5_000, planned=planned))  # all sign flips
    assert analysis.excluded == ()
    assert len(votes.rows) == 12 * 5 * 3 * 4  # items, judges, pairs, criteria
    for outcome in analysis.outcomes:
        first, second = outcome.pair
        assert outcome.half.items == 12
        assert (outcome.half.share > 0.5) == (WORTH[second] > WORTH[first])
        assert outcome.random_judges.judges >= 5
        assert outcome.points == KINDS[name].points
    better = {outcome.preferred() for outcome in analysis.outcomes}
    assert better == set(sorted(WORTH, key=lambda system: WORTH[system])[1:])
    assert len(scores_table(analysis).rows) == (0 if name.startswith("strength") else 4)
    assert len(all_tables(analysis)) > 5
    if name != "ranking":  # who never loses has no finite strength in a model of votes
        assert sum("from strongest to weakest" in line for line in findings(analysis)) == 4


def test_a_likert_scale_gives_its_points_and_means():
    study, key = built("likert-5")
    analysis = analyse(unblind(study, key, judged(study, key, "likert-5", WORTH)), AnalysisSettings(resamples=200))
    for outcome in analysis.outcomes:
        first, second = outcome.pair
        assert (2 * outcome.half.share - 1) * outcome.points == pytest.approx(WORTH[second] - WORTH[first])
    assert {(row.system, row.mean, row.items, row.answers) for row in analysis.scores} == {
        (system, WORTH[system] + 1.0, 12, 60) for system in WORTH
    }
    shown = {row.system: row.strength for row in analysis.rankings["overall"].systems}
    mean = np.mean(list(WORTH.values()))
    assert shown == pytest.approx({system: worth - mean for system, worth in WORTH.items()})


@pytest.mark.parametrize("name", ["likert-5", "ranking"])
def test_one_text_of_two_systems_is_shown_once_and_counts_for_both(name):
    twins = {(NAMES[1], f"article-{number}") for number in range(18)}
    study, key = built(name, twins=twins)
    assert {len(task.texts) for task in study.tasks if key.tasks[task.id].kind == "pair"} == {2}
    quality = {**WORTH, NAMES[1]: WORTH[NAMES[0]]}
    votes = unblind(study, key, judged(study, key, name, quality))
    assert {pair for pair, _ in votes.same} == {tuple(sorted(NAMES[:2]))}
    assert len(votes.same) == 12
    assert {row.pair for row in votes.rows} == set(votes.pairs) - {pair for pair, _ in votes.same}
    assert {row.system for row in votes.scores} == set(NAMES)


@pytest.mark.parametrize(
    ("name", "means"), [("ranking", (3, 1.75, 1.25)), ("best-worst", (-1, 0.25, 0.75)), ("likert-5", (2, 3, 4))]
)
def test_systems_of_one_text_share_their_ranks_and_being_best(name, means):
    """The best system wrote the text of the second for 6 of 12 items."""
    study, key = built(name)
    items = sorted({key.items[task.item] for task in study.tasks if key.tasks[task.id].kind == "pair"})
    study, key = built(name, twins={(NAMES[1], item) for item in items[:6]})
    votes = unblind(study, key, judged(study, key, name, WORTH))
    found = {row.system: row.mean for row in system_scores(votes.scores, votes.systems)}
    assert found == pytest.approx(dict(zip(sorted(NAMES), means, strict=True)))


def test_a_task_shows_all_systems_in_orders_that_turn():
    study, key = built("ranking")
    orders = {}
    for task in study.tasks:
        secret = key.tasks[task.id]
        if secret.kind == "pair":
            assert set(secret.shown) == set(NAMES)
            orders.setdefault(task.item, []).append(secret.shown)
    assert {len(each) for each in orders.values()} == {5}
    for each in orders.values():
        assert each[1] == each[0][::-1]
        assert each[3] == each[2][::-1]
    per_booklet = [[task.item for task in booklet] for booklet in study.booklets]
    assert all(len(items) == len(set(items)) for items in per_booklet)


@pytest.mark.parametrize(
    ("answers", "systems", "changes", "told"),
    [
        ("best-worst", 2, {}, "give 3 to 5 systems"),
        ("best-worst", 3, {"identical": 1}, "cannot call texts equal"),
        ("ranking", 3, {"swapped": 1}, "only pairs have sides"),
    ],
)
def test_designs_that_make_no_sense_are_refused(answers, systems, changes, told):
    with pytest.raises(StudyError, match=told):
        built(answers, systems, **changes)


def graded(items, judges, seed=0):
    generator = np.random.default_rng(seed)
    return generator.choice([-1, -0.5, 0, 0.25, 1], (items, judges))


def test_the_sign_flip_test_of_graded_means_is_scipys():
    votes = graded(10, 3)
    found = preference(votes)
    oracle = permutation_test((votes.mean(1),), np.mean, permutation_type="samples", n_resamples=np.inf)
    assert found.p == pytest.approx(oracle.pvalue)
    assert found.share == pytest.approx((1 + votes.mean()) / 2)
    assert (found.first, found.tied, found.second) == tuple(int((np.sign(votes) == side).sum()) for side in (-1, 0, 1))


def test_judges_of_one_item_each_are_students_t():
    votes = graded(20, 1)[:, 0]
    found = random_judges(np.where(np.eye(20, dtype=bool), votes, np.nan), level=LEVEL)
    oracle = ttest_1samp(votes, 0)
    assert found.p == pytest.approx(oracle.pvalue)
    low, high = oracle.confidence_interval(LEVEL)
    assert (found.low, found.high) == pytest.approx(((1 + low) / 2, (1 + high) / 2))


def test_scheffes_effects_are_least_squares():
    rows, pairs = [], [("a", "b"), ("a", "c"), ("b", "c")]
    for number, pair in enumerate(pairs[: 2 + 1]):
        rows += votes_of(np.sign(graded(7 + number, 2, seed=number)), pair=pair)
    found = ranked(rows, list("abc"), 4.0)
    design, seen = [], []
    for pair in pairs:
        for item in sorted({row.item for row in rows if row.pair == pair}):
            design.append([(system == pair[1]) - (system == pair[0]) for system in "abc"])
            seen.append(4 * np.mean([row.preference for row in rows if (row.pair, row.item) == (pair, item)]))
    oracle = np.linalg.lstsq(np.array(design, dtype=float), np.array(seen), rcond=None)[0]
    assert {row.system: row.strength for row in found.systems} == pytest.approx(dict(zip("abc", oracle, strict=True)))
    assert "no interval: 2 judges" in found.reason
    apart = votes_of([[1.0]]) + votes_of([[1.0]], pair=("c", "d"))
    assert ranked(apart, list("abcd"), 4.0).reason.startswith("no chain")


def test_scores_count_every_item_once():
    values = {"x": (1, 1, 4), "y": (5,)}
    given = [(item, f"j{n}", value) for item, row in values.items() for n, value in enumerate(row)]
    scores = [Score("c", "a", *one, (1, 5)) for one in given]
    (found,) = system_scores(scores, "ab", how=Uncertainty(resamples=100))
    assert (found.system, found.mean, found.items, found.answers) == ("a", 3.5, 2, 4)


def rated(values):
    (found,) = system_scores([Score("c", "a", f"i{n}", "j", value, (1, 5)) for n, value in enumerate(values)], "a")
    return found


def test_the_interval_of_a_mean_rating_knows_the_scale():
    found = rated([5] * 20)
    assert (found.mean, found.high) == (5, 5)
    assert found.low == pytest.approx(1 + 4 * 0.025 ** (1 / 20), abs=0.02)  # Clopper and Pearson's of 20 of 20
    generator = np.random.default_rng(0)
    drawn = [rated(row) for row in generator.choice([1, 5], (300, 20), p=[0.05, 0.95])]  # a mean of 4.8
    assert np.mean([row.low <= 4.8 <= row.high for row in drawn]) >= 0.95  # between 1 and 5 as seen: 64%


def test_both_bad_is_no_difference_and_counted():
    rows = votes_of([[0, 1], [0, 0], [1, 1], [0, 1]])
    bad = tuple(replace(row, bad=row.preference == 0) for row in rows)
    votes = replace(study_of(bad), kinds={"overall": KINDS["pair-bad"]})
    (found,) = both_bad(votes, how=Uncertainty(resamples=500))
    assert (found.share, found.items, found.answers) == (0.5, 4, 8)
    assert 0 <= found.low < 0.5 < found.high <= 1
    assert both_bad(study_of(rows)) == ()
    analysis = analyse(votes, AnalysisSettings(resamples=100))
    assert analysis.outcomes[0].half.share == 0.75
    assert any("both are bad in 50.0%" in line for line in findings(analysis))
