"""Batches of articles and summaries, and the rows of each: B rows, S source, T target tokens, V vocabulary."""

from __future__ import annotations

import json
import random
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from rlsum.data.vocabulary import EOS, PAD, UNK, Vocabulary

BUCKET_BATCHES = 50  # rows are sorted by length within windows of this many batches: little padding, still shuffled


@dataclass(frozen=True)
class Batch:
    """Articles, their summaries, and the texts that rewards need.

    src           (B, S) int64, unknown words are UNK, padded with PAD
    src_extended  (B, S) int64, extended ids (see Vocabulary)
    src_lengths   (B,) int64; 0 for an empty article
    target        (B, T) int64, extended ids ending in one of ``ends``, padded with ``pad``
    unknown       the unknown words of each article; none for subwords, where src_extended is src
    columns       the further columns of each article, for rewards that read them
    pad, ends     the padding id of targets, and the ids that end a text
    """

    src: Tensor
    src_extended: Tensor
    src_lengths: Tensor
    target: Tensor
    unknown: tuple[tuple[str, ...], ...]
    ids: tuple[str, ...]
    sources: tuple[str, ...]
    references: tuple[tuple[str, ...], ...]
    columns: tuple[Mapping[str, Any], ...]
    pad: int = PAD
    ends: tuple[int, ...] = (EOS,)

    def __len__(self) -> int:
        return len(self.src)

    def to(self, device: torch.device | str) -> Batch:
        """The same batch on a device."""
        tensors: dict[str, Any] = {
            name: getattr(self, name).to(device) for name in ("src", "src_extended", "src_lengths", "target")
        }
        return replace(self, **tensors)


def collate(rows: dict[str, list[Any]], vocabulary: Vocabulary) -> Batch:
    """A batch from columns of ``Corpus.rows[i:j]``. A cut target gets no end token, which would teach to stop early."""
    extended, unknown, targets = [], [], []
    for src_tokens, tgt_tokens, whole in zip(rows["src_tokens"], rows["tgt_tokens"], rows["tgt_whole"], strict=True):
        ids, oov = vocabulary.extend(src_tokens)
        extended.append(ids)
        unknown.append(oov)
        targets.append([*vocabulary.encode_target(tgt_tokens, oov), *([EOS] if whole else [])])
    src_extended = pad(extended)
    return Batch(
        src=src_extended.masked_fill(src_extended >= len(vocabulary), UNK),
        src_extended=src_extended,
        src_lengths=torch.tensor([len(ids) for ids in extended]),
        target=pad(targets),
        unknown=tuple(unknown),
        **batch_texts(rows),
    )


def batch_texts(rows: dict[str, list[Any]]) -> dict[str, Any]:
    """The fields of a Batch for rewards: ids, sources, references, and the further columns of ``data.columns``."""
    return {
        "ids": tuple(rows["id"]),
        "sources": tuple(rows["source"]),
        "references": tuple(tuple(texts) for texts in rows["references"]),
        "columns": tuple(map(json.loads, rows["columns"])) if "columns" in rows else ({},) * len(rows["id"]),
    }


def pad(rows: Sequence[Sequence[int]], with_id: int = PAD) -> Tensor:
    """(B, longest) int64, padded on the right, with at least one column."""
    width = max(1, max(len(row) for row in rows))
    return torch.tensor([[*row, *[with_id] * (width - len(row))] for row in rows])


class BatchPlan:
    """The rows of the n-th batch, a pure function of the lengths (sort keys), the seed and n: resuming needs no state.

    In each epoch the rows are shuffled, sorted by length within windows and cut into batches, which are shuffled.
    A batch is that of an update on all processes; ``Trainer`` cuts it into those that it computes at once.
    """

    def __init__(self, lengths: ArrayLike, batch_size: int, seed: int) -> None:
        self.lengths, self.batch_size, self.seed = np.asarray(lengths), batch_size, seed
        self.per_epoch = -(-len(self.lengths) // batch_size)
        self._epoch, self._rows, self._batches = -1, _shuffled(0, random.Random()), _shuffled(0, random.Random())

    def at(self, number: int) -> list[int]:
        """Row numbers of batch ``number`` (from 0, over all epochs)."""
        epoch, within = divmod(number, self.per_epoch)
        if epoch != self._epoch:
            self._shuffle(epoch)
        start = int(self._batches[within]) * self.batch_size
        rows: list[int] = self._rows[start : start + self.batch_size].tolist()
        return rows

    def _shuffle(self, epoch: int) -> None:
        rng = random.Random(f"{self.seed}-{epoch}")
        self._epoch, self._rows = epoch, _shuffled(len(self.lengths), rng)
        window = self.batch_size * BUCKET_BATCHES
        for start in range(0, len(self._rows), window):
            block = self._rows[start : start + window]
            block[:] = block[np.argsort(self.lengths[block], kind="stable")]
        self._batches = _shuffled(self.per_epoch, rng)


def _shuffled(size: int, rng: random.Random) -> NDArray[np.uint32]:
    """The numbers below ``size`` in the order that Python's shuffle gives a list of them, in four bytes each."""
    numbers = array("I", range(size))
    rng.shuffle(numbers)
    return np.frombuffer(numbers, np.uint32)
