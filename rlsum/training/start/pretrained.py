"""How pretrained models start, whatever their kind: from the hub, a folder, or a checkpoint, which is such a folder."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import datasets
import torch

from rlsum.config import Config, ConfigError
from rlsum.data.corpus import Corpus, Tokenization
from rlsum.data.subwords import Subwords
from rlsum.models.kinds import kind_of
from rlsum.models.options import ModelConfig
from rlsum.models.pretrained import loading, lora
from rlsum.models.pretrained.loading import Family
from rlsum.models.pretrained.model import TransformersModel
from rlsum.models.pretrained.options import PretrainedConfig
from rlsum.models.pretrained.token_rules import unfollowed
from rlsum.readers.understood import quietly, say
from rlsum.training.checkpoint import Checkpoint
from rlsum.training.start.origin import Origin

if TYPE_CHECKING:
    from transformers import PreTrainedConfig

TRIAL = ("the old mill burned down on Monday night , and fire crews came late .", "the council will vote .")
TOLERANCE = 1e-2  # nats; float32 sums in another order differ far less


class PretrainedStart(ABC):
    """A ``Start`` of pretrained models of a ``family``; a kind says what its texts and its network are."""

    family: ClassVar[Family]
    kind: ClassVar[Callable[..., TransformersModel]]
    """the class of its models"""

    # ---- what a kind says -----------------------------------------------------------------------------------------

    @abstractmethod
    def text_faults(
        self, config: Config, section: PretrainedConfig, name: str, sizes: PreTrainedConfig
    ) -> Iterator[str]:
        """Why articles and references could not be read, or are too long."""

    @abstractmethod
    def subwords(self, config: Config, section: PretrainedConfig, name: str) -> Subwords:
        """What the model of a folder or hub name reads texts with."""

    # ---- Start ----------------------------------------------------------------------------------------------------

    def check(self, config: Config, origin: Origin) -> None:
        """See Start.check. The error lists every fault."""
        section, name = self._start(config, origin)
        faults = [*_data_faults(config), *loading.folder_faults(name)]
        if not loading.folder_faults(name):
            sizes = loading.load_config(name, self.family)
            faults += self.text_faults(config, section, name, sizes)
            faults += lora.faults(section.lora, sizes, self.family) if section.lora is not None else []
            faults += loading.checkpointing_faults(sizes, self.family) if section.gradient_checkpointing else []
        if faults:
            raise ConfigError("\n".join([f"{len(faults)} fault(s)", *(f"  {line}" for line in faults)]))

    def check_files(self, folder: Path) -> None:  # noqa: B027
        """See Start.check_files: transformers names what it cannot read when it loads a model."""

    def vocabulary(self, config: Config, train: Corpus) -> Subwords:
        """See Start.vocabulary: the model's own tokenizer."""
        section = section_of(config)
        return self.subwords(config, section, section.pretrained)

    def model(self, config: Config, origin: Origin, train: Corpus) -> TransformersModel:
        """See Start.model."""
        section, name = self._start(config, origin)
        made = self.built(config, section, name)
        asked = [] if origin.checkpoint else unfollowed(loading.load_generation_config(name).to_dict())
        if asked:
            say(f"{name}: generation_config.json has {', '.join(asked)}; a run's own decoding and sampling count")
        return made if origin.resumed else _on_policy(config, made)

    def load(self, checkpoint: Checkpoint, section: ModelConfig | None = None) -> TransformersModel:
        """See Start.load. Low-rank updates are merged."""
        merged = replace(_fitting_section(checkpoint, section), lora=None)
        return self.built(checkpoint.config, merged, str(checkpoint.folder))

    def built(self, config: Config, section: PretrainedConfig, name: str) -> TransformersModel:
        """The model of the folder or hub name ``name``."""
        if section.dropout is None:  # with a reward, sampling and scoring must agree
            section = replace(section, dropout=not config.objective.rewarded)
        section = section.resolved()
        network = loading.load_network(name, bool(section.dropout), self.family)
        return self.kind(section, network, loading.load_config(name, self.family), self.subwords(config, section, name))

    def _start(self, config: Config, origin: Origin) -> tuple[PretrainedConfig, str]:
        """The ``model`` section, and the folder or hub name of weights and tokenizer."""
        if origin.checkpoint is None:
            section = section_of(config)
            return section, section.pretrained
        section = section_of(config) if origin.resumed else _fitting_section(origin.checkpoint, config.model)
        return section, str(origin.checkpoint.folder)


def _data_faults(config: Config) -> list[str]:
    faults = []
    if config.data.tokenizer not in (None, "whitespace"):
        faults.append(f"data.tokenizer={config.data.tokenizer}: a pretrained model has its own tokenizer; leave it out")
    if config.data.lowercase:
        faults.append("data.lowercase=true: a pretrained model reads texts as they are written; leave it out")
    if config.vocabulary.embeddings is not None:
        faults.append(
            f"vocabulary.embeddings={config.vocabulary.embeddings}: a pretrained model has embeddings; leave it out"
        )
    return faults


def _on_policy(config: Config, model: TransformersModel) -> TransformersModel:
    """The model. Raises ConfigError if a reward would train it on other log-probabilities than it samples with."""
    if not config.objective.rewarded:
        return model
    texts = {"id": ["0", "1"], "source": list(TRIAL), "references": [[TRIAL[1]]] * 2}
    with quietly():  # these are not the user's
        rows = model.read(datasets.Dataset.from_dict(texts), Tokenization(max_source=32, max_target=32))
        batch = model.collate(rows[: config.training.batch_size])
    with torch.random.fork_rng(devices=[]):  # leaves the run's random numbers alone
        torch.manual_seed(0)
        sampling = config.samples_from
        most = min(sampling.limit, max(8, sampling.min_length + 1))
        gap = model.disagreement(batch, replace(sampling, max_length=most))
    if not gap < TOLERANCE:
        raise ConfigError(
            f"model.pretrained={model.config.pretrained}: log-probabilities of its samples differ by up to {gap:.2g} "
            f"between sampling and scoring, so objective.kind={config.objective.kind} would be off-policy; train this "
            f"{model.network.config.model_type} with objective.kind=mle, or choose another model"
        )
    return model


def _fitting_section(checkpoint: Checkpoint, section: ModelConfig | None) -> PretrainedConfig:
    """``section``, by default the stored one without its low-rank updates, which are merged into the weights.

    Raises ConfigError if it names another model, or another way to read and write texts.
    """
    stored = section_of(checkpoint.config)
    if section is None:
        return stored.continued()
    if kind_of(section) != kind_of(stored):
        changes = [f"kind={kind_of(section)}, not {kind_of(stored)}"]
    else:
        assert isinstance(section, PretrainedConfig)
        pairs = {key: (getattr(section.resolved(), key), getattr(stored, key)) for key in ("pretrained", *stored.texts)}
        changes = [f"{key}={new!r}, not {old!r}" for key, (new, old) in pairs.items() if new != old]
        if not changes:
            return section
    raise ConfigError(f"model: {'; '.join(changes)}: does not fit the weights in {checkpoint.folder}; drop the section")


def section_of(config: Config) -> PretrainedConfig:
    """The ``model`` section of a configuration of a pretrained model."""
    assert isinstance(config.model, PretrainedConfig)  # start_of has chosen this module
    return config.model
