"""All rulings that follow from a position alone: a JSON document, tables, notes and a drawing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, compress
from types import MappingProxyType
from typing import Any, Final

from tablecam.documents import Json
from tablecam.geometry.shapes import LegendEntry, Shape, TableDrawing, shapes_of
from tablecam.rules.maurice.charge.charge import Charge, ChargeLane
from tablecam.rules.maurice.combat.engagement import NEAR_RULE as TWO_LINES_RULE
from tablecam.rules.maurice.field.field import GAME, Field, UnitOnField
from tablecam.rules.maurice.field.tables import NEAR_BW
from tablecam.rules.maurice.fire.targets import FireOption
from tablecam.rules.maurice.movement.judge import reach
from tablecam.rules.maurice.place.contacts import UnitPair
from tablecam.rules.maurice.place.ranges import NearEnemy, are_linked, least_cards
from tablecam.rules.maurice.rulings.facts import ForcePath, Rulings, UnitRulings
from tablecam.rules.maurice.rulings.interpretations import readings_of
from tablecam.rules.reports import TextTable, attempt, is_under
from tablecam.table.sides import side_name
from tablecam.uncertainty.illustration import illustration
from tablecam.uncertainty.lengths import distance

RULES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "formation": ("M-1.7",),
        "near_enemy": ("M-1.9",),
        "in_contact": ("M-1.10",),
        "flanked_by": ("M-1.13",),
        "bad_terrain": ("M-5.3",),
        "in_water": ("M-5.6",),
        "allowance_bw": ("M-6.2", "M-6.11", "M-6.19"),
        "reach": ("M-6.2", "M-6.11", "M-6.19"),
        "fire": tuple(f"M-7.{number}" for number in (*range(6, 8), *range(9, 25))),
        "charge": ("M-8.3", "M-8.4", "M-8.5", "M-8.6", "M-8.7", "M-8.8"),
        "engaged_with": ("M-8.10", "M-8.11", "M-8.12"),
        "forces": ("M-1.15",),
        "spans": ("M-4.11", "M-4.12"),
        "pairs": ("M-1.11", "M-1.12"),
    }
)
"""The keys of the rulings document, with the rules that each answers."""

_ALWAYS = frozenset({"game", "active", "units", "warnings", "side"})


def rulings_document(ruled: Rulings) -> Json:
    """Serialises rulings; unknown ones are null and listed under `not_known`."""
    ruled.ask_all()
    units = {unit_id: _unit_json(ruled, of_unit) for unit_id, of_unit in ruled.units.items()}
    paths, pairs, not_known = ruled.paths, ruled.pairs, ruled.not_known
    document: Json = {
        "game": GAME,
        "active": ruled.active,
        "units": units,
        "forces": {side: [list(force) for force in of] for side, of in ruled.forces.items()},
        "spans": None
        if "span" in not_known
        else [_string_json(ruled.field, string) for string in paths],
        "pairs": None if "flank" in not_known else [pair.to_json() for pair in pairs],
        "doubts": [answer.to_json() for answer in ruled.close_calls],
        "readings": dict(readings_of(ruled)),
        "warnings": list(ruled.field.warnings),
    }
    return {**document, "not_known": sorted(not_known)} if not_known else document


def pair_document(ruled: Rulings, a_id: str, b_id: str) -> Json:
    """Returns the rulings document with the answers about two units under `answers`."""
    answers = ruled.answers_about(a_id, b_id)
    return {**rulings_document(ruled), "answers": [answer.to_json() for answer in answers]}


def _unit_json(ruled: Rulings, unit: UnitRulings) -> Json:
    """Returns a unit's rulings as JSON; unknown ones are null."""

    def known(kind: str, work: Callable[[], Json]) -> Json | None:
        about = f"{kind}/{unit.unit.id}"
        document = ruled.attempt(about, work, None)
        return None if about in ruled.not_known else document

    def none_if_lost(names: Iterable[str], *about: str) -> list[str] | None:
        return None if ruled.not_known.intersection(about) else list(names)

    name, near = unit.unit.id, unit.near
    distance_bw = None if near.distance_bw is None else round(near.distance_bw, 5)
    return {
        "side": unit.unit.side,
        "formation": unit.unit.formation,
        "near_enemy": near.answer.to_json() | {"nearest": near.nearest, "distance_bw": distance_bw},
        "in_contact": none_if_lost(unit.in_contact, "contact"),
        "flanked_by": none_if_lost(unit.flanked_by, "contact", f"flank/{name}"),
        "bad_terrain": unit.unit.is_in_difficult,
        "in_water": unit.unit.is_in_water,
        "fire": known("fire", lambda: {base: fire.to_json() for base, fire in unit.fire.items()}),
        "charge": known("charge", lambda: _charge_json(ruled.field, unit.charge)),
        "engaged_with": none_if_lost(unit.engaged_with, "engaged"),
        "allowance_bw": unit.allowance_bw,
        **(known("engaged", lambda: _confidence_json(ruled, unit)) or {}),
        **(known("movement", lambda: _reach_json(ruled, unit)) or {}),
    }


