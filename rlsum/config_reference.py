"""Every key of a configuration with its default, range and meaning, read where the dataclasses declare it."""

from __future__ import annotations

import dataclasses
from typing import Any

from pydantic.fields import FieldInfo

from rewards.options import bounds, choices, meanings
from rlsum.config import Config, DataConfig, Training, VocabularyConfig
from rlsum.models.decoding import Decoding, Sampling
from rlsum.models.kinds import DEFAULT, KINDS
from rlsum.models.pretrained.options import LoraConfig
from rlsum.objective import Objective

# The name of each section, as in YAML; two kinds of model share one, and the top level has none.
SECTIONS: dict[str, type] = {
    "run": Config,
    "data": DataConfig,
    "vocabulary": VocabularyConfig,
    **{"model" if name == DEFAULT else f"model (kind: {name})": kind.options for name, kind in KINDS.items()},
    "model.lora": LoraConfig,
    "objective": Objective,
    "training": Training,
    "decoding": Decoding,
    "sampling": Sampling,
}


@dataclasses.dataclass(frozen=True)
class Key:
    """A key of a section.

    ``default``: as YAML writes it, ``required`` without one. ``values``, ``range``: what it may be, such as
    ``>= 0, < 1``; empty where the type says no more than its name. ``meaning``: the string under the field.
    """

    name: str
    default: str
    values: tuple[str, ...]
    range: str
    meaning: str


def keys(section: str) -> list[Key]:
    """The keys of a section of ``SECTIONS`` in their order; sub-sections are left out."""
    return keys_of(SECTIONS[section])


def keys_of(kind: Any) -> list[Key]:
    """The keys of a dataclass of pydantic that have a string under them."""
    fields, explained = kind.__pydantic_fields__, meanings(kind)
    return [
        Key(name, _default(field), choices(field.annotation), bounds(field.metadata), explained[name])
        for name, field in fields.items()
        if name in explained
    ]


def _default(field: FieldInfo) -> str:
    value: Any = field.default
    if field.default_factory is not None:  # a mapping: its names
        value = tuple(field.get_default(call_default_factory=True)) or None
    if field.is_required():
        return "required"
    if value is None or isinstance(value, bool):
        return {None: "none", True: "true", False: "false"}[value]
    if isinstance(value, tuple):
        return f"[{', '.join(map(str, value))}]"
    return (value if value.strip() else f'"{value}"') if isinstance(value, str) else f"{value:g}"
