"""What the rules leave of a unit's charge moves, limit by limit (M-8.4 to M-8.7)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from itertools import groupby

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import STRtree

from tablecam.geometry.moves.lanes import Corner
from tablecam.geometry.outlines import Axes
from tablecam.geometry.rectangles import EXACT_MM
from tablecam.rules.maurice.charge.ground import Forbidden, forbidden_ground
from tablecam.rules.maurice.charge.moves import (
    ArcsOf,
    Move,
    Moves,
    arcs_between,
    arcs_of,
    moves_about,
)
from tablecam.rules.maurice.charge.reach import (
    CORNERS,
    InReach,
    allowance_mm,
    come_to,
    far_mm,
    in_reach,
)
from tablecam.rules.maurice.charge.sight import is_in_view
from tablecam.rules.maurice.charge.wheel import Wheel, longest_free_arcs_mm
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.front_contact import touches_across
from tablecam.rules.maurice.field.tables import CHARGE_WHEEL_BW, SLIVER_MM
from tablecam.table.headings import forward
from tablecam.uncertainty.contact import TOUCH_MM

_SAME_MM = 1e-3
"""What lies as near as this to an outline lies on it."""


@lru_cache(maxsize=16)
def to_edge(woods: shapely.Geometry, slack_mm: float) -> shapely.Geometry:
    """The woods grown by rounding; a slack shrinks them by its length."""
    found = shapely.buffer(woods, _SAME_MM - slack_mm, join_style="mitre")
    shapely.prepare(found)
    return found


def edges_of(bases: Sequence[shapely.Polygon]) -> NDArray[np.object_]:
    """The edges (n, 4) of bases."""
    corners = shapely.get_coordinates(list(bases)).reshape(-1, 5, 2)
    sides = np.stack([corners[:, :-1], corners[:, 1:]], axis=2)
    return np.asarray(shapely.linestrings(sides), dtype=object)


def met_edge(edges: NDArray[np.object_], front: Axes) -> int:
    """Which edge of a base (4,) a front meets: of those at it, the one that faces it most."""
    sides = shapely.get_coordinates(edges).reshape(-1, 2, 2)
    steps = sides[:, 1] - sides[:, 0]
    # Outward of a ring that runs clockwise, as a base's corners do, lies to its left.
    outward = np.stack([-steps[:, 1], steps[:, 0]], axis=1) / np.hypot(*steps.T)[:, None]
    facing = outward @ -np.array(forward(front.heading_deg))
    line = shapely.LineString([front.left_mm, front.right_mm])
    apart_mm = np.asarray(shapely.distance(edges, line))
    is_at_it = apart_mm <= apart_mm.min() + SLIVER_MM
    return int(np.argmax(np.where(is_at_it, facing, -np.inf)))


Bools = NDArray[np.bool_]
Rows = NDArray[np.intp]
Sees = Callable[[Field, UnitOnField, UnitOnField], bool]
"""Whether, on a field, a unit has an enemy in view."""


@dataclass(frozen=True, slots=True, eq=False)
class Attempt:
    """A unit and its moves about one corner, to be held against the rules.

    `sees` tells whether it has an enemy in view. `slack_mm` is by how much each limit is let out
    (or, below 0, drawn in), to learn what of the outcome hangs on so little.
    """

    field: Field
    unit: UnitOnField
    moves: Moves
    forbidden: Forbidden
    sees: Callable[[UnitOnField], bool]
    slack_mm: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Tried:
    """An attempt and, as `what_is_left` tells them, the rows of the moves that are left of it."""

    attempt: Attempt
    rows: Rows
    passed: int

    @property
    def targets(self) -> set[str]:
        """The enemies that the moves left meet."""
        moves = self.attempt.moves
        return {moves.owners[place] for place in np.flatnonzero(moves.meets[self.rows].any(axis=0))}


@dataclass(frozen=True, slots=True, eq=False)
class _Charger:
    """A unit with enemies in reach: its place among those asked for, and what is about it."""

    place: int
    field: Field
    unit: UnitOnField
    others: tuple[UnitOnField, ...]
    there: tuple[InReach, InReach]
    forbidden: Forbidden
    sees: Callable[[UnitOnField], bool]

    @property
    def reach_mm(self) -> float:
        return allowance_mm(self.field, self.unit) or 0.0

    @property
    def is_at_screen(self) -> bool:
        """Whether it touches an enemy across an obstacle: a wheel would be one in contact."""
        return any(each.screens for each in self.there) and any(
            touches_across(self.field, self.unit, other)
            for other in self.others
            if other.side != self.unit.side
        )

    def tried(self, moves: Moves) -> Tried:
        attempt = Attempt(self.field, self.unit, moves, self.forbidden, self.sees)
        return Tried(attempt, *what_is_left(attempt))


def attempts_of(asked: Sequence[tuple[Field, UnitOnField]]) -> list[list[Tried]]:
    """The moves of each unit on its field about each corner, and what the rules leave of them.

    Only those straight ahead where they reach every enemy that any others could. All fields have
    one base width.
    """
    chargers = _chargers(asked)
    tried = _straight_ahead(chargers)
    turning = []
    for each, names in zip(chargers, _that_they_may_charge(chargers), strict=True):
        (ahead,) = tried[each.place]
        if not ahead.targets or not ahead.targets >= names:
            turning.append(each)
    tried |= _after_wheels(turning)
    return [tried.get(place, []) for place in range(len(asked))]


def reached(
    asked: Sequence[tuple[Field, UnitOnField]],
    wanted: Set[str],
    moves: Sequence[Move],
    ends_mm: Mapping[Corner, tuple[float, float]],
    sees: Sees,
) -> list[set[str]]:
    """Which of some enemies each unit can charge, with `moves` tried before all others.

    As `attempts_of`, but no further where all of them are reached, and after no wheels that are
    not between the arcs `ends_mm`; `sees` tells who sees whom.
    """
    chargers = _chargers(asked, sees)
    found: list[set[str]] = [set() for _ in asked]
    may = {
        each.place: names & wanted
        for each, names in zip(chargers, _that_they_may_charge(chargers), strict=True)
    }
    about = tuple(ends_mm)
    told = partial(_after_wheels, about=about, arcs_of=partial(arcs_of, moves))
    others = partial(_after_wheels, about=about, arcs_of=partial(arcs_between, ends_mm))
    for try_all in (_straight_ahead, told, others):
        left = [each for each in chargers if not may[each.place] <= found[each.place]]
        for place, tries in try_all(left).items():
            found[place].update(*(tried.targets for tried in tries))
    return [names & wanted for names in found]


def _straight_ahead(chargers: Sequence[_Charger]) -> dict[int, list[Tried]]:
    """What is left of the moves straight ahead, by the chargers' places."""
    moves = moves_about([each.there[0] for each in chargers], [0.0] * len(chargers))
    return {each.place: [each.tried(ahead)] for each, ahead in zip(chargers, moves, strict=True)}


