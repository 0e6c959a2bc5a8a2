from __future__ import annotations

import json
import pickle
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rewards
from rewards.encoding.vectors import StaticVectors, read_vectors
from rewards.mover import static as movers
from rewards.mover.distance import euclidean
from rewards.mover.items import ItemKind, Rows, items_of, mover_similarity
from rewards.mover.static import WordSpace
from rewards.text.sentences import Split, content_words

KINDS = {"wms": "words", "sms": "sentences", "s+wms": "both"}
NAMES = sorted(KINDS)

# Points on a line, so that transport can be done by hand.
LINE = StaticVectors(np.array([[0.0], [1.0], [3.0]], np.float32), {"zero": 0, "one": 1, "three": 2}, "line")
SPACE = WordSpace.of(LINE, "none", "zero")


def rows_of(space: WordSpace, sentences: Iterable[Iterable[str]]) -> Rows:
    kept = (tuple(row for word in words if (row := space.row(word)) is not None) for words in sentences)
    return [rows for rows in kept if rows]


def score_sentences(candidate: list[list[str]], reference: list[list[str]], space: WordSpace, kind: ItemKind) -> float:
    return mover_similarity(*(items_of(rows_of(space, text), space.table, kind) for text in (candidate, reference)))


@pytest.mark.parametrize(("name", "kind"), KINDS.items())
def test_golden_values(shared: Path, name: str, kind: str) -> None:
    pairs = json.loads((shared / "golden" / "movers_word2vec_unit.json").read_text())["pairs"]
    words = {word for pair in pairs for side in ("candidate", "reference") for line in pair[side] for word in line}
    vectors = read_vectors(shared / "data" / "vectors" / "cnndm_word2vec_300d_30k.txt.gz", words=words)
    space = WordSpace.of(vectors, "unit", "zero")
    found = [score_sentences(pair["candidate"], pair["reference"], space, kind) for pair in pairs]  # type: ignore[arg-type]
    np.testing.assert_allclose(found, [pair[name] for pair in pairs], atol=1e-6)


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 6), st.floats(1e-3, 1e3))
def test_distances_are_exact_and_zero_for_equal_points(seed: int, rows: int, columns: int, scale: float) -> None:
    random = np.random.default_rng(seed)
    first, second = random.normal(size=(rows, 5)) * scale, random.normal(size=(columns, 5)) * scale
    second[0] = first[0]
    direct = np.linalg.norm(first[:, None] - second[None], axis=2)
    np.testing.assert_allclose(euclidean(first, second), direct, rtol=1e-7, atol=1e-7 * scale)
    assert euclidean(first, second)[0, 0] == 0.0
    assert np.isfinite(euclidean(np.zeros((1, 5)), np.zeros((1, 5)))).all()


def test_wms_by_hand() -> None:
    # {0: 1/2, 1: 1/2} to {3: 1}: half travels 3, half 2.
    assert score_sentences([["zero", "one"]], [["three"]], SPACE, "words") == pytest.approx(np.exp(-2.5))
    # {0: 2/3, 3: 1/3} to {0: 1/3, 3: 2/3}: a third travels 3.
    first, second = [["zero", "zero", "three"]], [["three", "zero", "three"]]
    assert score_sentences(first, second, SPACE, "words") == pytest.approx(np.exp(-1.0))


def test_sms_by_hand() -> None:
    # Sentences at mean 0.5 (2 of 3 words) and 3 (1 of 3) to one sentence at 3: 2/3 travel 2.5.
    first = [["zero", "one"], ["three"]]
    assert score_sentences(first, [["three"]], SPACE, "sentences") == pytest.approx(np.exp(-2.5 * 2 / 3))


def test_sentences_of_equal_weight_by_hand() -> None:
    # At 0.5 (two words) and 3: half each, instead of 2/3 and 1/3; a sentence said again counts again.
    items = items_of(rows_of(SPACE, [["zero", "one"], ["three"], ["three"]]), SPACE.table, "sentences", "uniform")
    assert sorted(zip(items.points.ravel(), items.weights, strict=True)) == [(0.5, 1 / 3), (3.0, 2 / 3)]
    both = items_of(rows_of(SPACE, [["zero", "one"], ["three"]]), SPACE.table, "both", "uniform")
    np.testing.assert_allclose(both.weights, [1 / 6, 1 / 6, 1 / 6, 1 / 4, 1 / 4])


def test_a_splitter_changes_sentences_and_not_words(vectors_file: Path) -> None:
    options = {"vectors": str(vectors_file), "normalize": "unit"}
    text, lines = "Cat runs. Dog\nsleeps.", "cat runs\ndog\nsleeps"
    auto = rewards.load("sms", **options)
    assert auto([text], [["cat runs dog\nsleeps"]])[0] == 1.0  # its lines are its sentences
    assert rewards.load("sms", split="spacy", **options)([text], [["Cat runs. Dog sleeps."]])[0] == 1.0
    one_line = "Cat runs. Dog sleeps."
    turned = rewards.load("sms", split="lines", **options)([one_line], [["Dog runs. Cat sleeps."]])[0]
    assert turned == pytest.approx(1.0, abs=1e-12)  # the mean of the same words, added up in another order
    assert auto([one_line], [["Dog runs. Cat sleeps."]])[0] < 1.0
    for split in ("auto", "lines", "spacy"):
        assert rewards.load("wms", split=split, **options)([text], [[lines]])[0] == 1.0


