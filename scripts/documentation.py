"""A hook of mkdocs: pages from outside ``docs/``, and the reference, generated from what the code says of itself.

    mkdocs build            # or: make docs

Links between Markdown files work in the repository and on the site: the hook follows the files that it moves, and
copies the source files that pages link to.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import os
import pkgutil
import re
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
MOVED = {  # file of the repository -> page of the site
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}
FAMILIES = ROOT / "docs" / "reference" / "rewards.md"  # a section a family: its title has the names of its rewards
GENERATED = re.compile(r"<!-- generated: (classes and functions|readers|fields|columns) -->")
LINK = re.compile(r"\]\((?!https?://|#)([^)#\s]+)((?:#[^)\s]*)?)\)")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """The pages of rewards in the navigation, below that of their families."""
    import rewards

    pages = [{name: f"reference/rewards/{name}.md"} for name in rewards.base.TABLE]
    for section in config.nav or []:
        for entry in section.get("Reference", ()) if isinstance(section, dict) else ():
            if entry.get("Rewards") == "REWARDS":
                entry["Rewards"] = [{"All rewards": "reference/rewards.md"}, *pages]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the moved pages, the generated ones, and every source file that a page links to."""
    from mkdocs.structure.files import File

    for name, page in MOVED.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=relinked(text, PurePosixPath(name), PurePosixPath(page))))
    for page, text in reference().items():
        files.append(File.generated(config, page, content=text))
    for source in sorted(linked_sources()):
        files.append(File.generated(config, f"source/{source}", abs_src_path=str(ROOT / source)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """The links of a page in ``docs/`` as they are on the site, and what is generated within a page."""
    name = PurePosixPath("docs", page.file.src_uri)
    generated = {
        "classes and functions": python_reference,
        "readers": readers,
        "fields": log_fields,
        "columns": columns,
    }
    markdown = GENERATED.sub(lambda mark: generated[mark[1]](), markdown)
    return relinked(markdown, name, PurePosixPath(page.file.src_uri)) if (ROOT / name).is_file() else markdown


def relinked(text: str, file: PurePosixPath, page: PurePosixPath) -> str:
    """``text`` of a file of the repository with the links that it needs as ``page`` of the site."""

    def replaced(match: re.Match[str]) -> str:
        target = os.path.normpath(file.parent / match[1])
        place = MOVED.get(target) or target.removeprefix("docs/")
        if place == target:  # outside docs/: a source file
            place = f"source/{target}"
        return f"]({os.path.relpath(place, page.parent)}{match[2]})"

    return LINK.sub(replaced, text)


def linked_sources() -> set[str]:
    """Files outside ``docs/`` that are no pages, and that a page links to."""
    pages = [*(ROOT / name for name in MOVED), *(ROOT / "docs").rglob("*.md")]
    targets = {
        os.path.relpath(page.parent / link, ROOT)
        for page in pages
        for link, _ in LINK.findall(page.read_text(encoding="utf-8"))
    }
    return {target for target in targets if target not in MOVED and not target.startswith("docs")}


# ---- the reference --------------------------------------------------------------------------------------------------


def reference() -> dict[str, str]:
    """The generated pages: path -> Markdown."""
    import rewards

    pages = {"reference/configuration.md": configuration_page(), "reference/commands.md": commands_page()}
    return pages | {f"reference/rewards/{name}.md": reward_page(name) for name in rewards.base.TABLE}


def table(*titles: str) -> list[str]:
    """The head of a Markdown table."""
    return ["", row(*titles), "|" + "---|" * len(titles)]


def configuration_page() -> str:
    """Every key of a configuration; `rlsum train --keys` prints the same."""
    from rlsum.compare.config import Comparison
    from rlsum.config_reference import SECTIONS, keys, keys_of

    sections = [(section, keys(section)) for section in SECTIONS] + [("A comparison", keys_of(Comparison))]
    lines = [
        "# Configuration",
        "",
        "Every key of a [run](../guides/training.md), and at the end of a [comparison](../guides/compare.md). "
        "`rlsum train --keys` and `rlsum compare --keys` print the same.",
    ]
    for section, rows in sections:
        lines += ["", f"## {section}", *table("key", "default", "values", "meaning")]
        for key in rows:
            values = ", ".join(f"`{value}`" for value in key.values) if len(key.values) > 1 else key.range
            lines.append(row(f"`{key.name}`", f"`{key.default}`", values, key.meaning.replace("``", "`")))
    return "\n".join(lines)


def log_fields() -> str:
    """Every field of metrics.jsonl as a table; `rlsum train --keys log` prints the same."""
    from rlsum.training.trainer import FIELDS

    rows = (row(f"`{name}`", field.meaning, field.sign) for name, field in sorted(FIELDS.items()))
    return "\n".join([*table("field", "meaning", "warning sign: remedy"), *rows])


def commands_page() -> str:
    """Every command with its arguments and options, as ``--help`` has them."""
    from typer.main import get_command

    from rlsum.cli.app import app

    lines = ["# Commands"]
    pending = [("rlsum", get_command(app))]
    while pending:
        path, command = pending.pop(0)
        if hasattr(command, "commands"):
            pending = [(f"{path} {name}", child) for name, child in command.commands.items()] + pending
            continue
        lines += ["", f"## {path}", "", as_markdown(command.help or ""), *table("option", "default", "meaning")]
        for parameter in command.params:
            name = " ".join(f"`{option}`" for option in [*parameter.opts, *parameter.secondary_opts])
            shown = "required" if parameter.required else "" if parameter.default is None else f"`{parameter.default}`"
            lines.append(row(name, shown, getattr(parameter, "help", None) or ""))
    return "\n".join(lines)


def as_markdown(text: str) -> str:
    """The help of a command: its example lines become a block of code."""
    lines = [f"    {line}" if line.startswith(("rlsum ", "accelerate ")) else line for line in text.splitlines()]
    return "\n".join(lines)


def reward_page(name: str) -> str:
    """A reward: what `rlsum rewards NAME` prints, an example, and the section of its family in ``FAMILIES``."""
    import rewards

    described = rewards.describe(name)
    lines = [f"# {name}", "", described.text, "", described.scores, "", "```sh", f"rlsum rewards {name}", "```"]
    lines += ["", "```python", "import rewards", "", f"reward = rewards.from_spec({described.written!r})", "```"]
    if described.explained:
        lines += table("option", "default", "meaning")
    for key, option in described.explained.items():
        shown = "required" if option.default == "..." else f"`{option.default}`"
        choices = ", ".join(f"`{choice}`" for choice in option.choices)
        lines.append(row(f"`{key}`", shown, "; ".join(filter(None, (choices, option.range, option.meaning)))))
    title, text = family(name)
    lines += ["", f"## {title}" if title != name else "## More", "", text] if text else []
    place = PurePosixPath("docs/reference/rewards.md")
    return relinked("\n".join(lines), place, PurePosixPath(f"reference/rewards/{name}.md"))


def family(name: str) -> tuple[str, str]:
    """The section of a reward in ``FAMILIES``: title and text, empty for one of which its class says all."""
    for section in FAMILIES.read_text(encoding="utf-8").split("\n## ")[1:]:
        title, _, text = section.partition("\n")
        if name in title.split(", "):
            return title, text.strip().replace("\n### ", "\n#### ")
    return "", ""


def columns() -> str:
    """The options of columns of judgments in other layouts."""
    from rewards.options import meanings
    from rlsum.judgments.layout import Layout

    return "\n".join(f"- `{Layout.option(name)}`: {meaning}." for name, meaning in meanings(Layout).items())


def readers() -> str:
    """The readers of public judgments: options, and what they say of themselves."""
    from rlsum.judgments.public import HUB, READERS

    lines: list[str] = []
    for name, place in READERS.items():
        reader = pkgutil.resolve_name(place)
        keywords = [p for p in inspect.signature(reader).parameters.values() if p.kind is p.KEYWORD_ONLY]
        options = ", ".join(f"{option.name}={option.default}" for option in keywords)
        text = (inspect.getdoc(reader) or "").replace("``", "`")
        lines += ["", f"### {name}", "", f"`{name}({options})`" if keywords and name != HUB else "", "", text]
    return "\n".join(lines)


# ---- Python ---------------------------------------------------------------------------------------------------------

EXAMPLE = re.compile(r"^(>>> .*?)(?=\n\n|\Z)", re.MULTILINE | re.DOTALL)
MODULES = {  # what the page on Python documents: module -> names beside those of its __all__
    "rlsum.api": (),
    "rlsum.scoring.scored": ("Scored",),
    "rlsum.scoring.evaluation": ("Evaluation",),
    "rlsum.judgments.collection": ("Judgments", "Judgment"),
    "rlsum.judgments.layout": ("JudgmentColumns",),
    "rlsum.meta_evaluation.report": ("MetaEvaluation",),
    "rlsum.explain.explained": ("Explained",),
    "rlsum.training.run": ("Run",),
    "rlsum.compare.running": ("Compared",),
    "rlsum.drafts.drafted": ("Drafted",),
    "rlsum.records": ("Output", "read_outputs", "write_outputs"),
    "rewards": (),
    "rewards.adapters.trl": ("reward_function",),
    "rewards.adapters.columns": ("scored",),
    "human_eval.study": ("Study", "StudyKey", "Criterion", "Task"),
}


def python_reference() -> str:
    """Every documented name of ``MODULES`` with its signature, its text, and the fields of a dataclass."""
    lines: list[str] = []
    for module, names in MODULES.items():
        imported = importlib.import_module(module)
        lines += ["", f"## {module}"]
        for name in names or sorted(imported.__all__, key=str.lower):
            lines += documented(name, getattr(imported, name))
    return "\n".join(lines)


def documented(name: str, value: Any) -> list[str]:
    """A class or a function as Markdown, or a constant as its value."""
    from rewards.options import meanings

    if not (inspect.isclass(value) or inspect.isfunction(value)):
        return ["", f"### {name}", "", f"`{value}`"]
    text = EXAMPLE.sub(r"```pycon\n\1\n```", (inspect.getdoc(value) or "").replace("``", "`"))
    lines = ["", f"### {name}", "", "```text", declaration(name, value), "```", "", text]
    fields = dataclasses.fields(value) if dataclasses.is_dataclass(value) else ()
    explained = meanings(value) if fields else {}
    for explaining in reversed(getattr(value, "EXPLAINED_BY", ())):
        explained = meanings(explaining) | explained
    if fields:
        lines += table("field", "type", "default", *(["meaning"] if explained else []))
    for field in fields:
        made = field.default_factory is not dataclasses.MISSING
        stated = getattr(field.default, "default", field.default)  # pydantic keeps it in a Field
        default = "empty" if made else "required" if stated is dataclasses.MISSING else f"`{stated!r}`"
        meaning = [explained.get(field.name, "").replace("``", "`")] if explained else []
        lines.append(row(f"`{field.name}`", f"`{field.type}`", default, *meaning))
    if inspect.isclass(value):
        lines += [
            f"- `{method}{signature(function)}`: {summary(function)}"
            for method, function in inspect.getmembers(value, inspect.isfunction)
            if not method.startswith("_") and function.__module__.startswith(("rlsum", "rewards", "human_eval"))
        ]
    return lines


def declaration(name: str, value: Any) -> str:
    """A class, or a function with its arguments, one a line where there are many."""
    if inspect.isclass(value):
        return f"class {name}"
    short = name + signature(value)
    return short if len(short) <= 100 else name + signature(value, ",\n    ")


def signature(function: Any, separator: str = ", ") -> str:
    """The arguments of a function with their types as they are written; a default that is a function by its name."""
    declared = inspect.signature(function)
    arguments: list[str] = []
    for argument in declared.parameters.values():
        if argument.kind is argument.KEYWORD_ONLY and "*" not in arguments:
            arguments.append("*")
        kind = "" if argument.annotation is argument.empty else f": {argument.annotation}"
        default = "" if argument.default is argument.empty else f" = {named(argument.default)}"
        arguments.append(argument.name + kind + default)
    returned = "" if declared.return_annotation is declared.empty else f" -> {declared.return_annotation}"
    return f"({separator.join(arguments)}){returned}"


def named(value: Any) -> str:
    """A default as it is written."""
    return getattr(value, "__name__", None) or repr(value)


def summary(function: Any) -> str:
    """The first sentence of a docstring, on one line."""
    return " ".join((inspect.getdoc(function) or "").split("\n\n")[0].split()).replace("``", "`")


def row(*cells: str) -> str:
    """A row of a Markdown table."""
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
