"""Moves on the table: the dice thrown, the ways that a final value allows, and moves by hand."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations, pairwise
from typing import Final, NamedTuple

import numpy as np
import shapely

from tablecam.geometry.moves import poses
from tablecam.geometry.moves.lanes import front_width_mm, room_ahead_mm
from tablecam.geometry.moves.paths import MovePath, Wheel, cheapest_path, squared, swept
from tablecam.geometry.moves.poses import ahead, shifted, wheeled
from tablecam.geometry.outlines import footprint
from tablecam.geometry.shapes import shapes_of
from tablecam.rules.dice import Roll, dice_words
from tablecam.rules.game import Ban, DiceGroup, Refused, Sum
from tablecam.rules.miniatures.battle import Bases, first_ban
from tablecam.rules.miniatures.ground import (
    area_of,
    axes_of,
    footprints,
    hulls,
    move_sigma_mm,
    overlaps,
)
from tablecam.rules.miniatures.moves import MoveLaw, lie_as_meant
from tablecam.rules.miniatures.reckon import terms
from tablecam.rules.syw_d6 import state as acts
from tablecam.rules.syw_d6 import tables
from tablecam.rules.syw_d6.field import WALL, Field, is_designated
from tablecam.rules.syw_d6.state import Due, State, disordered
from tablecam.rules.syw_d6.troops import Troops, may_pass
from tablecam.table.headings import difference_deg
from tablecam.table.model import Unit
from tablecam.table.motion import HAND_MM, apart_mm
from tablecam.uncertainty.answer import Answer, certain, measured
from tablecam.wording import joined, proper_name

LAW: Final = MoveLaw(bases="S-0.7", table="S-B.9", upon="S-J.6", impassable="S-C.13")
HAIR_MM = 0.01


@dataclass(frozen=True, slots=True)
class MoveDice:
    """The dice of a move: how many are thrown, how many of them count, and inches on top.

    `parts` are the dice by what gives or takes them.
    """

    dice: int
    choose_at_most: int
    added_in: float = 0.0
    is_halved: bool = False
    parts: tuple[tuple[str, int], ...] = ()

    def value_in(self, chosen: Sequence[int]) -> float:
        """Returns the final value of the dice that are added up."""
        value_in = sum(chosen) + self.added_in
        return value_in / 2 if self.is_halved else value_in

    def values_in(self, thrown: Sequence[int]) -> dict[float, tuple[int, ...]]:
        """Returns every final value that a throw allows, ascending, with dice that give it."""
        # Of dice that give the same, the fewest come last.
        counts = range(min(self.choose_at_most, len(thrown)), 0, -1)
        chosen = (some for count in counts for some in combinations(thrown, count))
        return dict(sorted({self.value_in(some): some for some in chosen}.items()))

    @property
    def best(self) -> str:
        """How many of the dice count, in words; empty if all do."""
        if self.choose_at_most >= self.dice:
            return ""
        return "the best" if self.choose_at_most == 1 else f"the best {self.choose_at_most}"

    @property
    def counting(self) -> str:
        """Which of the dice count, in words: fewer may be taken to go less far (S-B.4)."""
        if self.dice == 1:
            return "it counts"
        verb = "counts" if self.choose_at_most == 1 else "count, or fewer"
        return f"{self.best or 'all'} {verb}"

    def sum_words(self, chosen: Sequence[int]) -> str:
        """Returns how dice make inches; empty where one die says it all.

        >>> MoveDice(5, 3).sum_words((3, 4, 6)), MoveDice(4, 1, 2.0, True).sum_words((5,))
        ('3 + 4 + 6', '(5 + 2 for the column) / 2')
        """
        column = [f"{self.added_in:g} for the column"] if self.added_in else []
        words = " + ".join((*map(str, chosen), *column))
        return f"({words}) / 2" if self.is_halved else words if "+" in words else ""

    def inches_words(self, chosen: Sequence[int]) -> str:
        """Returns dice with the inches that they make."""
        return " = ".join(filter(None, (self.sum_words(chosen), f"{self.value_in(chosen):g} in")))


COMMANDER_DICE = MoveDice(tables.RATES["command"], tables.RATES["command"])
"""S-K.5: three dice, any of them."""


def move_dice(
    troops: Troops,
    command_distance_in: float | None,
    events: Collection[tables.Event] = (),
    *,
    rain_slows: bool = False,
) -> MoveDice:
    """Returns the dice of a unit that moves by itself (S-B.3, S-B.4, S-I.1).

    `rain_slows` is the house rule that heavy rain takes dice of moves, too (S-M.7).
    """
    # Guns that are not limbered do not march.
    if troops.arm == "artillery" and not troops.limbered:
        return MoveDice(0, 0)
    rate, is_halved = troops.rate, "lost_orders" in events
    # Inspired command reaches units whatever their state (S-M.9).
    commanded = "inspired_command" in events or (
        not troops.is_disordered and _is_commanded(troops, command_distance_in, events)
    )
    bonus = 0 if troops.is_disordered else tables.BONUS[troops.skill.move]
    rain = 2 if rain_slows and "heavy_rain" in events else 0
    parts = (("rate", rate), ("command", int(commanded)), ("experience", bonus), ("rain", -rain))
    dice = max(0, sum(count for _, count in parts))
    added_in = tables.COLUMN_IN if troops.is_in_column and not troops.is_disordered else 0.0
    return MoveDice(dice, min(rate, dice), added_in, is_halved, parts)


def _is_commanded(
    troops: Troops, command_distance_in: float | None, events: Collection[tables.Event]
) -> bool:
    dithers = (
        "fitz_james" in events
        and troops.nation.lower() == "french"
        and (troops.arm, troops.weight) == ("cavalry", "line")
    )
    is_near = command_distance_in is not None and command_distance_in <= tables.COMMAND_IN
    return is_near and not dithers


def brigade_dice(
    brigade: Sequence[Troops], command_distances_in: Sequence[float | None]
) -> MoveDice:
    """Returns the dice of a brigade that moves as one: the worst of each (S-B.7)."""
    rate = min(troops.rate for troops in brigade)
    commanded = all(
        _is_commanded(troops, distance_in, ())
        for troops, distance_in in zip(brigade, command_distances_in, strict=True)
    )
    bonus = min(tables.BONUS[troops.skill.move] for troops in brigade)
    added_in = tables.COLUMN_IN if all(troops.is_in_column for troops in brigade) else 0.0
    return MoveDice(rate + 1 + commanded + bonus, rate, added_in)


class MoveDie(Due):
    """The dice of a move: one throw for all of `units` (S-B.4, S-B.7)."""

    units: tuple[str, ...]
    pool: MoveDice

    def roll(self, state: State) -> Roll:
        """Returns the dice of the move."""
        return Roll(f"the move of {', '.join(self.units)}", self.pool.dice)

    def dice_groups(self, state: State) -> tuple[DiceGroup, ...]:
        """Returns the dice, and which of them count."""
        places = tuple(range(self.pool.dice))
        goal = f"{self.pool.counting}; pips are inches"
        return (DiceGroup(", ".join(self.units), None, places, goal),)

    def sums(self, state: State) -> tuple[Sum, ...]:
        """Returns why so many dice are thrown."""
        return (Sum(dice_words(self.pool.dice), tuple(terms(dict(self.pool.parts)))),)

    def follow(self, state: State, answer: tuple[int, ...]) -> State:
        """Returns the state in which the player takes some of the dice."""
        *_, best = self.pool.values_in(answer).values()
        of = f" ({self.pool.best} of {len(answer)} dice)" if self.pool.best else ""
        text = f"{joined(self.units)} may move {self.pool.inches_words(best)}{of}"
        state = state.tells("throw", text, "S-B.4", dice=list(answer), units=list(self.units))
        return state.pushed(ValueChoice(self.units, self.pool, answer))


class ValueChoice(Due):
    """Which of the dice thrown count: fewer, to go less far than one must (S-B.4, S-B.6)."""

    question = "how far may {units} move?"
    least_answers = 2
    units: tuple[str, ...]
    pool: MoveDice
    thrown: tuple[int, ...]

    @property
    def values_in(self) -> dict[float, tuple[int, ...]]:
        """The final values, ascending, with their dice."""
        return self.pool.values_in(self.thrown)

    def least_share(self, state: State) -> float:
        """Returns the greatest share of the final value that one of the units must use."""
        return max(must_use(state, name) for name in self.units)

    def legal(self, state: State) -> tuple[acts.Take, ...]:
        """Returns the greatest final value, and those that let a unit stop where it does not."""
        greatest_in, *others_in = reversed(self.values_in)
        share, taken_in = self.least_share(state), [greatest_in]
        for value_in, lower_in in pairwise((*others_in, 0.0)):
            if share and (len(self.units) > 1 or lower_in < taken_in[-1] * share):
                taken_in.append(value_in)
        return tuple(map(acts.Take, sorted(taken_in, reverse=True)))

    def follow(self, state: State, answer: acts.Take | None) -> State:
        """Returns the state in which the units may move; it tells a choice of fewer inches."""
        values_in = self.values_in
        value_in = max(values_in) if answer is None else answer.value_in
        if value_in < max(values_in):
            text = f"Only {self.pool.inches_words(values_in[value_in])} for {joined(self.units)}"
            state = state.tells("throw", text, "S-B.4", units=list(self.units))
        with_brigade = len(self.units) > 1
        own = {
            name: acts.Allowance(value_in, value_in * must_use(state, name), with_brigade)
            for name in self.units
        }
        return replace(state, allowed={**state.allowed, **own})


def must_use(state: State, name: str) -> float:
    """Returns the share of its final value that a unit must use; none for commanders (S-B.6)."""
    troops = state.field.troops.get(name)
    return 0.0 if troops is None else tables.SHARES[tables.MUST_USE[troops.skill.move]]


def dice_of(state: State, name: str) -> MoveDice:
    """Returns the dice of a unit's or a commander's move."""
    unit, ground = state.position.unit(name), state.field
    if unit is None:
        return COMMANDER_DICE
    marks = {"lost_orders": "slowed", "inspired_command": "inspired"}
    # Some events concern the units alone that wear their mark (S-M.6, S-M.9).
    events = [one for one in state.events if one not in marks or unit.state.get(marks[one])]
    rain = state.options.get("rain_affects") == "fire_and_move"
    return move_dice(ground.troops[name], ground.command_in(unit), events, rain_slows=rain)


def brigade_of(state: State, brigade: str) -> tuple[str, ...]:
    """Returns the units of a brigade of the active side."""
    own = state.field.of_side(state.active)
    return tuple(unit.id for unit in own if unit.extra.get("brigade") == brigade)


def dice_of_brigade(state: State, brigade: str) -> MoveDice | Ban:
    """Returns the dice of a brigade that moves as one, or why it may not (S-B.7)."""
    ground, names = state.field, brigade_of(state, brigade)
    if len(names) < 2:
        return Ban("S-B.7", f"it is the only unit of {proper_name(brigade)}")
    for name in names:
        if ban := ban_on_throwing(state, state.unit(name)):
            return Ban("S-B.7", f"the whole brigade must move, and {name} cannot: {ban.because}")
        if not dice_of(state, name).dice:
            why = "is not limbered" if ground.troops[name].arm == "artillery" else "does not march"
            return Ban("S-B.7", f"the whole brigade must move, and {name} {why}")
        if ground.troops[name].is_disordered:
            return Ban("S-B.7", f"{name} is disordered")
    reaches_in = [ground.command_in(state.unit(name)) for name in names]
    return brigade_dice([ground.troops[name] for name in names], reaches_in)


def ban_on_brigade(state: State, name: str) -> Ban | None:
    """Returns why a unit's brigade is not offered to move as one; None if nobody looks for it."""
    brigade = str(state.unit(name).extra.get("brigade"))
    names = brigade_of(state, brigade)
    has_begun = any(state.unit(unit).state.get("moved") for unit in names)
    if state.allowed or has_begun or len(names) < 2:
        return None
    dice = dice_of_brigade(state, brigade)
    return dice if isinstance(dice, Ban) else None


