"""Moves by hand: what lies elsewhere than in the game, and what players seem to have done."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar, Final, Generic

import shapely

from tablecam.geometry.moves.poses import has_same_bases
from tablecam.geometry.shapes import Shape
from tablecam.rules.game import Ban, Suggestion
from tablecam.rules.lay import Lay, with_bases
from tablecam.rules.miniatures.battle import Bases
from tablecam.rules.miniatures.ground import footprints
from tablecam.rules.reports import NOT_KNOWN, attempt
from tablecam.rules.steps import AnyState
from tablecam.table.model import (
    BasePose,
    Commander,
    LengthUnit,
    Position,
    TableSize,
    Unit,
    preferred_unit,
)
from tablecam.table.motion import has_its_place, lies_there
from tablecam.uncertainty.answer import Answer, certain
from tablecam.wording import joined

_PUSHED_MM = 20.0
"""A unit that may not move and is displaced no farther was knocked rather than moved."""
_SLIVER_MM = 0.5
"""Units that overlap by less do not lie upon each other."""
ASKED_FIRST: Final = "something else is asked first"
"""Why nothing may be moved now: the same words whatever the question."""


class ByHand(Generic[AnyState]):
    """A game whose units and commanders are moved by hand; it judges all that lie elsewhere."""

    bases_rule: ClassVar[str]
    gone_rule: ClassVar[str]
    upon_rule: ClassVar[str]
    leader_rule: ClassVar[str]
    """The rules on a unit's bases, on leaving the table, on overlaps, and on moving commanders."""

    def position(self, state: AnyState) -> Position:
        """Returns the table as the game has it."""
        return state.position

    def length_unit(self, table: TableSize) -> LengthUnit:
        """Returns the unit of length in which the game measures."""
        return preferred_unit(table)

    def suggestion(self, state: AnyState, unit: Unit, seen: Unit) -> Suggestion | None:
        """Returns the action inferred for a displaced unit; None if it may not be moved."""
        return None

    def commander_suggestion(self, state: AnyState, seen: Commander) -> Suggestion | None:
        """Returns the action inferred for a commander; None if he may not be moved now."""
        return None

    def is_under_way(self, state: AnyState, unit: Unit, bases: Bases) -> bool:
        """Whether hands are partway through a move: no fault of theirs."""
        return False

    def why_still(self, state: AnyState, unit: Unit) -> Ban:
        """Returns why a unit may not be moved now."""
        raise NotImplementedError

    def nearest(self, state: AnyState, unit: Unit, bases: Bases) -> Bases | None:
        """Returns the nearest place where an illegal move would have been legal."""
        return None

    def detect_moves(self, state: AnyState, position: Position) -> tuple[Suggestion, ...]:
        """Suggests an action for each unit and commander that is not where the game has it.

        Legal actions come first, then moves out of turn, then missing or surplus bases.
        """
        game, seen = self.position(state), whole_units(self.position(state), position)
        units = tuple(self._of_units(state, position, seen))
        suggestions = [
            *(_after_others(game, seen, unit, units, self.upon_rule) for unit in units),
            *self._of_commanders(state, position),
        ]
        for there in position.units:
            if there.bases and game.unit(there.id) is None:
                text = f"{there.id} has left the game but is still on the table: take it off"
                gone = certain("no", self.gone_rule, text)
                suggestions.append(Suggestion(there.id, text, None, gone))
        suggestions.sort(key=lambda made: (made.action is None, not made.is_legal))
        return tuple(suggestions)

    def _of_units(
        self, state: AnyState, position: Position, seen: Mapping[str, Unit]
    ) -> Iterator[Suggestion]:
        """Yields suggestions for units that are displaced or not fully seen."""
        game = self.position(state)
        for unit in game.units:
            there = seen.get(unit.id)
            if there is None:
                text = _incomplete(unit, position.unit(unit.id))
                yield put_back(game, unit.id, Ban(self.bases_rule, text))
            elif not lies_as_seen(unit, there.bases):
                # A failed ruling on one unit must not hide the suggestions for the others.
                text = f"the move of {unit.id} is {NOT_KNOWN}"
                not_known = Answer("too_close", 0.0, 0.0, 0.5, self.upon_rule, text)
                unknown = Suggestion(unit.id, text, None, not_known)
                yield from attempt(
                    f"moved/{unit.id}", partial(self._of_unit, state, unit, there), [unknown]
                )

    def _of_unit(self, state: AnyState, unit: Unit, seen: Unit) -> list[Suggestion]:
        """Returns the action inferred for a unit, with the nearest legal place, or to put it back.

        Empty if it is on its way.
        """
        game = self.position(state)
        made = self.suggestion(state, unit, seen)
        if made is None and self.is_under_way(state, unit, seen.bases):
            return []
        if made is None:
            far_mm = max(map(_apart_mm, unit.bases, seen.bases))
            ban, what = self.why_still(state, unit), "pushed" if far_mm <= _PUSHED_MM else "moved"
            far = self.length_unit(game.table).margin(far_mm)
            text = f"{unit.id} was {what} {far}, but {ban.because}: put it back"
            gap = gap_shape(unit.bases[0], seen.bases[0])
            return [put_back(game, unit.id, Ban(ban.rule, text), far_mm, (gap,))]
        if made.action is not None and not made.is_legal:
            there = self.nearest(state, unit, seen.bases)
            if there is not None:
                return [replace(made, nearest=with_bases(game, {unit.id: there}))]
        return [made]

    def _of_commanders(self, state: AnyState, position: Position) -> Iterator[Suggestion]:
        """Yields a suggestion for each commander that is displaced or not seen."""
        game = self.position(state)
        for leader, seen in commanders_seen(game, position):
            if seen is None:
                text = f"{leader.name} cannot be seen on the table: put him back where he stood"
                yield put_back(game, leader.id, Ban(self.leader_rule, text))
            elif not has_its_place(seen, leader):
                far_mm = _apart_mm(leader, seen)
                far = self.length_unit(game.table).margin(far_mm)
                text = f"{leader.name} was moved {far} out of turn: put him back"
                yield self.commander_suggestion(state, seen) or put_back(
                    game, leader.id, Ban(self.leader_rule, text), far_mm, (gap_shape(leader, seen),)
                )


