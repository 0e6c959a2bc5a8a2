"""Which system of a pair is on the left in each task: balanced in every way at once, otherwise random.

A bipartite graph has a node for each comparison (a pair of systems on an item) and one for each booklet; a task is the
edge between its two nodes. If sides alternate along a closed walk that uses each edge once, every node on the walk is
balanced. A node of odd degree gets one more edge, to a node that represents all nodes of its kind, so that their sum is
balanced too.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import TypeVar

Node = tuple[str, Hashable]  # its kind and its name
Shown = TypeVar("Shown")


def first_left(
    comparisons: Sequence[Hashable], pairs: Sequence[Hashable], booklets: Sequence[Hashable], rng: random.Random
) -> list[bool]:
    """For each task, whether the first system of its pair is on the left.

    comparisons, pairs, booklets: of each task; a comparison belongs to one pair. Within every comparison, every pair,
    every booklet and over all, the numbers of tasks with the first system left and right differ by at most one.
    """
    edges: list[tuple[Node, Node]] = [
        (("comparison", comparison), ("booklet", booklet))
        for comparison, booklet in zip(comparisons, booklets, strict=True)
    ]
    pair_of = dict(zip(comparisons, pairs, strict=True))
    # Each line makes the degrees of one kind of node even and keeps the graph bipartite.
    edges += [(node, ("pair", pair_of[node[1]])) for node in _odd(edges, "comparison")]
    edges += [(("all pairs", None), node) for node in _odd(edges, "pair")]
    edges += [(("all booklets", None), node) for node in _odd(edges, "booklet")]
    edges += [(node, ("all", None)) for kind in ("all pairs", "all booklets") for node in _odd(edges, kind)]
    return _alternate(edges, rng)[: len(comparisons)]


def orders(items: Sequence[tuple[Hashable, Sequence[Shown]]], rng: random.Random) -> list[list[Shown]]:
    """For each task an order of what it shows: random, and reversed for every second task of an item.

    So any two texts of an item change places from judge to judge.
    """
    before: dict[Hashable, list[Shown]] = {}
    drawn = []
    for item, shown in items:
        earlier = before.pop(item, None)
        if earlier is None:
            before[item] = rng.sample(list(shown), len(shown))
        drawn.append(before[item] if earlier is None else earlier[::-1])
    return drawn


def _odd(edges: Sequence[tuple[Node, Node]], kind: str) -> list[Node]:
    degrees = Counter(node for edge in edges for node in edge)
    return [node for node, degree in degrees.items() if degree % 2 and node[0] == kind]


def _alternate(edges: Sequence[tuple[Node, Node]], rng: random.Random) -> list[bool]:
    """Sides of the edges of a bipartite graph with even degrees: at each node as many True as False.

    Sides alternate along closed walks, which have an even number of edges in a bipartite graph.
    """
    around: dict[Node, list[int]] = {}
    for number in rng.sample(range(len(edges)), len(edges)):
        for node in edges[number]:
            around.setdefault(node, []).append(number)
    sides: dict[int, bool] = {}
    for number in rng.sample(range(len(edges)), len(edges)):
        if number in sides:
            continue
        start = node = edges[number][0]
        side = rng.random() < 0.5  # either side may come first
        while around[node]:
            taken = around[node].pop()
            if taken not in sides:
                sides[taken], side = side, not side
                first, second = edges[taken]
                node = second if node == first else first
        assert node == start  # with even degrees a walk can end nowhere else
    return [sides[number] for number in range(len(edges))]
