"""Restores the table at a moment of a recording, or a variant with bases placed elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from tablecam.documents import Json
from tablecam.errors import BadInput
from tablecam.record.entries import Entry, Kind
from tablecam.record.journal import Journal
from tablecam.record.positions import WHOLE, applied
from tablecam.rules.games import described
from tablecam.table.model import BasePose, Position, Unit
from tablecam.table.position_file import position_from_json

Place = tuple[float, float, float]
"""A base's centre and heading: mm, mm, degrees."""

_FIRST_LOOKBACK: Final = 128
"""How many entries to read first; if no whole position is among them, twice as many, and so on."""


@dataclass(frozen=True, slots=True)
class Branch:
    """A moment of a recording with the bases of some units placed elsewhere.

    `moment` is an entry's number; `laid` has a place for each base of a unit, in their order.
    """

    moment: int
    laid: Mapping[str, Sequence[Place]] = field(default_factory=dict)


def branched(journal: Journal, branch: Branch) -> Position:
    """Returns the position of a branch; nothing is stored.

    Raises:
        BadInput: There is no position at that moment or no such unit in it, the number of its
            bases differs, or the recording cannot be read.
    """
    position = position_at(journal, branch.moment)
    units = {unit.id: unit for unit in position.units}
    for name, places in branch.laid.items():
        if name not in units:
            raise BadInput("what if", f"there is no unit {name} at entry {branch.moment}")
        units[name] = _laid(units[name], places)
    return replace(position, units=tuple(units.values()))


def position_at(journal: Journal, moment: int) -> Position:
    """Returns the table after an entry, with the state of its units in the game.

    Raises:
        BadInput: Nothing is known of the table yet, or the recording cannot be read.
    """
    game = journal.facts().game
    document: Json | None = None
    # Every few dozen entries a position is whole; differences follow from the last whole one.
    for entry in _latest(journal, moment, ("position",), lambda entry: WHOLE in entry.document):
        document = document_after(document, entry, journal.name)
    if document is None:
        document = _first_position(journal, moment)
    position = position_from_json(document, f"{journal.name}: entry {moment}", games=(game,))
    return _marked(position, _markers(journal, moment))


def document_after(before: Json | None, entry: Entry, name: str) -> Json:
    """Returns the position document after a `position` entry; `name` is the recording's in errors.

    Raises:
        BadInput: The entry is no position, or a difference from another one.
    """
    try:
        return applied(before, entry.document)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise BadInput(
            name, f"entry {entry.number} does not fit the position before it: {error}"
        ) from None


def is_over(journal: Journal) -> bool:
    """Whether no game is in progress at the end of a recording.

    Raises:
        BadInput: The recording cannot be read.
    """
    game_status = _game_status(journal, journal.last())
    return game_status is None or bool(game_status.get("is_over", False))


def is_measuring_closed(journal: Journal) -> bool:
    """Whether a game is in progress whose players must declare before they measure.

    The table tells its players what they may already measure; spectators may measure nothing,
    because they could pass it on.

    Raises:
        BadInput: The recording cannot be read.
    """
    game_status = _game_status(journal, journal.last()) or {}
    standing = described(journal.facts().game).standing(game_status.get("state", {}))
    return standing.declares_first and not game_status.get("is_over", False)


def _first_position(journal: Journal, moment: int) -> Json:
    """Returns the position with which a game began, if none was recorded before."""
    for entry in _latest(journal, moment, ("play",), lambda entry: True)[-1:]:
        position: Json = entry.document["position"]
        return position
    raise BadInput(journal.name, f"there is no position yet at entry {moment}")


def _markers(journal: Journal, moment: int) -> Json:
    markers: Json = (_game_status(journal, moment) or {}).get("markers", {})
    return markers


def _game_status(journal: Journal, moment: int) -> Json | None:
    """Returns the public status of the game at a moment; None before a game began."""
    for entry in _latest(journal, moment, ("play", "deed"), lambda entry: True)[-1:]:
        after: Json = entry.document.get("after", {})
        return after
    return None


def _marked(position: Position, markers: Json) -> Position:
    if not markers:
        return position
    # A unit that is not listed has no state left.
    units = (replace(unit, state=markers.get(unit.id, {})) for unit in position.units)
    return replace(position, units=tuple(units))


def _latest(
    journal: Journal, moment: int, kinds: tuple[Kind, ...], is_start: Callable[[Entry], bool]
) -> Sequence[Entry]:
    """Returns the entries of some kinds up to a moment, from the last that is a start."""
    # Read backwards: the last position of a long evening needs few entries.
    lookback = _FIRST_LOOKBACK
    while True:
        entries = journal.entries(*kinds, after=max(0, moment - lookback), up_to=moment)
        for index in reversed(range(len(entries))):
            if is_start(entries[index]):
                return entries[index:]
        if lookback >= moment:
            return entries
        lookback *= 2


def _laid(unit: Unit, places: Sequence[Place]) -> Unit:
    if len(places) != len(unit.bases):
        expected = f"expected {len(unit.bases)} places for the bases of {unit.id}"
        raise BadInput("what if", f"{expected}, got {len(places)}")
    bases = (_put(base, *place) for base, place in zip(unit.bases, places, strict=True))
    return replace(unit, bases=tuple(bases))


def _put(base: BasePose, x_mm: float, y_mm: float, heading_deg: float) -> BasePose:
    return replace(base, x_mm=x_mm, y_mm=y_mm, heading_deg=heading_deg, seen="hand")
