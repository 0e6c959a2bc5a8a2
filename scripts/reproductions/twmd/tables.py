"""Tables 1 to 3 and appendix C: correlations with people and the published ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from reproductions.claims import Claim, within
from reproductions.estimate import Estimate, best, mean
from reproductions.published import Entry, shown
from reproductions.reproduction import Reproduction
from reproductions.twmd.metrics import DIRECTED, REWARDS, TOKENS, EncoderSetup, Metric
from reproductions.twmd.pairs import Measured, SentencePairs, measure
from rewards.embedding.similarity import Direction
from rlsum.pages.table import Cell, Table

Protocol = Literal["official", "plain"]
Averages = Mapping[Metric, Mapping[str, Mapping[str, Estimate]]]  # -> column -> correlation

AVERAGE = "avg"
SYMBOLS: dict[str, str] = {"pearson": "r", "spearman": "rho", "kendall": "tau"}
STS_NOTES: dict[Protocol, str] = {
    "official": "Protocol of the official code: both special tokens dropped, each subtask sorted by length before it "
    "is cut into batches of 32, subtasks weighted by size, then years averaged.",
    "plain": "Protocol: the last special token dropped, subtasks in file order, subtasks weighted equally.",
}
NEGLIGIBLE = 0.005  # a difference in r of half a point


@dataclass(frozen=True)
class PublishedColumns:
    """The columns of a table by their names in the file of published numbers, and its two statistics."""

    table: str
    datasets: Mapping[str, str]
    statistics: tuple[str, str]


def table1(setup: EncoderSetup, pairs: SentencePairs, protocol: Protocol) -> Reproduction:
    """STS 2012-16 with four centerings; Pearson and Spearman."""
    official = protocol == "official"
    metrics = setup.metrics(("SBERT", "CKA", "MoverScore", "BERTscore"), ("none", "batch", "sent", "dim"))
    measured = measure(
        setup,
        pairs,
        metrics,
        ("pearson", "spearman"),
        special_tokens="none" if official else "first",
        by_length=setup.loaded if official else None,
    )
    sizes = {group: len(rows) for group, rows in pairs.group_rows().items()}
    averages = averaged(measured, lambda groups: over_years(groups, sizes) if official else over_groups(groups))
    columns = PublishedColumns("table1", {AVERAGE: "STS12-16"}, ("pearson", "spearman"))
    claims = (batch_helps(averages, "STS 2012-16"), dimension_changes_nothing(averages))
    return correlation_table("table1", "Table 1. STS 2012-16", setup, averages, columns, claims, (STS_NOTES[protocol],))


def wmt_table(setup: EncoderSetup, pairs: SentencePairs, table: str, year: str) -> Reproduction:
    """Tables 2 (WMT17) and 3 (WMT18): all metrics, with and without batch centering; tau-b and Pearson."""
    measured = measure(setup, pairs, setup.metrics(tuple(REWARDS), ("none", "batch")), ("kendall", "pearson"))
    averages = averaged(measured, over_groups)
    datasets = {name: f"{year} {name}" for name in (*pairs.group_rows(), AVERAGE)}
    claims = (batch_helps(averages, year), best_of_all(averages, Metric("TWMD", "batch", setup.direction), year))
    title = f"Table {table[-1]}. {year}, to English"
    return correlation_table(
        table, title, setup, averages, PublishedColumns(table, datasets, ("kendall", "pearson")), claims
    )


def appendix_c(setup: EncoderSetup, pairs: SentencePairs) -> Reproduction:
    """Precision, recall and F1 on WMT17."""
    metrics = [
        Metric(name, centering, direction)
        for name in DIRECTED
        for centering in ("none", "batch")
        for direction in TOKENS
    ]
    averages = averaged(measure(setup, pairs, metrics, ("kendall", "pearson")), over_groups)
    datasets = {name: f"{pairs.name} {name}" for name in (*pairs.group_rows(), AVERAGE)}
    claims = (
        most_consistent(averages, "precision", "candidate tokens (what the authors' code calls recall)"),
        most_consistent(averages, "recall", "reference tokens (recall as BERTScore defines it)"),
    )
    columns = PublishedColumns("appendix-c", datasets, ("kendall", "pearson"))
    return correlation_table("appendix-c", f"Appendix C. {pairs.name}, directions", setup, averages, columns, claims)


def averaged(measured: Measured, average: Callable[[Mapping[str, Estimate]], Mapping[str, Estimate]]) -> Averages:
    """Every statistic by column of the table instead of by group."""
    return {
        metric: {name: average(groups) for name, groups in statistics.items()}
        for metric, statistics in measured.items()
    }


def over_groups(groups: Mapping[str, Estimate]) -> dict[str, Estimate]:
    """The groups and their mean with equal weights."""
    return {**groups, AVERAGE: mean(list(groups.values()))}


def over_years(groups: Mapping[str, Estimate], sizes: Mapping[str, int]) -> dict[str, Estimate]:
    """Years, subtasks weighted by their pairs, and the mean of the years."""
    years: dict[str, list[str]] = {}
    for group in groups:
        years.setdefault(group.split("/")[0], []).append(group)
    return over_groups(
        {
            year: mean([groups[name] for name in members], [sizes[name] for name in members])
            for year, members in years.items()
        }
    )


def average_of(averages: Averages, metric: Metric) -> Estimate:
    """The average Pearson correlation of a metric."""
    return averages[metric]["pearson"][AVERAGE]


def batch_helps(averages: Averages, where: str) -> Claim:
    """Batch centering raises the average Pearson correlation of every metric."""
    gains = {metric.name: gain for metric, gain in _against_none(averages, "batch").items()}
    return within(f"Batch centering helps every metric on {where}", gains, low=0.0)


def dimension_changes_nothing(averages: Averages) -> Claim:
    """Dimension centering changes no average."""
    gains = {metric.name: gain for metric, gain in _against_none(averages, "dim").items()}
    return within("Dimension centering changes no metric by half a point", gains, -NEGLIGIBLE, NEGLIGIBLE)


def best_of_all(averages: Averages, champion: Metric, where: str) -> Claim:
    """One metric's average is above that of every other."""
    ahead = {
        f"over {metric.label}": average_of(averages, champion) - average_of(averages, metric)
        for metric in averages
        if metric != champion
    }
    return within(f"{champion.label} is the best metric on {where}", ahead, low=0.0)


