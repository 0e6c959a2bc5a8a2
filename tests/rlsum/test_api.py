"""The Python interface: what the commands call, on texts in memory and on files, and how results show themselves."""

import ast
import csv
import doctest
import sys
import textwrap
import types
from pathlib import Path

import judged
import numpy as np
import pandas
import pytest
from rows import jsonl

import rewards
from rlsum import api
from rlsum.cli.usage import COMMANDS
from rlsum.errors import RecordError, UserError
from rlsum.judgments.records import write_jsonl
from rlsum.records import Output
from rlsum.simulation.stories import stories

CLI = Path(api.__file__).parent / "cli"
REFERENCES = ["the jury agreed in two hours", ["it rained all day", "rain"], "a storm hit the town"]
TEXTS = ["the jury agreed", "it rained", ""]


def test_each_command_calls_its_function():
    for name in {*COMMANDS} & {*api.__all__}:
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
        ({"one": "a"}, ["a"], "a mapping, whose keys are no texts"),
        (["a"], {"one": "a"}, "references: a mapping"),
        (["a"], [{"one": "a"}], "number 1: references: not text"),
        ({"a"}, ["a"], "a set, which has no order"),
        (pandas.DataFrame({"text": ["a"]}), ["a"], "a table of 2 dimensions"),
        (pandas.Series(["a", "b"], [1, 0]), pandas.Series(["a", "b"]), "candidates and references: columns with ano"),
    ],
)
def test_lists_that_are_none_are_refused(candidates, references, message):
    with pytest.raises(RecordError, match=message):
        api.score(candidates, references, "rouge-l")
    with pytest.raises(RecordError, match=message):
        api.evaluate({"x": candidates}, references, "rouge-l")


def test_outputs_may_be_in_a_tuple():
    made = tuple(Output(str(row), "", (text,), text, "x") for row, text in enumerate(["a b", "c"]))
    assert api.evaluate({"x": made}, metrics="rouge-1", resamples=2).metrics["x"]["rouge-1"].n == 2


def test_columns_of_pandas_are_lists_and_what_is_missing_is_no_reference():
    frame = pandas.DataFrame({"text": ["a b", "c", "d"], "gold": [["a"], np.nan, None]}).iloc[[2, 0, 1]]
    scored = api.score(frame.text, frame.gold, "rouge-1", resamples=2)["rouge-1"]
    np.testing.assert_allclose(scored, [np.nan, 2 / 3, np.nan])
    mean = api.evaluate({"x": frame.text}, frame.gold, "rouge-1", resamples=2).metrics["x"]["rouge-1"]
    assert (mean.mean, mean.n) == (pytest.approx(2 / 3), 1)


@pytest.mark.parametrize("options", [{"metrics": []}, {"workers": 0}, {"resamples": 0}])
def test_nothing_to_score_with_is_told(options):
    with pytest.raises(UserError, match=f"{next(iter(options))}="):
        api.score(["a"], ["a"], **options)


def test_systems_in_memory_are_those_of_files(tmp_path):
    systems = {"a": TEXTS, "b": TEXTS[::-1]}
    in_memory = api.evaluate(systems, REFERENCES, "rouge-l", resamples=50)
    for name, texts in systems.items():
        rows = [{"id": i, "candidate": t, "references": [r] if isinstance(r, str) else r, "system": name}
                for i, (t, r) in enumerate(zip(texts, REFERENCES, strict=True), 1)]  # fmt: skip
        jsonl(tmp_path / f"{name}.jsonl", *rows)
    files = api.evaluate([tmp_path / "a.jsonl", tmp_path / "b.jsonl"], metrics="rouge-l", resamples=50)
    assert files.to_frame().equals(in_memory.to_frame())
    assert files._repr_html_().count("<table>") == len(files.tables) == 3
    assert repr(files) == repr(in_memory)
    assert [table.caption for table in files.tables][-1] == "Against a"
    assert files.tables[0].to_frame().index.tolist() == ["a", "b"]
    assert files.tables[0]._repr_html_().count("<table>") == 1
    with pytest.raises(UserError, match="baseline='c': not among the systems"):
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
    assert "<img" in found._repr_html_()
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


