"""The map of the repository, docs/architecture.md, names what is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
MAP = (ROOT / "docs/architecture.md").read_text()
NAMED = set(re.findall(r"`((?:rewards|rlsum|human_eval|scripts|tests|docs)/[\w./-]*)`", MAP))
TABLE = MAP.partition("## Where to change what")[2].partition("\nSteps:")[0]
ROWS = dict(re.findall(r"^- \*\*(.+?)\*\*: (.+)$", TABLE, re.MULTILINE))
FILE = re.compile(r"/|\.(py|html|md|toml|yml)$|^Makefile$")


@pytest.mark.parametrize("path", sorted(NAMED))
def test_a_path_of_the_map_is_there(path):
    assert (ROOT / path).exists()


@pytest.mark.parametrize("change", ROWS)
def test_the_files_of_a_change_are_there_and_have_the_names_that_the_map_says(change):
    """A file without a folder is in that of the file before it, or in one that holds that folder."""
    folder, files, names = ROOT, [], []
    for quoted in re.findall(r"`([^`]+)`", ROWS[change]):
        if not FILE.search(quoted):
            names.append(quoted.rpartition(".")[2])
            continue
        found = next((paths for place in (ROOT, folder, *folder.parents) if (paths := list(place.glob(quoted)))), None)
        assert found, f"{quoted}, after a file in {folder.relative_to(ROOT)}"
        folder = found[0] if found[0].is_dir() else found[0].parent
        files += [file for path in found for file in (path.rglob("*.py") if path.is_dir() else [path])]
    text = "\n".join(file.read_text(encoding="utf-8") for file in files)
    assert [name for name in names if not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)] == []
