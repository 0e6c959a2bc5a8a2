"""What an installation costs: distributions, megabytes and seconds of each extra, and seconds to its first score.

    python scripts/measure_install.py                    # every extra of EXTRAS; minutes each
    python scripts/measure_install.py core lexical

A wheel is built from HEAD. Each extra is installed from it into an empty environment, with the versions of
``constraints.txt`` and without pip's cache; the environment is removed afterwards. The first score is that of a new
process in an empty folder. Seconds are those of the clock, and in brackets those of processors, which do not depend on
what else the machine does.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXTRAS = ("core", "lexical", "movers", "contextual", "train", "report", "human", "all")
SCORE = (
    "import rewards; print(*rewards.from_spec({spec!r})(['the jury agreed .'], [['the jury agreed in two hours .']]))"
)


def seconds(*command: object, cwd: Path) -> tuple[float, float]:
    """Seconds of a command, of the clock and of processors; raises CalledProcessError where it fails."""
    begin, used = time.perf_counter(), processors()
    subprocess.run([str(word) for word in command], cwd=cwd, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin, processors() - used


def processors() -> float:
    """Seconds of processors that ended children used."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def wheel(folder: Path) -> Path:
    """The wheel of HEAD."""
    source = folder / "source"
    source.mkdir()
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, check=True, capture_output=True).stdout
    subprocess.run(["tar", "x"], cwd=source, input=archive, check=True)
    seconds(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, source, cwd=folder)
    (built,) = folder.glob("*.whl")
    return built


def measure(extra: str, built: Path) -> str:
    """The row of an extra."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment, empty = folder / "environment", folder / "empty"
        empty.mkdir()
        subprocess.run([sys.executable, "-m", "venv", environment], check=True)
        python = environment / "bin" / "python"
        (packages,) = environment.glob("lib/python*/site-packages")
        distributions, size = count(packages)
        wanted = built if extra == "core" else f"{built}[{extra}]"
        pip = (python, "-m", "pip", "install", "--quiet", "--no-cache-dir", "--disable-pip-version-check")
        installed = seconds(*pip, "-c", ROOT / "constraints.txt", wanted, cwd=empty)
        after, size_after = count(packages)
        spec = "rouge-l(stemmer=false)" if extra == "core" else "rouge-l"
        scored = seconds(python, "-c", SCORE.format(spec=spec), cwd=empty)
    megabytes = (size_after - size) / 1e6
    times = f"{installed[0]:.0f} ({installed[1]:.0f}) | {scored[0]:.1f} ({scored[1]:.1f})"
    return f"| `{extra}` | {after - distributions} | {megabytes:,.0f} | {times} |"


def count(packages: Path) -> tuple[int, int]:
    """Distributions in a site-packages folder, and its size in bytes."""
    files = [path for path in packages.rglob("*") if path.is_file() and not path.is_symlink()]
    return len(list(packages.glob("*.dist-info"))), sum(path.stat().st_size for path in files)


def main() -> None:
    """Print the table, a row as soon as it is measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("extras", nargs="*", metavar="EXTRA", help=" ".join(EXTRAS))
    extras = parser.parse_args().extras or EXTRAS
    if unknown := set(extras) - {*EXTRAS}:
        parser.error(f"no extra {min(unknown)!r}; choose from {', '.join(EXTRAS)}")
    print("| extra | distributions | MB | seconds to install (processor) | to the first score (processor) |")
    print("|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        built = wheel(Path(folder))
        for extra in extras:
            print(measure(extra, built), flush=True)


if __name__ == "__main__":
    main()
