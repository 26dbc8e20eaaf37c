"""Odds of Maurice Lite for the engine: of a request, or of one unit's whole fire at another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tablecam.documents import document_from
from tablecam.errors import BadInput
from tablecam.rules.maurice.field.field import GAME, Field, field_of
from tablecam.rules.maurice.field.requests import request_of
from tablecam.rules.maurice.fire.fire import fire_of
from tablecam.rules.maurice.odds.odds import odds
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
