from collections import Counter
from dataclasses import dataclass, replace

import pydantic
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from studies import NAMES, aligned, outputs, study

from human_eval.criteria import DEFAULT, StudyWording
from human_eval.design.build import build, pairs_of
from human_eval.design.design import StudyDesign
from human_eval.design.outputs import align
from human_eval.study import Criterion, StudyError

designs = st.builds(
    StudyDesign,
    items=st.integers(1, 9),
    baseline=st.sampled_from([None, *NAMES]),
    judges=st.integers(1, 4),
    booklet=st.integers(1, 30),
    identical=st.integers(0, 2),
    shuffled=st.integers(0, 2),
    swapped=st.integers(0, 2),
)


@settings(max_examples=60, deadline=None)
@given(designs, st.integers(0, 2**63))
def test_every_pair_is_judged_as_often_as_asked_for_and_balanced(design, seed):
    blind, key = build(aligned(9, 3), design, StudyWording(), seed)
    judged = [task for task in blind.tasks if key.tasks[task.id].kind == "pair"]
    units = Counter((task.item, key.tasks[task.id].pair) for task in judged)
    pairs = pairs_of(NAMES, design.baseline)
    assert len(units) == design.items * len(pairs)
    assert set(units.values()) == {design.judges}
    # Slots are different judges: nobody gets one comparison twice.
    assert max(Counter((task.item, key.tasks[task.id].pair, task.booklet) for task in judged).values()) == 1
    groups = {
        "comparison": lambda task: (task.item, key.tasks[task.id].pair),
        "pair": lambda task: key.tasks[task.id].pair,
        "booklet": lambda task: task.booklet,
        "all": lambda task: 0,
    }
    for group in groups.values():
        totals = Counter()
        for task in judged:
            secret = key.tasks[task.id]
            totals[group(task)] += 1 if secret.left == secret.pair[0] else -1
        assert all(abs(total) <= 1 for total in totals.values())
    sizes = Counter(task.booklet for task in judged)
    assert max(sizes.values()) <= design.booklet
    assert max(sizes.values()) - min(sizes.values()) <= 1


@settings(max_examples=60, deadline=None)
@given(designs, st.integers(0, 2**63))
def test_the_key_tells_what_each_task_shows(design, seed):
    source = aligned(9, 3)
    blind, key = build(source, design, StudyWording(), seed)
    assert [task.id for task in blind.tasks] == list(key.tasks)
    for booklet in blind.booklets:
        kinds = Counter(key.tasks[task.id].kind for task in booklet)
        assert (kinds["identical"], kinds["shuffled"]) == (design.identical, design.shuffled)
        assert kinds["swapped"] == min(design.swapped, (kinds["pair"] + 1) // 2)
        for task in booklet:
            secret, texts = key.tasks[task.id], source.candidates[key.items[task.item]]
            assert blind.articles[task.item] == source.articles[key.items[task.item]]
            shown = {"left": task.left, "right": task.right}
            if secret.kind == "identical":
                assert task.left == task.right == texts[secret.left]
                assert secret.expected == "none"
            elif secret.kind == "shuffled":
                garbled = shown["right" if secret.expected == "left" else "left"]
                assert shown[secret.expected] == texts[secret.left] != garbled
                assert sorted(garbled.split()) == sorted(texts[secret.left].split())
            else:
                assert (task.left, task.right) == (texts[secret.left], texts[secret.right])
                assert {secret.left, secret.right} == set(secret.pair)
            if secret.kind == "swapped":
                earlier = blind.by_id[secret.repeats]
                assert (earlier.left, earlier.right) == (task.right, task.left)
                assert earlier.booklet == task.booklet
                assert earlier.position < task.position
                assert key.tasks[earlier.id].kind == "pair"
            else:
                assert secret.repeats is None


def test_the_same_seed_gives_the_same_study_whatever_the_order_of_the_outputs():
    rows = outputs(8, 3)
    turned = [align([(f"x:{row.id}", row) for row in written]) for written in (rows, rows[::-1])]
    first, second = (build(source, StudyDesign(items=5), StudyWording(), 7) for source in turned)
    assert first == second
    assert build(turned[0], StudyDesign(items=5), StudyWording(), 8)[0].id != first[0].id


def test_an_option_that_is_added_later_leaves_the_study_of_a_seed_as_it_is():
    @pydantic.dataclasses.dataclass(frozen=True)
    class Design(StudyDesign):
        colours: int = pydantic.Field(default=2, ge=0)

    @dataclass(frozen=True)
    class Asked(Criterion):
        colour: str = "blue"

    first, later = Criterion("a", "Which?", "help"), Asked("a", "Which?", "help")
    made = build(aligned(9, 3), StudyDesign(judges=2), StudyWording(criteria=(first,)), 5)[1]
    assert build(aligned(9, 3), Design(judges=2), StudyWording(criteria=(later,)), 5)[1] == made
    assert build(aligned(9, 3), Design(judges=2, colours=3), StudyWording(criteria=(later,)), 5)[1] != made


def test_ids_of_studies_with_one_seed_but_other_texts_have_nothing_in_common():
    rows = outputs(8, 2)
    other = [*rows[:-1], replace(rows[-1], candidate=rows[-1].candidate + " more")]
    ids = []
    for written in (rows, other):
        blind, _ = build(align([(row.id, row) for row in written]), StudyDesign(items=5), StudyWording(), 7)
        ids.append({blind.id, *blind.by_id, *blind.articles})
    assert not ids[0] & ids[1]


def test_an_id_is_no_number_to_a_spreadsheet():
    blind, key = study()
    assert all(name[0].isalpha() for name in (blind.id, *blind.by_id, *key.items))


def test_identical_outputs_are_ties_and_not_judged():
    rows = outputs(6, 2)
    rows[6] = replace(rows[6], candidate=rows[0].candidate.replace("\n", "  "))  # spaces are no difference
    blind, key = build(align([(row.id, row) for row in rows]), StudyDesign(items=6), StudyWording(), 1)
    assert [(key.items[tie.item], tie.pair) for tie in key.ties] == [("article-0", NAMES[:2])]
    judged = {key.items[task.item] for task in blind.tasks if key.tasks[task.id].kind == "pair"}
    assert judged == {f"article-{number}" for number in range(1, 6)}


def test_checks_prefer_articles_that_nobody_judges():
    blind, key = study(items=6)
    by_kind = {
        checks: {task.item for task in blind.tasks if (key.tasks[task.id].kind in ("identical", "shuffled")) is checks}
        for checks in (True, False)
    }
    assert not by_kind[True] & by_kind[False]


@pytest.mark.parametrize("baseline", [None, NAMES[0]])
def test_no_booklet_shows_a_summary_of_the_baseline_twice_however_large_it_may_be(baseline):
    blind, key = build(aligned(9, 3), StudyDesign(items=5, booklet=30, baseline=baseline), StudyWording(), 1)
    for booklet in blind.booklets:
        items = [task.item for task in booklet if key.tasks[task.id].kind == "pair"]
        assert len(set(items)) == len(items)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"judges": 10**9}, "--judges 1000000000: makes 3,000,000,000 booklets"),
        ({"baseline": "bert"}, "--baseline bert: no such system; the outputs are of lead_model, rouge_model"),
    ],
)
def test_a_design_that_cannot_be_met_is_refused(change, told):
    with pytest.raises(StudyError, match=told):
        build(aligned(9, 3), replace(StudyDesign(items=5), **change), StudyWording(), 1)


