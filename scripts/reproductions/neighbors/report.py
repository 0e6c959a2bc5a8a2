"""The whole reproduction: tables and claims are printed when they are done and written to a folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from reproductions.claims import Claim
from reproductions.neighbors import data, findings, results
from reproductions.neighbors.annotators import annotators, difficulty
from reproductions.neighbors.data import DataPaths
from reproductions.neighbors.figures import sizes_figure, sweep_figure
from reproductions.neighbors.kernels import AS_PRINTED, BLEU, LEXICAL, Kernel, Matrices, bertscore
from reproductions.neighbors.studies import (
    Budget,
    ModelScores,
    compare_kernels,
    cross,
    sizes,
    sweep,
    topics,
)
from reproductions.neighbors.tasks import JudgedTexts, NeighborTask
from reproductions.reproduction import Reproduction, run, write
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


def run_all(plan: ReproductionPlan, say: Callable[[str], None]) -> None:
    """Compute everything in ``plan``; each study is printed and written with its claims, ``claims`` has all of them.

    Raises RecordError for invalid data, RewardError for an invalid encoder or baseline.
    """
    plan.folder.mkdir(parents=True, exist_ok=True)
    tasks = [task for task in data.find_tasks(plan.paths, say) if task.name in plan.tasks]
    studies = Studies(plan, tasks, Matrices(plan.folder / "kernels", say), say)
    makers = {
        "table1": studies.table1,
        "sweeps": studies.sweeps,
        "table2": studies.table2,
        "figure4": studies.figure4,
        "table3": studies.table3,
        "section5.3": studies.section_5_3,
    }
    claims: list[Claim] = []
    for name, make in makers.items():
        possible = data.has_essays(plan.paths, say) if name == "table3" else bool(tasks)
        if name in plan.studies and possible:
            claims += run(name, make, plan.folder).claims
    claims += findings.missing_claims([task.name for task in tasks])
    rows = [{"claim": claim.text, "verdict": claim.verdict, "numbers": claim.numbers} for claim in claims]
    write(Reproduction("claims", rows=tuple(rows), claims=tuple(claims)), plan.folder)


@dataclass(frozen=True)
class Studies:
    """The tables and figures of a plan, on the ``tasks`` whose data there are."""

    plan: ReproductionPlan
    tasks: Sequence[NeighborTask]
    matrices: Matrices
    say: Callable[[str], None]

    def table1(self) -> Reproduction:
        """Kernels and annotators."""
        kernels = (*LEXICAL, *self._bertscore())
        scored = [compare_kernels(task, kernels, self.matrices, self.plan.budget) for task in self.tasks]
        rivals = [kernel.name for kernel in kernels if kernel not in READINGS]
        claims = findings.kernel_claims(scored, rivals, self.plan.budget)
        claims += findings.coverage_claims(scored) + findings.annotator_claims(scored)
        return replace(results.kernels_table(scored, kernels), claims=tuple(claims))

    def _bertscore(self) -> list[Kernel]:
        """The BERTScore kernel with the encoder of the plan; computes a rescaling baseline if none is given."""
        plan = self.plan
        if plan.encoder is None:
            self.say("skipped: BERTScore as a kernel: no encoder given")
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
                self.say(f"rescaling baseline of BERTScore: {computed.values['f1']:.4f}, the mean F1 of {pairs}")
        kernel = bertscore(plan.encoder, path)
        self.say(f"BERTScore on {plan.encoder}: {from_spec(kernel.spec).signature}")
        return [kernel]

    def sweeps(self) -> Reproduction:
        """Figures 2 and 3, with both readings of BLEU*."""
        points = [
            point
            for task in self.tasks
            for kernel in READINGS
            for point in sweep(task, kernel, self.matrices, self.plan.budget)
        ]
        people = {}
        for task in self.tasks:
            if task.tested.has_judges:
                single = annotators(task.tested)
                people[task.name] = single.average(single.correlations).value
        pictures = (
            sweep_figure("figures2-3", points, BLEU.name, people),
            sweep_figure("figures2-3-as-printed", points, AS_PRINTED.name, people),
        )
        claims = tuple(findings.sweep_claims(points))
        return replace(results.sweep_table(points), pictures=pictures, claims=claims)

    def table2(self) -> Reproduction:
        """Examples of another task."""
        distinct = [task for task in self.tasks if task.name != data.ESSAYS]  # essays of any length, not 5-15 sentences
        crossings = {kernel.name: list(cross(distinct, kernel, self.matrices, self.plan.budget)) for kernel in READINGS}
        return replace(results.cross_table(crossings), claims=tuple(findings.cross_claims(crossings[BLEU.name])))

    def figure4(self) -> Reproduction:
        """Fewer examples."""
        points = [point for task in self.tasks for point in sizes(task, BLEU, self.matrices, self.plan.budget)]
        claims = tuple(findings.size_claims(points))
        return replace(results.sizes_table(points), pictures=(sizes_figure(points),), claims=claims)

    def table3(self) -> Reproduction:
        """Essays of topic 3 by examples of other topics, metrics with a reference, and length."""
        sources = data.all_training_essays(self.plan.paths)
        scored: dict[str, list[ModelScores]] = {kernel.name: [] for kernel in READINGS}
        metrics = self._metrics_with_reference()
        for tested, reference in _tested_essays(self.plan):
            others = {name: metric(tested.texts, [[reference]] * len(tested)) for name, metric in metrics.items()}
            others[findings.LENGTH] = np.array([len(text.split()) for text in tested.texts], dtype=np.float64)
            for kernel in READINGS:
                scored[kernel.name].append(topics(tested, sources, kernel, self.matrices, self.plan.budget, others))
        claims = [claim for texts in scored[BLEU.name] for claim in findings.topic_claims(texts, self.plan.budget)]
        return replace(results.topics_table(scored), claims=tuple(claims))

    def _metrics_with_reference(self) -> dict[str, Reward]:
        """The metrics of the paper's Table 3 that use a reference essay."""
        metrics, vectors = {"ROUGE-L": load("rouge-l")}, self.plan.vectors
        if vectors is None:
            self.say("skipped: WMS, SMS and S+WMS in Table 3: no vectors given")
            return metrics
        movers = {name: load(name.lower(), vectors=str(vectors), normalize="unit") for name in ("WMS", "SMS", "S+WMS")}
        return metrics | movers

    def section_5_3(self) -> Reproduction:
        """Whether covered texts are easier for annotators."""
        difficulties = {}
        for task in self.tasks:
            if not task.tested.has_judges:
                continue
            scored = compare_kernels(task, LEXICAL, self.matrices, self.plan.budget)
            for name, predicted in scored.predictions.items():
                covered = ~np.isnan(predicted)
                difficulties[task.name, name] = difficulty(scored.task.tested, covered, seed=self.plan.budget.seed)
        claims = tuple(findings.difficulty_claims(difficulties))
        return replace(results.difficulty_table(difficulties), claims=claims)


def _tested_essays(plan: ReproductionPlan) -> list[tuple[JudgedTexts, str]]:
    """The sets of essays of topic 3, with their reference essay."""
    reference = data.reference_essay(plan.paths)
    sets = [
        (data.tested_essays(plan.paths, data.ESSAYS, data.SENTENCES), reference),
        (data.tested_essays(plan.paths, data.ALL_ESSAYS, ""), reference),
    ]
    other = data.other_essays(plan.paths)
    return [*sets, other] if other else sets
