"""How sure a base's fire is, worked out when somebody asks for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import shapely

from tablecam.rules.maurice.fire.doubts import Together, target_answers
from tablecam.rules.maurice.fire.modifiers import modifier_answers, own_wall_answers, standing
from tablecam.rules.maurice.fire.option import FireOption
from tablecam.rules.maurice.fire.outlook import Outlook
from tablecam.rules.maurice.fire.shooter import Shooter
from tablecam.table.model import BasePose
from tablecam.uncertainty.answer import Answer


@dataclass(frozen=True)
class Sureness:
    """All that errors leave open about a base's fire; draws cost a hundred times what fire does.

    `shooter` is the base where it may fire at all, one of those asked `together`; `areas` are what
    it must not stand in (M-7.6).
    """

    name: str
    pose: BasePose
    areas: Mapping[str, shapely.Geometry]
    shooter: Shooter | None
    options: tuple[FireOption, ...]
    together: Together

    @cached_property
    def answers(self) -> tuple[Answer, ...]:
        """Every question about the base that hangs on errors: too close to call, or likely so."""
        return (*self._targets.values(), *self._modifiers(), *self._stands)

    def probability(self, target: str) -> float:
        """How likely it is that the base may shoot a unit, of those that it may as measured."""
        known = self._targets.get(target)
        chance = 1.0 if known is None else known.probability
        for stands in self._stands:
            chance *= 1.0 - stands.probability
        return chance

    @cached_property
    def _targets(self) -> Mapping[str, Answer]:
        if self.shooter is None or self.shooter in self.together.are_sure:
            return {}
        return target_answers(self._seen_as, self.options, self._tolerance_mm)

    @property
    def _seen_as(self) -> tuple[Outlook, ...]:
        return () if self.shooter is None else self.together.seen_as[self.shooter]

    @property
    def _tolerance_mm(self) -> float:
        return self.together.tolerance_mm

    @cached_property
    def _stands(self) -> tuple[Answer, ...]:
        found = (
            standing(self.name, self.pose, area, kind, self._tolerance_mm)
            for kind, area in self.areas.items()
        )
        return tuple(answer for answer in found if answer is not None)

    def _modifiers(self) -> Iterator[Answer]:
        yield from own_wall_answers(self._seen_as, self._tolerance_mm)
        for option in self.options:
            yield from modifier_answers(option, self._seen_as, self._tolerance_mm)
