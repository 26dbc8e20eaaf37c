"""A unit that a hand has moved in a charge: whom it charges, or that it moves up."""

from __future__ import annotations

from dataclasses import replace

import shapely

from tablecam.rules.game import Suggestion
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.game.hands.moved_units import (
    alone,
    ghost,
    no,
    reason,
    refusal,
    seen_march,
)
from tablecam.rules.maurice.game.moves.charge_ends import ChargeEnd, charge_made, off_mm, slack_mm
from tablecam.rules.maurice.game.moves.move_words import in_words, listed
from tablecam.rules.maurice.game.state.actions import Charge, March
from tablecam.rules.maurice.game.state.state import State
from tablecam.rules.maurice.game.state.table import field_at
from tablecam.table.model import Unit
from tablecam.uncertainty.answer import Answer
from tablecam.uncertainty.contact import TOUCH_MM

_BEFORE_MM = 20.0
"""Who stops so far before an enemy or nearer was meant to charge it."""


def seen_charge(state: State, seen: Unit) -> Suggestion:
    """A charge where a unit lies before an enemy and may not move up there, else a move up."""
    field = field_at(state)
    there = alone(field, seen)
    met = () if there is None else _before(field, there)
    if there is None or not met or refusal(state, March(seen.id, seen.bases)) is None:
        return seen_march(state, seen)
    made = [charge_made(field, field.by_id[seen.id], enemy, there.axes) for enemy in met]
    ends = [end for end in made if end is not None]
    if not ends:
        action = Charge(seen.id, met[0], seen.bases)
        return _refused(state, seen, action, None, 0.0)
    end = min(ends, key=lambda each: off_mm(each, there.axes))
    action, far_mm = Charge(seen.id, end.target, seen.bases), off_mm(end, there.axes)
    if refusal(state, action) is not None:
        return _refused(state, seen, action, end, far_mm)
    text = f"{seen.id} {_words(field, end)} into {end.target}: charge?"
    return Suggestion(seen.id, text, action, _legal(field, end, far_mm, slack_mm(seen.bases)))


def _before(field: Field, there: UnitOnField) -> tuple[str, ...]:
    """The enemies that a unit lies before, the nearest first."""
    far_mm = {
        enemy.id: float(shapely.distance(there.outline, enemy.outline))
        for enemy in field.enemies_of(there)
    }
    close = (name for name, mm in far_mm.items() if mm <= _BEFORE_MM)
    return tuple(sorted(close, key=far_mm.__getitem__))


def _refused(
    state: State, seen: Unit, action: Charge, end: ChargeEnd | None, far_mm: float
) -> Suggestion:
    """A charge that was none: why, and where it would have led."""
    why_not = refusal(state, action)
    because = (
        f"no charge of {seen.id} leads to {action.target}" if why_not is None else reason(why_not)
    )
    rule = (None if why_not is None else why_not.rule) or "M-8.3"
    answer = no(rule, because, far_mm, () if end is None else end.evidence)
    text = f"{seen.id} lies before {action.target}: charge?"
    nearest = state.position if end is None else ghost(state, seen, end.bases)
    return Suggestion(seen.id, text, action, answer, nearest)


def _words(field: Field, end: ChargeEnd) -> str:
    wheel = f"wheeled {end.corner} {in_words(field.in_bw(end.arc_mm))} BW"
    onward = f"moved ahead {in_words(field.in_bw(end.straight_mm))} BW"
    return listed([wheel, onward] if end.corner else [onward])


def _legal(field: Field, end: ChargeEnd, far_mm: float, slack: float) -> Answer:
    """What a charge cost and what follows."""
    parts = [f"{field.in_bw(end.cost_mm):.2f} BW"]
    if far_mm > TOUCH_MM:
        parts.append(f"it lies {far_mm:.1f} mm off, which counts as contact (G-8)")
    if end.also_meets:
        parts.append(f"it meets {listed(end.also_meets)} as well (M-8.8)")
    if end.crosses_difficult:
        parts.append("1 disruption for difficult ground (M-8.6)")
    if end.doubt is not None:
        parts.append("whether it can is too close to call, which is the mover's")
        return replace(end.doubt, because=listed(parts), evidence=end.evidence)
    return Answer("yes", slack - far_mm, 0.0, 1.0, "M-8.5", listed(parts), end.evidence)
