"""Limits on charge moves, applied in order (M-8.4 to M-8.7)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache, lru_cache, partial

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.geometry.moves.fans import Fan
from tablecam.geometry.moves.lanes import CORNERS, Barred, Corner
from tablecam.geometry.outlines import GRID_MM, Axes
from tablecam.geometry.rectangles import EXACT_MM, Array, Indices
from tablecam.geometry.sight import free_line, is_seen_through
from tablecam.rules.maurice.charge.moves import (
    ArcsOf,
    InReach,
    Moves,
    allowance_mm,
    bases_in_reach,
    far_mm,
    forbidden_ground,
    free_arc_mm,
    moves_about,
)
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.tables import CHARGE_WHEEL_BW, SLIVER_MM, VIEW_WOODS_BW
from tablecam.rules.maurice.field.terms import Reason
from tablecam.rules.maurice.place.contacts import thin_pieces, touches_across
from tablecam.table.headings import forward
from tablecam.uncertainty.contact import TOUCH_MM
from tablecam.uncertainty.margins import Flags

_SAME_MM = 1e-3
"""A point nearer than this to an outline lies on it."""


def is_in_view(field: Field, unit: UnitOnField, target: UnitOnField) -> bool:
    """Returns whether a straight line from a unit's front edge to a target is free (M-8.4).

    It may cross no crest, and less than 1 BW of woods. Units do not hide each other.
    """
    front = unit.axes.edge
    crests, woods = field.ground.crests, field.ground.woods
    between = shapely.convex_hull(shapely.GeometryCollection([front, target.outline]))
    is_in_woods = shapely.intersects(between, woods)
    if not is_in_woods and not shapely.intersects(between, crests):
        return True
    if not is_in_woods:
        return free_line(front, target.outline, crests) is not None
    # If a line avoids all woods, the inexact search through them is unnecessary.
    if free_line(front, target.outline, _together(crests, woods)):
        return True
    return is_seen_through(front, target.outline, crests, woods, VIEW_WOODS_BW * field.bw_mm)


@lru_cache(maxsize=16)
def _together(crests: shapely.Geometry, woods: shapely.Geometry) -> shapely.Geometry:
    """Merges everything that hides units; cached, as it is the same for all on a table."""
    return shapely.union(crests, woods, grid_size=GRID_MM)


@lru_cache(maxsize=16)
def _to_edge(woods: shapely.Geometry) -> shapely.Geometry:
    """Returns woods grown to include lines along their edges."""
    grown = shapely.buffer(woods, _SAME_MM, join_style="mitre")
    shapely.prepare(grown)
    return grown


def met_edge(edges: NDArray[np.object_], front: Axes) -> int:
    """Returns which edge of a base (4,) a front meets: the touched edge that faces it most."""
    sides = shapely.get_coordinates(edges).reshape(-1, 2, 2)
    steps = sides[:, 1] - sides[:, 0]
    # The corners of a base run clockwise, so outward is to the left of each edge.
    outward = np.stack([-steps[:, 1], steps[:, 0]], axis=1) / np.hypot(*steps.T)[:, None]
    facing = outward @ -np.array(forward(front.heading_deg))
    apart_mm = np.asarray(shapely.distance(edges, front.edge))
    is_at_it = apart_mm <= apart_mm.min() + SLIVER_MM
    return int(np.argmax(np.where(is_at_it, facing, -np.inf)))


@dataclass(frozen=True, slots=True, eq=False)
class Charger:
    """A unit whose charges are tested against the limits, and its surroundings.

    `sees` tells whether it has an enemy in view.
    """

    field: Field
    unit: UnitOnField
    others: tuple[UnitOnField, ...]
    there: tuple[InReach, InReach]
    forbidden: Barred
    sees: Callable[[UnitOnField], bool]

    def longest_wheel_mm(self, corner: Corner) -> float:
        """Returns its longest wheel about a corner (M-8.5): 0 in contact across an obstacle."""
        is_at_screen = bool(self.there[0].screens) and any(
            touches_across(self.field, self.unit, other)
            for other in self.others
            if other.side != self.unit.side
        )
        most_mm = 0.0 if is_at_screen else CHARGE_WHEEL_BW * self.field.bw_mm
        return free_arc_mm(self.unit, corner, self.others, self.forbidden, most_mm)

    def tried(self, moves: Moves) -> LegalMoves:
        """Applies the limits to moves, in order, until one of them leaves no move."""
        rows: Indices = np.arange(len(moves.arcs_mm))
        for place, (_, limit) in enumerate(LIMITS):
            rows = rows[limit(self, moves, rows)]
            if not len(rows):
                return LegalMoves(self, moves, rows, place)
        return LegalMoves(self, moves, rows, len(LIMITS))


@dataclass(frozen=True, slots=True, eq=False)
class LegalMoves:
    """A unit's moves about one corner, the rows of the legal ones, and the number of limits passed.

    If no move is legal, that number is the index in `LIMITS` of the limit that left none.
    """

    charger: Charger
    moves: Moves
    rows: Indices
    passed: int

    @property
    def targets(self) -> set[str]:
        """The enemies that the legal moves meet."""
        met = self.moves.meets[self.rows].any(axis=0)
        return {self.moves.there.owners[place] for place in np.flatnonzero(met)}


Chargers = Mapping[int, Charger]
"""Units with enemies near enough for a charge, by their index among those asked for."""


def attempts_of(
    asked: Sequence[tuple[Field, UnitOnField]], wanted: Sequence[Set[str]] | None = None
) -> list[list[LegalMoves]]:
    """Returns the legal moves of each unit on its field, about each corner.

    Only those straight ahead if they meet all enemies in reach, or each unit's `wanted` ones. All
    fields have the same base width.
    """
    chargers = _chargers(asked)
    ahead = moves_about([charger.there[0] for charger in chargers.values()], [0.0] * len(chargers))
    tried = {
        place: [charger.tried(moves)]
        for (place, charger), moves in zip(chargers.items(), ahead, strict=True)
    }
    wheeling = {}
    for place, charger in chargers.items():
        enemies = (other for other in charger.others if other.side != charger.unit.side)
        names = {enemy.id for enemy in enemies if may_charge(charger.unit, enemy)}
        if wanted is not None:
            names &= wanted[place]
        if not names <= tried[place][0].targets:
            wheeling[place] = charger
    tried |= _after_wheels(wheeling)
    return [tried.get(place, []) for place in range(len(asked))]


def reached(
    asked: Sequence[tuple[Field, UnitOnField]], wanted: Sequence[Set[str]]
) -> list[set[str]]:
    """Returns which of its `wanted` enemies each unit can charge."""
    return [
        set[str]().union(*(tried.targets for tried in tries)) & names
        for tries, names in zip(attempts_of(asked, wanted), wanted, strict=True)
    ]


def _chargers(asked: Sequence[tuple[Field, UnitOnField]]) -> dict[int, Charger]:
    """Returns the units that have enemies near enough for any charge."""
    pieces = thin_pieces(asked[0][0]) if asked else []
    chargers = {}
    for place, (field, unit) in enumerate(asked):
        near = field.within(unit.outline, far_mm(field, unit))
        others = tuple(other for other in near if other is not unit)
        if any(other.side != unit.side for other in others):
            there = bases_in_reach(field, unit, others, pieces)
            sees = cache(partial(is_in_view, field, unit))
            ground = forbidden_ground(field, unit)
            chargers[place] = Charger(field, unit, others, there, ground, sees)
    return chargers


def may_charge(unit: UnitOnField, enemy: UnitOnField) -> bool:
    """Returns whether a unit may charge an enemy's arm: infantry never charges cavalry."""
    return unit.unit.arm == "cavalry" or enemy.unit.arm != "cavalry"


