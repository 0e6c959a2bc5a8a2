"""Rewards -> advantages (how much better a sample is than what it is compared with) and weights in the loss.

Notation: N articles; the k samples of an article are a group. A reward that is not finite is undefined: its sample has
no advantage (NaN) and does not enter the mean of its group.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rewards.scoring import Component
from rlsum.objective import Estimator, Normalisation, Objective
from rlsum.training.earned import Earned
from rlsum.training.log.numbers import Deviation, Field, Greatest, Least, Logged, Mean, declare

ROUNDING = 1e-9  # rewards of a group that differ by this share of the largest are equal: they differ by rounding


@dataclass(frozen=True)
class AdvantageEstimator:
    """How rewards become advantages.

    function      (N, k) rewards of samples -> (N, k) advantages; with ``needs_greedy`` its second argument is the (N,)
                  rewards of the greedy texts
    needs_greedy  a sample is compared with the greedy text of its article
    of_components the first argument is the components of the reward; one that is no weighted sum is its only one
    """

    function: Callable[..., np.ndarray]
    needs_greedy: bool = False
    of_components: bool = False


@dataclass(frozen=True)
class Credit:
    """What the samples of an update teach, by a mixed objective: their advantages, and weights in the policy gradient.

    ``max_length``: the tokens after which samples are cut off; also the divisor of an objective that names none.
    """

    objective: Objective
    max_length: int

    @property
    def needs_greedy(self) -> bool:
        """Whether the estimator reads the rewards of greedy texts."""
        return ESTIMATORS[self.objective.estimator].needs_greedy

    def __call__(self, earned: Earned) -> tuple[np.ndarray, np.ndarray]:
        """Advantages and weights, both (N, k), of all samples of an update.

        The advantage of the constant control is that of every sample, also where its reward is undefined.
        """
        objective, rewards = self.objective, earned.rewards
        if objective.control_advantage is None:
            earnings = (rewards, earned.greedy_rewards, objective.reward_scale, earned.components)
            advantages = advantages_of(objective.estimator, *earnings)
        else:
            advantages = np.full(rewards.shape, objective.control_advantage)
        kept = teaches(advantages) if objective.skip_zero_groups else np.ones(len(rewards), dtype=bool)
        divisor = self.max_length if objective.divisor is None else objective.divisor
        return advantages, weights_of(objective.normalisation, earned.lengths, divisor, kept, earned.in_loss(objective))


def advantages_of(
    estimator: Estimator,
    rewards: np.ndarray,
    greedy_rewards: np.ndarray | None = None,
    scale: float = 1.0,
    components: Sequence[Component] = (),
) -> np.ndarray:
    """(N, k) rewards of samples and (N,) rewards of greedy texts -> (N, k) advantages, times ``scale``."""
    chosen = ESTIMATORS[estimator]
    if chosen.of_components:
        return scale * chosen.function(components or [Component("reward", 1.0, rewards)])
    return scale * (chosen.function(rewards, greedy_rewards) if chosen.needs_greedy else chosen.function(rewards))


def tied(rewards: np.ndarray) -> np.ndarray:
    """(..., k) rewards that are compared -> the same: equal where they differ by rounding, NaN where infinite."""
    finite = np.where(np.isfinite(rewards), rewards, np.nan)
    order = finite.argsort(-1)  # NaN last
    ascending = np.take_along_axis(finite, order, -1)
    higher = np.diff(ascending, prepend=ascending[..., :1]) > _rounding(finite)
    level = np.maximum.accumulate(np.where(higher, np.arange(rewards.shape[-1]), 0), -1)
    equal = np.empty_like(finite)
    np.put_along_axis(equal, order, np.take_along_axis(ascending, level, -1), -1)
    return np.where(np.isnan(finite), np.nan, equal)


def _rounding(rewards: np.ndarray) -> np.ndarray:
    """(..., k) rewards -> (..., 1): the difference up to which those of a row are equal."""
    return ROUNDING * np.abs(np.nan_to_num(rewards)).max(-1, keepdims=True)


def self_critical(rewards: np.ndarray, greedy_rewards: np.ndarray) -> np.ndarray:
    """(N, k), (N,) -> (N, k): r(sample) - r(greedy), Rennie et al. 2017. NaN where either reward is undefined."""
    compared = tied(np.stack(np.broadcast_arrays(rewards, greedy_rewards[:, None]), -1))  # (N, k, 2)
    return compared[..., 0] - compared[..., 1]


def leave_one_out(rewards: np.ndarray) -> np.ndarray:
    """(N, k) -> (N, k): r_i - mean of the other rewards of its group, RLOO (Kool et al. 2019; Ahmadian et al. 2024).

    NaN where the reward is undefined, and where no other of its group is defined.
    """
    count = np.isfinite(rewards).sum(-1, keepdims=True)
    return group_centred(rewards) * (count / np.maximum(count - 1, 1))


def group_centred(rewards: np.ndarray) -> np.ndarray:
    """(N, k) -> (N, k): r_i - mean(r), as Dr. GRPO (Liu et al. 2025, arXiv 2503.20783). NaN as in leave_one_out.

    Exactly 0 where all rewards of a group are equal, and where a reward is the mean.
    """
    rounded = tied(rewards)
    defined = ~np.isnan(rounded)
    count = defined.sum(-1, keepdims=True)
    lowest = np.where(defined, rounded, np.inf).min(-1, keepdims=True)
    above = np.where(defined, rounded - np.where(count > 0, lowest, 0.0), 0.0)
    centred = above - above.sum(-1, keepdims=True) / np.maximum(count, 1)
    centred = np.where(np.abs(centred) > _rounding(rounded), centred, 0.0)
    return np.where(defined & (count > 1), centred, np.nan)


def group_normalised(rewards: np.ndarray) -> np.ndarray:
    """(N, k) -> (N, k): (r_i - mean(r)) / std(r), as GRPO (Shao et al. 2024, arXiv 2402.03300).

    NaN as in leave_one_out, exactly 0 where all rewards of a group are equal. The standard deviation is that of a
    sample (n - 1), without an added constant: the scale of the reward does not matter.
    """
    return _normalised(group_centred(rewards))


def update_normalised(rewards: np.ndarray) -> np.ndarray:
    """(N, k) -> (N, k): (r - mean) / std over all samples of the update.

    REINFORCE++ (Hu et al. 2025, arXiv 2501.03262), whose KL penalty in the reward is ``objective.kl`` here. NaN where
    the reward is undefined, and where no other of the update is defined. Exactly 0 where all rewards are equal. The
    standard deviation is that of a sample (n - 1).
    """
    return group_normalised(rewards.reshape(1, -1)).reshape(rewards.shape)


def group_centred_update_normalised(rewards: np.ndarray) -> np.ndarray:
    """(N, k) -> (N, k): r_i - mean(r) of its group, divided by the standard deviation of these over the update.

    REINFORCE++ with baseline (Hu et al. 2025). NaN as in leave_one_out, 0 where all rewards of a group are equal.
    """
    return _normalised(group_centred(rewards).reshape(1, -1)).reshape(rewards.shape)


def components_normalised(components: Sequence[Component]) -> np.ndarray:
    """Scores (N, k) of components -> (N, k): the weighted sum of each (r - mean) / std over its group.

    So no component wins by its spread. One without spread in a group adds 0 there. NaN where any component is NaN:
    such a sample enters no mean of its group, of no component.
    """
    defined = np.isfinite([scores for _, _, scores in components]).all(0)
    terms = ((weight, np.where(defined, scores, np.nan)) for _, weight, scores in components)
    return np.sum([weight * group_normalised(scores) for weight, scores in terms], axis=0)


def components_update_normalised(components: Sequence[Component]) -> np.ndarray:
    """The sums of ``components_normalised``, centred and scaled over the update.

    GDPO (Liu et al. 2026, arXiv 2601.05242), as ``normalize_then_sum`` of TRL 1.16, which adds 1e-4 to deviations.
    """
    return update_normalised(components_normalised(components))


def _normalised(centred: np.ndarray) -> np.ndarray:
    """(N, k) deviations from a mean -> the same over their standard deviation in each row; 0 and NaN stay."""
    defined = ~np.isnan(centred)
    squares = np.where(defined, centred, 0.0) ** 2
    deviation = np.sqrt(squares.sum(-1, keepdims=True) / np.maximum(defined.sum(-1, keepdims=True) - 1, 1))
    return centred / np.where(deviation > 0, deviation, 1.0)


# The names are those of rlsum.objective.Estimator (tested), whose option says what they are.
ESTIMATORS: Mapping[Estimator, AdvantageEstimator] = {
    "self-critical": AdvantageEstimator(self_critical, needs_greedy=True),
    "rloo": AdvantageEstimator(leave_one_out),
    "grpo": AdvantageEstimator(group_normalised),
    "dr-grpo": AdvantageEstimator(group_centred),
    "reinforce++": AdvantageEstimator(update_normalised),
    "reinforce++-baseline": AdvantageEstimator(group_centred_update_normalised),
    "normalize-then-sum": AdvantageEstimator(components_normalised, of_components=True),
    "gdpo": AdvantageEstimator(components_update_normalised, of_components=True),
}


def teaches(advantages: np.ndarray) -> np.ndarray:
    """(N, k) advantages -> (N,) whether any of an article is defined and not 0."""
    return (np.isfinite(advantages) & (advantages != 0)).any(-1)


def weights_of(
    normalisation: Normalisation,
    lengths: np.ndarray,
    divisor: float,
    kept: np.ndarray,
    in_loss: np.ndarray | bool = True,
) -> np.ndarray:
    """(N, k) tokens of all samples of an update -> (N, k): the weight w of each in L_RL = -mean(w A sum_t log p_t).

    The mean is over all N k samples. Articles that are not ``kept`` (N,) have weight 0, and the others so much more
    that it becomes the mean over their samples: DAPO's filter (without sampling again until the batch is full).
    Samples that are not ``in_loss`` (N, k) have weight 0, and the others no more than they had, but for ``token``,
    which divides by the tokens of those alone: as TRL has it.

    sum       1
    constant  1 / ``divisor``, Dr. GRPO (Liu et al. 2025, arXiv 2503.20783)
    token     1 / mean length of the update's samples, which divides by all their tokens, DAPO (arXiv 2503.14476)
    sequence  1 / length of the sample, GRPO (Shao et al. 2024)

    A constant advantage has no expected gradient under ``sum`` and ``constant``. Under ``sequence`` its gradient is
    that of E[1 / length]; under ``token`` it has that of one sample in all, so about 1 / (N k) of it.
    """
    tokens = np.maximum(lengths, 1)
    share = in_loss * np.broadcast_to(kept[:, None] / max(kept.mean(), 1 / len(kept)), lengths.shape)
    if normalisation == "sequence":
        return share / tokens
    return share / {"sum": 1.0, "constant": divisor, "token": (share * tokens).mean() or 1.0}[normalisation]


declare(
    Field("advantage_mean", "mean advantage of the samples, scaled by `reward_scale`"),
    Field("advantage_std", "standard deviation of the scaled advantages", "tiny: a larger `reward_scale`"),
    Field("advantage_min", "smallest of the scaled advantages"),
    Field("advantage_max", "largest of the scaled advantages"),
    Field(
        "undefined_rewards",
        "share of samples without an advantage or reward",
        "above 0: `rlsum score` shows the reasons",
    ),
    Field("zero_advantage", "share of samples with advantage 0"),
    Field("zero_groups", "share of articles that give no gradient", "near 1: more `samples`, a higher temperature"),
)


def described(advantages: np.ndarray, weights: np.ndarray) -> dict[str, Logged]:
    """Numbers of advantages (B, k), and of samples with such weights, for the log."""
    is_defined = np.isfinite(advantages)
    defined = advantages[is_defined]
    return {
        "advantage_mean": Mean.of(defined),
        "advantage_std": Deviation.of(defined),
        "advantage_min": Least(defined.min() if defined.size else np.nan),
        "advantage_max": Greatest(defined.max() if defined.size else np.nan),
        "undefined_rewards": Mean.of(~is_defined),
        "zero_advantage": Mean.of(defined == 0),
        "zero_groups": Mean.of(~teaches(advantages * (weights > 0))),
    }


declare(
    Field("reward/NAME", "mean of a component of a weighted reward, not weighted"),
    Field("reward_std/NAME", "standard deviation of a component over the samples, not weighted", "far above another's: "
          "it decides alone; `estimator: gdpo`"),
    Field("reward_zero_groups/NAME", "share of articles whose samples are equal in a component"),
)  # fmt: skip


def described_components(components: Sequence[Component]) -> dict[str, Logged]:
    """Numbers of the components of a weighted reward, scores (B, k), for the log."""
    log: dict[str, Logged] = {}
    for name, _, scores in components:
        log[f"reward/{name}"] = Mean.of(scores)
        log[f"reward_std/{name}"] = Deviation.of(scores[np.isfinite(scores)])
        log[f"reward_zero_groups/{name}"] = Mean.of(~teaches(group_centred(scores)))
    return log


def mean_defined(values: Sequence[float] | np.ndarray) -> float:
    """Mean of the values that are defined; NaN where none is."""
    array = np.asarray(values, dtype=np.float64)
    return float(np.nanmean(array)) if (~np.isnan(array)).any() else float("nan")
