"""``rlsum human-eval``: one file a command."""
