from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlsum.data.vocabulary import BOS, EOS, PAD, SPECIALS, UNK, Vocabulary, VocabularyError

words = st.text(min_size=1).filter(lambda word: not any(c.isspace() for c in word) and word.isprintable())


def built(words, size=20, **options):
    return Vocabulary.of_counts(Counter(words), size, **options)


def test_most_frequent_first_ties_by_alphabet_and_counts_kept():
    vocabulary = built("baccbd", size=3)
    assert vocabulary.words == (*SPECIALS, "b", "c", "a")
    assert vocabulary.counts == (0, 0, 0, 0, 2, 2, 1)
    assert (PAD, UNK, BOS, EOS, len(vocabulary)) == (0, 1, 2, 3, 7)
    assert built("aab", min_count=2).words[4:] == ("a",)


def test_an_article_extends_the_vocabulary_by_its_unknown_words_in_order():
    vocabulary = built("abc")
    ids, unknown = vocabulary.extend(["Zoe", "a", "Yan", "Zoe", "b"])
    assert unknown == ("Zoe", "Yan")
    assert ids == [7, 4, 8, 7, 5]
    assert vocabulary.encode_target(["Yan", "Xi", "c", "Zoe"], unknown) == [8, UNK, 6, 7]
    assert [vocabulary.surface(i, unknown) for i in ids] == ["Zoe", "a", "Yan", "Zoe", "b"]


@pytest.mark.parametrize("special", SPECIALS)
def test_text_that_spells_a_special_is_only_text(special):
    vocabulary = built([special] * 9 + ["a"])
    assert vocabulary.words == (*SPECIALS, "a")
    ids, unknown = vocabulary.extend([special, "a"])
    assert ids == [5, 4]
    assert vocabulary.surface(5, unknown) == special
    assert vocabulary.encode_target([special], ()) == [UNK]


def test_case_and_composition_are_distinct_words():
    composed, decomposed = "caf\u00e9", "cafe\u0301"
    assert len(built([composed, decomposed, "A", "a"])) == 8


@pytest.mark.parametrize(
    "odd", ["1\t2", "#", '"', "\\n", "é", "日本", "🙂", "\ufeff", "\u200b", "-", "null", "\x00", "a\u0301", "007"]
)
def test_odd_words_survive_saving(tmp_path, odd):
    vocabulary = built([odd, odd, "plain"])
    vocabulary.save(tmp_path / "v.txt")
    assert Vocabulary.load(tmp_path / "v.txt") == vocabulary


@given(st.lists(words, max_size=30))
def test_saving_and_loading_gives_the_same(tmp_path_factory, tokens):
    path = tmp_path_factory.mktemp("v") / "v.txt"
    vocabulary = built(tokens)
    vocabulary.save(path)
    assert Vocabulary.load(path) == vocabulary


@given(st.lists(words, max_size=12), st.lists(words, max_size=12))
def test_every_token_of_an_article_comes_back_from_its_id(known, article):
    vocabulary = built(known)
    ids, unknown = vocabulary.extend(article)
    assert [vocabulary.surface(i, unknown) for i in ids] == article
    assert not set(ids) & {PAD, UNK, BOS, EOS}
    assert vocabulary.encode_target(article, unknown) == ids


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a 3\n", r":1: expected word<TAB>count"),
        ("<pad>\t0\n<unk>\tx\n", ":2: expected"),
        ("<pad>\t0\n<unk>\t²\n", ":2: expected"),
        ("a\t1\nb\t1\nc\t1\nd\t1\n", "first lines must be"),
        ("", ":1: expected"),
        ("<pad>\t0\r\n", ":1: expected"),
    ],
)
def test_a_file_that_is_no_vocabulary_is_refused_with_the_line(tmp_path, content, message):
    path = tmp_path / "v.txt"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(VocabularyError, match=message):
        Vocabulary.load(path)


def test_a_missing_vocabulary_is_a_users_error(tmp_path):
    with pytest.raises(VocabularyError, match=r"v\.txt"):
        Vocabulary.load(tmp_path / "v.txt")
