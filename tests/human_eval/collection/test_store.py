"""What is acknowledged is there, whatever happens; nothing counts twice."""

import os
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
from contextlib import closing
from dataclasses import replace

import pytest
from served import ANSWERS, Clock, given, make_store, make_study

from human_eval.collection.database import read_database
from human_eval.collection.store import Conflict, Refused, ResponseStore
from rlsum.errors import UserError


@pytest.fixture
def study():
    return make_study()


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def store(tmp_path, study, clock):
    opened = make_store(tmp_path, study, lease=100.0, now=clock)
    yield opened
    opened.close()


@pytest.fixture
def annas(store):
    """A store that has lent a booklet to anna."""
    store.claim("anna")
    return store


@pytest.fixture
def answered(annas):
    """A store with one answer of hers."""
    annas.record(given("anna", "t0-0", ANSWERS, "", 4.0), 0)
    return annas


def test_a_name_is_for_one_judge_whatever_its_case(store):
    """`collect` takes two such names for one person and an error, which nobody could mend in the app's database."""
    assert store.claim("anna")
    with pytest.raises(Refused, match="another name"):
        store.claim("Anna")
    assert store.claim("anna")
    assert len(store.loans()) == 1


def test_what_was_answered_stands_in_the_order_of_answering_whatever_tasks_are_called(tmp_path, study):
    named = tuple(replace(task, id=f"{name}{task.booklet}") for task, name in zip(study.tasks, "zmazma", strict=True))
    with closing(make_store(tmp_path, replace(study, tasks=named))) as store:
        store.claim("anna")
        for task in ("z0", "m0", "a0"):
            assert store.progress("anna").open[0] == task
            store.record(given("anna", task, ANSWERS, "", 1.0), 0)
            assert store.progress("anna").done[-1] == task
        assert [found.task for found in store.responses()] == ["z0", "m0", "a0"]


def test_each_judge_has_a_booklet_of_their_own_and_there_are_no_more_than_booklets(store):
    assert [store.claim(judge) for judge in ("anna", "ben", "chris", "anna")] == [True, True, False, True]
    assert {loan.judge: loan.booklet for loan in store.loans()} == {"anna": 0, "ben": 1}
    assert store.progress("chris").open == ()


def test_an_answer_sent_twice_counts_once(annas):
    for _ in range(3):
        annas.record(given("anna", "t0-0", ANSWERS, "why not", 4.0), 0)
    assert len(annas.responses()) == 1


def test_other_answers_to_the_same_revision_are_a_conflict_and_change_nothing(answered):
    with pytest.raises(Conflict):
        answered.record(given("anna", "t0-0", {**ANSWERS, "focus": "right"}, "", 4.0), 0)
    with pytest.raises(Conflict):
        answered.record(given("anna", "t0-0", ANSWERS, "", 4.0), 2)
    assert answered.latest("anna", "t0-0")[0].answers == ANSWERS


def test_a_change_replaces_the_answer_and_adds_to_its_time(answered, clock):
    clock.at += 60
    answered.record(given("anna", "t0-0", {**ANSWERS, "overall": "right"}, "better", 3.5), 1)
    (found,) = answered.responses()
    assert (found.answers, found.comment, found.seconds) == ({"focus": "left", "overall": "right"}, "better", 7.5)
    assert found.submitted == "2023-11-14T22:14:20+00:00"
    assert found.origin == "app"


def test_an_old_form_sent_again_after_a_change_changes_nothing(answered):
    answered.record(given("anna", "t0-0", {**ANSWERS, "focus": "right"}, "", 4.0), 1)
    answered.record(given("anna", "t0-0", ANSWERS, "", 4.0), 0)
    assert answered.latest("anna", "t0-0")[0].answers["focus"] == "right"


def test_a_loan_that_ran_out_goes_to_who_asks_with_what_is_open(annas, clock):
    annas.claim("ben")
    annas.record(given("anna", "t0-0", ANSWERS, "", 4.0), 0)
    clock.at += 99
    assert not annas.claim("chris")
    clock.at += 2
    assert annas.claim("chris")
    assert annas.progress("chris").open == ("t0-1", "t0-2")  # anna was silent longest... her loan began with her answer
    with pytest.raises(Refused, match="Another judge"):
        annas.record(given("anna", "t0-1", ANSWERS, "", 4.0), 0)
    assert annas.progress("anna").open == ()
    assert not annas.claim("anna")
    assert [found.task for found in annas.responses()] == ["t0-0"]


