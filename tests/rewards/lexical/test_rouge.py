from __future__ import annotations

from unicodedata import normalize

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer, _lcs_table, lcs_ind
from rouge_score.tokenize import tokenize

import rewards
from rewards.lexical import subsequences
from rewards.lexical.numbered import Numbered
from rewards.lexical.rouge import rouge_l, rouge_lsum
from rewards.lexical.subsequences import lcs_length, lcs_positions
from rewards.lexical.words import tokenizer_of, vocabulary_of
from rewards.text.languages import ENGLISH

VARIANTS = {f"rouge-{kind.lower()}": f"rouge{kind}" for kind in ("1", "2", "3", "L", "Lsum")}
SHORTEST = {"rouge-2": 2, "rouge-3": 3}

words = st.sampled_from(["the", "cats", "running", "garden", "Mayor", "storms", "e.g.", "3", "of", "happily"])
texts = st.lists(st.lists(words, min_size=1, max_size=9), min_size=2, max_size=4).map(
    lambda lines: "\n".join(" ".join(line) for line in lines)
)


def numbered(*texts: str) -> Numbered:
    return vocabulary_of("official", None, ENGLISH).numbered(texts)


@given(st.one_of(st.text(max_size=60), st.text("aB1 _-\nÄß\u017f\u212a", max_size=60)))
def test_tokens_equal_those_of_rouge_score(text: str) -> None:
    from nltk.stem.porter import PorterStemmer

    composed = normalize("NFC", text)
    assert list(tokenizer_of("official")(text)) == tokenize(composed, None)
    assert list(tokenizer_of("official", "porter")(text)) == tokenize(composed, PorterStemmer())


@settings(deadline=None, max_examples=150)
@given(texts | st.text(max_size=80), texts | st.text(max_size=80), st.sampled_from(sorted(VARIANTS)), st.booleans())
def test_equals_rouge_score_bit_for_bit(candidate: str, reference: str, name: str, stemmer: bool) -> None:
    official = RougeScorer([VARIANTS[name]], use_stemmer=stemmer).score(reference, candidate)[VARIANTS[name]]
    lines = {"split": "lines"} if name == "rouge-lsum" else {}
    for direction, field in (("precision", "precision"), ("recall", "recall"), ("f1", "fmeasure")):
        score = rewards.load(name, direction=direction, stemmer=stemmer, **lines)([candidate], [[reference]])[0]
        if len(tokenize(reference, None)) < SHORTEST.get(name, 1):
            assert np.isnan(score)  # where rouge-score says 0
        else:
            assert score == getattr(official, field)


@settings(deadline=None, max_examples=30)
@given(texts, st.lists(texts, min_size=2, max_size=3), st.sampled_from(sorted(VARIANTS)))
def test_several_references_the_best_f1_gives_all_directions(candidate: str, references: list[str], name: str) -> None:
    official = RougeScorer([VARIANTS[name]]).score_multi(references, candidate)[VARIANTS[name]]
    assert rewards.load(name)([candidate], [references])[0] == pytest.approx(official.fmeasure)
    assert rewards.load(name, direction="recall")([candidate], [references])[0] == pytest.approx(official.recall)


@pytest.mark.parametrize("name", sorted(VARIANTS))
def test_other_scripts_are_undefined_unless_counted(name: str) -> None:
    text = "большая кошка спит\nмэр идёт домой"
    official = rewards.load(name)
    assert np.isnan(official([text], [[text]])[0])
    assert "tokenizer=unicode" in str(official.undefined(text, [text]))
    assert rewards.load(name, tokenizer="unicode")([text], [[text]])[0] == pytest.approx(1.0)


def test_unicode_tokens_equal_the_official_ones_on_ascii() -> None:
    pair = ["Don't panic: 42_things, e.g. cats' homes"], [["panic, don't! homes of cats; 42 things"]]
    for stemmer in (False, True):
        both = [rewards.load("rouge-1", tokenizer=kind, stemmer=stemmer)(*pair)[0] for kind in ("official", "unicode")]
        assert both[0] == both[1]


