"""The language of texts: by their script where one language has it, else by the stop words that spaCy lists."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from importlib import import_module

from rewards.text.languages import STOP_WORDS
from rewards.text.words import words

# First words of Unicode's names of letters -> the language that corpora in this script are in.
SCRIPTS = {
    "ARMENIAN": "hy", "BENGALI": "bn", "CJK": "zh", "GEORGIAN": "ka", "GREEK": "el", "GUJARATI": "gu",
    "GURMUKHI": "pa", "HANGUL": "ko", "HIRAGANA": "ja", "KANNADA": "kn", "KATAKANA": "ja", "KHMER": "km", "LAO": "lo",
    "MALAYALAM": "ml", "MYANMAR": "my", "ORIYA": "or", "SINHALA": "si", "TAMIL": "ta", "TELUGU": "te", "THAI": "th",
    "TIBETAN": "bo",
}  # fmt: skip
MIXED = 0.05  # the least share of kana in Japanese, which has Chinese characters, too
MOST = 20_000  # words that are looked at
LEAST = 0.03  # of the words are stop words, weighed by how few languages share them; prose has .1 and more
DIFFERENT = 6  # stop words in a few sentences, more in more: a language without a list has few words of a list
MARGIN = 1.5  # between the first language and the second; spaCy's lists of Malay and Indonesian are one


def language_in(texts: Iterable[str]) -> str | None:
    """The ISO 639-1 code of the language of most texts; None where it is not clear."""
    text = "\n".join(texts)
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
    scores, seen = Counter[str](), Counter[str]()
    for word, count in counts.items():
        sharing = _stop_words().get(word, ())
        for code in sharing:
            scores[code] += count / len(sharing)  # type: ignore[assignment]
            seen[code] += 1
    (first, most), (_, second), *_ = [*scores.most_common(2), ("", 0), ("", 0)]
    total, listed = counts.total(), sum(first in sharing for sharing in _stop_words().values())
    enough = seen[first] >= min(DIFFERENT + len(counts) / 50, listed / 4)
    return first if enough and most > LEAST * total and most > MARGIN * second else None


@lru_cache(maxsize=1)
def _stop_words() -> dict[str, list[str]]:
    """Each stop word -> the languages that have it."""
    found: dict[str, list[str]] = {}
    for code in sorted(STOP_WORDS):
        for word in import_module(f"spacy.lang.{code}.stop_words").STOP_WORDS:
            found.setdefault(word.lower(), []).append(code)
    return found
