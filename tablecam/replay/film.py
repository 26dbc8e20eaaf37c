"""Converts a recording to the document that the replay page plays, without concealed cards.

A `deed`'s `entry` may name cards in players' hands; the film shows only what spectators saw.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from tablecam.documents import Json
from tablecam.errors import BadInput
from tablecam.record.entries import Entry, Kind, PictureKind
from tablecam.record.journal import Journal
from tablecam.record.positions import WHOLE
from tablecam.referee.game_views import marks
from tablecam.replay.copies import ShowsProgress, without_progress
from tablecam.replay.film_table import roster_in, roster_of, table_facts
from tablecam.rules.descriptions import Described
from tablecam.rules.frozen_json import to_plain
from tablecam.rules.game_files import house_files
from tablecam.rules.games import described
from tablecam.table.position_file import position_from_json

FORMAT: Final = "tablecam.film"
VERSION: Final = 1

_STATUS_KEYS: Final = ("question", "asked", "is_over", "markers")
_RULING_KEYS: Final = ("unit", "text", "is_legal", "answer", "ghost")
_EVENT_KEYS: Final = ("kind", "text", "rule", "facts", "evidence")

_DECIMALS: Final = 3
"""Thousandths of a millimetre: a hundredth of a camera's precision, in a third of the bytes."""


def film(journal: Journal, after: int = 0, watched: ShowsProgress = without_progress) -> Json:
    """Returns the film of a recording; with `after`, only of the entries since that one.

    `watched` shows progress over the entries. `facts` is None while there is nothing to draw.
    Times are in seconds since `started_at`.

    Raises:
        BadInput: The recording cannot be read, or is damaged.
    """
    facts = journal.facts()
    entries = journal.entries(after=after)
    return {
        "format": FORMAT,
        "version": VERSION,
        "id": facts.id,
        "game": facts.game,
        "started_at": facts.started_at.isoformat(timespec="seconds"),
        "facts": film_facts(journal) if not after else None,
        "entries": [
            _entry_json(
                entry, (entry.at - facts.started_at).total_seconds(), journal.name, facts.game
            )
            for entry in watched(entries, len(entries))
        ],
    }


def pictured(journal: Journal, up_to: int) -> dict[int, list[PictureKind]]:
    """Returns the kinds of pictures of each entry up to one, by the entries' numbers.

    Raises:
        BadInput: The recording cannot be read.
    """
    kinds: dict[int, list[PictureKind]] = {}
    for number, kind in sorted(journal.pictured(up_to=up_to)):
        kinds.setdefault(number, []).append(kind)
    return kinds


def film_facts(journal: Journal) -> Json | None:
    """Returns the unchanging facts of the table for a page; None while none are known.

    Raises:
        BadInput: The recording cannot be read, or is damaged.
    """
    facts = journal.facts()
    roster = roster_of(facts.table_file)
    # The table file also lists units that were never on the table.
    if roster is not None:
        plays = journal.entries("play")
        return table_facts(roster, next((play.document.get("options") for play in plays), None))
    for entry in journal.entries("position", "play"):
        document = entry.document.get(WHOLE) or entry.document.get("position")
        if document is not None:
            position = position_from_json(document, journal.name, games=(facts.game,))
            return table_facts(roster_in("", position))
    return None


def table_name(journal: Journal) -> str:
    """Returns the table's name in the recording's table file; empty if it has none.

    Raises:
        BadInput: The recording cannot be read.
    """
    roster = roster_of(journal.facts().table_file)
    return "" if roster is None else roster.name


def public_part(entry: Entry, name: str) -> Json:
    """Returns the part of an entry's document that everybody may see.

    Args:
        entry: The entry.
        name: The recording's name in errors.

    Raises:
        BadInput: The document is not valid for the entry's kind.
    """
    try:
        return _PUBLIC_PARTS[entry.kind](entry.document)
    except (LookupError, TypeError, AttributeError) as error:
        raise _invalid(entry, name) from error


