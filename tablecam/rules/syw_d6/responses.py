"""Response fire: who may fire at an enemy that moves before him, and where on its way (S-C.1)."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.geometry.moves.paths import MovePath, Straight, Wheel
from tablecam.geometry.moves.poses import ahead, shifted
from tablecam.geometry.moves.poses import wheeled as bases_wheeled
from tablecam.geometry.shapes import Shape
from tablecam.rules.game import Ban, PendingDecision
from tablecam.rules.miniatures.battle import Bases
from tablecam.rules.miniatures.ground import axes_of, centre_mm
from tablecam.rules.steps import YES_OR_NO, Decide
from tablecam.rules.syw_d6.field import Field
from tablecam.rules.syw_d6.fire import Occasion, ban_on_response, ban_on_shot
from tablecam.rules.syw_d6.marches import path_to, telling
from tablecam.rules.syw_d6.state import Due, State
from tablecam.rules.syw_d6.volleys import FireDice
from tablecam.table.model import Unit

_WAY_STEP_IN = 0.25


class ResponseFire(Due):
    """Whether a unit fires at an enemy that moves before it (S-C.1)."""

    unit: str
    target: str
    occasion: Occasion
    range_in: float
    bases: Bases = ()

    @property
    def shot(self) -> FireDice:
        """The dice of its fire."""
        return FireDice(self.unit, self.target, self.occasion, self.range_in, self.bases)

    def drawn(self, state: State) -> tuple[Shape, ...]:
        """Draws its fire at the mover where it is nearest."""
        return self.shot.drawn(state)

    def asked(self, state: State) -> PendingDecision | None:
        """Asks the firer's side, with the dice that it would throw."""
        if not self.legal(state):
            return None
        ends_in = state.field.troops[self.unit].ranges.all_in
        closest = f"moves, {telling(self.range_in, *ends_in)} in away at its closest"
        deed = closest if self.occasion == "crosses" else "charges home"
        question = f"{self.unit}: fire at {self.target} as it {deed}?"
        return PendingDecision(question, self.owner(state), sums=self.shot.sums(state))

    def legal(self, state: State) -> tuple[Decide, ...]:
        """Returns both answers, none without dice; who flees makes no contact (S-C.2)."""
        flees = self.occasion != "crosses" and state.unit(self.target).state.get("status")
        return () if flees or not self.shot.pool(state).dice else YES_OR_NO

    def follow(self, state: State, answer: Decide | None) -> State:
        """Returns the state with the shot due."""
        if answer is None:
            return state
        if not answer.yes:
            return state.tells("response", f"{self.unit} holds its fire", "S-C.1", unit=self.unit)
        return state.pushed(self.shot)


def responses(
    state: State,
    unit: Unit,
    bases: Bases,
    *,
    but: str = "",
    is_straight: bool = False,
    path: MovePath | None = None,
) -> tuple[ResponseFire, ...]:
    """Returns the response fire that a way calls, the nearest first (S-C.1).

    It is a charge's `path`, else the cheapest way by marches and wheels, or, as flights go,
    `is_straight`.
    Each enemy fires at the place of the way that is nearest to it, of those at which it may fire.
    """
    ground, dues = state.field, list[ResponseFire]()
    steps = () if is_straight else (path or path_to(unit, bases)).steps
    ways = _places(ground, unit, bases, steps)
    places = [ground.with_unit_at(unit, place) for place in ways]
    outlines = [place.outlines[unit.id] for place in places]
    for enemy in ground.enemies(unit):
        if enemy.id == but or ban_on_response(ground.troops[enemy.id], "crosses", 0.0) is not None:
            continue
        apart_mm = shapely.distance(axes_of(enemy).edge, outlines)
        best: ResponseFire | None = None
        for index in np.argsort(apart_mm, kind="stable"):
            there = places[index]
            # The range is measured in the arc, never less than between the outlines.
            if best is not None and there.inches(apart_mm[index]) >= best.range_in:
                break
            target = there.units[unit.id]
            shot = there.shot(enemy, target)
            if isinstance(shot, Ban) or (best is not None and shot.range_in >= best.range_in):
                continue
            if ban_on_shot(there.troops[enemy.id], there.target_of(enemy, target), shot) is None:
                best = ResponseFire(enemy.id, unit.id, "crosses", shot.range_in, target.bases)
        if best is not None:
            dues += response(state, best)
    return tuple(sorted(dues, key=lambda due: due.range_in))


def _places(
    ground: Field, unit: Unit, bases: Bases, steps: tuple[Wheel | Straight, ...]
) -> Iterator[Bases]:
    """Yields how a unit's bases lie along its way, a small step apart, both ends included.

    Without steps it goes straight.
    """
    at, step_mm = unit.bases, _WAY_STEP_IN * ground.inch_mm
    yield at
    if not steps or ground.troops[unit.id].formation == "open":
        x_mm, y_mm = np.subtract(centre_mm(bases), centre_mm(at))
        for share in _shares(math.hypot(x_mm, y_mm), step_mm):
            yield shifted(at, x_mm * share, y_mm * share)
    else:
        for step in steps:
            here = at
            if isinstance(step, Straight):
                for share in _shares(step.length_mm, step_mm):
                    at = ahead(here, step.heading_deg, step.length_mm * share)
                    yield at
            else:
                for share in _shares(step.arc_mm, step_mm):
                    at = bases_wheeled(here, step.about_mm, step.angle_deg * share)
                    yield at
    yield bases


def _shares(length_mm: float, step_mm: float) -> NDArray[np.float64]:
    count = math.ceil(abs(length_mm) / step_mm)
    return np.arange(1, count + 1) / count


def response(state: State, fire: ResponseFire) -> tuple[ResponseFire, ...]:
    """Returns the fire of a unit in response, nothing if it may not fire so."""
    troops = state.field.troops[fire.unit]
    return () if ban_on_response(troops, fire.occasion, fire.range_in) is not None else (fire,)
