import tiny
import torch
from hypothesis import given
from hypothesis import strategies as st

from rlsum.data.batch import BatchPlan, collate, pad
from rlsum.data.vocabulary import EOS, PAD, UNK


def test_a_batch_by_hand():
    vocabulary = tiny.vocabulary(("a", "b"))
    batch = collate(tiny.rows([("a Zoe b Zoe Yan", "Yan b Xi"), ("", ""), ("Yan", "a")]), vocabulary)
    assert batch.src.tolist() == [[4, UNK, 5, UNK, UNK], [PAD] * 5, [UNK, PAD, PAD, PAD, PAD]]
    assert batch.src_extended.tolist() == [[4, 6, 5, 6, 7], [PAD] * 5, [6, PAD, PAD, PAD, PAD]]
    assert batch.target.tolist() == [[7, 5, UNK, EOS], [EOS, PAD, PAD, PAD], [4, EOS, PAD, PAD]]
    assert batch.src_lengths.tolist() == [5, 0, 1]
    assert batch.unknown == (("Zoe", "Yan"), (), ("Yan",))
    assert batch.ids == ("0", "1", "2")
    assert batch.references == (("Yan b Xi",), ("",), ("a",))
    assert len(batch) == 3
    assert {t.dtype for t in (batch.src, batch.src_extended, batch.target, batch.src_lengths)} == {torch.int64}


def test_a_target_that_was_cut_does_not_end():
    rows = {**tiny.rows([("a b", "a b"), ("a b", "a b")]), "tgt_whole": [False, True]}
    assert collate(rows, tiny.vocabulary(("a", "b"))).target.tolist() == [[4, 5, PAD], [4, 5, EOS]]


def test_nothing_but_empty_rows_still_has_a_column():
    batch = tiny.batch([("", ""), ("", "")])
    assert batch.src.shape == (2, 1)
    assert batch.target.tolist() == [[EOS], [EOS]]
    assert pad([[], []]).dtype == torch.int64


def epoch(plan, number):
    return [plan.at(number * plan.per_epoch + i) for i in range(plan.per_epoch)]


@given(st.integers(1, 90), st.integers(1, 12) | st.just(1000), st.integers(0, 5))
def test_every_row_once_in_every_epoch(rows, size, seed):
    plan = BatchPlan([(7 * i) % 11 for i in range(rows)], size, seed)
    assert plan.per_epoch == -(-rows // size)
    for number in range(3):
        batches = epoch(plan, number)
        assert sorted(row for batch in batches for row in batch) == list(range(rows))
        assert all(0 < len(batch) <= size for batch in batches)
        assert sum(len(batch) < size for batch in batches) <= 1


def test_a_batch_is_a_pure_function_of_its_number():
    lengths = [i % 13 for i in range(70)]
    forwards = [BatchPlan(lengths, 4, seed=3).at(i) for i in range(60)]
    plan = BatchPlan(lengths, 4, seed=3)
    backwards = [plan.at(i) for i in reversed(range(60))][::-1]
    assert forwards == backwards
    assert plan.at(59) == plan.at(59) == forwards[59]


def test_epochs_and_seeds_differ():
    lengths = [i % 13 for i in range(70)]
    plan, other = BatchPlan(lengths, 4, seed=1), BatchPlan(lengths, 4, seed=2)
    assert epoch(plan, 0) != epoch(plan, 1)
    assert epoch(plan, 0) != epoch(other, 0)
    companies = [{frozenset(batch) for batch in epoch(p, n)} for p, n in ((plan, 0), (plan, 1), (other, 0))]
    assert companies[0] != companies[1] != companies[2] != companies[0]


def test_batches_hold_rows_of_similar_length_in_an_order_that_is_not_by_length():
    lengths = [(37 * i) % 101 for i in range(400)]
    batches = epoch(BatchPlan(lengths, 8, seed=1), 0)
    spreads = [max(lengths[r] for r in batch) - min(lengths[r] for r in batch) for batch in batches]
    assert sum(spreads) / len(spreads) < 5
    means = [sum(lengths[r] for r in batch) / len(batch) for batch in batches]
    assert sorted(means) != means != sorted(means, reverse=True)


def test_the_plan_is_the_same_in_every_process_and_version():
    """Pinned: a resumed run would otherwise train on other rows."""
    assert [BatchPlan(range(6), 2, seed=1).at(i) for i in range(4)] == [[2, 3], [4, 5], [0, 1], [2, 3]]
