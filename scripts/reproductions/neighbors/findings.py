"""The claims in the text of the paper, with the measured numbers; without data, a claim cannot be said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from reproductions.claims import SURE, Claim, Verdict, above, all_of, by_sign, verdict
from reproductions.neighbors import data
from reproductions.neighbors.annotators import Annotators, Difficulty, annotators
from reproductions.neighbors.predictions import Contrast, Mean, Quality, contrast
from reproductions.neighbors.results import BEST_TOPIC_RHO, COVERAGE
from reproductions.neighbors.studies import Budget, Crossing, ModelScores, Point, SizeResult
from reproductions.neighbors.tables import number
from rlsum.evaluation.correlation import Correlation
from rlsum.evaluation.statistics import holm

BLEU, LENGTH = "BLEU*", "length alone"
WEAK = 0.2  # a rho is useless if its interval ends below this
SLIGHT = 1.5  # up to this multiple of the best MSE, an MSE is "slightly higher"


def kernel_claims(scored: Sequence[ModelScores], rivals: Sequence[str], budget: Budget) -> list[Claim]:
    """Section 5.1: a higher rho than the same model with another kernel, on every task."""
    claims = []
    for models in scored:
        task, mine = models.task, (BLEU, models.predictions[BLEU])
        known = [name for name in rivals if name in models.predictions]
        contrasts = [contrast(task, mine, (name, models.predictions[name]), budget.resamples) for name in known]
        adjusted = holm([result.p for result in contrasts])
        verdicts = [by_sign(result.difference.value, p) for result, p in zip(contrasts, adjusted, strict=True)]
        numbers = "; ".join(_numbers(result, float(p)) for result, p in zip(contrasts, adjusted, strict=True))
        text = f"{task.name}: a higher rho than with {', '.join(known)} as the kernel"
        claims.append(Claim(text, all_of(verdicts), numbers))
    return claims


def coverage_claims(scored: Sequence[ModelScores]) -> list[Claim]:
    """How many texts get a score: whether the measured interval contains the published share."""
    claims = []
    for models in scored:
        published = COVERAGE.get(models.task.name)
        if published is None:
            continue
        measured, printed = models.qualities[BLEU].coverage, models.qualities["BLEU* as printed"].coverage
        numbers = f"{_value(measured)} with zero_order=stop, {_value(printed)} with the formula as printed"
        text = f"{models.task.name}: {published:.0%} are covered"
        claims.append(Claim(text, _contains(measured, published), numbers))
    return claims


def annotator_claims(scored: Sequence[ModelScores]) -> list[Claim]:
    """Sections 5.1: BLEU Neighbors against single annotators, and annotators against the mean."""
    claims = []
    for models in scored:
        judged, result = models.task.tested, models.qualities[BLEU]
        people = annotators(judged)
        if np.isnan(people.best).any():  # no named annotator with enough texts
            continue
        error, rho = people.average(people.errors), people.average(people.correlations)
        claims += _against_average(models.task.name, result, error, rho) + _of_best(models, people, error, rho)
        numbers = f"MSE of the mean {_value(result.baseline)}, less that of BLEU Neighbors {_value(result.gain)}"
        text = f"{models.task.name}: a lower MSE than predicting the mean (not in the paper)"
        claims.append(Claim(text, above(result.gain.low, result.gain.high), numbers))
    return claims


def _against_average(task: str, ours: Quality, error: Mean, rho: Mean) -> list[Claim]:
    """BLEU Neighbors beats the average annotator everywhere but, by rho, in summaries."""
    if task == data.SUMMARIES:
        text, verdict_of_rho = "the average annotator has a higher rho", above(*_apart(rho, ours.correlation))
    else:
        text, verdict_of_rho = "a higher rho than the average annotator", above(*_apart(ours.correlation, rho))
    rhos = f"rho {_value(ours.correlation)}, average annotator {_value(rho)}"
    errors = f"MSE {_value(ours.error)}, average annotator {_value(error)}"
    lower = above(*_apart(error, ours.error))
    return [
        Claim(f"{task}: {text}", verdict_of_rho, rhos),
        Claim(f"{task}: a lower MSE than the average annotator", lower, errors),
    ]


def _of_best(scored: ModelScores, people: Annotators, error: Mean, rho: Mean) -> list[Claim]:
    """The best annotator is far ahead of the average one and of BLEU Neighbors, but by MSE not of the mean."""
    name, (least, highest) = scored.task.name, people.best
    mean = scored.qualities[BLEU].baseline.value
    ours = scored.qualities[BLEU].correlation
    numbers = f"rho {number(highest)}, the best of {len(people.errors)}; BLEU Neighbors {_value(ours)}"
    behind = Claim(f"{name}: well behind the best annotator", above(-ours.high, -ours.low, -highest), numbers)
    times = error.value / least, highest / rho.value
    numbers = f"MSE {number(least)} against {number(error.value)}, {times[0]:.1f} times; "
    numbers += f"rho {number(highest)} against {number(rho.value)}, {times[1]:.1f} times"
    ahead = verdict(times[0] >= 3.5 and times[1] >= 1.5)
    text = f"{name}: the best annotator's MSE is 4 times and rho 2 times as good as the average's"
    four = Claim(text, ahead, numbers)
    numbers = f"MSE of the mean {number(mean)}, of the best annotator {number(least)}"
    text = f"{name}: predicting the mean is only slightly worse than the best annotator, by MSE"
    little = Claim(text, verdict(mean < SLIGHT * least), numbers)
    return [behind, four, little] if name == data.SUMMARIES else [behind, little]


def _apart(first: Mean | Correlation, second: Mean | Correlation) -> tuple[float, float]:
    """Interval of first less second from their own intervals (Zou 2007), as if they were independent.

    They share texts, which makes the true interval narrower.
    """
    difference = first.value - second.value
    low = difference - np.hypot(first.value - first.low, second.high - second.value)
    return float(low), float(difference + np.hypot(first.high - first.value, second.value - second.low))


def sweep_claims(points: Sequence[Point]) -> list[Claim]:
    """Section 5.2, of HUSE's tasks: rho rises with a up to 30 or 35; b matters for open-ended generation alone."""
    claims = []
    for task in (task for task in data.HUSE if any(point.task == task for point in points)):
        mine = [point for point in points if (point.task, point.kernel) == (task, BLEU) and not np.isnan(_rho(point))]
        of_a, of_b = ([point for point in mine if point.parameter == parameter] for parameter in ("a", "b"))
        if of_a and of_b:
            claims += [_of_a(task, of_a), _of_b(task, of_b)]
    return claims


