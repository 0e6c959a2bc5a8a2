"""One input format: every command that reads records reads each way of writing them."""

import json

import datasets
import pytest
from rows import jsonl, table

from rlsum.readers import records

ROWS = [
    {"id": str(n), "system": system, "candidate": text, "reference": "the storm hit ohio", "overall": float(n + grade)}
    for grade, (system, text) in enumerate({"a": "a storm", "b": "the storm hit"}.items())
    for n in range(4)
]
ENDINGS = ["csv", "semicolon.csv", "tsv", "json", "jsonl", "parquet", "saved"]


@pytest.fixture(params=ENDINGS)
def written(request, tmp_path):
    path = tmp_path / f"out.{request.param}"
    if path.suffix in (".csv", ".tsv"):
        delimiter = ";" if "semicolon" in path.name else "\t" if path.suffix == ".tsv" else ","
        table(path, *ROWS, delimiter=delimiter)
    elif path.suffix in (".json", ".jsonl"):  # of judgments, a file of objects has scores in an object
        rows = [{"scores": {"overall": row.pop("overall")}, **row} for row in map(dict, ROWS)]
        path.write_text(json.dumps(rows, indent=1)) if path.suffix == ".json" else jsonl(path, *rows)
    else:
        data = datasets.Dataset.from_list(ROWS)
        data.to_parquet(path) if path.suffix == ".parquet" else data.save_to_disk(path)
    return path


def test_each_format_is_scored_evaluated_explained_and_correlated(rlsum, written, tmp_path):
    few = ("--metrics", "rouge-1", "--resamples", 20)
    assert "85.71" in rlsum("score", written, *few)[1]  # of b: 6 of 7 words
    assert "Against a" in rlsum("evaluate", written, *few)[1]
    explained = rlsum("explain", written, "--id", "2", "--system", "b", "-o", tmp_path / "e.json")
    assert explained[0] == 0
    assert "rouge-1" in rlsum("correlate", written, *few, "--no-cache")[1]


def test_plain_texts_are_evaluated_against_a_file_of_references(rlsum, tmp_path):
    for name, lines in {"short": ["a storm", "rain"], "long": ["the storm hit", "it rained"]}.items():
        (tmp_path / f"{name}.txt").write_text("\n".join(lines) + "\n")
    (tmp_path / "gold.txt").write_text("the storm hit ohio\nit rained all day\n")
    files = (tmp_path / "short.txt", tmp_path / "long.txt")
    against = ("--references", tmp_path / "gold.txt")
    data = json.loads(rlsum("evaluate", *files, *against, "--metrics", "rouge-1", "--json")[1])
    assert [each["system"] for each in data["systems"]] == ["short", "long"]
    assert data["systems"][1]["metrics"]["rouge-1"]["mean"] == pytest.approx((6 / 7 + 2 / 3) / 2)
    (tmp_path / "gold.txt").write_text("one line\n")
    assert "has 2 lines but" in rlsum("evaluate", *files, *against)[2]


def test_splits_that_were_saved_together_are_named(tmp_path):
    data = datasets.Dataset.from_list(ROWS)
    datasets.DatasetDict({"valid": data, "test": data}).save_to_disk(tmp_path / "both")
    with pytest.raises(ValueError, match="both/test"):
        next(records(tmp_path / "both"))


def test_a_column_is_of_files_of_texts_and_not_of_records(refused, tmp_path):
    (tmp_path / "c.csv").write_text("summary,candidate,reference\na,b,c\n")
    for command in ("score", "evaluate"):
        for option in ("--candidate-column", "--reference-column"):
            told = refused(command, tmp_path / "c.csv", option, "summary")
            assert "column 'summary': records have `candidate` and `references`" in told


def test_alternatives_in_columns_or_cells_are_one_mean_in_every_command(rlsum, tmp_path):
    """The best of three references, whatever they are written in: 6 of 7 words of the second."""
    texts = ["a flood in ohio", "the storm hit ohio", "rain"]
    three = {f"reference{number}": text for number, text in enumerate(texts, 1)}
    common = {"id": "1", "system": "s", "candidate": "the storm hit"}
    written = [three, *({"references": cell} for cell in (texts, repr(texts), json.dumps(texts)))]
    for number, cells in enumerate(written):
        for ending in ("csv", "jsonl"):
            path = tmp_path / f"{number}.{ending}"
            row = common | cells
            {"jsonl": jsonl, "csv": table}[ending](path, row)
            for command in ("score", "evaluate"):
                _, printed, _ = rlsum(command, path, "--metrics", "rouge-1", "--resamples", 20)
                assert "85.71" in printed
            out = tmp_path / f"{number}-{ending}.jsonl"
            name = "reference2" if "reference2" in cells else "references"
            converted = rlsum("data", "outputs", path, "--candidate", "candidate", "--reference", name, "-o", out)
            assert converted[0] == 0
            assert json.loads(out.read_text())["references"] == texts


@pytest.mark.parametrize(
    "command",
    [
        ("score", "{}", "--metrics", "rouge-1", "--resamples", 5),
        ("evaluate", "{}", "--metrics", "rouge-1", "--resamples", 5),
        ("score", "--candidates", "{}", "--references", "{}", "--metrics", "rouge-1", "--resamples", 5),
        ("correlate", "{}", "--metrics", "rouge-1", "--resamples", 20, "--no-cache"),
        ("data", "judgments", "{}"),
        ("data", "outputs", "{}", "--candidate", "candidate", "-o", "o.jsonl"),
        ("data", "convert", "{}", "--source-column", "candidate", "--reference-column", "reference", "-o", "o.jsonl"),
        ("explain", "{}", "--id", 3, "--system", "a", "-o", "e.json"),
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_every_command_says_in_one_line_what_it_understood(rlsum, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    rows = [{**row, "reference2": "hail" if row["id"] == "3" else ""} for row in ROWS]
    path = table(tmp_path / "mine.csv", *rows)
    code, _, told = rlsum(*(path if part == "{}" else part for part in command))
    assert code == 0, told
    (line,) = [line for line in told.splitlines() if "references 'reference', 'reference2'" in line]
    assert "8 rows; " in line
    assert "(1 to 2 a row" in line
