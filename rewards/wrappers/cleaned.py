"""A reward of clean texts: without thinking blocks, special tokens, HTML, Markdown, and what announces a summary."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rewards.base import Reward
from rewards.errors import RewardError
from rewards.scoring import CorpusCounts, Inputs, Item, Scored, references_of, score_components, signature
from rewards.text.cleaning import NAME, clean, prefixes_of
from rewards.wrappers.inner import Wrapper, innermost


@dataclass(eq=False, repr=False)
class Cleaned(Wrapper):
    """A reward of texts from which ``RULES`` of `rewards/text/cleaning.py` take what is no part of them.

    Candidates, references and sources are cleaned alike; columns are not. Range and floor are those of the inner
    reward. A text of which nothing remains is empty.
    """

    name = "cleaned"

    prefix: str | Sequence[str] | None = None
    """what else is left out at the start of candidates and references; several with | between them"""

    def __post_init__(self) -> None:
        super().__post_init__()
        if other := next((inner.name for inner in innermost(self.reward) if getattr(inner, "reads_texts", False)), ""):
            why = "compares with texts of a file, which would stay as they are"
            raise RewardError(f"cleaned: {other} {why}; score by it without cleaned (--clean), of clean files")
        self.prefixes = prefixes_of(self.prefix)

    def scores(self, inputs: Inputs) -> NDArray[np.float64]:
        """``(n,)`` float64: the inner reward's scores of the clean texts, its floor for an empty candidate included."""
        return self.score_components(inputs)[0]

    def score_components(self, inputs: Inputs) -> Scored:
        """The scores and, if the inner reward is a weighted sum, its components."""
        return score_components(self.reward, self._clean(inputs))

    @property
    def corpus_counts(self) -> Callable[[Inputs], CorpusCounts] | None:
        """What the inner reward's value of all texts is made of; None if it has none."""
        inner = getattr(self.reward, "corpus_counts", None)
        return None if inner is None else lambda inputs: inner(self._clean(inputs))

    @property
    def heading(self) -> str:
        """`cleaned`, then that of the reward."""
        return f"{self.name} {super().heading}"

    @property
    def signature(self) -> str:
        """The name of the rules, the prefixes and the whole inner signature."""
        prefix = {"prefix": ",".join(map(repr, self.prefixes))} if self.prefixes else {}
        return signature(self.name, rules=NAME, **prefix, reward=f"[{self.reward.signature}]")

    def reason(self, item: Item) -> str | None:
        """The inner reward's reason, of the clean texts."""
        return self.reward.undefined(*self._clean(item.inputs()).item(0))

    def _clean(self, inputs: Inputs) -> Inputs:
        candidates, references = self._texts(inputs.candidates), inputs.references
        if references is not None:
            references = [self._texts(listed) for listed in references_of(self.name, inputs)]
        sources = inputs.sources and [text and clean(text) for text in inputs.sources]
        return inputs._replace(candidates=candidates, references=references, sources=sources)

    def _texts(self, texts: Iterable[str]) -> list[str]:
        return [clean(text, self.prefixes) for text in texts]


def some_raw(rewards: Iterable[Reward]) -> bool:
    """Whether any reward scores texts as they are."""
    return not all(isinstance(reward, Cleaned) for reward in rewards)


def all_cleaned(rewards: Mapping[str, Reward], prefixes: Sequence[str] = ()) -> dict[str, Reward]:
    """Rewards by label, of clean texts; one that is ``cleaned`` already stays as it is."""
    return {
        label: reward if isinstance(reward, Cleaned) else Cleaned(reward, prefixes) for label, reward in rewards.items()
    }
