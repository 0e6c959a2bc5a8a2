"""Sentences, words and stop words of a text, by spaCy's rules for its language (no trained model).

The lines of a text of several lines are its sentences. One line is split as spaCy's sentencizer does, and behind marks
that end sentences in other scripts, whatever the language. For the words of movers there are other ways: see ``Split``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from itertools import chain, groupby, pairwise
from typing import Any, Generic, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from rewards.errors import RewardError, Unavailable
from rewards.text.chunks import cut, encodable, pipeline, tokens_of_chunk
from rewards.text.languages import CAPITAL_NOUNS, ENGLISH, ORDINALS, Language
from rewards.text.words import REMEMBERED, is_letters, nfc, pattern

StopWords = Literal["spacy", "nltk", "none"]
Sentences = tuple[tuple[str, ...], ...]
Word = TypeVar("Word")
Spans = tuple[tuple[int, int], ...]
LINE = re.compile("[^\n]+")
# Marks of other scripts that end a sentence, also without a space behind them, and what closes it. Those of ASCII and
# of general punctuation are left to spaCy.
END = r"[\p{Sentence_Terminal}--[\p{ASCII}\u2000-\u206f]]++(?!\p{N})[\p{Sentence_Terminal}\p{Pe}\p{Pf}\"']*+"
NUMBER = re.compile("[0-9]+[.]|[IVX]+[.]")
# Words that begin a German sentence behind a number; other capitals may be nouns of an ordinal.
OPENERS = frozenset(
    "aber als am auch auf bei da dabei dadurch damit danach dann das der deshalb die dies diese dieser doch ein eine "  # noqa: SIM905
    "er es für hier ich ihr im in jetzt man mit nach nun seit sie so trotzdem und vor während wenn wir zudem".split()
)

# Sentences: lines where there are several, else spaCy's (auto); always lines; or those of spaCy's sentencizer or of
# NLTK's Punkt (its data must be installed), which both read a line end as a space.
Split = Literal["auto", "lines", "spacy", "nltk"]


def sentences(text: str, language: Language = ENGLISH) -> list[str]:
    """The sentences of ``text``, stripped, none empty."""
    text = encodable(text).strip()
    lines = text.split("\n") if "\n" in text else [sentence.text for _, sentence in _ruled(text, language)]
    return [line.strip() for line in lines if line.strip()]


@lru_cache(maxsize=REMEMBERED)
def lined(text: str, language: Language = ENGLISH) -> str:
    """A text whose lines hold the words of its sentences; itself where it has several lines."""
    if "\n" in text.strip():
        return text
    chunks: list[str | None] = [None]
    if language == ENGLISH and len(_stretches(text := encodable(text))) == 1:
        chunks = [*map(_lined_chunk, text.split())]
    plain = [chunk for chunk in chunks if chunk is not None]
    return " ".join(plain) if len(plain) == len(chunks) else "\n".join(sentences(text, language))


@lru_cache(maxsize=REMEMBERED)
def _lined_chunk(chunk: str) -> str | None:
    """The chunk with line ends for its marks that end sentences; None where its tokens depend on its neighbours."""
    tokens, ends = tokens_of_chunk(chunk), pipeline().get_pipe("sentencizer").punct_chars
    return None if tokens is None else "".join("\n" if token in ends else token for token in tokens)


def content_words(
    text: str, stopwords: StopWords = "spacy", split: Split = "auto", language: Language = ENGLISH
) -> Sentences:
    """The words that movers weigh (Clark et al. 2019): lower-cased letters but stop words, by sentence, none empty."""
    return _words_themselves(stopwords, language).read(text, split)


class Reader(Generic[Word]):
    """``read(text, split)``: ``content_words``, each mapped through ``entry``; None drops it. Texts are cached."""

    def __init__(self, stopwords: StopWords, entry: Callable[[str], Word | None], language: Language = ENGLISH) -> None:
        self.language = language
        self._lines = _Chunks(stopwords, entry, language, ends=False)
        self._running = _Chunks(stopwords, entry, language, ends=True)
        self.read = lru_cache(maxsize=REMEMBERED)(self._read)

    def _read(self, text: str, split: Split) -> tuple[tuple[Word, ...], ...]:
        text = encodable(text).strip()
        if self.language != ENGLISH or len(_stretches(text)) > 1:
            sentences = (self._lines.weighed(map(str, tokens)) for _, tokens in _analysed(text, split, self.language))
        elif _by_rules(text, split):
            marks = groupby(self._running.of(text), key=lambda mark: mark is None)
            return tuple(tuple(words) for is_end, words in marks if not is_end)
        else:
            sentences = (iter(self._lines.of(text[start:end])) for start, end in _spans(text, split, self.language))
        return tuple(tuple(words) for words in map(tuple, sentences) if words)


_words_themselves = lru_cache(maxsize=3)(lambda stopwords, language: Reader[str](stopwords, str, language))


class _Chunks(dict[str, tuple[Any, ...]]):
    """The words of each chunk, mapped through ``entry``, and sentence ends as None; fills itself, which is fast."""

    def __init__(self, stopwords: StopWords, entry: Callable[[str], Any], language: Language, ends: bool) -> None:
        super().__init__()
        self.dropped, self.entry, self.language = stop_words(stopwords, language), entry, language
        self.ends = pipeline().get_pipe("sentencizer").punct_chars if ends else frozenset()

    def of(self, text: str) -> list[Any]:
        """Words and sentence ends of a text, in its order."""
        try:
            return list(chain.from_iterable(map(self.__getitem__, text.split())))
        except KeyError:  # a chunk whose tokens depend on its neighbours
            return list(self.weighed(cut(text)))

    def __missing__(self, chunk: str) -> tuple[Any, ...]:
        tokens = tokens_of_chunk(chunk)
        if tokens is None:
            raise KeyError(chunk)
        if len(self) >= REMEMBERED:
            self.clear()
        self[chunk] = words = tuple(self.weighed(tokens))
        return words

    def weighed(self, tokens: Iterable[str]) -> Iterator[Any]:
        """The words among some tokens, and sentence ends."""
        for token in tokens:
            word = self.language.lower(token)
            if token in self.ends:
                yield None
            elif is_letters(word) and word not in self.dropped and (value := self.entry(word)) is not None:
                yield value


@dataclass(frozen=True)
class Sentence:
    """A sentence ``text[start:end]``, its words to weigh, and the position of each in ``text``."""

    start: int
    end: int
    words: tuple[str, ...]
    spans: Spans


def located_words(
    text: str, stopwords: StopWords = "spacy", split: Split = "auto", language: Language = ENGLISH
) -> tuple[str, tuple[Sentence, ...]]:
    """The stripped text, and the words of ``content_words`` with their positions in it, sentence by sentence."""
    text = encodable(text).strip()
    dropped = stop_words(stopwords, language)
    located = []
    for offset, sentence in _analysed(text, split, language):
        tokens = [(language.lower(token.text), offset + token.idx, len(token)) for token in sentence]
        weighed = [token for token in tokens if is_letters(token[0]) and token[0] not in dropped]
        if weighed:
            spans = tuple((start, start + length) for _, start, length in weighed)
            ends = [(start, start + length) for word, start, length in tokens if not word.isspace()]
            located.append(Sentence(ends[0][0], ends[-1][1], tuple(word for word, _, _ in weighed), spans))
    return text, tuple(located)


def _analysed(text: str, split: Split, language: Language) -> Iterator[tuple[int, Iterable[Any]]]:
    """Each sentence's spaCy tokens, and the offset of their positions in ``text``."""
    if _by_rules(text, split):
        yield from _ruled(text, language)
        return
    for start, end in _spans(text, split, language):
        yield start, pipeline(language).tokenizer(text[start:end])


