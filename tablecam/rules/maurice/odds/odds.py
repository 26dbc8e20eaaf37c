"""The odds of a request: exact chances of all that its dice can lead to, before any is thrown.

Fire and rally: every die is a try of its own, so numbers of successes are convolved
(`odds_shots.py`). A shot disrupts with the chance to hit times the chance to disrupt (M-7.23,
M-7.25); a unit breaks where its level and what it gains exceed its bases (M-1.14).

Combat: units share dice through their enemies, so chances of different units cannot be
multiplied. Scores, results (`odds_combat.py`) and falling back (`odds_fates.py`) make a network of
variables; `odds_chances.py` sums it up exactly, one variable at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, assert_never

import numpy as np
import shapely

from tablecam.rules.maurice.combat.combat import (
    Meeting,
    check_combat,
    fall_back_order,
    meeting,
    scores_of,
)
from tablecam.rules.maurice.combat.rally import rallying
from tablecam.rules.maurice.combat.score import Value
from tablecam.rules.maurice.field.field import GAME, Field
from tablecam.rules.maurice.field.requests import Combat, Rally, Request, Volley
from tablecam.rules.maurice.field.results import is_broken
from tablecam.rules.maurice.fire.volley import Shot, shot_list
from tablecam.rules.maurice.odds.chances import distribution
from tablecam.rules.maurice.odds.combat import Combatant, fights
from tablecam.rules.maurice.odds.document import (
    attacker_json,
    broken_json,
    fate_json,
    number_json,
)
from tablecam.rules.maurice.odds.fates import fates
from tablecam.rules.maurice.odds.shots import chance_of, successes
from tablecam.rules.maurice.odds.ways import FieldGround

Json = dict[str, Any]


def odds(field: Field, request: Request) -> Json:
    """The chances of all that a request can lead to.

    `disruption` is what a unit gains (negative: sheds), as resolutions count it: none where it is
    broken outright.

    Raises:
        BadInput: What is asked for is not allowed, as when it is resolved.
    """
    if isinstance(request, Volley):
        return _volley(field, request)
    if isinstance(request, Combat):
        return _combat(field, request)
    if isinstance(request, Rally):
        return _rally(field, request)
    assert_never(request)


def _volley(field: Field, request: Volley) -> Json:
    shots = shot_list(field, request)
    targets = dict.fromkeys(shot.target for shot in shots)
    units = {
        target: _target(field, target, [shot for shot in shots if shot.target == target])
        for target in targets
    }
    listed = [shot.to_json() for shot in shots]
    return {"game": GAME, "kind": request.kind, "shots": listed, "units": units}


def _target(field: Field, target: str, shots: Sequence[Shot]) -> Json:
    unit = field.by_id[target]
    dice = [shot for shot in shots for _ in range(shot.dice)]
    hit = [chance_of(each.to_hit) for each in dice]
    gained = successes(
        chance * chance_of(each.disrupt_on) for chance, each in zip(hit, dice, strict=True)
    )
    breaks = sum(
        share
        for number, share in gained.items()
        if is_broken(unit.disruption + number, len(unit.bases))
    )
    return {
        "dice": len(dice),
        "disrupt_on": dice[0].disrupt_on,
        "hits": number_json(successes(hit)),
        "disruption": number_json(gained),
        "breaks": breaks,
    }


def _combat(field: Field, request: Combat) -> Json:
    met = meeting(field, request.active)
    check_combat(request, met)
    scores = scores_of(field, met, request.cards)
    parts = fights(_combatant(field, name, value, met) for name, value in scores.items())
    order = fall_back_order(field, request, met.contacts)
    ends = fates(parts, order, FieldGround(field))
    units: Json = {}
    for name in (unit.id for unit in field.units if unit.id in ends):
        said = _value(scores[name]) if name in scores else {}
        chances = distribution(ends[name])
        becomes = (
            attacker_json(chances, distribution(parts[name].harm))
            if name in met.contacts
            else fate_json(chances)
        )
        units[name] = {"side": field.by_id[name].side, **said, **becomes}
    along = _along_the_front(field, ends)
    sides: Json = {}
    for side in dict.fromkeys(field.by_id[name].side for name in ends):
        of_side = [name for name in along if field.by_id[name].side == side]
        sides[side] = {"broken": broken_json(ends, of_side)}
    return {
        "game": GAME,
        "kind": "combat",
        "active": request.active,
        "units": units,
        "sides": sides,
    }


def _combatant(field: Field, name: str, value: Value, met: Meeting) -> Combatant:
    unit = field.by_id[name]
    return Combatant(
        name,
        name in met.contacts,
        value.value,
        unit.disruption,
        len(unit.bases),
        value.engaged_with,
        met.contacts.get(name, ()),
    )


def _along_the_front(field: Field, unit_ids: Iterable[str]) -> list[str]:
    """Units from one end of the fight to the other.

    Added up in this order, those that hang together follow each other, and tables stay small.
    """
    names = list(unit_ids)
    middles = shapely.get_coordinates(
        shapely.centroid([field.by_id[name].outline for name in names])
    )
    longer = int(np.argmax(np.ptp(middles, axis=0)))
    return [names[place] for place in np.argsort(middles[:, longer], kind="stable")]


def _value(value: Value) -> Json:
    return {
        "basic": value.basic,
        "modifiers": dict(value.modifiers),
        "value": value.value,
        "engaged_with": list(value.engaged_with),
        "because": list(value.because),
    }


def _rally(field: Field, request: Rally) -> Json:
    found = rallying(field, request)
    shed = successes([chance_of(found.needed)] * found.dice)
    unit = {
        "basic": found.basic,
        "modifiers": dict(found.modifiers),
        "needed": found.needed,
        "disruption": number_json({-number: share for number, share in shed.items()}),
    }
    return {"game": GAME, "kind": "rally", "units": {found.unit: unit}}