def ban_on_throwing(state: State, unit: Unit) -> Ban | None:
    """Returns why a unit may not throw for a move now (S-B.1): one moves after the other."""
    troops, leader = state.field.troops[unit.id], ", ".join(leaders_moved(state))
    return first_ban(
        (bool(state.allowed), "S-B.1", f"{', '.join(state.allowed)} moves first"),
        (bool(unit.state.get("moved")), "S-B.1", "it has moved in this sequence"),
        (bool(leader), "S-B.1", f"commanders move last, and {leader} has moved"),
        (troops.in_melee, "S-B.1", "it is in a melee"),
        (troops.reforming, "S-A.5", "it reforms"),
        (troops.status != "steady", "S-A.1", f"it is {troops.status}"),
    )


def leaders_moved(state: State) -> tuple[str, ...]:
    """Returns the commanders of the active side who have moved: no unit moves after (S-B.1)."""
    return tuple(name for name in state.tried if name in state.leaders)


def ban_on_moving(state: State, name: str) -> Ban | None:
    """Returns why a unit is not offered its dice while nobody moves (S-B.1, S-B.3)."""
    if state.allowed:
        return None
    unit = state.unit(name)
    ban = ban_on_throwing(state, unit)
    why = "guns march when they are limbered" if unit.arm == "artillery" else "it has no dice left"
    return ban if ban or dice_of(state, name).dice else Ban("S-B.3", why)


