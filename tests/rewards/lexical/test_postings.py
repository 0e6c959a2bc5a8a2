from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rewards.lexical.postings import Postings

units = st.lists(st.sampled_from("abcde"), max_size=8)


@given(st.lists(units, max_size=6), units, st.booleans())
def test_hits_equal_counting_one_by_one(texts: list[list[str]], wanted: list[str], clip: bool) -> None:
    counted = [
        sum(min(wanted.count(unit), text.count(unit)) for unit in set(wanted))
        if clip
        else sum(unit in text for unit in wanted)
        for text in texts
    ]
    np.testing.assert_array_equal(Postings(texts).hits(wanted, clip), counted)
