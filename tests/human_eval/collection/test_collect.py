import math
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows_of
from studies import study

from human_eval.collection.collect import collect, reasons, suspicions, write_rejects
from human_eval.collection.responses import Response
from human_eval.collection.returns import ReturnedRow
from human_eval.study import StudyError

BLIND, KEY = study()
FIRST, SECOND = BLIND.booklets[0][:2]


def judged(task=FIRST.id, judge="ann", answer="left", submitted=None):
    answers = dict.fromkeys((criterion.id for criterion in BLIND.criteria), answer)
    return Response(BLIND.id, task, judge, answers, submitted=submitted, origin="csv")


def returned(*responses):
    return [ReturnedRow(f"f:{n}", response, {"n": n}, f"f{n}") for n, response in enumerate(responses, 1)]


def test_good_rows_are_kept_in_the_order_of_the_study():
    found = collect(BLIND, returned(judged(SECOND.id), judged(elsewhere().id, "bo"), judged()))
    kept = [(row.task, row.judge) for row in found.responses]
    assert kept == [(FIRST.id, "ann"), (SECOND.id, "ann"), (elsewhere().id, "bo")]
    assert found.rejects == ()


def test_bad_rows_are_rejected_with_place_and_reason():
    found = collect(BLIND, returned("not JSON", judged("t0"), replace(judged(), study="s0"), judged(answer="A")))
    assert found.responses == ()
    assert [(row.where, row.reason.split(":")[0]) for row in found.rejects] == [
        ("f:1", "not JSON"),
        ("f:2", "unknown task"),
        ("f:3", "of another study"),
        ("f:4", "unknown answer"),
    ]


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [
        (None, None, "f:2"),
        ("2024-01-01T10:00:00Z", "2024-01-01T11:00:00Z", "f:2"),
        ("2024-01-01T10:00:00Z", "2024-01-01T10:30:00+01:00", "f:1"),  # half an hour earlier
        ("2024-01-01T10:00:00Z", None, "f:2"),
    ],
)
def test_of_two_answers_to_a_task_the_later_counts(first, second, kept):
    rows = returned(judged(submitted=first), judged(answer="right", submitted=second))
    found = collect(BLIND, rows)
    (response,), (reject,) = found.responses, found.rejects
    assert response.answers["overall"] == ("right" if kept == "f:2" else "left")
    when = "later" if first and second else "in a file that was read later"
    assert reject.reason == f"answered again {when}: {kept} counts"


def signed_in(row):
    return ReturnedRow("app", row, {"n": 0}, "judging.sqlite", signed_in=True)


@pytest.mark.parametrize("time", ["2024-01-03T10:00:00Z", "2023-01-01T10:00:00Z", None])
def test_what_a_judge_answered_in_the_app_counts_before_a_file_of_that_name(time):
    in_app = signed_in(judged(submitted="2024-01-02T10:00:00Z"))
    for task in (FIRST.id, elsewhere().id):
        (file,) = returned(judged(task, answer="right", submitted=time))
        for rows in ((in_app, file), (file, in_app)):
            found = collect(BLIND, rows)
            assert [row.answers["overall"] for row in found.responses] == ["left"]
            assert "app counts" in found.rejects[0].reason


@given(st.permutations(range(3)), st.sampled_from([None, "ann", "cy"]))
def test_a_booklet_under_several_names_counts_as_its_owner_says_in_any_order_and_the_card_says_so(order, owner):
    """Ten booklets of coin tosses, one copied seven times, were "alpha is preferred, p = .022"."""
    files = [[judged(task.id, name) for task in BLIND.booklets[0]] for name in ("ann", "bo", "cy")]
    whose = {0: owner} if owner else {}
    found = collect(BLIND, returned(*(row for number in order for row in files[number])), whose=whose)
    tasks = {task.id for task in BLIND.booklets[0]}
    assert {(row.task, row.judge) for row in found.responses} == ({(task, owner) for task in tasks} if owner else set())
    earlier = collect(BLIND, returned(*files[order[0]])).responses
    later = collect(BLIND, returned(*earlier, *files[order[1]], *files[order[2]]), whose=whose)
    assert later.responses == found.responses
    with tempfile.TemporaryDirectory() as folder:
        write_rejects(Path(folder) / "r.jsonl", found.rejects)
        told = suspicions(Path(folder) / "r.jsonl")
    assert len(told) == (2 if owner else 1)
    assert f"'bo' returned booklet 1, which is that of '{owner}'" in "".join(told) or not owner
    assert "booklet 1 came back under 'ann' and 'bo' and 'cy'" in told[0] or owner


