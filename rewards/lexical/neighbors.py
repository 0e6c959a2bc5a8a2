"""BLEU Neighbors (Ethayarajh and Sadigh 2020): the quality of a text, estimated from similar judged texts.

It reads no references. A candidate gets the mean score of its neighbours among examples with known scores.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, Gt, Le
from numpy.typing import ArrayLike, NDArray

from rewards.base import Reward, check_inner, check_spec, from_spec
from rewards.errors import RewardError
from rewards.lexical.bleu import ORDERS, BleuStar, ZeroOrder, bleu_star
from rewards.lexical.examples import NAME, ScoredTexts
from rewards.lexical.meteor import Meteor
from rewards.lexical.postings import Postings
from rewards.lexical.rouge import Rouge
from rewards.lexical.words import ngrams
from rewards.options import FALSE, NONE, takes
from rewards.scoring import BaseReward, Inputs, Item, signature
from rewards.specs import Spec, as_spec
from rewards.text.words import nfc

Scores = NDArray[np.float64]
Kernel = Annotated[str | Mapping[str, Any] | Reward, check_inner]

# The paper's thresholds; its ROUGE is ROUGE-L, and its BERTScore must be the rescaled one.
TAU = {"bleu-star": 0.08, "meteor": 0.18, "bertscore": 0.10}
TAU |= dict.fromkeys(("rouge-1", "rouge-2", "rouge-3", "rouge-l", "rouge-lsum"), 0.06)


def estimate(near: NDArray[np.bool_], scores: NDArray[np.float64], size: ArrayLike, a: int, b: float) -> Scores:
    """``(n,)``: mean ``scores (m,)`` where ``near (n, m)``; NaN unless ``a`` to ``b`` of ``size`` examples are near."""
    counts = near.sum(axis=-1)
    enough = (counts >= a) & (counts <= _most(b, size))
    return np.where(enough, near @ scores / np.maximum(counts, 1), np.nan)


def _most(b: float, size: ArrayLike) -> Scores:
    return np.floor(b * np.asarray(size) + 1e-9)  # 0.29 * 100 is 28.999... in floating point


@dataclass(kw_only=True)
class NeighborOptions:
    """Options of bleu-neighbors."""

    examples: str | Sequence[tuple[str, float]]
    """judged texts: JSONL rows of text and score"""
    kernel: Kernel = "bleu-star"
    """the reward that measures the similarity of two texts"""
    tau: Annotated[float, Gt(0)] | None = None
    """the lowest similarity of a neighbour; by default the paper's: .08 for bleu-star, .06 for ROUGE, .18 for meteor,
    .10 for rescaled bertscore"""
    a: Annotated[int, Ge(1)] = 5
    """the fewest neighbours for a score"""
    b: Annotated[float, Gt(0), Le(1)] = 0.66
    """the largest share of the examples that may be neighbours"""
    zero_order: ZeroOrder | None = None
    """of kernel=bleu-star: an order of n-grams without a match makes the score 0 (as printed), or ends the product
    (stop, the default)"""
    leave_one_out: bool = False
    """exclude examples with the candidate's own text"""
    subsample: Annotated[int, Ge(1)] | None = None
    """use a random sample of this many examples"""
    seed: Annotated[int, Ge(0)] = 0
    """of the random numbers"""

    def __post_init__(self) -> None:
        if isinstance(self.kernel, str | Mapping):
            check_spec(_kernel_spec(self.kernel, self.zero_order))
        elif self.zero_order is not None:
            raise RewardError(f"{NAME}: zero_order={self.zero_order}: kernel is a reward; set its own zero_order")
        self.tau = _threshold(self.kernel) if self.tau is None else float(self.tau)


