import inspect
import re
from dataclasses import fields

import pytest

from rlsum.errors import UserError
from rlsum.meta_evaluation.choices import USUAL, Choices
from rlsum.meta_evaluation.correlated import correlate


@pytest.mark.parametrize("name", [field.name for field in fields(Choices)])
def test_a_choice_is_an_argument_of_correlate_and_is_checked_before_anything_is_scored(name):
    assert inspect.signature(correlate).parameters[name].default == getattr(USUAL, name)
    with pytest.raises(UserError, match=re.escape(f"{name}=[None]: must be ")):
        correlate("none.jsonl", **{name: [None]})


@pytest.mark.parametrize(
    ("name", "wrong"),
    [("level", "inputs"), ("average", "mean"), ("random", "articles"), ("test", "t"), ("resamples", -1), ("seed", -1)],
)
def test_what_a_choice_cannot_be_is_refused(name, wrong):
    with pytest.raises(UserError, match=re.escape(f"{name}={wrong!r}: must be ")):
        correlate("none.jsonl", **{name: wrong})
