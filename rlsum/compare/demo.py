"""The demo: a comparison of rewards on the simulated corpus, from nothing to a report."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlsum import workers
from rlsum.compare import variants
from rlsum.compare.examples import draw_examples
from rlsum.compare.report import ComparisonReport, SystemOutputs, build_section, draw_training
from rlsum.compare.variants import CONTROL, METHODS, START, DecodingMethod, Log, Variant
from rlsum.data.vocabulary import Vocabulary
from rlsum.errors import UserError
from rlsum.files import write_atomically
from rlsum.records import Output
from rlsum.scoring.outputs import SystemScores, load_available
from rlsum.simulation.policies import lead, oracle
from rlsum.simulation.stories import stories, write_corpus
from rlsum.simulation.word_vectors import train_from_corpus

if TYPE_CHECKING:
    from rewards.base import Reward

TRAIN, VALID, TEST = 4000, 200, 500  # stories
RECORD = "plan.json"
FOLLOWED = ("rouge-l", "sms")  # metrics of every validation


@dataclass(frozen=True)
class DemoSettings:
    """One comparison on the simulated corpus.

    configs  folder with mle.yaml, none.yaml and one file for each reward
    folder   of all files that are written
    rewards  the rewards to train on
    shuffled train on each reward's values permuted within the batch: a control that should show no gain
    jobs     trainings at a time
    """

    configs: Path
    folder: Path
    seed: int
    rewards: tuple[str, ...]
    shuffled: bool = False
    jobs: int = 2

    @property
    def data(self) -> Path:
        """Folder of the corpus and its word vectors."""
        return self.folder / "data"

    @property
    def record(self) -> str:
        """Content of plan.json: what every file of the folder depends on."""
        return json.dumps({"seed": self.seed, "train": TRAIN, "valid": VALID, "test": TEST}) + "\n"


def run(settings: DemoSettings, log: Log) -> ComparisonReport:
    """Simulate, pretrain; train, decode and score every system. Finished parts of an earlier call are kept.

    Pretraining uses one core; meanwhile the systems without a model are scored.
    """
    check(settings)
    simulate(settings, log)
    start, others = start_variant(settings), other_variants(settings)
    with workers.pool(settings.jobs) as pool:
        untrained = pool.submit(score, untrained_systems(settings), settings.data)
        log(f"pretraining with maximum likelihood: {start.run}")
        variants.train(start, None, log)

        def finish(variant: Variant) -> list[SystemScores]:
            variants.train(variant, start.run, log)
            variants.decode(variant, settings.data / "test.jsonl", settings.folder / "outputs", log)
            log(f"scoring: {variant.name}")
            systems = [system_outputs(settings, variant, method) for method in METHODS]
            return pool.submit(score, systems, settings.data).result()

        log(f"training from it, decoding, scoring: {', '.join(variant.name for variant in others)}")
        longest_first = [*reversed(others), start]
        results = variants.run_parallel(finish, longest_first, settings.jobs)
        scored = dict(zip(longest_first, results, strict=True))
        ordered = [start, *others]
        by_method = [[scored[variant][n] for variant in ordered] for n in range(len(METHODS))]
        return make_report(settings, ordered, [[*untrained.result(), *scores] for scores in by_method])


def check(settings: DemoSettings) -> None:
    """Raise UserError for an unknown reward, a missing configuration or an unsuitable folder."""
    rewards, known = ",".join(settings.rewards), metric_specs(settings.data)
    unknown = [reward for reward in settings.rewards if reward not in known]
    if unknown:
        raise UserError(f"rewards={rewards}: no {', '.join(unknown)}; known: {', '.join(known)}")
    if len(set(settings.rewards)) < len(settings.rewards):
        raise UserError(f"rewards={rewards}: a reward is named twice; name each once")
    configs = [variant.config for variant in (start_variant(settings), *other_variants(settings))]
    missing = [str(config) for config in configs if not config.is_file()]
    if missing:
        raise UserError(f"configs={settings.configs}: no {', '.join(missing)}; give the folder of the demo's files")
    record = settings.folder / RECORD
    if record.exists() and (content := record.read_text(encoding="utf-8")) != settings.record:
        settled = f"holds files of {content.strip()}, not of {settings.record.strip()}"
        raise UserError(f"folder={settings.folder}: {settled}; choose another --folder")
    try:
        (settings.folder / "outputs").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"folder={settings.folder}: cannot be written ({error.strerror}); choose another") from error


def simulate(settings: DemoSettings, log: Log) -> None:
    """Write the corpus and its word vectors, unless they are complete: plan.json is written after them."""
    data, record = settings.data, settings.folder / RECORD
    files = [data / name for name in ("train.jsonl", "valid.jsonl", "test.jsonl", "vectors.txt.gz")]
    if not all(path.exists() for path in (record, *files)):
        log(f"simulating {TRAIN + VALID + TEST:,} news stories from seed {settings.seed}, and word vectors: {data}")
        paths = write_corpus(data, settings.seed, {"train": TRAIN, "valid": VALID, "test": TEST})
        train_from_corpus(paths["train"], data / "vectors.txt.gz")
        write_atomically(record, settings.record.encode())


def start_variant(settings: DemoSettings) -> Variant:
    """Likelihood training from random weights."""
    vectors = f"vocabulary.embeddings={settings.data / 'vectors.txt.gz'}"
    return Variant(
        START, settings.configs / "mle.yaml", settings.folder / "mle", overrides=(*_overrides(settings), vectors)
    )


def other_variants(settings: DemoSettings) -> list[Variant]:
    """The control and a variant for each reward, all with equally many updates from the start."""
    config, run = settings.configs / "none.yaml", settings.folder / "none"
    control = Variant(CONTROL, config, run, overrides=_overrides(settings))
    return [control, *(_reward_variant(settings, reward) for reward in settings.rewards)]


def _reward_variant(settings: DemoSettings, reward: str) -> Variant:
    spec = metric_specs(settings.data)[reward]
    name, run = f"MLE+RL {reward}", settings.folder / reward
    if settings.shuffled:
        spec = {"name": "shuffled", "reward": spec}
        name, run = f"MLE+RL shuffled {reward}", settings.folder / f"{reward}-shuffled"
    overrides = (*_overrides(settings), f"objective.reward={json.dumps(spec)}")
    return Variant(name, settings.configs / f"{reward}.yaml", run, reward, overrides)


def _overrides(settings: DemoSettings) -> tuple[str, ...]:
    """What the configurations leave open: data, seed and the metrics of validation."""
    specs = metric_specs(settings.data)
    return (
        f"data.train={settings.data / 'train.jsonl'}",
        f"data.valid={settings.data / 'valid.jsonl'}",
        f"training.seed={settings.seed}",
        f"metrics={json.dumps([specs[name] for name in FOLLOWED])}",
    )


def metric_specs(data: Path) -> dict[str, dict[str, Any]]:
    """The five metrics of every table by name, with the demo's vectors and encoder."""
    vectors = {"vectors": str(data / "vectors.txt.gz"), "normalize": "unit"}
    movers = {name: {"name": name, **vectors} for name in ("wms", "sms", "s+wms")}
    return {"rouge-l": {"name": "rouge-l"}, **movers, "twmd": {"name": "twmd", "encoder": "minilm"}}


