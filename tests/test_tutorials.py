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
    "compare": [
        "seeds=[1]",
        "controls=[none]",
        "start.model.embedding=8",
        "start.model.hidden=8",
        "start.training.batch_size=4",
        "cell.training.batch_size=4",
        "cell.objective.samples=2",
        "decoding.beam.beam=1",
        "start.training.steps=2",
        "start.training.validate_every=2",
        "cell.training.steps=2",
        "cell.training.validate_every=2",
    ],
}


def code(title: str, language: str) -> str:
    """The blocks of a section."""
    section = PAGE.read_text(encoding="utf-8").split(f"## {title}\n")[1].split("\n## ")[0]
    return "\n".join(re.findall(rf"^```{language}\n(.*?)^```$", section, re.MULTILINE | re.DOTALL))


def commands(title: str) -> list[list[str]]:
    """The arguments of each `rlsum` command of a section."""
    lines = map(shlex.split, code(title, "sh").splitlines())
    return [line[1:] for line in lines if line[0] == "rlsum"]


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


@pytest.mark.slow
def test_compare_rewards(folder):
    typed("Compare rewards")
    assert "rouge-1" in (folder / "runs" / "articles-compare" / "report" / "index.html").read_text()


def save_tiny_model(folder: Path, texts: list[str]) -> None:
    """A random causal model of the words of ``texts``, and its tokenizer."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    words = ["<pad>", "<eos>", "<unk>", *sorted({word for text in texts for word in text.split()})]
    inner = Tokenizer(models.WordLevel({word: number for number, word in enumerate(words)}, unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    PreTrainedTokenizerFast(
        tokenizer_object=inner, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>"
    ).save_pretrained(folder)
    sizes = {"vocab_size": len(words), "n_positions": 512, "n_embd": 16, "n_layer": 1, "n_head": 2}
    GPT2LMHeadModel(GPT2Config(**sizes, eos_token_id=1, pad_token_id=0)).save_pretrained(folder)


@pytest.mark.slow
def test_a_language_model_with_trl(folder):
    """The program as printed, with a tiny model and few updates; then the evaluation, and the plan of a comparison."""
    from rlsum.cli.app import app
    from rlsum.records import read_outputs

    pytest.importorskip("trl")
    assert CliRunner().invoke(app, ["init", "articles.csv"]).exit_code == 0
    rows = [json.loads(line) for line in (folder / "articles-data" / "train.jsonl").read_text().splitlines()]
    save_tiny_model(folder / "tiny", [text for row in rows for text in (row["text"], row["summary"])])
    program = code("A language model, with TRL", "py")
    for long, short in (
        ('"Qwen/Qwen3-0.6B"', '"tiny"'),
        ("max_steps=200", "max_steps=2, use_cpu=True, bf16=False, report_to=[]"),
    ):
        assert long in program
        program = program.replace(long, short)
    exec(compile(program, "grpo.py", "exec"), {})
    outputs = read_outputs("llm.jsonl")
    assert len(outputs) == len((folder / "articles-data" / "test.jsonl").read_text().splitlines())
    (folder / "mle.jsonl").write_text(
        "".join(
            json.dumps({"id": each.id, "references": each.references, "candidate": "a storm ."}) + "\n"
            for each in outputs
        )
    )
    evaluate, compare = commands("A language model, with TRL")
    for words in (evaluate, [*compare, "--plan"]):
        ended = CliRunner().invoke(app, [*words, *SHORT[words[0]]], catch_exceptions=False)
        assert ended.exit_code == 0, ended.output[-2000:]
        assert "llm" in ended.output
