import json
from dataclasses import replace

import numpy as np
import pytest
from pydantic import ValidationError
from votes import study_of, votes_of

from human_eval.planning.design import PlannedDesign
from human_eval.planning.plan import SPREAD, PowerCurve, from_pilot, plan, plan_json, settings_of
from human_eval.planning.preregistration import preregistration, scenario_table
from human_eval.planning.scenarios import Scenario
from human_eval.planning.simulation import CELLS, Assumptions, blocks
from human_eval.report.results import to_json
from human_eval.statistics.analysis import analyse
from human_eval.statistics.settings import LIKE_THESE, THESE, AnalysisSettings, Planned
from human_eval.votes.exclusion import ExclusionRules
from rlsum.errors import UserError
from rlsum.evaluation.statistics import Uncertainty


def test_needed_is_read_off_the_curve():
    curve = PowerCurve(3, (10, 20, 40), (0.2, 0.6, 1.0))
    assert curve.needed(0.2) == 10
    assert curve.needed(0.5) == 18  # 17.5, rounded up
    assert curve.needed(0.8) == 30
    assert PowerCurve(3, (10, 20), (0.2, 0.6)).needed(0.8) is None
    assert PowerCurve(3, (10, 20, 40), (0.2, 0.9, 0.89)).needed(0.895) == 20  # noise of simulation is no fall
    assert PowerCurve(3, (10, 20, 40), (0.0, 0.9, 1.0)).needed(0.8) == 20  # with 19 there might be no test


@pytest.fixture(scope="module")
def made():
    return plan(PlannedDesign(), Assumptions(0.65, 0.1, 0.3), draws=500)


def test_the_plan_reaches_its_power(made):
    assert made.power == pytest.approx(0.8, abs=0.05)
    assert made.design.items == made.needed[3]
    assert made.needed[1] > made.needed[3] > made.needed[5]


def test_items_may_be_fixed_and_several_pairs_ask_for_more(made):
    fixed = plan(PlannedDesign(items=20), Assumptions(0.65, 0.1, 0.3), draws=500)
    assert fixed.power < made.power
    assert plan(PlannedDesign(pairs=6), Assumptions(0.65, 0.1, 0.3), draws=500).design.items > made.design.items


def test_what_is_deposited_says_what_will_be_done(made):
    text = preregistration(made, ("focus", "overall"))
    assert "**Test.** The verdict is about judges like these." in text
    assert f"{made.design.people(made.design.items, 3)} people in all" in text.replace("\n", " ")
    assert f"With {made.design.items} items and 3 judges for each" in text.replace("\n", " ")
    assert "**Primary criterion.** overall" in text
    assert "Secondary: focus" in text
    assert "failed more checks than 95% of careful judges would" in text.replace("\n", " ")
    assert max(map(len, text.splitlines())) <= 100


def test_judges_who_differ_ask_for_more_items_and_more_people_for_fewer():
    differing = Assumptions(0.65, 0.1, 0.3, 0.15)
    large, small = (plan(PlannedDesign(booklet=size), differing, draws=300).design for size in (30, 10))
    assert large.items > small.items
    assert large.people(large.items, 3) < small.people(small.items, 3)
    these = plan(PlannedDesign(about="these judges", booklet=10), differing, draws=300).design
    assert these.items < small.items  # their spread is no matter then
    assert plan(PlannedDesign(items=20), differing, draws=100).power == 0  # three people, no test


@pytest.fixture(scope="module")
def foreseen(made):
    scenarios = (
        Scenario("expected", made.assumptions, made.design.judges),
        Scenario("hard | to tell", replace(made.assumptions, preference=0.52), 1),
    )
    return plan(PlannedDesign(), made.assumptions, scenarios, draws=500)


def test_each_scenario_has_its_own_power_and_items(made, foreseen):
    expected, hard = foreseen.outlooks
    assert expected.power == made.power
    assert expected.curve.needed(0.8) == made.design.items
    assert hard.power < 0.3
    assert [row[0].text for row in scenario_table(foreseen).rows] == ["expected", "hard | to tell"]
    assert [row[6].text for row in scenario_table(foreseen).rows] == [str(made.design.items), "> 500"]


def test_scenarios_are_deposited_and_written(foreseen, tmp_path):
    text = preregistration(foreseen, ("overall",))
    assert f"| expected | 65% | 10% | 0.30 | 0.00 | 3 | {foreseen.design.items} |" in text
    assert "hard \\| to tell" in text
    assert "planned for the first row, expected" in text.replace("\n", " ")
    (tmp_path / "plan.json").write_text(plan_json(foreseen))
    kept = json.loads((tmp_path / "plan.json").read_text())
    assert [each["scenario"]["name"] for each in kept["outlooks"]] == ["expected", "hard | to tell"]
    assert settings_of(tmp_path / "plan.json").primary == "overall"


