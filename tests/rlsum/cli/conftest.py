"""What a first training leaves, for tests of the commands that go on from there."""

import pytest


@pytest.fixture(scope="module")
def place(tmp_path_factory, own_module_cache):
    from commands import furnish

    folder = tmp_path_factory.mktemp("cli")
    furnish(folder)
    return folder
