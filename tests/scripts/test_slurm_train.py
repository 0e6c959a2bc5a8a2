"""scripts/slurm_train.sh with stand-ins for Slurm's commands and for the launcher, whose process is a real one."""

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "slurm_train.sh"
COMMANDS = {
    "srun": '#!/bin/bash\nshift\necho $$ > "$PLACE/step"\nexec "$@"\n',
    "scontrol": '#!/bin/bash\nif [ "$1" = show ]; then echo here; else echo "$@" > "$PLACE/queue"; fi\n',
    "scancel": '#!/bin/bash\n[ "$1" = --signal=USR1 ] && kill -USR1 "$(cat "$PLACE/step")"\n',
    "accelerate": f"""#!{sys.executable}
import os, pathlib, subprocess, sys
place = pathlib.Path(os.environ["PLACE"])
(place / "arguments").write_text(" ".join(sys.argv[1:]))
sys.exit(subprocess.call([sys.executable, place / "training.py"]))
""",
    "training.py": """
import os, pathlib, signal, sys
def stop(number, frame):
    (place / "saved").touch()
    sys.exit(128 + number)
place = pathlib.Path(os.environ["PLACE"])
signal.signal(signal.SIGUSR1, stop)
(place / "ready").touch()
if not (place / "endless").exists():
    sys.exit(3)
while True:
    signal.pause()
""",
}


@pytest.fixture
def job(tmp_path):
    """Starts the script, returns its process."""
    for name, text in COMMANDS.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(stat.S_IRWXU)
    slurm = {"SLURM_JOB_NODELIST": "here", "SLURM_JOB_ID": "7", "SLURM_NNODES": "1", "SLURM_NODEID": "0"}
    environment = {**os.environ, **slurm, "PLACE": str(tmp_path), "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    return lambda: subprocess.Popen(["bash", SCRIPT, "c.yaml", "run=a b"], env=environment)


def test_before_its_time_is_over_a_job_saves_and_goes_back_to_the_queue(job, tmp_path):
    (tmp_path / "endless").touch()
    with job() as process:
        while not (tmp_path / "ready").exists():
            time.sleep(0.01)
        process.send_signal(signal.SIGUSR1)
        assert process.wait(20) == 0
    assert (tmp_path / "saved").exists()
    assert (tmp_path / "queue").read_text() == "requeue 7\n"
    assert (tmp_path / "arguments").read_text().endswith("-m rlsum train --auto-resume c.yaml run=a b")


def test_a_training_that_fails_is_not_requeued(job, tmp_path):
    with job() as process:
        assert process.wait(20) == 3
    assert not (tmp_path / "queue").exists()
