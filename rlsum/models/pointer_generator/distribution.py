"""The distribution of the next word: equation 9 of See et al. 2017, in probabilities, in log space, and of targets.

    p(v) = p_gen softmax(logits)_v + (1 - p_gen) sum_{i: word i is v} attention_i

Notation: N outputs of the decoder, S source tokens, H features, V words, V' = V + unknown words of the articles.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from rlsum.data.vocabulary import PAD, UNK
from rlsum.models.pointer_generator.kernels.tempering import drawn_log_prob, mixed
from rlsum.models.pointer_generator.kernels.word_scores import WordColumns, WordOdds, target_log_prob
from rlsum.models.sampling import BLOCKED, NEVER, Drawing


class Layer(NamedTuple):
    """The output layer: weight (V, H), bias (V,), which rules out padding and the start token."""

    weight: Tensor
    bias: Tensor


class WordDistribution(NamedTuple):
    """What the distribution after N outputs is computed from.

    features       (N, H) what the output layer reads
    log_generate   (N,) log p_gen, float32
    log_copy       (N,) log (1 - p_gen); both are exact if p_gen rounds to 0 or 1
    log_attention  (N, S), NEVER at padding
    extended       (N, S) extended ids of the source tokens
    unknowns       V' - V
    """

    features: Tensor
    log_generate: Tensor
    log_copy: Tensor
    log_attention: Tensor
    extended: Tensor
    unknowns: int

    @property
    def log_copied(self) -> Tensor:
        """Log of the probability (N, S) with which each source token is copied."""
        return self.log_attention + self.log_copy.unsqueeze(1)

    def select(self, rows: Tensor | slice) -> WordDistribution:
        """Those of some outputs, by number (n,) or a range."""
        return WordDistribution(
            self.features[rows],
            self.log_generate[rows],
            self.log_copy[rows],
            self.log_attention[rows],
            self.extended[rows],
            self.unknowns,
        )

    def p(self, columns: WordColumns) -> Tensor:
        """Probabilities (N, V') float32, without gradient.

        In one block of memory: at V = 50k each pass over it costs as much as the product.
        """
        size = len(columns.bias)
        block = torch.empty(
            len(self.features), size + self.unknowns, dtype=columns.bias.dtype, device=columns.bias.device
        )
        _, total = columns.odds(self.features, block[:, :size])
        return self.mixed(block[:, :size], total, block)

    def mixed(self, odds: Tensor, total: Tensor, out: Tensor | None = None) -> Tensor:
        """The same from the odds (N, V) of all words and their totals (N,)."""
        return mixed(odds, self.log_generate.exp() / total, self.log_copied.exp(), self.extended, self.unknowns, out)

    def log_p(self, layer: Layer) -> Tensor:
        """Log-probabilities (N, V'), differentiable: the plain formula, right also where probabilities underflow."""
        logits = F.linear(self.features, layer.weight).float() + layer.bias.float()
        generated = logits.log_softmax(-1) + self.log_generate.unsqueeze(1)
        generated = F.pad(generated, (0, self.unknowns), value=NEVER)
        return torch.logaddexp(generated, log_scattered(self.log_copied, self.extended, generated.shape[1]))

    def target_log_prob(self, layer: Layer, target: Tensor, known: Tensor | None, odds: WordOdds | None) -> Tensor:
        """Log p (N,) of target words (N,), 0 for PAD, without (N, V') tensors.

        Outputs of the mask ``known`` (N,) are scored as if UNK were impossible. ``odds``: of all words, if computed.
        """
        in_vocabulary = (target < len(layer.weight)) & (target != PAD)
        words, left_out = target.masked_fill(~in_vocabulary, UNK), None if known is None else UNK
        log_word, log_known = target_log_prob(self.features, *layer, words, left_out, odds)
        log_generated = self.log_generate + log_word.masked_fill(~in_vocabulary, NEVER)
        elsewhere = self.extended != target.unsqueeze(1)
        log_attended = self.log_attention.masked_fill(elsewhere, NEVER).logsumexp(-1)
        log_prob = torch.logaddexp(log_generated, self.log_copy + log_attended)
        if known is not None:  # UNK is never copied
            log_prob = log_prob - torch.logaddexp(self.log_generate + log_known, self.log_copy) * known
        return log_prob.masked_fill(target == PAD, 0.0)

    def drawn_log_prob(self, layer: Layer, drawing: Drawing, odds: WordOdds | None) -> Tensor:
        """Log-probabilities (N,) of drawn words under the distribution that drew them, 0 for PAD."""
        width = len(layer.weight) + self.unknowns
        if drawing.sampling.cuts:
            log_prob, lost = torch.zeros_like(self.log_copy), torch.ones_like(self.log_copy, dtype=torch.bool)
        else:
            log_prob, lost = drawn_log_prob(
                self.features, *layer, self.log_generate, self.log_copied, self.extended, self.unknowns, drawing, odds
            )
        some = lost.nonzero().squeeze(1)
        if len(some):
            exact = drawing.log_prob(lambda rows: self.select(rows).log_p(layer), some, width)
            log_prob = log_prob.index_put((some,), exact)
        return log_prob.masked_fill(drawing.targets == PAD, 0.0)


def log_scattered(values: Tensor, index: Tensor, size: int) -> Tensor:
    """Log of the sums of exp(values) (n, S) by index (n, S) below ``size``: (n, size), NEVER where there is none."""
    highest = values.new_full((len(values), size), BLOCKED).scatter_reduce(1, index, values.detach(), "amax")
    total = torch.zeros_like(highest).scatter_add(1, index, (values - highest.gather(1, index)).exp())
    return torch.where(total > 0, highest + total.clamp(min=1.0).log(), NEVER)
