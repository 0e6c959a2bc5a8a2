"""What Python gives in place of ``key=value``: a mapping, whose values may be functions and paths."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from typing import Any

from rewards.base import RewardError, resolve
from rewards.specs import as_spec
from rlsum.errors import UserError

Overrides = Sequence[str] | Mapping[str, Any]  # ["training.steps=5"] or {"training.steps": 5}
File = str | PathLike[str]  # a path, or what `init`, `train` and `generate` return


def written(given: Overrides) -> list[str]:
    """As ``key=value``, functions by their names. Raises UserError for a function that no name finds."""
    if isinstance(given, Mapping):
        return [f"{key}={json.dumps(value, default=_named)}" for key, value in given.items()]
    return list(given)


def _named(value: Any) -> Any:
    """A path or a reward as a configuration names it."""
    if isinstance(value, PathLike):
        return fspath(value)
    spec = as_spec(value)  # raises RewardError for anything else
    try:
        known = bool(getattr(value, "written", None)) or resolve(spec.name) is value
    except RewardError:
        known = False
    if known:
        return spec.plain() if spec.options else spec.name
    fix = "define it in a module, script or notebook, outside of other functions and under its own name"
    raise UserError(f"{spec.name}: a configuration cannot name this function; {fix}")
