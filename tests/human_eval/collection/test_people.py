"""People who agree, go, or are sent away, and what is left of them in the file."""

from contextlib import closing

import pytest
from served import ANSWERS, Clock, given, make_store, make_study

from human_eval.collection.store import Refused


@pytest.fixture
def store(tmp_path):
    with closing(make_store(tmp_path, make_study(), lease=100.0, now=Clock())) as opened:
        yield opened


def begun(store, judge):
    store.people.enrol(judge, {"age": f"forty-two of {judge}"}, "phone")
    store.claim(judge)
    store.record(given(judge, "t0-0", ANSWERS, f"comment of {judge}", 4.0), 0)


def test_a_person_is_what_they_told_and_did(store):
    begun(store, "anna")
    store.people.enrol("anna", {"age": "1"}, "computer")  # the first time counts
    (anna,) = store.people.all()
    assert (anna.about, anna.device, anna.barred, anna.booklet) == ({"age": "forty-two of anna"}, "phone", "", 0)
    assert anna.enrolled == anna.joined == anna.seen == 1_700_000_000.0


def test_the_answers_of_who_withdraws_are_gone_from_the_file_and_the_tasks_are_open(tmp_path, store):
    begun(store, "anna")
    store.people.bar("anna", "withdrew")
    assert store.responses() == []
    assert store.progress("anna").stage == "barred"
    assert not store.claim("anna")
    assert store.claim("ben")
    assert store.progress("ben").open[0] == "t0-0"
    (anna, _) = store.people.all()
    assert (anna.barred, anna.about, anna.joined) == ("withdrew", {}, None)
    store.close()
    content = (tmp_path / "judging.sqlite").read_bytes()
    assert b"forty-two of anna" not in content
    assert b"comment of anna" not in content


def test_of_who_withdraws_no_table_keeps_more_than_the_name(store):
    begun(store, "anna")
    with store.people._database.writing() as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        columns = {table: [row[1:3] for row in connection.execute(f"PRAGMA table_info({table})")] for table in tables}
        of_judges = {table: kinds for table, kinds in columns.items() if "judge" in dict(kinds)}
        for table, kinds in of_judges.items():
            row = ["anna" if name == "judge" else 77 if kind != "TEXT" else "secret" for name, kind in kinds]
            connection.execute(f"INSERT OR REPLACE INTO {table} VALUES ({', '.join('?' * len(row))})", row)
    store.people.bar("anna", "withdrew")
    with store.people._database.reading() as connection:
        kept = {
            table for table in of_judges if connection.execute(f"SELECT 1 FROM {table} WHERE judge = 'anna'").fetchone()
        }
    assert kept == {"barred", "returned"}


def test_who_is_banned_keeps_the_answers_and_gives_none(store):
    begun(store, "anna")
    store.people.bar("anna", "banned")
    assert len(store.responses()) == 1
    for task, revision in (("t0-1", 0), ("t0-0", 1)):
        with pytest.raises(Refused, match="do not take part"):
            store.record(given("anna", task, {**ANSWERS, "focus": "right"}, "", 1.0), revision)
    assert store.claim("ben")
    assert store.progress("ben").open == ("t0-1", "t0-2")
    store.people.admit("anna")
    assert store.progress("anna").stage == "lost"
    store.people.bar("ben", "banned")
    store.people.admit("ben")
    assert store.progress("ben").open == ("t0-1", "t0-2"), "nobody took it over meanwhile"


@pytest.mark.parametrize("reason", ["failed checks", "screened out", "not qualified", "banned"])
def test_who_was_barred_and_then_stops_stays_barred_for_the_first_reason(store, reason):
    begun(store, "anna")
    store.people.bar("anna", reason)
    store.people.bar("anna", "stopped")
    assert store.people.barred("anna") == reason
    store.people.bar("anna", "withdrew")
    assert store.people.barred("anna") == "withdrew"


def test_a_page_left_open_stores_nothing_of_who_has_withdrawn(store):
    begun(store, "anna")
    store.people.bar("anna", "withdrew")
    store.people.enrol("anna", {"age": "again"}, "phone")
    assert store.show("anna", "t0-0", 0) == 1_700_000_000.0
    (anna,) = store.people.all()
    assert (anna.enrolled, anna.about) == (None, {})
    store.people.admit("anna")
    store._now.at += 60
    assert store.show("anna", "t0-0", 0) == 1_700_000_060.0  # nothing was noted
