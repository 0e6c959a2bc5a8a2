from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from rlsum.reproduction.movers.correlations import Measured
from rlsum.reproduction.movers.findings import findings

NOISE = {"ROUGE-L F1": 4.0, "ROUGE-L recall": 3.0, "WMS": 2.0, "SMS": 0.2, "S+WMS": 0.5, "length (letters)": 0.05}


MOVERS = ("WMS", "SMS", "S+WMS")


@pytest.fixture
def texts(measured):
    """200 texts whose columns are people's scores with noise: ``noise`` says how much, by column or by metric."""

    def make(name: str, noise: Mapping[str, float] | None = None, seed: int = 0, kinds=("static",)) -> Measured:
        draw = np.random.default_rng(seed)
        human = draw.normal(size=200)
        amounts = NOISE | dict(noise or {})
        movers = [f"{mover}, {kind}" for kind in kinds for mover in MOVERS]
        columns = {
            label: human + amounts.get(label, amounts.get(label.split(",")[0], 0)) * draw.normal(size=200)
            for label in ("ROUGE-L F1", "ROUGE-L recall", *movers, "length (letters)")
        }
        return measured(human, columns, name)

    return make


def verdicts(found) -> dict[str, str]:
    return {claim.text: claim.verdict for claim in found}


def test_findings_follow_the_scores(texts) -> None:
    essays = texts("essays", {"SMS": 0.8, "S+WMS": 0.2}, seed=1)
    found = verdicts(findings([texts("summaries"), essays], ("static",)))
    assert found["SMS correlates best on summaries (static vectors)"] == "holds"
    assert found["SMS and S+WMS are above ROUGE-L and WMS on summaries (static vectors)"] == "holds"
    assert found["SMS is above ROUGE-L and WMS on essays (static vectors)"] == "holds"
    assert found["S+WMS correlates best on essays (static vectors)"] == "holds"
    assert found["Length alone is above every metric on essays (not in the paper)"] == "holds"
    assert not any("do not differ" in text for text in found)


def test_findings_can_fail(texts) -> None:
    worse = {"SMS": 3.0, "S+WMS": 0.2, "length (letters)": 5.0}
    found = verdicts(findings([texts("summaries", worse), texts("essays", seed=1)], ("static",)))
    assert found["SMS correlates best on summaries (static vectors)"] == "does not hold"
    assert found["S+WMS correlates best on essays (static vectors)"] == "does not hold"
    assert found["Length alone is above every metric on summaries (not in the paper)"] == "does not hold"


def test_gains_are_compared_between_texts(texts) -> None:
    claim = "On essays the gains over ROUGE-L are smaller but there (static vectors)"
    less = texts("essays", {"SMS": 1.2, "S+WMS": 1.2}, seed=1)
    assert verdicts(findings([texts("summaries"), less], ("static",)))[claim] == "holds"
    none = texts("essays", {"ROUGE-L F1": 0.1, "SMS": 2.0, "S+WMS": 2.0}, seed=1)
    assert verdicts(findings([texts("summaries"), none], ("static",)))[claim] == "does not hold"


def test_kinds_of_vectors_that_agree_and_that_do_not(texts) -> None:
    def found(noise: Mapping[str, float]) -> str:
        kinds = ("static", "contextual")
        claims = verdicts(findings([texts("summaries", noise, kinds=kinds)], kinds))
        (verdict,) = [verdict for text, verdict in claims.items() if "p = .35 and .16 in the paper" in text]
        return verdict

    assert found({}) == "holds"
    assert found({"SMS, contextual": 2.0}) == "does not hold"
