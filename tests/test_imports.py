"""Imports never form a circle, also inside functions and under TYPE_CHECKING: between modules, and between packages."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PRODUCTS = ("rewards", "rlsum", "human_eval")


def modules(root: Path, products=PRODUCTS) -> dict[str, Path]:
    """Files by dotted name; a package is its ``__init__.py``."""
    paths = (path for product in products for path in (root / product).rglob("*.py"))
    parts = ((path.relative_to(root).with_suffix("").parts, path) for path in paths)
    return {".".join(names[:-1] if names[-1] == "__init__" else names): path for names, path in parts}


def imports(files: Mapping[str, Path]) -> dict[str, set[str]]:
    """Module -> the modules of ours that it imports."""
    graph: dict[str, set[str]] = {}
    for module, path in files.items():
        names = []
        for statement in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(statement, ast.Import):
                names += [alias.name for alias in statement.names]
            elif isinstance(statement, ast.ImportFrom):
                base = ".".join(module.split(".")[: -statement.level]) if statement.level else ""
                source = ".".join(part for part in (base, statement.module) if part)
                members = [f"{source}.{alias.name}" for alias in statement.names]
                names += [member if member in files else source for member in members]
        graph[module] = {name for name in names if name in files and name != module}
    return graph


def rooms(graph: Mapping[str, set[str]], depth: int) -> dict[str, set[str]]:
    """The same graph between the first ``depth`` parts of the names."""
    result: dict[str, set[str]] = {}
    for module, others in graph.items():
        room = ".".join(module.split(".")[:depth])
        found = {".".join(other.split(".")[:depth]) for other in others}
        result.setdefault(room, set()).update(found - {room})
    return result


def circle(graph: Mapping[str, set[str]]) -> list[str]:
    """One circle of the graph, or nothing."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


GRAPH = imports(modules(ROOT))


def test_no_modules_import_each_other():
    assert circle(GRAPH) == []


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_no_packages_import_each_other(depth):
    assert circle(rooms(GRAPH, depth)) == []


@pytest.mark.parametrize(
    "statement",
    ["from rlsum.a.one import f", "from rlsum.a import one", "import rlsum.a.one", "from ..a.one import f",
     "if TYPE_CHECKING:\n    from rlsum.a.one import f", "def g():\n    from rlsum.a.one import f"],
)  # fmt: skip
def test_a_circle_would_be_noticed(tmp_path, statement):
    for package, content in {"a": "from rlsum.b import two", "b": statement}.items():
        folder = tmp_path / "rlsum" / package
        folder.mkdir(parents=True)
        (folder / "__init__.py").touch()
        (folder / {"a": "one.py", "b": "two.py"}[package]).write_text(content)
    graph = imports(modules(tmp_path))
    assert set(circle(graph)) == {"rlsum.a.one", "rlsum.b.two"}
    assert set(circle(rooms(graph, 2))) == {"rlsum.a", "rlsum.b"}
