"""Texts that break tokenizers, under many options; `test_every_reward` holds every registered reward to them."""

from __future__ import annotations

import copy
import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rewards

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from hard_texts import HARD

PLAIN = "the cat runs to the river . the mayor sleeps ."
SHORT = [text for text in HARD.values() if len(text) < 1000]
JUDGED = [(PLAIN, 0.7), ("the dog falls .", 0.3), *((text, 0.5) for text in SHORT)]
KERNELS = ("bleu-star", "bleu-star(zero_order=zero, clip=true)", "rouge-lsum", "meteor", "bleu")


def specs(vectors: Path, encoder: Path) -> list[dict[str, Any]]:
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
    movers += [{"name": "s+wms", "encoder": str(encoder)}]
    movers += [{"name": "sms", "encoder": str(encoder), "context": "text", "occurrences": "averaged", "split": "spacy"}]
    return [*rouge, *bleu, *star, *words, *meteor, *neighbors, *movers]


@pytest.fixture(scope="module")
def every(vectors_file: Path, tiny_encoder: Path) -> list[rewards.Reward]:
    return [rewards.from_spec(spec) for spec in specs(vectors_file, tiny_encoder)]


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


def test_picklable_before_and_after_use(every: list[rewards.Reward], vectors_file: Path, tiny_encoder: Path) -> None:
    pairs = [PLAIN, "the dog sleeps"], [["the dog falls"], [PLAIN]]
    fresh = [rewards.from_spec(spec) for spec in specs(vectors_file, tiny_encoder)]
    for new, used in zip(fresh, every, strict=True):
        expected = used(*pairs)
        for reward in (pickle.loads(pickle.dumps(new)), pickle.loads(pickle.dumps(used))):
            np.testing.assert_array_equal(reward(*pairs), expected)
            assert reward.signature == used.signature
