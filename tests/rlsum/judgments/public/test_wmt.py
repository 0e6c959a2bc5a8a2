import pytest
from rows import lines as written

from rlsum.errors import RecordError
from rlsum.judgments.public.wmt import wmt_da

HEADER = "year\tlp\tsid\tsystem\thuman\tsource\tmt\treference\ttext_origin"
SEGMENTS = [
    '2017\tcs-en\t33\tonline-A.0\t-0.5\tzdroj\ta "quoted text\tone text\tverbatim',
    "2017\tcs-en\t33\tPJATK.1+ours.2\t0.5\tzdroj\tanother text\tone text\tlowercased-tokenised",
    "2017\tde-en\t33\tonline-A.0\t0.25\tQuelle\ta third\tone text\tverbatim",
    "2016\ten-ru\t1\t\t0.25\tsource\ttekst\tdrugoi tekst\tverbatim",
]


@pytest.fixture
def table(tmp_path):
    return written(tmp_path / "wmt.tsv", HEADER, *SEGMENTS)


def test_a_table(table):
    found = wmt_da(table)
    assert [each.key for each in found.rows] == [
        ("cs-en", "2017/cs-en/33", "online-A.0"),
        ("cs-en", "2017/cs-en/33", "PJATK.1+ours.2"),
        ("de-en", "2017/de-en/33", "online-A.0"),
    ]
    first = found.rows[0]
    assert (first.candidate, first.references, first.source) == ('a "quoted text', ("one text",), "zdroj")
    assert first.scores == {"overall": -0.5}
    assert found.left_out == {"of en-ru (pairs=to-english)": 1}
    assert "1 rows with lowercased-tokenised texts" in found.notes
    assert any(note.startswith("1 judgment of one text by several systems") for note in found.notes)


def test_options(table):
    assert len(wmt_da(table, pairs="all").rows) == 4
    assert wmt_da(table, pairs="all").rows[-1].system == "unnamed"
    assert len(wmt_da(table, pairs="de-en, cs-en").rows) == 3
    assert [each.group for each in wmt_da(table, pairs="de-en").rows] == ["de-en"]
    assert wmt_da(table, pairs="all", years="2016").left_out == {"of other years than 2016": 3}


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ([HEADER.replace("human", "score"), SEGMENTS[0]], "wmt.tsv: no column human"),
        ([HEADER, SEGMENTS[0], SEGMENTS[0] + "\tmore"], "wmt.tsv:3: 10 cells for 9 columns"),
        ([HEADER, SEGMENTS[0].replace("-0.5", "nan")], "wmt.tsv:2: human is empty"),
        ([HEADER, SEGMENTS[0].replace("-0.5", "x")], "wmt.tsv:2: human='x' is not a finite number"),
        (
            [HEADER, SEGMENTS[0], SEGMENTS[0]],
            "id '2017/cs-en/33' of system 'online-A.0' in group 'cs-en' is also at row 1;",
        ),
        ([], "wmt.tsv: no column year"),
    ],
)
def test_faults_are_told(tmp_path, lines, told):
    with pytest.raises(RecordError, match=told):
        wmt_da(written(tmp_path / "wmt.tsv", *lines))


def test_a_folder_of_something_else(tmp_path):
    with pytest.raises(RecordError, match=r"no wmt\*_da_seg\.tsv in this folder"):
        wmt_da(tmp_path)