def test_the_examples_run_and_notebooks_show_pictures(tmp_path, monkeypatch):
    """Those of `train` and `generate`, in the folder of a user's table."""
    monkeypatch.chdir(tmp_path)
    rows = [(" ".join(story.article), " ".join(story.highlights)) for story in stories(1, "train", 24)]
    with Path("articles.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("text", "summary"), *rows])
    notebook = types.ModuleType("__main__")
    vars(notebook).update({name: getattr(api, name) for name in ("init", "train", "generate", "Generating")})
    monkeypatch.setitem(sys.modules, "__main__", notebook)
    for function in (api.train, api.generate):
        text = textwrap.dedent(f"    {function.__doc__}")
        example = doctest.DocTestParser().get_doctest(text, {}, function.__name__, None, 0)
        example.globs = vars(notebook)
        assert example.examples
        assert doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example, clear_globs=False).failed == 0
    written = api.Generated(Path("out.jsonl"), "articles", 2)
    run = notebook.run
    assert 4 in run.to_frame()["step"].tolist()
    assert run._repr_html_().count("<img") == 1
    assert "<h" in written._repr_html_() or written.outputs[0].candidate[:5] in written._repr_html_()
    assert "train, 2 valid, 2 test" in repr(notebook.drafted)  # in repr(notebook.drafted)
    assert written.to_frame()["system"].unique().tolist() == ["articles"]
    assert repr(api.describe("rouge-l")).startswith("rouge-l: ")
    del notebook.short  # as on the command line
    with pytest.raises(rewards.RewardError, match="script or notebook"):
        rewards.from_spec("__main__:short")


def counted(candidates, topic):
    """A reward: how often the topic occurs."""
    return [text.count(word) for text, word in zip(candidates, topic, strict=True)]


def plain(candidates):
    return [float(len(text)) for text in candidates]


def test_a_function_is_a_reward_wherever_a_name_is(tmp_path):
    topics = {"topic": ["jury", "rain", "storm"]}
    name = f"{__name__}:counted"
    assert rewards.load(plain)(TEXTS).tolist() == [15, 9, 0]
    assert rewards.load("cached", reward=plain)(TEXTS).tolist() == [15, 9, 0]
    assert api.score(TEXTS, REFERENCES, counted, columns=topics, resamples=20)[name].tolist() == [1, 1, 0]
    found = api.evaluate({"a": TEXTS, "b": REFERENCES}, REFERENCES, [counted, "rouge-l"], columns=topics, resamples=20)
    assert found.signatures[name].startswith(f"{name}|source:")
    write_jsonl(tmp_path / "judged.jsonl", judged.judged(12))
    assert f"{__name__}:plain" in repr(api.correlate(tmp_path / "judged.jsonl", plain, resamples=20))
    with pytest.raises(RecordError, match="columns: 'id' is a field"):
        api.score(TEXTS, REFERENCES, counted, columns={"id": topics["topic"]})
    with pytest.raises(RecordError, match="topic: 1 for 3 candidates"):
        api.score(TEXTS, REFERENCES, counted, columns={"topic": ["jury"]})


@pytest.mark.parametrize("reward", [lambda candidates: [0.0] * len(candidates), (lambda: counted)().__get__(1)])
def test_a_configuration_refuses_a_function_that_no_name_finds(reward):
    with pytest.raises(UserError, match="outside of other functions"):
        api.train("demo/mle", {"objective.reward": reward})


def test_a_comparison_refuses_a_function_that_its_processes_do_not_have(monkeypatch):
    monkeypatch.setattr(plain, "__module__", "__main__")
    monkeypatch.setattr(sys.modules["__main__"], "plain", plain, raising=False)
    with pytest.raises(UserError, match="in a file of its own"):
        api.compare("compare/demo", {"rewards": {"plain": plain}})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: api.train(), "or resume=RUN"),
        (lambda: api.train("x", init="a", resume="b"), "resume='b' init='a'"),
        (lambda: api.explain("a", "b", "rouge-1").save("x.txt"), "out='x.txt': the ending"),
        (lambda: api.evaluate({"a": ["x"]}, ["x"], "rouge-1", baseline="q"), "baseline='q': not among"),
        (lambda: api.generate("x", "y", "z", api.Generating(best_of=2)), "best_of=2: needs by=REWARD"),
        (lambda: api.generate("x", "y", "z", api.Generating(mbr="a", best_of=1)), "best_of=1 and mbr='a'"),
        (lambda: api.correlate("x", test="williams", level="input"), "needs level='pooled'"),
    ],
)
def test_messages_name_arguments_as_python_does(call, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=message):
        call()


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
    monkeypatch.setitem(sys.modules, "jinja2", None)
    assert api.evaluate({"a": TEXTS}, REFERENCES, "rouge-l", resamples=50)._repr_html_() is None
