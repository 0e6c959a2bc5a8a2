"""Every key of a configuration is explained, with the default and range that it has."""

from typing import get_args

import pytest
from typer.testing import CliRunner

from rlsum import config_reference as reference
from rlsum.cli.app import app
from rlsum.objective import Control


@pytest.mark.parametrize("section", reference.SECTIONS)
def test_every_key_is_explained(section):
    sections = {part for name in reference.SECTIONS for part in name.partition(" ")[0].split(".")} - {"run"}
    explained = {key.name for key in reference.keys(section) if key.meaning and key.default}
    assert set(reference.SECTIONS[section].__pydantic_fields__) - explained <= sections


def test_defaults_values_and_ranges_are_those_of_the_fields():
    keys = {key.name: key for section in ("objective", "data", "run", "training") for key in reference.keys(section)}
    defaults = {"gamma": "0.97", "margin": "0.001", "columns": "[]", "train": "required", "row_noise": "none"}
    defaults |= {"metrics": "[rouge-1, rouge-2, rouge-l]", "lowercase": "false"}
    assert {name: keys[name].default for name in defaults} == defaults
    ranges = {"gamma": ">= 0, <= 1", "gamma_end": ">= 0, <= 1", "reward_scale": "> 0", "control": "", "steps": ">= 1"}
    assert {name: keys[name].range for name in ranges} == ranges
    assert keys["ratio"].values == ("token", "sequence")
    assert keys["control"].values == get_args(Control)


def test_the_command_prints_a_section_and_refuses_an_unknown_one():
    shown = CliRunner().invoke(app, ["train", "--keys", "sampling"])
    assert shown.exit_code == 0
    assert all(text in shown.output for text in ("temperature", "top_k", "default none", "> 0, <= 1; only from"))
    models = CliRunner().invoke(app, ["train", "--keys", "model"]).output
    assert "hidden" in models
    assert "gradient_checkpointing" in models
    wrong = CliRunner().invoke(app, ["train", "--keys", "trainign"])
    assert wrong.exit_code != 0
    assert "did you mean 'training'" in str(wrong.exception) + wrong.output
