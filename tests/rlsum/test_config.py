from pathlib import Path

import pytest
import yaml

from rlsum import config as configs
from rlsum import yaml_files
from rlsum.config import ConfigError, Objective, Training

MINIMAL = {"run": "r", "data": {"train": "t.jsonl", "valid": "v.jsonl"}, "training": {"steps": 10}}


def write(path, values):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(values if isinstance(values, str) else yaml.safe_dump(values), encoding="utf-8")
    return path


@pytest.fixture
def minimal(tmp_path):
    return write(tmp_path / "c.yaml", MINIMAL)


def refused(path, *overrides):
    with pytest.raises(ConfigError) as caught:
        configs.load(path, overrides)
    return str(caught.value)


def test_defaults_fit_the_publications(minimal):
    config = configs.load(minimal)
    assert (config.data.max_source, config.data.max_target) == (400, 100)
    assert config.vocabulary.size == 30_000
    assert config.objective.kind == "mle"
    assert config.decoding.beam == 5
    assert config.model is None


# ---- errors -------------------------------------------------------------------------------------------------------


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
        "run: missing",
        "data.valid: missing",
        "data.tokenizer",
        "data.max_source",
        "training.steps",
        "training.learning_rate",
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


def test_a_mixed_objective_needs_decoded_validation_to_choose_by(minimal):
    overrides = ["objective={kind: mixed, reward: rouge-l}", "training.validate_decoded=0"]
    assert "validate_decoded" in refused(minimal, *overrides)
    assert configs.load(minimal, ["training.validate_decoded=0"]).training.validate_decoded == 0


# Objective -> what its refusal says
REFUSED = """
kind: ranking -> kind=ranking needs a reward | kind=ranking compares the samples of an article: samples=1
kind: mixed, estimator: rloo, updates_per_sample: 2 -> kind=mixed needs a reward
    | estimator=rloo compares the samples of an article: samples=1 must be 2 or more
    | updates_per_sample=2 learns from samples of an older policy | set clip, for example 0.2
MIXED, estimator: grpo -> estimator=grpo compares the samples
MIXED, estimator: dr-grpo -> estimator=dr-grpo compares the samples
RANKING, estimator: rloo, kl: 0.1, clip: 0.2 -> estimator=rloo applies to kind=mixed only
    | kl=0.1 applies to kind=mixed | clip=0.2 applies to kind=mixed
kind: mle, kl: 0.1, updates_per_sample: 2 -> kl=0.1 applies to kind=mixed | kind=mle draws no samples
MIXED, estimator: rlo -> objective.estimator
MIXED, kl: -1 -> objective.kl
MIXED, kl: 0.1, kl_estimator: k4 -> objective.kl_estimator
MIXED, kl_estimator: k3 -> kl_estimator=k3 is about the distance from the start
MIXED, clip: 1.5 -> objective.clip
MIXED, normalisation: mean -> objective.normalisation
MIXED, divisor: 0 -> objective.divisor
MIXED, divisor: .inf -> objective.divisor
MIXED, normalisation: sum, divisor: 9 -> divisor=9.0 applies to normalisation=constant only
RANKING, normalisation: sum, divisor: 9 -> normalisation=sum applies to kind=mixed | divisor=9.0 applies to kind=mixed
RANKING, clip_high: 0.3, ratio: sequence, skip_zero_groups: true -> clip_high=0.3 applies to kind=mixed
    | ratio=sequence applies to kind=mixed | skip_zero_groups=True applies to kind=mixed
MIXED, clip_high: 0.3, ratio: sequence -> clip_high=0.3 is about importance ratios: set clip
    | ratio=sequence is about importance ratios
MIXED, clip: 0.2, clip_high: 0 -> objective.clip_high
MIXED, clip: 0.2, ratio: text -> objective.ratio
MIXED, sharpness: 2 -> sharpness=2.0 applies to kind=minimum-risk only
RISK, sharpness: 0 -> objective.sharpness
kind: minimum-risk -> kind=minimum-risk needs a reward | kind=minimum-risk compares the samples
kind: best-of-n -> kind=best-of-n needs a reward | kind=best-of-n compares the samples of an article
BEST, reward_scale: 2, estimator: grpo, kl: 0.1 -> reward_scale=2.0: kind=best-of-n only orders
    | estimator=grpo applies to | kl=0.1 applies to
MIXED, estimator: reinforce++-baseline -> estimator=reinforce++-baseline compares
kind: mle, control: shuffled -> control=shuffled: kind=mle has no rewards
MIXED, control: constant -> control=constant needs control_advantage
MIXED, control_advantage: 1 -> control_advantage=1.0: applies to
RANKING, control: constant, control_advantage: 1 -> control=constant: kind=ranking has no advantages
    | control_advantage=1.0 applies to kind=mixed
kind: mle, coverage_on_samples: true -> coverage_on_samples=True: kind=mle draws no samples
MIXED, coverage_on_samples: true, coverage_weight: 0 -> coverage_on_samples=True: coverage_weight=0 turns coverage off
"""


REWARDED = {"MIXED": "mixed", "RANKING": "ranking, samples: 4", "RISK": "minimum-risk, samples: 4"}
REWARDED |= {"BEST": "best-of-n, samples: 4"}


@pytest.mark.parametrize("case", REFUSED.replace("\n    |", " |").strip().splitlines())
def test_an_objective_that_cannot_be_is_refused_with_every_reason(minimal, case):
    objective, messages = case.split(" -> ")
    for name, kind in REWARDED.items():
        objective = objective.replace(name, f"reward: rouge-l, kind: {kind}")
    message = refused(minimal, f"objective={{{objective}}}")
    assert [expected for expected in messages.split(" | ") if expected not in message] == []


