"""The configuration of a comparison, read from YAML and ``key=value``. All faults are reported at once.

In every text of the file ``{folder}`` is the folder of the comparison.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Field, TypeAdapter
from pydantic.dataclasses import dataclass

from rewards.base import in_language
from rewards.options import nearest
from rewards.specs import as_spec
from rlsum.config import Config, DataConfig, LanguageCode
from rlsum.errors import ConfigError
from rlsum.generation.options import Picking
from rlsum.models.decoding import Limits, Search, Warping
from rlsum.models.kinds import KINDS, kind_of
from rlsum.objective import STRICT, Control, RewardSpec
from rlsum.sections import check_as, known_keys, left_open
from rlsum.yaml_files import base_of, locate, merge, read

CONTROLS: tuple[Control, ...] = get_args(Control)
ALL_CONTROLS: tuple[Literal["none"] | Control, ...] = ("none", *CONTROLS)
STANDARD = ("rouge-1", "rouge-2", "rouge-lsum")
NAME = re.compile(r"[A-Za-z0-9][\w+-]*")  # names become names of files
# In every run, by the comparison.
SET = ("run", "language", "training.seed", "objective.reward", "objective.control", "metrics")
RESERVED = ("start", *ALL_CONTROLS)
RECORD = "comparison.yaml"  # in the folder of a comparison: `as_mapping`
SIMULATED = ("lead-3", "oracle")  # rows of outputs that the simulator writes
# In the types of keys that may change after a comparison has begun
MAY_CHANGE = "may change later: no file that exists depends on it"
MAY_GROW = "members may come and go later, but one that stays must not change"


def _trained(value: object) -> object:
    """A reward may be written alone, without a scale."""
    plain = isinstance(value, str) or (isinstance(value, Mapping) and "name" in value)
    return {"reward": value} if plain else value


@dataclass(frozen=True, config=STRICT)
class Simulated:
    """The simulated corpus in ``{folder}/data``."""

    seed: int = 1
    train: int = Field(default=4000, ge=1)
    """stories of this split; so valid and test"""
    valid: int = Field(default=200, ge=1)
    test: int = Field(default=500, ge=1)
    vectors: bool = True
    """whether word vectors are trained on it"""


@dataclass(frozen=True, config=STRICT)
class Trained:
    """A reward to train on."""

    reward: RewardSpec
    scale: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    """its ``objective.reward_scale``; none: that of the cell's configuration"""


@dataclass(frozen=True, config=STRICT)
class Decode(left_open(Search, Limits)):  # type: ignore[misc]
    """Options of ``rlsum generate`` by which every model is decoded; None: the run's."""

    batch_size: int = Field(default=32, ge=1)


@dataclass(frozen=True, config=STRICT)
class Choosing(Picking, left_open(Limits, Warping)):  # type: ignore[misc]
    """A row whose summaries are chosen among samples of the start instead of trained for."""

    best_of: int | None = Field(default=None, ge=2)
    batch_size: int = Field(default=32, ge=1)

    def __post_init__(self) -> None:
        """Reject all but one way of choosing."""
        if (self.best_of is None) == (self.mbr is None):
            raise ValueError("name one of best_of and mbr, such as {best_of: 8, by: REWARD}")
        if (self.best_of is None) != (self.by is None) or (self.mbr is None) != (self.samples is None):
            raise ValueError("best_of needs by, a reward; mbr needs samples, their number")


