from __future__ import annotations

from rlsum.pages.pictures import fonts
from rlsum.pages.pictures.drawing import drawn, short_name


def test_every_family_listed_is_installed_and_dejavu_is_first():
    from matplotlib import font_manager

    assert fonts.families()[0] == "DejaVu Sans"
    assert set(fonts.families()) <= set(font_manager.get_font_names())


def test_a_name_fits_a_picture():
    assert short_name("two\nlines  $x$") == r"two lines \$x\$"
    assert short_name("x" * 50) == "x" * 39 + "…"
    assert short_name("x" * 50, 10) == "x" * 9 + "…"


def test_a_name_that_begins_with_an_underscore_stands_in_the_legend():
    legends = []

    def draw(figure, mode):
        axes = figure.add_subplot()
        axes.plot([0, 1], [0, 1], label=short_name("_hard"))
        legends.append([text.get_text() for text in axes.legend().get_texts()])

    drawn("name", "title", "description", (4, 3), draw)
    assert [[text.strip("\u200b") for text in legend] for legend in legends] == [["_hard"], ["_hard"]]
