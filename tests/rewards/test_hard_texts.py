"""Texts that break tokenizers: each reward gives a number in range, or NaN with a reason, and never an exception."""

from __future__ import annotations

import copy
import inspect
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rewards
from rewards.base import resolve

HARD = {
    "empty": "",
    "blank": " \n\t ",
    "one character": "x",
    "one mark": ".",
    "10,000 words": "the cat runs and the dog sleeps in the red garden . " * 833,
    "one word of 10,000 letters": "y" * 10_000,
    "10,000 lines": "cat\n" * 10_000,
    "emoji": "👩‍👩‍👧‍👦 🐈 runs 🏃🏽‍♀️ !",
    "Chinese": "市长说、桥在暴风雨中倒塌了。",
    "right to left": "رئيس البلدية يقول إن الجسر سقط\nהחתול ישן בבית",  # noqa: RUF001
    "control characters": "the \x00cat\x07 \x1b[31m runs\x7f \u200b\u202e\ufeff",
    "separators": "cat\u2028dog\x85river\x1cstorm\u00a0mayor\r\nbridge",
    "lone surrogates": "the \ud800 cat \udfff\ud83d",
    "a surrogate alone": "\udc00",
    "combining marks": "e\u0301\u0301\u0301 ca\u0308t",
    "letters that grow when lower-cased": "İstanbul K ẞ",
    "entities": "&quot; &amp;amp; <skipped>",
}
PLAIN = "the cat runs to the river . the mayor sleeps ."
SHORT = [text for text in HARD.values() if len(text) < 1000]
JUDGED = [(PLAIN, 0.7), ("the dog falls .", 0.3), *((text, 0.5) for text in SHORT)]
KERNELS = ("bleu-star", "bleu-star(zero_order=zero, clip=true)", "rouge-lsum", "meteor", "bleu")


def specs(vectors: Path) -> list[dict[str, Any]]:
    rouge = [
        {"name": f"rouge-{kind}", "stemmer": stemmer} for kind in ("1", "2", "3", "l") for stemmer in (False, True)
    ]
    rouge += [{"name": "rouge-l", "tokenizer": "unicode"}]
    rouge += [
        {"name": "rouge-lsum", "tokenizer": kind, "split": split}
        for kind, split in (("official", "lines"), ("unicode", "auto"))
    ]
    bleu = [{"name": "bleu", "tokenize": tokenize} for tokenize in ("13a", "intl", "zh", "char", "none")]
    bleu += [
        {"name": "bleu", "smooth_method": smooth, "effective_order": False} for smooth in ("floor", "add-k", "none")
    ]
    star = [
        {"name": "bleu-star", "zero_order": zero, "clip": clip} for zero in ("zero", "stop") for clip in (False, True)
    ]
    words = [{"name": name, "tokenizer": "spacy"} for name in ("bleu-star", "meteor")]
    meteor = [{"name": "meteor", "stages": stages} for stages in ("exact", "exact-stem")]
    neighbors = [
        {"name": "bleu-neighbors", "examples": JUDGED, "kernel": kernel, "tau": 0.08, "a": 1, "b": 1}
        for kernel in KERNELS
    ]
    movers = [{"name": name, "vectors": str(vectors), "normalize": "unit"} for name in ("wms", "sms", "s+wms")]
    return [*rouge, *bleu, *star, *words, *meteor, *neighbors, *movers]


@pytest.fixture(scope="module")
def every(vectors_file: Path) -> list[rewards.Reward]:
    return [rewards.from_spec(spec) for spec in specs(vectors_file)]


def check(reward: rewards.Reward, candidates: list[str], references: list[list[str]]) -> None:
    scores = reward(candidates, references)
    assert ((scores >= 0) & (scores <= 1 + 1e-9) | np.isnan(scores)).all(), reward.signature
    for candidate, refs, score in zip(candidates, references, scores, strict=True):
        assert (reward.undefined(candidate, refs) is not None) == np.isnan(score), (reward.signature, candidate[:30])


@pytest.mark.parametrize("kind", HARD)
def test_hard_texts_get_a_score_or_a_reason(every: list[rewards.Reward], kind: str) -> None:
    text = HARD[kind]
    for reward in every:
        check(reward, [text, text, PLAIN, text], [[text], [PLAIN], [text], [PLAIN, text]])


