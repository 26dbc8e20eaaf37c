"""How sure it is whom a base may shoot at, where errors could change it.

Nothing is drawn where lengths changed by more than errors can leave the outcome as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tablecam.geometry.shapes import Shape, shapes_of
from tablecam.rules.maurice.field.chances import (
    LINE_DRAWS,
    SIGMAS,
    Chance,
    near_enough,
    share,
    turning_mm,
)
from tablecam.rules.maurice.fire.bounds import (
    Aimed,
    Stage,
    hits_at,
    met_by,
    stages,
)
from tablecam.rules.maurice.fire.draws import scene
from tablecam.rules.maurice.fire.option import FireOption
from tablecam.rules.maurice.fire.outlook import Outlook, hidden_draws, outlooks, walled_draws
from tablecam.rules.maurice.fire.shooter import Other, Shooter
from tablecam.rules.maurice.fire.zone import STEP_DEG
from tablecam.uncertainty.answer import Answer
from tablecam.uncertainty.samples import DRAWS

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

_TOLD_SIGMAS = 3.0
"""An outcome that stands so many is certain; bounds go a bit farther, so that none is missed."""

_ANGLES = 24
"""So many angles are tried in each draw about those at which a unit may be hit."""


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """A stage to which a base may come: what is near then, and who may be hit: True, who must."""

    stage: Stage
    slack_mm: float
    others: tuple[Other, ...]
    units: Mapping[str, bool] = field(default_factory=dict)


@dataclass(frozen=True)
class Together:
    """Bases of one field of which it is asked how sure it is whom they may shoot.

    What all of them may face, and of which of them nothing is open, is found at once.
    """

    bases: tuple[Shooter, ...]
    tolerance_mm: float

    @cached_property
    def seen_as(self) -> Mapping[Shooter, tuple[Outlook, ...]]:
        """What each base may be faced with."""
        return {base: outlooks(base, self.tolerance_mm) for base in self.bases}

    @cached_property
    def are_sure(self) -> frozenset[Shooter]:
        """Bases whose fire stands all errors, found with those of the most unsure of all.

        Those that are not among them may stand their own.
        """
        plain = [base for base, seen in self.seen_as.items() if _is_plain(seen)]
        by_arm = ([base for base in plain if base.is_gun is is_gun] for is_gun in (False, True))
        return frozenset(base for alike in by_arm for base in _sure_of(alike, self.tolerance_mm))


def _is_plain(seen_as: Sequence[Outlook]) -> bool:
    """Whether a base is faced with what it is as measured, and no crest can hide any of it."""
    return len(seen_as) == 1 and not seen_as[0].sight_mm


def _sure_of(bases: Sequence[Shooter], tolerance_mm: float) -> Iterator[Shooter]:
    """The bases, all of one arm, that may hit the same whether lengths are kinder or less kind."""
    if not bases:
        return
    left: dict[Shooter, frozenset[str]] = dict.fromkeys(bases, frozenset())
    for each_stage in zip(*map(stages, bases), strict=True):
        stage_of = dict(zip(bases, each_stage, strict=True))
        slack = max(tolerance_mm, *(SIGMAS * stage_of[base].error_mm for base in left), 0.0)
        asked = [
            Aimed(base, stage_of[base], others, others)
            for base in left
            for others in [base.within(stage_of[base].longest_mm + slack)]
        ]
        may = map(_hit, hits_at(asked, slack + _between_mm(each_stage[0])))
        some = [(each, names) for each, names in zip(asked, may, strict=True) if names]
        must = map(_hit, hits_at([each for each, _ in some], -slack))
        for (each, names), sure in zip(some, must, strict=True):
            before = left.pop(each.base)
            if sure == names and (not before or (before == names and len(names) == 1)):
                yield each.base
            elif not sure and len(before | names) == 1:
                # A later stage may hit the same one for certain.
                left[each.base] = before | names
    yield from (base for base, names in left.items() if not names)


def _hit(hits: Mapping[str, Flags]) -> frozenset[str]:
    return frozenset(name for name, angles in hits.items() if angles.any())


def target_answers(
    seen_as: Sequence[Outlook], options: Sequence[FireOption], tolerance_mm: float
) -> dict[str, Answer]:
    """Whether a base may shoot each unit of which that is not certain, by all that it may face."""
    looks = list(_looks(seen_as, tolerance_mm))
    if _is_certain(looks):
        return {}
    listed = {option.target: option for option in options}
    answers = {}
    for unit_id, held in _drawn(seen_as, looks).items():
        chance = _chance(seen_as, looks, unit_id, held)
        if _is_open(chance, held, tolerance_mm):
            option = listed.get(unit_id)
            answers[unit_id] = _answer(seen_as[0].base, unit_id, chance, tolerance_mm, option)
    return answers


def _is_certain(looks: Sequence[Look]) -> bool:
    """Whether no error changes who is hit: at no stage, or always one and the same unit."""
    if all(must for look in looks for must in look.units.values()):
        return True
    last = looks[-1].units
    return (
        bool(last)
        and all(last.values())
        and len({name for each in looks for name in each.units}) == 1
    )


def _is_open(chance: Chance, held: Flags, tolerance_mm: float) -> bool:
    """Whether an outcome turns within three sigmas, or the tolerance; or in any of the draws."""
    turns_in_draws = bool(held.any() and not held.all())
    is_close = abs(chance.margin_mm) <= _TOLD_SIGMAS * chance.sigma_mm
    return turns_in_draws or is_close or abs(chance.margin_mm) < tolerance_mm


def _looks(seen_as: Sequence[Outlook], tolerance_mm: float) -> Iterator[Look]:
    """The stages to which a base may come, as far as the one that is the last for certain."""
    base = seen_as[0].base
    for stage in stages(base):
        slack = max(SIGMAS * stage.error_mm, tolerance_mm)
        look = Look(stage, slack, base.within(stage.longest_mm + slack))
        asked = [(outlook, look) for outlook in seen_as]
        may = _who_may(asked, slack + _between_mm(stage))
        must = _who_may(asked, -slack) if may else frozenset()
        units = {unit_id: unit_id in must for unit_id in sorted(may)}
        yield replace(look, units=units)
        if must:
            return


def _between_mm(stage: Stage) -> float:
    """What a zone's end moves aside in half a step of angles."""
    return float(np.radians(STEP_DEG)) / 2 * stage.longest_mm if stage.is_turned else 0.0


