"""Similarities of contextual word vectors, the family of Chen, Ding, Levinboim and Soricut 2020.

A metric is a space (encoder, layers, special tokens, centering: texts -> unit vectors), a measure (what it makes of the
cosines of two texts) and perhaps a rescaling. Each function here builds one from its options; docs/rewards.md explains
the options that all share.
"""

from __future__ import annotations

from typing import Literal

from rewards.embedding.centering import Centering
from rewards.embedding.comparison import Comparison
from rewards.embedding.measures import Exact, Greedy, MeanCosine, Measure, Normalize, Relaxed, SquaredCosines, Tempered
from rewards.embedding.moverscore import ZhaoSpace, ZhaoV1, ZhaoV2
from rewards.embedding.rescaling import Rescale
from rewards.embedding.similarity import Direction
from rewards.embedding.space import Space
from rewards.encoding.encoder import Device, Kept, LongTexts, Source, locate
from rewards.encoding.layers import Layer
from rewards.errors import RewardError
from rewards.text.sentences import StopWords

SpecialTokens = Literal["official", "first", "none", "all"]
Variant = Literal["wmd", "v1", "v2"]

# Chosen by Chen et al. on WMT15-16; a corpus mean is what a batch mean estimates.
TWMD_TEMPERATURE = {"none": 0.02, "dimension": 0.02, "sentence": 0.02, "batch": 0.10, "corpus": 0.10}
TRWMD_TEMPERATURE = {"none": 0.02, "dimension": 0.02, "sentence": 0.02, "batch": 0.15, "corpus": 0.15}


def sbert(
    encoder: str = "minilm",
    layer: Layer = None,
    centering: Centering = "none",
    normalize: Normalize = "self",
    special_tokens: SpecialTokens = "official",
    corpus: str | None = None,
    rescale: str | None = None,
    language: str | None = None,
    long_texts: LongTexts = "windows",
    device: Device = "auto",
) -> Comparison:
    """Mean of all cosines between the tokens of two texts. Range [-1, 1], 1 for equal texts. Needs an encoder.

    Divided by self-scores it is the cosine of the two mean vectors. Sentence centering is refused: all means vanish.
    """
    if centering == "sentence":
        raise RewardError("sbert: centering=sentence makes every mean vector vanish; use none, dimension or corpus")
    source = _source(encoder, layer, long_texts, device)
    space = Space(source, centering, _kept(special_tokens, "first"), corpus)
    return Comparison("sbert", space, MeanCosine(normalize), _rescale(rescale, language))


def cka(
    encoder: str = "minilm",
    layer: Layer = None,
    centering: Centering = "none",
    normalize: Normalize = "self",
    special_tokens: SpecialTokens = "official",
    corpus: str | None = None,
    rescale: str | None = None,
    language: str | None = None,
    long_texts: LongTexts = "windows",
    device: Device = "auto",
) -> Comparison:
    """Wordset-CKA: sum of squared cosines over self-scores. Range [0, 1], 1 for equal texts. Needs an encoder.

    The paper presumes ``centering=dimension``; its authors' code, and so the default here, does not centre.
    """
    source = _source(encoder, layer, long_texts, device)
    space = Space(source, centering, _kept(special_tokens, "first"), corpus)
    return Comparison("cka", space, SquaredCosines(normalize), _rescale(rescale, language))


def moverscore(
    variant: Variant = "wmd",
    encoder: str = "minilm",
    layer: Layer = None,
    centering: Centering = "none",
    special_tokens: SpecialTokens = "official",
    idf: str | None = None,
    stopwords: StopWords = "none",
    n_gram: int = 1,
    corpus: str | None = None,
    rescale: str | None = None,
    language: str | None = None,
    long_texts: LongTexts = "windows",
    device: Device = "auto",
) -> Comparison:
    """Exact word mover's similarity of contextual vectors. 1 for equal texts. Needs an encoder.

    ``variant=wmd`` (Chen et al. 2020, Eq. 2) is the best mean cosine of a transport plan, in [-1, 1]. ``v1`` and ``v2``
    are what the two versions of Zhao et al.'s code compute: ``1 - EMD`` of squared distances between n-grams of
    ``n_gram`` words, layers pooled by power means, in [-3, 1]; and ``1 / (1 + EMD)`` of distances, in [1/3, 1]. Only
    these two take ``idf``, ``stopwords`` and (``v1``) ``n_gram``, and centre nothing.
    """
    scale = _rescale(rescale, language)
    if variant == "wmd":
        if idf is not None or stopwords != "none" or n_gram != 1:
            raise RewardError("moverscore: idf, stopwords and n_gram go with variant=v1 or v2, not variant=wmd")
        source = _source(encoder, layer, long_texts, device)
        return Comparison(
            "moverscore", Space(source, centering, _kept(special_tokens, "first"), corpus), Exact(), scale
        )
    if centering != "none" or corpus is not None or special_tokens != "official":
        raise RewardError(f"moverscore: variant={variant} centres nothing and has its own tokens; use variant=wmd")
    if n_gram < 1 or (variant == "v2" and n_gram != 1):
        raise RewardError(f"moverscore: n_gram={n_gram}; variant=v1 takes 1 or more, variant=v2 has single tokens only")
    place = locate(encoder)
    if variant == "v1":
        source = Source(place, layer, long_texts, device, pool="power")
        return Comparison("moverscore", ZhaoSpace(source, idf, stopwords, n_gram), ZhaoV1(), scale)
    source = Source(place, "last" if layer is None else layer, long_texts, device)
    return Comparison("moverscore", ZhaoSpace(source, idf, stopwords, None), ZhaoV2(), scale)


