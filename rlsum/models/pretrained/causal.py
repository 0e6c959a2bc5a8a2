"""Any language model of transformers as a summarizer: SmolLM2, Qwen, Llama, Gemma, GPT-2, ...

Notation: B articles, R rows (several an article), T target tokens, L decoded tokens, V ids.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import Tensor

from rlsum.data.batch import Batch
from rlsum.data.prompt import Prompt
from rlsum.models.decoding import Decoding, Sampling
from rlsum.models.pretrained import rows as plain
from rlsum.models.pretrained.loading import CAUSAL
from rlsum.models.pretrained.model import TransformersModel
from rlsum.models.pretrained.options import CausalConfig
from rlsum.models.pretrained.token_rules import SelfCritical, TokenRules
from rlsum.models.sampling import NEVER

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedModel


class Causal(TransformersModel):
    """A language model, its prompt and its tokenizer; see TransformersModel."""

    family = CAUSAL
    config: CausalConfig
    vocabulary: Prompt

    def __init__(
        self,
        config: CausalConfig,
        network: PreTrainedModel,
        described: PreTrainedConfig,
        vocabulary: Prompt,
        smoothed: bool = False,
    ) -> None:
        rules = TokenRules.behind_a_prompt(network.generation_config, vocabulary.pad, vocabulary.end)
        super().__init__(config, network, described, vocabulary, rules, smoothed)

    def depends_on(self) -> dict[str, str]:
        """See Model.depends_on."""
        return {"prompt": self.vocabulary.digest()}

    def logits(self, batch: Batch, target: Tensor) -> Tensor:
        """See TransformersModel.logits."""
        logits = plain.logits(self.network, batch.src, batch.src_lengths, target)
        if not self.vocabulary.stop:
            return logits
        ended = torch.isin(target, torch.tensor(self.rules.ends, device=target.device))
        texts, stopped = target.tolist(), torch.zeros_like(ended)
        for row, place in ended.nonzero().tolist():
            stopped[row, place] = self.vocabulary.stopped(texts[row][:place])
        return self._ending(logits, stopped)

    def chosen(self, batch: Batch, rows: Tensor, choose: SelfCritical, max_length: int) -> Tensor:
        """See TransformersModel.chosen."""

        def next_ids(ids: Tensor, logits: Tensor) -> Tensor:
            if self.vocabulary.stop:
                stopped = [self.vocabulary.stopped(row) for row in ids.tolist()]
                logits = self._ending(logits, torch.tensor(stopped, device=logits.device))
            scores = choose(F.pad(ids, (1, 0)), logits)
            return torch.multinomial(scores.softmax(-1), 1).squeeze(1)

        ends, pad = self.rules.ends, self.rules.pad
        return plain.decode(self.network, batch.src, batch.src_lengths, rows, next_ids, max_length, ends, pad)

    def searched(self, batch: Batch, decoding: Decoding) -> Tensor:
        """See TransformersModel.searched."""
        if decoding.method == "greedy":
            limits = Sampling(decoding.max_length, min_length=decoding.min_length, block_ngrams=decoding.block_ngrams)
            rows = torch.arange(len(batch), device=batch.src.device)
            return self.chosen(batch, rows, SelfCritical(0, limits, self.rules.ends), limits.limit)
        ids, mask = plain.left_padded(batch.src, batch.src_lengths)
        config = self.rules.generation_config(decoding)
        config.stop_strings = list(self.vocabulary.stop) or None
        found: Tensor = self.network.generate(
            input_ids=ids, attention_mask=mask, generation_config=config, tokenizer=self.vocabulary.tokenizer
        )
        found = found[:, ids.shape[1] :]
        # behind a stop string comes padding, where ours have an end
        return found.masked_fill(found == self.rules.pad, self.vocabulary.end) if self.vocabulary.stop else found

    def _ending(self, logits: Tensor, stopped: Tensor) -> Tensor:
        """Logits (..., V) with the end as certain where a stop string has ended the text (...)."""
        certain = logits.new_full(logits.shape[-1:], NEVER)
        certain[self.vocabulary.end] = 0.0
        return torch.where(stopped.unsqueeze(-1), certain, logits)
