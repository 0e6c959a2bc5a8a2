"""A reward model: a classifier of transformers with one number, as those that are trained on preferences have.

Its number is not bounded, and means something only beside those of the same model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from rewards.errors import RewardError
from rewards.models.loading import Encoded, LoadedModel, ModelOptions, fitted, model_fields
from rewards.models.pairs import Given, Matrix, ModelReward, Pair
from rewards.models.prompts import check_prompt, prompt_hash, rendered
from rewards.options import takes
from rewards.scoring import Inputs, signature
from rewards.text.chunks import encodable
from rewards.text.sentences import sentences

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(kw_only=True)
class RewardModelOptions(ModelOptions):
    """Options of reward-model."""

    given: Given = "source"
    """the text that a candidate is an answer to: its article, or a reference"""
    form: Literal["auto", "pair", "chat"] = "auto"
    """the model reads a pair of texts, or the turns of its chat template; auto: chat where it has one"""
    prompt: str = "{given}"
    """the first text of a pair, or the user's turn, with {given} for the text"""
    floor: float | None = None
    """the score of an empty candidate; none: it is undefined, as the model has no lowest number"""

    def __post_init__(self) -> None:
        check_prompt("reward-model", self.prompt, {"given"}, needed={"given"})


@takes(RewardModelOptions)
class RewardModel(ModelReward):
    """A reward model: the number that a model with a scalar head gives an article and its summary.

    Range: not bounded. Reads no references unless given=reference.
    """

    name = "reward-model"
    head = "classes"
    options: RewardModelOptions

    def scores(self, inputs: Inputs) -> NDArray[np.float64]:
        """``(n,)`` float64, the best of several references; NaN where there is nothing to be given, for a candidate
        of more than 3/4 of what the model reads beside the prompt, and for an empty one unless ``floor`` is given.
        """
        return self.best(inputs)

    @property
    def floor(self) -> float | None:
        """As the option says."""
        return self.options.floor

    @property
    def signature(self) -> str:
        """The model, the form and the hash of the prompt and of the chat template."""
        loaded, options = self._loaded(), self.options
        form = self._form(loaded)
        template = str(loaded.tokenizer.chat_template) if form == "chat" else ""
        named = {"given": options.given, "form": form, "prompt": prompt_hash(options.prompt + template)}
        return signature(self.name, **model_fields(loaded, options), **named, floor=repr(options.floor))

    def pair_scores(self, pairs: Sequence[Pair]) -> Sequence[float]:
        """The number of the best window of each pair."""
        loaded = self._loaded()
        rows, owners = self.encoded(loaded, [pair if self.pair_reason(pair) is None else None for pair in pairs])
        scores = [float("nan")] * len(pairs)
        if owners:
            for owner, value in zip(owners, loaded.logits(rows)[:, 0].tolist(), strict=True):
                scores[owner] = value if scores[owner] != scores[owner] else max(scores[owner], value)
        return scores

    def scores_of(self, loaded: LoadedModel, texts: Sequence[Sequence[Pair]]) -> Tensor:
        """The scores (n,) float64 of n >= 1 texts by the weights of another ``loaded`` model, with a gradient.

        A text has a pair for each text that it is read with, of which the best counts, as everywhere.
        """
        import torch

        owners = [number for number, pairs in enumerate(texts) for _ in pairs]
        rows, places = self.encoded(loaded, [pair for pairs in texts for pair in pairs])
        own = torch.tensor([owners[place] for place in places], device=loaded.device)
        numbers = loaded.numbers(rows)[:, 0].double()
        return torch.stack([numbers[own == number].amax() for number in range(len(texts))])

    def encoded(
        self, loaded: LoadedModel, pairs: Sequence[Pair | None]
    ) -> tuple[dict[str, list[list[int]]], list[int]]:
        """What ``loaded`` reads, of all windows of the pairs that are not None, and the number of the pair of each.

        None of them may be ``too_long``.
        """
        found = [(number, row) for number, pair in enumerate(pairs) if pair for row in self._windows(loaded, pair)]
        keys = found[0][1] if found else ()
        return {key: [row[key] for _, row in found] for key in keys}, [number for number, _ in found]

    def pair_reason(self, pair: Pair) -> str | None:
        """The candidate is longer than the model reads beside an article."""
        return self.too_long(self._loaded(), pair)

    def too_long(self, loaded: LoadedModel, pair: Pair) -> str | None:
        """Why ``loaded`` can neither score a pair nor learn from it; None where it can."""
        if loaded.limit is None:
            return None
        tokens = len(loaded.ids([pair.candidate.strip()], special=False)[0])
        room = max(0, loaded.limit - len(self._encoded(loaded, Pair("", pair.candidate))["input_ids"]) + tokens)
        if tokens <= room - room // 4 and room:
            return None
        return f"it has {tokens} tokens, more than 3/4 of the {room} that the model reads beside the prompt"

    def matrix(self, pair: Pair) -> Matrix:
        """By how much the number falls without each sentence of the candidate."""
        parts = sentences(pair.candidate)
        without = [" ".join(parts[:place] + parts[place + 1 :]) for place in range(len(parts))]
        whole, *others = self.pair_scores([pair, *(pair._replace(candidate=text) for text in without)])
        values = whole - np.array(others, dtype=np.float64)
        return Matrix(parts, ["without it"], values[:, None], "by how much the score falls without a sentence")

    def _loaded(self) -> LoadedModel:
        """Raises RewardError for a model with another number of numbers."""
        loaded = self.model.load()
        if (count := loaded.model.config.num_labels) != 1:
            fix = "entailment reads classes" if count > 1 else "give a model with a scalar head"
            raise RewardError(f"reward-model: model={self.options.model!r} gives {count} numbers, not one; {fix}")
        if self.options.form == "chat" and not loaded.tokenizer.chat_template:
            raise RewardError(f"reward-model: form=chat: {self.options.model!r} has no chat template; use form=pair")
        return loaded

    def _form(self, loaded: LoadedModel) -> str:
        if self.options.form != "auto":
            return self.options.form
        return "chat" if loaded.tokenizer.chat_template else "pair"

    def _windows(self, loaded: LoadedModel, pair: Pair) -> list[Encoded]:
        """What the model reads, for each window of the text that is given."""

        def encoded(given: str) -> Encoded:
            return self._encoded(loaded, Pair(given, pair.candidate))

        return fitted(loaded, pair.given, loaded.limit, encoded, self.options.long_texts == "windows")

    def _encoded(self, loaded: LoadedModel, pair: Pair) -> Encoded:
        tokenizer, (given, candidate) = loaded.tokenizer, (encodable(text).strip() for text in pair)
        prompt = rendered(self.options.prompt, {"given": given})
        if self._form(loaded) == "pair":
            return dict(tokenizer(prompt, candidate, verbose=False, split_special_tokens=True))
        text = loaded.chat(prompt, candidate, answered=True)
        return dict(tokenizer(text, add_special_tokens=False, verbose=False))
