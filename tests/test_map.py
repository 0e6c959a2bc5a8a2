"""The map of the repository, docs/architecture.md, names what is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
NAMED = set(
    re.findall(
        r"`((?:rewards|rlsum|human_eval|scripts|tests|docs)/[\w./-]*)`", (ROOT / "docs/architecture.md").read_text()
    )
)


@pytest.mark.parametrize("path", sorted(NAMED))
def test_a_path_of_the_map_is_there(path):
    assert (ROOT / path).exists()
