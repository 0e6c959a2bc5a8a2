"""The map of the repository, docs/architecture.md, names what is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
OTHERS = (ROOT / "CONTRIBUTING.md").read_text().partition("### Tests of other names")[2]
MAP = (ROOT / "docs/architecture.md").read_text()
NAMED = set(re.findall(r"`((?:rewards|rlsum|human_eval|scripts|tests|docs)/[\w./-]*)`", MAP))
TABLE = MAP.partition("## Where to change what")[2]
ROWS = re.findall(r"^- \*\*(.+?)\*\*: (.+)$", TABLE, re.MULTILINE)
FILE = re.compile(r"/|\.(py|html|md|toml|yml)$|^Makefile$")


@pytest.mark.parametrize("path", sorted(NAMED))
def test_a_path_of_the_map_is_there(path):
    assert (ROOT / path).exists()


@pytest.mark.parametrize(("change", "row"), ROWS)
def test_the_files_of_a_change_are_there_and_have_the_names_that_the_map_says(change, row):
    """A file without a folder is in that of the file before it, or in one that holds that folder."""
    folder, files, names = ROOT, [], []
    for quoted in re.findall(r"`([^`]+)`", row):
        if not FILE.search(quoted):
            names.append(quoted.rpartition(".")[2])
            continue
        found = next((paths for place in (ROOT, folder, *folder.parents) if (paths := list(place.glob(quoted)))), None)
        assert found, f"{quoted}, after a file in {folder.relative_to(ROOT)}"
        folder = found[0] if found[0].is_dir() else found[0].parent
        files += [file for path in found for file in (path.rglob("*.py") if path.is_dir() else [path])]
    text = "\n".join(file.read_text(encoding="utf-8") for file in files)
    assert [name for name in names if not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)] == []


def others() -> dict[str, Path]:
    """A folder or module of the product -> the test of what has none of its name, as CONTRIBUTING.md says."""
    tests, package, folder = {}, "", ""
    for line in re.findall(r"^- (.+)$", OTHERS, re.MULTILINE):
        package = line[1:].partition("/")[0]
        for named, test in re.findall(r"((?:`[^`]+`, )*`[^`]+`): `([^`]+)`", line):
            for name in re.findall(r"`([^`]+)`", named):
                if name.endswith("/"):
                    folder = f"{package}/{name}".replace(f"{package}/{package}/", f"{package}/")
                place = folder if name.endswith("/") else folder + name
                mirrored, of_package = ROOT / "tests" / folder / test, ROOT / "tests" / package / test
                tests[place] = mirrored if mirrored.exists() else of_package
    return tests


def test_every_module_has_a_test_that_is_there():
    known = others()
    assert [str(test) for test in known.values() if not test.exists()] == []
    files = [path for package in ("rewards", "rlsum", "human_eval") for path in (ROOT / package).rglob("[!_]*.py")]
    modules = [path.relative_to(ROOT) for path in files]
    lacking = {path for path in modules if not (ROOT / "tests" / path.with_name(f"test_{path.name}")).exists()}
    assert [path for path in lacking if not {str(path), f"{path.parent}/"} & {*known}] == []
    assert [path for path in known if path.endswith(".py") and Path(path) not in lacking] == [], "have their own"