def _of_a(task: str, points: Sequence[Point]) -> Claim:
    default, peak = min(points, key=lambda point: abs(point.value - 5)), max(points, key=_rho)
    rho = peak.quality.correlation
    numbers = f"rho {number(_rho(default))} at a = {default.value:g}; highest, {_value(rho)}, at a = {peak.value:g}, "
    numbers += f"where coverage is {peak.quality.coverage.value:.0%}"
    text = f"{task}: a larger a raises rho, up to 30 or 35"
    return Claim(text, above(rho.low, rho.high, _rho(default)), numbers)


def _of_b(task: str, points: Sequence[Point]) -> Claim:
    """Whether no interval excludes the rho of the last b, which is 1; of open-ended generation the claim is turned."""
    last, values = _rho(points[-1]), [_rho(point) for point in points]
    ends = [(rho.low, rho.high) for rho in (point.quality.correlation for point in points[:-1])]
    sure = [(low, high) for low, high in ends if not np.isnan(low)]
    steady = all(low <= last <= high for low, high in sure)
    numbers = f"rho {number(min(values))} to {number(max(values))} over b of {points[0].value:g} to 1, "
    numbers += f"{_value(points[-1].quality.correlation)} at b = 1"
    reversed_claim = task == data.OPEN_ENDED
    found = verdict(steady != reversed_claim, known=bool(sure))
    return Claim(f"{task}: b matters{'' if reversed_claim else ' little'}", found, numbers)


