"""Explanations of scores as plain data: transport plans of movers, cosines, matches of ROUGE, what a model computed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rewards.base import Reward
from rewards.embedding.similarity import Points
from rewards.errors import RewardError
from rewards.models.pairs import Pair, PairReward
from rewards.mover.items import Document, ItemKind

Kind = Literal["word", "sentence", "token"]
Form = Literal["flow", "similarity", "matches", "values"]


@dataclass(frozen=True)
class ExplainedItem:
    """A word, sentence or token, its first ``sentence``, its ``place`` among words, and its share of the weight."""

    text: str
    kind: Kind
    sentence: int
    place: int
    weight: float


@dataclass(frozen=True, eq=False)
class Explanation:
    """One pair under one metric: ``m`` items of the candidate, ``n`` of the reference.

    ``form=flow``: ``values`` ``(m, n)`` are distances, named by ``measured``; ``plan`` ``(m, n)`` is the weight moved, which
    sums to 1. ``form=similarity``: ``values`` are cosines and there is no plan. ``form=matches``: 1 where a word or
    n-gram of the one counts as one of the other, else 0. ``form=values``: what a model computed, named by
    ``measured``, of parts of the candidate and others.
    """

    metric: str
    signature: str
    score: float
    form: Form
    candidate: tuple[ExplainedItem, ...]
    reference: tuple[ExplainedItem, ...]
    values: NDArray[np.float64]
    plan: NDArray[np.float64] | None = None
    measured: str = ""

    def flows(self) -> list[tuple[int, int, float, float]]:
        """The moves: (candidate's item, reference's item, weight, distance), the heaviest first."""
        if self.plan is None:
            return []
        flows = [(int(i), int(j), float(self.plan[i, j]), float(self.values[i, j])) for i, j in np.argwhere(self.plan)]
        return sorted(flows, key=lambda flow: (-flow[2], flow[0], flow[1]))

    def as_json(self) -> dict[str, Any]:
        """All fields as numbers and texts."""
        data = {key: getattr(self, key) for key in ("metric", "signature", "score", "form")}
        data |= {side: [asdict(item) for item in getattr(self, side)] for side in ("candidate", "reference")}
        if self.form == "similarity":
            return {**data, "cosines": self.values.tolist()}
        if self.form == "matches":
            return {**data, "matches": np.argwhere(self.values).tolist()}
        if self.form == "values":
            return {**data, "measured": self.measured, "values": self.values.tolist()}
        names = ("candidate", "reference", "weight", "distance")
        flows = [dict(zip(names, flow, strict=True)) for flow in self.flows()]
        return {**data, "distances": self.values.tolist(), "flows": flows}


def explain(reward: Reward, candidate: str, reference: str, source: str | None = None) -> Explanation:
    """A mover's plan, a metric's cosines, ROUGE's matches, or what a model computed.

    ``source``: the article, for a reward that reads it; None: ``reference`` is it. Raises RewardError for others.
    """
    explained, source = _explainer(reward), reference if source is None else source
    reason = reward.undefined(candidate, [reference], source)
    if reason is not None:
        raise RewardError(f"{reward.name}: nothing to show: {reason}")
    as_reference = None if isinstance(reward, PairReward) else reward.undefined(candidate, [candidate])
    if as_reference is not None or not candidate.strip():
        raise RewardError(f"{reward.name}: nothing to show: the candidate has nothing to score")
    compared = source if getattr(reward, "given", "reference") == "source" else reference
    return explained(reward, candidate, compared, float(reward([candidate], [[reference]], [source])[0]))


def _explainer(reward: Any) -> Callable[[Any, str, str, float], Explanation]:
    if hasattr(reward, "document"):
        return _flow
    if hasattr(reward, "space") and hasattr(reward.space, "special"):
        return _similarity
    if hasattr(reward, "matches"):
        return _matches
    if isinstance(reward, PairReward):
        return _values
    shown = "ROUGE, wms, sms, s+wms, the contextual metrics and rewards that are models"
    raise RewardError(f"{reward.name} has no plan and no matrix to show; explain shows {shown}")


def _flow(reward: Any, candidate: str, reference: str, score: float) -> Explanation:
    documents = [reward.document(text) for text in (candidate, reference)]
    first, second = (reward.items_of(document.rows, document.table) for document in documents)
    distances, plan = reward.moved(first, second)
    sides = [
        _items(document, items.weights, reward.kind) for document, items in zip(documents, (first, second), strict=True)
    ]
    measured = reward.distance.name
    return Explanation(reward.name, reward.signature, score, "flow", sides[0], sides[1], distances, plan, measured)


def _items(document: Document, weights: NDArray[np.float64], kind: ItemKind) -> tuple[ExplainedItem, ...]:
    """The items in the order of ``items_of``: words by first occurrence, then sentences."""
    words: dict[int, list[str]] = {}
    first_in: dict[int, int] = {}
    distinct: dict[tuple[int, ...], str] = {}  # a repeated sentence is one item
    for rows, texts, sentence in zip(document.rows, document.words, document.sentences, strict=True):
        distinct.setdefault(rows, sentence)
        for row, word in zip(rows, texts, strict=True):
            words.setdefault(row, []).append(word)
            first_in.setdefault(row, list(distinct).index(rows))
    names: list[tuple[str, Kind, int, int]] = []
    if kind != "sentences":
        for row, forms in words.items():
            label = ", ".join(dict.fromkeys(forms))
            names.append((f"no vector: {label}" if row == document.unknown else label, "word", first_in[row], row))
    if kind != "words":
        names += [(sentence, "sentence", number, number) for number, sentence in enumerate(distinct.values())]
    return tuple(ExplainedItem(*name, float(weight)) for name, weight in zip(names, weights, strict=True))


def _similarity(reward: Any, candidate: str, reference: str, score: float) -> Explanation:
    space = reward.space.for_call([reference])
    encoded = space.encode([candidate, reference])
    first, second = space.sides([candidate], [reference], encoded)
    cosines = (first[candidate].vectors @ second[reference].vectors.T).cpu().numpy()
    encoder = space.source.load()
    sides = [
        _tokens(encoder.strings(encoded[text].ids[encoded[text].kept(space.special)]), points[text])
        for text, points in ((candidate, first), (reference, second))
    ]
    return Explanation(reward.name, reward.signature, score, "similarity", sides[0], sides[1], cosines)


def _matches(reward: Any, candidate: str, reference: str, score: float) -> Explanation:
    matches = reward.matches(candidate, reference)
    sides = [
        tuple(ExplainedItem(unit, "token", 0, place, 1 / len(units)) for place, unit in enumerate(units))
        for units in (matches.candidate, matches.reference)
    ]
    values = np.zeros((len(matches.candidate), len(matches.reference)))
    for places in matches.places:
        values[places] = 1
    return Explanation(reward.name, reward.signature, score, "matches", sides[0], sides[1], values)


def _values(reward: PairReward, candidate: str, reference: str, score: float) -> Explanation:
    matrix = reward.matrix(Pair(reference, candidate))
    sides = [
        tuple(ExplainedItem(label, "token", 0, place, 1 / len(labels)) for place, label in enumerate(labels))
        for labels in (matrix.candidate, matrix.others)
    ]
    values, measured = matrix.values, matrix.measured
    return Explanation(reward.name, reward.signature, score, "values", sides[0], sides[1], values, measured=measured)


def _tokens(labels: Sequence[str], points: Points) -> tuple[ExplainedItem, ...]:
    pairs = enumerate(zip(labels, points.weights, strict=True))
    return tuple(ExplainedItem(label, "token", 0, place, float(weight)) for place, (label, weight) in pairs)
