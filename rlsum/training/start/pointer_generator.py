"""How a pointer-generator starts: words counted in the training articles, sizes from the ``model`` section."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

import rewards
from rewards.encoding.vectors import SPACY, check_source, read_vectors, read_width
from rlsum.config import Config, ConfigError
from rlsum.data.corpus import Corpus, without_spaces
from rlsum.data.counts import vocabulary_of
from rlsum.data.vocabulary import SPECIALS, VOCABULARY, Vocabulary
from rlsum.models.options import ModelConfig
from rlsum.models.pointer_generator.model import PointerGenerator
from rlsum.models.pointer_generator.options import PointerGeneratorConfig
from rlsum.readers import CorpusError
from rlsum.training.checkpoint import Checkpoint, put_weights, read_weights
from rlsum.training.start.origin import Origin


class PointerGeneratorStart:
    """A ``Start`` of pointer-generators."""

    def check(self, config: Config, origin: Origin) -> None:
        """See Start.check."""
        embeddings, smoothing = config.vocabulary.embeddings, config.objective.label_smoothing
        if smoothing > 0:
            raise ConfigError(
                f"objective.label_smoothing={smoothing}: a pointer-generator has a different vocabulary for each "
                "article, so it cannot smooth labels; leave it out, or train a model of kind: seq2seq"
            )
        if origin.checkpoint is not None:
            _fitting_sizes(origin.checkpoint, config.model)
            if embeddings is not None:
                raise ConfigError(
                    f"vocabulary.embeddings={embeddings}: the checkpoint of --init has embeddings; set "
                    "vocabulary.embeddings=null"
                )
        elif embeddings is not None:
            try:
                check_embeddings(embeddings, _sizes(config).embedding)
            except rewards.RewardError as error:
                raise ConfigError(f"vocabulary.embeddings: {error}") from error

    def check_files(self, folder: Path) -> None:
        """See Start.check_files: its words."""
        Vocabulary.load(folder / VOCABULARY)

    def model(self, config: Config, origin: Origin, train: Corpus) -> PointerGenerator:
        """See Start.model. A new one has random weights, or word vectors as embeddings."""
        if origin.checkpoint is None:
            return _new(config, self.vocabulary(config, train))
        if origin.resumed:
            return PointerGenerator(_sizes(config), Vocabulary.load(origin.checkpoint.folder / VOCABULARY))
        section: ModelConfig | None = config.model
        if section is None and config.objective.rewarded:
            # sampling and scoring must agree: a reward trains without dropout unless the model section asks for it
            section = _sizes(origin.checkpoint.config).continued()
        return self.load(origin.checkpoint, section)

    def vocabulary(self, config: Config, train: Corpus) -> Vocabulary:
        """See Start.vocabulary: the words of the training articles and references."""
        return vocabulary_of(train.rows, config.vocabulary.size, config.vocabulary.min_count)

    def load(self, checkpoint: Checkpoint, section: ModelConfig | None = None) -> PointerGenerator:
        """See Start.load. ``section`` may change dropout and add coverage."""
        folder = checkpoint.folder
        network = PointerGenerator(_fitting_sizes(checkpoint, section), Vocabulary.load(folder / VOCABULARY))
        weights, _ = read_weights(folder)
        put_weights(network, weights, folder, optional={"spent_weight"})  # coverage switched on late
        return network


def _new(config: Config, known: Vocabulary) -> PointerGenerator:
    network = PointerGenerator(_sizes(config), known)
    if config.vocabulary.embeddings is not None:
        words, width = known.words[len(SPECIALS) :], network.config.embedding
        table = initial_embeddings(words, width, config.vocabulary.embeddings, config.training.seed)
        with torch.no_grad():
            network.embed.weight[len(SPECIALS) :] = torch.from_numpy(table)
    return network


def initial_embeddings(words: Sequence[str], dimension: int, path: str | Path, seed: int) -> np.ndarray:
    """The file's vectors for words it contains, random vectors for the others: (V, dimension) float32, by word.

    Random vectors are normal with mean 0 and the standard deviation of the vectors found. The same words, file and seed
    give the same table. Raises CorpusError if the vectors have another dimension or none belongs to a word, and the
    errors of rewards.encoding.vectors for a missing or broken file.
    """
    vectors = read_vectors(path, words=set(words))
    rows = {row: vectors.index[word] for row, word in enumerate(words) if word in vectors.index}
    if not rows:
        raise CorpusError(f"embeddings={str(path)!r}: has none of the {len(words)} words of the vocabulary")
    _check_width(path, vectors.width, dimension)
    from_file = vectors.table[list(rows.values())]
    noise = np.random.default_rng(seed).standard_normal((len(words), dimension), dtype=np.float32)
    table = noise * np.float32(from_file.std())
    table[list(rows)] = from_file
    return table


def check_embeddings(path: str | Path, dimension: int) -> None:
    """Raise as ``initial_embeddings`` does, but read one line only; of a spaCy pipeline only its presence."""
    if str(path).startswith(SPACY):
        check_source(path)
    else:
        _check_width(path, read_width(path), dimension)


def _check_width(path: str | Path, width: int, dimension: int) -> None:
    if width != dimension:
        raise CorpusError(
            f"embeddings={str(path)!r}: its vectors have {width} dimensions, the model {dimension}; "
            "set the embedding size to the file's or choose another file"
        )


def _fitting_sizes(checkpoint: Checkpoint, section: ModelConfig | None) -> PointerGeneratorConfig:
    """``section``, by default the stored one. Raises ConfigError if its sizes differ from those of the weights."""
    stored = _sizes(checkpoint.config)
    sizes = section or stored
    if isinstance(sizes, PointerGeneratorConfig) and sizes.spaces is None:
        sizes = replace(sizes, spaces=stored.spaces)
    if (
        not isinstance(sizes, PointerGeneratorConfig)
        or replace(sizes, dropout=stored.dropout, coverage=stored.coverage) != stored
        or stored.coverage > sizes.coverage
    ):
        raise ConfigError(
            f"model: {sizes} does not fit the weights in {checkpoint.folder}, which are {stored}; drop the section"
        )
    return sizes


def _sizes(config: Config) -> PointerGeneratorConfig:
    sizes = config.model or PointerGeneratorConfig()
    assert isinstance(sizes, PointerGeneratorConfig)  # start_of has chosen this kind
    if sizes.spaces is None and without_spaces(config.tokenizer, config.language):
        return replace(sizes, spaces=False)
    return sizes


START = PointerGeneratorStart()