@takes(NeighborOptions)
class BleuNeighbors(BaseReward):
    """BLEU Neighbors: the mean score of the judged examples that are similar to a text. Needs no references."""

    name = NAME

    def __init__(self, options: NeighborOptions) -> None:
        examples, kernel, self.subsample, self.seed = options.examples, options.kernel, options.subsample, options.seed
        self.examples = ScoredTexts.read(examples) if isinstance(examples, str | Path) else ScoredTexts.of(examples)
        if self.subsample is not None:
            self.examples = self.examples.drawn(self.subsample, self.seed)
        spec = _kernel_spec(kernel, options.zero_order) if isinstance(kernel, str | Mapping) else kernel
        self.kernel = from_spec(spec)
        assert options.tau is not None
        self.tau, self.a, self.b, self.leave_one_out = options.tau, options.a, options.b, options.leave_one_out

    def scores(self, inputs: Inputs) -> NDArray[np.float64]:
        """``(n,)`` float64 in [lowest, highest score of the examples]; references are not read.

        NaN if a candidate has fewer than ``a`` neighbours or more than the share ``b`` of the examples. An empty
        candidate gets the lowest score of the examples.
        """
        return np.array([self._score(candidate) for candidate in inputs.candidates], dtype=np.float64)

    @property
    def signature(self) -> str:
        """The kernel's whole signature, a hash of the examples, and every option."""
        drawn = "no" if self.subsample is None else f"{self.subsample}-seed{self.seed}"
        fields = {"kernel": f"[{self.kernel.signature}]", "examples": self.examples.digest, "subsample": drawn}
        return signature(self.name, **fields, tau=self.tau, a=self.a, b=self.b, leave_one_out=self.leave_one_out)

    def reason(self, item: Item) -> str | None:
        """Why the score is NaN: too few neighbours or too many."""
        if not item.candidate.strip():
            return None
        near, size = self._near(item.candidate)
        count, most = int(near.sum()), _most(self.b, size)
        if count < self.a:
            return f"it has {count} neighbours at tau={self.tau:g}, fewer than a={self.a}"
        if count > most:
            return f"it has {count} neighbours at tau={self.tau:g}, more than b={self.b:g} of {size} examples"
        return None

    def coverage(self, candidates: Sequence[str]) -> float:
        """The share of ``candidates`` that have a score; NaN for no candidate."""
        return float(1 - np.isnan(self(candidates)).mean()) if len(candidates) else math.nan

    def similarities(self, candidate: str) -> NDArray[np.float64]:
        """The kernel with every example, ``(m,)``; NaN where undefined, 0 where it surely does not reach ``tau``."""
        if isinstance(self.kernel, BleuStar):
            return self._bleu_star(self.kernel, candidate)
        possible = self._possible(candidate)
        scores = np.zeros(len(self.examples.texts))
        if possible.size:
            references = [[self.examples.texts[row]] for row in possible]
            scores[possible] = self.kernel([candidate] * len(references), references)
        return scores

    def _score(self, candidate: str) -> float:
        if not candidate.strip():
            return float(self.examples.scores.min())
        near, size = self._near(candidate)
        return float(estimate(near, self.examples.scores, size, self.a, self.b))

    def _near(self, candidate: str) -> tuple[NDArray[np.bool_], int]:
        """Which examples are neighbours, of how many. ``leave_one_out`` excludes all copies of the candidate."""
        near = self.similarities(candidate) >= self.tau  # False where the kernel is undefined
        if not self.leave_one_out:
            return near, near.size
        different = np.array([nfc(text) != nfc(candidate) for text in self.examples.texts])
        return near & different, int(different.sum())

    def _bleu_star(self, kernel: BleuStar, candidate: str) -> NDArray[np.float64]:
        """All examples at once: looks the n-grams of the candidate up in an inverted index per order."""
        words = kernel.words(candidate)
        if not words:
            return np.zeros(len(self.examples.texts))
        hits = np.stack([index.hits(ngrams(words, n), kernel.clip) for n, index in enumerate(self._index, 1)])
        return bleu_star(hits, len(words), self._index[0].sizes, kernel.zero_order)

    def _possible(self, candidate: str) -> NDArray[np.intp]:
        """The examples that may reach ``tau``: with a lexical kernel those that share enough, otherwise all."""
        kernel, every = self.kernel, np.arange(len(self.examples.texts))
        if not isinstance(kernel, Rouge | Meteor):
            return every
        units = kernel.units(candidate)
        if units is None:  # synonyms match without a common unit
            return every
        if not units:
            return every[:0]
        (index,) = self._index
        ceiling = kernel.ceiling(index.hits(units, clip=True), len(units), index.sizes)
        return np.flatnonzero(ceiling >= self.tau * (1 - 1e-9))

    @cached_property
    def _index(self) -> list[Postings]:
        """For BLEU* an index per order of n-grams; for another lexical kernel one index of its units."""
        texts = self.examples.texts
        if isinstance(self.kernel, BleuStar):
            words = [self.kernel.words(text) for text in texts]
            return [Postings([ngrams(of_text, n) for of_text in words]) for n in range(1, ORDERS + 1)]
        return [Postings([self.kernel.units(text) for text in texts])]  # type: ignore[attr-defined]

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_index"}


def _kernel_spec(kernel: str | Mapping[str, Any], zero_order: ZeroOrder | None) -> Spec:
    """The spec of the kernel with ``zero_order``, which is ``stop`` for BLEU* unless it is given."""
    spec = as_spec(kernel)
    if spec.name != "bleu-star":
        if zero_order is not None:
            raise RewardError(f"{NAME}: zero_order={zero_order} belongs to kernel=bleu-star, not {spec.name}")
        return spec
    if zero_order is not None and "zero_order" in spec.options:
        raise RewardError(f"{NAME}: zero_order is given twice, once in kernel={spec}; leave one out")
    return Spec(spec.name, {"zero_order": zero_order or "stop", **spec.options})


def _threshold(kernel: Kernel) -> float:
    """The paper's threshold for a kernel. Raises RewardError if there is none."""
    spec = as_spec(kernel) if isinstance(kernel, str | Mapping) else Spec(kernel.name, {})
    if spec.name not in TAU:
        raise RewardError(f"{NAME}: kernel={spec.name} has no default threshold; give tau=...")
    if spec.name == "bertscore" and str(spec.options.get("rescale", "none")).lower() in (*NONE, *FALSE):
        raise RewardError(f"{NAME}: the threshold of bertscore is for rescaled scores; give rescale= or tau=...")
    return TAU[spec.name]