class Way(NamedTuple):
    """A way by hand: whether it is legal, what it costs, and the area that it sweeps."""

    answer: Answer
    cost_in: float
    swept: shapely.Geometry


def judged(state: State, move: acts.Move, *, hand_mm: float = HAND_MM) -> Way:
    """Judges a move to where the bases lie (S-B.2 to S-B.9); hands may be off by a length.

    Raises:
        Refused: The unit has not thrown its dice.
    """
    ground, name, bases, unit = state.field, move.unit, move.bases, state.unit(move.unit)
    allowance = state.allowance(name)

    def barred(rule: str, why: str, area: shapely.Geometry) -> Way:
        return Way(certain("no", rule, f"{name} {why}", shapes_of(area, "path")), 0.0, area)

    area: shapely.Geometry = ground.outlines[name]
    if ban := LAW.ban_on_end(ground, unit, bases):
        return barred(ban.rule, ban.because, area)
    if ground.troops[name].formation == "open":
        cost_mm = max(map(apart_mm, bases, unit.bases))
        area = hulls(unit.bases, bases)
    else:
        if not _keeps_formation(unit, bases):
            why = "does not keep its formation: that is a formation change"
            return barred("S-B.2", why, area)
        path = path_to(unit, bases)
        wheels_deg = (abs(step.angle_deg) for step in path.steps if isinstance(step, Wheel))
        most_deg = max(wheels_deg, default=0.0)
        if ground.troops[name].formation == "square" and most_deg > tables.SQUARE_DEG:
            return barred("S-L.14", "is in square, which marches and does not wheel", area)
        if most_deg > 180 and path.cost_mm > allowance.value_in * ground.inch_mm:
            why = f"cannot march ahead and wheel to there within {allowance.value_in:g} in"
            return barred("S-B.8", why, footprints(bases))
        cost_mm, area = path.cost_mm, shapely.union(area_along(unit.bases, path), footprints(bases))
    moved = replace(unit, bases=bases)
    if not ground.on_table(area):
        return barred("S-B.9", "would leave the table", area)
    if why_not := _barrier(state, ground, unit, moved, area, hand_mm):
        return barred(why_not.rule, why_not.because, area)
    cost_in = cost_mm / ground.inch_mm
    answer = measured(
        (allowance.value_in - cost_in) * ground.inch_mm,
        move_sigma_mm(unit.bases, bases),
        "S-B.8",
        f"{name} moves {of_at_most(cost_in, allowance.value_in)}",
        shapes_of(area, "path"),
        tolerance_mm=state.position.table.tolerance_mm,
    )
    short_mm = (allowance.least_in - cost_in) * ground.inch_mm
    is_short = answer.answer == "yes" and short_mm > HAND_MM + answer.sigma_mm
    if is_short and not _is_stopped(state, unit, moved):
        least = f"{name} moves {cost_in:.1f} in, and must use {allowance.least_in:g}"
        answer = certain("no", "S-B.6", least, answer.evidence)
    return Way(answer, cost_in, area)


