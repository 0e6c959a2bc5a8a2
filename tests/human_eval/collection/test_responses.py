import json
from dataclasses import replace

import pytest
from studies import study

from human_eval.collection.responses import Response, fault, read_responses, write_responses
from human_eval.study import StudyError
from rlsum.errors import RecordError

BLIND, _ = study()
ANSWERS = dict.fromkeys((criterion.id for criterion in BLIND.criteria), "left")
GOOD = Response(BLIND.id, BLIND.tasks[0].id, "ann", ANSWERS, "gut 👍", 12.5, "2024-01-05T10:00:00Z", "app")


def test_what_was_written_is_read(tmp_path):
    responses = [GOOD, replace(GOOD, judge="bo", seconds=None, submitted=None, comment="", origin="csv")]
    write_responses(tmp_path / "judgments.jsonl", responses)
    assert read_responses(tmp_path / "judgments.jsonl", BLIND) == responses


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"study": "s0"}, "of another study: 's0'"),
        ({"task": "t0"}, "unknown task: 't0'"),
        ({"judge": "  "}, "no judge"),
        ({"judge": "\ud800"}, "not valid Unicode"),
        ({"seconds": float("nan")}, "seconds must be a number from 0 to 2592000: nan"),
        ({"seconds": -1.0}, "seconds must be a number from 0 to 2592000: -1"),
        ({"submitted": "yesterday"}, "submitted must be an ISO time"),
        ({"submitted": "2024-01-05T10:00:00"}, "submitted must be an ISO time with its zone"),
        ({"submitted": "2099-01-05T10:00:00Z"}, "in the future"),
        ({"submitted": "1970-01-05T10:00:00Z"}, "before 2000"),
        ({"answers": ANSWERS | {"style": "left"}}, "unknown criterion: 'style'"),
        ({"answers": {"overall": "left"}}, "not fully answered: non-redundancy, coherence, focus"),
        ({"answers": ANSWERS | {"focus": "A"}}, "unknown answer: 'A' for focus"),
        ({"answers": ANSWERS | {"focus": ["left"]}}, "unknown answer"),
    ],
)
def test_a_judgment_that_cannot_count(change, told):
    assert fault(GOOD, BLIND) == ""
    assert told in fault(replace(GOOD, **change), BLIND)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"answers": "left"}, "answers must be an object"),
        ({"seconds": "3"}, "seconds must be a number"),
        ({"seconds": True}, "seconds must be a number"),
        ({"seconds": 10**400}, "seconds must be a number from 0"),
        ({"submitted": 3}, "submitted must be text"),
        ({"comment": 3}, "comment must be text"),
        ({"judge": None}, "no 'judge'"),
        ({"origin": "fax"}, "origin must be 'app'"),
        ({"task": "t0"}, "unknown task"),
    ],
)
def test_a_file_with_a_bad_line_is_refused_with_its_number(tmp_path, change, told):
    path = tmp_path / "judgments.jsonl"
    path.write_text(GOOD.to_json() + "\n" + json.dumps(json.loads(GOOD.to_json()) | change) + "\n")
    with pytest.raises(StudyError, match=rf"judgments\.jsonl:2: .*{told}"):
        read_responses(path, BLIND)


def test_one_judge_and_task_in_two_lines_is_refused(tmp_path):
    write_responses(tmp_path / "j.jsonl", [GOOD, GOOD])
    with pytest.raises(StudyError, match=r"j\.jsonl:2: same judge and task as .*j\.jsonl:1"):
        read_responses(tmp_path / "j.jsonl", BLIND)


def test_no_file_and_no_judgments_are_said(tmp_path):
    with pytest.raises(RecordError, match="cannot be read"):
        read_responses(tmp_path / "none.jsonl", BLIND)
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(StudyError, match="no judgments"):
        read_responses(tmp_path / "empty.jsonl", BLIND)
