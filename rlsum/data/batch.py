"""Batches of articles and summaries, and the rows of each: B rows, S source, T target tokens, V vocabulary."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from rlsum.data.vocabulary import EOS, PAD, UNK, Vocabulary

if TYPE_CHECKING:
    import datasets

TARGET_STEP = 4  # targets whose lengths differ by fewer tokens than this count as equally long
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


def training_lengths(rows: datasets.Dataset) -> list[tuple[int, int]]:
    """Sort keys: the length of the target, whose tokens cost a step over all articles each, then of the article."""
    targets, sources = rows["tgt_tokens"], rows["src_tokens"]
    return [(len(target) // TARGET_STEP, len(source)) for target, source in zip(targets, sources, strict=True)]


class BatchPlan:
    """The rows of the n-th batch, a pure function of the lengths (sort keys), the seed and n: resuming needs no state.

    In each epoch the rows are shuffled, sorted by length within windows and cut into batches, which are shuffled.
    """

    def __init__(self, lengths: Sequence[Any], batch_size: int, seed: int) -> None:
        self.lengths, self.batch_size, self.seed = lengths, batch_size, seed
        self.per_epoch = -(-len(lengths) // batch_size)
        self._epoch, self._batches = -1, []  # type: int, list[list[int]]

    def at(self, number: int) -> list[int]:
        """Row numbers of batch ``number`` (from 0, over all epochs)."""
        epoch, within = divmod(number, self.per_epoch)
        if epoch != self._epoch:
            self._epoch, self._batches = epoch, self._shuffle(epoch)
        return self._batches[within]

    def _shuffle(self, epoch: int) -> list[list[int]]:
        rng = random.Random(f"{self.seed}-{epoch}")
        rows = list(range(len(self.lengths)))
        rng.shuffle(rows)
        window = self.batch_size * BUCKET_BATCHES
        batches = []
        for start in range(0, len(rows), window):
            block = sorted(rows[start : start + window], key=lambda row: self.lengths[row])
            batches += [block[i : i + self.batch_size] for i in range(0, len(block), self.batch_size)]
        rng.shuffle(batches)
        return batches
