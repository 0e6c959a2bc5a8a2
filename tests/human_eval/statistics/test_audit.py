from dataclasses import replace

import numpy as np
import pytest
from votes import study_of, votes_of

from human_eval.statistics.audit import copies, judge_effects, length_effect, order_effect, share


def test_a_taste_for_the_left_is_found_and_favours_nobody():
    # everybody always takes the left, and sides are balanced
    rows = votes_of(np.ones((20, 2)))
    taken = [replace(row, preference=1 if row.left == "b" else -1) for row in rows]
    found = order_effect(taken)
    assert found.share == 1
    assert found.p < 0.001
    assert share(taken) == 0.5


def test_sides_that_nobody_wrote_down():
    found = order_effect([replace(row, left=None) for row in votes_of(np.ones((6, 2)))])
    assert np.isnan(found.share)
    assert found.reason == "sides are not known"


def test_the_longer_text():
    longer, shorter, equal = (votes_of(np.ones((5, 2)), longer=way, item=f"i{way}") for way in (1, -1, 0))
    assert length_effect(longer).share == 1
    assert length_effect(shorter).share == 0
    both = length_effect([*longer, *shorter, *equal])
    assert (both.share, both.items) == (0.5, 10)  # equal lengths say nothing


def test_judges_against_the_rest_by_hand():
    votes = study_of(votes_of([[1, 1, -1], [1, 1, 0], [-1, -1, np.nan]]))
    first, second, third = judge_effects(votes, votes, "overall")
    # judge 0 meets 2 others, 2 others, 1 other: agrees with 1, 1, 1
    assert first.agreement == pytest.approx(3 / 5)
    assert second.agreement == first.agreement
    assert third.agreement == 0
    assert (third.tasks, third.tied) == (2, 0.5)
    assert first.seconds == 10
    # without judge 2 the items say 1, 1, -1
    assert third.without["a", "b"] == pytest.approx((1 + 1 / 3) / 2)


def test_a_judge_alone_agrees_with_nobody():
    votes = study_of(votes_of([[1], [0]]))
    (only,) = judge_effects(votes, votes, "overall")
    assert np.isnan(only.agreement)
    assert np.isnan(only.without["a", "b"])


@pytest.mark.parametrize(("copied", "told"), [(0, False), (20, True), (18, True), (17, False)])
def test_identical_answers_of_two_judges_are_named_also_with_a_tenth_changed(copied, told):
    tosses = np.random.default_rng(1).choice([-1, 0, 1], (20, 6))
    if copied:
        tosses[:, 5] = tosses[:, 2]
        tosses[copied:, 5] = (tosses[copied:, 2] + 2) % 3 - 1
    assert copies(study_of(votes_of(tosses))) == ([("judge2", "judge5", copied, 20)] if told else [])
    agreed = np.repeat(np.random.default_rng(1).choice([-1, 1], (20, 1)), 6, axis=1)  # an easy study
    assert copies(study_of(votes_of(agreed))) == []
