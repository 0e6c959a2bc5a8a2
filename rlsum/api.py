"""The Python interface: what each command does, as a function of the room that does it. The commands call these.

Results show themselves at Python's prompt and in a notebook, there with their pictures, and have ``to_frame()``. A
function is a reward wherever the name of one is. Importing this loads nothing heavy.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rlsum.rewards  # first, so that `rewards` is ours even beside another package of that name  # noqa: F401
from rewards import Description, Reward, describe
from rewards import from_spec as load
from rlsum.drafts.drafted import init
from rlsum.explain.explained import explain
from rlsum.generation.generated import Generated, generate
from rlsum.generation.options import Generating
from rlsum.pages.shown import Advance
from rlsum.scoring.evaluation import evaluate
from rlsum.scoring.scored import STANDARD, score
from rlsum.training.run import train

if TYPE_CHECKING:
    from rlsum.compare.running import compare
    from rlsum.judgments.collection import Judgments
    from rlsum.judgments.layout import JudgmentColumns
    from rlsum.meta_evaluation.correlated import correlate

__all__ = [
    "STANDARD",
    "Advance",
    "Description",
    "Generated",
    "Generating",
    "Reward",
    "compare",
    "correlate",
    "describe",
    "evaluate",
    "explain",
    "generate",
    "init",
    "judgments",
    "load",
    "score",
    "train",
]

# Functions of modules that take long to import, so that only who calls them waits.
LATER = {"compare": "rlsum.compare.running", "correlate": "rlsum.meta_evaluation.correlated"}


def __getattr__(name: str) -> Any:
    if name in LATER:
        return getattr(import_module(LATER[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def judgments(
    data: str | Path, layout: JudgmentColumns | None = None, lower_is_better: Sequence[str] = ()
) -> Judgments:
    """Human judgments: a file of records, ``hf://owner/name``, a known public file, or ``NAME:PATH`` for its reader.

    ``layout``: the columns of a file in another layout. ``lower_is_better``: scores to negate, as ``negated_NAME``.
    """
    from rlsum.judgments.registry import load as loaded

    return loaded(data, layout=layout, lower_is_better=lower_is_better)
