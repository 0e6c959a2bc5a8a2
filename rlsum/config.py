"""The configuration of a run: frozen dataclasses, read from YAML and ``key=value``, every error at once."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from rlsum.errors import UserError
from rlsum.models.decoding import Decoding
from rlsum.models.sizes import LoraConfig, ModelConfig, PointerGeneratorConfig, Seq2SeqConfig

STRICT = ConfigDict(extra="forbid")
RewardSpec = str | dict[str, Any]
KINDS = {"pointer-generator": PointerGeneratorConfig, "seq2seq": Seq2SeqConfig}


class ConfigError(UserError):
    """A configuration that cannot be used; the message lists every fault with its key and the fix."""


@dataclass(frozen=True, config=STRICT)
class DataConfig:
    """Where articles come from and how they become tokens (see rlsum.data.corpus)."""

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


@dataclass(frozen=True, config=STRICT)
class VocabularyConfig:
    """The word list, and word vectors to start the embeddings from."""

    size: int = Field(default=30_000, ge=1)
    min_count: int = Field(default=1, ge=1)
    embeddings: str | None = None


@dataclass(frozen=True, config=STRICT)
class Objective:
    """What is minimised.

    kind             mle | mixed | ranking
    reward           the reward of mixed and ranking, for example ``rouge-l`` or a mapping with options
    gamma            weight of what the reward teaches at the first update; gamma_end, if given, is reached linearly at
                     the last
    estimator        how the rewards of mixed become advantages (see rlsum.training.estimators)
    reward_scale     factor on the advantages
    samples          samples an article
    length           log-probabilities of a text are the sum or the mean over its tokens
    kl               weight of KL(policy || start) beside L_RL
    clip             of importance ratios, which then take the place of log-probabilities
    margin           of ranking, for each place between two candidates
    coverage_weight  lambda of the coverage loss, for a model with coverage
    label_smoothing  share of a reference's token that all tokens have evenly, in the likelihood of a pretrained model
    updates_per_sample  updates that learn from the same samples
    """

    kind: Literal["mle", "mixed", "ranking"] = "mle"
    reward: RewardSpec | None = None
    gamma: float = Field(default=0.97, ge=0, le=1)
    gamma_end: float | None = Field(default=None, ge=0, le=1)
    estimator: Literal["self-critical", "rloo", "grpo", "dr-grpo"] = "self-critical"
    reward_scale: float = Field(default=1.0, gt=0, allow_inf_nan=False)
    samples: int = Field(default=1, ge=1)
    length: Literal["sum", "mean"] = "mean"
    kl: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    updates_per_sample: int = Field(default=1, ge=1)
    clip: float | None = Field(default=None, gt=0, lt=1)
    margin: float = Field(default=0.001, ge=0, allow_inf_nan=False)
    coverage_weight: float = Field(default=1.0, ge=0, allow_inf_nan=False)
    label_smoothing: float = Field(default=0.0, ge=0, lt=1)

    def __post_init__(self) -> None:
        """Reject what cannot be learnt so, with every reason."""
        if faults := [*self._lacks(), *self._misplaced()]:
            raise ValueError("; ".join(faults))

    @property
    def rewarded(self) -> bool:
        """Whether a reward teaches, and so chooses the best checkpoint."""
        return self.kind != "mle"

    def _lacks(self) -> Iterator[str]:
        if self.rewarded and self.reward is None:
            yield f"kind={self.kind} needs a reward, for example reward: rouge-l"
        compares = {"mixed": f"estimator={self.estimator}", "ranking": "kind=ranking"}.get(self.kind)
        if compares not in (None, "estimator=self-critical") and self.samples < 2:
            yield f"{compares} compares the samples of an article: samples={self.samples} must be 2 or more, such as 4"
        if self.kind == "mixed" and self.updates_per_sample > 1 and self.clip is None:
            yield (
                f"updates_per_sample={self.updates_per_sample} learns from samples of an older policy, which the plain "
                "policy gradient cannot: give clip, for example 0.2, or updates_per_sample=1"
            )

    def _misplaced(self) -> Iterator[str]:
        if self.kind != "mixed":
            for name, none in (("estimator", "self-critical"), ("kl", 0.0), ("clip", None)):
                if getattr(self, name) != none:
                    yield f"{name}={getattr(self, name)} is for kind=mixed alone; leave it out"
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
    """The loop. Counts are in updates; ``batch_size`` is articles a batch and process.

    row_noise       samples of an article are drawn with random numbers of its own; None: where several processes
                    train, or decode_batch is given
    decode_batch    samples of so many articles are decoded together, before the batches of an update are learnt from;
                    None: batch by batch
    reward_workers  processes beside each that trains, which score samples while it decodes the next; 0: it scores
                    them itself
    reward_seconds  of one sample in a worker; a sample over it has no reward
    optimizer       see rlsum.training.optimizers; weight_decay is of adamw and adafactor
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
        """Reject a decay that the optimiser would put into the moments of the gradient."""
        if self.weight_decay and self.optimizer == "adam":
            raise ValueError(f"weight_decay={self.weight_decay}: optimizer=adam has none; use optimizer=adamw")

    def rate_at(self, step: int) -> float:
        """Learning rate of update ``step`` (from 0): linear warm-up, then constant or linear to 0 at the end."""
        if step < self.warmup:
            return self.learning_rate * (step + 1) / self.warmup
        if self.schedule == "constant":
            return self.learning_rate
        return self.learning_rate * (self.steps - step) / max(1, self.steps - self.warmup)


