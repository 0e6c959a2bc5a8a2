"""Print the size of the product, scripts and tests, and the product's shape: folders, imports between rooms, circles.

    python scripts/measure_structure.py
    python scripts/measure_structure.py --folder ../an-older-clone

A room is a folder of `rewards`, `rlsum` or `human_eval` with its sub-folders; a module directly in one of the three is
a room by itself.
Imports under TYPE_CHECKING and inside functions count. A circle is listed once, by the names in it.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

import grimp

PACKAGES = ("rewards", "rlsum", "human_eval")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path(), help="the checkout to measure")
    folder = parser.parse_args().folder.resolve()
    sys.path.insert(0, str(folder))
    files = {file: len(file.read_text(encoding="utf-8").splitlines()) for file in _sources(folder)}
    graph = grimp.build_graph(*PACKAGES, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in sorted(graph.modules)}
    rooms = {module: room(module) for module in imports}
    between = Counter((rooms[a], rooms[b]) for a, targets in imports.items() for b in targets if rooms[a] != rooms[b])
    neighbours: dict[str, set[str]] = {name: set() for name in rooms.values()}
    for a, b in between:
        neighbours[a].add(b)

    print(f"{'room':32} {'files':>5} {'lines':>6}  imports from rooms")
    for name in sorted(neighbours):
        of_room = [lines for file, lines in files.items() if room(_module(folder, file)) == name]
        print(f"{name:32} {len(of_room):5} {sum(of_room):6}  {len(neighbours[name])}")
    print(f"\nproduct: {sum(files.values()):,} lines of Python in {len(files)} files, {len(neighbours)} rooms")
    for package in PACKAGES:
        print(f"  {package}: {sum(n for file, n in files.items() if file.is_relative_to(folder / package)):,} lines")
    for name in ("scripts", "tests"):
        beside = [len(file.read_text(encoding="utf-8").splitlines()) for file in (folder / name).rglob("*.py")]
        print(f"{name}: {sum(beside):,} lines in {len(beside)} files")
    print(f"largest folder: {_largest(files)}")
    print(f"imports between rooms: {sum(between.values())} between modules, {len(between)} between rooms")
    print(f"floors of rooms: {floors(neighbours)}")
    _print_circles("modules", circles(imports))
    _print_circles("rooms", circles(neighbours))
    packages: dict[str, set[str]] = {package: set() for package in PACKAGES}
    for a, b in between:
        packages[a.partition(".")[0]].add(b.partition(".")[0])
    _print_circles("packages", circles({package: others - {package} for package, others in packages.items()}))


def room(module: str) -> str:
    """The first two parts of a module's name."""
    return ".".join(module.split(".")[:2])


def circles(imports: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """Groups of two or more names that import each other, directly or through others: strongly connected components."""
    reachable = {name: _reachable(imports, name) for name in imports}
    groups = {
        tuple(sorted(member for member in imports if member in reachable[name] and name in reachable[member]))
        for name in imports
    }
    return sorted(list(group) for group in groups if len(group) > 1)


def floors(imports: Mapping[str, Iterable[str]]) -> int:
    """The number of names on the longest chain of imports, a circle counting once."""
    inside = {name: group[0] for group in circles(imports) for name in group}
    merged: dict[str, set[str]] = {}
    for name, targets in imports.items():
        here = inside.get(name, name)
        merged.setdefault(here, set()).update(inside.get(target, target) for target in targets)
    height: dict[str, int] = {}

    def height_of(name: str) -> int:
        if name not in height:
            height[name] = 1 + max((height_of(target) for target in merged[name] if target != name), default=0)
        return height[name]

    return max(map(height_of, merged))


def _reachable(imports: Mapping[str, Iterable[str]], start: str) -> set[str]:
    seen: set[str] = set()
    waiting = list(imports[start])
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting += imports[name]
    return seen


def _sources(folder: Path) -> list[Path]:
    return [file for package in PACKAGES for file in sorted((folder / package).rglob("*.py"))]


def _module(folder: Path, file: Path) -> str:
    return ".".join(file.relative_to(folder).with_suffix("").parts).removesuffix(".__init__")


def _largest(files: Mapping[Path, int]) -> str:
    count = Counter(file.parent for file in files if file.parent.name != "cli")
    largest, number = max(count.items(), key=lambda item: item[1])
    return f"{largest.name} with {number} files (cli aside)"


def _print_circles(what: str, groups: list[list[str]]) -> None:
    print(f"circles of {what}: {len(groups)}")
    for group in groups:
        print(f"  {', '.join(group)}")


if __name__ == "__main__":
    main()
