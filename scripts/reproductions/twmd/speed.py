"""The cost of scoring with the whole family, compared with encoding the same sentences."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from reproductions.reproduction import Reproduction
from reproductions.twmd.metrics import CENTERINGS, DIRECTED, REWARDS, TOKENS, EncoderSetup, Metric, fitted
from reproductions.twmd.pairs import SentencePairs, scores
from rlsum.pages.table import Cell, Table


@dataclass(frozen=True)
class Seconds:
    """Wall-clock and processor time."""

    wall: float
    cpu: float

    @classmethod
    def of(cls, work: Callable[[], object]) -> Seconds:
        """The time that calling ``work`` takes."""
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        return cls(time.perf_counter() - wall, time.process_time() - cpu)


def whole_family(setup: EncoderSetup) -> list[Metric]:
    """Every metric, centering and direction."""
    return [
        Metric(metric.name, metric.centering, direction)
        for metric in setup.metrics(tuple(REWARDS), tuple(CENTERINGS))
        for direction in (TOKENS if metric.name in DIRECTED else (setup.direction,))
    ]


def cost(setup: EncoderSetup, pairs: SentencePairs) -> Reproduction:
    """One pass of the encoder over the distinct sentences, then encoding and scoring together."""
    import torch

    encoder, metrics = setup.loaded, whole_family(setup)
    texts = list(dict.fromkeys([*pairs.candidates, *pairs.references]))
    encoder(texts[:8])  # warm-up
    encoder.forget()
    alone = Seconds.of(lambda: encoder(texts))
    encoder.forget()
    whole = Seconds.of(lambda: scores(pairs, fitted(setup, metrics, texts)))
    rows = (("the encoder alone", alone), (f"the encoder and {len(metrics)} metrics", whole))
    cells = [(Cell(name), Cell(f"{seconds.wall:.1f}"), Cell(f"{seconds.cpu:.1f}")) for name, seconds in rows]
    ratio = Seconds(whole.wall / alone.wall, whole.cpu / alone.cpu)
    cells.append((Cell("ratio", mark=True), Cell(f"{ratio.wall:.2f}"), Cell(f"{ratio.cpu:.2f}")))
    caption = (
        f"{pairs.name}, {len(pairs):,} pairs, {len(texts):,} distinct sentences; {setup.description}; "
        f"{torch.get_num_threads()} threads. Published: not available."
    )
    records = [
        {"what": name, "wall_s": round(seconds.wall, 2), "cpu_s": round(seconds.cpu, 2)} for name, seconds in rows
    ]
    records.append({"what": "ratio", "wall_s": round(ratio.wall, 3), "cpu_s": round(ratio.cpu, 3)})
    table = Table(caption, ("what", "seconds", "processor seconds"), tuple(cells))
    return Reproduction("speed", (table,), tuple(records))
