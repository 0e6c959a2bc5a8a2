"""The configuration of a run: frozen dataclasses, read from YAML and ``key=value``. All faults are reported at once."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import yaml
from pydantic import AfterValidator, BeforeValidator, Field, TypeAdapter
from pydantic.dataclasses import dataclass

from rewards.references import Lists
from rewards.text.languages import check_language, language_of
from rlsum.data.columns import Columns, Tokenizer
from rlsum.errors import ConfigError as ConfigError
from rlsum.models.decoding import Decoding, Sampling
from rlsum.models.kinds import ModelSection
from rlsum.objective import DRAWING, STRICT, Objective, RewardSpec
from rlsum.records import RECORD_FIELDS
from rlsum.sections import check_as
from rlsum.yaml_files import read

if TYPE_CHECKING:
    from rlsum.data.corpus import Tokenization

# Of importance ratios of sequences from one update to the next, in the precision of weights and activations: measured
# with bf16, .0005 to .003 (standard deviation) for BART and T5; fp16 has three digits more
ROUNDING = {"bf16": 2.0**-8, "fp16": 2.0**-11}
TOO_FEW = (
    "the samples of an update: objective.samples * training.batch_size * training.accumulate is 1; make it 2 or more"
)


@dataclass(frozen=True, config=STRICT)
class DataConfig:
    """Where articles come from and how they are tokenised."""

    train: str
    """training articles: a JSONL, CSV or parquet file, a .story folder, a folder with one file per split, a saved
    dataset, or a hub name ``hf://owner/name/config``"""
    valid: str
    """validation articles, given in the same ways"""
    train_split: str = "train"
    """the split of ``train``, where there are several; synonyms are understood"""
    valid_split: str = "validation"
    """the split of ``valid``, where there are several"""
    id_column: str | None = None
    """none: ``id`` if it exists, else file and line"""
    source_column: str = "article"
    """articles"""
    reference_column: str = "highlights"
    """references: a text with one sentence per line, or a list of texts; columns that differ in a number (summary1,
    summary2) are several references, whichever is named"""
    reference_lists: Lists | None = None
    """what a list of texts is: alternatives, or the sentences of one text; none: alternatives in a column whose name
    ends in references or summaries, an error in another"""
    tokenizer: Tokenizer | None = None
    """whitespace for tokenised text, spacy for raw text; in a language without spaces spacy makes characters, and is
    the default"""
    lowercase: bool = False
    """lower-case the tokens"""
    max_source: int = Field(default=400, ge=1)
    """tokens kept of the article"""
    max_target: int = Field(default=100, ge=1)
    """tokens kept of the first reference; a cut reference has no end token"""
    train_limit: int | None = Field(default=None, ge=1)
    """at most this many rows of ``train``, drawn with training.seed"""
    valid_limit: int | None = Field(default=None, ge=1)
    """at most this many rows of ``valid``, drawn with training.seed"""
    num_proc: int = Field(default=1, ge=1)
    """processes that tokenise; the result does not depend on it"""
    columns: tuple[str, ...] = ()
    """further columns, as a list, for rewards that read them; outputs have them as fields, too"""

    def __post_init__(self) -> None:
        taken = [name for name in self.columns if name in RECORD_FIELDS]
        if taken:
            raise ValueError(f"columns: {taken[0]!r} is a field of every output; rename the column")


@dataclass(frozen=True, config=STRICT)
class VocabularyConfig:
    """The words of a pointer-generator. With --init they come from the checkpoint, and this section is not used."""

    size: int = Field(default=30_000, ge=1)
    """most frequent words of training articles and references"""
    min_count: int = Field(default=1, ge=1)
    """rarer words are left out; in an article they can still be copied"""
    embeddings: str | None = None
    """a word2vec, GloVe or fastText text file to start from, as wide as model.embedding; other words start as noise of
    the same spread"""


def _unquoted_no(value: object) -> object:
    """YAML reads an unquoted no as false."""
    return "no" if value is False else value


def _known_language(code: str | None) -> str | None:
    check_language(code)
    return code


LanguageCode = Annotated[str | None, BeforeValidator(_unquoted_no), AfterValidator(_known_language)]  # no: Norwegian


