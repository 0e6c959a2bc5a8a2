"""Any encoder-decoder of transformers as a summarizer: BART, T5, PEGASUS, mT5, LED, ...

Notation: B articles, R rows (several an article), S source tokens, T target tokens, L decoded tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from inspect import signature
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F
from torch import Tensor

from rlsum.data.batch import Batch
from rlsum.data.subwords import Subwords
from rlsum.models.decoding import Decoding
from rlsum.models.graphs import Repeated
from rlsum.models.pretrained.cross_attention import keys_once
from rlsum.models.pretrained.loading import SEQ2SEQ
from rlsum.models.pretrained.model import TransformersModel
from rlsum.models.pretrained.options import Seq2SeqConfig
from rlsum.models.pretrained.steps import decode
from rlsum.models.pretrained.token_choice import TokenChoice
from rlsum.models.pretrained.token_rules import TokenRules
from rlsum.models.summarizer import repeat_rows
from rlsum.readers.understood import say

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedModel

TRIED = 8  # ids of a reference that the two ways to decode are compared on
TOLERANCE = 1e-3  # nats; float32 sums in another order differ far less


class Seq2Seq(TransformersModel):
    """An encoder-decoder; see TransformersModel."""

    family = SEQ2SEQ
    config: Seq2SeqConfig

    def __init__(
        self,
        config: Seq2SeqConfig,
        network: PreTrainedModel,
        described: PreTrainedConfig,
        vocabulary: Subwords,
    ) -> None:
        rules = TokenRules.of(network.generation_config, vocabulary.pad)
        super().__init__(config, network, described, vocabulary, rules)
        self._refusal: str | None = None  # why texts are drawn by transformers' generate; "" if they are not

    def logits(self, batch: Batch, target: Tensor) -> Tensor:
        """See TransformersModel.logits."""
        rows = repeat_rows(len(batch), len(target) // len(batch)).to(target.device)
        with self._encoded(batch, rows) as args:
            logits: Tensor = self.network(**args, decoder_input_ids=self.rules.inputs(target), use_cache=False).logits
        return logits

    def chosen(self, batch: Batch, rows: Tensor, choose: TokenChoice, max_length: int) -> Tensor:
        """See TransformersModel.chosen."""
        if self.steps_alone(batch):

            def next_ids(ids: Tensor, logits: Tensor) -> Tensor:
                return choose.next(ids, self.rules.following(logits, ids.shape[1], max_length - 1))

            with self._encoded(batch, rows) as args:
                steps = FixedSteps(self.network, args, max_length)
                first = steps.next(rows.new_full((len(rows),), self.rules.start or 0), 0)
                return decode(steps, first, next_ids, max_length, self.rules.ends, self.rules.pad, start=1)
        config = self.rules.unlimited(Decoding(method="sample", max_length=max_length))
        return self._decode(batch, rows, {"generation_config": config, "logits_processor": [choose]})

    def searched(self, batch: Batch, decoding: Decoding) -> Tensor:
        """See TransformersModel.searched."""
        rows = torch.arange(len(batch), device=batch.src.device)
        return self._decode(batch, rows, self.searching(batch, decoding, behind=1))

    def steps_alone(self, batch: Batch) -> bool:
        """Whether texts are drawn by steps of fixed shapes, not by transformers' generate; says why not, once.

        The first reference is scored in both ways: they must agree.
        """
        if self._refusal is None:
            self._refusal = self._difference(batch)
            if self._refusal:
                say(f"{self.config.pretrained}: transformers' generate decodes: {self._refusal}")
        return not self._refusal

    @torch.no_grad()
    def _difference(self, batch: Batch) -> str:
        """Why texts cannot be drawn by steps of fixed shapes; "" if these score a reference as one pass does."""
        from transformers.cache_utils import StaticLayer

        if not getattr(self.network, "_can_compile_fullgraph", False) or self.config.global_attention != "none":
            return f"transformers has no static cache for {self.network.config.model_type}"
        inputs = self.rules.inputs(batch.target[:1, :TRIED])
        rows, width = inputs.new_zeros(2), inputs.shape[1]
        with self.no_dropout(), torch.autocast(inputs.device.type, enabled=False), self._encoded(batch, rows) as args:
            whole = self.network(**args, decoder_input_ids=inputs.repeat(2, 1), use_cache=False).logits
            steps = FixedSteps(self.network, args, width + 1)
            if any(type(layer) is not StaticLayer for layer in steps.static.layers):
                return f"{self.network.config.model_type} attends to windows"
            single = [steps.next(inputs[0, place].expand(2), place).clone() for place in range(width)]
        gap = (torch.stack(single, 1).log_softmax(-1) - whole.log_softmax(-1)).abs().max().item()
        return "" if gap <= TOLERANCE else f"log-probabilities of its static cache would differ by {gap:.2g} nats"

    @contextmanager
    def _encoded(self, batch: Batch, rows: Tensor) -> Iterator[dict[str, Any]]:
        """Encoder outputs for the articles ``rows`` (R,), as keyword arguments of the network.

        Each is encoded once, and so are its keys.
        """
        mask = (torch.arange(batch.src.shape[1], device=batch.src.device) < batch.src_lengths.unsqueeze(1)).long()
        everywhere = {}
        if self.config.global_attention == "first":
            everywhere["global_attention_mask"] = F.pad(mask[:, :1], (0, mask.shape[1] - 1))
        encoded = self.network.get_encoder()(input_ids=batch.src, attention_mask=mask, return_dict=True, **everywhere)
        with keys_once(self.network, encoded.last_hidden_state, rows) as states:
            outputs = type(encoded)(last_hidden_state=states)  # networks need their own type
            yield {"encoder_outputs": outputs, "attention_mask": mask[rows]}

    def _decode(self, batch: Batch, rows: Tensor, options: Mapping[str, Any]) -> Tensor:
        """Ids (R, L) decoded by transformers with ``options`` of its ``generate``, without the start token."""
        with self._encoded(batch, rows) as args:
            ids: Tensor = self.network.generate(**args, **options)
        return ids[:, 1:]


class FixedSteps:
    """Steps of a decoder whose keys have a place from the beginning; see ``steps.Steps``.

    inputs   of a network: ``encoder_outputs`` of R rows, their ``attention_mask`` (R, S)
    longest  ids of a text, with the start
    """

    def __init__(self, network: PreTrainedModel, inputs: dict[str, Any], longest: int) -> None:
        from transformers import DynamicCache, EncoderDecoderCache, StaticCache

        states = inputs["encoder_outputs"].last_hidden_state
        self.static = StaticCache(network.config.get_text_config(decoder=True), max_cache_len=longest)
        cache = "cache" if "cache" in signature(network.forward).parameters else "past_key_values"
        self.inputs = {**inputs, "use_cache": True, cache: EncoderDecoderCache(self.static, DynamicCache())}
        # four dimensions: transformers looks into other masks, which waits for a GPU
        self.inputs["attention_mask"] = _hidden(inputs["attention_mask"] == 0, states).unsqueeze(1).unsqueeze(1)
        self.network, self.states, self.places = network, states, torch.arange(longest, device=states.device)
        self.repeated = Repeated(states.device)

    def next(self, ids: Tensor, place: int) -> Tensor:
        """See ``steps.Steps``."""
        return self.repeated(self._step, ids, self.places[place])

    def _step(self, ids: Tensor, place: Tensor) -> Tensor:
        for layer in self.static.layers:
            if layer.is_initialized:
                layer.cumulative_length.copy_(place)
        later = _hidden(self.places > place, self.states).expand(len(ids), 1, 1, -1)
        logits: Tensor = self.network(
            **self.inputs, decoder_input_ids=ids.unsqueeze(1), decoder_attention_mask=later
        ).logits
        return logits[:, -1]

    def keep(self, going: Tensor) -> bool:
        """See ``steps.Steps``: their keys would have to be copied."""
        return False


def _hidden(places: Tensor, like: Tensor) -> Tensor:
    """What is added to scores of attention: the lowest number at ``places``, which are not read, else 0."""
    return torch.zeros(places.shape, dtype=like.dtype, device=like.device).masked_fill(
        places, torch.finfo(like.dtype).min
    )