def _chargers(
    asked: Sequence[tuple[Field, UnitOnField]], sees: Sees = is_in_view
) -> list[_Charger]:
    """Those that have enemies near enough for any charge."""
    around = _others_near(asked)
    places = [
        place
        for place, (_, unit) in enumerate(asked)
        if any(other.side != unit.side for other in around[place])
    ]
    if not places:
        return []
    there = in_reach(asked[0][0], [(asked[place][1], around[place]) for place in places])
    return [
        _Charger(
            place,
            *asked[place],
            around[place],
            both,
            forbidden_ground(*asked[place]),
            cache(partial(sees, *asked[place])),
        )
        for place, both in zip(places, there, strict=True)
        if any(each.owners for each in both)
    ]


def _others_near(asked: Sequence[tuple[Field, UnitOnField]]) -> list[tuple[UnitOnField, ...]]:
    """The other units that are as near to each as it may go."""
    found: list[tuple[UnitOnField, ...]] = []
    for field, together in groupby(asked, key=lambda each: each[0]):
        units = [unit for _, unit in together]
        near, whose = STRtree([other.outline for other in field.units]).query(
            [unit.outline for unit in units],
            predicate="dwithin",
            distance=[far_mm(field, unit) for unit in units],
        )[::-1]
        order = np.lexsort((near, whose))
        parts = np.split(near[order], np.searchsorted(whose[order], np.arange(1, len(units))))
        found += [
            tuple(field.units[place] for place in part if field.units[place] is not unit)
            for unit, part in zip(units, parts, strict=True)
        ]
    return found


def _that_they_may_charge(chargers: Sequence[_Charger]) -> list[set[str]]:
    """The enemies of the right arm that may be near enough, friends and all else left aside."""
    if not chargers:
        return []
    there = [each for charger in chargers for each in charger.there]
    reaches_mm = [each.reach_mm for each in chargers for _ in CORNERS]
    found = come_to(chargers[0].field, there, reaches_mm)
    return [
        {name for name in left | right if may_charge(each.unit, each.field.by_id[name])}
        for each, left, right in zip(chargers, found[::2], found[1::2], strict=True)
    ]


def may_charge(unit: UnitOnField, enemy: UnitOnField) -> bool:
    """Whether a unit may charge an enemy of that arm at all: infantry charges no cavalry."""
    return unit.unit.arm == "cavalry" or enemy.unit.arm != "cavalry"


def _after_wheels(
    chargers: Sequence[_Charger],
    about: Sequence[Corner] = CORNERS,
    arcs_of: ArcsOf | None = None,
) -> dict[int, list[Tried]]:
    """What is left of the moves about each corner, or of some only, by the chargers' places."""
    turns = [(each, there) for each in chargers for there in each.there if there.corner in about]
    wheels = [
        Wheel(
            each.unit,
            there.corner,
            each.others,
            CHARGE_WHEEL_BW * each.field.bw_mm,
            each.forbidden,
        )
        for each, there in turns
        if there.owners and not each.is_at_screen
    ]
    free_mm = iter(longest_free_arcs_mm(wheels))
    longest_mm = [
        next(free_mm) if there.owners and not each.is_at_screen else 0.0 for each, there in turns
    ]
    tried: dict[int, list[Tried]] = {}
    all_made = moves_about([there for _, there in turns], longest_mm, arcs_of)
    for (each, _), made in zip(turns, all_made, strict=True):
        tried.setdefault(each.place, []).append(each.tried(made))
    return tried