@dataclass(frozen=True, config=STRICT)
class Training:
    """The training loop. Counts are in updates."""

    steps: int = Field(ge=1)
    """number of updates"""
    batch_size: int = Field(default=16, ge=1)
    """articles per batch and process"""
    accumulate: int = Field(default=1, ge=1)
    """batches per update: less memory, the same articles and, without dropout, the same gradient as one large batch; of
    samples with row_noise"""
    optimizer: Literal["adam", "adamw", "adafactor"] = "adam"
    """adam, adamw, or adafactor: half the memory of Adam in training, another scale of rates"""
    learning_rate: float = Field(default=1e-3, gt=0, allow_inf_nan=False)
    """with adafactor, relative to the size of the weights: 1e-3 is usual for T5 and PEGASUS"""
    weight_decay: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    """of adamw and adafactor: weights shrink by rate x decay in each update"""
    schedule: Literal["constant", "linear"] = "constant"
    """constant, or linear: to 0 at the end"""
    warmup: int = Field(default=0, ge=0)
    """updates of linear rise at the start"""
    clip: float = Field(default=2.0, gt=0)
    """largest norm of the gradient; longer ones are scaled down to it"""
    seed: int = Field(default=1, ge=0, lt=2**63)
    """random seed of the run"""
    validate_every: int = Field(default=500, ge=1)
    """updates between validations; the state is saved with each"""
    choose_by: RewardSpec | None = None
    """what the best checkpoint maximises: reward, likelihood, one of metrics, or another metric, which validation then
    reports, too; none: the likelihood of mle, the reward of all other kinds"""
    validate_decoded: int = Field(default=200, ge=0)
    """validation articles that are summarized and scored, always the same; the likelihood is of all"""
    patience: int | None = Field(default=None, ge=1)
    """stop after this many validations without a better one; none: never"""
    log_every: int = Field(default=10, ge=1)
    """updates between log lines"""
    sample_outputs: int = Field(default=3, ge=0)
    """at each validation, summaries written to samples.jsonl, and articles whose samples are written to
    training-samples.jsonl, with their scores; trackers with tables or texts show them, too"""
    row_noise: bool | None = None
    """random numbers of a sample depend on its article, not on its batch; none: on with several processes or
    decode_batch"""
    decode_batch: Annotated[int | None, DRAWING] = Field(default=None, ge=1)
    """articles sampled from together, before the update; none: batch by batch"""
    reward_workers: Annotated[int, DRAWING] = Field(default=0, ge=0)
    """processes that score samples while this one decodes the next; 0: the training process scores"""
    reward_seconds: float = Field(default=60.0, gt=0)
    """time limit of a sample in a worker; a sample over it has no reward"""
    mixed_precision: Annotated[Literal["no", "fp16", "bf16"], BeforeValidator(_unquoted_no)] = "no"
    """precision of the computation; fp16 needs a GPU"""
    tracker: str | tuple[str, ...] | None = "tensorboard"
    """tensorboard, wandb, mlflow, trackio or another one that accelerate knows, a list of them, or null"""

    def __post_init__(self) -> None:
        """Reject weight decay with Adam, which would add it to the moments of the gradient."""
        if self.weight_decay and self.optimizer == "adam":
            raise ValueError(f"weight_decay={self.weight_decay}: not with optimizer=adam; use optimizer=adamw")

    @property
    def trackers(self) -> tuple[str, ...]:
        """The names of all trackers."""
        return (self.tracker,) if isinstance(self.tracker, str) else self.tracker or ()

    @property
    def warning(self) -> str:
        """That the learning rate does not rise to its height; "" if it does."""
        if self.warmup < self.steps:
            return ""
        highest = self.rate_at(self.steps - 1)
        return (
            f"training.warmup={self.warmup} of training.steps={self.steps} updates: the learning rate rises to "
            f"{highest:.2g} of {self.learning_rate:g}; set training.warmup lower"
        )

    def rate_at(self, step: int) -> float:
        """Learning rate of update ``step`` (from 0): linear warm-up, then constant or linear to 0 at the end."""
        if step < self.warmup:
            return self.learning_rate * (step + 1) / self.warmup
        if self.schedule == "constant":
            return self.learning_rate
        return self.learning_rate * (self.steps - step) / max(1, self.steps - self.warmup)


