"""How sure a base's fire is: whom it may shoot at, with cover, enfilading, or not at all.

Nothing is drawn where lengths changed by more than errors can leave the outcome as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tablecam.measure.answer import Answer, Shape, shapes_of
from tablecam.measure.samples import DRAWS
from tablecam.rules.maurice.chances import SIGMAS, Chance, share, turning_mm
from tablecam.rules.maurice.fire_bounds import Stage, can_hit, met_by, slack_mm, stages
from tablecam.rules.maurice.fire_draws import scene
from tablecam.rules.maurice.fire_modifiers import modifier_doubts
from tablecam.rules.maurice.fire_option import FireOption
from tablecam.rules.maurice.fire_shooter import Other, Shooter
from tablecam.rules.maurice.fire_zone import STEP_DEG
from tablecam.rules.maurice.tables import TURN_DEG

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

_ANGLES = 24
"""So many angles are tried in each draw about those at which a unit may be hit."""


def with_chances(
    base: Shooter, options: tuple[FireOption, ...], tolerance_mm: float
) -> tuple[tuple[FireOption, ...], tuple[Answer, ...]]:
    """A base's options with their probabilities, and its questions that are too close to call."""
    chances = _chances(base, tolerance_mm)
    sure = tuple(
        replace(each, probability=chances[each.target].probability)
        if each.target in chances
        else each
        for each in options
    )
    listed = {option.target: option for option in options}
    doubts = tuple(
        _answer(base, target, chance, tolerance_mm, listed.get(target))
        for target, chance in chances.items()
        if chance.word(tolerance_mm) == "too_close"
    )
    for each in options:
        doubts += tuple(modifier_doubts(each, tolerance_mm))
    return sure, doubts


def _chances(base: Shooter, tolerance_mm: float) -> dict[str, Chance]:
    """How probably each unit may be shot at; those of which it is certain are left out."""
    asked = list(_reachable(base, tolerance_mm))
    if all(must for _, _, units in asked for must in units.values()):
        return {}
    found = {unit_id: np.zeros(DRAWS, dtype=bool) for _, _, units in asked for unit_id in units}
    is_settled = np.zeros(DRAWS, dtype=bool)
    for stage, others, units in asked:
        hits = {
            unit_id: ~is_settled
            if must
            else _drawn_hits(base, others, unit_id, stage, tolerance_mm, ~is_settled)
            for unit_id, must in units.items()
        }
        for unit_id, hit in hits.items():
            found[unit_id] |= hit
            is_settled = is_settled | hit
    return {
        unit_id: _chance(base, asked, unit_id, held, tolerance_mm)
        for unit_id, held in found.items()
    }


def _reachable(
    base: Shooter, tolerance_mm: float
) -> Iterator[tuple[Stage, tuple[Other, ...], dict[str, bool]]]:
    """The stages to which it may come, what is near, and who may be hit there: True, who must."""
    for stage in stages(base):
        slack = max(slack_mm(base, base.others, stage.longest_mm), tolerance_mm)
        others = base.within(stage.longest_mm + slack)
        units: dict[str, bool] = {}
        for unit_id in dict.fromkeys(other.unit.id for other in others if other.is_enemy):
            if can_hit(base, others, unit_id, stage, slack + _between_mm(stage)).any():
                units[unit_id] = bool(can_hit(base, others, unit_id, stage, -slack).any())
        yield stage, others, units
        if any(units.values()):
            return


def _between_mm(stage: Stage) -> float:
    """What a zone's end moves aside in half a step of angles."""
    return float(np.radians(STEP_DEG)) / 2 * stage.longest_mm if len(stage.turns_deg) > 1 else 0.0


def _drawn_hits(
    base: Shooter,
    others: Sequence[Other],
    unit_id: str,
    stage: Stage,
    tolerance_mm: float,
    asked: Flags,
) -> Flags:
    """In which of the draws asked for (d,) a unit is hit."""
    slack = max(slack_mm(base, base.others, stage.longest_mm), tolerance_mm) + _between_mm(stage)
    may = np.flatnonzero(can_hit(base, others, unit_id, stage, slack))
    turns_deg = stage.turns_deg
    if len(turns_deg) > 1:
        # As many angles about those at which it may be hit, the closer the fewer they are.
        turns_deg = stage.turns_deg[may]
        turns_deg = np.concatenate(
            [turns_deg[:1] - STEP_DEG, turns_deg, turns_deg[-1:] + STEP_DEG]
        ).clip(-TURN_DEG, TURN_DEG)
        even = np.linspace(0, len(turns_deg) - 1, _ANGLES)
        turns_deg = np.interp(even, np.arange(len(turns_deg)), turns_deg)
    drawn = scene(base, met_by(base, others, turns_deg, stage, slack))
    return drawn.hit(unit_id, stage, turns_deg, asked)


def _chance(
    base: Shooter,
    asked: Sequence[tuple[Stage, tuple[Other, ...], dict[str, bool]]],
    unit_id: str,
    held: Flags,
    tolerance_mm: float,
) -> Chance:
    stage, others = next((stage, others) for stage, others, units in asked if unit_id in units)
    spread = slack_mm(base, base.others, stage.longest_mm)
    slack = max(spread, tolerance_mm)

    def holds_by(by_mm: float) -> bool:
        return bool(can_hit(base, others, unit_id, stage, by_mm).any())

    margin_mm = turning_mm(holds_by, slack)
    if margin_mm is None:
        margin_mm = slack if holds_by(0.0) else -slack
    # Without errors all draws are one.
    probability = share(held) if spread > 0 else float(held[0])
    return Chance(margin_mm, spread / SIGMAS, probability)


def _answer(
    base: Shooter, target: str, chance: Chance, tolerance_mm: float, option: FireOption | None
) -> Answer:
    close = f"{'by' if option else 'missed by'} {abs(chance.margin_mm):.1f} mm"
    because = (
        f"whether base {base.name} may shoot {target} is too close to call: "
        f"{close}, {chance.probability:.0%} likely"
    )
    evidence = option.evidence if option else _zone(base, target)
    return Answer(
        "too_close",
        chance.margin_mm,
        chance.sigma_mm,
        chance.probability,
        "M-7.12",
        because,
        evidence,
    )


def _zone(base: Shooter, target: str) -> tuple[Shape, ...]:
    ahead = base.strip.outline(0.0, base.longest_mm)
    theirs = [other.outline for other in base.others if other.unit.id == target]
    shapes = shapes_of(ahead, "fire-zone")
    for outline in theirs:
        shapes += shapes_of(outline, "target")
    return shapes
