"""Commanders whom an enemy reaches: they evade or fall, and what their loss counts (S-K)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import shapely

from tablecam.geometry.outlines import table_outline
from tablecam.rules.dice import Roll, dice_words
from tablecam.rules.miniatures.battle import Bases
from tablecam.rules.miniatures.ground import centre_mm, footprints, overlaps
from tablecam.rules.steps import YES_OR_NO, Decide
from tablecam.rules.syw_d6.field import commands
from tablecam.rules.syw_d6.state import Calamity, Due, State
from tablecam.rules.syw_d6.tables import COMMAND_IN, RATES
from tablecam.table.headings import forward
from tablecam.table.model import Commander, Unit

_STEP_IN, _MOST_STEPS = 0.25, 96


class OfLeader(Due, is_family=True):
    """A commander over whose base an enemy's way goes, to where his `bases` end."""

    unit: str
    commander: str
    bases: Bases

    def owner(self, state: State) -> str:
        """Returns the commander's side."""
        return self.leader(state).side

    def leader(self, state: State) -> Commander:
        """Returns the commander."""
        commanders = state.position.commanders
        return next(one for one in commanders if one.id == self.commander)


class LeaderMet(OfLeader):
    """Whether a commander evades an enemy who reaches him (S-K.3)."""

    question = "{unit} reaches {commander}: does he evade?"
    hint = f"He goes {dice_words(RATES['command'])} directly away; who stays is removed."
    answers = YES_OR_NO

    def follow(self, state: State, answer: Decide) -> State:
        """Returns the state with his dice due, or without him."""
        if answer.yes:
            return state.pushed(LeaderFlight(self.unit, self.commander, self.bases))
        return fallen(state, self.leader(state), "S-K.3", f"is taken by {self.unit}")


class LeaderFlight(OfLeader):
    """The dice by which a commander evades; all of them count (S-K.3)."""

    def roll(self, state: State) -> Roll:
        """Returns his dice."""
        return Roll(f"how far {self.commander} evades", RATES["command"])

    def follow(self, state: State, answer: tuple[int, ...]) -> State:
        """Returns the state with him away, or without him where he finds no place."""
        leader, ground = self.leader(state), state.field
        from_x, from_y = centre_mm(state.unit(self.unit).bases)
        x, y = forward(math.degrees(math.atan2(leader.y_mm - from_y, leader.x_mm - from_x)))
        table, end = table_outline(state.position.table), footprints(self.bases)
        for step in range(_MOST_STEPS):
            far_in = sum(answer) + step * _STEP_IN
            far_mm = far_in * ground.inch_mm
            away = state.with_commander(
                leader.id, leader.x_mm + x * far_mm, leader.y_mm + y * far_mm
            )
            base = away.field.markers[leader.id]
            if not shapely.covers(table, base):
                break
            # Where the enemy will lie is no place for him either.
            if not (ground.upon(base, leader.id) or overlaps(base, end)):
                text = f"{leader.name} evades by {far_in:g} in"
                return away.tells("flight", text, "S-K.3", commander=leader.id)
        return fallen(state, leader, "S-K.3", "finds no place to evade to")


def leaders_met(
    state: State, unit: Unit, area: shapely.Geometry, bases: Bases
) -> Iterator[LeaderMet]:
    """Yields the enemy's commanders whom a unit reaches on its way over an area (S-K.3)."""
    for leader in state.position.commanders:
        if leader.side != unit.side and overlaps(area, state.field.markers[leader.id]):
            yield LeaderMet(unit.id, leader.id, bases)


def fallen(state: State, leader: Commander, rule: str, how: str) -> State:
    """Returns the state without a commander; a brigade's counts as a lost unit of it (S-K.4)."""
    text = f"{leader.name} {how}"
    near: dict[str, list[tuple[str, float]]] = {}
    for unit in state.field.units.values():
        apart_in = state.field.leader_in(unit, leader)
        if commands(leader, unit) and apart_in <= COMMAND_IN:
            near.setdefault(str(unit.extra.get("brigade")), []).append((unit.id, apart_in))
    losses = (
        Calamity(leader.id, "destroyed", brigade, tuple(units))
        for brigade, units in near.items()
        if leader.extra.get("level") == "brigade"
    )
    state = replace(state, calamities=(*state.calamities, *losses))
    state = state.without_commander(leader.id)
    return state.tells("loss", text, rule, commander=leader.id)
