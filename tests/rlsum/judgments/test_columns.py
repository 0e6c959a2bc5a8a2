import pytest
from pydantic.dataclasses import dataclass
from rows import jsonl, table

from rlsum.errors import RecordError
from rlsum.judgments.cells import at
from rlsum.judgments.layout import JudgmentColumns, score_columns
from rlsum.judgments.public.tables import read_tsv
from rlsum.judgments.registry import load


@pytest.mark.parametrize(
    ("value", "path", "found"),
    [
        ({"a": 1}, "a", 1),
        ({"a": {"b": 1}}, "a.b", 1),
        ({"a.b": 2, "a": {"b": 1}}, "a.b", 2),
        ({"Input.text": {"x.y": 3}}, "Input.text.x.y", 3),
        ({"a": [{"b": 1}, {"b": 2}, {}]}, "a.b", [1, 2, None]),
        ({"a": [{"b": [{"c": 1}]}, {"b": [{"c": 2}]}]}, "a.b.c", [[1], [2]]),
        ({"a": '[{"b": 1}]'}, "a.b", [1]),
        ({"a": "[{'b': 1}, {'b': None}]"}, "a.b", [1, None]),
        ({"a": "text"}, "a.b", None),
        ({"a": "[{broken"}, "a.b", None),
        ({"r_1": 1, "r_2": 2, "s": 3}, "r_*", [1, 2]),
        ({"a": {"ann": {"b": 1}, "bo": {"b": 2}}}, "a.*.b", [1, 2]),
        ({"Answer.flow_1": 1, "Answer.flow_2": 2}, "Answer.flow_*", [1, 2]),
        ({"a": 1}, "b", None),
    ],
)
def test_a_path(value, path, found):
    assert at(value, path) == found


SUMMEVAL = {
    "id": "x", "model_id": "M1", "decoded": "a cat", "references": ["a", "b"],
    "expert_annotations": [{"coherence": 2, "fluency": 5}, {"coherence": 3, "fluency": 4}],
}  # fmt: skip
QAGS = {
    "article": "cats sat",
    "summary_sentences": [
        {"sentence": "a.", "responses": [{"worker_id": 0, "response": "yes"}, {"worker_id": 3, "response": "no"}]},
        {"sentence": "b.", "responses": [{"worker_id": 0, "response": "yes"}, {"worker_id": 3, "response": "yes"}]},
    ],
}
SCORES_IN_LISTS = {"id": 7, "system": 3, "summary": "x", "coherence": [5, None, 4], "who": ["ann", "bo", "cy"]}
ONE_TEXT = {"id": "1", "candidate": "x"}
WIDE = {"id": "1", "candidate": "x", "reference": "y", "coherence_1": 1, "coherence_2": 2, "coherence_3": 6}


