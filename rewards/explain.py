"""Explanations of scores as plain data: transport plans of movers, cosines, matches of ROUGE, what a model computed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rewards.base import Reward
from rewards.embedding.reward import EmbeddingReward
from rewards.errors import RewardError
from rewards.lexical.rouge import Rouge
from rewards.models.pairs import Pair, PairReward
from rewards.mover.items import Mover, Moving, named_items

Kind = Moving | Literal["token"]
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

    ``form=flow``: ``values`` ``(m, n)`` are distances and ``plan`` ``(m, n)`` is the weight moved, which sums to 1.
    ``form=similarity``: ``values`` are cosines and there is no plan. ``form=matches``: 1 where a word or n-gram of the
    one counts as one of the other, else 0. ``form=values``: what a model computed, named by ``measured``, of parts of
    the candidate and others. ``note``, ``caption``: what a picture and a page say of them.
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
    note: str = ""
    caption: str = ""

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


Made = Callable[..., Explanation]  # from the form on


def explain(reward: Reward, candidate: str, reference: str, source: str | None = None) -> Explanation:
    """A mover's plan, a metric's cosines, ROUGE's matches, or what a model computed.

    ``source``: the article, for a reward that reads it; None: ``reference`` is it. Raises RewardError for others.
    """
    explained = next((build for kind, build in EXPLAINED.items() if isinstance(reward, kind)), None)
    if explained is None:
        shown = "ROUGE, wms, sms, s+wms, the contextual metrics and rewards that are models"
        raise RewardError(f"{reward.name} has no plan and no matrix to show; explain shows {shown}")
    source = reference if source is None else source
    reason = reward.undefined(candidate, [reference], source)
    if reason is not None:
        raise RewardError(f"{reward.name}: nothing to show: {reason}")
    as_reference = None if isinstance(reward, PairReward) else reward.undefined(candidate, [candidate])
    if as_reference is not None or not candidate.strip():
        raise RewardError(f"{reward.name}: nothing to show: the candidate has nothing to score")
    compared = source if getattr(reward, "given", "reference") == "source" else reference
    score = float(reward([candidate], [[reference]], [source])[0])
    return explained(reward, candidate, compared, partial(Explanation, reward.name, reward.signature, score))


def _flow(reward: Mover, candidate: str, reference: str, build: Made) -> Explanation:
    documents = [reward.document(text) for text in (candidate, reference)]
    first, second = (reward.items_of(document.rows, document.table) for document in documents)
    distances, plan = reward.moved(first, second)
    note = f"transport plan: the width of a band is the weight that moves, its number the {reward.distance.name}"
    sides = zip(documents, (first, second), strict=True)
    named = (zip(named_items(document, reward.kind), items.weights.tolist(), strict=True) for document, items in sides)
    left, right = (tuple(ExplainedItem(*name, weight) for name, weight in side) for side in named)
    return build("flow", left, right, distances, plan, note=note, caption=note[0].upper() + note[1:])


def _similarity(reward: EmbeddingReward, candidate: str, reference: str, build: Made) -> Explanation:
    space = reward.space.for_call([reference])
    encoded = space.encode([candidate, reference])
    first, second = space.sides([candidate], [reference], encoded)
    cosines = (first[candidate].vectors @ second[reference].vectors.T).cpu().numpy()
    encoder = space.source.load()
    left, right = (
        _tokens(encoder.strings(encoded[text].ids[encoded[text].kept(space.special)]), points[text].weights.tolist())
        for text, points in ((candidate, first), (reference, second))
    )
    framed = "the best match of a token is framed"
    caption = f"Cosines of the tokens: rows are the candidate, columns the reference. {framed[0].upper()}{framed[1:]}."
    return build("similarity", left, right, cosines, note=f"cosines: {framed}", caption=caption)


def _matches(reward: Rouge, candidate: str, reference: str, build: Made) -> Explanation:
    matches = reward.matches(candidate, reference)
    m, n, count = len(matches.candidate), len(matches.reference), len(matches.places)
    values = np.zeros((m, n))
    for places in matches.places:
        values[places] = 1
    note = "rows: candidate, columns: reference; filled: counted in both"
    shares = f"{count} of {m} in the candidate (rows), {count} of {n} in the reference (columns)"
    caption = f"Filled: counted in both texts. {shares}."
    left, right = _tokens(matches.candidate), _tokens(matches.reference)
    return build("matches", left, right, values, note=note, caption=caption)


def _values(reward: PairReward, candidate: str, reference: str, build: Made) -> Explanation:
    matrix = reward.matrix(Pair(reference, candidate))
    measured, left, right = matrix.measured, _tokens(matrix.candidate), _tokens(matrix.others)
    caption = f"{measured.capitalize()}. Rows are the candidate."
    return build("values", left, right, matrix.values, measured=measured, note=measured, caption=caption)


def _tokens(labels: Sequence[str], weights: Sequence[float] | None = None) -> tuple[ExplainedItem, ...]:
    """Without weights all weigh alike."""
    shares = [1 / len(labels) for _ in labels] if weights is None else weights
    pairs = enumerate(zip(labels, shares, strict=True))
    return tuple(ExplainedItem(label, "token", 0, place, weight) for place, (label, weight) in pairs)


# How rewards of a class are explained.
EXPLAINED: dict[type, Callable[[Any, str, str, Made], Explanation]] = {
    Mover: _flow,
    EmbeddingReward: _similarity,
    Rouge: _matches,
    PairReward: _values,
}
