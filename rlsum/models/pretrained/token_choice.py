"""How pretrained models choose each next token of samples and of greedy texts, and how likely it was."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from rlsum.models.constraints import Constraints
from rlsum.models.decoding import Sampling
from rlsum.models.drawing import draw
from rlsum.models.sampling import allowed, log_policy


class TokenChoice:
    """Decodes samples and greedy texts together, and records the log-probability of each token chosen.

    A logits processor of transformers, called with the ids so far (R, t) and scores (R, V). Rows before ``cut`` are
    sampled, as ``sampling`` says; in the others, all probability goes to the best id within its limits. With ``noise``
    (cut, L) the samples are drawn here, and all probability goes to them, too.
    """

    def __init__(self, cut: int, sampling: Sampling, constraints: Constraints, noise: Tensor | None = None) -> None:
        self.cut, self.sampling, self.constraints, self.noise = cut, sampling, constraints, noise
        self.chosen: list[Tensor] = []  # (R,) a step
        self._last: Tensor | None = None

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """The scores to sample from."""
        self._remember(input_ids[:, -1])
        ids, log_p = input_ids[:, 1:], scores.float().log_softmax(-1)  # without the start token
        sampled, possible = log_p[: self.cut], log_p[self.cut :]
        if not self.sampling.plain:
            forbidden = self.constraints.after(ids)
            sampled = log_policy(sampled, forbidden.select(slice(self.cut)), self.sampling)
            possible = allowed(possible, forbidden.select(slice(self.cut, None)))
        self._last = torch.cat([sampled, log_p[self.cut :]])
        if self.noise is not None:
            drawn, _ = draw(sampled.exp(), self.noise[:, ids.shape[1] : ids.shape[1] + 1])
            sampled = _certainly(drawn, sampled)
        return torch.cat([sampled, _certainly(possible.argmax(-1), possible)])

    def next(self, ids: Tensor, logits: Tensor) -> Tensor:
        """The next ids (R,) behind ids (R, t), which have no start token."""
        p = self(F.pad(ids, (1, 0)), logits).softmax(-1)
        return (p / torch.empty_like(p).exponential_()).argmax(-1)  # torch.multinomial, but that waits for a GPU

    def log_prob(self, ids: Tensor) -> Tensor:
        """Log-probabilities (R, L) of the decoded ids, behind which more may have been chosen."""
        self._remember(ids[:, -1])
        self._last = None
        return torch.stack(self.chosen[: ids.shape[1]], 1)

    def _remember(self, ids: Tensor) -> None:
        if self._last is not None:
            self.chosen.append(self._last.gather(1, ids.unsqueeze(1)).squeeze(1))


def _certainly(ids: Tensor, scores: Tensor) -> Tensor:
    """Scores (R, V) that give all probability to ``ids`` (R,)."""
    return torch.full_like(scores, float("-inf")).scatter_(-1, ids.unsqueeze(-1), 0.0)
