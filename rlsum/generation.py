"""Summarize a corpus into an outputs file, in the corpus' order; a stopped job goes on where it stood."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from rlsum import checkpoint
from rlsum.data.batch import collate
from rlsum.models.decoding import Decoding
from rlsum.models.pointer_generator import PointerGenerator
from rlsum.records import Output, to_json
from rlsum.validation import decode

if TYPE_CHECKING:
    import datasets

CHUNK_BATCHES = 20  # articles are sorted by length within chunks of this many batches, and written chunk by chunk


def summarize(
    model: PointerGenerator, rows: datasets.Dataset, decoding: Decoding, system: str, batch_size: int, device: str
) -> Iterator[list[Output]]:
    """Outputs for all rows, chunk by chunk, in the order of the rows. One candidate an article."""
    model.to(device).eval()
    chunk = batch_size * CHUNK_BATCHES
    for start in range(0, len(rows), chunk):
        block = rows.select(range(start, min(start + chunk, len(rows))))
        lengths = [len(tokens) for tokens in block["src_tokens"]]
        order = sorted(range(len(block)), key=lambda row: lengths[row])
        batches = (
            collate(block[order[i : i + batch_size]], model.vocabulary).to(device)
            for i in range(0, len(order), batch_size)
        )
        outputs = decode(model, batches, decoding, system)
        yield [output for _, output in sorted(zip(order, outputs, strict=True), key=lambda pair: pair[0])]


def write_summaries(
    out: Path,
    model: PointerGenerator,
    rows: datasets.Dataset,
    decoding: Decoding,
    system: str,
    batch_size: int,
    device: str,
    advance: Callable[[int], None] = lambda done: None,
) -> int:
    """Write outputs to ``out``; returns how many an earlier, stopped job with the same task had written already.

    Finished chunks lie in ``out.partial`` with the task they belong to in ``out.partial.task``; the file takes its
    final name once it is complete.
    """
    partial, note = out.with_name(out.name + ".partial"), out.with_name(out.name + ".partial.task")
    out.parent.mkdir(parents=True, exist_ok=True)
    task = _task(model, rows, decoding, system, batch_size)
    done = _finished_lines(partial, note, task)
    whole = done - done % (batch_size * CHUNK_BATCHES)
    _keep_lines(partial, whole)  # before the note, which would make another task's lines look like this one's
    checkpoint.write_atomically(note, task.encode())
    advance(whole)
    with partial.open("a", encoding="utf-8") as file:
        remaining = rows.select(range(whole, len(rows)))
        for outputs in summarize(model, remaining, decoding, system, batch_size, device):
            file.write("".join(to_json(output) + "\n" for output in outputs))
            file.flush()
            advance(len(outputs))
    partial.replace(out)
    note.unlink()
    return whole


def _task(model: PointerGenerator, rows: datasets.Dataset, decoding: Decoding, system: str, batch_size: int) -> str:
    return json.dumps(
        {
            "weights": checkpoint.digest(model),
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
