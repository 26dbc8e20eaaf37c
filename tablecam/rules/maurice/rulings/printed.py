"""Rulings as tables and notes for a terminal, and as a drawing with its legend."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, compress
from typing import Final

from tablecam.geometry.shapes import LegendEntry, Shape, TableDrawing, shapes_of
from tablecam.rules.maurice.charge.charge import ChargeLane
from tablecam.rules.maurice.field.field import UnitOnField
from tablecam.rules.maurice.field.tables import NEAR_BW
from tablecam.rules.maurice.fire.fire import FireOption
from tablecam.rules.maurice.movement.reach import reach
from tablecam.rules.maurice.place.flank import UnitPair
from tablecam.rules.maurice.place.forces import are_linked
from tablecam.rules.maurice.place.near import NearEnemy
from tablecam.rules.maurice.rulings.facts import ForcePath, Rulings, UnitRulings
from tablecam.rules.maurice.rulings.interpretations import readings_of
from tablecam.rules.maurice.rulings.rulings import keys_under
from tablecam.rules.reports import TextTable, attempt, is_under
from tablecam.table.sides import side_name
from tablecam.uncertainty.illustration import illustration
from tablecam.uncertainty.lengths import distance

Column = tuple[str, str, Callable[[UnitRulings], str]]
"""Head, document key and cell text of a column."""

NOTHING = "-"
_WHOLE = frozenset({"side", "unit"})
"""Columns whose words are not broken, however narrow the window is."""
_SHOWN_PAIRS_BW = 2 * NEAR_BW
_FEW_PAIRS = 12
"""Beyond this number only close pairs are shown."""


def rulings_tables(rulings: Rulings, *, rule: str | None = None) -> tuple[TextTable, ...]:
    """Returns the tables with content; under one rule, those that answer it."""
    keys = keys_under(rule)
    tables = [_units(rulings, keys, all_columns=rule is not None)]
    tables += [make(rulings) for key, make in _TABLES if key in keys]
    return tuple(table for table in tables if table.rows and table.heads)


def rulings_notes(rulings: Rulings, *, rule: str | None = None) -> tuple[str, ...]:
    """Returns close calls, interpretations that decide, and warnings about the position."""
    close = [(answer.rule, f"{answer.rule}: {answer.because}") for answer in rulings.close_calls]
    read = [
        (about, f"{about}, interpretation: {text}") for about, text in readings_of(rulings).items()
    ]
    notes = []
    for title, group in (("Too close to call", close), ("Interpretation", read)):
        matching = [note for about, note in group if rule is None or is_under(rule, about)]
        notes += [title, *(f"  {note}" for note in dict.fromkeys(matching)), ""] if matching else []
    return (*notes, *(f"warning: {warning}" for warning in rulings.field.warnings))


def _units(rulings: Rulings, keys: frozenset[str], *, all_columns: bool) -> TextTable:
    """Returns the table of units, without columns that are empty throughout unless requested."""
    shown = [
        column
        for column in _UNIT_COLUMNS
        if column[1] in keys
        and (
            all_columns or any(column[2](of_unit) != NOTHING for of_unit in rulings.units.values())
        )
    ]
    rows = tuple(
        (side_name(of_unit.unit.side), unit_id, *(cell(of_unit) for _, _, cell in shown))
        for unit_id, of_unit in rulings.units.items()
    )
    heads = ("side", "unit", *(head for head, _, _ in shown))
    return TextTable("Units", heads if shown else (), rows, whole=_WHOLE)


def _near(near: NearEnemy) -> str:
    if near.nearest is None or near.distance_bw is None:
        return "no"
    word = near.answer.answer.replace("_", " ")
    return f"{word}: {near.nearest}, {near.distance_bw:.2f} BW"


def _ground(of_unit: UnitRulings) -> str:
    bad, water = of_unit.unit.is_in_difficult, of_unit.unit.is_in_water
    return ", ".join(compress(("bad terrain", "in water"), (bad, water))) or NOTHING


def _ids(ids: tuple[str, ...]) -> str:
    return ", ".join(ids) or NOTHING


_UNIT_COLUMNS: tuple[Column, ...] = (
    ("formation\nM-1.7", "formation", lambda of_unit: of_unit.unit.formation),
    ("near\nM-1.9", "near_enemy", lambda of_unit: _near(of_unit.near)),
    ("contact\nM-1.10", "in_contact", lambda of_unit: _ids(of_unit.in_contact)),
    ("flanked by\nM-1.13", "flanked_by", lambda of_unit: _ids(of_unit.flanked_by)),
    ("engaged\nM-8.10", "engaged_with", lambda of_unit: _ids(of_unit.engaged_with)),
    ("ground\nM-5.3", "bad_terrain", _ground),
    ("moves\nM-6.2", "allowance_bw", lambda of_unit: f"{of_unit.allowance_bw:g} BW"),
)


def _fire(rulings: Rulings) -> TextTable:
    """Returns the table of fire; bases of a unit with the same choices share a row."""
    rows: list[tuple[str, ...]] = []
    for unit_id, of_unit in rulings.units.items():
        by_choice: dict[tuple[tuple[str, ...], ...], list[str]] = {}
        for name, fire in of_unit.fire.items():
            choice = tuple(map(_option, fire.options)) or ((f"none: {fire.blocked}",),)
            by_choice.setdefault(choice, []).append(name)
        for choice, names in by_choice.items():
            for place, cells in enumerate(choice):
                first = (unit_id, _bases(of_unit.unit, names)) if place == 0 else ("", "or")
                rows.append((*first, *cells, *[""] * (5 - len(cells))))
    heads = ("unit", "bases", "target", "range\nM-7.9", "zone\nM-7.12", "to hit\nM-7.23", "counts")
    return TextTable("Fire", heads, tuple(rows), whole=_WHOLE)


def _bases(unit: UnitOnField, names: Sequence[str]) -> str:
    """Returns base names in short form: those without tags by their numbers."""
    if len(names) == len(unit.bases) > 1:
        return f"all {len(names)}"
    return ", ".join(name.removeprefix(f"{unit.id}/") for name in names)


def _option(option: FireOption) -> tuple[str, ...]:
    turned = "" if option.angle == "ahead" else f" {abs(option.turned_deg):.0f}°"
    dice = f"{option.dice} dice, " if option.dice > 1 else ""
    counts = ", ".join(term.clause for term in option.modifiers)
    to_hit = f"{dice}{option.to_hit}+"
    return option.target, option.range, f"{option.angle}{turned}", to_hit, counts or NOTHING


def _charge(rulings: Rulings) -> TextTable:
    rows: list[tuple[str, ...]] = []
    field = rulings.field
    for unit_id, of_unit in rulings.units.items():
        if of_unit.unit.side != rulings.active:
            continue
        if not of_unit.charge.is_eligible:
            rows.append((unit_id, NOTHING, str(of_unit.charge.why_not or ""), ""))
        rows.extend(
            (unit_id, lane.target, move.words(field.bw_mm), f"{field.in_bw(move.cost_mm):.2f} BW")
            for lane in of_unit.charge.lanes
            for move in [lane.move]
        )
    heads = ("unit", "target", "how, or why not", "costs")
    return TextTable("Charge (M-8.3)", heads, tuple(rows), whole=_WHOLE)


def _forces(rulings: Rulings) -> TextTable:
    strings = {string.force: string for string in rulings.paths}
    rows = tuple(
        (side_name(side), ", ".join(force), _kind(rulings, force), _string(strings.get(force)))
        for side, of_side in rulings.forces.items()
        for force in of_side
    )
    string = f"from {side_name(rulings.active)} commander\nM-4.11"
    return TextTable("Forces", ("side", "units\nM-1.15", "of", string), rows, whole=_WHOLE)


def _kind(rulings: Rulings, force: tuple[str, ...]) -> str:
    first = rulings.field.by_id[force[0]]
    ground = ", difficult ground" if first.is_in_difficult else ""
    arm = first.unit.arm
    formation = "" if first.formation == arm else f", {first.formation}"
    return f"{arm}{formation}{ground}"


def _string(string: ForcePath | None) -> str:
    if string is None:
        return NOTHING
    if string.span is None:
        return "blocked by enemies"
    spread = f" ± {string.span.sigma_mm:.1f} mm" if string.span.sigma_mm else ""
    return f"{string.span.length_bw:.2f} BW{spread}, to {string.span.unit}"


def _pairs(rulings: Rulings) -> TextTable:
    limit_mm = _SHOWN_PAIRS_BW * rulings.field.bw_mm
    near = [pair for pair in rulings.pairs if pair.distance_mm <= limit_mm]
    shown = rulings.pairs if len(rulings.pairs) <= _FEW_PAIRS else near
    within = f" within {_SHOWN_PAIRS_BW:g} BW" if len(shown) < len(rulings.pairs) else ""
    heads = ("seen from", "enemy", "apart", "lies to its\nM-1.11", "to the flank\nM-1.12")
    return TextTable(f"Pairs{within}", heads, tuple(_pair_row(rulings, pair) for pair in shown))


def _pair_row(rulings: Rulings, pair: UnitPair) -> tuple[str, ...]:
    answer = pair.to_flank
    apart = f"{rulings.field.in_bw(pair.distance_mm):.2f} BW"
    sigma = f" ± {pair.sigma_mm:.1f} mm" if pair.sigma_mm else ""
    by = f"{answer.answer.replace('_', ' ')}, by {abs(answer.margin_mm):.1f} mm"
    return pair.a.id, pair.b.id, apart + sigma, pair.b_is, by


_TABLES: tuple[tuple[str, Callable[[Rulings], TextTable]], ...] = (
    ("fire", _fire),
    ("charge", _charge),
    ("forces", _forces),
    ("pairs", _pairs),
)


# --- the drawing -------------------------------------------------------------------------------


Act = FireOption | ChargeLane

_LEGEND: Final[tuple[LegendEntry, ...]] = (
    ("near_enemy", "length", "near the enemy (M-1.9)"),
    ("in_contact", "contact", "contact (M-1.10)"),
    ("pairs", "directly-in-front", "directly in front (M-1.12)"),
    ("pairs", "counts", "base wholly behind the front line"),
    ("pairs", "intrusion", "the part that is directly in front"),
    ("fire", "fire-zone", "zone of fire (M-7.11)"),
    ("fire", "line-of-fire", "a line that avoids all cover (M-7.19)"),
    ("fire", "cover", "terrain that gives cover (M-7.19)"),
    ("charge", "lane", "charge (M-8.5)"),
    ("engaged_with", "line-of-attack", "engaged within 1 BW (M-8.12)"),
    ("allowance_bw", "reach", "reach of a march (M-6.2)"),
    ("forces", "link", "linked in a force (M-1.15)"),
    ("spans", "string", "distance from the commander (M-4.12)"),
)


def rulings_drawing(rulings: Rulings, *, rule: str | None = None) -> TableDrawing:
    """Returns what the drawing of rulings shows; of a few units it is a close-up.

    For a pair the drawing shows the second unit as seen by the first.
    """
    keys, nothing = keys_under(rule), tuple[Shape, ...]()
    # A dict removes duplicates and keeps the order.
    shapes = {
        (key, shape): None
        for key, draw in _DRAWERS
        if key in keys
        for shape in attempt(key, partial(tuple[Shape, ...], draw(rulings)), nothing)
    }
    drawn = {(key, shape.role) for key, shape in shapes}
    nearest = (of_unit.near.nearest for of_unit in rulings.units.values())
    return TableDrawing(
        tuple(shapes),
        tuple(entry for entry in _LEGEND if entry[:2] in drawn),
        {unit.id: f"{unit.id} {'•' * unit.disruption}".rstrip() for unit in rulings.field.units},
        rulings.active,
        {*rulings.units, *filter(None, nearest)} if rulings.is_close_up else (),
    )


def _shown(rulings: Rulings, acts: Callable[[UnitRulings], Iterable[Act]]) -> Iterator[Shape]:
    """Draws shots or charges of the active side or of the units asked about.

    Of a pair only those at each other.
    """
    is_pair = rulings.is_close_up and len(rulings.units) > 1
    for of_unit in rulings.units.values():
        if rulings.is_close_up or of_unit.unit.side == rulings.active:
            for act in acts(of_unit):
                if not is_pair or act.target in rulings.units:
                    yield from act.evidence


def _draw_reach(rulings: Rulings) -> Iterator[Shape]:
    """Draws a march's reach, if only one unit is requested."""
    if rulings.is_close_up and len(rulings.units) == 1:
        for of_unit in rulings.units.values():
            yield from shapes_of(reach(rulings.field, of_unit.unit), "reach")


