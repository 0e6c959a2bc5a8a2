"""YAML files that build on each other with ``base: other.yaml`` or a name, and ``key=value`` overrides.

The package holds configurations by name: ``demo/sms`` is ``rlsum/configs/demo/sms.yaml``.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping, Sequence
from importlib import resources
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import yaml

from rewards.base import RewardError, resolve
from rewards.specs import as_spec
from rlsum.errors import ConfigError, UserError
from rlsum.files import bytes_of
from rlsum.readers import READERS

Overrides = Sequence[str] | Mapping[str, Any]  # ["training.steps=5"] or {"training.steps": 5}
File = str | PathLike[str]  # a path, or what `init`, `train` and `generate` return


def read(path: Path, overrides: Sequence[str] = ()) -> dict[str, Any]:
    """The mapping in a file, merged with its base files and ``section.key=value`` overrides. Raises ConfigError."""
    values = _read(locate(path), seen=())
    for override in overrides:
        _apply(values, override)
    return values


def _read(path: Path, seen: tuple[Path, ...]) -> dict[str, Any]:
    path = path.resolve()  # dir/../dir/file is the same file
    if path in seen:
        raise ConfigError(f"{path}: base files form a circle: {' -> '.join(str(p) for p in (*seen, path))}")
    try:
        values = parse(bytes_of(path).decode("utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read ({error}); give the path of a YAML file") from error
    except NotYaml as error:
        raise ConfigError(f"{path}:{error.line}: not YAML ({error})") from error
    if not isinstance(values, dict):
        raise ConfigError(f"{path}: must hold a mapping with keys such as run, data and training")
    return merge(base_of(values, path, seen=(*seen, path)), values)


def base_of(values: dict[str, Any], path: Path, key: str = "base", seen: tuple[Path, ...] = ()) -> dict[str, Any]:
    """Take ``base`` out of a section of the file ``path``; the mapping that it names, {} without. Raises ConfigError.

    ``base`` is a file relative to ``path``, or a name; ``key``: its place there; ``seen``: files that build on it.
    """
    base = values.pop("base", None)
    if base is None:
        return {}
    if not isinstance(base, str):
        raise ConfigError(f"{path}: {key}: must be the path of a YAML file, not {base!r}")
    beside = path.parent / base
    return _read(locate(beside if beside.exists() else base), seen)


MOST = 100_000  # values of a file; anchors that refer to anchors can write more than fit in memory


class _Loader(yaml.SafeLoader):
    """YAML that rejects duplicate keys: PyYAML keeps the last one and silently drops the others.

    It also rejects half a surrogate pair, a value within itself, and more than MOST values.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.values, self.repeated = 0, dict[str, int]()  # so far, and those of each anchor

    def compose_node(self, parent: Any, index: Any) -> Any:
        event, before = self.peek_event(), self.values
        mark: Any = event.start_mark
        if isinstance(event, yaml.AliasEvent) and event.anchor in self.anchors:
            if event.anchor not in self.repeated:
                raise yaml.MarkedYAMLError(problem=f"{event.anchor!r} is within itself", problem_mark=mark)
            self.values += self.repeated[event.anchor]
        node = super().compose_node(parent, index)
        if isinstance(event, yaml.NodeEvent) and not isinstance(event, yaml.AliasEvent):
            self.values += 1
            self.repeated |= {event.anchor: self.values - before} if event.anchor else {}
        if self.values > MOST:
            raise yaml.MarkedYAMLError(problem=f"more than {MOST:,} values", problem_mark=mark)
        return node

    def construct_object(self, node: Any, deep: bool = False) -> Any:
        self.line = node.start_mark.line  # for a value that is not of its type
        return super().construct_object(node, deep)

    def compose_scalar_node(self, anchor: Any) -> Any:
        node = super().compose_scalar_node(anchor)
        if any("\ud800" <= letter <= "\udfff" for letter in node.value):
            raise yaml.MarkedYAMLError(problem="half a surrogate pair", problem_mark=node.start_mark)
        return node

    def compose_mapping_node(self, anchor: Any) -> Any:
        node = super().compose_mapping_node(anchor)
        seen = set()
        for key, _ in node.value:
            name = (key.tag, key.value) if isinstance(key, yaml.ScalarNode) else id(key)
            if name in seen:
                raise yaml.MarkedYAMLError(problem=f"{key.value!r} is written twice", problem_mark=key.start_mark)
            seen.add(name)
        return node


