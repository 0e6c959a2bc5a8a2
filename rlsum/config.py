"""The configuration of a run: frozen dataclasses, read from YAML and ``key=value``. All faults are reported at once."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_type_hints

import yaml
from pydantic import BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from rlsum.errors import ConfigError
from rlsum.models.decoding import Decoding, Sampling
from rlsum.models.sizes import MODELS, ModelConfig
from rlsum.records import RECORD_FIELDS
from rlsum.yaml_files import read

STRICT = ConfigDict(extra="forbid")
RewardSpec = str | dict[str, Any]
Estimator = Literal["self-critical", "rloo", "grpo", "dr-grpo", "reinforce++", "reinforce++-baseline"]
OF_SINGLE_SAMPLES = ("self-critical", "reinforce++")  # estimators that need no second sample of an article
MIXED_ONLY = (
    "control_advantage", "estimator", "normalisation", "divisor", "skip_zero_groups", "kl", "clip",
    "clip_high", "ratio",
)  # fmt: skip
Normalisation = Literal["constant", "token", "sequence", "sum"]  # of the policy gradient: estimators.weights


@dataclass(frozen=True, config=STRICT)
class DataConfig:
    """Where articles come from and how they are tokenised; see rlsum.data.corpus.load_corpus."""

    train: str
    valid: str
    train_split: str = "train"
    valid_split: str = "validation"
    id_column: str | None = None
    source_column: str = "article"
    reference_column: str = "highlights"
    tokenizer: Literal["whitespace", "spacy"] = "whitespace"
    lowercase: bool = False
    max_source: int = Field(default=400, ge=1)
    max_target: int = Field(default=100, ge=1)
    train_limit: int | None = Field(default=None, ge=1)
    valid_limit: int | None = Field(default=None, ge=1)
    num_proc: int = Field(default=1, ge=1)
    columns: tuple[str, ...] = ()  # further columns, for rewards that read them

    def __post_init__(self) -> None:
        """Reject further columns that a record of outputs has already."""
        taken = [name for name in self.columns if name in RECORD_FIELDS]
        if taken:
            raise ValueError(f"columns: {taken[0]!r} is a field of every output; rename the column")


@dataclass(frozen=True, config=STRICT)
class VocabularyConfig:
    """The words of a pointer-generator, and a file of word vectors to initialise their embeddings."""

    size: int = Field(default=30_000, ge=1)
    min_count: int = Field(default=1, ge=1)
    embeddings: str | None = None


@dataclass(frozen=True, config=STRICT)
class Objective:
    """What is minimised.

    kind                mle | mixed | ranking | minimum-risk | best-of-n
    reward              the reward of all kinds but mle, for example ``rouge-l``, or a mapping with options
    gamma               weight of the reward's loss at the first update
    gamma_end           its weight at the last update, reached linearly; None: constant
    estimator           how the rewards of mixed become advantages; see rlsum.training.estimators
    reward_scale        factor on the advantages, and on the rewards of minimum-risk
    samples             samples an article
    normalisation       what the sum of log p over a sample is divided by in the loss of mixed
    divisor             of the constant normalisation; None: the tokens that a sample may have
    skip_zero_groups    leave articles whose samples all have advantage 0 or none out of the loss of mixed
    length              the log-probability of a text is the sum or the mean over its tokens, but for mixed's samples
    kl                  weight of KL(policy || start) in the loss of mixed
    updates_per_sample  updates that learn from the same samples
    clip                range of importance ratios, which then replace log-probabilities in the loss of mixed
    clip_high           their range above 1; None: clip
    ratio               of a token, or of a sequence: the geometric mean of its tokens'
    margin              of ranking, for each rank between two candidates
    sharpness           of minimum-risk: exponent of a sample's probability
    control             constant: every sample has the same advantage; shuffled: the samples of an update exchange their
                        rewards, and so do its greedy texts
    control_advantage   the advantage of every sample with control=constant, not scaled
    coverage_weight     lambda of the coverage loss, for a model with coverage
    coverage_on_samples whether samples have a coverage loss as references have
    label_smoothing     probability that is spread evenly over all tokens in the likelihood of a pretrained model
    """

    kind: Literal["mle", "mixed", "ranking", "minimum-risk", "best-of-n"] = "mle"
    reward: RewardSpec | None = None
    gamma: float = Field(default=0.97, ge=0, le=1)
    gamma_end: float | None = Field(default=None, ge=0, le=1)
    estimator: Estimator = "self-critical"
    reward_scale: float = Field(default=1.0, gt=0, allow_inf_nan=False)
    samples: int = Field(default=1, ge=1)
    normalisation: Normalisation = "constant"
    divisor: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    skip_zero_groups: bool = False
    length: Literal["sum", "mean"] = "mean"
    kl: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    updates_per_sample: int = Field(default=1, ge=1)
    clip: float | None = Field(default=None, gt=0, lt=1)
    clip_high: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    ratio: Literal["token", "sequence"] = "token"
    margin: float = Field(default=0.001, ge=0, allow_inf_nan=False)
    sharpness: float = Field(default=1.0, gt=0, allow_inf_nan=False)
    control: Literal["constant", "shuffled"] | None = None
    control_advantage: float | None = Field(default=None, allow_inf_nan=False)
    coverage_weight: float = Field(default=1.0, ge=0, allow_inf_nan=False)
    coverage_on_samples: bool = False
    label_smoothing: float = Field(default=0.0, ge=0, lt=1)

    def __post_init__(self) -> None:
        """Reject keys that do not fit each other, with every reason."""
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
        for name in ("clip_high", "ratio"):
            if self.kind == "mixed" and self.clip is None and getattr(self, name) != _default(self, name):
                yield f"{name}={getattr(self, name)} is about importance ratios: set clip, for example 0.2"

    def _misplaced(self) -> Iterator[str]:
        if self.kind != "mixed":
            for name in MIXED_ONLY:
                if getattr(self, name) != _default(self, name):
                    yield f"{name}={getattr(self, name)} applies to kind=mixed only; leave it out"
        if self.control == "shuffled" and not self.rewarded:
            yield "control=shuffled: kind=mle has no rewards; leave it out"
        if self.control == "constant" and self.kind != "mixed":
            yield f"control=constant: kind={self.kind} has no advantages; use kind=mixed, or leave it out"
        if self.control_advantage is not None and self.kind == "mixed" and self.control != "constant":
            yield f"control_advantage={self.control_advantage}: applies to control=constant only; leave it out"
        if self.sharpness != 1 and self.kind != "minimum-risk":
            yield f"sharpness={self.sharpness} applies to kind=minimum-risk only; leave it out"
        if self.reward_scale != 1 and self.kind == "best-of-n":
            yield f"reward_scale={self.reward_scale}: kind=best-of-n only orders the rewards; leave it out"
        if self.divisor is not None and self.normalisation != "constant":
            yield f"divisor={self.divisor}: not with normalisation={self.normalisation}; use normalisation=constant"
        if self.coverage_on_samples and not self.rewarded:
            yield "coverage_on_samples=True: kind=mle draws no samples; leave it out"
        if self.coverage_on_samples and self.coverage_weight == 0:
            yield "coverage_on_samples=True: coverage_weight=0 turns coverage off; set it, for example 1"
        if self.kind == "mle" and self.updates_per_sample > 1:
            yield f"updates_per_sample={self.updates_per_sample}: kind=mle draws no samples; leave it out"

    def gamma_at(self, step: int, steps: int) -> float:
        """Gamma of update ``step`` (from 0) of ``steps``: constant, or linear from gamma to gamma_end."""
        if self.gamma_end is None or steps <= 1:
            return self.gamma
        return self.gamma + (self.gamma_end - self.gamma) * min(1.0, step / (steps - 1))


def _unquoted_no(value: object) -> object:
    """YAML reads an unquoted no as false."""
    return "no" if value is False else value


@dataclass(frozen=True, config=STRICT)
class Training:
    """The training loop. Counts are in updates; ``batch_size`` is in articles a process.

    accumulate        batches whose gradients add up to one update
    optimizer         see rlsum.training.trainer.optimizer_of; weight_decay applies to adamw and adafactor
    clip              largest norm of the gradient
    choose_by         what the best checkpoint maximises: reward, likelihood, or a metric; None: see Config.chooses_by
    validate_decoded  validation articles that are also decoded and scored
    patience          validations without gain before the run stops; None: never
    row_noise         draw the samples of each article with random numbers that depend on the article alone; None:
                      where several processes train, or decode_batch is set
    decode_batch      articles whose samples are decoded together, before the update; None: batch by batch
    reward_workers    processes that score samples while this one decodes the next; 0: it scores them itself
    reward_seconds    time limit of one sample in a worker; a sample over it has no reward
    """

    steps: int = Field(ge=1)
    batch_size: int = Field(default=16, ge=1)
    accumulate: int = Field(default=1, ge=1)
    optimizer: Literal["adam", "adamw", "adafactor"] = "adam"
    learning_rate: float = Field(default=1e-3, gt=0, allow_inf_nan=False)
    weight_decay: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    schedule: Literal["constant", "linear"] = "constant"
    warmup: int = Field(default=0, ge=0)
    clip: float = Field(default=2.0, gt=0)
    seed: int = Field(default=1, ge=0, lt=2**63)
    validate_every: int = Field(default=500, ge=1)
    choose_by: RewardSpec | None = None
    validate_decoded: int = Field(default=200, ge=0)
    patience: int | None = Field(default=None, ge=1)
    log_every: int = Field(default=10, ge=1)
    sample_outputs: int = Field(default=3, ge=0)
    row_noise: bool | None = None
    decode_batch: int | None = Field(default=None, ge=1)
    reward_workers: int = Field(default=0, ge=0)
    reward_seconds: float = Field(default=60.0, gt=0)
    mixed_precision: Annotated[Literal["no", "fp16", "bf16"], BeforeValidator(_unquoted_no)] = "no"
    tracker: str | None = "tensorboard"

    def __post_init__(self) -> None:
        """Reject weight decay with Adam, which would add it to the moments of the gradient."""
        if self.weight_decay and self.optimizer == "adam":
            raise ValueError(f"weight_decay={self.weight_decay}: not with optimizer=adam; use optimizer=adamw")

    def rate_at(self, step: int) -> float:
        """Learning rate of update ``step`` (from 0): linear warm-up, then constant or linear to 0 at the end."""
        if step < self.warmup:
            return self.learning_rate * (step + 1) / self.warmup
        if self.schedule == "constant":
            return self.learning_rate
        return self.learning_rate * (self.steps - step) / max(1, self.steps - self.warmup)


@dataclass(frozen=True, config=STRICT)
class Config:
    """A run. ``run`` is the folder it writes; ``model`` may be left out with --init, whose checkpoint has its own."""

    run: str
    data: DataConfig
    training: Training
    objective: Objective = dataclasses.field(default_factory=Objective)
    vocabulary: VocabularyConfig = dataclasses.field(default_factory=VocabularyConfig)
    model: ModelConfig | None = None
    decoding: Decoding = dataclasses.field(default_factory=Decoding)
    sampling: Sampling = dataclasses.field(default_factory=Sampling)
    metrics: tuple[RewardSpec, ...] = ("rouge-1", "rouge-2", "rouge-l")

    def __post_init__(self) -> None:
        """Reject sections that do not fit each other, with every reason."""
        objective, training, faults = self.objective, self.training, []
        if self.chooses_by == "reward" and not objective.rewarded:
            faults.append("training.choose_by=reward: objective.kind=mle has no reward; use likelihood, or a metric")
        elif self.chooses_by != "likelihood" and training.validate_decoded == 0:
            faults.append(
                f"training.validate_decoded=0: the best checkpoint is chosen by {self.chooses_by} of decoded articles; "
                "decode some, for example 200"
            )
        together = objective.samples * training.batch_size * training.accumulate
        compares = {
            "estimator=reinforce++ compares": objective.kind == "mixed" and objective.estimator == "reinforce++",
            "control=shuffled exchanges rewards between": objective.control == "shuffled",
        }
        for what in (what for what, applies in compares.items() if applies and together < 2):
            faults.append(
                f"objective.{what} the samples of an update: objective.samples * training.batch_size * "
                "training.accumulate is 1; make it 2 or more"
            )
        if training.validate_every % objective.updates_per_sample:  # the saved state holds no samples
            faults.append(
                f"training.validate_every={training.validate_every}: must be a multiple of "
                f"objective.updates_per_sample={objective.updates_per_sample}, because a resumed run draws new samples"
            )
        if self.sampling.min_length >= (longest := self.sampling.max_length or self.decoding.max_length):
            faults.append(
                f"sampling.min_length={self.sampling.min_length}: must be smaller than the longest sample, "
                f"{longest} tokens; raise sampling.max_length (default: decoding.max_length)"
            )
        if not objective.rewarded:
            if self.sampling != Sampling():
                faults.append("sampling: objective.kind=mle draws no samples; leave it out")
            for name in ("decode_batch", "reward_workers"):
                if getattr(training, name) != _default(training, name):
                    faults.append(
                        f"training.{name}={getattr(training, name)}: objective.kind=mle draws no samples; leave it out"
                    )
        if faults:
            raise ValueError("; ".join(faults))

    @property
    def chooses_by(self) -> RewardSpec:
        """What the best checkpoint maximises, by default the reward of rewarded runs, and else the likelihood."""
        return self.training.choose_by or ("reward" if self.objective.rewarded else "likelihood")

    @property
    def samples_from(self) -> Sampling:
        """``sampling`` with its maximum length, by default that of ``decoding``."""
        return dataclasses.replace(self.sampling, max_length=self.sampling.max_length or self.decoding.max_length)


def _default(section: Any, name: str) -> Any:
    return section.__pydantic_fields__[name].default


def load(path: str | Path, overrides: Sequence[str] = ()) -> Config:
    """Read a YAML file and apply ``section.key=value`` overrides. Raises ConfigError with every fault found.

    With ``base: other.yaml`` (a path relative to the file) a file starts from another one and states what differs.
    """
    return check(read(Path(path), overrides), str(path))


def check(values: dict[str, Any], origin: str) -> Config:
    """Make a Config of a mapping. Raises ConfigError with every fault; unknown keys with the nearest known one."""
    try:
        return TypeAdapter(Config).validate_python(values)
    except ValidationError as error:
        faults = [_explain(fault) for fault in error.errors()]
        raise ConfigError(f"{origin}: {len(faults)} fault(s)\n" + "\n".join(f"  {line}" for line in faults)) from error


def dump(config: Config) -> str:
    """The configuration as YAML, which ``load`` reads back to an equal Config."""
    return yaml.safe_dump(TypeAdapter(Config).dump_python(config, mode="json"), sort_keys=False, allow_unicode=True)


def _explain(fault: Any) -> str:
    key = ".".join(str(part) for part in fault["loc"] if part not in MODELS)
    if fault["type"] == "union_tag_invalid":
        return f"{key}.kind: must be {' or '.join(MODELS)} (got {fault['ctx']['tag']!r})"
    if fault["type"] == "unexpected_keyword_argument":
        near = difflib.get_close_matches(str(fault["loc"][-1]), _known_keys(fault["loc"][:-1]), n=1)
        return f"{key}: unknown key" + (f"; did you mean {near[0]}?" if near else "")
    if fault["type"] == "missing":
        return f"{key}: missing; give it in the file or as {key}=..."
    if fault["type"] == "dataclass_type":
        return f"{key}: must be a section (a mapping), not {fault['input']!r}"
    if fault["type"] == "string_type" and isinstance(fault["input"], dict):  # an unquoted text with a colon in it
        return f"{key}: must be a text, not {fault['input']!r}; quote it, as in '{key}=\"...\"'"
    if fault["type"] == "tuple_type":
        example = f"; write [{fault['input']}]" if isinstance(fault["input"], str) else ""
        return f"{key}: must be a list, not {fault['input']!r}{example}"
    message = fault["msg"].removeprefix("Value error, ")
    if not key:  # a fault between sections names its keys itself
        return message
    return f"{key}: {message} (got {fault['input']!r})" if not isinstance(fault["input"], dict) else f"{key}: {message}"


def _known_keys(sections: Sequence[Any]) -> list[str]:
    """The keys of a (nested) section; pydantic names the kind of a model as if it were a section."""
    owner: Any = Config
    for section in sections:
        hint = MODELS.get(section) or get_type_hints(owner).get(section)
        owner = next((member for member in (hint, *get_args(hint)) if dataclasses.is_dataclass(member)), owner)
    return [field.name for field in dataclasses.fields(owner)]
