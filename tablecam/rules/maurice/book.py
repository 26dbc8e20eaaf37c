"""Maurice Lite's answers about a position, for callers that do not know the game."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Final, Literal

from tablecam.documents import Document, Json
from tablecam.errors import BadInput
from tablecam.geometry.shapes import TableDrawing
from tablecam.rules.books import Book, LengthByRule, Resolution, RulingsQuery
from tablecam.rules.maurice.field.field import GAME, Field, UnitOnField, field_of
from tablecam.rules.maurice.field.requests import request_of
from tablecam.rules.maurice.field.tables import BASES
from tablecam.rules.maurice.place.ranges import STRING_RULE, command_string
from tablecam.rules.maurice.resolve import report, resolve
from tablecam.rules.maurice.rulings.facts import Rulings, sides
from tablecam.rules.maurice.rulings.rulings import (
    RULES,
    document_under_rule,
    keys_under,
    pair_document,
    rulings_document,
    rulings_drawing,
    rulings_notes,
    rulings_tables,
)
from tablecam.rules.maurice.sheets import attacks, place
from tablecam.rules.miniatures.placement import units_fit_for_rulings
from tablecam.rules.reports import UNKNOWN, Finding, Part, Section, TextTable, UnitReport, attempt
from tablecam.table.model import Position
from tablecam.table.sides import side_name
from tablecam.uncertainty.lengths import Length
from tablecam.wording import nearest, quoted

Maker = Callable[..., Iterator[Part]]


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of question: its section's title, and the makers for a unit and for a pair.

    If `between` is set, it concerns only pairs of enemies or only pairs of friends.
    """

    title: str
    of_unit: Maker | None = None
    of_pair: Maker | None = None
    between: Literal["all", "enemies", "friends"] = "enemies"
    key: str = ""

    def maker(self, units: Sequence[UnitOnField]) -> Maker | None:
        """Returns the maker of a section on a unit or a pair; None if it does not concern them."""
        if len(units) == 1:
            return self.of_unit
        are = "friends" if units[0].side == units[1].side else "enemies"
        return self.of_pair if self.between in ("all", are) else None


_KINDS: Final[Mapping[str, _Kind]] = MappingProxyType(
    {
        "range": _Kind("Range", None, place.range_section, "all"),
        "near": _Kind("Near the enemy", place.near_section, key="near_enemy"),
        "contact": _Kind("Contact", place.contacts_section, place.contact_section, "all"),
        "flank": _Kind("Flanks", place.flanks_section, place.flank_section),
        "fire": _Kind("Fire", attacks.fire_section, attacks.pair_fire_section),
        "charge": _Kind("Charge", attacks.charge_section, attacks.pair_charge_section),
        "engaged": _Kind("Engaged", attacks.engaged_section, attacks.pair_engaged_section),
        "cover": _Kind("Cover in combat", None, attacks.cover_section),
        "movement": _Kind("Movement", place.movement_section),
        "force": _Kind("Force", place.force_section, place.link_section, "friends"),
        "span": _Kind("Span from the commander", place.span_section),
    }
)
"""The kinds of questions, in display order; each question id begins with one."""


@dataclass(frozen=True, slots=True, eq=False)
class Handle:
    """The rulings on a position, and why some units were left out, by unit id."""

    rulings: Rulings
    left_out: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


class MauriceBook(Book):
    """Maurice Lite's answers about a position."""

    game: Final = GAME

    def rulings(self, position: Position, active: str) -> Handle:
        """Returns a handle on all rulings on complete units.

        Rulings on units around which nothing has changed are cached.

        Raises:
            BadInput: The terrain is of an unknown kind, or a unit's state is invalid.
        """
        whole, left_out = units_fit_for_rulings(position, BASES)
        return Handle(Rulings(field_of(whole, "table"), active), left_out)

    def ruled_position(self, handle: object) -> Position:
        """Returns the position that the rulings are about."""
        return _handle(handle).rulings.field.position

    def left_out(self, handle: object) -> Mapping[str, str]:
        """Returns why some units were left out, by unit id."""
        return _handle(handle).left_out

    def sections(self, handle: object, *units: str) -> Sequence[Section]:
        """Returns the sections of a report on a unit or on a pair of units, in display order."""
        ruled = _handle(handle).rulings
        named = [ruled.field.by_id[unit] for unit in units]
        return [
            Section(about.key or kind, about.title, partial(_parts, ruled, kind, make, named), kind)
            for kind, about in _KINDS.items()
            if (make := about.maker(named))
        ]

    def title(self, handle: object, *units: str) -> str:
        """Describes the units in a few words each."""
        by_id = _handle(handle).rulings.field.by_id
        return ", and ".join(_title(by_id[unit]) for unit in units)

    def warnings(self, handle: object, *units: str) -> tuple[str, ...]:
        """Returns warnings about some units, their commanders, and units left out."""
        ruled = _handle(handle)
        field = ruled.rulings.field
        named = [field.by_id[unit] for unit in units]
        sides = {unit.side for unit in named}
        leaders = {leader.id for leader in field.position.commanders if leader.side in sides}
        hidden = (warning for unit in named for warning in _hidden(unit))
        return (*hidden, *field.warnings_about({*units, *leaders}), *ruled.left_out.values())

    def lines_about(self, handle: object, question: str) -> Iterator[Finding]:
        """Yields the lines that may answer a question, and those of bases that share a line."""
        yield from super().lines_about(handle, question)
        rulings = _handle(handle).rulings
        kind, *parts = question.split("/")
        by_id = rulings.field.by_id
        named = [by_id[part] for part in dict.fromkeys(parts) if part in by_id]
        if kind == "fire" and named:
            none: tuple[Finding, ...] = ()
            lines = partial(attacks.lines_of_bases, rulings, *named[:2])
            yield from attempt(question, lambda: tuple(lines()), none)

    def length_to_unit(self, position: Position, commander: str, unit: str) -> LengthByRule | None:
        """Returns the path from a commander to a unit of its side (M-4.12)."""
        field = field_of(units_fit_for_rulings(position, BASES)[0], "table")
        leaders = {leader.id: leader for leader in position.commanders}
        if unit not in field.by_id or field.by_id[unit].side != leaders[commander].side:
            return None
        if (reached := command_string(field, leaders[commander], [unit])) is None:
            return None
        ends = reached.path.points_mm
        length = Length(reached.length_mm, reached.sigma_mm, ends[0], ends[-1])
        because = f"{reached.because}, from the edge of the marker to the nearest point it reaches"
        return LengthByRule(length, reached.path, STRING_RULE, because)

    def print_rulings(self, position: Position, query: RulingsQuery, source: str) -> Printed:
        """Returns the answers to a query, for `tablecam rulings`.

        Raises:
            BadInput: The position is not fit for rulings, or the query names something unknown.
        """
        field = field_of(position, source)
        _check_query(field, query)
        about, everything = query.pair or query.units, Rulings(field, query.active)
        narrowed = Rulings(field, query.active, about, query.pair is not None)
        return Printed(everything, narrowed if about else everything, query)

    def resolve(self, position: Position, request: Document, source: str) -> Resolution:
        """Resolves a volley, a bombardment, a combat or a rally with given dice.

        Raises:
            BadInput: The request is not allowed, or the dice do not match it.
        """
        field = field_of(position, source)
        document = resolve(field, request_of(request, field))
        return Resolution(document, tuple(report(document)), field.warnings)


