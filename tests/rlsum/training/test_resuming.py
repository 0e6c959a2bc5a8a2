"""A run that was killed, or finished, goes on as if nothing had happened."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from left import assert_same_run, log_of

from rlsum.training import checkpoint
from rlsum.training.log.monitor import forget_after

SUPPORT = Path(__file__).parents[2] / "support"


MOMENTS = {
    "writing-first-state": True,
    "writing-state": True,
    "writing-weights": True,
    "before-rename": True,
    "between-weights-and-state": True,
    "between-log-and-state": True,
    "in-update": True,
    "at-random-1": False,
    "at-random-2": False,
}


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """A folder of runs that were killed, and the folder of one that was not."""
    sys.path.insert(0, str(SUPPORT))
    from killed import trainer

    folder = tmp_path_factory.mktemp("runs")
    done = subprocess.run(
        [sys.executable, str(SUPPORT / "killed.py"), str(folder)], capture_output=True, text=True, timeout=900
    )
    assert done.returncode == 0, done.stderr
    outcome = dict(line.split() for line in done.stdout.splitlines())
    trainer(folder / "whole").fit()
    return folder, outcome, trainer


@pytest.mark.parametrize("moment", MOMENTS)
def test_killed_and_resumed_equals_uninterrupted(killed, moment):
    folder, outcome, trainer = killed
    if MOMENTS[moment]:
        assert outcome[moment] == "killed"
    run = folder / moment
    # killed before its first state was whole, a run is started again
    trainer(run, resume=(run / checkpoint.STATE).exists()).fit()
    assert_same_run(run, folder / "whole")


def test_the_run_that_is_killed_is_one_in_which_all_of_the_state_matters(killed):
    """Resuming with a fresh optimiser or at another update must show."""
    folder, _, trainer = killed
    rows = [row for row in log_of(folder / "whole") if row["kind"] == "train"]
    assert [row["step"] for row in rows] == [2, 3, 4, 6, 8]
    assert len({row["gamma"] for row in rows}) == 5
    assert len({row["learning_rate"] for row in rows}) >= 4
    assert all(row["advantage_std"] > 0 for row in rows)
    run = folder / "forgetful"
    forgetful = trainer(run)
    update = forgetful.update

    def forget():
        if forgetful.progress.step == 4:
            forgetful.optimizer.state.clear()
        update()

    forgetful.update = forget
    forgetful.fit()
    with pytest.raises(AssertionError):
        assert_same_run(run, folder / "whole")


def test_resuming_a_finished_run_changes_nothing(killed):
    folder, _, trainer = killed
    before = {path: path.read_bytes() for path in sorted((folder / "whole").rglob("*")) if path.is_file()}
    trainer(folder / "whole", resume=True).fit()
    assert {path: path.read_bytes() for path in before} == before


def test_logs_forget_what_comes_after_and_what_was_cut_in_a_character(tmp_path):
    path = tmp_path / "m.jsonl"
    rows = [json.dumps({"step": step, "text": "a\u2028é\x85b"}, ensure_ascii=False) for step in (0, 2, 4)]
    whole = "".join(row + "\n" for row in rows).encode()
    path.write_bytes(whole + rows[2].encode()[: -len('b"}') - 3])
    with pytest.raises(UnicodeDecodeError):
        path.read_text(encoding="utf-8")
    forget_after(path, 2)
    assert path.read_bytes() == "".join(row + "\n" for row in rows[:2]).encode()
    forget_after(path, -1)
    assert path.read_bytes() == b""
    forget_after(tmp_path / "none.jsonl", 3)
