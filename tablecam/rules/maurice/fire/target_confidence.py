"""Confidence in targets: how likely a base may shoot at each unit where errors could change it.

Nothing is drawn where shifting every length by more than the errors leaves the outcome unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tablecam.geometry.shapes import Shape, shapes_of
from tablecam.rules.maurice.field.chances import (
    SIGMAS,
    Chance,
    probability_of_draws,
    turning_shift_mm,
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
from tablecam.uncertainty.samples import DRAWS

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

    @cached_property
    def are_sure(self) -> frozenset[Shooter]:
        """The bases whose fire no error changes, found with the largest error of all.

        Bases outside this set may still be unaffected by their own errors.
        """
        plain = [base for base, seen in self.scenarios.items() if _is_plain(seen)]
        by_arm = ([base for base in plain if base.is_gun is is_gun] for is_gun in (False, True))
        return frozenset(
            base for alike in by_arm for base in _unaffected_bases(alike, self.tolerance_mm)
        )


def _is_plain(scenarios: Sequence[Scenario]) -> bool:
    """Returns whether a base has only its measured scenario and no crest can hide anyone."""
    return len(scenarios) == 1 and not scenarios[0].sight_mm


def _unaffected_bases(bases: Sequence[Shooter], tolerance_mm: float) -> Iterator[Shooter]:
    """Yields the bases of one arm that hit the same units whichever way lengths shift."""
    if not bases:
        return
    left: dict[Shooter, frozenset[str]] = dict.fromkeys(bases, frozenset())
    for same_stage in zip(*map(stages, bases), strict=True):
        stage_of = dict(zip(bases, same_stage, strict=True))
        max_shift_mm = max(tolerance_mm, *(SIGMAS * stage_of[base].error_mm for base in left), 0.0)
        shifted_stages = [
            ShiftedStage(base, stage_of[base], others, others)
            for base in left
            for others in [base.within(stage_of[base].longest_mm + max_shift_mm)]
        ]
        may = map(_hit, hits_at(shifted_stages, max_shift_mm + _between_mm(same_stage[0])))
        some = [
            (shifted, names) for shifted, names in zip(shifted_stages, may, strict=True) if names
        ]
        must = map(_hit, hits_at([shifted for shifted, _ in some], -max_shift_mm))
        for (shifted, names), sure in zip(some, must, strict=True):
            before = left.pop(shifted.base)
            if sure == names and (not before or (before == names and len(names) == 1)):
                yield shifted.base
            elif not sure and len(before | names) == 1:
                # A later stage may hit the same unit for certain.
                left[shifted.base] = before | names
    yield from (base for base, names in left.items() if not names)


def _hit(hits: Mapping[str, Flags]) -> frozenset[str]:
    """Returns the units that are hit at some angle."""
    return frozenset(name for name, angles in hits.items() if angles.any())


def target_answers(
    scenarios: Sequence[Scenario], options: Sequence[FireOption], tolerance_mm: float
) -> dict[str, Answer]:
    """Returns for each unit that errors make uncertain whether a base may shoot at it."""
    fire_stages = list(_fire_stages(scenarios, tolerance_mm))
    if _is_certain(fire_stages):
        return {}
    listed = {option.target: option for option in options}
    answers = {}
    for unit_id, held in _drawn(scenarios, fire_stages).items():
        chance = _chance(scenarios, fire_stages, unit_id, held)
        if _is_open(chance, held, tolerance_mm):
            option = listed.get(unit_id)
            answers[unit_id] = _answer(scenarios[0].base, unit_id, chance, tolerance_mm, option)
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


def _fire_stages(scenarios: Sequence[Scenario], tolerance_mm: float) -> Iterator[FireStage]:
    """Yields the stages that a base may reach, up to the first that it surely ends at."""
    base = scenarios[0].base
    for stage in stages(base):
        max_shift_mm = max(SIGMAS * stage.error_mm, tolerance_mm)
        fire_stage = FireStage(stage, max_shift_mm, base.within(stage.longest_mm + max_shift_mm))
        aimed = [(scenario, fire_stage) for scenario in scenarios]
        may = _who_is_hit(aimed, max_shift_mm + _between_mm(stage))
        must = _who_is_hit(aimed, -max_shift_mm) if may else frozenset()
        units = {unit_id: unit_id in must for unit_id in sorted(may)}
        yield replace(fire_stage, units=units)
        if must:
            return


def _between_mm(stage: Stage) -> float:
    """Returns how far the end of a zone moves sideways in half a step of angles."""
    return float(np.radians(STEP_DEG)) / 2 * stage.longest_mm if stage.is_turned else 0.0


def _who_is_hit(aimed: Sequence[tuple[Scenario, FireStage]], shift_mm: float) -> frozenset[str]:
    """Returns the units hit if lengths shift by `shift_mm`, over all scenarios that it allows.

    A favourable shift takes the units hit in any of them, an unfavourable one those hit in all.
    """
    hit_in = [
        _hit(_hits(scenario, fire_stage, shift_mm))
        for scenario, fire_stage in aimed
        if scenario.turns_mm <= abs(shift_mm)
    ]
    in_any, in_all = frozenset[str].union, frozenset[str].intersection
    return in_any(*hit_in) if shift_mm >= 0.0 else in_all(*hit_in)


def _hits(scenario: Scenario, fire_stage: FireStage, shift_mm: float) -> dict[str, Flags]:
    """Returns the angles (a,) at which each unit is hit if lengths shift by `shift_mm`."""
    seen, still = (
        scenario.seen(fire_stage.others, shift_mm),
        scenario.seen(fire_stage.others, -shift_mm),
    )
    return hits_at([ShiftedStage(scenario.base, fire_stage.stage, seen, still)], shift_mm)[0]


def _drawn(scenarios: Sequence[Scenario], fire_stages: Sequence[FireStage]) -> dict[str, Flags]:
    """Returns the draws in which each unit is hit."""
    hit_draws: dict[str, Flags] = {}
    for _, _, _, hits in _stages_drawn(scenarios, fire_stages):
        for unit_id, hit in hits.items():
            hit_draws[unit_id] = hit_draws[unit_id] | hit if unit_id in hit_draws else hit
    return hit_draws


def base_hits(
    scenarios: Sequence[Scenario], unit_id: str, tolerance_mm: float
) -> tuple[dict[OtherBase, Flags], Flags]:
    """Returns the draws in which each base of a unit is hit, and those in which any is (M-7.13)."""
    fire_stages = list(_fire_stages(scenarios, tolerance_mm))
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
    base, stage, max_shift_mm = (
        scenario.base,
        fire_stage.stage,
        fire_stage.max_shift_mm + _between_mm(fire_stage.stage),
    )
    may = _hits(scenario, fire_stage, max_shift_mm).get(unit_id)
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
        return unit_id in _who_is_hit(close_ups, shift_mm)

    margin_mm = turning_shift_mm(holds_by, max_shift_mm)
    if margin_mm is None:
        margin_mm = max_shift_mm if holds_by(0.0) else -max_shift_mm
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