@dataclass(frozen=True, config=STRICT)
class Comparison:
    """What is compared."""

    folder: str
    """of everything that the comparison writes"""
    cell: dict[str, Any]
    """what the configurations of all cells share, without run, reward, seed and metrics"""
    start: str | dict[str, Any]
    """a run to begin from (with ``{seed}`` in it one a seed), or the configuration of its training"""
    rewards: Annotated[dict[str, Annotated[Trained, BeforeValidator(_trained)]], Field(min_length=1), MAY_GROW]
    """name -> reward to train on, or {reward: ..., scale: ...} with its objective.reward_scale"""
    test: str = ""
    """articles that every model summarizes"""
    test_limit: int | None = Field(default=None, ge=1)
    """at most this many of them, the first"""
    test_split: str = "test"
    """the split of ``test``, where there are several"""
    simulate: Simulated | None = None
    """write the simulated corpus, in place of data and test: {seed: 1, train: 4000, valid: 200, test: 500, vectors:
    true}"""
    data: dict[str, Any] = field(default_factory=dict)
    """the data section of all runs"""
    variants: Annotated[dict[str, dict[str, Any]], MAY_GROW] = field(default_factory=dict)
    """name -> sections that differ from ``cell``, such as rloo: {objective: {estimator: rloo, samples: 4}}; each reward
    is trained with each"""
    seeds: Annotated[tuple[int, ...], MAY_CHANGE] = (1, 2, 3)
    """of training"""
    controls: Annotated[tuple[Literal["none"] | Control, ...], MAY_CHANGE] = ("none", "shuffled", "constant")
    """none: continued likelihood; the others: of the rewards in ``controls_of`` (constant: with the mean advantage in
    the log of the run that it is a control of)"""
    controls_of: Annotated[tuple[str, ...] | None, MAY_CHANGE] = None
    """default: the first reward"""
    decoding: Annotated[dict[str, Decode], MAY_GROW] = field(default_factory=lambda: {"beam": Decode(beam=5)})
    """name -> options of ``rlsum generate``, such as {beam: 5}; the first is that of the main tables"""
    metrics: Annotated[tuple[RewardSpec, ...], MAY_CHANGE] = STANDARD
    """further test metrics; every reward is one already"""
    choosing: Annotated[dict[str, Choosing], MAY_GROW] = field(default_factory=dict)
    """name -> {best_of: 8, by: REWARD} or {mbr: REWARD, samples: 8}, a row of summaries chosen among samples of the
    start"""
    outputs: Annotated[dict[str, str], MAY_GROW] = field(default_factory=dict)
    """name -> file of outputs for the same articles, shown as a row"""
    compared_with: Annotated[str | None, MAY_CHANGE] = None
    """a further row, besides start and control, that all rows are compared with"""
    correlation: Annotated[str | None, MAY_CHANGE] = None
    """report.json of `rlsum correlate`, for the chain from agreement to preference"""
    study: Annotated[str | None, MAY_CHANGE] = None
    """results.json of `rlsum human-eval analyse`, for the chain"""
    margin: Annotated[float | None, MAY_CHANGE] = Field(default=None, gt=0)
    """a loss that still counts as "no worse", of scores from 0 to 1, such as 0.01; None: no such verdict"""
    clean: Annotated[bool | None, MAY_CHANGE] = None
    """score and measure all rows, and the test metrics alone, without what is no part of a text, see ``cleaned``; none:
    where a model answers a prompt, and is trained so (``model.clean``)"""
    language: LanguageCode = None
    """ISO 639-1 code of the texts, such as fr, hi or ja: `language` of every run, and of the test metrics"""
    launcher: Annotated[str, MAY_CHANGE] = ""
    """what starts a training, such as ``accelerate launch --num_processes 4``, or on processors ``env
    ACCELERATE_USE_CPU=true torchrun --nproc_per_node 2``"""

    def __post_init__(self) -> None:
        """Reject keys that do not fit each other, with every reason."""
        faults = []
        reserved = RESERVED if self.simulate is None else (*RESERVED, *SIMULATED)
        for key in marked(MAY_GROW):
            for name in getattr(self, key):
                if not NAME.fullmatch(name):
                    faults.append(f"{key}: {name!r} cannot be part of a file name; use letters, digits, _ + -")
                elif key != "decoding" and name in reserved:
                    faults.append(f"{key}: {name!r} is the name of another row; choose a different one")
        rows = [*self.rewards, *self.choosing, *self.outputs]
        faults += [f"{name!r} names two rows; rename one" for name in dict.fromkeys(rows) if rows.count(name) > 1]
        for name in self.controls_of or ():
            if name not in self.rewards:
                faults.append(f"controls_of: {name!r} is not one of rewards{nearest(name, list(self.rewards))}")
        if not self.seeds or len(set(self.seeds)) < len(self.seeds):
            faults.append(f"seeds={list(self.seeds)}: give one or more, all different")
        if not self.decoding:
            faults.append("decoding: empty; give at least one way, such as {beam: {beam: 5}}")
        if self.simulate is None and not self.test:
            faults.append("test: missing; give the file of articles to summarize, or simulate a corpus")
        if self.simulate is not None and (self.test or {"train", "valid"} & set(self.data)):
            faults.append("simulate: writes train, valid and test; leave out test, data.train and data.valid")
        try:
            shlex.split(self.launcher)
        except ValueError as error:
            faults.append(f"launcher={self.launcher!r}: {error}")
        sections = {"cell": self.cell, "start": self.start}
        sections |= {f"variants.{name}": section for name, section in self.variants.items()}
        for key, section in sections.items():
            faults += [f"{key}.{name}: set by the comparison; leave it out" for name in SET if _holder(section, name)]
        if faults:
            raise ValueError("; ".join(faults))

    @property
    def specs(self) -> dict[str, RewardSpec]:
        """The test metrics by name: the rewards, then the further ones."""
        rewards = {name: trained.reward for name, trained in self.rewards.items()}
        reward_specs = [as_spec(spec) for spec in rewards.values()]
        further = [spec for spec in self.metrics if as_spec(spec) not in reward_specs]
        names = [as_spec(spec).name for spec in further]
        taken = [*rewards, *names]
        labels = [
            name if taken.count(name) == 1 else str(as_spec(spec)) for name, spec in zip(names, further, strict=True)
        ]
        specs = rewards | dict(zip(labels, further, strict=True))
        if self.language is None:
            return specs
        return {name: in_language(spec, self.language).plain() for name, spec in specs.items()}

    @property
    def cleans(self) -> bool:
        """Whether summaries are scored without what is no part of a text."""
        if self.clean is not None:
            return self.clean
        models = [section.get("model") for section in (self.start, self.cell) if isinstance(section, dict)]
        kinds = [(KINDS.get(kind_of(model)), model) for model in models if isinstance(model, dict)]
        return self._start_cleans() or any(
            model.get("clean", kind.options.clean) for kind, model in kinds if kind is not None
        )

    def _start_cleans(self) -> bool:
        """Whether the start is a run, or a checkpoint, of a model that answers a prompt."""
        if not isinstance(self.start, str):
            return False
        from rlsum.training.checkpoint import described

        stored = described(self.start.replace("{seed}", str(self.seeds[0])))
        return stored is not None and stored.config.model is not None and stored.config.model.clean

    @property
    def scored(self) -> dict[str, RewardSpec]:
        """The test metrics as they are computed."""
        cleaned = self.cleans and [name for name, spec in self.specs.items() if as_spec(spec).name != "cleaned"]
        return self.specs | {name: {"name": "cleaned", "reward": self.specs[name]} for name in cleaned or ()}

    @property
    def ways(self) -> dict[str, Decode | Choosing]:
        """Every way of decoding and of choosing, by its place in the file."""
        decoding = {f"decoding.{name}": how for name, how in self.decoding.items()}
        return {**decoding, **{f"choosing.{name}": how for name, how in self.choosing.items()}}

    @property
    def control_rewards(self) -> tuple[str, ...]:
        """The rewards with shuffled and constant controls."""
        return tuple(dict.fromkeys(self.controls_of if self.controls_of is not None else [*self.rewards][:1]))

    @property
    def test_articles(self) -> str:
        """The file, folder or hub name of the articles to summarize."""
        return self.test or str(Path(self.folder) / "data" / "test.jsonl")


