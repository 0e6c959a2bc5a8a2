"""Judged pairs of sentences, scored by many metrics at once and correlated within their groups."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reproductions.estimate import Estimate, estimate
from reproductions.together import score_together
from reproductions.twmd.metrics import Metric, Setting
from rewards.embedding.corpus_statistics import digest
from rewards.embedding.reward import EmbeddingReward
from rewards.encoding.encoder import Encoder
from rewards.encoding.layers import Layer
from rlsum.errors import UserError
from rlsum.evaluation.weighted import Statistic
from rlsum.files import write_atomically
from rlsum.judgments.collection import Judgments
from rlsum.judgments.records import Judgment

Floats = NDArray[np.float64]
Measured = Mapping[Metric, Mapping[Statistic, Mapping[str, Estimate]]]  # -> group -> correlation
SCORE = "overall"


@dataclass(frozen=True, eq=False)
class Pairs:
    """n pairs with a human score each, ``human`` ``(n,)``; ``groups`` are language pairs or subtasks."""

    name: str
    candidates: tuple[str, ...]
    references: tuple[str, ...]
    human: Floats
    groups: tuple[str, ...]
    inputs: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.candidates)

    def places(self) -> dict[str, list[int]]:
        """Where the pairs of each group are."""
        found: dict[str, list[int]] = {}
        for place, group in enumerate(self.groups):
            found.setdefault(group, []).append(place)
        return found


def pairs_of(judgments: Judgments, name: str, limit: int | None = None, yearly: bool = False) -> Pairs:
    """The judgments that have a score, the first ``limit`` of each group; ``yearly`` groups are ``2016/cs-en``.

    Within a group pairs come by the numbers of their segments, those of one segment in the file's order: the batches of
    batch centering are consecutive pairs, and should not depend on how somebody ordered the systems of a table.

    Raises UserError for a judgment without exactly one reference.
    """
    grouped: dict[str, list[Judgment]] = {}
    for row in judgments.rows:
        if row.scores.get(SCORE) is None:
            continue
        if len(row.references) != 1:
            raise UserError(f"{judgments.name}: {row.id!r} has {len(row.references)} references; one is needed here")
        grouped.setdefault(f"{row.id.split('/')[0]}/{row.group}" if yearly else row.group, []).append(row)
    kept = [(row, group) for group, rows in grouped.items() for row in sorted(rows, key=_segment)[:limit]]
    if not kept:
        raise UserError(f"{judgments.name}: no judgment has a score {SCORE!r}")
    return Pairs(
        name,
        tuple(row.candidate for row, _ in kept),
        tuple(row.references[0] for row, _ in kept),
        np.array([row.scores[SCORE] for row, _ in kept], dtype=np.float64),
        tuple(group for _, group in kept),
        tuple(row.id for row, _ in kept),
    )


def _segment(row: Judgment) -> int:
    """The number that ends ``2017/cs-en/33``; 0 where there is none, which keeps the file's order."""
    last = row.id.rsplit("/", 1)[-1]
    return int(last) if last.isdecimal() else 0


def scores(
    pairs: Pairs, rewards: Sequence[EmbeddingReward], by_length: Encoder | None = None, kept: Path | None = None
) -> Floats:
    """``(metrics, n)``. Batches of batch centering stay within a group.

    With ``by_length`` a group is first sorted by the tokens of both sentences, so that batches hold pairs of like
    length. In the folder ``kept`` the scores of each group are remembered, by the metric's signature and the texts.
    """
    found = np.full((len(rewards), len(pairs)), np.nan)
    for places in pairs.places().values():
        if by_length is not None:
            tokens = _tokens(by_length, [pairs.candidates[place] + " " + pairs.references[place] for place in places])
            places = [places[number] for number in np.argsort(tokens, kind="stable")]
        texts = [pairs.candidates[place] for place in places], [pairs.references[place] for place in places]
        found[:, places] = score_together(rewards, *texts) if kept is None else _remembered(kept, rewards, *texts)
    return found


def _remembered(
    folder: Path, rewards: Sequence[EmbeddingReward], candidates: Sequence[str], references: Sequence[str]
) -> Floats:
    """What `score_together` gives, from a file a metric where it is there; written when it is not."""
    files = [folder / f"{digest([each.signature, *candidates, *references])}.npy" for each in rewards]
    new = [place for place, file in enumerate(files) if not file.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for place, row in zip(new, score_together([rewards[place] for place in new], candidates, references), strict=True):
        content = io.BytesIO()
        np.save(content, row)
        write_atomically(files[place], content.getvalue())
    return np.stack([np.load(file) for file in files])


def correlations(
    pairs: Pairs, scores: Floats, statistic: Statistic, resamples: int, seed: int = 0
) -> dict[str, Estimate]:
    """The correlation of ``scores`` ``(n,)`` with people in each group; inputs are drawn whole."""
    return {
        group: estimate(
            pairs.human[places], scores[places], [pairs.inputs[each] for each in places], statistic, resamples,
            seed + number,
        )
        for number, (group, places) in enumerate(pairs.places().items())
    }  # fmt: skip


def measure(
    setting: Setting,
    pairs: Pairs,
    metrics: Sequence[Metric],
    statistics: Sequence[Statistic] = ("pearson",),
    special_tokens: str = "first",
    layer: Layer = None,
    by_length: Encoder | None = None,
) -> Measured:
    """Every metric's correlations by group; Pearson's have draws."""
    rewards = [metric.reward(setting, special_tokens, layer) for metric in metrics]
    found = scores(pairs, rewards, by_length, setting.kept)
    return {
        metric: {
            each: correlations(pairs, row, each, setting.resamples if each == "pearson" else 0, setting.seed)
            for each in statistics
        }
        for metric, row in zip(metrics, found, strict=True)
    }


def _tokens(encoder: Encoder, texts: Sequence[str]) -> list[int]:
    return [len(ids) for ids in encoder.ids(texts)]
