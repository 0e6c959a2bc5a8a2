import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "studies" / "loop.py"


@pytest.fixture
def loop(monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "argv", ["rlsum"])
    spec = spec_from_file_location("loop", SCRIPT)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_worth_by_hand(loop):
    """Three facts of which one is not in the article and one is said twice, in five words."""
    assert loop.worth("the cat . a dog runs", "cat the cat dog storm") == pytest.approx(2 - 5 * loop.PRICE)


@pytest.mark.slow
def test_judges_prefer_what_was_trained_on_their_votes(loop, tmp_path):
    """A small form of the script: fewer votes, articles and updates, one reward. A control may be the start itself."""
    options = ["--votes", "600", "--items", "60", "--start-steps", "500", "--steps", "80"]
    shown = {name: (share, p) for name, share, p in loop.main([*options, "--out", str(tmp_path / "loop")])}
    share, p = shown.pop("votes-600")
    assert share > 0.6
    assert p < 0.01
    assert all(other < share for other, _ in shown.values())
    assert shown.get("none", (0.5, 1.0))[1] > 0.01
