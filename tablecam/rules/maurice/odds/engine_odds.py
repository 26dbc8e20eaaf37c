"""Odds of Maurice Lite for callers that do not know the game: documents, and tables of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from tablecam.documents import Document
from tablecam.rules.maurice.field.field import GAME, Field, field_of
from tablecam.rules.maurice.field.requests import request_of
from tablecam.rules.maurice.fire.fire import fire_of
from tablecam.rules.maurice.odds.odds import odds
from tablecam.rules.odds import OddsReport
from tablecam.rules.reports import TextTable
from tablecam.table.model import Position
from tablecam.table.sides import side_name

Json = dict[str, Any]


class MauriceOdds:
    """Maurice Lite as `tablecam.rules.odds.Odds`."""

    game: Final = GAME

    def odds(self, position: Position, request: Document, source: str = "table") -> OddsReport:
        """Returns the odds of a request, or of a unit's whole fire at another.

        `{"kind": "volley", "unit": "F1", "target": "B1"}` fires with each of the unit's bases that
        may choose the target.

        Raises:
            BadInput: As for `requests.request_of` and `odds.odds`.
        """
        field = field_of(position, source)
        if "target" in request.data:
            request = replace(request, data=_whole_fire(field, request))
        document = odds(field, request_of(request, field, with_dice=False))
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


_LEAST = 0.0005
"""Smaller probabilities show as `<0.1`."""
_GAINED = "disruption gained: mean, and probabilities in %"
_FALLING_BACK = ("falls_back", "breaks_falling_back")


def odds_tables(document: Mapping[str, Any]) -> Iterable[TextTable]:
    """Yields the tables of an odds document."""
    if document["kind"] == "combat":
        yield _combat(document)
        yield _losses(document)
    elif document["kind"] == "rally":
        yield _rally(document)
    else:
        yield _volley(document)


def percent(share: float) -> str:
    """Formats a probability in per cent: what can happen is never 0, what can fail never 100.

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


def _volley(document: Mapping[str, Any]) -> TextTable:
    title = "Odds of the bombardment" if document["kind"] == "bombard" else "Odds of the volley"
    heads = ("target", "dice", "hits", "mean", *_heads(document), "breaks")
    rows = [
        (
            name,
            str(unit["dice"]),
            f"{unit['hits']['expected']:.2f}",
            *_gained(unit, document),
            percent(unit["breaks"]),
        )
        for name, unit in document["units"].items()
    ]
    return _table(title, _GAINED, heads, rows)


def _combat(document: Mapping[str, Any]) -> TextTable:
    title = f"Odds of the combat, {side_name(document['active'])} active"
    caption = f"{_GAINED} (0 if broken at once){_precision(document)}"
    ends = ("breaks", "falls\nback", "breaks\nby it")
    heads = ("unit", "value", "vs", "mean", *_heads(document), *ends)
    rows = [
        (
            name,
            # Friends that are only passed through do not fight.
            str(unit["value"]) if "value" in unit else "",
            ", ".join(unit.get("engaged_with", ())),
            *_gained(unit, document),
            percent(unit["breaks"]),
            *(percent(unit[key]) if key in unit else "" for key in _FALLING_BACK),
        )
        for name, unit in document["units"].items()
    ]
    return _table(title, caption, heads, rows)


def _precision(document: Mapping[str, Any]) -> str:
    """Says how far sampled chances may be off; nothing where all throws were counted."""
    if "samples" not in document:
        return ""
    off = percent(document["plus_minus"])
    return f"\n{document['samples']} throws sampled: each chance is within ± {off}"


def _losses(document: Mapping[str, Any]) -> TextTable:
    # Both sides share their columns.
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


def _rally(document: Mapping[str, Any]) -> TextTable:
    heads = ("unit", "needed", "mean", *_heads(document))
    rows = [
        (name, f"{unit['needed']}+", *_gained(unit, document))
        for name, unit in document["units"].items()
    ]
    caption = "disruption shed: mean, and probabilities in %"
    return _table("Odds of the rally", caption, heads, rows)


def _heads(document: Mapping[str, Any]) -> list[str]:
    """Returns the disruption numbers that any unit may gain or shed, as column heads."""
    units = document["units"].values()
    numbers = {int(number) for unit in units for number in unit["disruption"]["chances"]}
    return [f"{number:+d}" if number else "0" for number in sorted(numbers, key=abs)]


def _gained(unit: Mapping[str, Any], document: Mapping[str, Any]) -> list[str]:
    chances = unit["disruption"]["chances"]
    # The document's numbers have no plus sign.
    shares = [chances.get(head.lstrip("+"), 0) for head in _heads(document)]
    return [f"{unit['disruption']['expected']:+.2f}", *(percent(share) for share in shares)]


def _table(
    title: str, caption: str, heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]
) -> TextTable:
    """Returns a table whose numbers stand to the right and never break."""
    first, *others = heads
    numbers = frozenset(others) - {"vs"}
    return TextTable(title, heads, tuple(rows), caption, numbers, numbers | {first})


ODDS: Final = MauriceOdds()
"""The instance that `tablecam.rules.odds` discovers."""
