"""Validation: the likelihood of all articles, and the rewards and properties of decoded ones."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from rewards.base import Reward
from rewards.scoring import score_components
from rlsum.data.batch import Batch
from rlsum.errors import TrainingError
from rlsum.models.decoding import Decoding
from rlsum.models.summarizer import Model
from rlsum.records import Output, defined, inputs_of
from rlsum.scoring.debris import clean_records
from rlsum.scoring.outputs import measure_properties
from rlsum.scoring.properties import PROPERTIES
from rlsum.training.estimators import mean_defined
from rlsum.training.log.numbers import Field, declare
from rlsum.training.parallel.processes import ONE_PROCESS, Processes
from rlsum.training.rollout import Rollout
from rlsum.training.steps import article_noise


@dataclass(frozen=True)
class Validation:
    """Values by name (nll and coverage per token, rewards, properties) and the decoded outputs with their scores."""

    values: dict[str, float]
    outputs: list[Output]

    def shown(self, count: int) -> list[Output]:
        """So many outputs, of articles of all lengths."""
        return self.outputs[:: max(1, len(self.outputs) // max(1, count))][:count]

    def check_defined(self, name: str, reward: Reward) -> None:
        """Raise TrainingError for a value that is undefined everywhere: it gives no gradient and chooses nothing."""
        if math.isfinite(self.values.get(name, 0.0)):
            return
        what = "reward" if name == "reward" else f"metric {name}"
        reason = reward.undefined(*inputs_of(self.outputs[:1]).item(0))
        raise TrainingError(
            f"the {what} is undefined on all {len(self.outputs)} validation articles ({reason}); "
            "`rlsum score` shows the reason of each text"
        )


@dataclass(frozen=True)
class Choice:
    """Validation values -> the number that the best checkpoint maximises (Clark et al. 2019, A.3).

    name             ``likelihood``, or the name of a value
    coverage_weight  the coverage loss counts in the likelihood, too: coverage costs cross-entropy, so the first
                     checkpoint with it would always stay the best
    """

    name: str
    coverage_weight: float = 0.0

    def __call__(self, values: Mapping[str, float]) -> float:
        """Higher is better."""
        if self.name == "likelihood":
            return -(values["nll"] + self.coverage_weight * values.get("coverage", 0.0))
        return values[self.name]


SIGNS = {  # of properties
    "length": "rises with the reward: compare at equal length; a reward with `direction: precision` or `f1`",
    "repetition": "rises: coverage, or `weighted(..., repetition=0.3)`",
    "invented-names": "rises: read `samples.jsonl`; a smaller `gamma`",
}
BLOCK = 32  # outputs in one call of a reward with several processes; batch centering uses groups of this size


@torch.no_grad()
def likelihood(model: Model, batches: Iterable[Batch], processes: Processes = ONE_PROCESS) -> dict[str, float]:
    """``nll``: -log p per token of the references, end token included (cross-entropy in nats).

    ``coverage``, for a model with coverage: the penalty per token (See et al. 2017, equation 12).
    """
    sums = []
    for batch in batches:
        scored = model(batch, batch.target)
        tokens = int((batch.target != batch.pad).sum())
        sums.append((-scored.log_prob.sum().item(), scored.coverage.sum().item(), tokens))
    nll, coverage, total = (sum(column) for column in zip(*processes.gather(sums), strict=True))
    return {"nll": nll / total} | ({"coverage": coverage / total} if coverage else {})


def decoded_outputs(model: Model, batch: Batch, decoding: Decoding, system: str, seed: int) -> list[Output]:
    """The output of each article; one for each sample if decoding draws several.

    The same in whatever order, and by whichever process, batches are decoded.
    """
    if decoding.method == "sample":
        noise = article_noise(batch, 0, seed, decoding.samples, decoding.sampling.limit)
        tokens = model.sample(batch, decoding.samples, decoding.sampling, noise)
    else:
        tokens = model.generate(batch, decoding, scored=False)
    return outputs_of_batch(batch, model.to_text(batch, tokens), system)


def outputs_of_batch(batch: Batch, texts: Sequence[str], system: str) -> list[Output]:
    """Texts as outputs; of B*k texts, i*k .. i*k+k-1 belong to article i of the batch."""
    outputs = []
    for i, text in enumerate(texts):
        row = i // (len(texts) // len(batch))
        article = batch.ids[row], batch.sources[row], batch.references[row]
        outputs.append(Output(*article, text, system, columns=dict(batch.columns[row])))
    return outputs


def score(
    outputs: Sequence[Output], rewards: Mapping[str, Reward], processes: Processes = ONE_PROCESS
) -> dict[str, np.ndarray]:
    """Scores (n,) of the outputs by each reward, each component of a weighted reward, and each property.

    Every process has all outputs, scores its share of them and returns the scores of all.
    """
    size = BLOCK if processes.world_size > 1 else len(outputs)
    blocks = [outputs[start : start + size] for start in range(0, len(outputs), size)]
    columns: dict[str, np.ndarray] = {}
    for name, reward in rewards.items():
        scored = processes.gather([score_components(reward, inputs_of(block)) for block in processes.share(blocks)])
        columns[name] = np.concatenate([scores for scores, _ in scored])
        for pieces in zip(*(components for _, components in scored), strict=True):
            columns[f"{name}/{pieces[0].name}"] = np.concatenate([piece.scores for piece in pieces])
    return columns | measure_properties(outputs)


def means(columns: Mapping[str, np.ndarray], rewards: Iterable[str]) -> dict[str, float]:
    """Means of the scores where they are defined; and the share of a reward's that are not, if any."""
    values = {name: mean_defined(column) for name, column in columns.items()}
    undefined = {f"undefined/{name}": float(np.isnan(columns[name]).mean()) for name in rewards}
    return values | {name: share for name, share in undefined.items() if share}


