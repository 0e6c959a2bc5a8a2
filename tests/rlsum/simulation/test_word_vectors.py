import json

import numpy as np
import pytest

from rewards.encoding.vectors import read_vectors
from rlsum.simulation.grammar import SYNONYMS
from rlsum.simulation.stories import stories, write_corpus
from rlsum.simulation.word_vectors import TooLittleText, train_from_corpus, train_vectors, write_vectors

SENTENCES = [line for story in stories(1, "train", 1500) for line in story.article]


@pytest.fixture(scope="module")
def vectors():
    return train_vectors(SENTENCES)


def test_every_synonym_has_a_vector_and_no_name_or_number_has(vectors):
    assert {word for group in SYNONYMS for word in group} <= set(vectors)
    names = {token.lower() for line in SENTENCES for token in line.split() if token[0].isupper()}
    assert not names & set(vectors)
    assert all(word.isalpha() and word.islower() for word in vectors)


def test_vectors_have_unit_length_and_the_asked_width(vectors):
    table = np.stack(list(vectors.values()))
    assert table.shape[1] == 64
    assert table.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(table, axis=1), 1.0, atol=1e-6)


def test_training_and_writing_twice_gives_the_same_bytes(tmp_path):
    sizes = {"train": 300}
    corpus = write_corpus(tmp_path, 1, sizes)["train"]
    for name in ("a.txt.gz", "b.txt.gz"):
        assert train_from_corpus(corpus, tmp_path / name) > 200
    assert (tmp_path / "a.txt.gz").read_bytes() == (tmp_path / "b.txt.gz").read_bytes()


def test_only_articles_are_read(tmp_path):
    rows = [{"article": f"one {word} two", "highlights": "secret words"} for word in ("cat", "dog", "bird")] * 20
    path = tmp_path / "train.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(TooLittleText, match=r"5 words occur 10 times or more, too few for width=64"):
        train_from_corpus(path, tmp_path / "v.txt")


def test_what_is_written_reads_back(tmp_path, vectors):
    for name in ("v.txt", "v.txt.gz"):
        write_vectors(tmp_path / name, vectors)
        read = read_vectors(tmp_path / name)
        assert list(read.index) == list(vectors)
        np.testing.assert_allclose(read.table, np.stack(list(vectors.values())), atol=1e-5)


def test_words_in_the_same_places_get_the_same_direction():
    rng = np.random.default_rng(0)
    nouns, verbs = [f"n{chr(97 + i)}" for i in range(6)], [f"v{chr(97 + i)}" for i in range(6)]
    lines = [f"the {rng.choice(nouns)} will {rng.choice(verbs)} soon" for _ in range(500)]
    found = train_vectors(lines, width=4, window=1)
    assert found["na"] @ found["nb"] > found["na"] @ found["va"] + 0.3


def test_contexts_do_not_cross_sentences():
    lines = ["a b"] * 20 + ["c d"] * 30 + ["e f"] * 60
    found = train_vectors(lines, width=4, window=5)
    assert abs(found["a"] @ found["c"]) < 1e-3
