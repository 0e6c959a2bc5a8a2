from pathlib import Path
from typing import ClassVar

import comparisons
import pytest
import typer
import yaml
from pydantic import Field
from pydantic.dataclasses import dataclass
from typer.testing import CliRunner

from rlsum.cli.options import expanded
from rlsum.compare import config as configs
from rlsum.compare.cells import cells_of
from rlsum.errors import ConfigError
from rlsum.generation.options import Generating
from rlsum.sections import left_open


def loaded(tmp_path, *overrides, **changes):
    path = tmp_path / "compare.yaml"
    path.write_text(yaml.safe_dump(comparisons.values(tmp_path / "folder", **changes)))
    return configs.load(path, overrides)


def test_a_comparison_survives_being_written_and_read(tmp_path):
    comparison = comparisons.comparison(tmp_path, choosing={"mbr": {"mbr": "rouge-l", "samples": 4}})
    (tmp_path / "again.yaml").write_text(yaml.safe_dump(configs.as_mapping(comparison)))
    assert configs.load(tmp_path / "again.yaml") == comparison


def test_the_folder_stands_for_itself_in_every_text_and_overrides_apply(tmp_path):
    sms = {"reward": {"name": "sms", "vectors": "{folder}/data/v.gz"}}
    comparison = loaded(tmp_path, "seeds=[7]", "folder=elsewhere", rewards={"sms": sms})
    assert comparison.rewards["sms"].reward["vectors"] == "elsewhere/data/v.gz"
    assert comparison.seeds == (7,)


def test_start_and_cell_build_on_files_without_what_the_comparison_sets(tmp_path):
    base = {"run": "x", "training": {"steps": 9, "seed": 3}, "objective": {"reward": "rouge-1", "gamma": 0.5}}
    (tmp_path / "base.yaml").write_text(yaml.safe_dump(base))
    comparison = loaded(tmp_path, cell={"base": "base.yaml", "training": {"batch_size": 2}})
    assert comparison.cell == {"training": {"steps": 9, "batch_size": 2}, "objective": {"gamma": 0.5}}


def test_a_comparison_has_a_name_anywhere_and_its_bases_are_found(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert configs.load(Path("compare/demo")).cell["objective"]["kind"] == "mixed"
    named = comparisons.values(tmp_path / "folder", cell={"base": "demo/mixed"})
    (tmp_path / "own.yaml").write_text(yaml.safe_dump(named))
    assert configs.load(Path("own.yaml")).cell["objective"]["kind"] == "mixed"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rewrads": {}}, "rewrads: unknown key; did you mean rewards"),
        ({"decoding": {"beam": {"beem": 5}}}, "decoding.beam.beem: unknown key; did you mean decoding.NAME.beam"),
        ({"rewards": {"a b": "rouge-l"}}, "'a b' cannot be part of a file name"),
        ({"rewards": {"start": "rouge-l"}}, "'start' is the name of another row"),
        ({"controls_of": ["rouge-22"]}, "controls_of: 'rouge-22' is not one of rewards; did you mean 'rouge-2'"),
        ({"seeds": [1, 1]}, "all different"),
        ({"cell": {"run": "x"}}, "cell.run: set by the comparison"),
        ({"start": {"training": {"seed": 1}}}, "start.training.seed: set by the comparison"),
        ({"simulate": None}, "test: missing"),
        ({"test": "test.jsonl"}, "leave out test"),
        ({"choosing": {"both": {"best_of": 4, "mbr": "rouge-l"}}}, "name one of best_of and mbr"),
        ({"choosing": {"n": {"best_of": 4}}}, "best_of needs by"),
        ({"outputs": {"rouge-l": "x.jsonl"}}, "'rouge-l' names two rows"),
        ({"rewards": {"oracle": "rouge-l"}}, "'oracle' is the name of another row"),
        ({"variants": {"a": {"run": "x"}}}, "variants.a.run: set by the comparison"),
        ({"variants": {"a": {"training": {"seed": 3}}}}, "variants.a.training.seed: set by the comparison"),
        ({"launcher": 'accelerate "launch'}, "launcher='accelerate \"launch': No closing quotation"),
        ({"choosing": {"n": {"mbr": "rouge-l", "samples": 4, "temperature": 0}}}, "choosing.n.temperature"),
        ({"choosing": {"n": {"mbr": "rouge-l", "samples": 4, "top_k": -1}}}, "choosing.n.top_k"),
        ({"choosing": {"n": {"mbr": "rouge-l", "samples": 4, "top_p": 2}}}, "choosing.n.top_p"),
        ({"decoding": {"beam": {"length_penalty": float("inf")}}}, "decoding.beam.length_penalty"),
        ({"test_limit": True}, "test_limit: must be a number, not true"),
        ({"seeds": [2, True]}, "seeds.1: must be a number, not true"),
        ({"decoding": {"beam": {"beam": True}}}, "decoding.beam.beam: must be a number, not true"),
    ],
)
def test_a_bad_configuration_names_key_and_fix(changes, message, tmp_path):
    with pytest.raises(ConfigError, match=message):
        comparisons.comparison(tmp_path, **changes)


