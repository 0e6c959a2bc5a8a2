"""From the scores of cells to numbers: a row for each system, its scores by seed and article, and its differences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from rewards.documentation import stated_range
from rewards.specs import as_spec
from rlsum.compare.cells import NONE, START, Cell, Kind, is_rewarded
from rlsum.compare.folder import Folder
from rlsum.compare.scoring import NO_SCORES, Scores, read_scores
from rlsum.evaluation.rows import Floats
from rlsum.evaluation.statistics import Interval, with_holm
from rlsum.evaluation.trained.hierarchical import Difference, compare_systems
from rlsum.evaluation.trained.verdicts import Best, best_of, unjudged, verdict
from rlsum.scoring.properties import PROPERTIES

Range = tuple[float, float]
ANY: Range = (-np.inf, np.inf)
ROUNDING = 1e-5  # an encoder scores the same text in another batch with differences of about 1e-7


@dataclass(frozen=True)
class System:
    """A row: scores (seeds, articles) by metric and by property; NaN where undefined or where a cell has none.

    The seeds are those of the comparison; one that is the same for all seeds has one row of scores.
    """

    name: str
    title: str
    kind: Kind
    reward: str | None
    metrics: dict[str, Floats]
    properties: dict[str, Floats]

    def same_scores(self, other: System) -> bool:
        """Whether no metric tells the texts of both apart, on any article in any seed."""
        shared = self.metrics.keys() & other.metrics.keys()
        return all(np.allclose(self.metrics[name], other.metrics[name], 0, ROUNDING, equal_nan=True) for name in shared)


@dataclass(frozen=True)
class Contrast:
    """``system`` minus ``other`` on a metric. ``partial``: what they lack, which allows no verdict, or ""."""

    system: str
    other: str
    metric: str
    difference: Difference
    partial: str = ""

    @property
    def judged(self) -> Difference:
        """The difference as far as a verdict may rest on it: without p where something is lacking."""
        return replace(self.difference, p=np.nan, p_holm=np.nan) if self.partial else self.difference

    @property
    def shown(self) -> bool:
        """Whether the two are shown to differ."""
        return verdict(self.judged) in ("better", "worse")


@dataclass(frozen=True)
class Results:
    """Everything that the tables show, for one way of decoding.

    against   other system -> differences of all rows from it, one family of tests each
    missing   (cell, metric) -> why it has no scores
    failed    cell -> why it has no outputs, or none that can be compared
    remarks   given outputs -> what makes their scores another measurement
    ranges    metric -> its lowest and highest score, as far as its description states them
    left_out  system -> seeds of what was trained in the folder and is no part of the comparison any more
    family    how many systems were trained on a reward, or will be: of these a verdict is one
    """

    method: str
    seeds: tuple[int, ...]
    ids: tuple[str, ...]
    systems: dict[str, System]
    signatures: dict[str, str]
    missing: dict[tuple[str, str], str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    remarks: dict[str, str] = field(default_factory=dict)
    against: dict[str, list[Contrast]] = field(default_factory=dict)
    ranges: dict[str, Range] = field(default_factory=dict)
    left_out: dict[str, list[int]] = field(default_factory=dict)
    family: int = 0

    @property
    def metrics(self) -> list[str]:
        """The metrics of any row, in order."""
        return list(dict.fromkeys(name for system in self.systems.values() for name in system.metrics))

    @property
    def compared(self) -> list[System]:
        """The rows that compete: everything but outputs that were given."""
        return [system for system in self.systems.values() if system.kind != "outputs"]

    @property
    def trained(self) -> list[System]:
        """The rows that were trained on a reward."""
        return [system for system in self.systems.values() if system.kind == "reward"]

    @property
    def base(self) -> System | None:
        """What a training is measured against: continued likelihood, else the start."""
        return self.systems.get(NONE) or self.systems.get(START)


def unchanged(results: Results) -> dict[str, list[int]]:
    """Title of a trained row -> the seeds in which it scores like the start on every article by every metric."""
    start = results.systems.get(START)
    seeds_of: dict[str, list[int]] = {}
    for system in results.compared:
        if start is None or system.kind not in ("control", "reward"):
            continue
        for place, seed in enumerate(results.seeds):
            pairs = [
                (values[place], start.metrics[name][min(place, len(start.metrics[name]) - 1)])
                for name, values in system.metrics.items()
                if name in start.metrics
            ]
            pairs = [pair for pair in pairs if not np.isnan(pair).all()]
            if pairs and all(np.allclose(*pair, rtol=0, atol=ROUNDING, equal_nan=True) for pair in pairs):
                seeds_of.setdefault(system.title, []).append(seed)
    return seeds_of


def gather(folder: Folder, cells: Sequence[Cell], method: str, why_failed: Mapping[str, str] | None = None) -> Results:
    """The results of all cells that are done, with differences from start, control and the chosen system.

    ``why_failed``: cell -> what a failure was that leaves nothing in the folder, since the next start tries again.
    """
    comparison = folder.comparison
    scored: dict[str, Scores] = {}
    failed: dict[str, str] = {}
    for cell in cells:
        path = folder.scores(cell, method)
        why = (why_failed or {}).get(cell.name)
        if method not in folder.outputs(cell):
            continue
        if not path.exists():
            state = folder.state(cell)
            failed[cell.name] = state.reason or why or f"not finished: {state.stage}"
        elif folder.outdated(cell, method):
            failed[cell.name] = why or "its summaries changed after they were scored"
        else:
            scored[cell.name] = read_scores(path)
    outputs = {cell.name for cell in cells if cell.kind == "outputs"}
    of_test = _of_test([scores for name, scores in scored.items() if name not in outputs] or [*scored.values()])
    comparable: dict[str, Scores] = {}
    remarks: dict[str, str] = {}
    for name, scores in scored.items():
        if why := lacking(scores, of_test):
            failed[name] = why
            continue
        if why := other_inputs(scores, of_test):
            (remarks if name in outputs else failed)[name] = why
        if name in outputs or not why:
            comparable[name] = scores
        if name in outputs and (debris := raw_debris(scores)):
            remarks[name] = "; ".join([*([why] if why else []), debris])
    signatures = shared_signatures(comparable.values())
    comparable, missing = _one_signature(comparable, signatures)
    rows: dict[str, list[Cell]] = {}
    for cell in cells:
        rows.setdefault(cell.system, []).append(cell)
    ids = of_test.ids
    systems = {
        name: system for name, members in rows.items() if (system := _system(members, comparable, ids)) is not None
    }
    ranges = {name: stated_range(as_spec(spec).name) for name, spec in comparison.specs.items()}
    left_out = folder.left_out(cells)
    rewarded = {cell.system for cell in cells if cell.kind == "reward"} | {*filter(is_rewarded, left_out)}
    results = Results(
        method, comparison.seeds, ids, systems, signatures, missing, failed, remarks,
        ranges=ranges, left_out=left_out, family=len(rewarded),
    )  # fmt: skip
    opponents = dict.fromkeys(str(name) for name in (START, NONE, comparison.compared_with) if name in systems)
    return replace(results, against={name: contrasts(results, name) for name in opponents})


def lacking(scores: Scores, of_test: Scores) -> str:
    """Which share of the test articles a file of summaries has, where it has not all; else ""."""
    count, articles = len(set(scores.ids) & set(of_test.ids)), len(of_test.ids)
    return f"its file has {count:,} of the {articles:,} test articles" if count < articles else ""


def other_inputs(scores: Scores, of_test: Scores) -> str:
    """Of how many test articles a file that has all their ids has other references, or other texts; "" for none."""
    references, articles = (dict(zip(scores.ids, of, strict=True)) for of in (scores.references, scores.articles))
    changed = {
        "references": [references[name] != text for name, text in zip(of_test.ids, of_test.references, strict=True)],
        "texts": [
            bool(text and articles[name]) and articles[name] != text
            for name, text in zip(of_test.ids, of_test.articles, strict=True)
        ],
    }
    counts = {what: sum(differ) for what, differ in changed.items() if any(differ)}
    return "; ".join(
        f"its file has other {what} for {count:,} of the {len(of_test.ids):,} test articles"
        for what, count in counts.items()
    )


def raw_debris(scores: Scores) -> str:
    """What a file has beside its summaries and a metric scores with them; "" where nothing, or metrics clean it."""
    raw = [name for name, spec in scores.specs.items() if as_spec(spec).name != "cleaned"]
    if not raw or not scores.debris:
        return ""
    return f"its summaries have {', '.join(scores.debris)}, which {raw[0]} scores; cleaned(reward={raw[0]}) does not"


def shared_signatures(scores: Iterable[Scores]) -> dict[str, str]:
    """Metric -> the signature of most files; of the first where several are as frequent."""
    counts: dict[str, Counter[str]] = {}
    for file in scores:
        for name, text in file.signatures.items():
            counts.setdefault(name, Counter())[text] += 1
    return {name: texts.most_common(1)[0][0] for name, texts in counts.items()}


def _one_signature(
    comparable: Mapping[str, Scores], signatures: Mapping[str, str]
) -> tuple[dict[str, Scores], dict[tuple[str, str], str]]:
    """The scores without those that another signature made, and why a cell lacks a metric."""
    kept: dict[str, Scores] = {}
    missing: dict[tuple[str, str], str] = {}
    for cell, scores in comparable.items():
        differing = [name for name, text in scores.signatures.items() if text != signatures[name]]
        metrics = {name: values for name, values in scores.metrics.items() if name not in differing}
        kept[cell] = replace(scores, metrics=metrics)
        why = {name: f"scored as {scores.signatures[name]}, the others as {signatures[name]}" for name in differing}
        missing |= {(cell, name): reason for name, reason in {**scores.missing, **why}.items()}
    return kept, missing


def _of_test(scores: Sequence[Scores]) -> Scores:
    """The scores whose articles and references are the test's: of most articles, and of those as most have them."""

    def inputs(file: Scores) -> frozenset[tuple[str, str, str]]:
        return frozenset(zip(file.ids, file.references, file.articles, strict=True))

    counts = Counter(map(inputs, scores))

    def rank(file: Scores) -> tuple[int, int]:
        return len(file.ids), counts[inputs(file)]

    return max(scores, key=rank, default=NO_SCORES)


