from dataclasses import replace

import pytest

from rlsum.errors import RecordError
from rlsum.judgments.collection import Judgments
from rlsum.judgments.orientation import doubted, negated
from rlsum.judgments.records import Judgment

TEXT = Judgment("1", "s", "c", ("r",), scores={"errors": 3, "flow": 1}, raw_scores={"errors": (2, None, 4)})
DATA = Judgments("d", (TEXT, replace(TEXT, id="2", scores={"errors": None})), scales={"errors": (0, 9), "flow": (0, 1)})


def test_a_negated_score_says_so_in_its_name():
    found = negated(DATA, ["errors", "errors"])
    assert found.rows[0].scores == {"negated_errors": -3, "flow": 1}
    assert found.rows[0].raw_scores == {"negated_errors": (-2, None, -4)}
    assert found.rows[1].scores == {"negated_errors": None}
    assert found.scales == {"negated_errors": (-9, 0), "flow": (0, 1)}
    assert "errors" in found.notes[-1]
    with pytest.raises(RecordError, match="lower_is_better='errors': no row"):
        negated(found, ["errors"])  # twice would be the old sign


LOWER = "errors,rank,HTER,ter_score,editDistance,post-edit time,n_errors,n_err,redundancy,hallucinated"


@pytest.mark.parametrize("name", LOWER.split(","))
def test_a_name_that_says_lower_is_better_is_noted(name):
    (note,) = doubted(replace(DATA, rows=(replace(TEXT, scores={name: 1}, raw_scores={}),))).notes
    assert name in note
    assert f"lower_is_better={name!r}" in note


@pytest.mark.parametrize("name", ["overall", "negated_errors", "alternative", "interest", "sometimes", "francs"])
def test_other_names_are_not(name):
    assert not doubted(replace(DATA, rows=(replace(TEXT, scores={name: 1}, raw_scores={}),))).notes