def _by_rules(text: str, split: Split) -> bool:
    return split == "spacy" or (split == "auto" and "\n" not in text)


def _spans(text: str, split: Split, language: Language) -> Iterable[tuple[int, int]]:
    """The start and end of each sentence, for ways that need no tokens."""
    return _nltk_spans(language)(text) if split == "nltk" else (line.span() for line in LINE.finditer(text))


def _ruled(text: str, language: Language) -> Iterator[tuple[int, Any]]:
    """The offset and spaCy's span of each sentence by rules."""
    for start, end in _stretches(text):
        document = pipeline(language)(text[start:end])
        yield from ((start, sentence) for sentence in _sentences_in(document, language))


def _stretches(text: str) -> list[tuple[int, int]]:
    """The text, cut behind the marks of other scripts that end sentences."""
    ends = [] if text.isascii() else [match.end() for match in pattern(END).finditer(text)]
    return [*pairwise([0, *(end for end in ends if end < len(text)), len(text)])]


def _sentences_in(document: Any, language: Language) -> Iterable[Any]:
    """The sentences of the sentencizer; in languages with ordinals like ``3.`` these do not end one."""
    if language.code not in ORDINALS:
        return document.sents
    starts, ended = [0], False
    for place, token in enumerate(document):
        is_mark = token.text in pipeline().get_pipe("sentencizer").punct_chars
        if ended and not (is_mark or token.is_punct):
            starts.append(place)
            ended = False
        ended |= (is_mark or NUMBER.fullmatch(token.text) is not None) and not _is_ordinal(document, place, language)
    return [document[start:end] for start, end in pairwise([*starts, len(document)])]


