"""Figures 1 and 2: how alike words are, layer by layer, before and after each way to centre their vectors.

Baseline: two random words; self-similarity: one word in two texts; intra-similarity: two words of one text. A word is
a token of the encoder, special tokens left out (after Ethayarajh, 2019).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reproductions.claims import Claim, against, both, within
from reproductions.estimate import Estimate, mean_estimate
from reproductions.study import Study
from reproductions.twmd.metrics import Setting
from rewards.embedding.space import OFFICIAL_BATCH
from rewards.encoding.encoder import Encoded
from rewards.encoding.loading import EncoderSource, depth
from rlsum.errors import UserError
from rlsum.pages.curves import Curve, Panel, picture
from rlsum.pages.pictures import COLOURS
from rlsum.pages.table import Cell, Table

Floats = NDArray[np.float64]
Places = NDArray[np.int64]
Similarities = Mapping[str, Mapping[str, Sequence[Estimate]]]  # centering -> kind -> a mean cosine a layer

CENTERINGS = ("none", "dimension", "sentence", "corpus", "batch")
KINDS = {"baseline": "two random words", "self": "one word in two texts", "intra": "two words of one text"}
TEXTS = 1_000
DRAWN = 4_000  # pairs of words of each kind
ZERO = 0.05  # what counts as no similarity between random words


@dataclass(frozen=True, eq=False)
class Tokens:
    """The words of all texts in one row: ``text`` ``(n,)`` numbers the text of each, ``ids`` ``(n,)`` the word."""

    text: Places
    ids: Places


def figures(setting: Setting, texts: Sequence[str], drawn: int = DRAWN) -> Study:
    """Similarities at every layer, for five centerings, and whether each has the paper's three properties."""
    layers = list(range(depth(setting.place) + 1))
    found = similarities(setting, sample(setting, texts), layers, drawn)
    rows = [
        (centering, KINDS[kind], *(f"{each.value:.3f}" for each in values))
        for centering, kinds in found.items()
        for kind, values in kinds.items()
    ]
    records = tuple(
        {
            "encoder": setting.loaded.name,
            "centering": centering,
            "similarity": kind,
            "layer": layer,
            "mean_cosine": round(each.value, 5),
            "low": round(each.interval[0], 5),
            "high": round(each.interval[1], 5),
            "published": "not available",
        }
        for centering, kinds in found.items()
        for kind, values in kinds.items()
        for layer, each in zip(layers, values, strict=True)
    )
    caption = (
        f"Figures 1 and 2. Mean cosines by layer; {setting.encoder} ({setting.loaded.name}). Published: no numbers."
    )
    table = Table(
        caption,
        ("centering", "between", *(f"layer {each}" for each in layers)),
        tuple(tuple(map(Cell, row)) for row in rows),
    )
    panels = [_panel(setting.short, centering, found[centering], layers) for centering in found]
    what = "Mean cosine of random words, of one word in two texts and of words of one text, by layer and centering"
    drawn_panels = picture("figures1-2", "Figures 1 and 2", what, panels)
    return Study("figures1-2", (table,), records, (drawn_panels,), claims_of(found))


def sample(setting: Setting, texts: Sequence[str]) -> list[str]:
    """Distinct texts of two words at least, ``TEXTS`` at random. Raises UserError for fewer than two."""
    distinct = list(dict.fromkeys(texts))
    blank = len(setting.loaded.ids([""])[0])
    kept = [text for text, ids in zip(distinct, setting.loaded.ids(distinct), strict=True) if len(ids) >= blank + 2]
    if len(kept) < 2:
        raise UserError(f"{len(kept)} texts of two words or more; a picture of similarities needs two")
    chosen = np.random.default_rng(setting.seed).permutation(len(kept))[:TEXTS]
    return [kept[place] for place in chosen]


def similarities(setting: Setting, texts: Sequence[str], layers: Sequence[int], drawn: int = DRAWN) -> Similarities:
    """Mean cosines at each layer, always of the same pairs of words."""
    found: dict[str, dict[str, list[Estimate]]] = {name: {kind: [] for kind in KINDS} for name in CENTERINGS}
    pairs: dict[str, tuple[Places, Places]] = {}
    for layer in layers:
        encoded = EncoderSource(setting.place, layer).load()(texts)
        tokens, vectors = flat(encoded)
        pairs = pairs or drawn_pairs(tokens, drawn, setting.seed)
        for centering in CENTERINGS:
            moved = centred(vectors, tokens.text, centering)
            moved = moved / np.linalg.norm(moved, axis=1, keepdims=True).clip(1e-12)
            for kind, (one, other) in pairs.items():
                cosines = np.einsum("nd,nd->n", moved[one], moved[other])
                found[centering][kind].append(mean_estimate(cosines, setting.resamples, setting.seed))
    return found


