import pytest

from human_eval.exports.destination import write_files
from human_eval.study import StudyError


def test_files_are_written_as_they_are(tmp_path):
    write_files(tmp_path / "deep" / "out", {"a.csv": "x\r\ny\n", "b.html": "ü"})
    assert (tmp_path / "deep" / "out" / "a.csv").read_bytes() == b"x\r\ny\n"
    assert (tmp_path / "deep" / "out" / "b.html").read_bytes() == "ü".encode()


def test_nothing_is_replaced(tmp_path):
    (tmp_path / "kept").write_text("x")
    with pytest.raises(StudyError, match="replaces nothing"):
        write_files(tmp_path, {"a": "x"})
    with pytest.raises(StudyError, match="replaces nothing"):
        write_files(tmp_path / "kept", {"a": "x"})
    with pytest.raises(StudyError, match="cannot be written"):
        write_files(tmp_path / "kept" / "below", {"a": "x"})
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
