"""``rewards`` of this distribution, also where another package or file of that name would be found first.

from rlsum import rewards

rewards.load("rouge-l")(["a candidate"], [["a reference"]])
"""

from rlsum.names import ours

ours("rewards")

from rewards import *  # noqa: E402, F403
from rewards import __all__ as __all__  # noqa: E402