def what_is_left(attempt: Attempt) -> tuple[Rows, int]:
    """The moves, by their rows, that break no limit, and before which of `LIMITS` none was left.

    The latter is how many limits there are when some moves are left.
    """
    rows: Rows = np.arange(len(attempt.moves.arcs_mm))
    for place, (_, limit) in enumerate(LIMITS):
        rows = rows[limit(attempt, rows)]
        if not len(rows):
            return rows, place
    return rows, len(LIMITS)


def _reaches(attempt: Attempt, rows: Rows) -> Bools:
    costs_mm = attempt.moves.arcs_mm[rows] + attempt.moves.straight_mm[rows]
    reach_mm = (allowance_mm(attempt.field, attempt.unit) or 0.0) + attempt.slack_mm
    return np.asarray(costs_mm <= reach_mm + EXACT_MM)


def _passes_no_friend(attempt: Attempt, rows: Rows) -> Bools:
    far_mm = attempt.moves.straight_mm[rows] - SLIVER_MM - attempt.slack_mm
    return np.asarray(attempt.moves.friend_mm[rows] >= far_mm)


def _meets_with_front_alone(attempt: Attempt, rows: Rows) -> Bools:
    far_mm = attempt.moves.straight_mm[rows] - TOUCH_MM - attempt.slack_mm
    return np.asarray(attempt.moves.beside_mm[rows] >= far_mm)


def _may_meet_arms(attempt: Attempt, rows: Rows) -> Bools:
    if attempt.unit.unit.arm == "cavalry":
        return np.ones(len(rows), dtype=bool)
    return ~_meets_any(attempt, rows, lambda enemy: enemy.unit.arm == "cavalry")


def _sees(attempt: Attempt, rows: Rows) -> Bools:
    return ~_meets_any(attempt, rows, lambda enemy: not attempt.sees(enemy))


def _has_ground(attempt: Attempt, rows: Rows) -> Bools:
    """The way ahead; the wheels that are tried at all pass over none that is forbidden."""
    if attempt.forbidden.is_nowhere:
        return np.ones(len(rows), dtype=bool)
    return ~attempt.forbidden.is_entered(attempt.moves.lanes_mm(attempt.unit, rows))


def _meets_none_in_woods(attempt: Attempt, rows: Rows) -> Bools:
    woods = attempt.field.ground.woods
    if (
        attempt.unit.unit.arm != "cavalry"
        or shapely.is_empty(woods)
        or not np.any(shapely.dwithin(woods, attempt.moves.bases, abs(attempt.slack_mm)))
    ):
        return np.ones(len(rows), dtype=bool)
    edges = edges_of(attempt.moves.bases)
    # Of a base that is all in woods every edge is.
    are_in = np.asarray(shapely.covers(to_edge(woods, attempt.slack_mm), edges))
    meets = attempt.moves.meets[rows]
    found = np.asarray(meets[:, are_in.all(axis=1)].any(axis=1))
    for place in np.flatnonzero(are_in.any(axis=1) & ~are_in.all(axis=1)).tolist():
        for at in np.flatnonzero(meets[:, place] & ~found).tolist():
            front = attempt.moves.move(rows[at]).front_at_end(attempt.unit)
            found[at] = are_in[place, met_edge(edges[place], front)]
    return ~found


def _meets_any(attempt: Attempt, rows: Rows, which: Callable[[UnitOnField], bool]) -> Bools:
    """Which moves meet some enemy of a kind; nobody is asked of who is not met."""
    met = attempt.moves.meets[rows]
    units: Iterable[str] = dict.fromkeys(attempt.moves.owners)
    found = np.zeros(len(rows), dtype=bool)
    for unit_id in units:
        is_met = met[:, [owner == unit_id for owner in attempt.moves.owners]].any(axis=1)
        if is_met.any() and which(attempt.field.by_id[unit_id]):
            found |= is_met
    return found


LIMITS: tuple[tuple[str, Callable[[Attempt, Rows], Bools]], ...] = (
    ("M-8.5 no enemy in reach straight ahead, or after a wheel that it has room for", _reaches),
    ("M-8.4 friends are in the way", _passes_no_friend),
    ("M-8.7 it would touch an enemy with its flank", _meets_with_front_alone),
    ("M-8.4 infantry may not charge cavalry", _may_meet_arms),
    ("M-8.4 the enemy is out of view", _sees),
    ("M-8.4 ground that it may not enter is in the way", _has_ground),
    ("M-8.4 cavalry may not charge what stands in woods", _meets_none_in_woods),
)
"""Each limit on a charge move, and why there is no charge where it leaves no move."""
