"""Numbers of batches, put together: as those of one large batch, whatever their names."""

import json
import math
import pickle
from itertools import pairwise

import numpy as np
import pytest
import tiny
import torch

from rlsum.models.decoding import Sampling
from rlsum.training import estimators
from rlsum.training.log.lines import TrainingLog
from rlsum.training.log.numbers import (
    Deviation,
    Greatest,
    Least,
    Logged,
    Mean,
    Rate,
    TimeShare,
    field_of,
    from_json,
    to_json,
    together,
)
from rlsum.training.reward_losses import policy_gradient, ranking
from rlsum.training.rollout import divided
from rlsum.training.update import MixedStep, MLEStep

NAN = math.nan


class Several:
    """The first of several processes, with what the others have logged."""

    rank = 0

    def __init__(self, *others):
        self.others = others

    def gather_all(self, numbers):
        return [numbers, *self.others]


def line_of(*processes):
    """The line of the log to which each process adds the numbers of its batches, as one update."""
    first, *others = (together(batches) for batches in processes)
    log = TrainingLog(Several(*others))
    log.add([first])
    return log.flush()


# ---- kinds of numbers ---------------------------------------------------------------------------------------------


def kinds(values):
    """A number of each kind, of the same values."""
    known = values[~np.isnan(values)]
    return {
        "mean": Mean.of(values),
        "spread": Deviation.of(known),
        "least": Least(known.min() if known.size else NAN),
        "greatest": Greatest(known.max() if known.size else NAN),
        "total": Rate(known.sum()),
    }


VALUES = np.array([0.5, NAN, -2.0, 3.0, 3.0, NAN, NAN, 1e6, 1e6 + 1, 0.25, 7.0])


@pytest.mark.parametrize("cuts", [[], [4], [1, 2], [3, 5, 7], [5, 7], list(range(1, 11))])
def test_numbers_of_pieces_are_those_of_the_whole(cuts):
    whole, pieces = kinds(VALUES), [kinds(piece) for piece in np.split(VALUES, cuts)]
    known = VALUES[~np.isnan(VALUES)]
    expected = [known.mean(), known.std(), known.min(), known.max(), known.sum()]
    assert list(whole.values()) == pytest.approx(expected)
    assert together(pieces) == pytest.approx(whole, rel=1e-12)
    assert together(together([piece]) for piece in reversed(pieces)) == pytest.approx(whole, rel=1e-12)


def test_a_number_is_a_float_and_goes_to_other_processes_and_files_with_its_parts():
    numbers = kinds(VALUES)
    for again in (
        pickle.loads(pickle.dumps(numbers)),
        from_json(json.loads(json.dumps(to_json(numbers)))),
    ):
        assert again == numbers
        assert {name: (type(number), number.parts) for name, number in again.items()} == {
            name: (type(number), number.parts) for name, number in numbers.items()
        }
    assert isinstance(numbers["mean"], float)
    assert json.loads(json.dumps(numbers)) == numbers


# ---- what a step logs ---------------------------------------------------------------------------------------------


def logs(sizes, loss=policy_gradient):
    """The log of each of the batches of ``sizes`` articles, which have the same samples."""
    model, sampling = tiny.copier(coverage=True), Sampling(max_length=6)
    objective = tiny.objective(
        estimator="grpo", normalisation="token", clip=0.2, kl=0.1, gamma=0.9, samples=3, coverage_on_samples=True
    )
    step = MixedStep(
        model, Reward(), objective, 1, sampling, loss,
        MLEStep(objective, coverage_weight=1.0), estimators.Credit(objective, 6),
        start=tiny.model(seed=3, coverage=True),
    )  # fmt: skip
    pairs = tiny.stories(sum(sizes))
    torch.manual_seed(1)
    (whole,) = step.rollouts(0, [tiny.batch(pairs)])
    with torch.no_grad():  # since it has drawn them the policy has changed
        model.word_out.weight.mul_(1.5)
    rollouts = step.credited(divided([whole], sizes, 0)) if len(sizes) > 1 else [whole]
    starts = np.cumsum([0, *sizes])
    batches = [tiny.batch(pairs[i:j]) for i, j in pairwise(starts)]
    return [step.loss(0, model, batch, rollout).log for batch, rollout in zip(batches, rollouts, strict=True)]


class Reward(tiny.Overlap):
    """Undefined for some texts, and equal for others."""

    def __call__(self, candidates, references=None, sources=None, columns=None):
        scores = super().__call__(candidates, references)
        return np.where([len(text) % 3 == 0 for text in candidates], NAN, scores)


@pytest.mark.parametrize("loss", [policy_gradient, ranking])
def test_every_number_of_a_step_is_the_same_from_one_process_two_and_several_batches(loss):
    """A number is put together by what it is of: a copy under another name comes out the same."""
    renamed = [{f"copy of {name}": number for name, number in log.items()} | log for log in logs([2, 5, 1], loss)]
    (whole,) = logs([8], loss)
    assert all(isinstance(number, Logged) for number in whole.values())
    one = line_of([whole])
    several = line_of(renamed)
    assert {"kl", "ratio_outside"} <= one.keys() or loss is ranking
    for line in (several, line_of(renamed[:1], renamed[1:]), line_of(renamed[1:], renamed[:1], [])):
        for name in [name for name in one if not field_of(name).machine]:
            assert line[name] == pytest.approx(one[name], rel=1e-5, abs=1e-6), name
            assert line[f"copy of {name}"] == line[name]
    assert several.keys() >= one.keys()


def test_the_tokens_of_an_update_are_those_that_the_loss_reads():
    """Of the samples, and of references where the loss has them."""
    (log,) = logs([8])
    references = tiny.batch(tiny.stories(8)).target.ne(0).sum().item()
    assert log["tokens_per_second"] == log["sample_length"] * 8 * 3 + references


# ---- a line of the log --------------------------------------------------------------------------------------------


def test_a_line_is_of_all_updates_since_the_last_and_leaves_out_what_nothing_defines():
    log = TrainingLog(Several({"loss": Mean(3.0, 1), "tokens": Rate(8)}))
    log.add([{"loss": Mean(2.0, 2), "reward": Mean(0, 0), "tokens": Rate(5)}, {"rate": Mean(0.1, 1)}])
    log.add([{"loss": Mean(4.0, 1), "tokens": Rate(5)}, {"rate": Mean(0.3, 1)}])
    line = log.flush()
    assert line["loss"] == (2.0 + 4.0 + 3.0) / 4
    assert line["rate"] == pytest.approx(0.2)
    assert "reward" not in line
    assert line["tokens"] == pytest.approx(18 / 2 * line["updates_per_second"])


def test_the_share_of_the_reward_is_its_seconds_of_all_seconds_of_all_processes():
    log = TrainingLog(Several({}))
    log.add([{"reward_share": TimeShare(5.0)}, {"reward_share": TimeShare(2.0)}])
    log.add([{"reward_share": TimeShare(3.0)}])
    line = log.flush()
    assert line["reward_share"] == pytest.approx((5 + 2 + 3) / (2 * 2 / line["updates_per_second"]))


def test_a_line_that_is_begun_goes_on_in_another_process():
    first, second = TrainingLog(Several({"loss": Mean(1.0, 1)})), TrainingLog(Several({}))
    first.add([{"loss": Mean(2.0, 2)}])
    second.resume(json.loads(json.dumps(first.unwritten())))
    second.add([{"loss": Mean(9.0, 1)}])
    assert second.flush()["loss"] == (1.0 + 2.0 + 9.0) / 4
