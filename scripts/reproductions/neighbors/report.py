"""The whole reproduction: tables and claims are printed when they are done and written to a folder."""

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
from reproductions.neighbors.data import DataPaths
from reproductions.neighbors.figures import sizes_figure, sweep_figure
from reproductions.neighbors.kernels import AS_PRINTED, BLEU, LEXICAL, Kernel, Matrices, bertscore
from reproductions.neighbors.studies import (
    Budget,
    ModelScores,
    SizeResult,
    compare_kernels,
    cross,
    sizes,
    sweep,
    topics,
)
from reproductions.neighbors.tables import Results
from reproductions.neighbors.tasks import JudgedTexts, NeighborTask
from rewards import Reward, from_spec, load

StudyName = Literal["table1", "sweeps", "table2", "figure4", "table3", "section5.3"]
STUDIES: tuple[StudyName, ...] = get_args(StudyName)
READINGS = (BLEU, AS_PRINTED)
BASELINE_PAIRS = 2_000


@dataclass(frozen=True)
class ReproductionPlan:
    """What to compute: ``studies`` of ``tasks``, on the data of ``paths``, into ``folder``.

    ``encoder`` is that of BERTScore, None omits this kernel; ``baseline`` is its rescaling baseline, None computes one
    from random pairs of references of the judgments ``baseline_texts``. ``vectors`` are those of WMS, SMS and S+WMS in
    Table 3, None omits them.
    """

    paths: DataPaths
    folder: Path
    studies: tuple[StudyName, ...] = STUDIES
    tasks: tuple[str, ...] = data.TASKS
    encoder: str | None = "minilm"
    baseline: Path | None = None
    baseline_texts: str = ""
    vectors: Path | None = None
    budget: Budget = field(default_factory=Budget)


@dataclass
class ReportWriter:
    """Prints each table and writes it as CSV, writes figures as PNG, and collects the claims."""

    folder: Path
    say: Callable[[str], None]
    claims: list[Claim] = field(default_factory=list)

    def table(self, table: Results) -> None:
        """Print and write a table."""
        self.say(table.markdown())
        self.say(f"-> {table.write_csv(self.folder)}\n")

    def figure(self, name: str, picture: bytes) -> None:
        """Write a figure."""
        path = self.folder / f"{name}.png"
        path.write_bytes(picture)
        self.say(f"-> {path}\n")


def run(plan: ReproductionPlan, say: Callable[[str], None]) -> ReportWriter:
    """Compute everything in ``plan``; returns the report with its claims.

    Raises RecordError for invalid data, RewardError for an invalid encoder or baseline.
    """
    plan.folder.mkdir(parents=True, exist_ok=True)
    report, matrices = ReportWriter(plan.folder, say), Matrices(plan.folder / "kernels", say)
    tasks = [task for task in data.find_tasks(plan.paths, say) if task.name in plan.tasks]
    for study, compute in (
        ("table1", lambda: _table_1(plan, report, tasks, matrices)),
        ("sweeps", lambda: _sweeps(plan, report, tasks, matrices)),
        ("table2", lambda: _table_2(plan, report, tasks, matrices)),
        ("figure4", lambda: _figure_4(plan, report, tasks, matrices)),
        ("table3", lambda: _table_3(plan, report, matrices)),
        ("section5.3", lambda: _section_5_3(plan, report, tasks, matrices)),
    ):
        if study in plan.studies and (tasks or study == "table3"):
            compute()
    report.claims += findings.missing_claims([task.name for task in tasks])
    report.table(results.claims_table(report.claims))
    return report


def _table_1(plan: ReproductionPlan, report: ReportWriter, tasks: Sequence[NeighborTask], matrices: Matrices) -> None:
    kernels = (*LEXICAL, *_bertscore(plan, report))
    scored = [compare_kernels(task, kernels, matrices, plan.budget) for task in tasks]
    report.table(results.kernels_table(scored, kernels))
    rivals = [kernel.name for kernel in kernels if kernel not in READINGS]
    report.claims += findings.kernel_claims(scored, rivals, plan.budget)
    report.claims += findings.coverage_claims(scored) + findings.annotator_claims(scored)


def _bertscore(plan: ReproductionPlan, report: ReportWriter) -> list[Kernel]:
    """The BERTScore kernel with the encoder of the plan; computes a rescaling baseline if none is given."""
    if plan.encoder is None:
        report.say("skipped: BERTScore as a kernel: no encoder given")
        return []
    path = plan.baseline
    if path is None:
        from rewards.embedding.rescaling import add_baseline, measure_baseline

        path = plan.folder / f"baseline-{Path(plan.encoder).name}.json"
        if not path.exists():
            computed = measure_baseline(
                load("bertscore", encoder=plan.encoder), data.random_texts(plan.baseline_texts), BASELINE_PAIRS
            )
            add_baseline(path, computed)
            pairs = f"{computed.pairs:,} random pairs of references of {plan.baseline_texts}"
            report.say(f"rescaling baseline of BERTScore: {computed.values['f1']:.4f}, the mean F1 of {pairs}")
    kernel = bertscore(plan.encoder, path)
    report.say(f"BERTScore on {plan.encoder}: {from_spec(kernel.spec).signature}")
    return [kernel]


