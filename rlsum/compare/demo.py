"""The demo: the whole story on the simulated corpus, from nothing to a table that says whether the reward helped."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlsum import workers
from rlsum.compare import cells, report
from rlsum.compare.cells import BEAM, GREEDY, Cell, Decoded, Say
from rlsum.compare.examples import draw_examples
from rlsum.compare.report import CellResult, ComparisonReport
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

START, CONTROL = "MLE", "MLE continued"
TRAIN, VALID, TEST = 4000, 200, 500
REWARDS = ("rouge-l", "sms")
RECORD = "plan.json"
WAYS = (BEAM, GREEDY)


@dataclass(frozen=True)
class Plan:
    """One comparison on the simulated corpus.

    configs  folder with mle.yaml, none.yaml and one file a reward
    folder   where everything goes
    rewards  the rewards to train on
    shuffled train on each reward's values permuted within the batch: the control in which no gain may remain
    """

    configs: Path
    folder: Path
    seed: int
    rewards: tuple[str, ...]
    shuffled: bool = False
    jobs: int = 2


def run(plan: Plan, say: Say) -> ComparisonReport:
    """Simulate, pretrain; train, decode and score every system. Finished parts of an earlier call are kept.

    Pretraining keeps one core busy: what needs no model is scored meanwhile.
    """
    check(plan)
    data = plan.folder / "data"
    simulate(plan, say)
    start, others = start_cell(plan), other_cells(plan)
    with workers.pool(plan.jobs) as pool:
        marks = pool.submit(score, baselines(plan), data)
        say(f"pretraining with maximum likelihood: {start.run}")
        cells.train(start, None, say)

        def finish(cell: Cell) -> list[SystemScores]:
            cells.train(cell, start.run, say)
            cells.decode(cell, data / "test.jsonl", plan.folder / "outputs", WAYS, say)
            say(f"scoring: {cell.name}")
            return pool.submit(score, [result(plan, cell, way) for way in WAYS], data).result()

        say(f"training from it, decoding, scoring: {', '.join(cell.name for cell in others)}")
        longest_first = [*reversed(others), start]
        scored = dict(zip(longest_first, cells.side_by_side(finish, longest_first, plan.jobs), strict=True))
        every = [start, *others]
        return make_report(
            plan, every, [[*marks.result(), *(scored[cell][n] for cell in every)] for n in range(len(WAYS))]
        )


def check(plan: Plan) -> None:
    """Raise UserError for an unknown reward, a missing configuration or a folder that will not do, before all else."""
    known = metric_specs(plan.folder / "data")
    unknown = [reward for reward in plan.rewards if reward not in known]
    if unknown:
        raise UserError(f"rewards={','.join(plan.rewards)}: no {', '.join(unknown)}; known: {', '.join(known)}")
    if len(set(plan.rewards)) < len(plan.rewards):
        raise UserError(f"rewards={','.join(plan.rewards)}: one stands there twice; name each once")
    missing = [str(cell.config) for cell in (start_cell(plan), *other_cells(plan)) if not cell.config.is_file()]
    if missing:
        raise UserError(f"configs={plan.configs}: no {', '.join(missing)}; give the folder that holds the demo's files")
    record, wanted = plan.folder / RECORD, made_of(plan)
    if record.exists() and record.read_text(encoding="utf-8") != wanted:
        found = record.read_text(encoding="utf-8").strip()
        raise UserError(f"folder={plan.folder}: was made of {found}, not of {wanted.strip()}; choose another --folder")
    try:
        (plan.folder / "outputs").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"folder={plan.folder}: cannot be written ({error.strerror}); choose another") from error


def made_of(plan: Plan) -> str:
    """What every part of a folder depends on, as its plan.json says it."""
    return json.dumps({"seed": plan.seed, "train": TRAIN, "valid": VALID, "test": TEST}) + "\n"


def simulate(plan: Plan, say: Say) -> None:
    """The corpus and its word vectors, unless they are there, whole: plan.json is written after them."""
    data, record = plan.folder / "data", plan.folder / RECORD
    files = [data / name for name in ("train.jsonl", "valid.jsonl", "test.jsonl", "vectors.txt.gz")]
    if not all(path.exists() for path in (record, *files)):
        say(f"simulating {TRAIN + VALID + TEST:,} news stories from seed {plan.seed}, and word vectors: {data}")
        paths = write_corpus(data, plan.seed, {"train": TRAIN, "valid": VALID, "test": TEST})
        train_from_corpus(paths["train"], data / "vectors.txt.gz")
        write_atomically(record, made_of(plan).encode())


def start_cell(plan: Plan) -> Cell:
    """Likelihood training from random weights."""
    vectors = f"vocabulary.embeddings={plan.folder / 'data' / 'vectors.txt.gz'}"
    return Cell(START, plan.configs / "mle.yaml", plan.folder / "mle", overrides=(*_overrides(plan), vectors))


def other_cells(plan: Plan) -> list[Cell]:
    """The control and a cell a reward, all with the same updates from the same start."""
    control = Cell(CONTROL, plan.configs / "none.yaml", plan.folder / "none", overrides=_overrides(plan))
    return [control, *(_reward_cell(plan, reward) for reward in plan.rewards)]


def _reward_cell(plan: Plan, reward: str) -> Cell:
    config, spec = plan.configs / f"{reward}.yaml", metric_specs(plan.folder / "data")[reward]
    name, run = f"MLE+RL {reward}", plan.folder / reward
    if plan.shuffled:
        spec = {"name": "shuffled", "reward": spec}
        name, run = f"MLE+RL shuffled {reward}", plan.folder / f"{reward}-shuffled"
    return Cell(name, config, run, reward, (*_overrides(plan), f"objective.reward={json.dumps(spec)}"))


def _overrides(plan: Plan) -> tuple[str, ...]:
    """What the configurations leave to the comparison: where its data lie, and the seed."""
    data = plan.folder / "data"
    watched = [spec for name, spec in metric_specs(data).items() if name in ("rouge-l", "sms")]
    return (
        f"data.train={data / 'train.jsonl'}",
        f"data.valid={data / 'valid.jsonl'}",
        f"training.seed={plan.seed}",
        f"metrics={json.dumps(watched)}",
    )


def metric_specs(data: Path) -> dict[str, dict[str, Any]]:
    """The five metrics of every table by name, with the demo's vectors and encoder."""
    vectors = {"vectors": str(data / "vectors.txt.gz"), "normalize": "unit"}
    movers = {name: {"name": name, **vectors} for name in ("wms", "sms", "s+wms")}
    return {"rouge-l": {"name": "rouge-l"}, **movers, "twmd": {"name": "twmd", "encoder": "minilm"}}


