"""Rulings on units as they lie, without a game: fire, sides to strike, command and support."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import Final

from tablecam.geometry.shapes import shapes_of
from tablecam.rules.miniatures.book import BattleBook, possible, refused
from tablecam.rules.miniatures.ground import axes_of
from tablecam.rules.reports import Finding, Part, Question, Section
from tablecam.rules.syw_d6.charges import edges
from tablecam.rules.syw_d6.field import Field, commands, field_of
from tablecam.rules.syw_d6.fire import fire_pool
from tablecam.rules.syw_d6.forming import formation_words
from tablecam.rules.syw_d6.marches import move_dice, telling
from tablecam.rules.syw_d6.tables import COMMAND_IN, GAME
from tablecam.table.model import Position, Unit
from tablecam.uncertainty.answer import certain, decide, measured
from tablecam.uncertainty.lengths import distance


class SheetBook(BattleBook):
    """What the sheet says of a position."""

    source = "sheet"

    def read(self, position: Position) -> None:
        """Reads the keys of all units."""
        field_of(position).troops  # noqa: B018 - read for the first time

    def ruled(self, position: Position, *units: Unit) -> Iterator[Section]:
        """Yields a unit's state and whom it may fire at, or what two enemies may do."""
        ground = field_of(position)
        if len(units) == 1:
            yield Section("state", "State", partial(_state, ground, *units))
            yield Section("fire", "Fire", partial(_shots, ground, *units))
            return
        pairs = (units, units[::-1])
        yield Section("fire", "Fire", lambda: (_shot(ground, *pair) for pair in pairs))
        near = [pair for pair in pairs if ground.apart_in(*pair) <= _most_in(ground, pair[0])]
        if near:
            yield Section(
                "charge",
                "Sides to charge",
                lambda: (line for pair in near for line in _faces(ground, *pair)),
                "edge",
            )


def _state(ground: Field, unit: Unit) -> Iterator[Finding]:
    """Yields a unit's formation, its command and its support."""
    troops = ground.troops[unit.id]
    state = "disordered" if troops.is_disordered else "in order"
    formation = formation_words(troops.formation)
    if unit.arm == "artillery":
        # Guns have no other formation than their own (S-L.6).
        formation = "limbered" if troops.limbered else "unlimbered"
    words = f"{troops.figures} figures, {formation}, {state}"
    yield Finding(words, rule="S-L.8")
    yield from _command(ground, unit)
    yield _support(ground, unit)


def _shots(ground: Field, unit: Unit) -> Iterator[Part]:
    """Yields the enemies at which a unit may fire, and the ranges of its weapon (S-D.8)."""
    yield from possible(_shot(ground, unit, enemy) for enemy in ground.enemies(unit))
    ranges = ground.troops[unit.id].ranges
    short = f", at short range up to {ranges.short_in:g} in" if ranges.long_in else ""
    only = " in response only," if unit.arm == "cavalry" else ""
    yield Finding(f"{unit.id} fires{only} up to {ranges.greatest_in:g} in{short}", rule="S-D.8")
    yield from ground.arcs(unit)


def _shot(ground: Field, firer: Unit, target: Unit) -> Finding:
    """Returns whether a unit may fire at another, and with how many dice (S-D)."""
    troops, there = ground.troops[firer.id], ground.target_of(firer, target)
    asked = Question(f"fire/{firer.id}/{target.id}", f"May {firer.id} fire at {target.id}?")
    shot, ban = ground.aim(firer, target)
    if ban is not None and ban.rule != "S-D.8":
        return refused(asked, ban.rule, f"{firer.id} may not fire at {target.id}: {ban.because}")
    length = distance(firer, target)
    range_mm = shot.range_in * ground.inch_mm if shot else ground.range_mm(firer, target)
    margin_mm = troops.ranges.greatest_in * ground.inch_mm - range_mm
    range_in = telling(ground.inches(range_mm), *troops.ranges.all_in)
    reach = f"its {troops.ranges.greatest_in:g} in"
    why = f"{firer.id} cannot reach {target.id}: {range_in} in away, beyond {reach}"
    if shot is not None:
        count = fire_pool(troops, there, shot).dice
        why = f"{firer.id} fires at {target.id} with {count} dice: {range_in} in away, of {reach}"
    answer = measured(
        margin_mm, length.sigma_mm, "S-D.8", why, (length.evidence(),),
        tolerance_mm=ground.position.table.tolerance_mm, about=target.id,
    )  # fmt: skip
    return Finding(why, answer, question=asked)


def _most_in(ground: Field, unit: Unit) -> float:
    """Returns the most inches that the dice of a unit's move may make (S-B.4)."""
    pool = move_dice(ground.troops[unit.id], None)
    return pool.value_in((6,) * pool.choose_at_most)


_SIDES: Final = ("front", "left flank", "right flank", "rear")


def _faces(ground: Field, unit: Unit, target: Unit) -> Iterator[Finding]:
    """Yields before which edges of an enemy a unit's front stands (S-B.14)."""
    middle_mm = axes_of(unit).middle_mm
    sigma_mm = math.hypot(*(max(base.sigma_mm for base in one.bases) for one in (unit, target)))
    for side, (_, edge) in zip(_SIDES, edges(ground, target), strict=True):
        margin_mm = float(edge.ahead_mm([middle_mm])[0])
        word = decide(margin_mm, sigma_mm)[0]
        said = "stands" if word == "yes" else "does not stand" if word == "no" else "may stand"
        why = f"{unit.id} {said} before the {side} of {target.id}"
        shapes = shapes_of(edge.edge, "edge")
        answer = measured(margin_mm, sigma_mm, "S-B.14", why, shapes, about=target.id)
        words = f"May {unit.id} strike the {side} of {target.id}?"
        asked = Question(f"edge/{side.replace(' ', '-')}/{unit.id}/{target.id}", words)
        yield Finding(why, answer, question=asked)


def _command(ground: Field, unit: Unit) -> Iterator[Finding]:
    """Yields whether a commander is near enough (S-K.1)."""
    own = (one for one in ground.position.commanders if commands(one, unit))
    lengths = [distance(unit, one.pose or one) for one in own]
    nearest = min(lengths, key=lambda length: length.value_mm, default=None)
    if nearest is None:
        return
    margin_mm = COMMAND_IN * ground.inch_mm - nearest.value_mm
    away_in = nearest.value_mm / ground.inch_mm
    is_near = "within" if margin_mm >= 0 else "beyond"
    away = f"{telling(away_in, COMMAND_IN)} in away, {is_near} {COMMAND_IN:g}"
    why = f"The nearest commander of {unit.id} is {away}"
    yield Finding(why, measured(margin_mm, nearest.sigma_mm, "S-K.1", why))


def _support(ground: Field, unit: Unit) -> Finding:
    """Returns whether friends in sight support a unit (S-H.7)."""
    is_supported = ground.has_friends_in_sight(unit)
    why = f"{unit.id} has {'' if is_supported else 'no '}friends in sight within 18 in"
    return Finding(why, certain("yes" if is_supported else "no", "S-H.7", why))


BOOK: Final = SheetBook(GAME)
"""The book that other modules look up."""
