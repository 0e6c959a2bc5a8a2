from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.translate.meteor_score import meteor_score, single_meteor_score

import rewards
from rewards.lexical import meteor as module
from rewards.lexical.meteor import align, meteor

words = st.lists(
    st.sampled_from(["the", "cat", "cats", "sat", "sitting", "sits", "big", "large", "tall", "mat"]), max_size=14
)


class Synonyms:
    """A WordNet of one sense, big = tall = large = very_big."""

    @staticmethod
    def synsets(word: str) -> list[SimpleNamespace]:
        names = ("big", "tall", "large", "very_big")
        lemmas = [SimpleNamespace(name=lambda name=name: name) for name in names]
        return [SimpleNamespace(lemmas=lambda: lemmas)] if word in names else []

    @staticmethod
    def get_version() -> str:
        return "0"


class NoSynonyms:
    @staticmethod
    def synsets(word: str) -> tuple[()]:
        return ()


class Unchanged:
    stem = staticmethod(str)


def test_stems_match_after_exact_words() -> None:
    assert align(["cats", "cat"], ["cat", "cats"], "exact") == [(0, 1), (1, 0)]
    assert align(["running"], ["runs"], "exact") == []
    assert align(["running"], ["runs"], "exact-stem") == [(0, 0)]


@given(words, words, st.booleans())
def test_equals_nltk(candidate: list[str], reference: list[str], stem: bool) -> None:
    stages, more = ("exact-stem", {}) if stem else ("exact", {"stemmer": Unchanged})
    official = single_meteor_score(reference, candidate, wordnet=NoSynonyms, **more)
    assert meteor(candidate, reference, stages) == official


@given(words, words)
def test_equals_nltk_with_synonyms(candidate: list[str], reference: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_wordnet", lambda: Synonyms)
        module._synonyms.cache_clear()
        ours = meteor(candidate, reference, "exact-stem-synonym")
        module._synonyms.cache_clear()
    assert ours == single_meteor_score(reference, candidate, wordnet=Synonyms)


@settings(deadline=None, max_examples=25)
@given(words.map(" ".join), st.lists(words.map(" ".join), min_size=1, max_size=3), st.sampled_from([0.5, 0.9]))
def test_the_best_reference_as_in_nltk(candidate: str, references: list[str], alpha: float) -> None:
    score = rewards.load("meteor", alpha=alpha, beta=2, gamma=0.4)([candidate], [references])[0]
    if not any(references):
        assert np.isnan(score)
    else:
        split = [text.split() for text in references]
        assert score == meteor_score(split, candidate.split(), wordnet=NoSynonyms, alpha=alpha, beta=2, gamma=0.4)


@given(words.filter(bool), words)
def test_nothing_scores_higher_than_the_reference_itself(reference: list[str], other: list[str]) -> None:
    same = meteor(reference, reference, "exact-stem")
    assert same == pytest.approx(1 - 0.5 / len(reference) ** 3)
    assert meteor(other, reference, "exact-stem") <= same + 1e-12


def test_words_are_lower_cased_and_without_punctuation() -> None:
    score = rewards.load("meteor")(["The cat, sat!"], [["the CAT sat"]])[0]
    assert score == pytest.approx(1 - 0.5 / 3**3)
    assert rewards.load("meteor", tokenizer="spacy")(["The cat, sat!"], [["the CAT sat"]])[0] < score


def test_the_name_says_which_stages(monkeypatch: pytest.MonkeyPatch) -> None:
    assert rewards.load("meteor").name == "meteor-exact-stem"
    assert rewards.load("meteor", stages="exact").signature.startswith("meteor-exact|")
    monkeypatch.setattr(module, "_wordnet", lambda: Synonyms)
    module._synonyms.cache_clear()
    whole = rewards.load("meteor", stages="exact-stem-synonym")
    assert whole.name == "meteor"
    assert "wordnet:0" in whole.signature
    assert whole.units("big") is None  # type: ignore[attr-defined]
    assert whole(["a big cat"], [["a tall cat"]])[0] > rewards.load("meteor")(["a big cat"], [["a tall cat"]])[0]


def test_like_nltk_synonyms_are_sought_among_stems(monkeypatch: pytest.MonkeyPatch) -> None:
    """Large is larg by then, which is no synonym of big."""
    monkeypatch.setattr(module, "_wordnet", lambda: Synonyms)
    module._synonyms.cache_clear()
    assert align(["big"], ["tall"], "exact-stem-synonym") == [(0, 0)]
    assert align(["big"], ["large"], "exact-stem-synonym") == []
    module._synonyms.cache_clear()


def test_missing_wordnet_is_named_with_the_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    import nltk

    monkeypatch.setattr(nltk.data, "path", [])
    module._wordnet.cache_clear()
    if "WordNetCorpusReader" in repr(type(nltk.corpus.wordnet)):
        pytest.skip("WordNet was read before in this process")
    with pytest.raises(rewards.RewardError, match=r"nltk.downloader wordnet.*stages=exact-stem"):
        rewards.load("meteor", stages="exact-stem-synonym")


@pytest.mark.parametrize(("option", "value"), [("alpha", 1.5), ("gamma", -0.1), ("beta", 0)])
def test_wrong_parameters(option: str, value: float) -> None:
    with pytest.raises(rewards.RewardError, match=f"{option}={value}"):
        rewards.load("meteor", **{option: value})