def _who_may(asked: Sequence[tuple[Outlook, Look]], by_mm: float) -> frozenset[str]:
    """Who can be hit, were all lengths by so much kinder: as a base may then look at it."""
    found = [
        _hit(_hits(outlook, look, by_mm))
        for outlook, look in asked
        if outlook.turns_mm <= abs(by_mm)
    ]
    some, every = frozenset[str].union, frozenset[str].intersection
    return some(*found) if by_mm >= 0.0 else every(*found)


def _hits(outlook: Outlook, look: Look, by_mm: float) -> dict[str, Flags]:
    """At which angles (a,) each unit can be hit, were all lengths by so much kinder."""
    seen, still = outlook.seen(look.others, by_mm), outlook.seen(look.others, -by_mm)
    return hits_at([Aimed(outlook.base, look.stage, seen, still)], by_mm)[0]


def _drawn(seen_as: Sequence[Outlook], looks: Sequence[Look]) -> dict[str, Flags]:
    """In which draws each unit is hit."""
    found: dict[str, Flags] = {}
    for _, _, _, hits in _stages_drawn(seen_as, looks):
        for unit_id, hit in hits.items():
            found[unit_id] = found[unit_id] | hit if unit_id in found else hit
    return found


def base_hits(
    seen_as: Sequence[Outlook], unit_id: str, tolerance_mm: float
) -> tuple[dict[Other, Flags], Flags]:
    """In which draws each base of a unit can be hit, and in which the unit can (M-7.13)."""
    looks = list(_looks(seen_as, tolerance_mm))
    found: dict[Other, Flags] = {}
    any_of_it = np.zeros(1, dtype=bool)
    for outlook, look, is_left, hits in _stages_drawn(seen_as, looks):
        asked = is_left & hits.get(unit_id, np.zeros(len(is_left), dtype=bool))
        any_of_it = any_of_it | asked
        for other in look.others:
            if other.unit.id == unit_id and asked.any():
                hit = _drawn_hits(outlook, look, unit_id, asked, only=other)
                found[other] = found[other] | hit if other in found else hit
    return found, any_of_it


