from dataclasses import replace

import numpy as np
import pytest
from votes import votes_of

from human_eval.statistics.metrics import (
    JUDGE,
    LENGTH,
    accuracy,
    difference,
    length_lead,
    metric_agreements,
    read_scores,
    scored_items,
)
from rlsum.errors import RecordError
from rlsum.evaluation.statistics import Uncertainty
from rlsum.records import Output, write_outputs

NAN = float("nan")


def output(item, system, **scores):
    return Output(item, "source", (), "candidate", system, scores)


def test_accuracy_by_hand():
    # right, wrong, tied metric, undefined metric, tied people
    found = accuracy([1, -0.3, 0.5, 1, 0], [2.0, 0.1, 0.0, NAN, 3.0])
    assert found.share == pytest.approx((1 + 0 + 0.5) / 3)
    assert (found.first, found.tied, found.second) == (1, 1, 1)


def test_a_perfect_metric_and_its_opposite():
    people = np.array([1, -1, 0.3, -0.3, 1, 0.1, -0.7, 1])
    assert accuracy(people, people).share == 1
    assert accuracy(people, -people).share == 0
    assert accuracy(people, 100 + 0 * people).share == 5 / 8  # always for the second
    assert accuracy(people, 0 * people).share == 0.5


def test_metrics_length_and_a_judge():
    votes = votes_of([[1, 1, 1], [-1, -1, 1], [1, 1, 0]], longer=1)
    scores = {"m": {system: {f"item{n:03d}": value for n in range(3)} for system, value in (("a", 0.1), ("b", 0.4))}}
    found = metric_agreements(votes, scores, how=Uncertainty(resamples=100))
    assert list(found) == ["m", LENGTH, JUDGE]
    assert found["m"].share == pytest.approx(2 / 3)  # b is always better by it; people prefer a once
    assert found[LENGTH].share == pytest.approx(2 / 3)
    # item 0: all three right; item 1: both of -1 meet others that are tied, half; item 2: 1, 1 and a half
    assert found[JUDGE].share == pytest.approx((1 + (0.5 + 0.5 + 0) / 3 + (1 + 1 + 0.5) / 3) / 3)


def test_graded_votes_that_cancel_are_a_tie_whatever_their_rounding():
    """5/6 - 3/6 - 2/6 is 5.6e-17 in floats: people have no choice, and each judge's others have the opposite one."""
    votes = votes_of([[5 / 6, -3 / 6, -2 / 6, NAN], [1, 1, 1, 1], [5 / 6, -3 / 6, -2 / 6, 1]], longer=1)
    found = metric_agreements(votes, None, how=Uncertainty(resamples=100))
    assert (found[LENGTH].share, found[LENGTH].items) == (1, 2)
    # of the last item: 5/6 meets 1/6 and agrees, the next two meet more and do not, the last meets a tie
    assert found[JUDGE].share == pytest.approx((0 + 1 + (1 + 0 + 0 + 0.5) / 4) / 3)


@pytest.mark.parametrize("judges", [2, 3, 5])
def test_judges_who_toss_coins_predict_the_others_by_chance(judges):
    votes = votes_of(np.random.default_rng(0).choice([-1, 1], (4_000, judges)))
    assert metric_agreements(votes, None, how=Uncertainty(resamples=10))[JUDGE].share == pytest.approx(0.5, abs=0.02)


def test_a_judge_alone_has_no_others():
    votes = votes_of([[1.0, NAN], [NAN, -1.0]])
    assert np.isnan(metric_agreements(votes, None, how=Uncertainty(resamples=10))[JUDGE].share)
    assert length_lead(votes).items == 0


def test_the_lead_of_length_by_hand():
    rows = [
        *votes_of([[1, 1, -1]], item="x", longer=1),  # others: tie, tie, 1; the last judge is wrong, length right
        *votes_of([[1, 1, 1]], item="y", longer=-1),  # length is wrong three times
        *votes_of([[1, 0, 1]], item="z", longer=1),  # length is right; the judges are right, half right, right
    ]
    assert length_lead(rows, how=Uncertainty(resamples=100)).lead == pytest.approx((1 / 3 - 1 + 0.5 / 3) / 3)


@pytest.mark.parametrize(("items", "judges"), [(30, 3), (60, 5)])
def test_of_noise_length_is_said_to_lead_at_its_level(items, judges):
    generator = np.random.default_rng(1)
    said = 0
    for _ in range(100):
        longer = dict(zip(range(items), generator.choice([-1, 1], items).tolist(), strict=True))
        rows = votes_of(generator.choice([-1, 1], (items, judges)))
        rows = [replace(row, longer=longer[row.position]) for row in rows]
        lead = length_lead(rows, how=Uncertainty(resamples=199))
        said += lead.p <= 0.05 and lead.lead > 0
    assert said <= 11  # of 100 at 5%: exceeded with a probability of .4%


def test_scores_from_files(tmp_path):
    for system, value in (("a", 0.25), ("b", None)):
        write_outputs(tmp_path / system, [output("1", system, m=value), output("2", system, m=0.5)])
    scores = read_scores([tmp_path / "a", tmp_path / "b"], ("a", "b"))
    assert np.isnan(difference(scores["m"], ("a", "b"), ["1"])[0])
    assert difference(scores["m"], ("a", "b"), ["2", "3"]).tolist()[0] == 0
    assert scored_items(scores["m"], ("a", "b")) == ("1", "2")
    text = output("1", "a").candidate
    judged = {("1", "a"): f" {text.upper()} ", ("1", "b"): text, ("2", "a"): text, ("2", "b"): text}
    assert read_scores([tmp_path / "a", tmp_path / "b"], ("a", "b"), judged).keys() == {"m"}
    with pytest.raises(RecordError, match="1 of 4 candidates are not the texts that were judged, such as item 2 of b"):
        read_scores([tmp_path / "a", tmp_path / "b"], ("a", "b"), {**judged, ("2", "b"): "another text"})
    sampled = {("1", "a"): text, ("2", "b"): "another text"}  # of the others nobody was asked
    with pytest.raises(RecordError, match="1 of 2 candidates are not the texts that were judged"):
        read_scores([tmp_path / "a", tmp_path / "b"], ("a", "b"), sampled)
    with pytest.raises(RecordError, match="no scores of system 'c'"):
        read_scores([tmp_path / "a"], ("a", "c"))
    with pytest.raises(RecordError, match="item 1 of a has two rows"):
        read_scores([tmp_path / "a", tmp_path / "a"], ("a",))
