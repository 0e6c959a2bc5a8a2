"""Movers on contextual vectors: a word's vector is the mean of its word pieces' (Clark et al. 2019, section 4, ELMo).

Words and sentences are those of the static movers: spaCy's words; stop words and punctuation are dropped after
encoding. As in the paper an encoder reads one sentence at a time, and every occurrence of a word is a separate point.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby

import numpy as np

from rewards.encoding.encoder import EncodedTexts
from rewards.encoding.loading import EncoderSource
from rewards.mover.items import Document, Items, Mover, numbered, unit_length
from rewards.scoring import library, signature


@dataclass(frozen=True)
class Word:
    """A word: the tokens ``pieces`` of ``context``, its sentence, which has the number ``sentence``."""

    text: str
    sentence: int
    context: str
    pieces: tuple[int, int]


def pieces_of(words: Sequence[tuple[int, int]], tokens: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """For each word at ``(start, end)`` the range of tokens that overlap it, empty without any; both in text order."""
    real = [index for index, (start, end) in enumerate(tokens) if start < end]  # special tokens have empty spans
    firsts = np.searchsorted([tokens[index][1] for index in real], [start for start, _ in words], side="right")
    lasts = np.searchsorted([tokens[index][0] for index in real], [end for _, end in words], side="left")
    return [
        (real[first], real[last - 1] + 1) if first < last else (0, 0)
        for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True)
    ]


@dataclass(eq=False)
class ContextualMover(Mover):
    """A mover on an encoder."""

    source: EncoderSource
    condition = "this encoder reads"

    @property
    def signature(self) -> str:
        """Hash of the encoder's weights and tokenizer, layers, every option, and the versions of the libraries."""
        encoder = self.source.load()
        of_encoder = {"encoder": encoder.name, "layer": encoder.layers, **encoder.reading}
        return signature(self.name, **of_encoder, **self.fields(), library=library("transformers"))

    def document(self, text: str) -> Document:
        """The text as it is scored, for ``explain``."""
        (words,) = self._words([text])
        return self._document(words, self._encoded(words))

    def reads(self, text: str) -> bool:
        """Whether the encoder reads a word; nothing is encoded."""
        return any(self._words([text]))

    def items(self, texts: Sequence[str]) -> dict[str, Items]:
        """Of texts with a word to weigh; they are encoded together."""
        words_of = {text: words for text, words in zip(texts, self._words(texts), strict=True) if words}
        encoded = self._encoded(chain.from_iterable(words_of.values()))
        documents = {text: self._document(words, encoded) for text, words in words_of.items()}
        return {text: self.items_of(document.rows, document.table) for text, document in documents.items()}

    def _encoded(self, words: Iterable[Word]) -> Mapping[str, EncodedTexts]:
        contexts = list(dict.fromkeys(word.context for word in words))
        encoded = zip(contexts, self.source.load()(contexts), strict=True)
        return {context: replace(encoding, vectors=encoding.vectors.cpu()) for context, encoding in encoded}

    def _document(self, words: Sequence[Word], encoded: Mapping[str, EncodedTexts]) -> Document:
        """Rows and vectors; a sentence that is repeated has the same rows."""
        by_sentence = [list(sentence) for _, sentence in groupby(words, key=lambda word: word.sentence)]
        rows, points = numbered([[(word.context, word.pieces) for word in sentence] for sentence in by_sentence])
        pieces = (encoded[context].vectors[slice(*place)].numpy() for context, place in points)
        table = np.array([vectors.mean(axis=0, dtype=np.float64) for vectors in pieces])
        texts = [tuple(word.text for word in sentence) for sentence in by_sentence]
        contexts = [sentence[0].context for sentence in by_sentence]
        return Document(rows, unit_length(table) if self.normalize == "unit" else table, texts, contexts)

    def _words(self, texts: Sequence[str]) -> list[list[Word]]:
        """The words of each text that are weighed and that the encoder reads, in order."""
        located = [self.preprocessing.located_words(text) for text in texts]
        contexts = list(dict.fromkeys(text[span.start : span.end] for text, sentences in located for span in sentences))
        spans = dict(zip(contexts, self.source.load().spans(contexts), strict=True))
        words_of = []
        for text, sentences in located:
            words: list[Word] = []
            for number, sentence in enumerate(sentences):
                context = text[sentence.start : sentence.end]
                positions = [(start - sentence.start, end - sentence.start) for start, end in sentence.spans]
                words += [
                    Word(word, number, context, pieces)
                    for word, pieces in zip(sentence.words, pieces_of(positions, spans[context]), strict=True)
                    if pieces[0] < pieces[1]
                ]
            words_of.append(words)
        return words_of
