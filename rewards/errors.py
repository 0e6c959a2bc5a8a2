"""What a wrong reward, option or call raises."""

from __future__ import annotations

import zlib

DAMAGED = (OSError, EOFError, zlib.error)  # what a missing file and damaged gzip raise


class RewardError(ValueError):
    """A reward that cannot be built or called: the message names the argument, its value and the fix."""


class Unavailable(RewardError):
    """A package, encoder or file of a reward is not on this machine: a report can say so in a column and go on."""


class EncoderMissing(Unavailable):
    """The encoder of a reward is not on this machine."""
