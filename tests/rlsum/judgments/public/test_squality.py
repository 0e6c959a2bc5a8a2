import json

import pytest

from rlsum.errors import RecordError
from rlsum.judgments.public.squality import squality
from rlsum.judgments.registry import load

TEXT = "A dog barks. The dog\n sleeps."


def review(judge, overall=60, passages=()):
    marks = [{"text": text, "comments": ["wrong"]} for text in passages]
    return {"judge": judge, "overall": overall, "correctness": 50, "coverage": 40, "marks": marks}


def written(folder, *reviews, **changed):
    row = {"id": "s-0", "story": "s", "question": "Why?", "references": ["A dog."], "system": "bart", "candidate": TEXT}
    (folder / "stories.jsonl").write_text(json.dumps({"story": "s", "text": "The story."}) + "\n")
    path = folder / "squality_reviews.jsonl"
    path.write_text(json.dumps({**row, "reviews": reviews, **changed}) + "\n")
    return path


def test_scores_and_marks_are_of_each_reviewer(tmp_path):
    path = written(tmp_path, review("3", 60, ["dog sleeps.", "A cat"]), review("6", 20))
    for found in (squality(path), squality(tmp_path), load(path)):
        (row,) = found.rows
        assert (row.id, row.system, row.source, row.references) == ("s-0", "bart", "The story.", ("A dog.",))
        assert (row.judges, row.raw_scores["overall"], row.scores["overall"]) == (("3", "6"), (60, 20), 40)
        assert [[TEXT[start:end] for start, end in marks] for marks in row.marks] == [["dog\n sleeps."], []]
        assert found.left_out == {"marked passages that are not in the answer": 1}


@pytest.mark.parametrize(
    ("changed", "told"), [({"story": "t"}, "KeyError: 't'"), ({"reviews": [{"judge": "3"}]}, "KeyError: 'overall'")]
)
def test_faults_are_told(tmp_path, changed, told):
    with pytest.raises(RecordError, match=told):
        squality(written(tmp_path, **{"reviews": [], **changed}))


def test_reviews_without_stories_are_refused(tmp_path):
    path = written(tmp_path, review("3"))
    (tmp_path / "stories.jsonl").unlink()
    with pytest.raises(RecordError, match=r"no stories\.jsonl; give the folder with both files"):
        squality(path)
