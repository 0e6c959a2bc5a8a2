from __future__ import annotations

import gc
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import rewards

SUPPORT = Path(__file__).resolve().parents[2] / "support"
ROOT = SUPPORT.parent.parent


@pytest.fixture(autouse=True, scope="module")
def importable() -> Iterator[None]:
    sys.path.insert(0, str(SUPPORT))
    yield
    sys.path.remove(str(SUPPORT))


@pytest.fixture(scope="module")
def limited() -> Iterator[rewards.Reward]:
    """With a limit that no text of these tests reaches, on a busy machine neither."""
    reward = rewards.from_spec("limited(reward=awkward:awkward, seconds=300, workers=2)")
    yield reward
    reward.close()


@pytest.fixture(scope="module")
def hasty() -> Iterator[rewards.Reward]:
    """With a limit that is waited for."""
    reward = rewards.from_spec("limited(reward=awkward:awkward, seconds=3, workers=2)")
    yield reward
    reward.close()


def alive(pid: int) -> bool:
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):  # the second: it ended while it was read
        return False


def ended(pid: int) -> bool:
    """Whether a process ends, which takes a killed one a moment."""
    for _ in range(1200):
        if not alive(pid):
            return True
        time.sleep(0.05)
    return False


def test_scores_and_order_are_the_inner_ones(limited: rewards.Reward) -> None:
    texts = [f"text {'x' * number}" for number in range(40)]
    references = [["a"] * (number % 3) for number in range(40)]
    np.testing.assert_array_equal(limited(texts, references), rewards.load("awkward:awkward")(texts, references))
    assert limited([], []).shape == (0,)


@pytest.mark.parametrize("text", ["sleep 600", "backtrack"])
def test_a_text_over_its_time_is_undefined_and_the_others_are_not(hasty: rewards.Reward, text: str) -> None:
    start = time.monotonic()
    scores = hasty(["one", text, "three", "four"])
    assert time.monotonic() - start < 300
    np.testing.assert_equal(scores, [3.0, np.nan, 5.0, 4.0])
    assert hasty.undefined(text) == "scoring it took more than 3 seconds"
    assert hasty.undefined("one") is None


def test_a_worker_that_dies_is_replaced(limited: rewards.Reward) -> None:
    np.testing.assert_equal(limited(["one", "die", "three"]), [3.0, np.nan, 5.0])
    assert "twice (exit code 3)" in str(limited.undefined("die"))


def test_one_death_is_not_held_against_the_text(limited: rewards.Reward, tmp_path: Path) -> None:
    text = f"die-once {tmp_path / 'died'}"
    assert limited([text])[0] == len(text)
    assert (tmp_path / "died").exists()


def test_the_inner_reason_is_kept(limited: rewards.Reward) -> None:
    assert np.isnan(limited(["nan"]))[0]
    assert limited.undefined("nan") == "awkward:awkward returned NaN"


def test_what_the_reward_raises_is_raised_and_the_next_call_works(limited: rewards.Reward) -> None:
    with pytest.raises(RuntimeError, match="KeyError: 'here'"):
        limited(["one", "raise here", "sleep 600"])
    assert limited(["one"])[0] == 3.0


def test_a_worker_that_cannot_start_is_an_error_and_no_loop() -> None:
    reward = rewards.from_spec("limited(reward=awkward:unstartable, seconds=1)")
    with pytest.raises(rewards.RewardError, match=r"ended while starting \(exit code 7\)"):
        reward(["one"])


def test_rewards_that_need_company_are_refused() -> None:
    with pytest.raises(rewards.RewardError, match="depend on the batch"):
        rewards.from_spec("limited(reward=source_rewards:Ranked, seconds=1)")(["a", "b"], [["a"], ["b"]])


def test_it_travels_without_its_workers(limited: rewards.Reward) -> None:
    copy = pickle.loads(pickle.dumps(limited))
    assert copy.signature == limited.signature
    assert copy(["four"])[0] == 4.0
    pids = [worker.process.pid for worker in copy._pool.workers]
    assert pids
    del copy
    gc.collect()
    assert all(ended(pid) for pid in pids)


def test_the_limit_is_in_the_signature_and_the_workers_are_not() -> None:
    spec = "limited(reward=rouge-l, seconds={})"
    one, two, three = (rewards.from_spec(spec.format(options)) for options in ("1", "2", "2, workers=3"))
    assert one.signature != two.signature == three.signature
    assert rewards.load("rouge-l").signature in one.signature


@pytest.mark.parametrize("options", ["seconds=0", "seconds=1, workers=0"])
def test_wrong_options(options: str) -> None:
    with pytest.raises(rewards.RewardError, match="limited: "):
        rewards.from_spec(f"limited(reward=rouge-l, {options})")


def run(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    (folder / "script.py").write_text(script)
    where = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(SUPPORT)])}
    command = [sys.executable, "script.py"]
    return subprocess.run(command, cwd=folder, env=where, capture_output=True, text=True, timeout=600, check=False)


def test_the_interpreter_ends_with_a_busy_worker(tmp_path: Path) -> None:
    """A thread is in the middle of a call whose text never ends; the program ends all the same, and the worker too."""
    done = run(
        "import threading, time, rewards\n"
        "if __name__ == '__main__':\n"
        "    reward = rewards.from_spec('limited(reward=awkward:awkward, seconds=1000)')\n"
        "    reward(['warm'])\n"
        "    threading.Thread(target=reward, args=(['backtrack'],), daemon=True).start()\n"
        "    time.sleep(0.5)\n"
        "    print(reward._pool.workers[0].process.pid, flush=True)\n",
        tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert ended(int(done.stdout))


def test_a_script_without_its_guard_is_told(tmp_path: Path) -> None:
    done = run("import rewards; rewards.from_spec('limited(reward=rouge-l, seconds=1)')(['a'], [['a']])\n", tmp_path)
    assert done.returncode == 1
    assert "__main__" in done.stderr.strip().splitlines()[-1]
