"""Which language texts are in: by their script where one language has it, else by the stop words that spaCy lists.

And whether metrics read them as English though they are not, to name the option that is missing.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from runpy import run_path

from rewards.text.languages import NAMES, STOP_WORDS
from rewards.text.words import nfc, words

# First words of Unicode's names of letters -> the language that corpora in this script are in.
SCRIPTS = {
    "ARMENIAN": "hy", "BENGALI": "bn", "CJK": "zh", "GEORGIAN": "ka", "GREEK": "el", "GUJARATI": "gu",
    "GURMUKHI": "pa", "HANGUL": "ko", "HIRAGANA": "ja", "KANNADA": "kn", "KATAKANA": "ja", "KHMER": "km", "LAO": "lo",
    "MALAYALAM": "ml", "MYANMAR": "my", "ORIYA": "or", "SINHALA": "si", "TAMIL": "ta", "TELUGU": "te", "THAI": "th",
    "TIBETAN": "bo",
}  # fmt: skip
THE = 0.02  # of the words of English prose, at least
MIXED = 0.05  # the least share of kana in Japanese, which has Chinese characters, too
MOST = 20_000  # words that are looked at
LEAST = 0.03  # of the words are stop words, weighed by how few languages share them; prose has .1 and more
DIFFERENT = 6  # stop words in a few sentences, more in more: a language without a list has few words of a list
MARGIN = 1.5  # between the first language and the second; spaCy's lists of Malay and Indonesian are one
LOOKED_AT = 300  # texts, of each so many letters
OF_EACH = 1000
MOSTLY = 0.5  # of the letters
# What the signature of a metric has that reads English, unless it names another language.
ENGLISH = re.compile(r"tokenizer:official|stems:nltk|stopwords:(spacy|nltk)")


def language_in(texts: Iterable[str]) -> str | None:
    """The ISO 639-1 code of the language of most texts; None where it is not clear."""
    text = "\n".join(texts)
    counts = Counter(text.lower().split())
    if counts["the"] > THE * counts.total():  # as in no other language: no list need be read
        return "en"
    scripts = Counter(unicodedata.name(letter, "?").split()[0] for letter in text if letter.isalpha())
    languages = Counter[str]()
    for script, count in scripts.items():
        languages[SCRIPTS.get(script, "")] += count
    if languages["ja"] > MIXED * languages["zh"]:
        return "ja" if 2 * (languages["ja"] + languages["zh"]) > scripts.total() else _by_stop_words(text)
    language, count = max(languages.items(), key=lambda item: item[1], default=("", 0))
    return language if language and 2 * count > scripts.total() else _by_stop_words(text)


def _by_stop_words(text: str) -> str | None:
    counts = Counter([word for word in map(str.lower, words(text)) if any(map(str.isalpha, word))][:MOST])
    scores, words_of = Counter[str](), Counter[str]()
    for word, count in counts.items():
        sharing = _stop_words().get(word, ())
        for code in sharing:
            scores[code] += count / len(sharing)  # type: ignore[assignment]
            words_of[code] += 1
    (first, most), (_, second), *_ = [*scores.most_common(2), ("", 0), ("", 0)]
    total, listed = counts.total(), sum(first in sharing for sharing in _stop_words().values())
    enough = words_of[first] >= min(DIFFERENT + len(counts) / 50, listed / 4)
    return first if enough and most > LEAST * total and most > MARGIN * second else None


@lru_cache(maxsize=1)
def _stop_words() -> dict[str, list[str]]:
    """Each stop word -> the languages that have it, read without importing spaCy, which takes seconds."""
    spacy = find_spec("spacy")
    if spacy is None or spacy.origin is None:
        raise ModuleNotFoundError("No module named 'spacy'", name="spacy")
    languages: dict[str, list[str]] = {}
    for code in sorted(STOP_WORDS):
        for word in run_path(str(Path(spacy.origin).parent / "lang" / code / "stop_words.py"))["STOP_WORDS"]:
            languages.setdefault(word.lower(), []).append(code)
    return languages


def outside_latin(texts: Iterable[str]) -> float:
    """The share of letters that are not a to z among the letters of some texts; 0 for none."""
    letters = [letter for letter in nfc(" ".join(texts)).lower() if letter.isalpha()]
    return sum(not letter.isascii() for letter in letters) / len(letters) if letters else 0.0


def read_as_english(signatures: Mapping[str, str], texts: Iterable[str], option: str = "--language ") -> list[str]:
    """The line that says that metrics (name -> signature) read texts as English that are not; [] where all is well.

    ``option`` is what to write before the code of a language.
    """
    metrics = [name for name, text in signatures.items() if ENGLISH.search(text) and "|language:" not in text]
    if not metrics:
        return []
    sample = [text[:OF_EACH] for text in islice(texts, LOOKED_AT)]
    try:
        language = language_in(sample)
    except ModuleNotFoundError:  # spaCy, whose lists tell languages of one script apart, is an extra
        language = None
    outside = outside_latin(sample)
    if language == "en" or (language is None and outside <= MOSTLY):
        return []
    what = "are not English" if language is None else f"look {NAMES[language]}"
    lost = f" ({outside:.0%} of their letters are not a to z)" if outside > MOSTLY else ""
    fix = f"{option}{language or 'CODE'}, or tokenizer=unicode and stemmer=false"
    return [f"The texts {what}{lost}, but {', '.join(metrics)} read them as English; give {fix}."]
