"""The comparison of estimators: what it refuses, that each estimator's options are valid, and its report."""

import itertools
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import get_args, get_type_hints

import pytest
import tiny

from rlsum import config as configs
from rlsum.compare import estimators
from rlsum.compare.estimators import ESTIMATORS, EstimatorStudy, variants_of
from rlsum.compare.variants import METHODS, outputs_path
from rlsum.errors import UserError
from rlsum.objective import Normalisation, Objective
from rlsum.records import Output, write_outputs
from rlsum.training import checkpoint
from rlsum.training import estimators as training_estimators

ROOT = Path(__file__).resolve().parents[3]
CONFIGS = ROOT / "configs" / "demo"
STORIES = {"train": 6, "valid": 2, "test": 4}


def started(folder: Path, seed: int = 1) -> Path:
    """A folder as `rlsum demo` leaves it, as far as this comparison reads it, with a model that learnt nothing."""
    data = folder / "data"
    data.mkdir(parents=True)
    for split, count in STORIES.items():
        rows = [{"id": f"{split}-{n}", "article": tiny.PAIRS[n % 4][0], "highlights": "ash oak"} for n in range(count)]
        (data / f"{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    config = configs.load(
        CONFIGS / "mle.yaml",
        [
            f"data.train={data / 'train.jsonl'}",
            f"data.valid={data / 'valid.jsonl'}",
            f"training.seed={seed}",
            "vocabulary.embeddings=null",
            "model.embedding=6",
            "model.hidden=8",
            f"run={folder / 'mle'}",
        ],
    )
    model = tiny.copier()
    checkpoint.create(folder / "mle" / "best", config, model, {})
    checkpoint.save_weights(folder / "mle" / "best", model, {})
    (folder / "mle" / "config.yaml").write_text(configs.dump(config))
    return folder


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_every_estimator_is_a_valid_configuration_with_as_many_texts_to_decode(estimator, tmp_path):
    study = EstimatorStudy((started(tmp_path / "one", seed=7),), CONFIGS, (estimator,))
    start, control, variant = variants_of(study, study.folders[0])
    found = configs.load(variant.config, [*variant.overrides, f"run={variant.run}"])
    objective = found.objective
    assert objective.samples + (objective.kind == "mixed" and objective.estimator == "self-critical") == estimators.ROWS
    assert estimator in (objective.kind, objective.estimator)
    assert found.training.seed == 7
    beside = configs.load(control.config, [*control.overrides, f"run={control.run}"])
    assert beside.objective.gamma == 0
    assert beside.training == found.training
    assert (start.reward, control.reward, variant.reward) == (None, None, "rouge-l")


def test_an_estimator_may_have_settings_of_its_own(tmp_path):
    study = EstimatorStudy(
        (started(tmp_path / "one"),), CONFIGS, ("ranking", "ranking:objective.gamma=0.5:training.steps=3")
    )
    _, _, plain, own = variants_of(study, study.folders[0])
    found = configs.load(own.config, [*own.overrides, f"run={own.run}"])
    assert (found.objective.kind, found.objective.gamma, found.training.steps) == ("ranking", 0.5, 3)
    assert configs.load(plain.config, [*plain.overrides, f"run={plain.run}"]).objective.gamma == 0.9
    assert plain.run != own.run
    assert plain.name != own.name


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"estimators": ("grpo:objective.gama=1",)}, "gama"),
        ({"estimators": ("grpo", "ppo")}, r"estimators=ppo: unknown; known: self-critical, rloo"),
        ({"configs": Path("nowhere")}, r"configs=nowhere: no none\.yaml"),
        ({"folders": (Path("nowhere"),)}, r"nowhere/mle"),
    ],
)
def test_what_cannot_be_compared_is_told_before_anything_starts(change, told, tmp_path):
    study = replace(EstimatorStudy((started(tmp_path / "one"),), CONFIGS), **change)
    with pytest.raises(UserError, match=told):
        estimators.run(study, pytest.fail)


def test_articles_of_all_seeds_count_together_and_each_seed_alone(tmp_path):
    study = EstimatorStudy((started(tmp_path / "one"), started(tmp_path / "two")), CONFIGS, ("grpo",))
    seeds = {folder: variants_of(study, folder) for folder in study.folders}
    texts = {"MLE": "elm", "MLE continued": "ash elm", "grpo": "ash oak"}
    for folder, variants in seeds.items():
        estimators.outputs_folder(folder).mkdir(parents=True)
        for variant, method in itertools.product(variants, METHODS):
            outputs = [Output(f"test-{n}", "ash", ("ash oak",), texts[variant.name], variant.name) for n in range(4)]
            write_outputs(outputs_path(estimators.outputs_folder(folder), variant, method), outputs)
    report = estimators.make_report(seeds)
    assert [section.title for section in report.sections] == [
        "Beam search, width 5, 2 seeds",
        "Greedy decoding, 2 seeds",
        f"Beam search, width 5, {tmp_path / 'one'}",
        f"Beam search, width 5, {tmp_path / 'two'}",
    ]
    together, _, alone, _ = report.sections
    gains = {(found.system, found.baseline): found for found in together.comparisons}
    assert gains["grpo", "MLE"].interval.mean == pytest.approx(1.0)
    assert gains["grpo", "MLE continued"].interval.mean == pytest.approx(0.5)
    assert [found.shared for found in together.comparisons] == [8, 8]
    assert [found.shared for found in alone.comparisons] == [4, 4]


@pytest.mark.slow
def test_the_script_from_a_start_to_a_report(tmp_path):
    folder, out = started(tmp_path / "one"), tmp_path / "report"
    short = tmp_path / "configs"
    short.mkdir()
    for name in ("none", "rouge-l"):
        text = f"base: {CONFIGS / f'{name}.yaml'}\ntraining: {{steps: 2, validate_every: 1}}\n"
        (short / f"{name}.yaml").write_text(text)
    command = [sys.executable, "scripts/compare_estimators.py", str(folder), "-o", str(out), f"--configs={short}"]
    subprocess.run([*command, "--estimators=dr-grpo,ranking"], cwd=ROOT, check=True)
    text = (out / "report.md").read_text()
    assert "| dr-grpo | rouge-l |" in text
    assert "| ranking | rouge-l |" in text
    assert (out / "index.html").exists()


def test_the_comparison_knows_every_estimator_and_kind():
    kinds = set(get_args(get_type_hints(Objective)["kind"])) - {"mle", "mixed"}
    assert set(ESTIMATORS) == set(training_estimators.ESTIMATORS) | kinds


def test_the_drift_of_length_has_a_line_for_each_normalisation(tmp_path):
    command = [sys.executable, "scripts/compare_estimators.py", str(started(tmp_path / "weak")), "--drift=2"]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    head, *rows = [line.split() for line in done.stdout.splitlines()]
    assert head == ["normalisation", "weak", "mean"]
    assert [row[0] for row in rows] == list(get_args(Normalisation))
    for _, before, arrow, after, mean in rows:
        assert (arrow, float(before)) == (">", float(rows[0][1]))
        assert float(mean) == pytest.approx(float(after) - float(before), abs=0.11)