declare(Field("undefined/NAME", "share of the decoded articles without this reward, which its mean leaves out; if any"))
for name, shown in PROPERTIES.items():
    what = f"share of {shown.description}" if shown.description else f"{shown.unit} of a summary"
    declare(Field(name, what, SIGNS.get(name, "")))


def in_log(label: str) -> str:
    """The name of a metric's value: its label, but for rewards called as a property is, such as ``length``."""
    return f"{label} (reward)" if label in PROPERTIES else label


def validate(
    model: Model,
    scored: Iterable[Batch],
    decoded: Iterable[Batch],
    decoding: Decoding,
    rewards: Mapping[str, Reward],
    system: str,
    seed: int,
    processes: Processes = ONE_PROCESS,
) -> Validation:
    """Likelihood of the ``scored`` batches; rewards and properties of the texts decoded for the ``decoded`` batches.

    With several processes the batches are this process's share, and all processes return the same result.
    """
    decoded_batches = processes.gather([decoded_outputs(model, batch, decoding, system, seed) for batch in decoded])
    outputs = [output for batch in decoded_batches for output in batch]
    columns = score(clean_records(outputs) if model.config.clean else outputs, rewards, processes) if outputs else {}
    outputs = [
        replace(output, scores=defined({name: float(column[row]) for name, column in columns.items()}))
        for row, output in enumerate(outputs)
    ]
    values = likelihood(model, scored, processes)
    return Validation(values | (means(columns, rewards) if outputs else {}), outputs)


def training_samples(model: Model, batch: Batch, rollout: Rollout, articles: int) -> list[dict[str, Any]]:
    """The samples of the first ``articles`` of a batch as they were trained on, a row each; undefined numbers are None.

    ``baseline_reward`` is that of the greedy text, where the estimator needs one. ``advantage`` is scaled; losses
    without advantages have none. The other numbers are called as in the log, and are of the sample.
    """
    rows, earned = [], rollout.earned
    for row, text in enumerate(model.to_text(batch, rollout.tokens)[: articles * earned.rewards.shape[1]]):
        article, sample = divmod(row, earned.rewards.shape[1])
        numbers = {"reward": earned.rewards, **{f"reward/{name}": scores for name, _, scores in earned.components}}
        if earned.greedy_rewards is not None:
            numbers["baseline_reward"] = np.broadcast_to(earned.greedy_rewards[:, None], earned.rewards.shape)
        if rollout.advantages is not None:
            numbers["advantage"] = rollout.advantages
        numbers |= {"sample_length": earned.lengths, "sample_cut_off": np.asarray(earned.cut_off)}
        row_numbers = defined({name: values[article, sample].item() for name, values in numbers.items()})
        texts = {"source": batch.sources[article], "references": list(batch.references[article])}
        rows.append({"id": batch.ids[article], **texts, "text": text, **row_numbers})
    return rows
