"""Answers a page's questions about a position, as the JSON that it draws.

The page names things on the table by references: `unit:F1`, `base:10`, `point:512.3,400`, ...
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from tablecam.documents import Json
from tablecam.errors import BadInput
from tablecam.geometry.arrangement import arrangement
from tablecam.geometry.rectangles import Measurable
from tablecam.geometry.sides import side_of
from tablecam.live.hexes import counter_shapes, hexes_apart
from tablecam.rules.books import LengthByRule, book_of
from tablecam.rules.games import described, game_of
from tablecam.table.formation import base_words, read_formation
from tablecam.table.model import FARTHEST_MM, BasePose, Commander, LengthUnit, Point, Position, Unit
from tablecam.table.roster import Roster
from tablecam.table.sides import side_name
from tablecam.uncertainty.contact import contact
from tablecam.uncertainty.illustration import illustration as shapes_about
from tablecam.uncertainty.lengths import Length, distance
from tablecam.uncertainty.within import within
from tablecam.wording import counted, nearest, quoted

Value = TypeVar("Value")

Kind = Literal["unit", "base", "commander", "point"]


@dataclass(frozen=True, slots=True)
class Thing:
    """Something on the table that a reference names.

    `reference` is the text of the reference, `name` the name in sentences, `unit` the unit that the
    thing is or belongs to.
    """

    kind: Kind
    reference: str
    name: str
    what: Measurable
    unit: Unit | None = None

    @property
    def sigma_mm(self) -> float:
        """The largest standard deviation of its positions."""
        if isinstance(self.what, Unit):
            return max(base.sigma_mm for base in self.what.bases)
        return self.what.sigma_mm if isinstance(self.what, BasePose | Commander) else 0.0


def resolve(position: Position, reference: str) -> Thing:
    """Returns the thing on the table that a reference names.

    References are `unit:ID`, `base:TAG`, `base:ID/PLACE` (from 1), `commander:ID`, and `point:X,Y`
    in table millimetres.

    Raises:
        BadInput: The reference is malformed, or no such thing is on the table.
    """
    kind, _, name = reference.partition(":")
    resolver = _RESOLVERS.get(kind)
    if resolver is None or not name:
        raise BadInput(
            quoted(reference),
            "expected unit:ID, base:TAG, base:ID/PLACE, commander:ID or point:X,Y",
        )
    return resolver(position, reference, name)


def _unit(position: Position, reference: str, name: str) -> Thing:
    units = {unit.id: unit for unit in position.units if unit.bases}
    unit = _looked_up(units, reference, "unit", name)
    return Thing("unit", reference, unit.id, unit, unit)


def _base(position: Position, reference: str, name: str) -> Thing:
    bases: dict[str, tuple[Unit, BasePose]] = {}
    for unit in position.units:
        for index, base in enumerate(unit.bases):
            # A base is known by its place in the unit and, if it has one, by its tag.
            bases[f"{unit.id}/{index + 1}"] = (unit, base)
            bases[unit.base_name(index)] = (unit, base)
    unit, base = _looked_up(bases, reference, "base", name)
    return Thing("base", reference, base_words(unit, unit.bases.index(base)), base, unit)


def _commander(position: Position, reference: str, name: str) -> Thing:
    commanders = {commander.id: commander for commander in position.commanders}
    commander = _looked_up(commanders, reference, "commander", name)
    return Thing("commander", reference, commander.id, commander)


def _point(_: Position, reference: str, name: str) -> Thing:
    try:
        x_mm, y_mm = (float(part) for part in name.split(","))
    except ValueError:
        x_mm = y_mm = math.nan
    if not (abs(x_mm) <= FARTHEST_MM and abs(y_mm) <= FARTHEST_MM):  # nan is refused too
        raise BadInput(quoted(reference), "expected point:X,Y with two numbers of millimetres")
    point: Point = (x_mm, y_mm)
    return Thing("point", reference, f"the point {x_mm:.0f}, {y_mm:.0f}", point)


_RESOLVERS: Mapping[str, Callable[[Position, str, str], Thing]] = {
    "unit": _unit,
    "base": _base,
    "commander": _commander,
    "point": _point,
}


def _looked_up(known: Mapping[str, Value], reference: str, kind: str, name: str) -> Value:
    if name not in known:
        raise BadInput(
            quoted(reference), f"there is no such {kind} on the table{nearest(name, known)}"
        )
    return known[name]


def measure(
    position: Position,
    a: str,
    b: str,
    ranges: Sequence[float] | None = (),
    unit: LengthUnit | None = None,
) -> Json:
    """Measures between two things: from where to where, with contact, sides and ranges.

    If the rulebook has its own way of measuring the two, that counts, and its rule is named; else
    the shortest line counts. Also says whether the length is within each of the `ranges` (None: of
    the weapons of `a`, if `b` is its enemy and the game states any, else the usual ones) and,
    between units and bases, whether they touch (G-6) and where most of `b` lies as seen by `a`
    (M-1.11). The ranges are in the `unit`, by default the game's. For two counters on a hex map,
    `hexes` is their distance in hexes.

    Raises:
        BadInput: `a` or `b` names nothing on the table.
    """
    first, second = resolve(position, a), resolve(position, b)
    ruled = _by_rule(position, first, second)
    length = distance(first.what, second.what) if ruled is None else ruled.length
    usual = described(position.game).length_unit(position.table)
    if ranges is None:
        pair = first.unit and second.unit and (first.unit, second.unit)
        ranges = (described(position.game).lengths_asked(*pair) if pair else None) or usual.ranges
    unit = unit or usual
    document = {
        "a": a,
        "b": b,
        **length.to_json(position.table.base_width_mm),
        **_in_bw("sigma_bw", length.sigma_mm, position),
        "distance": round(length.value_mm / unit.size_mm, 5),
        "unit": unit.symbol,
        "calibration": position.calibration,
        "because": _sentence(first, second, length, unit, ruled),
        "within": [_within(position, first, second, length, limit, unit) for limit in ranges],
    }
    if (hexes := hexes_apart(position, first.what, second.what)) is not None:
        document["hexes"] = hexes
    if ruled is not None:
        document |= {"rule": ruled.rule, "path": ruled.path.to_json()}
    return document | _between_bases(position, first, second)


def about(position: Position, reference: str, roster: Roster) -> Json:
    """Describes one thing in sentences, with its rings, front line and flank lines.

    Raises:
        BadInput: `reference` names nothing on the table.
    """
    thing = resolve(position, reference)
    unit = described(position.game).length_unit(position.table)
    on_hexes = position.table.hex_map is not None
    if on_hexes:
        shapes = counter_shapes(position, thing.what)
    else:
        zones = described(position.game).fire_zones(position, thing.unit) if thing.unit else ()
        # A ring would suggest that it fires in all directions.
        ranges = () if zones else _weapon_ranges(position, thing)
        shapes = (*zones, *shapes_about(position, thing.what, unit=unit, ranges=ranges))
    return {
        "thing": reference,
        "title": thing.name,
        "lines": list(_lines(thing, roster)),
        "shapes": [shape.to_json() for shape in shapes],
    }


def _weapon_ranges(position: Position, thing: Thing) -> tuple[float, ...] | None:
    """Returns the ranges of a unit's weapons; None if it has none."""
    game = described(position.game)
    return None if thing.unit is None else game.weapon_ranges(thing.unit) or None


