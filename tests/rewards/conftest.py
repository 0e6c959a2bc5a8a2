"""A small table of word vectors and the texts that the reward tests share."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from encoders import WORDS

WIDTH = 6


@pytest.fixture(scope="session")
def vectors_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    table = np.random.default_rng(0).normal(size=(len(WORDS), WIDTH))
    lines = [f"{word} " + " ".join(f"{number:.5f}" for number in row) for word, row in zip(WORDS, table, strict=True)]
    path = tmp_path_factory.mktemp("vectors") / "small.txt"
    path.write_text(f"{len(WORDS)} {WIDTH}\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path