def test_what_chooses_the_best_checkpoint_must_be_measured(minimal):
    assert configs.load(minimal).chooses_by == "likelihood"
    mixed, undecoded = "objective={kind: mixed, reward: rouge-l}", "training.validate_decoded=0"
    assert configs.load(minimal, [mixed]).chooses_by == "reward"
    assert configs.load(minimal, [mixed, undecoded, "training.choose_by=likelihood"]).chooses_by == "likelihood"
    assert "training.choose_by=reward" in refused(minimal, "training.choose_by=reward")
    assert undecoded in refused(minimal, undecoded, "training.choose_by=rouge-l")


def test_an_update_of_one_sample_has_nothing_to_compare_it_with(minimal):
    overrides = ["objective={kind: mixed, reward: rouge-l, estimator: reinforce++}", "training.batch_size=1"]
    assert "objective.estimator=reinforce++ compares the samples of an update" in refused(minimal, *overrides)
    shuffled = ["objective={kind: mixed, reward: rouge-l, control: shuffled}", "training.batch_size=1"]
    assert "objective.control=shuffled exchanges rewards between the samples" in refused(minimal, *shuffled)
    for more in ("training.accumulate=2", "training.batch_size=2", "objective.samples=2"):
        configs.load(minimal, [*shuffled, more])
        configs.load(minimal, [*overrides, more])


def test_a_run_cannot_be_resumed_between_updates_that_share_samples(minimal):
    overrides = ["objective={kind: mixed, reward: rouge-l, updates_per_sample: 3, clip: 0.2}"]
    message = refused(minimal, *overrides, "training.validate_every=10", "training.validate_decoded=0")
    assert "training.validate_every=10: must be a multiple of objective.updates_per_sample=3" in message
    assert "training.validate_decoded=0" in message
    assert configs.load(minimal, [*overrides, "training.validate_every=9"]).objective.clip == 0.2


def test_a_range_of_ratios_that_rounding_would_leave_is_refused(minimal):
    shared = ["objective={kind: mixed, reward: rouge-l, ratio: sequence, clip: 3e-4, updates_per_sample: 2}"]
    bf16 = "training.mixed_precision=bf16"
    assert "objective.clip=0.0003 with ratio=sequence" in refused(minimal, *shared, bf16)
    for more in (["objective.updates_per_sample=1"], ["objective.clip=0.01"], ["objective.ratio=token"]):
        configs.load(minimal, [*shared, bf16, *more])
    configs.load(minimal, shared)
    assert "objective.clip=0.01 with" in refused(
        minimal, *shared, bf16, "objective.clip=0.01", "objective.clip_high=1e-3"
    )


# ---- values -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "value"), [("1e-4", 1e-4), ("1e-3", 1e-3), ("5E-5", 5e-5), ("0.1", 0.1), ("1", 1.0)])
def test_numbers_as_people_write_them(tmp_path, minimal, text, value):
    """YAML 1.1 reads 1e-4 as text."""
    content = yaml.safe_dump(MINIMAL).replace("steps: 10", f"steps: 10\n  learning_rate: {text}")
    for config in (
        configs.load(write(tmp_path / "n.yaml", content)),
        configs.load(minimal, [f"training.learning_rate={text}"]),
    ):
        assert config.training.learning_rate == value
        assert isinstance(config.training.learning_rate, float)


def test_an_unquoted_no_is_the_word(tmp_path, minimal):
    """YAML 1.1 reads it as false."""
    content = yaml.safe_dump(MINIMAL).replace("steps: 10", "steps: 10\n  mixed_precision: no")
    assert configs.load(write(tmp_path / "n.yaml", content)).training.mixed_precision == "no"
    assert configs.load(minimal, ["training.mixed_precision=no"]).training.mixed_precision == "no"
    assert "mixed_precision" in refused(minimal, "training.mixed_precision=yes")


def test_overrides_reach_any_depth_and_the_last_one_counts(minimal):
    config = configs.load(
        minimal,
        [
            "model.hidden=7",
            "model.hidden=9",
            "objective.kind=mixed",
            "objective.reward={name: sms, vectors: v.gz}",
            "training.patience=null",
            "metrics=[rouge-1, {name: wms, vectors: v=w.gz}]",
            "run=a=b",
        ],
    )
    assert config.model.hidden == 9
    assert config.objective.reward == {"name": "sms", "vectors": "v.gz"}
    assert config.training.patience is None
    assert config.metrics == ("rouge-1", {"name": "wms", "vectors": "v=w.gz"})
    assert config.run == "a=b"


# ---- base files ---------------------------------------------------------------------------------------------------


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


# ---- writing ------------------------------------------------------------------------------------------------------


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


# ---- schedules ----------------------------------------------------------------------------------------------------


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


def test_reading_a_config_loads_no_torch():
    import subprocess
    import sys

    code = (
        "import sys, rlsum.config; print([m for m in ('torch', 'numpy', 'transformers', 'spacy') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.parametrize("key", ["training.steps", "training.learning_rate", "data.train_limit", "decoding.beam"])
def test_a_switch_is_no_number(minimal, key):
    assert f"{key}: must be a number, not true" in refused(minimal, f"{key}=yes")


def test_a_switch_remains_a_switch(minimal):
    assert configs.load(minimal, ["data.lowercase=yes"]).data.lowercase is True
