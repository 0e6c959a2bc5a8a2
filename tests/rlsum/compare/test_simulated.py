import os

import comparisons
import pytest

from rlsum.compare.folder import Folder, FolderError
from rlsum.compare.simulated import prepare


def test_the_simulated_corpus_is_made_once_and_again_where_it_is_not_whole(tmp_path):
    folder = Folder(comparisons.comparison(tmp_path))
    folder.claim()
    prepare(folder)
    before = {path.name: path.read_bytes() for path in (tmp_path / "data").iterdir()}
    assert {"train.jsonl", "valid.jsonl", "test.jsonl", "lead-3.jsonl", "oracle.jsonl", "complete"} == set(before)
    (tmp_path / "data" / "complete").unlink()
    (tmp_path / "data" / "test.jsonl").unlink()
    prepare(folder)
    assert {path.name: path.read_bytes() for path in (tmp_path / "data").iterdir()} == before


def test_a_full_disk_is_named_and_the_corpus_is_written_once_there_is_room(tmp_path, monkeypatch):
    folder = Folder(comparisons.comparison(tmp_path))
    folder.claim()
    with monkeypatch.context() as full:
        full.setattr("pathlib.Path.write_text", lambda *_, **__: os.write(os.open("/dev/full", os.O_WRONLY), b"x"))
        with pytest.raises(FolderError, match=r"cannot be written \(No space left on device\)"):
            prepare(folder)
    prepare(folder)
    assert (tmp_path / "data" / "complete").exists()