def names_of(position: Position, *references: str) -> tuple[str | None, ...]:
    """Returns the ids of the units or commanders that things belong to; None for a bare point.

    Raises:
        BadInput: One of them names nothing on the table.
    """
    things = (resolve(position, reference) for reference in references)
    return tuple(_owner(thing) for thing in things)


def _owner(thing: Thing) -> str | None:
    if thing.unit is not None:
        return thing.unit.id
    return thing.what.id if isinstance(thing.what, Commander) else None


def hidden_tags(position: Position, reference: str) -> frozenset[int]:
    """Returns the tags of a thing's bases that are held because they are hidden.

    Raises:
        BadInput: `reference` names nothing on the table, or none of it is hidden.
    """
    thing = resolve(position, reference)
    tags = (base.tag for base in _bases(thing) if base.seen == "held")
    hidden = frozenset(tag for tag in tags if tag is not None)
    if not hidden:
        raise BadInput(reference, "the camera sees it: only what is hidden can be taken off")
    return hidden


def _within(
    position: Position, a: Thing, b: Thing, length: Length, limit: float, unit: LengthUnit
) -> Json:
    answer = within(length, limit, position.table, unit=unit, a=a.name, b=b.name)
    in_bw = _in_bw("range_bw", limit * unit.size_mm, position)
    return {"range": limit, "unit": unit.symbol} | in_bw | answer.to_json()


def _in_bw(key: str, length_mm: float, position: Position) -> Json:
    """Returns a length in base widths; nothing on a table without them."""
    base_width_mm = position.table.base_width_mm
    return {} if base_width_mm is None else {key: round(length_mm / base_width_mm, 5)}


def _between_bases(position: Position, a: Thing, b: Thing) -> Json:
    """Answers the questions that apply only to things with footprints."""
    # A marker and a point have no footprint (M-1.4): nothing touches them.
    if a == b or not (_has_footprint(a) and _has_footprint(b)):
        return {}
    unit_a, unit_b = _as_unit(a), _as_unit(b)
    answer = contact(unit_a, unit_b, tolerance_mm=position.table.tolerance_mm).answer
    return {"contact": answer.to_json(), "b_is": side_of(unit_a, unit_b)}


def _has_footprint(thing: Thing) -> bool:
    return isinstance(thing.what, Unit | BasePose)