def _invalid(entry: Entry, name: str) -> BadInput:
    return BadInput(name, f"entry {entry.number} is not a valid {entry.kind}")


def _entry_json(entry: Entry, at_s: float, name: str, game: str) -> Json:
    """Returns an entry as pages receive it, `at_s` seconds into its recording."""
    document: Json = {"n": entry.number, "t": round(max(0.0, at_s), 2), "kind": entry.kind}
    try:
        document |= _rounded(public_part(entry, name))
        if "after" in document:
            document["after"] = _described(described(game), entry.document.get("after", {}))
    # No valid entry is nested this deeply.
    except RecursionError as error:
        raise _invalid(entry, name) from error
    return document | ({"pictures": list(entry.pictures)} if entry.pictures else {})


def _position(document: Json) -> Json:
    return {"change": document}


def _move(document: Json) -> Json:
    return {"unit": document["unit"], "path": document["path"]}


def _play(document: Json) -> Json:
    """Returns the beginning of a game, without `options`: they may name concealed cards."""
    house = list(house_files(document.get("options", {})))
    public = {"position": document.get("position"), "after": _after(document.get("after", {}))}
    return public | ({"house": house} if house else {})


def _action(document: Json) -> Json:
    # Without `entry`, which may name concealed cards.
    public: Json = {key: document[key] for key in ("deed", "undoes") if key in document}
    if "events" in document:
        public["events"] = [_event(event) for event in document["events"]]
    return public | {"after": _after(document.get("after", {}))}


def _event(document: Json) -> Json:
    optional = {key: document[key] for key in ("note", "dice") if document.get(key)}
    return {key: document[key] for key in _EVENT_KEYS} | optional


def _after(document: Json) -> Json:
    """Returns the game's status, as far as pages show it."""
    return {key: document[key] for key in _STATUS_KEYS if key in document}


def _described(game: Described, after: Json) -> Json:
    """Returns the game's status for pages: its standing, its markers and its stacks."""
    public, units = after.get("state", {}), after.get("markers", {})
    stacks = {"stacks": stacks_of(units, public)} if game.counters_join else {}
    described = {"standing": to_plain(game.standing(public)), "marks": marks(game, units)}
    return _after(after) | described | stacks


def stacks_of(units: Mapping[str, Json], public: Json) -> dict[str, list[str]]:
    """Returns the counters of each hex where the game has several, the top one first.

    The states of units name their hexes, and their places in stacks whose order counts.
    """
    ordered = sorted(units.items(), key=lambda unit: unit[1].get("stack", 0))
    lying = [(f"unit:{id}", of.get("hexes") or of.get("hex")) for id, of in ordered]
    lying += [(f"commander:{of['id']}", of.get("hex")) for of in public.get("leaders", ())]
    stacks: dict[str, list[str]] = {}
    for thing, hexes in lying:
        for number in (hexes or "").split():
            stacks.setdefault(number, []).append(thing)
    return {number: things for number, things in stacks.items() if len(things) > 1}


def _ruling(document: Json) -> Json:
    return {key: document[key] for key in _RULING_KEYS if key in document}


def _dispute(document: Json) -> Json:
    return {"dispute": document["dispute"]}


def _notice(document: Json) -> Json:
    return {"text": document["text"]}


def _picture(document: Json) -> Json:
    return {"of": document["of"]}


_PUBLIC_PARTS: Final[Mapping[Kind, Callable[[Json], Json]]] = {
    "position": _position,
    "move": _move,
    "play": _play,
    "deed": _action,
    "ruling": _ruling,
    "dispute": _dispute,
    "notice": _notice,
    "picture": _picture,
}


def _rounded(value: Any) -> Any:
    """Returns JSON with its numbers rounded for drawing."""
    if isinstance(value, float):
        return round(value, _DECIMALS)
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    return value