def contrasts(results: Results, other: str) -> list[Contrast]:
    """Every competing row minus ``other`` on every metric that both have, Holm-adjusted as one family."""
    base = results.systems[other]
    tests = [
        compare(system, base, metric)
        for system in results.compared
        if system.name != other
        for metric in system.metrics
        if metric in base.metrics
    ]
    differences = with_holm(test.difference for test in tests)
    return [replace(test, difference=difference) for test, difference in zip(tests, differences, strict=True)]


def compare(system: System, other: System, metric: str) -> Contrast:
    """Two rows on one metric, paired by seed and article: on what both have."""
    pair = system.metrics[metric], other.metrics[metric]
    difference = compare_systems(*pair)
    equal = "the same difference on every article" if difference.components.equal and difference.mean else ""
    partial = next(filter(None, map(unjudged, pair)), equal)
    return Contrast(system.name, other.name, metric, difference, partial)


def best(results: Results, metric: str) -> Best | None:
    """The best competing row by a metric, and those that are not shown to differ from it; None with fewer than two."""
    rows = {system.name: system.metrics[metric] for system in results.compared if metric in system.metrics}
    return best_of(rows) if len(rows) > 1 else None


def metric_means(results: Results, system: System) -> dict[str, Interval]:
    """Metric -> the mean of a row with its interval, within what the metric can be."""
    return {name: mean_of(values, results.ranges.get(name, ANY)) for name, values in system.metrics.items()}