def test_a_loan_that_ran_out_stays_while_nobody_asks(annas, clock):
    clock.at += 1_000
    annas.record(given("anna", "t0-0", ANSWERS, "", 4.0), 0)
    assert annas.loans()[0].until == clock.at + 100


def test_a_clock_that_is_set_back_makes_nobody_wait_longer(store, study, clock):
    clock.at += 100_000
    names = [f"judge{number}" for number in range(len(study.booklets))]
    assert all(store.claim(name) for name in names)
    assert store.wait("late", 50) == clock.at + 50
    clock.at -= 100_000
    assert not store.claim("late")
    assert store.wait("late", 50) == clock.at + 50
    clock.at += 101
    assert store.claim("late")


def test_a_sign_of_life_keeps_the_booklet(annas, clock):
    annas.claim("ben")
    for _ in range(5):
        clock.at += 60
        for judge in ("anna", "ben"):
            assert annas.progress(judge).renewal_due
            annas.renew(judge)
            assert not annas.progress(judge).renewal_due
    assert not annas.claim("chris")


def test_a_reserved_booklet_is_not_lent_until_it_is_released(store):
    store.reserve([0])
    assert store.claim("anna")
    assert {loan.judge: loan.booklet for loan in store.loans()} == {"anna": 1}
    with pytest.raises(UserError, match="booklet 2: the app has lent it to anna"):
        store.reserve([0, 1])
    assert not store.claim("ben")
    store.release([0])
    assert store.claim("ben")


def test_a_released_loan_goes_to_the_next_judge_with_what_is_open(answered):
    answered.release([0])
    assert answered.progress("anna").stage == "lost"
    assert answered.claim("ben")
    assert answered.progress("ben").open == ("t0-1", "t0-2")


def test_a_finished_booklet_is_never_given_away(store, study, clock):
    for judge, booklet in (("anna", 0), ("ben", 1)):
        store.claim(judge)
        for task in study.booklets[booklet]:
            store.record(given(judge, task.id, ANSWERS, "", 1.0), 0)
    clock.at += 1_000
    assert not store.claim("chris")


def test_paused_takes_what_was_shown_and_closed_takes_nothing(annas):
    annas.set_state("paused")
    annas.record(given("anna", "t0-0", ANSWERS, "", 4.0), 0)
    annas.set_state("closed")
    with pytest.raises(Refused, match="closed"):
        annas.record(given("anna", "t0-1", ANSWERS, "", 4.0), 0)
    with pytest.raises(Refused, match="closed"):
        annas.record(given("anna", "t0-0", {**ANSWERS, "focus": "right"}, "", 4.0), 1)
    assert len(annas.responses()) == 1


def test_all_is_there_after_opening_again(tmp_path, study, annas):
    annas.record(given("anna", "t0-0", ANSWERS, "ünï\u202ecode", 4.0), 0)
    annas.set_state("paused")
    again = make_store(tmp_path, study)
    assert again.responses() == annas.responses()
    assert (again.state(), again.secret) == ("paused", annas.secret)
    again.close()


def test_the_database_of_another_build_is_refused(tmp_path, study, store):
    other = replace(study, tasks=study.tasks[:-1])
    with pytest.raises(UserError, match="another build"):
        make_store(tmp_path, other)
    with pytest.raises(UserError, match="another build"):
        read_database(tmp_path / "judging.sqlite", other)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("ALTER TABLE answers ADD COLUMN wind REAL", "columns of answers: id, .*, wind, not id"),
        ("ALTER TABLE answers RENAME seconds TO took", "columns of answers: .*took"),
        ("DROP TABLE practice", "columns of practice: none, not judge"),
        ("CREATE TABLE later (x)", "columns of later: x, not none"),
    ],
)
def test_the_database_of_another_version_is_refused(tmp_path, study, store, change, told):
    store.close()
    with closing(sqlite3.connect(tmp_path / "judging.sqlite")) as connection:
        connection.execute(change)
    for opened in (ResponseStore, read_database):
        with pytest.raises(UserError, match=f"made by another version of rlsum .{told}"):
            opened(tmp_path / "judging.sqlite", study)


