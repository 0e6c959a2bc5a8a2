from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from rlsum.checkpoint import RESULT, STATE
from rlsum.compare import cells
from rlsum.compare.cells import BEAM, GREEDY, Cell, CellError, outputs_path


@pytest.fixture
def commands(monkeypatch):
    """What would be run."""
    found: list[list[str]] = []
    monkeypatch.setattr(cells, "_run", lambda command, say: found.append(command))
    return found


def cell(folder: Path) -> Cell:
    return Cell("MLE+RL sms", Path("configs/demo/sms.yaml"), folder / "sms", "sms", ("training.seed=2",))


def test_a_training_begins_goes_on_or_is_kept(tmp_path, commands):
    one = cell(tmp_path)
    cells.train(one, tmp_path / "mle", print)
    one.run.mkdir()
    (one.run / STATE).touch()
    cells.train(one, tmp_path / "mle", print)
    (one.run / RESULT).touch()
    cells.train(one, tmp_path / "mle", print)
    begun = ["train", str(one.config), f"run={one.run}", "training.seed=2", "--init", str(tmp_path / "mle")]
    assert commands == [begun, ["train", "--resume", str(one.run)]]


def test_only_what_is_missing_is_decoded(tmp_path, commands):
    one, articles = cell(tmp_path), tmp_path / "test.jsonl"
    outputs_path(tmp_path, one, BEAM).touch()
    cells.decode(one, articles, tmp_path, (BEAM, GREEDY), print)
    [command] = commands
    assert command[:5] == ["generate", str(one.run), str(articles), "-o", str(outputs_path(tmp_path, one, GREEDY))]
    assert command[-4:] == list(GREEDY.options)


def test_side_by_side_keeps_the_order_and_runs_that_many_at_a_time():
    both = threading.Barrier(2, timeout=20)  # each waits until the other runs, too

    def work(item: int) -> int:
        both.wait()
        return item * item

    assert cells.side_by_side(work, [1, 2, 3, 4], 2) == [1, 4, 9, 16]


def test_an_error_stops_what_has_not_begun():
    begun = []

    def work(item: int) -> None:
        begun.append(item)
        if item == 0:
            raise CellError("broken")
        time.sleep(0.01)

    with pytest.raises(CellError, match="broken"):
        cells.side_by_side(work, range(100), 1)
    assert len(begun) < 100


def test_a_command_that_fails_says_what_it_printed(tmp_path):
    with pytest.raises(CellError, match=r"rlsum generate .*nowhere.* failed in"):
        cells.decode(cell(tmp_path / "nowhere"), tmp_path / "none.jsonl", tmp_path, (GREEDY,), lambda line: None)
