from __future__ import annotations

import gzip
import os
import time
from pathlib import Path

import numpy as np
import pytest

from rewards.encoding.vectors import VectorSource, load_once, read_vectors, read_width
from rewards.errors import RewardError

BODY = "cat 1 2 3\ndog 4 5 6\n. . . 7 8 9\n"


def written(folder: Path, content: str | bytes, name: str = "v.txt") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    ("content", "words", "table"),
    [
        *((header + BODY, ["cat", "dog", ". . ."], [[1, 2, 3], [4, 5, 6], [7, 8, 9]]) for header in ("", "3 3\n")),
        ("cat 1 2\ncat 3 4\ndog 5 6\n", ["cat", "dog"], [[1, 2], [5, 6]]),  # the first of duplicates
        ("a 1 2 \r\nb 3 4 \r\n", ["a", "b"], [[1, 2], [3, 4]]),
    ],
)
def test_words_and_their_numbers_are_read_with_and_without_a_header(tmp_path, content, words, table) -> None:
    vectors = read_vectors(written(tmp_path, content))
    assert vectors.index == {word: row for row, word in enumerate(words)}
    np.testing.assert_array_equal(vectors.table, table)
    assert (vectors.table.dtype, vectors.width) == (np.float32, len(table[0]))


def test_gzip_is_the_same_content(tmp_path: Path) -> None:
    plain = read_vectors(written(tmp_path, BODY))
    zipped = read_vectors(written(tmp_path, gzip.compress(BODY.encode()), "v.gz"))
    assert plain.digest == zipped.digest
    np.testing.assert_array_equal(plain.table, zipped.table)


def test_only_the_asked_words_are_kept_and_the_digest_stays(tmp_path: Path) -> None:
    path = written(tmp_path, BODY)
    few = read_vectors(path, words={"dog", "absent"})
    assert few.index == {"dog": 0}
    np.testing.assert_array_equal(few.table, [[4, 5, 6]])
    assert few.digest == read_vectors(path).digest
    assert read_vectors(path, words=set()).table.shape == (0, 3)


def test_a_changed_number_changes_the_digest(tmp_path: Path) -> None:
    first = read_vectors(written(tmp_path, BODY)).digest
    assert first != read_vectors(written(tmp_path, BODY.replace("9", "8"))).digest


@pytest.mark.parametrize(
    ("content", "part"),
    [
        ("cat 1 2\ndog 3\n", "line 2: .* has 1 numbers .* 2"),
        ("cat 1 2\ndog 3 4 5\n", "line 2: .* has 3 numbers .* 2"),
        ("cat 1 2\n\ndog 3 4\n", "line 2: .* has 0 numbers"),
        ("cat 1 2\ndog 3 x\n", "line 2: 'x' is not a finite number"),
        ("cat 1 2\ndog nan 4\n", "line 2: 'nan' is not a finite number"),
        ("2 2\ncat 1 2\ndog inf 4\n", "line 3: 'inf' is not a finite number"),
        ("cat 1 2\ndog 1e99 4\n", "line 2: '1e99' is not a finite number"),
        ("cat 1 2\ndog 1_0 4\n", "line 1: its numbers or those"),
        ("cat\ndog\n", "line 1: 'cat' has no numbers"),
        ("3 0\ncat\n", "line 1: vectors of width 0"),
        ("3 2\ncat 1 2\n", "3 words, but .* 1"),
        ("", "holds no vectors"),
        ("2 2\n", "holds no vectors"),
        (b"cat 1 2\nd\xff 3 4\n", "line 2: .* is not UTF-8"),
    ],
)
def test_broken_files_name_the_line(tmp_path: Path, content: str | bytes, part: str) -> None:
    with pytest.raises(RewardError, match=part):
        read_vectors(written(tmp_path, content))