@dataclass(frozen=True, config=STRICT)
class Config:
    """A run. ``run`` is the folder it writes; ``model`` may be left out with --init, which brings its own."""

    run: str
    data: DataConfig
    training: Training
    objective: Objective = dataclasses.field(default_factory=Objective)
    vocabulary: VocabularyConfig = dataclasses.field(default_factory=VocabularyConfig)
    model: ModelConfig | None = None
    decoding: Decoding = dataclasses.field(default_factory=Decoding)
    metrics: tuple[RewardSpec, ...] = ("rouge-1", "rouge-2", "rouge-l")

    def __post_init__(self) -> None:
        """Reject sections that do not fit each other, with every reason."""
        objective, training, faults = self.objective, self.training, []
        if objective.rewarded and training.validate_decoded == 0:  # the best is chosen by the reward of what it decodes
            faults.append(
                f"training.validate_decoded=0: objective.kind={objective.kind} needs some to choose by, for example 200"
            )
        if training.validate_every % objective.updates_per_sample:  # a state holds no samples
            faults.append(
                f"training.validate_every={training.validate_every}: must be a multiple of "
                f"objective.updates_per_sample={objective.updates_per_sample}, so that a run resumes with new samples"
            )
        if not objective.rewarded:
            for name, none in (("decode_batch", None), ("reward_workers", 0)):
                if getattr(training, name) != none:
                    faults.append(f"training.{name}={getattr(training, name)}: objective.kind=mle draws no samples")
        if faults:
            raise ValueError("; ".join(faults))


def load(path: str | Path, overrides: Sequence[str] = ()) -> Config:
    """Read a YAML file and apply ``section.key=value`` overrides. Raises ConfigError with every fault found.

    A file may name another with ``base: other.yaml`` (relative to itself) and state only what differs.
    """
    values = _read(Path(path), seen=())
    for override in overrides:
        _apply(values, override)
    return check(values, str(path))


def check(values: dict[str, Any], origin: str) -> Config:
    """Values -> Config. Raises ConfigError with every fault found, unknown keys with the nearest known one."""
    try:
        return TypeAdapter(Config).validate_python(values)
    except ValidationError as error:
        faults = [_explain(fault) for fault in error.errors()]
        raise ConfigError(f"{origin}: {len(faults)} fault(s)\n" + "\n".join(f"  {line}" for line in faults)) from error


def dump(config: Config) -> str:
    """The resolved configuration as YAML; ``load`` reads it back to an equal Config."""
    return yaml.safe_dump(TypeAdapter(Config).dump_python(config, mode="json"), sort_keys=False, allow_unicode=True)


