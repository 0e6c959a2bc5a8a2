"""Tokens, sentences and stop words of English text, by spaCy's rules (no trained model). The only spaCy import.

A text is a str. Where it has several lines, its lines are its sentences; otherwise spaCy's sentencizer splits it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from rewards.errors import RewardError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

StopWords = Literal["spacy", "nltk", "none"]
Sentences = tuple[tuple[str, ...], ...]

# Texts analysed once: the references of a training set across its epochs, and every output across several metrics.
# An entry takes about 1 KB for a summary.
REMEMBERED = 2**17
SURROGATE = re.compile("[\ud800-\udfff]")


@lru_cache(maxsize=1)
def _pipeline() -> Any:
    import spacy

    pipeline = spacy.blank("en")
    pipeline.add_pipe("sentencizer")
    pipeline.max_length = 10**9  # spaCy's limit guards parsers, and none is here
    return pipeline


def sentences(text: str) -> list[str]:
    """The sentences of ``text``, stripped, none empty."""
    text = _encodable(text).strip()
    parts = text.split("\n") if "\n" in text else [sentence.text for sentence in _pipeline()(text).sents]
    return [part.strip() for part in parts if part.strip()]


def tokens(text: str) -> list[str]:
    """spaCy's tokens of ``text``, case kept, white space left out."""
    return [token.text for token in _pipeline().tokenizer(_encodable(text)) if not token.is_space]


@lru_cache(maxsize=REMEMBERED)
def content_words(text: str, stopwords: StopWords = "spacy") -> Sentences:
    """The words that mover metrics weigh: per sentence, lower-cased alphabetic tokens that are no stop words.

    Sentences left empty are dropped, so a text with nothing to weigh is ``()``. Preprocessing of Clark et al. 2019.
    """
    dropped = stop_words(stopwords)
    kept = (tuple(word for word in words if word.isalpha() and word not in dropped) for words in _lower_cased(text))
    return tuple(words for words in kept if words)


def _lower_cased(text: str) -> list[list[str]]:
    """Sentences of lower-cased tokens; one pass over the text."""
    text = _encodable(text).strip()
    if "\n" in text:
        tokenizer = _pipeline().tokenizer
        return [[token.lower_ for token in tokenizer(line)] for line in text.split("\n")]
    return [[token.lower_ for token in sentence] for sentence in _pipeline()(text).sents]


def _encodable(text: str) -> str:
    """``text`` with each lone surrogate, which spaCy cannot take, as the sign for an unreadable character."""
    return text if text.isascii() else SURROGATE.sub("\ufffd", text)


@lru_cache(maxsize=3)
def stop_words(which: StopWords) -> frozenset[str]:
    """English stop words: spaCy's, NLTK's (its data must be installed) or none.

    Raises RewardError where NLTK's list is not on this machine, or for another name.
    """
    if which == "none":
        return frozenset()
    if which == "spacy":
        from spacy.lang.en.stop_words import STOP_WORDS

        return frozenset(STOP_WORDS)
    if which == "nltk":
        return _nltk_stop_words()
    raise RewardError(f"stopwords={which!r} is not one of spacy, nltk, none")


def _nltk_stop_words() -> frozenset[str]:
    from nltk.corpus import stopwords

    try:
        return frozenset(stopwords.words("english"))
    except LookupError as error:
        fix = "run 'python -m nltk.downloader stopwords', or use stopwords=spacy"
        raise RewardError(f"stopwords=nltk: NLTK's stop words are not on this machine; {fix}") from error


def pipeline_vectors(name: str) -> tuple[list[str], NDArray[np.float32]]:
    """The words and vectors ``(n, d)`` of an installed spaCy pipeline, or of one saved in a directory.

    Raises RewardError where it cannot be loaded or holds no vectors of words: the small pipelines hold none, and floret
    makes them from parts of words.
    """
    import numpy as np
    import spacy

    try:
        pipeline = spacy.load(name)
    except OSError as error:
        raise RewardError(
            f"vectors=spacy:{name}: spaCy cannot load it ({error}); install the pipeline first"
        ) from error
    found = pipeline.vocab.vectors
    if found.size == 0:
        raise RewardError(f"vectors=spacy:{name}: this pipeline holds no vectors; use one of size md or lg")
    words = [(pipeline.vocab.strings[key], row) for key, row in found.key2row.items() if key in pipeline.vocab.strings]
    if not words:
        raise RewardError(
            f"vectors=spacy:{name}: its vectors (mode {found.mode}) belong to no words; use a pipeline with a vector a "
            "word, or write the words of your texts and their vectors to a text file"
        )
    table = np.asarray(found.data, dtype=np.float32)[[row for _, row in words]]
    return [word for word, _ in words], table
