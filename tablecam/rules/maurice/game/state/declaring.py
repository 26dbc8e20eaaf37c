"""What may be declared where nobody measures beforehand (`DECLARING.md`).

It goes by what all can see and agree on, a unit's arm, formation and disruption, and never by how
far anything lies: so no list of choices tells what is in reach.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from tablecam.rules.maurice.field.field import UnitOnField
from tablecam.rules.maurice.field.tables import CHARGE_DISRUPTIONS
from tablecam.rules.maurice.game.state.actions import Activate, Charge, Fire
from tablecam.rules.maurice.game.state.hand import cards_of, is_dealt
from tablecam.rules.maurice.game.state.state import State
from tablecam.rules.maurice.game.state.table import field_at

SPANS_BW: Final = (4, 6, 8, 12)
"""The spans of the rulebook's own examples; players who hold the cards say theirs (M-3.4)."""

Force = tuple[str, ...]


def may_try_to_fire(unit: UnitOnField) -> bool:
    """Whether a unit ever fires as it is formed: no cavalry and no column does (M-7.7)."""
    return unit.unit.arm != "cavalry" and unit.formation in ("line", "artillery")


def may_try_to_charge(unit: UnitOnField) -> bool:
    """Whether a unit ever charges as it is formed and disrupted (M-8.4)."""
    if unit.unit.arm == "artillery" or unit.formation not in ("line", "massed"):
        return False
    return unit.disruption <= CHARGE_DISRUPTIONS


def has_anyone_to_charge(state: State, name: str) -> bool:
    """Whether a unit may try to charge any enemy that there is."""
    return may_try_to_charge(field_at(state).by_id[name]) and bool(tried_charges(state, name))


def tried_fire(state: State, unit: UnitOnField) -> tuple[Fire, ...]:
    """All of a unit at each enemy there is."""
    bases = [unit.unit.base_name(place) for place in range(len(unit.bases))]
    enemies = field_at(state).enemies_of(unit)
    return tuple(Fire(unit.id, dict.fromkeys(bases, enemy.id)) for enemy in enemies)


def tried_charges(state: State, name: str) -> tuple[Charge, ...]:
    """A charge at each enemy that such a unit may charge at all: foot charges no horse (M-8.4)."""
    field = field_at(state)
    unit = field.by_id[name]
    is_foot = unit.unit.arm == "infantry"
    return tuple(
        Charge(name, enemy.id, ())
        for enemy in field.enemies_of(unit)
        if not (is_foot and enemy.unit.arm == "cavalry")
    )


def tried_forces(units: Iterable[UnitOnField]) -> Iterator[Force]:
    """All that look alike, as far as they may be linked, then each unit by itself (M-1.15)."""
    units = tuple(units)
    kinds = dict.fromkeys((unit.unit.arm, unit.formation) for unit in units)
    for kind in kinds:
        alike = tuple(unit.id for unit in units if (unit.unit.arm, unit.formation) == kind)
        if len(alike) > 1:
            yield alike
    for unit in units:
        yield (unit.id,)


def tried_activations(state: State, force: Force) -> tuple[Activate, ...]:
    """A force with any one card that its side holds, or might hold; other cards players name."""
    if is_dealt(state):
        held = cards_of(state, state.active)
        return tuple(Activate(force, cards=(card.id,)) for card in held)
    spans = SPANS_BW if state.side(state.active).hand else ()
    return tuple(Activate(force, spans=(each,)) for each in spans)
