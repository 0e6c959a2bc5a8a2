"""Statistics of a corpus: lengths, cuts, words outside the vocabulary, copied words of summaries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import datasets
import numpy as np
from numpy.typing import NDArray

from rlsum.data.corpus import Corpus
from rlsum.data.remembered import counted

QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
LEAD_TOKENS = 100  # about three sentences of news


@dataclass(frozen=True)
class Lengths:
    """Token counts of uncut texts: mean, values at QUANTILES, and the share of texts longer than the limit."""

    mean: float
    quantiles: tuple[float, ...]
    share_cut: float


@dataclass(frozen=True)
class CorpusDescription:
    """Lengths of articles and first references (None without any), and shares in [0, 1]; the share of nothing is NaN.

    Shares are over tokens after cutting. ``vocabulary``: the number of known words, None for all. ``oov_*``: outside
    it. ``copied``: summary tokens that occur in the article; ``copied_lead``: in its first LEAD_TOKENS tokens;
    ``oov_copyable``: of the summary tokens outside the vocabulary, those that occur in the article.
    """

    vocabulary: int | None
    articles: Lengths
    summaries: Lengths | None
    summary_sentences: float
    oov_articles: float
    oov_summaries: float
    oov_copyable: float
    copied: float
    copied_lead: float


def describe(
    corpus: Corpus,
    rows: datasets.Dataset,
    lengths: Sequence[NDArray[np.integer]],
    limits: Sequence[int],
    words: Collection[str] | None = None,
) -> CorpusDescription:
    """Describe texts as a model reads them.

    ``rows``: their src_tokens and tgt_tokens, cut. ``lengths``, ``limits``: of articles and of first references, before
    they are cut. ``words``: those that the model knows, None for all.
    """
    counts: Counter[str] = Counter()
    for row in counted(rows.select_columns(["src_tokens", "tgt_tokens"]), "words", len(rows)):
        counts.update(_counts(row["src_tokens"], row["tgt_tokens"], words))
    ends = [texts[0].count("\n") for texts in counted(corpus.rows["references"], "sentences", len(rows)) if texts]
    return CorpusDescription(
        vocabulary=None if words is None else len(words),
        articles=_lengths(lengths[0], limits[0]),
        summaries=_lengths(lengths[1], limits[1]) if ends else None,
        summary_sentences=_share(sum(ends) + len(ends), len(ends)),
        oov_articles=_share(counts["source_oov"], counts["source"]),
        oov_summaries=_share(counts["oov"], counts["tokens"]),
        oov_copyable=_share(counts["oov_copyable"], counts["oov"]),
        copied=_share(counts["copied"], counts["tokens"]),
        copied_lead=_share(counts["copied_lead"], counts["tokens"]),
    )


def _counts(source: Sequence[str], target: Sequence[str], words: Collection[str] | None) -> dict[str, int]:
    """Tokens of an article and its summary, all and some."""
    in_source, in_lead = frozenset(source), frozenset(source[:LEAD_TOKENS])
    unknown = [] if words is None else [token for token in target if token not in words]
    return {
        "source": len(source),
        "source_oov": 0 if words is None else sum(token not in words for token in source),
        "tokens": len(target),
        "oov": len(unknown),
        "oov_copyable": sum(token in in_source for token in unknown),
        "copied": sum(token in in_source for token in target),
        "copied_lead": sum(token in in_lead for token in target),
    }


def _lengths(counts: NDArray[np.integer], limit: int) -> Lengths:
    quantiles = tuple(float(value) for value in np.quantile(counts, QUANTILES))
    return Lengths(float(counts.mean()), quantiles, float((counts > limit).mean()))


def _share(part: float, whole: float) -> float:
    return part / whole if whole else float("nan")
