from __future__ import annotations

from pathlib import Path

import pytest
import reproduce
from reproductions.movers.command import STUDIES


@pytest.fixture
def arguments(human_data: Path, vectors: Path, tiny_encoder: Path, tmp_path: Path) -> list[str]:
    summaries, essays = "chaganty2018_cnndm/cnndm_lqual.tsv", "asap_aes_set3/asap_aes_set3.tsv"
    texts = [f"--summaries={human_data / summaries}", f"--essays={human_data / essays}"]
    options = [f"--vectors={vectors}", f"--encoder={tiny_encoder}", f"--out={tmp_path / 'out'}"]
    return [*texts, *options, "--resamples=20", "--references=3"]


def metrics(path: Path) -> list[str]:
    """The first cells of a Markdown table's rows."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    return [line.split(" | ")[0].strip("|* ") for line in lines[2:]]


def test_every_study(arguments: list[str], tmp_path: Path, capsys, monkeypatch) -> None:
    assert reproduce.main(["movers", *arguments]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    for line in ("Published: not available", "HOLD", "CPU seconds", "one judge against the others"):
        assert line in said.out
    out = tmp_path / "out"
    written = {path.name for path in out.iterdir()}
    assert {f"{study}.md" for study in STUDIES} <= written
    assert (out / "table2.png").read_bytes().startswith(b"\x89PNG")
    correlations = (out / "table2.md").read_text(encoding="utf-8")
    for text in ("n = 36", "n = 29"):
        assert text in correlations

    def fail(*_: object) -> None:
        raise AssertionError("scored again")

    monkeypatch.setattr("rewards.mover.static.StaticMover.scores", fail)
    monkeypatch.setattr("rewards.mover.contextual.ContextualMover.scores", fail)
    assert reproduce.main(["movers", "table2", *arguments]) == 0
    assert (out / "table2.md").read_text(encoding="utf-8") == correlations


def test_one_study_without_contextual_vectors(arguments: list[str], tmp_path: Path, capsys) -> None:
    assert reproduce.main(["movers", "table2", *arguments, "--encoder=none"]) == 0
    labels = ["ROUGE-L F1", "ROUGE-L recall", "WMS, static", "SMS, static", "S+WMS, static", "length (letters)"]
    assert metrics(tmp_path / "out" / "table2.md")[: len(labels)] == labels
    assert "contextual" not in capsys.readouterr().out


def test_what_is_not_there_is_skipped(arguments: list[str], tmp_path: Path, capsys) -> None:
    without = [each for each in arguments if not each.startswith("--essays")]
    code = reproduce.main(["movers", "table2", "references", *without, "--encoder=none", f"--data={tmp_path}"])
    said = capsys.readouterr().out
    assert code == 0
    assert "essays: skipped, no " in said
    assert "references: skipped, needs essays" in said
    assert "| metric | summaries (n = 36) |\n" in (tmp_path / "out" / "table2.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("--summaries=none.tsv", "no file or folder none.tsv"),
        ("--vectors=none.txt", "none.txt"),
        ("--encoder=/none", "/none"),
        ("--essay=1", "no essay has the id '1'"),
        ("--references=99", "7 best-scored essays"),
    ],
)
def test_wrong_arguments_are_told_before_anything_is_scored(arguments, capsys, monkeypatch, given, told):
    monkeypatch.setattr("reproductions.movers.correlations.scored", lambda *_, **__: pytest.fail("scored"))
    assert reproduce.main(["movers", "table2", "references", *arguments, given]) == 1
    said = capsys.readouterr()
    assert said.err.startswith("error: ")
    assert told in said.err
    assert "Table" not in said.out


def test_an_output_folder_that_cannot_be_made(arguments: list[str], tmp_path: Path, capsys) -> None:
    (tmp_path / "file").write_text("")
    assert reproduce.main(["movers", "table2", *arguments, f"--out={tmp_path / 'file' / 'out'}"]) == 1
    assert str(tmp_path / "file") in capsys.readouterr().err


def test_no_data_at_all(arguments: list[str], tmp_path: Path, capsys) -> None:
    others = [each for each in arguments if not each.startswith(("--essays", "--summaries"))]
    assert reproduce.main(["movers", *others, f"--data={tmp_path / 'nowhere'}"]) == 1
    assert "no judged texts" in capsys.readouterr().err


@pytest.mark.parametrize("given", ["--resamples=0", "--references=0", "table9"])
def test_numbers_and_names_that_make_no_sense(arguments: list[str], given: str) -> None:
    with pytest.raises(SystemExit):
        reproduce.main(["movers", *arguments, given])