def of_at_most(length_in: float, most_in: float) -> str:
    """Returns a length and its limit in words, with as many digits as tell one beyond it.

    >>> of_at_most(5.04, 5), of_at_most(5, 5)
    ('5.04 in, of at most 5', '5.0 in, of at most 5')
    """
    return f"{telling(length_in, most_in)} in, of at most {most_in:g}"


def telling(length_in: float, *limits_in: float) -> str:
    """Returns a length with as many digits as tell on which side of each limit it lies.

    >>> telling(3.04, 3, 6), telling(4.04, 3, 6)
    ('3.04', '4.0')
    """

    def tells(digits: int) -> bool:
        shown_in = round(length_in, digits)
        return all((shown_in > limit_in) == (length_in > limit_in) for limit_in in limits_in)

    return f"{length_in:.{next(filter(tells, range(1, 6)), 6)}f}"


def path_to(unit: Unit, bases: Bases) -> MovePath:
    """Returns the cheapest way to where hands have laid a unit, as well as they can (S-B.8)."""
    within_mm = HAND_MM + 3 * max(base.sigma_mm for base in bases)
    return cheapest_path(axes_of(unit), axes_of(unit, bases), within_mm=within_mm)


def area_to(unit: Unit, bases: Bases) -> shapely.Geometry:
    """Returns the area that a unit sweeps on that way."""
    return area_along(unit.bases, path_to(unit, bases))


