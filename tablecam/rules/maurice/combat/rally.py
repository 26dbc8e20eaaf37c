"""Rallying: the number a die needs to shed a disruption, and how many are shed (M-9)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from tablecam.rules.game import Json
from tablecam.rules.maurice.field.field import Field
from tablecam.rules.maurice.field.requests import Dice, Rally, check_dice
from tablecam.rules.maurice.field.tables import RALLY_BAD_TERRAIN, RALLY_NOT_NEAR, TO_RALLY
from tablecam.rules.maurice.field.terms import Reason, Term, amounts_by_name, needed_on_die, total
from tablecam.rules.maurice.place.ranges import near_enemy
from tablecam.table.model import Arm
from tablecam.uncertainty.answer import Answer


@dataclass(frozen=True, slots=True)
class RallyAttempt:
    """A unit about to rally: the number each die needs, its dice and the reasons.

    `near` is whether it is near the enemy, where that was measured.
    """

    unit: str
    basic: int
    modifiers: Mapping[str, int]
    needed: int
    dice: int
    because: tuple[Reason, ...]
    near: Answer | None = None

    def to_json(self) -> Json:
        """Returns what each die needs, and why, as answers hold it."""
        return {"basic": self.basic, "modifiers": dict(self.modifiers), "needed": self.needed}

    def shed(self, dice: Dice) -> int:
        """Returns the levels of disruption that the dice shed (M-9.2)."""
        return sum(die >= self.needed for die in dice)


def rally_attempt(field: Field, request: Rally) -> RallyAttempt:
    """Returns the dice and the number that a rallying unit needs (M-9.2, M-9.3)."""
    unit = field.by_id[request.unit]
    near = near_enemy(field, unit)
    from_facts = rally_number(
        unit.id,
        unit.unit.arm,
        unit.disruption,
        is_in_bad_terrain=unit.is_in_difficult,
        is_near=near.is_near,
        card=request.card,
    )
    return replace(from_facts, near=near.answer)


def rally_number(
    unit: str, arm: Arm, disruption: int, *, is_in_bad_terrain: bool, is_near: bool, card: int = 0
) -> RallyAttempt:
    """Returns the same from plain facts; the modifiers are added to each die."""
    terms = [
        Term("M-9.3", "bad_terrain", amount=RALLY_BAD_TERRAIN * is_in_bad_terrain),
        Term("M-9.3", "not_near_enemy", amount=RALLY_NOT_NEAR * (not is_near)),
        Term("M-9.3", "card", amount=card),
    ]
    basic = TO_RALLY[arm]
    needed = needed_on_die(basic, total(terms))
    because = [Reason("M-9.3", "to_rally", (arm, basic)), *(term for term in terms if term.amount)]
    if needed != basic - total(terms):
        because.append(Reason("M-9.4", "natural"))
    return RallyAttempt(unit, basic, amounts_by_name(terms), needed, disruption, tuple(because))


def rally(field: Field, request: Rally) -> tuple[RallyAttempt, int]:
    """Returns the attempt, and how many levels of disruption its dice shed.

    Raises:
        BadInput: There is not one die for each disruption of the unit.
    """
    attempt = rally_attempt(field, request)
    why = f"one for each disruption of {attempt.unit} (M-9.2)"
    dice = check_dice(request.document, ("dice",), request.dice, attempt.dice, why)
    return attempt, attempt.shed(dice)
