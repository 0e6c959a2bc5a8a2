"""The chain: a metric agrees with judges -> training on it changes summaries -> people prefer them, or not.

Each link is from a file of its own, and any may be missing: report.json of ``rlsum correlate``, results.json of a
comparison, results.json of an analysed study. A reward is a metric of the first if their signatures are equal or, where
one of them is unknown, their names; a system of the second is one of the study if their names or titles are equal.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlsum.compare.cells import NONE, START
from rlsum.errors import UserError
from rlsum.pages.blocks import Block, Bullets
from rlsum.pages.pictures.drawing import COLOURS, Picture, drawn, short_name
from rlsum.pages.table import SCALE, UNDEFINED, Cell, Table
from rlsum.readers import json_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from rlsum.pages.pictures.drawing import Mode

NAN = float("nan")


class ChainError(UserError):
    """A file of the chain cannot be used; the message names it and says what to give."""


@dataclass(frozen=True)
class Estimate:
    """A number with its interval, NaN where it has none, and what it is of."""

    value: float = NAN
    low: float = NAN
    high: float = NAN
    of: str = ""

    @property
    def known(self) -> bool:
        """Whether there is a number."""
        return not math.isnan(self.value)

    def of_scale(self, points: float) -> Estimate:
        """A share of graded answers as the difference that it stands for."""
        value, low, high = ((2 * share - 1) * points for share in (self.value, self.low, self.high))
        return Estimate(value, low, high, self.of)


@dataclass(frozen=True)
class Link:
    """One reward through the chain.

    ``agreement``: correlation with judges. ``effect``: raw gain on the reward itself of training on it, over the
    control, or the start without one; of one seed without an interval. ``preference``: share of judges' choices, 0 to
    1, ties as half, for the trained system over another; of graded answers its mean lead over that one, in points.
    ``points``: the largest lead that their scale allows; 0 where it is a share.
    """

    reward: str
    agreement: Estimate = Estimate()
    effect: Estimate = Estimate()
    preference: Estimate = Estimate()
    points: float = 0.0


def chain(correlation: str | Path | None, comparison: Any, study: str | Path | None) -> list[Link]:
    """The links of every trained reward; without a comparison, of every metric or system of the other files.

    ``comparison`` is the content of its results.json, or None. Raises ChainError where a file is not what it should be,
    or none is given.
    """
    if correlation is None and comparison is None and study is None:
        raise ChainError("no file is given; give a correlation, a comparison or a study")
    agreements = _agreements(Path(correlation)) if correlation is not None else {}
    rows = _rewards(comparison) if comparison is not None else []
    preferred, points = _preferences(Path(study)) if study is not None else ({}, 0.0)
    if comparison is None:
        names = dict.fromkeys([*agreements, *(name for name, _ in preferred)])
        rows = [_Trained(name, (name,), "") for name in names]
    opponents = [opponent for row in rows for opponent in row.against]
    links = []
    for row in rows:
        preference = _preference(row, preferred, opponents)
        links.append(Link(row.names[0], _agreement(row, agreements), row.effect, preference, points))
    return links


def chain_blocks(links: Sequence[Link]) -> list[Block]:
    """The chain as a table, a picture and a sentence about its order; [] without any link."""
    if not any(estimate.known for link in links for estimate in _parts(link)):
        return []
    graded = links[0].points > 0
    preference = "judges' lead, points" if graded else "preferred by judges, %"
    header = ("reward", "agrees with judges", f"its own gain by training, x {SCALE}", preference)
    scales = (1, SCALE, 1 if graded else 100)
    digits = (3, 2, 2 if graded else 1)
    rows = tuple(
        (Cell(link.reward), *map(_cell, _parts(link), scales, digits, (False, True, graded))) for link in links
    )
    sources = dict.fromkeys(estimate.of for link in links for estimate in _parts(link) if estimate.of)
    table = Table("From agreement to preference", header, rows, (f"{'; '.join(sources)}.",) if sources else ())
    return [table, _picture(links), Bullets(list(agreements_of_order(links)))]


def agreements_of_order(links: Sequence[Link]) -> list[str]:
    """How many pairs of rewards have the same order at two links, where the intervals of both tell them apart."""
    names = ("agreement with judges", "gain by training", "human preference")
    sentences = []
    for first, second in combinations(range(3), 2):
        apart, same = 0, 0
        estimates = [_parts(link) for link in links if _parts(link)[first].known and _parts(link)[second].known]
        for left, right in combinations(estimates, 2):
            order = [_order(left[at], right[at]) for at in (first, second)]
            apart += all(order)
            same += all(order) and order[0] == order[1]
        if len(estimates) > 1:
            total = len(estimates) * (len(estimates) - 1) // 2
            pairs = f"the intervals tell {apart} of {total} pairs of rewards apart in both"
            order_text = f", {same} of them in the same order" if apart else ", so the order cannot be compared"
            sentences.append(f"{names[first].capitalize()} and {names[second]}: {pairs}{order_text}.")
    return sentences


# ---- files ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Trained:
    """A system trained on a reward: its names, the first for readers; the signature; its gain; who it may meet."""

    reward: str
    names: tuple[str, ...]
    signature: str
    effect: Estimate = Estimate()
    against: tuple[str, ...] = ()


def _agreements(path: Path) -> dict[str, tuple[str, Estimate]]:
    """Metric -> its signature, "" where unknown, and its first statistic of the whole data."""
    fix = "give report.json of `rlsum correlate -o`, or what it prints with --json"
    data = json_file(path, fix, ChainError)
    try:
        result = data["results"][0]
        agreements = {}
        for label, values in result["correlations"].items():
            whole = values["average"]
            source = f"agreement: {result['statistic']} ({result['level']}) on {data['data']}"
            estimate = _estimate(whole["value"], whole["low"], whole["high"], source)
            agreements[label] = (data["columns"][label]["signature"] or "", estimate)
        return agreements
    except (KeyError, IndexError, TypeError) as error:
        raise ChainError(f"{path}: no {error} of a correlation; {fix}") from error


def _agreement(row: _Trained, agreements: Mapping[str, tuple[str, Estimate]]) -> Estimate:
    """That of the row's signature; that of its name where one of the two signatures is unknown."""
    for signature, estimate in agreements.values():
        if signature and signature == row.signature:
            return estimate
    signature, estimate = agreements.get(row.reward, ("", Estimate()))
    return Estimate() if signature and row.signature else estimate


