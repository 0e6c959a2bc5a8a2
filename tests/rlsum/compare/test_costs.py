"""What a comparison's commands used, beside what was planned."""

from __future__ import annotations

import json

import comparisons
import pytest

from rlsum.compare import costs
from rlsum.compare.work import CellFailed, Work


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
