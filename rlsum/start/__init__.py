"""How a model of each kind begins: checked, anew, from a checkpoint, resumed. Each file has the same five functions.

Beside them ``kept``: the start that a KL penalty measures from; and ``plain``: a model that no run has written.
"""
