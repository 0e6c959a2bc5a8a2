import pytest
from pydantic import ValidationError
from studies import aligned

from human_eval.criteria import standard
from human_eval.design.design import ITEMS, StudyDesign
from human_eval.study import StudyError


@pytest.mark.parametrize(
    ("answers", "items", "settled", "said"),
    [
        ("pair", ITEMS + 1, (ITEMS, 2, 3), []),
        (
            "pair",
            2,
            (2, 2, 2),
            ["2 articles in all systems", "--shuffled 2 instead of 3: only 2 articles can have one"],
        ),
        ("best-worst", 8, (8, 0, 6), ["8 articles in all systems"]),
    ],
)
def test_what_is_not_given_is_as_usual_or_as_much_as_the_outputs_allow(answers, items, settled, said):
    design, notes = StudyDesign().settled(aligned(items), standard(answers, 3).criteria)
    assert (design.items, design.identical, design.shuffled) == settled
    assert [begins in note for begins, note in zip(said, notes, strict=True)] == [True] * len(said)
    assert design.settled(aligned(items), standard(answers, 3).criteria) == (design, [])


def test_more_articles_than_there_are_are_refused_and_a_number_of_checks_stays_as_given():
    with pytest.raises(StudyError, match="--items 10: only 9 articles"):
        StudyDesign(items=10).settled(aligned(9), ())
    assert StudyDesign(items=1, identical=9, shuffled=9).settled(aligned(2), ())[0].checks["shuffled"] == 9


@pytest.mark.parametrize(
    "option", [{"items": 0}, {"judges": 0}, {"booklet": 0}, {"swapped": -1}, {"spare": -1}, {"shuffled": 1000}]
)
def test_a_number_out_of_range_is_refused(option):
    with pytest.raises(ValidationError):
        StudyDesign(**option)
