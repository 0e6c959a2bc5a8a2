"""Public data of judgments: a reader each, from a path to `Judgments`; `registry.py` beside this room names them."""
