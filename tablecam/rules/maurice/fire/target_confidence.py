"""Confidence in targets: how likely a base may shoot at each unit where errors could change it.

Nothing is drawn where shifting every length by more than the errors leaves the outcome unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray

from tablecam.geometry.shapes import Shape, shapes_of
from tablecam.rules.maurice.field.worlds import (
    SIGMAS,
    Chance,
    bounded_margin_mm,
)
from tablecam.rules.maurice.fire.bounds import (
    ShiftedStage,
    Stage,
    hits_at,
    met_by,
    stages,
)
from tablecam.rules.maurice.fire.draws import scene
from tablecam.rules.maurice.fire.option import FireOption
from tablecam.rules.maurice.fire.scenarios import Scenario, hidden_draws, scenarios_of, walled_draws
from tablecam.rules.maurice.fire.shooter import OtherBase, Shooter
from tablecam.rules.maurice.fire.zone import STEP_DEG
from tablecam.uncertainty.answer import Answer
from tablecam.uncertainty.samples import DRAWS, probability_of_draws

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

_CERTAIN_SIGMAS = 3.0
"""An outcome that holds within this many sigmas is certain; the bounds use more, to miss none."""

_ANGLES = 24
"""The number of angles tried in each draw around those at which a unit may be hit."""


@dataclass(frozen=True, slots=True, eq=False)
class FireStage:
    """A stage that a base may reach, with the bases then in range and the units it may hit.

    `units` maps each unit that may be hit to whether it is hit whatever the errors are.
    """

    stage: Stage
    max_shift_mm: float
    others: tuple[OtherBase, ...]
    units: Mapping[str, bool] = field(default_factory=dict)

    @property
    def most_mm(self) -> float:
        """The largest shift, and how far a zone's end moves aside in half a step of angles."""
        if not self.stage.is_turned:
            return self.max_shift_mm
        return self.max_shift_mm + float(np.radians(STEP_DEG)) / 2 * self.stage.longest_mm


Aimed = Sequence[tuple[Scenario, FireStage]]
"""A base at a stage in each of its scenarios."""


@dataclass(frozen=True)
class FireBatch:
    """The bases of one field whose confidence is asked for, evaluated in one batch.

    What they may face, and which of them no error affects, is computed once for all of them.
    """

    bases: tuple[Shooter, ...]
    tolerance_mm: float

    @cached_property
    def scenarios(self) -> Mapping[Shooter, tuple[Scenario, ...]]:
        """The scenarios of each base."""
        return {base: scenarios_of(base, self.tolerance_mm) for base in self.bases}

    def stages(self, base: Shooter) -> list[FireStage]:
        """Returns the stages that a base may reach, up to the first that it surely ends at.

        The largest error of all bases, tried first, spares most of them a search of their own.
        """
        together = self._together[base]
        return together if _is_certain(together) else self._stages_of([base])[base]

    @cached_property
    def _together(self) -> Mapping[Shooter, list[FireStage]]:
        return self._stages_of(self.bases)

    def _stages_of(self, bases: Sequence[Shooter]) -> dict[Shooter, list[FireStage]]:
        """Returns the stages of some bases, as if each had the largest error of them."""
        reached: dict[Shooter, list[FireStage]] = {base: [] for base in bases}
        left = {base: stages(self.scenarios[base][0].base) for base in bases}
        while left:
            errors_mm = (next_stages[0].error_mm for next_stages in left.values())
            max_shift_mm = max(SIGMAS * max(errors_mm), self.tolerance_mm)
            aimed: dict[Shooter, Aimed] = {}
            for base, (stage, *_) in left.items():
                others = self.scenarios[base][0].base.within(stage.longest_mm + max_shift_mm)
                fire_stage = FireStage(stage, max_shift_mm, others)
                aimed[base] = [(scenario, fire_stage) for scenario in self.scenarios[base]]
            may = _who_is_hit(aimed, fire_stage.most_mm)
            must = _who_is_hit({base: aimed[base] for base in aimed if may[base]}, -max_shift_mm)
            for base, ((_, fire_stage), *_) in aimed.items():
                units = {name: name in must[base] for name in sorted(may[base])}
                reached[base].append(replace(fire_stage, units=units))
            left = {
                base: next_stages[1:]
                for base, next_stages in left.items()
                if next_stages[1:] and not must.get(base)
            }
        return reached


def _hit(hits: Mapping[str, Flags]) -> frozenset[str]:
    """Returns the units that are hit at some angle."""
    return frozenset(name for name, angles in hits.items() if angles.any())


