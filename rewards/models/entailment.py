"""Whether an article entails a summary, sentence by sentence: SummaC-ZS (Laban, Schnabel, Bennett and Hearst 2022)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rewards.errors import RewardError
from rewards.models.loading import ModelOptions, model_fields
from rewards.models.pairs import Given, Matrix, ModelReward, Pair
from rewards.options import takes
from rewards.scoring import Inputs, library, signature
from rewards.text.languages import LanguageOption, language_of
from rewards.text.sentences import sentences

Aggregate = Literal["mean", "min"]
WORDS = {"entail": "entailment", "contradict": "contradiction (for score=difference)"}
NEGATED = re.compile(r"\b(not|non|no)|^un", re.IGNORECASE)


@dataclass(kw_only=True)
class EntailmentOptions(ModelOptions, LanguageOption):
    """Options of entailment."""

    given: Given = "source"
    """the text that entails a summary, or does not: its article, or a reference"""
    premise: Literal["sentences", "windows"] = "sentences"
    """what a sentence of the summary is compared with: each sentence of the article, or windows as long as the model
    reads"""
    score: Literal["entailment", "difference"] = "entailment"
    """the probability of entailment, or that of entailment minus that of contradiction"""
    aggregate: Aggregate = "mean"
    """over the sentences of the summary: their mean, or the lowest"""


def summac(matrix: NDArray[np.float64], aggregate: Aggregate = "mean") -> float:
    """SummaC-ZS of scores (m, n) of m sentences of a summary and n of its article: the best of each row, aggregated."""
    best = matrix.max(axis=1)
    return float(best.mean() if aggregate == "mean" else best.min())


@takes(EntailmentOptions)
class Entailment(ModelReward):
    """SummaC-ZS: how probably the article entails each sentence of a summary, by any entailment model of transformers.

    Range [0, 1], with score=difference [-1, 1]. Reads no references unless given=reference.
    """

    name = "entailment"
    head = "classes"
    options: EntailmentOptions

    def scores(self, inputs: Inputs) -> NDArray[np.float64]:
        """``(n,)`` float64, the best of several references; NaN where the article is empty. An empty candidate gets
        the lowest.

        A sentence of the summary of more than a quarter of what the model reads counts as several, one of the article
        of more than the rest is cut into windows.
        """
        return self.best(inputs)

    @property
    def floor(self) -> float:
        """The lowest of the range."""
        return 0.0 if self.options.score == "entailment" else -1.0

    @property
    def signature(self) -> str:
        """The model, its classes that count, what it compares, how scores are put together, the splitter's version."""
        options, loaded = self.options, self.model.load()
        classes = "-".join(map(str, dict.fromkeys(self._labels)))
        named = {"given": options.given, "premise": options.premise, "score": options.score, "classes": classes}
        named |= {"aggregate": options.aggregate, "language": options.language or "en", "sentences": library("spacy")}
        return signature(self.name, **model_fields(loaded, options), **named)

    def pair_scores(self, pairs: Sequence[Pair]) -> Sequence[float]:
        """SummaC-ZS of each pair; two sentences that meet again are not compared again."""
        sides = [(self._hypotheses(pair.candidate), self._premises(pair.given)) for pair in pairs]
        asked = list(dict.fromkeys((p, h) for hypotheses, premises in sides for h in hypotheses for p in premises))
        known = dict(zip(asked, self._probabilities(asked), strict=True))
        matrices = (np.array([[known[p, h] for p in premises] for h in hypotheses]) for hypotheses, premises in sides)
        return [summac(matrix, self.options.aggregate) for matrix in matrices]

    def matrix(self, pair: Pair) -> Matrix:
        """The score of each sentence of the summary with each of the article."""
        hypotheses, premises = self._hypotheses(pair.candidate), self._premises(pair.given)
        values = self._probabilities([(premise, hypothesis) for hypothesis in hypotheses for premise in premises])
        measured = "probability of entailment by the column"
        if self.options.score == "difference":
            measured += ", minus that of contradiction"
        return Matrix(hypotheses, premises, values.reshape(len(hypotheses), len(premises)), measured)

    def _hypotheses(self, text: str) -> list[str]:
        loaded = self.model.load()
        return self._cut(sentences(text, language_of(self.options.language)), loaded.limit and loaded.limit // 4)

    def _premises(self, text: str) -> list[str]:
        loaded = self.model.load()
        special = loaded.tokenizer.num_special_tokens_to_add(pair=True)
        size = loaded.limit and max(1, loaded.limit - loaded.limit // 4 - special)
        as_sentences = self.options.premise == "sentences"
        return self._cut(sentences(text, language_of(self.options.language)) if as_sentences else [text], size)

    def _cut(self, texts: Sequence[str], size: int | None) -> list[str]:
        windows = [self.model.load().windows(text, size) for text in texts]
        kept = windows if self.options.long_texts == "windows" else [cut[:1] for cut in windows]
        return [window for cut in kept for window in cut]

    def _probabilities(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """The score of each (premise, hypothesis), (n,)."""
        loaded = self.model.load()
        entails, contradicts = self._labels
        if not pairs:
            return np.empty(0)
        cut: dict[str, Any] = {} if loaded.limit is None else {"truncation": "only_first", "max_length": loaded.limit}
        cut["split_special_tokens"] = True  # a text may spell the end of one
        logits = loaded.logits(loaded.tokenizer(*map(list, zip(*pairs, strict=True)), **cut)).astype(np.float64)
        probabilities = np.exp(logits - np.logaddexp.reduce(logits, axis=1, keepdims=True))
        scores = probabilities[:, entails]
        return scores - probabilities[:, contradicts] if self.options.score == "difference" else scores

    @cached_property
    def _labels(self) -> tuple[int, int]:
        """The classes of entailment and of contradiction; the second is read for a difference alone."""
        labels, name = self.model.load().model.config.id2label, self.options.model
        entails = label_of(labels, "entail", name)
        return entails, label_of(labels, "contradict", name) if self.options.score == "difference" else entails


def label_of(labels: Mapping[int, str], stem: str, model: str) -> int:
    """The class whose label has ``stem`` and is not negated.

    Raises RewardError unless there is exactly one, and its label is a form of that word alone.
    """
    named = [number for number, label in labels.items() if stem in label.lower() and not NEGATED.search(label)]
    if len(named) != 1 or not re.fullmatch(f"{stem}[a-z]*", labels[named[0]].strip().lower()):
        listed = ", ".join(labels.values())
        raise RewardError(
            f"entailment: model={model!r} has the labels {listed}; exactly one must be that of {WORDS[stem]}: name it "
            "so in id2label of its config.json, as its authors meant it"
        )
    return int(named[0])
