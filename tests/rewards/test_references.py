"""What the columns and cells of a row mean: lists, alternatives, sentences."""

import json

import numpy as np
import pytest

from rewards.references import NotText, Undecided, members, one_text, reference_columns, references

TEXTS = ["It's here, and", 'he said "no"', "two\nlines \\ [x]", "\u0939\u093f\u0928\u094d\u0926\u0940 \U0001f600"]


@pytest.mark.parametrize(
    "written",
    [
        *(TEXTS, tuple(TEXTS), json.dumps(TEXTS), json.dumps(TEXTS, ensure_ascii=False, indent=1)),
        *(repr(TEXTS), f" {TEXTS!r}\n", repr(tuple(TEXTS)), "{" + repr(TEXTS)[1:-1] + "}"),
        *(str(np.array(TEXTS, dtype=object)), str(np.array(TEXTS))),
        "[" + "\n ".join(f"u{text!r}" for text in TEXTS) + "]",
    ],
)
def test_a_cell_that_holds_a_list_is_read_as_that_list(written):
    assert members(written) == TEXTS


@pytest.mark.parametrize(
    ("cell", "found"),
    [
        ("[]", []),
        ("['a', None]", ["a", None]),
        ('["a", null]', ["a", None]),
        ("['a' nan]", ["a", None]),
        ("[['a', 'b'], ['c']]", [["a", "b"], ["c"]]),
        ("[array(['a', 'b'], dtype=object), array(['c'], dtype=object)]", [["a", "b"], ["c"]]),
        ("['line\nbreak']", ["line\nbreak"]),
        ("(array(['a'], dtype='<U1'), ['b'])", [["a"], ["b"]]),
        *((text, None) for text in ("[Music] plays [end]", "[1, 2]", "[sic]", "['a'] and ['b']", "['a'", "text", "")),
        *((text, None) for text in ("(CNN) He said. (AP)", '{"a": "b"}', "{'a': 'b'}", "(sic)", "{}x{}", "['a')")),
        (3, None),
        (np.array(["a", "b"], dtype=object), ["a", "b"]),
        *((opened * 3000 + closed * 3000, None) for opened, closed in ("[]", ("['a', ", "]"))),
    ],
    ids=repr,
)
def test_other_cells(cell, found):
    assert members(cell) == found


@pytest.mark.parametrize(
    ("name", "columns", "found"),
    [
        ("reference", "id reference reference2 reference3", "reference reference2 reference3"),
        ("reference", "reference_1 reference_2 candidate", "reference_1 reference_2"),
        ("summary1", "summary3 topic1 summary2 topic2 summary1", "summary1 summary2 summary3"),
        ("summary", "summary1 summary2", "summary1 summary2"),
        ("ref-0", "ref-0 ref-10 ref-1", "ref-0 ref-1 ref-10"),
        ("summary", "summary summary_50 summary2020", "summary"),
        ("reference", "reference reference_id references", "reference"),
        ("col1", "col0 col1 col2", "col1"),
        ("1", "0 1 2", "1"),
        ("absent", "a b", "absent"),
    ],
)
def test_columns_that_differ_in_a_number_are_alternatives(name, columns, found):
    assert reference_columns(name, tuple(columns.split())) == tuple(found.split())


def test_empty_members_are_left_out():
    others = {f"reference{n}": cell for n, cell in enumerate((None, " ", float("nan"), ["b", None]), 2)}
    assert references({"reference": "a", **others}, "reference") == ["a", "b"]
    assert references({"reference": ""}, "reference") == references({}, "reference") == []


SENTENCES = ["One .", "Two ."]


@pytest.mark.parametrize(
    ("cell", "name", "lists", "found"),
    [
        (SENTENCES, "references", None, SENTENCES),
        (repr(SENTENCES), "human_summaries", None, SENTENCES),
        (SENTENCES, "abstract", "alternatives", SENTENCES),
        (SENTENCES, "abstract", "sentences", ["One .\nTwo ."]),
        (repr(SENTENCES), "references", "sentences", ["One .\nTwo ."]),
        (["One ."], "abstract", None, ["One ."]),
        ([SENTENCES, ["Other ."]], "references", None, ["One .\nTwo .", "Other ."]),
        ([["One", "."], ["Two", "."]], "tgt", "sentences", ["One .\nTwo ."]),
    ],
)
def test_a_list_is_alternatives_or_sentences_as_is_said(cell, name, lists, found):
    assert references({name: cell}, name, lists) == found


@pytest.mark.parametrize("cell", [SENTENCES, repr(SENTENCES), [SENTENCES], json.dumps(SENTENCES)])
def test_what_nothing_decides_is_asked(cell):
    with pytest.raises(Undecided, match=r"abstract: a list of .*--reference-lists"):
        references({"abstract": cell}, "abstract")


@pytest.mark.parametrize("cell", [3, {"text": "a"}, ["a", 3], "['a' or 'b']", "['it's', 'b']", '[{"text": "a"}]'])
def test_what_is_no_text_is_named(cell):
    with pytest.raises(NotText, match="references: "):
        references({"references": cell}, "references")


def test_an_article_may_be_a_list_of_sentences():
    for cell in (SENTENCES, repr(SENTENCES), json.dumps(SENTENCES), [["One", "."], ["Two", "."]]):
        assert one_text(cell) == "One .\nTwo ."
    assert one_text("[Music] plays") == "[Music] plays"
    for cell in (None, 3, {"a": 1}, [1, 2]):
        with pytest.raises(NotText):
            one_text(cell)
