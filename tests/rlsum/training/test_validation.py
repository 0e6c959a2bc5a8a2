"""What a validation measures."""

from __future__ import annotations

import numpy as np
import tiny

from rlsum.records import Output
from rlsum.training.validation import measure


def test_the_share_of_articles_that_a_mean_leaves_out_is_logged():
    def defined_for_one(candidates, references=None, sources=None, columns=None):
        return np.array([1.0 if text == "ash" else np.nan for text in candidates])

    outputs = [Output(text, "ash fir", ["ash"], text, "s") for text in ("ash", "fir", "elm", "oak")]
    values = measure(outputs, {"one": defined_for_one, "overlap": tiny.Overlap()})
    assert (values["one"], values["undefined/one"]) == (1.0, 0.75)
    assert (values["overlap"], values.get("undefined/overlap")) == (0.25, None)