def _rewards(data: Any) -> list[_Trained]:
    """The rows of a comparison that were trained on a reward, by its main way of decoding."""
    try:
        main = data[0]
        titles = {row["system"]: row["title"] for row in main["systems"]}
        base = next((name for name in (NONE, START) if name in titles), None)
        gains = {(test["system"], test["other"], test["metric"]): test for test in main["differences"]}
        rows = []
        for row in main["systems"]:
            if row["kind"] != "reward":
                continue
            name, reward = row["system"], row["reward"]
            test = gains.get((name, base, reward))
            effect = _effect(test, titles[name], titles[base], len(main["seeds"])) if test else Estimate()
            against = tuple(label for key in (NONE, START) if key in titles for label in (titles[key], key))
            signature = main["signatures"].get(reward, "")
            rows.append(_Trained(reward, (titles[name], name), signature, effect, against))
        return rows
    except (KeyError, IndexError, TypeError) as error:
        raise ChainError(f"comparison: no {error}; give report/results.json of `rlsum compare`") from error


def _effect(test: Mapping[str, Any], title: str, base: str, seeds: int) -> Estimate:
    """A gain; of one seed without its interval, which is over articles alone and would order rewards by chance."""
    low, high = (test["low"], test["high"]) if test["seeds"] > 1 else (None, None)
    of_seeds = ", in one seed: no interval" if seeds == 1 else ""
    if test["seeds"] < seeds:
        of_seeds = f", of {title} in {test['seeds']} of {seeds} seeds"
    return _estimate(test["mean"], low, high, f"gain: over {base}{of_seeds}")


