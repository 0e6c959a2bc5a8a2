"""Train summarizers with metric rewards and measure whether it helped. Importing this loads nothing heavy."""

import os

__version__ = "0.1.0"

# torch asks Linux for its large tensors in pages of 2 MB: an update takes 5% less time. Read when the first is made.
# Where Linux is built without such pages, torch would warn.
if os.path.isdir("/sys/kernel/mm/transparent_hugepage"):
    os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")
