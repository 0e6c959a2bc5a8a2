"""The site of the documentation builds without a warning: every link, anchor and page exists."""

from __future__ import annotations

import re
import shutil
from dataclasses import fields
from pathlib import Path, PurePosixPath

import documentation
import pytest

import rewards
from rlsum import api
from rlsum.config_reference import SECTIONS
from rlsum.judgments.layout import Layout
from rlsum.training.trainer import FIELDS

ROOT = documentation.ROOT


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    folder = tmp_path_factory.mktemp("site")
    config = load_config(str(ROOT / "mkdocs.yml"), site_dir=str(folder), strict=True)
    config.plugins.on_startup(command="build", dirty=False)
    build(config)  # raises Abort for any warning
    return folder


def test_every_page_is_on_the_site(site):
    pages = {path.relative_to(ROOT / "docs").with_suffix(".html") for path in (ROOT / "docs").rglob("*.md")}
    pages |= {Path(page).with_suffix(".html") for page in documentation.MOVED.values()}
    assert {page for page in pages if not (site / page).is_file()} == set()
    navigation = (site / "index.html").read_text(encoding="utf-8")
    assert [str(page) for page in pages if f'href="{page}"' not in navigation and page.name != "index.html"] == []


def test_the_reference_has_every_key_command_and_reward(site):
    configuration = (site / "reference" / "configuration.html").read_text(encoding="utf-8")
    assert all(f">{section}<" in configuration.replace("\u00b6", "") for section in SECTIONS if "(" not in section)
    assert "<code>normalisation</code>" in configuration
    commands = (site / "reference" / "commands.html").read_text(encoding="utf-8")
    assert "rlsum human-eval build" in commands
    assert "<code>--init</code>" in commands
    log = (site / "reference" / "log.html").read_text(encoding="utf-8")
    assert [name for name in FIELDS if f"<code>{name}</code>" not in log] == []
    judgments = (site / "reference" / "judgments.html").read_text(encoding="utf-8")
    assert [
        field.name for field in fields(Layout) if f"<code>{Layout.option(field.name)}</code>" not in judgments
    ] == []
    for name in rewards.base.TABLE:
        text = (site / "reference" / "rewards" / f"{name}.html").read_text(encoding="utf-8")
        assert [o for o in rewards.describe(name).options if f"<code>{o}</code>" not in text] == [], name


def test_the_page_on_python_has_every_public_name_and_field(site):
    text = (site / "reference" / "python.html").read_text(encoding="utf-8")
    names = [*api.__all__, *rewards.__all__, *(field.name for field in fields(api.Generating))]
    assert [name for name in names if f'id="{name.lower()}' not in text and f"<code>{name}</code>" not in text] == []


def test_linked_source_files_are_copied_and_nothing_is_loaded_from_elsewhere(site):
    assert (site / "source" / "rlsum" / "training" / "update.py").is_file()
    home = (site / "index.html").read_text(encoding="utf-8")
    loaded = re.findall(r"<(?:script|link)[^>]* (?:src|href)=[\"']?(https?://[^\"' >]+)", home)
    assert loaded == []


def test_links_follow_files_to_their_pages():
    def linked(text, file, page):
        return documentation.relinked(text, PurePosixPath(file), PurePosixPath(page))

    assert linked("[a](docs/guides/a.md#x)", "README.md", "index.md") == "[a](guides/a.md#x)"
    assert linked("[a](../../CONTRIBUTING.md)", "docs/results/demo.md", "results/demo.md") == "[a](../contributing.md)"
    assert linked("[a](../../rlsum/x.py)", "docs/concepts/a.md", "concepts/a.md") == "[a](../source/rlsum/x.py)"
    assert linked("[a](https://x.org/y) [b](#here)", "README.md", "index.md") == "[a](https://x.org/y) [b](#here)"


def test_a_broken_link_fails_the_build(tmp_path):
    from mkdocs.commands.build import build
    from mkdocs.config import load_config
    from mkdocs.exceptions import Abort

    shutil.copy(ROOT / "mkdocs.yml", tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("[gone](nowhere.md)", encoding="utf-8")
    config = load_config(str(tmp_path / "mkdocs.yml"), site_dir=str(tmp_path / "site"), hooks=[], nav=None, strict=True)
    with pytest.raises(Abort):
        build(config)
