"""Reads requests to resolve volleys, bombardments, combats and rallies from documents.

This module checks keys, types, names, sides and the numbers on dice. Facts that depend on positions
(who is engaged, what a base may shoot at, how many dice to roll) are checked where they are
computed; each request carries its document so that those errors name the same keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Annotated, Any, Literal

from pydantic import Field

from tablecam.documents import Document
from tablecam.rules.maurice.field.field import Field as Table
from tablecam.rules.maurice.field.field import UnitOnField
from tablecam.table.sections import Name, StrictModel
from tablecam.table.sides import side_name
from tablecam.toml_lines import KeyPath
from tablecam.wording import nearest, quoted

Kind = Literal["volley", "bombard"]
Dice = tuple[int, ...]

_NOWHERE = Document("request", {})


@dataclass(frozen=True, slots=True)
class ShotAssignment:
    """A base that fires and its target unit; `path` is the key of the entry in the document."""

    unit: str
    base: str
    target: str
    path: KeyPath = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Volley:
    """A side's volleys or bombardment, in the order of rolling.

    `hit` and `disrupt` are the dice, None before they are rolled. `cards` gives the modifier by
    unit to each die to hit (M-8.18, by the checklist's section A).
    """

    kind: Kind
    side: str
    aims: tuple[ShotAssignment, ...]
    cards: Mapping[str, int]
    hit: Dice | None = None
    disrupt: Dice | None = None
    document: Document = field(default=_NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Combat:
    """The combats of the active side's charge, with one die for each engaged unit (M-8.19).

    `fall_back_order` lists attackers in the order in which they fall back (M-8.24); those not
    listed follow, rearmost first.
    """

    active: str
    cards: Mapping[str, int]
    dice: Mapping[str, int] | None = None
    fall_back_order: tuple[str, ...] = ()
    document: Document = field(default=_NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Rally:
    """A unit's attempt to rally, with one die for each disruption (M-9.2)."""

    unit: str
    card: int = 0
    dice: Dice | None = None
    document: Document = field(default=_NOWHERE, compare=False, repr=False)


Request = Volley | Combat | Rally


def request_of(document: Document, table: Table) -> Request:
    """Reads a request from an opened document.

    Raises:
        BadInput: Naming the key, the expected value and the actual one.
    """
    kind = document.data.get("kind")
    if not isinstance(kind, str) or kind not in _READERS:
        got = "but the key is missing" if "kind" not in document.data else f"got {quoted(kind)}"
        raise document.error(("kind",), f"expected one of {', '.join(_READERS)}, {got}")
    request: Request = _READERS[kind](document, table)
    return request


def check_dice(
    document: Document, path: KeyPath, dice: Dice | None, expected: int, why: str
) -> Dice:
    """Returns the dice if their number is as expected; `why` explains the number in errors.

    Raises:
        BadInput: There are more or fewer dice.
    """
    given = dice or ()
    if len(given) != expected:
        number = "1 die" if expected == 1 else f"{expected} dice"
        raise document.error(path, f"expected {number}, {why}, got {len(given) or 'none'}")
    return given


# --- the document's sections -------------------------------------------------------------------


Die = Annotated[int, Field(ge=1, le=6)]
Card = Annotated[int, Field(ge=-100, le=100)]
"""A card's modifier to each die (M-8.18), bounded so that hostile input cannot be huge."""


class _ShotsSection(StrictModel):
    unit: Name
    targets: Annotated[dict[Name, Name], Field(min_length=1)]


class _FireDice(StrictModel):
    hit: list[Die] = Field(default_factory=list)
    disrupt: list[Die] = Field(default_factory=list)


class _VolleySection(StrictModel):
    kind: Kind
    side: Name
    shots: Annotated[list[_ShotsSection], Field(min_length=1)]
    dice: _FireDice | None = None
    cards: dict[Name, Card] = Field(default_factory=dict)


class _CombatSection(StrictModel):
    kind: Literal["combat"]
    active: Name
    dice: dict[Name, Die] | None = None
    cards: dict[Name, Card] = Field(default_factory=dict)
    fall_back_order: list[Name] = Field(default_factory=list)


class _RallySection(StrictModel):
    kind: Literal["rally"]
    unit: Name
    dice: list[Die] | None = None
    cards: dict[Name, Card] = Field(default_factory=dict)


# --- from sections to requests -----------------------------------------------------------------


def _volley(document: Document, table: Table) -> Volley:
    section = document.parsed(_VolleySection)
    _check_side(document, ("side",), section.side, table)
    aims = tuple(_aims(document, section, table))
    shooters = dict.fromkeys(aim.unit for aim in aims)
    # A card for a unit that does not fire would be ignored unnoticed.
    for name in section.cards:
        if name not in shooters:
            expected = f"expected a unit that is firing ({', '.join(shooters)})"
            raise document.error(("cards", name), f"{expected}, got {name}")
    cards = MappingProxyType(section.cards)
    dice = section.dice
    hit, disrupt = (None, None) if dice is None else (tuple(dice.hit), tuple(dice.disrupt))
    return Volley(section.kind, section.side, aims, cards, hit, disrupt, document)


def _aims(document: Document, section: _VolleySection, table: Table) -> Iterable[ShotAssignment]:
    seen: set[str] = set()
    for index, shots in enumerate(section.shots):
        path: KeyPath = ("shots", index, "unit")
        unit = _unit_of_side(document, path, shots.unit, table, section.side)
        if unit.id in seen:
            raise document.error(path, f"{unit.id} fires twice: expected at most once (M-7.7)")
        names = unit.unit.base_names
        # A base has two names: its tag's and its place in the unit.
        bases = {own: own for own in names}
        bases |= {f"{unit.id}/{number}": own for number, own in enumerate(names, start=1)}
        seen.add(unit.id)
        fired: set[str] = set()
        for name, target_id in shots.targets.items():
            path = ("shots", index, "targets", name)
            if name not in bases:
                why = f"{unit.id} has no base with this name{nearest(name, names)}"
                raise document.error(path, why)
            own = bases[name]
            if own in fired:
                raise document.error(path, f"base {own} fires twice: expected once (M-7.7)")
            fired.add(own)
            target = _unit_on_table(document, path, target_id, table)
            if target.side == unit.side:
                raise document.error(path, f"expected an enemy unit, got {_of_side(target)}")
            yield ShotAssignment(unit.id, own, target.id, path)


def _combat(document: Document, table: Table) -> Combat:
    section = document.parsed(_CombatSection)
    _check_side(document, ("active",), section.active, table)
    for key, names in (("dice", section.dice or ()), ("cards", section.cards)):
        for name in names:
            _unit_on_table(document, (key, name), name, table)
    for index, name in enumerate(section.fall_back_order):
        path: KeyPath = ("fall_back_order", index)
        _unit_of_side(document, path, name, table, section.active)
        if name in section.fall_back_order[:index]:
            raise document.error(path, f"{name} is named twice")
    dice = None if section.dice is None else MappingProxyType(section.dice)
    cards = MappingProxyType(section.cards)
    return Combat(section.active, cards, dice, tuple(section.fall_back_order), document)


def _rally(document: Document, table: Table) -> Rally:
    section = document.parsed(_RallySection)
    unit = _unit_on_table(document, ("unit",), section.unit, table)
    for name in section.cards:
        if name != unit.id:
            why = f"expected {unit.id}, which is rallying, got {name}"
            raise document.error(("cards", name), why)
    dice = None if section.dice is None else tuple(section.dice)
    return Rally(unit.id, section.cards.get(unit.id, 0), dice, document)


_READERS: Mapping[str, Any] = MappingProxyType(
    {"volley": _volley, "bombard": _volley, "combat": _combat, "rally": _rally}
)


def _unit_on_table(document: Document, path: KeyPath, name: str, table: Table) -> UnitOnField:
    if name not in table.by_id:
        why = f"there is no unit {quoted(name)} on the table{nearest(name, table.by_id)}"
        raise document.error(path, why)
    return table.by_id[name]


def _unit_of_side(
    document: Document, path: KeyPath, name: str, table: Table, side: str
) -> UnitOnField:
    unit = _unit_on_table(document, path, name, table)
    if unit.side != side:
        raise document.error(path, f"expected a unit of {side_name(side)}, got {_of_side(unit)}")
    return unit


def _check_side(document: Document, path: KeyPath, side: str, table: Table) -> None:
    sides = dict.fromkeys(unit.side for unit in table.units)
    if side not in sides:
        suggestion = nearest(side, sides)
        raise document.error(path, f"there is no side {quoted(side)} on the table{suggestion}")


def _of_side(unit: UnitOnField) -> str:
    return f"{unit.id}, a unit of {side_name(unit.side)}"
