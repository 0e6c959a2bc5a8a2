"""The documentation is true: commands parse, files and names exist, links have a target.

`test_documentation_blocks.py` runs the blocks.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import pkgutil
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
import reproduce
import yaml

import rewards
from rlsum import config as configs
from rlsum.compare import config as comparisons
from rlsum.compare.cells import cells_of
from rlsum.config_reference import keys_of

ROOT = Path(__file__).resolve().parent.parent
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
CONFIGS = sorted(
    path for path in (ROOT / "configs").rglob("*.yaml") if path.parent.name not in ("accelerate", "compare")
)
COMPARISONS = sorted((ROOT / "configs" / "compare").glob("*.yaml"))
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def blocks(path: Path, language: str) -> list[str]:
    return [code for kind, code in FENCE.findall(path.read_text(encoding="utf-8")) if kind == language]


def shell_lines(path: Path) -> list[str]:
    """Command lines of a page's shell blocks, and of the examples in a command's help."""
    if path.suffix == ".py":
        return re.findall(r"^    (rlsum .+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return [line for code in blocks(path, "sh") for line in code.replace("\\\n", " ").splitlines() if line.strip()]


def commands() -> list[list[str]]:
    """Arguments of every printed ``rlsum`` command."""
    sources = [
        *PAGES,
        *(path for package in ("rlsum", "human_eval") for path in sorted((ROOT / package / "cli").glob("*.py"))),
    ]
    words = [shlex.split(line, comments=True) for path in sources for line in shell_lines(path)]
    starts = (("rlsum",), ("python", "-m", "rlsum"), ("accelerate", "launch"))
    lines = [line for line in words if any(tuple(line[: len(start)]) == start for start in starts)]
    return [line[line.index("rlsum") + 1 : line.index(">") if ">" in line else None] for line in lines]


COMMANDS = commands()


@functools.cache
def command_line():
    from typer.main import get_command

    from rlsum.cli.app import app

    return get_command(app)


def parse(arguments: list[str]) -> dict:
    """A command's parameters by name; raises for an unknown command or option, or a missing argument."""
    command, path = command_line(), ["rlsum"]
    while hasattr(command, "commands"):
        assert arguments, f"{' '.join(path)} needs a command"
        assert arguments[0] in command.commands, f"{' '.join(path)} has no command {arguments[0]}"
        command, path, arguments = command.commands[arguments[0]], [*path, arguments[0]], arguments[1:]
    return command.make_context(" ".join(path), list(arguments)).params


# ---- commands -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_a_printed_command_parses(arguments):
    parse(arguments)


def names_of(command, *before: str) -> set[tuple[str, ...]]:
    """The names of every command under one, with those of its groups before them."""
    inner = getattr(command, "commands", {})
    return {name for word in inner for name in names_of(inner[word], *before, word)} if inner else {before}


def test_every_command_is_shown():
    shown = {tuple(arguments[:number]) for arguments in COMMANDS for number in (1, 2)}
    assert names_of(command_line()) <= shown


def test_a_wrong_command_would_be_noticed():
    with pytest.raises(AssertionError, match="no command trian"):
        parse(["trian"])
    with pytest.raises(Exception, match=r"(?i)no such option"):
        parse(["train", "--inti", "x"])
    with pytest.raises(Exception, match=r"(?i)missing"):
        parse(["generate", "-o", "x"])


@pytest.mark.parametrize("arguments", [a for a in COMMANDS if a[0] == "train"], ids=" ".join)
def test_a_printed_training_has_a_configuration(arguments, monkeypatch):
    monkeypatch.chdir(ROOT)
    given = parse(arguments)
    if given["config"] is None or given["resume"] is not None:
        assert given["resume"] is not None or given["keys"] is not None
        return
    if given["config"].startswith("articles"):  # what `rlsum init articles.csv` writes
        return
    loaded = configs.load(given["config"], given["overrides"] or [])
    if loaded.objective.kind == "mixed":
        assert given["init"] is not None, "a reward model starts from a likelihood model"
        if loaded.objective.reward != "found:found":  # the one that the reader writes
            rewards.check_spec(loaded.objective.reward)


@pytest.mark.parametrize("arguments", [a for a in COMMANDS if a[0] in ("evaluate", "score", "explain")], ids=" ".join)
def test_printed_metrics_exist(arguments):
    from rewards.specs import split_specs

    for spec in split_specs(parse(arguments)["metrics"]):
        if spec not in ("found:found", "..."):
            rewards.check_spec(spec)


def test_printed_scripts_and_targets_exist():
    text = "\n".join(path.read_text(encoding="utf-8") for path in PAGES)
    for script in set(re.findall(r"(?<![\w/])(scripts/[\w/]+\.py)", text)):
        assert (ROOT / script).is_file(), script
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(re.findall(r"(?:`|^)make (\w+)", text, re.MULTILINE)) <= set(targets)


def test_options_of_printed_scripts_exist():
    lines = [shlex.split(line) for path in PAGES for line in shell_lines(path) if "python scripts/" in line]
    assert lines
    for line in lines:
        words = line[line.index("python") + 1 :]
        source = ROOT / words[0]
        if source.name == "reproduce.py":  # the paper has the options
            source = ROOT / "scripts" / f"{reproduce.PAPERS[words[1]].replace('.', '/')}.py"
        declared = set(re.findall(r'"(--[\w-]+)"', source.read_text(encoding="utf-8")))
        assert {word for word in words if word.startswith("--")} <= declared, line


