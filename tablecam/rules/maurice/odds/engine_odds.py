"""Odds of Maurice Lite for the engine: of a request, or of one unit's whole fire at another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tablecam.documents import document_from
from tablecam.errors import BadInput
from tablecam.rules.descriptions import OddsTable
from tablecam.rules.maurice.field.field import GAME, Field, field_of
from tablecam.rules.maurice.field.requests import request_of
from tablecam.rules.maurice.fire.fire import fire_of
from tablecam.rules.maurice.odds.odds import odds
from tablecam.rules.maurice.odds.table import percent
from tablecam.table.model import Position

Json = dict[str, Any]

_SOURCE: Final = "odds"


class MauriceOdds:
    """Maurice Lite as `tablecam.rules.odds.Odds`."""

    game: Final = GAME

    def odds(self, position: Position, wanted: Mapping[str, Any]) -> Json:
        """Returns the odds of a request, or of a unit's whole fire at another.

        `{"kind": "volley", "unit": "F1", "target": "B1"}` fires with each of the unit's bases that
        may choose the target.

        Raises:
            BadInput: As for `requests.request_of` and `odds.odds`.
        """
        field = field_of(position, "table")
        if "target" in wanted:
            wanted = _whole_fire(field, wanted)
        return odds(field, request_of(document_from(dict(wanted), _SOURCE), field, with_dice=False))

    def table(self, document: Mapping[str, Any]) -> OddsTable:
        """Returns each unit's chances to gain or lose disruptions, and to break."""
        units: Mapping[str, Json] = document["units"]
        numbers = sorted(
            {int(number) for unit in units.values() for number in unit["disruption"]["chances"]},
            key=abs,
        )
        breaks = any("breaks" in unit for unit in units.values())
        precision = f", ± {percent(document['plus_minus'])} %" if "plus_minus" in document else ""
        return OddsTable(
            f"Disruption by the {document['kind']}{precision}",
            ("mean", *(f"{number:+d}" if number > 0 else str(number) for number in numbers))
            + ("breaks",) * breaks,
            tuple((name, *_cells(unit, numbers, breaks)) for name, unit in units.items()),
        )


def _cells(unit: Json, numbers: Sequence[int], breaks: bool) -> tuple[str, ...]:
    """Returns a unit's mean disruption, and the chances of each number in per cent."""
    chances = unit["disruption"]["chances"]
    shares = [chances.get(str(number), 0.0) for number in numbers]
    shares += [unit.get("breaks", 0.0)] * breaks
    return f"{unit['disruption']['expected']:.2f}", *(f"{percent(share)} %" for share in shares)


def _whole_fire(field: Field, request: Mapping[str, Any]) -> Json:
    """Expands a unit's fire at another into a request that names all its bases."""
    unit, target = field.by_id.get(request.get("unit", "")), request["target"]
    if unit is None or target not in field.by_id:
        raise BadInput(_SOURCE, "expected two units on the table, one to fire at the other")
    bases = [
        name
        for name, fire in fire_of(field, unit).items()
        if any(option.target == target for option in fire.options)
    ]
    if not bases:
        raise BadInput(_SOURCE, f"{unit.id} may not fire at {target} from where it is")
    shots = [{"unit": unit.id, "targets": dict.fromkeys(bases, target)}]
    return {"kind": request.get("kind", "volley"), "side": unit.side, "shots": shots}


ODDS: Final = MauriceOdds()
"""The instance that `tablecam.rules.odds` discovers."""