@pytest.mark.parametrize(
    ("row", "layout", "text", "scores", "raw", "judges"),
    [
        (
            SUMMEVAL,
            JudgmentColumns(system="model_id", candidate="decoded", scores={"coherence": ("expert_*.coherence",)}),
            ("x", "M1", "a cat", ("a", "b"), ""),
            {"coherence": 2.5},
            {"coherence": (2, 3)},
            (),
        ),
        (
            QAGS,
            JudgmentColumns(
                candidate="summary_sentences.sentence",
                source="article",
                scores={"overall": ("summary_sentences.responses.response",)},
                judge="summary_sentences.responses.worker_id",
            ),
            ("1", "j", "a.\nb.", (), "cats sat"),
            {"overall": 0.75},
            {"overall": (1, 0.5)},
            ("0", "3"),
        ),
        (
            SCORES_IN_LISTS,
            JudgmentColumns(candidate="summary", reference="", scores={"coherence": ("coherence",)}, judge="who"),
            ("7", "3", "x", (), ""),
            {"coherence": 4.5},
            {"coherence": (5, None, 4)},
            ("ann", "bo", "cy"),
        ),
        (
            {**ONE_TEXT, "by": [{"who": "ann", "of": [{"s": 1}, {"s": 1}]}, {"who": "bo", "of": [{"s": 5}, {"s": 5}]}]},
            JudgmentColumns(reference="", scores={"overall": ("by.of.s",)}, judge="by.who"),
            ("1", "j", "x", (), ""),
            {"overall": 3},
            {"overall": (1, 5)},
            ("ann", "bo"),
        ),
        (
            {**ONE_TEXT, "who": ["ann", "bo"], "of": [{"s": [1, 5]}, {"s": [1, 5]}, {"s": [4, 2]}]},
            JudgmentColumns(reference="", scores={"overall": ("of.s",)}, judge="who"),
            ("1", "j", "x", (), ""),
            {"overall": 3},
            {"overall": (2, 4)},
            ("ann", "bo"),
        ),
        (
            {**ONE_TEXT, "who": ["ann", "bo"], "flow": [[1, 2, 3], [4, 5]]},
            JudgmentColumns(reference="", scores={"overall": ("flow",)}, judge="who"),
            ("1", "j", "x", (), ""),
            {"overall": 3.25},
            {"overall": (2, 4.5)},
            ("ann", "bo"),
        ),
        (
            {**ONE_TEXT, "who": ["ann"], "flow": [[3]]},
            JudgmentColumns(reference="", scores={"overall": ("flow",)}, judge="who"),
            ("1", "j", "x", (), ""),
            {"overall": 3},
            {"overall": (3,)},
            ("ann",),
        ),
        (
            WIDE,
            JudgmentColumns(scores={"coherence": ("coherence_*",)}),
            ("1", "j", "x", ("y",), ""),
            {"coherence": 3},
            {"coherence": (1, 2, 6)},
            (),
        ),
    ],
)  # fmt: skip
def test_published_layouts_need_the_names_of_their_columns(tmp_path, row, layout, text, scores, raw, judges):
    (found,) = load(jsonl(tmp_path / "j.jsonl", row), layout=layout).rows
    assert (found.id, found.system, found.candidate, found.references, found.source) == text
    assert (found.scores, found.raw_scores, found.judges) == (scores, raw, judges)


@pytest.mark.parametrize(
    ("names", "scores"),
    [
        (("rater1", "rater2", "rater3"), {"overall": 3}),
        (("Judge 1", "Judge 2", "Judge 3"), {"overall": 3}),
        (("human1", "human2", "human3"), {"overall": 3}),
        (("human", "grader_1_flow", "grader_2_flow"), {"human": 2, "flow": 3.5}),
        (("annotator_a_flow", "annotator_b_flow", "annotator_c_flow"), {"flow": 3}),
        (("flow.rater1", "flow.rater2", "flow.rater3"), {"flow": 3}),
        (("flow_1", "flow_2", "flow_3"), {"flow_1": 2, "flow_2": 3, "flow_3": 4}),  # may be something else
        (("expert",), {"expert": 2}),
        (("rater1",), {"rater1": 2}),
        (("overall", "rater1", "rater2"), {"overall": 2, "overall of judges": 3.5}),
        (("quality, 1 to 5",), {"quality, 1 to 5": 2}),
        (("samsum_id", "HITId", "Unnamed: 0", "nr", "fluid"), {"fluid": 6}),
    ],
)
def test_columns_of_numbers_are_scores_and_those_of_people_their_judges(tmp_path, names, scores):
    values = ",".join(str(2 + number) for number in range(len(names)))
    header = ",".join(f'"{name}"' for name in names)
    (tmp_path / "j.csv").write_text(f"id,system,candidate,reference,{header}\n1,s,x,y,{values}\n")
    (found,) = load(tmp_path / "j.csv").rows
    assert found.scores == scores


def test_a_column_of_judges_names_those_of_the_columns_of_scores(tmp_path):
    row = {"id": "1", "system": "s", "candidate": "x", "reference": "y", "rater1": 1, "rater2": 2, "judges": ["a", "b"]}
    (found,) = load(jsonl(tmp_path / "j.jsonl", row)).rows
    assert (found.raw_scores, found.judges) == ({"overall": (1, 2)}, ("a", "b"))


def test_numbered_scores_that_may_be_of_judges_are_noted(tmp_path):
    (tmp_path / "j.csv").write_text("id,system,candidate,reference,flow_1,flow_2,x1\n1,s,x,y,1,2,3\n")
    assert any("--score flow=flow_1,flow_2" in note for note in load(tmp_path / "j.csv").notes)
    assert not any("x1" in note and "judge:" in note for note in load(tmp_path / "j.csv").notes)


