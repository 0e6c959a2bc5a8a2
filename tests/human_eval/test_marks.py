"""Marks of errors: words, answers, and what is wrong with an answer."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from served import make_study

from human_eval.collection.responses import Response, fault
from human_eval.criteria import MARKING, read_marking
from human_eval.files import read_study, write_study
from human_eval.marks import CATEGORIES, Mark, length, parsed, words, written
from human_eval.marks import fault as marks_fault
from human_eval.study import StudyError

TEXTS = ("Ann met Bob .", "\U0001f600 caf\u00e9 closed")


@given(st.text())
def test_words_and_what_is_between_are_the_text(text):
    found = words(text)
    shown = "".join(word.before + word.text for word in found)
    assert text.startswith(shown)
    assert not text[len(shown) :].strip()
    assert all(text[word.start : word.end] == word.text for word in found)


def test_words_without_spaces_are_characters_with_the_punctuation_after_them():
    text = "記者A1は、東京へ。 Bob 한국어"
    assert length(text) == len(words(text))
    assert [word.text for word in words(text)] == ["記", "者", "A1", "は、", "東", "京", "へ。", "Bob", "한국어"]


def test_offsets_count_code_points():
    assert [(word.text, word.start, word.end) for word in words(TEXTS[1])][1] == ("caf\u00e9", 2, 6)


def test_an_answer_is_read_as_it_was_written():
    marks = [Mark(1, 2, 6, "hallucinated"), Mark(0, 0, 0, "omitted"), Mark(0, 8, 11, "wrong-entity")]
    answer = written(marks)
    assert answer == "A:omitted A:8-11:wrong-entity B:2-6:hallucinated"
    assert parsed(answer) == sorted(marks)
    assert marks_fault(answer, TEXTS, CATEGORIES) == ""
    assert (written([]), parsed("none"), marks_fault("none", TEXTS, CATEGORIES)) == ("none", [], "")


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("", "no mark"),
        (None, "no mark"),
        ("A:0-3", "no mark"),
        ("A:0-3:beauty", "unknown category"),
        ("C:0-3:hallucinated", "none of the 2"),
        ("A:0-14:hallucinated", "not within its summary of 13"),
        ("A:3-3:hallucinated", "not within"),
        ("A:hallucinated", "about some words"),
        ("A:0-3:omitted", "about the whole"),
        ("B:0-1:hallucinated A:0-3:hallucinated", "not in order"),
        ("A:0-3:hallucinated A:0-3:hallucinated", "repeated"),
        (" ".join(f"A:0-{n}:hallucinated" for n in range(1, 202)), "more than 200"),
    ],
)
def test_what_is_wrong_with_an_answer_is_said(answer, told):
    assert told in marks_fault(answer, TEXTS, CATEGORIES)


def test_own_categories_are_read_and_wrong_ones_named(tmp_path):
    path = tmp_path / "kinds.yaml"
    path.write_text(yaml.safe_dump([{"id": "style", "label": "Style"}, {"id": "gap", "label": "Gap", "whole": True}]))
    assert [(kind.id, kind.whole) for kind in read_marking(str(path)).categories] == [("style", False), ("gap", True)]
    assert read_marking("standard") == MARKING
    for content, told in (
        ([{"id": f"a-{n}", "label": "A"} for n in range(10)], "at most 9"),
        ([{"id": "style"}], "category 1"),
    ):
        path.write_text(yaml.safe_dump(content))
        with pytest.raises(StudyError, match=told):
            read_marking(str(path))


def test_a_study_keeps_its_marking_and_responses_need_valid_marks(tmp_path):
    study = make_study(marking=MARKING, criteria=())
    write_study(tmp_path, study)
    assert read_study(tmp_path) == study
    response = Response("study-1", "t0-0", "anna", {"errors": "A:0-5:hallucinated"})
    assert fault(response, study) == ""
    for answers, told in (({}, "not fully answered: errors"), ({"errors": "A:0-99:hallucinated"}, "unknown marks")):
        assert told in fault(Response("study-1", "t0-0", "anna", answers), study)
