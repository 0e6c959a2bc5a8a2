"""Why a score is what it is: what moves where (movers), or what resembles what (contextual metrics), as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from rewards.base import Reward
from rewards.errors import RewardError
from rewards.movers import WordSpace, _Mover, items_of
from rewards.text import content_words, sentences
from rewards.transport import distances, exact_plan

if TYPE_CHECKING:
    from numpy.typing import NDArray

Kind = Literal["word", "sentence", "token"]
Form = Literal["flow", "similarity"]


@dataclass(frozen=True)
class Item:
    """A word, sentence or token as shown, and its share of the text's weight.

    ``sentence`` numbers the sentence where it first stands; ``place`` orders words by where they do.
    """

    text: str
    kind: Kind
    sentence: int
    place: int
    weight: float


@dataclass(frozen=True, eq=False)
class Explanation:
    """One pair under one metric: ``m`` items of the candidate, ``n`` of the reference.

    ``form=flow``: ``values`` ``(m, n)`` are Euclidean distances, ``plan`` ``(m, n)`` the weight moved, summing to 1.
    ``form=similarity``: ``values`` are cosines and there is no plan.
    """

    metric: str
    signature: str
    score: float
    form: Form
    candidate: tuple[Item, ...]
    reference: tuple[Item, ...]
    values: NDArray[np.float64]
    plan: NDArray[np.float64] | None = None

    def flows(self) -> list[tuple[int, int, float, float]]:
        """What moves: (candidate's item, reference's item, weight, distance), the heaviest first."""
        if self.plan is None:
            return []
        found = [(int(i), int(j), float(self.plan[i, j]), float(self.values[i, j])) for i, j in np.argwhere(self.plan)]
        return sorted(found, key=lambda flow: (-flow[2], flow[0], flow[1]))

    def as_json(self) -> dict[str, Any]:
        """Everything as plain numbers and texts."""
        data = {key: getattr(self, key) for key in ("metric", "signature", "score", "form")}
        data |= {side: [asdict(item) for item in getattr(self, side)] for side in ("candidate", "reference")}
        if self.form == "similarity":
            return {**data, "cosines": self.values.tolist()}
        names = ("candidate", "reference", "weight", "distance")
        flows = [dict(zip(names, flow, strict=True)) for flow in self.flows()]
        return {**data, "distances": self.values.tolist(), "flows": flows}


def explain(reward: Reward, candidate: str, reference: str) -> Explanation:
    """The transport plan of a mover, or the cosines of a contextual metric, for one candidate and one reference.

    Raises RewardError for another reward, and for a text with nothing to score.
    """
    reason = reward.undefined(candidate, [reference])
    if reason is not None:
        raise RewardError(f"{reward.name}: there is nothing to show, {reason}")
    if reward.undefined(candidate, [candidate]) is not None:  # a reference as it is could not be scored
        raise RewardError(f"{reward.name}: there is nothing to show, the candidate has nothing to score")
    score = float(reward([candidate], [[reference]])[0])
    if isinstance(reward, _Mover):
        return _flow(reward, candidate, reference, score)
    if hasattr(reward, "space") and hasattr(reward.space, "special"):
        return _similarity(reward, candidate, reference, score)
    shown = "wms, sms, s+wms and the contextual metrics that compare single tokens"
    raise RewardError(f"{reward.name} has no plan and no matrix to show; explain shows {shown}")


def _flow(reward: _Mover, candidate: str, reference: str, score: float) -> Explanation:
    space = reward._space()
    first, second = (reward._items(text, space) for text in (candidate, reference))
    cost = distances(first.points, second.points)
    plan = exact_plan(first.weights, second.weights, cost)
    sides = [_items(reward, text, space) for text in (candidate, reference)]
    return Explanation(reward.name, reward.signature, score, "flow", sides[0], sides[1], cost, plan)


def _items(reward: _Mover, text: str, space: WordSpace) -> tuple[Item, ...]:
    """The items in the order of ``items_of``: distinct rows of the table ascending, then sentences."""
    words = content_words(text, reward.stopwords)
    weights = items_of(space.rows(words), space.table, reward.kind).weights
    rows: dict[int, list[str]] = {}
    first_in: dict[int, int] = {}
    unknown = len(space.table) - 1
    said: dict[bytes, int] = {}  # where each sentence is said first: said again it is the same item
    for place, sentence in enumerate(words):
        kept = b"".join(found.tobytes() for found in space.rows([sentence]))
        if not kept:
            continue
        said.setdefault(kept, place)
        for word in sentence:
            row = space.index.get(word, unknown)
            if row != unknown or space.unknown == "zero":
                rows.setdefault(row, []).append(word)
                first_in.setdefault(row, list(said).index(kept))
    names: list[tuple[str, Kind, int, int]] = []
    if reward.kind != "sentences":
        order = {row: place for place, row in enumerate(rows)}
        for row in sorted(rows):
            label = ", ".join(dict.fromkeys(rows[row]))
            label = f"no vector: {label}" if row == unknown else label
            names.append((label, "word", first_in[row], order[row]))
    if reward.kind != "words":
        labels = _labels(text, words, reward)
        names += [(labels[place], "sentence", number, number) for number, place in enumerate(said.values())]
    return tuple(Item(*name, float(weight)) for name, weight in zip(names, weights, strict=True))


def _labels(text: str, words: Sequence[Sequence[str]], reward: _Mover) -> list[str]:
    """The sentences as they were written; their kept words where these cannot be told apart."""
    written = [sentence for sentence in sentences(text) if content_words(sentence, reward.stopwords)]
    return written if len(written) == len(words) else [" ".join(kept) for kept in words]


def _similarity(reward: Any, candidate: str, reference: str, score: float) -> Explanation:
    space = reward.space.for_call([candidate], [reference])
    encoded = space.encode([candidate, reference])
    first, second = space.sides([candidate], [reference], encoded)
    cosines = (first[candidate].vectors @ second[reference].vectors.T).numpy()
    encoder = space.source.load()
    sides = [
        tuple(
            Item(piece, "token", 0, place, float(weight))
            for place, (piece, weight) in enumerate(
                zip(
                    encoder.strings(encoded[text].ids[encoded[text].kept(space.special)]),
                    points[text].weights,
                    strict=True,
                )
            )
        )
        for text, points in ((candidate, first), (reference, second))
    ]
    return Explanation(reward.name, reward.signature, score, "similarity", sides[0], sides[1], cosines)
