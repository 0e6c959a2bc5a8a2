"""The log-probability that a language model gives a text after another one.

BARTScore (Yuan, Neubig and Liu 2021) with an encoder-decoder; GPTScore (Fu, Ng, Jiang and Liu 2023), an instruction
before the text, with a causal model.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rewards.errors import RewardError
from rewards.models.language import LogProbs, target_ids, text_log_probs
from rewards.models.loading import Encoded, LoadedModel, ModelOptions, model_fields
from rewards.models.pairs import Matrix, ModelReward, Pair
from rewards.models.prompts import check_prompt, prompt_hash, rendered
from rewards.options import takes
from rewards.scoring import Inputs, signature
from rewards.text.chunks import encodable

# What is given and what it is the likelihood of -> the name in Yuan et al. 2021.
NAMES = {
    ("source", "candidate"): "faithfulness",
    ("reference", "candidate"): "precision",
    ("candidate", "reference"): "recall",
    ("reference", "both"): "F",
}
PROMPTS = {"encoder-decoder": "{given}", "causal": "{given}\n\nTL;DR:\n"}
LONGEST = 1000  # evenly drawn tokens, below whose sum a score is bounded


@dataclass(kw_only=True)
class LikelihoodOptions(ModelOptions):
    """Options of likelihood."""

    given: Literal["source", "reference", "candidate"] = "source"
    """the text that the model reads first; with of= it makes faithfulness (source, candidate), precision (reference,
    candidate), recall (candidate, reference) or F (reference, both) of the BARTScore paper"""
    of: Literal["candidate", "reference", "both"] = "candidate"
    """the text whose likelihood is the score; both: the mean of precision and recall"""
    norm: Literal["token", "sum"] = "token"
    """the mean over the tokens of the text, or their sum, which is lower for longer texts"""
    prompt: str | None = None
    """what the model reads, with {given} for the text; none: {given} alone for an encoder-decoder, else {given}, an
    empty line and a line TL;DR: (Radford et al. 2019)"""
    chat: bool = False
    """whether the prompt is the user's turn of the model's chat template, and the text the answer"""

    def __post_init__(self) -> None:
        if (self.given, self.of) not in NAMES:
            valid = ", ".join(f"given={given}, of={of} ({name})" for (given, of), name in NAMES.items())
            raise RewardError(f"likelihood: given={self.given}, of={self.of} is no score of a candidate; use {valid}")
        if self.prompt is not None:
            check_prompt("likelihood", self.prompt, {"given"}, needed={"given"})


def bounded(log_prob: float, even: float) -> float:
    """``log_prob`` down to ``even``; what is lower keeps its order between ``even`` and twice that, which is -inf's."""
    return log_prob if log_prob >= even else even * (2 - math.exp((even - log_prob) / even))


@takes(LikelihoodOptions)
class Likelihood(ModelReward):
    """BARTScore, GPTScore: the mean log-probability that a language model gives a text after an article or a text.

    An encoder-decoder or a causal model. The states of an article are computed once for all its candidates. Range
    [-2 log V, 0] for a vocabulary of V tokens.
    """

    name = "likelihood"
    head = "language"
    options: LikelihoodOptions

    def __init__(self, options: LikelihoodOptions) -> None:
        super().__init__(options)
        self.given = "source" if options.given == "source" else "reference"

    @property
    def heading(self) -> str:
        """`likelihood faithfulness SmolLM2`: its name in the paper, and the model."""
        return super().heading.replace(" ", f" {NAMES[self.options.given, self.options.of]} ", 1)

    def scores(self, inputs: Inputs) -> NDArray[np.float64]:
        """``(n,)`` float64, the best of several references; NaN where there is no text to be given.

        An empty candidate gets -2 log V, with norm=sum 1,000 times that. A text that is less likely than evenly drawn
        tokens, -log V, is ``bounded``: it stays above an empty one, so that a start of random weights can learn.

        With an encoder-decoder the special tokens that its tokenizer adds are counted, as by BARTScore; with a causal
        model, the tokens of the text alone. Of a text longer than the model reads, each window is read after the last
        quarter of the one before.
        """
        return self.best(inputs)

    @property
    def floor(self) -> float:
        """Twice that of evenly drawn tokens, which no text reaches."""
        return 2 * self._even

    @property
    def _even(self) -> float:
        vocabulary = self.model.load().model.get_output_embeddings().weight.shape[0]
        return -math.log(vocabulary) * (1 if self.options.norm == "token" else LONGEST)

    @property
    def signature(self) -> str:
        """The model, the hash of the prompt, what is given, and what it is the likelihood of."""
        loaded, options = self.model.load(), self.options
        named = {"given": options.given, "of": options.of, "norm": options.norm}
        prompt = prompt_hash(f"{self._chat()}{self._prompt(loaded)}")
        return signature(self.name, **model_fields(loaded, options), **named, prompt=prompt)

    def pair_scores(self, pairs: Sequence[Pair]) -> Sequence[float]:
        """The mean of the directions of each pair, each ``bounded``."""
        even, asked = self._even, [self._directions(pair) for pair in pairs]
        texts: dict[str, dict[str, None]] = {}
        for given, text in (one for directions in asked for one in directions):
            texts.setdefault(given, {})[text] = None
        windows = self._windows({given: list(listed) for given, listed in texts.items()})
        best = {one: bounded(max(map(self._normed, of_windows)), even) for one, of_windows in windows.items()}
        return [float(np.mean([best[one] for one in directions])) for directions in asked]

    def matrix(self, pair: Pair) -> Matrix:
        """The probability of each token of the text, after the best window of the other; of F, the candidate's."""
        given, text = self._directions(pair)[0]
        best = max(self._windows({given: [text]})[given, text], key=self._normed)
        loaded = self.model.load()
        labels = [loaded.tokenizer.decode([token]) for token in target_ids(loaded, [text])[0][: len(best)]]
        return Matrix(labels, [f"after the {self.options.given}"], np.exp(best)[:, None], "probabilities of tokens")

    def _windows(self, texts: dict[str, list[str]]) -> dict[tuple[str, str], list[LogProbs]]:
        return text_log_probs(self.model.load(), texts, self._read, self.options.long_texts == "windows")

    def _directions(self, pair: Pair) -> list[tuple[str, str]]:
        forth, back = (pair.given, pair.candidate), (pair.candidate, pair.given)
        return {"candidate": [forth], "reference": [back], "both": [forth, back]}[self.options.of]

    def _normed(self, log_probs: LogProbs) -> float:
        if not len(log_probs):  # of characters that the tokenizer removes: as an empty text
            return -math.inf
        return float(log_probs.mean() if self.options.norm == "token" else log_probs.sum())

    def _prompt(self, loaded: LoadedModel) -> str:
        if self.options.prompt is not None:
            return self.options.prompt
        return PROMPTS["encoder-decoder" if loaded.is_encoder_decoder else "causal"]

    def _chat(self) -> str:
        """The chat template; "" where the prompt is no turn of one. Raises RewardError where the model has none."""
        if not self.options.chat:
            return ""
        template = self.model.load().tokenizer.chat_template
        if not template:
            raise RewardError(f"likelihood: chat=true: {self.options.model!r} has no chat template; leave it out")
        return str(template)

    def _read(self, given: str) -> Encoded:
        """The prompt as the tokenizer gives it."""
        loaded = self.model.load()
        prompt = rendered(self._prompt(loaded), {"given": encodable(given).strip()})
        if self._chat():
            prompt = loaded.chat(prompt, answered=False)
        return {"input_ids": loaded.ids([prompt], special=not self.options.chat)[0]}
