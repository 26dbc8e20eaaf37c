"""The timeline of a script: the places of all bases and hands at each instant."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from tablecam.errors import BadInput
from tablecam.simulate.moves import Move
from tablecam.simulate.rendering.places import Place, Places, formed, unit_place
from tablecam.simulate.rendering.scene import Hand
from tablecam.simulate.script import Order, Pointing, Script
from tablecam.table.roster import BaseType, Roster

REACH_S = 1.3
"""Duration of a hand's reach from beyond the table's edge to a unit, or back."""
GRIP_S = 0.35
"""Duration of closing the fingers on a unit, or of letting go."""
PUSH_MM_PER_S = 85.0
"""The average speed of a push; its peak is 1.5 times as fast."""

_PUTTING_BACK_HASTE = 2.0
_SHORTEST_LEG_S = 0.3
_BETWEEN_HANDS_S = 0.2
_SHARE = 1e-4
"""The step between two counters of a stack that are moved together."""
_BEYOND_EDGE_MM = 180.0
"""The distance of a resting hand beyond the edge, out of the camera's view."""
_SHOULDER_MM = 480.0
_STEP_ASIDE = 0.55
"""A player's step along the table, as a share of a unit's distance from the middle."""


_CARRIED = 1e6
"""Above any place in a stack: a carried unit lies on top of everything."""

Faces = tuple[int, ...]
"""The tags of a unit that lie upward."""


@dataclass(frozen=True, slots=True)
class Leg:
    """One push of one unit; backward, the same path from its end to its start.

    `faces` are the tags that show before the push and from then on, `order` the unit's number in a
    stack before and after it: of two that overlap, the one with the larger number lies on top.
    """

    begin_s: float
    duration_s: float
    start: Places
    move: Move
    base_type: BaseType
    faces: tuple[Faces, Faces]
    order: tuple[float, float]
    is_backward: bool = False

    @property
    def end_s(self) -> float:
        """The end of the push."""
        return self.begin_s + self.duration_s

    @property
    def shown(self) -> Faces:
        """The tags that show once the push has begun."""
        return self.faces[0 if self.is_backward else 1]

    def order_at(self, time_s: float) -> float:
        """Returns the unit's number in a stack: while it is carried, above all others."""
        if time_s < self.end_s:
            return _CARRIED + self.end_s
        return self.order[0 if self.is_backward else 1]

    def places(self, time_s: float) -> Places:
        """Returns the places of the bases at a time, constant before and after the push."""
        progress = _eased((time_s - self.begin_s) / self.duration_s)
        if self.is_backward:
            progress = 1 - progress
        return self.move.along(self.start, self.base_type, progress)


@dataclass(frozen=True, slots=True)
class Visit:
    """A hand that comes in, moves a unit or points, and leaves.

    It arrives at `arrive_s` and leaves at `leave_s`. `id` is the unit's; for a hand that only
    points at `place`, `id` and `legs` are empty. `haste` is a factor on the speed of its reach. A
    hand that moves several counters of a stack has a visit for each; only one `shows` it.
    """

    side: str
    id: str
    arrive_s: float
    leave_s: float
    legs: tuple[Leg, ...]
    place: Place
    haste: float = 1.0
    shows: bool = True

    @property
    def begin_s(self) -> float:
        """The time at which the hand sets out."""
        return self.arrive_s - REACH_S / self.haste

    @property
    def end_s(self) -> float:
        """The time at which the hand is back beyond the edge."""
        return self.leave_s + REACH_S / self.haste

    def middle(self, time_s: float) -> Place:
        """Returns the place that the hand reaches for: the unit that it moves, or the target."""
        if not self.legs:
            return self.place
        leg = next((leg for leg in self.legs if time_s <= leg.end_s), self.legs[-1])
        return unit_place(leg.places(time_s), leg.base_type)

    def swept(self, after_s: float, step_s: float = 0.08) -> Iterable[Places]:
        """Yields the places of the unit's bases, `step_s` apart, until the end of the visit."""
        for leg in self.legs:
            begin_s = max(after_s, leg.begin_s)
            steps = max(0, math.ceil((leg.end_s - begin_s) / step_s))
            for step in range(steps + 1 if leg.end_s >= begin_s else 0):
                yield leg.places(min(begin_s + step * step_s, leg.end_s))


