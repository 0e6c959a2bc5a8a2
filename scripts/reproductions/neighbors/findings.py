"""The claims of the paper's text, each beside what was measured. A claim without its data cannot be said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from reproductions.claims import SURE, Claim, Verdict, above, all_of, by_sign
from reproductions.neighbors import data
from reproductions.neighbors.annotators import Annotators, Difficulty, annotators
from reproductions.neighbors.predictions import Contrast, Mean, contrast
from reproductions.neighbors.results import BEST_TOPIC_RHO, COVERAGE
from reproductions.neighbors.studies import Budget, Crossing, Point, Scored, Size
from reproductions.neighbors.tables import number
from rlsum.evaluation.statistics import holm

BLEU, LENGTH = "BLEU*", "length alone"
WEAK = 0.2  # a rho whose interval ends below: of no use
SLIGHT = 1.5  # so many times the best annotator's MSE is still "slightly higher"


def kernel_claims(scored: Sequence[Scored], rivals: Sequence[str], budget: Budget) -> list[Claim]:
    """Section 5.1: a higher rho than the same model with another kernel, on every task."""
    claims = []
    for each in scored:
        task, mine = each.task, (BLEU, each.predictions[BLEU])
        there = [name for name in rivals if name in each.predictions]
        found = [contrast(task, mine, (name, each.predictions[name]), budget.resamples) for name in there]
        adjusted = holm([one.p for one in found])
        verdicts = [by_sign(one.difference.value, p) for one, p in zip(found, adjusted, strict=True)]
        told = "; ".join(_told(one, float(p)) for one, p in zip(found, adjusted, strict=True))
        text = f"{task.name}: a higher rho than with {', '.join(there)} as the kernel"
        claims.append(Claim(text, all_of(verdicts), told))
    return claims


def coverage_claims(scored: Sequence[Scored]) -> list[Claim]:
    """How many texts get a score: the published share lies in the interval measured, or does not."""
    claims = []
    for each in scored:
        published = COVERAGE.get(each.task.name)
        if published is None:
            continue
        found, printed = each.qualities[BLEU].coverage, each.qualities["BLEU* as printed"].coverage
        inside = found.low <= published <= found.high
        verdict: Verdict = "cannot be said" if np.isnan(found.low) else "holds" if inside else "does not hold"
        told = f"{_value(found)} with zero_order=stop, {_value(printed)} with the formula as printed"
        claims.append(Claim(f"{each.task.name}: {published:.0%} are covered", verdict, told))
    return claims


def annotator_claims(scored: Sequence[Scored]) -> list[Claim]:
    """Sections 5.1: BLEU Neighbors against single annotators, and annotators against the mean."""
    claims = []
    for each in scored:
        judged, found = each.task.tested, each.qualities[BLEU]
        people = annotators(judged)
        if np.isnan(people.best).any():  # nobody told apart, or nobody with enough texts
            continue
        error, rho = people.average(people.errors), people.average(people.correlations)
        ours = Mean(found.correlation.value, found.correlation.low, found.correlation.high)
        claims += _against_average(each.task.name, ours, rho, found.error, error)
        claims += _of_best(each, people, error, rho)
        told = f"MSE of the mean {_value(found.baseline)}, less that of BLEU Neighbors {_value(found.gain)}"
        text = f"{each.task.name}: a lower MSE than predicting the mean (not in the paper)"
        claims.append(Claim(text, above(found.gain.low, found.gain.high), told))
    return claims


def _against_average(task: str, rho: Mean, theirs: Mean, error: Mean, their_error: Mean) -> list[Claim]:
    """BLEU Neighbors beats the average annotator everywhere but, by rho, in summaries."""
    told = f"rho {_value(rho)}, average annotator {_value(theirs)}"
    if task == data.SUMMARIES:
        by_rho = Claim(f"{task}: the average annotator has a higher rho", above(*_apart(theirs, rho)), told)
    else:
        by_rho = Claim(f"{task}: a higher rho than the average annotator", above(*_apart(rho, theirs)), told)
    told = f"MSE {_value(error)}, average annotator {_value(their_error)}"
    return [by_rho, Claim(f"{task}: a lower MSE than the average annotator", above(*_apart(their_error, error)), told)]


def _of_best(scored: Scored, people: Annotators, error: Mean, rho: Mean) -> list[Claim]:
    """The best annotator is far ahead of the average one and of BLEU Neighbors, but by MSE not of the mean."""
    name, (least, highest) = scored.task.name, people.best
    mean = scored.qualities[BLEU].baseline.value
    ours = scored.qualities[BLEU].correlation
    told = f"rho {number(highest)}, the best of {len(people.errors)}; BLEU Neighbors "
    told += _value(Mean(ours.value, ours.low, ours.high))
    behind = Claim(f"{name}: well behind the best annotator", above(-ours.high, -ours.low, -highest), told)
    times = error.value / least, highest / rho.value
    told = f"MSE {number(least)} against {number(error.value)}, {times[0]:.1f} times; "
    told += f"rho {number(highest)} against {number(rho.value)}, {times[1]:.1f} times"
    ahead: Verdict = "holds" if times[0] >= 3.5 and times[1] >= 1.5 else "does not hold"
    four = Claim(f"{name}: the best annotator's MSE is 4 times and rho 2 times as good as the average's", ahead, told)
    slight: Verdict = "holds" if mean < SLIGHT * least else "does not hold"
    told = f"MSE of the mean {number(mean)}, of the best annotator {number(least)}"
    little = Claim(f"{name}: predicting the mean is only slightly worse than the best annotator, by MSE", slight, told)
    return [behind, four, little] if name == data.SUMMARIES else [behind, little]


def _apart(first: Mean, second: Mean) -> tuple[float, float]:
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
    told = f"rho {number(_rho(default))} at a = {default.value:g}; highest, {_rho_told(peak)}, at a = {peak.value:g}, "
    told += f"where coverage is {peak.quality.coverage.value:.0%}"
    text = f"{task}: a larger a raises rho, up to 30 or 35"
    return Claim(text, above(rho.low, rho.high, _rho(default)), told)


def _of_b(task: str, points: Sequence[Point]) -> Claim:
    """Whether no interval excludes the rho of the last b, which is 1; of open-ended generation the claim is turned."""
    last, values = _rho(points[-1]), [_rho(point) for point in points]
    ends = [(each.low, each.high) for each in (point.quality.correlation for point in points[:-1])]
    sure = [(low, high) for low, high in ends if not np.isnan(low)]
    steady = all(low <= last <= high for low, high in sure)
    told = f"rho {number(min(values))} to {number(max(values))} over b of {points[0].value:g} to 1, "
    told += f"{_rho_told(points[-1])} at b = 1"
    turned = task == data.OPEN_ENDED
    verdict: Verdict = "cannot be said" if not sure else "holds" if steady != turned else "does not hold"
    return Claim(f"{task}: b matters{'' if turned else ' little'}", verdict, told)


def cross_claims(crossings: Sequence[Crossing]) -> list[Claim]:
    """Section 5.4: examples of another task are no use for summaries, of some use for dialogue and open-ended text."""
    claims = []
    for each in crossings:
        if each.tested == each.examples:
            continue
        rho = each.quality.correlation
        told = f"{_value(Mean(rho.value, rho.low, rho.high))}, coverage {each.quality.coverage.value:.0%}"
        if each.tested == data.SUMMARIES:
            text = f"{each.tested} by examples of {each.examples}: rho near zero"
            claims.append(Claim(text, _near_zero(rho.low, rho.high), told))
        elif each.tested in (data.DIALOGUE, data.OPEN_ENDED):
            bound = 0.27 if each.tested == data.DIALOGUE else 0.09
            text = f"{each.tested} by examples of {each.examples}: rho above {number(bound)}"
            claims.append(Claim(text, above(rho.low, rho.high, bound), told))
    return claims


def size_claims(found: Sequence[Size]) -> list[Claim]:
    """Section 5.5, of HUSE's tasks: more examples, more coverage and a higher rho; 75 do for a rho above .30."""
    claims = []
    for task in data.HUSE:
        mine = [each for each in found if each.task == task]
        if len(mine) < 3:
            continue
        first, middle, last = mine[0], mine[len(mine) // 2], mine[-1]
        told = "; ".join(
            f"{each.size:,}: rho {number(each.correlation)} (sd {number(each.correlation_sd)}), "
            f"coverage {each.coverage:.0%}"
            for each in (first, middle, last)
        )
        gain, error = last.correlation - first.correlation, _error(first)
        gained = above(gain - error, gain + error)
        more: Verdict = "holds" if last.coverage >= first.coverage else "does not hold"
        claims.append(
            Claim(f"{task}: more examples bring a higher rho and more coverage", all_of([gained, more]), told)
        )
        of_75 = next((each for each in mine if each.size == 75), None)
        if of_75 and task != data.SUMMARIES:
            rho, error = of_75.correlation, _error(of_75)
            told = f"{number(rho)} (sd {number(of_75.correlation_sd)}), coverage {of_75.coverage:.0%}"
            claims.append(
                Claim(f"{task}: 75 examples bring rho above .30", above(rho - error, rho + error, 0.30), told)
            )
    return claims


def topic_claims(scored: Scored, budget: Budget) -> list[Claim]:
    """Section 5.6: topic 8 has the best examples for topic 3, topic 4 useless ones."""
    name, best = scored.task.name, f"topic {data.BEST}"
    rho = scored.qualities[best].correlation
    told = _value(Mean(rho.value, rho.low, rho.high))
    near: Verdict = "holds" if rho.low <= BEST_TOPIC_RHO <= rho.high else "does not hold"
    near = "cannot be said" if np.isnan(rho.low) else near
    claims = [Claim(f"{name}: rho {number(BEST_TOPIC_RHO)} by examples of {best}", near, told)]
    others = [f"topic {topic}" for topic in data.TOPICS if topic not in (data.TESTED, data.BEST)]
    claims.append(_best_topic(scored, best, others, budget))
    worst = scored.qualities["topic 4"].correlation
    covered = scored.qualities["topic 4"].coverage.value
    told = f"{_value(Mean(worst.value, worst.low, worst.high))}, coverage {covered:.0%}"
    claims.append(Claim(f"{name}: examples of topic 4 are of no use", _near_zero(worst.low, worst.high), told))
    rivals = [name for name in scored.predictions if not name.startswith(("topic", "all but"))]
    for rival in rivals:
        pair = (best, scored.predictions[best]), (rival, scored.predictions[rival])
        mine = contrast(scored.task, *pair, budget.resamples)
        text = f"{name}: examples of {best} do better than {rival}"
        text += " (not in the paper)" if rival == LENGTH else " against a reference essay"
        claims.append(Claim(text, by_sign(mine.difference.value, mine.p), _told(mine, mine.p)))
    return [*claims, *_most_beaten(scored, [rival for rival in rivals if rival != LENGTH])]


def _most_beaten(scored: Scored, rivals: Sequence[str]) -> list[Claim]:
    """Whether the examples of all other topics together do better than most metrics that have a reference essay."""
    together = f"all but {data.TESTED}"
    ours = scored.qualities[together].correlation.value
    theirs = {rival: scored.qualities[rival].correlation.value for rival in rivals}
    beaten = sum(ours > value for value in theirs.values())
    told = f"rho {number(ours)}; " + ", ".join(f"{rival} {number(value)}" for rival, value in theirs.items())
    verdict: Verdict = "holds" if 2 * beaten > len(rivals) else "does not hold"
    text = f"{scored.task.name}: examples of all topics but {data.TESTED} do better than most metrics with a reference"
    return [Claim(text, "cannot be said" if np.isnan(ours) else verdict, told)]


def _best_topic(scored: Scored, best: str, others: Sequence[str], budget: Budget) -> Claim:
    mine = (best, scored.predictions[best])
    found = [contrast(scored.task, mine, (name, scored.predictions[name]), budget.resamples) for name in others]
    adjusted = holm([one.p for one in found])
    verdict = all_of([by_sign(one.difference.value, p) for one, p in zip(found, adjusted, strict=True)])
    values = {name: scored.qualities[name].correlation.value for name in (best, *others)}
    order = sorted((name for name in values if not np.isnan(values[name])), key=lambda name: -values[name])
    told = ", ".join(f"{name.removeprefix('topic ')}: {number(values[name])}" for name in order)
    beaten = sum(p < SURE and one.difference.value > 0 for one, p in zip(found, adjusted, strict=True))
    worse = [one.second for one, p in zip(found, adjusted, strict=True) if p < SURE and one.difference.value < 0]
    told = f"rho by topic {told}; better than {beaten} of {len(others)} (Holm)"
    told += f", worse than {', '.join(worse)}" if worse else ""
    return Claim(f"{scored.task.name}: {best} has the best examples of the other topics", verdict, told)


def difficulty_claims(found: Mapping[tuple[str, str], Difficulty]) -> list[Claim]:
    """Section 5.3: only in dialogue are covered texts easier for annotators."""
    claims = []
    for (task, kernel), each in found.items():
        if kernel != BLEU:
            continue
        told = f"MSE {number(each.covered)} on the {each.share:.1%} covered, {number(each.all)} on all, "
        told += "no test: all or none are covered" if np.isnan(each.p) else f"p {number(each.p)}"
        if task == data.DIALOGUE:
            easier = by_sign(each.all - each.covered, each.p)
            claims.append(Claim(f"{task}: annotators err less on covered texts", easier, told))
        else:
            same: Verdict = "cannot be said" if np.isnan(each.p) else "does not hold" if each.p < SURE else "holds"
            claims.append(Claim(f"{task}: no significant difference of annotators on covered texts", same, told))
    return claims


def missing_claims(tasks: Sequence[str]) -> list[Claim]:
    """What cannot be said because the data are not there."""
    text = "a higher rho and a lower MSE than the average annotator; the highest rho of all kernels"
    return [
        Claim(f"{name}: {text}", "cannot be said", data.NOT_PUBLIC)
        for name in (data.DIALOGUE, data.OPEN_ENDED)
        if name not in tasks
    ]


def _near_zero(low: float, high: float) -> Verdict:
    """Of a claim that a rho is near zero: its interval ends below .2, or lies above 0, or neither."""
    if np.isnan(low):
        return "cannot be said"
    if high < WEAK:
        return "holds"
    return "does not hold" if low > 0 else "cannot be said"


def _rho(point: Point) -> float:
    return point.quality.correlation.value


def _rho_told(point: Point) -> str:
    rho = point.quality.correlation
    return _value(Mean(rho.value, rho.low, rho.high))


def _error(size: Size) -> float:
    """Twice the standard error of the mean rho over draws."""
    return 2 * size.correlation_sd / float(np.sqrt(max(size.defined, 1)))


def _value(mean: Mean) -> str:
    if np.isnan(mean.low):
        return number(mean.value) if not np.isnan(mean.value) else "undefined"
    return f"{number(mean.value)} ({number(mean.low)} to {number(mean.high)})"


def _told(found: Contrast, p: float) -> str:
    if found.test.reason:
        return f"{found.second}: {found.test.reason}"
    return f"{found.second}: {_value(found.difference)}, p {number(p)}, {found.n:,} texts"
