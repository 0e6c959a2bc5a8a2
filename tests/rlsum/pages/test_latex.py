"""Tables as a LaTeX document: it compiles where an engine is installed, and is well-formed everywhere."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from rlsum.pages.latex import to_latex
from rlsum.pages.table import text_table

ENGINES = ("pdflatex", "lualatex", "xelatex", "tectonic")
AWKWARD = text_table(
    "100% of #1 & \\more_{x}^2 ~ \"q\" 'r' `s` $5\n\n[a]",
    ("", "- gain", "p < .05", "[c]", "*"),
    [
        ("[model] --retry", "-2.75", "-2.75 to +3.04", "0.4\N{EN DASH}0.6", "a-1"),
        ("*star 日本語 ħ š \U0001f600", "(-.62)", "{}", "\x07\u200bx", "\\\\"),
    ],
    ("A note, p = -1e-05; e-5, 2026-11-26 and x-1 have hyphens.",),
)


def rows(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.endswith(r" \\")]


def test_minus_signs_are_true_and_hyphens_stay():
    first, second = rows(to_latex([AWKWARD]))[1:]
    assert "& $-$2.75 & $-$2.75 to +3.04 & 0.4--0.6 & a-1" in first
    assert first.startswith("{[}model] -{}-retry &")
    assert second.startswith("{*}star")
    assert "($-$.62)" in second
    assert "p = $-$1e-05; e-5, 2026-11-26 and x-1 have hyphens" in to_latex([AWKWARD])


def test_a_table_is_scaled_to_the_line_only_where_it_is_wider():
    text = to_latex([AWKWARD, AWKWARD])
    preamble, _, body = text.partition(r"\begin{document}")
    command, what = re.findall(r"\\newcommand\{(\\\w+)\}\[1\]\{(.*)\}$", preamble, re.MULTILINE)[0]
    assert what == r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{#1}"
    tables = re.findall(r"\\begin\{tabular\}.*?\\end\{tabular\}", body, re.DOTALL)
    assert len(tables) == 2
    assert all(f"{command}{{{table}}}" in body for table in tables)


def test_a_document_is_well_formed():
    text = to_latex([AWKWARD, AWKWARD])
    plain = re.sub(r"\\[\\{}&%$#_]", "", text)
    assert plain.count("{") == plain.count("}")
    assert re.findall(r"\\(?:begin|end)\{(\w+)\}", text) == [
        "document",
        *("table", "tabular", "tabular", "table") * 2,
        "document",
    ]
    assert all(row.replace(r"\&", "").count("&") == 4 for row in rows(text))
    body = text.partition(r"\begin{document}")[2]
    assert not re.search(r"(?<!\\)[#%_^]", body)
    assert not re.search(r"\\caption\{[^\n]*\n\n", body)  # a paragraph may not end in a caption
    declared = set(re.findall(r"\\DeclareUnicodeCharacter\{(\w+)\}", text))
    assert {f"{ord(character):04X}" for character in "日本語ħ\U0001f600"} <= declared
    assert f"{ord('š'):04X}" not in declared


def compiled(engine: str, folder: Path, text: str) -> subprocess.CompletedProcess[bytes]:
    (folder / "tables.tex").write_text(text, encoding="utf-8")
    options = [] if engine == "tectonic" else ["-interaction=nonstopmode", "-halt-on-error"]
    command = [engine, *options, "tables.tex"]
    return subprocess.run(command, cwd=folder, capture_output=True, timeout=300, check=False)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_document_compiles(engine, tmp_path):
    if shutil.which(engine) is None:
        pytest.skip(f"{engine} is not installed")
    packages = r"\usepackage{booktabs,graphicx,iftex}\ifPDFTeX\usepackage{textcomp}\else\usepackage{fontspec}\fi"
    if compiled(
        engine, tmp_path, rf"\documentclass{{article}}{packages}\begin{{document}}a\end{{document}}"
    ).returncode:
        pytest.skip(f"{engine} lacks packages that the document needs")
    done = compiled(engine, tmp_path, to_latex([AWKWARD] * 30))
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]
    assert (tmp_path / "tables.pdf").exists()
