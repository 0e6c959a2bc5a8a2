from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from rlsum.pages.blocks import (
    Bullets,
    Contents,
    Example,
    Examples,
    Fold,
    Heading,
    Paragraph,
    Piece,
    pictures_of,
    section,
    signature_section,
)
from rlsum.pages.formats import FORMATS, file_names, write_report
from rlsum.pages.latex import to_latex
from rlsum.pages.markdown import to_markdown
from rlsum.pages.page import to_html
from rlsum.pages.pictures.drawing import Picture
from rlsum.pages.table import Cell, Table
from rlsum.pages.terminal import show

TABLE = Table("A & B", ("", "r"), ((Cell("x_1"), Cell("0.5", "0.4\N{EN DASH}0.6", True)),), ("50% of <all>",))
PICTURE = Picture("curve", "Curve", "a line", 300, b"light", b"dark", "[1] is a word")
EXAMPLE = Example(
    "<7>",
    "the source text",
    "a *fire*",
    {"model [1]": (Piece("saw ", "plain"), Piece("Velmora", "copied"), Piece(" <b>", "invented")), "lead": ()},
)
BLOCKS = [
    Heading("Title <i>", 1),
    Paragraph("Intro <script>"),
    Paragraph("small print", small=True),
    Contents(),
    *section("Findings", Bullets(("it helps [a]",)), Bullets(("be careful",), "warning")),
    *section("Numbers", TABLE, PICTURE, Fold("More", (Table("Inner", ("", "p"), ((Cell("a"), Cell("0.1")),)),))),
    *section("Examples", Examples((EXAMPLE,))),
    *signature_section(["rouge-1|version:1"]),
]


def printed(blocks) -> str:
    console = Console(file=io.StringIO(), width=80)
    show(blocks, console)
    return console.file.getvalue()


def test_a_section_without_blocks_has_no_heading():
    assert section("Warnings", Bullets(())) == []
    assert section("Training") == []
    assert section("Both", Bullets(()), TABLE) == [Heading("Both"), TABLE]
    assert signature_section([]) == []


@pytest.mark.parametrize("render", [printed, *(render for render in FORMATS.values() if render is not to_latex)])
def test_every_format_holds_all_words_in_order(render):
    text = render(BLOCKS)
    for words in ("small print", "it helps [a]", "be careful", "A &", "Inner", "Velmora", "rouge-1|version:1"):
        assert words in text
    assert text.index("it helps [a]") < text.index("x_1") < text.index("Velmora") < text.index("rouge-1|version:1")


def test_the_terminal_leaves_out_pictures_and_headings_without_words():
    text = printed([Heading("Title", 1), *section("Curves", PICTURE), *section("Numbers", TABLE)])
    assert "Curve" not in text
    assert text.index("Title") < text.index("Numbers") < text.index("x_1")


def test_the_terminal_separates_blocks_by_one_blank_line():
    lines = printed([Paragraph("a"), Paragraph("b"), Bullets(("c",)), Bullets(("d",), "warning"), Paragraph("e")])
    assert lines == "a\nb\n\n- c\n! d\n\ne\n"


def test_markdown_lets_no_tag_through():
    text = to_markdown(BLOCKS)
    assert text.startswith("# Title &lt;i>\n\nIntro &lt;script>\n\n")
    assert not re.search(r"(?<!\\)<(?=[A-Za-z/!?])", text)
    assert "![Curve](curve.png)\n\n[1] is a word" in text
    assert "| x_1 | **0.5** (0.4\N{EN DASH}0.6) |" in text
    assert r"*reference:* a \*fire\*" in text
    assert r"*model \[1\]:* saw **Velmora**~~ \<b\>~~" in text
    assert "- `rouge-1|version:1`" in text


def test_a_page_needs_nothing_and_escapes_everything():
    page = to_html(BLOCKS)
    assert page.count("<script") == 1  # sorts tables, where there are contents
    assert '<th scope="col" data-column="0"' in page  # by this column
    assert "<script" not in to_html([block for block in BLOCKS if not isinstance(block, Contents)])
    assert "<title>Title &lt;i&gt;</title>" in page
    assert not re.search(r"""(src|href|srcset)=["'](?!data:|#)""", page)
    assert "<mark>Velmora</mark>" in page
    assert '<em class="invented"> &lt;b&gt;</em>' in page
    links = re.findall('href="#([^"]+)"', page)
    assert len(links) == 4
    assert all(page.count(f'id="{link}"') == 1 for link in links)
    assert page.count("<details>") == 2


def test_latex_holds_every_table_and_nothing_else():
    text = to_latex(BLOCKS)
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") == 2
    assert r"x\_1 & \textbf{0.5} {\scriptsize (0.4--0.6)} \\" in text.splitlines()
    assert r"\caption{A \& B}" in text
    assert r"50\% of \textless{}all\textgreater{}" in text
    assert "Findings" not in text


def test_a_report_is_written_in_every_format_with_its_pictures(tmp_path):
    folded = [TABLE, Fold("Curves", (PICTURE,))]
    assert list(pictures_of(folded)) == [PICTURE]
    files = file_names("verdict", {".html": "index"})
    paths = write_report(tmp_path / "new", files, folded, {"more.csv": "text"}, paper=[TABLE, TABLE])
    assert [*files.values()] == ["index.html", *(f"verdict{ending}" for ending in FORMATS if ending != ".html")]
    assert sorted(path.name for path in paths) == sorted([*files.values(), "more.csv", "curve.png"])
    assert (tmp_path / "new" / "verdict.tex").read_text().count(r"\begin{table}") == 2
    assert (tmp_path / "new" / "curve.png").read_bytes() == b"light"