@pytest.mark.parametrize("content", ["3 4\na 1 2 3 4\n", "a 1 2 3 4\n", "a 1 2 3 4\nb broken\n"])
def test_the_width_is_told_by_the_first_line(tmp_path: Path, content: str) -> None:
    assert read_width(written(tmp_path, content)) == 4


@pytest.mark.parametrize("content", ["", "\n", "word\n"])
def test_a_first_line_without_numbers_tells_no_width(tmp_path: Path, content: str) -> None:
    with pytest.raises(RewardError, match="line 1: "):
        read_width(written(tmp_path, content))


def test_line_numbers_are_right_after_many_lines(tmp_path: Path) -> None:
    lines = [f"word{place} 1 2" for place in range(4500)]
    lines[4321] = "word4321 1 oops"
    with pytest.raises(RewardError, match="line 4322: 'oops'"):
        read_vectors(written(tmp_path, "\n".join(lines)))


def test_a_gzip_cut_short_is_an_error(tmp_path: Path) -> None:
    content = gzip.compress("".join(f"w{place} {place} {place * 7919}\n" for place in range(3000)).encode())
    with pytest.raises(RewardError, match="cannot be read"):
        read_vectors(written(tmp_path, content[:-2000], "v.gz"))


@pytest.mark.parametrize("source", ["nowhere.txt", "spacy:no_such_pipeline", "spacy:./nowhere"])
def test_a_missing_source_is_an_error_at_once(source: str) -> None:
    with pytest.raises(RewardError, match=r"no such"):
        VectorSource.of(source)


def test_loaded_once_and_refused_after_a_change(tmp_path: Path) -> None:
    path = written(tmp_path, BODY)
    source = VectorSource.of(path)
    assert load_once(source) is load_once(VectorSource.of(path))
    stale = VectorSource(source.name, (0, 0))
    with pytest.raises(RewardError, match="changed since"):
        load_once(stale)


def test_thirty_thousand_words_take_seconds(shared: Path) -> None:
    start = time.process_time()
    vectors = read_vectors(shared / "data" / "vectors" / "cnndm_word2vec_300d_30k.txt.gz")
    assert vectors.table.shape == (30_000, 300)
    assert time.process_time() - start < 15


@pytest.mark.parametrize("header", ["", "3 3\n"])
def test_a_byte_order_mark_is_no_part_of_the_first_word(tmp_path: Path, header: str) -> None:
    content = (header + BODY).encode()
    plain = read_vectors(written(tmp_path, content))
    marked = read_vectors(written(tmp_path, b"\xef\xbb\xbf" + content, "marked.txt"))
    assert marked.index == plain.index
    assert marked.digest == plain.digest
    assert read_width(tmp_path / "marked.txt") == 3


def test_numbers_are_checked_where_they_are_kept(tmp_path: Path) -> None:
    path = written(tmp_path, "cat 1 2\ndog 3 nan\n")
    assert read_vectors(path, words={"cat"}).index == {"cat": 0}
    with pytest.raises(RewardError, match="line 2: 'nan' is not a finite number"):
        read_vectors(path, words={"dog"})


def test_a_pipeline_that_changed_is_not_served_from_memory(tmp_path: Path) -> None:
    import spacy

    def save(value: float) -> None:
        pipeline = spacy.blank("en")
        pipeline.vocab.set_vector("cat", np.array([value, 2.0], np.float32))
        pipeline.to_disk(tmp_path / "pipeline")

    name = f"spacy:{tmp_path / 'pipeline'}"
    save(1.0)
    before = VectorSource.of(name)
    old = load_once(before)
    assert load_once(VectorSource.of(name)) is old
    save(3.0)
    for file in (tmp_path / "pipeline").rglob("vocab/*"):  # a second later; some file systems count no less
        os.utime(file, (file.stat().st_atime, file.stat().st_mtime + 1))
    np.testing.assert_array_equal(load_once(VectorSource.of(name)).table, [[3.0, 2.0]])
    load_once.cache_clear()
    with pytest.raises(RewardError, match="changed since the reward was made"):
        load_once(before)
