from __future__ import annotations

from pathlib import Path

import pytest
from reproductions.movers.data import against_each, best_essays, essays, summaries

from rlsum.errors import RecordError, UserError


@pytest.fixture
def essay_file(human_data: Path) -> Path:
    return human_data / "asap_aes_set3" / "asap_aes_set3.tsv"


def test_summaries_of_one_judge_are_left_out(human_data: Path) -> None:
    found = summaries(human_data / "chaganty2018_cnndm" / "cnndm_lqual.tsv")
    assert (found.name, len(found.rows)) == ("summaries", 36)
    assert found.left_out["with fewer than 2 judges"] == 1
    assert all(len(row.raw_scores["overall"]) == 2 for row in found.rows)


def test_essays_have_5_to_15_sentences_and_one_reference(essay_file: Path) -> None:
    found = essays(essay_file)
    (reference,) = {row.references for row in found.rows}
    assert len(reference) == 1
    assert len(found.rows) == 29
    assert "200" not in {row.id for row in found.rows}
    named = essays(essay_file, "102")
    assert "102" not in {row.id for row in named.rows}
    with pytest.raises(RecordError, match="no essay has the id '1'"):
        essays(essay_file, "1")


def test_every_reference_meets_the_same_essays(essay_file: Path) -> None:
    ids = best_essays(essay_file, 3, seed=1)
    assert ids == best_essays(essay_file, 3, seed=1)
    found = against_each(essay_file, ids)
    assert list(found) == ids
    left = [[row.id for row in each.rows] for each in found.values()]
    assert left[0] == left[1] == left[2]
    assert not set(ids) & set(left[0])
    assert len({each.rows[0].references for each in found.values()}) == 3


def test_the_best_essays_have_the_best_score_and_the_length(essay_file: Path) -> None:
    best = best_essays(essay_file, 7, seed=0)
    assert best == sorted(str(100 + place) for place in range(3, 30, 4))
    with pytest.raises(UserError, match=r"7 best-scored essays of 5-15 sentences; .*not 8"):
        best_essays(essay_file, 8, seed=0)
