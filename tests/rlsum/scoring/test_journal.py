from __future__ import annotations

import errno
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import rows_of

from rlsum.errors import UserError
from rlsum.scoring import journal
from rlsum.scoring.journal import Journal

ROWS = [{"n": number, "text": "ü\n" * (number % 5)} for number in range(23)]
STEP = 4


def write(out, rows=ROWS, made_of="m") -> int:
    """Go on where the file is and finish; returns how many rows were there."""
    journal = Journal(out, {"origin": made_of}, STEP)
    start = journal.done
    assert [*journal.written()] == rows[:start]
    for place in range(start, len(rows), STEP):
        journal.append(map(json.dumps, rows[place : place + STEP]))
    journal.finish()
    return start


def test_rows_are_written_in_order_and_nothing_else_is_left(tmp_path):
    assert write(tmp_path / "new" / "out.jsonl") == 0
    assert rows_of(tmp_path / "new" / "out.jsonl") == ROWS
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["out.jsonl"]


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_cut_anywhere_nothing_is_lost_or_twice(tmp_path_factory, data):
    out = tmp_path_factory.mktemp("cut") / "out.jsonl"
    journal = Journal(out, {"origin": "m"}, STEP)
    written = data.draw(st.integers(0, len(ROWS)))
    for place in range(0, written, STEP):
        journal.append(map(json.dumps, ROWS[place : min(place + STEP, written)]))
    journal.close()
    whole = journal.path.read_bytes()
    cut = data.draw(st.integers(0, len(whole)))
    journal.path.write_bytes(whole[:cut])
    assert write(out) == whole[:cut].count(b"\n") // STEP * STEP
    assert rows_of(out) == ROWS


def test_other_contents_are_refused_and_the_file_stays(tmp_path):
    out = tmp_path / "out.jsonl"
    journal = Journal(out, {"origin": "m"}, STEP)
    journal.append(map(json.dumps, ROWS[:STEP]))
    journal.close()
    before = journal.path.read_bytes()
    with pytest.raises(UserError, match="4 lines of an earlier command, whose origin differed"):
        Journal(out, {"origin": "of something else"}, STEP)
    journal.description.unlink()
    with pytest.raises(UserError, match="origin differed"):
        Journal(out, {"origin": "m"}, STEP)
    assert journal.path.read_bytes() == before
    assert not Journal(out, {"origin": "of something else"}, STEP, overwrite=True).done


def test_two_writers_at_once_are_refused(tmp_path):
    journal = Journal(tmp_path / "out.jsonl", {}, STEP)
    with pytest.raises(UserError, match="another process"):
        Journal(tmp_path / "out.jsonl", {}, STEP)
    journal.close()
    Journal(tmp_path / "out.jsonl", {}, STEP).close()


def test_a_file_system_without_locks_is_written(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(journal.fcntl, "flock", refuse)
    assert write(tmp_path / "out.jsonl") == 0
    assert rows_of(tmp_path / "out.jsonl") == ROWS


def test_a_damaged_line_is_named(tmp_path):
    journal = Journal(tmp_path / "out.jsonl", {}, 1)
    journal.append(map(json.dumps, ROWS[:2]))
    journal.close()
    journal.path.write_bytes(journal.path.read_bytes().replace(b'{"n": 1', b'{"n": !'))
    with pytest.raises(UserError, match=r"scoring:2: damaged"):
        [*Journal(tmp_path / "out.jsonl", {}, 1).written()]