def _draw_near(rulings: Rulings) -> Iterator[Shape]:
    """Draws the ring of one requested unit, or the shortest lines of all, each once."""
    lines = set()
    for of_unit in rulings.units.values():
        if rulings.is_close_up and len(rulings.units) == 1:
            yield from illustration(rulings.field.position, of_unit.unit.unit, ranges=(NEAR_BW,))
        for shape in of_unit.near.answer.evidence:
            ends = frozenset(shape.points_mm)
            # Units in contact have a line of no length; the contact shape shows more.
            if of_unit.near.is_near and len(ends) > 1 and ends not in lines:
                lines.add(ends)
                yield shape


def _draw_contacts(rulings: Rulings) -> Iterator[Shape]:
    for (a_id, b_id), contact in rulings.contacts.contacts.items():
        if a_id in rulings.units or b_id in rulings.units:
            yield from contact.answer.evidence


def _draw_flanks(rulings: Rulings) -> Iterator[Shape]:
    """Draws a pair's flank, or those of all flanked units."""
    if rulings.is_close_up and len(rulings.units) > 1:
        for pair in rulings.pairs[:1]:
            yield from pair.to_flank.evidence
        return
    for pair in rulings.pairs:
        flanked = rulings.units.get(pair.a.id)
        if flanked is not None and pair.b.id in flanked.flanked_by:
            yield from pair.to_flank.evidence


def _draw_engaged(rulings: Rulings) -> Iterator[Shape]:
    for (attacker, defender), engagement in rulings.engagements.pairs.items():
        if engagement.how == "near" and (attacker in rulings.units or defender in rulings.units):
            yield from engagement.evidence


def _draw_links(rulings: Rulings) -> Iterator[Shape]:
    """Draws the links between units of a force."""
    for a, b in rulings.pairs_in_force:
        if are_linked(rulings.field, a, b):
            length = distance(a.unit, b.unit)
            yield Shape("line", (length.from_mm, length.to_mm), "link")


_DRAWERS: tuple[tuple[str, Callable[[Rulings], Iterator[Shape]]], ...] = (
    ("allowance_bw", _draw_reach),
    ("pairs", _draw_flanks),
    (
        "fire",
        partial(_shown, acts=lambda unit: chain(*(base.options for base in unit.fire.values()))),
    ),
    ("charge", partial(_shown, acts=lambda unit: unit.charge.lanes)),
    ("engaged_with", _draw_engaged),
    ("forces", _draw_links),
    ("spans", lambda rulings: (way.span.path for way in rulings.paths if way.span)),
    ("near_enemy", _draw_near),
    ("in_contact", _draw_contacts),
)
