"""The cheapest route through a net of places (Dijkstra's)."""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

Route = tuple[float, tuple[int, ...], tuple[int, ...]]
"""A route's cost, its places in order, and the hops between them."""


def cheapest_routes(
    hops: Sequence[tuple[int, int, float]],
    starts: Mapping[int, float],
    groups: Sequence[Collection[int]],
) -> list[Route | None]:
    """The cheapest way from any start to the nearest end of each group, all in one search.

    Hops (place, place, cost) lead either way; `starts` are places with what it costs to be there.
    None for a group of which no end can be reached.

    >>> cheapest_routes([(0, 1, 2.0), (1, 2, 1.0)], {0: 0.0}, [{1, 2}, {2}, {3}])
    [(2.0, (0, 1), (0,)), (3.0, (0, 1, 2), (0, 1)), None]
    """
    net: defaultdict[int, list[tuple[int, float, int]]] = defaultdict(list)
    for index, (a, b, cost) in enumerate(hops):
        net[a].append((b, cost, index))
        net[b].append((a, cost, index))
    belongs: dict[int, list[int]] = {}
    for group, ends in enumerate(groups):
        for end in ends:
            belongs.setdefault(end, []).append(group)
    found: list[Route | None] = [None] * len(groups)
    missing = sum(1 for ends in groups if ends)
    best = dict(starts)
    came: dict[int, tuple[int, int]] = {}
    queue = [(cost, place) for place, cost in starts.items()]
    heapq.heapify(queue)
    infinite = math.inf
    while queue and missing:
        cost, place = heapq.heappop(queue)
        if cost > best[place]:
            continue
        for group in belongs.get(place, ()):
            if found[group] is None:
                found[group] = (cost, *_traced(place, came))
                missing -= 1
        for to, step, index in net[place]:
            total = cost + step
            if total < best.get(to, infinite):
                best[to], came[to] = total, (place, index)
                heapq.heappush(queue, (total, to))
    return found


def costs_from(
    hops: Sequence[tuple[int, int, float]], start: int, *, at_most: float
) -> dict[int, float]:
    """What it costs to get from a place to every place within reach of it, by hops either way.

    >>> costs_from([(0, 1, 2.0), (1, 2, 1.0), (2, 3, 9.0)], 0, at_most=5.0)
    {0: 0.0, 1: 2.0, 2: 3.0}
    """
    net: dict[int, list[tuple[int, float]]] = {}
    for a, b, cost in hops:
        net.setdefault(a, []).append((b, cost))
        net.setdefault(b, []).append((a, cost))
    best: dict[int, float] = {}
    queue = [(0.0, start)]
    while queue:
        cost, place = heapq.heappop(queue)
        if place in best:
            continue
        best[place] = cost
        for to, step in net.get(place, ()):
            if to not in best and cost + step <= at_most:
                heapq.heappush(queue, (cost + step, to))
    return best


def _traced(
    place: int, came: Mapping[int, tuple[int, int]]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    places, hops = [place], []
    while place in came:
        place, hop = came[place]
        places.append(place)
        hops.append(hop)
    return tuple(reversed(places)), tuple(reversed(hops))
