from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import rewards
from rewards.explain import explain
from rewards.lexical.rouge import prf
from rewards.mover.distance import EUCLIDEAN, Distance
from rewards.mover.items import Mover
from rlsum.explain.layout import layout_of
from rlsum.explain.picture import html

CANDIDATE = "The cat sleeps in the house . A dog runs , the dog ."
MANHATTAN = Distance(lambda first, second: np.abs(first[:, None] - second[None]).sum(axis=2), "Manhattan distance")
WORDS = st.lists(st.sampled_from("abc\n"), min_size=6)
REFERENCE = "A red cat runs .\nThe mayor sleeps .\nHmm !"


@pytest.mark.parametrize("name", ["wms", "sms", "s+wms"])
@pytest.mark.parametrize("oov", ["zero", "drop"])
@pytest.mark.parametrize("distance", [EUCLIDEAN, MANHATTAN], ids=lambda distance: distance.name)
def test_a_plan_is_the_transport_that_made_the_score(
    name: str, oov: str, distance: Distance, vectors_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reward = rewards.load(name, vectors=str(vectors_file), oov=oov)
    monkeypatch.setattr(Mover, "distance", distance)
    found = explain(reward, CANDIDATE, REFERENCE)
    assert found.note.partition(";")[0].endswith(f"its number the {distance.name}")
    assert f"its number the {distance.name} (" in html([layout_of(found)])
    assert found.plan is not None
    np.testing.assert_allclose(found.plan.sum(axis=1), [item.weight for item in found.candidate])
    np.testing.assert_allclose(found.plan.sum(axis=0), [item.weight for item in found.reference])
    assert np.exp(-(found.plan * found.values).sum()) == pytest.approx(found.score, abs=1e-12)
    assert found.score == reward([CANDIDATE], [[REFERENCE]])[0]
    flows = found.flows()
    assert sum(flow[2] for flow in flows) == pytest.approx(1)
    assert [flow[2] for flow in flows] == sorted((flow[2] for flow in flows), reverse=True)


def test_items_are_named_in_the_order_of_the_text(vectors_file: Path) -> None:
    found = explain(rewards.load("s+wms", vectors=str(vectors_file)), CANDIDATE, REFERENCE)
    words = {item.text: item for item in found.candidate if item.kind == "word"}
    assert [*sorted(words, key=lambda word: words[word].place)] == ["cat", "sleeps", "house", "dog", "runs"]
    assert words["dog"].weight == pytest.approx(2 / 12)
    assert [words[word].sentence for word in ("cat", "dog")] == [0, 1]
    sentences = [item for item in found.candidate if item.kind == "sentence"]
    assert [item.text for item in sentences] == ["The cat sleeps in the house .", "A dog runs , the dog ."]
    assert [item.weight for item in sentences] == [0.25, 0.25]
    assert found.reference[-1].text == "Hmm !"  # its only word has no vector: the zero vector
    unknown = next(item for item in found.reference if "hmm" in item.text)
    assert (unknown.text, unknown.kind, unknown.sentence) == ("no vector: hmm", "word", 2)
    without = explain(rewards.load("s+wms", vectors=str(vectors_file), oov="drop"), CANDIDATE, REFERENCE)
    assert not any("mm" in item.text for item in without.reference)


def test_equal_texts_stay_where_they_are(vectors_file: Path) -> None:
    found = explain(rewards.load("wms", vectors=str(vectors_file)), CANDIDATE, CANDIDATE)
    assert all(i == j and distance == 0 for i, j, _, distance in found.flows())


@pytest.mark.parametrize("name", ["wms", "sms", "s+wms"])
@pytest.mark.parametrize("options", [{}, {"normalize": "unit"}])
def test_a_plan_on_an_encoder(name: str, options: dict, tiny_encoder: Path) -> None:
    reward = rewards.load(name, encoder=str(tiny_encoder), **options)
    found = explain(reward, CANDIDATE, REFERENCE)
    assert found.plan is not None
    np.testing.assert_allclose(found.plan.sum(axis=1), [item.weight for item in found.candidate])
    np.testing.assert_allclose(found.plan.sum(axis=0), [item.weight for item in found.reference])
    assert np.exp(-(found.plan * found.values).sum()) == pytest.approx(found.score, rel=1e-4)
    told = [item.text for item in found.candidate if item.kind == "word"]
    if name == "sms":
        assert [item.text for item in found.candidate] == ["The cat sleeps in the house .", "A dog runs , the dog ."]
    else:  # every occurrence is an item
        assert told == ["cat", "sleeps", "house", "dog", "runs", "dog"]


@pytest.mark.parametrize("name", ["twmd", "bertscore", "sbert"])
def test_cosines_are_those_of_the_tokens(name: str, tiny_encoder: Path) -> None:
    found = explain(rewards.load(name, encoder=str(tiny_encoder)), "the cat sleeps .", "a red cat")
    assert found.plan is None
    assert [item.text for item in found.candidate][1:5] == ["the", "cat", "sleeps", "."]
    assert found.values.shape == (len(found.candidate), len(found.reference))
    assert (np.abs(found.values) <= 1 + 1e-9).all()
    if name == "sbert":  # the mean of all cosines over the roots of those of each text with itself
        own = [
            explain(rewards.load(name, encoder=str(tiny_encoder)), text, text).values.mean()
            for text in ("the cat sleeps .", "a red cat")
        ]
        assert found.values.mean() / np.sqrt(own[0] * own[1]) == pytest.approx(found.score)


def test_as_json_is_json(vectors_file: Path, tiny_encoder: Path) -> None:
    flow = explain(rewards.load("sms", vectors=str(vectors_file)), CANDIDATE, REFERENCE).as_json()
    assert json.loads(json.dumps(flow)) == flow
    assert {*flow} >= {"metric", "signature", "score", "candidate", "reference", "distances", "flows"}
    cosines = explain(rewards.load("twmd", encoder=str(tiny_encoder)), "the cat", "a dog").as_json()
    assert np.shape(json.loads(json.dumps(cosines))["cosines"]) == (3, 3)


@pytest.mark.parametrize(
    ("candidate", "reference", "words"),
    [("the", "cat", "the candidate has nothing"), ("cat", "the", "its reference holds no alphabetic word")],
)
def test_nothing_to_show(candidate: str, reference: str, words: str, vectors_file: Path) -> None:
    with pytest.raises(rewards.RewardError, match=words):
        explain(rewards.load("wms", vectors=str(vectors_file)), candidate, reference)


@pytest.mark.parametrize("name", ["rouge-1", "rouge-2", "rouge-3", "rouge-l", "rouge-lsum"])
@pytest.mark.parametrize("direction", ["precision", "recall", "f1"])
@given(candidate=WORDS, reference=WORDS)
def test_the_matches_of_rouge_make_its_score(name: str, direction: str, candidate: list, reference: list) -> None:
    texts = [" ".join(words).replace(" \n ", "\n") for words in (candidate, reference)]
    reward = rewards.load(name, direction=direction, **({"split": "lines"} if name == "rouge-lsum" else {}))
    assume(all(reward.undefined(text, [text]) is None for text in texts))
    found = explain(reward, *texts)
    pairs = np.argwhere(found.values)
    assert all(found.candidate[i].text == found.reference[j].text for i, j in pairs)
    assert len({*pairs[:, 0]}) == len({*pairs[:, 1]}) == len(pairs)
    assert getattr(prf(len(pairs), *found.values.shape), direction) == found.score
    if name == "rouge-l":
        assert all(i < k and j < m for (i, j), (k, m) in pairwise(pairs))


def test_matches_by_hand() -> None:
    found = explain(rewards.load("rouge-2"), "The cats sat. The cats ran.", "The cat ran")
    assert [item.text for item in found.candidate] == ["the cat", "cat sat", "sat the", "the cat", "cat ran"]
    assert np.argwhere(found.values).tolist() == [[0, 0], [4, 1]]
    assert found.as_json()["matches"] == [[0, 0], [4, 1]]


def test_other_rewards_are_refused() -> None:
    with pytest.raises(rewards.RewardError, match="bleu has no plan and no matrix"):
        explain(rewards.load("bleu"), "a", "b")