def most_consistent(averages: Averages, direction: Direction, words: str) -> Claim:
    """One direction is closest to the best of the three, averaged over metrics and language pairs."""
    short = {name: mean(_shortfalls(averages, name)) for name in TOKENS}
    ahead = {f"less than {TOKENS[name]}": short[name] - short[direction] for name in TOKENS if name != direction}
    text = f"Averaging over {words} falls least short of the best direction"
    return within(text, ahead, low=0.0)


def correlation_table(
    name: str,
    title: str,
    setup: EncoderSetup,
    averages: Averages,
    columns: PublishedColumns,
    claims: Sequence[Claim] = (),
    notes: Sequence[str] = (),
) -> Reproduction:
    """Measured numbers above published ones, as a table."""
    first, second = columns.statistics
    header = ("metric", *(f"{name} {SYMBOLS[first]} / {SYMBOLS[second]}" for name in columns.datasets))
    rows = tuple(
        (Cell(_label(metric)), *(_cell(setup, columns, metric, averages, name) for name in columns.datasets))
        for metric in averages
    )
    known = any(entry.table == columns.table for entry in setup.published)
    beside = (
        f"Beneath, in brackets, what was published for {setup.published_encoder}."
        if known
        else "Published: not available."
    )
    caption = f"{title}; {setup.description}; correlations x 100. {beside}"
    if not known:
        rows = tuple(tuple(replace(cell, detail="") for cell in row) for row in rows)
    return Reproduction(name, (Table(caption, header, rows),), claims=tuple(claims), notes=tuple(notes))


def _cell(setup: EncoderSetup, columns: PublishedColumns, metric: Metric, averages: Averages, column: str) -> Cell:
    dataset = columns.datasets[column]
    entries = [
        Entry(columns.table, dataset, setup.published_encoder, metric.name, metric.centering, statistic)
        for statistic in columns.statistics
    ]
    published = dict.fromkeys(shown(setup.published.get(entry)) for entry in entries)
    measured = [100 * averages[metric][name][column].value for name in columns.statistics]
    top = max(averages[rival][columns.statistics[0]][column].value for rival in averages)
    return Cell(
        " / ".join(f"{value:.1f}" for value in measured),
        " / ".join(published),
        averages[metric][columns.statistics[0]][column].value == top,
    )


def _label(metric: Metric) -> str:
    return f"{metric.label}, {TOKENS[metric.direction]}" if metric.name in DIRECTED else metric.label


def _against_none(averages: Averages, centering: str) -> dict[Metric, Estimate]:
    """What a centering adds to the average Pearson correlation of each metric."""
    return {
        metric: average_of(averages, Metric(metric.name, centering, metric.direction)) - average_of(averages, metric)
        for metric in averages
        if metric.centering == "none"
    }


def _shortfalls(averages: Averages, direction: Direction) -> list[Estimate]:
    """The distance of a direction from the best of the three, for each metric and group."""
    shortfalls = []
    for metric, statistics in averages.items():
        if metric.direction == direction:
            for group in statistics["pearson"]:
                if group != AVERAGE:
                    three = [averages[Metric(metric.name, metric.centering, name)]["pearson"][group] for name in TOKENS]
                    shortfalls.append(best(three) - statistics["pearson"][group])
    return shortfalls