def _is_ordinal(document: Any, place: int, language: Language) -> bool:
    """Whether the full stop at the end of a token belongs to a number, and does not end the sentence."""
    number = document[place].text
    if number == "." and place and not document[place - 1].whitespace_:
        number = document[place - 1].text + number
    following = document[place + 1].text if place + 1 < len(document) else ""
    if not NUMBER.fullmatch(number) or not following[:1].isalpha():
        return False
    if following[0].islower():
        return True
    return language.code in CAPITAL_NOUNS and len(number) <= len("100.") and following.lower() not in OPENERS


@lru_cache(maxsize=8)
def stop_words(which: StopWords, language: Language = ENGLISH) -> frozenset[str]:
    """Stop words of a language. Raises RewardError where there is no list, or it is not installed."""
    if which == "none":
        return frozenset()
    if which == "spacy":
        if language.stop_list is None:
            raise RewardError(f"stopwords=spacy: spaCy has no list for language={language.code}; use stopwords=none")
        module = import_module(f"spacy.lang.{language.stop_list}.stop_words")
        return frozenset(map(nfc, module.STOP_WORDS))
    if which == "nltk":
        from nltk.corpus import stopwords

        try:
            return frozenset(map(nfc, stopwords.words(language.name.lower())))
        except LookupError as error:
            fix = "run 'python -m nltk.downloader stopwords', or use stopwords=spacy"
            raise Unavailable(f"stopwords=nltk: NLTK's stop words are not installed; {fix}") from error
        except OSError as error:
            fix = "use stopwords=spacy or none"
            raise RewardError(f"stopwords=nltk: NLTK has no list for language={language.code}; {fix}") from error
    raise RewardError(f"stopwords={which!r} is not one of spacy, nltk, none")


def check_stop_words(which: StopWords, language: Language = ENGLISH) -> None:
    """Raise RewardError where there is no such list, without reading spaCy's."""
    if which == "nltk" or (which == "spacy" and language.stop_list is None):
        stop_words(which, language)


def check_split(split: Split, language: Language = ENGLISH) -> None:
    """Raise RewardError where the data of ``split=nltk`` is not installed."""
    if split == "nltk":
        _nltk_spans(language)


@lru_cache(maxsize=8)
def _nltk_spans(language: Language) -> Callable[[str], Iterable[tuple[int, int]]]:
    from nltk.tokenize import PunktTokenizer

    try:
        spans: Callable[[str], Iterable[tuple[int, int]]] = PunktTokenizer(language.name.lower()).span_tokenize
    except LookupError as error:
        fix = "run 'python -m nltk.downloader punkt_tab', or use split=spacy"
        raise Unavailable(f"split=nltk: NLTK's splitter of {language.name} is not installed; {fix}") from error
    return spans


def pipeline_vectors(name: str) -> tuple[list[str], NDArray[np.float32]]:
    """The words and vectors ``(n, d)`` of a spaCy pipeline, installed or saved. Raises RewardError without any."""
    import spacy

    try:
        loaded = spacy.load(name)
    except OSError as error:
        raise RewardError(
            f"vectors=spacy:{name}: spaCy cannot load it ({error}); install the pipeline first"
        ) from error
    vectors, strings = loaded.vocab.vectors, loaded.vocab.strings
    if vectors.size == 0:
        raise RewardError(f"vectors=spacy:{name}: this pipeline holds no vectors; use one of size md or lg")
    words = [(strings[key], row) for key, row in vectors.key2row.items() if key in strings]
    if not words:
        raise RewardError(
            f"vectors=spacy:{name}: its vectors (mode {vectors.mode}) belong to no words; use a pipeline with a "
            "vector for each word, or write the words of your texts and their vectors to a text file"
        )
    table = np.asarray(vectors.data, dtype=np.float32)[[row for _, row in words]]
    return [word for word, _ in words], table
