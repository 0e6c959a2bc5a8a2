"""The kinds of models, a row each as in `rlsum.models.kinds`: what tests of every kind need of one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import language_models
import pretrained
import tiny
import torch

from rlsum.data.batch import Batch
from rlsum.data.vocabulary import UNK
from rlsum.models.summarizer import Model


class Kind(NamedTuple):
    """A kind of model.

    needs      keys of its section without a default
    made       folder -> a tiny model and a batch
    two_words  folder -> one that writes two known words and at most one other, an article, the ids of these words
    """

    needs: dict[str, str]
    made: Callable[[Path], tuple[Model, Batch]]
    two_words: Callable[[Path], tuple[Model, Batch, list[int]]]


def pointer_generator(folder: Path) -> tuple[Model, Batch]:
    return tiny.copier(seed=3, coverage=True), tiny.batch(tiny.ARTICLES)


def pointer_generator_of_two_words(folder: Path) -> tuple[Model, Batch, list[int]]:
    model = tiny.copier(words=("ash", "birch"))
    words = [UNK, *map(model.vocabulary.index.__getitem__, ("ash", "birch")), len(model.vocabulary)]  # one is copied
    return model, tiny.batch([("ash Quercus birch", "Quercus")], ("ash", "birch")), words


def seq2seq(folder: Path, architecture: str = "t5") -> tuple[Model, Batch]:
    model = pretrained.summarizer(pretrained.save(folder / architecture, architecture))
    return model, pretrained.batch(model)


def seq2seq_of_two_words(folder: Path) -> tuple[Model, Batch, list[int]]:
    words, end = [5, 6], 1
    never = [token for token in range(pretrained.SIZE) if token not in (*words, end)]
    model = pretrained.summarizer(pretrained.ruled(pretrained.save(folder, "t5"), suppress_tokens=never))
    return model, pretrained.batch(model, pretrained.NEWS[:1]), words


def causal(folder: Path) -> tuple[Model, Batch]:
    model = language_models.summarizer(language_models.save(folder / "llama", "llama"))
    return model, pretrained.batch(model)


def causal_of_two_words(folder: Path) -> tuple[Model, Batch, list[int]]:
    model, words = language_models.summarizer(language_models.save(folder, "llama")), [265, 270]
    kept = [*words, model.vocabulary.end]

    class TwoWords(type(model)):
        def reads_once(self, batch, width):
            return False  # which float64 cannot

        def logits(self, batch, target):
            logits = super().logits(batch, target)
            return torch.full_like(logits, -1e9).index_copy(-1, torch.tensor(kept), logits[..., kept])

    model.__class__ = TwoWords
    return model, pretrained.batch(model, pretrained.NEWS[:1]), words


TINY = {
    "pointer-generator": Kind({}, pointer_generator, pointer_generator_of_two_words),
    "seq2seq": Kind({"pretrained": "name"}, seq2seq, seq2seq_of_two_words),
    "causal": Kind({"pretrained": "name"}, causal, causal_of_two_words),
}
