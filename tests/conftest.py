"""What several test modules share."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

os.environ["HF_HUB_OFFLINE"] = "1"  # no test asks the network, and libraries read this when they are imported

# Examples are the same everywhere and may take their time: a busy machine is no fault. `--hypothesis-profile default`
# draws others.
settings.register_profile("tests", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tests")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--as-on-gpu", action="store_true", help="models compute on the CPU as they do on a GPU")


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("gpu"):
        import torch

        if not torch.cuda.is_available():
            pytest.skip("needs a GPU")


@pytest.fixture(scope="session", autouse=True)
def _as_on_gpu(request: pytest.FixtureRequest) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        if request.config.getoption("as_on_gpu"):
            import gpu

            gpu.forced(patch)
        yield


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data and golden values; tests that need it skip where it is absent."""
    folder = Path(os.environ.get("RLSUM_SHARED", ROOT.parent / "shared"))
    if not folder.is_dir():
        pytest.skip(f"no shared data at {folder}; set RLSUM_SHARED to its path")
    return folder


@pytest.fixture(scope="session")
def tiny_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a BERT of 3 layers and 20 positions over a few words."""
    from encoders import save_tiny

    return save_tiny(tmp_path_factory.mktemp("encoder"))


@pytest.fixture
def fresh_precision() -> Iterator[None]:
    """Accelerate keeps the first precision of a process."""
    from accelerate.state import AcceleratorState

    AcceleratorState._reset_state(reset_partial_state=True)
    yield
    AcceleratorState._reset_state(reset_partial_state=True)


@pytest.fixture
def rlsum(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run a command in this process: (exit code, standard output, standard error)."""
    from rlsum.cli import main

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["rlsum", *map(str, arguments)])
        monkeypatch.setenv("COLUMNS", "500")  # so wide that no line is folded, however long the path of a file is
        monkeypatch.setenv("LINES", "50")  # both, or a dumb terminal has 80 columns
        with pytest.raises(SystemExit) as ended:
            main()
        return int(ended.value.code or 0), *capsys.readouterr()

    return run


@pytest.fixture
def ran(rlsum: Callable[..., tuple[int, str, str]]) -> Callable[..., str]:
    """Run a command that succeeds: its standard output."""

    def run(*arguments: object) -> str:
        code, out, err = rlsum(*arguments)
        assert code == 0, err
        return out

    return run


@pytest.fixture
def refused(rlsum: Callable[..., tuple[int, str, str]]) -> Callable[..., str]:
    """Run a command that is refused: its standard error."""

    def run(*arguments: object) -> str:
        code, _, err = rlsum(*arguments)
        assert code == 2
        return err

    return run
