"""The Python interface: what the commands call, on texts in memory and on files, and how results show themselves."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import judged
import numpy as np
import pytest
import tiny

import rewards
from rlsum import api
from rlsum.errors import RecordError, UserError
from rlsum.judgments.records import write_jsonl

CLI = Path(api.__file__).parent / "cli"
REFERENCES = ["the jury agreed in two hours", ["it rained all day", "rain"], "a storm hit the town"]
TEXTS = ["the jury agreed", "it rained", ""]


def test_each_command_calls_its_function():
    for name in ("score", "evaluate", "explain", "correlate", "train", "generate", "compare"):
        tree = ast.parse((CLI / f"{name}.py").read_text(encoding="utf-8"))
        called = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        assert f"api.{name}" in called, name


def test_lists_are_scored_as_the_reward_scores_them(tmp_path):
    scored = api.score(TEXTS, REFERENCES, "rouge-l, rouge-1", out=tmp_path / "s.jsonl", resamples=50)
    listed = [[text] if isinstance(text, str) else text for text in REFERENCES]
    np.testing.assert_array_equal(scored["rouge-l"], rewards.load("rouge-l")(TEXTS, listed))
    assert "rouge-l F1 stems" in repr(scored)
    assert scored.to_frame()["rouge-1"].tolist() == scored["rouge-1"].tolist()
    again = api.score(tmp_path / "s.jsonl", metrics="rouge-l", resamples=50)
    np.testing.assert_array_equal(again["rouge-l"], scored["rouge-l"])
    with pytest.raises(UserError, match="exists"):
        api.score(TEXTS, REFERENCES, "rouge-l", out=tmp_path / "s.jsonl")


@pytest.mark.parametrize(
    ("candidates", "references", "message"),
    [
        ("the storm", ["a"], "candidates='the storm': one text; give a list"),
        (["a", "b"], ["a"], "references: 1 for 2 candidates"),
        (["a"], [[1]], "number 1: references: not text"),
        ([], [], "an empty list"),
    ],
)
def test_lists_that_are_none_are_refused(candidates, references, message):
    with pytest.raises(RecordError, match=message):
        api.score(candidates, references, "rouge-l")
    with pytest.raises(RecordError, match=message):
        api.evaluate({"x": candidates}, references, "rouge-l")


def test_systems_in_memory_are_those_of_files(tmp_path):
    systems = {"a": TEXTS, "b": TEXTS[::-1]}
    in_memory = api.evaluate(systems, REFERENCES, "rouge-l", resamples=50)
    for name, texts in systems.items():
        rows = [{"id": i, "candidate": t, "references": [r] if isinstance(r, str) else r, "system": name}
                for i, (t, r) in enumerate(zip(texts, REFERENCES, strict=True), 1)]  # fmt: skip
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    files = api.evaluate([tmp_path / "a.jsonl", tmp_path / "b.jsonl"], metrics="rouge-l", resamples=50)
    assert files.to_frame().equals(in_memory.to_frame())
    assert repr(files) == repr(in_memory)
    assert [table.caption for table in files.tables][-1] == "Against a"
    assert files.tables[0].to_frame().index.tolist() == ["a", "b"]
    assert files.tables[0]._repr_html_().count("<table>") == 1
    with pytest.raises(UserError, match="'c' is not among the systems"):
        api.evaluate(systems, REFERENCES, "rouge-l", baseline="c")


def test_correlations_of_a_file_and_of_judgments(tmp_path):
    write_jsonl(tmp_path / "judged.jsonl", judged.judged(12))
    data = api.judgments(tmp_path / "judged.jsonl")
    assert "12 texts" in repr(data)
    assert len(data.to_frame()) == 12
    found = api.correlate(data, "rouge-1", resamples=50, statistics=["pearson"])
    assert found.to_frame().equals(
        api.correlate(tmp_path / "judged.jsonl", "rouge-1", resamples=50, statistics=["pearson"]).to_frame()
    )
    assert "rouge-1" in repr(found)
    assert "<table>" in found._repr_html_()
    assert not repr(found).startswith("MetaEvaluation(")
    assert tmp_path / "r" / "report.html" in found.save(tmp_path / "r")


def test_an_explanation_is_numbers_a_page_and_a_file(tmp_path):
    vectors = tmp_path / "v.txt"
    vectors.write_text("storm 1 0\nflood 0.9 0.1\ntown 0 1\n")
    found = api.explain("storm town", "flood", f"wms(vectors={vectors})")
    assert found.to_frame()["weight"].sum() == pytest.approx(1)
    assert repr(found).startswith("wms 0.")
    assert "<iframe" in found._repr_html_()
    assert found.save(tmp_path / "plan.html")
    assert "storm" in (tmp_path / "plan.html").read_text()


def test_a_run_is_trained_and_summarizes(tmp_path):
    rows = [{"id": str(i), "article": source, "highlights": text} for i, (source, text) in enumerate(tiny.stories(8))]
    path = tmp_path / "stories.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    overrides = {"run": str(tmp_path / "run"), "training.steps": 2, "training.batch_size": 2, "data.train": str(path),
                 "data.valid": str(path), "model.hidden": 8, "model.embedding": 6,
                 "vocabulary.embeddings": None}  # fmt: skip
    run = api.train("demo/mle", overrides)
    assert run.stopped is None
    assert "2 updates" in repr(run)
    assert 2 in run.to_frame()["step"].tolist()
    written = api.generate(run, path, tmp_path / "out.jsonl", api.Generating(beam=1, limit=3))
    assert [output.id for output in written.outputs] == ["0", "1", "2"]
    assert "rouge-l" in repr(api.evaluate([written], metrics="rouge-l", resamples=50))
    assert written.to_frame()["system"].unique().tolist() == ["run"]
    assert repr(api.describe("rouge-l")).startswith("rouge-l: ")


def test_a_notebook_shows_a_result_once(monkeypatch):
    """In a notebook rich displays what it prints to any file, besides what the notebook shows of the object."""
    import rich.console
    import rich.jupyter

    shown = []
    monkeypatch.setattr(rich.console, "_is_jupyter", lambda: True)
    monkeypatch.setattr(rich.jupyter, "display", lambda *args: shown.append(args))
    assert "rouge-l" in repr(api.evaluate({"a": TEXTS}, REFERENCES, "rouge-l", resamples=50))
    assert not shown


def test_without_jinja_a_notebook_shows_the_text(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "jinja2", None)
    assert api.evaluate({"a": TEXTS}, REFERENCES, "rouge-l", resamples=50)._repr_html_() is None
