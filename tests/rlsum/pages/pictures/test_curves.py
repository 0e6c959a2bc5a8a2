import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure

from rlsum.pages.pictures import curves


@pytest.mark.parametrize("length", [9, 30, 50])
def test_the_legend_is_no_wider_than_the_picture(length, monkeypatch):
    figure = Figure(layout="constrained")

    def draw(_name, _title, _description, size, draw):
        figure.set_size_inches(*size)
        with matplotlib.rc_context({"font.size": 9}):  # as pictures are drawn
            draw(figure, "light")

    monkeypatch.setattr(curves, "drawn", draw)
    steps = np.arange(3.0)
    lines = tuple(
        curves.Curve(f"{number} reward (variant) of an unusual name and length"[:length], "black", steps, steps)
        for number in range(6)
    )
    curves.picture("p", "P", "", [curves.Panel("title", lines)] * 3)
    figure.draw_without_rendering()
    assert figure.legends[0].get_window_extent().x1 <= figure.bbox.x1