def _after_wheels(
    chargers: Chargers, about: Sequence[Corner] = CORNERS, arcs_of: ArcsOf | None = None
) -> dict[int, list[LegalMoves]]:
    """Returns the legal moves after wheels about each corner, by charger index.

    `arcs_of` gives the wheels to try, by default all of them.
    """
    turns = [
        (place, there, charger.longest_wheel_mm(there.corner))
        for place, charger in chargers.items()
        for there in charger.there
        if there.corner in about
    ]
    tried: dict[int, list[LegalMoves]] = {}
    longest_mm = [longest_mm for *_, longest_mm in turns]
    all_moves = moves_about([there for _, there, _ in turns], longest_mm, arcs_of)
    for (place, *_), moves in zip(turns, all_moves, strict=True):
        tried.setdefault(place, []).append(chargers[place].tried(moves))
    return tried


def with_wheel(
    field: Field, unit: UnitOnField, corner: Corner, arc_mm: float
) -> Sequence[LegalMoves]:
    """Returns a unit's legal moves after one given wheel, and straight ahead."""

    def arcs_of(_: Fan, longest_mm: float) -> Array:
        return np.array([0.0, arc_mm] if 0.0 < arc_mm <= longest_mm else [0.0])

    return _after_wheels(_chargers([(field, unit)]), (corner,), arcs_of).get(0, ())


