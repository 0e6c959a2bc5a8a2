"""The tutorials, typed as they are printed, on tiny data; trainings are shortened."""

from __future__ import annotations

import csv
import json
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rlsum.simulation.stories import write_corpus

PAGE = Path(__file__).resolve().parent.parent / "docs" / "tutorials.md"
SHORT = {
    "train": ["training.steps=2", "training.validate_every=2", "training.validate_decoded=2"],
    "generate": ["--beam", "1"],
    "evaluate": ["--resamples", "50"],
    "correlate": ["--resamples", "50", "--no-cache"],
}


def commands(title: str) -> list[list[str]]:
    """The commands of a section."""
    section = PAGE.read_text(encoding="utf-8").split(f"## {title}\n")[1].split("\n## ")[0]
    code = "\n".join(re.findall(r"^```sh\n(.*?)^```$", section, re.MULTILINE | re.DOTALL))
    return [shlex.split(line)[1:] for line in code.splitlines()]


def typed(title: str) -> str:
    """What all commands of a section print."""
    from rlsum.cli.app import app

    printed = ""
    for words in commands(title):
        ended = CliRunner().invoke(app, [*words, *SHORT.get(words[0], [])], catch_exceptions=False)
        assert ended.exit_code == 0, f"{words}: {ended.output[-2000:]}"
        printed += ended.output
    return printed


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder with what the tutorials begin with."""
    monkeypatch.chdir(tmp_path)
    write_corpus(tmp_path / "stories", 1, {"train": 60})
    stories = [json.loads(line) for line in (tmp_path / "stories" / "train.jsonl").read_text().splitlines()]
    with (tmp_path / "articles.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["text", "summary"])
        rows.writerows([story["article"], story["highlights"]] for story in stories)
    records = {"mle": [], "rewarded": [], "judged": []}
    for number, story in enumerate(stories[:12]):
        texts = {"mle": story["article"].splitlines()[0], "rewarded": story["highlights"].splitlines()[-1]}
        for grade, (system, text) in enumerate(texts.items()):
            record = {"id": str(number), "source": story["article"], "references": [story["highlights"]],
                      "candidate": text, "system": system}  # fmt: skip
            records[system].append(record)
            records["judged"].append({**record, "scores": {"overall": grade + number % 3}})
    for name, lines in {**records, "outputs": records["mle"]}.items():
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return tmp_path


def test_score_and_correlate(folder):
    assert "rouge-l" in typed("Score and correlate")
    assert "scores" in json.loads((folder / "scored.jsonl").read_text().splitlines()[0])
    assert (folder / "report" / "report.html").is_file()


def test_ask_people(folder):
    typed("Ask people")
    assert list((folder / "pages").rglob("*.html"))


@pytest.mark.slow
def test_your_own_csv(folder):
    for name in ("mle", "rewarded"):
        (folder / f"{name}.jsonl").unlink()
    assert "rewarded" in typed("Your own CSV")
