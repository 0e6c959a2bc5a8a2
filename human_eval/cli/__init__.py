"""``rlsum human-eval``: one file a command. ``rlsum`` finds ``app`` through an entry point (``pyproject.toml``)."""
