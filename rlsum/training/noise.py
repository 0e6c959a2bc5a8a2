"""Random numbers that belong to an article, whatever shares its batch and whichever process has it."""

from __future__ import annotations

import hashlib

import numpy as np
import torch
from torch import Tensor

from rlsum.data.batch import Batch


def of_articles(batch: Batch, seed: int, update: int, samples: int, length: int) -> Tensor:
    """(B * samples, length) float64 in [0, 1): a function of seed, update, and each article's id and text."""
    rows = [
        np.random.default_rng([seed, update, _number(identity, source)]).random((samples, length))
        for identity, source in zip(batch.ids, batch.sources, strict=True)
    ]
    return torch.from_numpy(np.concatenate(rows)).to(batch.src.device)


def _number(identity: str, source: str) -> int:
    text = f"{len(identity)} {identity}{source}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=16).digest(), "little")
