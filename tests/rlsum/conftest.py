"""One thread for every test of training: the numbers do not depend on the machine, and small products are faster."""

import datasets
import pytest


@pytest.fixture(autouse=True, scope="session")
def one_thread():
    import torch

    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def own_module_cache(tmp_path_factory):
    """A cache of datasets that the tests of a file share."""
    patch = pytest.MonkeyPatch()
    patch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path_factory.mktemp("cache"))
    datasets.disable_progress_bars()
    yield
    patch.undo()


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with articles and a tiny pretrained model of each architecture."""
    import seq2seq_runs

    folder = tmp_path_factory.mktemp("runs")
    seq2seq_runs.furnish(folder)
    return folder


@pytest.fixture
def minimal(tmp_path):
    """A file of the shortest configuration."""
    from config_files import MINIMAL, write

    return write(tmp_path / "c.yaml", MINIMAL)
