from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlsum.compare.report import training_curves as plots
from rlsum.records import Output
from rlsum.scoring.comparison import Resampling, intervals
from rlsum.scoring.outputs import measure_properties
from rlsum.scoring.properties import (
    PROPERTIES,
    Property,
    copy_rate,
    invented_names,
    length,
    names,
    novelty,
    repetition,
    words,
)
from rlsum.scoring.tables import property_table
from rlsum.training import validation

SOURCE = "a fire broke out in Velmora .\nThe mayor , Ilse Tannhold , praised the crew ."


def test_length_counts_tokens_over_lines():
    assert length("a fire .\nthe crew .", SOURCE) == 6
    assert length(" \n", SOURCE) == 0


def test_repetition_by_hand():
    # Trigrams: a b a, b a b, a b a, b a b: two distinct of four.
    assert repetition("a b a b a b", "") == 0.5
    assert repetition("a b c d", "") == 0
    assert repetition("a a", "") == 0


def test_novelty_counts_bigrams_not_in_the_source():
    # "the crew" is there, "crew slept" and "slept ." are not.
    assert novelty("The crew slept .", SOURCE) == pytest.approx(2 / 3)
    assert novelty("mayor ,", SOURCE) == 0
    assert math.isnan(novelty("mayor", SOURCE))


def test_copy_rate_counts_every_occurrence():
    assert copy_rate("Fire fire smoke .", SOURCE) == 0.75
    assert math.isnan(copy_rate("", SOURCE))


def test_invented_names():
    assert invented_names("Velmora and Ilse thank Brannock .", SOURCE) == pytest.approx(1 / 3)
    assert invented_names("Fire in Velmora .", SOURCE) == 0  # a sentence-initial word that the source has in lower case
    assert math.isnan(invented_names("a fire .", SOURCE))


def test_names_are_words_with_a_capital():
    assert names("O'Hara-Lee met `` Bo '' on 3 May in X2 .") == ["O'Hara-Lee", "Bo", "May", "X"]


def test_what_is_asked_of_an_unknown_source_is_undefined():
    for measure in (novelty, copy_rate, invented_names):
        assert math.isnan(measure("A fire broke out .", ""))
    assert length("A fire .", "") == 3


@given(st.text(), st.text())
def test_every_property_is_in_range_or_undefined(candidate, source):
    for name, each in PROPERTIES.items():
        value = each.function(candidate, source)
        assert math.isnan(value) or value >= 0
        assert name == "length" or not value > 1


def readability(candidate: str, source: str) -> float:
    return 60.0


def test_a_registered_property_is_measured_logged_and_shown_in_its_unit(monkeypatch):
    monkeypatch.setitem(PROPERTIES, "reading-ease", Property("reading-ease", readability, "points", "Flesch", digits=0))
    outputs = [Output("1", "a b", ("a",), "a", "s"), Output("2", "a b", ("a",), "b", "s")]
    columns = measure_properties(outputs)
    assert columns["reading-ease"].tolist() == [60, 60]
    table = property_table({"s": intervals(columns, Resampling(resamples=10))}, "Properties")
    assert table.header[-1] == "reading ease, points"
    assert table.rows[0][-1].text == "60"
    assert "reading ease: Flesch" in table.notes[0]
    assert validation.means(validation.score(outputs, {}), [])["reading-ease"] == 60
    pictures = []
    monkeypatch.setattr(plots, "picture", lambda *arguments: pictures.append(arguments))
    rows = [{"step": step, "kind": "valid", "reading-ease": 60.0, "repetition": 0.25} for step in (1, 2)]
    plots.draw_runs({"run": [rows]}, ["rouge-l"])
    [(_, _, _, panels)] = pictures
    values = {panel.title: panel.curves[0].values.tolist() for panel in panels}
    assert values == {"repetition, %": [25, 25], "reading ease, points": [60, 60]}


@given(st.text(min_size=1).filter(str.strip))
def test_a_copy_of_the_source_is_not_novel(text):
    assert copy_rate(text, text) == 1
    assert not novelty(text, text) > 0
    assert not invented_names(text, text) > 0


@given(st.text(st.characters(max_codepoint=127) | st.sampled_from("aB'-")))
def test_words_of_ascii_are_those_of_every_script(text):
    assert words(text) == words(f"\u00e9 {text}")[1:]
