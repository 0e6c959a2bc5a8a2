from dataclasses import replace

import comparisons
import pytest

from rlsum import config as run_configs
from rlsum.compare.cells import cells_of, commands_of, given_outputs, typed


def named(comparison):
    return {cell.name: cell for cell in cells_of(comparison)}


def test_cells_are_rewards_by_variants_by_seeds_and_controls_after_all_that_they_need(tmp_path):
    given = comparisons.comparison(tmp_path, variants={"rloo": {"objective": {"estimator": "rloo"}}, "grpo": {}})
    cells = cells_of(given)
    names = [cell.name for cell in cells]
    assert names[:2] == ["start-1", "start-2"]
    assert [name for name in names if name.endswith("-2")] == [
        "start-2", "none-2", "rouge-l.rloo-2", "rouge-l.grpo-2", "rouge-2.rloo-2", "rouge-2.grpo-2",
        "rouge-l.shuffled-2", "rouge-l.constant-2",
    ]  # fmt: skip
    assert names[-2:] == ["lead-3", "oracle"]
    for number, cell in enumerate(cells):
        assert set(cell.after) <= set(names[:number])


def test_every_cell_differs_from_its_control_by_what_the_control_is_for(tmp_path):
    cells = named(comparisons.comparison(tmp_path))
    configs = {name: run_configs.check(dict(cell.config), name) for name, cell in cells.items() if cell.config}
    trained = configs["rouge-l-1"]
    assert trained.training == configs["none-1"].training == configs["rouge-l.shuffled-1"].training
    assert (trained.objective.reward_scale, configs["none-1"].objective.gamma) == (5, 0)
    assert configs["rouge-l.shuffled-1"].objective.control == "shuffled"
    assert (configs["rouge-2-2"].objective.reward, configs["rouge-2-2"].training.seed) == ("rouge-2", 2)
    assert cells["rouge-l.constant-1"].after == ("start-1", "rouge-l-1")
    assert cells["rouge-l.constant-1"].constant


@pytest.mark.parametrize(
    ("objective", "weight"),
    [
        ({"gamma": 0.9, "coverage_weight": 0.1}, 1.0),
        ({"gamma": 0.8, "gamma_end": 1.0, "coverage_weight": 0.1}, 1.0),
        ({"gamma": 0.9, "gamma_end": 0.0, "coverage_weight": 0.1}, 0.1 / 0.55),
        ({"gamma": 1.0, "coverage_weight": 0.1}, 0.1),
        ({"gamma": 0.9}, 1.0),
    ],
)
def test_continued_likelihood_weighs_coverage_against_the_likelihood_as_the_rewarded_runs_do(
    objective, weight, tmp_path
):
    given = comparisons.comparison(tmp_path)
    given = replace(given, cell={**given.cell, "objective": {**given.cell["objective"], **objective}})
    config = run_configs.check(dict(named(given)["none-1"].config), "none-1")
    assert (config.objective.gamma, config.objective.coverage_weight) == (0, pytest.approx(weight))


def test_a_variant_may_change_the_scale_of_a_reward(tmp_path):
    cells = named(comparisons.comparison(tmp_path, variants={"grpo": {"objective": {"reward_scale": 1}}}))
    assert cells["rouge-l.grpo-1"].config["objective"]["reward_scale"] == 1


@pytest.mark.parametrize(
    ("start", "models"),
    [("runs/mle", {"start": "runs/mle"}), ("runs/mle-{seed}", {"start-1": "runs/mle-1", "start-2": "runs/mle-2"})],
)
def test_a_start_may_be_a_run_that_exists(start, models, tmp_path):
    cells = named(comparisons.comparison(tmp_path, start=start))
    assert {name: cell.model for name, cell in cells.items() if cell.kind == "start"} == models
    assert all(cells[name].config is None for name in models)
    assert cells["rouge-l-2"].after[0] == list(models)[-1]


def test_the_commands_of_a_cell_make_it(tmp_path):
    ways = {"beam": {"beam": 5}, "greedy": {"beam": 1}}
    given = comparisons.comparison(tmp_path, choosing={"best": {"best_of": 4, "by": "novelty"}}, decoding=ways)
    cells = cells_of(given)
    train, beam, greedy = commands_of(given, named(given)["rouge-l-1"], cells)
    assert train == ["train", str(tmp_path / "configs/rouge-l-1.yaml"), "--init", str(tmp_path / "runs/start-1")]
    assert beam[:3] == ["generate", str(tmp_path / "runs/rouge-l-1"), str(tmp_path / "data/test.jsonl")]
    assert beam[-4:] == ["--beam", "5", "--batch-size", "32"]
    assert greedy[4] == str(tmp_path / "outputs/rouge-l-1.greedy.jsonl")
    (chosen,) = commands_of(given, named(given)["best-2"], cells)
    assert chosen[1] == str(tmp_path / "runs/start-2")
    assert chosen[-8:] == ["--seed", "2", "--best-of", "4", "--by", "novelty", "--batch-size", "32"]


def test_a_launcher_starts_trainings_alone(tmp_path):
    given = comparisons.comparison(tmp_path, launcher="accelerate launch --cpu")
    train, generate = commands_of(given, named(given)["rouge-l-1"], cells_of(given))
    assert typed(given, train)[:6] == ["accelerate", "launch", "--cpu", "-m", "rlsum", "train"]
    assert typed(given, generate)[:2] == ["rlsum", "generate"]


def test_outputs_of_other_systems_are_rows_too(tmp_path):
    given = comparisons.comparison(tmp_path, outputs={"see2017": "see.jsonl"})
    assert list(given_outputs(given)) == ["lead-3", "oracle", "see2017"]
    assert commands_of(given, named(given)["see2017"], cells_of(given)) == []


def test_a_reward_named_twice_for_its_controls_has_them_once(tmp_path):
    comparison = comparisons.comparison(tmp_path, controls_of=["rouge-l", "rouge-l"])
    names = [cell.name for cell in cells_of(comparison)]
    assert names.count("rouge-l.shuffled-1") == names.count("rouge-l.constant-1") == 1
