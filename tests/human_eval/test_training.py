"""The file of a training round, and the study that holds it."""

from __future__ import annotations

from dataclasses import replace

import pytest
import yaml
from served import ASKED, TRAINING, make_study
from studies import aligned

from human_eval.collection.responses import Response, fault
from human_eval.criteria import DEFAULT, StudyWording
from human_eval.design.build import StudyDesign, build
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
