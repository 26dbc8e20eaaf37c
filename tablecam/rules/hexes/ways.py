"""All legal ways of a counter from one place to another, grouped by what they trigger."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Generic, TypeVar

Place = TypeVar("Place", bound=Hashable)
Step = TypeVar("Step")


@dataclass(frozen=True, slots=True)
class Way(Generic[Place, Step]):
    """A way by its steps: the places on it, its cost, and the names that react to it on the way."""

    places: tuple[Place, ...]
    steps: tuple[Step, ...]
    cost: float
    triggers: frozenset[str]


NextSteps = Callable[[Way[Place, Step]], Iterable[tuple[Step, Place, float, Iterable[str]]]]
"""What may follow a way: a step, the place it leads to, its cost, and who reacts to it."""


def ways_from(
    start: Place, next_steps: NextSteps[Place, Step], most: float
) -> dict[Place, tuple[Way[Place, Step], ...]]:
    """Returns the cheapest ways to each place within a cost, one for each set of triggers.

    A way that triggers all that another one does, and costs no less, is left out.
    """
    first: Way[Place, Step] = Way((start,), (), 0.0, frozenset())
    kept: dict[Place, list[Way[Place, Step]]] = {}
    waiting = [(0.0, 0, first)]
    count = 0
    while waiting:
        _, _, way = heappop(waiting)
        known = kept.setdefault(way.places[-1], [])
        if any(other.triggers <= way.triggers and other.cost <= way.cost for other in known):
            continue
        known.append(way)
        for step, place, cost, triggers in next_steps(way):
            total = way.cost + cost
            if total <= most and place not in way.places:
                count += 1
                further = Way(
                    (*way.places, place), (*way.steps, step), total,
                    way.triggers.union(triggers),
                )  # fmt: skip
                heappush(waiting, (total, count, further))
    return {place: tuple(ways) for place, ways in kept.items()}
