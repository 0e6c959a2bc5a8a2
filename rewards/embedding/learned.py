"""A metric learned from human judgments: a metric of the family whose encoder predicts scores, or a reward model.

Chen, Ding, Levinboim and Soricut 2020, Table 4: the encoder is fine-tuned on the squared error between ``Sim(X1, X2)``
and the human score. A reward model learns from votes on pairs. ``rlsum fit-metric`` does both. It writes a directory of
transformers with a ``metric.json``, which holds the metric and how it was trained. ``similarities`` computes the scores
of training, with a gradient, from the same points and measures as the reward.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rewards.base import from_spec
from rewards.embedding.rescaling import RescalingOptions
from rewards.embedding.reward import EmbeddingReward
from rewards.encoding.encoder import Device, Encoder
from rewards.encoding.loading import WHERE
from rewards.errors import RewardError
from rewards.options import takes
from rewards.scoring import BaseReward
from rewards.specs import Spec

if TYPE_CHECKING:
    from torch import Tensor

METRIC = "metric.json"
REWARD_MODEL = "reward-model"
NOT_LEARNABLE = ("corpus", "rescale", "language", "idf", "dtype")


@dataclass(kw_only=True)
class LearnedOptions(RescalingOptions):
    """Options of learned."""

    path: str
    """the folder that `rlsum fit-metric` wrote"""
    corpus: str | None = None
    """texts, one a line (gzip too), or a saved mean (.npz), for a metric trained with centering=batch: their mean
    replaces that of the batch, so that a score does not depend on its neighbours"""
    device: Device = "auto"
    """where the encoder runs"""


@takes(LearnedOptions)
def learned(options: LearnedOptions) -> BaseReward:
    """A metric of the contextual family whose encoder was trained on human scores, or a reward model on votes.

    Range, floor: that metric's.
    """
    corpus, spec = options.corpus, read_spec(Path(options.path))
    if spec.name == REWARD_MODEL:
        if wrong := [key for key in ("corpus", "rescale") if getattr(options, key) is not None]:
            raise RewardError(f"learned: {wrong[0]} is no option of a reward learned from votes; leave it out")
        preference = from_spec(Spec(spec.name, {**spec.options, "model": options.path, "device": options.device}))
        assert isinstance(preference, BaseReward)
        preference.name = f"learned-{spec.name}"
        return preference
    settings = {**spec.options, "encoder": options.path, "device": options.device}
    if corpus is not None:
        if settings.get("centering") != "batch":
            raise RewardError(f"learned: corpus={corpus!r} needs a metric trained with centering=batch, not {spec}")
        settings |= {"centering": "corpus", "corpus": corpus}
    settings |= {key: value for key in ("rescale", "language") if (value := getattr(options, key)) is not None}
    reward = check_differentiable(from_spec(Spec(spec.name, settings)))
    reward.name, reward.written = f"learned-{spec.name}", None  # not written as that metric
    return reward


def read_spec(folder: Path) -> Spec:
    """The metric of a folder, without its encoder. Raises RewardError where the folder holds none."""
    try:
        written = json.loads((folder / METRIC).read_text(encoding="utf-8"))["metric"]
        return Spec(written["name"], {key: value for key, value in written.items() if key != "name"})
    except FileNotFoundError as error:
        raise RewardError(
            f"learned: path={str(folder)!r} holds no {METRIC}; give a folder written by rlsum fit-metric"
        ) from error
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise RewardError(f"learned: {folder / METRIC} cannot be read ({error!r}); fit the metric again") from error


def check_learnable(spec: Spec) -> EmbeddingReward:
    """The reward of a spec that can be trained and loaded again. Raises RewardError.

    Options that would have to be fitted again are refused: a corpus mean, frequencies, a rescaling baseline.
    """
    wrong = [option for option in NOT_LEARNABLE if spec.options.get(option) not in (None, "none", "float32")]
    if wrong:
        raise RewardError(
            f"{spec.name}: {wrong[0]} cannot be used in training; leave it out (corpus and rescale are options of the "
            "learned metric)"
        )
    reward = check_differentiable(from_spec(spec))
    if reward.space.centering == "corpus":
        raise RewardError(
            f"{spec.name}: centering=corpus would need a new mean at every update; train with centering=batch, then "
            "load it with learned(path=..., corpus=FILE)"
        )
    return reward


def learnable_options(spec: Spec, layers: object) -> dict[str, Any]:
    """The entry of ``metric.json`` for a spec: its name and options, with the layer as a number."""
    written = {key: value for key, value in spec.options.items() if key not in WHERE}
    return {"name": spec.name, **written, "layer": str(layers)}


def check_differentiable(reward: object) -> EmbeddingReward:
    """The reward itself. Raises RewardError unless it is a metric of the family whose formula has a gradient."""
    if not isinstance(reward, EmbeddingReward):
        name = getattr(reward, "name", type(reward).__name__)
        raise RewardError(f"{name} has no gradient; use a contextual metric, such as bertscore or twmd")
    if not reward.measure.differentiable:
        raise RewardError(
            f"{reward.name}: exact transport has no gradient; use twmd with a low temperature above 0, which is close"
        )
    return reward


def similarities(
    reward: EmbeddingReward, encoder: Encoder, candidates: Sequence[str], references: Sequence[Sequence[str]]
) -> Tensor:
    """The scores of ``reward`` with the vectors of ``encoder`` instead of its own: ``(n,)`` float64, not rescaled.

    A candidate without a token gets the floor, which has no gradient; NaN where no reference can be scored. With batch
    centering runs of 32 share their means. The best of several references counts and gets the gradient.
    """
    import torch

    scores: list[Tensor] = []
    for start in range(0, len(candidates), reward.space.group):
        group = slice(start, start + reward.space.group)
        texts = list(dict.fromkeys([*candidates[group], *chain.from_iterable(references[group])]))
        encoded = dict(zip(texts, encoder.encode(texts), strict=True))
        scores += reward.group_scores(reward.space, candidates[group], references[group], encoded)
    return torch.stack(scores).cpu() if scores else torch.zeros(0, dtype=torch.float64)
