"""Scores beside those of other implementations: agreement, disagreement, and oracles that are missing."""

import sys

import pytest
from typer.testing import CliRunner

from rewards import verification
from rlsum.cli.app import app


@pytest.fixture
def quick(monkeypatch):
    """Without bert-score, which loads an encoder."""
    monkeypatch.setitem(sys.modules, "bert_score", None)


def test_what_is_installed_agrees_and_what_is_missing_is_named(quick):
    rows = {row.metric: row for row in verification.verify()}
    compared = [row for row in rows.values() if not row.missing]
    assert len(compared) >= 11
    assert all(row.agrees and row.version for row in compared)
    assert "bert_score is not installed" in rows["bertscore(encoder=minilm, layer=5)"].missing


def test_a_difference_and_a_score_that_is_undefined_end_with_exit_code_1(quick, monkeypatch):
    assert CliRunner().invoke(app, ["rewards", "--verify"]).exit_code == 0
    for wrong in (2.0, float("nan")):
        monkeypatch.setattr(verification, "exact_cost", lambda first, second, cost, wrong=wrong: wrong)
        ended = CliRunner().invoke(app, ["rewards", "--verify"])
        assert ended.exit_code == 1
        assert "DIFFER" in ended.output


@pytest.mark.slow
def test_bertscore_agrees_with_bert_score():
    pytest.importorskip("bert_score")
    (row,) = [row for row in verification.verify() if row.oracle == "bert-score"]
    assert row.agrees
