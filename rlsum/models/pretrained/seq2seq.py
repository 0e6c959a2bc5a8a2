"""Any encoder-decoder of transformers as a summarizer: BART, T5, PEGASUS, mT5, LED, ...

Notation: B articles, R rows (several an article), S source tokens, T target tokens, L decoded tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F
from torch import Tensor

from rlsum.data.batch import Batch
from rlsum.data.subwords import Subwords
from rlsum.models.decoding import Decoding
from rlsum.models.pretrained.cross_attention import keys_once
from rlsum.models.pretrained.loading import SEQ2SEQ
from rlsum.models.pretrained.model import TransformersModel
from rlsum.models.pretrained.options import Seq2SeqConfig
from rlsum.models.pretrained.token_rules import SelfCritical, TokenRules
from rlsum.models.summarizer import repeat_rows

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedModel


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
        smoothed: bool = False,
    ) -> None:
        rules = TokenRules.of(network.generation_config, vocabulary.pad)
        super().__init__(config, network, described, vocabulary, rules, smoothed)

    def logits(self, batch: Batch, target: Tensor) -> Tensor:
        """See TransformersModel.logits."""
        rows = repeat_rows(len(batch), len(target) // len(batch)).to(target.device)
        with self._encoded(batch, rows) as given:
            logits: Tensor = self.network(**given, decoder_input_ids=self.rules.inputs(target), use_cache=False).logits
        return logits

    def chosen(self, batch: Batch, rows: Tensor, choose: SelfCritical, max_length: int) -> Tensor:
        """See TransformersModel.chosen."""
        options = self.rules.searching(Decoding(method="sample", max_length=max_length), behind=1)
        return self._decode(batch, rows, {**options, "logits_processor": [choose]})

    def searched(self, batch: Batch, decoding: Decoding) -> Tensor:
        """See TransformersModel.searched."""
        rows = torch.arange(len(batch), device=batch.src.device)
        return self._decode(batch, rows, self.rules.searching(decoding, behind=1))

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
        with self._encoded(batch, rows) as given:
            ids: Tensor = self.network.generate(**given, **options)
        return ids[:, 1:]
