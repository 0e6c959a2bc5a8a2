"""Whether ``import rewards`` and ``import human_eval`` find our packages, and not others of these names."""

from __future__ import annotations

import importlib
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

OURS = {  # the first words of their __init__.py: another distribution may have written its own over it
    "rewards": '"""Scores for texts:',
    "human_eval": '"""Blind studies with human judges:',
}
HOME = Path(__file__).resolve().parent.parent


def foreign(name: str) -> str | None:
    """The file that ``import name`` finds where it is not ours, else None. Imports nothing."""
    loaded = sys.modules.get(name)
    spec = find_spec(name) if loaded is None else loaded.__spec__
    origin = getattr(loaded, "__file__", None) or (spec.origin if spec is not None else None)
    if origin is None:  # nothing, or a folder without __init__.py
        return str(next(iter(spec.submodule_search_locations or []), name)) if spec is not None else name
    return None if Path(origin).read_text(encoding="utf-8", errors="replace").startswith(OURS[name]) else origin


def fix(file: str) -> str:
    """What helps against the file ``other`` that ``foreign`` found."""
    if any(Path(file).resolve().is_relative_to(HOME / name) for name in OURS):  # ours is gone
        return "another package wrote over it: uninstall that one, then pip install --force-reinstall --no-deps rlsum"
    return "rename it, uninstall it, or start Python elsewhere"


def ours(name: str) -> ModuleType:
    """Import our package of this name, also where another would be found first.

    Its name then means ours for the whole process. Raises ImportError where the other one is imported already, or
    has overwritten ours.
    """
    file = foreign(name)
    if file is None:
        return importlib.import_module(name)
    if name in sys.modules:
        raise ImportError(f"{file} is imported as {name!r} already; import rlsum.{name} first, or {fix(file)}")
    sys.path.insert(0, str(HOME))
    try:
        if (hidden := foreign(name)) is not None:
            raise ImportError(f"{hidden} is not rlsum's; {fix(hidden)}")
        return importlib.import_module(name)
    finally:
        sys.path.pop(0)
