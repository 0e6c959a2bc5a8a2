"""Every key of a configuration with its default and meaning, read from the dataclasses and their docstrings."""

from __future__ import annotations

import dataclasses
import inspect
import re
from typing import Any, Literal, get_args, get_origin, get_type_hints

from rlsum.config import Config, DataConfig, Training, VocabularyConfig
from rlsum.models.decoding import Decoding, Sampling
from rlsum.models.sizes import LoraConfig, PointerGeneratorConfig, Seq2SeqConfig
from rlsum.objective import Objective

# The name of each section, as in YAML; two kinds of model share one, and the top level has none.
SECTIONS: dict[str, type] = {
    "run": Config,
    "data": DataConfig,
    "vocabulary": VocabularyConfig,
    "model": PointerGeneratorConfig,
    "model (kind: seq2seq)": Seq2SeqConfig,
    "model.lora": LoraConfig,
    "objective": Objective,
    "training": Training,
    "decoding": Decoding,
    "sampling": Sampling,
}
LINE = re.compile(r"^([a-z_]+(?:, [a-z_]+)*) {2,}(\S.*)$")


@dataclasses.dataclass(frozen=True)
class Key:
    """A key: its ``default`` (``required`` without one), its ``values`` if the type lists them, its ``meaning``."""

    name: str
    default: str
    values: tuple[str, ...]
    meaning: str


def keys(section: str) -> list[Key]:
    """The keys of a section of ``SECTIONS`` in their order; sub-sections are left out."""
    return keys_of(SECTIONS[section])


def keys_of(kind: type) -> list[Key]:
    """The keys of a dataclass whose docstring has a line for each, such as a comparison."""
    meanings, hints = explained(kind), get_type_hints(kind, include_extras=True)
    fields = [field for field in dataclasses.fields(kind) if kind is not Config or field.name in meanings]
    return [Key(field.name, default(field), _values(hints[field.name]), meanings[field.name]) for field in fields]


def explained(kind: type) -> dict[str, str]:
    """Name -> meaning, from the lines ``name  meaning`` of a docstring. Indented lines continue the one before."""
    found: dict[str, str] = {}
    names: list[str] = []
    for line in (inspect.getdoc(kind) or "").splitlines():
        if match := LINE.match(line):
            names = match[1].split(", ")
            found |= dict.fromkeys(names, match[2])
        elif line.startswith("    ") and names:
            found |= {name: f"{found[name]} {line.strip()}" for name in names}
        else:
            names = []
    return found


def default(field: Any) -> str:
    """A field's default as YAML writes it, and ``required`` without one."""
    value = getattr(field.default, "default", field.default)  # pydantic keeps it in a Field
    if field.default_factory is not dataclasses.MISSING:  # a mapping: its names
        value = tuple(field.default_factory()) or None
    if value is dataclasses.MISSING or repr(value) == "PydanticUndefined":
        return "required"
    if value is None or isinstance(value, bool):
        return {None: "none", True: "true", False: "false"}[value]
    if isinstance(value, tuple):
        return f"[{', '.join(map(str, value))}]"
    return (value if value.strip() else f'"{value}"') if isinstance(value, str) else f"{value:g}"


def _values(hint: Any) -> tuple[str, ...]:
    if get_origin(hint) is Literal:
        return tuple(str(value) for value in get_args(hint))
    return next((found for part in get_args(hint) if (found := _values(part))), ())
