"""What differs on a GPU: every choice between two ways to compute the same, so that a test can force a GPU's on a CPU.

The ways give equal numbers to rounding. ``pytest --as-on-gpu`` runs tests with ``ON_GPU`` on a CPU.
"""

from __future__ import annotations

from typing import NamedTuple

import torch


class Execution(NamedTuple):
    """How models compute on a kind of device.

    steps_between_looks  steps of a rollout between two looks for texts that have ended: each look waits for a GPU
    looks_for_lost       whether rows that float32 has lost, or hypotheses that end, are there decides what is computed;
                         else it is computed for all, which no step waits for
    drops_ended          texts that have ended take no further steps where the steps keep their graph
    shares_articles      rows that read the same article share its states and keys, in blocks that fit a CPU's cache
    chunk                numbers of the output layer that are reduced together, without gradient
    onednn               products of the output layer by oneDNN, in its own order of the weight
    keeps_memory         the memory of large tensors is kept from update to update; on a GPU torch does so itself
    half_lstm            autocast reaches the encoder's LSTM; many CPUs have none in half precision
    graphs               steps without gradient are recorded as a CUDA graph and replayed
    """

    steps_between_looks: int
    looks_for_lost: bool
    drops_ended: bool
    shares_articles: bool
    chunk: int
    onednn: bool
    keeps_memory: bool
    half_lstm: bool
    graphs: bool


CACHED = 2**18  # float32 numbers: 1 MB stays in the cache of a core until it is overwritten
ON_CPU = Execution(1, True, True, True, CACHED, True, True, False, False)
ON_GPU = Execution(8, False, False, False, 2**24, False, False, True, True)


def execution(device: torch.device) -> Execution:
    """How models compute on a device."""
    if device.type == "cpu":
        return ON_CPU
    return ON_GPU if device.type == "cuda" else ON_GPU._replace(graphs=False)
