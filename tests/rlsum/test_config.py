from pathlib import Path

import pytest
import yaml
from config_files import MINIMAL, refused, write

from rlsum import config as configs
from rlsum.config import ConfigError, Objective, Training


def test_defaults_fit_the_publications(minimal):
    config = configs.load(minimal)
    assert (config.data.max_source, config.data.max_target) == (400, 100)
    assert config.vocabulary.size == 30_000
    assert config.objective.kind == "mle"
    assert config.decoding.beam == 5
    assert config.model is None


# ---- errors ----------------------------------------------------------------------------------------------------------


def test_all_errors_at_once_with_their_keys(tmp_path):
    values = {
        "data": {"train": "t", "tokenizer": "nltk", "max_source": 0},
        "training": {"steps": "many", "learning_rate": -1, "batchsize": 3},
        "model": {"hiden": 4},
        "objective": {"kind": "mixed"},
        "decoding": {"min_length": 9, "max_length": 5},
        "trainings": {},
    }
    message = refused(write(tmp_path / "c.yaml", values))
    for key in (
        *("run: missing", "data.valid: missing", "data.tokenizer", "data.max_source"),
        *("training.steps", "training.learning_rate"),
        "training.batchsize: unknown key; did you mean training.batch_size?",
        "model.hiden: unknown key; did you mean model.hidden?",
        "objective: kind=mixed needs a reward",
        "min_length=9 must be smaller than max_length=5",
        "trainings: unknown key; did you mean training?",
    ):
        assert key in message, f"{key!r} not in\n{message}"
    assert "11 fault(s)" in message
    assert "'nltk'" in message
    assert "c.yaml" in message


def test_a_text_with_a_colon_must_be_quoted(minimal):
    message = refused(minimal, "model.kind=seq2seq", "model.pretrained=t5", "model.prefix=summarize: ")
    assert "model.prefix: must be a text, not {'summarize': None}; quote it, as in 'model.prefix=\"...\"'" in message


def test_a_word_like_nothing_gets_no_suggestion(minimal):
    assert "did you mean" not in refused(minimal, "training.zzzzqq=1")


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("training.steps", "write key=value"),
        ("=3", "write key=value"),
        ("run.deep=3", "run is 'r', not a section"),
        ("training=3", "training: must be a section"),
        ("objective.gamma=1.5", "objective.gamma"),
        ("objective.gamma=nan", "objective.gamma"),
        ("decoding.temperature=inf", "decoding.temperature"),
        ("training.accumulate=0", "training.accumulate"),
        ("model.dropout=1", "model.dropout"),
        ("training.steps=1.5", "training.steps"),
        ("metrics=[a, [", r"override 'metrics=\[a.* not YAML"),
        ("run='", "override .* not YAML"),
        ("metrics=5", "metrics"),
        ("training.seed=-1", "training.seed"),
        ("training.seed=9223372036854775808", "training.seed"),
        ("training.learning_rate=.inf", "training.learning_rate"),
        ("objective.reward_scale=.inf", "objective.reward_scale"),
        ("objective.coverage_weight=.inf", "objective.coverage_weight"),
        ("objective={kind: mle, gamma: 1, kind: mixed}", "'kind' is written twice"),
    ],
)
def test_bad_overrides_are_named(minimal, override, message):
    with pytest.raises(ConfigError, match=message):
        configs.load(minimal, [override])


# ---- values ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "value"), [("1e-4", 1e-4), ("1e-3", 1e-3), ("5E-5", 5e-5), ("0.1", 0.1), ("1", 1.0)])
def test_numbers_as_people_write_them(tmp_path, minimal, text, value):
    """YAML 1.1 reads 1e-4 as text."""
    content = yaml.safe_dump(MINIMAL).replace("steps: 10", f"steps: 10\n  learning_rate: {text}")
    overrides = [f"training.learning_rate={text}"]
    for config in (configs.load(write(tmp_path / "n.yaml", content)), configs.load(minimal, overrides)):
        assert config.training.learning_rate == value
        assert isinstance(config.training.learning_rate, float)


def test_an_unquoted_no_is_the_word(tmp_path, minimal):
    """YAML 1.1 reads it as false."""
    content = yaml.safe_dump(MINIMAL).replace("steps: 10", "steps: 10\n  mixed_precision: no")
    assert configs.load(write(tmp_path / "n.yaml", content)).training.mixed_precision == "no"
    assert configs.load(minimal, ["training.mixed_precision=no"]).training.mixed_precision == "no"
    assert "mixed_precision" in refused(minimal, "training.mixed_precision=yes")


