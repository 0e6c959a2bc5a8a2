"""``python -m rlsum``."""

from rlsum.cli import main

main()
