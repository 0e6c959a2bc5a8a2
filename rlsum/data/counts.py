"""What is counted in the rows of a corpus from Arrow's memory, which lies in files: no Python object a token."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import datasets
import numpy as np
import pyarrow
import pyarrow.compute
from numpy.typing import NDArray

from rlsum.data.remembered import counted, remembered
from rlsum.data.vocabulary import Vocabulary

BLOCK = 10_000  # rows whose words a thread counts at once
AT_ONCE = 16 * BLOCK  # whose words wait at most to be put together
TARGET_STEP = 4  # targets whose lengths differ by fewer tokens than this count as equally long


def column_of(rows: datasets.Dataset, name: str) -> pyarrow.ChunkedArray:
    """A column of the rows."""
    column = rows.data.column(name)
    return column if rows._indices is None else column.take(rows._indices.column(0))


def token_counts(rows: datasets.Dataset, name: str) -> NDArray[np.int32]:
    """The number of items of each list in a column, (n,)."""
    counts = pyarrow.compute.list_value_length(rows.data.column(name)).to_numpy().astype(np.int32)
    return counts if rows._indices is None else counts[rows._indices.column(0).to_numpy()]


def training_lengths(rows: datasets.Dataset) -> NDArray[np.int64]:
    """Sort keys (n,): the length of the target, whose tokens cost a step over all articles, then of the article."""
    targets, sources = (token_counts(rows, name).astype(np.int64) for name in ("tgt_tokens", "src_tokens"))
    return (targets // TARGET_STEP << 32) + sources


def vocabulary_of(rows: datasets.Dataset, size: int, min_count: int) -> Vocabulary:
    """The ``Vocabulary`` of the articles and first references of a corpus; counted once: see ``remembered``."""

    def count() -> list[tuple[str, int]]:
        counts: Counter[str] = Counter()
        with ThreadPoolExecutor() as threads:  # Arrow counts without Python's lock
            for start in counted(range(0, len(rows), AT_ONCE), "vocabulary"):
                starts = range(start, min(start + AT_ONCE, len(rows)), BLOCK)
                for block in threads.map(partial(_words, rows), starts):
                    counts.update(block)
        built = Vocabulary.of_counts(counts, size, min_count)
        return list(zip(built.words, built.counts, strict=True))

    entries = remembered("vocabulary", (rows._fingerprint, size, min_count), count)
    return Vocabulary(tuple(word for word, _ in entries), tuple(count for _, count in entries))


def _words(rows: datasets.Dataset, start: int) -> dict[str, int]:
    """The words of a block of rows, and how often they occur."""
    block = rows.with_format("arrow")[start : start + BLOCK]
    columns = (pyarrow.compute.list_flatten(block[name]) for name in ("src_tokens", "tgt_tokens"))
    chunks = [chunk for column in columns for chunk in column.chunks]
    words, times = pyarrow.compute.value_counts(pyarrow.chunked_array(chunks, pyarrow.string())).flatten()
    return dict(zip(words.to_pylist(), times.to_pylist(), strict=True))