def _as_unit(thing: Thing) -> Unit:
    """Returns the unit that was named; a single base becomes a unit of its own."""
    if isinstance(thing.what, Unit):
        return thing.what
    if isinstance(thing.what, BasePose) and thing.unit is not None:
        owner = thing.unit
        return Unit(thing.name, owner.side, owner.arm, (thing.what,))
    raise TypeError(f"expected a unit or a base, got {thing.kind}")


def _by_rule(position: Position, a: Thing, b: Thing) -> LengthByRule | None:
    """Returns the length as the rulebook measures it, if it has a rule for this pair."""
    book = book_of(position.game)
    # Only the distance from a commander to a unit has a rule of its own (M-4.12).
    things = {thing.kind: thing for thing in (a, b)}
    if book is None or things.keys() != {"commander", "unit"}:
        return None
    try:
        length = book.length_to_unit(position, things["commander"].name, things["unit"].name)
    except BadInput:
        # The rulebook cannot read this position; a tape measure still works.
        return None
    return length


def _sentence(
    a: Thing, b: Thing, length: Length, unit: LengthUnit, ruled: LengthByRule | None
) -> str:
    hidden = "".join(
        f"; {thing.name} is hidden, its last position counts" for thing in _hidden(a, b)
    )
    if ruled is not None:
        return f"{ruled.because} ({ruled.rule}){hidden}"
    apart = unit.written(length.value_mm)
    ends = "edge to edge at their nearest points"
    if not (_has_footprint(a) and _has_footprint(b)):
        ends = f"from {_end(a)} to {_end(b)}"
    return f"{a.name} and {b.name} are {apart} apart, {ends}{hidden}"


def _end(thing: Thing) -> str:
    """Describes the end of a length at a thing."""
    if _has_footprint(thing):
        return f"the nearest edge of {thing.name}"
    return f"the middle of {thing.name}" if thing.kind == "commander" else thing.name


def _hidden(*things: Thing) -> Iterable[Thing]:
    """Returns the things with a held base."""
    return (thing for thing in things if any(base.seen == "held" for base in _bases(thing)))


def _bases(thing: Thing) -> tuple[BasePose, ...]:
    if isinstance(thing.what, Unit):
        return thing.what.bases
    if isinstance(thing.what, Commander):
        return () if thing.what.pose is None else (thing.what.pose,)
    return (thing.what,) if isinstance(thing.what, BasePose) else ()


def _lines(thing: Thing, roster: Roster) -> Iterable[str]:
    if thing.unit is not None:
        yield from _unit_lines(thing.unit, roster)
    bases = _bases(thing)
    if bases:
        sigma_mm = max(base.sigma_mm for base in bases)
        sigma_deg = max(base.sigma_deg for base in bases)
        if max(sigma_mm, sigma_deg) >= _TELLING_SIGMA:
            yield f"Accurate to {_at_least(sigma_mm)} mm and {_at_least(sigma_deg)}°."
    held = sum(base.seen == "held" for base in bases)
    if held:
        of = f"{held} of {len(bases)} bases" if len(bases) > 1 else "It"
        yield f"{of} cannot be seen now; the last seen place counts."


def _arranged(unit: Unit) -> str:
    """Describes how several bases lie: `, 6 bases in 2 ranks`; empty for a single one."""
    if len(unit.bases) < 2:
        return ""
    lie = arrangement(unit.bases)
    ranks = f"{len(unit.bases)} bases in {counted(len(lie.ranks), 'rank')}"
    return f", {ranks}" if len(lie.groups) == 1 else f", {ranks} and {len(lie.groups)} groups"


_TELLING_SIGMA = 0.1
"""A smaller standard deviation, in mm or degrees, means nothing to players."""


def _at_least(sigma: float) -> str:
    """Formats a standard deviation for players."""
    is_telling = sigma >= _TELLING_SIGMA
    return f"±{sigma:.1f}" if is_telling else f"better than {_TELLING_SIGMA:g}"


def _unit_lines(unit: Unit, roster: Roster) -> Iterable[str]:
    if game_of(roster.game) is None:
        yield f"{side_name(unit.side)} {unit.arm}{_arranged(unit)}."
        return
    if roster.table.hex_map is not None:
        # A counter has no formation to read, and need not be troops.
        yield f"{side_name(unit.side)}."
        return
    listed = next((len(entry.upward()) for entry in roster.units if entry.id == unit.id), None)
    formation = read_formation(unit, roster_bases=listed)
    if unit.arm != "artillery" and unit.formation not in (None, formation.name):
        # The game reads another one, such as a square, whose reasons are its own.
        yield f"{side_name(unit.side)} {unit.arm}, {unit.formation}{_arranged(unit)}."
        return
    words = dict.fromkeys((f"{unit.arm}", f"{formation.name}"))
    yield f"{side_name(unit.side)} {', '.join(words)}: {formation.because}."
