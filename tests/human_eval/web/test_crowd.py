import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.slow
def test_after_a_crowd_of_sixty_everybody_counts_once_and_the_owner_reads_what_to_pay(tmp_path):
    """Leavers, returners, clickers, two names on a sheet, late comers: the script says what is not as it should be."""
    command = [sys.executable, "scripts/studies/crowd.py", "--out", str(tmp_path / "crowd")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "180 pairs: 180 counted, 0 twice, 0 not" in done.stdout
