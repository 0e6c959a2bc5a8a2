from __future__ import annotations

import csv
from types import SimpleNamespace

import pytest
import reproduce

CSVS = {"table1", "sweeps", "table2", "figure4", "table3", "section5.3", "claims"}
PICTURES = {"figures2-3", "figures2-3-as-printed", "figure4"}


@pytest.fixture
def run(capsys):
    def run(*arguments):
        code = reproduce.main(["neighbors", *map(str, arguments)])
        said = capsys.readouterr()
        return SimpleNamespace(returncode=code, stdout=said.out, stderr=said.err)

    return run


def rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_every_table_and_figure(run, public_data, tmp_path):
    out = tmp_path / "out"
    arguments = ("--data", public_data, "--out", out, "--encoder", "none", "--resamples", 20)
    found = run(*arguments)
    assert found.returncode == 0, found.stderr
    assert {path.stem for path in out.glob("*.csv")} == CSVS
    assert {path.stem for path in out.glob("*.png")} == PICTURES
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in out.glob("*.png"))
    for line in (
        "skipped: dialogue: its judgments are not public; they can be given by --dialogue DATA",
        "skipped: BERTScore as a kernel: no encoder given",
        "skipped: WMS, SMS and S+WMS in Table 3: no vectors given",
        "not available",
    ):
        assert line in found.stdout
    models = {(row["task"], row["model"]) for row in rows(out / "table1.csv")}
    assert ("summaries", "annotator, best") in models
    assert ("essays", "METEOR") in models
    topics = {row["examples"] for row in rows(out / "table3.csv")}
    assert topics == {*(f"topic {topic}" for topic in range(1, 11)), "all but 3", "ROUGE-L", "length alone"}
    again = run(*arguments, "--studies", "table1")
    assert "pairs\n" in found.stdout
    assert "pairs\n" not in again.stdout  # the kernels' values were kept
    assert rows(out / "claims.csv")


def test_a_task_that_is_given_runs(run, public_data, tmp_path):
    summaries = f"huse:{public_data / 'huse' / 'huse_summarization.jsonl'}"
    found = run("--data", tmp_path / "nowhere", "--out", tmp_path / "out", "--dialogue", summaries, "--encoder", "none",
                "--resamples", 20, "--studies", "table1", "section5.3")  # fmt: skip
    assert found.returncode == 0, found.stderr
    assert "skipped: summaries: no " in found.stdout
    assert "skipped: essays: no " in found.stdout
    assert {row["task"] for row in rows(tmp_path / "out" / "table1.csv")} == {"dialogue"}
    assert "open-ended" in (tmp_path / "out" / "claims.csv").read_text(encoding="utf-8")


def test_data_that_cannot_be_used_are_named(run, public_data, tmp_path):
    found = run("--data", public_data, "--out", tmp_path / "out", "--dialogue", "huse:nowhere.jsonl")
    assert found.returncode == 1
    assert found.stderr == "error: huse: no file or folder nowhere.jsonl\n"


@pytest.mark.slow
def test_real_data(run, shared, tmp_path):
    """Coverage of HUSE summaries and of essays, by the formula as printed and as it can have been meant."""
    human = shared / "data" / "human"
    found = run("--data", human, "--out", tmp_path, "--encoder", "none", "--resamples", 50, "--studies", "table1")
    assert found.returncode == 0, found.stderr
    table = {(row["task"], row["model"]): row for row in rows(tmp_path / "table1.csv")}
    coverage = {key: float(row["coverage"]) for key, row in table.items() if row["coverage"]}
    assert coverage["summaries", "BLEU* as printed"] == coverage["essays", "BLEU* as printed"] == 0
    assert coverage["summaries", "BLEU*"] == pytest.approx(0.95, abs=0.02)
    assert coverage["essays", "BLEU*"] == 1
    assert table["essays", "BLEU*"]["texts"] == "40"
