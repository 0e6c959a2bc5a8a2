"""Figures 1 and 2: similarity of words at each layer, with each way to centre their vectors.

Baseline: two random words; self-similarity: one word in two texts; intra-similarity: two words of one text. A word is
a token of the encoder that is not special (after Ethayarajh, 2019).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from reproductions.claims import Claim, against, both, within
from reproductions.estimate import Estimate, curve, mean_estimate, weighted
from reproductions.reproduction import Reproduction
from reproductions.twmd.metrics import EncoderSetup
from rewards.embedding.space import OFFICIAL_BATCH
from rewards.encoding.encoder import EncodedTexts
from rewards.encoding.loading import EncoderSource, depth
from rlsum.errors import UserError
from rlsum.evaluation.rows import Floats, Ints
from rlsum.pages.pictures.curves import Panel, picture
from rlsum.pages.pictures.drawing import COLOURS
from rlsum.pages.table import text_table

Similarities = Mapping[str, Mapping[str, Sequence[Estimate]]]  # centering -> kind -> a mean cosine a layer

CENTERINGS = ("none", "dimension", "sentence", "corpus", "batch")
KINDS = {"baseline": "two random words", "self": "one word in two texts", "intra": "two words of one text"}
TEXTS = 1_000
DRAWN = 4_000  # pairs of words of each kind
ZERO = 0.05  # mean cosines below this count as no similarity


@dataclass(frozen=True, eq=False)
class WordOccurrences:
    """The n words of all texts: ``text`` ``(n,)`` is the number of the text, ``ids`` ``(n,)`` the word."""

    text: Ints
    ids: Ints


def figures(setup: EncoderSetup, texts: Sequence[str], drawn: int = DRAWN) -> Reproduction:
    """Similarities at every layer for five centerings, and the three properties that the paper claims."""
    layers = list(range(depth(setup.location) + 1))
    cosines = similarities(setup, sample(setup, texts), layers, drawn)
    rows = [
        (centering, KINDS[kind], *(f"{estimate.value:.3f}" for estimate in values))
        for centering, kinds in cosines.items()
        for kind, values in kinds.items()
    ]
    caption = f"Figures 1 and 2. Mean cosines by layer; {setup.encoder} ({setup.loaded.name}). Published: no numbers."
    table = text_table(caption, ("centering", "between", *(f"layer {layer}" for layer in layers)), rows)
    panels = [_panel(setup.short, centering, cosines[centering], layers) for centering in cosines]
    what = "Mean cosine of random words, of one word in two texts and of words of one text, by layer and centering"
    drawn_panels = picture("figures1-2", "Figures 1 and 2", what, panels)
    return Reproduction("figures1-2", (table,), (drawn_panels,), claims_of(cosines))


def sample(setup: EncoderSetup, texts: Sequence[str]) -> list[str]:
    """``TEXTS`` random distinct texts of at least two words. Raises UserError for fewer than two."""
    distinct = list(dict.fromkeys(texts))
    blank = len(setup.loaded.ids([""])[0])
    kept = [text for text, ids in zip(distinct, setup.loaded.ids(distinct), strict=True) if len(ids) >= blank + 2]
    if len(kept) < 2:
        raise UserError(f"{len(kept)} texts of two words or more; at least two are needed")
    chosen = np.random.default_rng(setup.seed).permutation(len(kept))[:TEXTS]
    return [kept[index] for index in chosen]


def similarities(setup: EncoderSetup, texts: Sequence[str], layers: Sequence[int], drawn: int = DRAWN) -> Similarities:
    """Mean cosines at each layer, over the same pairs of words."""
    means: dict[str, dict[str, list[Estimate]]] = {name: {kind: [] for kind in KINDS} for name in CENTERINGS}
    pairs: dict[str, tuple[Ints, Ints]] = {}
    for layer in layers:
        encoded = EncoderSource(setup.location, layer).load()(texts)
        tokens, vectors = flat(encoded)
        pairs = pairs or drawn_pairs(tokens, drawn, setup.seed)
        for centering in CENTERINGS:
            moved = centred(vectors, tokens.text, centering)
            moved = moved / np.linalg.norm(moved, axis=1, keepdims=True).clip(1e-12)
            for kind, (first, second) in pairs.items():
                cosines = np.einsum("nd,nd->n", moved[first], moved[second])
                means[centering][kind].append(mean_estimate(cosines, setup.resamples, setup.seed))
    return means


def flat(encoded: Sequence[EncodedTexts]) -> tuple[WordOccurrences, Floats]:
    """All words of the texts, and their vectors ``(n, d)`` float64."""
    kept = [text.kept("none") for text in encoded]
    vectors = [text.vectors[rows].double().numpy() for text, rows in zip(encoded, kept, strict=True)]
    ids = [text.ids[rows] for text, rows in zip(encoded, kept, strict=True)]
    numbers = np.repeat(np.arange(len(encoded)), [len(words) for words in ids])
    words = np.concatenate([np.array(words, dtype=np.int64) for words in ids])
    return WordOccurrences(numbers, words), np.concatenate(vectors)


def centred(vectors: Floats, text: Ints, centering: str) -> Floats:
    """Vectors ``(n, d)`` of words less the mean given by ``centering``; a batch is 32 consecutive texts."""
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


def drawn_pairs(tokens: WordOccurrences, count: int, seed: int) -> dict[str, tuple[Ints, Ints]]:
    """Indices of ``count`` pairs of words of each kind; for self-similarity, words are drawn, then occurrences."""
    random = np.random.default_rng(seed)
    n = len(tokens.ids)
    first = random.integers(n, size=count)
    pairs = {"baseline": (first, (first + random.integers(1, n, size=count)) % n)}
    pairs["self"] = _pairs_within(tokens.ids, tokens.text, count, random)
    pairs["intra"] = _pairs_within(tokens.text, np.arange(n), count, random)
    return pairs


def claims_of(cosines: Similarities) -> tuple[Claim, ...]:
    """The claims about the three properties of each centering."""
    zero, falling, rising = (
        {name: kind(cosines[name], name) for name in cosines} for kind in (_zero, _falling, _rising)
    )
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
            _gone(cosines["sentence"]),
        ),
    )


def _zero(kinds: Mapping[str, Sequence[Estimate]], name: str) -> Claim:
    layers = {f"layer {layer}": estimate for layer, estimate in enumerate(kinds["baseline"])}
    return within(f"random words have no similarity ({name})", layers, -ZERO, ZERO)


def _falling(kinds: Mapping[str, Sequence[Estimate]], name: str) -> Claim:
    return within(f"self-similarity falls with the layer ({name})", {"slope": _slope(kinds["self"])}, high=0.0)


def _rising(kinds: Mapping[str, Sequence[Estimate]], name: str) -> Claim:
    return within(f"intra-similarity rises with the layer ({name})", {"slope": _slope(kinds["intra"])}, low=0.0)


def _gone(kinds: Mapping[str, Sequence[Estimate]]) -> Claim:
    layers = {f"layer {layer}": estimate for layer, estimate in enumerate(kinds["intra"])}
    return within("nothing is left of what words of one text share", layers, high=ZERO)


def _slope(values: Sequence[Estimate]) -> Estimate:
    """The least-squares slope per layer."""
    layers = np.arange(len(values)) - (len(values) - 1) / 2
    return weighted(values, layers / (layers**2).sum())


def _pairs_within(key: Ints, kinds: Ints, count: int, random: np.random.Generator) -> tuple[Ints, Ints]:
    """Pairs of indices with equal ``key`` and different ``other``: a random key, then two of its indices."""
    order = np.argsort(key, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(key[order]) > 0])
    groups = [group for group in np.split(order, starts[1:]) if len(np.unique(kinds[group])) > 1]
    if not groups:
        raise UserError("no word occurs in two texts; give more texts")
    chosen_pairs = []
    for chosen in random.integers(len(groups), size=count):
        index = random.choice(groups[chosen])
        partners = groups[chosen][kinds[groups[chosen]] != kinds[index]]
        chosen_pairs.append((index, random.choice(partners)))
    pairs = np.array(chosen_pairs)
    return pairs[:, 0], pairs[:, 1]


def _panel(encoder: str, centering: str, kinds: Mapping[str, Sequence[Estimate]], layers: Sequence[int]) -> Panel:
    curves = tuple(
        curve(KINDS[kind], colour, layers, values)
        for (kind, values), colour in zip(kinds.items(), COLOURS, strict=False)
    )
    title = "no centering" if centering == "none" else f"{centering} centering"
    return Panel(f"{encoder}, {title}", curves, "layer", (-0.15, 1.0), up="mean cosine")
