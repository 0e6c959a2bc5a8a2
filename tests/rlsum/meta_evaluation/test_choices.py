import inspect
import re
from dataclasses import fields

import pytest

from rlsum.errors import UserError
from rlsum.meta_evaluation.choices import USUAL, Choices
from rlsum.meta_evaluation.correlated import correlate

WRONG = {"level": "inputs", "average": "mean", "random": "articles", "test": "t", "resamples": -1, "seed": -1}


@pytest.mark.parametrize("name", [field.name for field in fields(Choices)])
def test_a_choice_is_an_argument_of_correlate_and_is_checked_before_anything_is_scored(name):
    assert inspect.signature(correlate).parameters[name].default == getattr(USUAL, name)
    with pytest.raises(UserError, match=re.escape(f"{name}={WRONG[name]!r}: must be ")):
        correlate("none.jsonl", **{name: WRONG[name]})
