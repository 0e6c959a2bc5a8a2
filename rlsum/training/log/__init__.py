"""The log of a run: numbers that carry their weight, put together, written, and what they warn of."""