class Timeline:
    """The immutable timeline of a battle, evaluated at any time.

    Raises:
        BadInput: The script names a unit or commander that the roster does not have.
    """

    def __init__(self, script: Script, roster: Roster) -> None:
        self._roster = roster
        self._near_side = script.near_side
        self.base_type_by_tag = roster.base_type_by_tag()
        tags = {unit.id: unit.upward() for unit in roster.units}
        tags |= {commander.id: (commander.tag,) for commander in roster.commanders}
        self.all_tags = {unit.id: unit.tags for unit in roster.units}
        self.all_tags |= {commander.id: (commander.tag,) for commander in roster.commanders}
        self._tags = tags | {start.id: (start.face,) for start in script.starts if start.face}
        self._legs: dict[str, tuple[Leg, ...]] = {}
        self._sides = {unit.id: unit.side for unit in roster.units}
        self._sides |= {commander.id: commander.side for commander in roster.commanders}
        self._starts = {
            start.id: formed(
                Place(start.x_mm, start.y_mm, start.heading_deg),
                start.formation,
                len(self._known(start.id)),
                self.base_type(start.id, 0.0),
            )
            for start in script.starts
        }
        # Listed from the bottom of a stack up.
        self._order = {start.id: index * _SHARE for index, start in enumerate(script.starts)}
        played = self._played(script.orders)
        rest_until_s = max((visit.end_s for visit in played), default=0.0) + script.rest_s
        reversed_visits = _put_back(played, rest_until_s)
        self.visits = tuple(sorted([*played, *reversed_visits], key=lambda visit: visit.begin_s))
        last_s = max((visit.end_s for visit in reversed_visits), default=rest_until_s)
        self.battle_s = rest_until_s
        self.loop_s = last_s + script.rest_s
        self._legs = {
            id: tuple(leg for visit in self.visits if visit.id == id for leg in visit.legs)
            for id in self._starts
        }

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the units and commanders on the table."""
        return tuple(self._starts)

    def places(self, id: str, time_s: float) -> Places:
        """Returns the places of a unit's or commander's bases at a time from 0 to `loop_s`."""
        # In chronological order: the last one begun has the unit.
        begun = [leg for leg in self._legs[id] if leg.begin_s <= time_s]
        return begun[-1].places(time_s) if begun else self._starts[id]

    def faces(self, id: str, time_s: float) -> Faces:
        """Returns the tags of a unit or commander that lie upward at a time."""
        begun = [leg for leg in self._legs.get(id, ()) if leg.begin_s <= time_s]
        return begun[-1].shown if begun else self._tags[id]

    def base_type(self, id: str, time_s: float) -> BaseType:
        """Returns the kind of the bases of a unit or commander at a time."""
        return self.base_type_by_tag[self.faces(id, time_s)[0]]

    def order(self, id: str, time_s: float) -> float:
        """Returns a unit's number in a stack: it lies on overlapping units with smaller numbers."""
        begun = [leg for leg in self._legs[id] if leg.begin_s <= time_s]
        return begun[-1].order_at(time_s) if begun else self._order[id]

    def visits_at(self, time_s: float) -> tuple[Visit, ...]:
        """Returns the visits of the hands that are over the table at a time."""
        return tuple(visit for visit in self.visits if visit.begin_s <= time_s < visit.end_s)

    def hand(self, visit: Visit, time_s: float) -> Hand:
        """Returns the hand of a visit at a time: coming in, over its unit, or leaving."""
        table = self._roster.table
        reach_s = REACH_S / visit.haste
        # 0 beyond the table's edge, 1 over the unit.
        out = _eased((time_s - visit.begin_s) / reach_s)
        out -= _eased((time_s - visit.leave_s) / reach_s)
        grip = _eased((time_s - visit.arrive_s) / GRIP_S)
        grip -= _eased((time_s - visit.leave_s + GRIP_S) / GRIP_S)
        middle, first = visit.middle(time_s), visit.middle(visit.arrive_s)
        is_near = visit.side == self._near_side
        edge_mm, beyond = (0.0, -1) if is_near else (table.depth_mm, 1)
        shoulder_x = table.width_mm / 2 + _STEP_ASIDE * (first.x_mm - table.width_mm / 2)
        shoulder_y = edge_mm + beyond * _SHOULDER_MM
        rest_y = edge_mm + beyond * _BEYOND_EDGE_MM
        x_mm = shoulder_x + (middle.x_mm - shoulder_x) * out
        y_mm = rest_y + (middle.y_mm - rest_y) * out
        heading_deg = math.degrees(math.atan2(y_mm - shoulder_y, x_mm - shoulder_x))
        return Hand(visit.side, x_mm, y_mm, heading_deg, grip if visit.legs else 0.0)

    def _known(self, id: str) -> tuple[int, ...]:
        if id not in self._tags:
            raise BadInput("script", f"expected a unit or a commander of the table, got {id!r}")
        return self._tags[id]

    def _played(self, orders: Sequence[Order | Pointing]) -> list[Visit]:
        # Each order starts where the one before it left its unit.
        current = {
            id: _Standing(places, self._tags[id], self._order[id])
            for id, places in self._starts.items()
        }
        visits: list[Visit] = []
        for order in sorted(orders, key=lambda order: order.at_s):
            if isinstance(order, Pointing):
                visits.append(self._pointing(order))
            else:
                visits += self._carried_out(order, current)
        return visits

    def _pointing(self, order: Pointing) -> Visit:
        arrive_s = order.at_s + REACH_S
        place = Place(order.x_mm, order.y_mm, 0.0)
        return Visit(order.side, "", arrive_s, arrive_s + order.rest_s, (), place)

    def _carried_out(self, order: Order, current: dict[str, _Standing]) -> Iterator[Visit]:
        """Yields the visits of an order, and updates its units in `current`."""
        for index, id in enumerate(order.ids):
            self._known(id)
            stands = current[id]
            first = unit_place(stands.places, self.base_type_by_tag[stands.faces[0]])
            arrive_s = order.at_s + REACH_S
            time_s, legs = arrive_s + GRIP_S, []
            faces = (order.face,) if order.face else stands.faces
            for move in order.moves:
                base_type = self.base_type_by_tag[faces[0]]
                duration_s = max(
                    move.length_mm(stands.places, base_type) / PUSH_MM_PER_S, _SHORTEST_LEG_S
                )
                top = time_s + duration_s + index * _SHARE
                after = _Standing(
                    move.along(stands.places, base_type, 1.0),
                    faces,
                    # Under a stack, the first of several lies lowest, too.
                    -time_s - duration_s + index * _SHARE if order.under else top,
                )
                leg = Leg(
                    time_s,
                    duration_s,
                    stands.places,
                    move,
                    base_type,
                    (stands.faces, faces),
                    (stands.order, after.order),
                )
                legs.append(leg)
                # The next push starts where this one ends.
                time_s, stands = leg.end_s, after
            current[id] = stands
            side = self._sides[id]
            yield Visit(side, id, arrive_s, time_s + GRIP_S, tuple(legs), first, shows=index == 0)


