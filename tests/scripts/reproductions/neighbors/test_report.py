import pytest
import reproduce


def cells(path):
    """The rows of a Markdown table, as lists of cells without bold."""
    lines = path.read_text(encoding="utf-8").replace("*", "").splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]


def test_every_table_and_figure(public_data, tmp_path, capsys):
    out = tmp_path / "out"
    arguments = ["neighbors", f"--data={public_data}", f"--out={out}", "--encoder=none", "--resamples=20"]
    assert reproduce.main(arguments) == 0
    said = capsys.readouterr().out
    assert {path.name for path in out.iterdir()} == {
        *(f"{name}.md" for name in ("table1", "table2", "figure4", "table3")), "figure4.png", "kernels"
    }  # fmt: skip
    for line in ("skipped: BERTScore as a kernel: no encoder given", "pairs\n"):
        assert line in said
    models = [row[:2] for row in cells(out / "table1.md")]
    assert ["summaries", "annotator, average"] in models
    assert ["essays", "METEOR"] in models
    topics = {row[2] for row in cells(out / "table3.md") if row[0] == "essays" and row[1] == "BLEU"}
    assert topics == {*(f"topic {topic}" for topic in range(1, 11)), "length alone"}
    assert reproduce.main([*arguments, "--studies", "table1"]) == 0
    assert "pairs\n" not in capsys.readouterr().out  # the kernels' values were kept


def test_data_that_cannot_be_used_are_named(public_data, tmp_path, capsys):
    (public_data / "huse" / "huse_summarization.jsonl").write_text("{}")
    assert reproduce.main(["neighbors", f"--data={public_data}", f"--out={tmp_path / 'out'}"]) == 1
    assert "huse_summarization.jsonl" in capsys.readouterr().err
    assert reproduce.main(["neighbors", f"--data={tmp_path / 'nowhere'}", f"--out={tmp_path / 'out'}"]) == 0
    said = capsys.readouterr().out
    assert "skipped: summaries: no " in said
    assert "skipped: essays: no " in said


@pytest.mark.slow
def test_real_data(shared, tmp_path):
    """Coverage of HUSE summaries and of essays, by the formula as printed and as it can have been meant."""
    human = shared / "data" / "human"
    arguments = [f"--data={human}", f"--out={tmp_path}", "--encoder=none", "--resamples=50", "--studies", "table1"]
    assert reproduce.main(["neighbors", *arguments]) == 0
    head, *rows = cells(tmp_path / "table1.md")
    table = {tuple(row[:2]): dict(zip(head, row, strict=True)) for row in rows}
    assert float(table["summaries", "BLEU as printed"]["coverage"]) == 0
    assert float(table["essays", "BLEU as printed"]["coverage"]) == 0
    assert float(table["summaries", "BLEU"]["coverage"]) == pytest.approx(0.95, abs=0.02)
    assert float(table["essays", "BLEU"]["coverage"]) == 1
    assert table["essays", "BLEU"]["texts"] == "40"
