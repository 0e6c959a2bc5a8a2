"""Summarize a corpus into a records file, in the order of the corpus; a stopped job continues."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import datasets
import torch

from rlsum.data.batch import Batch
from rlsum.errors import UserError, option
from rlsum.generation.choosing import SampleChoice
from rlsum.generation.options import Generating
from rlsum.models.decoding import Decoding
from rlsum.models.summarizer import Model
from rlsum.records import Output, to_json
from rlsum.scoring.journal import Journal
from rlsum.training import checkpoint
from rlsum.training.parallel.processes import ONE_PROCESS, Processes, lost_process_as_error
from rlsum.training.validation import decoded_outputs

CHUNK_BATCHES = 20  # articles are sorted by length and written in chunks of this many batches


@dataclass(frozen=True)
class SummaryTask:
    """Summaries to decode: one for each of ``rows``, which ``model`` has read, as the outputs of ``system``.

    how     what is written, the batch size, and the seed of samples: those of an article depend on it, on the article
            and on nothing else
    choice  which sample of an article is its summary; None: one is drawn
    """

    model: Model
    rows: datasets.Dataset
    decoding: Decoding
    system: str
    how: Generating
    choice: SampleChoice | None = None

    def __post_init__(self) -> None:
        if self.choice is not None and self.decoding.method != "sample":
            raise ValueError(f"decoding.method={self.decoding.method!r}: a choice needs samples; use 'sample'")

    @property
    def written(self) -> range:
        """The rows of its shard, whole chunks: what an article is decoded with is the same in all."""
        return self.how.written.rows(len(self.rows), self.how.batch_size * CHUNK_BATCHES)

    def key(self) -> dict[str, Any]:
        """Everything the outputs depend on, for JSON."""
        return {
            "weights": checkpoint.digest(self.model),
            "model": asdict(self.model.config),
            "settings": self.model.depends_on(),
            "rows": self.rows._fingerprint,
            "decoding": asdict(self.decoding),
            "system": self.system,
            "batch_size": self.how.batch_size,
            "seed": self.how.seed,
            "choice": None if self.choice is None else self.choice.key(),
        }

    def decode(self, batch: Batch) -> list[Output]:
        """The outputs of a batch: the same in whatever order, and by whichever process, batches are decoded."""
        decoding = replace(self.decoding, samples=1 if self.choice is None else self.choice.samples)
        outputs = decoded_outputs(self.model, batch, decoding, self.system, self.how.seed)
        if self.choice is None:
            return outputs
        chosen, undefined = self.choice.choose(outputs)
        for identity, reason in undefined.items():
            name = self.choice.name
            print(f"{identity}: no sample has a score by {name} ({reason}); the first is taken", file=sys.stderr)
        return chosen


def check_device(name: str | None) -> str:
    """``name``, by default cuda if available, else cpu. Raises UserError for a device that does not work."""
    name = name or ("cuda" if torch.cuda.is_available() else "cpu")
    try:
        torch.ones(1, device=name).item()
    except (RuntimeError, AssertionError) as error:  # AssertionError: torch without cuda
        raise UserError(f"{option('device', name)}: not available ({str(error).splitlines()[0]}); try cpu") from error
    return name


def check_ids(ids: Iterable[str], corpus: str) -> None:
    """Raise UserError if two articles have the same id: systems are compared id by id."""
    for identity, count in Counter(ids).items():
        if count > 1:
            raise UserError(
                f"{corpus}: two articles have the id {identity!r}; delete one, or name a column of unique ids with "
                f"{option('id_column')}"
            )


def summarize(task: SummaryTask, device: str, processes: Processes = ONE_PROCESS) -> Iterator[list[Output]]:
    """Outputs for all rows, chunk by chunk, in the order of the rows.

    Several processes decode every chunk together, batch by batch in turn, and each returns all outputs.
    """
    task.model.to(device).eval()
    rows, size = task.rows, task.how.batch_size
    for start in range(0, len(rows), size * CHUNK_BATCHES):
        chunk = rows.select(range(start, min(start + size * CHUNK_BATCHES, len(rows))))
        lengths = [len(tokens) for tokens in chunk["src_tokens"]]
        order = sorted(range(len(chunk)), key=lambda row: -lengths[row])  # the longest first: faults show at once
        batches = (
            task.model.collate(chunk[order[i : i + size]]).to(device)
            for i in processes.share(range(0, len(order), size))
        )
        decoded = processes.gather([task.decode(batch) for batch in batches])
        outputs = [output for batch in decoded for output in batch]
        yield [output for _, output in sorted(zip(order, outputs, strict=True), key=lambda pair: pair[0])]


def write_summaries(
    out: Path,
    task: SummaryTask,
    device: str,
    advance: Callable[[int], None] = lambda done: None,
    processes: Processes = ONE_PROCESS,
) -> int:
    """Write outputs to ``out``; returns the number that an earlier, stopped job for the same task had written.

    Until it is complete, the file is ``out.partial``: see ``Journal``. Of several processes, process 0 writes. Raises
    UserError where another task has finished chunks, unless it is to ``overwrite`` them. With a ``shard`` only its file
    is written, or those of all are put together.
    """
    opened: AbstractContextManager[Journal | None] = nullcontext()
    rows = task.written
    if processes.rank == 0:
        step, overwrite = task.how.batch_size * CHUNK_BATCHES, task.how.overwrite
        opened = task.how.written.journal(out, task.key(), step, ".partial", overwrite)
    with lost_process_as_error("run the same command again: it continues where it stopped"), opened as journal:
        done = processes.gather_all(journal.done if journal else 0)[0]
        advance(done)
        remaining = replace(task, rows=task.rows.select(rows[done:] or range(0)))
        for outputs in summarize(remaining, device, processes):
            if journal is not None:
                journal.append(map(to_json, outputs))
            advance(len(outputs))
    return done