def test_a_study_without_a_difference_is_refused():
    rows = [replace(row, candidate="the same") for row in outputs(3, 2)]
    with pytest.raises(StudyError, match="nothing to judge"):
        build(align([(row.id, row) for row in rows]), StudyDesign(items=3), StudyWording(), 1)


def test_a_check_that_cannot_be_made_is_said():
    rows = [replace(row, candidate=f"short {row.system}") for row in outputs(3, 2)]
    source = align([(row.id, row) for row in rows])
    with pytest.raises(StudyError, match="--shuffled 0"):
        build(source, StudyDesign(items=3, shuffled=3), StudyWording(), 1)
    assert build(source, StudyDesign(items=3, shuffled=0), StudyWording(), 1)


@pytest.mark.parametrize(
    "wording",
    [
        StudyWording(title="Is SMS_model better?"),
        StudyWording(criteria=(*DEFAULT, Criterion("sms_model", "Which?"))),
        StudyWording(criteria=(Criterion("best", "Which?", "not lead_model"),)),
    ],
)
def test_wording_that_names_a_system_is_refused(wording):
    with pytest.raises(StudyError, match="names the system"):
        build(aligned(9, 3), StudyDesign(items=5), wording, 1)


def test_wording_that_no_file_can_hold_is_refused():
    with pytest.raises(StudyError, match="the wording is not valid Unicode"):
        build(aligned(9, 3), StudyDesign(items=5), StudyWording(title="\udcff"), 1)


def test_spare_booklets_give_some_pairs_one_judge_more_and_change_no_other_study():
    design = StudyDesign(items=6, judges=2, booklet=3, identical=0, shuffled=0)
    plain, _ = build(aligned(6), design, StudyWording(), 1)
    more, _ = build(aligned(6), replace(design, spare=1), StudyWording(), 1)
    assert (len(plain.booklets), len(more.booklets)) == (4, 5)
    assert sorted(Counter(Counter(task.item for task in more.tasks).values()).items()) == [(2, 3), (3, 3)]
    with pytest.raises(StudyError, match="--spare 3"):
        build(aligned(6), replace(design, spare=3), StudyWording(), 1)
