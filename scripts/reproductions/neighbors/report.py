"""The whole reproduction, study by study: tables and claims are told as they are done, and written to a folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from reproductions.claims import Claim
from reproductions.neighbors import data, findings, results
from reproductions.neighbors.annotators import annotators, difficulty
from reproductions.neighbors.data import Places
from reproductions.neighbors.figures import sizes_figure, sweep_figure
from reproductions.neighbors.kernels import AS_PRINTED, BLEU, LEXICAL, Kernel, Matrices, bertscore
from reproductions.neighbors.studies import (
    Budget,
    Scored,
    Size,
    compare_kernels,
    cross,
    sizes,
    sweep,
    topics,
)
from reproductions.neighbors.tables import Results
from reproductions.neighbors.tasks import Judged, Task
from rewards import Reward, from_spec, load

Study = Literal["table1", "sweeps", "table2", "figure4", "table3", "section5.3"]
STUDIES: tuple[Study, ...] = get_args(Study)
READINGS = (BLEU, AS_PRINTED)
BASELINE_PAIRS = 2_000


@dataclass(frozen=True)
class Plan:
    """What to compute: ``studies`` of ``tasks``, on the data of ``places``, into ``folder``.

    ``encoder`` is BERTScore's, None leaves that kernel out; ``baseline`` is the file it is rescaled by, or where None
    is made of random pairs among the references of the judgments ``baseline_texts``. ``vectors`` are those of WMS, SMS
    and S+WMS in Table 3, None leaves them out.
    """

    places: Places
    folder: Path
    studies: tuple[Study, ...] = STUDIES
    tasks: tuple[str, ...] = data.TASKS
    encoder: str | None = "minilm"
    baseline: Path | None = None
    baseline_texts: str = ""
    vectors: Path | None = None
    budget: Budget = field(default_factory=Budget)


@dataclass
class Report:
    """Tells each table as it is done, writes it as CSV, and gathers the claims; figures are PNG files beside them."""

    folder: Path
    say: Callable[[str], None]
    claims: list[Claim] = field(default_factory=list)

    def table(self, table: Results) -> None:
        """Tell and write a table."""
        self.say(table.markdown())
        self.say(f"-> {table.write_csv(self.folder)}\n")

    def figure(self, name: str, picture: bytes) -> None:
        """Write a figure."""
        path = self.folder / f"{name}.png"
        path.write_bytes(picture)
        self.say(f"-> {path}\n")


def run(plan: Plan, say: Callable[[str], None]) -> Report:
    """Everything that ``plan`` asks for; returns the report with its claims.

    Raises RecordError for data that cannot be used, RewardError for an encoder or baseline that cannot.
    """
    plan.folder.mkdir(parents=True, exist_ok=True)
    report, matrices = Report(plan.folder, say), Matrices(plan.folder / "kernels", say)
    tasks = [task for task in data.find_tasks(plan.places, say) if task.name in plan.tasks]
    for study, made in (
        ("table1", lambda: _table_1(plan, report, tasks, matrices)),
        ("sweeps", lambda: _sweeps(plan, report, tasks, matrices)),
        ("table2", lambda: _table_2(plan, report, tasks, matrices)),
        ("figure4", lambda: _figure_4(plan, report, tasks, matrices)),
        ("table3", lambda: _table_3(plan, report, matrices)),
        ("section5.3", lambda: _section_5_3(plan, report, tasks, matrices)),
    ):
        if study in plan.studies and (tasks or study == "table3"):
            made()
    report.claims += findings.missing_claims([task.name for task in tasks])
    report.table(results.claims_table(report.claims))
    return report


def _table_1(plan: Plan, report: Report, tasks: Sequence[Task], matrices: Matrices) -> None:
    kernels = (*LEXICAL, *_bertscore(plan, report))
    scored = [compare_kernels(task, kernels, matrices, plan.budget) for task in tasks]
    report.table(results.kernels_table(scored, kernels))
    rivals = [kernel.name for kernel in kernels if kernel not in READINGS]
    report.claims += findings.kernel_claims(scored, rivals, plan.budget)
    report.claims += findings.coverage_claims(scored) + findings.annotator_claims(scored)


def _bertscore(plan: Plan, report: Report) -> list[Kernel]:
    """The kernel on the plan's encoder, its baseline made where none is given."""
    if plan.encoder is None:
        report.say("skipped: BERTScore as a kernel: no encoder asked for")
        return []
    path = plan.baseline
    if path is None:
        from rewards.embedding.rescaling import add_baseline, measure_baseline

        path = plan.folder / f"baseline-{Path(plan.encoder).name}.json"
        if not path.exists():
            found = measure_baseline(
                load("bertscore", encoder=plan.encoder), data.random_texts(plan.baseline_texts), BASELINE_PAIRS
            )
            add_baseline(path, found)
            told = f"F1 of {found.pairs:,} random pairs of references of {plan.baseline_texts}"
            report.say(f"BERTScore's baseline: {found.values['f1']:.4f}, the mean {told}")
    kernel = bertscore(plan.encoder, path)
    report.say(f"BERTScore on {plan.encoder}: {from_spec(kernel.spec).signature}")
    return [kernel]