def baselines(plan: Plan) -> list[CellResult]:
    """The lead, and a writer who knows the story's facts and the usual wordings, on the test stories."""
    test = list(stories(plan.seed, "test", TEST))
    policies = {"lead-3": lead, "oracle": oracle}
    return [
        CellResult(
            name,
            [
                Output(story.id, "\n".join(story.article), ("\n".join(story.highlights),), policy(story), name)
                for story in test
            ],
        )
        for name, policy in policies.items()
    ]


def result(plan: Plan, cell: Cell, way: Decoded) -> CellResult:
    """A cell's outputs, decoded in one way."""
    return CellResult(cell.name, cells.outputs_path(plan.folder / "outputs", cell, way), cell.run)


def score(results: Sequence[CellResult], data: Path) -> list[SystemScores]:
    """Each of the results by the five metrics; runs in a process of its own."""
    found, missing = scorers(data)
    return [report.score_cell(each, found, missing) for each in results]


@cache
def scorers(data: Path) -> tuple[dict[str, Reward], dict[str, str]]:
    """The five metrics, and why one is missing: loaded once in a process, so that references are analysed once."""
    return load_available(list(metric_specs(data).values()))


def make_report(plan: Plan, every: Sequence[Cell], scored: Sequence[Sequence[SystemScores]]) -> ComparisonReport:
    """A section for each way of decoding: ``scored`` holds the scores of its systems."""
    trained = {cell.name: cell.reward for cell in every if cell.reward is not None}
    shown = [*baselines(plan), *(result(plan, cell, WAYS[0]) for cell in every)]
    vocabulary = Vocabulary.load(plan.folder / "mle" / "best" / "vocab.txt")
    return ComparisonReport(
        title="Did the reward help?",
        sections=tuple(
            report.build_section(way.title, scores, trained, start=START, control=CONTROL)
            for way, scores in zip(WAYS, scored, strict=True)
        ),
        pictures=tuple(report.draw_cells(shown, ["rouge-l", "sms"], START)),
        examples=tuple(
            draw_examples({cell.name: report.read_cell(cell) for cell in shown}, set(vocabulary.words), 4, plan.seed)
        ),
        signatures={name: scorer.signature for name, scorer in scorers(plan.folder / "data")[0].items()},
        notes=(
            f"{TRAIN:,} simulated training stories, {VALID} for validation, {TEST} held out for this page; seed "
            f"{plan.seed}. Every model starts from the same likelihood model ({START}) and gets equally many updates; "
            f"{CONTROL} gets them without reward.",
        ),
    )
