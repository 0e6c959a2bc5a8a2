from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards.encoding.vectors import read_vectors
from rewards.errors import RewardError
from rewards.text import sentences as text
from rewards.text.languages import language_of
from rewards.text.words import words


def test_lines_are_sentences() -> None:
    assert text.sentences("a b . c\n\n d e \n") == ["a b . c", "d e"]


def test_one_line_is_split_by_rules() -> None:
    assert text.sentences("The cat sat. The dog ran!") == ["The cat sat.", "The dog ran!"]
    assert text.sentences("one line only\n") == ["one line only"]


marks = st.sampled_from(
    ["U.S.", "Hello", "!", "...", ".", '"', "\u3002", "end.Start", "3.5", ":)", " ", "a.m.", "(", "\u00e9"]
)


@given(st.text(max_size=80) | st.lists(marks).map("".join))
def test_lines_hold_the_words_of_the_sentences(content: str) -> None:
    lines = [words(line) for line in text.lined(content).split("\n")]
    assert [line for line in lines if line] == [found for found in map(words, text.sentences(content)) if found]


def test_content_words_are_lower_cased_alphabetic_and_no_stop_words() -> None:
    found = text.content_words("The Mayor spent 3 days in Paris .\nhe was 42 .\nStorms , again")
    assert found == (("mayor", "spent", "days", "paris"), ("storms",))
    assert text.content_words("he was", "none") == (("he", "was"),)


def test_nltk_stop_words_are_nltk_s_or_an_error_with_the_fix() -> None:
    text.stop_words.cache_clear()
    try:
        found = text.stop_words("nltk")
    except RewardError as error:
        assert "nltk.downloader stopwords" in str(error)  # noqa: PT017 - either outcome is right, by machine
    else:
        assert {"the", "don't"} <= found


def test_unknown_stop_words_are_an_error() -> None:
    with pytest.raises(RewardError, match="spacy, nltk, none"):
        text.stop_words("french")  # type: ignore[arg-type]


@given(st.text(max_size=80))
def test_any_text_can_be_analysed(content: str) -> None:
    assert all(part == part.strip() != "" for part in text.sentences(content))
    assert all(word.isalpha() for words in text.content_words(content, "none") for word in words)


@given(st.text(max_size=80), st.sampled_from(["auto", "lines", "spacy"]))
def test_located_words_are_the_content_words(content: str, split: str) -> None:
    read, found = text.located_words(content, "none", split)  # type: ignore[arg-type]
    assert tuple(sentence.words for sentence in found) == text.content_words(content, "none", split)  # type: ignore[arg-type]
    for sentence in found:
        written = read[sentence.start : sentence.end]
        assert written == written.strip()
        assert tuple(read[start:end].lower() for start, end in sentence.spans) == sentence.words
        assert all(sentence.start <= start < end <= sentence.end for start, end in sentence.spans)


def test_where_words_stand() -> None:
    read, (first, second) = text.located_words(" The cat\tsat. \n\n Dogs ran !")
    assert (read[first.start : first.end], first.words) == ("The cat\tsat.", ("cat", "sat"))
    assert (read[second.start : second.end], second.words) == ("Dogs ran !", ("dogs", "ran"))
    assert [read[slice(*span)] for span in second.spans] == ["Dogs", "ran"]


def test_each_splitter() -> None:
    content = "Cats sleep. Dogs\nrun."
    expected = {"auto": (("cats", "sleep", "dogs"), ("run",)), "spacy": (("cats", "sleep"), ("dogs", "run"))}
    expected["lines"] = expected["auto"]
    assert {split: text.content_words(content, "spacy", split) for split in expected} == expected  # type: ignore[arg-type]
    assert text.content_words("Cats sleep. Dogs run.", "spacy", "lines") == (("cats", "sleep", "dogs", "run"),)


