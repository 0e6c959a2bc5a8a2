"""Summaries of a whole corpus: in its order, whatever the batches; and a stopped job that goes on."""

from dataclasses import replace

import datasets
import numpy as np
import pytest
import tiny
from rows import jsonl, rows_of

import rewards
from rlsum.errors import UserError
from rlsum.generation import outputs as generation
from rlsum.generation.choosing import SampleChoice
from rlsum.generation.options import Generating
from rlsum.generation.outputs import SummaryTask, summarize, write_summaries
from rlsum.models.decoding import Decoding
from rlsum.models.pointer_generator.model import PointerGenerator
from rlsum.records import read_outputs
from rlsum.scoring import journal

GREEDY = Decoding(max_length=6)
SAMPLED = replace(GREEDY, method="sample")
BEST = SampleChoice("best-of", rewards.load("source_rewards:copied"), 4)
CLOSEST = SampleChoice("mbr", rewards.load("rouge-l"), 4)
PAIRS = [*tiny.stories(23), *tiny.ARTICLES]
PAIRS = [(source, summary or "ash") for source, summary in PAIRS]  # a corpus has no empty reference


def corpus(pairs=PAIRS):
    return datasets.Dataset.from_dict(tiny.rows(pairs))


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(generation, "CHUNK_BATCHES", 2)


def task(batch_size=3, decoding=GREEDY, rows=None, choice=None, model=None, **how):
    how = Generating(batch_size=batch_size, **how)
    return SummaryTask(model or tiny.copier(), rows or corpus(), decoding, "s", how, choice)


def outputs(*given, **options):
    return [output for chunk in summarize(task(*given, **options), "cpu") for output in chunk]


@pytest.mark.parametrize("decoding", [GREEDY, replace(GREEDY, method="beam", beam=3)], ids=["greedy", "beam"])
def test_outputs_come_in_the_corpus_order_and_do_not_depend_on_the_batch_size(decoding):
    one = outputs(1, decoding)
    assert [output.id for output in one] == [str(i) for i in range(len(PAIRS))]
    assert [output.source for output in one] == [source for source, _ in PAIRS]
    assert outputs(3, decoding) == outputs(100, decoding) == one
    assert len({output.candidate for output in one}) > 5
    assert any("Name" in output.candidate for output in one), "copied names are in their surface form"


