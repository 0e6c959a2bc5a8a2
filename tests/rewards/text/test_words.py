"""What a word is, in every script, and what a language decides."""

from __future__ import annotations

from unicodedata import category, normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rewards
from rewards.text.languages import NAMES, PIPELINES, STEMMERS, STOP_WORDS, language_of
from rewards.text.words import LEFT_OUT, WORD, is_letters, joined, pattern, pieces, runs, units, words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("l'été, don’t well-known snake_case", ["l", "été", "don", "t", "well", "known", "snake", "case"]),
        ("e\u0301te\u0301", ["été"]),
        ("كِتَابٌ كتـــاب", ["كِتَابٌ", "كتاب"]),
        ("Ge\u00admein\u00adde Straße", ["Gemeinde", "Straße"]),
        ("می\u200cخواهم", ["می\u200cخواهم"]),
        ("שָׁלוֹם", [normalize("NFC", "שָׁלוֹם")]),
        ("ナノAI社が2024年に", ["ナ", "ノ", "AI", "社", "が", "2024", "年", "に"]),
        ("ラーメン", ["ラ", "ー", "メ", "ン"]),
        ("ที่นี่ ๒๕", ["ที่", "นี่", "๒๕"]),
        ("안녕하세요 여러분", ["안녕하세요", "여러분"]),
        ("m² 👍🏽 ٣ ＡＢ", ["m²", "٣", "ＡＢ"]),
        ("… — 。 _", []),
    ],
)
def test_words_of_every_script(text: str, found: list[str]) -> None:
    assert words(text) == found


def _by_categories(text: str) -> list[str]:
    """Letters and digits with the marks behind them, by Unicode's categories alone."""
    found, open_ = list[str](), False
    for sign in normalize("NFC", text).translate(LEFT_OUT):
        starts = category(sign)[0] in "LN"
        if starts:
            found.append(sign)
        elif open_ and (category(sign)[0] == "M" or sign in "\u200c\u200d"):
            found[-1] += sign
        open_ = starts or (open_ and (category(sign)[0] == "M" or sign in "\u200c\u200d"))
    return found


known = st.characters(exclude_categories=["Cn", "Cs"])  # Python's table of Unicode may be older


@given(st.text(known, max_size=40))
def test_characters_are_letters_and_digits_with_their_marks(text: str) -> None:
    assert words(text, "character") == _by_categories(text)
    assert "".join(words(text)) == "".join(words(text, "character"))


@given(st.text(st.characters(max_codepoint=0x2FF) | st.characters(min_codepoint=0x2000, max_codepoint=0x2070)))
def test_the_short_way_for_latin_text_finds_the_same_words(text: str) -> None:
    assert words(text) == pattern(WORD).findall(normalize("NFC", text).translate(LEFT_OUT))


@pytest.mark.parametrize("name", ["rouge-1", "rouge-l", "rouge-lsum", "bleu", "bleu-star", "meteor"])
@pytest.mark.parametrize("options", [{}, {"tokenizer": "unicode"}, {"language": "fr"}])
def test_composed_and_decomposed_texts_are_equal(name: str, options: dict[str, str]) -> None:
    text = "Le café était fermé à Noël"
    if name == "bleu":
        options = {key: value for key, value in options.items() if key == "language"}
    reward = rewards.load(name, **options)
    same, mixed = reward([text, normalize("NFD", text)], [[text], [text]])
    assert same == mixed


@pytest.mark.parametrize(
    ("candidate", "reference", "score"),
    [("कि", "की", 0.0), ("हिन्दी भाषा", "हिन्दी भाषण", 0.5), ("ไป", "ได", 0.5)],
)
def test_marks_are_parts_of_words(candidate: str, reference: str, score: float) -> None:
    assert rewards.load("rouge-1(tokenizer=unicode)")([candidate], [[reference]]) == pytest.approx([score])


def test_characters_are_compared_in_languages_without_spaces() -> None:
    reward = rewards.load("rouge-1", language="ja")
    assert reward(["今日は、晴れ。"], [["今日は雨"]]) == pytest.approx([2 * 3 / (5 + 4)])
    assert "tokenizer:character|language:ja" in reward.signature


