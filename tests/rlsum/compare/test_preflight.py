"""What is said before anything is trained."""

import io

import comparisons
import pytest
import yaml
from comparisons import prepared
from rich.console import Console
from rows import jsonl

from rlsum.compare import preflight
from rlsum.compare.costs import Cost
from rlsum.errors import ConfigError
from rlsum.pages.terminal import show
from rlsum.records import Output, write_outputs

pytestmark = pytest.mark.usefixtures("own_module_cache")


def faults(path, **changes):
    folder, cells = prepared(path, **changes)
    with pytest.raises(ConfigError) as raised:
        preflight.check(folder.comparison, cells)
    return str(raised.value)


def test_every_fault_of_every_cell_is_said_at_once(tmp_path):
    found = faults(
        tmp_path, seeds=[1, 2], metrics=["roug-1"], compared_with="rouge-1", launcher="no-such-program launch",
        cell={"objective": {"kind": "mixed", "samples": 2, "gama": 0.9}, "training": {"steps": 0}},
        rewards={"rouge-l": "rouge-l", "sms": {"name": "sms", "vectors": str(tmp_path / "none.gz")}},
        outputs={"other": str(tmp_path / "none.jsonl")}, study=str(tmp_path / "no-study.json"),
        choosing={"best": {"best_of": 4, "by": "rouge-l"}},
    )  # fmt: skip
    for said in (
        "objective.gama: unknown key; did you mean objective.gamma",
        "training.steps",
        "reward sms: ",
        "metric roug-1: unknown reward 'roug-1'; did you mean 'rouge-1'",
        "compared_with: 'rouge-1' is not the name of a row",
        "launcher: no-such-program: no such program",
        "choosing.best: ",
        "no-study.json: cannot be read",
    ):
        assert said in found
    assert found.count("gama") == 1  # the same fault of many cells is one
    assert "nothing has been trained" in found
    assert list((tmp_path / "runs").iterdir()) == []


def test_articles_and_outputs_are_read_before(tmp_path):
    other = tmp_path / "other.jsonl"
    write_outputs(other, [Output("elsewhere", "a", ("b",), "c", "other")])
    found = faults(tmp_path / "f", outputs={"other": str(other)})
    assert f"outputs.other: {other}: no output for 6 of the 6 articles of" in found
    assert "data.train" in faults(tmp_path / "g", simulate=None, test="t.jsonl", data={"train": "a", "valid": "b"})


def test_a_reward_with_a_fault_is_said_once_and_not_by_every_cell(tmp_path):
    found = faults(tmp_path, seeds=[1, 2], rewards={"rouge-l": "rouge-l", "other": "roug-1"})
    assert found.startswith("1 fault(s)")
    assert found.count("unknown reward") == 1


def test_what_generate_would_refuse_is_said_before_anything_is_trained(tmp_path):
    long = {"beam": {"beam": 2}, "long": {"min_length": 12}}
    assert "decoding.long: min_length=12" in faults(tmp_path / "a", decoding=long)
    mbr = {"mbr": {"mbr": "nothing:here", "samples": 4}}
    assert "choosing.mbr: " in faults(tmp_path / "b", choosing=mbr)


def test_a_row_may_be_chosen_by_a_column_of_the_articles(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "by_topic.py").write_text("def topical(candidates, topic):\n    return [1.0] * len(candidates)\n")
    rows = [{"id": "1", "article": "a fire .", "highlights": "a fire", "topic": "fires"}]
    for name in ("train", "valid", "test"):
        jsonl(tmp_path / f"{name}.jsonl", *rows)
    own = {"simulate": None, "test": str(tmp_path / "test.jsonl"), "rewards": {"rouge-l": "rouge-l"}}
    own["data"] = {name: str(tmp_path / f"{name}.jsonl") for name in ("train", "valid")}
    folder, cells = prepared(tmp_path / "f", **own, choosing={"best": {"best_of": 4, "by": "by_topic:topical"}})
    preflight.check(folder.comparison, cells)
    jsonl(tmp_path / "test.jsonl", {key: rows[0][key] for key in ("id", "article", "highlights")})
    with pytest.raises(ConfigError, match=r"choosing\.best: .*topic"):
        preflight.check(folder.comparison, cells)


def test_a_start_that_does_not_exist_is_said_once(tmp_path):
    found = faults(tmp_path, start=str(tmp_path / "no-run"))
    assert found.count("no-run") >= 1
    assert found.startswith("1 fault(s)")


def test_a_start_that_was_killed_before_its_first_weights_is_no_fault(tmp_path):
    folder, cells = prepared(tmp_path, rewards={"rouge-l": "rouge-l"}, controls=[])
    best = tmp_path / "runs" / "start-1" / "best"
    best.mkdir(parents=True)
    (best / "config.yaml").write_text(yaml.safe_dump(dict(cells[0].config)))
    (best / "rewards.json").write_text("{}")
    preflight.check(folder.comparison, cells)


def test_a_limit_of_simulated_articles_is_counted(tmp_path):
    for limit, count in ((2, 2), (None, comparisons.ARTICLES), (9, comparisons.ARTICLES)):
        folder, cells = prepared(tmp_path / str(limit), test_limit=limit)
        assert preflight.count_of_articles(folder.comparison, cells) == count


def test_a_comparison_without_faults_whose_start_has_dropout_passes(tmp_path):
    start = comparisons.values(tmp_path)["start"]
    start["model"] = {**start["model"], "dropout": 0.3}
    folder, cells = prepared(tmp_path, start=start, rewards={"rouge-l": "rouge-l"}, controls=["none"])
    preflight.check(folder.comparison, cells)


def test_a_plan_has_the_cost_of_every_cell_and_what_one_seed_allows(tmp_path):
    folder, cells = prepared(tmp_path, rewards={"rouge-l": "rouge-l"}, controls=["none"])
    text = io.StringIO()
    cost = {cell.name: Cost(1, 2, 60, 30, 15, 600) for cell in cells}
    show(preflight.plan(folder.comparison, cells, cost, 2), Console(file=text, width=150))
    for said in ("rouge-l-1", "10.0", "of them decoding", "One seed allows no verdict"):
        assert said in text.getvalue()
