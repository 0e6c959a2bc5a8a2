"""What a comparison will cost, and what its commands used."""

from __future__ import annotations

import io
import json
import logging

import comparisons
import pytest
import yaml
from rich.console import Console

from rlsum.compare import costs
from rlsum.compare.work import CellFailed, Work

pytestmark = pytest.mark.usefixtures("own_module_cache")


def test_every_cell_has_a_cost_that_is_timed_once(tmp_path):
    start = comparisons.values(tmp_path)["start"]
    start["model"] = {**start["model"], "dropout": 0.3}
    folder, cells = comparisons.prepared(tmp_path, start=start, rewards={"rouge-l": "rouge-l"}, controls=["none"])
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
    twice = costs.costs(folder, cells, 1200, console)
    assert twice["rouge-l-1"].decoding == pytest.approx(2 * found["rouge-l-1"].decoding)
    assert twice["rouge-l-1"].scoring == pytest.approx(2 * found["rouge-l-1"].scoring)
    assert twice["rouge-l-1"].starting == found["rouge-l-1"].starting


def test_a_start_that_was_killed_before_its_first_weights_is_timed_by_its_size(tmp_path):
    folder, cells = comparisons.prepared(tmp_path, rewards={"rouge-l": "rouge-l"}, controls=[])
    killed = tmp_path / "runs" / "start-1" / "best"
    killed.mkdir(parents=True)
    (killed / "config.yaml").write_text(yaml.safe_dump(dict(cells[0].config)))
    (killed / "rewards.json").write_text("{}")
    assert set(costs.costs(folder, cells, 6, Console(quiet=True))) >= {"start-1", "rouge-l-1"}


def test_the_time_of_all_cells_is_that_of_those_that_wait_for_each_other(tmp_path):
    _, cells = comparisons.prepared(tmp_path, rewards={"rouge-l": "rouge-l"}, controls=["none"])
    cost = {cell.name: costs.Cost(0, 0, 0, 0, 0, 10 if cell.kind == "start" else 3) for cell in cells}
    cells = [cell for cell in cells if cell.config is not None]
    assert [cell.name for cell in cells] == ["start-1", "none-1", "rouge-l-1"]
    assert [costs.makespan(cells, cost, jobs) for jobs in (1, 2, 4)] == [16, 13, 13]


def test_what_is_slow_is_timed_once(monkeypatch):
    done = []
    for seconds, count in ((50.0, 1), (2.0, 4)):
        monkeypatch.setattr(costs.time, "perf_counter", lambda seconds=seconds: seconds * len(done))
        done.clear()
        assert costs._mean_seconds(lambda: done.append(None), 3) == (seconds, count)


def test_a_plan_is_held_against_what_the_commands_of_finished_cells_used(tmp_path):
    folder, cells = comparisons.finished(tmp_path, {}, seeds=(1,), controls=[])
    assert costs.held(folder, cells, 80) == []
    # 4 updates, 3 validations, 80 articles, two starts of processes; half of the time on a processor
    timed = {"update": 10, "validation": 5, "decoding": {"decoding.beam": 0.5}, "scoring": 9, "starting": 1, "cpu": 0.5}
    (tmp_path / "costs.json").write_text(json.dumps(dict.fromkeys(("start", "rouge-l", "rouge-2"), timed)))
    logs = {
        "start-1": "$ rlsum train\nsaid\n\n# 20.50 CPU seconds\n$ rlsum generate\n\n# 17.50 CPU seconds\n",
        "rouge-l-1": "$ rlsum train\n$ rlsum train --resume\n\n# 9.00 CPU seconds\n",  # the first was killed
    }
    for name, text in logs.items():
        folder.log(comparisons.named(cells, name)).write_text(text)
    expected = (4 * 10 + 3 * 5 + 80 * 0.5 + 2 * 1) / 2
    (said,) = costs.held(folder, cells, 80)
    assert f"expected {expected:,.0f} CPU seconds" in said
    assert f"for 1 of 3 cells, which took 38: a factor of {expected / 38:.2f}" in said


def test_a_log_has_the_cpu_seconds_of_every_command_that_was_seen_to_its_end(tmp_path):
    folder, (cell, *others) = comparisons.prepared(tmp_path)
    work = Work(folder, [cell], [cell], 1)
    with folder.lock(cell.name) as lock:
        work._command(cell, ["--version"], lock)
        once = folder.cpu_seconds(cell)
        with pytest.raises(CellFailed, match="no-such-command"):
            work._command(cell, ["no-such-command"], lock)
    assert 0 < once < folder.cpu_seconds(cell)
    assert folder.cpu_seconds(others[0]) is None


@pytest.mark.parametrize(("seconds", "said"), [(5, "5 s"), (300, "5 minutes"), (9000, "2.5 hours")])
def test_durations_are_said_in_the_unit_that_one_would_say(seconds, said):
    assert costs.duration(seconds) == said