def test_each_row_of_a_booklet_under_many_names_tells_a_few_of_them():
    """Of 1,000 names each row told all: gigabytes."""
    found = collect(BLIND, returned(*(judged(BLIND.tasks[0].id, f"judge {n:03}") for n in range(1_000))))
    assert len(found.rejects) == 1_000
    told = "booklet 1 came back under 'judge 000' and 'judge 001' and 'judge 002' and 997 others; say whose"
    assert all(told in row.reason for row in found.rejects)


def test_who_owns_a_booklet_is_one_of_its_names_and_in_the_app_whoever_answered_it_there():
    copies = [judged(task.id, name) for name in ("ann", "bo") for task in BLIND.booklets[0]]
    with pytest.raises(StudyError, match="--whose 1=zoe: that booklet came back under ann, bo; give a name of these"):
        collect(BLIND, returned(*copies), whose={0: "zoe"})
    with pytest.raises(StudyError, match="--whose 2=bo: that booklet came back under no name"):
        collect(BLIND, returned(*copies), whose={1: "bo"})
    app = replace(judged(judge="cy"), origin="app")
    assert collect(BLIND, returned(app, *copies[-1:])).responses == (app,)
    assert len(collect(BLIND, returned(app, *copies[-1:]), {0}).responses) == 2  # the rest of the booklet was exported
    turk = [replace(row, origin="mturk") for row in copies]  # every assignment is another worker's
    assert len(collect(BLIND, returned(*turk)).responses) == len(copies)


def test_a_booklet_that_was_never_handed_out_does_not_count(tmp_path):
    rows = returned(judged(), judged(elsewhere().id, "bo"))
    assert len(collect(BLIND, rows).responses) == len(collect(BLIND, rows, {0, elsewhere().booklet}).responses) == 2
    found = collect(BLIND, rows, {0})
    assert [row.judge for row in found.responses] == ["ann"]
    write_rejects(tmp_path / "r.jsonl", found.rejects)
    assert "'bo' returned booklet" in suspicions(tmp_path / "r.jsonl")[0]


@pytest.mark.parametrize("time", [{"seconds": 1e300}, {"seconds": -1.0}, {"seconds": math.nan}, {"submitted": "soon"}])
def test_of_a_judgment_whose_time_cannot_be_only_the_time_goes(time):
    found = collect(BLIND, returned(replace(judged(), **time)))
    assert [(row.seconds, row.submitted) for row in found.responses] == [(None, None)]
    assert (found.rejects, found.untimed) == ((), 1)


@pytest.mark.parametrize(
    "name",
    [
        "Ann",
        "\uff21nn",
        "ANN ",
        "an\u200bn",
        "ann\u3164",
        "\ufeffann",
        "ann\ufe0f",
        "ann\u2800",
        "a\u200dnn",
        "\u0410nn",
    ],
)
def test_two_names_that_one_person_may_have_written_are_refused(name):
    with pytest.raises(StudyError, match="write one name"):
        collect(BLIND, returned(judged(), judged(elsewhere().id, name)))


@pytest.mark.parametrize("name", ["b" * 201, "b\no", "\u202ebo", "b\x00o", "b\u2028o"])
def test_what_is_no_name_spoils_no_card(name):
    found = collect(BLIND, returned(judged(judge=name), judged(judge="b" * 200)))
    assert [row.reason.split(":")[0] for row in found.rejects] == ["no name"]
    assert len(found.responses) == 1


