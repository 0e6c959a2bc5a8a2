import csv
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from rated import Share, rated

from rlsum.meta_evaluation.choices import Choices
from rlsum.meta_evaluation.evaluation import meta_evaluate
from rlsum.meta_evaluation.pictures import binned_means
from rlsum.meta_evaluation.report import MetaEvaluation, report, summary, to_json
from rlsum.meta_evaluation.scores import Column, scored
from rlsum.pages.blocks import Fold
from rlsum.pages.table import Table


@pytest.fixture(scope="module")
def evaluation():
    table = scored(rated(80, groups=("cs-en", "<b>de</b>")), {"share": Share()})
    table = replace(table, columns={**table.columns, "100%_<i>flat</i>": Column(np.ones(len(table)), "flat|<script>")})
    return meta_evaluate(table, ("pearson",), Choices(average="groups", resamples=40))


@pytest.fixture(scope="module")
def folder(evaluation, tmp_path_factory):
    folder = tmp_path_factory.mktemp("report") / "new"
    MetaEvaluation(**vars(evaluation)).save(folder)
    return folder


def test_the_page_needs_nothing_and_escapes_everything(folder):
    page = (folder / "report.html").read_text()
    assert not re.search(r"(src|href|srcset)=[\"'](?!data:|#)", page)
    assert "<i>flat" not in page
    assert "<script>" not in page
    assert "prefers-color-scheme: dark" in page
    assert page.count("data:image/png;base64") == 4  # heat map and scatter, light and dark
    assert "length (letters) alone reaches" in page


def test_csv_and_json_hold_the_same_numbers(evaluation, folder):
    rows = list(csv.DictReader((folder / "correlations.csv").open()))
    found = json.loads((folder / "report.json").read_text())
    assert json.loads(to_json(evaluation)) == found
    share = found["results"][0]["correlations"]["share"]
    written = {(row["label"], row["group"]): row["value"] for row in rows}
    assert float(written["share", "average of groups"]) == share["average"]["value"]
    assert float(written["share", "cs-en"]) == share["groups"]["cs-en"]["value"]
    assert written["100%_<i>flat</i>", "cs-en"] == ""
    assert found["results"][0]["correlations"]["100%_<i>flat</i>"]["average"]["value"] is None
    tests = list(csv.DictReader((folder / "tests.csv").open()))
    assert [row["verdict"] for row in tests].count("undefined") == 2
    texts = list(csv.DictReader((folder / "scores.csv").open()))
    assert len(texts) == 240
    assert "" in {row["share"] for row in texts}


def test_markdown_and_latex(folder):
    text = (folder / "report.md").read_text()
    assert "| average |" in text or "| **average** |" in text
    assert "](scatter.png)" in text
    assert (folder / "scatter.png").read_bytes().startswith(b"\x89PNG")
    latex = (folder / "report.tex").read_text()
    assert r"100\%\_\textless{}i\textgreater{}flat" in latex
    assert latex.count(r"\begin{table}") == latex.count(r"\end{table}") == 3


def test_tables_of_the_report(evaluation):
    tables = [block for block in summary(evaluation) if isinstance(block, Table)]
    first, groups = tables[:2]
    of_judges = ["judges: one against the others", "judges: Krippendorff's alpha"]
    assert [row[0].text for row in first.rows][-2:] == of_judges
    assert [row[0].text for row in groups.rows] == ["cs-en", "<b>de</b>", "average"]
    pairs = [table for block in report(evaluation) if isinstance(block, Fold) for table in block.blocks]
    assert pairs
    assert all(len(row) == len(table.header) for table in (*tables, *pairs) for row in table.rows)


def test_what_was_not_tested_has_no_table_and_no_picture(tmp_path):
    few = meta_evaluate(scored(rated(12), {"share": Share()}), choices=Choices(resamples=40))
    written = {path.name for path in MetaEvaluation(**vars(few)).save(tmp_path)}
    assert not any(name.startswith("tests-") for name in written)
    assert "scatter.png" in written
    assert not any("Differences" in block.caption for block in summary(few) if isinstance(block, Table))
    text = (tmp_path / "report.md").read_text()
    assert "Not bold" not in text
    assert "95% interval for" not in text
    needed = "12 inputs; with fewer than 30 no method for these systems holds its level."
    assert text.count(needed) == 2
    assert all(f"- spearman, pearson and kendall: no {what}: {needed}" in text for what in ("interval", "test"))


def test_bins_keep_equal_scores_together():
    scores, human = binned_means(np.array([1.0, 1, 1, 1, 2, 3]), np.array([0.0, 1, 2, 3, 4, 5]), bins=3)
    np.testing.assert_array_equal(human, [1.5, 4.5])
    np.testing.assert_array_equal(scores, [1, 2.5])
    scores, _ = binned_means(np.ones(4), np.arange(4.0))
    assert len(scores) == 1