def marked(mark: str) -> list[str]:
    """The keys of a comparison whose types have the mark."""
    declared: dict[str, Any] = vars(Comparison)["__pydantic_fields__"]
    return [name for name, field in declared.items() if mark in field.metadata]


def load(path: Path, overrides: Sequence[str] = ()) -> Comparison:
    """Read a YAML file, or one that is named, and apply overrides. Raises ConfigError with every fault found.

    ``start`` and ``cell`` may build on others with ``base``: a file relative to this one, or a name.
    """
    values = read(path, overrides)
    # the record of a folder also holds what the bases say of the data
    if path.name != RECORD and (faults := list(_overridden(values))):
        raise ConfigError(f"{path}: {len(faults)} fault(s)\n" + "\n".join(f"  {line}" for line in faults))
    for key in ("start", "cell"):
        section = values.get(key)
        if isinstance(section, dict):
            inherited = base_of(section, locate(path).resolve(), f"{key}.base")
            for name in SET:
                if holder := _holder(inherited, name):
                    del holder[name.rpartition(".")[2]]
            values[key] = merge(inherited, section)
    return check(_filled(values, str(values.get("folder"))), str(path))


def trained_on(comparison: Comparison, names: Sequence[str]) -> Comparison:
    """The comparison with some of its rewards alone; the others remain test metrics. Each of them has its controls."""
    others = tuple(trained.reward for name, trained in comparison.rewards.items() if name not in names)
    kept = {name: comparison.rewards[name] for name in names}
    return replace(comparison, rewards=kept, metrics=(*comparison.metrics, *others), controls_of=tuple(names))


