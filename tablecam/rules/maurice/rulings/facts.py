"""All rulings on a field as facts with their evidence; `rulings.py` makes documents of them.

A ruling is computed on first use. Rulings that depend on few units are cached and reused for other
positions in which these units have not moved (`Field.keys`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from dataclasses import field as datafield
from functools import cached_property
from itertools import chain, combinations
from types import MappingProxyType
from typing import Any, TypeVar

from tablecam.rules.maurice.charge.charge import Charge, charges
from tablecam.rules.maurice.combat.combat import close_call_covers
from tablecam.rules.maurice.combat.engagement import Engagements, engagements
from tablecam.rules.maurice.field.field import DistanceMatrix, Field, UnitOnField, distance_matrix
from tablecam.rules.maurice.field.terms import Reason
from tablecam.rules.maurice.fire.fire import fire_of_units
from tablecam.rules.maurice.fire.targets import BaseFire
from tablecam.rules.maurice.movement.judge import allowance_bw
from tablecam.rules.maurice.place import ranges
from tablecam.rules.maurice.place.contacts import (
    Contacts,
    UnitPair,
    contacts_of_field,
    flanked_by,
    pairs,
)
from tablecam.rules.reports import NOT_KNOWN, attempt
from tablecam.uncertainty.answer import Answer

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ForcePath:
    """The taut path from an active commander to a force; `span` is None if there is no path."""

    commander: str
    force: tuple[str, ...]
    span: ranges.CommandString | None


@dataclass(frozen=True, eq=False)
class Rulings:
    """The rulings on a field; `active` is the side whose round it is.

    With `about`, only rulings that concern one of these units are included; for a pair, only those
    between the two, the first one's view first. `not_known` collects the rulings that failed with
    an internal error: kinds of questions, such as `span`, and questions about one unit, such as
    `charge/F1`.
    """

    field: Field
    active: str
    about: tuple[str, ...] | None = None
    is_pair: bool = False
    not_known: set[str] = datafield(default_factory=set)

    @property
    def is_close_up(self) -> bool:
        """Whether only rulings about some units are included."""
        return self.about is not None

    @cached_property
    def units(self) -> Mapping[str, UnitRulings]:
        """The rulings on each unit."""
        about = self.field.by_id if self.about is None else self.about
        own = (unit for unit in self.field.units if unit.id in about)
        return MappingProxyType({unit.id: UnitRulings(self, unit) for unit in own})

    @cached_property
    def distances(self) -> DistanceMatrix:
        """The distances between all units."""
        return distance_matrix(self.field)

    @cached_property
    def contacts(self) -> Contacts:
        """The contacts of all units."""
        return self.attempt(
            "contact", lambda: contacts_of_field(self.field), Contacts(self.field, {})
        )

    def contact(self, a_id: str, b_id: str) -> Answer:
        """Whether two units touch, computed for these alone."""
        return contacts_of_field(self.field_of(a_id, b_id)).answer(a_id, b_id)

    def field_of(self, *ids: str) -> Field:
        """The field with some units alone, for questions about these only."""
        return self.field.with_units(unit for unit in self.field.units if unit.id in ids)

    @cached_property
    def engagements(self) -> Engagements:
        """All engagements; every unit of the active side counts as an attacker."""
        nothing = Engagements(self.field, self.active, {}, {})
        return self.attempt("engaged", lambda: engagements(self.field, self.active), nothing)

    @cached_property
    def forces(self) -> Mapping[str, tuple[tuple[str, ...], ...]]:
        """The forces of each side."""
        of_side = {side: ranges.forces(self.field, side) for side in sides(self.field)}
        return {side: tuple(filter(self._concerns, of)) for side, of in of_side.items()}

    @property
    def pairs_in_force(self) -> Iterator[tuple[UnitOnField, UnitOnField]]:
        """All pairs of units that are in one force."""
        units = self.field.by_id
        for force in chain.from_iterable(self.forces.values()):
            yield from combinations([units[name] for name in force], 2)

    @cached_property
    def paths(self) -> tuple[ForcePath, ...]:
        """The paths from each commander of the active side to each of its forces."""
        return self.attempt("span", self._paths, ())

    def _paths(self) -> tuple[ForcePath, ...]:
        ours = self.forces.get(self.active, ())
        return tuple(
            ForcePath(leader.id, force, span)
            for leader in self.field.position.commanders
            if leader.side == self.active
            for force, span in zip(
                ours, ranges.command_strings(self.field, leader, ours), strict=True
            )
        )

    @cached_property
    def pairs(self) -> tuple[UnitPair, ...]:
        """All ordered pairs of opposing units."""
        if self.is_pair and self.about is not None:
            return self.views(*self.about)
        of_all = self._pairs(self.field, self.field.by_id)
        return tuple(pair for pair in of_all if self._concerns(pair.ids))

    def pairs_of(self, a_id: str) -> tuple[UnitPair, ...]:
        """Returns all enemies as seen by one unit."""
        return self._pairs(self.field, (a_id,))

    def _pairs(self, field: Field, ids: Iterable[str]) -> tuple[UnitPair, ...]:
        units = [field.by_id[unit_id] for unit_id in ids]
        return self.attempt("flank", lambda: pairs(field, units), ())

    def views(self, a_id: str, b_id: str) -> tuple[UnitPair, ...]:
        """Returns `b` as seen by `a`, then `a` as seen by `b`; nothing if they are friends."""
        return self._pairs(self.field_of(a_id, b_id), (a_id, b_id))

    def _concerns(self, ids: Collection[str]) -> bool:
        return self.about is None or not set(self.about).isdisjoint(ids)

    @cached_property
    def close_calls(self) -> tuple[Answer, ...]:
        """The answers that are too close to call, each once.

        They concern nearness to the enemy, contact, flanks of units in contact, links in a force,
        the cards that reach a force, fire, charges, engagement and cover in combat.
        """
        answers = [of_unit.near.answer for of_unit in self.units.values()]
        answers += [contact.answer for contact in self.contacts.contacts.values()]
        answers += [pair.to_flank for pair in self.pairs if self.contacts.contact(*pair.ids)]
        for side in self.forces:
            answers += ranges.close_call_links(self.field, side)
        answers += [
            ranges.least_cards(self.field, string.span)[1] for string in self.paths if string.span
        ]
        for of_unit in self.units.values():
            answers += of_unit.close_calls
        # With exact positions neither engagement nor cover can be in doubt.
        if not self.field.is_exact:
            fought = self.engagements
            answers += attempt("engaged", lambda: fought.close_calls(self.units), ())
            answers += attempt(
                "cover",
                lambda: close_call_covers(self.field, fought.possible_pairs(self.units)),
                (),
            )
        close_calls = (answer for answer in answers if answer.answer == "too_close")
        return tuple(dict.fromkeys(close_calls))

    def answers_about(self, a_id: str, b_id: str) -> tuple[Answer, ...]:
        """Returns the answers about two units: contact, either's flank, or their link."""
        contact = self.contact(a_id, b_id)
        flanks = tuple(pair.to_flank for pair in self.views(a_id, b_id))
        if flanks:
            return contact, *flanks
        return contact, ranges.link(self.field, *(self.field.by_id[name] for name in (a_id, b_id)))

    def attempt(self, what: str, work: Callable[[], T], otherwise: T) -> T:
        """Returns the result of `work`; if an internal error occurs, notes `what` as not known."""
        return attempt(what, work, otherwise, self.not_known)

    def ask_all(self) -> None:
        """Computes the fire and charges of all units together, much faster than one by one.

        If that fails, they are computed unit by unit on demand.
        """
        nothing: Mapping[str, Any] = {}
        fire = attempt("fire", lambda: fire_of_units(self.field, self.units), nothing)
        charge = attempt("charge", lambda: charges(self.field, self.units), nothing)
        for name, unit in self.units.items():
            # The values that the unit's cached properties would compute.
            answers = (("fire", fire.get(name)), ("charge", charge.get(name)))
            vars(unit).update((key, answer) for key, answer in answers if answer is not None)