def test_analyse_reads_what_plan_wrote(made, tmp_path):
    rules = ExclusionRules(max_failed=0.4, min_seconds=3)
    (tmp_path / "plan.json").write_text(plan_json(replace(made, rules=rules, design=replace(made.design, alpha=0.01))))
    settings = settings_of(tmp_path / "plan.json", Uncertainty(resamples=100, seed=7))
    assert replace(settings, planned=None) == AnalysisSettings("overall", rules, 0.01, resamples=100, seed=7)
    items = made.design.items
    assert settings.planned == Planned(items, 3, 1, made.design.people(items, 3), LIKE_THESE, answers="pair")
    kept = json.loads((tmp_path / "plan.json").read_text())
    old = [{**kept, "format": 0}, {**kept, "design": {**kept["design"], "alpha": 7}}]
    for text in ("[]", "{}", "{", '{"format": 1, "design": {"rules": {"speed": 1}}}', *map(json.dumps, old)):
        (tmp_path / "other.json").write_text(text)
        with pytest.raises(UserError, match=r"other\.json"):
            settings_of(tmp_path / "other.json")


def test_a_pilot_gives_ties_and_correlation(tmp_path):
    values = np.array([[1, 1, 1], [-1, -1, -1], [1, 0, 1], [0, 0, -1], [1, 1, 0], [-1, -1, 1]])
    analysis = analyse(study_of(votes_of(values)), AnalysisSettings(resamples=50))
    path = tmp_path / "results.json"
    path.write_text(to_json(analysis))
    assumed, source = from_pilot(path, "overall", {"preference": 0.7})
    assert (assumed.preference, assumed.ties) == (0.7, 4 / 18)
    assert assumed.correlation == pytest.approx(analysis.agreement["overall", ("a", "b")]["correlation"].value)
    assert "18 votes on overall" in source
    assert assumed.spread == SPREAD  # of three judges none is estimated
    assert from_pilot(path, "overall", {"preference": 0.7, "spread": 0.02})[0].spread == 0.02
    six = np.where(np.random.default_rng(0).random((60, 6)) < [0.9, 0.8, 0.6, 0.5, 0.4, 0.3], 1.0, -1.0)
    (tmp_path / "six.json").write_text(to_json(analyse(study_of(votes_of(six)), AnalysisSettings(resamples=50))))
    assert from_pilot(tmp_path / "six.json", "overall", {"preference": 0.7})[0].spread == pytest.approx(0.22, abs=0.05)
    with pytest.raises(UserError, match="no criterion 'style'; give one of overall"):
        from_pilot(path, "style", {})
    path.write_text(to_json(analyse(study_of(votes_of([[0, 0]])), AnalysisSettings(resamples=50))))
    with pytest.raises(UserError, match="too few votes"):
        from_pilot(path, "overall", {})
    path.write_text(json.dumps({"format": 1}))
    with pytest.raises(UserError, match="preferences"):
        from_pilot(path, "overall", {})


@pytest.mark.parametrize(
    ("design", "assumed", "said"),
    [
        ({}, {"preference": 0.5}, "--preference 0.5"),
        ({}, {"preference": float("nan")}, "preference"),
        ({}, {"ties": 1.0}, "ties"),
        ({}, {"correlation": -0.1}, "correlation"),
        ({"judges": 0}, {}, "judges"),
        ({"judges": 101}, {}, "judges\n.* less than or equal to 100"),
        ({"booklet": 0}, {}, "booklet"),
        ({"about": "everyone"}, {}, "--about 'everyone'"),
        ({}, {"spread": 0.5}, "spread"),
        ({"items": 0}, {}, "items"),
        ({"items": 10_001}, {}, "items"),  # would fill the memory
        ({"pairs": 0}, {}, "pairs"),
        ({"pairs": 1_001}, {}, "pairs"),
        ({"alpha": 0.0}, {}, "alpha"),
        ({}, {"preference": 0.501}, "give a larger preference"),
        ({"booklet": 500}, {}, "--booklet 500: .* needs 6 judges and 20 articles; give --booklet 250"),
    ],
)
def test_what_makes_no_sense_is_refused(design, assumed, said):
    with pytest.raises((UserError, ValidationError), match=said):
        plan(replace(PlannedDesign(), **design), replace(Assumptions(), **assumed), draws=100)


def test_a_plan_without_a_test_says_why():
    design = PlannedDesign(items=12, judges=2)
    assert "2 judges: no test holds its level with fewer than 6" in design.refused(12, 2)
    assert replace(design, booklet=2).refused(12, 2).startswith("12 items")
    assert "give --booklet 10" in design.refused(30, 2)
    assert replace(design, about=THESE).refused(12, 2) == replace(design, booklet=10).refused(30, 2) == ""


def test_large_designs_are_simulated_in_smaller_blocks():
    assert blocks(1_200, 100) == [500, 500, 200]
    assert sum(blocks(7, CELLS // 2)) == 7
    assert max(blocks(7, CELLS // 2)) == 2
