import random
from collections import Counter

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from human_eval.design.balance import first_left

# Any comparisons in any booklets: the pair of comparison c is c % 3.
tasks = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 6)), max_size=120)


def imbalances(names, sides):
    """Tasks with the first system left minus those with it right, by name."""
    totals = Counter()
    for name, side in zip(names, sides, strict=True):
        totals[name] += 1 if side else -1
    return totals


@settings(max_examples=300, deadline=None)
@given(tasks, st.integers(0, 2**32))
@example([], 0)
def test_balanced_in_every_comparison_pair_booklet_and_over_all(tasks, seed):
    comparisons = [comparison for comparison, _ in tasks]
    pairs = [comparison % 3 for comparison in comparisons]
    booklets = [booklet for _, booklet in tasks]
    sides = first_left(comparisons, pairs, booklets, random.Random(seed))
    assert len(sides) == len(tasks)
    for names in (comparisons, pairs, booklets, ["all"] * len(tasks)):
        assert all(abs(total) <= 1 for total in imbalances(names, sides).values())


def test_the_sides_of_a_task_are_a_fair_coin():
    """Otherwise the place of a task would tell its sides. 1,000 seeds: 5 standard deviations are 79."""
    comparisons, booklets = [0, 0, 0, 1, 1, 1, 2, 2, 2], [0, 1, 2] * 3
    drawn = [first_left(comparisons, [0] * 9, booklets, random.Random(seed)) for seed in range(1000)]
    for task in range(9):
        assert sum(sides[task] for sides in drawn) == pytest.approx(500, abs=79)


def test_the_same_seed_gives_the_same_sides():
    arguments = list(range(50)), [0] * 50, [number % 4 for number in range(50)]
    assert first_left(*arguments, random.Random(3)) == first_left(*arguments, random.Random(3))
    assert first_left(*arguments, random.Random(3)) != first_left(*arguments, random.Random(4))
