"""Statistics of a corpus: lengths, cuts, words outside the vocabulary, copied words of summaries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from rlsum.data.corpus import Corpus
from rlsum.data.vocabulary import Vocabulary

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

    Shares are over tokens after cutting. ``oov_*``: outside the vocabulary. ``copied``: summary tokens that occur in
    the article; ``copied_lead``: in its first LEAD_TOKENS tokens; ``oov_copyable``: of the summary tokens outside the
    vocabulary, those that occur in the article.
    """

    vocabulary: int
    articles: Lengths
    summaries: Lengths | None
    summary_sentences: float
    oov_articles: float
    oov_summaries: float
    oov_copyable: float
    copied: float
    copied_lead: float


def describe(corpus: Corpus, max_source: int, max_target: int, vocabulary_size: int) -> CorpusDescription:
    """Describe ``corpus``, loaded with the same limits; the vocabulary is its most frequent words."""
    tokens = corpus.rows.select_columns(["src_tokens", "tgt_tokens"])
    texts = (text for row in tokens for text in (row["src_tokens"], row["tgt_tokens"]))
    words = frozenset(Vocabulary.build(texts, vocabulary_size).index)
    counts: Counter[str] = Counter()
    for row in tokens:
        counts.update(_counts(row["src_tokens"], row["tgt_tokens"], words))
    firsts = [references[0] for references in corpus.rows["references"] if references]
    return CorpusDescription(
        vocabulary=len(words),
        articles=_lengths(map(corpus.split, corpus.rows["source"]), max_source),
        summaries=_lengths(map(corpus.split, firsts), max_target) if firsts else None,
        summary_sentences=_share(sum(text.count("\n") + 1 for text in firsts), len(firsts)),
        oov_articles=_share(counts["source_oov"], counts["source"]),
        oov_summaries=_share(counts["oov"], counts["tokens"]),
        oov_copyable=_share(counts["oov_copyable"], counts["oov"]),
        copied=_share(counts["copied"], counts["tokens"]),
        copied_lead=_share(counts["copied_lead"], counts["tokens"]),
    )


def _counts(source: Sequence[str], target: Sequence[str], words: frozenset[str]) -> dict[str, int]:
    """Tokens of an article and its summary, all and some."""
    in_source, in_lead = frozenset(source), frozenset(source[:LEAD_TOKENS])
    unknown = [token for token in target if token not in words]
    return {
        "source": len(source),
        "source_oov": sum(token not in words for token in source),
        "tokens": len(target),
        "oov": len(unknown),
        "oov_copyable": sum(token in in_source for token in unknown),
        "copied": sum(token in in_source for token in target),
        "copied_lead": sum(token in in_lead for token in target),
    }


def _lengths(texts: Iterable[Sequence[str]], limit: int) -> Lengths:
    counts = np.array([*map(len, texts)])
    quantiles = tuple(float(value) for value in np.quantile(counts, QUANTILES))
    return Lengths(float(counts.mean()), quantiles, float((counts > limit).mean()))


def _share(part: float, whole: float) -> float:
    return part / whole if whole else float("nan")