def bertscore(
    encoder: str = "minilm",
    layer: Layer = None,
    direction: Direction = "f1",
    idf: str | None = None,
    centering: Centering = "none",
    special_tokens: SpecialTokens = "official",
    corpus: str | None = None,
    rescale: str | None = None,
    language: str | None = None,
    long_texts: LongTexts = "windows",
    device: Device = "auto",
) -> Comparison:
    """BERTScore: each token's best cosine in the other text, averaged. Range [-1, 1], 1 for equal texts.

    Zhang et al. 2020, as bert-score 0.3.13: special tokens can be matched but carry no weight. ``idf`` weighs tokens:
    a file of texts, one a line, or a saved one (.npz); ``fitted`` (then call ``fit(texts)``); or ``references``, which
    counts on each call's references as bert-score does, so that a score depends on its neighbours. ``rescale`` is a
    published baseline or one by ``rlsum baseline``. Needs an encoder.
    """
    space = Space(_source(encoder, layer, long_texts, device), centering, _kept(special_tokens, "matched"), corpus, idf)
    published_for = encoder if centering == "none" and special_tokens == "official" else None
    return Comparison("bertscore", space, Greedy(direction), _rescale(rescale, language, published_for))


def trwmd(
    encoder: str = "minilm",
    layer: Layer = None,
    centering: Centering = "none",
    temperature: float | None = None,
    direction: Direction = "f1",
    entropy: bool = False,
    normalize: Normalize = "self",
    special_tokens: SpecialTokens = "official",
    corpus: str | None = None,
    rescale: str | None = None,
    language: str | None = None,
    long_texts: LongTexts = "windows",
    device: Device = "auto",
) -> Comparison:
    """Tempered relaxed word mover's distance, as a similarity; 1 for equal texts, not bounded by it. Needs an encoder.

    The mean cosine under a softmax over partners. ``temperature``: .02, or .15 with batch or corpus centering; 0 is the
    limit, each token's best partner. ``entropy=true`` is the paper's Eq. 7; the authors' code leaves the entropy out.
    """
    warmth = _temperature("trwmd", temperature, TRWMD_TEMPERATURE[centering])
    source = _source(encoder, layer, long_texts, device)
    measure: Measure = Relaxed(direction, warmth, entropy, normalize) if warmth else Greedy(direction)
    space = Space(source, centering, _kept(special_tokens, "first"), corpus)
    return Comparison("trwmd", space, measure, _rescale(rescale, language))


def twmd(
    encoder: str = "minilm",
    layer: Layer = None,
    centering: Centering = "none",
    temperature: float | None = None,
    direction: Direction = "f1",
    iterations: int = 1,
    entropy: bool = False,
    normalize: Normalize = "self",
    special_tokens: SpecialTokens = "official",
    corpus: str | None = None,
    rescale: str | None = None,
    language: str | None = None,
    long_texts: LongTexts = "windows",
    device: Device = "auto",
) -> Comparison:
    """Tempered word mover's distance, as a similarity; 1 for equal texts, not bounded by it. Needs an encoder.

    The mean cosine under a Sinkhorn plan of so many ``iterations``. ``temperature``: .02, or .10 with batch or corpus
    centering; 0 is the limit, exact transport, the same in every direction. ``entropy=true`` adds the plan's entropy.
    """
    warmth = _temperature("twmd", temperature, TWMD_TEMPERATURE[centering])
    if iterations < 1:
        raise RewardError(f"twmd: iterations={iterations} must be at least 1")
    if warmth == 0 and iterations != 1:
        raise RewardError(f"twmd: temperature=0 is solved exactly and has no iterations; leave out {iterations=}")
    source = _source(encoder, layer, long_texts, device)
    measure: Measure = Tempered(direction, warmth, iterations, entropy, normalize) if warmth else Exact()
    space = Space(source, centering, _kept(special_tokens, "first"), corpus)
    return Comparison("twmd", space, measure, _rescale(rescale, language))


def _source(encoder: str, layer: Layer, long_texts: LongTexts, device: Device) -> Source:
    return Source(locate(encoder), layer, long_texts, device)


def _kept(special_tokens: SpecialTokens, official: Kept) -> Kept:
    return official if special_tokens == "official" else special_tokens


def _temperature(name: str, given: float | None, default: float) -> float:
    if given is not None and given < 0:
        raise RewardError(f"{name}: temperature={given} must not be below 0")
    return default if given is None else given


def _rescale(path: str | None, language: str | None, published_for: str | None = None) -> Rescale | None:
    if path is None and language is not None:
        raise RewardError(f"language={language!r} goes with rescale=FILE: it chooses the baseline")
    return None if path is None else Rescale(path, language, published_for)
