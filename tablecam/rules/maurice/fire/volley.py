"""Volleys and bombardments with given dice: shots, hits, disruption (M-7.1, M-7.20 to M-7.26)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from types import MappingProxyType
from typing import Any

from tablecam.rules.maurice.field import tables
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.requests import Dice, Kind, ShotAssignment, Volley
from tablecam.rules.maurice.field.terms import needed_on_die
from tablecam.rules.maurice.fire.fire import fire_of_units
from tablecam.rules.maurice.fire.targets import BaseFire, FireOption, Range
from tablecam.rules.maurice.place.ranges import first_unlinked, linking_obstacle
from tablecam.table.model import Arm
from tablecam.wording import joined, nearest

RANGES: Mapping[Kind, Range] = MappingProxyType({"volley": "short", "bombard": "long"})
"""The range of each kind of fire (M-7.1)."""


@dataclass(frozen=True, slots=True)
class Shot:
    """A base's fire: its dice, what each needs to hit, and what each hit needs to disrupt.

    `to_hit` includes the card; `terms` are what it is made of, in words.
    """

    unit: str
    base: str
    target: str
    range: str
    dice: int
    to_hit: int
    disrupt_on: int
    because: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Returns the shot as resolutions and odds list it."""
        keys = ("unit", "base", "target", "range", "dice", "to_hit")
        return {key: getattr(self, key) for key in keys}


@dataclass(frozen=True, slots=True)
class RolledShot:
    """A shot and its dice to hit."""

    shot: Shot
    rolled: Dice

    @property
    def hits(self) -> int:
        """The number of dice that hit."""
        return sum(die >= self.shot.to_hit for die in self.rolled)


@dataclass(frozen=True, slots=True)
class TargetResult:
    """A target's hits, its dice to disrupt, the disruption it gains, and whether it breaks."""

    hits: int
    disrupt_on: int
    rolled: Dice
    disruption: int
    is_broken: bool
    because: tuple[str, ...]


def shot_list(field: Field, request: Volley) -> tuple[Shot, ...]:
    """Returns the requested shots in order.

    Raises:
        BadInput: A base may not fire at its chosen target, or units that bombard together are not
            one force.
    """
    if request.kind == "bombard":
        _check_one_force(field, request)
    fire = fire_of_units(field, {aim.unit for aim in request.aims})
    return tuple(_shot(field, request, aim, fire[aim.unit].get(aim.base)) for aim in request.aims)


def _check_one_force(field: Field, request: Volley) -> None:
    """Rejects a bombardment by units that no single activation can reach (M-7.3, M-1.15)."""
    shooters = tuple(dict.fromkeys(aim.unit for aim in request.aims))
    apart = first_unlinked(field, shooters)
    if apart is None or any(field.by_id[name].unit.arm != "artillery" for name in shooters):
        return  # units that never bombard are rejected shot by shot
    path = ("shots", shooters.index(apart), "unit")
    why = linking_obstacle(field.by_id[shooters[0]], field.by_id[apart])
    why = why or f"they are not linked within {tables.FORCE_BW:g} BW"
    message = f"expected guns of one force (M-7.3), got {shooters[0]} and {apart}: {why}"
    raise request.document.error(path, message)


def disrupt_number(kind: Kind, target: Arm) -> int:
    """Returns the number a hit needs to disrupt; distant guns are harder to silence (M-7.26)."""
    is_gun_from_afar = kind == "bombard" and target == "artillery"
    return tables.TO_DISRUPT_GUN_BY_BOMBARDMENT if is_gun_from_afar else tables.TO_DISRUPT


def roll_shots(shots: Iterable[Shot], dice: Sequence[int]) -> tuple[RolledShot, ...]:
    """Deals the dice to the shots in their order."""
    dice_left = iter(dice)
    return tuple(RolledShot(shot, tuple(islice(dice_left, shot.dice))) for shot in shots)


def target_results(
    field: Field, fired: Iterable[RolledShot], dice: Sequence[int]
) -> dict[str, TargetResult]:
    """Returns the result for each target; dice to disrupt go to hits in the order of scoring.

    All dice are thrown, even if the target breaks before the last one (M-7.8).
    """
    dice_left = iter(dice)
    against: dict[tuple[str, int], list[int]] = {}
    for rolled in fired:
        hits = against.setdefault((rolled.shot.target, rolled.shot.disrupt_on), [])
        hits += islice(dice_left, rolled.hits)
    return {
        name: target_result(field.by_id[name], tuple(hits), number)
        for (name, number), hits in against.items()
    }


def target_result(target: UnitOnField, dice: Dice, disrupt_on: int) -> TargetResult:
    """Returns the result for one target; each hit has one die."""
    gained = sum(die >= disrupt_on for die in dice)
    broken = target.breaks_with(gained)
    because = [f"M-7.26 {gained} of {len(dice)} hits disrupt ({disrupt_on}+ needed)"]
    because += [str(target.breaking_reason(gained))] * broken
    return TargetResult(len(dice), disrupt_on, dice, gained, broken, tuple(because))


def _shot(field: Field, request: Volley, aim: ShotAssignment, fire: BaseFire | None) -> Shot:
    option = _chosen(field, request, aim, fire)
    card = request.cards.get(aim.unit, 0)
    because = [f"M-7.23 {option.because}"]
    because += [f"M-7.23 card: {card:+d} on each die"] * bool(card)
    terms = (
        f"{tables.TO_HIT}+",
        *(term.change for term in option.modifiers),
        *[f"{card:+d} card"] * bool(card),
    )
    return Shot(
        aim.unit,
        aim.base,
        aim.target,
        option.range,
        option.dice,
        needed_on_die(option.to_hit, card),
        disrupt_number(request.kind, field.by_id[aim.target].unit.arm),
        tuple(because),
        terms,
    )


def _chosen(
    field: Field, request: Volley, aim: ShotAssignment, fire: BaseFire | None
) -> FireOption:
    """Returns the fire option that a request chooses; raises `BadInput` if there is none."""
    arm, options = field.by_id[aim.unit].unit.arm, () if fire is None else fire.options
    targets = {o.target: o for o in options if o.range == RANGES[request.kind]}
    if aim.target in targets:
        return targets[aim.target]
    if fire is None or (request.kind == "bombard" and arm != "artillery"):
        action = "fires (M-7.7)" if fire is None else "bombards (M-7.1)"
        why = f"{arm} never {action}"
    elif not options:
        why = f"base {aim.base} may not fire: {fire.blocked}"
    elif not targets:
        ranges = joined(dict.fromkeys(option.range for option in options))
        why = f"base {aim.base} has targets at {ranges} range only (M-7.1, M-7.12)"
    else:
        why = f"base {aim.base} may not fire at {aim.target} (M-7.12){nearest('', targets)}"
    raise request.document.error(aim.path, why)