def _sweeps(plan: ReproductionPlan, report: ReportWriter, tasks: Sequence[NeighborTask], matrices: Matrices) -> None:
    points = [point for task in tasks for kernel in READINGS for point in sweep(task, kernel, matrices, plan.budget)]
    report.table(results.sweep_table(points))
    people = {}
    for task in tasks:
        if task.tested.has_judges:
            single = annotators(task.tested)
            people[task.name] = single.average(single.correlations).value
    report.figure("figures2-3", sweep_figure(points, BLEU.name, people))
    report.figure("figures2-3-as-printed", sweep_figure(points, AS_PRINTED.name, people))
    report.claims += findings.sweep_claims(points)


def _table_2(plan: ReproductionPlan, report: ReportWriter, tasks: Sequence[NeighborTask], matrices: Matrices) -> None:
    distinct = [task for task in tasks if task.name != data.ESSAYS]  # essays of any length instead of 5 to 15 sentences
    crossings = {kernel.name: list(cross(distinct, kernel, matrices, plan.budget)) for kernel in READINGS}
    report.table(results.cross_table(crossings))
    report.claims += findings.cross_claims(crossings[BLEU.name])


def _figure_4(plan: ReproductionPlan, report: ReportWriter, tasks: Sequence[NeighborTask], matrices: Matrices) -> None:
    points: list[SizeResult] = [point for task in tasks for point in sizes(task, BLEU, matrices, plan.budget)]
    report.table(results.sizes_table(points))
    report.figure("figure4", sizes_figure(points))
    report.claims += findings.size_claims(points)


def _table_3(plan: ReproductionPlan, report: ReportWriter, matrices: Matrices) -> None:
    if not data.has_essays(plan.paths, report.say):
        return
    sources = data.all_training_essays(plan.paths)
    scored: dict[str, list[ModelScores]] = {kernel.name: [] for kernel in READINGS}
    metrics = _metrics_with_reference(plan, report)
    for tested, reference in _tested_essays(plan):
        others = {name: metric(tested.texts, [[reference]] * len(tested)) for name, metric in metrics.items()}
        others[findings.LENGTH] = _word_counts(tested)
        for kernel in READINGS:
            scored[kernel.name].append(topics(tested, sources, kernel, matrices, plan.budget, others))
    report.table(results.topics_table(scored))
    for texts in scored[BLEU.name]:
        report.claims += findings.topic_claims(texts, plan.budget)


def _tested_essays(plan: ReproductionPlan) -> list[tuple[JudgedTexts, str]]:
    """The sets of essays of topic 3, with their reference essay."""
    reference = data.reference_essay(plan.paths)
    sets = [
        (data.tested_essays(plan.paths, data.ESSAYS, data.SENTENCES), reference),
        (data.tested_essays(plan.paths, data.ALL_ESSAYS, ""), reference),
    ]
    other = data.other_essays(plan.paths)
    return [*sets, other] if other else sets


def _metrics_with_reference(plan: ReproductionPlan, report: ReportWriter) -> dict[str, Reward]:
    """The metrics of the paper's Table 3 that use a reference essay."""
    metrics = {"ROUGE-L": load("rouge-l")}
    if plan.vectors is None:
        report.say("skipped: WMS, SMS and S+WMS in Table 3: no vectors given")
        return metrics
    movers = {name: load(name.lower(), vectors=str(plan.vectors), normalize="unit") for name in ("WMS", "SMS", "S+WMS")}
    return metrics | movers


def _word_counts(tested: JudgedTexts) -> NDArray[np.float64]:
    """The numbers of words ``(n,)``, separated by white space."""
    return np.array([len(text.split()) for text in tested.texts], dtype=np.float64)


def _section_5_3(
    plan: ReproductionPlan, report: ReportWriter, tasks: Sequence[NeighborTask], matrices: Matrices
) -> None:
    difficulties = {}
    for task in tasks:
        if not task.tested.has_judges:
            continue
        scored = compare_kernels(task, LEXICAL, matrices, plan.budget)
        for name, predicted in scored.predictions.items():
            difficulties[task.name, name] = difficulty(scored.task.tested, ~np.isnan(predicted), seed=plan.budget.seed)
    report.table(results.difficulty_table(difficulties))
    report.claims += findings.difficulty_claims(difficulties)