@pytest.mark.parametrize(
    ("cell", "score"),
    [("yes", 1), ("No", 0), ("TRUE", 1), ("4", 4), (" 4.5 ", 4.5), ("", None), ("[1, 3]", 2), ("[1, None]", 1)],
)
def test_words_and_text_that_are_scores(tmp_path, cell, score):
    row = {"id": "1", "candidate": "x", "reference": "y", "good": cell}
    (found,) = load(jsonl(tmp_path / "j.jsonl", row), layout=JudgmentColumns(scores={"good": ("good",)})).rows
    assert found.scores == {"good": score}


BASE = {"id": "1", "candidate": "x", "reference": "y", "flow": 1}
FLOW = {"scores": {"x": ("flow",)}}


@pytest.mark.parametrize(
    ("row", "layout", "told"),
    [
        ({"a": [{"b": 1}]}, {"candidate": "a.text"}, "no row has 'a.text', the column of candidate="),
        ({"a": [{"b": 1}]}, {"scores": {"x": ("a.c",)}}, "no row has 'a.c', the column of scores="),
        ({}, {"candidate": "sumary"}, "no row has 'sumary', the column of candidate=; the columns are id, candidate"),
        ({}, {"scores": {"x": ("flow", "x")}}, "no row has 'x', the column of scores="),
        ({"flow": "4,5"}, FLOW, "j.jsonl:1: flow='4,5' is not a score; write a number"),
        ({"flow": "good"}, FLOW, "flow='good' is not a score"),
        ({"flow": "1_0"}, FLOW, "flow='1_0' is not a score"),
        ({"flow": {"a": 1}}, FLOW, "an object: name what is in it, as in flow.a"),
        ({"flow": [[1], [2]]}, FLOW, "judge="),
        ({"flow": [1, 2], "who": ["ann"]}, {**FLOW, "judge": "who"}, "2 scores of 1 judges"),
        ({"flow": [1, 2], "who": ["ann", "ann"]}, {**FLOW, "judge": "who"}, "two scores of one judge"),
        ({"flow": [1, 2], "who": ["ann", None]}, {**FLOW, "judge": "who"}, "'who' is empty"),
        ({"flow": [[1, 2], [3, 4]], "who": ["ann", "bo"]}, {**FLOW, "judge": "who"}, "2 lists of 2 scores"),
        ({"flow": float("inf")}, FLOW, "is not a score"),
        ({"f_1": 1, "f_2": 2, "f_mean": 1.5}, {"scores": {"x": ("f_*",)}}, "has f_mean, too.*: f_1,f_2"),
        ({"f_ann": 1, "f_bo": 2, "f_std": 1.5}, {"scores": {"x": ("f_*",)}}, "has f_std, too.*: f_ann,f_bo"),
        ({"f_1": 1, "f_2": 2, "f_expert": 1}, {"scores": {"x": ("f_*",)}}, "has f_expert, too.*: f_1,f_2"),
        ({"a": {"s": {"t": "x"}, "u": {"t": "y"}}}, {"candidate": "a.*.t"}, "candidate='a.*.t': .* several texts"),
        ({"candidate": ["a.", "b."], "flow": [[1], [2]]}, FLOW, "lists within lists"),
        ({"candidate": ["s", "t"], "flow": [1, 2]}, FLOW, "'candidate' has texts in every row; give the text of each"),
        ({"candidate": 3}, FLOW, "candidate must be text, not 3"),
    ],
)
def test_what_cannot_be_read_names_the_place_and_the_column(tmp_path, row, layout, told):
    with pytest.raises(RecordError, match=told):
        load(jsonl(tmp_path / "j.jsonl", {**BASE, **row}), layout=JudgmentColumns(**layout))


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        *(((cell, "3"), f"flow='{cell}' is not a number") for cell in ("4,5", "50%", "0.5 %", "1,234.5", "1.234,5")),
        (("1", "2", "good"), "j.csv:4: flow='good' is not a number"),
    ],
)
def test_a_column_that_is_nearly_one_of_numbers_is_not_lost(tmp_path, cells, told):
    rows = "".join(f'{number};s;x;y;"{cell}"\n' for number, cell in enumerate(cells))
    (tmp_path / "j.csv").write_text("id;system;candidate;reference;flow\n" + rows)
    with pytest.raises(RecordError, match=told):
        load(tmp_path / "j.csv")


