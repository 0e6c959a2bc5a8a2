import logging
import warnings

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rlsum.pages.markdown import to_markdown
from rlsum.pages.pictures import fonts
from rlsum.pages.pictures.drawing import drawn, short_name, short_names


@pytest.fixture(autouse=True, scope="module")
def installed():
    """Fonts are looked up before any test: where no list of them is kept yet, matplotlib warns that it takes long."""
    from matplotlib import font_manager

    return font_manager.fontManager


@pytest.fixture
def without_fonts(monkeypatch):
    """Nothing but the font that comes with matplotlib."""
    monkeypatch.setattr(fonts, "families", lambda: ("DejaVu Sans",))


def picture(names, shown=None):
    """A picture with ``names`` at its ticks, in its title and its legend; ``shown`` gets all texts that it has."""

    def draw(figure, mode):
        axes = figure.add_subplot()
        axes.plot(range(len(names)), label=names[0])
        axes.set_yticks(range(len(names)), names)
        axes.set_title(names[0])
        axes.legend()
        if shown is not None:
            figure.savefig = lambda *_, **__: shown.extend(
                text.get_text() for text in [*axes.get_yticklabels(), axes.title, *axes.get_legend().get_texts()]
            )

    return drawn("names", "Names", "Some names.", (3, 2), draw)


def test_words_that_no_font_can_draw_are_numbers(without_fonts, caplog):
    shown = []
    with caplog.at_level(logging.WARNING), warnings.catch_warnings():
        warnings.simplefilter("error")  # matplotlib's, of letters that are missing
        made = picture(["甲系统", "plain", "甲系统 / 乙"], shown)
    assert shown[:5] == ["[1]", "plain", "[1] / [2]", "[1]", "[1]"]
    assert made.note.startswith("[1] is 甲系统, [2] is 乙: no installed font has these letters")
    assert to_markdown([made]) == f"![Names](names.png)\n\n{made.note}"
    assert [record.message for record in caplog.records] == [f"names.png: {made.note}"]


def test_nothing_is_said_where_all_can_be_drawn(without_fonts, caplog):
    made = picture(["ours", "été", "ελληνικά", "русский"])
    assert (made.note, to_markdown([made]), caplog.records) == ("", "![Names](names.png)", [])


def test_a_font_that_has_the_letters_draws_them(caplog):
    if fonts.missing("甲系统"):
        pytest.skip("no Chinese font is installed")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert picture(["甲系统", "b"]).note == ""


def test_every_family_listed_is_installed_and_dejavu_is_first():
    from matplotlib import font_manager

    assert fonts.families()[0] == "DejaVu Sans"
    assert set(fonts.families()) <= set(font_manager.get_font_names())


def test_marks_without_a_shape_are_not_missing(without_fonts):
    assert fonts.missing("a\u200eb\u200d c\n") == ""
    assert fonts.missing("a乙b乙") == "乙"


def test_a_name_fits_a_picture():
    assert short_name("two\nlines  $x$") == r"two lines \$x\$"
    assert short_name("x" * 50) == "x" * 39 + "…"
    assert short_name("x" * 50, 10) == "x" * 9 + "…"


@given(st.sets(st.text(max_size=60), max_size=12), st.sampled_from([16, 18, 30, 40]))
@example({f"pointer-generator-{name}-of-a-run-of-a-day" for name in "ab"}, 18)
@example({"a b", "a  b", "a b 1", "a\u200b b"}, 16)
def test_names_in_one_picture_stay_distinct_and_short(names, longest):
    short = short_names(sorted(names), longest)
    shown = {"".join(letter for letter in text if letter.isprintable()) for text in short.values()}
    assert len(shown) == len(names) == len(short)
    assert all(len(text.replace(r"\$", "$")) <= longest + 1 for text in short.values())  # 1: an invisible space


def test_names_that_begin_alike_are_cut_before_what_differs():
    names = ["pointer-generator-coverage-rouge", "pointer-generator-coverage-sms"]
    assert list(short_names(names, 18).values()) == ["pointer-gen…-rouge", "pointer-gen…ge-sms"]
    assert short_names(["plain", names[0]], 18) == {"plain": "plain", names[0]: "pointer-generator…"}


def test_a_name_that_begins_with_an_underscore_stands_in_the_legend():
    legends = []

    def draw(figure, mode):
        axes = figure.add_subplot()
        axes.plot([0, 1], [0, 1], label=short_name("_hard"))
        legends.append([text.get_text() for text in axes.legend().get_texts()])

    assert drawn("name", "title", "description", (4, 3), draw).note == ""
    assert [[text.strip("\u200b") for text in legend] for legend in legends] == [["_hard"], ["_hard"]]
