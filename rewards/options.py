"""Options as written -> arguments of the right type, checked against a constructor before anything loads."""

from __future__ import annotations

import ast
import dataclasses
import difflib
import functools
import inspect
import itertools
import math
import operator
import os
import textwrap
import types
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Literal, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

from rewards.errors import RewardError

Arguments = ParamSpec("Arguments")
Options = TypeVar("Options")
Built = TypeVar("Built")

TRUE, FALSE, NONE = ("true", "yes", "on", "1"), ("false", "no", "off", "0"), ("none", "null", "")
# The limits of annotated_types, which pydantic reads, too: attribute -> what must hold, and how it is written.
BOUNDS = {"ge": (operator.ge, ">="), "gt": (operator.gt, ">"), "le": (operator.le, "<="), "lt": (operator.lt, "<")}


def bind(name: str, build: Callable[..., Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """``options`` as the annotations of ``build`` ask. Raises RewardError for an unknown, missing or wrong option."""
    accepted = parameters(name, build)
    unknown = [option for option in options if option not in accepted]
    if unknown:
        fix = f"its options are {', '.join(accepted)}" if accepted else "it takes none"
        raise RewardError(f"{name}: unknown option {unknown[0]!r}{nearest(unknown[0], accepted)}; {fix}")
    missing = [key for key, field in accepted.items() if field.default is field.empty and key not in options]
    if missing:
        hint = "; if it is a reward itself, its first argument must be named candidates" if ":" in name else ""
        raise RewardError(f"{name}: option {missing[0]!r} is required; write {name}({missing[0]}=...){hint}")
    return {key: coerce(f"{name}: {key}", value, accepted[key].annotation) for key, value in options.items()}


def takes(options: Callable[Arguments, Options]) -> Callable[[Callable[[Options], Built]], Callable[Arguments, Built]]:
    """Decorate a function or a class of one dataclass ``options``, so that it takes the fields as its arguments.

    ``describe`` reads their meaning under the fields; ``check_spec`` makes one, so ``__post_init__`` may raise.
    """

    def decorate(build: Callable[[Options], Built]) -> Callable[Arguments, Built]:
        built: Any = build
        if inspect.isclass(build):
            initialize: Any = built.__init__

            def init(self: Any, *args: Arguments.args, **kwargs: Arguments.kwargs) -> None:
                initialize(self, options(*args, **kwargs))

            built.__init__ = init
        else:

            @functools.wraps(build)
            def builder(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Built:
                return build(options(*args, **kwargs))

            built = builder
        built.options, built.__signature__ = options, inspect.signature(options)
        made_of: Callable[Arguments, Built] = built
        return made_of

    return decorate


def meanings(kind: type) -> dict[str, str]:
    """What the fields of a dataclass mean: the string under each, in one line; {} of what was typed at a prompt.

    Reads the source, also of its bases.
    """
    explained: dict[str, str] = {}
    for base in filter(dataclasses.is_dataclass, reversed(kind.__mro__)):
        try:
            (written,) = ast.parse(textwrap.dedent(inspect.getsource(base))).body
        except (OSError, TypeError):  # no file
            continue
        for pair in itertools.pairwise(getattr(written, "body", ())):
            match pair:
                case ast.AnnAssign(target=ast.Name(name)), ast.Expr(ast.Constant(str(meaning))):
                    explained[name] = " ".join(meaning.split())
    return explained


def parameters(name: str, build: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """The options that ``build`` takes, annotations evaluated."""
    try:
        kind: Any = getattr(build, "options", build)
        if dataclasses.is_dataclass(kind):  # its fields may be those of another module
            hints = get_type_hints(kind, include_extras=True)
            declared = inspect.signature(build).parameters
            return {key: field.replace(annotation=hints[key]) for key, field in declared.items()}
        fields = inspect.signature(build, eval_str=True).parameters
    except NameError as error:
        raise RewardError(
            f"{name}: its annotations cannot be read ({error}); import their names at run time"
        ) from error
    return {key: field for key, field in fields.items() if field.kind not in (field.VAR_KEYWORD, field.VAR_POSITIONAL)}


def nearest(word: str, known: Iterable[str]) -> str:
    """``"; did you mean 'x'?"``, or "" if no known word is similar."""
    close = difflib.get_close_matches(word.lower(), list(known), n=1, cutoff=0.5)
    return f"; did you mean {close[0]!r}?" if close else ""


def coerce(label: str, value: Any, annotation: Any) -> Any:
    """``value`` as ``annotation`` asks (int, float, bool, str, Literal, optional ones); other types pass unchanged."""
    if get_origin(annotation) is Annotated:
        value = coerce(label, value, annotation.__origin__)
        for check in annotation.__metadata__:
            if callable(check):  # may raise RewardError
                check(value)
        if any(not holds(value, limit) for holds, _, limit in _limits(annotation.__metadata__)):
            raise RewardError(f"{label}={value} must be {bounds(annotation.__metadata__)}")
        return value
    if get_origin(annotation) is Literal:
        return _choice(label, value, get_args(annotation))
    if get_origin(annotation) in (Union, types.UnionType):
        return _optional(label, value, get_args(annotation))
    if annotation is bool:
        return _boolean(label, value)
    if annotation is int or annotation is float:
        return _number(label, value, annotation)
    if annotation is str:
        if not isinstance(value, str | os.PathLike):
            raise RewardError(f"{label} must be text, not {value!r}")
        return os.fspath(value)
    return value


def choices(annotation: Any) -> tuple[str, ...]:
    """What a Literal in the annotation lists; () without one."""
    if get_origin(annotation) is Literal:
        return tuple(map(str, get_args(annotation)))
    return next((listed for member in get_args(annotation) if (listed := choices(member))), ())


def metadata(annotation: Any) -> tuple[Any, ...]:
    """What Annotated adds to the annotation or to a member of a union."""
    added = getattr(annotation, "__metadata__", ())
    return (*added, *(entry for member in get_args(annotation) for entry in metadata(member)))


def bounds(metadata: Iterable[Any]) -> str:
    """The limits in the metadata of an annotation: ``>= 0, < 1``; "" without any."""
    return ", ".join(f"{sign} {limit:g}" for _, sign, limit in _limits(metadata))


def _limits(metadata: Iterable[Any]) -> list[tuple[Callable[[Any, Any], bool], str, float]]:
    rows = ((*BOUNDS[name], getattr(limit, name, None)) for limit in metadata for name in BOUNDS)
    return [(holds, sign, limit) for holds, sign, limit in rows if limit is not None]


def _choice(label: str, value: Any, choices: tuple[Any, ...]) -> Any:
    value = "none" if value is None else value
    for choice in choices:
        if value == choice or str(value) == str(choice):
            return choice
    names = [str(choice) for choice in choices]
    raise RewardError(f"{label}={value!r} is not one of {', '.join(names)}{nearest(str(value), names)}")


def _optional(label: str, value: Any, members: tuple[Any, ...]) -> Any:
    if type(None) in members and (value is None or (isinstance(value, str) and value.lower() in NONE)):
        return None
    plain = [member for member in members if member is not type(None)]
    return coerce(label, value, plain[0]) if len(plain) == 1 else value


def _boolean(label: str, value: Any) -> bool:
    word = str(value).lower()
    if word in TRUE or word in FALSE:
        return word in TRUE
    raise RewardError(f"{label} must be true or false, not {value!r}")


def _number(label: str, value: Any, kind: type[int] | type[float]) -> int | float:
    expected = "a whole number" if kind is int else "a finite number"
    try:
        number = math.nan if isinstance(value, bool) or not isinstance(value, int | float | str) else float(value)
    except ValueError:
        number = math.nan
    if not math.isfinite(number) or (kind is int and number != int(number)):
        raise RewardError(f"{label} must be {expected}, not {value!r}")
    return kind(number)