def test_a_chunk_begins_with_its_longest_articles(monkeypatch):
    lengths, decode = [], SummaryTask.decode
    monkeypatch.setattr(SummaryTask, "decode", lambda task, b: lengths.append(b.src.shape[1]) or decode(task, b))
    outputs(len(PAIRS) // 2)
    assert lengths[0] > lengths[1]


def test_samples_depend_on_their_article_alone():
    whole = outputs(4, SAMPLED)
    assert whole == outputs(7, SAMPLED)
    assert outputs(4, SAMPLED, corpus().select(range(8, len(PAIRS)))) == whole[8:]  # as a stopped job goes on
    assert [output.candidate for output in whole] != [output.candidate for output in outputs(4)]


def test_of_more_samples_the_first_are_the_same_and_articles_are_encoded_once(monkeypatch):
    encoded = []
    encode = PointerGenerator.encode
    monkeypatch.setattr(
        PointerGenerator, "encode", lambda model, batch: encoded.extend(batch.ids) or encode(model, batch)
    )
    reward = BEST.reward
    best = {
        n: np.nan_to_num(reward([o.candidate for o in found], None, [o.source for o in found]), nan=-1.0)
        for n in (1, 2, 8)
        for found in [outputs(5, SAMPLED, choice=replace(BEST, samples=n))]
    }
    assert sorted(encoded) == sorted([str(i) for i in range(len(PAIRS))] * 3)
    assert (best[1] <= best[2]).all()
    assert (best[2] <= best[8]).all()
    assert best[1].mean() < best[2].mean() < best[8].mean()
    one = outputs(5, SAMPLED, choice=replace(BEST, samples=1))
    assert one == outputs(5, SAMPLED), "the best of one sample is the sample"


def test_dropout_is_off():
    assert outputs(model=tiny.copier(dropout=0.5).train()) == outputs()


def write(out, advance=lambda done: None, **options):
    return write_summaries(out, task(**options), "cpu", advance)


def stop_after(lines, out, **options):
    """Write until so many articles are done, then stop as Ctrl-C does."""
    done = 0

    def advance(count):
        nonlocal done
        done += count
        if done >= lines:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write(out, advance=advance, **options)
    assert not out.exists()


def test_a_job_leaves_its_file_and_nothing_else(tmp_path):
    out = tmp_path / "new" / "o.jsonl"
    assert write(out) == 0
    assert read_outputs(out) == outputs(3)
    assert [path.name for path in out.parent.iterdir()] == ["o.jsonl"]


@pytest.mark.parametrize("choice", [None, BEST, CLOSEST], ids=["greedy", "best of n", "minimum Bayes risk"])
def test_a_stopped_job_goes_on_where_it_stood(tmp_path, choice):
    out = tmp_path / "o.jsonl"
    options = {"choice": choice, "decoding": SAMPLED if choice else GREEDY}
    stop_after(12, out, **options)
    decoded = []
    model = tiny.copier()
    to_text = model.to_text
    model.to_text = lambda batch, tokens: (decoded.extend(batch.ids), to_text(batch, tokens))[1]
    assert write(out, model=model, **options) == 12
    assert sorted(map(int, decoded)) == list(range(12, len(PAIRS)))
    assert read_outputs(out) == outputs(3, **options)


def test_a_line_cut_by_a_kill_is_written_again(tmp_path):
    out = tmp_path / "o.jsonl"
    pairs = [(source + " Éé\u00e9日本", summary) for source, summary in PAIRS]
    write(out, rows=corpus(pairs))
    whole = out.read_bytes()
    write_partly = whole[: whole.index("日".encode(), len(whole) // 2) + 1]  # in the middle of a character
    partial = tmp_path / "p.jsonl.partial"
    partial.write_bytes(write_partly)
    jsonl(tmp_path / "p.jsonl.partial.json", task(rows=corpus(pairs)).key())
    assert write(tmp_path / "p.jsonl", rows=corpus(pairs)) > 0
    assert (tmp_path / "p.jsonl").read_bytes() == whole


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("weights", {"model": tiny.copier(seed=2)}),
        ("decoding", {"decoding": replace(GREEDY, min_length=2)}),
        ("rows", {"rows": corpus(PAIRS[::-1])}),
        ("batch_size", {"batch_size": 4}),
        ("choice", {"choice": BEST, "decoding": SAMPLED}),
    ],
)
def test_what_another_task_began_is_not_gone_on_with(tmp_path, name, other):
    out = tmp_path / "o.jsonl"
    stop_after(12, out)
    partial = out.with_name("o.jsonl.partial").read_bytes()
    with pytest.raises(UserError, match=f"12 lines of an earlier command, whose .*{name}.* differed"):
        write(out, **other)
    assert out.with_name("o.jsonl.partial").read_bytes() == partial, "nothing already written is lost"
    assert write(out, **other, overwrite=True) == 0
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
    with monkeypatch.context() as patch:
        patch.setattr(journal, "write_atomically", crash)
        with pytest.raises(KeyboardInterrupt):
            write(out, model=other, overwrite=True)
    assert write(out, model=other, overwrite=True) == 0


def test_records_are_json_lines_with_the_agreed_fields(tmp_path):
    out = tmp_path / "o.jsonl"
    write(out)
    assert all(list(row) == ["id", "source", "references", "candidate", "system"] for row in rows_of(out))


def test_shards_put_together_are_the_file_of_one_job(tmp_path, monkeypatch):
    whole, out = tmp_path / "whole.jsonl", tmp_path / "out.jsonl"
    write(whole, decoding=SAMPLED)
    for number in (2, 1, 3):
        write(out, decoding=SAMPLED, shard=f"{number}/3")
    monkeypatch.setattr(SummaryTask, "decode", None)
    assert write(out, decoding=SAMPLED, shard="all/3") == len(PAIRS)
    assert out.read_bytes() == whole.read_bytes()
