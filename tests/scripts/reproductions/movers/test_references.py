from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from reproductions.movers.data import against_each, best_essays
from reproductions.movers.metrics import MoverSetup
from reproductions.movers.references import references

from rlsum.evaluation.correlation import correlate


def test_averages_over_references(human_data: Path, vectors: Path) -> None:
    path = human_data / "asap_aes_set3" / "asap_aes_set3.tsv"
    essays = against_each(path, best_essays(path, 3, seed=0))
    setup = MoverSetup(vectors, resamples=50)
    study = references(setup, essays, seed=0)
    values = [row["rho_x100"] for row in study.rows if row["metric"] == "SMS, static"]
    assert len(values) == 3
    rows = next(iter(essays.values())).rows
    scores = setup.rewards["SMS, static"]([row.candidate for row in rows], [row.references for row in rows])
    alone = correlate([row.scores["overall"] for row in rows], scores, resamples=0)
    assert values[0] == pytest.approx(100 * alone.value, abs=1e-3)
    table = {row[0].text: [cell.text for cell in row[1:]] for row in study.tables[0].rows}
    assert table["SMS, static"] == [f"{number(values):.1f}" for number in (np.mean, np.min, np.max)]
    assert len(set(table["length (letters)"])) == 1  # the essays are the same
    lengths = [int(row[1].text) for row in study.tables[1].rows]
    assert lengths == sorted(len(each.rows[0].references[0].split()) for each in essays.values())
    assert [claim.text for claim in study.claims][:2] == [
        "SMS is above ROUGE-L and WMS on essays, averaged over 3 references (static vectors)",
        "S+WMS correlates best on essays, averaged over 3 references (static vectors)",
    ]