def test_tables_of_sqlite_and_of_tools_that_copy_the_file_are_no_other_version(tmp_path, study, answered):
    answered.close()
    with closing(sqlite3.connect(tmp_path / "judging.sqlite")) as connection:
        connection.executescript("ANALYZE; CREATE TABLE _copied (at REAL)")
        assert connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_stat1'").fetchone()
    ResponseStore(tmp_path / "judging.sqlite", study).close()
    assert len(read_database(tmp_path / "judging.sqlite", study)) == 1


def test_what_is_no_database_of_a_study_is_refused_and_left_alone(tmp_path, study):
    text = tmp_path / "notes.txt"
    text.write_text("not a database, but longer than the header of one is, so that it is looked at" * 3)
    with pytest.raises(UserError, match="cannot be used"):
        ResponseStore(text, study)
    assert text.read_text().startswith("not a database")
    with sqlite3.connect(tmp_path / "other.sqlite") as other:
        other.execute("CREATE TABLE mine (x)")
    with pytest.raises(UserError, match="holds no study"):
        ResponseStore(tmp_path / "other.sqlite", study)
    with sqlite3.connect(tmp_path / "other.sqlite") as other:
        other.execute("PRAGMA user_version = 1")
    with pytest.raises(UserError, match="holds no study"):
        ResponseStore(tmp_path / "other.sqlite", study)
    with pytest.raises(UserError, match="cannot be used"):
        read_database(tmp_path / "absent.sqlite", study)
    assert not (tmp_path / "absent.sqlite").exists()


def test_the_file_can_be_read_by_its_owner_alone(tmp_path, store):
    for path in tmp_path.glob("judging.sqlite*"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path


def test_commits_are_synced_and_written_ahead(store):
    with store._database.writing() as connection:
        assert connection.execute("PRAGMA synchronous").fetchone()[0] == 2  # FULL
        assert connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"


def test_many_threads_and_two_processes_of_one_file_lend_each_booklet_once(tmp_path):
    study = make_study(booklets=12, items=2)
    stores = [make_store(tmp_path, study) for _ in range(2)]

    def judge(number):
        mine, name = stores[number % 2], f"judge-{number}"
        if not mine.claim(name):
            return
        while tasks := mine.progress(name).open:
            for _ in range(2):
                mine.record(given(name, tasks[0], ANSWERS, "", 1.0), 0)

    threads = [threading.Thread(target=judge, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = stores[0].responses()
    assert sorted(each.task for each in found) == sorted(study.by_id)
    assert len({(each.judge, study.by_id[each.task].booklet) for each in found}) == 12
    for each in stores:
        each.close()


KILLED = """
import sys; sys.path.insert(0, {support!r})
from pathlib import Path
from served import given, make_store, make_study
store = make_store(Path({folder!r}), make_study(booklets=1, items=400))
store.claim("anna")
for task in store.progress("anna").open:
    store.record(given("anna", task, {{"focus": "left", "overall": "none"}}, "", 1.0), 0)
    print(task, flush=True)
"""


def test_another_process_that_comes_and_goes_takes_nothing_with_it(tmp_path, study, annas):
    """`links` does so while `serve` runs. Had the server lost its locks, the other would remove the write-ahead log."""
    code = f"""import sys; sys.path[:0] = {sys.path!r}
from pathlib import Path
from served import make_store, make_study
make_store(Path({str(tmp_path)!r}), make_study()).close()"""
    subprocess.run([sys.executable, "-c", code], check=True)
    annas.record(given("anna", "t0-0", ANSWERS, "", 1.0), 0)
    code = code.replace("make_store(Path", "print(len(make_store(Path").replace(".close()", ".responses()))")
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert found.stdout.strip() == "1"


def test_killed_in_the_middle_of_writing_everything_acknowledged_is_there(tmp_path):
    support = os.path.join(os.path.dirname(__file__), "..", "..", "support")
    acknowledged = []
    for stop in (40, 90, 130):
        code = KILLED.format(support=support, folder=str(tmp_path))
        with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
            while len(acknowledged) < stop:
                acknowledged.append(process.stdout.readline().strip())
            process.send_signal(signal.SIGKILL)
            acknowledged += [line for line in process.stdout.read().split("\n")[:-1] if line]
    store = make_store(tmp_path, make_study(booklets=1, items=400))
    kept = [found.task for found in store.responses()]
    store.close()
    assert len(set(kept)) == len(kept)
    assert set(acknowledged) <= set(kept)
    assert len(kept) - len(acknowledged) <= 3  # one a kill may have been written before it was told
