"""A reward model that learns from votes, under the model of Bradley and Terry (1952) with Davidson's ties (1970).

Each text has a score s. Of two, P(second) = exp(s2) / D, P(first) = exp(s1) / D, P(neither) = nu exp((s1 + s2) / 2) /
D, where D is the sum of the three. As a covariate, length adds b times the difference in words: what length explains is
then b's, and the scores are without it.
"""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rewards.encoding.loading import quiet
from rewards.models.loading import LoadedModel
from rewards.models.pairs import Pair
from rewards.models.reward_model import RewardModel
from rlsum.errors import UserError
from rlsum.metric_fitting.options import FitOptions
from rlsum.metric_fitting.updates import Training
from rlsum.metric_fitting.votes import JudgedVote, Text, gaps, texts_of
from rlsum.readers.understood import say

FAST = 0.01  # the least learning rate of ties and length, which start where they explain most
OF_JUDGES = 0.1  # that of judges, who start alike: with less they are still alike after some dozens of updates


def log_probs(gap: Tensor, log_ties: Tensor) -> Tensor:
    """Log-probabilities (n, 3) of the first, of neither and of the second; ``gap`` (n,): score of the second less the
    first's; ``log_ties``: the logarithm of nu.
    """
    return torch.stack([-gap / 2, log_ties.expand_as(gap), gap / 2], -1).log_softmax(-1)


class Voting:
    """How votes come from scores: ``ties``, the logarithm of nu; ``length``, b of ``unit`` words; ``judges``, the
    logarithm of how well each tells texts apart, normally distributed with mean 0 and variance 1.
    """

    def __init__(self, train: Sequence[JudgedVote], by_length: bool, judges: str) -> None:
        self.names = {name: number for number, name in enumerate(sorted({vote.judge for vote in train}))}
        self.unit = float(np.sqrt(np.mean([vote.longer**2 for vote in train]))) or 1.0
        self.ties = torch.zeros((), dtype=torch.float64, requires_grad=True)
        self.length = torch.zeros((), dtype=torch.float64, requires_grad=by_length)
        self.judges = torch.zeros(len(self.names), dtype=torch.float64, requires_grad=judges == "random")
        counts = Counter(vote.judge for vote in train)
        even = len(train) / len(counts)
        self.weights = {name: even / count if judges == "equal" else 1.0 for name, count in counts.items()}

    @property
    def rates(self) -> list[tuple[list[Tensor], float]]:
        """What is learned, and its least learning rate."""
        rates = ((self.ties, FAST), (self.length, FAST), (self.judges, OF_JUDGES))
        return [([value], rate) for value, rate in rates if value.requires_grad]

    def log_likelihood(self, gap: Tensor, votes: Sequence[JudgedVote]) -> Tensor:
        """The mean log-probability of ``votes`` (n,), a scalar; of a judge who is not known, as of an average one."""
        longer = torch.tensor([vote.longer / self.unit for vote in votes], dtype=torch.float64)
        judges = torch.tensor([self.names.get(vote.judge, len(self.names)) for vote in votes])
        telling = torch.cat([self.judges, torch.zeros(1, dtype=torch.float64)])[judges].exp()
        chosen = torch.tensor([vote.choice + 1 for vote in votes])
        values = log_probs(telling * (gap + self.length * longer), self.ties).gather(1, chosen[:, None])[:, 0]
        weights = torch.tensor([self.weights.get(vote.judge, 1.0) for vote in votes], dtype=torch.float64)
        return (weights * values).sum() / weights.sum()

    def start(self, train: Sequence[JudgedVote]) -> None:
        """Fit ties and length alone, as if all texts had one score, so that length explains what it can."""
        learned = [value for value in (self.ties, self.length) if value.requires_grad]
        optimizer = torch.optim.LBFGS(learned, max_iter=100, line_search_fn="strong_wolfe")
        none = torch.zeros(len(train), dtype=torch.float64)

        def step() -> Tensor:
            optimizer.zero_grad()
            loss = -self.log_likelihood(none, train) + PULL * sum((value**2).sum() for value in learned)
            loss.backward()
            return loss

        optimizer.step(step)

    def to_json(self) -> dict[str, Any]:
        """nu, b a word, and by how much each judge's scores are multiplied."""
        judges = {name: self.judges[number].exp().item() for name, number in self.names.items()}
        return {"ties": self.ties.exp().item(), "length": self.length.item() / self.unit, "judges": judges}


