"""Odds of a request: the probabilities of all its outcomes before any die is thrown.

Fire and rally: dice are independent, so the distributions of successes are convolved. A shot
disrupts with the probability to hit times that to disrupt (M-7.23, M-7.25).

Combat: all throws of each melee are settled at once. Falling back is resolved once for each
combination of results, as units of different melees may cross each other's ways.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import shapely

from tablecam.documents import Document, Json
from tablecam.rules.maurice.combat import combat
from tablecam.rules.maurice.combat.results import (
    CombatResult,
    FallBackPath,
    WayBack,
    fall_back_path,
    rally_attempt,
    settle,
    swept_back,
)
from tablecam.rules.maurice.field.field import GAME, Field, UnitOnField, field_of
from tablecam.rules.maurice.field.requests import Combat, Rally, Request, Volley, request_of
from tablecam.rules.maurice.field.terms import chance_to_reach
from tablecam.rules.maurice.fire.fire import fire_of
from tablecam.rules.maurice.fire.volley import Shot, shot_list
from tablecam.rules.odds import (
    PLUS_MINUS,
    SAMPLES,
    Chances,
    OddsReport,
    counted,
    number_json,
    successes,
    throws,
    together,
)
from tablecam.rules.reports import TextTable
from tablecam.table.model import Position
from tablecam.table.sides import side_name
from tablecam.uncertainty.contact import TOUCH_MM


class MauriceOdds:
    """Maurice Lite as `tablecam.rules.odds.Odds`."""

    game: Final = GAME

    def odds(self, position: Position, request: Document, source: str = "table") -> OddsReport:
        """Returns the odds of a request, or of a unit's whole fire at another.

        `{"kind": "volley", "unit": "F1", "target": "B1"}` fires with each of the unit's bases that
        may choose the target.

        Raises:
            BadInput: As for `requests.request_of` and `odds`.
        """
        field = field_of(position, source)
        if "target" in request.data:
            request = replace(request, data=_whole_fire(field, request))
        document = odds(field, request_of(request, field))
        return OddsReport(document, tuple(odds_tables(document)), field.warnings)


def _whole_fire(field: Field, request: Document) -> Json:
    """Expands a unit's fire at another into a request that names all its bases."""
    unit, target = field.by_id.get(request.data.get("unit", "")), request.data["target"]
    if unit is None or target not in field.by_id:
        raise request.error((), "expected two units on the table, one to fire at the other")
    bases = [
        name
        for name, fire in fire_of(field, unit).items()
        if any(option.target == target for option in fire.options)
    ]
    if not bases:
        raise request.error((), f"{unit.id} may not fire at {target} from where it is")
    shots = [{"unit": unit.id, "targets": dict.fromkeys(bases, target)}]
    return {"kind": request.data.get("kind", "volley"), "side": unit.side, "shots": shots}


_SAFE_MM = 0.5
"""Extra range for units on a way back: one too many does no harm, one too few would."""


def odds(field: Field, request: Request) -> Json:
    """Returns the probabilities of all outcomes of a request, ignoring its dice.

    `disruption` is the number a unit gains (negative: sheds), as in resolutions: none if it breaks
    at once. If there are too many outcomes to count, `samples` gives the number drawn and
    `plus_minus` the error of a probability.

    Raises:
        BadInput: The request is not allowed, as when it is resolved.
    """
    if isinstance(request, Volley):
        return _volley(field, request)
    if isinstance(request, Combat):
        return _combat(field, request)
    return _rally(field, request)


def _volley(field: Field, request: Volley) -> Json:
    shots = shot_list(field, request)
    units = {
        target: _target(field.by_id[target], [shot for shot in shots if shot.target == target])
        for target in dict.fromkeys(shot.target for shot in shots)
    }
    fired = [shot.to_json() for shot in shots]
    return {"game": GAME, "kind": request.kind, "shots": fired, "units": units}


