"""What is said before anything is trained."""

import io
import logging

import comparisons
import pytest
import yaml
from comparisons import prepared
from rich.console import Console
from rows import jsonl

from rlsum.compare import costs, preflight
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
    assert set(costs.costs(folder, cells, 6, Console(quiet=True))) >= {"start-1", "rouge-l-1"}


def test_a_limit_of_simulated_articles_is_counted(tmp_path):
    for limit, count in ((2, 2), (None, comparisons.ARTICLES), (9, comparisons.ARTICLES)):
        folder, cells = prepared(tmp_path / str(limit), test_limit=limit)
        assert preflight.count_of_articles(folder.comparison, cells) == count


def test_the_time_of_all_cells_is_that_of_those_that_wait_for_each_other(tmp_path):
    _, cells = prepared(tmp_path, rewards={"rouge-l": "rouge-l"}, controls=["none"])
    cost = {cell.name: costs.Cost(0, 0, 0, 0, 0, 10 if cell.kind == "start" else 3) for cell in cells}
    cells = [cell for cell in cells if cell.config is not None]
    assert [cell.name for cell in cells] == ["start-1", "none-1", "rouge-l-1"]
    assert [costs.makespan(cells, cost, jobs) for jobs in (1, 2, 4)] == [16, 13, 13]


def test_a_comparison_without_faults_whose_start_has_dropout_passes_and_has_a_cost(tmp_path):
    start = comparisons.values(tmp_path)["start"]
    start["model"] = {**start["model"], "dropout": 0.3}
    folder, cells = prepared(tmp_path, start=start, rewards={"rouge-l": "rouge-l"}, controls=["none"])
    preflight.check(folder.comparison, cells)
    before = logging.getLogger("rlsum.readers").level
    text = io.StringIO()
    console = Console(file=text, width=150)
    found = costs.costs(folder, cells, 600, console)
    assert set(found) == {"start-1", "none-1", "rouge-l-1", "lead-3", "oracle"}
    assert found["oracle"].total == found["oracle"].scoring > 0
    assert logging.getLogger("rlsum.readers").level == before  # what is read later in this process warns again
    for cost, updates, validations in ((found["start-1"], 4, 3), (found["rouge-l-1"], 2, 3)):
        trained = updates * cost.update + validations * cost.validation
        assert cost.total == pytest.approx(trained + cost.decoding + cost.scoring + cost.starting)
        assert min(cost.decoding, cost.scoring, cost.starting) > 0
    assert text.getvalue().count(" s an update") == 3
    assert costs.costs(folder, cells, 600, console) == found  # remembered
    assert text.getvalue().count(" s an update") == 3
    show(preflight.plan(folder.comparison, cells, found, 2), console)
    assert "rouge-l-1" in text.getvalue()
    assert "of them decoding" in text.getvalue()
    twice = costs.costs(folder, cells, 1200, console)
    assert twice["rouge-l-1"].decoding == pytest.approx(2 * found["rouge-l-1"].decoding)
    assert twice["rouge-l-1"].scoring == pytest.approx(2 * found["rouge-l-1"].scoring)
    assert twice["rouge-l-1"].starting == found["rouge-l-1"].starting
    assert "One seed allows no verdict" in text.getvalue()


def test_what_is_slow_is_timed_once(monkeypatch):
    done = []
    for seconds, count in ((50.0, 1), (2.0, 4)):
        monkeypatch.setattr(costs.time, "perf_counter", lambda seconds=seconds: seconds * len(done))
        done.clear()
        assert costs._mean_seconds(lambda: done.append(None), 3) == (seconds, count)
