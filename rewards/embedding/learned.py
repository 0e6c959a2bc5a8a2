"""A metric learned from human judgments: a contextual metric on an encoder that was trained to score as people do.

Chen, Ding, Levinboim and Soricut 2020, Table 4: the encoder is fine-tuned until ``Sim(X1, X2)`` is near the human score
in squared error. ``rlsum fit-metric`` does it. What it writes is a directory of transformers beside a ``metric.json``,
which holds the metric and how it came about.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rewards.base import from_spec
from rewards.embedding.comparison import Comparison
from rewards.embedding.differentiable import check_differentiable
from rewards.embedding.space import Space
from rewards.encoding.encoder import Device
from rewards.errors import RewardError
from rewards.specs import Spec

METRIC = "metric.json"
OF_THE_PLACE = ("encoder", "device")  # options that a learned metric does not keep: it has its own encoder
NOT_LEARNED = ("corpus", "rescale", "language", "idf")


def learned(
    path: str,
    corpus: str | None = None,
    rescale: str | None = None,
    language: str | None = None,
    device: Device = "auto",
) -> Comparison:
    """A metric of the contextual family whose encoder was trained on human scores. Range and floor are that metric's.

    ``path``: the folder that `rlsum fit-metric` wrote.

    ``corpus``: texts, one a line (gzip too), or a saved mean (.npz), for a metric trained with centering=batch: their
    mean takes the place of the batch's, so that a score no longer depends on its neighbours.
    """
    spec = read_spec(Path(path))
    options = {**spec.options, "encoder": path, "device": device}
    if corpus is not None:
        if options.get("centering") != "batch":
            raise RewardError(f"learned: corpus={corpus!r} goes with a metric trained with centering=batch, not {spec}")
        options |= {"centering": "corpus", "corpus": corpus}
    options |= {key: value for key, value in (("rescale", rescale), ("language", language)) if value is not None}
    reward = check_differentiable(from_spec(Spec(spec.name, options)))
    return Comparison(f"learned-{spec.name}", reward.space, reward.measure, reward.rescale)


def read_spec(folder: Path) -> Spec:
    """The metric of a folder, without its encoder. Raises RewardError where the folder holds none."""
    try:
        written = json.loads((folder / METRIC).read_text(encoding="utf-8"))["metric"]
        return Spec(written["name"], {key: value for key, value in written.items() if key != "name"})
    except FileNotFoundError as error:
        raise RewardError(
            f"learned: path={str(folder)!r} holds no {METRIC}; give a folder written by rlsum fit-metric"
        ) from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RewardError(f"learned: {folder / METRIC} cannot be read ({error!r}); fit the metric again") from error


def check_learnable(spec: Spec) -> Comparison:
    """The reward of a spec that can be trained and loaded again. Raises RewardError.

    What would have to be fitted anew for the trained encoder is refused: a corpus mean, frequencies, a baseline.
    """
    given = [option for option in NOT_LEARNED if spec.options.get(option) not in (None, "none")]
    if given:
        raise RewardError(
            f"{spec.name}: {given[0]} does not go with training; leave it out (corpus and rescale are options of the "
            "learned metric)"
        )
    reward = check_differentiable(from_spec(spec))
    if isinstance(reward.space, Space) and reward.space.centering == "corpus":
        raise RewardError(
            f"{spec.name}: centering=corpus would need a new mean at every update; train with centering=batch, then "
            "load it with learned(path=..., corpus=FILE)"
        )
    return reward


def learnable_options(spec: Spec, layers: object) -> dict[str, Any]:
    """What ``metric.json`` keeps of a spec: its name and options, the layer as the number it came to."""
    kept = {key: value for key, value in spec.options.items() if key not in OF_THE_PLACE}
    return {"name": spec.name, **kept, "layer": str(layers)}
