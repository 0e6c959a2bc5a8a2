"""Scores for texts: ``rewards.load("rouge-l")(["a candidate"], [["a reference"]])``. Loads nothing heavy by itself."""

from rewards.base import Reward, check_spec, from_spec, from_specs, in_language, load, names
from rewards.documentation import Description, describe
from rewards.errors import EncoderMissing, RewardError, Unavailable
from rewards.plain import Plain
from rewards.scoring import BaseReward, Inputs, Item

__all__ = [
    "BaseReward",
    "Description",
    "EncoderMissing",
    "Inputs",
    "Item",
    "Plain",
    "Reward",
    "RewardError",
    "Unavailable",
    "check_spec",
    "describe",
    "from_spec",
    "from_specs",
    "in_language",
    "load",
    "names",
]
