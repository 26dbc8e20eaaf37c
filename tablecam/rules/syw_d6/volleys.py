"""Fire in the game: who may fire at whom, the dice, and what they take away."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import shapely

from tablecam.geometry.shapes import Shape, shapes_of
from tablecam.geometry.sides import side_of
from tablecam.rules.dice import Roll, dice_words
from tablecam.rules.game import Ban, DiceGroup, Sum
from tablecam.rules.miniatures.battle import Bases
from tablecam.rules.miniatures.ground import axes_of
from tablecam.rules.steps import ban_on_all
from tablecam.rules.syw_d6 import fire
from tablecam.rules.syw_d6.field import Field
from tablecam.rules.syw_d6.fire import FirePool, Occasion
from tablecam.rules.syw_d6.morale import TestDie
from tablecam.rules.syw_d6.state import Due, Fire, State, still, with_losses
from tablecam.rules.syw_d6.tables import HIT
from tablecam.table.model import Unit
from tablecam.wording import counted

_NOT_BEFORE: Final = ("S-D.6", "S-D.7", "S-D.8")
"""The rules by which an enemy lies outside of the arc or the range."""


class FireDice(Due):
    """The dice of a shot; `occasion` is None in the own sequence (S-D, S-C.2, S-C.3)."""

    unit: str
    target: str
    occasion: Occasion | None = None
    range_in: float = 0.0
    bases: Bases = ()

    def field(self, state: State) -> Field:
        """Returns the table at the moment of the shot, with a mover on its way (S-C.1)."""
        target = state.unit(self.target)
        ground, bases = state.field, still(target, self.bases)
        return ground.with_unit_at(target, bases) if bases else ground

    def drawn(self, state: State) -> tuple[Shape, ...]:
        """Draws the line on which the firer sees its target, or the straight one."""
        ground = self.field(state)
        firer, target = ground.units[self.unit], ground.units[self.target]
        shot, middle = ground.shot(firer, target), shapely.Point(axes_of(firer).middle_mm)
        line = None if isinstance(shot, Ban) else shot.line
        return shapes_of(line or shapely.shortest_line(middle, ground.outlines[target.id]), "shot")

    @property
    def is_in_passing(self) -> bool:
        """Whether it is response fire at one who does not strike the firer's front (S-C.3)."""
        return self.occasion not in (None, "contacted_front")

    def pool(self, state: State) -> FirePool:
        """Returns the dice of the shot with their terms (S-D.5)."""
        ground = self.field(state)
        firer, target = ground.units[self.unit], ground.units[self.target]
        troops = ground.troops[firer.id]
        if self.is_in_passing:
            return fire.passing_pool(troops, self.range_in)
        shot = ground.shot(firer, target)
        if isinstance(shot, Ban):
            section = fire.Section(fire.figures_firing(troops), 1.0)
            shot = fire.Shot((section,), self.range_in)
        there = ground.target_of(firer, target)
        if self.occasion is not None:
            # Contact is at short range, and who strikes a front shows it his ranks (S-C.2).
            shot = fire.Shot(shot.sections, 0.0, shot.is_ahead)
            ranks = ground.troops[target.id].ranks
            there = replace(there, ranks=ranks, is_seen_aside=False)
        return fire.fire_pool(troops, there, shot, state.events)

    def sums(self, state: State) -> tuple[Sum, ...]:
        """Returns the number of dice with the terms that make it, and what they need."""
        pool = self.pool(state)
        first, *others = pool.because
        first = "1 die for fire in passing" if self.is_in_passing else first
        title = f"{dice_words(pool.dice)}, each {HIT} takes a figure"
        return (Sum(title, (first, *others)),)

    def roll(self, state: State) -> Roll | None:
        """Returns the dice, none if the pool is empty."""
        dice = self.pool(state).dice
        return Roll(f"{self.unit} firing at {self.target}", dice) if dice else None

    def dice_groups(self, state: State) -> tuple[DiceGroup, ...]:
        """Returns all the dice; sixes hit (S-D.1)."""
        return (DiceGroup(self.unit, HIT, tuple(range(self.pool(state).dice))),)

    def follow(self, state: State, answer: tuple[int, ...] | None) -> State:
        """Returns the state with the hits taken, and the target's TEST due (S-H.2)."""
        ground = self.field(state)
        firer, target = ground.units[self.unit], ground.units[self.target]
        hits, marks = fire.hits(answer or ()), firer.state
        state = state.changed(
            firer.id,
            fired=not marks.get("fires_twice"),
            fires_twice=None,
            # Who reforms and fires wears orange again (S-B.5).
            disordered=bool(marks.get("reforming") or marks.get("disordered")),
            reforming=None,
        )
        text = f"{firer.id} fires at {target.id}: {counted(hits, 'hit')}"
        facts = {"unit": firer.id, "target": target.id, "dice": list(answer or ()), "hits": hits}
        state = state.tells("fire", text, "S-D.1", *self.drawn(state), **facts)
        if not hits:
            return state
        causes = ["artillery"] if firer.arm == "artillery" else []
        causes += ["flank_rear"] if side_of(target, firer) != "front" else []
        why = f", one for each {HIT}"
        state = with_losses(state, target.id, hits, why, "S-D.1", causes=causes)
        left = state.position.unit(target.id)
        if left is None or not fire.is_called_to_test(state.field.troops[target.id]):
            return state
        if left.state.get("tested_this_turn"):
            text = f"{target.id} takes no TEST: it has taken one this turn"
            return state.tells("test", text, "S-G.3", unit=target.id)
        return state.pushed(TestDie(target.id, "casualty", firer.id))


def shots(state: State) -> Iterator[Fire]:
    """Yields the shots that the active side may fire (S-D.1, S-D.2)."""
    ground = state.field
    for firer in ground.of_side(state.active):
        for target in ground.enemies(firer):
            if ban_on_shot(state, firer, target) is None:
                yield Fire(firer.id, target.id)


def ban_on_shot(state: State, firer: Unit, target: Unit) -> Ban | None:
    """Returns why a unit may not fire at another, as it has no die for it or by its aim (S-D)."""
    ban = state.field.aim(firer, target)[1]
    if ban is None and not FireDice(firer.id, target.id).pool(state).dice:
        return Ban("S-D.5", f"its shot at {target.id} has no die")
    return ban


def ban_on_shots(state: State, name: str) -> Ban | None:
    """Returns why a unit may fire at nobody: by itself, by range, or by the nearest (S-D)."""
    ground, unit = state.field, state.unit(name)
    enemies, troops = ground.nearest_enemies(unit), ground.troops[name]
    reach_in = troops.ranges.greatest_in
    bans = (ban_on_shot(state, unit, enemy) for enemy in enemies)
    # Of the enemies in its arc and range, the nearest counts; then those beside it.
    ban = ban_on_all(sorted(bans, key=lambda ban: ban is not None and ban.rule in _NOT_BEFORE))
    is_far = ban and not fire.ban_on_firing(troops) and ground.apart_in(unit, enemies[0]) > reach_in
    return Ban("S-D.8", f"no enemy is within {reach_in:g} in") if is_far else ban