PULL = 1e-4  # keeps parameters finite where no judge ever chose neither, or the shorter text


def readable(reward: RewardModel, loaded: LoadedModel, part: str, judged: Sequence[JudgedVote]) -> list[JudgedVote]:
    """The votes on two texts that the model scores, of a ``part`` of the data; says how many others there are.

    Raises UserError where none of them prefers a text.
    """
    scored = {
        text: not reward.is_empty(text[1], loaded) and not any(reward.too_long(loaded, pair) for pair in _read(text))
        for text in texts_of(judged)
    }
    scorable = [vote for vote in judged if all(scored[vote.given, text] for text in vote.texts)]
    left_out = f"{len(judged) - len(scorable):,} of {len(judged):,} votes"
    if len(scorable) < len(judged):
        say(f"{part}: left out {left_out}, with a text empty or too long to score", logging.WARNING)
    if not any(vote.choice for vote in scorable):
        fix = "give more judgments, shorter texts or a model that reads more"
        raise UserError(f"{part}: no vote prefers a text ({left_out} left out, empty or too long to score); {fix}")
    return scorable


class VoteTrainee(Training):
    """The ``loaded`` weights of a reward model, which change, its `Voting`, and ``readable`` votes."""

    def __init__(
        self,
        reward: RewardModel,
        loaded: LoadedModel,
        train: Sequence[JudgedVote],
        options: FitOptions,
        by_length: bool,
    ) -> None:
        self.reward, self.loaded, self.train = reward, loaded, train
        self.voting = Voting(train, by_length, options.judges)
        self.voting.start(train)
        weights = [weight for weight in loaded.model.parameters() if weight.requires_grad]
        voting = [(values, max(rate, options.learning_rate)) for values, rate in self.voting.rates]
        super().__init__([(weights, options.learning_rate), *voting], len(train), options)

    def epoch(self, number: int) -> Iterator[float]:
        """As of any training; ``lowest`` is then the lowest score of a text in it."""
        self.lowest = math.inf
        yield from super().epoch(number)

    def order(self, number: int) -> NDArray[np.int64]:
        """Articles in random order, so that texts are read once for all votes on them that a batch has."""
        articles: dict[str, list[int]] = {}
        for place in super().order(number).tolist():
            articles.setdefault(self.train[place].article, []).append(place)
        return np.array([place for places in articles.values() for place in places])

    def loss(self, chosen: Sequence[int]) -> Tensor:
        """Minus the mean log-likelihood of the votes at ``chosen``, and the judges' share of their distribution."""
        votes = [self.train[place] for place in chosen]
        texts = texts_of(votes)
        scores = self.reward.scores_of(self.loaded, list(map(_read, texts))).cpu()
        self.lowest = min(self.lowest, float(scores.detach().min()))
        gap = gaps(dict(zip(texts, scores, strict=True)), votes)
        return self.voting.judges.square().sum() / (2 * self.size) - self.voting.log_likelihood(torch.stack(gap), votes)

    def save(self, folder: Path) -> None:
        """The weights and the tokenizer, as transformers writes them."""
        with quiet():
            self.loaded.model.save_pretrained(folder)
            self.loaded.tokenizer.save_pretrained(folder)


def _read(text: Text) -> list[Pair]:
    contexts, candidate = text
    return [Pair(context, candidate) for context in contexts]
