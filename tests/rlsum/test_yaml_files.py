"""YAML files that build on each other, and those that are refused."""

import pytest
import yaml
from config_files import MINIMAL, refused, write

from rlsum import config as configs
from rlsum import yaml_files

# ---- YAML ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "message"), [("a: [", "not YAML"), ("- 1", "must hold a mapping"), ("", "must hold a mapping")]
)
def test_files_that_are_no_config_are_refused(tmp_path, content, message):
    assert message in refused(write(tmp_path / "c.yaml", content))


def test_a_section_written_twice_is_refused_with_its_line(tmp_path):
    """PyYAML keeps the last one and says nothing."""
    content = yaml.safe_dump(MINIMAL) + "objective: {gamma: 1}\ntraining: {steps: 20}\n"
    message = refused(write(tmp_path / "c.yaml", content))
    assert "'training' is written twice" in message
    assert f"c.yaml:{content.count(chr(10))}:" in message


def test_a_key_may_stand_again_where_a_merge_brought_it(tmp_path):
    content = "x: &x {train: t, valid: v}\ny: &y {<<: *x, valid: w}\ndata: {<<: *y, valid: z}\n"
    assert yaml_files.parse(content)["data"] == {"train": "t", "valid": "z"}


BOMB = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 40))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (BOMB, "more than 100,000 values"),
        ("run: &run [*run]", "'run' is within itself"),
        ("data: &data {<<: *data}", "'data' is within itself"),
        ("run: !!bool z", "not of its type"),
        ("run: !!int ''", "not of its type"),
        ("run: !!timestamp z", "not of its type"),
        ("run: 2020-13-45", "not of its type"),
        (f"run: {'9' * 5_000}", "not of its type"),
        ("run: " + "[" * 5_000, "too many levels"),
        ('run: "\\ud800"', "half a surrogate pair"),
    ],
)
def test_values_that_no_configuration_has_are_refused(tmp_path, content, message):
    assert message in refused(write(tmp_path / "c.yaml", content))


def test_anchors_may_repeat_values(tmp_path):
    assert yaml_files.parse("a: &a [1, &b x]\nc: [*a, *a, *b]") == {"a": [1, "x"], "c": [[1, "x"], [1, "x"], "x"]}


@pytest.mark.parametrize("base", ["3", "[a]", "{a: b}", "false"])
def test_a_base_that_is_no_path_is_refused(tmp_path, base):
    path = write(tmp_path / "c.yaml", f"base: {base}\n" + yaml.safe_dump(MINIMAL))
    assert "base: must be the path of a YAML file" in refused(path)


# ---- base files ------------------------------------------------------------------------------------------------------


def test_a_file_states_what_differs_from_its_base(tmp_path):
    write(tmp_path / "base.yaml", {**MINIMAL, "objective": {"kind": "mixed", "reward": {"name": "a", "x": 1}}})
    write(tmp_path / "sub" / "mid.yaml", {"base": "../base.yaml", "training": {"clip": 1.0}, "run": "mid"})
    top = write(tmp_path / "sub" / "top.yaml", {"base": "mid.yaml", "objective": {"reward": {"name": "b"}}})
    config = configs.load(top, ["training.seed=9"])
    assert (config.run, config.training.steps, config.training.clip, config.training.seed) == ("mid", 10, 1.0, 9)
    assert config.objective.kind == "mixed"
    assert config.objective.reward == {"name": "b"}, "options of another reward must not be kept"


@pytest.mark.parametrize("spelling", ["c.yaml", "./c.yaml", "../{folder}/c.yaml"])
def test_base_files_in_a_circle_are_refused(tmp_path, spelling):
    path = write(tmp_path / "c.yaml", {"base": spelling.format(folder=tmp_path.name)})
    assert "form a circle" in refused(path)


def test_a_longer_circle_is_refused(tmp_path):
    write(tmp_path / "a.yaml", {"base": "b.yaml"})
    write(tmp_path / "b.yaml", {"base": "a.yaml"})
    assert "form a circle" in refused(tmp_path / "a.yaml")


def test_a_missing_base_is_named(tmp_path):
    path = write(tmp_path / "c.yaml", {**MINIMAL, "base": "gone.yaml"})
    assert "gone.yaml" in refused(path)
