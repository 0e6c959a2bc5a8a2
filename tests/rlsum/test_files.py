import os

import pytest

from rlsum import files


@pytest.mark.parametrize("broken", ["write", "fsync", "replace"])
def test_a_crash_while_writing_leaves_the_old_file(tmp_path, monkeypatch, broken):
    path = tmp_path / "f"
    files.write_atomically(path, b"old")

    def crash(*arguments):
        raise RuntimeError("crash")

    class Half:
        def __init__(self, file):
            self.file = file

        def __enter__(self):
            return self

        def __exit__(self, *error):
            self.file.close()

        def write(self, content):
            self.file.write(content[: len(content) // 2])
            self.file.flush()
            crash()

    kind = type(path)
    if broken == "write":
        opened = kind.open
        monkeypatch.setattr(kind, "open", lambda self, *a, **k: Half(opened(self, *a, **k)))
    else:
        monkeypatch.setattr(*{"fsync": (os, "fsync"), "replace": (kind, "replace")}[broken], crash)
    with pytest.raises(RuntimeError, match="crash"):
        files.write_atomically(path, b"new content")
    monkeypatch.undo()
    assert path.read_bytes() == b"old"
    files.write_atomically(path, b"newer")
    assert path.read_bytes() == b"newer"
    assert [p.name for p in tmp_path.iterdir()] == ["f"]


def test_content_reaches_the_disk_before_the_name(tmp_path, monkeypatch):
    events, fsync, replaced = [], os.fsync, type(tmp_path).replace
    monkeypatch.setattr(os, "fsync", lambda handle: (events.append("fsync"), fsync(handle)))
    monkeypatch.setattr(type(tmp_path), "replace", lambda a, b: (events.append("rename"), replaced(a, b)))
    files.write_atomically(tmp_path / "f", b"x")
    assert events == ["fsync", "rename", "fsync"]