@dataclass(frozen=True, slots=True)
class Printed:
    """The answers to a query, as `tablecam.rules.books.PrintedRulings`."""

    everything: Rulings
    narrowed: Rulings
    query: RulingsQuery

    @property
    def document(self) -> Json:
        """The rulings document, with a pair's answers."""
        pair, rule = self.query.pair, self.query.rule
        document = (
            rulings_document(self.narrowed) if pair is None else pair_document(self.narrowed, *pair)
        )
        return document if rule is None else document_under_rule(rule, document)

    @property
    def tables(self) -> tuple[TextTable, ...]:
        """The tables of all rulings."""
        return () if self.reports else rulings_tables(self.narrowed, rule=self.query.rule)

    @property
    def reports(self) -> tuple[UnitReport, ...]:
        """The sheets of the units or the pair; for a single rule, its findings alone."""
        handle = Handle(self.everything)
        if self.query.pair is not None:
            return (BOOK.pair_sheet(handle, *self.query.pair),)
        return tuple(BOOK.unit_sheet(handle, unit) for unit in self.query.units)

    @property
    def notes(self) -> tuple[str, ...]:
        """Close calls, decisive interpretations, and warnings."""
        if self.reports:
            return tuple(f"warning: {text}" for text in self.everything.field.warnings)
        return rulings_notes(self.narrowed, rule=self.query.rule)

    @property
    def drawing(self) -> TableDrawing:
        """The table with the evidence."""
        return rulings_drawing(self.narrowed, rule=self.query.rule)


def _check_query(field: Field, query: RulingsQuery) -> None:
    _check_named("--active", query.active, sides(field), "side")
    for option, ids in (("--unit", query.units), ("--pair", query.pair or ())):
        for unit in ids:
            _check_named(option, unit, field.by_id, "unit")
    if query.rule is not None and not keys_under(query.rule):
        known = ", ".join(dict.fromkeys(rule for rules in RULES.values() for rule in rules))
        message = f"expected one of {known}, or a chapter such as M-7, got {query.rule}"
        raise BadInput("--rule", message)


def _check_named(option: str, name: str, known: Iterable[str], kind: str) -> None:
    names = list(known)
    if name not in names:
        message = f"there is no {kind} {quoted(name)} on the table{nearest(name, names)}"
        raise BadInput(option, message)


def _parts(
    rulings: Rulings, kind: str, make: Maker, units: Sequence[UnitOnField]
) -> tuple[Part, ...]:
    parts = tuple(make(rulings, *units))
    # Known only after the rulings have been computed.
    is_lost = rulings.not_known & {kind, *(f"{kind}/{unit.id}" for unit in units)}
    return (UNKNOWN,) if is_lost else parts


def _title(unit: UnitOnField) -> str:
    arm, formation = unit.unit.arm, unit.formation
    formed = {"artillery": "", "massed": ", massed", "broken-up": ", formation unclear"}
    return f"{unit.id}: {side_name(unit.side)} {arm}{formed.get(formation, f' in {formation}')}"


def _hidden(unit: UnitOnField) -> Iterator[str]:
    if hidden_count := sum(base.seen == "held" for base in unit.unit.bases):
        count = f"{hidden_count} of {len(unit.bases)}"
        yield f"{unit.id}: {count} bases cannot be seen now; the last seen place counts."


def _handle(handle: object) -> Handle:
    if not isinstance(handle, Handle):
        raise TypeError(f"expected a handle of this book's, got {handle!r}")
    return handle


BOOK: Final = MauriceBook()
