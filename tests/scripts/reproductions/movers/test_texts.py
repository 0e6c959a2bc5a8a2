from __future__ import annotations

from pathlib import Path

import pytest
from reproductions.movers.texts import table7

from rlsum.judgments.collection import Judgments
from rlsum.judgments.records import Judgment


@pytest.fixture
def texts() -> Judgments:
    rows = (
        Judgment("1", "ml;pointer", "The red cat runs. A dog sleeps!", ("The storm falls.",),
                 scores={"overall": 1.0}, raw_scores={"overall": (1.0, 1.0, None)}),
        Judgment("1", "ml (2)", "red bridge", ("The storm falls.",),
                 scores={"overall": -0.5}, raw_scores={"overall": (-1.0, 0.0, -0.5)}),
    )  # fmt: skip
    return Judgments("summaries", rows, notes=("two of them",))


def test_facts_by_hand(texts: Judgments, vectors: Path) -> None:
    study = table7([texts], vectors)
    facts = {row["statistic"]: row["measured"] for row in study.rows}
    assert facts == {
        "texts": "2",
        "inputs": "1",
        "systems": "2",
        "references": "1",
        "sentences of a text, mean": "1.5",
        "the same as SMS splits them": "1.5",
        "words of a text, mean": "4.5",
        "words weighed, mean": "3.5",
        "sentences of a reference, mean": "1.0",
        "words of a reference, mean": "3.0",
        "words without a vector, %": "28.6",
        "lowest score": "-0.5",
        "highest score": "1",
        "mean score": "0.25",
        "different scores": "2",
        "judges of a text": "2 to 3",
    }
    assert study.notes == ("summaries: two of them.",)


def test_the_abstract_is_all_that_is_published(texts: Judgments) -> None:
    study = table7([texts], None)
    published = {row["statistic"]: row["published"] for row in study.rows}
    assert published.pop("sentences of a text, mean") == "3.4"
    assert set(published.values()) == {"not available"}
    unknown = next(row for row in study.rows if row["statistic"] == "words without a vector, %")
    assert unknown["measured"] == "\N{EN DASH}"
