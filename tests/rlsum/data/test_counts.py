import random
from collections import Counter

import datasets
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlsum.data.batch import BUCKET_BATCHES, BatchPlan
from rlsum.data.counts import column_of, token_counts, training_lengths, vocabulary_of
from rlsum.data.remembered import cache_folder, remembered
from rlsum.data.vocabulary import Vocabulary

ROWS = {"src_tokens": [["b", "a", "é"], [], ["<unk>", "a"]], "tgt_tokens": [["a"] * 9, ["b"], []]}


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path)


@pytest.fixture(params=[None, [2, 0]], ids=["all", "selected"])
def rows(request):
    made = datasets.concatenate_datasets([datasets.Dataset.from_dict(ROWS)] * 2)
    return made if request.param is None else made.select(request.param)


def test_lengths_and_words_are_those_of_the_lists(rows):
    for name in ROWS:
        assert token_counts(rows, name).tolist() == [len(tokens) for tokens in rows[name]]
        assert column_of(rows, name).to_pylist() == rows[name][:]
    words = [word for name in ROWS for tokens in rows[name] for word in tokens]
    for size, least in ((10, 1), (1, 1), (10, 3)):
        assert vocabulary_of(rows, size, least) == Vocabulary.of_counts(Counter(words), size, least)


def test_training_lengths_are_in_order_of_targets_and_then_articles():
    made = {"tgt_tokens": [["w"] * n for n in (9, 1, 8, 3)], "src_tokens": [["w"] * n for n in (50, 40, 30, 20)]}
    lengths = training_lengths(datasets.Dataset.from_dict(made))
    assert np.argsort(lengths).tolist() == [3, 1, 2, 0]


@given(st.lists(st.integers(0, 9), min_size=1, max_size=400), st.integers(1, 3), st.integers(0, 9))
def test_the_plan_is_that_of_shuffled_lists(lengths, size, seed):
    """Runs that began with such a plan are resumed."""
    plan, epoch = BatchPlan(lengths, size, seed), seed % 3
    rng, rows, batches = random.Random(f"{seed}-{epoch}"), list(range(len(lengths))), []
    rng.shuffle(rows)
    for start in range(0, len(rows), size * BUCKET_BATCHES):
        block = sorted(rows[start : start + size * BUCKET_BATCHES], key=lengths.__getitem__)
        batches += [block[i : i + size] for i in range(0, len(block), size)]
    rng.shuffle(batches)
    assert [plan.at(epoch * plan.per_epoch + i) for i in range(plan.per_epoch)] == batches


def test_what_is_remembered_is_computed_once_and_again_where_it_is_damaged(caplog):
    computed = []

    def compute():
        computed.append(1)
        return {"a": [len(computed)]}

    assert [remembered("x", ("key", 1), compute) for _ in range(2)] == [{"a": [1]}] * 2
    assert remembered("x", ("key", 2), compute) == {"a": [2]}
    for file in cache_folder().glob("x-*.json"):
        file.write_bytes(file.read_bytes().replace(b"[1]", b"[7]"))
    assert remembered("x", ("key", 1), compute) == {"a": [3]}
    assert "damaged; computed again" in caplog.text
