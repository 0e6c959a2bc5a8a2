"""The articles of a configuration as its model reads them, without the model's weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import datasets

from rlsum.config import Config, ConfigError
from rlsum.data.corpus import Corpus
from rlsum.data.vocabulary import Vocabulary
from rlsum.training import build
from rlsum.training.start.origin import Origin, start_of

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

Part = Literal["train", "valid"]
UNCUT = 2**31 - 1  # tokens


@dataclass(frozen=True)
class Inspected:
    """Articles and first references as a model reads them.

    corpus      their texts
    rows        src_tokens and tgt_tokens, cut: words, or pieces of words of a pretrained model
    lengths     tokens of each article and each reference before they are cut
    vocabulary  the words that the model knows; None: a pretrained model knows every piece
    """

    corpus: Corpus
    rows: datasets.Dataset
    lengths: Sequence[Sequence[int]]
    vocabulary: Vocabulary | None
    tokenizer: PreTrainedTokenizerBase | None = None

    def written(self, tokens: Sequence[Any]) -> Sequence[str]:
        """Tokens of ``rows`` as texts."""
        return tokens if self.tokenizer is None else self.tokenizer.convert_ids_to_tokens(tokens)


def inspected(config: Config, part: Part) -> Inspected:
    """Read a part of a configuration's articles. Raises as training would, and where the model comes from --init."""
    if config.model is None and config.objective.rewarded:
        raise ConfigError("model: comes from --init RUN, with its words; inspect the configuration of that run")
    start = start_of(config)
    start.check(config, Origin())
    corpus, data = build.corpus(config, part), config.data
    vocabulary = start.vocabulary(config, corpus if part == "train" else build.corpus(config, "train"))
    if isinstance(vocabulary, Vocabulary):
        firsts = [texts[0] for texts in corpus.rows["references"] if texts]
        lengths = [[len(corpus.split(text)) for text in texts] for texts in (corpus.rows["source"], firsts)]
        return Inspected(corpus, corpus.rows, lengths, vocabulary)
    whole = vocabulary.read(corpus.rows, UNCUT, UNCUT)
    around = vocabulary.around
    lengths = [[len(ids) - around for ids in whole["src_tokens"]], [len(ids) for ids in whole["tgt_tokens"]]]
    rows = vocabulary.read(corpus.rows, data.max_source, data.max_target)
    return Inspected(corpus, rows, lengths, None, vocabulary.tokenizer)
