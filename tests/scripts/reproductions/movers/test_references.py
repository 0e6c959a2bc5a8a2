from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from reproductions.movers.data import against_each, best_essays
from reproductions.movers.metrics import MoverSetup
from reproductions.movers.references import references

from rlsum.evaluation.correlation import correlate
from rlsum.evaluation.statistics import Uncertainty


def test_averages_over_references(human_data: Path, vectors: Path) -> None:
    path = human_data / "asap_aes_set3" / "asap_aes_set3.tsv"
    essays = against_each(path, best_essays(path, 3, seed=0))
    setup = MoverSetup(vectors, resamples=50)
    study = references(setup, essays, seed=0)
    labels = [row[0].text for row in study.tables[0].rows]
    values = {row[0].text: float(row[2 + labels.index("SMS, static")].text) for row in study.tables[1].rows}
    assert len(values) == 3
    name, first = next(iter(essays.items()))
    rows = first.rows
    scores = setup.rewards["SMS, static"]([row.candidate for row in rows], [row.references for row in rows])
    alone = correlate([row.scores["overall"] for row in rows], scores, how=Uncertainty(resamples=0))
    assert values[name] == pytest.approx(100 * alone.value, abs=0.05)
    table = {row[0].text: [cell.text for cell in row[1:]] for row in study.tables[0].rows}
    mean, lowest, highest = map(float, table["SMS, static"])
    assert mean == pytest.approx(np.mean(list(values.values())), abs=0.11)
    assert (lowest, highest) == (min(values.values()), max(values.values()))
    assert len(set(table["length (letters)"])) == 1  # the essays are the same
    lengths = [int(row[1].text) for row in study.tables[1].rows]
    assert lengths == sorted(len(each.rows[0].references[0].split()) for each in essays.values())
    assert [claim.text for claim in study.claims][:2] == [
        "SMS is above ROUGE-L and WMS on essays, averaged over 3 references (static vectors)",
        "S+WMS correlates best on essays, averaged over 3 references (static vectors)",
    ]
