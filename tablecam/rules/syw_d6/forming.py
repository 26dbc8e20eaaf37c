"""Forming up: clearing disorder, and the formations that a unit's bases can take (S-A.3, S-L)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from tablecam.geometry.moves.poses import ahead, in_ranks, laid_at, shifted
from tablecam.rules.dice import Roll
from tablecam.rules.game import Ban, DiceGroup
from tablecam.rules.miniatures.battle import Bases, permitted
from tablecam.rules.miniatures.faces import FACES
from tablecam.rules.miniatures.ground import axes_of, centre_mm, footprints
from tablecam.rules.steps import why_none
from tablecam.rules.syw_d6.field import Field
from tablecam.rules.syw_d6.flights import flight_of
from tablecam.rules.syw_d6.marches import of_at_most
from tablecam.rules.syw_d6.state import Due, FormUp, State
from tablecam.rules.syw_d6.tables import (
    ATTACK_COLUMN_RANKS,
    FORM_UP_IN,
    SECOND_CHANCE,
    Experience,
)
from tablecam.rules.syw_d6.troops import Formation, Troops, formation_of
from tablecam.table.headings import forward, right
from tablecam.table.model import BasePose, Point, Unit
from tablecam.uncertainty.answer import Answer, certain
from tablecam.wording import counted


def clearing_dice(experience: Experience, first: int) -> int:
    """Returns how many dice a unit throws to clear, its second chance included."""
    if first != 1:
        return 1
    return 1 + SECOND_CHANCE[experience]


def clears(dice: Sequence[int], *, is_kind: bool = False) -> bool:
    """Whether a unit clears its disorder; `is_kind` is the reading of K (S-A.3)."""
    return dice[0] != 1 or any(die != 1 if is_kind else die == 6 for die in dice[1:])


class ClearDie(Due):
    """A unit with a red marker throws to clear it; after a one, its second chance (S-A.3)."""

    unit: str
    first: int = 0

    def roll(self, state: State) -> Roll:
        """Returns the dice."""
        if not self.first:
            return Roll(f"{self.unit} to clear its disorder", 1)
        skill = state.field.troops[self.unit].skill.clear
        return Roll(f"the second chance of {self.unit}", clearing_dice(skill, 1) - 1)

    def dice_groups(self, state: State) -> tuple[DiceGroup, ...]:
        """Returns all dice, and what one of them needs (S-A.3)."""
        is_hard = self.first and state.options.get("second_chance") != "not_one"
        return (DiceGroup(self.unit, 6 if is_hard else 2, tuple(range(self.roll(state).count))),)

    def follow(self, state: State, answer: tuple[int, ...]) -> State:
        """Returns the state with the unit in order, or still with its marker."""
        name, troops = self.unit, state.field.troops[self.unit]
        if not self.first and answer[0] == 1 and clearing_dice(troops.skill.clear, 1) > 1:
            return state.pushed(ClearDie(name, 1))
        dice = (1, *answer) if self.first else answer
        is_kind = state.options.get("second_chance") == "not_one"
        is_cleared = clears(dice, is_kind=is_kind)
        word, rule = ("clears", "S-A.4") if is_cleared else ("does not clear", "S-A.5")
        state = state.tells("clear", f"{name} {word} its disorder", rule, unit=name, dice=[*dice])
        if is_cleared:
            state = state.changed(
                name, disordered=None, reforming=None, status=None, fled=None, flees_from=None
            )
            return state.pushed(FormUpDue(name))
        state = state.changed(name, moved=True, fired=True)
        if troops.status == "routing":
            # It moves at once, and wears orange again (S-A.2).
            state = state.changed(name, reforming=None, disordered=True)
            state = state.pushed(flight_of(state, state.unit(name)))
        return state


_BY_HAND_IN: Final = 0.05
_STEP_IN, _MOST_STEPS = 0.1, 80


def in_formation(ground: Field, unit: Unit, formation: Formation) -> Bases | Ban:
    """Returns a unit's bases in a formation, facing as before, or why they make none (S-L.8).

    The middle of the front stays, or goes on or back as little as its centre must (S-A.4) and as
    others leave room. Whether it may lie so is read from the bases, as when hands lay it out.
    """
    troops, front = ground.troops[unit.id], axes_of(unit)
    meant = replace(troops, formation=formation)
    layouts = _layouts(unit, troops, formation)
    made = (
        bases
        for bases in layouts
        if formation_of(bases, meant, inch_mm=ground.inch_mm).formation == formation
    )
    bases = next(made, None)
    if bases is None:
        return _ban_on_shape(troops, formation, len(unit.bases))
    steps = sorted(range(-_MOST_STEPS, _MOST_STEPS + 1), key=abs)
    places = (ahead(bases, front.heading_deg, step * _STEP_IN * ground.inch_mm) for step in steps)
    near = (there for there in places if _far_in(ground, unit, there) <= FORM_UP_IN)
    areas = ((there, footprints(there)) for there in near)
    free = (
        there for there, area in areas if ground.on_table(area) and not ground.upon(area, unit.id)
    )
    return next(free, None) or Ban("S-A.4", "it has no room for one")


def _layouts(unit: Unit, troops: Troops, formation: Formation) -> Iterator[Bases]:
    """Yields how bases might lie in a formation behind the middle of their front."""
    count, front = len(unit.bases), axes_of(unit)
    if formation == "square":
        if count >= len(FACES):
            yield _square(unit.bases, front.middle_mm, front.heading_deg)
        return
    ranks = {"line": (2, 1), "attack_column": (ATTACK_COLUMN_RANKS,)}.get(formation, ())
    rows = [deep // troops.ranks_per_base for deep in ranks] or [count]
    for files in (-(-count // row) for row in rows if row):
        yield in_ranks(unit.bases, files, front.middle_mm, front.heading_deg, file=(files - 1) / 2)


def _square(bases: Bases, front_mm: Point, heading_deg: float) -> Bases:
    """Returns bases that face four ways, those of the front first (S-L.14)."""
    least, over = divmod(len(bases), len(FACES))
    width_mm, depth_mm = bases[0].width_mm, bases[0].depth_mm
    counts = {
        "front": least + (over > 0),
        "right": least + (over == 3),
        "rear": least + (over == 2),
        "left": least + (over == 3),
    }
    # Flanks stand between the ends of front and rear, or side by side where these are short.
    aside_mm = max(least * width_mm / 2, depth_mm)
    middle_mm = depth_mm + counts["left"] * width_mm / 2
    (on_x, on_y), (right_x, right_y) = forward(heading_deg), right(heading_deg)
    places = {
        "front": (0.0, 0.0, 0.0),
        "right": (aside_mm, middle_mm, -90.0),
        "rear": (0.0, 2 * middle_mm, 180.0),
        "left": (-aside_mm, middle_mm, 90.0),
    }
    left, laid = list(bases), list[BasePose]()
    for face, (right_mm, back_mm, turn_deg) in places.items():
        at_mm = (
            front_mm[0] + right_x * right_mm - on_x * back_mm,
            front_mm[1] + right_y * right_mm - on_y * back_mm,
        )
        count = counts[face]
        row, left = left[:count], left[count:]
        laid += in_ranks(row, count, at_mm, heading_deg + turn_deg, file=(count - 1) / 2)
    return tuple(laid)


def _ban_on_shape(troops: Troops, formation: Formation, count: int) -> Ban:
    """Returns why bases make no such formation."""
    deep = troops.ranks_per_base
    if formation == "square":
        return Ban("S-L.14", f"{counted(count, 'base')} cannot face four ways")
    if formation != "attack_column":
        return Ban("S-L.11", f"{counted(count, 'base')} cannot lie three figures deep")
    if formation not in troops.formations:
        return Ban("S-L.10", "only French regular line infantry forms one")
    if ATTACK_COLUMN_RANKS % deep:
        return Ban("S-L.10", f"its bases, {counted(deep, 'figure')} deep, make no three ranks")
    return Ban("S-L.10", f"{counted(count, 'base')} make no three ranks")


def _far_in(ground: Field, unit: Unit, bases: Bases) -> float:
    """Returns how far a unit's centre would be from where it is (S-A.4)."""
    return ground.inches(math.dist(centre_mm(bases), centre_mm(unit.bases)))


