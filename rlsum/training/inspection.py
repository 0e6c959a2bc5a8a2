"""The articles of a configuration as its model reads them, without the model's weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import datasets
import numpy as np
from numpy.typing import NDArray

from rlsum.config import Config, ConfigError
from rlsum.data.corpus import Corpus
from rlsum.data.counts import column_of, token_counts
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
    lengths: Sequence[NDArray[np.integer]]
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
        uncut = corpus.rows.map(
            _uncut,
            batched=True,
            num_proc=data.num_proc if data.num_proc > 1 else None,
            remove_columns=corpus.rows.column_names,
            fn_kwargs={"split": corpus.split},
            desc="lengths",
        )
        lengths = [column_of(uncut, name).to_numpy() for name in ("source", "reference")]
        return Inspected(corpus, corpus.rows, [lengths[0], lengths[1][lengths[1] >= 0]], vocabulary)
    whole = vocabulary.read(corpus.rows, replace(config.tokenization, max_source=UNCUT, max_target=UNCUT))
    lengths = [token_counts(whole, "src_tokens") - vocabulary.around, token_counts(whole, "tgt_tokens")]
    rows = vocabulary.read(corpus.rows, config.tokenization)
    return Inspected(corpus, rows, lengths, None, vocabulary.tokenizer)


def _uncut(rows: dict[str, list[Any]], split: Callable[[str], list[str]]) -> dict[str, list[int]]:
    """The tokens of articles and of first references, -1 without one."""
    return {
        "source": [len(split(text)) for text in rows["source"]],
        "reference": [len(split(texts[0])) if texts else -1 for texts in rows["references"]],
    }
