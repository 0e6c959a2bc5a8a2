"""How a pretrained language model starts; see ``pretrained``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rewards.text.languages import language_of
from rlsum.config import Config
from rlsum.data.prompt import Prompt, prompt
from rlsum.models.pretrained import loading
from rlsum.models.pretrained.causal import Causal
from rlsum.models.pretrained.options import CausalConfig, PretrainedConfig
from rlsum.training.start.pretrained import PretrainedStart

if TYPE_CHECKING:
    from transformers import PreTrainedConfig


class CausalStart(PretrainedStart):
    """See PretrainedStart."""

    family, kind = loading.CAUSAL, Causal

    def text_faults(
        self, config: Config, section: PretrainedConfig, name: str, sizes: PreTrainedConfig
    ) -> Iterator[str]:
        """See PretrainedStart.text_faults."""
        around, article = self.subwords(config, section, name).around, config.data.max_source
        summary = max(config.data.max_target, config.decoding.max_length, config.samples_from.limit)
        yield from loading.prompt_faults(sizes, "data.max_source", article, around, summary)

    def subwords(self, config: Config, section: PretrainedConfig, name: str) -> Prompt:
        """See PretrainedStart.subwords."""
        section = section.resolved()
        assert isinstance(section, CausalConfig)
        assert section.prompt is not None
        return prompt(
            loading.load_tokenizer(name),
            section.prompt,
            chat=section.template == "chat",
            system=section.system,
            stop=section.stop,
            language=language_of(config.language) if section.article_end == "sentence" else None,
        )


START = CausalStart()
