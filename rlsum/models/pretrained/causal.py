"""Any language model of transformers as a summarizer: SmolLM2, Qwen, Llama, Gemma, GPT-2, ...

Notation: B articles, R rows (several an article), T target tokens, L decoded tokens, V ids.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import Tensor

from rlsum.data.batch import Batch
from rlsum.data.prompt import Prompt
from rlsum.data.subwords import IGNORED
from rlsum.models.decoding import Decoding
from rlsum.models.pretrained import prefix
from rlsum.models.pretrained import rows as plain
from rlsum.models.pretrained.loading import CAUSAL, dropout_rates
from rlsum.models.pretrained.model import TransformersModel
from rlsum.models.pretrained.options import CausalConfig
from rlsum.models.pretrained.token_choice import TokenChoice
from rlsum.models.pretrained.token_rules import TokenRules
from rlsum.models.sampling import NEVER
from rlsum.readers.understood import say

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedModel


TRIED = 16  # tokens of a text that the two ways to read articles are compared on
Score = Callable[["PreTrainedModel", Tensor, Tensor, Tensor], Tensor]


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
    ) -> None:
        rows = len(network.get_input_embeddings().weight)
        pad = vocabulary.pad if vocabulary.pad < rows else vocabulary.end  # [PAD] is often added without a row
        rules = TokenRules.behind_a_prompt(network.generation_config, pad, vocabulary.end)
        super().__init__(config, network, described, vocabulary, rules)
        self._differs: dict[tuple[str, bool], str] = {}  # device, half precision -> see _difference
        self._told = False

    def depends_on(self) -> dict[str, str]:
        """See Model.depends_on."""
        return {"prompt": self.vocabulary.digest()}

    def logits(self, batch: Batch, target: Tensor) -> Tensor:
        """See TransformersModel.logits."""
        score = prefix.logits if self.reads_once(batch, target.shape[1]) else plain.logits
        logits = score(self.network, batch.src, batch.src_lengths, target)
        if not self.vocabulary.stop:
            return logits
        ended = torch.isin(target, torch.tensor(self.rules.ends, device=target.device))
        texts, stopped = target.tolist(), torch.zeros_like(ended)
        for row, place in ended.nonzero().tolist():
            stopped[row, place] = self.vocabulary.stopped(texts[row][:place])
        return self._ending(logits, stopped)

    def chosen(self, batch: Batch, rows: Tensor, choose: TokenChoice, max_length: int) -> Tensor:
        """See TransformersModel.chosen."""

        def next_ids(ids: Tensor, logits: Tensor) -> Tensor:
            if self.vocabulary.stop:
                stopped = [self.vocabulary.stopped(row) for row in ids.tolist()]
                logits = self._ending(logits, torch.tensor(stopped, device=logits.device))
            return choose.next(ids, logits)

        ends, pad = self.rules.ends, self.rules.pad
        decode = prefix.decode if self.reads_once(batch, max_length) else plain.decode
        return decode(self.network, batch.src, batch.src_lengths, rows, next_ids, max_length, ends, pad)

    def searched(self, batch: Batch, decoding: Decoding) -> Tensor:
        """See TransformersModel.searched."""
        ids, mask = plain.left_padded(batch.src, batch.src_lengths)
        options = self.searching(batch, decoding, behind=ids.shape[1])
        options["generation_config"].stop_strings = list(self.vocabulary.stop) or None
        words = self.vocabulary.tokenizer
        texts: Tensor = self.network.generate(input_ids=ids, attention_mask=mask, tokenizer=words, **options)
        texts = texts[:, ids.shape[1] :]
        if self.vocabulary.stop:  # behind a stop string comes padding or nothing, where ours have an end
            texts = F.pad(texts, (0, 1), value=self.rules.pad)[:, : decoding.max_length]
            texts = texts.masked_fill(texts == self.rules.pad, self.vocabulary.end)
        return texts

    def reads_once(self, batch: Batch, width: int) -> bool:
        """Whether articles are read once for all texts of so many tokens, not again for each; says why not, once.

        The first article on a device, and in half precision, is scored in both ways: they must agree.
        """
        reason = prefix.refusal(self.network.config, batch.src.shape[1] + width)
        device = batch.src.device.type
        here = device, torch.is_autocast_enabled(device)
        if reason is None and here not in self._differs:
            self._differs[here] = self._difference(batch)
        reason = reason or self._differs[here]
        if reason and not self._told and not self.config.dropout:  # with dropout, nothing is sampled
            say(f"{self.config.pretrained}: every sample reads its article again: {reason}")
            self._told = True
        return not reason

    @torch.no_grad()
    def _difference(self, batch: Batch) -> str:
        """Why articles cannot be read once, whatever their length; "" if both ways agree on the first article."""
        if self.config.dropout and any(dropout_rates(self.described)):
            return "model.dropout is on"
        if self.config.lora is not None and self.config.lora.dropout:
            return "model.lora.dropout is on"
        src, lengths = batch.src[:1, : int(batch.src_lengths[0])], batch.src_lengths[:1]
        target = src[:, :TRIED].repeat(2, 1)  # two texts of its own beginning, the second one shorter
        target[1, 1 + target.shape[1] // 2 :] = IGNORED
        kept, device = target != IGNORED, src.device.type

        def scored(score: Score) -> Tensor:
            logits = score(self.network, src, lengths, target)[kept].float()
            return logits.log_softmax(-1).gather(-1, target[kept].unsqueeze(-1))

        with self.no_dropout():
            once, rows = scored(prefix.logits), scored(plain.logits)
            most = prefix.TOLERANCE
            if torch.is_autocast_enabled(device):
                with torch.autocast(device, enabled=False):
                    exact = scored(plain.logits)
                most += 2 * (rows - exact).abs().max().item()
                rows = exact
        gap = (once - rows).abs().max().item()
        return "" if gap <= most else f"log-probabilities would differ by {gap:.2g} nats"

    def _ending(self, logits: Tensor, stopped: Tensor) -> Tensor:
        """Logits (..., V) with the end as certain where a stop string has ended the text (...)."""
        certain = logits.new_full(logits.shape[-1:], NEVER)
        certain[self.vocabulary.end] = 0.0
        return torch.where(stopped.unsqueeze(-1), certain, logits)
