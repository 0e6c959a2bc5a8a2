"""``rlsum configs``: the configurations of the package."""

from __future__ import annotations

from typing import Annotated

import typer
import yaml

from rlsum import yaml_files


def configs(name: Annotated[str | None, typer.Argument(help="Name of a configuration, to print it.")] = None) -> None:
    """List the configurations that `rlsum train NAME` knows, all or those of a folder, or print one of them to change.

    A printed configuration includes what it takes from its `base`. Those of `accelerate` are for its launcher.

    **Examples**

    rlsum configs

    rlsum configs demo/sms > mine.yaml
    """
    names = yaml_files.names()
    listed = [entry for entry in names if name is None or entry.startswith(f"{name}/")]
    if name is not None and not listed:
        typer.echo(_printed(name), nl=False)
    for entry in listed:
        typer.echo(f"{entry:{max(map(len, names))}}  {yaml_files.summary(entry)}")


def _printed(name: str) -> str:
    path = yaml_files.locate(name)
    text = path.read_text(encoding="utf-8")
    if "base" not in (yaml_files.parse(text) or {}):
        return text
    merged = yaml.safe_dump(yaml_files.read(path), sort_keys=False, allow_unicode=True, width=120)
    return f"# {yaml_files.summary(name)}.\n{merged}"
