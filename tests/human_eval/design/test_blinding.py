from dataclasses import replace

import pytest
from studies import NAMES, aligned, study

from human_eval.criteria import StudyWording
from human_eval.design.blinding import named_in, naming_note, naming_tasks
from human_eval.design.build import build
from human_eval.design.design import StudyDesign


@pytest.mark.parametrize("text", ["by SMS model", "(sms model)", "sms model: it fell"])
def test_a_name_is_found_as_a_word_of_its_own(text):
    assert named_in(text, ["sms model", "other"]) == ["sms model"]


@pytest.mark.parametrize("text", ["sms models", "models of sms", "", "x(y"])
def test_parts_of_words_are_no_names(text):
    assert named_in(text, ["sms model", "(("]) == []


def test_a_name_in_a_script_without_spaces_is_found_anywhere():
    assert named_in("据甲系统报道", ["甲系统", "乙系统"]) == ["甲系统"]
    assert named_in("乙亥年", ["乙"]) == []  # as short as a letter


def test_very_short_names_forbid_no_wording():
    outputs = aligned(8, 2)
    letters = dict(zip(outputs.systems, "AB", strict=True))
    texts = {item: {letters[name]: text for name, text in of.items()} for item, of in outputs.candidates.items()}
    short = replace(outputs, systems=tuple(letters.values()), candidates=texts)
    made, key = build(short, StudyDesign(items=4), StudyWording(title="A study of summaries A and B"), 1)
    assert key.systems == ("A", "B")
    assert not naming_tasks(made, key.systems)


def test_tasks_that_name_a_system_are_told():
    made, key = study()
    assert not naming_tasks(made, key.systems)
    named = [replace(task, right=f"As {NAMES[0]} I say") if n < 4 else task for n, task in enumerate(made.tasks)]
    found = naming_tasks(replace(made, tasks=tuple(named)), key.systems)
    assert tuple(found) == tuple(task.id for task in made.tasks[:4])
    assert naming_note(found).startswith("in 4 tasks")
    assert naming_note(found).endswith(f"({', '.join(list(found)[:3])}, ...)")