@dataclass(frozen=True, config=STRICT)
class Config:
    """A run: three keys, and the sections."""

    run: str
    """the run folder; a folder that already holds a run is refused"""
    data: DataConfig
    training: Training
    objective: Objective = dataclasses.field(default_factory=Objective)
    vocabulary: VocabularyConfig = dataclasses.field(default_factory=VocabularyConfig)
    model: ModelSection | None = None
    decoding: Decoding = dataclasses.field(default_factory=Decoding)
    sampling: Sampling = dataclasses.field(default_factory=Sampling)
    metrics: tuple[RewardSpec, ...] = ("rouge-1", "rouge-2", "rouge-l")
    """rewards reported in validation"""
    language: LanguageCode = None
    """ISO 639-1 code of the texts, such as fr, hi or ja; it sets the words, stems, sentences and stop words of rewards
    and, for raw text, of the data; none: as for English"""

    def __post_init__(self) -> None:
        """Reject keys of different sections that do not fit each other, with every reason."""
        rewarded = self._unfit_samples() if self.objective.rewarded else self._needless()
        if faults := [*self._unfit_choice(), *self._unfit_updates(), *rewarded]:
            raise ValueError("; ".join(faults))

    def _unfit_choice(self) -> Iterator[str]:
        if self.chooses_by == "reward" and not self.objective.rewarded:
            yield "training.choose_by=reward: objective.kind=mle has no reward; use likelihood, or a metric"
        elif self.chooses_by != "likelihood" and self.training.validate_decoded == 0:
            yield (
                f"training.validate_decoded=0: the best checkpoint is chosen by {self.chooses_by} of decoded articles; "
                "decode some, for example 200"
            )

    def _unfit_updates(self) -> Iterator[str]:
        objective, training = self.objective, self.training
        together = objective.samples * training.batch_size * training.accumulate
        if objective.kind == "mixed" and objective.estimator == "reinforce++" and together < 2:
            yield f"objective.estimator=reinforce++ compares {TOO_FEW}"
        if objective.control == "shuffled" and together < 2:
            yield f"objective.control=shuffled exchanges rewards between {TOO_FEW}"
        coarse, range_ = ROUNDING.get(training.mixed_precision, 0.0), min(objective.clip or 1, objective.clip_high or 1)
        if objective.ratio == "sequence" and objective.updates_per_sample > 1 and range_ < coarse:
            yield (
                f"objective.clip={objective.clip} with ratio=sequence and updates_per_sample above 1: in "
                f"{training.mixed_precision}, rounding alone moves such a ratio by up to {coarse:g}; use "
                "objective.updates_per_sample=1, training.mixed_precision=no, or a wider range"
            )
        if training.validate_every % objective.updates_per_sample:  # the saved state holds no samples
            yield (
                f"training.validate_every={training.validate_every}: must be a multiple of "
                f"objective.updates_per_sample={objective.updates_per_sample}, because a resumed run draws new samples"
            )

    def _unfit_samples(self) -> Iterator[str]:
        if self.sampling.min_length >= (longest := self.sampling.max_length or self.decoding.max_length):
            yield (
                f"sampling.min_length={self.sampling.min_length}: must be smaller than the longest sample, "
                f"{longest} tokens; raise sampling.max_length (default: decoding.max_length)"
            )

    def _needless(self) -> Iterator[str]:
        """What an objective without samples has no use for."""
        if self.sampling != Sampling():
            yield "sampling: objective.kind=mle draws no samples; leave it out"
        for name, field in self.training.__pydantic_fields__.items():  # type: ignore[attr-defined]
            if DRAWING in field.metadata and (value := getattr(self.training, name)) != field.default:
                yield f"training.{name}={value}: objective.kind=mle draws no samples; leave it out"

    @property
    def tokenizer(self) -> Tokenizer:
        """``data.tokenizer``, by default spacy in a language without spaces, unless the model has its own."""
        subwords = self.model is not None and self.model.own_tokenizer
        unspaced = language_of(self.language).splitter == "character"
        return self.data.tokenizer or ("spacy" if unspaced and not subwords else "whitespace")

    @property
    def tokenization(self) -> Tokenization:
        """How any text becomes tokens."""
        from rlsum.data.corpus import Tokenization

        data = self.data
        return Tokenization(self.tokenizer, self.language, data.lowercase, data.max_source, data.max_target)

    @property
    def reading(self) -> tuple[Columns, Tokenization]:
        """How ``load_corpus`` reads any corpus."""
        data = self.data
        names = data.id_column, data.source_column, data.reference_column
        return Columns(*names, further=data.columns, lists=data.reference_lists), self.tokenization

    @property
    def chooses_by(self) -> RewardSpec:
        """What the best checkpoint maximises, by default the reward of rewarded runs, and else the likelihood."""
        return self.training.choose_by or ("reward" if self.objective.rewarded else "likelihood")

    def varying(self, number: int) -> dict[str, float]:
        """What differs from update to update, of update ``number`` (from 0), by its name in messages."""
        gamma = self.objective.gamma_at(number, self.training.steps)
        return {"learning rate": self.training.rate_at(number), "gamma": gamma}

    @property
    def samples_from(self) -> Sampling:
        """``sampling`` with its maximum length, by default that of ``decoding``."""
        return dataclasses.replace(self.sampling, max_length=self.sampling.max_length or self.decoding.max_length)


def load(path: str | Path, overrides: Sequence[str] = ()) -> Config:
    """Read a YAML file and apply ``section.key=value`` overrides. Raises ConfigError with every fault found.

    With ``base: other.yaml`` (a path relative to the file) a file starts from another one and states what differs.
    """
    return check(read(Path(path), overrides), str(path))


def check(values: dict[str, Any], origin: str) -> Config:
    """Make a Config of a mapping. Raises ConfigError with every fault; unknown keys with their place."""
    return check_as(Config, values, origin)


def dump(config: Config) -> str:
    """The configuration as YAML, which ``load`` reads back to an equal Config."""
    return yaml.safe_dump(TypeAdapter(Config).dump_python(config, mode="json"), sort_keys=False, allow_unicode=True)
