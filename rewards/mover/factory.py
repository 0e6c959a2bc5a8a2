"""Mover similarities of Clark, Celikyilmaz and Smith 2019 from their options: on static vectors or on an encoder.

A text is compared by what it would cost to move its words, its sentences or both onto those of the other:
``exp(-d)``, d the exact transport cost under Euclidean distance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from rewards.base import Reward
from rewards.encoding.encoder import Device, LongTexts, Source, locate
from rewards.encoding.layers import ALL, Layer
from rewards.errors import RewardError
from rewards.mover.contextual import Context, ContextualMover, Occurrences
from rewards.mover.static import Cut, Document, Items, Kind, Normalize, SentenceWeights, StaticMover, Unknown
from rewards.options import checked_by
from rewards.scoring import Inputs
from rewards.text.sentences import Split, StopWords

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Mover(Reward, Protocol):
    """What each of the three is: a reward, and what ``rewards.explain`` asks of it."""

    kind: Kind
    cut: Cut

    def scores(self, inputs: Inputs) -> NDArray[np.float64]:
        """``(n,)`` float64 in [0, 1]: the best of a candidate's references.

        0 for a candidate without a word to weigh (empty, stop words only, none with a vector); NaN where that holds for
        every reference. Vectors far from unit length underflow towards 0: see ``normalize``.
        """

    def document(self, text: str) -> Document:
        """The text as it is scored, to be shown."""

    def items_of(self, document: Document) -> Items:
        """What moves."""


@dataclass(frozen=True)
class Options:
    """The options of all three. Raises RewardError unless there is one place where vectors come from."""

    vectors: str | None = None
    encoder: str | None = None
    normalize: Normalize = "none"
    oov: Unknown = "zero"
    stopwords: StopWords = "spacy"
    split: Split = "auto"
    sentence_weights: SentenceWeights = "words"
    layer: Layer = None
    context: Context = "sentence"
    occurrences: Occurrences = "apart"
    long_texts: LongTexts = "windows"
    device: Device = "auto"

    def __post_init__(self) -> None:
        if self.vectors is None and self.encoder is None:
            raise RewardError("a mover needs vectors=FILE (static vectors) or encoder=minilm (contextual ones)")
        if self.vectors is not None and self.encoder is not None:
            raise RewardError(
                f"a mover takes vectors={self.vectors!r} or encoder={self.encoder!r}, not both; leave one out"
            )
        static = self.vectors is not None
        strange = ("layer", "context", "occurrences", "long_texts", "device") if static else ("oov",)
        for name in strange:
            value, default = getattr(self, name), getattr(Options, name)
            if value != default:
                place = "encoder=, not with vectors=" if static else "vectors=, not with encoder="
                raise RewardError(f"mover: {name}={value} goes with {place}; leave it out")

    def mover(self, name: str, kind: Kind) -> Mover:
        """The reward; its files are checked and nothing is loaded."""
        cut = Cut(self.stopwords, self.split, self.sentence_weights)
        if self.vectors is not None:
            return StaticMover(name, kind, self.vectors, self.normalize, self.oov, cut)
        assert self.encoder is not None  # one of the two is there
        layers = ALL if self.layer is None else self.layer
        source = Source(locate(self.encoder), layers, self.long_texts, self.device)
        return ContextualMover(name, kind, source, self.normalize, cut, self.context, self.occurrences)


@checked_by(Options)
def wms(
    vectors: str | None = None,
    encoder: str | None = None,
    normalize: Normalize = "none",
    oov: Unknown = "zero",
    stopwords: StopWords = "spacy",
    split: Split = "auto",
    layer: Layer = None,
    context: Context = "sentence",
    occurrences: Occurrences = "apart",
    long_texts: LongTexts = "windows",
    device: Device = "auto",
) -> Mover:
    """Word mover's similarity: words travel. Range [0, 1], needs vectors or an encoder.

    A word weighs its share of the text's words.

    ``layer``: whose hidden states, 0 is the embeddings; by default the mean of all, as the paper does with ELMo.
    """
    words = (vectors, encoder, normalize, oov, stopwords, split)
    return Options(*words, "words", layer, context, occurrences, long_texts, device).mover("wms", "words")


@checked_by(Options)
def sms(
    vectors: str | None = None,
    encoder: str | None = None,
    normalize: Normalize = "none",
    oov: Unknown = "zero",
    stopwords: StopWords = "spacy",
    split: Split = "auto",
    sentence_weights: SentenceWeights = "words",
    layer: Layer = None,
    context: Context = "sentence",
    occurrences: Occurrences = "apart",
    long_texts: LongTexts = "windows",
    device: Device = "auto",
) -> Mover:
    """Sentence mover's similarity: sentences travel. Range [0, 1], needs vectors or an encoder.

    A sentence is the mean of its words' vectors and weighs the share of the text's words that it holds.

    ``layer``: whose hidden states, 0 is the embeddings; by default the mean of all, as the paper does with ELMo.
    """
    words = (vectors, encoder, normalize, oov, stopwords, split)
    return Options(*words, sentence_weights, layer, context, occurrences, long_texts, device).mover("sms", "sentences")


@checked_by(Options)
def swms(
    vectors: str | None = None,
    encoder: str | None = None,
    normalize: Normalize = "none",
    oov: Unknown = "zero",
    stopwords: StopWords = "spacy",
    split: Split = "auto",
    sentence_weights: SentenceWeights = "words",
    layer: Layer = None,
    context: Context = "sentence",
    occurrences: Occurrences = "apart",
    long_texts: LongTexts = "windows",
    device: Device = "auto",
) -> Mover:
    """Sentence and word mover's similarity: both travel. Range [0, 1], needs vectors or an encoder.

    Words and sentences, weighed as in wms and sms, have half of the text each and move in one problem.

    ``layer``: whose hidden states, 0 is the embeddings; by default the mean of all, as the paper does with ELMo.
    """
    words = (vectors, encoder, normalize, oov, stopwords, split)
    return Options(*words, sentence_weights, layer, context, occurrences, long_texts, device).mover("s+wms", "both")