class FormUpDue(Due):
    """A unit that has cleared is laid out afresh (S-A.4)."""

    question = "{unit} forms up: in any formation, facing any way"
    hint = f"By hand it faces any way: turn it on the spot, its centre within {FORM_UP_IN:g} in."
    unit: str

    def legal(self, state: State) -> tuple[FormUp, ...]:
        """Returns that it stays as it lies, and the formations that its bases can take."""
        unit = state.unit(self.unit)
        stays = FormUp(unit.id, unit.bases)
        if unit.arm == "artillery":
            return (stays, replace(stays, limbered=not state.field.troops[unit.id].limbered))
        layouts = self._layouts(state).items()
        taken = (FormUp(unit.id, how, name) for name, how in layouts if not isinstance(how, Ban))
        return (stays, *taken)

    def why_missing(self, state: State) -> str:
        """Returns which formations its bases cannot take, and why."""
        troops = state.field.troops[self.unit]
        if troops.weight == "light" and troops.arm != "artillery":
            return f"No formation: light troops have none ({self.unit})"
        bans = ((name, how) for name, how in self._layouts(state).items() if isinstance(how, Ban))
        return ". ".join(why_none(formation_words(name), {self.unit: ban}) for name, ban in bans)

    def _layouts(self, state: State) -> dict[Formation, Bases | Ban]:
        """Returns its bases in each formation that its troops may take, but that it is in."""
        unit, ground = state.unit(self.unit), state.field
        troops = ground.troops[unit.id]
        others = (name for name in troops.formations if name != troops.formation)
        return {name: in_formation(ground, unit, name) for name in others}

    def takes(self, state: State, answer: Any) -> bool:
        """Whether an action lays it out; `follow` judges how."""
        return isinstance(answer, FormUp) and answer.unit == self.unit

    def judge(self, state: State, answer: FormUp) -> Answer:
        """Judges how hands have laid it out."""
        unit, ground = state.unit(self.unit), state.field
        if len(answer.bases) != len(unit.bases):
            return certain("no", "S-A.4", f"{unit.id} lacks a base")
        troops = replace(ground.troops[unit.id], formation=answer.formation or "none")
        reading = formation_of(answer.bases, troops, inch_mm=ground.inch_mm)
        if ban := reading.why_not:
            return certain("no", ban.rule, f"{unit.id} is in no formation: {ban.because}")
        if answer.formation not in (None, reading.formation):
            words = f"{unit.id} lies in {formation_words(reading.formation)}"
            return certain("no", "S-L.8", words)
        far_in, words = _far_in(ground, unit, answer.bases), formation_words(reading.formation)
        is_near = far_in <= FORM_UP_IN + _BY_HAND_IN
        why = f"{unit.id} forms {words}, its centre off by {of_at_most(far_in, FORM_UP_IN)}"
        return certain("yes" if is_near else "no", "S-A.4", why)

    def nearest(self, state: State, bases: Bases) -> Bases:
        """Returns the nearest place toward where it was that its centre may have, or its own."""
        unit, ground = state.unit(self.unit), state.field
        x_mm, y_mm = np.subtract(centre_mm(unit.bases), centre_mm(bases)).tolist()
        back_in = ground.inches(math.hypot(x_mm, y_mm))
        for step in range(math.ceil(FORM_UP_IN / _STEP_IN) + 1):
            share = max(0.0, 1 - (FORM_UP_IN - step * _STEP_IN) / back_in) if back_in else 0.0
            there = shifted(bases, x_mm * share, y_mm * share)
            area, form_up = footprints(there), FormUp(unit.id, there)
            is_free = ground.on_table(area) and not ground.upon(area, unit.id)
            if is_free and self.judge(state, form_up).answer != "no":
                return there
        return unit.bases

    def follow(self, state: State, answer: FormUp) -> State:
        """Returns the state with the unit as it is laid out."""
        unit = state.unit(self.unit)
        if answer in self.legal(state)[:1]:
            return state.tells("form", f"{unit.id} stays as it lies", "S-A.4", unit=unit.id)
        if answer.limbered is not None:
            words = "limbers" if answer.limbered else "unlimbers"
            state = state.changed(unit.id, limbered=answer.limbered)
            return state.tells("form", f"{unit.id} {words}", "S-L.6", unit=unit.id)
        permitted(self.judge(state, answer))
        bases = laid_at(unit.bases, answer.bases)
        state = state.changed(unit.id, bases=bases, formation=answer.formation)
        reading = state.field.troops[unit.id].formation
        words = f"{unit.id} forms {formation_words(reading)}"
        state = state.changed(unit.id, formation=reading)
        return state.tells("form", words, "S-A.4", unit=unit.id)


def formation_words(formation: Formation) -> str:
    """Returns a formation in words."""
    named = {"open": "open order", "none": "no formation", "march_column": "column of march"}
    return named.get(formation, formation.replace("_", " "))
