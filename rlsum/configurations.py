"""The configurations that the package holds, by name: ``demo/sms`` is ``rlsum/configs/demo/sms.yaml``."""

from __future__ import annotations

import difflib
from importlib import resources
from pathlib import Path

from rlsum.errors import ConfigError

LAUNCHER = "accelerate"  # files for accelerate's launcher; the others are runs


def folder() -> Path:
    """Where they are."""
    return Path(str(resources.files("rlsum"))) / "configs"


def names() -> list[str]:
    """All names, in order."""
    return sorted(path.relative_to(folder()).with_suffix("").as_posix() for path in folder().rglob("*.yaml"))


def locate(written: str | Path) -> Path:
    """The file that ``written`` names: a path, or where there is none, a name. Raises ConfigError."""
    path = Path(written)
    if path.exists():
        return path
    name = str(written).removesuffix(".yaml")
    if name in names():
        return folder() / f"{name}.yaml"
    near = difflib.get_close_matches(name.removeprefix("configs/"), names(), n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    raise ConfigError(
        f"{written}: cannot be read, no such file and no configuration of this name (`rlsum configs` lists them){hint}"
    )


def summary(name: str) -> str:
    """The first line of a configuration, which is a comment."""
    return locate(name).read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ").rstrip(".")
