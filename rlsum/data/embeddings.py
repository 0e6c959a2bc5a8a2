"""Initial word embeddings for a vocabulary, from a text file of word2vec, GloVe or fastText."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rewards.encoding.vectors import SPACY, check_source, read_vectors, read_width
from rlsum.readers import CorpusError


def initial_embeddings(
    vocabulary_words: Sequence[str], dimension: int, path: str | Path, seed: int
) -> tuple[np.ndarray, float]:
    """The file's vectors for words it contains, random vectors for the others.

    Random vectors are normal with mean 0 and the standard deviation of the vectors found. The same words, file and seed
    give the same table. Returns the table (V, dimension) float32 in the order of the words, and the share of words
    found, in (0, 1]. Raises CorpusError if the vectors have another dimension or none belongs to a word, and the errors
    of rewards.encoding.vectors for a missing or broken file.
    """
    vectors = read_vectors(path, words=set(vocabulary_words))
    found = [(row, vectors.index[word]) for row, word in enumerate(vocabulary_words) if word in vectors.index]
    if not found:
        raise CorpusError(f"embeddings={str(path)!r}: has none of the {len(vocabulary_words)} words of the vocabulary")
    _check_width(path, vectors.width, dimension)
    rows, file_rows = map(list, zip(*found, strict=True))
    known = vectors.table[file_rows]
    noise = np.random.default_rng(seed).standard_normal((len(vocabulary_words), dimension), dtype=np.float32)
    table = noise * np.float32(known.std())
    table[rows] = known
    return table, len(found) / len(vocabulary_words)


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
