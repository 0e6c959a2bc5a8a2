"""An unknown key of a configuration or comparison names the place where it belongs."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from rlsum import config as configs
from rlsum.compare import config as comparisons
from rlsum.errors import ConfigError
from rlsum.sections import known_keys, places_of

RUN = known_keys(configs.Config)


def last(key: str) -> str:
    return key.rpartition(".")[2]


@pytest.mark.parametrize("key", RUN)
def test_every_key_is_named_when_it_is_written_at_the_top_or_in_another_section(key):
    sections = {name.partition(".")[0] for name in RUN if "." in name}
    for section in ("", *sections):
        written = f"{section}.{last(key)}" if section else last(key)
        near = {f"{section}.embedding", f"{section}.embeddings"}  # a letter apart: the one of the section is meant
        if written not in RUN and not (written in near and near & set(RUN)):
            found = places_of(written, RUN)
            assert {last(place) for place in found} == {last(key)}
            assert min(place.count(".") for place in found) <= key.count(".")


@pytest.mark.parametrize(
    ("override", "places"),
    [
        ("steps=5", ["training.steps"]),
        ("lr=1", ["training.learning_rate"]),
        ("learning-rate=1", ["training.learning_rate"]),
        ("max_source=9", ["data.max_source"]),
        ("beam=4", ["decoding.beam"]),
        ("training.max_length=9", ["decoding.max_length", "sampling.max_length"]),
        ("trainings.steps=5", ["training.steps"]),
        ("training.sede=3", ["training.seed"]),
        ("model.lora.learning_rate=3", ["training.learning_rate"]),
    ],
)
def test_a_key_of_a_run(override, places):
    with pytest.raises(ConfigError) as error:
        configs.load("demo/mle", [override])
    assert f"{override.partition('=')[0]}: unknown key; did you mean {' or '.join(places)}?" in str(error.value)


@pytest.mark.parametrize(
    ("override", "places"),
    [
        ("training.steps=5", ["start.training.steps", "cell.training.steps"]),
        ("steps=5", ["start.training.steps", "cell.training.steps"]),
        ("lr=5", ["start.training.learning_rate", "cell.training.learning_rate"]),
        ("max_source=5", ["data.max_source"]),
        ("beam=5", ["decoding.NAME.beam", "start.decoding.beam", "cell.decoding.beam"]),
        ("seed=5", ["seeds"]),
        ("reward=rouge-l", ["rewards"]),
    ],
)
def test_a_key_of_a_comparison(override, places):
    with pytest.raises(ConfigError) as error:
        comparisons.load(Path("compare/demo"), [override])
    assert f"{override.partition('=')[0]}: unknown key; did you mean {' or '.join(places)}?" in str(error.value)


def test_a_key_written_with_its_dots_in_a_file_is_told_how(tmp_path):
    (tmp_path / "c.yaml").write_text(yaml.safe_dump({"base": "demo/mle", "training.steps": 3}))
    with pytest.raises(ConfigError, match=r"model\.template: of kind causal, not pointer-generator; set model\.kind"):
        configs.load("demo/mle", ["model.template=chat"])
    with pytest.raises(ConfigError, match=r"training\.steps: in a file, write steps in the section training"):
        configs.load(tmp_path / "c.yaml")