def _target(unit: UnitOnField, shots: Sequence[Shot]) -> Json:
    dice = [shot for shot in shots for _ in range(shot.dice)]
    hit = [chance_to_reach(shot.to_hit) for shot in dice]
    gained = successes(
        chance * chance_to_reach(shot.disrupt_on) for chance, shot in zip(hit, dice, strict=True)
    )
    return {
        "dice": len(dice),
        "disrupt_on": dice[0].disrupt_on,
        "hits": number_json(successes(hit)),
        "disruption": number_json(gained),
        "breaks": sum(share for number, share in gained.items() if unit.breaks_with(number)),
    }


def _rally(field: Field, request: Rally) -> Json:
    terms = rally_attempt(field, request)
    shed = successes([chance_to_reach(terms.needed)] * terms.dice)
    gained = number_json({-number: share for number, share in shed.items()})
    unit = terms.to_json() | {"disruption": gained}
    return {"game": GAME, "kind": "rally", "units": {terms.unit: unit}}


def _combat(field: Field, request: Combat) -> Json:
    met = combat.meeting(field, request.active)
    combat.check_combat(request, met)
    scores = combat.scores_of(field, met, request.cards)
    order = combat.fall_back_order(field, request, met.contacts)
    may_meet, way_back = _ways_back(field, met.contacts)
    melees = _merged({name, *value.engaged_with} for name, value in scores.items())
    fates: dict[str, _Fates] = {}
    broken = {field.by_id[name].side: {0: 1.0} for name in scores}
    is_exact = True
    # Units of melees in one group may meet as they fall back; groups are independent.
    for group in _merged(may_meet(melee) for melee in melees):
        in_group = [
            _results([value for name, value in scores.items() if name in melee])
            for melee in melees
            if melee <= group
        ]
        before = together(in_group)
        is_exact &= before.is_exact
        own_order = [name for name in order if name in group]
        lost: defaultdict[str, _Shares] = defaultdict(lambda: _Shares(float))
        for state, share in before.of.items():
            results = {name: _RESULTS[result] for melee in state for name, result in melee}
            after = combat.fallen_back(field, own_order, met, results, way_back)
            number = dict.fromkeys(broken, 0)
            for name, result in after.items():
                is_late = result.is_broken and not results.get(name, CombatResult()).is_broken
                fate = result.disruption, result.is_broken, result.falls_back, is_late
                fates.setdefault(name, defaultdict(float))[fate] += share
                number[field.by_id[name].side] += result.is_broken
            for side, count in number.items():
                lost[side][count] += share
        broken = {side: _sum(chances, lost[side]) for side, chances in broken.items()}
    units = {
        unit.id: {
            "side": unit.side,
            **(scores[unit.id].to_json() if unit.id in scores else {}),
            **_fate(fates[unit.id], is_attacker=unit.id in met.contacts),
        }
        for unit in field.units
        if unit.id in fates
    }
    sides = {side: {"broken": number_json(chances)} for side, chances in broken.items()}
    precision = {} if is_exact else {"samples": SAMPLES, "plus_minus": round(PLUS_MINUS, 4)}
    document = {"game": GAME, "kind": "combat", "active": request.active}
    return document | precision | {"units": units, "sides": sides}


def _merged(sets: Iterable[set[str]]) -> list[set[str]]:
    """Merges sets that share a unit."""
    merged: list[set[str]] = []
    for units in sets:
        apart = [other for other in merged if other.isdisjoint(units)]
        merged = [*apart, units.union(*(other for other in merged if other not in apart))]
    return merged


def _sum(some: Mapping[int, float], more: Mapping[int, float]) -> dict[int, float]:
    """Returns the distribution of the sum of two independent numbers."""
    chances = _Shares(float)
    for number, share in some.items():
        for other, other_share in more.items():
            chances[number + other] += share * other_share
    return dict(chances)


_ROUNDING = 1e-9
_Shares = defaultdict[int, float]


