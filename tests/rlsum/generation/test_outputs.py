"""Summaries of a whole corpus: in its order, whatever the batches; and a stopped job that goes on."""

import json
from dataclasses import replace
from pathlib import Path

import datasets
import pytest
import tiny

from rlsum.generation import outputs as generation
from rlsum.generation.outputs import SummaryTask, summarize, write_summaries
from rlsum.models.decoding import Decoding
from rlsum.records import read_outputs

GREEDY = Decoding(max_length=6)
PAIRS = [*tiny.stories(23), *tiny.PAIRS, tiny.EMPTY]


def corpus(pairs=PAIRS):
    return datasets.Dataset.from_dict(tiny.rows(pairs))


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(generation, "CHUNK_BATCHES", 2)


def outputs(batch_size, decoding=GREEDY, rows=None):
    task = SummaryTask(tiny.copier(), rows or corpus(), decoding, "s", batch_size)
    return [output for chunk in summarize(task, "cpu") for output in chunk]


@pytest.mark.parametrize("decoding", [GREEDY, replace(GREEDY, method="beam", beam=3)], ids=["greedy", "beam"])
def test_outputs_come_in_the_corpus_order_and_do_not_depend_on_the_batch_size(decoding):
    one = outputs(1, decoding)
    assert [output.id for output in one] == [str(i) for i in range(len(PAIRS))]
    assert [output.source for output in one] == [source for source, _ in PAIRS]
    assert outputs(3, decoding) == outputs(100, decoding) == one
    assert len({output.candidate for output in one}) > 5
    assert any("Name" in output.candidate for output in one), "copied names are in their surface form"


def test_samples_do_not_depend_on_the_batches_decoded_before():
    sampled = replace(GREEDY, method="sample")
    whole = outputs(4, sampled)
    assert whole == outputs(4, sampled)
    assert outputs(4, sampled, corpus().select(range(8, len(PAIRS)))) == whole[8:]  # as a stopped job goes on
    assert [output.candidate for output in whole] != [output.candidate for output in outputs(4)]


def test_dropout_is_off():
    model = tiny.copier(dropout=0.5).train()
    task = SummaryTask(model, corpus(), GREEDY, "s", 4)
    assert [output for chunk in summarize(task, "cpu") for output in chunk] == outputs(4)


def write(out, model=None, rows=None, decoding=GREEDY, batch_size=3, **options):
    task = SummaryTask(model or tiny.copier(), rows or corpus(), decoding, "s", batch_size)
    return write_summaries(out, task, "cpu", **options)


def stop_after(lines, out):
    """Write until so many articles are done, then stop as Ctrl-C does."""
    done = 0

    def advance(count):
        nonlocal done
        done += count
        if done >= lines:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write(out, advance=advance)
    assert not out.exists()


def test_a_job_leaves_its_file_and_nothing_else(tmp_path):
    out = tmp_path / "new" / "o.jsonl"
    assert write(out) == 0
    assert read_outputs(out) == outputs(3)
    assert [path.name for path in out.parent.iterdir()] == ["o.jsonl"]


def test_a_stopped_job_goes_on_where_it_stood(tmp_path):
    out = tmp_path / "o.jsonl"
    stop_after(12, out)
    decoded = []
    model = tiny.copier()
    generate = model.generate
    model.generate = lambda batch, decoding: (decoded.extend(batch.ids), generate(batch, decoding))[1]
    assert write(out, model) == 12
    assert sorted(map(int, decoded)) == list(range(12, len(PAIRS)))
    assert read_outputs(out) == outputs(3)


def test_a_line_cut_by_a_kill_is_written_again(tmp_path):
    out = tmp_path / "o.jsonl"
    pairs = [(source + " Éé\u00e9日本", summary) for source, summary in PAIRS]
    write(out, rows=corpus(pairs))
    whole = out.read_bytes()
    write_partly = whole[: whole.index("日".encode(), len(whole) // 2) + 1]  # in the middle of a character
    partial = tmp_path / "p.jsonl.partial"
    partial.write_bytes(write_partly)
    task = SummaryTask(tiny.copier(), corpus(pairs), GREEDY, "s", 3)
    (tmp_path / "p.jsonl.partial.task").write_text(task.key(), encoding="utf-8")
    assert write(tmp_path / "p.jsonl", rows=corpus(pairs)) > 0
    assert (tmp_path / "p.jsonl").read_bytes() == whole


@pytest.mark.parametrize(
    "other",
    [
        {"model": tiny.copier(seed=2)},
        {"decoding": replace(GREEDY, min_length=2)},
        {"rows": corpus(PAIRS[::-1])},
        {"batch_size": 4},
    ],
    ids=["weights", "decoding", "rows", "batch size"],
)
def test_what_another_task_began_is_not_gone_on_with(tmp_path, other):
    out = tmp_path / "o.jsonl"
    stop_after(12, out)
    assert write(out, **other) == 0
    clean = tmp_path / "clean.jsonl"
    write(clean, **other)
    assert out.read_bytes() == clean.read_bytes()


def test_lines_of_another_task_are_gone_before_the_note_says_otherwise(tmp_path, monkeypatch):
    """Killed between the two, the old lines must not pass for the new task's."""
    out = tmp_path / "o.jsonl"
    stop_after(12, out)

    def crash(path, content):
        raise KeyboardInterrupt

    other = tiny.copier(seed=2)
    for owner, name in ((generation, "write_atomically"), (Path, "write_bytes")):
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, crash)
            with pytest.raises(KeyboardInterrupt):
                write(out, other)
    assert write(out, other) == 0


def test_records_are_json_lines_with_the_agreed_fields(tmp_path):
    out = tmp_path / "o.jsonl"
    write(out)
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert all(list(row) == ["id", "source", "references", "candidate", "system"] for row in rows)
