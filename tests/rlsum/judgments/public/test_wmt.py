import pytest
from rows import jsonl
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
    assert "1 judgment of one text by several systems: joint=keep" in found.notes


def test_options(table):
    assert len(wmt_da(table, pairs="all").rows) == 4
    assert wmt_da(table, pairs="all").rows[-1].system == "unnamed"
    assert len(wmt_da(table, pairs="de-en, cs-en").rows) == 3
    assert [each.group for each in wmt_da(table, pairs="de-en").rows] == ["de-en"]
    for wrong in ({"pairs": "de-en csen"}, {"pairs": "to-english cs-en"}, {"years": "2016 2018"}):
        with pytest.raises(RecordError, match=r"no judgment is of '(csen'; did you mean 'cs-en'|to-english'|2018')"):
            wmt_da(table, **wrong)
    assert wmt_da(table, pairs="all", years="2016").left_out == {"of other years than 2016": 3}
    split = wmt_da(table, joint="split").rows
    assert [each.system for each in split] == ["online-A.0", "PJATK.1", "ours.2", "online-A.0"]


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ([HEADER.replace("human", "score"), SEGMENTS[0]], "wmt.tsv: no column human"),
        ([HEADER, SEGMENTS[0], SEGMENTS[0] + "\tmore"], "wmt.tsv:3: 10 cells for 9 columns"),
        ([HEADER, SEGMENTS[0].replace("-0.5", "nan")], "wmt.tsv:2: human is empty"),
        ([HEADER, SEGMENTS[0].replace("-0.5", "x")], "wmt.tsv:2: human='x' is not a finite number"),
        ([HEADER, *SEGMENTS[:1] * 2], "id '2017/cs-en/33' of system 'online-A.0' in group 'cs-en' is also at row 1;"),
        ([], "wmt.tsv: no column year"),
    ],
)
def test_faults_are_told(tmp_path, lines, told):
    with pytest.raises(RecordError, match=told):
        wmt_da(written(tmp_path / "wmt.tsv", *lines))


def test_json_lines_of_other_projects(tmp_path):
    row = {"lang": "cs-en", "reference": "r", "candidate": "c", "rating": 0.5}
    path = jsonl(tmp_path / "wmt18.jsonl", row, {**row, "score": 1, "system": "s", "year": 2017})
    found = wmt_da(path).rows
    assert [(each.id, each.system, each.scores["overall"]) for each in found] == [
        ("2018/cs-en/1", "unnamed", 0.5),
        ("2017/cs-en/2", "s", 1),
    ]
    del row["lang"]
    with pytest.raises(RecordError, match=r"wmt18\.jsonl:1: not a judgment .*KeyError: 'lang'"):
        wmt_da(jsonl(path, row))


@pytest.mark.parametrize("prefix", ["", "DAseg."])
def test_the_files_of_2015_and_2016(tmp_path, prefix):
    parts = {"human": ["0.5", "-1"], "mt-system": ["one", "two"], "reference": ["r1", "r2"], "source": ["s1", "s2"]}
    for part, lines in parts.items():
        written(tmp_path / f"{prefix}newstest2016.{part}.cs-en", *lines)
    found = wmt_da(tmp_path).rows
    assert [(each.id, each.system, each.candidate, each.references, each.source) for each in found] == [
        ("2016/cs-en/1", "unnamed", "one", ("r1",), "s1"),
        ("2016/cs-en/2", "unnamed", "two", ("r2",), "s2"),
    ]
    assert [each.scores["overall"] for each in found] == [0.5, -1]
    written(tmp_path / f"{prefix}newstest2016.source.cs-en", "s1")
    with pytest.raises(RecordError, match=r"files of cs-en differ in lines"):
        wmt_da(tmp_path)


@pytest.fixture
def package(tmp_path):
    """Outputs and references as a metrics task packs them, for two years."""
    for year in ("2017", "2018"):
        outputs = tmp_path / "system-outputs" / f"newstest{year}" / "cs-en"
        written(outputs / f"newstest{year}.ours.1.cs-en", "one", "two")
        written(outputs / f"newstest{year}.theirs.2.cs-en", "1", "2")
        written(tmp_path / "references" / f"newstest{year}-csen-ref.en", "r1", "r2")
    written(tmp_path / "sources" / "newstest2017-csen-src.cs", "s1", "s2")
    return tmp_path


def test_the_scores_of_2017(package):
    lines = [
        "LP DATA SYSTEM SID HUMAN",
        "cs-en newstest2017 ours.1+theirs.2 2 -0.25",
        "cs-en newstest2017 nobody.3 2 1",
        "en-zh newstest2017 other.9 1 1",
    ]
    scores = written(package / "manual-evaluation" / "DA-seglevel.csv", *lines)
    found = wmt_da(package)
    (row,) = found.rows
    assert (row.id, row.system, row.candidate, row.references, row.source) == (
        "2017/cs-en/2", "ours.1+theirs.2", "two", ("r2",), "s2"
    )  # fmt: skip
    assert row.scores == {"overall": -0.25}
    assert found.left_out == {f"of {pair}, without a text in the folder": 1 for pair in ("cs-en", "en-zh")}
    copy = written(package / "txt-ts" / "newstest2017.ours.1.cs-en", "One", "Two")
    with pytest.raises(RecordError, match=r"both .*system-outputs.* and .*txt-ts.*ours.1.cs-en match"):
        wmt_da(package)
    copy.unlink()
    written(scores, lines[0], "cs-en newstest2017 ours.1 3 1")
    with pytest.raises(RecordError, match=r"no line 3; scores and texts belong to different tasks"):
        wmt_da(package)
    written(scores, lines[0], "cs-en newstest2017 ours.1 3")
    with pytest.raises(RecordError, match=r"seglevel\.csv:2: 4 cells"):
        wmt_da(package)


def test_the_comparisons_of_2018_are_inputs_with_two_systems(package):
    lines = [
        "DATA SID BETTER WORSE",  # the name of the first column is missing, as it was published
        "cs-en newstest2018 2 ours.1 theirs.2",
        "cs-en newstest2018 2 theirs.2 ours.1",
        "cs-en newstest2018 1 ours.1 nobody.3",
    ]
    written(package / "RR-seglevel.csv", *lines)
    found = wmt_da(package)
    assert [(each.id, each.system, each.candidate, each.scores["overall"]) for each in found.rows] == [
        ("2018/cs-en/2/1", "ours.1", "two", 1),
        ("2018/cs-en/2/1", "theirs.2", "2", 0),
        ("2018/cs-en/2/2", "theirs.2", "2", 1),
        ("2018/cs-en/2/2", "ours.1", "two", 0),
    ]
    assert found.left_out == {"of cs-en, without a text in the folder for both systems": 2}


def test_a_folder_of_something_else(tmp_path):
    with pytest.raises(RecordError, match="a known layout of WMT's direct assessment"):
        wmt_da(tmp_path)
