from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from rlsum.compare import cells
from rlsum.compare.cells import BEAM, GREEDY, Cell, CellError, outputs_path
from rlsum.training.checkpoint import RESULT, STATE


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
    both = threading.Barrier(2, timeout=120)  # each waits until the other runs, too

    def work(item: int) -> int:
        both.wait()
        return item * item

    assert cells.side_by_side(work, [1, 2, 3, 4], 2) == [1, 4, 9, 16]


def test_an_error_stops_what_has_not_begun_and_lets_finish_what_has():
    begun, finished, failed = [], [], threading.Event()

    def work(item: int) -> None:
        begun.append(item)
        if item == 1:
            failed.set()
            raise CellError("broken")
        failed.wait(120)  # the first is still under way when the second fails
        time.sleep(1)  # until the pool knows
        finished.append(item)

    with pytest.raises(CellError, match="broken"):
        cells.side_by_side(work, range(100), 2)
    assert (sorted(begun), finished) == ([0, 1], [0])


def test_an_interruption_of_this_process_alone_ends_its_commands(tmp_path, monkeypatch):
    endless = tmp_path / "endless"
    endless.write_text("#!/bin/sh\necho begun\nexec sleep 600\n")
    endless.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(endless))
    both = threading.Barrier(2, timeout=120)

    def say(line: str) -> None:
        if both.wait() == 0:
            os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts its background jobs deaf to it
    since = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        cells.side_by_side(lambda item: cells._run(["train"], say), range(3), 2)
    signal.signal(signal.SIGINT, before)
    assert time.monotonic() - since < 300
    assert not cells._under_way


def test_a_command_that_fails_says_what_it_printed(tmp_path):
    with pytest.raises(CellError, match=r"rlsum generate .*nowhere.* failed in"):
        cells.decode(cell(tmp_path / "nowhere"), tmp_path / "none.jsonl", tmp_path, (GREEDY,), lambda line: None)