def test_names_are_told_apart_by_letters_and_not_by_spaces_or_how_these_are_encoded(tmp_path):
    names = ["Zo\u00eb", " Zoe\u0308 ", "zo\u00eb\u200b"]
    rows = [{**BASE, "id": number, "system": "s", "judge": name} for number, name in enumerate(names)]
    found = load(jsonl(tmp_path / "j.jsonl", *rows))
    assert [row.judges for row in found.rows] == [("Zo\u00eb",), ("Zo\u00eb",), ("zo\u00eb\u200b",)]
    assert any("'Zo\u00eb', 'zo\u00eb\\u200b' count as different" in note for note in found.notes)
    with pytest.raises(RecordError, match="by the same judge"):
        load(jsonl(tmp_path / "j.jsonl", *({**row, "id": 1} for row in rows)))


def test_texts_of_one_source_are_of_one_input(tmp_path):
    rows = [{"source": source, "system": system, "candidate": "c", "x": 1} for source in "ab" for system in "st"]
    found = load(jsonl(tmp_path / "j.jsonl", *rows))
    assert [row.id for row in found.rows] == ["1", "1", "2", "2"]
    with pytest.raises(RecordError, match="id="):
        load(jsonl(tmp_path / "j.jsonl", {"candidate": "c", "x": 1}))


def test_a_row_without_its_text_is_an_error_and_not_an_empty_text(tmp_path):
    rows = [{"id": n, "text": [{"s": "a"}, {"s": "b"}] if n else [{}], "reference": "y", "x": 1} for n in (1, 0)]
    with pytest.raises(RecordError, match=r"j.jsonl:2: candidate must be text, not (null|None)"):
        load(jsonl(tmp_path / "j.jsonl", *rows), layout=JudgmentColumns(candidate="text.s"))


def test_totals_below_a_table_are_no_text_and_an_empty_text_is_one(tmp_path):
    rows = [{**BASE, "system": "s"}, {"id": 2, "system": "s", "candidate": "", "reference": "", "flow": 5}]
    assert [row.scores["flow"] for row in load(table(tmp_path / "j.csv", *rows)).rows] == [1, 5]
    rows.append({"id": "Total", "system": "", "candidate": "", "reference": "", "flow": 6})
    with pytest.raises(RecordError, match=r"j.csv:4: no candidate, system, reference .* 'Total'; delete it"):
        load(table(tmp_path / "j.csv", *rows))


def test_records_that_pandas_wrote_as_a_table(tmp_path):
    row = {"id": "1", "system": "s", "candidate": "x", "references": "['y', 'z']", "scores": "{'flow': 1.5, 'x': None}"}
    row |= {"raw_scores": '{"flow": [1, 2]}', "judges": "['ann', 'bo']"}
    (found,) = load(table(tmp_path / "j.csv", row)).rows
    assert (found.references, found.scores, found.judges) == (("y", "z"), {"flow": 1.5, "x": None}, ("ann", "bo"))
    assert found.raw_scores == {"flow": (1, 2)}


def test_public_readers_know_their_columns(tmp_path):
    (tmp_path / "train.tsv").write_text("Id\tEssaySet\tScore1\tScore2\tEssayText\n1\t3\t2\t2\tLong.\n")
    with pytest.raises(RecordError, match="knows its columns"):
        load(f"asap-sas:{tmp_path / 'train.tsv'}", layout=JudgmentColumns(candidate="EssayText"))


@dataclass(frozen=True)
class WithOption(JudgmentColumns):
    min_judges: int = 1


def test_an_option_that_is_no_column_names_none():
    assert not WithOption(min_judges=2)
    assert list(WithOption(min_judges=2, id="key", reference="").named()) == [("id=", "key")]
    assert JudgmentColumns(reference="")
    assert JudgmentColumns(lists="sentences")


@pytest.mark.parametrize(
    ("written", "columns"),
    [
        (["a.flow"], {"flow": ("a.flow",)}),
        (["x=a.flow", "b"], {"x": ("a.flow",), "b": ("b",)}),
        (["flow_*"], {"flow": ("flow_*",)}),
        (["x=a, b"], {"x": ("a", "b")}),
    ],
)
def test_how_scores_are_named(written, columns):
    assert score_columns(written) == columns


