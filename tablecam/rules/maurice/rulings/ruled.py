"""All that is ruled about a field, as facts with their proofs; `rulings.py` makes documents."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TypeVar

from tablecam.errors import BadInput
from tablecam.rules.maurice.charge.charge import Charge
from tablecam.rules.maurice.combat.cover import Covers
from tablecam.rules.maurice.combat.engagement import Engagements
from tablecam.rules.maurice.field.chances import is_exact
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.spacing import Spacing
from tablecam.rules.maurice.fire.fire import BaseFire
from tablecam.rules.maurice.place.activation import Span, least_cards
from tablecam.rules.maurice.place.forces import doubtful_links, link
from tablecam.rules.maurice.place.near import Near
from tablecam.rules.maurice.place.pairs import Pair
from tablecam.rules.maurice.place.touch import Touching
from tablecam.uncertainty.answer import Answer

log = logging.getLogger(__name__)
T = TypeVar("T")

NOT_KNOWN = "not known, as tablecam could not work it out"


@dataclass(frozen=True, slots=True, eq=False)
class UnitRulings:
    """What holds for one unit."""

    unit: UnitOnField
    near: Near
    in_contact: tuple[str, ...]
    flanked_by: tuple[str, ...]
    fire: Mapping[str, BaseFire]
    charge: Charge
    engaged_with: tuple[str, ...]
    allowance_bw: float


@dataclass(frozen=True, slots=True)
class ForceString:
    """The string from an active commander to a force; `span` is None where none gets there."""

    commander: str
    force: tuple[str, ...]
    span: Span | None


@dataclass(frozen=True, eq=False)
class Rulings:
    """All rulings of a field, or those of a few units, `active` being the side whose round it is.

    `is_close_up` when units were asked for: then only what concerns them is here. `not_known` names
    what a fault of our own kept from being worked out: kinds of questions, such as `span`, and
    those of one unit, such as `charge/F1`.
    """

    field: Field
    active: str
    apart: Spacing
    touching: Touching
    units: Mapping[str, UnitRulings]
    forces: Mapping[str, tuple[tuple[str, ...], ...]]
    strings: tuple[ForceString, ...]
    pairs: tuple[Pair, ...]
    engagements: Engagements
    covers: Covers
    is_close_up: bool = False
    not_known: frozenset[str] = frozenset()

    @cached_property
    def doubts(self) -> tuple[Answer, ...]:
        """Every question that is too close to call, each once.

        Who is near the enemy; whether two units touch, and whether one that touches another is to
        its flank; whether two are near enough to be linked in a force, which
        cards reach one; fire, charges; who is
        engaged with whom, and has cover from whom.
        """
        found = [each.near.answer for each in self.units.values()]
        found += [each.answer for each in self.touching.contacts.values()]
        found += [pair.to_flank for pair in self.pairs if self.touching.contact(*pair.ids)]
        for side in self.forces:
            found += doubtful_links(self.field, side, self.apart)
        found += [least_cards(self.field, each.span)[1] for each in self.strings if each.span]
        for name, each in self.units.items():
            found += attempt(f"fire/{name}", partial(_fire_doubts, each), ())
            found += attempt(f"charge/{name}", partial(_charge_doubts, each), ())
        if not is_exact(self.field):
            found += attempt("engaged", lambda: self.engagements.doubts_about(self.units), ())
            found += attempt(
                "cover", lambda: self.covers.doubts(self.engagements.possible(self.units)), ()
            )
        close = (answer for answer in found if answer.answer == "too_close")
        return tuple(dict.fromkeys(close))

    def pair(self, a_id: str, b_id: str) -> Pair | None:
        """The pair of `b` as seen by `a`, None where they are not opposed."""
        return next((each for each in self.pairs if each.ids == (a_id, b_id)), None)

    def answers_about(self, a_id: str, b_id: str) -> tuple[Answer, ...]:
        """What is ruled about two units, with proofs: contact, either's flank, a force's link."""
        contact = self.touching.answer(a_id, b_id)
        sights = (self.pair(a_id, b_id), self.pair(b_id, a_id))
        flanks = tuple(pair.to_flank for pair in sights if pair is not None)
        if flanks:
            return contact, *flanks
        units = self.field.by_id
        return contact, link(self.field, units[a_id], units[b_id])


def attempt(what: str, work: Callable[[], T], otherwise: T, lost: set[str] | None = None) -> T:
    """What `work` makes; where a fault of our own keeps it from that, `otherwise`.

    The fault is logged, and added to `lost` as `what`: one question without an answer must not take
    all others with it.

    Raises:
        BadInput: `work` refuses what it was given.
    """
    try:
        return work()
    except BadInput:
        raise
    except Exception as error:
        log.error("%s is %s: %r", what, NOT_KNOWN, error)
        log.debug("", exc_info=True)
        if lost is not None:
            lost.add(what)
        return otherwise


def _fire_doubts(found: UnitRulings) -> tuple[Answer, ...]:
    return tuple(doubt for fire in found.fire.values() for doubt in fire.doubts)


def _charge_doubts(found: UnitRulings) -> tuple[Answer, ...]:
    return found.charge.doubts