@lru_cache(maxsize=2048)
def area_along(bases: Bases, path: MovePath) -> shapely.Geometry:
    """Returns the area that bases sweep on a path."""
    return swept(path, [footprint(base) for base in bases])


def _keeps_formation(unit: Unit, bases: Bases) -> bool:
    """Whether each base went with the others, as well as hands can lay them."""
    start, end = axes_of(unit), axes_of(unit, bases)
    turned_deg = difference_deg(end.heading_deg, start.heading_deg)
    turned = wheeled(unit.bases, start.middle_mm, turned_deg)
    return lie_as_meant(bases, shifted(turned, *np.subtract(end.middle_mm, start.middle_mm)))


def _barrier(
    state: State,
    ground: Field,
    unit: Unit,
    moved: Unit,
    area: shapely.Geometry,
    hand_mm: float,
) -> Ban | None:
    """Returns what bars a way: units, impassable ground, and terrain at whose edge it stops."""
    end = footprints(moved.bases)
    for other in ground.enemies_ahead(moved):
        outline = ground.outlines[other.id]
        before_mm = ground.apart_mm(unit, other)
        if shapely.distance(end, outline) < before_mm and state.is_held(unit):
            return Ban("S-M.5", "may not advance in this turn")
        limit_mm = min(tables.KEEP_OFF_IN * ground.inch_mm, before_mm)
        if shapely.distance(area, outline) < limit_mm - hand_mm:
            return Ban("S-B.9", f"comes nearer than 3 in to {other.id}")
    return ban_on_going_on(state, unit, moved, area, hand_mm) or LAW.ban_on_way(ground, area)


def ban_on_going_on(
    state: State, unit: Unit, moved: Unit, area: shapely.Geometry, hand_mm: float = HAND_MM
) -> Ban | None:
    """Returns at which terrain's edge a unit must stop that goes a way over an area (S-J.8)."""
    for piece in state.position.terrain:
        if piece.kind != WALL and is_designated(piece):
            crossing = _runs_on(unit, moved, area, area_of(piece), hand_mm)
            if crossing:
                return Ban("S-J.8", f"must stop where it {crossing} {proper_name(piece.id)}")
    return None


