from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from reproductions.claims import Claim
from reproductions.published import Entry, read_published, shown
from reproductions.reproduction import Reproduction, print_reproduction, write

from rlsum.errors import UserError
from rlsum.pages.pictures.curves import Curve, Panel, picture
from rlsum.pages.table import Cell, Table

HEAD = "table,dataset,encoder,metric,centering,statistic,value_x100\n"
ENTRY = Entry("table1", "STS12-16", "big", "CKA", "none", "pearson")


def test_published_numbers_are_found_or_not_available(tmp_path: Path) -> None:
    path = tmp_path / "published.csv"
    path.write_text(HEAD + "table1,STS12-16,big,CKA,none,pearson,12.3\n")
    published = read_published(path)
    assert shown(published.get(ENTRY)) == "12.3"
    assert shown(published.get(replace(ENTRY, metric="SBERT"))) == "not available"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("table,dataset\n", "no column encoder, metric"),
        (HEAD + "table1,STS12-16,big,CKA,none,pearson,many\n", ":2: value_x100 'many' is not a number"),
        (HEAD + 2 * "table1,STS12-16,big,CKA,none,pearson,1\n", ":3: .* is a duplicate"),
    ],
)
def test_wrong_files_of_published_numbers(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "published.csv"
    path.write_text(text)
    with pytest.raises(UserError, match=told):
        read_published(path)


def test_a_missing_file_of_published_numbers(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read"):
        read_published(tmp_path / "none.csv")


def test_a_study_is_written_and_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    curve = Curve("a", "#2E86C9", np.array([0.01, 0.1, 1]), np.array([1.0, 2, 3]))
    drawn = picture("figure", "Figure", "a line", [Panel("r", (curve,), "T", (0, 4), ("log", "linear"))])
    study = Reproduction(
        "tried",
        (Table("A table [x]", ("metric", "r"), ((Cell("CKA"), Cell("1.0", "not available")),)),),
        (drawn,),
        (Claim("It helps", "holds", "CKA +1.00 (+0.50 to +1.50)"),),
        ("A note.",),
    )
    written = write(study, tmp_path / "new")
    assert [path.name for path in written] == ["figure.png", "tried.md"]
    assert written[0].read_bytes().startswith(b"\x89PNG")
    text = written[1].read_text()
    for part in ("1.0 (not available)", "A note.", "![Figure](figure.png)", "| It helps | holds |"):
        assert part in text
    print_reproduction(study)
    said = capsys.readouterr().out
    assert "A table [x]" in said
    assert "HOLDS: It helps" in said