@pytest.mark.parametrize(
    ("column", "written"),
    [
        ("How good is it, overall?", "good=How good is it, overall?"),
        ("How good is it, overall?", "How good is it, overall?"),
        ("Q1. Is it good = fine", "g=Q1. Is it good = fine"),
        ("Q1. Is it good = fine", "Q1. Is it good = fine"),
    ],
)
def test_a_column_may_have_signs_in_its_name(tmp_path, column, written):
    table(tmp_path / "j.csv", {"id": "1", "system": "s", "candidate": "x", "reference": "y", column: "4", "other": "1"})
    data = load(tmp_path / "j.csv", layout=JudgmentColumns(scores=score_columns([written])))
    assert [[*row.scores.values()] for row in data.rows] == [[4.0]]


def test_the_columns_that_a_star_stands_for_are_noted(tmp_path):
    row = {"id": "1", "system": "s", "candidate": "x", "reference": "y", "flow_1": "1", "flow_2": "2"}
    table(tmp_path / "j.csv", row)
    data = load(tmp_path / "j.csv", layout=JudgmentColumns(scores={"flow": ("flow_*",)}))
    assert any("flow (flow_1, flow_2)" in note for note in data.notes)


@pytest.mark.parametrize("written", [["a.x", "b.x"], ["x=a", "x =b"], ["=a"], ["a="]])
def test_scores_need_names_of_their_own(written):
    with pytest.raises(RecordError, match="NAME=COLUMN"):
        score_columns(written)


TEXTS = ["the first", "the second"]


@pytest.mark.parametrize(
    ("cells", "layout"),
    [
        ({"references": repr(TEXTS)}, {}),
        ({"reference": TEXTS[0], "reference2": TEXTS[1], "reference3": ""}, {}),
        ({"gold_1": TEXTS[0], "gold_2": TEXTS[1]}, {"reference": "gold_1"}),
        ({"abstract": repr(TEXTS)}, {"reference": "abstract", "lists": "alternatives"}),
    ],
)
def test_alternatives_are_read_as_by_every_command(tmp_path, cells, layout):
    path = tmp_path / "j.csv"
    table(path, {"id": "1", "system": "s", "candidate": "a text", **cells, "overall": "1"})
    (judgment,) = load(path, layout=JudgmentColumns(**layout)).rows
    assert judgment.references == tuple(TEXTS)
    assert judgment.scores == {"overall": 1.0}


@pytest.mark.parametrize(
    ("candidate", "reference", "found"), [("s1", "s2", ("b", "c")), ("s1", "s3", ("b", "c")), ("s2", "s1", ("a", "c"))]
)
def test_columns_of_another_role_are_no_references(tmp_path, candidate, reference, found):
    row = {"s1": "a", "s2": "b", "s3": "c", "s4": "1", "s5": "An article.", "overall": 1}
    layout = {"candidate": candidate, "id": "s4", "source": "s5", "scores": {"overall": ("overall",)}}
    (text,) = load(table(tmp_path / "j.csv", row), layout=JudgmentColumns(reference=reference, **layout)).rows
    assert (text.id, text.source, text.references) == ("1", "An article.", found)
    with pytest.raises(RecordError, match=f"reference='{candidate}': the column of the candidates, too"):
        load(tmp_path / "j.csv", layout=JudgmentColumns(reference=candidate, **layout))


def test_a_list_of_which_nothing_says_what_it_is_and_a_repeated_column_are_errors(tmp_path):
    path = tmp_path / "j.csv"
    path.write_text("id,system,candidate,abstract,overall\n1,s,a,\"['b', 'c']\",1\n")
    with pytest.raises(RecordError, match=r"j\.csv:2: abstract: a list of 2 texts.*--reference-lists"):
        load(path, layout=JudgmentColumns(reference="abstract"))
    (judgment,) = load(path, layout=JudgmentColumns(reference="abstract", lists="sentences")).rows
    assert judgment.references == ("b\nc",)
    path.write_text("id,system,candidate,reference,overall,overall\n1,s,a,b,1,-1\n")
    with pytest.raises(RecordError, match=r"j\.csv:1: 2 columns are called 'overall'"):
        load(path)
    (tmp_path / "public.tsv").write_text("a\tb\ta\n1\t2\t3\n")
    with pytest.raises(RecordError, match="2 columns are called 'a'"):
        list(read_tsv(tmp_path / "public.tsv", ["a"]))
