from dataclasses import replace

import pytest
from studies import study as small_study

from human_eval.collection.responses import Response, write_responses
from human_eval.files import save
from human_eval.report.findings import material
from human_eval.report.warnings import warnings
from human_eval.statistics.analysis import analyse
from human_eval.statistics.settings import AnalysisSettings
from human_eval.study import EqualTexts, StudyError
from human_eval.votes.exclusion import ExclusionRules
from human_eval.votes.unblind import read_votes, unblind


def judged(study, key, choose, judge="ann"):
    """One judge's answers to every task of the first booklet, from its secret."""
    answers = {task.id: choose(key.tasks[task.id]) for task in study.booklets[0]}
    return [
        Response(study.id, task, judge, {criterion.id: answer for criterion in study.criteria})
        for task, answer in answers.items()
    ]


def for_system(name):
    return lambda secret: "left" if secret.left == name else "right" if secret.right == name else "none"


def test_a_preference_is_for_the_system_wherever_it_stood():
    study, key = small_study()
    for name, preference in ((key.systems[0], -1), (key.systems[1], 1)):
        votes = unblind(study, key, judged(study, key, for_system(name)))
        assert {row.preference for row in votes.rows} == {preference}
        assert {row.pair for row in votes.rows} == {key.systems}
        assert {row.item for row in votes.rows} <= set(key.items.values())
        assert {row.chose_left for row in votes.rows} == {1, -1}
    none = unblind(study, key, judged(study, key, lambda secret: "none"))
    assert {row.preference for row in none.rows} == {0}


def test_checks_are_marked_and_are_no_votes():
    study, key = small_study()
    votes = unblind(study, key, judged(study, key, lambda secret: "left"))
    kinds = [key.tasks[task.id].kind for task in study.booklets[0]]
    assert len(votes.rows) == kinds.count("pair") * len(study.criteria)
    assert sorted(check.kind for check in votes.checks) == sorted(kind for kind in kinds if kind != "pair")
    assert {check.kind for check in votes.checks if check.failed} >= {"identical", "swapped"}  # always left is careless


def test_a_repeated_task_whose_first_was_never_judged_is_no_check():
    study, key = small_study()
    judgments = judged(study, key, lambda secret: "left")
    repeated = next(secret.repeats for secret in key.tasks.values() if secret.repeats)
    repeats = {task for task, secret in key.tasks.items() if secret.repeats == repeated}
    judgments = [each for each in judgments if each.task != repeated]
    assert repeats.isdisjoint(check.task for check in unblind(study, key, judgments).checks)


def test_the_longer_text_is_that_of_the_system():
    study, key = small_study()
    task = next(task for task in study.booklets[0] if key.tasks[task.id].kind == "pair")
    secret = key.tasks[task.id]
    on_left = secret.left == secret.pair[1]
    longer = replace(task, left="a b c" if on_left else "a", right="a" if on_left else "a b c")
    tasks = tuple(longer if each.id == task.id else each for each in study.tasks)
    votes = unblind(replace(study, tasks=tasks), key, judged(study, key, lambda secret: "none"))
    assert {row.longer for row in votes.rows if row.task == task.id} == {1}


def test_the_holder_of_two_booklets_counts_once_for_each_pair_of_texts():
    study, key = small_study()
    everything = [
        Response(study.id, task.id, "ann", {criterion.id: "left" for criterion in study.criteria})
        for task in study.tasks
    ]
    votes = unblind(study, key, everything)
    pairs = sum(secret.kind == "pair" for secret in key.tasks.values())
    once = len({(*key.tasks[task.id].pair, task.item) for task in study.tasks if key.tasks[task.id].kind == "pair"})
    assert len(votes.rows) == once * len(study.criteria)
    assert votes.notes == (f"left out: {pairs - once} judgments of texts that the same judge had judged before",)


def test_equal_texts_come_from_the_key():
    study, key = small_study()
    item = next(iter(key.items))
    votes = unblind(study, replace(key, ties=(EqualTexts(item, key.systems),)), [])
    assert votes.same == ((key.systems, key.items[item]),)
    assert votes.same_items(key.systems) == 1


def test_files_and_keys_that_do_not_belong_together(tmp_path):
    study, key = small_study()
    other, other_key = small_study(seed=2)
    save(tmp_path / "study", study, tmp_path / "key.json", key)
    save(tmp_path / "other", other, tmp_path / "other.json", other_key)
    write_responses(tmp_path / "judgments.jsonl", judged(study, key, for_system(key.systems[0])))
    assert read_votes(tmp_path / "study", tmp_path / "judgments.jsonl", tmp_path / "key.json").rows
    with pytest.raises(StudyError, match="the key of another study"):
        read_votes(tmp_path / "study", tmp_path / "judgments.jsonl", tmp_path / "other.json")
    with pytest.raises(StudyError, match="of another study"):
        read_votes(tmp_path / "other", tmp_path / "judgments.jsonl", tmp_path / "other.json")


def test_texts_that_name_a_system_are_on_the_card():
    study, key = small_study()
    named = [
        replace(task, left=f"{task.left} {key.systems[0]}") if n == 2 else task for n, task in enumerate(study.tasks)
    ]
    study = replace(study, tasks=tuple(named))
    votes = unblind(study, key, judged(study, key, for_system(key.systems[1])))
    assert votes.naming == {named[2].id: [key.systems[0]]}
    found = analyse(votes, AnalysisSettings(rules=ExclusionRules(max_failed=1), resamples=50))
    assert any("blinding" in line and named[2].id in line for line in warnings(found))
    assert not any("names a system" in line for line in material(found))
