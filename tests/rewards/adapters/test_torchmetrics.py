from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
from ports import free_port

import rewards

pytest.importorskip("torchmetrics")
import torch

from rewards.adapters.torchmetrics import TextReward

CANDIDATES = ["the cat sleeps", "", "a dog", "cat"]
REFERENCES = [["the cat", "sleeps"], ["a dog"], [""], ["a cat"]]


def test_the_mean_of_what_is_defined_however_it_is_cut() -> None:
    expected = np.nanmean(rewards.load("rouge-1")(CANDIDATES, REFERENCES))
    for size in (1, 2, 4):
        metric = TextReward("rouge-1")
        for start in range(0, 4, size):
            metric.update(CANDIDATES[start : start + size], REFERENCES[start : start + size])
        assert metric.compute().item() == pytest.approx(expected)
        assert (int(metric.defined), int(metric.undefined)) == (3, 1)
    assert metric.signature == rewards.load("rouge-1").signature


def test_forward_gives_the_batch_and_reset_forgets() -> None:
    metric = TextReward(rewards.load("rouge-1"))
    assert metric(["the cat"], ["the cat"]).item() == 1.0
    assert metric(["dog"], ["the cat"]).item() == 0.0
    assert metric.compute().item() == 0.5
    metric.reset()
    assert int(metric.defined) == 0


def test_stripped_texts_are_scored() -> None:
    metric = TextReward("rouge-1", strip=True)
    metric.update(["<think>a dog</think>the cat"], ["the cat"])
    assert metric.compute() == 1.0
    assert metric.signature.startswith("cleaned|")
    with pytest.raises(rewards.RewardError, match="row 0 of the column 'target'"):
        metric.update(["a"], [None])  # type: ignore[list-item]


def test_nothing_defined_is_nan() -> None:
    metric = TextReward("rouge-1")
    metric.update(["a"], [""])
    assert metric.compute().isnan()


def test_it_travels() -> None:
    metric = TextReward("rouge-1")
    metric.update(CANDIDATES, REFERENCES)
    assert pickle.loads(pickle.dumps(metric)).compute() == metric.compute()


def work(rank: int, port: int, folder: str) -> None:
    torch.distributed.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=2)
    metric = TextReward("rouge-1")
    metric.update(CANDIDATES[rank::2], REFERENCES[rank::2])
    Path(folder, str(rank)).write_text(repr((metric.compute().item(), int(metric.undefined))))
    torch.distributed.destroy_process_group()


def test_two_processes_agree_on_one_mean(tmp_path: Path) -> None:
    torch.multiprocessing.start_processes(work, (free_port(), str(tmp_path)), nprocs=2, start_method="fork")
    expected = np.nanmean(rewards.load("rouge-1")(CANDIDATES, REFERENCES))
    for rank in "01":
        mean, _ = eval((tmp_path / rank).read_text())
        assert mean == pytest.approx(expected)


def test_a_reward_reads_columns() -> None:
    metric = TextReward("source_rewards:on_topic")
    metric.update(["the cat", "dog"], columns={"topic": ["cat", "cat"]})
    assert metric.compute().item() == 0.25
