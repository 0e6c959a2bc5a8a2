from __future__ import annotations

import sys

import numpy as np
import pytest

from rewards import base
from rewards.base import EncoderMissing
from rewards.scoring import BaseReward
from rlsum.errors import RecordError
from rlsum.records import Output, write_outputs
from rlsum.scoring.outputs import (
    by_system,
    load_available,
    measure_properties,
    outputs_of,
    read_systems,
    score_system,
)
from rlsum.scoring.properties import PROPERTIES


def output(identity: str, candidate: str, system: str = "s", reference: str = "a b") -> Output:
    return Output(identity, "a b c d", (reference,), candidate, system)


class Overlap(BaseReward):
    """Words that the candidate shares with its first reference; undefined without a reference."""

    name = "overlap"
    signature = "overlap"

    def scores(self, inputs):
        return np.array(
            [
                len(set(text.split()) & set(first.split())) if first else np.nan
                for text, (first, *_) in zip(inputs.candidates, inputs.references, strict=True)
            ]
        )

    def reason(self, item):
        return None if item.references[0] else "its reference is empty"


class Absent(Overlap):
    def scores(self, inputs):
        raise EncoderMissing("install it")


class Broken(Overlap):
    def scores(self, inputs):
        raise MemoryError("too long")


class Short(Overlap):
    def __call__(self, candidates, references=None, sources=None, columns=None):
        return np.zeros(1)


def test_scores_follow_the_outputs_and_keep_nan():
    outputs = [output("1", "a b"), output("2", "x"), output("3", "a", reference="")]
    scores = score_system("s", outputs, {"o": Overlap()})
    np.testing.assert_array_equal(scores.metrics["o"], [2, 0, np.nan])
    assert scores.ids == ("1", "2", "3")


def test_a_missing_encoder_is_set_apart_only_when_asked():
    outputs = [output("1", "a b")]
    scores = score_system("s", outputs, {"o": Overlap(), "gone": Absent()}, {"other": "not loaded"})
    assert list(scores.metrics) == ["o"]
    assert scores.missing == {"other": "not loaded", "gone": "install it"}
    with pytest.raises(EncoderMissing):
        score_system("s", outputs, {"gone": Absent()})


def test_rewards_are_loaded_but_for_those_without_an_encoder(monkeypatch):
    def absent() -> Overlap:
        raise EncoderMissing("encoder missing: install it")

    monkeypatch.setitem(base.TABLE, "absent", f"{__name__}:absent")
    monkeypatch.setattr(sys.modules[__name__], "absent", absent, raising=False)
    found, missing = load_available(["rouge-1(stemmer=false)", "absent", {"name": "rouge-2"}])
    assert list(found) == ["rouge-1", "rouge-2"]
    assert missing == {"absent": "encoder missing: install it"}
    with pytest.raises(base.RewardError, match="did you mean"):
        load_available(["rogue-1"])
    with pytest.raises(EncoderMissing, match="install it"):
        load_available("absent")


def test_any_other_failure_is_raised():
    with pytest.raises(MemoryError):
        score_system("s", [output("1", "a")], {"o": Broken()}, {})
    with pytest.raises(ValueError, match="shape"):
        score_system("s", [output("1", "a"), output("2", "a")], {"o": Short()})


def test_every_property_is_measured():
    measured = measure_properties([output("1", "a b e"), output("2", "")])
    assert list(measured) == list(PROPERTIES)
    np.testing.assert_array_equal(measured["length"], [3, 0])
    np.testing.assert_array_equal(measured["novelty"], [0.5, np.nan])


def test_one_system_cannot_answer_twice():
    assert list(by_system([output("1", "a", "x"), output("1", "b", "y"), output("2", "c", "x")])) == ["x", "y"]
    with pytest.raises(RecordError, match="'x' has two outputs with id '1'"):
        by_system([output("1", "a", "x"), output("1", "b", "x")])
    with pytest.raises(RecordError, match="'x' has two outputs with id '1'"):  # which would be paired with one
        outputs_of({"x": [output("1", "a", "x"), output("1", "b", "x")]}, (), ())


def test_the_same_name_in_two_files_is_told_apart(tmp_path):
    first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    write_outputs(first, [output("1", "a", "model"), output("1", "b", "lead")])
    write_outputs(second, [output("1", "c", "model")])
    assert list(read_systems([first, second])) == [f"model ({first})", "lead", f"model ({second})"]
    with pytest.raises(RecordError, match="given twice"):
        read_systems([first, first])
