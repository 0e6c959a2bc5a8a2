from dataclasses import replace

import pytest

from rlsum.errors import UserError
from rlsum.judgments.records import Judgment
from rlsum.metric_fitting.examples import Scale, check_varied, content, examples, held_out


def judgments(count=12, systems=2, **scores):
    return [
        Judgment(
            str(i), f"s{j}", f"text {i} {j}", ("a reference",), group=f"{'xy'[i % 2]}-en", scores={"overall": i + j}
        )
        for i in range(count)
        for j in range(systems)
    ]


def test_judgments_without_the_score_or_of_other_groups_are_left_out():
    rows = [
        *judgments(4),
        Judgment("none", "s", "c", ("r",), group="x-en"),
        Judgment("null", "s", "c", ("r",), scores={"overall": None}),
    ]
    assert len(examples(rows, "overall")) == 8
    assert {each.id for each in examples(rows, "overall", "x-*")} == {"0", "2"}


def test_names_that_do_not_exist():
    with pytest.raises(
        UserError,
        match=r"--score 'overal': no judgment has this score; did you mean 'overall'\?",
    ):
        examples(judgments(), "overal")
    with pytest.raises(UserError, match=r"--groups '\*-de': no judgment is in such a group; the groups are x-en, y-en"):
        examples(judgments(), "overall", "*-de")
    with pytest.raises(UserError, match="there are no scores"):
        examples([Judgment("1", "s", "c", ("r",))], "overall")


def test_whole_items_are_held_out():
    found = examples(judgments(), "overall")
    train, valid = held_out(found, 0.25, seed=3)
    assert len({each.id for each in valid}) == 3
    assert not {each.id for each in train} & {each.id for each in valid}
    assert sorted([*train, *valid], key=found.index) == found
    assert held_out(found, 0.25, seed=3) == (train, valid) != held_out(found, 0.25, seed=4)
    with pytest.raises(UserError, match="1 judged item cannot be split"):
        held_out(found[:2], 0.5, seed=0)
    assert all(held_out(found[:4], 0.01, seed=0))  # never empty


def test_texts_that_are_held_out_are_not_learned_under_another_id():
    rows = judgments(10, systems=1)
    found = examples([*rows, *(replace(row, id=f"doc-{row.id}") for row in rows)], "overall")
    train, valid = held_out(found, 0.2, seed=0)
    assert len(valid) == 4
    assert not {each.candidate for each in train} & {each.candidate for each in valid}
    with pytest.raises(UserError, match=r"--holdout 0\.5: all texts are held out, under several ids"):
        held_out([found[0], found[10]], 0.5, seed=0)


def test_the_content_changes_with_what_matters():
    found = examples(judgments(3), "overall")
    others = (found[::-1], found[:-1], examples(judgments(3), "overall")[:1] + found[1:][::-1])
    assert content(found) == content(examples(judgments(3), "overall"))
    assert len({content(found), *map(content, others)}) == 4


def test_scales_by_hand():
    human = [-1.0, 1.0, 3.0]
    expected = {"min-max": [0.0, 0.5, 1.0], "standard": [-(1.5**0.5), 0.0, 1.5**0.5], "none": human}
    for scaling, targets in expected.items():
        assert list(map(Scale.of(scaling, human), human)) == pytest.approx(targets)


@pytest.mark.filterwarnings("ignore:overflow")
def test_scores_without_spread():
    found = [each for each in examples(judgments(2), "overall") if each.human == 1]
    with pytest.raises(UserError, match=r"training .*all 2 human scores are equal"):
        check_varied("training", found)
    with pytest.raises(UserError, match="no spread"):
        Scale.of("standard", [1e308, -1e308])  # overflows