def _reaches(charger: Charger, moves: Moves, rows: Indices) -> Flags:
    costs_mm = moves.arcs_mm[rows] + moves.straight_mm[rows]
    reach_mm = allowance_mm(charger.field, charger.unit) or 0.0
    return np.asarray(costs_mm <= reach_mm + EXACT_MM)


def _has_ground(charger: Charger, moves: Moves, rows: Indices) -> Flags:
    """Tests the way ahead; wheels are already cut short before forbidden ground."""
    if charger.forbidden.is_nowhere:
        return np.ones(len(rows), dtype=bool)
    return ~charger.forbidden.is_entered(moves.lanes_mm(charger.unit, rows))


def _meets_none_in_woods(charger: Charger, moves: Moves, rows: Indices) -> Flags:
    woods = charger.field.ground.woods
    if (
        charger.unit.unit.arm != "cavalry"
        or shapely.is_empty(woods)
        or not np.any(shapely.intersects(woods, moves.there.bases))
    ):
        return np.ones(len(rows), dtype=bool)
    corners = shapely.get_coordinates(list(moves.there.bases)).reshape(-1, 5, 2)
    sides = np.stack([corners[:, :-1], corners[:, 1:]], axis=2)
    edges = np.asarray(shapely.linestrings(sides), dtype=object)
    # A base wholly in woods has every edge in them, so the edge met need not be found.
    are_in = np.asarray(shapely.covers(_to_edge(woods), edges))
    meets = moves.meets[rows]
    is_barred = np.asarray(meets[:, are_in.all(axis=1)].any(axis=1))
    for place in np.flatnonzero(are_in.any(axis=1) & ~are_in.all(axis=1)).tolist():
        for at in np.flatnonzero(meets[:, place] & ~is_barred).tolist():
            front = moves.move(rows[at]).front_at_end(charger.unit)
            is_barred[at] = are_in[place, met_edge(edges[place], front)]
    return ~is_barred


def _meets_only(
    charger: Charger, moves: Moves, rows: Indices, may: Callable[[UnitOnField], bool]
) -> Flags:
    """Returns which moves meet only enemies that `may` permits; it is called for these alone."""
    meets = np.zeros(len(rows), dtype=bool)
    for unit_id in dict.fromkeys(moves.there.owners):
        is_met = moves.is_meeting(unit_id)[rows]
        if is_met.any() and not may(charger.field.by_id[unit_id]):
            meets |= is_met
    return ~meets


NOT_AT_CAVALRY = Reason("M-8.4", "at_cavalry", reading="M-8.4")
OUT_OF_VIEW = Reason("M-8.4", "out_of_view", reading="M-8.4")

LIMITS: tuple[tuple[Reason, Callable[[Charger, Moves, Indices], Flags]], ...] = (
    (Reason("M-8.5", "out_of_reach"), _reaches),
    (
        Reason("M-8.4", "friends"),
        lambda _, moves, rows: moves.friend_mm[rows] >= moves.straight_mm[rows] - SLIVER_MM,
    ),
    (
        Reason("M-8.7", "flank_first"),
        lambda _, moves, rows: moves.beside_mm[rows] >= moves.straight_mm[rows] - TOUCH_MM,
    ),
    (
        NOT_AT_CAVALRY,
        lambda charger, moves, rows: _meets_only(
            charger, moves, rows, partial(may_charge, charger.unit)
        ),
    ),
    (OUT_OF_VIEW, lambda charger, moves, rows: _meets_only(charger, moves, rows, charger.sees)),
    (Reason("M-8.4", "forbidden_ground"), _has_ground),
    (Reason("M-8.4", "in_woods"), _meets_none_in_woods),
)
"""Each limit on a charge move, with the reason given if it leaves no move."""
