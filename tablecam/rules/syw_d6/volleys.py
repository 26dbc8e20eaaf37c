"""Fire in the game: who may fire at whom, the dice, and what they take away."""

from __future__ import annotations

from collections.abc import Iterator

from tablecam.geometry.sides import side_of
from tablecam.rules.dice import Roll
from tablecam.rules.game import Ban, Event
from tablecam.rules.miniatures.battle import Events
from tablecam.rules.syw_d6 import fire
from tablecam.rules.syw_d6.fire import FirePool, Occasion
from tablecam.rules.syw_d6.state import Due, Fire, State, with_losses
from tablecam.rules.syw_d6.trials import TestDie
from tablecam.table.model import Unit


class FireDice(Due):
    """The dice of a shot; `occasion` is None in the own sequence (S-D, S-C.2, S-C.3)."""

    unit: str
    target: str
    occasion: Occasion | None = None
    range_in: float = 0.0

    def roll(self, state: State) -> Roll | None:
        """Returns the dice, none if the pool is empty."""
        dice = pool_of(state, self).dice
        return Roll(f"{self.unit} firing at {self.target}", dice) if dice else None

    def follow(self, state: State, answer: tuple[int, ...] | None) -> tuple[State, Events]:
        """Returns the state with the hits taken, and the target's TEST due (S-H.2)."""
        firer, target = state.unit(self.unit), state.unit(self.target)
        hits = fire.hits(answer or ())
        reforms = bool(firer.state.get("reforming"))
        is_disordered = reforms or bool(firer.state.get("disordered"))
        again = bool(firer.state.get("fires_twice"))
        state = state.changed(
            firer.id,
            fired=not again,
            fires_twice=None,
            disordered=is_disordered,
            reforming=None,
        )
        text = f"{firer.id} fires at {target.id}: {hits} {'hit' if hits == 1 else 'hits'}"
        facts = {"unit": firer.id, "target": target.id, "dice": list(answer or ()), "hits": hits}
        events: Events = (Event("fire", text, "S-D.1", facts),)
        if not hits:
            return state, events
        causes = ["artillery"] if firer.arm == "artillery" else []
        causes += ["flank_rear"] if side_of(target, firer) != "front" else []
        state, more = with_losses(state, target.id, hits, causes=causes)
        events += more
        left = state.position.unit(target.id)
        if left is not None and not left.state.get("tested_this_turn"):
            is_called = fire.is_called_to_test(state.field.troops[target.id])
            state = state.pushed(TestDie(target.id, "casualty")) if is_called else state
        return state, events


def pool_of(state: State, due: FireDice) -> FirePool:
    """Returns the dice of a shot with their terms (S-D.5)."""
    ground = state.field
    firer, target = state.unit(due.unit), state.unit(due.target)
    troops = ground.troops[firer.id]
    if due.occasion is not None and due.occasion != "contacted_front":
        return fire.passing_pool(troops, due.range_in)
    shot = ground.shot(firer, target)
    if isinstance(shot, Ban):
        section = fire.Section(fire.figures_firing(troops), 1.0)
        shot = fire.Shot((section,), due.range_in)
    if due.occasion is not None:
        # Contact is at short range (S-C.2).
        shot = fire.Shot(shot.sections, 0.0, shot.is_ahead)
    return fire.fire_pool(troops, ground.target_of(firer, target), shot, state.events)


def ban_on(state: State, firer: Unit, target: Unit) -> Ban | None:
    """Returns why a unit may not fire at an enemy now."""
    ground = state.field
    ban = fire.ban_on_firing(ground.troops[firer.id])
    if ban is not None:
        return ban
    shot = ground.shot(firer, target)
    if isinstance(shot, Ban):
        return shot
    return fire.ban_on_shot(ground.troops[firer.id], ground.target_of(firer, target), shot)


def shots(state: State) -> Iterator[Fire]:
    """Yields the shots that the active side may fire (S-D.1, S-D.2)."""
    ground = state.field
    for firer in ground.units.values():
        if firer.side != state.active or fire.ban_on_firing(ground.troops[firer.id]) is not None:
            continue
        for target in ground.enemies(firer):
            if ban_on(state, firer, target) is None:
                yield Fire(firer.id, target.id)