def test_sentences_of_nltk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its data is looked up where NLTK does; here it is Punkt's, knowing one abbreviation."""
    import nltk
    from nltk.tokenize.punkt import PunktParameters, save_punkt_params

    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    text._nltk_spans.cache_clear()
    with pytest.raises(RewardError, match=r"split=nltk.*nltk.downloader punkt_tab"):
        text.check_split("nltk")
    learned = PunktParameters()
    learned.abbrev_types.add("gov")
    (tmp_path / "tokenizers" / "punkt_tab").mkdir(parents=True)
    save_punkt_params(learned, str(tmp_path / "tokenizers" / "punkt_tab" / "english"))
    content = "Gov. Smith\nspoke. Storms hit  Ohio! Done"
    found = text.content_words(content, "spacy", "nltk")
    read, located = text.located_words(content, "spacy", "nltk")
    text._nltk_spans.cache_clear()
    assert found == (("smith", "spoke"), ("storms", "hit", "ohio"))
    assert [read[sentence.start : sentence.end] for sentence in located] == ["Gov. Smith\nspoke.", "Storms hit  Ohio!"]


def test_vectors_of_a_saved_pipeline(tmp_path: Path) -> None:
    import spacy

    pipeline = spacy.blank("en")
    pipeline.vocab.set_vector("cat", np.array([1.0, 2.0], np.float32))
    pipeline.vocab.set_vector("dog", np.array([3.0, 4.0], np.float32))
    pipeline.to_disk(tmp_path / "with")
    vectors = read_vectors(f"spacy:{tmp_path / 'with'}")
    np.testing.assert_array_equal(vectors.table[vectors.index["dog"]], [3.0, 4.0])
    assert len(vectors.index) == 2
    assert set(read_vectors(f"spacy:{tmp_path / 'with'}", words={"cat"}).index) == {"cat"}
    floret = spacy.blank("en")
    table = np.ones((8, 2), np.float32)
    floret.vocab.vectors = spacy.vectors.Vectors(
        strings=floret.vocab.strings, mode="floret", data=table, hash_count=2, minn=2, maxn=3
    )
    floret.to_disk(tmp_path / "floret")
    with pytest.raises(RewardError, match=r"mode floret\) belong to no words"):
        read_vectors(f"spacy:{tmp_path / 'floret'}")
    spacy.blank("en").to_disk(tmp_path / "without")
    with pytest.raises(RewardError, match="holds no vectors"):
        read_vectors(f"spacy:{tmp_path / 'without'}")


@pytest.mark.parametrize(
    ("language", "found"),
    [
        (None, ["今日は晴れ。", "「はい。」", "次"]),
        (None, ["यह है।", "वह है॥", "ठीक؟", "نعم۔", "ہاں"]),
        ("de", ["Am 3. Oktober kam er.", "Im 19. Jahrhundert war es so.", "Das war 1999.", "Er ist 19.", "Sie ging."]),
        ("de", ["Dr. Müller kam z. B. im Jahr 2020.", "Der II. Weltkrieg endete."]),
        ("da", ["Den 3. oktober kom han.", "I det 19. århundrede var det.", "Han er 19.", "Hun gik."]),
        ("fi", ["Hän tuli 3. lokakuuta.", "Se oli vuonna 1999.", "Sitten hän lähti."]),
        ("cs", ["Přišel 3. října.", "Bylo to v 19. století.", "Pak odešel."]),
        ("no", ["Den 3. oktober kom han.", "Det var 1999.", "Så gikk han."]),
        ("pl", ["Przyszedł 3. maja.", "To był XIX. wiek."]),
        ("hu", ["Október 3. napján jött.", "Az 1999. évi törvény.", "Majd elment."]),
        ("ja", ["3.5%です！", "本当？", "（はい。）", "次はOK."]),
        ("zh", ["他说：“你好。”", "涨了３．５％。", "完"]),
        ("ar", ["هل هذا كتاب؟", "نعم."]),
        ("en", ['He said "go."', "Then 3.5 left.", "OK?!"]),
        ("en", ["Am 3.", "Oktober kam er."]),
    ],
)
def test_sentences_of_languages(language: str | None, found: list[str]) -> None:
    for between in ("", " ") if language is None else ("" if language in ("ja", "zh") else " ",):
        whole, read = between.join(found), language_of(language)
        assert text.sentences(whole, read) == found
        located = text.located_words(whole, "none", language=read)[1]
        assert [whole[one.start : one.end] for one in located] == [one for one in found if any(map(str.isalpha, one))]
        assert text.content_words(whole, "none", language=read) == tuple(one.words for one in located)
