"""Confidence in a base's fire, computed on demand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import shapely

from tablecam.rules.maurice.fire.modifier_confidence import (
    modifier_answers,
    own_wall_answers,
    standing,
)
from tablecam.rules.maurice.fire.option import FireOption
from tablecam.rules.maurice.fire.scenarios import Scenario
from tablecam.rules.maurice.fire.shooter import Shooter
from tablecam.rules.maurice.fire.target_confidence import FireBatch, target_answers
from tablecam.table.model import BasePose
from tablecam.uncertainty.answer import Answer


@dataclass(frozen=True)
class FireConfidence:
    """The uncertainty that errors leave in a base's fire.

    It is lazy, because draws cost a hundred times what fire does. `shooter` is None where the base
    may not fire; `batch` is the batch it belongs to, `areas` the areas it must not stand in
    (M-7.6).
    """

    name: str
    pose: BasePose
    areas: Mapping[str, shapely.Geometry]
    shooter: Shooter | None
    options: tuple[FireOption, ...]
    batch: FireBatch

    @cached_property
    def answers(self) -> tuple[Answer, ...]:
        """Every answer about the base that depends on errors, clear or too close to call."""
        return (*self._targets.values(), *self._modifiers(), *self._stands)

    def probability(self, target: str) -> float:
        """Returns the probability that the base may shoot at one of its measured targets."""
        known = self._targets.get(target)
        chance = 1.0 if known is None else known.probability
        for stands in self._stands:
            chance *= 1.0 - stands.probability
        return chance

    @cached_property
    def _targets(self) -> Mapping[str, Answer]:
        if self.shooter is None or self.shooter in self.batch.are_sure:
            return {}
        return target_answers(self._seen_as, self.options, self._tolerance_mm)

    @property
    def _seen_as(self) -> tuple[Scenario, ...]:
        return () if self.shooter is None else self.batch.scenarios[self.shooter]

    @property
    def _tolerance_mm(self) -> float:
        return self.batch.tolerance_mm

    @cached_property
    def _stands(self) -> tuple[Answer, ...]:
        answers = (
            standing(self.name, self.pose, area, kind, self._tolerance_mm)
            for kind, area in self.areas.items()
        )
        return tuple(answer for answer in answers if answer is not None)

    def _modifiers(self) -> Iterator[Answer]:
        yield from own_wall_answers(self._seen_as, self._tolerance_mm)
        for option in self.options:
            yield from modifier_answers(option, self._seen_as, self._tolerance_mm)
