import pytest
from rows import tsv

from rlsum.errors import RecordError
from rlsum.judgments.public.asap import asap_aes, asap_sas

AES = ["essay_id", "rater1", "rater2", "domain1_score", "essay"]
CONTEST = ["essay_id", "essay_set", "essay", "rater1_domain1", "rater2_domain1", "rater3_domain1", "domain1_score"]
ESSAYS = [
    ("10", "3", "3", "3", "Good. Very good! Is it? Yes."),
    ("11", "3", "3", "3", "Short. But good."),
    ("12", "3", "2", "3", "This one is the longest of all. But one rater gave it two points. So it is no reference."),
    ("13", "1", "", "1", "Bad."),
]


@pytest.fixture
def essays(tmp_path):
    return tsv(tmp_path / "set3.tsv", AES, *ESSAYS)


def test_the_longest_essay_that_both_raters_gave_the_best_score_is_the_reference(essays):
    found = asap_aes(essays)
    assert [each.id for each in found.rows] == ["11", "12", "13"]
    assert all(each.references == (ESSAYS[0][-1],) for each in found.rows)
    assert found.left_out == {"chosen as a reference": 1}
    assert any(note.endswith("the best score: 10") for note in found.notes)
    assert found.rows[1].scores == {"overall": 3}
    assert found.rows[1].raw_scores == {"overall": (3, 2)}
    assert found.rows[2].raw_scores == {"overall": (1, None)}
    assert found.rows[1].judges == ("rater 1", "rater 2")
    assert found.scales == {"overall": (0, 3)}


def test_references_by_number_by_id_or_none(essays):
    assert asap_aes(essays, references=9).rows[0].references == (ESSAYS[0][-1], ESSAYS[1][-1])
    assert asap_aes(essays, reference_ids="13, 11").rows[0].references == (ESSAYS[3][-1], ESSAYS[1][-1])
    none = asap_aes(essays, references=0)
    assert len(none.rows) == 4
    assert none.rows[0].references == ()
    for options, told in (({"references": -1}, "references=-1"), ({"reference_ids": "99"}, "no essay has the id '99'")):
        with pytest.raises(RecordError, match=told):
            asap_aes(essays, **options)


def test_without_a_best_essay_there_is_no_silent_choice(tmp_path):
    path = tsv(tmp_path / "set3.tsv", AES, *ESSAYS[2:])
    with pytest.raises(RecordError, match="references=1: no essay has the best score; name some with reference_ids"):
        asap_aes(path)
    assert [each.id for each in asap_aes(path, reference_ids="12").rows] == ["13"]


def test_sentences_are_counted_by_a_named_rule(essays):
    found = asap_aes(essays, references=0, sentences="3-4")
    assert [each.id for each in found.rows] == ["10", "12"]
    assert found.left_out == {"not of 3 to 4 sentences (by punctuation)": 2}
    for wrong in ("five", "9-5"):
        with pytest.raises(RecordError, match="write lowest-highest"):
            asap_aes(essays, sentences=wrong)


def test_the_contest_file_is_windows_1252_with_quoted_essays_of_eight_sets(tmp_path):
    rows = [
        ["1", "1", "Of another set.", "4", "4", "", "8"],
        ["2", "3", '"He said ""no"" \x96 twice."', "2", "2", "", "2"],
        ["3", "3", '"No" is what he "said"', "2", "1", "", "2"],
    ]
    path = tmp_path / "training_set_rel3.tsv"
    path.write_bytes("\n".join("\t".join(row) for row in [CONTEST, *rows]).encode("latin-1"))
    found = asap_aes(path, references=0)
    assert [each.candidate for each in found.rows] == ['He said "no" \u2013 twice.', '"No" is what he "said"']
    assert found.left_out == {"of other sets than 3": 1}


TRAIN = ["Id", "EssaySet", "Score1", "Score2", "EssayText"]
ANSWERS = [
    ("1", "1", "3", "3", "Two words. ^p And more."),
    ("2", "1", "3", "2", '"An ""answer"" in quotes"'),
    ("3", "3", "2", "2", "The best of set three."),
    ("4", "3", "1", "", "Not the best."),
]


def test_answers_are_shares_of_the_best_score_of_their_set(tmp_path):
    found = asap_sas(tsv(tmp_path / "train.tsv", TRAIN, *ANSWERS))
    assert [each.candidate for each in found.rows] == [
        "Two words. And more.", 'An "answer" in quotes', "The best of set three.", "Not the best."
    ]  # fmt: skip
    assert [each.scores["overall"] for each in found.rows] == [1, 1, 1, 0.5]
    assert found.rows[3].scores["points"] == 1
    assert found.rows[1].raw_scores == {"overall": (1, pytest.approx(2 / 3)), "points": (3, 2)}
    assert found.rows[3].raw_scores["points"] == (1, None)
    assert [each.group for each in found.rows] == ["1", "1", "3", "3"]
    assert all(each.references == () for each in found.rows)


def test_sets_are_chosen(tmp_path):
    path = tsv(tmp_path / "train.tsv", TRAIN, *ANSWERS)
    assert [each.id for each in asap_sas(path, sets="3").rows] == ["3", "4"]
    assert asap_sas(path, sets="3").left_out == {"of other sets than 3": 2}
    for wrong in ("7", "1 x", "11", "1-4", "3-1", "1-", "3.1", "1-3000"):
        with pytest.raises(RecordError, match=f"sets='{wrong}': no judgment is of .*there are 1, 3"):
            asap_sas(path, sets=wrong)
    path = tsv(tmp_path / "all.tsv", TRAIN, *([f"{n}", f"{n}", "1", "1", "An answer."] for n in range(1, 11)))
    for chosen, found in (("1-5", "12345"), ("2 - 4", "234"), ("7-9,1", "1789"), ("3-3", "3")):
        assert [each.group for each in asap_sas(path, sets=chosen).rows] == [*found]


def test_the_public_test_has_one_score(tmp_path):
    tsv(tmp_path / "train.tsv", TRAIN, *ANSWERS)
    columns = ["Id", "EssaySet", "Score", "Usage", "EssayText"]
    tsv(tmp_path / "public_leaderboard.tsv", columns, ["9", "5", "2", "x", "Text"])
    (found,) = asap_sas(tmp_path, part="test").rows
    assert found.scores == {"overall": pytest.approx(2 / 3), "points": 2}
    assert (found.raw_scores, found.judges) == ({}, ())
    assert len(asap_sas(tmp_path, part="train").rows) == 4
    with pytest.raises(RecordError, match="no column Score"):
        asap_sas(tsv(tmp_path / "unscored.tsv", ["Id", "EssaySet", "EssayText"], ["9", "5", "Text"]))


def test_faults_name_the_line(tmp_path):
    for row, told in (
        (["1", "12", "1", "1", "x"], "train.tsv:2: EssaySet 12 is not one of 1 to 10"),
        (["1", "1", "", "1", "x"], "train.tsv:2: Score1 is empty"),
        (["1", "1", "inf", "1", "x"], "train.tsv:2: Score1='inf' is not a finite number"),
    ):
        with pytest.raises(RecordError, match=told):
            asap_sas(tsv(tmp_path / "train.tsv", TRAIN, row))
