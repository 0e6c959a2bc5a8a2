"""A plain function as a reward: its parameters name what it reads."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from functools import cached_property
from inspect import BoundArguments, Parameter
from typing import TYPE_CHECKING, Any

from rewards.dependencies import files_read, place_of, state_of, text_of
from rewards.errors import RewardError
from rewards.scoring import BaseReward, Inputs, Item, references_of, signature

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TEXTS = ("candidates", "references", "sources")
ALMOST = {  # names that would be columns by mistake
    **dict.fromkeys(("ref", "refs", "reference"), "references"),
    **dict.fromkeys(("src", "srcs", "source", "articles"), "sources"),
}
VARIADIC = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)


class Plain(BaseReward):
    """A plain function as a reward: ``function(candidates, references, sources, column, ...)``.

    Each parameter names what the function reads: ``references``, ``sources``, or a column of the dataset, which is
    optional if the parameter has a default. The signature is the function's name and the hash of its source, of what it
    holds, and of the Python files that it uses besides, libraries not among them; files that it opens are in no
    signature.
    """

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self.name = name
        self.function = function
        named = {_field(p): p for p in inspect.signature(function).parameters.values() if p.kind not in VARIADIC}
        if "columns" in named:
            example = f"def {name.rpartition(':')[2]}(candidates, references, sources, topic)"
            raise RewardError(f"{name}: a function has no argument 'columns'; it names each column it reads: {example}")
        for field in named:
            if field in ALMOST:
                raise RewardError(f"{name}: the parameter {field!r} would be a column; name it {ALMOST[field]!r}")
        columns = {field: parameter for field, parameter in named.items() if field not in TEXTS}
        self.columns = [field for field, parameter in columns.items() if parameter.default is Parameter.empty]
        self.optional_columns = [field for field in columns if field not in self.columns]
        if columns and any(p.kind is Parameter.VAR_POSITIONAL for p in inspect.signature(function).parameters.values()):
            raise RewardError(f"{name}: a function that reads columns cannot take *args; name what it reads")

    def scores(self, inputs: Inputs) -> NDArray[np.float64]:
        """What the function returns, as ``(n,)`` float64. Raises RewardError where it is not one number a candidate."""
        import numpy as np

        if inputs.references is not None:
            references_of(self.name, inputs)
        arguments = self._arguments(inputs)
        returned = self.function(*arguments.args, **arguments.kwargs)
        try:
            scores = np.asarray(returned, dtype=np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            what = f"a {type(returned).__name__} that is no list of numbers ({error})"
            raise RewardError(f"{self.name} returned {what}; return one number a candidate") from error
        if scores.shape != (len(inputs.candidates),):
            raise RewardError(f"{self.name} returned shape {scores.shape} for {len(inputs.candidates)} candidates")
        return scores

    @cached_property  # as it was when first asked for: a file may be edited, a counter rise, while scores are computed
    def signature(self) -> str:
        """``module:attribute|source:hash``; the hash changes with the function's text, or without one with its code.

        With ``state:hash`` of what it holds and the constants that it reads, see ``state_of``, and ``reads:hash`` of
        ``files_read``.
        """
        texts = text_of(self.function)
        if texts is None:
            raise RewardError(f"{self.name}: has no signature, as it is not written in Python; wrap it")
        if state := state_of(self.function):
            texts["state"] = state
        if files := files_read(self.function):
            texts["reads"] = repr(sorted(files.values()))
        hashes = {name: hashlib.sha256(text.encode()).hexdigest()[:12] for name, text in texts.items()}
        return signature(place_of(self.function), **hashes)

    def reason(self, item: Item) -> str | None:
        """A function gives no reason for its NaN."""
        (score,) = self(*item.inputs())
        return f"{self.name} returned NaN" if score != score else None

    def _arguments(self, inputs: Inputs) -> BoundArguments:
        called = inspect.signature(self.function)
        values = {**(inputs.columns or {}), **dict(zip(TEXTS, inputs, strict=False))}
        arguments: dict[str, Any] = {}
        for name, parameter in called.parameters.items():
            if parameter.kind is Parameter.VAR_POSITIONAL:
                arguments[name] = inputs[len(arguments) : len(TEXTS)]
            elif parameter.kind is not Parameter.VAR_KEYWORD and _field(parameter) in values:
                arguments[name] = values[_field(parameter)]
        return BoundArguments(called, arguments)


def _field(parameter: Parameter) -> str:
    """What a parameter reads. A leading underscore marks an unused parameter."""
    return parameter.name.lstrip("_")
