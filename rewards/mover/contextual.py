"""Movers on contextual vectors: a word's vector is the mean of its word pieces' (Clark et al. 2019, section 4, ELMo).

Words and sentences are those of the static movers: spaCy's words, stop words and marks dropped after encoding. As in
the paper an encoder reads a sentence at a time, and every occurrence of a word is a point of its own.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Literal

import numpy as np

from rewards.embedding.space import CHUNK
from rewards.encoding.encoder import Encoded, Source
from rewards.mover.static import Cut, Document, Items, Kind, Normalize, mover_similarity, without_words
from rewards.scoring import Inputs, ReferenceReward, library, references_of, score_items, signature
from rewards.text.sentences import located_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

Context = Literal["sentence", "text"]
Occurrences = Literal["apart", "averaged"]


@dataclass(frozen=True)
class Word:
    """An occurrence of a word: its ``pieces`` are those tokens of the encoded text ``context``.

    ``sentence`` numbers the sentence that it is in and ``written`` is that sentence.
    """

    text: str
    sentence: int
    written: str
    context: str
    pieces: tuple[int, int]


def pieces_of(words: Sequence[tuple[int, int]], tokens: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """For each word at ``(start, end)`` the range of the tokens that overlap it; both are in the order of the text.

    A token that overlaps two words belongs to both; a word that no token overlaps has an empty range.
    """
    real = [place for place, (start, end) in enumerate(tokens) if start < end]  # special ones stand nowhere
    firsts = np.searchsorted([tokens[place][1] for place in real], [start for start, _ in words], side="right")
    lasts = np.searchsorted([tokens[place][0] for place in real], [end for _, end in words], side="left")
    return [
        (real[first], real[last - 1] + 1) if first < last else (0, 0)
        for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True)
    ]


class ContextualMover(ReferenceReward):
    """WMS, SMS or S+WMS on an encoder; see ``rewards.mover.factory`` for the options."""

    def __init__(
        self,
        name: str,
        kind: Kind,
        source: Source,
        normalize: Normalize,
        cut: Cut,
        context: Context,
        occurrences: Occurrences,
    ) -> None:
        self.name = name
        self.kind: Kind = kind
        self.source = source
        self.normalize = normalize
        self.cut = cut
        self.context, self.occurrences = context, occurrences

    def scores(self, inputs: Inputs) -> NDArray[np.float64]:
        """``(n,)`` float64 in [0, 1]: the best of a candidate's references.

        0 for a candidate without a word to weigh (empty, stop words only), NaN where no reference has one.
        """
        candidates, references = inputs.candidates, references_of(self.name, inputs)
        scores = np.full(len(candidates), np.nan)
        for start in range(0, len(candidates), CHUNK):
            part = slice(start, start + CHUNK)
            scores[part] = self._chunk(candidates[part], references[part])
        return scores

    @property
    def signature(self) -> str:
        """Hash of the encoder's weights and tokenizer, layers, every option, and the versions of the libraries."""
        encoder = self.source.load()
        fields = {"encoder": encoder.name, "layer": encoder.layers, "window": encoder.windows}
        fields |= {"context": self.context, "occurrences": self.occurrences, "normalize": self.normalize}
        solver = f"exact-{library('pot')}"
        return signature(self.name, **fields, **self.cut.fields(), solver=solver, library=library("transformers"))

    def document(self, text: str) -> Document:
        """The text as it is scored, to be shown."""
        (words,) = self._words([text])
        return self._document(words, self._encoded(words))

    def _chunk(self, candidates: Sequence[str], references: Sequence[Sequence[str]]) -> NDArray[np.float64]:
        """Scores of items whose texts are encoded together."""
        items = self._items([*candidates, *(text for texts in references for text in texts)])

        def best(candidate: str, usable: list[str]) -> float:
            return max(mover_similarity(items[candidate], items[reference]) for reference in usable)

        def nothing(text: str) -> str | None:
            return None if text in items else "holds no word to weigh"

        return score_items(candidates, references, nothing, best, floor=0.0)

    def _items(self, texts: Sequence[str]) -> dict[str, Items]:
        """The items of those texts that have some; each text once."""
        texts = list(dict.fromkeys(texts))
        found = {text: words for text, words in zip(texts, self._words(texts), strict=True) if words}
        encoded = self._encoded(word for words in found.values() for word in words)
        documents = {text: self._document(words, encoded) for text, words in found.items()}
        return {text: self.items_of(document) for text, document in documents.items()}

    def items_of(self, document: Document) -> Items:
        """What moves."""
        return document.items(self.kind, self.cut.sentence_weights)

    def _encoded(self, words: Iterable[Word]) -> Mapping[str, Encoded]:
        contexts = list(dict.fromkeys(word.context for word in words))
        return dict(zip(contexts, self.source.load()(contexts), strict=True))

    def _document(self, words: Sequence[Word], encoded: Mapping[str, Encoded]) -> Document:
        """Rows and vectors; a sentence that is said again in the same words and context has the same rows."""
        vectors: dict[Hashable, list[NDArray[np.float64]]] = {}
        numbers: dict[Hashable, int] = {}
        rows, texts, sentences = [], [], []
        for _, group in groupby(words, key=lambda word: word.sentence):
            said = list(group)
            keys = [word.text if self.occurrences == "averaged" else (word.context, word.pieces) for word in said]
            for key, word in zip(keys, said, strict=True):
                numbers.setdefault(key, len(numbers))
                pieces = encoded[word.context].vectors[slice(*word.pieces)].numpy()
                vectors.setdefault(key, []).append(pieces.mean(axis=0, dtype=np.float64))
            rows.append(tuple(numbers[key] for key in keys))
            texts.append(tuple(word.text for word in said))
            sentences.append(said[0].written)
        table = np.array([np.mean(occurrences, axis=0) for occurrences in vectors.values()])
        if self.normalize == "unit":
            lengths = np.linalg.norm(table, axis=1, keepdims=True)
            table = table / np.where(lengths > 0, lengths, 1.0)
        return Document(rows, table, texts, sentences)

    def _words(self, texts: Sequence[str]) -> list[list[Word]]:
        """Per text its words that count and that the encoder reads, in order."""
        located = [located_words(text, self.cut.stopwords, self.cut.split) for text in texts]
        parts = [
            [(0, text)] if self.context == "text" else [(one.start, text[one.start : one.end]) for one in sentences]
            for text, sentences in located
        ]
        contexts = list(dict.fromkeys(context for listed in parts for _, context in listed))
        spans = dict(zip(contexts, self.source.load().spans(contexts), strict=True))
        found = []
        for (text, sentences), listed in zip(located, parts, strict=True):
            words: list[Word] = []
            for number, sentence in enumerate(sentences):
                offset, context = listed[0 if self.context == "text" else number]
                places = [(start - offset, end - offset) for start, end in sentence.spans]
                written = text[sentence.start : sentence.end]
                words += [
                    Word(word, number, written, context, pieces)
                    for word, pieces in zip(sentence.words, pieces_of(places, spans[context]), strict=True)
                    if pieces[0] < pieces[1]
                ]
            found.append(words)
        return found

    def _unscorable(self, text: str) -> str | None:
        (words,) = self._words([text])
        if words:
            return None
        found = located_words(text, self.cut.stopwords, self.cut.split)[1]
        return "holds no word that this encoder reads" if found else without_words(text)
