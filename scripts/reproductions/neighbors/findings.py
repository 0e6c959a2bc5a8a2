"""The claims in the text of the paper, with the measured numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from reproductions.claims import Claim, Verdict, above, all_of, verdict
from reproductions.neighbors import data
from reproductions.neighbors.annotators import annotators
from reproductions.neighbors.predictions import Mean
from reproductions.neighbors.studies import Crossing, ModelScores, SizeResult
from rlsum.evaluation.correlation import Correlation

BLEU = "BLEU*"
WEAK = 0.2  # a rho is useless if its interval ends below this
# Sections 5.2 and 5.6 of the paper's text, for BLEU Neighbors.
COVERAGE = {data.SUMMARIES: 0.99, data.ESSAYS: 1.0}
BEST_TOPIC_RHO = 0.500


def coverage_claims(scored: Sequence[ModelScores]) -> list[Claim]:
    """How many texts get a score: whether the measured interval contains the published share."""
    claims = []
    for models in scored:
        published = COVERAGE[models.task.name]
        measured, printed = models.qualities[BLEU].coverage, models.qualities["BLEU* as printed"].coverage
        numbers = f"{_value(measured)} with zero_order=stop, {_value(printed)} with the formula as printed"
        claims.append(
            Claim(f"{models.task.name}: {published:.0%} are covered", _contains(measured, published), numbers)
        )
    return claims


def annotator_claims(scored: Sequence[ModelScores]) -> list[Claim]:
    """Section 5.1: BLEU Neighbors against the average annotator, and against the mean."""
    claims = []
    for models in scored:
        task, result = models.task.name, models.qualities[BLEU]
        people = annotators(models.task.tested)
        error, rho = people.average(people.errors), people.average(people.correlations)
        if np.isnan(error.low):  # no named annotators with enough texts
            continue
        rhos = f"rho {_value(result.correlation)}, average annotator {_value(rho)}"
        errors = f"MSE {_value(result.error)}, average annotator {_value(error)}"
        means = f"MSE of the mean {_value(result.baseline)}, less that of BLEU Neighbors {_value(result.gain)}"
        claims += [
            Claim(f"{task}: the average annotator has a higher rho", above(*_apart(rho, result.correlation)), rhos),
            Claim(f"{task}: a lower MSE than the average annotator", above(*_apart(error, result.error)), errors),
            Claim(
                f"{task}: a lower MSE than predicting the mean (not in the paper)",
                above(result.gain.low, result.gain.high),
                means,
            ),
        ]
    return claims


def _apart(first: Mean | Correlation, second: Mean | Correlation) -> tuple[float, float]:
    """Interval of first less second from their own intervals (Zou 2007), as if they were independent.

    They share texts, which makes the true interval narrower.
    """
    difference = first.value - second.value
    low = difference - np.hypot(first.value - first.low, second.high - second.value)
    return float(low), float(difference + np.hypot(first.high - first.value, second.value - second.low))


def cross_claims(crossings: Sequence[Crossing]) -> list[Claim]:
    """Section 5.4: examples of another task are no use for summaries."""
    claims = []
    for crossing in crossings:
        if crossing.tested == data.SUMMARIES != crossing.examples:
            rho = crossing.quality.correlation
            numbers = f"{_value(rho)}, coverage {crossing.quality.coverage.value:.0%}"
            text = f"{crossing.tested} by examples of {crossing.examples}: rho near zero"
            claims.append(Claim(text, _near_zero(rho.low, rho.high), numbers))
    return claims


def size_claims(sizes: Sequence[SizeResult]) -> list[Claim]:
    """Section 5.5: more examples, more coverage and a higher rho."""
    of_summaries = [size for size in sizes if size.task == data.SUMMARIES]
    if len(of_summaries) < 3:
        return []
    first, middle, last = of_summaries[0], of_summaries[len(of_summaries) // 2], of_summaries[-1]
    numbers = "; ".join(
        f"{size.size:,}: rho {number(size.correlation)} (sd {number(size.correlation_sd)}), "
        f"coverage {size.coverage:.0%}"
        for size in (first, middle, last)
    )
    error = 2 * first.correlation_sd / float(np.sqrt(max(first.defined, 1)))  # of the mean over draws, twice
    gain = last.correlation - first.correlation
    both = all_of([above(gain - error, gain + error), verdict(last.coverage >= first.coverage)])
    return [Claim(f"{data.SUMMARIES}: more examples bring a higher rho and more coverage", both, numbers)]


def topic_claims(scored: Sequence[ModelScores]) -> list[Claim]:
    """Section 5.6: the rho of essays by examples of topic 8."""
    claims = []
    for models in scored:
        rho = models.qualities[f"topic {data.BEST}"].correlation
        text = f"{models.task.name}: rho {number(BEST_TOPIC_RHO)} by examples of topic {data.BEST}"
        claims.append(Claim(text, _contains(rho, BEST_TOPIC_RHO), _value(rho)))
    return claims


def number(value: float) -> str:
    """Three decimals without a zero before the point; four below a tenth."""
    value = round(value, 4) + 0.0  # no negative zero
    digits = f"{value:.3f}" if abs(value) >= 0.0995 or value == 0 else f"{value:.4f}"
    return digits.replace("0.", ".", 1) if abs(value) < 1 else digits


def _contains(measured: Mean | Correlation, published: float) -> Verdict:
    """Whether the measured interval contains the published value."""
    return verdict(measured.low <= published <= measured.high, known=not np.isnan(measured.low))


def _near_zero(low: float, high: float) -> Verdict:
    """Of a claim that a rho is near zero: its interval ends below .2, or lies above 0, or neither."""
    if np.isnan(low):
        return "cannot be said"
    if high < WEAK:
        return "holds"
    return "does not hold" if low > 0 else "cannot be said"


def _value(mean: Mean | Correlation) -> str:
    if np.isnan(mean.low):
        return number(mean.value) if not np.isnan(mean.value) else "undefined"
    return f"{number(mean.value)} ({number(mean.low)} to {number(mean.high)})"
