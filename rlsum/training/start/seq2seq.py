"""How a pretrained encoder-decoder starts; see ``pretrained``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlsum.config import Config
from rlsum.data.subwords import Subwords
from rlsum.models.pretrained import loading
from rlsum.models.pretrained.options import PretrainedConfig, Seq2SeqConfig
from rlsum.models.pretrained.seq2seq import Seq2Seq
from rlsum.models.pretrained.token_rules import TokenRules
from rlsum.training.start.pretrained import TRIAL, PretrainedStart

if TYPE_CHECKING:
    from transformers import PreTrainedConfig


class Seq2SeqStart(PretrainedStart):
    """See PretrainedStart."""

    family, kind = loading.SEQ2SEQ, Seq2Seq

    def text_faults(
        self, config: Config, section: PretrainedConfig, name: str, sizes: PreTrainedConfig
    ) -> Iterator[str]:
        """See PretrainedStart.text_faults."""
        assert isinstance(section, Seq2SeqConfig)
        asked = {
            "data.max_source": ("source", config.data.max_source),
            "data.max_target": ("target", config.data.max_target),
            "decoding.max_length": ("target", config.decoding.max_length),
            "sampling.max_length": ("target", config.samples_from.limit),
        }
        yield from loading.length_faults(sizes, asked)
        yield from loading.attention_faults(sizes, section.global_attention)
        tokenizer = loading.load_tokenizer(name)
        rules = TokenRules.of(loading.load_generation_config(name), tokenizer.pad_token_id)
        special = tokenizer.num_special_tokens_to_add()
        if config.data.max_source <= special:
            yield (
                f"data.max_source={config.data.max_source}: the tokenizer adds {special} special tokens, which leaves "
                "none for words; raise it"
            )
        if config.data.max_target == 1 and rules.forced_first is not None:
            yield "data.max_target=1: the first token of a text is forced, so nothing would be learnt; raise it"
        if not {*tokenizer(text_target=TRIAL[1])["input_ids"]} & {*rules.ends}:
            yield (
                f"model.pretrained={name}: the tokenizer does not end texts with an eos_token_id of "
                f"generation_config.json ({', '.join(map(str, rules.ends))}), so the model would never learn to stop; "
                "make it add one (post_processor in tokenizer.json)"
            )

    def subwords(self, config: Config, section: PretrainedConfig, name: str) -> Subwords:
        """See PretrainedStart.subwords."""
        assert isinstance(section, Seq2SeqConfig)
        return Subwords(loading.load_tokenizer(name), section.prefix, section.line_break)


START = Seq2SeqStart()
