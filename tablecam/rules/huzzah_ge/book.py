"""Rulings on units as they lie, without a game: fire, who reaches whom, faces, and command."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations
from typing import Final

import numpy as np

from tablecam.geometry.moves.lanes import lane
from tablecam.geometry.shapes import shapes_of
from tablecam.rules.huzzah_ge import fire
from tablecam.rules.huzzah_ge.field import corner_distances_mm, field_of
from tablecam.rules.huzzah_ge.state import Fire, State
from tablecam.rules.huzzah_ge.tables import CM_MM, COMMAND, GAME
from tablecam.rules.huzzah_ge.troops import front_of
from tablecam.rules.huzzah_ge.volleys import best_shots, firing_bases, lies_now
from tablecam.rules.miniatures.book import BattleBook, possible, refused
from tablecam.rules.reports import Finding, Question, Section
from tablecam.table.model import Position, Unit
from tablecam.table.sides import side_plural
from tablecam.uncertainty.answer import Answer, AnswerWord, certain, decide, measured
from tablecam.uncertainty.samples import decide_sampled, drawn
from tablecam.wording import counted

_SURE_SIGMAS = 6.0
"""A margin of more standard deviations than this needs no draws."""


class HuzzahBook(BattleBook):
    """The book's rulings on a position."""

    def read(self, position: Position) -> None:
        """Reads the keys of all units and officers."""
        ground = field_of(position)
        ground.troops, ground.officer_facts  # noqa: B018 - read for the first time

    def ruled(self, position: Position, *units: Unit) -> Iterator[Section]:
        """Yields a unit's state and the enemies in fire or reach, or the same for two units."""
        first, *others = dict.fromkeys([*(unit.side for unit in position.units if unit.bases), ""])
        state = State(position, (first, others[0] if others else ""))
        own, *enemies = units
        pairs = [(own, enemy) for enemy in enemies or state.field.enemies(own)]
        pairs += [(enemy, own) for enemy in enemies]
        # If about one unit, only the enemies that it may fire at or reach are listed.
        keep = tuple if enemies else possible
        if not enemies:
            yield Section("state", "State", partial(_state, state, own))
        yield Section("fire", "Fire", lambda: keep(_shot(state, *pair) for pair in pairs))
        yield Section(
            "move", "Within one move", lambda: keep(_reach(state, *pair) for pair in pairs), "reach"
        )


def _state(state: State, unit: Unit) -> Iterator[Finding]:
    """Yields a unit's formation, grade, support and officers."""
    troops, facts = state.troops(unit.id), state.field.facts[unit.id]
    order = "routing" if troops.routing else "disordered" if troops.disordered else ""
    grade = facts.quality or str(facts.expected).replace("_", " ")
    words = (f"{len(unit.bases)} bases", troops.formation.replace("_", " "), grade, order)
    yield Finding(", ".join(word for word in words if word), rule="H-14.1")
    yield Finding(f"{unit.id} has {troops.support_ranks} support ranks", rule="H-2.5")
    yield from _officers(state, unit)


def _shot(state: State, firer: Unit, target: Unit) -> Finding:
    """Returns whether a unit may fire at another, at what face and range (H-7)."""
    asked = Question(f"fire/{firer.id}/{target.id}", f"May {firer.id} fire at {target.id}?")
    ban = fire.ban_on_firing(state.troops(firer.id), 0.0)
    if ban is not None:
        return refused(asked, ban.rule, f"{firer.id} may not fire: {ban.because}")
    known = next(best_shots(state, firer, target), None)
    nearest = _nearest_shots(state, firer, target)
    shot = nearest[0] if known is None else known[0]
    at = lies_now(state, shot)
    if at is None:
        return refused(asked, "H-7.4", f"{target.id} has no face toward {firer.id}")
    limit_cm = state.troops(firer.id).range_cm
    margin_mm = (limit_cm - at.range_cm) * CM_MM
    word, sigma_mm, chance = _in_range(state, (shot, *nearest), limit_cm, margin_mm)
    of_bases = "its middle" if len(shot.bases) == 1 else "their middle"
    to_face = f"the middle of the {at.face} of {target.id}"
    if state.options.get("range_to") == "nearest_base":
        to_face = target.id
    where = f"{at.range_cm:.1f} cm from {of_bases} to {to_face}, of {limit_cm:g}"
    shapes = shapes_of(front_of(firer.bases).edge, "edge")
    if known is None and word == "yes":
        why = f"{firer.id} does not see {target.id} clearly before it: {where}"
        return refused(asked, "H-7.6", why, shapes)
    short = ", short range" if fire.is_short(state.troops(firer.id), at.range_cm) else ""
    count = counted(len(shot.bases), "base")
    said = "may not fire, not even" if word == "no" else "fires"
    why = f"{firer.id} {said} with {count}: {where}{short}"
    answer = Answer(word, margin_mm, sigma_mm, chance, "H-7.4", why, shapes, target.id)
    return Finding(why, answer, question=asked)