def test_the_tour_and_the_demo_have_the_same_stories():
    from rlsum.compare.config import Simulated

    simulated = [parse(a) for a in COMMANDS if a[:3] == ["data", "simulate", "runs/demo/data"]]
    assert simulated, "the tour simulates into the demo's folder"
    for given in simulated:
        assert {name: given[name] for name in ("train", "valid", "test")} == {"train": 4000, "valid": 200, "test": 500}
        assert Simulated() == Simulated(seed=given["seed"], train=4000, valid=200, test=500)


# ---- configurations -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", CONFIGS, ids=name_of)
def test_a_configuration_loads(path):
    overrides = ["objective.reward=rouge-l"] if path.stem.endswith("mixed") else []  # bases: their files name it
    if overrides:
        with pytest.raises(configs.ConfigError, match="needs a reward"):
            configs.load(path)
    config = configs.load(path, overrides)
    for spec in (*config.metrics, *filter(None, [config.objective.reward])):
        rewards.check_spec(spec)


@pytest.mark.parametrize("path", COMPARISONS, ids=name_of)
def test_every_cell_of_a_comparison_is_a_valid_configuration(path):
    comparison = comparisons.load(path)
    trained = [cell for cell in cells_of(comparison) if cell.config is not None]
    assert {cell.seed for cell in trained} == set(comparison.seeds)
    for cell in trained:
        config = configs.check(dict(cell.config), cell.name)
        for spec in (*config.metrics, *filter(None, [config.objective.reward])):
            rewards.check_spec(spec)


def test_every_key_of_a_comparison_is_explained():
    keys = {key.name: key for key in keys_of(comparisons.Comparison)}
    assert keys.keys() == {field.name for field in dataclasses.fields(comparisons.Comparison)}
    assert [keys[name].default for name in ("seeds", "decoding", "cell")] == ["[1, 2, 3]", "[beam]", "required"]


def test_the_comparison_of_a_newcomer_is_short():
    path = ROOT / "configs" / "compare" / "own.yaml"
    comparison = comparisons.load(path)
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 25
    assert (len(comparison.rewards), len(comparison.seeds)) == (3, 2)


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_files_named_in_a_page_exist(path):
    text = path.read_text(encoding="utf-8")
    named = re.findall(r"(?<![\w/])((?:configs|tests|rlsum|rewards|scripts|docs)/[\w/+-]+\.(?:yaml|py|md))\b", text)
    for name in set(named):
        assert (ROOT / name).is_file(), name


@pytest.mark.parametrize("path", [path for path in PAGES if path.name != "CHANGELOG.md"], ids=name_of)
def test_dotted_names_in_a_page_exist(path):
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    for name in set(re.findall(r"`((?:rewards|rlsum|human_eval)(?:\.[a-zA-Z_]\w*)+)", text)):
        if not name.endswith((".py", ".yaml", ".json", ".md", ".commands")):  # nor the group of an entry point
            pkgutil.resolve_name(name)


def test_headline_results_are_those_of_the_studies():
    number = re.compile(r"[-+]?\d[\d,]*\.\d+")
    pages = [path for path in (ROOT / "docs" / "results").glob("*.md") if path.name != "summary.md"]
    studies = "\n".join(path.read_text(encoding="utf-8") for path in pages)
    headline = (ROOT / "docs" / "results" / "summary.md").read_text(encoding="utf-8")
    said = set(number.findall(headline.partition("## Machines")[0]))
    assert len(said) > 10
    assert said <= set(number.findall(studies))


# ---- rewards ------------------------------------------------------------------------------------------------------


def test_the_reward_in_ten_lines(tmp_path, monkeypatch):
    code = blocks(ROOT / "CONTRIBUTING.md", "python")[0]
    assert len(code.splitlines()) <= 10
    (tmp_path / "found.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    reward = rewards.from_spec("found:found")
    scores = reward(["ash birch", "", "elm"], [["ash cedar", "birch"], ["ash"], [" "]])
    np.testing.assert_array_equal(scores, [1.0, 0.0, np.nan])
    assert reward.signature.startswith("found:found|source:")
    assert reward.undefined("elm", [" "]) is not None
    page = (ROOT / "docs" / "reference" / "rewards.md").read_text(encoding="utf-8")
    assert reward.signature in page, "the signature in docs/reference/rewards.md is that of another text"
    assert rewards.from_specs("rouge-l, found:found").keys() == {"rouge-l", "found:found"}


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_yaml_blocks_are_yaml(path):
    for code in blocks(path, "yaml"):
        assert isinstance(yaml.safe_load(code), dict | list)


# ---- links --------------------------------------------------------------------------------------------------------


def anchors(path: Path) -> set[str]:
    """The anchors that a page's headings make."""
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_links_lead_somewhere(path):
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    for link in LINK.findall(text):
        if link.startswith(("https://", "http://")):
            continue
        target, _, anchor = link.partition("#")
        page = (path.parent / target).resolve() if target else path
        assert page.exists(), f"{name_of(path)}: {link}"
        assert not anchor or anchor in anchors(page), f"{name_of(path)}: {link}"
