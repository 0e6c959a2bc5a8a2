"""The kernels of the paper, which measure the similarity of two texts, and a cache of their values on disk."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rewards import from_spec, load
from rewards.base import Reward
from rewards.lexical.neighbors import TAU
from rlsum.evaluation.rows import Floats

Progress = Callable[[str], None]

LEAST = 1e-9  # a threshold below all values of a kernel, so that none is skipped


@dataclass(frozen=True)
class Kernel:
    """A reward that compares two texts, and the threshold above which they are neighbours."""

    name: str
    spec: str
    tau: float


BLEU = Kernel("BLEU*", "bleu-star(zero_order=stop)", TAU["bleu-star"])
AS_PRINTED = Kernel("BLEU* as printed", "bleu-star(zero_order=zero)", TAU["bleu-star"])
LEXICAL = (
    BLEU,
    AS_PRINTED,
    Kernel("ROUGE", "rouge-l(stemmer=false)", TAU["rouge-l"]),
    Kernel("METEOR", "meteor", TAU["meteor"]),
)


def bertscore(encoder: str, baseline: Path) -> Kernel:
    """BERTScore with a rescaling baseline, which the paper's threshold assumes."""
    spec = f"bertscore(encoder={json.dumps(encoder)}, rescale={json.dumps(str(baseline))})"
    return Kernel("BERTScore", spec, TAU["bertscore"])


def similarities(kernel: Reward, texts: Sequence[str], examples: Sequence[str]) -> Floats:
    """The kernel of every text with every example ``(n, m)``, as in the reward bleu-neighbors; NaN is undefined.

    The text is the candidate, the example its reference.
    """
    neighbors: Any = load("bleu-neighbors", examples=[(example, 0.0) for example in examples], kernel=kernel, tau=LEAST)
    return np.stack([neighbors.similarities(text) for text in texts])


@dataclass(frozen=True)
class Matrices:
    """Kernel values, cached in ``folder`` by the kernel's signature and a hash of the texts."""

    folder: Path
    say: Progress = lambda line: None

    def __call__(self, kernel: Kernel, texts: Sequence[str], examples: Sequence[str]) -> Floats:
        """``(n, m)``, as `similarities` gives it."""
        reward = from_spec(kernel.spec)
        content = json.dumps([reward.signature, list(texts), list(examples)])
        path = self.folder / f"{hashlib.sha256(content.encode()).hexdigest()[:24]}.npy"
        if path.exists():
            values: Floats = np.load(path, allow_pickle=False)
            return values
        self.say(f"{kernel.name}: {len(texts):,} x {len(examples):,} pairs")
        values = similarities(reward, texts, examples)
        self.folder.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(f".{os.getpid()}.partial")
        with partial.open("wb") as file:
            np.save(file, values)
        partial.replace(path)  # complete or not at all
        return values
