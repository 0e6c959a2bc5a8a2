"""Rewards as reward functions of TRL: ``GRPOTrainer(reward_funcs=[reward_function("rouge-l")], ...)``."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rewards.adapters.columns import ScoredColumns
from rewards.references import Lists
from rewards.scoring import score_components
from rewards.text.debris import LEAST, Column

OF_TRL = ("completion_ids", "trainer_state", "log_extra", "log_metric", "environments")  # arguments, not columns


class RewardFunction:
    """A reward (a spec, or a reward) for TRL's ``reward_funcs``. Can be pickled.

    ``references`` names the column of references, a text or a list of texts per row, and ``sources`` that of sources;
    None for a reward without. ``reference_lists`` as of `ScoredColumns`. Other columns are found by their own names.

    ``strip``: score texts without what is no part of them, such as the ``<think>`` block of a thinking model, see
    ``cleaned``; TRL trains on the whole completion all the same. By default a completion is scored as it is, because
    what a reward does not see, training does not mend; a warning says once what was found.

    ``name``: under which TRL logs it, by default the reward as it is written, options included. The components
    of a weighted sum are logged as ``rewards/NAME/COMPONENT/mean``, not weighted.
    """

    def __init__(
        self,
        reward: Any,
        references: str | None = "reference",
        sources: str | None = None,
        strip: bool = False,
        name: str | None = None,
        reference_lists: Lists | None = None,
    ) -> None:
        self.scored = ScoredColumns(
            reward, "completions", references, sources, strip=strip, reference_lists=reference_lists
        )
        self.reward = self.scored.reward
        self.__name__ = written(self.reward) if name is None else name
        self.completions: Column | None = None if strip else Column("completions")

    def __call__(
        self, prompts: Sequence[Any], completions: Sequence[Any], **columns: Sequence[Any]
    ) -> list[float | None]:
        """A score for each completion; None if it is undefined, which TRL leaves out of its sums.

        A completion is a text or, in a conversation, a list of messages, of which those of the assistant count, not
        what tools answer. TRL passes every column as a keyword. Raises RewardError for a missing column, and for a
        reference or source that is not text.
        """
        inputs: dict[str, Any] = {name: values for name, values in columns.items() if name not in OF_TRL}
        if self.scored.sources in inputs:
            inputs[self.scored.sources] = [_text(value) for value in inputs[self.scored.sources]]
        inputs["completions"] = [_text(value, "assistant") for value in completions]
        self._warn(inputs["completions"])
        total, components = score_components(self.reward, self.scored.inputs(inputs))
        log: Any = columns.get("log_metric")
        for component, _, scores in components if log is not None else ():
            if len(defined := scores[~np.isnan(scores)]):
                log(f"rewards/{self.__name__}/{component}/mean", float(defined.mean()))
        return [None if score != score else float(score) for score in total]

    def _warn(self, completions: Sequence[str]) -> None:
        if self.completions is None:
            return
        for completion in completions:
            self.completions.add([completion])
        if counts := self.completions.counts(LEAST, prefix=False):
            what = f"{self.__name__}: completions: {', '.join(counts)}"
            warnings.warn(f"{what}; the reward scores it as part of the text: strip=True leaves it out", stacklevel=3)
            self.completions = None  # said once


reward_function = RewardFunction


def written(reward: Any) -> str:
    """A reward as it is written in a configuration, as far as it was made from text; else its heading."""
    if getattr(reward, "written", None):
        return str(reward.written)
    if isinstance(getattr(reward, "parts", None), Sequence):
        return f"{reward.name}({', '.join(f'{written(part)}={weight:g}' for part, weight in reward.parts)})"
    if hasattr(reward, "reward"):
        return f"{reward.name}(reward={written(reward.reward)})"
    return str(getattr(reward, "heading", reward.name))


def _text(value: Any, role: str = "") -> Any:
    """A text, or the contents of a conversation's messages (of ``role``), in lines; anything else as it is."""
    if not isinstance(value, list) or not all(isinstance(message, Mapping) for message in value):
        return value
    contents = (_content(message.get("content")) for message in value if role in ("", message.get("role", role)))
    return "\n".join(text for text in contents if text is not None)


def _content(content: Any) -> str | None:
    """The text of a message: a text, or a list of blocks, of which those of text count; None without one."""
    if isinstance(content, list):
        return "".join(block.get("text") or "" for block in content)
    return content if isinstance(content, str) else None