@pytest.mark.parametrize(
    ("data", "key", "setter"),
    [
        ({"max_source": 100}, "start.data.max_source", "data sets it"),
        ({"max_source": 100}, "cell.data.max_source", "data sets it"),
        ({}, "cell.data.train", "simulate sets it"),
    ],
)
def test_data_that_the_comparison_sets_for_all_runs_is_not_dropped_silently(data, key, setter, tmp_path):
    with pytest.raises(ConfigError, match=f"{key}: {setter} for all runs; leave it out here"):
        loaded(tmp_path, f"{key}=7", data=data)


@pytest.mark.parametrize("data", [3, [["train"]], "x"])
def test_data_that_is_no_section_is_said_as_such(data, tmp_path):
    with pytest.raises(ConfigError, match="data: "):
        loaded(tmp_path, data=data)


def test_data_of_a_cell_alone_is_kept_and_that_of_a_base_gives_way(tmp_path):
    (tmp_path / "base.yaml").write_text(yaml.safe_dump({"data": {"train": "x", "max_source": 9}}))
    comparison = loaded(tmp_path, "cell.data.max_target=7", cell={"base": "base.yaml"}, data={"max_source": 100})
    config = next(cell.config for cell in cells_of(comparison) if cell.kind == "reward")
    assert {key: config["data"][key] for key in ("max_source", "max_target")} == {"max_source": 100, "max_target": 7}


@pytest.mark.parametrize(("base", "message"), [(3, "cell.base: must be the path"), ("no.yaml", "no such file")])
def test_a_base_that_is_none_is_refused_where_it_stands(base, message, tmp_path):
    with pytest.raises(ConfigError, match=message):
        loaded(tmp_path, cell={"base": base})


def test_the_record_of_a_folder_is_a_configuration_though_it_holds_the_data_of_bases(tmp_path):
    (tmp_path / "base.yaml").write_text(yaml.safe_dump({"data": {"train": "x", "max_source": 9}}))
    comparison = loaded(tmp_path, cell={"base": "base.yaml"}, data={"max_source": 100})
    (tmp_path / configs.RECORD).write_text(yaml.safe_dump(configs.as_mapping(comparison)))
    assert configs.load(tmp_path / configs.RECORD) == comparison


def test_a_further_metric_that_is_a_reward_already_is_one_column(tmp_path):
    comparison = comparisons.comparison(tmp_path, metrics=["rouge-l", "rouge-1", {"name": "rouge-1", "stemmer": False}])
    assert list(comparison.specs) == ["rouge-l", "rouge-2", "rouge-1", "rouge-1(stemmer=false)"]


def test_some_rewards_alone_keep_the_others_as_metrics(tmp_path):
    comparison = configs.trained_on(comparisons.comparison(tmp_path), ["rouge-2"])
    assert list(comparison.rewards) == ["rouge-2"]
    assert set(comparison.specs) == {"rouge-1", "rouge-2", "rouge-l"}


@dataclass(frozen=True)
class Rules:
    """A section with booleans, as ``Limits``."""

    ordered: bool = Field(kw_only=True, default=False)
    """whether it is ordered"""
    most: int = Field(kw_only=True, default=3)
    """how many at most"""


@dataclass(frozen=True)
class Asked(left_open(Rules)):
    """Options of a command, as ``Generating``, and of a comparison, as ``Choosing``."""

    ELSE: ClassVar = "; default: the run's"

    alone: bool = False
    """whether it stands alone"""
    words: tuple[str, ...] = ()
    """words that end it"""
    sizes: tuple[int, ...] | None = None
    """its sizes"""


def parsed(words, kind):
    """The options of a command as its function gets them."""
    got, app = [], typer.Typer()

    def generate(*, how: kind) -> None:
        got.append(how)

    app.command()(expanded(generate))
    assert CliRunner().invoke(app, words).output == ""
    return got


@pytest.mark.parametrize("alone", [True, False])
@pytest.mark.parametrize("ordered", [True, False, None])
def test_a_boolean_of_a_comparison_reaches_the_command_line(ordered, alone):
    given = Asked(ordered=ordered, alone=alone, most=4)
    assert parsed(configs.options(given), Asked) == [given]


@pytest.mark.parametrize("sizes", [None, (3,), (4, 5)])
def test_a_list_of_a_comparison_reaches_the_command_line(sizes):
    given = Asked(words=("the end", "fin, or so"), sizes=sizes)
    assert parsed(configs.options(given), Asked) == [given]


@pytest.mark.parametrize("stopping", [True, False, "never", None])
def test_a_way_of_decoding_reaches_generate(stopping):
    given = {"beam": 3, "early_stopping": stopping, "max_length": 9}
    assert parsed(configs.options(configs.Decode(**given)), Generating) == [Generating(**given, batch_size=32)]
