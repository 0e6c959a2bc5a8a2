"""Mover similarities of Clark, Celikyilmaz and Smith 2019 from their options: on static vectors or on an encoder.

Two texts are compared by the cost of moving the words, the sentences or both of one onto those of the other:
``exp(-d)``, d the exact transport cost under Euclidean distance.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import ClassVar

from rewards.encoding.layers import ALL, Layer
from rewards.encoding.loading import EncoderOptions, shown
from rewards.errors import RewardError
from rewards.mover.contextual import ContextualMover
from rewards.mover.items import ItemKind, Mover, Preprocessing, SentenceWeights, VectorScaling
from rewards.mover.static import StaticMover, UnknownWords
from rewards.options import takes
from rewards.text.languages import LanguageOption
from rewards.text.sentences import Split, StopWords

STATIC_ONLY = ("oov",)
CONTEXTUAL_ONLY = tuple(option.name for option in fields(EncoderOptions) if option.name != "encoder")


@dataclass(kw_only=True)
class WordMoverOptions(EncoderOptions, LanguageOption):
    """Options of every mover. Raises RewardError unless exactly one of vectors and encoder is given."""

    example: ClassVar[str] = "vectors=..."  # or encoder=...

    vectors: str | None = None
    """a word2vec, GloVe or fastText text file (gzip too), or spacy:PIPELINE"""
    normalize: VectorScaling = "none"
    """vector scaling; unit: scale word vectors to length 1"""
    oov: UnknownWords = "zero"
    """a word without vector is the zero vector, as in the authors' code, or is dropped"""
    stopwords: StopWords = "spacy"
    """the list of words without weight, in the language of the texts; NLTK's must be installed"""
    split: Split = "auto"
    """how a text is cut into sentences; auto: lines are sentences, a text of one line is split by spaCy"""
    layer: Layer = None
    """the layer of the hidden states, 0 is the embeddings; by default the mean of all, as the paper does with ELMo"""

    def __post_init__(self) -> None:
        if self.vectors is None and self.encoder is None:
            raise RewardError("a mover needs vectors=FILE (static vectors) or encoder=minilm (contextual ones)")
        if self.vectors is not None and self.encoder is not None:
            raise RewardError(
                f"a mover takes vectors={self.vectors!r} or encoder={self.encoder!r}, not both; leave one out"
            )
        other_option, refused = ("encoder", CONTEXTUAL_ONLY) if self.encoder is None else ("vectors", STATIC_ONLY)
        for name in refused:
            value = getattr(self, name)
            if value != getattr(WordMoverOptions, name):
                raise RewardError(f"mover: {name}={value} applies to {other_option}= only; leave it out")

    def mover(self, name: str, kind: ItemKind, sentence_weights: SentenceWeights = "words") -> Mover:
        """The reward; files are checked and nothing is loaded."""
        preprocessing = Preprocessing(self.stopwords, self.split, sentence_weights, self.language)
        if self.encoder is None:
            assert self.vectors is not None
            file = Path(self.vectors).name
            return StaticMover(name, file, kind, self.normalize, preprocessing, self.vectors, self.oov)
        source = self.source(ALL if self.layer is None else self.layer)
        return ContextualMover(name, shown(source.location), kind, self.normalize, preprocessing, source)


@dataclass(kw_only=True)
class SentenceMoverOptions(WordMoverOptions):
    """Options of the movers of sentences."""

    sentence_weights: SentenceWeights = "words"
    """a sentence weighs as many words as it has, or as much as any other"""


@takes(WordMoverOptions)
def wms(options: WordMoverOptions) -> Mover:
    """Word mover's similarity: words travel. Range [0, 1], needs vectors or an encoder.

    A word weighs its share of the text's words.
    """
    return options.mover("wms", "words")


@takes(SentenceMoverOptions)
def sms(options: SentenceMoverOptions) -> Mover:
    """Sentence mover's similarity: sentences travel. Range [0, 1], needs vectors or an encoder.

    A sentence is the mean of its words' vectors and weighs the share of the text's words that it contains.
    """
    return options.mover("sms", "sentences", options.sentence_weights)


@takes(SentenceMoverOptions)
def swms(options: SentenceMoverOptions) -> Mover:
    """Sentence and word mover's similarity: both travel. Range [0, 1], needs vectors or an encoder.

    Words and sentences, weighed as in wms and sms, have half of the text each and move in one problem.
    """
    return options.mover("s+wms", "both", options.sentence_weights)
