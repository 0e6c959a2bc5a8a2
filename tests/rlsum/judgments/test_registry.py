import os
import subprocess
import sys

import datasets
import pytest
from rows import jsonl, table, tsv

from rlsum.errors import RecordError
from rlsum.judgments.layout import JudgmentColumns
from rlsum.judgments.public import READERS
from rlsum.judgments.registry import load
from rlsum.readers import CorpusError

pytestmark = pytest.mark.usefixtures("own_module_cache")
ROW = {"id": "1", "system": "s", "candidate": "c", "references": ["r"], "scores": {"overall": 1}}


@pytest.fixture
def records(tmp_path):
    return jsonl(tmp_path / "judged.jsonl", *({**ROW, "id": name} for name in "12"))


@pytest.fixture
def answers(tmp_path):
    header = ["Id", "EssaySet", "Score1", "Score2", "EssayText"]
    return tsv(tmp_path / "train.tsv", header, [*"1322", "Long."], [*"2311", "Short. Too."], [*"3111", "x"])


def test_our_own_records_by_their_path(records):
    assert [each.id for each in load(records).rows] == ["1", "2"]
    assert load(str(records)).name == str(records)
    with pytest.raises(RecordError, match="takes no options; got 'split'"):
        load(records, split="test")


def test_a_name_with_options_as_text_or_as_arguments(answers):
    written = load(f"asap-sas(sets=3, sentences=2-3):{answers}")
    assert written == load(f"asap-sas(sets=3):{answers}", sentences="2-3")
    assert [each.id for each in written.rows] == ["2"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("asap-sas", "asap-sas: the path is missing; write asap-sas:PATH"),
        ("asap-sas:nowhere.tsv", "asap-sas: no file or folder nowhere.tsv"),
        ("asap-ses:{}", "no reader 'asap-ses'; did you mean 'asap-sas'"),
        ("asap-sas(set=3):{}", "unknown option 'set'; did you mean 'sets'"),
        ("asap-sas(part=dev):{}", "part='dev' is not one of train, test"),
        ("asap-aes(references=many):{}", "references"),
        ("asap-sas(sets):{}", "'sets' is not option=value"),
        ("asap-sas(path=x):{}", "unknown option 'path'"),
        ("nowhere.jsonl", "cannot be read"),
        (".", "a folder; write NAME:"),
    ],
)
def test_what_cannot_be_loaded_is_told(answers, text, told):
    with pytest.raises(RecordError, match=told):
        load(text.format(answers))


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "saved"])
def test_a_table_of_records_has_scores_in_columns(tmp_path, ending):
    texts = {"id": "1", "candidate": "a cat", "reference": "the cat", "url": "x"}
    scores = {"a": {"overall": "3", "flow": ""}, "b": {"overall": "4.5", "flow": "1"}}
    rows = [{**texts, "system": system, **given} for system, given in scores.items()]
    path = tmp_path / f"mine.{ending}"
    if ending == "csv":
        table(path, *rows)
    elif ending == "tsv":
        tsv(path, list(rows[0]), *(list(row.values()) for row in rows))
    else:
        data = datasets.Dataset.from_list([{**row, "overall": float(row["overall"]), "flow": None} for row in rows])
        data.to_parquet(path) if ending == "parquet" else data.save_to_disk(path)
    found = load(path)
    assert [row.scores["overall"] for row in found.rows] == [3.0, 4.5]
    assert found.rows[0].references == ("the cat",)
    assert found.rows[0].scores.get("flow") is None
    assert any("url" in note for note in found.notes)
    assert [row.overall for row in [*found.to_frame().itertuples()]] == [3.0, 4.5]


def test_scored_outputs_are_judgments(tmp_path):
    row = {"id": "1", "system": "a", "candidate": "x", "reference": "y", "scores": {"rouge-l": 0.5}, "undefined": {}}
    (found,) = load(jsonl(tmp_path / "scored.jsonl", row)).rows
    assert (found.references, found.scores) == (("y",), {"rouge-l": 0.5})


def test_a_table_is_told_how_it_is_read(tmp_path):
    (tmp_path / "mine.csv").write_text("id,system,text,overall\n1,a,a cat,3\n")
    with pytest.raises(RecordError, match=r"no column 'candidate' among id, system, text, overall; .*--cand"):
        load(tmp_path / "mine.csv")


def test_a_file_with_a_colon_in_its_name_is_a_file(tmp_path, records):
    records.rename(tmp_path / "my:judgments.jsonl")
    assert len(load(tmp_path / "my:judgments.jsonl").rows) == 2


def test_an_empty_file_is_an_error(tmp_path):
    (tmp_path / "none.jsonl").touch()
    with pytest.raises(RecordError, match="no judgments"):
        load(tmp_path / "none.jsonl")