def test_s_wms_moves_words_and_sentences_in_one_problem() -> None:
    # Words 0 and 1 (1/4 each) and their sentence 0.5 (1/2), all to 3.
    moved = np.exp(-(3 + 2) / 4 - 2.5 / 2)
    assert score_sentences([["zero", "one"]], [["three"]], SPACE, "both") == pytest.approx(moved)
    # A word may move to a sentence: to words 0, 1 and sentence 0.5 from the word and sentence "one" at 1.
    items = items_of(rows_of(SPACE, [["zero", "one"]]), SPACE.table, "both")
    np.testing.assert_allclose(items.points.ravel(), [0, 1, 0.5])
    np.testing.assert_allclose(items.weights, [0.25, 0.25, 0.5])


def test_unknown_words_are_zero_or_dropped() -> None:
    drop = WordSpace.of(LINE, "none", "drop")
    assert score_sentences([["three", "unseen"]], [["three"]], SPACE, "words") == pytest.approx(np.exp(-1.5))
    assert score_sentences([["three", "unseen"]], [["three"]], drop, "words") == 1.0
    assert score_sentences([["unseen"], ["three"]], [["three"]], drop, "sentences") == 1.0


def test_unit_length_scales_words_not_sentences() -> None:
    vectors = StaticVectors(np.array([[3.0, 4.0], [0.0, 0.0], [0.0, 2.0]], np.float32), {"a": 0, "b": 1, "c": 2}, "x")
    space = WordSpace.of(vectors, "unit", "zero")
    np.testing.assert_allclose(space.table, [[0.6, 0.8], [0, 0], [0, 1], [0, 0]], atol=1e-7)
    sentence = items_of(rows_of(space, [["a", "c"]]), space.table, "sentences")
    np.testing.assert_allclose(sentence.points, [[0.3, 0.9]], atol=1e-7)


@given(st.lists(st.sampled_from(["zero", "One", "three,", "unseen", "the", ".", "x-Inc.", "_", "\n"])).map(" ".join))
def test_texts_are_read_as_the_rows_of_their_words(content: str) -> None:
    splits: tuple[Split, ...] = ("auto", "lines", "spacy")
    for space in (SPACE, WordSpace.of(LINE, "none", "drop")):
        for split in splits:
            words = content_words(content, "spacy", split)
            assert movers._reader(space, "spacy").read(content, split) == tuple(rows_of(space, words))


sentences = st.lists(
    st.lists(st.sampled_from(["cat", "dog", "river", "mayor", "storm", "the", "unseen", "."]), min_size=1, max_size=6),
    min_size=1,
    max_size=4,
).map(lambda lines: "\n".join(" ".join(line) for line in lines))


@settings(deadline=None, max_examples=50)
@given(sentences, sentences, st.sampled_from(NAMES), st.sampled_from(["zero", "drop"]))
def test_symmetric_in_range_and_one_for_itself(vectors_file, first, second, name, oov):
    reward = rewards.load(name, vectors=str(vectors_file), oov=oov)
    there, back, same = reward([first, second, first], [[second], [first], [first]])
    if reward.undefined(first, [first]) is not None:
        assert np.isnan(back)
        assert np.isnan(same)
    else:
        assert same == 1.0
        assert 0.0 <= back <= 1.0
        if not np.isnan(there):
            assert there == pytest.approx(back, abs=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_to_weigh(vectors_file: Path, name: str) -> None:
    reward = rewards.load(name, vectors=str(vectors_file))
    empties = ["", " \n", "the of", "42 !", "unseen words"]
    assert reward(empties, [["cat"]] * 5).tolist() == [0.0] * 5
    assert np.isnan(reward(["cat"] * 5, [[text] for text in empties])).all()
    assert np.isnan(reward(["cat"], [[]])[0])
    assert "no reference" in str(reward.undefined("cat", []))
    assert "empty" in str(reward.undefined("cat", [""]))
    assert "no alphabetic word" in str(reward.undefined("cat", ["the of"]))
    assert "no word that has a vector" in str(reward.undefined("cat", ["unseen words"]))
    assert reward.undefined("cat", ["", "dog"]) is None


def test_case_and_stop_words_do_not_count(vectors_file: Path) -> None:
    reward = rewards.load("s+wms", vectors=str(vectors_file))
    assert reward(["The Cat sleeps in the garden!"], [["cat sleeps garden"]])[0] == 1.0


def test_the_signature_follows_the_content_of_the_vectors_not_their_place(vectors_file: Path, tmp_path: Path) -> None:
    base = rewards.load("sms", vectors=str(vectors_file))
    copied = tmp_path / "moved.txt"
    copied.write_bytes(vectors_file.read_bytes())
    assert rewards.load("sms", vectors=str(copied), split="auto").signature == base.signature
    assert "solver:exact-pot" in base.signature
    assert str(vectors_file) not in base.signature
    assert len(pickle.dumps(base)) < 1000  # options only: the vectors are not carried along
