"""The distributions: a source distribution is built, a wheel from it, and the wheel tried in an empty folder.

The environment of the trial has the libraries of this one, but rlsum only from the wheel.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
BUILD = "import sys; from setuptools import build_meta as b; print(b.{kind}(sys.argv[1]))"
LEFT_OUT = shutil.ignore_patterns(".git", ".venv", "runs", "shared", "build", "*.egg-info", ".*_cache", ".hypothesis")

pytestmark = pytest.mark.slow


def run(*command: object, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | variables
    arguments = [str(argument) for argument in command]
    return subprocess.run(arguments, cwd=cwd, env=environment, capture_output=True, text=True, timeout=600)


def built(kind: str, source: Path, out: Path) -> Path:
    """The distribution of ``source`` in ``out``."""
    done = run(sys.executable, "-c", BUILD.format(kind=f"build_{kind}"), out, cwd=source)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "would be ignored" not in done.stderr + done.stdout  # data taken for a package
    return out / done.stdout.splitlines()[-1]


@pytest.fixture(scope="module")
def sdist(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("sdist")
    return built("sdist", Path(shutil.copytree(ROOT, folder / "source", symlinks=True, ignore=LEFT_OUT)), folder)


@pytest.fixture(scope="module")
def wheel(sdist, tmp_path_factory) -> Path:
    """Built from the source distribution alone."""
    folder = tmp_path_factory.mktemp("wheel")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))  # new in 3.11.4
    (source,) = folder.iterdir()
    return built("wheel", source, folder)


@pytest.fixture(scope="module")
def python(wheel, tmp_path_factory) -> Path:
    """An environment with this one's libraries, and rlsum from the wheel."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    (packages,) = folder.glob("lib/python*/site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    (packages / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder / "bin" / "python"


def test_the_source_distribution_holds_what_builds_and_tests_it(sdist):
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    tracked = run("git", "ls-files", cwd=ROOT).stdout.splitlines()
    missing = set(tracked) - names - {".gitignore", "rlsum/configs"}
    assert not missing
    assert "tests/conftest.py" in names


def test_the_wheel_holds_packages_data_and_types(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        (metadata,) = (archive.read(name).decode() for name in names if name.endswith("/METADATA"))
    tops = {name.partition("/")[0] for name in names}
    assert tops - {name for name in tops if name.endswith(".dist-info")} == {"rewards", "rlsum", "human_eval"}
    assert {"rlsum/py.typed", "rewards/py.typed", "human_eval/py.typed"} <= names
    assert {"rlsum/configs/demo/sms.yaml", "rlsum/configs/accelerate/fsdp.yaml"} <= names
    assert "Operating System :: POSIX" in metadata
    assert {"human_eval/languages/de.yaml", "rlsum/simulation/wordings/fire.txt"} <= names
    links = re.findall(r"\]\(([^)]+)\)", metadata)  # those of the README
    assert links
    assert all(link.startswith("https://") for link in links)
    assert "Train summarizers on metrics" in metadata


def test_links_of_the_description_lead_to_a_home_or_are_words(monkeypatch):
    monkeypatch.syspath_prepend(ROOT)
    from setup import described

    text = "![A picture](docs/a.png) [rewards](docs/rewards.md#top), [paper](https://example.org/p)"
    assert described(text, "") == " rewards, [paper](https://example.org/p)"
    home = "https://example.org/rlsum/"
    links = f"![A picture]({home}docs/a.png) [rewards]({home}docs/rewards.md#top), [paper](https://example.org/p)"
    assert described(text, home) == links


def test_the_first_minutes_work_in_an_empty_folder(python, tmp_path):
    """As a newcomer types them, from `rlsum --version` to an evaluation of a model trained on data of their own."""

    def rlsum(*arguments: object) -> str:
        done = run(python, "-m", "rlsum", *arguments, cwd=tmp_path, OMP_NUM_THREADS="1")
        assert done.returncode == 0, done.stderr[-2000:]
        return done.stdout

    where = run(python, "-c", "import rlsum, rewards; print(rlsum.__file__, rewards.__file__)", cwd=tmp_path).stdout
    assert where.count(str(python.parent.parent)) == 2
    assert rlsum("--version").startswith("rlsum ")
    code, printed = re.search(r"```python\n(.*?)```\n\n```\n(.*?)```", README.read_text(), re.DOTALL).groups()
    assert run(python, "-c", code, cwd=tmp_path).stdout.split("stems:")[0] == printed.split("stems:")[0]
    assert "demo/sms" in rlsum("configs")
    rlsum("data", "simulate", "stories", "--train", "40", "--valid", "6", "--test", "6", "--no-vectors")
    rlsum("init", "stories", "--name", "mine")
    rlsum("train", "mine.yaml", "training.steps=2", "training.validate_decoded=2")
    rlsum("generate", "runs/mine", "stories/test.jsonl", "-o", "out.jsonl", "--beam", "2")
    assert "rouge-lsum F1" in rlsum("evaluate", "out.jsonl", "-o", "report")
    assert (tmp_path / "report" / "report.html").is_file()
