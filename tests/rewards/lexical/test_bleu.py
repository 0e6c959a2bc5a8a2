from __future__ import annotations

import logging
import math

import numpy as np
import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st

import rewards
from rewards.lexical.bleu import _sacrebleu, bleu_star
from rewards.scoring import Inputs

words = st.sampled_from(["the", "fox", "Quick", "is", "dog", "was", ".", "a-b", "3.5", "&quot;", "狐狸"])
texts = st.lists(words, min_size=1, max_size=12).map(" ".join)


@settings(deadline=None, max_examples=60)
@given(
    texts,
    st.lists(texts, min_size=1, max_size=3),
    st.sampled_from(["13a", "intl", "zh", "char", "none"]),
    st.sampled_from(["exp", "floor", "add-k", "none"]),
    st.booleans(),
    st.booleans(),
    st.integers(1, 9),
)
def test_bleu_equals_sacrebleu(candidate, references, tokenize, smooth, effective, lowercase, order):
    options = {"tokenize": tokenize, "smooth_method": smooth, "effective_order": effective, "lowercase": lowercase}
    options["max_ngram_order"] = order
    official = sacrebleu.BLEU(**options).sentence_score(candidate, references).score
    bleu = rewards.load("bleu", **options)
    assert bleu([candidate], [references])[0] == min(1.0, official / 100)
    counts, value = bleu.corpus_counts(Inputs([candidate, "a fox"], [references, ["the fox"]]))
    streams = [[text, None if place else "the fox"] for place, text in enumerate(references)]
    whole = sacrebleu.BLEU(**options | {"effective_order": False}).corpus_score([candidate, "a fox"], streams).score
    assert value(counts.sum(axis=0)) == min(1.0, whole / 100)


@settings(max_examples=500)
@given(st.text(st.sampled_from(" \n\t\x1c\xa0\u2003.,-&;ab19{}['$/<>") | st.characters(), max_size=30))
def test_tokens_of_13a_from_its_chunks_are_those_of_sacrebleu(text: str) -> None:
    made, _ = _sacrebleu(tokenize="13a")
    assert made.tokenizer(text) == sacrebleu.BLEU(tokenize="13a").tokenizer(text)


def test_several_references_count_together() -> None:
    """Bigrams from one, the rest from the other: more than the best of the two alone."""
    candidate, references = "the cat sat on a mat today", ["the cat sat still", "he sat on a mat today"]
    bleu = rewards.load("bleu")
    alone = bleu([candidate] * 2, [[text] for text in references])
    assert bleu([candidate], [references])[0] > alone.max()
    assert bleu([candidate], [[*references, " "]])[0] == bleu([candidate], [references])[0]


def test_without_effective_order_short_texts_get_nothing_and_no_warning(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert rewards.load("bleu", effective_order=False)(["a cat"], [["a cat"]])[0] == 0.0
    assert rewards.load("bleu")(["a cat"], [["a cat"]])[0] == pytest.approx(1.0)
    assert not caplog.records


def test_the_signature_holds_that_of_sacrebleu() -> None:
    reward = rewards.load("bleu", smooth_method="floor", smooth_value=0.012)
    expected = f"sacrebleu:[nrefs:var|case:mixed|eff:yes|tok:13a|smooth:floor[0.01]|version:{sacrebleu.__version__}]"
    assert expected in reward.signature
    before = reward.signature
    reward(["a b"], [["a b"]])
    assert reward.signature == before
    assert rewards.load("bleu", smooth_method="floor", smooth_value=0.011).signature != before


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ({"smooth_value": 0.1}, ["smooth_value=0.1", "floor or add-k"]),
        ({"smooth_method": "floor", "smooth_value": 0}, ["must be > 0"]),
        ({"max_ngram_order": 0}, ["max_ngram_order=0"]),
        ({"tokenize": "spm"}, ["tokenize='spm'", "13a"]),
    ],
)
def test_wrong_options_of_bleu(options: dict, parts: list[str]) -> None:
    with pytest.raises(rewards.RewardError) as caught:
        rewards.load("bleu", **options)
    assert all(part in str(caught.value) for part in parts), str(caught.value)


def test_a_tokenizer_whose_package_is_missing_says_so_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from rewards.lexical import bleu

    def missing(**options: object) -> None:
        raise RuntimeError("extra dependencies")

    monkeypatch.setattr(sacrebleu.metrics, "BLEU", missing)
    bleu._sacrebleu.cache_clear()
    with pytest.raises(rewards.RewardError, match=r"tokenize=ja-mecab .* sacrebleu\[ja\]"):
        rewards.load("bleu", tokenize="ja-mecab")


def brute(candidate: list[str], reference: list[str], zero_order: str, clip: bool) -> float:
    """BLEU* as the paper writes it, n-gram by n-gram."""
    if not set(candidate) & set(reference):
        return 0.0
    product = 1.0
    for n in (2, 3, 4):
        ours = [candidate[i : i + n] for i in range(len(candidate) - n + 1)]
        theirs = [reference[i : i + n] for i in range(len(reference) - n + 1)]
        found = 0
        for ngram in ours:
            if ngram in theirs:
                found += 1
                if clip:
                    theirs.remove(ngram)
        if not found and zero_order == "stop":
            break
        product *= found / len(ours) if ours else 0.0
    return math.exp(min(0, 1 - len(reference) / len(candidate))) * product ** (1 / 3)


few = st.lists(st.sampled_from("abc"), min_size=1, max_size=9)


@given(few, few, st.sampled_from(["zero", "stop"]), st.booleans())
def test_bleu_star_equals_the_printed_formula(first: list[str], second: list[str], zero_order: str, clip: bool) -> None:
    reward = rewards.load("bleu-star", zero_order=zero_order, clip=clip)
    score = reward([" ".join(first)], [[" ".join(second)]])[0]
    if zero_order == "zero" and len(second) < 4:
        assert np.isnan(score)
    else:
        assert score == pytest.approx(brute(first, second, zero_order, clip), abs=1e-12)


def test_figure_1_of_the_paper() -> None:
    """The fox resembles the first two sentences only where the product stops at the first order without a match."""
    sentences = [["The dog was quick."], ["It is the fox."], ["Dogs are lazy."]]
    stop = rewards.load("bleu-star", zero_order="stop")(["The fox is quick"] * 3, sentences)
    assert (stop >= 0.08).tolist() == [True, True, False]
    assert stop == pytest.approx([1.0, (1 / 3) ** (1 / 3), 0.0])  # the fox is one bigram of three
    printed = rewards.load("bleu-star")(["The fox is quick"] * 3, sentences)
    assert printed[:2].tolist() == [0.0, 0.0]
    assert np.isnan(printed[2])  # three words: no 4-gram to meet


def test_texts_under_four_words() -> None:
    printed, stop = rewards.load("bleu-star"), rewards.load("bleu-star", zero_order="stop")
    assert printed(["a b c"], [["a b c d"]])[0] == 0.0
    assert printed.undefined("a b c", ["a b c"]) == "its reference has 3 words, fewer than 4"
    assert stop(["a b c", "a"], [["a b c"], ["a"]]).tolist() == [1.0, 1.0]
    assert stop(["a b c"], [["a b c d"]])[0] == pytest.approx(math.exp(1 - 4 / 3))


def test_bleu_star_of_many_texts_at_once() -> None:
    hits = np.array([[3.0, 0.0], [2.0, 0.0], [1.0, 0.0], [0.0, 0.0]])
    assert bleu_star(hits, 3, np.array([3, 6]), "stop").tolist() == [np.cbrt(1.0), 0.0]
