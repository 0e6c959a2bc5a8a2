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
from rlsum.errors import UserError
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


TRIED, STEPS = 16, 3  # tokens of a text that the ways to read articles are compared on, also one by one
AMISS = 1e-2  # nats; sums of float32 in another order differ far less
Score = Callable[["PreTrainedModel", Tensor, Tensor, Tensor], Tensor]
NO_ID = 2**31  # of any vocabulary
Decode = Callable[..., Tensor]


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
        self._told, self._tried = False, {True: 0, False: 0}  # said; padded -> tokens of the longest batch tried

    def depends_on(self) -> dict[str, str]:
        """See Model.depends_on."""
        return {**super().depends_on(), "prompt": self.vocabulary.digest()}

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
                logits = self._ending(logits, self._stopped(ids))
            return choose.next(ids, logits)

        ends, pad = self.rules.ends, self.rules.pad
        decode = prefix.decode if self.reads_once(batch, max_length) else plain.decode
        return decode(self.network, batch.src, batch.src_lengths, rows, next_ids, max_length, ends, pad)

    def searched(self, batch: Batch, decoding: Decoding) -> Tensor:
        """See TransformersModel.searched."""
        self._check_rows(batch)
        ids, mask = plain.left_padded(batch.src, batch.src_lengths)
        options = self.searching(batch, decoding, behind=ids.shape[1])
        if self.vocabulary.stop:  # transformers' stop_strings may begin in the prompt
            options["stopping_criteria"] = [lambda so_far, _: self._stopped(so_far[:, ids.shape[1] :])]
        texts: Tensor = self.network.generate(input_ids=ids, attention_mask=mask, **options)
        texts = texts[:, ids.shape[1] :]
        if self.vocabulary.stop:  # behind a stop string comes padding or nothing, where ours have an end
            texts = F.pad(texts, (0, 1), value=self.rules.pad)[:, : decoding.max_length]
            texts = texts.masked_fill(texts == self.rules.pad, self.vocabulary.end)
        return texts

    def reads_once(self, batch: Batch, width: int) -> bool:
        """Whether articles are read once for all texts of so many tokens, not again for each; says why not, once.

        The first article on a device, and in half precision, is scored in both ways, and step by step: they must
        agree. Otherwise see _check_rows.
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
        if reason:
            self._check_rows(batch)
        return not reason

    @torch.no_grad()
    def _check_rows(self, batch: Batch) -> None:
        """Raise UserError where plain rows are decoded otherwise than scored, or otherwise beside longer articles.

        The shortest article of a batch is tried, alone and beside the longest, where this is longer than before.
        """
        pair, device = torch.stack([batch.src_lengths.argmin(), batch.src_lengths.argmax()]), batch.src.device.type
        src, lengths = batch.src[pair], batch.src_lengths[pair]
        shortest, longest = lengths.tolist()
        padded = shortest < longest
        if longest <= self._tried[padded]:
            return
        text = src[0, : min(TRIED, shortest)]

        def scored(src: Tensor, lengths: Tensor) -> Tensor:  # in one pass, then step by step
            logits = plain.logits(self.network, src, lengths, text.expand(len(src), -1))[0]
            return torch.cat([log_prob(logits, text), self._stepwise(plain.decode, src, lengths, text[:STEPS])])

        with self.no_dropout(), torch.autocast(device, enabled=False):
            alone = scored(src[:1, :shortest], lengths[:1])
            beside = scored(src[:, :longest], lengths) if padded else alone
        steps, kind = alone[len(text) :], self.described.model_type
        for gaps, reason in (
            (
                steps - alone[: len(steps)],
                f"between decoding and scoring: transformers gives {kind} other inputs; choose another model",
            ),
            (beside - alone, f"beside a longer one: {kind} cannot read articles with padding; set batch_size to 1"),
        ):
            if not (gap := gaps.abs().max().item()) <= AMISS:
                raise UserError(
                    f"model.pretrained={self.config.pretrained}: log-probabilities of a text differ by {gap:.2g} nats "
                    f"{reason}"
                )
        self._tried[padded] = longest

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
            return log_prob(score(self.network, src, lengths, target)[kept], target[kept])

        with self.no_dropout():
            try:
                once = scored(prefix.logits)
                with torch.autocast(device, enabled=False):
                    steps = self._stepwise(prefix.decode, src, lengths, target[0, :STEPS])
            except torch.OutOfMemoryError:
                raise
            except Exception as error:  # of a network that asks other things of its attention, any
                reason = next(iter(str(error).splitlines()), type(error).__name__)
                return f"its attention cannot be replaced ({reason})"
            rows, most = scored(plain.logits), prefix.TOLERANCE
            if torch.is_autocast_enabled(device):
                with torch.autocast(device, enabled=False):
                    exact = scored(plain.logits)
                most += 2 * (rows - exact).abs().max().item()
                rows = exact
        gap, gap_of_steps = ((a - b).abs().max().item() for a, b in ((once, rows), (steps, rows[: len(steps)])))
        if gap <= most and gap_of_steps <= AMISS:
            return ""
        return f"log-probabilities would differ by {max(gap, gap_of_steps):.2g} nats"

    def _stepwise(self, decode: Decode, src: Tensor, lengths: Tensor, text: Tensor) -> Tensor:
        """Log-probabilities (T,) of the ids of a text (T,) as it is decoded behind the first article of src (B, S)."""
        steps: list[Tensor] = []

        def follow(ids: Tensor, logits: Tensor) -> Tensor:
            after = text[ids.shape[1]].expand(len(ids))
            steps.append(log_prob(logits, after)[:1])
            return after

        decode(self.network, src, lengths, lengths.new_zeros(2), follow, len(text), ends=[NO_ID], pad=0)
        return torch.cat(steps)

    def _stopped(self, ids: Tensor) -> Tensor:
        """Which texts (R,) of ids (R, t) a stop string has ended."""
        return torch.tensor([self.vocabulary.stopped(row) for row in ids.tolist()], device=ids.device)

    def _ending(self, logits: Tensor, stopped: Tensor) -> Tensor:
        """Logits (..., V) with the end as certain where a stop string has ended the text (...)."""
        certain = logits.new_full(logits.shape[-1:], NEVER)
        certain[self.vocabulary.end] = 0.0
        return torch.where(stopped.unsqueeze(-1), certain, logits)


def log_prob(logits: Tensor, ids: Tensor) -> Tensor:
    """Log-probabilities (N,) float32 of ids (N,); logits (N, V)."""
    return logits.float().log_softmax(-1).gather(-1, ids.unsqueeze(-1)).squeeze(-1)
