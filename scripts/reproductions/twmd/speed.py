"""What scoring with the whole family costs beside the encoder's own work on the same sentences."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from reproductions.study import Study
from reproductions.twmd.metrics import CENTERINGS, DIRECTED, REWARDS, TOKENS, Metric, Setting, fitted
from reproductions.twmd.pairs import Pairs, scores
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


def whole_family(setting: Setting) -> list[Metric]:
    """Every metric, centering and direction."""
    return [
        Metric(metric.name, metric.centering, direction)
        for metric in setting.metrics(tuple(REWARDS), tuple(CENTERINGS))
        for direction in (TOKENS if metric.name in DIRECTED else (setting.direction,))
    ]


def cost(setting: Setting, pairs: Pairs) -> Study:
    """One pass of the encoder over the distinct sentences, then everything from the start, that pass included."""
    import torch

    encoder, metrics = setting.loaded, whole_family(setting)
    texts = list(dict.fromkeys([*pairs.candidates, *pairs.references]))
    encoder(texts[:8])  # warm
    encoder.forget()
    alone = Seconds.of(lambda: encoder(texts))
    encoder.forget()
    whole = Seconds.of(lambda: scores(pairs, fitted(setting, metrics, texts)))
    rows = (("the encoder alone", alone), (f"the encoder and {len(metrics)} metrics", whole))
    cells = [(Cell(name), Cell(f"{each.wall:.1f}"), Cell(f"{each.cpu:.1f}")) for name, each in rows]
    ratio = Seconds(whole.wall / alone.wall, whole.cpu / alone.cpu)
    cells.append((Cell("ratio", mark=True), Cell(f"{ratio.wall:.2f}"), Cell(f"{ratio.cpu:.2f}")))
    caption = (
        f"{pairs.name}, {len(pairs):,} pairs, {len(texts):,} distinct sentences; {setting.description}; "
        f"{torch.get_num_threads()} threads. Published: not available."
    )
    records = [{"what": name, "wall_s": round(each.wall, 2), "cpu_s": round(each.cpu, 2)} for name, each in rows]
    records.append({"what": "ratio", "wall_s": round(ratio.wall, 3), "cpu_s": round(ratio.cpu, 3)})
    table = Table(caption, ("what", "seconds", "processor seconds"), tuple(cells))
    return Study("speed", (table,), tuple(records))
