"""One thread for every test of training: the numbers do not depend on the machine, and small products are faster."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True, scope="session")
def one_thread():
    import torch

    torch.set_num_threads(1)
