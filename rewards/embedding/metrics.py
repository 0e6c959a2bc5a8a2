"""Similarities of contextual word vectors, the family of Chen, Ding, Levinboim and Soricut 2020.

A metric is a space (encoder, layers, special tokens, centering: texts -> unit vectors), a measure (a formula on the
cosines of two texts) and perhaps a rescaling. A function here builds one from its options.
docs/reference/rewards.md explains the options that the whole family shares.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from annotated_types import Ge

from rewards.embedding.rescaling import BaselineFile, RescalingOptions
from rewards.embedding.reward import EmbeddingReward
from rewards.embedding.similarity import (
    Exact,
    Greedy,
    MeanCosine,
    Measure,
    SelfNormalization,
    SquaredCosines,
    Tempered,
)
from rewards.embedding.space import Centering, Space
from rewards.encoding.encoder import KeptTokens
from rewards.encoding.loading import EncoderOptions
from rewards.errors import RewardError
from rewards.options import takes
from rewards.scoring import DirectionOption

SpecialTokens = Literal["official", "first", "none", "all"]


@dataclass(kw_only=True)
class FamilyOptions(EncoderOptions, RescalingOptions):
    """Options of every metric of the family."""

    encoder: str = "minilm"
    centering: Centering = "none"
    """the mean that is subtracted from the vectors before they are scaled to length 1"""
    special_tokens: SpecialTokens = "official"
    """which special tokens are compared; official: as the metric's own reference code does"""
    official: ClassVar[KeptTokens] = "first"  # what that code keeps
    corpus: str | None = None
    """texts, one a line (gzip too), or a saved mean (.npz), for centering=corpus"""

    def reward(
        self, name: str, measure: Measure, idf: str | None = None, published_for: str | None = None
    ) -> EmbeddingReward:
        """The metric of a measure. ``published_for``: the encoder, for one that bert-score's files are made for."""
        special = self.official if self.special_tokens == "official" else self.special_tokens
        space = Space(self.source(self.layer), self.centering, special, self.corpus, idf)
        if self.rescale is None and self.language is not None:
            raise RewardError(f"language={self.language!r} chooses a baseline of rescale=FILE; give that, too")
        rescaling = None if self.rescale is None else BaselineFile(self.rescale, self.language, published_for).baseline
        return EmbeddingReward(name, space, measure, rescaling)


@dataclass(kw_only=True)
class SelfNormalizedOptions(FamilyOptions):
    """Options of the metrics that are not 1 for equal texts by themselves."""

    normalize: SelfNormalization = "self"
    """self-normalisation; self: divide by the roots of both self-scores, so equal texts score 1"""


@dataclass(kw_only=True)
class BertScoreOptions(FamilyOptions, DirectionOption):
    """Options of bertscore."""

    idf: str | None = None
    """weigh tokens by rarity in a file of texts, one a line (gzip too); references: in each call's references"""
    official: ClassVar[KeptTokens] = "matched"


@dataclass(kw_only=True)
class RelaxedOptions(SelfNormalizedOptions, DirectionOption):
    """Options of trwmd."""

    temperature: Annotated[float, Ge(0)] | None = None
    """of the plan; the lower, the nearer to each token's best partner"""
    entropy: bool = False
    """add the entropy of the plan, as in the paper's equation"""

    def chosen_temperature(self, centred: float) -> float:
        """As given, else as Chen et al. chose on WMT15-16; ``centred``: with the mean of a corpus, or its estimate."""
        if self.temperature is not None:
            return self.temperature
        return centred if self.centering in ("batch", "corpus") else 0.02


@dataclass(kw_only=True)
class TemperedOptions(RelaxedOptions):
    """Options of twmd."""

    iterations: Annotated[int, Ge(1)] = 1
    """of Sinkhorn"""


@takes(SelfNormalizedOptions)
def sbert(options: SelfNormalizedOptions) -> EmbeddingReward:
    """Mean of all cosines between the tokens of two texts. Range [-1, 1], 1 for equal texts. Needs an encoder.

    Divided by self-scores it is the cosine of the two mean vectors. Sentence centering is refused: all means vanish.
    """
    if options.centering == "sentence":
        raise RewardError("sbert: centering=sentence makes every mean vector 0; use none, dimension or corpus")
    return options.reward("sbert", MeanCosine(options.normalize))


@takes(SelfNormalizedOptions)
def cka(options: SelfNormalizedOptions) -> EmbeddingReward:
    """Wordset-CKA: sum of squared cosines over self-scores. Range [0, 1], 1 for equal texts. Needs an encoder.

    The paper presumes ``centering=dimension``; its authors' code, and so the default here, does not centre.
    """
    return options.reward("cka", SquaredCosines(options.normalize))


@takes(FamilyOptions)
def moverscore(options: FamilyOptions) -> EmbeddingReward:
    """Exact word mover's similarity of contextual vectors. Range [-1, 1], 1 for equal texts. Needs an encoder.

    Chen et al. 2020, Eq. 2: the best mean cosine of a transport plan. The code of Zhao et al. 2019 has other formulas.
    """
    return options.reward("moverscore", Exact())


@takes(BertScoreOptions)
def bertscore(options: BertScoreOptions) -> EmbeddingReward:
    """BERTScore: each token's best cosine in the other text, averaged. Range [-1, 1], 1 for equal texts.

    Zhang et al. 2020, as bert-score 0.3.13: special tokens can be matched but carry no weight. ``idf`` weighs tokens:
    a file of texts, one a line, or ``references``, which counts on each call's references as bert-score does, so that a
    score depends on its neighbours. ``rescale`` is a published baseline or one by ``rlsum baseline``. Needs an encoder.
    """
    published_for = options.encoder if (options.centering, options.special_tokens) == ("none", "official") else None
    return options.reward("bertscore", Greedy(options.direction), options.idf, published_for)


@takes(RelaxedOptions)
def trwmd(options: RelaxedOptions) -> EmbeddingReward:
    """Tempered relaxed word mover's distance, as a similarity; 1 for equal texts, not bounded by it. Needs an encoder.

    The mean cosine under a softmax over partners. ``temperature``: .02, or .15 with batch or corpus centering; 0 is the
    limit, each token's best partner. ``entropy=true`` is the paper's Eq. 7; the authors' code leaves the entropy out.
    """
    temperature = options.chosen_temperature(centred=0.15)
    if temperature == 0:
        return options.reward("trwmd", Greedy(options.direction))
    measure = Tempered(options.direction, temperature, None, options.entropy, options.normalize)
    return options.reward("trwmd", measure)


@takes(TemperedOptions)
def twmd(options: TemperedOptions) -> EmbeddingReward:
    """Tempered word mover's distance, as a similarity; 1 for equal texts, not bounded by it. Needs an encoder.

    The mean cosine under a Sinkhorn plan of ``iterations`` steps. ``temperature``: .02, or .10 with batch or corpus
    centering; 0 is the limit, exact transport, the same in every direction. ``entropy=true`` adds the plan's entropy.
    """
    iterations, temperature = options.iterations, options.chosen_temperature(centred=0.10)
    if temperature == 0 and iterations != 1:
        raise RewardError(f"twmd: temperature=0 is solved exactly and has no iterations; leave out {iterations=}")
    if temperature == 0:
        return options.reward("twmd", Exact())
    measure = Tempered(options.direction, temperature, iterations, options.entropy, options.normalize)
    return options.reward("twmd", measure)