def _reach_json(ruled: Rulings, unit: UnitRulings) -> Json:
    """Returns a unit's reach as polygons if only a few units were requested."""
    if not ruled.is_close_up:
        return {}
    shapes = shapes_of(reach(ruled.field, unit.unit), "reach")
    return {"reach": [shape.to_json()["points_mm"] for shape in shapes]}


def _confidence_json(ruled: Rulings, unit: UnitRulings) -> Json:
    """Returns the probability of each engagement, unless all positions are exact."""
    if ruled.field.is_exact:
        return {}
    answer_of = partial(ruled.engagements.answer, unit.unit.id)
    chances = {name: round(answer_of(name).probability, 4) for name in unit.engaged_with}
    return {"engaged_probability": chances}


def _charge_json(field: Field, charge: Charge) -> Json:
    document: Json = {
        "eligible": charge.is_eligible,
        "why_not": None if charge.why_not is None else str(charge.why_not),
        "targets": list(charge.targets),
        "lanes": [lane_json(field, charge, lane) for lane in charge.lanes],
    }
    if charge.close_calls:
        document["doubts"] = [answer.to_json() for answer in charge.close_calls]
    return document


def lane_json(field: Field, charge: Charge, lane: ChargeLane) -> Json:
    """Returns a move of a charge as rulings carry it."""
    move = lane.move
    wheel = {"about": move.pivot, "arc_mm": round(move.arc_mm, 4)} if move.pivot else None
    return {
        "target": lane.target,
        "wheel": wheel,
        "straight_mm": round(move.straight_mm, 4),
        "cost_bw": round(field.in_bw(move.cost_mm), 5),
        "also_meets": list(lane.also_meets),
        "crosses_difficult": lane.crosses_difficult,
        "probability": round(charge.chance(lane.target), 4),
        "evidence": [shape.to_json() for shape in lane.evidence],
    }


def _string_json(field: Field, string: ForcePath) -> Json:
    named: Json = {"commander": string.commander, "force": list(string.force)}
    span = string.span
    if span is None:
        because = "every path there comes within 1 BW of an enemy"
        return {**named, "length_bw": None, "because": because}
    cards_bw, reached = least_cards(field, span)
    return {
        **named,
        "length_bw": round(span.length_bw, 5),
        "cards_bw": cards_bw,
        "answer": reached.answer,
        "probability": round(reached.probability, 4),
        "sigma_mm": round(span.sigma_mm, 4),
        "nearest": span.unit,
        "rule": "M-4.11",
        "because": span.because,
        "evidence": [span.path.to_json()],
    }


def keys_under(rule: str | None) -> frozenset[str]:
    """Returns the keys that answer a rule (`M-1.12`) or chapter (`M-7`); all for None."""
    return frozenset(
        key
        for key, rules in RULES.items()
        if rule is None or any(is_under(rule, answered) for answered in rules)
    )


def document_under_rule(rule: str, document: Mapping[str, Any]) -> Json:
    """Returns the part of a rulings document that answers a rule."""
    keys = keys_under(rule) | _ALWAYS
    readings = {
        about: text for about, text in document["readings"].items() if about == rule.upper()
    }
    units = {
        unit_id: {key: value for key, value in unit.items() if key in keys}
        for unit_id, unit in document["units"].items()
    }
    answers = {
        key: [answer for answer in document[key] if answer["rule"] == rule.upper()]
        for key in ("doubts", "answers")
        if key in document
    }
    top = {key: value for key, value in document.items() if key in keys}
    return {**top, "units": units, **answers, "readings": readings}


Column = tuple[str, str, Callable[[UnitRulings], str]]
"""Head, document key and cell text of a column."""

NOTHING = "-"
_WHOLE = frozenset({"side", "unit"})
"""Columns that never wrap, however narrow the window is."""
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
    """Returns close calls, decisive interpretations, and warnings about the position."""
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
    """Returns the drawing of rulings, a close-up if they are about a few units.

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


def _acts(rulings: Rulings, acts: Callable[[UnitRulings], Iterable[Act]]) -> Iterator[Shape]:
    """Draws shots or charges of the active side or of the units asked about.

    For a pair, only those at each other.
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
        if engagement.rule == TWO_LINES_RULE and (
            attacker in rulings.units or defender in rulings.units
        ):
            yield from engagement.evidence


def _draw_links(rulings: Rulings) -> Iterator[Shape]:
    for a, b in rulings.pairs_in_force:
        if are_linked(rulings.field, a, b):
            length = distance(a.unit, b.unit)
            yield Shape("line", (length.from_mm, length.to_mm), "link")


_DRAWERS: tuple[tuple[str, Callable[[Rulings], Iterator[Shape]]], ...] = (
    ("allowance_bw", _draw_reach),
    ("pairs", _draw_flanks),
    (
        "fire",
        partial(_acts, acts=lambda unit: chain(*(base.options for base in unit.fire.values()))),
    ),
    ("charge", partial(_acts, acts=lambda unit: unit.charge.lanes)),
    ("engaged_with", _draw_engaged),
    ("forces", _draw_links),
    ("spans", lambda rulings: (way.span.path for way in rulings.paths if way.span)),
    ("near_enemy", _draw_near),
    ("in_contact", _draw_contacts),
)
