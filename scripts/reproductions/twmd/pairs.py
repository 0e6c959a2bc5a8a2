"""Judged pairs of sentences, scored by many metrics at once, and correlations within groups."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from reproductions.estimate import Estimate, estimate
from reproductions.twmd.metrics import EncoderSetup, Metric
from rewards.base import Reward
from rewards.embedding.corpus_statistics import digest
from rewards.embedding.space import OFFICIAL_BATCH
from rewards.encoding.encoder import Encoder
from rewards.encoding.layers import Layer
from rlsum.errors import UserError
from rlsum.evaluation.rows import Floats, members
from rlsum.files import write_atomically
from rlsum.judgments.collection import Judgments
from rlsum.judgments.records import Judgment

Measured = Mapping[Metric, Mapping[str, Mapping[str, Estimate]]]  # -> group -> correlation
SCORE = "overall"
PART = 64 * OFFICIAL_BATCH  # pairs whose vectors the encoder's cache holds; batches of batch centering stay whole


@dataclass(frozen=True, eq=False)
class SentencePairs:
    """n pairs of sentences with human scores ``human`` ``(n,)``; ``groups`` are language pairs or subtasks."""

    name: str
    candidates: tuple[str, ...]
    references: tuple[str, ...]
    human: Floats
    groups: tuple[str, ...]
    inputs: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.candidates)

    def group_rows(self) -> dict[str, list[int]]:
        """The indices of the pairs of each group."""
        return {group: rows.tolist() for group, rows in members(self.groups).items()}


def pairs_of(judgments: Judgments, name: str, limit: int | None = None) -> SentencePairs:
    """The judgments with a score, the first ``limit`` of each group.

    Pairs of a group are sorted by segment number, and those of one segment stay in the order of the file. Batch
    centering uses consecutive pairs, which should not depend on the order of the systems in a table.

    Raises UserError for a judgment without exactly one reference.
    """
    grouped: dict[str, list[Judgment]] = {}
    for row in judgments.rows:
        if row.scores.get(SCORE) is None:
            continue
        if len(row.references) != 1:
            raise UserError(f"{judgments.name}: {row.id!r} has {len(row.references)} references; one is needed")
        grouped.setdefault(row.group, []).append(row)
    kept = [(row, group) for group, rows in grouped.items() for row in sorted(rows, key=_segment)[:limit]]
    if not kept:
        raise UserError(f"{judgments.name}: no judgment has a score {SCORE!r}")
    return SentencePairs(
        name,
        tuple(row.candidate for row, _ in kept),
        tuple(row.references[0] for row, _ in kept),
        np.array([row.scores[SCORE] for row, _ in kept], dtype=np.float64),
        tuple(group for _, group in kept),
        tuple(row.id for row, _ in kept),
    )


def _segment(row: Judgment) -> int:
    """The number at the end of ``2017/cs-en/33``; 0 without one, which keeps the order of the file."""
    last = row.id.rsplit("/", 1)[-1]
    return int(last) if last.isdecimal() else 0


def score_all(rewards: Sequence[Reward], candidates: Sequence[str], references: Sequence[str]) -> Floats:
    """``(metrics, n)``: every metric's scores of n pairs, each text encoded once for the metrics of one layer."""
    values = np.empty((len(rewards), len(candidates)))
    for start in range(0, len(candidates), PART):
        rows = slice(start, start + PART)
        listed = [[reference] for reference in references[rows]]
        for row, reward in enumerate(rewards):
            values[row, rows] = reward(candidates[rows], listed)
    return values


def scores(
    pairs: SentencePairs, rewards: Sequence[Reward], by_length: Encoder | None = None, cache: Path | None = None
) -> Floats:
    """``(metrics, n)``. Batches of batch centering stay within a group.

    With ``by_length`` each group is first sorted by the tokens of both sentences, so that batches hold pairs of similar
    length. The folder ``cache`` keeps the scores of each group by the metric's signature and the texts.
    """
    values = np.full((len(rewards), len(pairs)), np.nan)
    for rows in pairs.group_rows().values():
        if by_length is not None:
            ids = by_length.ids([pairs.candidates[row] + " " + pairs.references[row] for row in rows])
            rows = [rows[index] for index in np.argsort([len(tokens) for tokens in ids], kind="stable")]
        texts = [pairs.candidates[row] for row in rows], [pairs.references[row] for row in rows]
        values[:, rows] = score_all(rewards, *texts) if cache is None else _cached(cache, rewards, *texts)
    return values


def _cached(folder: Path, rewards: Sequence[Reward], candidates: Sequence[str], references: Sequence[str]) -> Floats:
    """`score_all` with one file per metric in ``folder``, which is read if it exists and else written."""
    files = [folder / f"{digest([reward.signature, *candidates, *references])}.npy" for reward in rewards]
    missing = [index for index, file in enumerate(files) if not file.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    values = score_all([rewards[index] for index in missing], candidates, references)
    for index, row in zip(missing, values, strict=True):
        content = io.BytesIO()
        np.save(content, row)
        write_atomically(files[index], content.getvalue())
    return np.stack([np.load(file) for file in files])


def correlations(
    pairs: SentencePairs, scores: Floats, statistic: str, resamples: int, seed: int = 0
) -> dict[str, Estimate]:
    """The correlation of ``scores`` ``(n,)`` with people in each group; the bootstrap draws whole inputs."""
    return {
        group: estimate(
            pairs.human[rows], scores[rows], [pairs.inputs[row] for row in rows], statistic, resamples, seed + number
        )
        for number, (group, rows) in enumerate(pairs.group_rows().items())
    }


def measure(
    setup: EncoderSetup,
    pairs: SentencePairs,
    metrics: Sequence[Metric],
    statistics: Sequence[str] = ("pearson",),
    special_tokens: str = "first",
    layer: Layer = None,
    by_length: Encoder | None = None,
) -> Measured:
    """The correlations of every metric by group; Pearson's have bootstrap draws."""
    rewards = [metric.reward(setup, special_tokens, layer) for metric in metrics]
    values = scores(pairs, rewards, by_length, setup.cache)
    return {
        metric: {
            name: correlations(pairs, row, name, setup.resamples if name == "pearson" else 0, setup.seed)
            for name in statistics
        }
        for metric, row in zip(metrics, values, strict=True)
    }
