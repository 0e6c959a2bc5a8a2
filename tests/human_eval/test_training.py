"""The file of a training round, and the study that holds it."""

from dataclasses import replace

import pytest
import yaml
from served import ASKED, TRAINING, make_study
from studies import aligned

from human_eval.collection.responses import Response, fault
from human_eval.criteria import DEFAULT, MARKING, StudyWording, standard
from human_eval.design.build import build
from human_eval.design.design import StudyDesign
from human_eval.files import read_study, write_study
from human_eval.study import PracticeTask, StudyError
from human_eval.training import marks, read_training

TASK = {"article": "a", "left": "b", "right": "c", "answers": {"overall": "left", "focus": ["none", "right"]}}


def written(path, content):
    file = path / "training.yaml"
    file.write_text(yaml.safe_dump(content))
    return file


def test_a_file_is_read_with_its_defaults(tmp_path):
    training = read_training(written(tmp_path, {"tasks": [{**TASK, "explanation": " why "}]}), ASKED)
    assert (training.pass_mark, training.attempts) == (0.75, 2)
    (task,) = training.by_id.values()
    assert (task.answers, task.explanation) == ({"overall": ("left",), "focus": ("none", "right")}, "why")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"pass_mark": 0}, "pass_mark 0"),
        ({"pass_mark": 75}, "pass_mark 75"),
        ({"attempts": 0}, "attempts 0"),
        ({"tasks": []}, "no tasks"),
        ({"retries": 1}, "'retries'"),
        ({"tasks": [{**TASK, "answers": {"beauty": "left"}}]}, "task 1: answers: unknown criterion 'beauty'"),
        ({"tasks": [{**TASK, "answers": {"overall": "A"}}]}, "overall: 'A'"),
        ({"tasks": [{**TASK, "answers": {}}]}, "none is known"),
        ({"tasks": [{"article": "a"}]}, "task 1: no 'left'"),
    ],
)
def test_what_is_wrong_with_a_file_is_named(tmp_path, change, told):
    with pytest.raises(StudyError, match=told):
        read_training(written(tmp_path, {"tasks": [TASK], **change}), ASKED)


MARKED = {"article": "a", "left": "No roof, no roof.", "right": "Three people died.", "answers": {}}


def test_errors_of_a_practice_task_are_found_in_its_words(tmp_path):
    errors = [{"summary": "B", "words": "people died", "kind": "hallucinated"}, {"summary": "A", "kind": "omitted"}]
    file = written(tmp_path, {"tasks": [{**MARKED, "answers": {"errors": errors}}]})
    (task,) = read_training(file, (), MARKING).tasks
    assert task.answers == {"errors": ("A:omitted B:6-17:hallucinated",)}


@pytest.mark.parametrize(
    ("error", "told"),
    [
        ({"summary": "B", "words": "nobody", "kind": "hallucinated"}, "'nobody' is 0 times"),
        ({"summary": "A", "words": "roof", "kind": "hallucinated"}, "2 times in summary A"),
        ({"summary": "C", "words": "a", "kind": "hallucinated"}, "expected one of AB"),
        ({"summary": "B", "words": "died", "kind": "lie"}, "unknown category 'lie'"),
        ({"summary": "B", "kind": "hallucinated"}, "is about some words"),
        ("none", "errors must be a list"),
    ],
)
def test_what_is_wrong_with_known_errors_is_named(tmp_path, error, told):
    given = error if isinstance(error, str) else [error]
    with pytest.raises(StudyError, match=told):
        read_training(written(tmp_path, {"tasks": [{**MARKED, "answers": {"errors": given}}]}), (), MARKING)


def test_a_practice_task_has_as_many_summaries_as_its_answers_take(tmp_path):
    asked = standard("best-worst", 3).criteria
    task = {**TASK, "answers": {"overall": "A B"}}
    with pytest.raises(StudyError, match="2 summaries; non-redundancy takes 3 to 5"):
        read_training(written(tmp_path, {"tasks": [task]}), asked)
    (read,) = read_training(written(tmp_path, {"tasks": [{**task, "more": ["d"]}]}), asked).tasks
    study = make_study(training=replace(TRAINING, tasks=(read,)))
    assert study.shown("practice-1")[1].texts == ("b", "c", "d")
    write_study(tmp_path, study)
    assert read_study(tmp_path) == study


def test_marked_errors_are_right_if_they_share_words_and_kind():
    task = PracticeTask("", "", "", {"errors": ("A:omitted B:6-17:hallucinated",)})
    for given, right in {
        "A:omitted B:0-12:hallucinated": True,
        "A:omitted B:6-12:hallucinated B:13-17:hallucinated": True,
        "A:omitted B:6-17:wrong-entity": False,
        "B:6-17:hallucinated": False,
        "A:omitted B:0-5:hallucinated": False,
        "A:0-2:hallucinated A:omitted B:6-17:hallucinated": False,
        "none": False,
    }.items():
        assert marks(task, {"errors": given}) == {"errors": right}, given


def test_right_answers_are_marked():
    task = PracticeTask("", "", "", {"overall": ("left",), "focus": ("none", "right")})
    assert marks(task, {"overall": "right", "focus": "right"}) == {"overall": False, "focus": True}


def test_a_study_keeps_its_training_and_one_without_is_as_before(tmp_path):
    training = replace(TRAINING, tasks=tuple(replace(task, answers={"overall": ("left",)}) for task in TRAINING.tasks))
    plain, _ = build(aligned(), StudyDesign(items=6, booklet=3), StudyWording(), 1)
    trained, _ = build(aligned(), StudyDesign(items=6, booklet=3), StudyWording(training=training), 1)
    assert plain.criteria == trained.criteria == DEFAULT
    assert plain.id != trained.id
    write_study(tmp_path, trained)
    assert read_study(tmp_path) == trained


def test_judgments_of_a_trained_study_come_from_the_app_alone():
    study = make_study(training=TRAINING)
    response = Response("study-1", "t0-0", "anna", {"focus": "left", "overall": "left"})
    assert fault(response, study) == ""
    assert "training" in fault(replace(response, origin="offline"), study)
    assert "unknown task" in fault(replace(response, task="practice-1"), study)
