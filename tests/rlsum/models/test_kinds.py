"""The table of the kinds of models: a row answers everything, and one kind loads nothing of another."""

import inspect
import subprocess
import sys
from importlib import import_module

import pytest
from kinds import TINY

from rlsum.config import check
from rlsum.models.kinds import DEFAULT, KINDS
from rlsum.training.start.origin import Start

assert TINY.keys() == KINDS.keys(), "tests/support/kinds.py has a row for every kind"
ROOMS = {name: kind.options.__module__.removesuffix(".options") for name, kind in KINDS.items()}


@pytest.mark.parametrize("name", KINDS)
def test_a_kind_loads_nothing_of_another_but_its_options(name):
    code = f"import sys, {ROOMS[name]}, {KINDS[name].start}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert ROOMS[name] in loaded
    for other in set(ROOMS.values()) - {ROOMS[name]}:
        assert {module for module in loaded if module.startswith(other)} <= {other, f"{other}.options"}


@pytest.mark.parametrize("name", KINDS)
def test_the_module_of_a_kind_answers_what_is_asked_of_it(name):
    start = import_module(KINDS[name].start).START
    for question, declared in inspect.getmembers(Start, inspect.isfunction):
        if not question.startswith("_"):
            asked = list(inspect.signature(declared).parameters)[1:]
            assert list(inspect.signature(getattr(start, question)).parameters) == asked, question


@pytest.mark.parametrize("name", KINDS)
def test_a_section_is_of_the_kind_that_it_names(name):
    values = {"run": "r", "data": {"train": "a", "valid": "b"}, "training": {"steps": 1}}
    section = check({**values, "model": {"kind": name, **TINY[name].needs}}, "it").model
    assert type(section) is KINDS[name].options
    assert section.kind == name
    assert type(check({**values, "model": {}}, "it").model) is KINDS[DEFAULT].options
