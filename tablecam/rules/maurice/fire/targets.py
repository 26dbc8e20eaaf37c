"""The targets of bases in the order of M-7.12, or what blocks their fire (M-7.6, M-7.7)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Literal

import numpy as np

from tablecam.rules.maurice.field.field import UnitOnField
from tablecam.rules.maurice.field.ground import are_partly_in
from tablecam.rules.maurice.field.terms import Reason
from tablecam.rules.maurice.fire.option import RANGES, FireOption, options
from tablecam.rules.maurice.fire.shooter import Scene, Shooter
from tablecam.rules.maurice.fire.zone import ZoneContents, met_ahead, zone_contents_turned
from tablecam.uncertainty.answer import Answer

Blocked = Literal["column", "water", "woods", "friend", "obstruction", "no target"]


@dataclass(frozen=True, slots=True)
class BaseFire:
    """The targets that a base may legally choose, or what blocks its fire.

    `shooter` is None where the base may not fire at all; `doubts` gives every answer about the base
    that errors may change, clear or too close to call, where not every pose is exact.
    """

    base: str
    options: tuple[FireOption, ...]
    blocked: Blocked | None
    shooter: Shooter | None = field(default=None, compare=False, repr=False)
    doubts: Callable[[], tuple[Answer, ...]] | None = field(default=None, compare=False, repr=False)

    @property
    def answers(self) -> tuple[Answer, ...]:
        """The answers about this base that depend on measurement errors."""
        return () if self.doubts is None else self.doubts()

    @property
    def close_calls(self) -> tuple[Answer, ...]:
        """The answers that are too close to call."""
        return tuple(answer for answer in self.answers if answer.answer == "too_close")

    def to_json(self) -> dict[str, Any]:
        """Returns the base's fire as rulings carry it.

        `doubts` are the answers too close to call, `answers` the others that are not certain.
        """
        record: dict[str, Any] = {
            "options": [option.to_json() for option in self.options],
            "blocked": self.blocked,
        }
        decided = [answer for answer in self.answers if answer.answer != "too_close"]
        for key, answers in (("doubts", self.close_calls), ("answers", decided)):
            if answers:
                record[key] = [answer.to_json() for answer in answers]
        return record


def why_never_fires(unit: UnitOnField) -> Reason | None:
    """Returns the rule that forbids a unit any fire, wherever the enemy is (M-7.7), or None."""
    if unit.unit.arm == "cavalry":
        return Reason("M-7.7", "never_fires")
    return Reason("M-7.7", "column_fire") if unit.formation == "column" else None


def fire_in(scene: Scene, asked: Sequence[tuple[UnitOnField, int]]) -> list[BaseFire]:
    """Returns the fire of k bases: all of the first world, of the second, ..."""
    if not asked:
        return []
    blocked = _blocked(scene, asked)
    ready = [base for base, why in zip(scene.shooters(asked), blocked, strict=True) if not why]
    fire = iter(_fire_by_priority(ready))
    names = [unit.unit.base_name(place) for unit, place in asked] * len(scene.corners_mm)
    return [
        BaseFire(name, (), why) if why else next(fire)
        for name, why in zip(names, blocked, strict=True)
    ]


def _blocked(scene: Scene, asked: Sequence[tuple[UnitOnField, int]]) -> list[Blocked | None]:
    """Returns why each base may not fire at all, or None (M-7.6, M-7.7)."""
    outlines, ground = scene.outlines[:, scene.indices(asked)], scene.field.ground
    is_gun = np.array([unit.unit.arm == "artillery" for unit, _ in asked])
    is_wet = are_partly_in(outlines.reshape(-1), ground.water).reshape(outlines.shape)
    is_wooded = np.zeros(outlines.shape, dtype=bool)
    guns = outlines[:, is_gun]
    is_wooded[:, is_gun] = are_partly_in(guns.reshape(-1), ground.woods).reshape(guns.shape)
    is_column = np.array([unit.formation == "column" for unit, _ in asked])
    reasons: tuple[Blocked | None, ...] = (None, "woods", "water", "column")
    codes = np.where(is_column, 3, np.where(is_wet, 2, is_wooded))
    return [reasons[code] for code in codes.reshape(-1).tolist()]


def _fire_by_priority(bases: Sequence[Shooter]) -> list[BaseFire]:
    """Finds targets in the order of M-7.12.

    Short range ahead, short range turned, then for guns long range ahead, long range turned.
    """
    options_of: list[tuple[FireOption, ...]] = [() for _ in bases]
    zones_of: list[list[ZoneContents]] = [[] for _ in bases]
    # Bases without an enemy in range need no zones: most bases of a large table.
    left = [at for at, base in enumerate(bases) if any(one.is_enemy for one in base.others)]
    for fire_range, is_turned in product(RANGES, (False, True)):
        left = [at for at in left if fire_range == "short" or bases[at].is_gun]
        asked = [bases[at] for at in left]
        lengths_mm = [one.short_mm if fire_range == "short" else one.longest_mm for one in asked]
        met = (zone_contents_turned if is_turned else met_ahead)(asked, lengths_mm)
        options_at = options(list(zip(asked, met, strict=True)), fire_range)
        for at, zone, fire_options in zip(left, met, options_at, strict=True):
            options_of[at] = fire_options
            zones_of[at].append(zone)
        left = [at for at in left if not options_of[at]]
    return [
        BaseFire(base.name, chosen, None if chosen else _why_no_target(base, zones), base)
        for base, chosen, zones in zip(bases, options_of, zones_of, strict=True)
    ]


def _why_no_target(base: Shooter, tried: Sequence[ZoneContents]) -> Blocked:
    """Returns what blocks the first zone that is blocked, else `no target`."""
    reasons = (met.stopped_by(base.longest_mm) for met in tried)
    return next((reason for reason in reasons if reason), "no target")
