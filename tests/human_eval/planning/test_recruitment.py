import pytest
from pydantic import ValidationError

from human_eval.planning.plan import PlannedDesign, plan, plan_json, settings_of
from human_eval.planning.recruitment import Effort, in_words, recruitment
from human_eval.planning.simulation import Assumptions


def test_people_minutes_and_money_by_hand():
    effort = Effort(attrition=0.2, excluded=0.1, minutes=3, checks=5, pay=12, fee=0.25)
    needed = recruitment(effort, comparisons=60, judges=3, booklets=3)
    assert (needed.people, needed.spare) == (9, 1)  # 9 / .9 = 10 finish
    assert needed.begin == 13  # 10 / .8 = 12.5
    assert (needed.tasks, needed.minutes) == (25, 75)
    assert needed.hours == pytest.approx(10 * 25 * 3 / 60)
    assert needed.money == pytest.approx(12.5 * 12 * 1.25)


def test_without_losses_and_pay_nobody_is_spare_and_nothing_costs():
    needed = recruitment(Effort(), comparisons=64, judges=3, booklets=4)
    assert (needed.people, needed.spare, needed.begin, needed.money) == (12, 0, 12, None)
    assert "cost" not in in_words(Effort(), needed)


@pytest.mark.parametrize(
    ("option", "value"),
    [("attrition", 1.0), ("attrition", -0.1), ("excluded", float("nan")), ("minutes", 0), ("checks", -1), ("pay", 0)],
)
def test_a_value_out_of_range_is_named(option, value):
    with pytest.raises(ValidationError, match=option):
        Effort(**{option: value})


def test_a_fee_of_no_pay_is_an_error():
    with pytest.raises(ValidationError, match="--pay"):
        Effort(fee=0.3)


def test_the_spare_booklets_of_a_plan_reach_the_analysis(tmp_path):
    made = plan(PlannedDesign(items=60), Assumptions(), effort=Effort(excluded=0.1), draws=100)
    (tmp_path / "plan.json").write_text(plan_json(made))
    assert made.recruitment.spare == 1
    assert settings_of(tmp_path / "plan.json").planned.spare == 1