@dataclass(frozen=True, slots=True)
class _Standing:
    """A unit's places, faces and order in a stack between two orders."""

    places: Places
    faces: Faces
    order: float


def _put_back(played: Sequence[Visit], begin_s: float) -> list[Visit]:
    """Returns visits that put everything back in reverse order, which cannot collide."""
    reversed_visits: list[Visit] = []
    free_at_s: dict[str, float] = {}
    pushed_until_s = begin_s
    for visit in reversed([visit for visit in played if visit.legs]):
        haste = _PUTTING_BACK_HASTE
        reach_s = REACH_S / haste
        # Pushes do not overlap in time, and each player has one hand.
        arrive_s = max(
            pushed_until_s - GRIP_S + _BETWEEN_HANDS_S, free_at_s.get(visit.side, begin_s) + reach_s
        )
        time_s, legs = arrive_s + GRIP_S, []
        for leg in reversed(visit.legs):
            back = replace(leg, begin_s=time_s, duration_s=leg.duration_s / haste, is_backward=True)
            legs.append(back)
            time_s = back.end_s
        place = unit_place(legs[0].places(arrive_s), legs[0].base_type)
        back_visit = Visit(
            visit.side, visit.id, arrive_s, time_s + GRIP_S, tuple(legs), place, haste
        )
        reversed_visits.append(back_visit)
        pushed_until_s = time_s
        free_at_s[visit.side] = back_visit.end_s + _BETWEEN_HANDS_S
    return reversed_visits


def _eased(share: float) -> float:
    """Maps 0..1 to 0..1 with ease-in and ease-out, as a hand moves."""
    share = min(max(share, 0.0), 1.0)
    return share * share * (3 - 2 * share)
