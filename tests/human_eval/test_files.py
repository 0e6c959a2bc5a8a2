import json
import os
import stat

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import jsonl, rows_of
from studies import hostile_study, study

from human_eval.files import ITEMS, KEY, STUDY, TASKS, check_destinations, read_key, read_study, save, write_files
from human_eval.study import StudyError


@pytest.fixture
def folder(tmp_path):
    save(tmp_path / "study", *(study()[0], tmp_path / "study" / KEY, study()[1]))
    return tmp_path / "study"


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**63), systems=st.integers(2, 3))
def test_what_was_written_is_read(tmp_path_factory, seed, systems):
    made = tmp_path_factory.mktemp("made") / "study"
    blind, key = study(systems=systems, seed=seed)
    save(made, blind, made / KEY, key)
    assert read_study(made) == blind
    assert read_key(made) == key


def test_hostile_texts_are_read_as_they_were_written(tmp_path):
    blind = hostile_study()
    save(tmp_path / "study", blind, tmp_path / "key.json", study()[1])
    assert read_study(tmp_path / "study") == blind


def test_the_key_is_for_its_owner_alone_and_the_study_does_without_it(folder):
    assert stat.S_IMODE(os.stat(folder / KEY).st_mode) == 0o600
    (folder / KEY).rename(folder.parent / "elsewhere.json")
    assert read_study(folder).id == read_key(folder.parent / "elsewhere.json").study
    with pytest.raises(StudyError, match=r"key\.json: cannot be read"):
        read_key(folder)


def test_nothing_is_replaced(folder, tmp_path):
    blind, key = study()
    with pytest.raises(StudyError, match="never replaced"):
        save(folder, blind, tmp_path / "new.json", key)
    with pytest.raises(StudyError, match="a key is never replaced"):
        save(tmp_path / "new", blind, folder / KEY, key)
    assert not (tmp_path / "new").exists()
    assert not (tmp_path / "new.json").exists()


@pytest.mark.parametrize("name", ["other.json", "deep/key.json"])
def test_a_key_in_the_study_has_its_name(tmp_path, name):
    with pytest.raises(StudyError, match=r"the key is called key\.json"):
        save(tmp_path / "study", study()[0], tmp_path / "study" / name, study()[1])
    assert list(tmp_path.iterdir()) == []


def test_an_empty_folder_will_do_and_a_file_will_not(tmp_path):
    (tmp_path / "empty").mkdir()
    check_destinations(tmp_path / "empty", tmp_path / "empty" / KEY)
    (tmp_path / "file").write_text("x")
    with pytest.raises(StudyError, match=r"out=.*not an empty folder"):
        check_destinations(tmp_path / "file", tmp_path / "key.json")
    with pytest.raises(StudyError, match="cannot be written"):
        check_destinations(tmp_path / "file" / "below", tmp_path / "key.json")


@pytest.mark.parametrize(
    ("name", "change", "told"),
    [
        (TASKS, lambda rows: rows[:-1], "not hold the 4 complete booklets"),
        (TASKS, lambda rows: rows[1:], "not hold the 4 complete booklets"),
        (TASKS, lambda rows: [rows[0], *rows], "duplicate task"),
        (TASKS, lambda rows: [{**rows[0], "item": "i0"}, *rows[1:]], r"tasks\.jsonl:1: item i0 is not in items"),
        (TASKS, lambda rows: [*rows[:2], {**rows[2], "left": None}, *rows[3:]], r"tasks\.jsonl:3: left must be text"),
        (TASKS, lambda rows: [{**rows[0], "booklet": True}, *rows[1:]], "booklet must be a whole number, not true"),
        (ITEMS, lambda rows: [rows[0], *rows], r"items\.jsonl:2: duplicate item"),
        (ITEMS, lambda rows: [{"item": "i1"}, *rows], r"items\.jsonl:1: no 'article'"),
    ],
)
def test_a_study_that_was_changed_is_refused_with_its_line(folder, name, change, told):
    jsonl(folder / name, *change(rows_of(folder / name)))
    with pytest.raises(StudyError, match=told):
        read_study(folder)


SHOWN = {"left": "a", "right": "b"}


@pytest.mark.parametrize(
    ("read", "name", "change", "told"),
    [
        (read_study, STUDY, {"format": 2}, "format 2 is not 1"),
        (read_study, STUDY, {"criteria": []}, "criteria must not be empty"),
        (read_study, STUDY, {"criteria": [{"id": "x", "question": "q", "help": ""}] * 2}, "ids must differ"),
        (read_study, STUDY, {"criteria": ["x"]}, "criteria: 1: not an object"),
        (read_study, STUDY, {"title": 3}, "title must be text"),
        (read_study, STUDY, {"booklets": 5}, "not hold the 5 complete booklets"),
        (read_key, KEY, {"tasks": {"t1": {"pair": ["a", "b"], **SHOWN, "kind": "other"}}}, "t1: kind must be 'pair'"),
        (read_key, KEY, {"tasks": {"t1": {"pair": ["a"], **SHOWN, "kind": "pair"}}}, "less than two systems"),
        (read_key, KEY, {"tasks": {"t1": 3}}, "tasks: t1: not an object"),
        (read_key, KEY, {"ties": [{"pair": ["a", "b"]}]}, "no 'item'"),
        (read_key, KEY, {"systems": "a, b"}, "systems must be a list"),
    ],
)
def test_a_head_or_key_that_was_changed_is_refused(folder, read, name, change, told):
    content = json.loads((folder / name).read_text(encoding="utf-8"))
    jsonl(folder / name, content | change)
    with pytest.raises(StudyError, match=told):
        read(folder)


@pytest.mark.parametrize("content", ["", "[]", "{", "\x00"])
def test_what_is_no_study_is_refused(tmp_path, content):
    with pytest.raises(StudyError, match="cannot be read"):
        read_study(tmp_path)
    (tmp_path / STUDY).write_text(content)
    with pytest.raises(StudyError, match="not"):
        read_study(tmp_path)


def test_files_are_written_as_they_are(tmp_path):
    write_files(tmp_path / "deep" / "out", {"a.csv": "x\r\ny\n", "b.html": "ü"})
    assert (tmp_path / "deep" / "out" / "a.csv").read_bytes() == b"x\r\ny\n"
    assert (tmp_path / "deep" / "out" / "b.html").read_bytes() == "ü".encode()


def test_an_export_replaces_nothing(tmp_path):
    (tmp_path / "kept").write_text("x")
    with pytest.raises(StudyError, match="never replaced"):
        write_files(tmp_path, {"a": "x"})
    with pytest.raises(StudyError, match="never replaced"):
        write_files(tmp_path / "kept", {"a": "x"})
    with pytest.raises(StudyError, match="cannot be written"):
        write_files(tmp_path / "kept" / "below", {"a": "x"})
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