# ---- datasets ------------------------------------------------------------------------------------------------------

JUDGED = {"scores": {"overall": 0.5, "grammar": None}, "raw_scores": {"overall": [0.0, 1.0]}, "judges": ["ann", "bo"]}
FULL = {**ROW, "source": "src", "group": "g", **JUDGED, "extra": "text"}


def test_a_dataset_saved_on_disk(tmp_path):
    rows = [FULL, {**FULL, "id": "2", "raw_scores": None, "judges": None, "scores": {"grammar": 1.0}}]
    datasets.Dataset.from_list(rows).save_to_disk(tmp_path / "saved")
    found = load(f"hf:{tmp_path / 'saved'}")
    first, second = found.rows
    assert first.scores == {"overall": 0.5, "grammar": None}
    assert (first.raw_scores, first.judges) == ({"overall": (0, 1)}, ("ann", "bo"))
    assert (first.group, first.source) == ("g", "src")
    assert (second.raw_scores, second.judges) == ({}, ())
    assert second.scores == {"overall": None, "grammar": 1}
    assert "columns not read: extra" in found.notes


CLASSES = {"numbers": ("3", "1", "2"), "words": ("bad", "good", "excellent")}


@pytest.mark.parametrize("kind", ["saved", "hf:saved", "hf:folder", "x.parquet"])
def test_classes_have_their_names_and_not_their_alphabetical_numbers(tmp_path, kind):
    texts = {"id": [*"123"], "system": ["s"] * 3, "candidate": ["c"] * 3, "reference": [*"abc"]}
    data = datasets.Dataset.from_dict({**texts, **{name: list(values) for name, values in CLASSES.items()}})
    for name in CLASSES:
        data = data.class_encode_column(name)
    number = data.features["numbers"]
    of_judges = [*data.features.items(), ("each", datasets.List(number)), ("nested", {"flow": number})]
    rows = [{**row, "each": [0, 2], "nested": {"flow": -1}} for row in data]
    data = datasets.Dataset.from_list(rows, features=datasets.Features(of_judges))
    name, _, folder = kind.rpartition(":")
    (tmp_path / "folder").mkdir()
    data.to_parquet(tmp_path / ("folder/train.parquet" if folder == "folder" else "x.parquet"))
    data.save_to_disk(tmp_path / "saved")
    path = f"{name}:{tmp_path / folder}" if name else tmp_path / folder
    found = load(path, columns=("words", "nested"))
    assert [row.scores for row in found.rows] == [{"numbers": float(value)} for value in CLASSES["numbers"]]
    assert [row.columns["words"] for row in found.rows] == list(CLASSES["words"])
    assert found.rows[0].columns["nested"] == {"flow": None}
    each = load(path, layout=JudgmentColumns(scores={"overall": ("each",)}))
    assert each.rows[0].raw_scores == {"overall": (1.0, 3.0)}
    with pytest.raises(RecordError, match="words='bad' is not a score"):
        load(path, layout=JudgmentColumns(scores={"words": ("words",)}))


def test_a_folder_as_the_hub_has_it_and_its_splits(tmp_path):
    folder = tmp_path / "owner"
    for split in ("train", "test"):
        jsonl(folder / f"{split}.jsonl", {**ROW, "id": split})
    assert [each.id for each in load(f"hf(split=test)://{folder}").rows] == ["test"]
    assert load(f"hf://{folder}", split="train").rows[0].id == "train"
    with pytest.raises(CorpusError, match="several splits, train, test"):
        load(f"hf://{folder}")
    with pytest.raises(CorpusError, match="no split 'dev'"):
        load(f"hf(split=dev)://{folder}")
    before = (folder / "train.jsonl").stat()
    jsonl(folder / "train.jsonl", {**ROW, "id": "other"})  # of the same size and, as `rsync -t` has it, time
    os.utime(folder / "train.jsonl", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert load(f"hf://{folder}", split="train").rows[0].id == "other"


def test_rows_of_a_dataset_are_checked_too(tmp_path):
    datasets.Dataset.from_list([ROW, {**ROW, "id": None}]).save_to_disk(tmp_path / "saved")
    with pytest.raises(RecordError, match="saved, row 2: id must be text, not null"):
        load(f"hf:{tmp_path / 'saved'}")


def test_no_reader_needs_torch_or_datasets():
    modules = sorted({target.partition(":")[0] for target in READERS.values()})
    heavy = "[name for name in ('torch', 'datasets', 'spacy') if name in sys.modules]"
    code = f"import rlsum.judgments.registry, {', '.join(modules)}, sys; print({heavy})"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
