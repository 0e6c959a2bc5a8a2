"""Which keys of an objective fit each other, and those of other sections."""

import pytest
from config_files import refused

from rlsum import config as configs


def test_a_mixed_objective_needs_decoded_validation_to_choose_by(minimal):
    overrides = ["objective={kind: mixed, reward: rouge-l}", "training.validate_decoded=0"]
    assert "validate_decoded" in refused(minimal, *overrides)
    assert configs.load(minimal, ["training.validate_decoded=0"]).training.validate_decoded == 0


# Objective -> what its refusal says
REFUSED = """
kind: ranking -> kind=ranking needs a reward | kind=ranking compares the samples of an article: samples=1
kind: mixed, estimator: rloo, updates_per_sample: 2 -> kind=mixed needs a reward
    | estimator=rloo compares the samples of an article: samples=1 must be 2 or more
    | updates_per_sample=2 learns from samples of an older policy | set clip, for example 0.2
MIXED, estimator: grpo -> estimator=grpo compares the samples
MIXED, estimator: dr-grpo -> estimator=dr-grpo compares the samples
RANKING, estimator: rloo, kl: 0.1, clip: 0.2 -> estimator=rloo applies to kind=mixed only
    | kl=0.1 applies to kind=mixed | clip=0.2 applies to kind=mixed
kind: mle, kl: 0.1, updates_per_sample: 2 -> kl=0.1 applies to kind=mixed | kind=mle draws no samples
MIXED, estimator: rlo -> objective.estimator
MIXED, kl: -1 -> objective.kl
MIXED, kl: 0.1, kl_estimator: k4 -> objective.kl_estimator
MIXED, kl_estimator: k3 -> kl_estimator=k3 is about the distance from the start
MIXED, clip: 1.5 -> objective.clip
MIXED, normalisation: mean -> objective.normalisation
MIXED, divisor: 0 -> objective.divisor
MIXED, divisor: .inf -> objective.divisor
MIXED, normalisation: sum, divisor: 9 -> divisor=9.0 applies to normalisation=constant only
RANKING, normalisation: sum, divisor: 9 -> normalisation=sum applies to kind=mixed | divisor=9.0 applies to kind=mixed
RANKING, clip_high: 0.3, ratio: sequence, skip_zero_groups: true -> clip_high=0.3 applies to kind=mixed
    | ratio=sequence applies to kind=mixed | skip_zero_groups=True applies to kind=mixed
MIXED, clip_high: 0.3, ratio: sequence -> clip_high=0.3 is about importance ratios: set clip
    | ratio=sequence is about importance ratios
MIXED, clip: 0.2, clip_high: 0 -> objective.clip_high
MIXED, clip: 0.2, ratio: text -> objective.ratio
MIXED, sharpness: 2 -> sharpness=2.0 applies to kind=minimum-risk only
RISK, sharpness: 0 -> objective.sharpness
kind: minimum-risk -> kind=minimum-risk needs a reward | kind=minimum-risk compares the samples
kind: best-of-n -> kind=best-of-n needs a reward | kind=best-of-n compares the samples of an article
BEST, reward_scale: 2, estimator: grpo, kl: 0.1 -> reward_scale=2.0: kind=best-of-n only orders
    | estimator=grpo applies to | kl=0.1 applies to
MIXED, estimator: reinforce++-baseline -> estimator=reinforce++-baseline compares
kind: mle, control: shuffled -> control=shuffled: kind=mle has no rewards
MIXED, control: constant -> control=constant needs control_advantage
MIXED, control_advantage: 1 -> control_advantage=1.0: applies to
RANKING, control: constant, control_advantage: 1 -> control=constant: kind=ranking has no advantages
    | control_advantage=1.0 applies to kind=mixed
kind: mle, coverage_on_samples: true -> coverage_on_samples=True: kind=mle draws no samples
MIXED, coverage_on_samples: true, coverage_weight: 0 -> coverage_on_samples=True: coverage_weight=0 turns coverage off
"""


REWARDED = {"MIXED": "mixed", "RANKING": "ranking, samples: 4", "RISK": "minimum-risk, samples: 4"}
REWARDED |= {"BEST": "best-of-n, samples: 4"}


@pytest.mark.parametrize("case", REFUSED.replace("\n    |", " |").strip().splitlines())
def test_an_objective_that_cannot_be_is_refused_with_every_reason(minimal, case):
    objective, messages = case.split(" -> ")
    for name, kind in REWARDED.items():
        objective = objective.replace(name, f"reward: rouge-l, kind: {kind}")
    message = refused(minimal, f"objective={{{objective}}}")
    assert [expected for expected in messages.split(" | ") if expected not in message] == []


def test_what_chooses_the_best_checkpoint_must_be_measured(minimal):
    assert configs.load(minimal).chooses_by == "likelihood"
    mixed, undecoded = "objective={kind: mixed, reward: rouge-l}", "training.validate_decoded=0"
    assert configs.load(minimal, [mixed]).chooses_by == "reward"
    assert configs.load(minimal, [mixed, undecoded, "training.choose_by=likelihood"]).chooses_by == "likelihood"
    assert "training.choose_by=reward" in refused(minimal, "training.choose_by=reward")
    assert undecoded in refused(minimal, undecoded, "training.choose_by=rouge-l")


def test_an_update_of_one_sample_has_nothing_to_compare_it_with(minimal):
    overrides = ["objective={kind: mixed, reward: rouge-l, estimator: reinforce++}", "training.batch_size=1"]
    assert "objective.estimator=reinforce++ compares the samples of an update" in refused(minimal, *overrides)
    shuffled = ["objective={kind: mixed, reward: rouge-l, control: shuffled}", "training.batch_size=1"]
    assert "objective.control=shuffled exchanges rewards between the samples" in refused(minimal, *shuffled)
    for more in ("training.accumulate=2", "training.batch_size=2", "objective.samples=2"):
        configs.load(minimal, [*shuffled, more])
        configs.load(minimal, [*overrides, more])


def test_a_run_cannot_be_resumed_between_updates_that_share_samples(minimal):
    overrides = ["objective={kind: mixed, reward: rouge-l, updates_per_sample: 3, clip: 0.2}"]
    message = refused(minimal, *overrides, "training.validate_every=10", "training.validate_decoded=0")
    assert "training.validate_every=10: must be a multiple of objective.updates_per_sample=3" in message
    assert "training.validate_decoded=0" in message
    assert configs.load(minimal, [*overrides, "training.validate_every=9"]).objective.clip == 0.2


def test_a_range_of_ratios_that_rounding_would_leave_is_refused(minimal):
    shared = ["objective={kind: mixed, reward: rouge-l, ratio: sequence, clip: 3e-4, updates_per_sample: 2}"]
    bf16 = "training.mixed_precision=bf16"
    assert "objective.clip=0.0003 with ratio=sequence" in refused(minimal, *shared, bf16)
    for more in (["objective.updates_per_sample=1"], ["objective.clip=0.01"], ["objective.ratio=token"]):
        configs.load(minimal, [*shared, bf16, *more])
    configs.load(minimal, shared)
    assert "objective.clip=0.01 with" in refused(
        minimal, *shared, bf16, "objective.clip=0.01", "objective.clip_high=1e-3"
    )
