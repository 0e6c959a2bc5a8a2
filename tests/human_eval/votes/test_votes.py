import numpy as np
import pytest
from votes import study_of, votes_of

from human_eval.votes.votes import matrix


def test_a_matrix_has_rows_and_columns_by_name_whatever_the_order():
    values = np.array([[1, -1, np.nan], [0, np.nan, 1]])
    rows = votes_of(values)
    for order in (rows, rows[::-1]):
        found = matrix(order)
        assert np.array_equal(found.values, values, equal_nan=True)
        assert found.items == ("item000", "item001")
        assert found.judges == ("judge0", "judge1", "judge2")


def test_nobody_votes_twice():
    rows = votes_of([[1.0]])
    with pytest.raises(ValueError, match="judge0 voted twice on item000"):
        matrix(rows * 2)


@pytest.mark.parametrize(("preference", "left", "chosen"), [(1, "b", 1), (1, "a", -1), (-1, "a", 1), (0, "a", 0)])
def test_which_side_was_chosen(preference, left, chosen):
    assert votes_of([[preference]], left=left)[0].chose_left == chosen


def test_of_and_without():
    votes = study_of([*votes_of([[1, -1]]), *votes_of([[0]], criterion="focus", pair=("a", "c"))])
    assert votes.systems == ("a", "b", "c")
    assert len(votes.of("overall")) == 2
    assert votes.of("overall", ("a", "c")) == ()
    assert {row.judge for row in votes.without(["judge0"]).rows} == {"judge1"}