_Result = tuple[int, int]
"""The disruption that a unit gains, and 1 if it breaks."""
_Melee = tuple[tuple[str, _Result], ...]

_RESULTS = {
    (gained, broken): CombatResult(gained, bool(broken))
    for gained in range(3)
    for broken in range(2)
}


def _results(values: Sequence[combat.CombatValue]) -> Chances[_Melee]:
    """Returns the chances of the results of a melee (M-8.20), before anyone falls back."""
    fighters = [value.fighter for value in values]
    names = tuple(fighter.id for fighter in fighters)
    dice, is_exact = throws(len(names))
    settled = settle(fighters, dice + np.array([value.value for value in values]))
    rows = counted(np.hstack([settled.gained, settled.is_broken]), is_exact=is_exact)
    chances = {
        tuple(zip(names, zip(row, row[len(names) :], strict=False), strict=True)): share
        for row, share in rows.of.items()
    }
    return Chances(chances, is_exact)


def _ways_back(
    field: Field, attackers: Collection[str]
) -> tuple[Callable[[Collection[str]], set[str]], WayBack]:
    """Returns two functions about ways straight back from a melee.

    The first names a melee's units and all that they may meet as both fall back; the second is
    `fall_back_path`, computed once for each set of units on a way.
    """
    table, nobody = field.position.table, CombatResult()
    far_mm = float(np.hypot(table.width_mm, table.depth_mm))
    behind = {
        name: shapely.buffer(swept_back(field.by_id[name], far_mm), TOUCH_MM + _SAFE_MM)
        for name in attackers
    }
    others = {
        name: [
            other.id
            for other in field.units
            if other.id != name and shapely.intersects(area, behind.get(other.id, other.outline))
        ]
        for name, area in behind.items()
    }
    ways: dict[tuple[str, tuple[tuple[str, float], ...]], FallBackPath] = {}

    def may_meet(melee: Collection[str]) -> set[str]:
        return set(melee).union(*(others[name] for name in melee if name in others))

    def way_back(field: Field, unit_id: str, before: Mapping[str, CombatResult]) -> FallBackPath:
        results = ((name, before.get(name, nobody)) for name in others[unit_id])
        on_way = tuple(
            (name, result.fall_back_mm) for name, result in results if not result.is_broken
        )
        if (unit_id, on_way) not in ways:
            # No other unit can matter, and the rule is faster on a small field.
            names = {unit_id, *(name for name, _ in on_way)}
            small = field.with_units(unit for unit in field.units if unit.id in names)
            ways[unit_id, on_way] = fall_back_path(small, unit_id, before)
        return ways[unit_id, on_way]

    return may_meet, way_back


_Fates = defaultdict[tuple[int, bool, bool, bool], float]
"""The chance of each fate of a unit: the disruption it gains, whether it breaks, whether it falls
back, and whether it breaks only then."""


def _fate(fates: _Fates, *, is_attacker: bool) -> Json:
    """Returns a unit's fate, results and falling back together.

    `breaks_falling_back` is the part of `breaks` not caused by results alone (M-8.20).
    """
    # Outcomes that do not touch a friend of the attackers omit it; otherwise the sum differs from 1
    # only by rounding.
    left_out = 1.0 - sum(fates.values())
    chances = _Shares(float, {0: left_out} if left_out > _ROUNDING else {})
    for (gained, *_), share in fates.items():
        chances[gained] += share
    _, breaks, falls_back, breaks_falling_back = (
        sum(share for fate, share in fates.items() if fate[place]) for place in range(4)
    )
    document: Json = {"disruption": number_json(chances), "breaks": breaks}
    if not is_attacker:
        return document
    return document | {"falls_back": falls_back, "breaks_falling_back": breaks_falling_back}


_LOSSES = ("breaks", "falls_back", "breaks_falling_back")
_LEAST = 0.0005
"""Smaller probabilities show as `<0.1`."""


