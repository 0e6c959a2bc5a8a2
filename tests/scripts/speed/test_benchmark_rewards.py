"""The benchmark of rewards: what it gives to gensim's rival."""

import numpy as np
from benchmark_rewards import rows_of

from rewards.encoding.vectors import StaticVectors
from rewards.mover.static import WordSpace


def test_tokens_become_rows_without_dropped_words_and_empty_sentences():
    vectors = StaticVectors(np.eye(2, dtype=np.float32), {"cat": 0, "dog": 1}, "eye")
    text = [["dog", "unknown", "cat"], ["unknown"]]
    assert rows_of(WordSpace.of(vectors, "none", "drop"), text) == [(1, 0)]
    assert rows_of(WordSpace.of(vectors, "none", "zero"), text) == [(1, 2, 0), (2,)]
