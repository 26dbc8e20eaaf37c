"""Cheapest routes through a graph (Dijkstra's algorithm)."""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

Route = tuple[float, tuple[int, ...], tuple[int, ...]]
"""The cost of a route, its nodes in order, and the indices of the edges between them."""


def cheapest_routes(
    hops: Sequence[tuple[int, int, float]],
    starts: Mapping[int, float],
    groups: Sequence[Collection[int]],
) -> list[Route | None]:
    """Finds the cheapest route from any start to the nearest end of each group, in one search.

    `hops` are undirected edges (node, node, cost); `starts` are nodes with their initial cost.
    None for a group without a reachable end.

    >>> cheapest_routes([(0, 1, 2.0), (1, 2, 1.0)], {0: 0.0}, [{1, 2}, {2}, {3}])
    [(2.0, (0, 1), (0,)), (3.0, (0, 1, 2), (0, 1)), None]
    """
    neighbours: defaultdict[int, list[tuple[int, float, int]]] = defaultdict(list)
    for index, (a, b, cost) in enumerate(hops):
        neighbours[a].append((b, cost, index))
        neighbours[b].append((a, cost, index))
    groups_of: dict[int, list[int]] = {}
    for group, ends in enumerate(groups):
        for end in ends:
            groups_of.setdefault(end, []).append(group)
    routes: list[Route | None] = [None] * len(groups)
    missing = sum(1 for ends in groups if ends)
    best = dict(starts)
    previous: dict[int, tuple[int, int]] = {}
    queue = [(cost, node) for node, cost in starts.items()]
    heapq.heapify(queue)
    infinite = math.inf
    # Stops early once every group has its nearest end.
    while queue and missing:
        cost, node = heapq.heappop(queue)
        # A stale entry: the node was reached more cheaply since.
        if cost > best[node]:
            continue
        for group in groups_of.get(node, ()):
            if routes[group] is None:
                routes[group] = (cost, *_traced(node, previous))
                missing -= 1
        for neighbour, step, index in neighbours[node]:
            total = cost + step
            if total < best.get(neighbour, infinite):
                best[neighbour], previous[neighbour] = total, (node, index)
                heapq.heappush(queue, (total, neighbour))
    return routes


def costs_from(
    hops: Sequence[tuple[int, int, float]], start: int, *, at_most: float
) -> dict[int, float]:
    """Returns the cost from a node to every node within `at_most`, over undirected edges.

    >>> costs_from([(0, 1, 2.0), (1, 2, 1.0), (2, 3, 9.0)], 0, at_most=5.0)
    {0: 0.0, 1: 2.0, 2: 3.0}
    """
    neighbours: dict[int, list[tuple[int, float]]] = {}
    for a, b, cost in hops:
        neighbours.setdefault(a, []).append((b, cost))
        neighbours.setdefault(b, []).append((a, cost))
    best: dict[int, float] = {}
    queue = [(0.0, start)]
    while queue:
        cost, node = heapq.heappop(queue)
        # A stale entry: the node is settled.
        if node in best:
            continue
        best[node] = cost
        for neighbour, step in neighbours.get(node, ()):
            if neighbour not in best and cost + step <= at_most:
                heapq.heappush(queue, (cost + step, neighbour))
    return best


def _traced(
    node: int, previous: Mapping[int, tuple[int, int]]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    nodes, hops = [node], []
    while node in previous:
        node, hop = previous[node]
        nodes.append(node)
        hops.append(hop)
    return tuple(reversed(nodes)), tuple(reversed(hops))