def _runs_on(
    unit: Unit, moved: Unit, area: shapely.Geometry, piece: shapely.Geometry, hand_mm: float
) -> str:
    """Returns whether a unit goes on after it crosses the edge of some terrain (S-J.8)."""
    depth_mm = unit.bases[0].depth_mm + hand_mm
    back = ahead(moved.bases, axes_of(moved).heading_deg, -depth_mm)
    starts_in, ends_in, was_in = (
        overlaps(footprints(at), piece) for at in (unit.bases, moved.bases, back)
    )
    if starts_in:
        return "leaves" if not ends_in and not was_in else ""
    goes_on = was_in if ends_in else overlaps(area, piece)
    return "enters" if goes_on else ""


def _is_stopped(state: State, unit: Unit, moved: Unit) -> bool:
    """Whether a unit cannot go on ahead: enemies, terrain, the edge, friends (S-B.6)."""
    ground, end, front = state.field, footprints(moved.bases), axes_of(moved)
    onward = footprints(ahead(moved.bases, front.heading_deg, 2 * HAND_MM))
    keep_off_mm = tables.KEEP_OFF_IN * ground.inch_mm
    for enemy in ground.enemies(unit):
        apart_mm = shapely.distance(end, ground.outlines[enemy.id])
        onward_mm = shapely.distance(onward, ground.outlines[enemy.id])
        if onward_mm < min(apart_mm - HAND_MM, keep_off_mm):
            return True
    # Friends beside it, in contact, are no hindrance.
    between_flanks = squared(front, front_width_mm(front) - 2 * HAND_MM)
    friends = [ground.outlines[friend.id] for friend in ground.friends(unit)]
    is_barred = room_ahead_mm(between_flanks, friends, 2 * HAND_MM) <= 2 * HAND_MM
    return is_barred or not ground.on_table(onward) or _is_at_edge(state, unit, end)


def _is_at_edge(state: State, unit: Unit, end: shapely.Geometry) -> bool:
    """Whether a move has crossed the edge of some terrain, where it stops (S-J.8)."""
    start = footprints(unit.bases)
    pieces = (
        area_of(piece)
        for piece in state.position.terrain
        if piece.kind != WALL and is_designated(piece)
    )
    return any(overlaps(start, piece) != overlaps(end, piece) for piece in pieces)


def gone_on(
    state: State, unit: Unit, bases: Bases, is_legal: Callable[[Bases], bool]
) -> Bases | None:
    """Returns where a unit that has gone too little would be as far on as it must (S-B.6)."""
    cost_mm, least_mm = path_to(unit, bases).cost_mm, state.allowed[unit.id].least_in
    on_mm = least_mm * state.field.inch_mm - cost_mm
    there = ahead(bases, axes_of(unit, bases).heading_deg, on_mm)
    return there if on_mm > 0 and is_legal(there) else None


def usual_moves(state: State, unit: Unit) -> Iterator[acts.Move | acts.StayPut]:
    """Yields the usual moves of a unit that has its dice: ahead, and wheels about each corner.

    Ahead it goes as far as it may; no offer makes use of what hands may be off (S-B.9).
    """
    allowance, ground = state.allowed[unit.id], state.field
    front, width_mm = axes_of(unit), front_width_mm(axes_of(unit))
    most_mm = allowance.value_in * ground.inch_mm
    free = replace(state, allowed={unit.id: acts.Allowance(allowance.value_in)})

    def on(length_mm: float) -> Bases:
        return ahead(unit.bases, front.heading_deg, length_mm)

    def is_free(bases: Bases, state: State = free) -> bool:
        way = judged(state, acts.Move(unit.id, bases), hand_mm=HAIR_MM)
        return way.answer.answer != "no"

    farthest = on(most_mm)
    if not is_free(farthest):
        farthest = poses.farthest(on, is_free, 2 * HAND_MM, most_mm) or on(0.0)
    ends = [farthest, on(most_mm / 2)]
    # Wheels end at a quarter turn, however far the dice reach; half the inches may suffice for it.
    differ = most_mm / 2 < math.pi / 2 * width_mm - HAND_MM
    for length_mm in (most_mm, most_mm / 2)[: 1 + differ]:
        turn_deg = math.degrees(min(length_mm / width_mm, math.pi / 2))
        ends.append(wheeled(unit.bases, front.left_mm, turn_deg))
        ends.append(wheeled(unit.bases, front.right_mm, -turn_deg))
    moves = [
        acts.Move(unit.id, bases)
        for bases in dict.fromkeys(ends)
        if bases != unit.bases and is_free(bases, state)
    ]
    yield from moves
    if not moves or not (allowance.least_in or allowance.with_brigade):
        yield acts.StayPut(unit.id)


