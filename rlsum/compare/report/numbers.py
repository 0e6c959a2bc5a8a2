"""The numbers of a comparison in files beside its page, `FILES`: raw scores, not times 100."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rlsum.compare.report.designs import to_values
from rlsum.compare.results import Contrast, Results, metric_means, property_means
from rlsum.records import finite


def to_csv(results: Sequence[Results]) -> str:
    """A line for each way of decoding, system, seed and metric or property: raw mean and number of articles."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(("decoding", "system", "kind", "seed", "metric", "mean", "articles"))
    for decoded in results:
        for system in decoded.systems.values():
            for name, values in {**system.metrics, **system.properties}.items():
                seeds = decoded.seeds if len(values) == len(decoded.seeds) else ("",)
                for seed, column in zip(seeds, values, strict=True):
                    defined = column[~np.isnan(column)]
                    mean = f"{defined.mean():.6f}" if len(defined) else ""
                    rows.writerow((decoded.method, system.name, system.kind, seed, name, mean, len(defined)))
    return text.getvalue()


def to_json(results: Sequence[Results]) -> str:
    """Means with intervals and all differences; raw scores, not times 100; what is undefined is null."""
    return json.dumps(numbers(results), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def numbers(results: Sequence[Results]) -> Any:
    """What results.json holds, the main way of decoding first."""
    data = [
        {
            "decoding": decoded.method,
            "seeds": decoded.seeds,
            "articles": len(decoded.ids),
            "systems": [
                {
                    "system": system.name,
                    "title": system.title,
                    "kind": system.kind,
                    "reward": system.reward,
                    "metrics": {name: mean._asdict() for name, mean in metric_means(decoded, system).items()},
                    "properties": {name: mean._asdict() for name, mean in property_means(system).items()},
                }
                for system in decoded.systems.values()
            ],
            "differences": [_numbers(test) for tests in decoded.against.values() for test in tests],
            "variances": to_values(decoded),
            "missing": [{"cell": cell, "metric": name, "reason": why} for (cell, name), why in decoded.missing.items()],
            "failed": decoded.failed,
            "signatures": decoded.signatures,
        }
        for decoded in results
    ]
    return finite(data)


def _numbers(test: Contrast) -> dict[str, object]:
    values = {name: value for name, value in vars(test.difference).items() if name != "components"}
    return {"system": test.system, "other": test.other, "metric": test.metric, **values, "partial": test.partial}


FILES: dict[str, Callable[[Sequence[Results]], str]] = {"scores.csv": to_csv, "results.json": to_json}
