"""Summarize a corpus into an outputs file, in the corpus' order; a stopped job goes on where it stood."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from rlsum.errors import UserError
from rlsum.files import write_atomically
from rlsum.models.decoding import Decoding
from rlsum.records import Output, to_json
from rlsum.training import checkpoint
from rlsum.training.parallel.processes import ONE_PROCESS, Processes, lost_process_as_error
from rlsum.training.validation import decode

if TYPE_CHECKING:
    import datasets

    from rlsum.models.seq2seq import Model

CHUNK_BATCHES = 20  # articles are sorted by length within chunks of this many batches, and written chunk by chunk


def decoding_of(
    trained: Decoding,
    beam: int | None = None,
    max_length: int | None = None,
    min_length: int | None = None,
    length_penalty: float | None = None,
    block_ngrams: int | None = None,
) -> Decoding:
    """A run's decoding options with those that are given, by beam search; greedy where the beam is 1.

    The run's ``method`` is that of its validation and does not count. Raises UserError where the lengths exclude each
    other, and for a length penalty that is not finite.
    """
    options: dict[str, Any] = {
        "beam": beam,
        "max_length": max_length,
        "min_length": min_length,
        "length_penalty": length_penalty,
        "block_ngrams": block_ngrams,
    }
    if length_penalty is not None and not math.isfinite(length_penalty):
        raise UserError(f"--length-penalty {length_penalty}: must be a number; 1 is usual")
    options = {name: getattr(trained, name) if value is None else value for name, value in options.items()}
    if options["min_length"] >= options["max_length"]:
        raise UserError(
            f"--min-length {options['min_length']}: must be smaller than the maximum of {options['max_length']}; "
            "raise --max-length"
        )
    return replace(trained, **options).searching()


def check_device(name: str | None) -> str:
    """``name``, or cuda where there is one, else cpu. Raises UserError for a device that cannot be used here."""
    name = name or ("cuda" if torch.cuda.is_available() else "cpu")
    try:
        torch.ones(1, device=name).item()
    except (RuntimeError, AssertionError) as error:  # torch asserts that it was built with cuda
        raise UserError(f"--device {name}: cannot be used here ({str(error).splitlines()[0]}); try cpu") from error
    return name


def check_ids(ids: Iterable[str], corpus: str) -> None:
    """Raise UserError for an id that two articles have: systems are compared id by id."""
    seen: set[str] = set()
    for identity in ids:
        if identity in seen:
            raise UserError(
                f"{corpus}: two articles have the id {identity!r}; delete one, or name a column of other ids with "
                "--id-column"
            )
        seen.add(identity)


def summarize(
    model: Model,
    rows: datasets.Dataset,
    decoding: Decoding,
    system: str,
    batch_size: int,
    device: str,
    processes: Processes = ONE_PROCESS,
) -> Iterator[list[Output]]:
    """Outputs for all rows, chunk by chunk, in the order of the rows. One candidate an article.

    Several processes decode every chunk together, batch by batch in turn, and each returns all outputs.
    """
    model.to(device).eval()
    chunk = batch_size * CHUNK_BATCHES
    for start in range(0, len(rows), chunk):
        block = rows.select(range(start, min(start + chunk, len(rows))))
        lengths = [len(tokens) for tokens in block["src_tokens"]]
        order = sorted(range(len(block)), key=lambda row: lengths[row])
        batches = (
            model.collate(block[order[i : i + batch_size]]).to(device)
            for i in processes.share(range(0, len(order), batch_size))
        )
        found = processes.gather([list(decode(model, [batch], decoding, system)) for batch in batches])
        outputs = [output for batch in found for output in batch]
        yield [output for _, output in sorted(zip(order, outputs, strict=True), key=lambda pair: pair[0])]


def write_summaries(
    out: Path,
    model: Model,
    rows: datasets.Dataset,
    decoding: Decoding,
    system: str,
    batch_size: int,
    device: str,
    advance: Callable[[int], None] = lambda done: None,
    processes: Processes = ONE_PROCESS,
) -> int:
    """Write outputs to ``out``; returns how many an earlier, stopped job with the same task had written already.

    Finished chunks lie in ``out.partial`` with the task they belong to in ``out.partial.task``; the file takes its
    final name once it is complete. Of several processes, process 0 writes.
    """
    partial, note = out.with_name(out.name + ".partial"), out.with_name(out.name + ".partial.task")
    task = _task(model, rows, decoding, system, batch_size)
    with lost_process_as_error("give the same command again: it goes on where it stood"):
        whole = processes.gather_all(_begin(partial, note, task, batch_size) if processes.rank == 0 else 0)[0]
        advance(whole)
        remaining = rows.select(range(whole, len(rows)))
        for outputs in summarize(model, remaining, decoding, system, batch_size, device, processes):
            if processes.rank == 0:
                with partial.open("a", encoding="utf-8") as file:
                    file.write("".join(to_json(output) + "\n" for output in outputs))
            advance(len(outputs))
    if processes.rank == 0:
        partial.replace(out)
        note.unlink()
    return whole


def _begin(partial: Path, note: Path, task: str, batch_size: int) -> int:
    """Prepare the files; returns how many lines they keep of an earlier job with the same task."""
    partial.parent.mkdir(parents=True, exist_ok=True)
    done = _finished_lines(partial, note, task)
    whole = done - done % (batch_size * CHUNK_BATCHES)
    _keep_lines(partial, whole)  # before the note, which would make another task's lines look like this one's
    write_atomically(note, task.encode())
    return whole


def _task(model: Model, rows: datasets.Dataset, decoding: Decoding, system: str, batch_size: int) -> str:
    return json.dumps(
        {
            "weights": checkpoint.digest(model),
            "model": asdict(model.config),
            "rows": rows._fingerprint,
            "decoding": asdict(decoding),
            "system": system,
            "batch_size": batch_size,
        }
    )


def _finished_lines(partial: Path, note: Path, task: str) -> int:
    if not (partial.exists() and note.exists() and note.read_text(encoding="utf-8") == task):
        return 0
    return partial.read_bytes().count(b"\n")


def _keep_lines(path: Path, count: int) -> None:
    lines = path.read_bytes().splitlines(keepends=True)[:count] if count else []
    path.write_bytes(b"".join(lines))
