"""A run that was killed, or finished, goes on as if nothing had happened."""

import json
import subprocess
import sys

import killed
import pytest
from left import assert_same_run, log_of

from rlsum.training.log.monitor import forget_after
from rlsum.training.run import train

KINDS = {kind: killed.moments(kind) for kind in killed.KINDS}
TABLE = [(kind, moment) for kind, moments in KINDS.items() for moment in moments]


@pytest.fixture(scope="module")
def ended(tmp_path_factory):
    """A folder of runs of every kind that were ended and begun again, and how they ended: kind, moment -> codes."""
    folder = tmp_path_factory.mktemp("runs")
    done = subprocess.run([sys.executable, killed.__file__, folder], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder, {(kind, moment): codes for kind, moment, *codes in map(json.loads, done.stdout.splitlines())}


@pytest.mark.parametrize(("kind", "moment"), TABLE, ids=map(": ".join, TABLE))
def test_ended_and_begun_again_equals_uninterrupted(ended, kind, moment):
    folder, codes = ended
    last = moment.split(", ")[-1]
    if "random" not in moment:
        assert codes[kind, moment][0] in {"SIGKILL": {-9}, "SIGTERM": {-15, 143}, "ENOSPC": {75}}[last.split()[0]]
    assert codes[kind, moment][-1] == 0
    run, whole = (killed.run_of(folder, kind, name) for name in (moment, killed.WHOLE))
    assert_same_run(run, whole)
    files = [{path.relative_to(one) for path in one.rglob("*")} for one in (run, whole)]
    assert files[0] == files[1]
    for path in files[0]:
        if path.suffix in (".safetensors", ".yaml") or (path.suffix == ".json" and path.name != "environment.json"):
            content = [(one / path).read_bytes().replace(bytes(one), b"") for one in (run, whole)]
            assert content[0] == content[1], path


@pytest.mark.parametrize("kind", KINDS)
def test_the_runs_that_are_ended_are_such_in_which_all_of_the_state_matters(ended, kind):
    """Going on without the optimizer's state must show, and so must samples: no two have equal rewards."""
    folder, codes = ended
    assert codes[kind, killed.FORGETFUL] == [0]
    forgetful, whole = (killed.run_of(folder, kind, name) for name in (killed.FORGETFUL, killed.WHOLE))
    with pytest.raises(AssertionError):
        assert_same_run(forgetful, whole)
    rows = log_of(whole, "train")
    assert len({row["learning_rate"] for row in rows}) > 1
    assert all(row.get("advantage_std", 1.0) > 0 for row in rows)


def test_resuming_a_finished_run_changes_nothing(ended):
    whole = ended[0] / "llama-lora-init" / killed.WHOLE
    before = {path: path.read_bytes() for path in sorted(whole.rglob("*")) if path.is_file()}
    train(resume=whole)
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