def untrained_systems(settings: DemoSettings) -> list[SystemOutputs]:
    """The first three sentences, and an oracle that knows the story's facts and wordings, on the test stories."""
    test = list(stories(settings.seed, "test", TEST))
    return [
        SystemOutputs(
            name,
            [
                Output(story.id, "\n".join(story.article), ("\n".join(story.highlights),), policy(story), name)
                for story in test
            ],
        )
        for name, policy in {"lead-3": lead, "oracle": oracle}.items()
    ]


def system_outputs(settings: DemoSettings, variant: Variant, method: DecodingMethod) -> SystemOutputs:
    """A variant's outputs, decoded by one method."""
    path = variants.outputs_path(settings.folder / "outputs", variant, method)
    return SystemOutputs(variant.name, path, variant.run)


def score(systems: Sequence[SystemOutputs], data: Path) -> list[SystemScores]:
    """Each system by the five metrics; runs in a process of the pool."""
    metrics, missing = load_metrics(data)
    return [system.score(metrics, missing) for system in systems]


@cache
def load_metrics(data: Path) -> tuple[dict[str, Reward], dict[str, str]]:
    """The metrics, and name -> why one is missing; loaded once a process, so that references are analysed once."""
    return load_available(list(metric_specs(data).values()))


def make_report(
    settings: DemoSettings, ordered: Sequence[Variant], scored: Sequence[Sequence[SystemScores]]
) -> ComparisonReport:
    """A section for each decoding method: ``scored`` holds the scores of its systems."""
    systems = [*untrained_systems(settings), *(system_outputs(settings, variant, METHODS[0]) for variant in ordered)]
    vocabulary = set(Vocabulary.load(settings.folder / "mle" / "best" / "vocab.txt").words)
    rewards = variants.rewards_of(ordered)
    return ComparisonReport(
        title="Did the reward help?",
        sections=tuple(
            build_section(method.title, scores, rewards, start=START, control=CONTROL)
            for method, scores in zip(METHODS, scored, strict=True)
        ),
        pictures=tuple(draw_training(systems, FOLLOWED, START)),
        examples=tuple(draw_examples({system.name: system.read() for system in systems}, vocabulary, 4, settings.seed)),
        signatures={name: metric.signature for name, metric in load_metrics(settings.data)[0].items()},
        notes=(
            f"{TRAIN:,} simulated training stories, {VALID} for validation, {TEST} held out for this page; seed "
            f"{settings.seed}. Every model starts from the same likelihood model ({START}) and gets equally many "
            f"updates; {CONTROL} gets them without reward.",
        ),
    )
