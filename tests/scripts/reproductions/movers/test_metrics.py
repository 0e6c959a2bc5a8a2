from __future__ import annotations

from pathlib import Path

import pytest
from reproductions.movers.metrics import MoverSetup

from rewards.errors import RewardError
from rlsum.errors import UserError


def test_what_is_there_is_compared(vectors: Path, tiny_encoder: Path) -> None:
    both = MoverSetup(vectors, str(tiny_encoder))
    assert list(both.rewards) == [
        "ROUGE-L F1",
        "ROUGE-L recall",
        *(f"{name}, {kind}" for kind in ("static", "contextual") for name in ("WMS", "SMS", "S+WMS")),
    ]
    assert MoverSetup(vectors).kinds == ("static",)
    assert MoverSetup(encoder="minilm").kinds == ("contextual",)
    assert "vectors.txt at unit length" in both.description
    assert str(tiny_encoder) in both.description
    assert "mean of layers 0-3" in both.description


def test_a_text_with_itself_is_1_by_all(vectors: Path, tiny_encoder: Path) -> None:
    text = "red cat runs. the storm falls."
    for label, reward in MoverSetup(vectors, str(tiny_encoder)).rewards.items():
        assert reward([text], [[text]])[0] == pytest.approx(1, abs=1e-6), label


def test_static_vectors_are_made_of_unit_length(vectors: Path, tmp_path: Path) -> None:
    longer = tmp_path / "longer.txt"
    head, *lines = vectors.read_text().splitlines()
    scaled = [" ".join([line.split()[0], *(str(9 * float(value)) for value in line.split()[1:])]) for line in lines]
    longer.write_text("\n".join([head, *scaled]) + "\n")
    texts = ["red cat runs."], [["the storm falls."]]
    for label, reward in MoverSetup(vectors).rewards.items():
        assert MoverSetup(longer).rewards[label](*texts)[0] == pytest.approx(reward(*texts)[0], rel=1e-5)


def test_nothing_to_travel_on(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no word vectors and no encoder"):
        _ = MoverSetup().rewards
    with pytest.raises(RewardError, match=r"none\.txt"):
        _ = MoverSetup(tmp_path / "none.txt").rewards
