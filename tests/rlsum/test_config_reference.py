"""Every key of a configuration is explained, with the default that it has."""

from __future__ import annotations

import dataclasses

import pytest
from typer.testing import CliRunner

from rlsum import config_reference as reference
from rlsum.cli.app import app


@pytest.mark.parametrize("section", reference.SECTIONS)
def test_every_key_is_explained(section):
    kind = reference.SECTIONS[section]
    fields = [field.name for field in dataclasses.fields(kind)]
    explained = reference.explained(kind)
    sections = {name.partition(" ")[0] for name in reference.SECTIONS}
    assert set(fields) - sections <= set(explained) | {"run"}, "a key without a line in the docstring"
    assert set(explained) <= set(fields), "a line for a key that does not exist"
    assert all(key.meaning and key.default for key in reference.keys(section))


def test_defaults_and_values_are_those_of_the_fields():
    keys = {key.name: key for section in ("objective", "data", "run") for key in reference.keys(section)}
    assert keys["gamma"].default == "0.97"
    assert keys["margin"].default == "0.001"
    assert keys["ratio"].values == ("token", "sequence")
    assert keys["control"].values == ("constant", "shuffled")
    assert keys["columns"].default == "[]"
    assert keys["train"].default == "required"
    assert keys["metrics"].default == "[rouge-1, rouge-2, rouge-l]"


def test_a_meaning_of_several_lines_and_keys_of_one_line():
    @dataclasses.dataclass
    class Section:
        """Some keys.

        one, two  first line
                  second line
        three     alone

        More text.
        """

    assert reference.explained(Section) == {
        "one": "first line second line",
        "two": "first line second line",
        "three": "alone",
    }


def test_the_command_prints_a_section_and_refuses_an_unknown_one():
    shown = CliRunner().invoke(app, ["train", "--keys", "sampling"])
    assert shown.exit_code == 0
    assert all(field in shown.output for field in ("temperature", "top_k", "default none"))
    models = CliRunner().invoke(app, ["train", "--keys", "model"]).output
    assert "hidden" in models
    assert "gradient_checkpointing" in models
    wrong = CliRunner().invoke(app, ["train", "--keys", "trainign"])
    assert wrong.exit_code != 0
    assert "did you mean 'training'" in str(wrong.exception) + wrong.output
