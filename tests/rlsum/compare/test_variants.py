from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from rlsum.compare import variants
from rlsum.compare.variants import BEAM, GREEDY, CommandError, Variant, outputs_path
from rlsum.training.checkpoint import RESULT, STATE


@pytest.fixture
def commands(monkeypatch):
    """What would be run."""
    listed: list[list[str]] = []
    monkeypatch.setattr(variants, "_run", lambda command, log: listed.append(command))
    return listed


def variant(folder: Path) -> Variant:
    return Variant("MLE+RL sms", Path("configs/demo/sms.yaml"), folder / "sms", "sms", ("training.seed=2",))


def test_a_training_begins_goes_on_or_is_kept(tmp_path, commands):
    one = variant(tmp_path)
    variants.train(one, tmp_path / "mle", print)
    one.run.mkdir()
    (one.run / STATE).touch()
    variants.train(one, tmp_path / "mle", print)
    (one.run / RESULT).touch()
    variants.train(one, tmp_path / "mle", print)
    begun = ["train", str(one.config), f"run={one.run}", "training.seed=2", "--init", str(tmp_path / "mle")]
    assert commands == [begun, ["train", "--resume", str(one.run)]]


def test_only_what_is_missing_is_decoded(tmp_path, commands):
    one, articles = variant(tmp_path), tmp_path / "test.jsonl"
    outputs_path(tmp_path, one, BEAM).touch()
    variants.decode(one, articles, tmp_path, print)
    [command] = commands
    assert command[:5] == ["generate", str(one.run), str(articles), "-o", str(outputs_path(tmp_path, one, GREEDY))]
    assert command[-4:] == list(GREEDY.options)


def test_parallel_work_keeps_the_order_and_runs_that_many_at_a_time():
    both = threading.Barrier(2, timeout=120)  # each waits until the other runs, too

    def work(item: int) -> int:
        both.wait()
        return item * item

    assert variants.run_parallel(work, [1, 2, 3, 4], 2) == [1, 4, 9, 16]


def test_an_error_stops_what_has_not_begun_and_lets_finish_what_has():
    begun, finished, failed = [], [], threading.Event()

    def work(item: int) -> None:
        begun.append(item)
        if item == 1:
            failed.set()
            raise CommandError("broken")
        failed.wait(120)  # the first is still under way when the second fails
        time.sleep(1)  # until the pool knows
        finished.append(item)

    with pytest.raises(CommandError, match="broken"):
        variants.run_parallel(work, range(100), 2)
    assert (sorted(begun), finished) == ([0, 1], [0])


def test_an_interruption_of_this_process_alone_ends_its_commands(tmp_path, monkeypatch):
    endless = tmp_path / "endless"
    endless.write_text("#!/bin/sh\necho begun\nexec sleep 600\n")
    endless.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(endless))
    both = threading.Barrier(2, timeout=120)

    def log(line: str) -> None:
        if both.wait() == 0:
            os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts its background jobs deaf to it
    since = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        variants.run_parallel(lambda item: variants._run(["train"], log), range(3), 2)
    signal.signal(signal.SIGINT, before)
    assert time.monotonic() - since < 300
    assert not variants._processes


def test_a_command_that_fails_says_what_it_printed(tmp_path):
    with pytest.raises(CommandError, match=r"rlsum generate .*nowhere.* failed in"):
        variants.decode(variant(tmp_path / "nowhere"), tmp_path / "none.jsonl", tmp_path, lambda line: None)