def odds_tables(document: Mapping[str, Any]) -> Iterable[TextTable]:
    """Yields the tables of an odds document."""
    kind, units = document["kind"], document["units"]
    # Column heads: every disruption that some unit may gain or shed.
    named = {number for unit in units.values() for number in unit["disruption"]["chances"]}
    numbers = sorted(map(int, named), key=abs)
    heads = ["mean", *(f"{number:+d}" if number else "0" for number in numbers)]
    losses = {"combat": _LOSSES, "rally": ()}.get(kind, _LOSSES[:1])

    def shares(unit: Mapping[str, Any]) -> list[str]:
        chances, mean = unit["disruption"]["chances"], unit["disruption"]["expected"]
        gained = (percent(chances.get(str(number), 0)) for number in numbers)
        lost = (percent(unit[key]) if key in unit else "" for key in losses)
        return [f"{mean:+.2f}", *gained, *lost]

    share = "mean, and probabilities in %"
    if kind == "combat":
        yield _table(
            f"Odds of the combat, {side_name(document['active'])} active",
            f"disruption gained: {share} (0 if broken at once){_precision(document)}",
            ("unit", "value", "vs", *heads, "breaks", "falls\nback", "breaks\nby it"),
            (
                # Friends that are merely passed through do not fight.
                (name, str(unit.get("value", "")), ", ".join(enemies), *shares(unit))
                for name, unit in units.items()
                for enemies in [unit.get("engaged_with", ())]
            ),
        )
        yield _losses_table(document)
    elif kind == "rally":
        rows = ((name, f"{unit['needed']}+", *shares(unit)) for name, unit in units.items())
        yield _table(
            "Odds of the rally", f"disruption shed: {share}", ("unit", "needed", *heads), rows
        )
    else:
        title = "Odds of the bombardment" if kind == "bombard" else "Odds of the volley"
        yield _table(
            title,
            f"disruption gained: {share}",
            ("target", "dice", "hits", *heads, "breaks"),
            (
                (name, str(unit["dice"]), f"{unit['hits']['expected']:.2f}", *shares(unit))
                for name, unit in units.items()
            ),
        )


def percent(share: float) -> str:
    """Formats a probability in per cent: a possible event is never 0, an uncertain one never 100.

    >>> percent(0.5), percent(0.1234), percent(1e-9), percent(1 - 1e-9), percent(0), percent(1)
    ('50.0', '12.3', '<0.1', '>99.9', '0', '100')
    """
    if share in (0, 1):
        return f"{100 * share:.0f}"
    if share < _LEAST:
        return "<0.1"
    if share >= 1 - _LEAST:
        return ">99.9"
    return f"{100 * share:.1f}"


def _precision(document: Mapping[str, Any]) -> str:
    """Says how far sampled chances may be off; empty if all throws were counted."""
    if "samples" not in document:
        return ""
    off = percent(document["plus_minus"])
    return f"\n{document['samples']} throws sampled: each chance is within ± {off}"


def _losses_table(document: Mapping[str, Any]) -> TextTable:
    # Both sides have the same columns.
    most = max(int(n) for side in document["sides"].values() for n in side["broken"]["chances"])
    counts = [str(number) for number in range(most + 1)]
    rows = [
        (
            side_name(side),
            f"{lost['broken']['expected']:.2f}",
            *(percent(lost["broken"]["chances"].get(number, 0)) for number in counts),
        )
        for side, lost in document["sides"].items()
    ]
    caption = "how many: mean, and probabilities in %"
    return _table("Units broken in the combat", caption, ("side", "mean", *counts), rows)


def _table(
    title: str, caption: str, heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]
) -> TextTable:
    """Returns a table with right-aligned numbers that never wrap."""
    first, *others = heads
    numbers = frozenset(others) - {"vs"}
    return TextTable(title, heads, tuple(rows), caption, numbers, numbers | {first})


ODDS: Final = MauriceOdds()
"""The instance that `tablecam.rules.odds` discovers."""