class NotYaml(ValueError):
    """A text that is no YAML; the message is for one line, ``line`` is where reading stopped."""

    def __init__(self, reason: object, line: int) -> None:
        super().__init__(" ".join(str(reason).split())[:200])
        self.line = line


def parse(text: str) -> Any:
    """The content of YAML text. Raises NotYaml, also for what PyYAML passes on from Python."""
    reader: _Loader | None = None
    try:
        reader = _Loader(text)
        return reader.get_single_data()
    except yaml.reader.ReaderError as error:  # a character that YAML does not allow
        raise NotYaml(error.reason, text.count("\n", 0, error.position) + 1) from error
    except yaml.MarkedYAMLError as error:
        mark: Any = error.problem_mark or error.context_mark
        raise NotYaml(error.problem, mark.line + 1) from error
    except RecursionError as error:
        raise NotYaml("too many levels", _line(reader)) from error
    except (ValueError, LookupError, AttributeError) as error:  # no such day, thousands of digits, !!bool z, !!int ''
        raise NotYaml(f"a value is not of its type: {error}", _line(reader)) from error


def _line(reader: _Loader | None) -> int:
    return 1 if reader is None else reader.line + 1


def merge(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """Override ``base`` key by key, section by section; a reward's mapping is replaced whole."""
    merged = dict(base)
    for key, value in over.items():
        old = merged.get(key)
        sections = isinstance(old, dict) and isinstance(value, dict) and key != "reward"
        merged[key] = merge(old, value) if sections else value  # type: ignore[arg-type]
    return merged


def _apply(values: dict[str, Any], override: str) -> None:
    key, equals, text = override.partition("=")
    if not equals or not key:
        raise ConfigError(f"override {override!r}: write key=value, for example training.steps=100")
    *sections, last = key.split(".")
    for section in sections:
        values = values.setdefault(section, {})
        if not isinstance(values, dict):
            raise ConfigError(f"override {override!r}: {section} is {values!r}, not a section")
    try:
        values[last] = parse(text)
    except NotYaml as error:
        raise ConfigError(f"override {override!r}: the value is not YAML ({error})") from error


# ---- configurations of the package --------------------------------------------------------------------------------


def folder() -> Path:
    """Where they are."""
    return Path(str(resources.files("rlsum"))) / "configs"


def names() -> list[str]:
    """All names, in order."""
    return sorted(path.relative_to(folder()).with_suffix("").as_posix() for path in folder().rglob("*.yaml"))


def locate(written: str | Path) -> Path:
    """The file that ``written`` names: a path, or where there is none, a name. Raises ConfigError."""
    path = Path(written)
    data = path.suffix in READERS and path.suffix != ".json"  # JSON is YAML
    if path.exists() and not data:
        return path
    if path.exists():
        raise ConfigError(f"{path}: data, not a configuration; `rlsum init {path}` writes one for it")
    name = str(written).removesuffix(".yaml")
    if name in names():
        return folder() / f"{name}.yaml"
    near = [entry for entry in names() if entry.endswith(f"/{name}")]
    near += difflib.get_close_matches(name.removeprefix("configs/"), names(), n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    raise ConfigError(
        f"{written}: cannot be read, no such file and no configuration of this name (`rlsum configs` lists them){hint}"
    )


def summary(name: str) -> str:
    """The first line of a configuration, which is a comment."""
    return locate(name).read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ").rstrip(".")


def written(overrides: Overrides) -> list[str]:
    """What Python gives as ``key=value``, functions by their names. Raises UserError for one that no name finds."""
    if isinstance(overrides, Mapping):
        return [f"{key}={json.dumps(value, default=_named)}" for key, value in overrides.items()]
    return list(overrides)


def _named(value: Any) -> Any:
    """A path or a reward as a configuration names it."""
    if isinstance(value, PathLike):
        return fspath(value)
    spec = as_spec(value)  # raises RewardError for anything else
    try:
        named = bool(getattr(value, "written", None)) or resolve(spec.name) is value
    except RewardError:
        named = False
    if named:
        return spec.plain() if spec.options else spec.name
    fix = "define it in a module, script or notebook, outside of other functions and under its own name"
    raise UserError(f"{spec.name}: a configuration cannot name this function; {fix}")