def target_answers(
    batch: FireBatch, base: Shooter, options: Sequence[FireOption]
) -> dict[str, Answer]:
    """Returns for each unit that errors make uncertain whether a base may shoot at it."""
    scenarios, fire_stages = batch.scenarios[base], batch.stages(base)
    if _is_certain(fire_stages):
        return {}
    listed = {option.target: option for option in options}
    answers = {}
    for unit_id, held in _drawn(scenarios, fire_stages).items():
        chance = _chance(scenarios, fire_stages, unit_id, held)
        if _is_open(chance, held, batch.tolerance_mm):
            option = listed.get(unit_id)
            answers[unit_id] = _answer(
                scenarios[0].base, unit_id, chance, batch.tolerance_mm, option
            )
    return answers


def _is_certain(fire_stages: Sequence[FireStage]) -> bool:
    """Returns whether no error changes the targets: none at any stage, or always one unit."""
    if all(must for fire_stage in fire_stages for must in fire_stage.units.values()):
        return True
    last = fire_stages[-1].units
    return (
        bool(last)
        and all(last.values())
        and len({name for stage in fire_stages for name in stage.units}) == 1
    )


def _is_open(chance: Chance, held: Flags, tolerance_mm: float) -> bool:
    """Returns whether an outcome changes within three sigmas, the tolerance, or in any draw."""
    turns_in_draws = bool(held.any() and not held.all())
    is_close = abs(chance.margin_mm) <= _CERTAIN_SIGMAS * chance.sigma_mm
    return turns_in_draws or is_close or abs(chance.margin_mm) < tolerance_mm


def _who_is_hit(aimed: Mapping[Shooter, Aimed], shift_mm: float) -> dict[Shooter, frozenset[str]]:
    """Returns the units that bases hit if lengths shift, over all scenarios that the shift allows.

    A favourable shift takes the units hit in any of them, an unfavourable one those hit in all.
    """
    shifted = {
        base: [
            _shifted(scenario, fire_stage, shift_mm)
            for scenario, fire_stage in scenarios
            if scenario.turns_mm <= abs(shift_mm)
        ]
        for base, scenarios in aimed.items()
    }
    hit = map(_hit, hits_at([*chain.from_iterable(shifted.values())], shift_mm))
    over_all = frozenset[str].union if shift_mm >= 0.0 else frozenset[str].intersection
    return {base: over_all(*islice(hit, len(of_base))) for base, of_base in shifted.items()}


def _shifted(scenario: Scenario, fire_stage: FireStage, shift_mm: float) -> ShiftedStage:
    seen, still = (scenario.seen(fire_stage.others, by) for by in (shift_mm, -shift_mm))
    return ShiftedStage(scenario.base, fire_stage.stage, seen, still)


def _drawn(scenarios: Sequence[Scenario], fire_stages: Sequence[FireStage]) -> dict[str, Flags]:
    """Returns the draws in which each unit is hit."""
    hit_draws: dict[str, Flags] = {}
    for _, _, _, hits in _stages_drawn(scenarios, fire_stages):
        for unit_id, hit in hits.items():
            hit_draws[unit_id] = hit_draws[unit_id] | hit if unit_id in hit_draws else hit
    return hit_draws


def base_hits(
    batch: FireBatch, base: Shooter, unit_id: str
) -> tuple[dict[OtherBase, Flags], Flags]:
    """Returns the draws in which each base of a unit is hit, and those in which any is (M-7.13)."""
    scenarios, fire_stages = batch.scenarios[base], batch.stages(base)
    base_draws: dict[OtherBase, Flags] = {}
    unit_draws = np.zeros(1, dtype=bool)
    for scenario, fire_stage, is_left, hits in _stages_drawn(scenarios, fire_stages):
        is_unit_hit = is_left & hits.get(unit_id, np.zeros(len(is_left), dtype=bool))
        unit_draws = unit_draws | is_unit_hit
        for other in fire_stage.others:
            if other.unit.id == unit_id and is_unit_hit.any():
                hit = _drawn_hits(scenario, fire_stage, unit_id, is_unit_hit, only=other)
                base_draws[other] = base_draws[other] | hit if other in base_draws else hit
    return base_draws, unit_draws


def _stages_drawn(
    scenarios: Sequence[Scenario], fire_stages: Sequence[FireStage]
) -> Iterator[tuple[Scenario, FireStage, Flags, dict[str, Flags]]]:
    """Yields each scenario and stage with the draws that reach it and those that hit each unit."""
    other_walls = [walled_draws(scenario, scenarios[0]) for scenario in scenarios[1:]]
    as_measured = ~np.any([np.zeros(DRAWS, dtype=bool), *other_walls], axis=0)
    for scenario, is_outlook in zip(scenarios, [as_measured, *other_walls], strict=True):
        is_left = is_outlook
        for fire_stage in fire_stages:
            hits = {
                unit_id: is_left if must else _drawn_hits(scenario, fire_stage, unit_id, is_left)
                for unit_id, must in fire_stage.units.items()
            }
            yield scenario, fire_stage, is_left, hits
            for hit in hits.values():
                is_left = is_left & ~hit


