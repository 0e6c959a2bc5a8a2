"""From votes to a learned reward on disk: the epoch under which held-out votes are most likely."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from rewards.base import Reward, from_spec
from rewards.encoding.loading import WHERE
from rewards.models.reward_model import RewardModel
from rewards.specs import Spec
from rlsum.errors import UserError
from rlsum.metric_fitting.epochs import Fitted, OnUpdate, OnValidation, check_folder, learn
from rlsum.metric_fitting.examples import content
from rlsum.metric_fitting.options import FitOptions
from rlsum.metric_fitting.preference import VoteTrainee, readable
from rlsum.metric_fitting.votes import Agreement, JudgedVote, agreement, gaps, texts_of
from rlsum.records import defined

CONTROLLED = "length-controlled"  # the folder in a folder, of scores without what length explains


@dataclass(frozen=True)
class VoteValidation:
    """Epoch ``epoch`` (0: no text has a score): its ``loss``, and on held-out votes the mean log-likelihood and how the
    scores agree with them (None at 0).
    """

    epoch: int
    loss: float
    quality: float
    agreement: Agreement | None = None

    def row(self) -> dict[str, Any]:
        """For JSON: null if a number is undefined."""
        return {"epoch": self.epoch, **defined({"loss": self.loss, "log_likelihood": self.quality})}

    def to_json(self) -> dict[str, Any]:
        """With the agreement."""
        return {"log_likelihood": self.quality, **(self.agreement.to_json() if self.agreement else {})}


def fit_votes(
    reward: RewardModel,
    spec: Spec,
    train: Sequence[JudgedVote],
    valid: Sequence[JudgedVote],
    folder: Path,
    options: FitOptions,
    by_length: bool,
    on_validation: OnValidation[VoteValidation] = lambda validation, best: None,
    on_update: OnUpdate = lambda loss: None,
) -> Fitted[VoteValidation]:
    """Train the model of ``spec`` and write the epoch with the highest likelihood of ``valid`` to ``folder``.

    ``by_length``: length is a covariate, and the scores are without it. Votes on texts that cannot be scored are left
    out, and it is said how many. Raises UserError or RewardError.
    """
    check_folder(folder)
    if shared := {vote.article for vote in train} & {vote.article for vote in valid}:
        raise UserError(f"{len(shared):,} articles are in training and in validation; hold articles out whole")
    loaded = reward.model.apart(options.seed)
    train, valid = (readable(reward, loaded, *pool) for pool in (("training", train), ("validation", valid)))
    trainee = VoteTrainee(reward, loaded, train, options, by_length)
    learner = _OnVotes(
        trainee, valid, {key: value for key, value in spec.options.items() if key not in ("model", *WHERE)}
    )
    start = VoteValidation(0, math.nan, learner.likelihood([0.0] * len(valid)))
    data = {"train": content(train), "valid": content(valid), "train_votes": len(train), "valid_votes": len(valid)}
    about = {"start": str(spec), "data": data, "options": asdict(options), "by_length": by_length}
    fitted = Fitted([start], about=about)
    return learn(learner, fitted, folder, options, reward.options.device, on_validation, on_update)


@dataclass
class _OnVotes:
    """See ``Learner``."""

    trainee: VoteTrainee
    valid: Sequence[JudgedVote]
    options: dict[str, Any]

    def epoch(self, number: int) -> Iterator[float]:
        return self.trainee.epoch(number)

    def save(self, folder: Path) -> None:
        self.trainee.save(folder)

    def about(self) -> dict[str, Any]:
        metric = {"name": RewardModel.name, "floor": self.trainee.lowest, **self.options}
        return {"metric": metric, "votes": self.trainee.voting.to_json()}

    def validated(self, reward: Reward, number: int, loss: float) -> VoteValidation:
        differences = score_gaps(reward, self.valid)
        return VoteValidation(number, loss, self.likelihood(differences), agreement(differences, self.valid))

    def likelihood(self, differences: Sequence[float]) -> float:
        """The mean log-likelihood of the votes whose texts have scores."""
        scored = [(gap, vote) for gap, vote in zip(differences, self.valid, strict=True) if not math.isnan(gap)]
        if not scored:
            return math.nan
        values, votes = zip(*scored, strict=True)
        with torch.no_grad():
            return float(self.trainee.voting.log_likelihood(torch.tensor(values, dtype=torch.float64), votes))


def score_gaps(reward: Reward, judged: Sequence[JudgedVote]) -> list[float]:
    """The score of each vote's second text minus that of the first; NaN without a score."""
    texts = texts_of(judged)
    contexts = [list(context) for context, _ in texts]
    scores = reward([text for _, text in texts], contexts, [context[0] for context in contexts])
    return gaps(dict(zip(texts, np.asarray(scores).tolist(), strict=True)), judged)


def check_preference(spec: Spec) -> RewardModel:
    """The reward model of a spec, which is loaded; its head may be missing. Raises RewardError."""
    reward = from_spec(spec)
    assert isinstance(reward, RewardModel)
    return reward