def test_lsum_splits_a_single_line_into_sentences() -> None:
    lines, line = "The cat sleeps.\nThe dog runs.", "The dog runs. The cat sleeps."
    assert rewards.load("rouge-lsum")([line], [[lines]])[0] == pytest.approx(1.0)
    assert rewards.load("rouge-l")([line], [[lines]])[0] < 1.0
    for way, score in (("auto", 2 / 4), ("lines", 1 / 4)):
        reward = rewards.load("rouge-lsum", split=way)
        assert reward(["Bark dogs purr cats."], [["Cats purr. Dogs bark."]]) == pytest.approx([score])


@pytest.mark.parametrize("most", [3, 2**14], ids=["in blocks", "at once"])
@given(first=st.lists(st.integers(0, 4), max_size=40), second=st.lists(st.integers(0, 4), max_size=40))
def test_lcs_equals_the_table_of_rouge_score(most: int, first: list[int], second: list[int]) -> None:
    """The union over sentences depends on which of several common subsequences it is."""
    left, right = [str(item) for item in first], [str(item) for item in second]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subsequences, "STRIP", most)
        patch.setattr(subsequences, "ROWS", most)
        assert lcs_length(left, right) == _lcs_table(left, right)[-1][-1]
        assert lcs_positions(left, right) == sum(1 << place for place in lcs_ind(left, right))


def test_lsum_by_hand() -> None:
    """Lin 2004, section 3.2: w1 w2 and w1 w3 w5 unite to four of five; three candidate words are spurious."""
    score = rouge_lsum(numbered("w1 w2 w6 w7 w8\nw1 w3 w8 w9 w5", "w1 w2 w3 w4 w5"))
    assert score.recall == [4 / 5]
    assert score.precision == [4 / 10]


def test_lsum_counts_a_word_as_often_as_the_candidate_holds_it() -> None:
    assert rouge_lsum(numbered("a b", "a\na\nb a")).recall == [2 / 4]


def test_rouge_l_by_hand() -> None:
    score = rouge_l(numbered("the cat sat on the mat", "the cat lay on a mat today"))
    assert score.precision == pytest.approx([4 / 6])  # the cat on mat
    assert score.recall == pytest.approx([4 / 7])
    assert score.f1 == pytest.approx([8 / 13])


@pytest.mark.parametrize("name", sorted(VARIANTS))
def test_many_pairs_at_once_equal_rouge_score(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines of up to 90 words, shorter and longer than a machine word, in blocks of pairs with their own numbers."""
    monkeypatch.setattr("rewards.lexical.rouge.BLOCK", 7)
    monkeypatch.setattr("rewards.lexical.words.REMEMBERED", 20)
    monkeypatch.setattr("rewards.lexical.subsequences.CELLS", 64 * 40)
    monkeypatch.setattr("rewards.lexical.rouge.MOST", 70)
    generator = np.random.default_rng(0)

    def text() -> str:
        lines = [generator.integers(0, 12, generator.integers(1, 91)) for _ in range(generator.integers(1, 5))]
        return "\n".join(" ".join(f"w{word}" for word in line) + " end" for line in lines) + "\nthe end of it"

    candidates, references = [text() for _ in range(40)], [[text() for _ in range(1 + row % 3)] for row in range(40)]
    official = RougeScorer([VARIANTS[name]], use_stemmer=True)
    pairs = list(zip(candidates, references, strict=True))
    wanted = [max(official.score(one, text)[VARIANTS[name]].fmeasure for one in listed) for text, listed in pairs]
    reward = rewards.load(name, **({"split": "lines"} if name == "rouge-lsum" else {}))
    assert reward(candidates, references).tolist() == wanted
    assert [reward([one], [listed])[0] for one, listed in pairs] == wanted