def test_overrides_reach_any_depth_and_the_last_one_counts(minimal):
    given = ["model.hidden=7", "model.hidden=9", "training.patience=null", "run=a=b"]
    given += ["objective.kind=mixed", "objective.reward={name: sms, vectors: v.gz}"]
    config = configs.load(minimal, [*given, "metrics=[rouge-1, {name: wms, vectors: v=w.gz}]"])
    assert config.model.hidden == 9
    assert config.objective.reward == {"name": "sms", "vectors": "v.gz"}
    assert config.training.patience is None
    assert config.metrics == ("rouge-1", {"name": "wms", "vectors": "v=w.gz"})
    assert config.run == "a=b"


# ---- writing ---------------------------------------------------------------------------------------------------------


def test_what_is_dumped_loads_as_the_same(tmp_path, minimal):
    config = configs.load(
        minimal,
        [
            "model={hidden: 4, dropout: 0.1, coverage: true}",
            "objective={kind: mixed, reward: {name: sms, vectors: é.gz, normalize: unit}, gamma_end: 0.99}",
            "metrics=['weighted(rouge-l=0.7, s+wms=0.3)', rouge-l]",
            "training.mixed_precision='no'",
            "training.learning_rate=1e-5",
            "training.patience=3",
            "training.tracker=null",
            "vocabulary.embeddings='v: 1.txt'",
        ],
    )
    again = configs.load(write(tmp_path / "dumped.yaml", configs.dump(config)))
    assert again == config
    assert configs.dump(again) == configs.dump(config)


SHIPPED = sorted((Path(__file__).parents[2] / "configs").rglob("*.yaml"))


@pytest.mark.parametrize(
    "path",
    [p for p in SHIPPED if p.parent.name not in ("accelerate", "compare")],
    ids=lambda p: f"{p.parent.name}/{p.stem}",
)
def test_the_configs_that_we_ship_load_and_name_rewards_that_exist(path):
    import rewards

    overrides = [] if "run:" in path.read_text() else ["run=x"]
    config = configs.load(path, [*overrides, *(["objective.reward=rouge-l"] if path.stem.endswith("mixed") else [])])
    for spec in (*config.metrics, *([config.objective.reward] if config.objective.reward else [])):
        rewards.check_spec(spec)


# ---- schedules -------------------------------------------------------------------------------------------------------


def test_gamma_is_constant_or_linear():
    constant, linear = Objective(gamma=0.97), Objective(gamma=0.9, gamma_end=1.0)
    assert [constant.gamma_at(step, 5) for step in (0, 3, 4)] == [0.97] * 3
    assert [linear.gamma_at(step, 5) for step in range(5)] == pytest.approx([0.9, 0.925, 0.95, 0.975, 1.0])
    assert linear.gamma_at(0, 1) == 0.9
    assert linear.gamma_at(99, 5) == 1.0
    assert Objective(gamma=1.0, gamma_end=0.0).gamma_at(1, 3) == 0.5


def test_learning_rates_by_hand():
    linear = Training(steps=10, learning_rate=1.0, warmup=4, schedule="linear")
    expected = [0.25, 0.5, 0.75, 1.0, 1.0, 5 / 6, 4 / 6, 3 / 6, 2 / 6, 1 / 6]
    assert [linear.rate_at(step) for step in range(10)] == pytest.approx(expected)
    constant = Training(steps=10, learning_rate=2.0, warmup=2)
    assert [constant.rate_at(step) for step in range(4)] == [1.0, 2.0, 2.0, 2.0]
    assert Training(steps=3, learning_rate=1.0, schedule="linear").rate_at(0) == 1.0
    assert all(Training(steps=2, warmup=5, schedule="linear").rate_at(step) > 0 for step in range(2))


def test_a_rate_that_never_rises_to_its_height_is_said():
    assert not Training(steps=6, warmup=5).warning
    said = Training(steps=2, warmup=20, learning_rate=1e-4).warning
    assert all(part in said for part in ("warmup=20", "steps=2", "1e-05 of 0.0001"))


def test_reading_a_config_loads_no_torch():
    import subprocess
    import sys

    heavy = ("torch", "numpy", "transformers", "spacy")
    code = f"import sys, rlsum.config; print([m for m in {heavy} if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.parametrize("key", ["training.steps", "training.learning_rate", "data.train_limit", "decoding.beam"])
def test_a_switch_is_no_number_and_remains_a_switch(minimal, key):
    assert f"{key}: must be a number, not true" in refused(minimal, f"{key}=yes")
    assert configs.load(minimal, ["data.lowercase=yes"]).data.lowercase is True
