"""A checkpoint and a corpus to a file of outputs: what `rlsum generate` does."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rlsum.errors import UserError
from rlsum.files import check_free
from rlsum.pages.shown import frame
from rlsum.records import Output, read_outputs

if TYPE_CHECKING:
    import datasets

    from rlsum.config import Config
    from rlsum.generation.choosing import SampleChoice
    from rlsum.generation.outputs import SummaryTask
    from rlsum.training.parallel.processes import Processes


@dataclass(frozen=True)
class Generating:
    """How to decode and what to read. None: as the run did, or for a pretrained model as its own files say.

    ``beam`` (1: greedy), ``max_length``, ``min_length`` in tokens, ``length_penalty`` (rank by log p / length ** it)
    and ``block_ngrams`` (0: off) are of the search; ``temperature``, ``top_k`` (0: all), ``top_p`` and ``seed`` of
    samples. ``best_of`` takes, of so many samples, the best ``by`` a reward that reads no references; ``mbr`` the one
    of ``samples`` with the best mean reward against the others. ``prefix``, ``line_break``, ``max_source`` and
    ``global_attention`` are for a pretrained model without a run.
    """

    beam: int | None = None
    max_length: int | None = None
    min_length: int | None = None
    length_penalty: float | None = None
    block_ngrams: int | None = None
    method: Literal["beam", "sample"] | None = None
    best_of: int | None = None
    by: str | None = None
    mbr: str | None = None
    samples: int | None = None
    temperature: float | None = None
    top_k: int | None = None
    top_p: float | None = None
    seed: int = 1
    prefix: str | None = None
    line_break: str | None = None
    max_source: int | None = None
    global_attention: Literal["none", "first"] | None = None
    split: str = "test"
    id_column: str | None = None
    source_column: str | None = None
    reference_column: str | None = None
    limit: int | None = None
    system: str | None = None
    batch_size: int = 16
    device: str | None = None


@dataclass(frozen=True)
class Generated:
    """The file of outputs that a ``system`` wrote; ``summaries`` of them."""

    file: Path
    system: str
    summaries: int

    @property
    def outputs(self) -> list[Output]:
        """The outputs, read from the file."""
        return read_outputs(self.file)

    def __repr__(self) -> str:
        return f"Generated {self.file}: {self.summaries:,} summaries by {self.system}"

    def to_frame(self) -> Any:
        """An output a row: id, source, references, candidate, system."""
        fields = ("id", "source", "references", "candidate", "system")
        return frame(fields, ([getattr(output, name) for name in fields] for output in self.outputs))


def generate(
    checkpoint: Path,
    corpus: str,
    out: Path,
    how: Generating,
    overwrite: bool,
    say: Callable[[str], None],
    advance: Callable[[str, int, int], None],
) -> Generated:
    """Summarize every article of ``corpus`` into ``out``; goes on with what a stopped job has written.

    Of several processes, the first one says and writes. Raises UserError before anything is decoded.
    """
    check_free("-o", out, overwrite)
    choice = _choice(how)
    from rlsum.generation import plain
    from rlsum.generation.outputs import SummaryTask, check_device, decoding_of
    from rlsum.training import build
    from rlsum.training import checkpoint as checkpoints
    from rlsum.training.parallel.processes import launched

    stored = checkpoints.find_or_none(checkpoint)
    if stored is None:
        name = str(checkpoint)
        config, unfollowed = plain.configuration(name, how.prefix, how.line_break, how.max_source, how.global_attention)
    else:
        _check_own(how, stored.folder)
        config, unfollowed = stored.config, []
    search = (how.beam, how.max_length, how.min_length, how.length_penalty, how.block_ngrams)
    sampled = how.method == "sample" or choice is not None
    decoding = decoding_of(config.decoding, *search, sampled, how.temperature, how.top_k, how.top_p)
    processes, own_device = launched(how.device)
    device = check_device(own_device)
    say = say if processes.rank == 0 else _nothing
    if stored is None:
        plain.check_length(config, decoding)
        say(plain.summary(config, decoding, unfollowed))
    rows = _articles(corpus, config, how, choice, processes)
    model = plain.load(config) if stored is None else build.load_model(stored)
    if stored is not None and checkpoints.step_of(stored.folder) == 0:
        say(f"{stored.folder}: these are the weights that the run began with; no later validation was better")
    rows = model.read(rows, config.data.max_source, config.data.max_target)
    system = how.system or Path(config.run).name
    task = SummaryTask(model, rows, decoding, system, how.batch_size, how.seed, choice)
    before = _write(out, task, device, processes, overwrite, advance)
    chosen = "" if choice is None else f", each of {choice.samples} samples ({choice.rule} {choice.reward.name})"
    earlier = f", {before:,} of them by an earlier job" if before else ""
    say(f"{out}: {len(rows):,} summaries by {system}{chosen}{earlier}")
    return Generated(out, system, len(rows))


def _write(
    out: Path,
    task: SummaryTask,
    device: str,
    processes: Processes,
    overwrite: bool,
    advance: Callable[[str, int, int], None],
) -> int:
    from rlsum.generation.outputs import write_summaries

    done = 0

    def count(more: int) -> None:
        nonlocal done
        done += more
        if processes.rank == 0:
            advance(task.system, done, len(task.rows))

    return write_summaries(out, task, device, count, processes, overwrite)


def _nothing(text: str) -> None:
    """What other processes say."""


def _check_own(how: Generating, folder: Path) -> None:
    """Raise UserError for an option that the configuration of a run settles."""
    own = {"--prefix": how.prefix, "--line-break": how.line_break, "--max-source": how.max_source}
    for option, value in {**own, "--global-attention": how.global_attention}.items():
        if value is not None:
            raise UserError(f"{option} {value}: set by the configuration of the run in {folder}; leave it out")


def _articles(
    corpus: str, config: Config, how: Generating, choice: SampleChoice | None, processes: Processes
) -> datasets.Dataset:
    """The articles, with the columns that the run or the options name."""
    from rewards.scoring import columns_read
    from rlsum.data.corpus import load_corpus
    from rlsum.generation.outputs import check_ids
    from rlsum.training import build

    columns = {name: getattr(how, name) for name in ("id_column", "source_column", "reference_column")}
    given = {name: column for name, column in columns.items() if column is not None}
    reading = {**build.reading(config.data), **given}
    if choice is not None:
        reading["columns"] = [*dict.fromkeys([*reading["columns"], *chain(*columns_read([choice.reward]))])]
    with processes.main_first():
        rows = load_corpus(
            corpus,
            split=how.split,
            limit=how.limit,
            references_optional=how.reference_column is None,
            columns_optional=True,
            **reading,
        ).rows
    check_ids(rows["id"], corpus)
    if choice is not None:
        _check_choice(choice, rows, corpus)
    return rows


def _choice(how: Generating) -> SampleChoice | None:
    """The choice among samples that the options ask for."""
    method, best_of, by, mbr, samples = how.method, how.best_of, how.by, how.mbr, how.samples
    if best_of is not None and mbr is not None:
        raise UserError(f"--best-of {best_of} and --mbr {mbr} exclude each other; give one")
    for option, value, other, given in (
        ("--best-of", best_of, "--by REWARD", by),
        ("--by", by, "--best-of N", best_of),
        ("--mbr", mbr, "--samples N", samples),
        ("--samples", samples, "--mbr REWARD", mbr),
    ):
        if value is not None and given is None:
            raise UserError(f"{option} {value}: needs {other}; add it")
    spec, count = (by, best_of) if mbr is None else (mbr, samples)
    if spec is None or count is None:
        return None
    if method == "beam":
        raise UserError("--method beam: a reward chooses among samples; leave it out, or use --method sample")
    import rewards
    from rlsum.generation.choosing import SampleChoice

    return SampleChoice("best-of" if mbr is None else "mbr", rewards.from_spec(spec), count)


def _check_choice(choice: SampleChoice, rows: datasets.Dataset, corpus: str) -> None:
    """Raise an error where an article lacks a column that the reward reads, or the reward cannot choose."""
    from rlsum.records import ColumnCheck

    check = ColumnCheck([choice.reward])
    columns = [json.loads(text) for text in rows["columns"]] if "columns" in rows.column_names else [{}] * len(rows)
    for identity, fields in zip(rows["id"], columns, strict=True):
        check.check(f"{corpus}, id {identity!r}", fields)
    choice.check(rows[0]["source"], columns[0])
