"""SummEval, FRANK, RoSE and TL;DR: tiny files in the layouts that are published."""

import gzip
import json

import pytest
from rows import jsonl

from rlsum import api
from rlsum.errors import RecordError
from rlsum.judgments.registry import load


def rated(coherence, others=3):
    return {"coherence": coherence, "consistency": others, "fluency": others, "relevance": others}


def summary(model, text="A storm hit the town.", **fields):
    row = {"id": "cnn-1", "model_id": model, "decoded": text, "references": ["A storm came.", "It stormed."]}
    row |= {"filepath": "cnn/1.story", "expert_annotations": [rated(5), rated(3), rated(1)]}
    return {**row, "turker_annotations": [rated(4)] * 5, **fields}


def test_summeval_is_recognised_and_read(tmp_path):
    path = jsonl(tmp_path / "model_annotations.aligned.jsonl", summary("M1"), summary("M2", text="Rain."))
    found = load(path)
    first, second = found.rows
    assert found.notes[0] == "recognised as summeval"
    assert (first.id, first.system) == ("cnn-1", "M1")
    assert (first.candidate, second.candidate) == ("A storm hit the town.", "Rain.")
    assert first.scores == {"coherence": 3, "consistency": 3, "fluency": 3, "relevance": 3, "overall": 3}
    assert first.raw_scores["overall"] == (3.5, 3, 2.5)
    assert load(f"summeval(judges=turker, references=1):{path}").rows[0].scores["coherence"] == 4
    assert load(f"summeval(references=1):{path}").rows[0].references == ("A storm came.",)
    paired = jsonl(tmp_path / "paired.jsonl", summary("M1", text="Rain.") | {"text": "The article."})
    assert load(paired).rows[0].source == "The article."


def frank_folder(tmp_path):
    row = {"model_name": "bart", "article": "Long.", "reference": "A line."}
    texts = [{**row, "hash": name, "summary": f"Short {name}."} for name in "ab"]
    row = {"model_name": "bart", "dataset": "cnndm", "RelE": 1.0}
    marks = [
        {**row, "hash": name, "Factuality": value, "Flip_RelE": value, "split": split}
        for name, value, split in (("a", 0.5, "valid"), ("b", 1.0, "test"), ("c", 1.0, "test"))
    ]
    (tmp_path / "benchmark_data.json").write_text(json.dumps(texts, indent=1))
    (tmp_path / "human_annotations.json").write_text(json.dumps(marks, indent=1))
    return tmp_path


def test_frank_joins_its_two_files(tmp_path):
    folder = frank_folder(tmp_path)
    found = load(folder)
    assert [(row.candidate, row.scores) for row in found.rows] == [
        ("Short a.", {"overall": 0.5, "RelE": 1}),
        ("Short b.", {"overall": 1, "RelE": 1}),
    ]
    assert sum(found.left_out.values()) == 1  # a text that is not there
    assert {row.group for row in found.rows} == {"cnndm"}
    assert load(folder / "human_annotations.json").rows == found.rows
    assert [row.id for row in load(f"frank(split=valid):{folder}").rows] == ["a"]
    (folder / "benchmark_data.json").unlink()
    with pytest.raises(RecordError, match=r"no benchmark_data\.json"):
        load(folder)


def test_rose_has_a_judgment_for_each_system(tmp_path):
    row = {"source": "Long.", "reference": "A line.", "count_id": 0, "example_id": "x"}
    row["reference_acus"] = ["A line is."]
    marks = {"bart": 1.0, "brio": 0.0}.items()
    row["annotations"] = {name: {"acu_labels": [1], "acu": acu, "normalized_acu": acu / 2} for name, acu in marks}
    row["system_outputs"] = {"bart": "A line.", "brio": "Another."}
    found = load(jsonl(tmp_path / "cnndm_test.jsonl", row))
    assert [(each.system, each.candidate) for each in found.rows] == [("bart", "A line."), ("brio", "Another.")]
    assert found.rows[0].scores == {"acu": 1, "normalized_acu": 0.5, "overall": 1}
    del row["system_outputs"]["brio"]
    with pytest.raises(RecordError, match=r":1: not an article of RoSE \(KeyError: 'brio'"):
        load(f"rose:{jsonl(tmp_path / 'cut.jsonl', row)}")


def comparison(choice, worker, policies=("sup4", "ref"), swapped=False):
    both = [{"text": " It rained.", "policy": policies[0], "note": None}, {"text": "Rain!", "policy": policies[1]}]
    info = {"id": "t3_x", "post": "It rained all day.", "title": "Rain", "subreddit": "weather"}
    choice, both = (1 - choice, both[::-1]) if swapped else (choice, both)
    return {"info": info, "summaries": both, "choice": choice, "worker": worker, "batch": "batch9", "split": "train"}


def test_choices_become_shares_whichever_text_came_first(tmp_path):
    votes = [comparison(0, "ann"), comparison(0, "bo", swapped=True), comparison(1, "cy")]
    path = jsonl(tmp_path / "batch9.json", *votes)
    with gzip.open(tmp_path / "batch9.json.gz", "wb") as file:
        file.write(path.read_bytes())
    for found in (load(path), load(tmp_path / "batch9.json.gz")):
        scores = {row.system: row for row in found.rows}
        assert scores["sup4"].scores["overall"] == pytest.approx(2 / 3)
        assert scores["ref"].raw_scores["overall"] == (0, 0, 1)
        assert scores["ref"].judges == ("ann", "bo", "cy")
        assert scores["sup4"].source == "It rained all day."
    with pytest.raises(RecordError, match="no judgments"):
        load(f"tldr(split=valid2):{path}")
    twins = load(jsonl(tmp_path / "twins.json", comparison(0, "ann", ("sup4", "sup4")))).rows
    assert {row.system: row.scores["overall"] for row in twins} == {"sup4": 1, "sup4#2": 0}
    with pytest.raises(RecordError, match="choice=2 of 2 summaries"):
        load(jsonl(tmp_path / "wrong.json", comparison(0, "ann") | {"choice": 2}))


def test_a_public_file_is_correlated_as_it_is(tmp_path):
    texts = ["A storm came.", "A storm hit.", "Rain.", "Sun and rain came."]
    rated_texts = enumerate(zip(texts, map(rated, (5, 4, 1, 2)), strict=True))
    rows = [summary("M1", text=text, id=str(n), expert_annotations=[mark]) for n, (text, mark) in rated_texts]
    path = jsonl(tmp_path / "model_annotations.aligned.jsonl", *rows)
    found = api.correlate(path, "rouge-1", score="coherence", statistics=["spearman"], resamples=20)
    assert len(found.table) == 4


def test_our_own_records_are_not_taken_for_another(tmp_path):
    text = 'they wrote "decoded": and "expert_annotations": in it'
    row = {"id": "1", "system": "s", "candidate": text, "references": [text], "scores": {"overall": 1}}
    assert load(jsonl(tmp_path / "own.jsonl", row)).name.endswith("own.jsonl")