def _stages_drawn(
    seen_as: Sequence[Outlook], looks: Sequence[Look]
) -> Iterator[tuple[Outlook, Look, Flags, dict[str, Flags]]]:
    """The stages in order: the draws in which a base comes to each, and hits each unit there."""
    # Lines of sight and walls have to be looked at draw by draw.
    draws = LINE_DRAWS if len(seen_as) > 1 or seen_as[0].sight_mm else DRAWS
    other_way = [walled_draws(each, seen_as[0], draws) for each in seen_as[1:]]
    as_measured = ~np.any([np.zeros(draws, dtype=bool), *other_way], axis=0)
    for outlook, is_so in zip(seen_as, [as_measured, *other_way], strict=True):
        is_left = is_so
        for look in looks:
            hits = {
                unit_id: is_left if must else _drawn_hits(outlook, look, unit_id, is_left)
                for unit_id, must in look.units.items()
            }
            yield outlook, look, is_left, hits
            for hit in hits.values():
                is_left = is_left & ~hit


def _drawn_hits(
    outlook: Outlook, look: Look, unit_id: str, asked: Flags, *, only: Other | None = None
) -> Flags:
    """In which of the draws asked for (d,) a unit is hit, or `only` one base of it."""
    outlook, look = _close_up(outlook, look, unit_id)
    turns_deg = look.stage.turns_deg
    if not len(turns_deg) or not asked.any():
        return np.zeros(len(asked), dtype=bool)
    if look.stage.is_turned:
        # As many angles about those at which it may be hit, the closer the fewer they are.
        even = np.linspace(0, len(turns_deg) - 1, _ANGLES)
        turns_deg = np.interp(even, np.arange(len(turns_deg)), turns_deg)
    hidden = np.zeros((len(asked), len(look.others)), dtype=bool)
    for at, other in enumerate(look.others):
        hidden[:, at] = hidden_draws(outlook, other, len(asked))
    drawn = scene(outlook.base, look.others, hidden)
    theirs = (each.unit.id == unit_id and only in (None, each) for each in look.others)
    wanted = np.fromiter(theirs, dtype=bool, count=len(look.others))
    return drawn.hit(wanted, look.stage, turns_deg, asked)


def _close_up(outlook: Outlook, look: Look, unit_id: str) -> tuple[Outlook, Look]:
    """The same, but of all angles those about which a unit may be hit, and what counts there."""
    base, stage, slack = outlook.base, look.stage, look.slack_mm + _between_mm(look.stage)
    may = _hits(outlook, look, slack).get(unit_id)
    turns_deg = stage.turns_deg[:0] if may is None else stage.angles_deg(slack)[may]
    if stage.is_turned and len(turns_deg):
        ends_deg = turns_deg[[0, -1]] + (-STEP_DEG, STEP_DEG)
        turns_deg = np.unique(np.concatenate([ends_deg, turns_deg]))
    others, screens = met_by(base, look.others, turns_deg, stage, slack)
    stage = replace(stage, turns_deg=turns_deg)
    close = replace(outlook, base=replace(base, obstructing=screens))
    return close, replace(look, stage=stage, others=others)


def _chance(seen_as: Sequence[Outlook], looks: Sequence[Look], unit_id: str, held: Flags) -> Chance:
    look = next(each for each in looks if unit_id in each.units)
    close_ups = [_close_up(each, look, unit_id) for each in seen_as]
    spread, slack = SIGMAS * look.stage.error_mm, look.slack_mm

    def holds_by(by_mm: float) -> bool:
        return unit_id in _who_may(close_ups, by_mm)

    margin_mm = turning_mm(holds_by, slack)
    if margin_mm is None:
        margin_mm = slack if holds_by(0.0) else -slack
    # Without errors all draws are one.
    if not spread:
        return Chance(margin_mm, 0.0, float(held[0]))
    base = seen_as[0].base
    target = next(other.unit for other in (*base.others, *base.hidden) if other.unit.id == unit_id)
    # No shot is likelier than that its target is in range.
    chance = min(share(held), near_enough(base.unit, target, base.longest_mm))
    return Chance(margin_mm, spread / SIGMAS, chance)


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
    ahead = base.strip.outline(0.0, base.longest_mm)
    seen = (*base.others, *base.hidden)
    shapes = shapes_of(ahead, "fire-zone")
    for other in seen:
        if other.unit.id == target:
            shapes += shapes_of(other.outline, "target")
    return shapes