def property_means(system: System) -> dict[str, Interval]:
    """Property -> the mean of a row with its interval, within what the property can be."""
    return {name: mean_of(values, PROPERTIES[name].range) for name, values in system.properties.items()}


def mean_of(values: Floats, span: Range = ANY) -> Interval:
    """The mean of scores (seeds, articles) with its interval, cut to ``span``: t knows no limits of a score."""
    difference = compare_systems(values, np.zeros_like(values[:1]))
    low, high = np.clip((difference.low, difference.high), *span)
    return Interval(difference.mean, float(low), float(high), difference.articles)


def _system(cells: Sequence[Cell], comparable: Mapping[str, Scores], ids: Sequence[str]) -> System | None:
    """The row of a system's cells; None where none of them is scored."""
    files = [comparable.get(cell.name, NO_SCORES) for cell in cells]
    if all(file is NO_SCORES for file in files):
        return None
    places = [{article: place for place, article in enumerate(file.ids)} for file in files]

    def scores(column: Floats | None, place: Mapping[str, int]) -> Floats:
        return np.full(len(ids), np.nan) if column is None else column[[place[article] for article in ids]]

    def table(columns: Sequence[Mapping[str, Floats]]) -> dict[str, Floats]:
        by_file = list(zip(columns, places, strict=True))
        names = dict.fromkeys(name for column in columns for name in column)
        return {name: np.array([scores(column.get(name), place) for column, place in by_file]) for name in names}

    metrics, properties = table([file.metrics for file in files]), table([file.properties for file in files])
    return System(cells[0].system, cells[0].title, cells[0].kind, cells[0].reward, metrics, properties)
