from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from reproductions.estimate import Estimate
from reproductions.movers.findings import Correlations, findings, on_essays

RHO = {"ROUGE-L F1": 0.1, "ROUGE-L recall": 0.15, "WMS": 0.2, "SMS": 0.5, "S+WMS": 0.4, "length (letters)": 0.7}
ESSAYS = {"ROUGE-L F1": 0.3, "SMS": 0.4, "S+WMS": 0.5}
STATIC, BOTH = ("static",), ("static", "contextual")


def rho(other: Mapping[str, float] | None = None, seed: int = 0, off: float = 0.01) -> Correlations:
    """Correlations as in ``RHO`` but for ``other``, by column or by metric, with draws that are ``off`` by so much."""
    draw = np.random.default_rng(seed)
    values = RHO | dict(other or {})
    movers = [f"{mover}, {kind}" for kind in BOTH for mover in ("WMS", "SMS", "S+WMS")]
    found = {}
    for label in ("ROUGE-L F1", "ROUGE-L recall", *movers, "length (letters)"):
        value = values.get(label, values.get(label.split(",")[0], 0.0))
        found[label] = Estimate(value, value + off * draw.normal(size=300))
    return found


def verdicts(texts: Mapping[str, Correlations], kinds=STATIC) -> dict[str, str]:
    return {claim.text: claim.verdict for claim in findings(texts, kinds)}


def test_findings_follow_the_correlations() -> None:
    found = verdicts({"summaries": rho(), "essays": rho(ESSAYS, seed=1)})
    assert found == {
        "SMS correlates best on summaries (static vectors)": "holds",
        "SMS and S+WMS are above ROUGE-L and WMS on summaries (static vectors)": "holds",
        "Length alone is above every metric on summaries (not in the paper)": "holds",
        "Every mover is above the recall of ROUGE-L on summaries (not in the paper)": "holds",
        "SMS is above ROUGE-L and WMS on essays (static vectors)": "holds",
        "S+WMS correlates best on essays (static vectors)": "holds",
        "Length alone is above every metric on essays (not in the paper)": "holds",
        "Every mover is above the recall of ROUGE-L on essays (not in the paper)": "holds",
        "On essays the gains over ROUGE-L are smaller but significant (static vectors)": "holds",
    }


def test_findings_can_fail() -> None:
    found = verdicts({"summaries": rho({"SMS": 0.05, "length (letters)": 0.1}), "essays": rho(seed=1)}, BOTH)
    assert found["SMS correlates best on summaries (contextual vectors)"] == "does not hold"
    assert found["SMS and S+WMS are above ROUGE-L and WMS on summaries (static vectors)"] == "does not hold"
    assert found["S+WMS correlates best on essays (static vectors)"] == "does not hold"
    assert found["Length alone is above every metric on summaries (not in the paper)"] == "does not hold"
    assert found["Every mover is above the recall of ROUGE-L on summaries (not in the paper)"] == "does not hold"
    assert found["On essays the gains over ROUGE-L are smaller but significant (contextual vectors)"] == "does not hold"


def test_what_the_data_cannot_tell() -> None:
    found = verdicts({"summaries": rho(off=1.0)})
    assert set(found.values()) == {"cannot be said"}


@pytest.mark.parametrize(("other", "verdict"), [({}, "holds"), ({"SMS, contextual": 0.4}, "does not hold")])
def test_kinds_of_vectors_that_agree_and_that_do_not(other: Mapping[str, float], verdict: str) -> None:
    found = verdicts({"summaries": rho(other)}, BOTH)
    text = "Static and contextual vectors do not differ significantly on summaries (p = .35 and .16 in the paper)"
    assert found[text] == verdict


def test_other_words_for_the_texts() -> None:
    (first, _) = on_essays(rho(), "contextual", "essays, averaged")
    assert first.text == "SMS is above ROUGE-L and WMS on essays, averaged (contextual vectors)"
    assert first.numbers.startswith("SMS over ROUGE-L F1 +40.00 (")
