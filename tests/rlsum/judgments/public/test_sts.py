import pytest

from rlsum.errors import RecordError
from rlsum.judgments.public.sts import sts

TABLE = """year\tsubtask\tline\tscore\tsentence1\tsentence2
2012\tMSRpar\t1\t4.400\tA "dog.\tThe dog.
2016\timages\t1\t\tA cat.\tThe cat.
2016\timages\t2\t0.0\tA cat.\tA dog.
"""


def test_a_table(tmp_path):
    path = tmp_path / "sts.tsv"
    path.write_text(TABLE)
    found = sts(path)
    assert [(each.id, each.group, each.candidate, each.references) for each in found.rows] == [
        ("2012/MSRpar/1", "2012/MSRpar", 'A "dog.', ("The dog.",)),
        ("2016/images/2", "2016/images", "A cat.", ("A dog.",)),
    ]
    assert found.rows[0].scores == {"overall": 4.4}
    assert found.left_out == {"without a rating": 1}
    assert len(sts(path, years="2012").rows) == 1
    assert sts(path, years="2016", subtasks="images").left_out["of other years or subtasks"] == 1
    with pytest.raises(RecordError, match="sts: no judgments; left out 3 of other years"):
        sts(path, years="1999")