def suggested(name: str, ruling: Answer, action: object | None = None) -> Suggestion:
    """Suggests an action of a unit or commander with its ruling."""
    return Suggestion(name, ruling.because, action, ruling)


def put_back(
    game: Position, name: str, ban: Ban, far_mm: float = 0.0, drawn: tuple[Shape, ...] = ()
) -> Suggestion:
    """Suggests putting a unit or commander back where the game has it."""
    answer = certain("no", ban.rule, ban.because, drawn, margin_mm=-far_mm)
    return Suggestion(name, ban.because, None, answer, game)


def gap_shape(thing: BasePose | Commander, seen: BasePose | Commander) -> Shape:
    """Draws a line from where a base or commander was to where it is."""
    return Shape("line", (thing.place_mm, seen.place_mm), "gap")


def whole_units(game: Position, position: Position) -> dict[str, Unit]:
    """Returns, as they lie now, the units of a game all of whose bases are seen."""
    pairs = ((unit, position.unit(unit.id)) for unit in game.units)
    return {
        unit.id: replace(unit, bases=_bases_seen(unit, seen.bases))
        for unit, seen in pairs
        if seen is not None and len(seen.bases) == len(unit.bases)
    }


def commanders_seen(
    game: Position, position: Position
) -> Iterator[tuple[Commander, Commander | None]]:
    """Yields the commanders of a game, each with the commander as seen on the table."""
    seen_by_id = {leader.id: leader for leader in position.commanders}
    for leader in game.commanders:
        yield leader, seen_by_id.get(leader.id)


def _bases_seen(unit: Unit, seen: Sequence[BasePose]) -> Bases:
    """Returns the bases of a unit as seen, matched by tag, or by order without tags."""
    by_tag = {base.tag: base for base in seen}
    # Tags tell the bases apart; without them their order is the only clue.
    is_tagged = None not in by_tag and by_tag.keys() == {base.tag for base in unit.bases}
    in_order = [by_tag[base.tag] for base in unit.bases] if is_tagged else seen
    return tuple(
        replace(there, width_mm=base.width_mm, depth_mm=base.depth_mm, tag=base.tag)
        for base, there in zip(unit.bases, in_order, strict=True)
    )


def _incomplete(unit: Unit, seen: Unit | None) -> str:
    """Returns which bases are to be put back, or taken off."""
    seen_count, count = 0 if seen is None else len(seen.bases), len(unit.bases)
    if not seen_count:
        return f"{unit.id} cannot be seen on the table: put it back where it was"
    if seen_count < count:
        missing = "a base" if count - seen_count == 1 else f"{count - seen_count} bases"
        return f"{missing} of {unit.id} cannot be seen: put every base back"
    lie = f"{unit.id} has {seen_count} bases on the table"
    return f"{lie} but only {count} belong to it: remove the rest"


def _after_others(
    game: Position,
    seen: Mapping[str, Unit],
    suggestion: Suggestion,
    suggestions: Sequence[Suggestion],
    rule: str,
) -> Suggestion:
    """Returns a suggestion, postponed if another moved unit stood in its place."""
    name = suggestion.unit
    # A unit may not end its move on another, but that one may have moved away meanwhile.
    upon = lies_upon(game, seen[name]) if suggestion.answer.rule == rule else ()
    tried = {other.unit for other in suggestions if other.action is not None}
    # The place becomes free only if all that stood there have moved.
    if not upon or not tried.issuperset(upon):
        return suggestion
    because = f"{name} is where {joined(upon)} stood"
    if all(other.is_legal for other in suggestions if other.unit in upon):
        because += f": confirm {joined(upon)} first"
    elif any(name in lies_upon(game, seen[other]) for other in upon):
        because += f", and {joined(upon)} is where {name} stood: neither can go first"
    else:
        because += ", which may not stay where it is now"
    return replace(suggestion, answer=replace(suggestion.answer, because=because), nearest=None)


def lies_upon(game: Position, seen: Unit) -> tuple[str, ...]:
    """Returns the units in whose places, as the game has them, a seen unit lies."""
    area = shapely.buffer(footprints(seen.bases), -_SLIVER_MM, join_style="mitre")
    others = (other for other in game.units if other.id != seen.id and other.bases)
    return tuple(other.id for other in others if shapely.intersects(footprints(other.bases), area))


def _apart_mm(thing: BasePose | Commander, seen: BasePose | Commander) -> float:
    return math.dist(thing.place_mm, seen.place_mm)


def lies_as_seen(unit: Unit, bases: Bases) -> bool:
    """Whether a unit lies where the game has it, as well as hands can lay it."""
    return has_same_bases(bases, unit.bases) and all(map(lies_there, bases, unit.bases))


def adopted(position: Position, seen: Position) -> Lay | None:
    """Returns the action that adopts all small differences; None if there are none."""
    pairs = ((unit, seen.unit(unit.id)) for unit in position.units)
    units = {
        unit.id: there.bases
        for unit, there in pairs
        if there is not None and there.bases != unit.bases and lies_as_seen(unit, there.bases)
    }
    return Lay(units) if units else None