@settings(deadline=None, max_examples=40)
@given(
    st.lists(
        st.text(st.characters(codec=None, exclude_categories=()), max_size=20)
        | st.text("aB. \ud800\n\x00的ب🐈", max_size=20),
        min_size=2,
        max_size=3,
    )
)
def test_any_string_at_all(every: list[rewards.Reward], written: list[str]) -> None:
    for reward in every:
        check(reward, written, [written[1:]] * len(written))


def test_a_text_is_never_beaten_at_resembling_itself(every: list[rewards.Reward]) -> None:
    """Identity is maximal; bleu-neighbors has no identity, and BLEU without effective order gives short texts 0."""
    for reward in every:
        if reward.name == "bleu-neighbors" or "eff:no" in reward.signature:
            continue
        for reference in [PLAIN, *SHORT]:
            same = reward([reference], [[reference]])[0]
            others = reward(SHORT, [[reference]] * len(SHORT))
            if not np.isnan(same):
                assert others.max() <= same + 1e-9, (reward.signature, reference[:30])
                assert "meteor" in reward.name or same == pytest.approx(1.0, abs=1e-9)


def test_inputs_unchanged_and_order_equivariant(every: list[rewards.Reward]) -> None:
    candidates = [PLAIN, "the dog sleeps", "", "🐈", "the cat"]
    references = [[PLAIN, "x"], ["the dog falls"], ["cat"], ["🐈"], ["the storm", "", "the cat runs"]]
    before = copy.deepcopy((candidates, references))
    order = [3, 0, 4, 2, 1]
    for reward in every:
        scores = reward(candidates, references)
        moved = reward([candidates[place] for place in order], [references[place] for place in order])
        np.testing.assert_array_equal(moved, scores[order])
        assert (candidates, references) == before


def test_picklable_before_and_after_use(every: list[rewards.Reward], vectors_file: Path) -> None:
    pairs = [PLAIN, "the dog sleeps"], [["the dog falls"], [PLAIN]]
    fresh = [rewards.from_spec(spec) for spec in specs(vectors_file)]
    for new, used in zip(fresh, every, strict=True):
        expected = used(*pairs)
        for reward in (pickle.loads(pickle.dumps(new)), pickle.loads(pickle.dumps(used))):
            np.testing.assert_array_equal(reward(*pairs), expected)
            assert reward.signature == used.signature


ROUGE = {"direction": "recall", "stemmer": True, "tokenizer": "unicode"}
OTHER: dict[str, dict[str, Any]] = {  # for each option a value that is not its default
    **dict.fromkeys(("rouge-1", "rouge-2", "rouge-3", "rouge-l"), ROUGE),
    "rouge-lsum": {**ROUGE, "split": "lines"},
    "bleu": {
        "tokenize": "char",
        "smooth_method": "floor",
        "smooth_value": 0.5,
        "effective_order": False,
        "max_ngram_order": 2,
        "lowercase": True,
    },
    "bleu-star": {"zero_order": "stop", "clip": True, "tokenizer": "spacy"},
    "meteor": {"stages": "exact", "tokenizer": "spacy", "alpha": 0.5, "beta": 2.0, "gamma": 0.1},
    "bleu-neighbors": {
        "examples": [("a", 1.0)] * 2,
        "kernel": "rouge-l",
        "tau": 0.3,
        "a": 2,
        "b": 0.5,
        "zero_order": "zero",
        "leave_one_out": True,
        "subsample": 1,
        "seed": 1,
    },
}
NEEDED: dict[str, dict[str, Any]] = {"bleu-neighbors": {"examples": [("a", 1.0), ("b", 0.0)]}}
WITH: dict[tuple[str, str], dict[str, Any]] = {
    ("bleu", "smooth_value"): {"smooth_method": "add-k"},
    ("bleu-neighbors", "seed"): {"subsample": 1},
}


@pytest.mark.parametrize("name", OTHER)
def test_the_signature_changes_with_every_option(name: str) -> None:
    assert set(OTHER[name]) == set(inspect.signature(resolve(name)).parameters), "an option without its own check"
    base = NEEDED.get(name, {})
    for option, value in OTHER[name].items():
        options = {**base, **WITH.get((name, option), {})}
        plain, changed = rewards.load(name, **options), rewards.load(name, **{**options, option: value})
        assert plain.signature != changed.signature, option
        assert rewards.load(name, **options).signature == plain.signature
