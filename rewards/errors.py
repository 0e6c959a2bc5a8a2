"""The one error that a wrong reward, option or call raises."""

from __future__ import annotations


class RewardError(ValueError):
    """A reward that cannot be built or called: the message names the argument, its value and the fix."""
