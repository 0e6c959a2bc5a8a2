"""A plain function as a reward: its parameters name what it reads."""

from __future__ import annotations

import ast
import hashlib
import inspect
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache
from importlib.util import resolve_name
from inspect import BoundArguments, Parameter
from pathlib import Path
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any

from rewards.errors import RewardError
from rewards.scoring import BaseReward, Inputs, Item, references_of, signature

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TEXTS = ("candidates", "references", "sources")
ALMOST = {  # names that would be columns by mistake
    **dict.fromkeys(("ref", "refs", "reference"), "references"),
    **dict.fromkeys(("src", "srcs", "source", "articles"), "sources"),
}
VARIADIC = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
OURS = ("rewards", "rlsum", "human_eval")
INSTALLED = {"site-packages", "dist-packages"}  # folders of libraries
STANDARD = Path(os.__file__).parent  # of Python's own


class Plain(BaseReward):
    """A plain function as a reward: ``function(candidates, references, sources, column, ...)``.

    Each parameter names what the function reads: ``references``, ``sources``, or a column of the dataset, which is
    optional if the parameter has a default. The signature is the function's name and the hash of its source, and of the
    Python files that it uses besides, libraries not among them; files that it opens are in no signature.
    """

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self.name = name
        self.function = function
        named = {_field(p): p for p in inspect.signature(function).parameters.values() if p.kind not in VARIADIC}
        if "columns" in named:
            example = f"def {name.rpartition(':')[2]}(candidates, references, sources, topic)"
            raise RewardError(f"{name}: a function has no argument 'columns'; it names each column it reads: {example}")
        for field in named:
            if field in ALMOST:
                raise RewardError(f"{name}: the parameter {field!r} would be a column; name it {ALMOST[field]!r}")
        columns = {field: parameter for field, parameter in named.items() if field not in TEXTS}
        self.columns = [field for field, parameter in columns.items() if parameter.default is Parameter.empty]
        self.optional_columns = [field for field in columns if field not in self.columns]
        if columns and any(p.kind is Parameter.VAR_POSITIONAL for p in inspect.signature(function).parameters.values()):
            raise RewardError(f"{name}: a function that reads columns cannot take *args; name what it reads")

    def scores(self, inputs: Inputs) -> NDArray[np.float64]:
        """What the function returns, as ``(n,)`` float64. Raises RewardError where it is not one number a candidate."""
        import numpy as np

        if inputs.references is not None:
            references_of(self.name, inputs)
        arguments = self._arguments(inputs)
        scores = np.asarray(self.function(*arguments.args, **arguments.kwargs), dtype=np.float64)
        if scores.shape != (len(inputs.candidates),):
            raise RewardError(f"{self.name} returned shape {scores.shape} for {len(inputs.candidates)} candidates")
        return scores

    @property
    def signature(self) -> str:
        """``module:attribute|source:hash``; the hash changes with the function's text, or without one with its code.

        With ``closure:hash`` of what a function within another one reads of that, and ``reads:hash`` of ``files_read``.
        """
        place = f"{self.function.__module__}:{self.function.__qualname__}"
        try:
            text = {"source": inspect.getsource(self.function)}
        except (OSError, TypeError):  # typed at a prompt
            code = getattr(self.function, "__code__", None)
            if code is None:
                raise RewardError(f"{self.name}: has no signature, as it is not written in Python; wrap it") from None
            text = {"code": repr((code.co_code, code.co_names, code.co_consts))}
        if closure := inspect.getclosurevars(self.function).nonlocals:
            text["closure"] = repr(closure)
        if files := files_read(self.function):
            text["reads"] = repr(sorted(files.values()))
        return signature(
            place, **{name: hashlib.sha256(content.encode()).hexdigest()[:12] for name, content in text.items()}
        )

    def reason(self, item: Item) -> str | None:
        """A function gives no reason for its NaN."""
        (score,) = self(*item.inputs())
        return f"{self.name} returned NaN" if score != score else None

    def _arguments(self, inputs: Inputs) -> BoundArguments:
        called = inspect.signature(self.function)
        values = {**(inputs.columns or {}), **dict(zip(TEXTS, inputs, strict=False))}
        arguments: dict[str, Any] = {}
        for name, parameter in called.parameters.items():
            if parameter.kind is Parameter.VAR_POSITIONAL:
                arguments[name] = inputs[len(arguments) : len(TEXTS)]
            elif parameter.kind is not Parameter.VAR_KEYWORD and _field(parameter) in values:
                arguments[name] = values[_field(parameter)]
        return BoundArguments(called, arguments)


def _field(parameter: Parameter) -> str:
    """What a parameter reads. A leading underscore marks an unused parameter."""
    return parameter.name.lstrip("_")


@lru_cache(maxsize=64)  # as it was when first asked for: a file may be edited while scores are computed
def files_read(function: Callable[..., Any]) -> dict[str, bytes]:
    """Module -> content of its file: those of which a function reads more than itself, such as a constant or what it
    calls, and those that these import; not libraries, nor what a function imports while it runs.
    """
    innermost: Any = inspect.unwrap(function)
    if not inspect.isfunction(innermost):
        return {}
    values = [innermost.__globals__.get(name) for name in _names(innermost.__code__)]
    found: dict[str, bytes] = {}
    waiting = [(value, sys.modules.get(innermost.__module__)) for value in values if value is not None]
    while waiting:
        value, reader = waiting.pop()
        module = _module_of(value, reader)
        if module is not None and module.__name__ not in found and (file := _own_file(module)) is not None:
            found[module.__name__] = file.read_bytes()
            waiting += [(member, module) for member in vars(module).values()]
            with suppress(SyntaxError):  # edited since it was imported
                waiting += [(member, module) for member in _imported(module, ast.parse(found[module.__name__]))]
    return found


def _names(code: CodeType) -> Iterator[str]:
    """The names that a function reads, and functions and expressions within it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _imported(module: ModuleType, statements: ast.AST) -> Iterator[ModuleType | None]:
    """The modules that a file imports, but for its functions; a constant does not tell which one it is from."""
    for node in ast.iter_child_nodes(statements):
        if isinstance(node, ast.Import):
            yield from (sys.modules.get(alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            name = resolve_name("." * node.level + (node.module or ""), module.__package__)
            yield sys.modules.get(name)
            yield from (sys.modules.get(f"{name}.{alias.name}") for alias in node.names)
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.expr)):
            yield from _imported(module, node)


def _module_of(value: Any, reader: ModuleType | None) -> ModuleType | None:
    """Where a value is made; a constant is of the module that reads it."""
    if isinstance(value, ModuleType):
        return value
    if inspect.isroutine(value) or inspect.isclass(value):
        return sys.modules.get(str(value.__module__))
    return reader


def _own_file(module: ModuleType) -> Path | None:
    """The file of a module that is the user's; None for a library."""
    file = Path(getattr(module, "__file__", None) or os.__file__)
    library = file.is_relative_to(STANDARD) or not INSTALLED.isdisjoint(file.parts) or file.suffix != ".py"
    return None if library or module.__name__.partition(".")[0] in OURS or not file.is_file() else file
