"""What a first training leaves, for tests of the commands that go on from there."""

import pytest


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder, in which commands run."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def place(tmp_path_factory, own_module_cache):
    from commands import furnish

    folder = tmp_path_factory.mktemp("cli")
    furnish(folder)
    return folder
