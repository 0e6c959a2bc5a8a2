"""Every block of commands or Python in the documentation runs as it is printed, and prints what the page prints.

A comment before a block says otherwise: ``<!-- slow -->`` for `make tour`, which makes trainings short; ``<!-- file:
NAME -->`` for one that the reader saves; ``<!-- not run: why -->``. A block without a language behind one that runs is
what it prints, or lines of it. The blocks of a page run in order, in a folder with `examples/` and a reader's files.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest
from typer.testing import CliRunner

from rlsum.simulation.stories import write_corpus

ROOT = Path(__file__).resolve().parent.parent
# The commands of docs/results take hours or need data; `test_readme.py` checks that they parse.
PAGES = [path for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")] if path.parent.name != "results"]
BLOCK = re.compile(
    r"(?:^<!-- (slow|file|not run)(?:: ([^\n]*))? -->\n)?^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL
)
SMALL = "data.train_limit=20 data.valid_limit=4 training.batch_size=4 training.validate_decoded=2".split()  # noqa: SIM905
SHORT = {  # what a command gets beside what is printed
    "train": [*SMALL, "training.steps=2", "training.validate_every=2"],
    "generate": ["--beam", "1", "--limit", "12", "--overwrite"],
    "data simulate": ["--train", "60", "--valid", "12", "--test", "12", "--overwrite"],
    "compare": [
        *("seeds=[1]", "controls=[none]", "decoding.beam.beam=1", "cell.objective.samples=2"),
        *("start.model.embedding=8", "start.model.hidden=8"),
        *(
            f"{of}.training.{key}"
            for of in ("start", "cell")
            for key in ("batch_size=4", "steps=2", "validate_every=2")
        ),
    ],
}
PROGRAMS = {  # of a file that the reader saves: what is written otherwise
    "grpo.py": {
        '"Qwen/Qwen2.5-0.5B-Instruct"': '"tiny"',
        "max_steps=200": "max_steps=2, use_cpu=True, bf16=False, report_to=[]",
    }
}


class Block(NamedTuple):
    mark: str  # slow, file, not run, or nothing
    about: str  # the name of a file, the reason
    language: str
    code: str
    printed: str  # what the page shows of the output


def blocks(page: Path) -> list[Block]:
    """Those with commands or Python."""
    found: list[Block] = []
    text, end = page.read_text(encoding="utf-8"), -1
    for match in BLOCK.finditer(text):
        mark, about, language, code = match.groups(default="")
        if mark == "file" or language in ("sh", "python"):
            found.append(Block(mark, about, language, code, ""))
        elif not language and found and not text[end : match.start()].strip():
            found[-1] = found[-1]._replace(printed=code)
        end = match.end()
    return found


def with_blocks(marks: set[str]) -> list[Path]:
    """The pages that have a block with one of ``marks``."""
    return [page for page in PAGES if any(block.mark in marks for block in blocks(page))]


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """A folder with what readers have: a checkout's folders, articles, and outputs of two systems."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("examples", "configs", "scripts", "tests"):
        (tmp_path / name).symlink_to(ROOT / name)
    write_corpus(tmp_path / "runs/demo/data", 1, {"train": 130, "valid": 12, "test": 12})
    (tmp_path / "runs/demo/data/vectors.txt.gz").write_text("the 1 0 0\njury 0 1 0\n")  # read by what is in it
    stories = [json.loads(line) for line in (tmp_path / "runs/demo/data/train.jsonl").read_text().splitlines()]
    with (tmp_path / "articles.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["story", "gist"])  # names that nothing expects
        rows.writerows([story["article"], story["highlights"]] for story in stories)
    for name, line in {"mle": 0, "rewarded": -1, "outputs": 0, "rouge": 0, "sms": -1}.items():
        records = (
            {"id": str(number), "source": story["article"], "references": [story["highlights"]], "system": name,
             "candidate": story["article"].splitlines()[line]}
            for number, story in enumerate(stories)
        )  # fmt: skip
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    return tmp_path


@pytest.mark.parametrize("page", with_blocks({""}), ids=lambda page: str(page.relative_to(ROOT)))
def test_the_fast_blocks_of_a_page_run(page, folder):
    run([block for block in blocks(page) if block.mark in ("", "file")])


@pytest.mark.slow
@pytest.mark.parametrize("page", with_blocks({"slow"}), ids=lambda page: str(page.relative_to(ROOT)))
def test_all_blocks_of_a_page_run(page, folder):
    run([block for block in blocks(page) if block.mark != "not run"])


def test_a_block_that_is_not_run_says_why():
    assert [block.code for page in PAGES for block in blocks(page) if block.mark == "not run" and not block.about] == []


def run(code: list[Block]) -> None:
    names = {"smollm2"} if any("--pretrained smollm2" in block.code for block in code) else set()
    if any("grpo.py" in block.code for block in code):
        pytest.importorskip("trl")
        names.add("tiny")
    for name in names:
        save_tiny_model(Path(name), Path("articles.csv").read_text().split())
    for block in code:
        if block.mark == "file":
            Path(block.about).write_text(adapted(block))
            continue
        if block.language == "python" and block.mark == "slow":  # a program: it starts processes, or names itself
            Path("program.py").write_text(block.code)
            block = block._replace(language="sh", code="python program.py\n")
        output = "".join(python(block.code) if block.language == "python" else shell(block.code))
        rest = iter(plain(output))
        missing = [line for line in plain(block.printed) if line != "..." and line not in rest]
        assert not missing, f"{missing} not printed, in this order, by\n{block.code}\nwhich prints\n{output}"


def plain(text: str) -> list[str]:
    """Lines with single spaces, without rules and the last parts of version numbers."""
    lines = (" ".join(re.sub(r"[─│]|(?<=\d\.\d)\d*\.\d+\b", " ", line).split()) for line in text.splitlines())
    return [line for line in lines if line]


def adapted(block: Block) -> str:
    """The program of a reader, made short."""
    code = block.code
    for long, short in PROGRAMS.get(block.about, {}).items():
        assert long in code, f"{block.about} has no {long}"
        code = code.replace(long, short)
    return code


def python(code: str) -> Iterator[str]:
    with contextlib.redirect_stdout(io.StringIO()) as written:
        exec(compile(code, "a block of Python", "exec"), {"__name__": "__main__"})
    yield written.getvalue()


def replaced(arguments: list[str], by: list[str]) -> list[str]:
    """Arguments with others in place of their own options, which may stand once."""
    kept = list(arguments)
    for option, value in pairwise([*by, "--"]):
        if option.startswith("--") and option in kept:
            at = kept.index(option)
            del kept[at : at + (1 if value.startswith("--") else 2)]
    return kept + by


def shell(code: str) -> Iterator[str]:
    """Command by command: those of rlsum in this process, others by a shell."""
    from rlsum.cli.app import app

    for line in code.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if words[:1] == ["rlsum"]:
            arguments = replaced(words[1:], shorter(words[1:]))
            ended = CliRunner().invoke(app, arguments, catch_exceptions=False)
            assert ended.exit_code == 0, f"{line}\n{ended.output[-2000:]}"
            yield ended.output
        elif words:
            line = line.replace("python ", f"{sys.executable} ", 1)
            done = subprocess.run(["bash", "-ec", line], capture_output=True, text=True, timeout=600)
            assert done.returncode == 0, f"{line}\n{done.stdout[-1000:]}{done.stderr[-2000:]}"
            yield done.stdout


def shorter(words: list[str]) -> list[str]:
    """What makes a command short."""
    if "--resume" in words:
        return ["training.steps=4"] if any(word.startswith("training.steps=") for word in words) else []
    if "--keys" in words:
        return []
    return SHORT.get(" ".join(words[:2]), SHORT.get(words[0], []))


def save_tiny_model(folder: Path, words: list[str]) -> None:
    """A random causal model of ``words``, and its tokenizer."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    numbers = {word: number for number, word in enumerate(["<pad>", "<eos>", "<unk>", *sorted(set(words))])}
    inner = Tokenizer(models.WordLevel(numbers, unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    PreTrainedTokenizerFast(
        tokenizer_object=inner, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>",
        chat_template="{% for turn in messages %}{{ turn['content'] }} {% endfor %}",
    ).save_pretrained(folder)  # fmt: skip
    sizes = {"vocab_size": len(numbers), "n_positions": 512, "n_embd": 16, "n_layer": 1, "n_head": 2}
    GPT2LMHeadModel(GPT2Config(**sizes, eos_token_id=1, pad_token_id=0)).save_pretrained(folder)