def _preferences(path: Path) -> tuple[dict[tuple[str, str], Estimate], float]:
    """(system, other) -> `Link.preference` by the primary criterion, or the last (overall); and `Link.points`."""
    fix = "give results.json of `rlsum human-eval analyse`"
    data = json_file(path, fix, ChainError)
    try:
        criterion = data["settings"]["primary"] or data["criteria"][-1]
        preferred: dict[tuple[str, str], Estimate] = {}
        points = 0.0
        for row in data["preferences"]:
            if row["criterion"] != criterion:
                continue
            first, second = row["pair"]
            share, low, high = (row["ties_half"][name] for name in ("share", "low", "high"))
            source, points = f"preference: {criterion} in {data['title']}", row["points"]
            over = _estimate(share, low, high, f"{source}, {second} over {first}")
            under = Estimate(1 - over.value, 1 - over.high, 1 - over.low, f"{source}, {first} over {second}")
            for pair, estimate in (((second, first), over), ((first, second), under)):
                preferred[pair] = estimate.of_scale(points) if points else estimate
        return preferred, points
    except (KeyError, IndexError, TypeError) as error:
        raise ChainError(f"{path}: no {error} of a study; {fix}") from error


def _preference(row: _Trained, preferred: Mapping[tuple[str, str], Estimate], opponents: Sequence[str]) -> Estimate:
    """The row's preference over the control or the start; else over a system that all others meet, else unknown."""
    met = [pair for pair in preferred if pair[0] in row.names]
    for opponent in (*row.against, *opponents):
        for pair in met:
            if pair[1] == opponent:
                return preferred[pair]
    return preferred[met[0]] if len(met) == 1 else Estimate()


def _estimate(value: float | None, low: float | None, high: float | None, source: str) -> Estimate:
    value, low, high = (NAN if number is None else float(number) for number in (value, low, high))
    return Estimate(value, low, high, source)


# ---- blocks ---------------------------------------------------------------------------------------------------------


def _parts(link: Link) -> tuple[Estimate, Estimate, Estimate]:
    return link.agreement, link.effect, link.preference


def _order(left: Estimate, right: Estimate) -> int:
    """1 or -1 where two intervals do not overlap, otherwise 0: stricter than a test of the difference."""
    if left.low > right.high:
        return 1
    return -1 if left.high < right.low else 0


def _cell(estimate: Estimate, scale: float, digits: int, signed: bool) -> Cell:
    if not estimate.known:
        return Cell(UNDEFINED)
    sign = "+" if signed else ""
    texts = [f"{scale * value:{sign}.{digits}f}" for value in (estimate.value, estimate.low, estimate.high)]
    return Cell(texts[0], "" if math.isnan(estimate.low) else f"{texts[1]} to {texts[2]}")


def _picture(links: Sequence[Link]) -> Picture:
    graded = links[0].points > 0
    titles = ("agrees with judges", f"its own gain, x {SCALE}", "judges' lead, points" if graded else "preferred, %")
    zeros, scales = (0.0, 0.0, 0.0 if graded else 50.0), (1, SCALE, 1 if graded else 100)

    def draw(figure: Figure, _: Mode) -> None:
        for at in range(3):
            axes = figure.add_subplot(1, 3, at + 1)
            for number, link in enumerate(links):
                estimate = _parts(link)[at]
                if estimate.known:
                    colour, y = COLOURS[number % len(COLOURS)], -number
                    axes.plot([scales[at] * estimate.low, scales[at] * estimate.high], [y, y], color=colour)
                    axes.plot([scales[at] * estimate.value], [y], "o", color=colour)
            axes.axvline(zeros[at], color=COLOURS[-1], linestyle="--", linewidth=0.8)
            axes.set_title(titles[at], loc="left")
            axes.set_ylim(-len(links) + 0.5, 0.5)
            axes.set_yticks([-number for number in range(len(links))])
            axes.set_yticklabels([short_name(link.reward) for link in links] if at == 0 else [""] * len(links))

    note = "Points with the intervals of their files; dashed: no agreement, no gain, no preference. A row is a reward."
    return drawn("chain", "From agreement to preference", note, (9.0, 1.0 + 0.35 * len(links)), draw)