def _drawn_hits(
    scenario: Scenario,
    fire_stage: FireStage,
    unit_id: str,
    asked: Flags,
    *,
    only: OtherBase | None = None,
) -> Flags:
    """Returns in which of the `asked` draws (d,) a unit, or `only` one base of it, is hit."""
    scenario, fire_stage = _close_up(scenario, fire_stage, unit_id)
    turns_deg = fire_stage.stage.turns_deg
    if not len(turns_deg) or not asked.any():
        return np.zeros(len(asked), dtype=bool)
    if fire_stage.stage.is_turned:
        # A fixed number of angles, so that they lie closer where few angles may hit.
        even = np.linspace(0, len(turns_deg) - 1, _ANGLES)
        turns_deg = np.interp(even, np.arange(len(turns_deg)), turns_deg)
    hidden = np.zeros((len(asked), len(fire_stage.others)), dtype=bool)
    for at, other in enumerate(fire_stage.others):
        hidden[:, at] = hidden_draws(scenario, other)
    drawn = scene(scenario.base, fire_stage.others, hidden)
    are_targets = (
        other.unit.id == unit_id and only in (None, other) for other in fire_stage.others
    )
    is_target = np.fromiter(are_targets, dtype=bool, count=len(fire_stage.others))
    return drawn.hit(is_target, fire_stage.stage, turns_deg, asked)


def _close_up(
    scenario: Scenario, fire_stage: FireStage, unit_id: str
) -> tuple[Scenario, FireStage]:
    """Narrows a stage to the angles at which a unit may be hit and to the bases met there."""
    base, stage, max_shift_mm = scenario.base, fire_stage.stage, fire_stage.most_mm
    (hits,) = hits_at([_shifted(scenario, fire_stage, max_shift_mm)], max_shift_mm)
    may = hits.get(unit_id)
    turns_deg = stage.turns_deg[:0] if may is None else stage.angles_deg(max_shift_mm)[may]
    if stage.is_turned and len(turns_deg):
        ends_deg = turns_deg[[0, -1]] + (-STEP_DEG, STEP_DEG)
        turns_deg = np.unique(np.concatenate([ends_deg, turns_deg]))
    others, screens = met_by(base, fire_stage.others, turns_deg, stage, max_shift_mm)
    stage = replace(stage, turns_deg=turns_deg)
    near_outlook = replace(scenario, base=replace(base, obstructing=screens))
    return near_outlook, replace(fire_stage, stage=stage, others=others)


def _chance(
    scenarios: Sequence[Scenario], fire_stages: Sequence[FireStage], unit_id: str, held: Flags
) -> Chance:
    """Returns the margin and the probability with which a base may shoot at a unit."""
    fire_stage = next(stage for stage in fire_stages if unit_id in stage.units)
    close_ups = [_close_up(scenario, fire_stage, unit_id) for scenario in scenarios]
    spread, max_shift_mm = SIGMAS * fire_stage.stage.error_mm, fire_stage.max_shift_mm

    def holds_by(shift_mm: float) -> bool:
        return unit_id in _who_is_hit({scenarios[0].base: close_ups}, shift_mm)[scenarios[0].base]

    margin_mm = bounded_margin_mm(holds_by, max_shift_mm)
    # Without errors all draws are equal.
    if not spread:
        return Chance(margin_mm, 0.0, float(held[0]))
    return Chance(margin_mm, spread / SIGMAS, probability_of_draws(held))


def _answer(
    base: Shooter, target: str, chance: Chance, tolerance_mm: float, option: FireOption | None
) -> Answer:
    word = chance.word(tolerance_mm)
    by = f"{'by' if option else 'missed by'} {abs(chance.margin_mm):.1f} mm"
    because = {
        "too_close": f"whether base {base.name} may shoot {target} is too close to call: {by}, "
        f"{chance.probability:.0%} likely",
        "yes": f"base {base.name} may shoot {target}: {by}, {chance.probability:.2%} likely",
        "no": f"base {base.name} may not shoot {target}: {by}, {chance.probability:.2%} likely",
    }[word]
    evidence = option.evidence if option else _zone(base, target)
    return Answer(
        word,
        chance.margin_mm,
        chance.sigma_mm,
        chance.probability,
        "M-7.12",
        because,
        evidence,
        target,
    )


def _zone(base: Shooter, target: str) -> tuple[Shape, ...]:
    """Draws the zone straight ahead and the target's bases."""
    ahead = base.strip.outline(0.0, base.longest_mm)
    seen = (*base.others, *base.hidden)
    shapes = shapes_of(ahead, "fire-zone")
    for other in seen:
        if other.unit.id == target:
            shapes += shapes_of(other.outline, "target")
    return shapes
