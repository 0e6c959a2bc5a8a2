"""What validation measures: likelihood on every row, and every reward and property on decoded ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from rlsum.data.batch import Batch
from rlsum.evaluation.properties import PROPERTIES
from rlsum.models.decoding import Decoding
from rlsum.models.summarizer import Summarizer
from rlsum.records import Output
from rlsum.rollout import mean_defined

if TYPE_CHECKING:
    from rewards.base import Reward


@dataclass(frozen=True)
class Validation:
    """Values by name (nll and coverage a token, each reward, each property) and the decoded outputs behind them."""

    values: dict[str, float]
    outputs: list[Output]


@torch.no_grad()
def likelihood(model: Summarizer, batches: Iterable[Batch]) -> dict[str, float]:
    """``nll``: -log p per token of the references, the end token counted: cross-entropy in nats.

    ``coverage``, where the model has it: the penalty per token that training adds to it (See et al. 2017, equation 12).
    """
    nll, coverage, tokens = 0.0, 0.0, 0
    for batch in batches:
        scored = model(batch, batch.target)
        nll -= scored.log_prob.sum().item()
        coverage += scored.coverage.sum().item()
        tokens += int((batch.target != batch.pad).sum())
    return {"nll": nll / tokens} | ({"coverage": coverage / tokens} if coverage else {})


def decode(model: Summarizer, batches: Iterable[Batch], decoding: Decoding, system: str) -> Iterable[Output]:
    """One output an article, in the order of the batches. With several samples an article, several outputs."""
    for batch in batches:
        texts = model.to_text(batch, model.generate(batch, decoding))
        each = len(texts) // len(batch)
        for i, text in enumerate(texts):
            row = i // each
            yield Output(batch.ids[row], batch.sources[row], batch.references[row], text, system)


def measure(outputs: Sequence[Output], rewards: Mapping[str, Reward]) -> dict[str, float]:
    """Mean of every reward and of every property over the outputs where it is defined."""
    candidates = [output.candidate for output in outputs]
    references = [output.references for output in outputs]
    sources = [output.source for output in outputs]
    values = {name: mean_defined(reward(candidates, references, sources)) for name, reward in rewards.items()}
    for name, measure_one in PROPERTIES.items():
        values[name] = mean_defined([measure_one(o.candidate, o.source) for o in outputs])
    return values


def validate(
    model: Summarizer,
    scored: Iterable[Batch],
    decoded: Iterable[Batch],
    decoding: Decoding,
    rewards: Mapping[str, Reward],
    system: str,
) -> Validation:
    """Likelihood of the ``scored`` batches; rewards and properties of what the model writes for the ``decoded``."""
    outputs = list(decode(model, decoded, decoding, system))
    values = likelihood(model, scored)
    return Validation(values | (measure(outputs, rewards) if outputs else {}), outputs)
