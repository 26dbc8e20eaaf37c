"""Actions that may be declared before anybody measures (`DECLARING.md`).

Only what all players can see decides: a unit's arm, formation and disruption, never a distance. So
no list of choices reveals what is in reach.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from tablecam.rules.game import Refused
from tablecam.rules.maurice.charge.charge import why_never_charges
from tablecam.rules.maurice.charge.limits import may_charge
from tablecam.rules.maurice.field.field import UnitOnField
from tablecam.rules.maurice.game.state.actions import Activate, Charge, Fire
from tablecam.rules.maurice.game.state.state import State
from tablecam.rules.maurice.game.state.table import field_at
from tablecam.uncertainty.lengths import distance
from tablecam.wording import nearest

SPANS_BW: Final = (4, 6, 8, 12)
"""Card spans in the rulebook's examples; players with printed cards may state others (M-3.4)."""

Force = tuple[str, ...]


def has_declarable_charge(state: State, name: str) -> bool:
    """Whether a unit may declare a charge at any enemy on the table."""
    is_able = why_never_charges(field_at(state).by_id[name]) is None
    return is_able and bool(declarable_charges(state, name))


def declarable_fire(state: State, unit: UnitOnField) -> tuple[Fire, ...]:
    """Returns one action per enemy, in which all of a unit's bases fire at it."""
    bases, enemies = unit.unit.base_names, field_at(state).enemies_of(unit)
    return tuple(Fire(unit.id, dict.fromkeys(bases, enemy.id)) for enemy in enemies)


def declarable_charges(state: State, name: str) -> tuple[Charge, ...]:
    """Returns a charge at each enemy whose arm allows it: no infantry at cavalry (M-8.4)."""
    field = field_at(state)
    unit = field.by_id[name]
    return tuple(
        Charge(name, enemy.id, ()) for enemy in field.enemies_of(unit) if may_charge(unit, enemy)
    )


def declarable_forces(units: Iterable[UnitOnField]) -> Iterator[Force]:
    """Yields each group of units alike in arm and formation, then each unit alone (M-1.15)."""
    units = tuple(units)
    groups = dict.fromkeys((unit.unit.arm, unit.formation) for unit in units)
    for group in groups:
        alike = tuple(unit.id for unit in units if (unit.unit.arm, unit.formation) == group)
        if len(alike) > 1:
            yield alike
    for unit in units:
        yield (unit.id,)


def declarable_activations(state: State, force: Force) -> tuple[Activate, ...]:
    """Returns a force's activation with each single card of its side.

    Where players hold the cards these are example spans; they may name others.
    """
    if state.is_dealt:
        held = state.cards_of(state.active)
        return tuple(Activate(force, cards=(card.id,)) for card in held)
    spans = SPANS_BW if state.side(state.active).hand else ()
    return tuple(Activate(force, spans=(span_bw,)) for span_bw in spans)


def check_enemy(state: State, unit: UnitOnField, name: str, rule: str, key: str) -> None:
    """Refuses a name that is no enemy of a unit."""
    enemies = [enemy.id for enemy in field_at(state).enemies_of(unit)]
    if name not in enemies:
        raise Refused(f"there is no enemy {name}{nearest(name, enemies)}", rule=rule, key=key)


def distance_words(state: State, unit: str, target: str) -> str:
    """Describes the target's distance, which is open information once declared."""
    field = field_at(state)
    length = distance(field.by_id[unit].unit, field.by_id[target].unit)
    return f"{field.in_bw(length.value_mm):.2f} BW away"
