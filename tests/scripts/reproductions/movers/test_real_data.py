"""The anchors of independent measurements, and the verdicts that rest on static vectors, where the data are at hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from reproductions.movers.correlations import Measured, measure
from reproductions.movers.data import FILES, essays, summaries
from reproductions.movers.findings import findings
from reproductions.movers.metrics import MoverSetup

SUMMARIES = {
    "ROUGE-L F1": (0.122, 0.015),
    "ROUGE-L recall": (0.151, 0.015),
    "length (letters)": (0.122, 0.015),
    "WMS, static": (0.162, 0.02),
    "SMS, static": (0.245, 0.02),
    "S+WMS, static": (0.195, 0.02),
}


@pytest.fixture(scope="module")
def measured(shared: Path) -> list[Measured]:
    human = shared / "data" / "human"
    if not human.is_dir():
        pytest.skip(f"no human judgments at {human}")
    setup = MoverSetup(shared / "data" / "vectors" / "cnndm_word2vec_300d_30k.txt.gz", resamples=200)
    texts = (summaries(human / FILES["summaries"]), essays(human / FILES["essays"]))
    return [measure(setup, each, seed) for seed, each in enumerate(texts)]


@pytest.mark.slow
def test_anchors_on_summaries(measured: list[Measured]) -> None:
    assert len(measured[0].table) == 2_085
    for label, (value, off) in SUMMARIES.items():
        assert measured[0].estimates[label].value == pytest.approx(value, abs=off), label


@pytest.mark.slow
def test_length_alone_beats_all_on_essays(measured: list[Measured]) -> None:
    assert measured[1].estimates["length (letters)"].value == pytest.approx(0.616, abs=0.01)
    found = {
        claim.text: claim.verdict for claim in findings({each.name: each.estimates for each in measured}, ("static",))
    }
    assert found["Length alone is above every metric on essays (not in the paper)"] == "holds"
    assert found["SMS correlates best on summaries (static vectors)"] == "holds"
    assert found["S+WMS correlates best on essays (static vectors)"] == "does not hold"
