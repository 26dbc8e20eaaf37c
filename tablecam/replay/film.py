"""A recording as a page plays it: the facts of its table, and all that everybody may know.

What is concealed in a recording (a `deed`'s `entry` names the cards of hands) is not in a film; of
an entry only what a spectator was shown is taken over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from tablecam.errors import BadInput
from tablecam.record.entries import Entry, Kind, PictureKind
from tablecam.record.journal import Journal
from tablecam.record.positions import WHOLE
from tablecam.replay.copies import Watched, unwatched
from tablecam.replay.film_table import roster_in, roster_of, table_facts
from tablecam.table.position_file import position_from_json

Json = dict[str, Any]

FORMAT: Final = "tablecam.film"
VERSION: Final = 1

_STANDING: Final = ("question", "asked", "is_over", "markers")
_RULED: Final = ("unit", "text", "is_legal", "answer", "ghost")
_ROUND: Final = ("number", "active", "command")
_EVENT: Final = ("kind", "text", "rule", "facts", "evidence")

_PLACES: Final = 3
"""Thousandths of a millimetre: a hundredth of what any camera knows, a third of the bytes."""


def film(journal: Journal, after: int = 0, watched: Watched = unwatched) -> Json:
    """The film of a recording; with `after`, only of what was kept since that entry.

    `watched` sees its entries as they are told. `facts` is None while there is nothing to draw.
    Times are in seconds since `started_at`.

    Raises:
        BadInput: The recording cannot be read, or is damaged.
    """
    kept = journal.facts()
    entries = journal.entries(after=after)
    return {
        "format": FORMAT,
        "version": VERSION,
        "id": kept.id,
        "game": kept.game,
        "started_at": kept.started_at.isoformat(timespec="seconds"),
        "facts": film_facts(journal) if not after else None,
        "entries": [
            _entry_json(entry, (entry.at - kept.started_at).total_seconds(), journal.name)
            for entry in watched(entries, len(entries))
        ],
    }


def pictured(journal: Journal, up_to: int) -> dict[int, list[PictureKind]]:
    """The kinds of pictures that entries have until one, by their numbers.

    Raises:
        BadInput: The recording cannot be read.
    """
    found: dict[int, list[PictureKind]] = {}
    for number, kind in sorted(journal.pictured(up_to=up_to)):
        found.setdefault(number, []).append(kind)
    return found


def film_facts(journal: Journal) -> Json | None:
    """What a page needs to know of the table; None of one that nothing is known of yet.

    Raises:
        BadInput: The recording cannot be read, or is damaged.
    """
    kept = journal.facts()
    roster = roster_of(kept.table_file)
    if roster is not None:
        return table_facts(roster)
    for entry in journal.entries("position", "play"):
        told = entry.document.get(WHOLE) or entry.document.get("position")
        if told is not None:
            position = position_from_json(told, journal.name, games=(kept.game,))
            return table_facts(roster_in("", position))
    return None


def table_name(journal: Journal) -> str:
    """What the recording's table file calls the table; empty where it does not.

    Raises:
        BadInput: The recording cannot be read.
    """
    roster = roster_of(journal.facts().table_file)
    return "" if roster is None else roster.name


def public_part(entry: Entry, name: str) -> Json:
    """What everybody may see of an entry's document; `name` is what errors call the recording.

    Raises:
        BadInput: The document says nothing of its kind.
    """
    try:
        return _TOLD[entry.kind](entry.document)
    except (LookupError, TypeError, AttributeError) as error:
        raise _is_none(entry, name) from error


def _is_none(entry: Entry, name: str) -> BadInput:
    return BadInput(name, f"entry {entry.number} is no {entry.kind} as tablecam keeps them")


def _entry_json(entry: Entry, at_s: float, name: str) -> Json:
    """An entry, so many seconds into its recording, as pages are sent it."""
    told: Json = {"n": entry.number, "t": round(max(0.0, at_s), 2), "kind": entry.kind}
    try:
        told |= _rounded(public_part(entry, name))
    except RecursionError as error:  # nobody keeps anything so deeply nested
        raise _is_none(entry, name) from error
    return told | ({"pictures": list(entry.pictures)} if entry.pictures else {})


def _position(document: Json) -> Json:
    return {"change": document}


def _move(document: Json) -> Json:
    return {"unit": document["unit"], "path": document["path"]}


def _play(document: Json) -> Json:
    """How a game begins; its options may name concealed cards, and its deeds are entries."""
    return {"position": document.get("position"), "after": _after(document.get("after", {}))}


def _deed(document: Json) -> Json:
    told: Json = {key: document[key] for key in ("deed", "undoes") if key in document}
    if "events" in document:
        told["events"] = [_event(each) for each in document["events"]]
    return told | {"after": _after(document.get("after", {}))}


def _event(document: Json) -> Json:
    beside = {key: document[key] for key in ("note", "dice") if document.get(key)}
    return {key: document[key] for key in _EVENT} | beside


def _after(document: Json) -> Json:
    """How the game stands, as far as pages tell it."""
    told: Json = {key: document[key] for key in _STANDING if key in document}
    state = document.get("state", {})
    told |= {"sides": state["sides"]} if "sides" in state else {}
    found = state.get("round", {})
    return told | {"round": {key: found[key] for key in _ROUND if key in found}}


def _ruling(document: Json) -> Json:
    return {key: document[key] for key in _RULED if key in document}


def _dispute(document: Json) -> Json:
    return {"dispute": document["dispute"]}


def _notice(document: Json) -> Json:
    return {"text": document["text"]}


def _picture(document: Json) -> Json:
    return {"of": document["of"]}


_TOLD: Final[Mapping[Kind, Callable[[Json], Json]]] = {
    "position": _position,
    "move": _move,
    "play": _play,
    "deed": _deed,
    "ruling": _ruling,
    "dispute": _dispute,
    "notice": _notice,
    "picture": _picture,
}


def _rounded(value: Any) -> Any:
    """JSON with its numbers as short as drawings need them."""
    if isinstance(value, float):
        return round(value, _PLACES)
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_rounded(each) for each in value]
    return value
