"""Which units can be in a force that is activated for the declared action."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tablecam.rules.maurice.game.state.declaring import has_declarable_charge
from tablecam.rules.maurice.game.state.state import State
from tablecam.rules.maurice.game.state.table import charges_at, field_at


@dataclass(frozen=True, slots=True)
class EligibleUnits:
    """The units that may be in an activated force, and those that must be half of it."""

    may: frozenset[str]
    half: frozenset[str]
    rule: str
    what: str

    def refusal(self, force: Sequence[str]) -> str | None:
        """Returns why a force cannot be activated for the action, or None if it can."""
        is_half = 2 * sum(name in self.half for name in force) >= len(force)
        if is_half and all(name in self.may for name in force):
            return None
        return f"expected a force with {self.what}, got {', '.join(force)}"


def eligible_units(state: State, *, in_doubt: Iterable[str] = ()) -> EligibleUnits:
    """Returns the active side's units that the declared action is for.

    A charge that is too close to call is the charger's choice. That is only worked out for the
    units in `in_doubt`, as it takes long.
    """
    units = field_at(state).of_side(state.active)
    all_units = frozenset(unit.id for unit in units)
    if state.round.command == "bombard":
        guns = frozenset(unit.id for unit in units if unit.unit.arm == "artillery")
        return EligibleUnits(
            guns - state.round.fired, guns, "M-7.3", "only artillery that has not fired"
        )
    if state.round.command == "charge":
        # No charge is declared for artillery (M-8.1).
        fit = frozenset(unit.id for unit in units if unit.unit.arm != "artillery")
        if state.declares_first:
            tries = frozenset(name for name in fit if has_declarable_charge(state, name))
            return EligibleUnits(
                fit, tries, "M-8.2", "at least half of its units allowed to try a charge"
            )
        can = {name for name, charge in charges_at(state, fit).items() if charge.is_eligible}
        # Close calls take long to work out, so only the named units are asked.
        can |= {name for name in in_doubt if name in fit - can and may_charge(state, name)}
        return EligibleUnits(
            fit, frozenset(can), "M-8.2", "at least half of its units able to charge"
        )
    return EligibleUnits(all_units, all_units, "M-4.15", "units")


def may_charge(state: State, unit: str) -> bool:
    """Whether a unit can charge, too close to call included (M-8.3).

    Where players declare first: whether it may try to.
    """
    if state.declares_first:
        return has_declarable_charge(state, unit)
    charge = charges_at(state, [unit])[unit]
    return charge.is_eligible or bool(charge.close_calls)
