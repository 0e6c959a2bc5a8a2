"""Sentences, words and stop words of English text, by spaCy's rules (no trained model).

The lines of a text of several lines are its sentences; spaCy's sentencizer splits a text of one line. For the words of
movers there are other ways: see ``Split``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, groupby
from typing import Any, Generic, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from rewards.errors import RewardError, Unavailable
from rewards.text.chunks import REMEMBERED, cut, encodable, pipeline, tokens_of_chunk

StopWords = Literal["spacy", "nltk", "none"]
Sentences = tuple[tuple[str, ...], ...]
Word = TypeVar("Word")
Spans = tuple[tuple[int, int], ...]
LINE = re.compile("[^\n]+")

# Sentences: lines where there are several, else spaCy's (auto); always lines; or those of spaCy's sentencizer or of
# NLTK's Punkt (its data must be installed), which both read a line end as a space.
Split = Literal["auto", "lines", "spacy", "nltk"]


def sentences(text: str) -> list[str]:
    """The sentences of ``text``, stripped, none empty."""
    text = encodable(text).strip()
    parts = text.split("\n") if "\n" in text else [sentence.text for sentence in pipeline()(text).sents]
    return [part.strip() for part in parts if part.strip()]


def content_words(text: str, stopwords: StopWords = "spacy", split: Split = "auto") -> Sentences:
    """The words that movers weigh (Clark et al. 2019): lower-cased letters but stop words, by sentence, none empty."""
    return _words_themselves(stopwords).read(text, split)


class Reader(Generic[Word]):
    """``read(text, split)``: ``content_words``, each mapped through ``known``; None drops it. Texts are cached."""

    def __init__(self, stopwords: StopWords, known: Callable[[str], Word | None]) -> None:
        self._lines, self._running = _Chunks(stopwords, known, ends=False), _Chunks(stopwords, known, ends=True)
        self.read = lru_cache(maxsize=REMEMBERED)(self._read)

    def _read(self, text: str, split: Split) -> tuple[tuple[Word, ...], ...]:
        text = encodable(text).strip()
        if _by_spacy(text, split):
            marks = groupby(self._running.of(text), key=lambda mark: mark is None)
            return tuple(tuple(words) for is_end, words in marks if not is_end)
        sentences = (tuple(self._lines.of(text[start:end])) for start, end in _sentence_spans(text, split))
        return tuple(words for words in sentences if words)


_words_themselves = lru_cache(maxsize=3)(lambda stopwords: Reader[str](stopwords, str))


class _Chunks(dict[str, tuple[Any, ...]]):
    """The words of each chunk, mapped through ``known``, and sentence ends as None; fills itself, which is fast."""

    def __init__(self, stopwords: StopWords, known: Callable[[str], Any], ends: bool) -> None:
        super().__init__()
        self.dropped, self.known = stop_words(stopwords), known
        self.ends = pipeline().get_pipe("sentencizer").punct_chars if ends else frozenset()

    def of(self, text: str) -> list[Any]:
        """Words and sentence ends of a text, in its order."""
        try:
            return list(chain.from_iterable(map(self.__getitem__, text.split())))
        except KeyError:  # a chunk whose tokens depend on its neighbours
            return list(self._weighed(cut(text)))

    def __missing__(self, chunk: str) -> tuple[Any, ...]:
        parts = tokens_of_chunk(chunk)
        if parts is None:
            raise KeyError(chunk)
        if len(self) >= REMEMBERED:
            self.clear()
        self[chunk] = words = tuple(self._weighed(parts))
        return words

    def _weighed(self, tokens: list[str]) -> Iterator[Any]:
        for token in tokens:
            word = token.lower()
            if token in self.ends:
                yield None
            elif word.isalpha() and word not in self.dropped and (value := self.known(word)) is not None:
                yield value


@dataclass(frozen=True)
class Sentence:
    """A sentence ``text[start:end]``, its words to weigh, and the position of each in ``text``."""

    start: int
    end: int
    words: tuple[str, ...]
    spans: Spans


def located_words(text: str, stopwords: StopWords = "spacy", split: Split = "auto") -> tuple[str, tuple[Sentence, ...]]:
    """The stripped text, and the words of ``content_words`` with their positions in it, sentence by sentence."""
    text = encodable(text).strip()
    dropped = stop_words(stopwords)
    located = []
    for offset, tokens in _analysed(text, split):
        kept = [token for token in tokens if token.lower_.isalpha() and token.lower_ not in dropped]
        if kept:
            spans = tuple((offset + token.idx, offset + token.idx + len(token)) for token in kept)
            ends = [(offset + token.idx, offset + token.idx + len(token)) for token in tokens if not token.is_space]
            located.append(Sentence(ends[0][0], ends[-1][1], tuple(token.lower_ for token in kept), spans))
    return text, tuple(located)


def _analysed(text: str, split: Split) -> Iterator[tuple[int, Iterable[Any]]]:
    """Each sentence's spaCy tokens, and the offset of their positions in ``text``."""
    if _by_spacy(text, split):
        yield from ((0, sentence) for sentence in pipeline()(text).sents)
        return
    for start, end in _sentence_spans(text, split):
        yield start, pipeline().tokenizer(text[start:end])


def _by_spacy(text: str, split: Split) -> bool:
    return split == "spacy" or (split == "auto" and "\n" not in text)


def _sentence_spans(text: str, split: Split) -> Iterable[tuple[int, int]]:
    """The start and end of each sentence, for ways that need no tokens."""
    return _nltk_spans()(text) if split == "nltk" else (line.span() for line in LINE.finditer(text))


@lru_cache(maxsize=3)
def stop_words(which: StopWords) -> frozenset[str]:
    """English stop words. Raises RewardError where NLTK's list is not installed, or for another name."""
    if which == "none":
        return frozenset()
    if which == "spacy":
        from spacy.lang.en.stop_words import STOP_WORDS

        return frozenset(STOP_WORDS)
    if which == "nltk":
        from nltk.corpus import stopwords

        try:
            return frozenset(stopwords.words("english"))
        except LookupError as error:
            fix = "run 'python -m nltk.downloader stopwords', or use stopwords=spacy"
            raise Unavailable(f"stopwords=nltk: NLTK's stop words are not installed; {fix}") from error
    raise RewardError(f"stopwords={which!r} is not one of spacy, nltk, none")


def check_split(split: Split) -> None:
    """Raise RewardError where the data of ``split=nltk`` is not installed."""
    if split == "nltk":
        _nltk_spans()


@lru_cache(maxsize=1)
def _nltk_spans() -> Callable[[str], Iterable[tuple[int, int]]]:
    from nltk.tokenize import PunktTokenizer

    try:
        spans: Callable[[str], Iterable[tuple[int, int]]] = PunktTokenizer("english").span_tokenize
    except LookupError as error:
        fix = "run 'python -m nltk.downloader punkt_tab', or use split=spacy"
        raise Unavailable(f"split=nltk: NLTK's sentence splitter is not installed; {fix}") from error
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
