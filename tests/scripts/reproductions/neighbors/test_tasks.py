from dataclasses import replace

import numpy as np
import pytest
from reproductions.neighbors.tasks import JudgedTexts, NeighborTask, judged

from rlsum.errors import RecordError
from rlsum.judgments.collection import Judgments
from rlsum.judgments.records import Judgment


def row(name, text, score, votes=(), judges=()):
    return Judgment(name, "s", text, (), scores={"overall": score}, raw_scores={"overall": votes}, judges=judges)


def test_scores_and_votes_are_brought_to_0_to_1_by_the_scale():
    rows = (
        row("1", "one", 6.0, (6.0, None), ("ann", "bo")),
        row("2", "two", 3.5, (1.0, 6.0), ("bo", "cy")),
        row("3", "three", None),
    )
    found = judged(Judgments("d", rows, scales={"overall": (1.0, 6.0)}), "huse")
    assert found.texts == ("one", "two")
    assert found.scores.tolist() == [1.0, 0.5]
    assert found.judgments == pytest.approx(np.array([[1, np.nan, np.nan], [np.nan, 0, 1]]), nan_ok=True)


def test_without_a_scale_scores_must_lie_in_0_to_1():
    assert judged(Judgments("d", (row("1", "one", 0.5),)), "x").scores.tolist() == [0.5]
    with pytest.raises(RecordError, match=r"x: scores overall range from 0.5 to 4; scale them to 0 to 1"):
        judged(Judgments("d", (row("1", "one", 0.5), row("2", "two", 4.0))), "x")
    with pytest.raises(RecordError, match="x: no judgment has a score overall"):
        judged(Judgments("d", (row("1", "one", None),)), "x")


def test_every_copy_of_a_text_is_left_out_where_texts_are_their_own_examples():
    texts = JudgedTexts("t", ("a", "b", "a"), np.zeros(3), ("1", "2", "3"), np.empty((3, 0)))
    assert NeighborTask("t", texts, texts).allowed.astype(int).tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    assert NeighborTask("t", texts, replace(texts, name="other")).allowed.all()