def test_a_language_has_its_stemmer_and_an_option_wins() -> None:
    pair = ["les maisons continuaient"], [["la maison continuait"]]
    assert rewards.load("rouge-1", language="fr")(*pair) == pytest.approx([2 / 3])
    assert rewards.load("rouge-1", language="fr", stemmer=False)(*pair) == 0
    assert "stems:french-nltk" in rewards.load("meteor", language="fr").signature
    assert rewards.load("meteor", language="hi").name == "meteor-exact"
    for name, option in (("rouge-1", {"stemmer": True}), ("meteor", {"stages": "exact-stem"})):
        with pytest.raises(rewards.RewardError, match="no stemmer for language=hi"):
            rewards.load(name, language="hi", **option)


def test_english_by_its_code_scores_as_without() -> None:
    pair = ["the running dogs ran"], [["a dog runs"]]
    for name in ("rouge-1", "rouge-lsum", "meteor", "bleu", "bleu-star"):
        assert rewards.load(name, language="en")(*pair) == pytest.approx(rewards.load(name)(*pair), nan_ok=True)


@pytest.mark.parametrize(
    ("spec", "written"),
    [
        ("rouge-l", "rouge-l(language=hi)"),
        ("rouge-l(language=fr)", "rouge-l(language=fr)"),
        ("weighted(rouge-l=0.7, length(high=3)=0.3)", "weighted(rouge-l(language=hi)=0.7, length(high=3)=0.3)"),
        ("limited(reward=rouge-1, seconds=2)", "limited(reward=rouge-1(language=hi), seconds=2)"),
        ("bleu-neighbors(examples=x)", "bleu-neighbors(examples=x, kernel=bleu-star(language=hi))"),
        ("bertscore(rescale=x)", "bertscore(rescale=x)"),
    ],
)
def test_a_language_reaches_every_reward_that_reads_words(spec: str, written: str) -> None:
    assert str(rewards.in_language(spec, "hi")) == written


@pytest.mark.parametrize(("code", "meant"), [("french", "fr"), ("fr-FR", "fr"), ("xq", "known")])
def test_an_unknown_language_names_those_that_are_known(code: str, meant: str) -> None:
    with pytest.raises(rewards.RewardError, match="af, am") as error:
        rewards.load("rouge-1", language=code)
    assert meant == "known" or f"did you mean {meant!r}" in str(error.value)


def test_turkish_has_two_letters_i() -> None:
    assert rewards.load("rouge-1", language="tr")(["İSTANBUL IŞIK"], [["istanbul ışık"]]) == 1


def test_the_table_of_languages_is_true() -> None:
    import spacy
    from nltk.stem.snowball import SnowballStemmer

    assert {*PIPELINES, *STEMMERS, *STOP_WORDS} <= NAMES.keys()
    assert set(STEMMERS.values()) <= set(SnowballStemmer.languages)
    for code in NAMES:
        language = language_of(code)
        spacy.blank(language.pipeline)
        if language.stop_list is not None:
            assert spacy.util.get_lang_class(language.stop_list).Defaults.stop_words


@pytest.mark.parametrize(("word", "is_word"), [("हिन्दी", True), ("e\u0301", True), ("a1", False), ("-", False)])
def test_letters_with_marks_are_letters(word: str, is_word: bool) -> None:
    assert is_letters(word) == is_word


@pytest.mark.parametrize(
    "text", ["米国のOpenAI、GPT-4 Turboを3.5%値下げ。Hello, world！詳細はexample.comへ", "３．５％だ", "ภาษาไทยดี 2024"]
)
def test_text_without_spaces_is_cut_and_joined(text: str) -> None:
    tokens = [piece for piece in pieces(text) if not piece.isspace()]
    again = [piece for piece in pieces(joined(tokens)) if not piece.isspace()]
    assert again == tokens
    assert joined(tokens).replace(" ", "") == text.replace(" ", "")


@given(st.text(max_size=40))
def test_any_text_is_cut_into_pieces(text: str) -> None:
    assert "".join(pieces(text)) == text


def test_units_keep_marks_and_cut_runs_without_spaces() -> None:
    assert units("The cat , and a naïve-ish dog .") == ["the", "cat", ",", "and", "a", "naïve-ish", "dog", "."]
    assert units("今日はAI。 ok") == ["今", "日", "は", "ai", "ok"]


def test_runs_are_the_text() -> None:
    text = "The  cat, 今日はAI。\nok"
    assert runs(text) == ["The", "  ", "cat,", " ", "今", "日", "は", "AI", "。", "\n", "ok"]


@pytest.mark.parametrize(("spec", "score"), [("length(high=4)", 0.75), ("repetition(n=1)", 0.6)])
def test_surface_rewards_count_characters_without_spaces(spec: str, score: float) -> None:
    assert rewards.load(spec)(["今日は今日"]) == pytest.approx([score])