def flat(encoded: Sequence[Encoded]) -> tuple[Tokens, Floats]:
    """All words of the texts, and their vectors ``(n, d)`` float64."""
    kept = [each.kept("none") for each in encoded]
    vectors = [each.vectors[place].double().numpy() for each, place in zip(encoded, kept, strict=True)]
    ids = [each.ids[place] for each, place in zip(encoded, kept, strict=True)]
    text = np.repeat(np.arange(len(encoded)), [len(each) for each in ids])
    return Tokens(text, np.concatenate([np.array(each, dtype=np.int64) for each in ids])), np.concatenate(vectors)


def centred(vectors: Floats, text: Places, centering: str) -> Floats:
    """Vectors ``(n, d)`` of words less the mean that ``centering`` says; a batch is 32 texts in their order."""
    if centering == "none":
        return vectors
    if centering == "dimension":
        return vectors - vectors.mean(axis=1, keepdims=True)
    if centering == "corpus":
        return vectors - vectors.mean(axis=0)
    group = text if centering == "sentence" else text // OFFICIAL_BATCH
    sums = np.zeros((group.max() + 1, vectors.shape[1]))
    np.add.at(sums, group, vectors)
    return vectors - sums[group] / np.bincount(group)[group][:, None]


def drawn_pairs(tokens: Tokens, count: int, seed: int) -> dict[str, tuple[Places, Places]]:
    """``count`` pairs of words of each kind, by their places; for self-similarity words are drawn, then occurrences."""
    random = np.random.default_rng(seed)
    n = len(tokens.ids)
    one = random.integers(n, size=count)
    found = {"baseline": (one, (one + random.integers(1, n, size=count)) % n)}
    found["self"] = _pairs_within(tokens.ids, tokens.text, count, random)
    found["intra"] = _pairs_within(tokens.text, np.arange(n), count, random)
    return found


def claims_of(found: Similarities) -> tuple[Claim, ...]:
    """Whether each centering has the three properties that the paper finds, or misses, in it."""
    zero, falling, rising = ({name: kind(found[name], name) for name in found} for kind in (_zero, _falling, _rising))
    return (
        both("Corpus centering has all three properties", zero["corpus"], falling["corpus"], rising["corpus"]),
        both("So has batch centering", zero["batch"], falling["batch"], rising["batch"]),
        against("Without centering random words are alike", zero["none"]),
        both(
            "Dimension centering fails on the first two properties",
            against("random words stay alike", zero["dimension"]),
            against("self-similarity does not fall", falling["dimension"]),
        ),
        both(
            "Sentence centering has the first property and fails on the third",
            zero["sentence"],
            _gone(found["sentence"]),
        ),
    )


def _zero(kinds: Mapping[str, Sequence[Estimate]], name: str) -> Claim:
    layers = {f"layer {layer}": each for layer, each in enumerate(kinds["baseline"])}
    return within(f"random words have no similarity ({name})", layers, -ZERO, ZERO)


def _falling(kinds: Mapping[str, Sequence[Estimate]], name: str) -> Claim:
    return within(f"self-similarity falls with the layer ({name})", {"slope": _slope(kinds["self"])}, high=0.0)


def _rising(kinds: Mapping[str, Sequence[Estimate]], name: str) -> Claim:
    return within(f"intra-similarity rises with the layer ({name})", {"slope": _slope(kinds["intra"])}, low=0.0)


def _gone(kinds: Mapping[str, Sequence[Estimate]]) -> Claim:
    layers = {f"layer {layer}": each for layer, each in enumerate(kinds["intra"])}
    return within("nothing is left of what words of one text share", layers, high=ZERO)


def _slope(values: Sequence[Estimate]) -> Estimate:
    """By least squares, a layer."""
    layers = np.arange(len(values)) - (len(values) - 1) / 2
    weights = layers / (layers**2).sum()
    return Estimate(
        float(weights @ [each.value for each in values]), weights @ np.stack([each.draws for each in values])
    )


def _pairs_within(key: Places, other: Places, count: int, random: np.random.Generator) -> tuple[Places, Places]:
    """Pairs of places that share ``key`` and differ in ``other``: a key at random, then two of its places."""
    order = np.argsort(key, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(key[order]) > 0])
    groups = [each for each in np.split(order, starts[1:]) if len(np.unique(other[each])) > 1]
    if not groups:
        raise UserError("no word stands in two texts; give more texts")
    found = []
    for chosen in random.integers(len(groups), size=count):
        one = random.choice(groups[chosen])
        apart = groups[chosen][other[groups[chosen]] != other[one]]
        found.append((one, random.choice(apart)))
    pairs = np.array(found)
    return pairs[:, 0], pairs[:, 1]


def _panel(encoder: str, centering: str, kinds: Mapping[str, Sequence[Estimate]], layers: Sequence[int]) -> Panel:
    curves = tuple(
        Curve(KINDS[kind], colour, np.array(layers, dtype=np.float64), np.array([each.value for each in values]))
        for (kind, values), colour in zip(kinds.items(), COLOURS, strict=False)
    )
    title = "no centering" if centering == "none" else f"{centering} centering"
    return Panel(f"{encoder}, {title}", curves, "layer", (-0.15, 1.0))