def cross_claims(crossings: Sequence[Crossing]) -> list[Claim]:
    """Section 5.4: examples of another task are no use for summaries, of some use for dialogue and open-ended text."""
    claims = []
    for crossing in crossings:
        if crossing.tested == crossing.examples:
            continue
        rho = crossing.quality.correlation
        numbers = f"{_value(rho)}, coverage {crossing.quality.coverage.value:.0%}"
        if crossing.tested == data.SUMMARIES:
            text = f"{crossing.tested} by examples of {crossing.examples}: rho near zero"
            claims.append(Claim(text, _near_zero(rho.low, rho.high), numbers))
        elif crossing.tested in (data.DIALOGUE, data.OPEN_ENDED):
            bound = 0.27 if crossing.tested == data.DIALOGUE else 0.09
            text = f"{crossing.tested} by examples of {crossing.examples}: rho above {number(bound)}"
            claims.append(Claim(text, above(rho.low, rho.high, bound), numbers))
    return claims


def size_claims(sizes: Sequence[SizeResult]) -> list[Claim]:
    """Section 5.5, of HUSE's tasks: more examples, more coverage and a higher rho; 75 do for a rho above .30."""
    claims = []
    for task in data.HUSE:
        mine = [size for size in sizes if size.task == task]
        if len(mine) < 3:
            continue
        first, middle, last = mine[0], mine[len(mine) // 2], mine[-1]
        numbers = "; ".join(
            f"{size.size:,}: rho {number(size.correlation)} (sd {number(size.correlation_sd)}), "
            f"coverage {size.coverage:.0%}"
            for size in (first, middle, last)
        )
        gain, error = last.correlation - first.correlation, _error(first)
        gained = above(gain - error, gain + error)
        both = all_of([gained, verdict(last.coverage >= first.coverage)])
        claims.append(Claim(f"{task}: more examples bring a higher rho and more coverage", both, numbers))
        of_75 = next((size for size in mine if size.size == 75), None)
        if of_75 and task != data.SUMMARIES:
            rho, error = of_75.correlation, _error(of_75)
            numbers = f"{number(rho)} (sd {number(of_75.correlation_sd)}), coverage {of_75.coverage:.0%}"
            enough = above(rho - error, rho + error, 0.30)
            claims.append(Claim(f"{task}: 75 examples bring rho above .30", enough, numbers))
    return claims


def topic_claims(scored: ModelScores, budget: Budget) -> list[Claim]:
    """Section 5.6: topic 8 has the best examples for topic 3, topic 4 useless ones."""
    name, best = scored.task.name, f"topic {data.BEST}"
    rho = scored.qualities[best].correlation
    text = f"{name}: rho {number(BEST_TOPIC_RHO)} by examples of {best}"
    claims = [Claim(text, _contains(rho, BEST_TOPIC_RHO), _value(rho))]
    others = [f"topic {topic}" for topic in data.TOPICS if topic not in (data.TESTED, data.BEST)]
    claims.append(_best_topic(scored, best, others, budget))
    worst = scored.qualities["topic 4"].correlation
    covered = scored.qualities["topic 4"].coverage.value
    numbers = f"{_value(worst)}, coverage {covered:.0%}"
    claims.append(Claim(f"{name}: examples of topic 4 are of no use", _near_zero(worst.low, worst.high), numbers))
    rivals = [name for name in scored.predictions if not name.startswith(("topic", "all but"))]
    for rival in rivals:
        pair = (best, scored.predictions[best]), (rival, scored.predictions[rival])
        mine = contrast(scored.task, *pair, budget.resamples)
        text = f"{name}: examples of {best} do better than {rival}"
        text += " (not in the paper)" if rival == LENGTH else " against a reference essay"
        claims.append(Claim(text, by_sign(mine.difference.value, mine.p), _numbers(mine, mine.p)))
    return [*claims, *_most_beaten(scored, [rival for rival in rivals if rival != LENGTH])]


def _most_beaten(scored: ModelScores, rivals: Sequence[str]) -> list[Claim]:
    """Whether the examples of all other topics together do better than most metrics that have a reference essay."""
    together = f"all but {data.TESTED}"
    ours = scored.qualities[together].correlation.value
    theirs = {rival: scored.qualities[rival].correlation.value for rival in rivals}
    beaten = sum(ours > value for value in theirs.values())
    numbers = f"rho {number(ours)}; " + ", ".join(f"{rival} {number(value)}" for rival, value in theirs.items())
    text = f"{scored.task.name}: examples of all topics but {data.TESTED} do better than most metrics with a reference"
    return [Claim(text, verdict(2 * beaten > len(rivals), known=not np.isnan(ours)), numbers)]


def _best_topic(scored: ModelScores, best: str, others: Sequence[str], budget: Budget) -> Claim:
    mine = (best, scored.predictions[best])
    contrasts = [contrast(scored.task, mine, (name, scored.predictions[name]), budget.resamples) for name in others]
    adjusted = holm([result.p for result in contrasts])
    best_of_all = all_of([by_sign(result.difference.value, p) for result, p in zip(contrasts, adjusted, strict=True)])
    values = {name: scored.qualities[name].correlation.value for name in (best, *others)}
    order = sorted((name for name in values if not np.isnan(values[name])), key=lambda name: -values[name])
    numbers = ", ".join(f"{name.removeprefix('topic ')}: {number(values[name])}" for name in order)
    beaten = sum(p < SURE and result.difference.value > 0 for result, p in zip(contrasts, adjusted, strict=True))
    worse = [
        result.second for result, p in zip(contrasts, adjusted, strict=True) if p < SURE and result.difference.value < 0
    ]
    numbers = f"rho by topic {numbers}; better than {beaten} of {len(others)} (Holm)"
    numbers += f", worse than {', '.join(worse)}" if worse else ""
    return Claim(f"{scored.task.name}: {best} has the best examples of the other topics", best_of_all, numbers)


def difficulty_claims(difficulties: Mapping[tuple[str, str], Difficulty]) -> list[Claim]:
    """Section 5.3: only in dialogue are covered texts easier for annotators."""
    claims = []
    for (task, kernel), difficulty in difficulties.items():
        if kernel != BLEU:
            continue
        numbers = f"MSE {number(difficulty.covered)} on the {difficulty.share:.1%} covered, "
        numbers += f"{number(difficulty.all)} on all, "
        numbers += "no test: all or none are covered" if np.isnan(difficulty.p) else f"p {number(difficulty.p)}"
        if task == data.DIALOGUE:
            easier = by_sign(difficulty.all - difficulty.covered, difficulty.p)
            claims.append(Claim(f"{task}: annotators err less on covered texts", easier, numbers))
        else:
            same = verdict(not difficulty.p < SURE, known=not np.isnan(difficulty.p))
            claims.append(Claim(f"{task}: no significant difference of annotators on covered texts", same, numbers))
    return claims


def missing_claims(tasks: Sequence[str]) -> list[Claim]:
    """Claims without data."""
    text = "a higher rho and a lower MSE than the average annotator; the highest rho of all kernels"
    return [
        Claim(f"{name}: {text}", "cannot be said", data.NOT_PUBLIC)
        for name in (data.DIALOGUE, data.OPEN_ENDED)
        if name not in tasks
    ]


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


def _rho(point: Point) -> float:
    return point.quality.correlation.value


def _error(size: SizeResult) -> float:
    """Twice the standard error of the mean rho over draws."""
    return 2 * size.correlation_sd / float(np.sqrt(max(size.defined, 1)))


def _value(mean: Mean | Correlation) -> str:
    if np.isnan(mean.low):
        return number(mean.value) if not np.isnan(mean.value) else "undefined"
    return f"{number(mean.value)} ({number(mean.low)} to {number(mean.high)})"


def _numbers(contrast: Contrast, p: float) -> str:
    if contrast.test.reason:
        return f"{contrast.second}: {contrast.test.reason}"
    return f"{contrast.second}: {_value(contrast.difference)}, p {number(p)}, {contrast.n:,} texts"
