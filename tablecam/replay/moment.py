"""Where everything lay at a moment of a recording, and where it would lie had hands laid it so."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from tablecam.errors import BadInput
from tablecam.record.entries import Entry, Kind
from tablecam.record.journal import Journal
from tablecam.record.positions import WHOLE, applied
from tablecam.table.model import BasePose, Position, Unit
from tablecam.table.position_file import position_from_json

Json = dict[str, Any]
Place = tuple[float, float, float]
"""A base's centre and heading: mm, mm, degrees."""

_LOOKED_BACK: Final = 128
"""So many entries are read first; a whole position is among them, or twice as many are read."""


@dataclass(frozen=True, slots=True)
class Branch:
    """A moment of a recording, and where the bases of some units are laid instead.

    `moment` is an entry's number; `laid` has a place for each base of a unit, in their order.
    """

    moment: int
    laid: Mapping[str, Sequence[Place]] = field(default_factory=dict)


def branched(journal: Journal, branch: Branch) -> Position:
    """The position of a branch; nothing of it is kept.

    Raises:
        BadInput: There is no position at that moment, no such unit in it, or it has not as many
            bases; or the recording cannot be read.
    """
    position = position_at(journal, branch.moment)
    units = {unit.id: unit for unit in position.units}
    for name, places in branch.laid.items():
        if name not in units:
            raise BadInput("what if", f"there is no unit {name} at entry {branch.moment}")
        units[name] = _laid(units[name], places)
    return replace(position, units=tuple(units.values()))


def position_at(journal: Journal, moment: int) -> Position:
    """What lay on the table after an entry, with what the game knew of the units by then.

    Raises:
        BadInput: Nothing is known of the table yet, or the recording cannot be read.
    """
    game = journal.facts().game
    found: Json | None = None
    for entry in _latest(journal, moment, ("position",), lambda entry: WHOLE in entry.document):
        found = document_after(found, entry, journal.name)
    if found is None:
        found = _at_the_beginning(journal, moment)
    position = position_from_json(found, f"{journal.name}: entry {moment}", games=(game,))
    return _marked(position, _markers(journal, moment))


def document_after(before: Json | None, entry: Entry, name: str) -> Json:
    """The position document after a `position` entry; `name` is what errors call the recording.

    Raises:
        BadInput: The entry is no position, or tells what differs from another one.
    """
    try:
        return applied(before, entry.document)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise BadInput(name, f"entry {entry.number} does not follow: {error}") from None


def is_over(journal: Journal) -> bool:
    """Whether no game is in progress at the end of a recording.

    Raises:
        BadInput: The recording cannot be read.
    """
    standing = _standing(journal, journal.last())
    return standing is None or bool(standing.get("is_over", False))


def is_measuring_closed(journal: Journal) -> bool:
    """Whether a game is in progress whose players have agreed to declare before they measure.

    Players are told on the table what they may measure by now; whoever only looks on may not at
    all, as he could tell them.

    Raises:
        BadInput: The recording cannot be read.
    """
    standing = _standing(journal, journal.last()) or {}
    options = standing.get("state", {}).get("options", {})
    return options.get("measuring") == "declared" and not standing.get("is_over", False)


def _at_the_beginning(journal: Journal, moment: int) -> Json:
    """Where all lay as a game began, of which no position was kept before."""
    for entry in _latest(journal, moment, ("play",), lambda entry: True)[-1:]:
        position: Json = entry.document["position"]
        return position
    raise BadInput(journal.name, f"nothing is known of the table at entry {moment}")


def _markers(journal: Journal, moment: int) -> Json:
    found: Json = (_standing(journal, moment) or {}).get("markers", {})
    return found


def _standing(journal: Journal, moment: int) -> Json | None:
    """How the game stood at a moment, as everybody may know it; None before it began."""
    for entry in _latest(journal, moment, ("play", "deed"), lambda entry: True)[-1:]:
        found: Json = entry.document.get("after", {})
        return found
    return None


def _marked(position: Position, markers: Json) -> Position:
    if not markers:
        return position
    units = (replace(unit, state=markers.get(unit.id, {})) for unit in position.units)
    return replace(position, units=tuple(units))


def _latest(
    journal: Journal, moment: int, kinds: tuple[Kind, ...], suffices: Callable[[Entry], bool]
) -> Sequence[Entry]:
    """The latest entries of some kinds up to a moment, from the last that suffices on."""
    back = _LOOKED_BACK
    while True:
        found = journal.entries(*kinds, after=max(0, moment - back), up_to=moment)
        for place in reversed(range(len(found))):
            if suffices(found[place]):
                return found[place:]
        if back >= moment:
            return found
        back *= 2


def _laid(unit: Unit, places: Sequence[Place]) -> Unit:
    if len(places) != len(unit.bases):
        expected = f"expected {len(unit.bases)} places for the bases of {unit.id}"
        raise BadInput("what if", f"{expected}, got {len(places)}")
    bases = (_put(base, *place) for base, place in zip(unit.bases, places, strict=True))
    return replace(unit, bases=tuple(bases))


def _put(base: BasePose, x_mm: float, y_mm: float, heading_deg: float) -> BasePose:
    return replace(base, x_mm=x_mm, y_mm=y_mm, heading_deg=heading_deg, seen="hand")