def check(values: dict[str, Any], origin: str) -> Comparison:
    """Make a Comparison of a mapping. Raises ConfigError with every fault; unknown keys with their place."""
    return check_as(Comparison, values, origin, _keys_of_runs())


def _keys_of_runs() -> list[str]:
    """The keys of a run, where a comparison has them."""
    shared = [key for key in known_keys(Config) if key not in SET]
    return [*known_keys(DataConfig, "data."), *(f"{key}.{name}" for key in ("start", "cell") for name in shared)]


def as_mapping(comparison: Comparison) -> dict[str, Any]:
    """The comparison as plain values, which ``check`` reads back to an equal one."""
    values: dict[str, Any] = TypeAdapter(Comparison).dump_python(comparison, mode="json")
    return values


def options(section: Decode | Choosing) -> list[str]:
    """The options of ``rlsum generate`` that a section sets, as its command line reads them."""
    words: list[str] = []
    declared: dict[str, Any] = vars(type(section))["__pydantic_fields__"]
    for name, option in declared.items():
        value, flag = getattr(section, name), name.replace("_", "-")
        if option.annotation is bool:  # a switch, without --no-
            words += [f"--{flag}"] if value else []
        elif isinstance(value, bool) and option.annotation == bool | None:
            words += [f"--{flag}" if value else f"--no-{flag}"]
        elif value is not None:
            members = value if isinstance(value, tuple) else (value,)
            words += [word for member in members for word in (f"--{flag}", _written(member))]
    return words


def _written(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _filled(value: Any, folder: str) -> Any:
    """The value with ``{folder}`` replaced in every text."""
    if isinstance(value, dict):
        return {key: _filled(member, folder) for key, member in value.items()}
    if isinstance(value, list):
        return [_filled(member, folder) for member in value]
    return value.replace("{folder}", folder) if isinstance(value, str) else value


def _overridden(values: Mapping[str, Any]) -> Iterator[str]:
    """What ``start`` and ``cell`` say of the data in vain, other than by their base; each with the reason."""
    data = values.get("data")
    setters = dict.fromkeys(data if isinstance(data, Mapping) else (), "data sets it for all runs")
    if values.get("simulate") is not None:
        setters |= dict.fromkeys(("train", "valid"), "simulate sets it for all runs")
    for key in ("start", "cell"):
        section = values.get(key)
        keys = section.get("data") if isinstance(section, Mapping) else None
        for name in keys if isinstance(keys, Mapping) else ():
            if name in setters:
                yield f"{key}.data.{name}: {setters[name]}; leave it out here"


def _holder(values: Any, key: str) -> dict[str, Any] | None:
    """The section that has the key ``section.name``; None if it is not set."""
    *sections, last = key.split(".")
    for section in sections:
        values = values.get(section) if isinstance(values, dict) else None
    return values if isinstance(values, dict) and last in values else None
