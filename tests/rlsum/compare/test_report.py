from __future__ import annotations

import html.parser
import io
import json

import numpy as np
import pytest
from rich.console import Console

from rewards.base import EncoderMissing
from rlsum.compare.examples import draw_examples
from rlsum.compare.report import (
    ComparisonReport,
    SystemOutputs,
    build_section,
    draw_training,
    report_blocks,
    write_report,
)
from rlsum.errors import RecordError
from rlsum.pages.markdown import to_markdown
from rlsum.pages.page import to_html
from rlsum.pages.terminal import show
from rlsum.records import Output, write_outputs
from rlsum.scoring.comparison import Resampling

SOURCE = "the mayor of Velmora spoke .\nthe crew of <Halden> left ."
NASTY = '<script>alert("x")</script> & co'


class Marks:
    """The share of a candidate's words that are "good"."""

    name = "marks"
    signature = "marks|version:1"

    def __call__(self, candidates, references=None, sources=None):
        return np.array([text.split().count("good") / 10 for text in candidates])


class Absent(Marks):
    def __call__(self, candidates, references=None, sources=None):
        raise EncoderMissing("pip install 'rlsum[demo]'")


REWARDS = {"marks": Marks(), "twmd": Absent()}
TRAINED = {"RL up": "marks", "RL same": "marks", "RL down": "marks", "RL twmd": "twmd"}


def outputs(name: str, good: int, items: int = 12) -> list[Output]:
    """Texts with ``good`` good words, give or take one, so that there is something to resample."""
    return [
        Output(f"id-{item}", SOURCE, (NASTY,), "the Velmora Nobody " + "good " * (good + item % 2), name)
        for item in range(items)
    ]


@pytest.fixture
def systems(tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    rows = [{"step": step, "kind": "train", "nll": 1 / step, "reward": 0.1, "baseline_reward": 0.2} for step in (1, 2)]
    (run / "metrics.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    write_outputs(tmp_path / "mle.jsonl", outputs("whatever the file says", 3))
    return [
        SystemOutputs(NASTY, outputs("lead", 2)),
        SystemOutputs("MLE", tmp_path / "mle.jsonl", run),
        SystemOutputs("MLE continued", outputs("c", 3)),
        SystemOutputs("RL up", outputs("u", 5), run),
        SystemOutputs("RL same", outputs("s", 3)),
        SystemOutputs("RL down", outputs("d", 1)),
        SystemOutputs("RL twmd", outputs("t", 3)),
    ]


@pytest.fixture
def section(systems):
    scored = [system.score(REWARDS) for system in systems]
    return build_section(
        "Beam", scored, TRAINED, start="MLE", control="MLE continued", resampling=Resampling(resamples=5000)
    )


@pytest.fixture
def report(systems, section):
    examples = draw_examples({each.name: outputs(each.name, 3) for each in systems}, {"the", "good", "mayor"}, 2)
    signatures = {"marks": Marks.signature}
    pictures = tuple(draw_training(systems, ["marks"]))
    return ComparisonReport(NASTY, (section,), pictures, tuple(examples), signatures, ("A note.",))


def test_each_reward_is_judged_against_start_and_control(section):
    verdicts = {row[0].text: [cell.text for cell in row[1:]] for row in section.tables[0].rows}
    assert verdicts["RL up"][:2] == ["marks", "+20.00"]
    assert {name: row[-1] for name, row in verdicts.items()} == {
        "RL up": "better",
        "RL same": "not shown",
        "RL down": "worse",
    }
    assert len(section.comparisons) == 6
    assert all(item.p_holm >= item.p for item in section.comparisons)


def test_a_missing_encoder_has_a_column_and_no_verdict(section):
    _, metrics, properties = section.tables
    assert metrics.header == ("system", "marks", "twmd")
    assert {row[-1].text for row in metrics.rows} == {"not computed"}
    assert "pip install" in metrics.notes[-1]
    assert [row[0].text for row in properties.rows][1] == "MLE"


def test_a_metric_that_could_not_be_loaded_has_its_column_too(systems):
    scored = [system.score({"marks": Marks()}, {"twmd": "no encoder"}) for system in systems]
    found = build_section("Beam", scored, {}, start="MLE", control="MLE")
    assert found.tables[1].header[-1] == "twmd"


def test_start_and_control_must_be_systems(systems):
    with pytest.raises(ValueError, match="control='nobody' is not among the systems"):
        build_section("Beam", [system.score(REWARDS) for system in systems], {}, start="MLE", control="nobody")


def test_outputs_that_are_gone_are_told(systems):
    with pytest.raises(RecordError, match="cannot be read"):
        SystemOutputs("MLE", systems[1].outputs.with_name("gone")).score(REWARDS)


def test_terminal_and_markdown_hold_the_whole_report(report):
    console = Console(file=io.StringIO(), width=120)
    show(report_blocks(report), console)
    printed = console.file.getvalue()
    for words in ("A note.", "Did the reward help?", "RL up", "not computed", "Velmora", Marks.signature):
        assert words in printed
    markdown = to_markdown(report_blocks(report))
    assert "![Learning curves](learning-curves.png)" in markdown
    assert "| RL up | marks | **+20.00**" in markdown


class Page(html.parser.HTMLParser):
    """What a browser would have to fetch, run or leave unclosed."""

    VOID = ("meta", "img", "source", "br", "link")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.fetched: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)
        self.fetched += [value for name, value in attributes if name in ("src", "srcset") and value[:5] != "data:"]
        self.fetched += [value for name, value in attributes if name == "href" and not value.startswith("#")]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_needs_nothing_else_and_escapes_everything(report):
    text = to_html(report_blocks(report))
    page = Page(text)
    assert page.open == []
    assert page.fetched == []
    assert "script" not in page.tags
    assert "&lt;script&gt;alert(" in text
    assert page.tags.count("img") == len(report.pictures) == 2
    assert "<mark>Velmora</mark>" in text
    assert '<em class="invented">Nobody</em>' in text
    assert 'name="viewport"' in text
    assert "prefers-color-scheme: dark" in text


def test_the_page_is_written_with_its_pictures_beside_it(report, tmp_path):
    page = write_report(report, tmp_path / "new" / "folder")
    names = sorted(path.name for path in page.parent.iterdir())
    assert names == ["index.html", "learning-curves.png", "report.md", "reward.png"]
    assert (page.parent / "reward.png").read_bytes().startswith(b"\x89PNG")


def test_a_report_without_pictures_and_examples_is_a_page_too(section):
    text = to_html(report_blocks(ComparisonReport("Bare", (section,))))
    assert Page(text).open == []
    assert "<h2" in text
    assert "Examples" not in text
