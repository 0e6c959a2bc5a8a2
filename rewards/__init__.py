"""Scores for texts: ``rewards.load("rouge-l")(["a candidate"], [["a reference"]])``. Loads nothing heavy by itself."""

from rewards.base import (
    Plain,
    Reward,
    check_spec,
    from_spec,
    from_specs,
    load,
    names,
)
from rewards.documentation import Description, describe
from rewards.errors import EncoderMissing, RewardError

__all__ = [
    "Description",
    "EncoderMissing",
    "Plain",
    "Reward",
    "RewardError",
    "check_spec",
    "describe",
    "from_spec",
    "from_specs",
    "load",
    "names",
]