def _sweeps(plan: Plan, report: Report, tasks: Sequence[Task], matrices: Matrices) -> None:
    points = [point for task in tasks for kernel in READINGS for point in sweep(task, kernel, matrices, plan.budget)]
    report.table(results.sweep_table(points))
    people = {}
    for task in tasks:
        if task.tested.has_judges:
            found = annotators(task.tested)
            people[task.name] = found.average(found.correlations).value
    report.figure("figures2-3", sweep_figure(points, BLEU.name, people))
    report.figure("figures2-3-as-printed", sweep_figure(points, AS_PRINTED.name, people))
    report.claims += findings.sweep_claims(points)


def _table_2(plan: Plan, report: Report, tasks: Sequence[Task], matrices: Matrices) -> None:
    distinct = [task for task in tasks if task.name != data.ESSAYS]  # all essays, not the few of 5 to 15 sentences
    found = {kernel.name: list(cross(distinct, kernel, matrices, plan.budget)) for kernel in READINGS}
    report.table(results.cross_table(found))
    report.claims += findings.cross_claims(found[BLEU.name])


def _figure_4(plan: Plan, report: Report, tasks: Sequence[Task], matrices: Matrices) -> None:
    found: list[Size] = [each for task in tasks for each in sizes(task, BLEU, matrices, plan.budget)]
    report.table(results.sizes_table(found))
    report.figure("figure4", sizes_figure(found))
    report.claims += findings.size_claims(found)


def _table_3(plan: Plan, report: Report, matrices: Matrices) -> None:
    if not data.has_essays(plan.places, report.say):
        return
    sources = data.all_training_essays(plan.places)
    scored: dict[str, list[Scored]] = {kernel.name: [] for kernel in READINGS}
    metrics = _metrics_with_reference(plan, report)
    for tested, reference in _tested_essays(plan):
        others = {name: metric(tested.texts, [[reference]] * len(tested)) for name, metric in metrics.items()}
        others[findings.LENGTH] = _word_counts(tested)
        for kernel in READINGS:
            scored[kernel.name].append(topics(tested, sources, kernel, matrices, plan.budget, others))
    report.table(results.topics_table(scored))
    for each in scored[BLEU.name]:
        report.claims += findings.topic_claims(each, plan.budget)


def _tested_essays(plan: Plan) -> list[tuple[Judged, str]]:
    """Each set of essays of topic 3 with its reference essay."""
    reference = data.reference_essay(plan.places)
    found = [
        (data.tested_essays(plan.places, data.ESSAYS, data.SENTENCES), reference),
        (data.tested_essays(plan.places, data.ALL_ESSAYS, ""), reference),
    ]
    other = data.other_essays(plan.places)
    return [*found, other] if other else found


def _metrics_with_reference(plan: Plan, report: Report) -> dict[str, Reward]:
    """What the paper's Table 3 compares with: metrics that are given a reference essay."""
    metrics = {"ROUGE-L": load("rouge-l")}
    if plan.vectors is None:
        report.say("skipped: WMS, SMS and S+WMS in Table 3: no vectors given")
        return metrics
    movers = {name: load(name.lower(), vectors=str(plan.vectors), normalize="unit") for name in ("WMS", "SMS", "S+WMS")}
    return metrics | movers


def _word_counts(tested: Judged) -> NDArray[np.float64]:
    """Words by white space ``(n,)``."""
    return np.array([len(text.split()) for text in tested.texts], dtype=np.float64)


def _section_5_3(plan: Plan, report: Report, tasks: Sequence[Task], matrices: Matrices) -> None:
    found = {}
    for task in tasks:
        if not task.tested.has_judges:
            continue
        scored = compare_kernels(task, LEXICAL, matrices, plan.budget)
        for name, predicted in scored.predictions.items():
            found[task.name, name] = difficulty(scored.task.tested, ~np.isnan(predicted), seed=plan.budget.seed)
    report.table(results.difficulty_table(found))
    report.claims += findings.difficulty_claims(found)
