from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rlsum import workers
from rlsum.errors import UserError

BUSY = """
import os, time
from rlsum import workers

def work():
    print(os.getpid(), flush=True)
    time.sleep({seconds})

if __name__ == "__main__":
    with workers.pool(2) as pool:
        pool.submit(work).result()
        print("done", flush=True)
        time.sleep(600)
"""


def begun(folder: Path, seconds: int) -> tuple[subprocess.Popen[str], int]:
    """A process with a worker, and the worker's number."""
    script = folder / "busy.py"
    script.write_text(BUSY.format(seconds=seconds), encoding="utf-8")
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts its background jobs deaf to it
    process = subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    signal.signal(signal.SIGINT, before)
    assert process.stdout is not None
    return process, int(process.stdout.readline())


def ended(number: int) -> bool:
    """Whether a process ends within a minute; by itself it would not."""
    for _ in range(1200):
        try:
            state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):  # the second: it ended while it was read
            return True
        if state == "Z":  # nobody has asked for its end yet
            return True
        time.sleep(0.05)
    return False


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are looked up in /proc")
@pytest.mark.parametrize("seconds", [0, 600], ids=["idle", "busy"])
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_worker_ends_with_a_parent_that_is_killed(tmp_path, how, seconds):
    process, worker = begun(tmp_path, seconds)
    if not seconds:
        assert process.stdout.readline() == "done\n"
    process.send_signal(how)
    process.wait(timeout=120)
    assert ended(worker)


def test_at_ctrl_c_a_worker_ends_without_a_word(tmp_path):
    process, _ = begun(tmp_path, 600)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the whole group
    told, _ = process.communicate(timeout=120)
    assert "KeyboardInterrupt" in told  # the parent's own
    assert "SpawnProcess" not in told


def test_cores_are_shared(monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 7)
    assert [workers.share(processes) for processes in (1, 2, 8)] == [7, 3, 1]


@pytest.mark.parametrize(("given", "threads"), [(None, 1), ("2", min(2, os.cpu_count() or 1))])
def test_a_worker_has_its_threads_unless_the_environment_says_how_many(monkeypatch, given, threads):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    if given is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", given)
    with workers.pool(1, 1) as pool:
        assert pool.submit(eval, "__import__('torch').get_num_threads()").result() == threads


def test_a_worker_that_is_ended_from_outside_is_told():
    with pytest.raises(UserError, match=r"worker process was killed .*try fewer jobs="), workers.pool(1) as pool:
        pool.submit(os._exit, 1).result()