def test_what_says_that_it_is_from_the_app_is_in_its_database(tmp_path):
    """Seven copies in a .jsonl counted as seven judges, and who had withdrawn came back from an older file."""
    rows = [replace(judged(judge=name), origin="app") for name in ("ann", "copy")]
    assert len(collect(BLIND, returned(*rows)).responses) == 2  # without a database, nothing is known
    found = collect(BLIND, returned(*rows), in_app={("ann", FIRST.id)})
    assert [row.judge for row in found.responses] == ["ann"]
    assert not collect(BLIND, returned(*rows), in_app=set()).responses, "of a database in which nobody answered"
    write_rejects(tmp_path / "r.jsonl", found.rejects)
    assert suspicions(tmp_path / "r.jsonl") == [
        "not counted: said to be from the app, whose database has no such answer (1 judgment)"
    ]


def test_a_spreadsheet_of_all_booklets_does_not_count():
    tasks = [booklet[0].id for booklet in BLIND.booklets]
    found = collect(BLIND, [row._replace(file="a.csv") for row in returned(*map(judged, tasks))])
    assert (found.responses, len(found.rejects)) == ((), len(tasks))
    apart = [row._replace(file=row.where) for row in returned(judged(tasks[0]), judged(tasks[1], "bo"))]
    assert len(collect(BLIND, apart).responses) == 2


def test_the_same_file_twice_changes_nothing():
    rows = returned(judged(), judged(SECOND.id))
    found = collect(BLIND, [*rows, *rows])
    assert found.responses == collect(BLIND, rows).responses
    assert reasons(found.rejects) == [("the same answers again", 2, "f:1")]


def elsewhere():
    """The task of another booklet that shows what FIRST shows, whatever the sides."""
    return next(
        task
        for task in BLIND.tasks
        if task.item == FIRST.item and task.booklet != FIRST.booklet and {task.left} <= {FIRST.left, FIRST.right}
    )


def test_a_judge_counts_once_for_a_pair_even_with_two_booklets():
    assert KEY.tasks[FIRST.id].kind == "pair"
    rows = returned(judged(elsewhere().id, submitted="2024-01-02T10:00:00Z"), judged(submitted="2024-01-01T10:00:00Z"))
    found = collect(BLIND, rows)
    assert [row.task for row in found.responses] == [FIRST.id]
    assert found.rejects[0].reason == "same judge, same summaries in another booklet: f:2 counts"


def test_a_swapped_repeat_in_the_same_booklet_is_no_repetition():
    repeat, secret = next((task, secret) for task, secret in KEY.tasks.items() if secret.kind == "swapped")
    found = collect(BLIND, returned(judged(secret.repeats), judged(repeat, answer="right")))
    assert len(found.responses) == 2


rows = st.lists(
    st.one_of(
        st.just("not JSON"),
        st.builds(
            judged,
            st.sampled_from([*BLIND.by_id, "t0"]),
            st.sampled_from(["ann", " ann", "bo", ""]),
            st.sampled_from(["left", "none", "A"]),
            st.sampled_from([None, "2024-01-01T10:00:00Z", "2024-01-02T10:00:00+02:00", "soon"]),
        ),
    ),
    max_size=40,
)


@given(rows)
def test_every_row_is_a_judgment_or_a_reject(rows):
    given = returned(*rows)
    found = collect(BLIND, given)
    assert len(found.responses) + len(found.rejects) == len(given)
    assert max(Counter((row.judge, row.task) for row in found.responses).values(), default=1) == 1
    assert all(reject.reason and reject.raw for reject in found.rejects)


def test_rejects_are_written_with_what_they_said(tmp_path):
    found = collect(BLIND, [ReturnedRow("f:1", "not JSON", {"judge": "\ud800"})])
    write_rejects(tmp_path / "r.jsonl", found.rejects)
    (row,) = rows_of(tmp_path / "r.jsonl")
    assert row == {"where": "f:1", "reason": "not JSON", "raw": {"judge": "\ud800"}}
