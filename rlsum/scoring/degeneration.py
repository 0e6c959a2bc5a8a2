"""Whether outputs are text at all: signs of degeneration, which no metric shows and a reader sees at once.

A sign is counted in how many of a system's texts it holds, and is worth a sentence from a share on that ordinary
summaries, of people and of published systems, do not reach. Words are ``rewards.text.words.words``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rewards.errors import RewardError
from rewards.text.languages import language_of
from rewards.text.sentences import stop_words
from rewards.text.words import REMEMBERED, nfc, pattern, units, words
from rlsum.records import Output

FEW = 10  # words of a text below which their repetition, or one length for many, says nothing
WINDOW = 50  # words within which repetition is counted: a longer text repeats words in any case
ENOUGH = 10  # texts that share a length before the length is taken for a limit
MOSTLY = 0.5
ENDED = r"\p{Sentence_Terminal}[\p{P}\s]*$"


@dataclass(frozen=True)
class LengthLimits:
    """The fewest and the most tokens that decoding allowed, and what counts them in a text.

    ``longest`` None: unknown; a length that no text exceeds and at which most stop in a sentence is taken for it.
    """

    shortest: int = 0
    longest: int | None = None
    count: Callable[[str], int] = lambda text: len(units(text))


@dataclass(frozen=True)
class Sign:
    """A sign of degeneration: its name, what texts that have it do, and the share of texts from which on it is said."""

    name: str
    predicate: str
    alarm: float


SIGNS: dict[str, Sign] = {
    "empty": Sign("no words", "have no word", 0.02),
    "marks": Sign("marks alone", "have more than a mark for every two words", 0.05),
    "function words": Sign("stop words alone", "have hardly a word but stop words", 0.05),
    "repetition": Sign("repetition", "say the same words again and again", 0.15),
    "broken": Sign("broken characters", "hold characters that stand for broken ones (U+FFFD)", 0.05),
    "unknown": Sign(
        "words that nobody uses", "are nearly all words that neither their article nor any reference has", 0.05
    ),
    "same": Sign("one text for many articles", "are word for word that of another article", 0.2),
    "limit": Sign("most cut at the limit", "end at the limit of length", MOSTLY),
    "minimum": Sign("most at the minimum", "end as soon as the minimum of length allows", MOSTLY),
}


def degeneration(
    outputs: Sequence[Output], limits: LengthLimits | None = None, language: str | None = None
) -> dict[str, float]:
    """Sign -> the share of the texts, 0 to 1, that has it. ``language``: code of the texts, for their stop words."""
    if not outputs:
        return dict.fromkeys(SIGNS, 0.0)
    limits, dropped = limits or LengthLimits(), _stop_words(language)
    counts: Counter[str] = Counter()
    for output in outputs:
        counts.update(_of_text(output.candidate, dropped))
    texts = [output.candidate for output in outputs]
    lengths = [limits.count(text) for text in texts]
    if limits.longest is not None:
        counts["limit"] = sum(length >= limits.longest for length in lengths)
    else:
        counts["limit"] = _cut_at_one_length(texts, lengths)
    counts["minimum"] = sum(length <= limits.shortest for length in lengths) if limits.shortest > 1 else 0
    counts["broken"] = sum("\ufffd" in text for text in texts)
    counts["unknown"] = _of_unknown_words(outputs)
    counts["same"] = _of_other_articles(outputs)
    return {sign: counts[sign] / len(outputs) for sign in SIGNS}


def _of_text(text: str, dropped: frozenset[str]) -> list[str]:
    """The signs that a text has by itself."""
    tokens = [word.lower() for word in words(text)]
    if not tokens:
        return ["empty"]
    marks = sum(map(_is_mark, units(text)))
    signs = ["marks"] if 2 * marks > len(tokens) else []
    if dropped and sum(word not in dropped for word in tokens) <= 0.2 * len(tokens):
        signs.append("function words")
    ends = range(WINDOW, len(tokens) + 1, WINDOW) if len(tokens) >= WINDOW else [len(tokens)]
    distinct = [len(set(tokens[max(0, end - WINDOW) : end])) / min(WINDOW, end) for end in ends]
    if sum(distinct) < 0.4 * len(distinct) and len(tokens) >= FEW:
        signs.append("repetition")
    return signs


@lru_cache(maxsize=REMEMBERED)
def _is_mark(unit: str) -> bool:
    return not words(unit)


def _of_unknown_words(outputs: Sequence[Output]) -> int:
    """How many texts have one word in five at most of those of their source or of any reference; 0 of too few."""
    references = {reference for output in outputs for reference in output.references}
    if len(references) < ENOUGH:
        return 0
    vocabulary = {word.lower() for reference in references for word in words(reference)}
    count = 0
    for output in outputs:
        strange = [word for word in map(str.lower, words(output.candidate)) if word not in vocabulary]
        if output.source and len(strange) > 0.8 * len(words(output.candidate)):
            of_source = {word.lower() for word in words(output.source)}
            count += sum(word not in of_source for word in strange) > 0.8 * len(words(output.candidate))
    return count


def _of_other_articles(outputs: Sequence[Output]) -> int:
    """How many texts are equal to that of another source; without sources, to that of other references."""
    sources: dict[str, set[str]] = {}
    for output in outputs:
        sources.setdefault(_plain(output.candidate), set()).add(output.source or "\n".join(output.references))
    return sum(len(sources[_plain(output.candidate)]) > 1 for output in outputs)


def _plain(text: str) -> str:
    return " ".join(nfc(text).lower().split())


def _cut_at_one_length(texts: Sequence[str], lengths: Sequence[int]) -> int:
    """How many texts stop in a sentence at the largest of the lengths; 0 where too few do to say that it is a limit."""
    longest, ends = max(lengths), pattern(ENDED).search
    cut = sum(length == longest and not ends(text) for text, length in zip(texts, lengths, strict=True))
    return cut if longest >= FEW and cut >= max(ENOUGH, MOSTLY * len(texts)) else 0


def _stop_words(code: str | None) -> frozenset[str]:
    """The stop words of a language; none where it has no list, or where words are characters."""
    language = language_of(code)
    if language.splitter == "character":
        return frozenset()
    try:
        return stop_words("spacy", language)
    except RewardError:
        return frozenset()
