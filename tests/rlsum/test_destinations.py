from pathlib import Path

import pytest
from privileges import public_folder, without_privileges

from rlsum.errors import UserError
from rlsum.files import check_folder, check_free


@pytest.fixture
def folder():
    with public_folder() as path:
        yield path


def test_a_read_only_folder_is_refused(folder):
    with without_privileges():
        check_free("out", folder / "new" / "o.jsonl")
        assert not [*(folder / "new").iterdir()], "what was tried is removed"
    folder.chmod(0o555)
    with without_privileges(), pytest.raises(UserError, match=r"o\.jsonl.: cannot be written \(Permission denied\)"):
        check_free("out", folder / "o.jsonl")
    folder.chmod(0o777)


def test_no_folder_is_left_by_a_command_that_goes_on_to_fail(folder):
    check_folder("out", folder / "new" / "newer", ["o.jsonl"])
    check_folder("out", folder, ["o.jsonl"])
    assert folder.is_dir()
    assert not [*folder.iterdir()]


def test_a_read_only_file_is_refused_also_to_overwrite(folder):
    (folder / "o.jsonl").write_text("mine")
    (folder / "o.jsonl").chmod(0o444)
    with without_privileges(), pytest.raises(UserError, match="cannot be written"):
        check_free("out", folder / "o.jsonl", overwrite=True)
    assert (folder / "o.jsonl").read_text() == "mine"


@pytest.mark.parametrize("place", ["/proc/o.jsonl", "/sys/o.jsonl", "/dev/null", "/"])
def test_file_systems_that_take_no_file_are_refused(place):
    if Path(place).parent.is_dir():
        with pytest.raises(UserError, match="cannot be written"):
            check_free("out", Path(place), overwrite=True)


@pytest.mark.parametrize("place", ["mine/new/report", "new/../report"])
def test_a_checked_folder_is_not_left_behind(tmp_path, place):
    (tmp_path / "mine").mkdir()
    check_folder("out", tmp_path / place, ("a", "b"))
    assert not (tmp_path / place).exists()
    assert [*(tmp_path / "mine").iterdir()] == []
