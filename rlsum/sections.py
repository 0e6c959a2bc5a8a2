"""Mappings of YAML -> dataclasses of sections. All faults are reported at once; an unknown key names its place."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from rlsum.errors import ConfigError
from rlsum.models.kinds import KINDS
from rlsum.models.options import STRICT

Schema = TypeVar("Schema")
NAME = "NAME"  # stands for any name that a user gives, as in decoding.NAME.beam
MOST_NAMED = 4  # places that a fault suggests
TYPED_WRONG = 0.85  # a key this similar to one of its own section is a typing error, whatever other sections have


def check_as(schema: type[Schema], values: Mapping[str, Any], origin: str, further: Sequence[str] = ()) -> Schema:
    """Make a dataclass of sections, such as Config, of a mapping. Raises ConfigError with every fault.

    ``further``: known keys in sections that ``schema`` has as plain mappings, dotted as in ``known_keys``.
    """
    try:
        made = TypeAdapter(schema).validate_python(values)
    except ValidationError as error:
        faults = [line for fault in error.errors() for line in _explain(fault, [*known_keys(schema), *further])]
        raise _refused(origin, faults) from error
    if faults := list(_switches_as_numbers(values, made)):
        raise _refused(origin, faults)
    return made


def known_keys(schema: Any, prefix: str = "") -> list[str]:
    """Every key of a dataclass of sections, dotted, sections before their keys; ``NAME`` where any name may stand."""
    keys: list[str] = []
    for name, hint in get_type_hints(schema).items():
        if name in {field.name for field in dataclasses.fields(schema)}:
            keys.append(prefix + name)
            for kind in _sections_in(hint):
                keys += known_keys(kind, f"{prefix}{name}.{NAME}." if get_origin(hint) is dict else f"{prefix}{name}.")
    return list(dict.fromkeys(keys))


def left_open(*kinds: Any, without: Sequence[str] = ()) -> Any:
    """A dataclass with the keys of sections, each None where it is left to another place.

    Its ranges and texts are those of the sections: ``EXPLAINED_BY``.
    """
    body: dict[str, Any] = {"EXPLAINED_BY": kinds, "__annotations__": {}}
    for kind in kinds:
        hints = get_type_hints(kind)
        for name, field in kind.__pydantic_fields__.items():
            if name not in without:
                hint = hints[name] | None
                body["__annotations__"][name] = Annotated[hint, *field.metadata] if field.metadata else hint
                body[name] = None
    return dataclass(frozen=True, kw_only=True, config=STRICT)(type("Open", (), body))


def names_of(*kinds: Any) -> list[str]:
    """The names of the fields of dataclasses."""
    return [field.name for kind in kinds for field in dataclasses.fields(kind)]


def _sections_in(hint: Any) -> Iterator[type]:
    if dataclasses.is_dataclass(hint):
        yield hint  # type: ignore[misc]
    for member in get_args(hint):
        yield from _sections_in(member)


def places_of(written: str, known: Sequence[str]) -> list[str]:
    """The known keys that a wrong one may mean: of the same last word, or its initials, else of the most similar.

    Of several with this word: those of the same section, else of a section of this name, else the least deep.
    """
    section, _, word = written.lower().replace("-", "_").rpartition(".")
    words = {key: key.rpartition(".")[2] for key in known}
    in_section = {key: last for key, last in words.items() if _inside(key.rpartition(".")[0], section)}
    meant = (
        *get_close_matches(word, in_section.values(), n=1, cutoff=TYPED_WRONG),
        *(last for last in words.values() if word in (last, "".join(piece[0] for piece in last.split("_")))),
        *get_close_matches(word, in_section.values(), n=1),
        *get_close_matches(word, words.values(), n=1),
    )
    named = [key for key, last in words.items() if last == next(iter(meant), None)]
    alike = [key for key in named if f".{key}".endswith(f".{section}.{words[key]}")]
    named = [key for key in named if key in in_section] or alike or named
    return [key for key in named if key.count(".") == min(name.count(".") for name in named)][:MOST_NAMED]


def _inside(known: str, section: str) -> bool:
    """Whether a section of a file is the known one, in which any name may stand for ``NAME``."""
    levels, names = known.split("."), section.split(".")
    return len(levels) == len(names) and all(level in (NAME, name) for level, name in zip(levels, names, strict=True))


def _refused(origin: str, faults: Sequence[str]) -> ConfigError:
    return ConfigError(f"{origin}: {len(faults)} fault(s)\n" + "\n".join(f"  {line}" for line in faults))


def _switches_as_numbers(written: Any, made: Any, key: str = "") -> Iterator[str]:
    """Where a number was read from true or false: YAML writes true as yes and on, too, and pydantic makes it 1."""
    if isinstance(written, bool):
        if not isinstance(made, bool) and isinstance(made, int | float):
            yield f"{key}: must be a number, not {str(written).lower()}, which YAML also reads from yes, no, on and off"
    elif isinstance(written, Mapping):
        for name, value in written.items():
            inner = made.get(name) if isinstance(made, Mapping) else getattr(made, str(name), None)
            yield from _switches_as_numbers(value, inner, f"{key}.{name}" if key else str(name))
    elif isinstance(written, list | tuple) and isinstance(made, list | tuple):
        for number, (value, inner) in enumerate(zip(written, made, strict=True)):
            yield from _switches_as_numbers(value, inner, f"{key}.{number}")


def _explain(fault: Any, known: Sequence[str]) -> Iterator[str]:
    key = ".".join(str(place) for place in fault["loc"] if place not in KINDS)
    kind = next((place for place in fault["loc"] if place in KINDS), None)
    if fault["type"] == "unexpected_keyword_argument":
        yield from _unknown(key, fault["input"], known, kind)
    else:
        yield _wrong(key, fault)


def _unknown(key: str, value: Any, known: Sequence[str], kind: str | None) -> Iterator[str]:
    """An unknown key, or those in an unknown section: each with where it belongs. ``kind``: of model, if it is its."""
    if isinstance(value, Mapping) and value:
        for name, inner in value.items():
            yield from _unknown(f"{key}.{name}", inner, known, kind)
    elif key in known and kind is not None:
        owners = [name for name, row in KINDS.items() if key.split(".")[1] in names_of(row.options)]
        yield f"{key}: of kind {' or '.join(owners)}, not {kind}; set model.kind, or leave it out"
    elif key in known:  # written with its dots, as on the command line
        section, _, last = key.rpartition(".")
        yield f"{key}: in a file, write {last} in the section {section}"
    else:
        places = places_of(key, known)
        yield f"{key}: unknown key" + (f"; did you mean {' or '.join(places)}?" if places else "")


def _wrong(key: str, fault: Any) -> str:
    if fault["type"] == "union_tag_invalid":
        return f"{key}.kind: must be {' or '.join(KINDS)} (got {fault['ctx']['tag']!r})"
    if fault["type"] == "missing":
        return f"{key}: missing; give it in the file or as {key}=..."
    if fault["type"] == "dataclass_type":
        return f"{key}: must be a section (a mapping), not {fault['input']!r}"
    if fault["type"] == "string_type" and isinstance(fault["input"], dict):  # an unquoted text with a colon in it
        return f"{key}: must be a text, not {fault['input']!r}; quote it, as in '{key}=\"...\"'"
    if fault["type"] == "tuple_type":
        example = f"; write [{fault['input']}]" if isinstance(fault["input"], str | int) else ""
        return f"{key}: must be a list, not {fault['input']!r}{example}"
    if fault["type"] == "dict_type":
        names = fault["input"] if isinstance(fault["input"], list) else [fault["input"]]
        pairs = ", ".join(f"{name}: {name}" if isinstance(name, str) else "NAME: ..." for name in names)
        return f"{key}: must be a mapping, not {fault['input']!r}; write {{{pairs}}}"
    message = fault["msg"].removeprefix("Value error, ")
    if not key:  # a fault between sections names its keys itself
        return message
    return f"{key}: {message} (got {fault['input']!r})" if not isinstance(fault["input"], dict) else f"{key}: {message}"