def _nearest_shots(state: State, firer: Unit, target: Unit) -> tuple[Fire, ...]:
    """Returns the two shots nearest to the faces they see (H-7.6)."""
    places = tuple(firing_bases(state, firer, target))
    spans = combinations(range(len(places) + 1), 2)
    shots = [Fire(firer.id, target.id, places[start:end]) for start, end in spans]

    def range_cm(shot: Fire) -> float:
        at = lies_now(state, shot)
        return math.inf if at is None else at.range_cm

    return tuple(sorted(shots, key=range_cm)[:2])


def _in_range(
    state: State, shots: Sequence[Fire], limit_cm: float, margin_mm: float
) -> tuple[AnswerWord, float, float]:
    """Returns whether a shot is within a limit, its sigma (mm) and probability (H-7.3, H-7.4)."""
    firer, target = state.unit(shots[0].unit), state.unit(shots[0].target)
    bases = (*firer.bases, *target.bases)
    arm_mm = len(bases) * max(base.width_mm for base in bases)
    bound_mm = sum(
        max(base.sigma_mm + math.radians(base.sigma_deg) * arm_mm for base in unit.bases)
        for unit in (firer, target)
    )
    tolerance_mm = state.position.table.tolerance_mm
    if abs(margin_mm) > _SURE_SIGMAS * bound_mm:
        word, chance = decide(margin_mm, bound_mm, tolerance_mm=tolerance_mm)
        return word, bound_mm, chance
    margins_mm = []
    for units in drawn((firer, target)):
        ways = (
            fire.shot_at(tuple(units[0].bases[place] for place in shot.bases), units[1].bases)
            for shot in shots
        )
        ranges_cm = [at.range_cm for at in ways if at is not None]
        margins_mm.append((limit_cm - min(ranges_cm, default=2 * limit_cm)) * CM_MM)
    return decide_sampled(margin_mm, np.array(margins_mm), tolerance_mm=tolerance_mm)


def _reach(state: State, unit: Unit, enemy: Unit) -> Finding:
    """Returns whether a unit could reach an enemy by one advance (H-11.9)."""
    allowed_cm = state.troops(unit.id).allowance_cm
    asked = Question(f"reach/{unit.id}/{enemy.id}", f"Could {unit.id} reach {enemy.id}?")
    reaches = enemy.id in state.field.reached[unit.id]
    said = "could reach" if reaches else "could not reach"
    why = f"{unit.id} {said} {enemy.id} by one advance of {allowed_cm:g} cm"
    way = shapes_of(lane(front_of(unit.bases), max(allowed_cm, 0.1) * CM_MM), "path")
    answer = certain("yes" if reaches else "no", "H-11.9", why, way)
    return Finding(why, answer, question=asked)


def _officers(state: State, unit: Unit) -> Iterator[Finding]:
    """Yields whether a unit is wholly within the radius of each of its officers (H-11.11)."""
    # The farthest corner of a farthest base swings with its heading.
    swing_mm = max(
        math.radians(base.sigma_deg) * math.hypot(base.width_mm, base.depth_mm) / 2
        for base in unit.bases
    )
    place_mm = max(base.sigma_mm for base in unit.bases)
    for name, officer in state.field.officers.items():
        if not state.field.commanded(name, unit.id):
            continue
        radius_cm = COMMAND[state.field.officer_facts[name].quality or "average"][1]
        (far_mm,) = corner_distances_mm(officer.place_mm, [unit.bases])
        sigma_mm = math.hypot(officer.sigma_mm, place_mm, swing_mm / 2)
        where = f"{far_mm / CM_MM:.1f} cm from {name} of the {side_plural(officer.side)}"
        why = f"The farthest corner of {unit.id} is {where}, of {radius_cm:g}"
        answer = measured(radius_cm * CM_MM - far_mm, sigma_mm, "H-11.11", why)
        yield Finding(why, answer)


BOOK: Final = HuzzahBook(GAME)
"""The book that other modules look up."""
