"""Rulings as tables and sentences that a person reads: plain strings, whoever prints them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tablecam.measure.answer import Answer
from tablecam.rules.maurice.narrowing import keys_under
from tablecam.rules.maurice.near import Near
from tablecam.rules.maurice.pairs import Pair
from tablecam.rules.maurice.readings import readings_of
from tablecam.rules.maurice.ruled import Rulings, UnitRulings
from tablecam.rules.maurice.tables import NEAR_BW

Column = tuple[str, str, Callable[[UnitRulings], str]]
"""What heads it, the key that it shows, and how it tells of a unit."""

_NOTHING = "-"
_SHOWN_PAIRS_BW = 2 * NEAR_BW


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table: its title, what heads each column, and its rows."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def tables_of(found: Rulings, *, rule: str | None = None) -> tuple[TextTable, ...]:
    """The tables that have something to say; under one rule, those that answer it."""
    keys = None if rule is None else keys_under(rule)
    made = (_units(found, keys), _forces(found, keys), _pairs(found, keys))
    return tuple(table for table in made if table.rows and len(table.heads) > 1)


def notes_of(found: Rulings, *, rule: str | None = None) -> tuple[str, ...]:
    """What is too close to call, the readings that decide, and what is odd about the position."""
    close = [f"{each.rule}: {each.because}" for each in _close(found)]
    read = [f"{about}, as read: {said}" for about, said in readings_of(found).items()]
    notes = [note for note in (*close, *read) if rule is None or note.startswith(rule.upper())]
    return (*dict.fromkeys(notes), *(f"warning: {each}" for each in found.field.warnings))


def sentences_of(found: Rulings, a_id: str, b_id: str) -> tuple[str, ...]:
    """Why it is so with two units: contact, flank, or the link of a force."""
    return tuple(f"{each.rule}: {each.because}" for each in found.answers_about(a_id, b_id))


def _close(found: Rulings) -> Iterator[Answer]:
    for each in found.units.values():
        if each.near.answer.answer == "too_close":
            yield each.near.answer
    yield from found.doubts


def _units(found: Rulings, keys: frozenset[str] | None) -> TextTable:
    columns: tuple[Column, ...] = (
        ("formation\nM-1.7", "formation", lambda each: each.unit.formation),
        ("near\nM-1.9", "near_enemy", lambda each: _near(each.near)),
        ("in contact\nM-1.10", "in_contact", lambda each: _ids(each.in_contact)),
        ("flanked by\nM-1.13", "flanked_by", lambda each: _ids(each.flanked_by)),
        ("ground\nM-5.3 M-5.6", "bad_terrain", _ground),
    )
    shown = [column for column in columns if keys is None or column[1] in keys]
    rows = tuple(
        (each.unit.side, unit_id, *(cell(each) for _, _, cell in shown))
        for unit_id, each in found.units.items()
    )
    heads = ("side", "unit", *(head for head, _, _ in shown))
    return TextTable("Units", heads if shown else (), rows)


def _near(near: Near) -> str:
    if near.nearest is None or near.distance_bw is None:
        return "no"
    word = near.answer.answer.replace("_", " ")
    return f"{word}  {near.nearest} {near.distance_bw:.2f} BW"


def _ground(found: UnitRulings) -> str:
    bad = "bad terrain" if found.unit.is_in_difficult else ""
    water = "in water" if found.unit.is_in_water else ""
    return ", ".join(part for part in (bad, water) if part) or _NOTHING


def _forces(found: Rulings, keys: frozenset[str] | None) -> TextTable:
    rows = tuple(
        (side, ", ".join(force), _kind(found, force))
        for side, of_side in found.forces.items()
        for force in of_side
    )
    shown = keys is None or "forces" in keys
    return TextTable("Forces (M-1.15)", ("side", "units", "of"), rows if shown else ())


def _kind(found: Rulings, force: tuple[str, ...]) -> str:
    first = found.field.by_id[force[0]]
    ground = ", difficult ground" if first.is_in_difficult else ""
    arm = first.unit.arm
    formation = "" if first.formation == arm else f" in {first.formation}"
    return f"{arm}{formation}{ground}"


def _pairs(found: Rulings, keys: frozenset[str] | None) -> TextTable:
    few = {unit for pair in found.pairs for unit in pair.ids} - found.units.keys()
    limit_mm = _SHOWN_PAIRS_BW * found.field.bw_mm
    near = [pair for pair in found.pairs if few or pair.distance_mm <= limit_mm]
    if len(found.units) <= 2:
        near = list(found.pairs)
    rows = tuple(_pair_row(found, pair) for pair in near)
    shown = keys is None or "pairs" in keys
    within = f" within {_SHOWN_PAIRS_BW:g} BW" if len(near) < len(found.pairs) else ""
    heads = ("seen from", "enemy", "apart", "lies\nM-1.11", "to the flank\nM-1.12")
    return TextTable(f"Pairs{within}", heads, rows if shown else ())


def _pair_row(found: Rulings, pair: Pair) -> tuple[str, ...]:
    answer = pair.to_flank
    apart = f"{found.field.in_bw(pair.distance_mm):.2f} BW"
    sigma = f" ± {pair.sigma_mm:.1f} mm" if pair.sigma_mm else ""
    by = f"{answer.answer.replace('_', ' ')}, by {abs(answer.margin_mm):.1f} mm"
    return pair.a.id, pair.b.id, apart + sigma, pair.b_is, by


def _ids(ids: tuple[str, ...]) -> str:
    return ", ".join(ids) or _NOTHING
