import gzip

import numpy as np
import pytest

from rlsum.readers import CorpusError
from rlsum.training.start.pointer_generator import check_embeddings, initial_embeddings

WORDS = ["<pad>", "cat", "unheard", "dog", "of"]
LINES = "dog 1 2 3\ncat 4 5 6\nbird 9 9 9\n"


@pytest.fixture(params=["glove", "word2vec", "gzip"])
def file(request, tmp_path):
    text = LINES if request.param == "glove" else f"3 3\n{LINES}"
    if request.param == "gzip":
        path = tmp_path / "v.txt.gz"
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path = tmp_path / "v.txt"
        path.write_text(text)
    return path


def test_words_of_the_file_get_its_vectors(file):
    table = initial_embeddings(WORDS, 3, file, seed=1)
    assert table.dtype == np.float32
    assert table.shape == (5, 3)
    np.testing.assert_array_equal(table[[1, 3]], [[4, 5, 6], [1, 2, 3]])


def test_the_others_get_seeded_noise_of_the_files_spread(file):
    words = [*(f"w{i}" for i in range(2000)), "cat", "dog"]
    table = initial_embeddings(words, 3, file, seed=1)
    spread = np.std([1, 2, 3, 4, 5, 6])
    assert table[:2000].std() == pytest.approx(spread, rel=0.05)
    assert abs(table[:2000].mean()) < 0.1 * spread
    np.testing.assert_array_equal(table, initial_embeddings(words, 3, file, seed=1))
    assert (table[0] != initial_embeddings(words, 3, file, seed=2)[0]).all()


def test_another_dimension_is_refused(file):
    with pytest.raises(CorpusError, match=r"have 3 dimensions, the model 4; set the embedding size"):
        initial_embeddings(WORDS, 4, file, seed=1)
    with pytest.raises(CorpusError, match=r"have 3 dimensions, the model 4; set the embedding size"):
        check_embeddings(file, 4)
    check_embeddings(file, 3)


def test_a_file_without_any_of_the_words_is_refused(file):
    with pytest.raises(CorpusError, match="has none of the 2 words"):
        initial_embeddings(["nothing", "known"], 3, file, seed=1)