@dataclass(frozen=True, eq=False)
class UnitRulings:
    """The rulings on one unit, each computed on first use."""

    rulings: Rulings
    unit: UnitOnField

    def _attempt(self, kind: str, work: Callable[[], T], otherwise: T) -> T:
        return self.rulings.attempt(f"{kind}/{self.unit.id}", work, otherwise)

    @cached_property
    def near(self) -> ranges.NearEnemy:
        """Whether the unit is near the enemy."""
        because = f"whether {self.unit.id} is near is {NOT_KNOWN}"
        unknown = Answer("too_close", 0.0, 0.0, 0.5, ranges.NEAR_RULE, because)
        nothing = ranges.NearEnemy(unknown, None, None, is_near=False)
        return self._attempt(
            "near", lambda: ranges.near_enemy(self.rulings.field, self.unit), nothing
        )

    @property
    def in_contact(self) -> tuple[str, ...]:
        """The enemies in contact with the unit."""
        return self.rulings.contacts.enemies_of(self.unit.id)

    @cached_property
    def flanked_by(self) -> tuple[str, ...]:
        """The enemies that flank the unit."""
        field, contacts = self.rulings.field, self.rulings.contacts
        return self._attempt("flank", lambda: flanked_by(field, self.unit, contacts), ())

    @cached_property
    def fire(self) -> Mapping[str, BaseFire]:
        """The fire of each base, by its name."""
        field, name = self.rulings.field, self.unit.id
        return self._attempt("fire", lambda: fire_of_units(field, (name,))[name], {})

    @cached_property
    def charge(self) -> Charge:
        """Whom the unit can charge."""
        field, name = self.rulings.field, self.unit.id
        unknown = Charge(False, Reason("M-8.3", "unknown"), (), ())
        return self._attempt("charge", lambda: charges(field, (name,))[name], unknown)

    @property
    def close_calls(self) -> tuple[Answer, ...]:
        """The shots and charges that are too close to call."""
        name, nothing = self.unit.id, tuple[Answer, ...]()
        bases = self.fire.values()
        shots = attempt(
            f"fire/{name}", lambda: (*chain(*(base.close_calls for base in bases)),), nothing
        )
        return (*shots, *attempt(f"charge/{name}", lambda: self.charge.close_calls, nothing))

    @property
    def engaged_with(self) -> tuple[str, ...]:
        """The enemies that the unit is engaged with."""
        return self.rulings.engagements.enemies_of(self.unit.id)

    @cached_property
    def allowance_bw(self) -> float:
        """How far the unit may march, in base widths."""
        return allowance_bw(self.rulings.field, self.unit)


def sides(field: Field) -> tuple[str, ...]:
    """Returns the sides with a unit or commander on the table, in the position's order."""
    named = [unit.side for unit in field.units]
    named += [leader.side for leader in field.position.commanders]
    return tuple(dict.fromkeys(named))
