"""Estimators at equal compute: the same starts, updates and number of decoded texts, over several seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import rewards
from rlsum import config as configs
from rlsum.compare import variants
from rlsum.compare.report import ComparisonReport, ComparisonSection, SystemOutputs, build_section
from rlsum.compare.variants import BEAM, CONTROL, METHODS, START, DecodingMethod, Log, Variant
from rlsum.errors import UserError
from rlsum.records import read_outputs
from rlsum.training import checkpoint

ROWS = 5  # texts decoded an article, with the greedy one of self-critical
REWARD = "rouge-l"
METRICS = ("rouge-1", "rouge-2", "rouge-l")

# Reward scales bring the spread of the advantages near 1, so that the likelihood loss weighs the same for each.
ESTIMATORS: Mapping[str, tuple[str, ...]] = {
    "self-critical": ("objective.estimator=self-critical", f"objective.samples={ROWS - 1}", "objective.reward_scale=5"),
    "rloo": ("objective.estimator=rloo", f"objective.samples={ROWS}", "objective.reward_scale=5"),
    "grpo": ("objective.estimator=grpo", f"objective.samples={ROWS}", "objective.reward_scale=1"),
    "dr-grpo": ("objective.estimator=dr-grpo", f"objective.samples={ROWS}", "objective.reward_scale=5"),
    "reinforce++": ("objective.estimator=reinforce++", f"objective.samples={ROWS}", "objective.reward_scale=1"),
    "reinforce++-baseline": (
        "objective.estimator=reinforce++-baseline",
        f"objective.samples={ROWS}",
        "objective.reward_scale=1",
    ),
    "ranking": ("objective.kind=ranking", f"objective.samples={ROWS}", "objective.reward_scale=1"),
    "minimum-risk": ("objective.kind=minimum-risk", f"objective.samples={ROWS}", "objective.reward_scale=5"),
    "best-of-n": ("objective.kind=best-of-n", f"objective.samples={ROWS}", "objective.reward_scale=1"),
}

Seeds = Mapping[Path, Sequence[Variant]]  # folder of a seed -> its variants, in the same order for every seed


@dataclass(frozen=True)
class EstimatorStudy:
    """What is compared.

    folders     one a seed, each with a likelihood model in ``mle``, as `rlsum demo` writes them
    configs     folder with rouge-l.yaml, which every estimator modifies, and none.yaml, the control
    estimators  names of ESTIMATORS, also with overrides: ``ranking:objective.gamma=0.5``
    jobs        trainings at a time
    """

    folders: tuple[Path, ...]
    configs: Path
    estimators: tuple[str, ...] = tuple(ESTIMATORS)
    jobs: int = 2


def run(study: EstimatorStudy, log: Log) -> ComparisonReport:
    """Train every estimator from every start, decode, score. Finished parts of an earlier call are kept."""
    check(study)
    seeds = {folder: variants_of(study, folder) for folder in study.folders}
    for folder, (start, *others) in seeds.items():
        log(f"{folder}: training {', '.join(variant.name for variant in others)}")

        def finish(variant: Variant, folder: Path = folder) -> None:
            variants.train(variant, folder / "mle", log)  # skips the likelihood model, which is finished
            variants.decode(variant, test_articles(folder), outputs_folder(folder), log)

        variants.run_parallel(finish, [*others, start], study.jobs)
    return make_report(seeds)


def check(study: EstimatorStudy) -> None:
    """Raise UserError for an unknown estimator or setting, or a folder without a likelihood model or test articles."""
    unknown = [name for name in study.estimators if name.split(":")[0] not in ESTIMATORS]
    if unknown:
        raise UserError(f"estimators={','.join(unknown)}: unknown; known: {', '.join(ESTIMATORS)}")
    for name in ("none.yaml", f"{REWARD}.yaml"):
        if not (study.configs / name).is_file():
            raise UserError(f"configs={study.configs}: no {name}; give the folder that holds it")
    for folder in study.folders:
        checkpoint.find(folder / "mle")
        if not test_articles(folder).is_file():
            raise UserError(f"{folder}: {test_articles(folder)} is missing; simulate the corpus again")
        for variant in variants_of(study, folder)[1:]:
            configs.load(variant.config, [f"run={variant.run}", *variant.overrides])


def test_articles(folder: Path) -> Path:
    """The test.jsonl in the folder of the likelihood model's training articles."""
    return Path(checkpoint.read_config(folder / "mle").data.train).with_name("test.jsonl")


def outputs_folder(folder: Path) -> Path:
    """Where the outputs of a seed are written."""
    return folder / "estimators" / "outputs"


def variants_of(study: EstimatorStudy, folder: Path) -> list[Variant]:
    """The start, the control and a variant for each estimator, all with the start's data and seed."""
    config = checkpoint.read_config(folder / "mle")
    shared = (
        f"data.train={config.data.train}",
        f"data.valid={config.data.valid}",
        f"training.seed={config.training.seed}",
        f"metrics=[{REWARD}]",
    )
    runs, base = folder / "estimators", study.configs / f"{REWARD}.yaml"
    start = Variant(START, folder / "mle" / "config.yaml", folder / "mle")
    control = Variant(CONTROL, study.configs / "none.yaml", runs / "none", overrides=shared)
    trained = []
    for estimator in study.estimators:
        name, *overrides = estimator.split(":")
        run = runs / estimator.replace(":", ",")
        trained.append(Variant(estimator, base, run, REWARD, (*shared, *ESTIMATORS[name], *overrides)))
    return [start, control, *trained]


def make_report(seeds: Seeds) -> ComparisonReport:
    """All seeds together by every decoding method, and each seed alone by beam search."""
    metrics = {name: rewards.load(name) for name in METRICS}
    trained = variants.rewards_of(next(iter(seeds.values())))

    def section(title: str, part: Seeds, method: DecodingMethod) -> ComparisonSection:
        scores = [system.score(metrics) for system in _systems(part, method)]
        return build_section(title, scores, trained, start=START, control=CONTROL)

    count = f", {len(seeds)} seeds" if len(seeds) > 1 else ""
    sections = [section(f"{method.title}{count}", seeds, method) for method in METHODS]
    if len(seeds) > 1:
        sections += [section(f"{BEAM.title}, {folder}", {folder: part}, BEAM) for folder, part in seeds.items()]
    return ComparisonReport(
        title="Which estimator?",
        sections=tuple(sections),
        signatures={name: metric.signature for name, metric in metrics.items()},
        notes=(
            f"Every estimator starts from the same likelihood model of each seed ({START}), decodes {ROWS} texts an "
            f"article and gets equally many updates; {CONTROL} gets as many by likelihood alone. Reward: {REWARD}. "
            "Intervals are over the test articles; the sections of single seeds show the variation between seeds.",
        ),
    )


def _systems(seeds: Seeds, method: DecodingMethod) -> list[SystemOutputs]:
    """Each system's outputs of all seeds. Articles of two seeds differ, so ids begin with the seed's folder."""
    systems = []
    for same in zip(*seeds.values(), strict=True):
        outputs = [
            replace(output, id=f"{folder}/{output.id}")
            for folder, variant in zip(seeds, same, strict=True)
            for output in read_outputs(variants.outputs_path(outputs_folder(folder), variant, method))
        ]
        systems.append(SystemOutputs(same[0].name, outputs))
    return systems