def disordered_on_the_way(state: State, ground: Field, unit: Unit, area: shapely.Geometry) -> State:
    """Returns the state with the disorder that a way brings (S-J.2, S-J.6)."""
    shaken: list[tuple[str, str]] = []
    piece = ground.in_disordering_terrain(unit, area)
    if piece is not None:
        lies = (footprints(one.bases) for one in (unit, state.unit(unit.id)))
        was_in, is_in = (overlaps(bases, area_of(piece)) for bases in lies)
        # Leaving terrain, after the stop at its edge, disorders nobody.
        if is_in or not was_in:
            shaken.append((unit.id, "S-J.9"))
    for other in ground.met(area, unit.id):
        passes = may_pass(ground.troops[unit.id], ground.troops[other.id])
        if other.side == unit.side and not passes:
            shaken += [(unit.id, "S-J.6"), (other.id, "S-J.6")]
    for name, rule in shaken:
        state = disordered(state, name, rule)
    return state


def disorder_words(state: State, name: str, bases: Bases, area: shapely.Geometry) -> str:
    """Returns whom a way to some bases would disorder, as a label goes on; empty if nobody."""
    gone = state.changed(name, bases=bases)
    after = disordered_on_the_way(gone, state.field, state.unit(name), area)
    piece = state.field.in_disordering_terrain(state.unit(name), area)
    where = {"S-J.9": f" ({proper_name(piece.id)})"} if piece else {}
    told = after.told[len(gone.told) :]
    names = [f"{event.facts['unit']}{where.get(event.rule or '', '')}" for event in told]
    return f", disorders {joined(names)}" if names else ""


def judged_commander(state: State, move: acts.MoveCommander) -> Answer:
    """Judges a commander's move (S-K.5).

    Raises:
        Refused: There is no such commander, or he has no dice.
    """
    name, leaders = move.commander, state.leaders
    if name not in leaders or name not in state.allowed:
        raise Refused(f"expected a commander who has thrown his dice, got {name}", rule="S-K.5")
    length_mm = math.dist(leaders[name].place_mm, (move.x_mm, move.y_mm))
    inch_mm, most_in = state.position.table.inch_mm, state.allowed[name].value_in
    because = f"{name} moves {of_at_most(length_mm / inch_mm, most_in)}"
    there = state.with_commander(name, move.x_mm, move.y_mm).field
    if other := there.upon(there.markers[name], name):
        return certain("no", "S-J.6", f"{name} would lie on {other}")
    return measured(most_in * inch_mm - length_mm, leaders[name].sigma_mm, "S-K.5", because)


def commander_moved(state: State, move: acts.MoveCommander, ruling: Answer) -> State:
    """Returns the state after a commander's move."""
    name = move.commander
    state = spent(state.with_commander(name, move.x_mm, move.y_mm), name)
    state = replace(state, tried=(*state.tried, name))
    return state.tells("move", ruling.because, ruling.rule, commander=name)


def spent(state: State, name: str) -> State:
    """Returns the state in which a unit or a commander has used its dice."""
    allowed = {unit: value for unit, value in state.allowed.items() if unit != name}
    return replace(state, allowed=allowed)