def _read(path: Path, seen: tuple[Path, ...]) -> dict[str, Any]:
    path = path.resolve()  # else dir/../dir/file would be another file each time round
    if path in seen:
        raise ConfigError(f"{path}: base files form a circle: {' -> '.join(str(p) for p in (*seen, path))}")
    try:
        values = _parse(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read ({error}); give the path of a YAML file") from error
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: not YAML: {error}") from error
    if not isinstance(values, dict):
        raise ConfigError(f"{path}: must hold a mapping with keys such as run, data, training")
    base = values.pop("base", None)
    if base is None:
        return values
    if not isinstance(base, str):
        raise ConfigError(f"{path}: base: must be the path of a YAML file, not {base!r}")
    return _merge(_read(path.parent / base, (*seen, path)), values)


class _Loader(yaml.SafeLoader):
    """YAML in which no key stands twice: PyYAML would keep the last section and drop the others silently."""

    def compose_mapping_node(self, anchor: Any) -> Any:
        node = super().compose_mapping_node(anchor)
        seen = set()
        for key, _ in node.value:
            name = (key.tag, key.value) if isinstance(key, yaml.ScalarNode) else id(key)
            if name in seen:
                raise yaml.MarkedYAMLError(problem=f"{key.value!r} is written twice", problem_mark=key.start_mark)
            seen.add(name)
        return node


def _parse(text: str) -> Any:
    return yaml.load(text, _Loader)


def _merge(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """``over`` on top of ``base``, section by section; a reward's mapping is replaced whole."""
    merged = dict(base)
    for key, value in over.items():
        below = merged.get(key)
        sections = isinstance(below, dict) and isinstance(value, dict) and key != "reward"
        merged[key] = _merge(below, value) if sections else value  # type: ignore[arg-type]
    return merged


def _apply(values: dict[str, Any], override: str) -> None:
    key, equals, text = override.partition("=")
    if not equals or not key:
        raise ConfigError(f"override {override!r}: write key=value, for example training.steps=100")
    *sections, last = key.split(".")
    place = values
    for section in sections:
        inner = place.setdefault(section, {})
        if not isinstance(inner, dict):
            raise ConfigError(f"override {override!r}: {section} is {inner!r}, not a section")
        place = inner
    try:
        place[last] = _parse(text)
    except yaml.YAMLError as error:
        raise ConfigError(f"override {override!r}: its value is not YAML: {error}") from error


def _explain(fault: Any) -> str:
    key = ".".join(str(part) for part in fault["loc"] if part not in KINDS)
    if fault["type"] == "union_tag_invalid":
        return f"{key}.kind: must be {' or '.join(KINDS)} (got {fault['ctx']['tag']!r})"
    if fault["type"] == "unexpected_keyword_argument":
        near = difflib.get_close_matches(str(fault["loc"][-1]), _known_keys(fault["loc"][:-1]), n=1)
        return f"{key}: unknown key" + (f"; did you mean {near[0]}?" if near else "")
    if fault["type"] == "missing":
        return f"{key}: missing; give it in the file or as {key}=..."
    if fault["type"] == "dataclass_type":
        return f"{key}: must be a section (a mapping), not {fault['input']!r}"
    if fault["type"] == "string_type" and isinstance(fault["input"], dict):  # a text with a colon in it
        return f"{key}: must be a text, not {fault['input']!r}; quote it, as in '{key}=\"...\"'"
    message = fault["msg"].removeprefix("Value error, ")
    if not key:  # a fault between sections names its keys itself
        return message
    return f"{key}: {message} (got {fault['input']!r})" if not isinstance(fault["input"], dict) else f"{key}: {message}"


def _known_keys(sections: Sequence[Any]) -> list[str]:
    place: Any = Config
    for section in sections:
        types = {field.name: field.type for field in dataclasses.fields(place)}
        place = _SECTIONS.get(types.get(section, section), place)
    return [field.name for field in dataclasses.fields(place)]


_SECTIONS: dict[Any, Any] = {
    "DataConfig": DataConfig,
    "VocabularyConfig": VocabularyConfig,
    **KINDS,  # a fault in a model names its kind, too
    "LoraConfig | None": LoraConfig,
    "Objective": Objective,
    "Training": Training,
    "Decoding": Decoding,
}
