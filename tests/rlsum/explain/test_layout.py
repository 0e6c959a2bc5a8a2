from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rewards.explain import ExplainedItem, Explanation
from rlsum.explain.layout import (
    LABEL,
    LINE,
    cosine_text,
    flow_layout,
    layout_of,
    matrix_layout,
    one_line,
    width_of,
    wrapped,
)
from rlsum.explain.picture import html, png


def flow(seed: int, m: int, n: int) -> Explanation:
    """Items in two sentences a side, and a plan between them."""
    generator = np.random.default_rng(seed)
    plan = generator.random((m, n)) * (generator.random((m, n)) < 0.6)
    plan[:, 0] += 0.01
    plan[0] += 0.01
    plan /= plan.sum()
    sides = [
        tuple(
            ExplainedItem(f"text {place} " * 9, "sentence" if place < 2 else "word", place % 2, place, float(weight))
            for place, weight in enumerate(weights)
        )
        for weights in (plan.sum(axis=1), plan.sum(axis=0))
    ]
    return Explanation("s+wms", "s", 0.5, "flow", *sides, generator.random((m, n)), plan)


@given(st.integers(0, 99), st.integers(2, 9), st.integers(2, 9))
def test_nothing_overlaps_and_nothing_is_lost(seed: int, m: int, n: int) -> None:
    explanation = flow(seed, m, n)
    plan = explanation.plan
    assert plan is not None
    layout = flow_layout(explanation)
    for nodes in (layout.candidate, layout.reference):
        spans = sorted(
            (min(node.y, node.bar_y), max(node.y + len(node.lines) * LINE, node.bar_y + node.bar_height))
            for node in nodes
        )
        assert all(end <= start for (_, end), (start, _) in pairwise(spans))
        assert spans[0][0] > 0
        assert spans[-1][1] < layout.height
    assert len(layout.bands) == np.count_nonzero(plan)
    labels = [band.label for band in layout.bands if band.label]
    assert labels
    for place, (x, y) in enumerate(labels):
        assert all(abs(x - a) >= LABEL[0] or abs(y - b) >= LABEL[1] for a, b in labels[:place])
    for side, nodes in (("source", layout.candidate), ("target", layout.reference)):
        for place, node in enumerate(nodes):  # the bands at a bar fill it from top to bottom
            ends = [
                (band.start if side == "source" else band.end, band.width)
                for band in layout.bands
                if getattr(band, side) == place
            ]
            edges = sorted((y - width / 2, y + width / 2) for (_, y), width in ends)
            np.testing.assert_allclose([edges[0][0], edges[-1][1]], [node.bar_y, node.bar_y + node.bar_height])
            assert all(abs(end - start) < 1e-6 for (_, end), (start, _) in pairwise(edges))


@given(st.text(max_size=80), st.integers(1, 4))
def test_wrapped_fits_and_marks_what_it_cuts(text: str, most: int) -> None:
    lines = wrapped(text, 100, most)
    assert 1 <= len(lines) <= most
    assert all(width_of(line) <= 100 for line in lines)
    whole = "".join(lines).replace(" ", "")
    assert whole == one_line(text).replace(" ", "") or whole.endswith("\u2026")


def test_a_band_follows_its_curve() -> None:
    band = flow_layout(flow(0, 3, 3)).bands[0]
    assert band.at(0) == band.start
    assert band.at(1) == band.end
    middle = (band.start[0] + band.end[0]) / 2, (band.start[1] + band.end[1]) / 2
    np.testing.assert_allclose(band.at(0.5), middle)


def test_a_matrix_frames_best_partners() -> None:
    items = tuple(ExplainedItem(text, "token", 0, place, 0.5) for place, text in enumerate(("a", "b")))
    cosines = np.array([[0.9, 0.2], [0.8, -0.3]])
    found = matrix_layout(Explanation("twmd", "s", 1.0, "similarity", items, items, cosines))
    assert [cell.best for cell in found.cells] == [True, True, True, False]
    assert [cell.strength for cell in found.cells] == [0.9, 0.2, 0.8, 0.3]


def test_what_a_model_computed_is_drawn_under_its_name() -> None:
    items = tuple(ExplainedItem(text, "token", 0, place, 0.5) for place, text in enumerate(("a", "b")))
    values = np.array([[0.9], [0.2]])
    said = {"measured": "shares", "note": "shares", "caption": "Shares of the numbers."}
    made = Explanation("judge", "s", 4.0, "values", items, items[:1], values, **said)
    assert [cell.best for cell in matrix_layout(made).cells] == [False, False]
    assert '<p class="small">Shares of the numbers.</p>' in html([layout_of(made)])
    assert png(made)[0].startswith(b"\x89PNG")
    assert made.as_json()["values"] == [[0.9], [0.2]]


def test_numbers_are_short() -> None:
    assert [cosine_text(value) for value in (0.424, -0.07, 1.0, -0.001, 0.999, -1.0)] == [
        ".42", "-.07", "1.00", ".00", "1.00", "-1.00",
    ]  # fmt: skip
