import json

import pytest

from rlsum.errors import RecordError
from rlsum.judgments.public.pairwise import zhang2023


def vote(judge, overall, informative="Equally Good", article="a1", writer="w1", text="By a person."):
    names = {"article_id": article, "writer_id": writer, "evaluator_id": judge}
    texts = {"article_text": "The article.", "writer_summary": text, "some-model_summary": "By a model."}
    return {**names, **texts, "overall_writer_better": overall, "informative_writer_better": informative}


def written(tmp_path, content):
    path = tmp_path / "pairs.json"
    path.write_text(json.dumps(content))
    return path


def test_scores_are_shares_of_votes(tmp_path):
    votes = [vote("j1", "True"), vote("j2", False), vote("j3", "Equally Good"), vote("j4", "True", article="a2")]
    writer, model, *others = zhang2023(written(tmp_path, votes)).rows
    assert (writer.id, writer.system, writer.candidate) == ("a1/w1", "writer", "By a person.")
    assert (model.id, model.system, model.candidate) == ("a1/w1", "some-model", "By a model.")
    assert writer.raw_scores["overall"] == (1, 0, 0.5)
    assert model.raw_scores["overall"] == (0, 1, 0.5)
    assert writer.scores == {"overall": 0.5, "informative": 0.5}
    assert writer.judges == model.judges == ("j1", "j2", "j3")
    assert [each.scores["overall"] for each in others] == [1, 0]
    assert (writer.source, writer.references) == ("The article.", ())


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ({}, "KeyError: 'article_id'"),
        ([{"article_id": "a"}], "row 1: .*KeyError: 'writer_id'"),
        ([vote("j", "Maybe")], "a1/w1 .*KeyError: 'maybe'"),
        ([vote("j", "True"), vote("k", "True", text="Another.")], "of a1/w1 have different texts"),
        ([], "no judgments"),
    ],
)
def test_faults_are_told(tmp_path, content, told):
    with pytest.raises(RecordError, match=told):
        zhang2023(written(tmp_path, content))
