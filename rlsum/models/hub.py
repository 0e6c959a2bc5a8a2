"""The pointer-generator as a model of transformers: from_pretrained, save_pretrained, push_to_hub, Auto classes.

Importing this module registers it. A checkpoint of a run can be loaded directly:

    import rlsum.models.hub
    from transformers import AutoModel

    model = AutoModel.from_pretrained("runs/demo/sms/best")
    model.summarize(["the storm hit ohio ."])
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AutoConfig, AutoModel, PreTrainedConfig, PreTrainedModel
from transformers.utils import cached_file

from rlsum.data.batch import Batch
from rlsum.data.corpus import Tokenization
from rlsum.data.vocabulary import VOCABULARY, Vocabulary
from rlsum.models.decoding import Decoding
from rlsum.models.pointer_generator.model import MODEL_TYPE, PointerGenerator
from rlsum.models.pointer_generator.network import word_bias
from rlsum.models.pointer_generator.options import PointerGeneratorConfig
from rlsum.models.summarizer import TargetScores

SIZES = tuple(field.name for field in fields(PointerGeneratorConfig) if field.name != "kind")
LOCATION = ("cache_dir", "force_download", "local_files_only", "token", "revision", "subfolder")  # options of files


class PointerGeneratorHubConfig(PreTrainedConfig):
    """config.json of a pointer-generator: the sizes of PointerGeneratorConfig under their own names.

    ``reading``: the fields of the run's ``Tokenization``. ``decoding``: its section of that name. {}: not known.
    """

    model_type = MODEL_TYPE

    def __init__(self, sizes: PointerGeneratorConfig | None = None, **stored: Any) -> None:
        self.reading: dict[str, Any] = stored.pop("reading", {})
        self.decoding: dict[str, Any] = stored.pop("decoding", {})
        stored_sizes = {name: stored.pop(name) for name in SIZES if name in stored}
        for name, value in asdict(sizes or PointerGeneratorConfig(**stored_sizes)).items():
            if name in SIZES:
                setattr(self, name, value)
        super().__init__(**stored)

    @property
    def sizes(self) -> PointerGeneratorConfig:
        """The sizes as the ``model`` section of a configuration."""
        return PointerGeneratorConfig(**{name: getattr(self, name) for name in SIZES})


class PointerGeneratorForSummarization(PreTrainedModel):
    """A pointer-generator and its vocabulary, stored in vocab.txt. ``network`` is the summarizer."""

    config_class = PointerGeneratorHubConfig
    base_model_prefix = "network"  # weights of a run's checkpoint are found without it
    main_input_name = "batch"

    def __init__(self, config: PointerGeneratorHubConfig, vocabulary: Vocabulary) -> None:
        super().__init__(config)
        self.network = PointerGenerator(config.sizes, vocabulary)
        self.post_init()

    @classmethod
    def from_pretrained(
        cls, pretrained_model_name_or_path: str | os.PathLike[str], *arguments: Any, **options: Any
    ) -> PointerGeneratorForSummarization:
        """The model of a folder or hub name; options as in transformers. Raises OSError without a vocabulary."""
        location = {name: options[name] for name in LOCATION if name in options}
        vocabulary = Vocabulary.load(cached_file(pretrained_model_name_or_path, VOCABULARY, **location))
        return super().from_pretrained(pretrained_model_name_or_path, vocabulary, *arguments, **options)

    def save_pretrained(self, save_directory: str | os.PathLike[str], *arguments: Any, **options: Any) -> None:
        """Write config.json, weights and vocabulary; push_to_hub uploads the same files."""
        os.makedirs(save_directory, exist_ok=True)
        self.network.vocabulary.save(os.path.join(save_directory, VOCABULARY))
        super().save_pretrained(save_directory, *arguments, **options)

    def forward(self, batch: Batch, target: Tensor) -> TargetScores:
        """Log-probabilities of a target; see Model.__call__."""
        scored: TargetScores = self.network(batch, target)
        return scored

    def summarize(self, articles: Sequence[str | Sequence[str]], decoding: Decoding | None = None) -> list[str]:
        """A summary of each article, given as its text, or as its words, tokenised and cut as in training.

        By default it is decoded by beam search with the options of the run, as by `rlsum generate`. Raises ValueError
        for a single text, and for texts where config.json does not say how the run read them.
        """
        if isinstance(articles, str):
            raise ValueError("summarize takes a list of articles, not one text; write [text]")
        words = [self._words(article) if isinstance(article, str) else list(article) for article in articles]
        rows: dict[str, list[Any]] = {
            "id": [str(number) for number in range(len(words))],
            "source": [" ".join(article) for article in words],
            "references": [[] for _ in words],
            "src_tokens": words,
            "tgt_tokens": [[] for _ in words],
            "tgt_whole": [True for _ in words],
        }
        batch = self.network.collate(rows).to(self.device)
        self.network.eval()
        decoding = decoding or Decoding(**self.config.decoding).searching()
        return self.network.to_text(batch, self.network.generate(batch, decoding, scored=False))

    def _words(self, text: str) -> list[str]:
        reading = self.config.reading
        if not reading:
            raise ValueError("config.json does not say how the run read texts; give each article as a list of words")
        how = Tokenization(**reading)
        return how.source_tokens(how.lines(text))

    @torch.no_grad()
    def _init_weights(self, module: nn.Module) -> None:
        """Compute the bias, which is not stored; transformers first makes a model without values."""
        if isinstance(module, PointerGenerator):
            module.word_bias.copy_(word_bias(len(module.vocabulary)))


AutoConfig.register(MODEL_TYPE, PointerGeneratorHubConfig)
AutoModel.register(PointerGeneratorHubConfig, PointerGeneratorForSummarization)
