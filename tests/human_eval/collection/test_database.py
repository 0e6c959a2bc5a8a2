"""The file of answers: complete or absent, and a copy of it lacks nothing."""

import shutil
import sqlite3
import stat
from contextlib import closing

import pytest
from privileges import public_folder, without_privileges
from served import ANSWERS, given, make_store, make_study

from human_eval.collection.database import back_up, read_database
from human_eval.collection.store import ResponseStore
from rlsum.errors import UserError


@pytest.fixture
def study():
    return make_study()


@pytest.fixture
def store(tmp_path, study):
    opened = make_store(tmp_path, study)
    opened.claim("anna")
    opened.record(given("anna", "t0-0", ANSWERS, "", 4.0), 0)
    yield opened
    opened.close()


def test_a_copy_of_the_file_alone_has_all_answers_while_the_app_runs(tmp_path, study, store):
    shutil.copy(tmp_path / "judging.sqlite", tmp_path / "copy.sqlite")
    assert read_database(tmp_path / "copy.sqlite", study) == store.responses() != []


def test_a_copy_in_a_read_only_folder_is_read_if_it_needs_no_log(tmp_path, study, store):
    with public_folder() as folder:
        copy, log = folder / "copy.sqlite", folder / "copy.sqlite-wal"
        shutil.copy(tmp_path / "judging.sqlite", copy)
        copy.chmod(0o644)
        folder.chmod(0o555)
        with without_privileges():
            assert read_database(copy, study) == store.responses() != []
        folder.chmod(0o755)
        log.touch(0o644)
        folder.chmod(0o555)
        with without_privileges(), pytest.raises(UserError, match=r"copy it and copy\.sqlite-wal to one that is not"):
            read_database(copy, study)
        folder.chmod(0o755)


@pytest.mark.parametrize("pragmas", [(), ("journal_mode = WAL",)])
def test_a_file_without_its_study_is_refused_and_left_alone(tmp_path, study, pragmas):
    """Such as the copy of a database whose content was in the log."""
    path = tmp_path / "copy.sqlite"
    path.touch()
    with closing(sqlite3.connect(path)) as connection:
        for pragma in pragmas:
            connection.execute(f"PRAGMA {pragma}")
    before = path.read_bytes()
    for use in (ResponseStore, read_database):
        with pytest.raises(UserError, match="holds no study"):
            use(path, study)
    assert path.read_bytes() == before


def test_a_log_without_its_database_is_no_new_study(tmp_path, study):
    log = tmp_path / "judging.sqlite-wal"
    log.write_bytes(b"answers")
    with pytest.raises(UserError, match="its log"):
        make_store(tmp_path, study)
    assert log.read_bytes() == b"answers"
    assert not (tmp_path / "judging.sqlite").exists()


@pytest.mark.parametrize("replaced", [False, True])
def test_nothing_is_acknowledged_after_the_file_was_removed_or_replaced(tmp_path, study, store, replaced):
    path = tmp_path / "judging.sqlite"
    content = path.read_bytes()
    path.unlink()
    if replaced:
        (tmp_path / "other").write_bytes(content)
        (tmp_path / "other").rename(path)
    for _ in range(2):
        with pytest.raises(sqlite3.OperationalError, match="removed or replaced"):
            store.record(given("anna", "t0-1", ANSWERS, "", 4.0), 0)


def test_a_backup_is_one_file_for_its_owner_that_goes_on_where_the_study_was(tmp_path, study, store):
    copy = tmp_path / "backup.sqlite"
    assert back_up(tmp_path / "judging.sqlite", study, copy) == 1
    store.record(given("anna", "t0-1", ANSWERS, "", 4.0), 0)
    assert len(read_database(copy, study)) == 1
    assert back_up(tmp_path / "judging.sqlite", study, copy) == 2
    assert sorted(path.name for path in tmp_path.glob("*backup*")) == ["backup.sqlite"]
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    with closing(ResponseStore(copy, study)) as again:
        assert (again.responses(), again.secret) == (store.responses(), store.secret)
        assert again.progress("anna").open == ("t0-2",)


def test_a_backup_of_another_study_is_not_written(tmp_path, store):
    with pytest.raises(UserError, match="another build"):
        back_up(tmp_path / "judging.sqlite", make_study(items=2), tmp_path / "backup.sqlite")
    assert not (tmp_path / "backup.sqlite").exists()
