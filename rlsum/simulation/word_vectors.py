"""Word vectors from a corpus in seconds: positive pointwise mutual information and a truncated SVD.

Levy and Goldberg 2014 (Neural word embedding as implicit matrix factorization) with context smoothing (Levy, Goldberg
and Dagan 2015, section 3.1). Deterministic: no sampling, a fixed start vector, fixed signs, gzip without a time stamp.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from rlsum.errors import UserError

LEAST = 10  # times that a word must occur to have a vector
SMOOTHING = 0.75  # exponent of the probabilities of contexts
RARE = ""  # all rare words, such as invented names: a context like any other, but without a vector


class TooLittleText(UserError):
    """Fewer frequent words than dimensions."""


def train_from_corpus(corpus: Path, path: Path) -> int:
    """Train on the ``article`` texts of a JSONL corpus and write ``path``; returns the number of words."""
    with corpus.open(encoding="utf-8") as file:
        sentences = [line for row in file for line in json.loads(row)["article"].split("\n")]
    vectors = train_vectors(sentences)
    write_vectors(path, vectors)
    return len(vectors)


def train_vectors(sentences: Iterable[str], width: int = 64, window: int = 3) -> dict[str, NDArray[np.float32]]:
    """Unit vectors ``(width,)`` of all alphabetic words seen LEAST times or more, lower-cased, most frequent first.

    ``sentences`` are tokens joined by white space; a context is ``window`` words to either side within a sentence.
    Raises TooLittleText if fewer than ``width`` + 1 words are frequent enough.
    """
    texts = [sentence.lower().split() for sentence in sentences]
    counts = Counter(token for text in texts for token in text)
    kept = sorted((token for token in counts if counts[token] >= LEAST), key=lambda token: (-counts[token], token))
    if len(kept) <= width:
        raise TooLittleText(
            f"{len(kept)} words occur {LEAST} times or more, too few for width={width}; train on more text"
        )
    index = {token: row for row, token in enumerate([*kept, RARE])}
    table = _factor(_ppmi(_cooccurrences(texts, index, window)), width)
    norms = np.linalg.norm(table, axis=1, keepdims=True)
    table = (table / np.where(norms > 0, norms, 1.0)).astype(np.float32)
    return {token: table[index[token]] for token in kept if token.isalpha()}


def write_vectors(path: Path, vectors: Mapping[str, NDArray[np.float32]]) -> None:
    """Write word2vec text, gzipped if the name ends in .gz; equal vectors give equal bytes."""
    width = len(next(iter(vectors.values())))
    lines = [f"{len(vectors)} {width}"]
    lines += [word + " " + " ".join(f"{value:.5f}" for value in vector) for word, vector in vectors.items()]
    data = ("\n".join(lines) + "\n").encode()
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)


def _cooccurrences(texts: Iterable[Sequence[str]], index: Mapping[str, int], window: int) -> csr_array:
    """Symmetric counts ``(n, n)`` of words within ``window`` tokens of each other in a sentence."""
    from scipy.sparse import coo_array

    rows = [np.array([index.get(token, index[RARE]) for token in text], dtype=np.intp) for text in texts]
    pairs = [(row[:-step], row[step:]) for row in rows for step in range(1, min(window, len(row) - 1) + 1)]
    left, right = (np.concatenate(side) for side in zip(*pairs, strict=True))
    size = len(index)
    one_way = coo_array((np.ones(len(left)), (left, right)), shape=(size, size)).tocsr()
    return (one_way + one_way.T).tocsr()


def _ppmi(counts: csr_array) -> csr_array:
    """``max(0, log p(w, c) / (p(w) p(c)))`` with context probabilities raised to SMOOTHING."""
    total = np.asarray(counts.sum(axis=1)).ravel()
    context = total**SMOOTHING / (total**SMOOTHING).sum()
    table = counts.tocoo()
    row, column = table.coords
    ratio = np.log(table.data / (total[row] * context[column]))
    table.data = np.maximum(ratio, 0.0)
    return table.tocsr()


def _factor(matrix: csr_array, width: int) -> NDArray[np.float64]:
    """``U sqrt(S)`` of the leading ``width`` singular triplets, largest first; each column's largest entry positive."""
    from scipy.sparse.linalg import svds

    left, values, _ = svds(matrix, k=width, v0=np.ones(matrix.shape[0]))
    order = np.argsort(-values)
    left, values = left[:, order], values[order]
    signs = np.sign(left[np.abs(left).argmax(axis=0), np.arange(width)])
    return left * signs * np.sqrt(values)
