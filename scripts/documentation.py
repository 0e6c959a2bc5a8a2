"""A hook of mkdocs: pages from outside ``docs/``, and the reference, generated from what the code says of itself.

    mkdocs build            # or: make docs

Links between Markdown files work in the repository and on the site: the hook follows the files that it moves, and
copies the source files that pages link to.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

    from rlsum.config_reference import Key

ROOT = Path(__file__).resolve().parent.parent
MOVED = {  # file of the repository -> page of the site
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "human_eval/README.md": "human_eval_tour.md",
}
LINK = re.compile(r"\]\((?!https?://|#)([^)#\s]+)((?:#[^)\s]*)?)\)")


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
    """The links of a page in ``docs/``, as they are on the site."""
    name = PurePosixPath("docs", page.file.src_uri)
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
    return {
        "reference/configuration.md": configuration_page(),
        "reference/commands.md": commands_page(),
        "reference/rewards.md": rewards_page(),
    }


def configuration_page() -> str:
    """Every key of a configuration; `rlsum train --keys` prints the same."""
    from rlsum.compare.config import Comparison
    from rlsum.config_reference import SECTIONS, keys, keys_of

    lines = ["# Configuration", "", "The keys of a run. [Training](../training.md) says how to use them."]
    for section in SECTIONS:
        lines += ["", f"## {section}", "", *table_of(keys(section))]
    lines += ["", "## A comparison", "", "Of `rlsum compare`; see [Comparing rewards](../compare.md).", ""]
    return "\n".join([*lines, *table_of(keys_of(Comparison))])


def table_of(keys: Iterable[Key]) -> list[str]:
    """Keys of a configuration as a table."""
    lines = ["| key | default | values | meaning |", "|---|---|---|---|"]
    for key in keys:
        values = ", ".join(f"`{value}`" for value in key.values) if len(key.values) > 1 else key.range
        lines.append(row(f"`{key.name}`", f"`{key.default}`", values, key.meaning.replace("``", "`")))
    return lines


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
        lines += [
            "",
            f"## {path}",
            "",
            as_markdown(command.help or ""),
            "",
            "| option | default | meaning |",
            "|---|---|---|",
        ]
        for parameter in command.params:
            name = " ".join(f"`{option}`" for option in [*parameter.opts, *parameter.secondary_opts])
            shown = "required" if parameter.required else "" if parameter.default is None else f"`{parameter.default}`"
            lines.append(row(name, shown, getattr(parameter, "help", None) or ""))
    return "\n".join(lines)


def as_markdown(text: str) -> str:
    """The help of a command: its example lines become a block of code."""
    lines = [f"    {line}" if line.startswith(("rlsum ", "accelerate ")) else line for line in text.splitlines()]
    return "\n".join(lines)


def rewards_page() -> str:
    """Every reward with its options, as `rlsum rewards NAME` prints them."""
    import rewards

    lines = ["# Rewards", "", "Formulas, floors and advice are in [Rewards](../rewards.md)."]
    for name in rewards.base.TABLE:
        described = rewards.describe(name)
        lines += ["", f"## {name}", "", described.text, "", described.scores]
        if described.explained:
            lines += ["", "| option | default | meaning |", "|---|---|---|"]
        for key, option in described.explained.items():
            shown = "required" if option.default == "..." else f"`{option.default}`"
            choices = f"{', '.join(f'`{choice}`' for choice in option.choices)}; " if option.choices else ""
            lines.append(row(f"`{key}`", shown, choices + option.meaning))
    return "\n".join(lines)


def row(*cells: str) -> str:
    """A row of a Markdown table."""
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
