"""The ``objective`` section of a configuration: what is minimised, and which keys fit each other."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from rewards.base import resolve
from rewards.specs import WEIGHED, as_spec

STRICT = ConfigDict(extra="forbid")
RewardSpec = str | dict[str, Any]
Estimator = Literal[
    "self-critical", "rloo", "grpo", "dr-grpo", "reinforce++", "reinforce++-baseline", "normalize-then-sum", "gdpo"
]
OF_SINGLE_SAMPLES = ("self-critical", "reinforce++")  # estimators that need no second sample of an article
OF_COMPONENTS = ("normalize-then-sum", "gdpo")  # estimators that read the components of a weighted reward
LengthRule = Literal["sum", "mean"]
Ratio = Literal["token", "sequence"]
Control = Literal["shuffled", "constant"]
KLEstimator = Literal["k1", "k2", "k3"]
Normalisation = Literal["constant", "token", "sequence", "sum"]  # of the policy gradient: estimators.weights_of


@dataclasses.dataclass(frozen=True)
class Only:
    """What must hold for a key to mean anything, and what is said of a value that is not its default."""

    holds: Callable[[Objective], bool]
    says: str


MIXED = Only(lambda its: its.kind == "mixed", " applies to kind=mixed only; leave it out")
RISK = Only(lambda its: its.kind == "minimum-risk", " applies to kind=minimum-risk only; leave it out")
DRAWING = Only(lambda its: its.rewarded, ": kind=mle draws no samples; leave it out")
SCALED = Only(lambda its: its.kind != "best-of-n", ": kind=best-of-n only orders the rewards; leave it out")
CONSTANT = Only(lambda its: its.control == "constant", ": applies to control=constant only; leave it out")
DIVIDED = Only(lambda its: its.normalisation == "constant", " applies to normalisation=constant only; leave it out")
ANCHORED = Only(lambda its: its.kl > 0, " is about the distance from the start: set kl, for example 0.05")
RATIOS = Only(lambda its: its.clip is not None, " is about importance ratios: set clip, for example 0.2")
COVERED = Only(lambda its: its.coverage_weight > 0, ": coverage_weight=0 turns coverage off; set it, for example 1")


@dataclass(frozen=True, config=STRICT)
class Objective:
    """What is minimised. docs/concepts/objectives.md has the formulas."""

    kind: Literal["mle", "mixed", "ranking", "minimum-risk", "best-of-n"] = "mle"
    """mle: likelihood; mixed: likelihood and a policy gradient; ranking, minimum-risk, best-of-n: likelihood and a loss
    that compares the samples of an article"""
    reward: RewardSpec | None = None
    """the reward of all kinds but mle, such as ``rouge-l``, or a mapping with options"""
    gamma: float = Field(default=0.97, ge=0, le=1)
    """weight of the reward's loss, at the first update"""
    gamma_end: float | None = Field(default=None, ge=0, le=1)
    """its weight at the last update, reached linearly; none: constant"""
    estimator: Annotated[Estimator, MIXED] = "self-critical"
    """how the rewards r of mixed become advantages, mean and std over an article's samples unless stated.
    self-critical: r - r(greedy) (Rennie et al. 2017; Clark et al. 2019); rloo: r - mean of the others (Kool et al.
    2019; Ahmadian et al. 2024); grpo: (r - mean) / std (Shao et al. 2024); dr-grpo: r - mean (Liu et al. 2025);
    reinforce++: (r - mean) / std, of all samples of the update (Hu et al. 2025), with baseline: of r - mean; for these
    a weighted reward is summed first. normalize-then-sum: the weighted sum of (r - mean) / std of each of its
    components (Liu et al. 2026, first step); gdpo: these sums, (s - mean) / std over the update (Liu et al. 2026)"""
    reward_scale: Annotated[float, SCALED] = Field(default=1.0, gt=0, allow_inf_nan=False)
    """factor on the advantages of mixed and the rewards of minimum-risk"""
    samples: int = Field(default=1, ge=1)
    """samples per article; 2 or more but for mle, and mixed with self-critical or reinforce++"""
    normalisation: Annotated[Normalisation, MIXED] = "constant"
    """what the sum of log p over a sample is divided by in mixed. constant: the divisor (Dr. GRPO, Liu et al. 2025);
    token: the mean length of the update's samples (DAPO, Yu et al. 2025, as implemented: the paper's formula divides
    within an article); sequence: the sample's length (GRPO, Shao et al. 2024); sum: 1, with a smaller reward_scale or
    gamma (Clark et al. 2019, equation 7; Rennie et al. 2017; Ahmadian et al. 2024)"""
    divisor: Annotated[float | None, MIXED, DIVIDED] = Field(default=None, gt=0, allow_inf_nan=False)
    """the divisor of normalisation=constant; none: the mean tokens of the training references"""
    skip_zero_groups: Annotated[bool, MIXED] = False
    """leave articles whose samples all have advantage 0 or none out of the loss of mixed (DAPO)"""
    mask_truncated: Annotated[bool, DRAWING] = False
    """leave samples that sampling.max_length has cut off out of the loss; the advantages of mixed are still those of
    all samples (DAPO; ``mask_truncated_completions`` of TRL)"""
    length: LengthRule = "mean"
    """the log-probability of a text is the mean or the sum over its tokens: of references, and of samples in all kinds
    but mixed"""
    kl: Annotated[float, MIXED] = Field(default=0.0, ge=0, allow_inf_nan=False)
    """weight of the distance from the start, KL(policy || start), in the loss of mixed"""
    kl_estimator: Annotated[KLEstimator, MIXED, ANCHORED] = "k1"
    """k1: log p / p_start of a sample, in its advantage, lowers this KL; k2: its square, in the loss, lowers that of
    each next token; k3 in the loss, as in GRPO, lowers KL(start || policy)"""
    updates_per_sample: Annotated[int, DRAWING] = Field(default=1, ge=1)
    """updates that learn from the same samples; above 1, mixed needs clip"""
    clip: Annotated[float | None, MIXED] = Field(default=None, gt=0, lt=1)
    """range of importance ratios, which then replace log-probabilities in the loss of mixed; 0.2 is usual"""
    clip_high: Annotated[float | None, MIXED, RATIOS] = Field(default=None, gt=0, allow_inf_nan=False)
    """their range above 1, where clip is the one below; none: the same (DAPO: 0.28)"""
    ratio: Annotated[Ratio, MIXED, RATIOS] = "token"
    """an importance ratio of each token, or one of the sequence: their geometric mean (GSPO)"""
    margin: float = Field(default=0.001, ge=0, allow_inf_nan=False)
    """of ranking: the margin for each rank between two candidates"""
    sharpness: Annotated[float, RISK] = Field(default=1.0, gt=0, allow_inf_nan=False)
    """of minimum-risk: exponent of a sample's probability"""
    control: Control | None = None
    """takes the meaning out of the rewards; shuffled: the samples of an update exchange their rewards, and so do its
    greedy texts; constant: every sample has the same advantage"""
    control_advantage: Annotated[float | None, MIXED, CONSTANT] = Field(default=None, allow_inf_nan=False)
    """the advantage of every sample with control=constant, not scaled"""
    coverage_weight: float = Field(default=1.0, ge=0, allow_inf_nan=False)
    """weight of the coverage loss, for a model with coverage; gamma does not change it"""
    coverage_on_samples: Annotated[bool, DRAWING, COVERED] = False
    """add the coverage loss of the samples to that of the references"""
    label_smoothing: float = Field(default=0.0, ge=0, lt=1)
    """share of each reference token that is spread evenly over all tokens, in the likelihood of a pretrained model"""

    def __post_init__(self) -> None:
        if faults := [*self._missing(), *self._misplaced()]:
            raise ValueError("; ".join(faults))

    @property
    def rewarded(self) -> bool:
        """Whether a reward trains the model and selects the best checkpoint."""
        return self.kind != "mle"

    @property
    def draws_samples(self) -> bool:
        """Whether any update has a weight for the reward's loss."""
        return self.rewarded and (self.gamma > 0 or bool(self.gamma_end))

    def _missing(self) -> Iterator[str]:
        if self.rewarded and self.reward is None:
            yield f"kind={self.kind} needs a reward, for example reward: rouge-l"
        compares = f"estimator={self.estimator}" if self.kind == "mixed" else f"kind={self.kind}"
        alone = self.estimator in OF_SINGLE_SAMPLES if self.kind == "mixed" else not self.rewarded
        if not alone and self.samples < 2:
            yield f"{compares} compares the samples of an article: samples={self.samples} must be 2 or more, such as 4"
        if self.estimator in OF_COMPONENTS and self.reward is not None and hides_components(self.reward):
            yield (
                f"estimator={self.estimator} reads the components of a weighted reward, {as_spec(self.reward).name} "
                "hides them: put it around each component, weighted(cached(reward=rouge-l)=1, ...)"
            )
        if self.kind == "mixed" and self.updates_per_sample > 1 and self.clip is None:
            yield (
                f"updates_per_sample={self.updates_per_sample} learns from samples of an older policy, which needs "
                "importance ratios: set clip, for example 0.2, or updates_per_sample=1"
            )
        if self.kind == "mixed" and self.control == "constant" and self.control_advantage is None:
            yield (
                "control=constant needs control_advantage, the advantage of every sample, for example -0.1: "
                "the advantage_mean in the log of the run that it is a control of"
            )

    def _misplaced(self) -> Iterator[str]:
        for name, field in self.__pydantic_fields__.items():  # type: ignore[attr-defined]
            unmet = (rule for rule in field.metadata if isinstance(rule, Only) and not rule.holds(self))
            if (value := getattr(self, name)) != field.default and (rule := next(unmet, None)):
                yield f"{name}={value}{rule.says}"
        if self.control is not None and not self.rewarded:
            yield f"control={self.control}: kind=mle has no rewards; leave it out"
        elif self.control == "constant" and self.kind != "mixed":
            yield f"control=constant: kind={self.kind} has no advantages; use kind=mixed, or leave it out"

    @property
    def needs_start(self) -> bool:
        """Whether the start scores what the model writes."""
        return self.kl > 0

    def gamma_at(self, step: int, steps: int) -> float:
        """Gamma of update ``step`` (from 0) of ``steps``: constant, or linear from gamma to gamma_end."""
        if self.gamma_end is None or steps <= 1:
            return self.gamma
        return self.gamma + (self.gamma_end - self.gamma) * min(1.0, step / (steps - 1))


def mean_gamma(keys: Mapping[str, Any]) -> float:
    """The mean of ``gamma_at`` over a run, of an objective with these ``keys``."""
    gamma: float = keys.get("gamma", Objective.gamma)
    end: float | None = keys.get("gamma_end")
    return (gamma + (gamma if end is None else end)) / 2


def hides_components(reward: RewardSpec) -> bool:
    """Whether a reward holds a weighted sum and does not return its components (``score_components``)."""
    spec = as_spec(reward)
    inner = spec.options.get("reward")
    if inner is None or spec.name in WEIGHED:
        return False
    if hasattr(resolve(spec.name), "score_components"):
        return hides_components(inner)
    return any(name in str(inner) for name in WEIGHED)
