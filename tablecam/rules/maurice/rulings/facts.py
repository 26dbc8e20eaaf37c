"""All rulings on a field as facts with their evidence; `rulings.py` makes documents of them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TypeVar

from tablecam.errors import BadInput
from tablecam.rules.maurice.charge.charge import Charge
from tablecam.rules.maurice.combat.cover import CoverAnswers
from tablecam.rules.maurice.combat.engagement import Engagements
from tablecam.rules.maurice.field.chances import is_exact
from tablecam.rules.maurice.field.distance_matrix import DistanceMatrix
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.fire.fire import BaseFire
from tablecam.rules.maurice.place.command_string import CommandString, least_cards
from tablecam.rules.maurice.place.contacts import Contacts
from tablecam.rules.maurice.place.forces import close_call_links, link
from tablecam.rules.maurice.place.near import NearEnemy
from tablecam.rules.maurice.place.pairs import UnitPair
from tablecam.uncertainty.answer import Answer

log = logging.getLogger(__name__)
T = TypeVar("T")

NOT_KNOWN = "unknown, as tablecam could not work it out"


@dataclass(frozen=True, slots=True, eq=False)
class UnitRulings:
    """The rulings on one unit."""

    unit: UnitOnField
    near: NearEnemy
    in_contact: tuple[str, ...]
    flanked_by: tuple[str, ...]
    fire: Mapping[str, BaseFire]
    charge: Charge
    engaged_with: tuple[str, ...]
    allowance_bw: float


@dataclass(frozen=True, slots=True)
class ForcePath:
    """The taut path from an active commander to a force; `span` is None if none gets there."""

    commander: str
    force: tuple[str, ...]
    span: CommandString | None


@dataclass(frozen=True, eq=False)
class Rulings:
    """All rulings on a field, or those on a few units; `active` is the side whose round it is.

    `is_close_up`: only rulings about the requested units are included. `not_known` names what an
    internal error kept from being ruled: kinds of questions, such as `span`, and questions about
    one unit, such as `charge/F1`.
    """

    field: Field
    active: str
    distances: DistanceMatrix
    contacts: Contacts
    units: Mapping[str, UnitRulings]
    forces: Mapping[str, tuple[tuple[str, ...], ...]]
    paths: tuple[ForcePath, ...]
    pairs: tuple[UnitPair, ...]
    engagements: Engagements
    covers: CoverAnswers
    is_close_up: bool = False
    not_known: frozenset[str] = frozenset()

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
            answers += close_call_links(self.field, side, self.distances)
        answers += [least_cards(self.field, string.span)[1] for string in self.paths if string.span]
        for name, of_unit in self.units.items():
            answers += attempt(f"fire/{name}", partial(_fire_doubts, of_unit), ())
            answers += attempt(f"charge/{name}", partial(_charge_doubts, of_unit), ())
        # On exact positions neither engagement nor cover can be in doubt.
        if not is_exact(self.field):
            answers += attempt(
                "engaged", lambda: self.engagements.close_calls_about(self.units), ()
            )
            answers += attempt(
                "cover",
                lambda: self.covers.close_calls(self.engagements.possible_pairs(self.units)),
                (),
            )
        close_calls = (answer for answer in answers if answer.answer == "too_close")
        return tuple(dict.fromkeys(close_calls))

    def pair(self, a_id: str, b_id: str) -> UnitPair | None:
        """Returns the pair of `b` as seen by `a`, or None if they are not opposed."""
        return next((pair for pair in self.pairs if pair.ids == (a_id, b_id)), None)

    def answers_about(self, a_id: str, b_id: str) -> tuple[Answer, ...]:
        """Returns the answers about two units: contact, either's flank, or their link."""
        contact = self.contacts.answer(a_id, b_id)
        views = (self.pair(a_id, b_id), self.pair(b_id, a_id))
        flanks = tuple(pair.to_flank for pair in views if pair is not None)
        if flanks:
            return contact, *flanks
        units = self.field.by_id
        return contact, link(self.field, units[a_id], units[b_id])


def attempt(what: str, work: Callable[[], T], otherwise: T, not_known: set[str] | None = None) -> T:
    """Returns the result of `work`, or `otherwise` if an internal error occurs.

    The error is logged, and `what` is added to `not_known`: one question without an answer must not
    take all others with it.

    Raises:
        BadInput: `work` refuses its input.
    """
    try:
        return work()
    # Bad input is the caller's to mend, not an error of ours.
    except BadInput:
        raise
    except Exception as error:
        log.error("%s is %s: %r", what, NOT_KNOWN, error)
        log.debug("", exc_info=True)
        if not_known is not None:
            not_known.add(what)
        return otherwise


def _fire_doubts(of_unit: UnitRulings) -> tuple[Answer, ...]:
    return tuple(doubt for fire in of_unit.fire.values() for doubt in fire.close_calls)


def _charge_doubts(of_unit: UnitRulings) -> tuple[Answer, ...]:
    return of_unit.charge.close_calls
