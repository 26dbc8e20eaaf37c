"""A recording as scenes: what is seen, what is said, and for how long, one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final

from tablecam.errors import BadInput
from tablecam.geometry.shapes import Shape
from tablecam.record.entries import Entry, Kind
from tablecam.record.journal import Journal
from tablecam.replay.moment import document_after
from tablecam.replay.words import ANSWERS
from tablecam.table.model import Position
from tablecam.table.position_file import position_from_json
from tablecam.table.sides import side_name

Json = dict[str, Any]

MOVE_S: Final = 0.8
"""How long units take from where they lay to where they lie."""
_LEAST_S, _MOST_S = 1.2, 4.0
_S_PER_LETTER: Final = 0.035
"""Said aloud, a sentence takes about twice as long; readers are faster."""
SHOWN: Final[tuple[Kind, ...]] = (
    "position",
    "play",
    "deed",
    "dispute",
    "notice",
    "picture",
)


@dataclass(frozen=True, slots=True)
class Scene:
    """What a film shows for a while.

    `before` is where units come from that move in it, None where nothing moves. `markers` are what
    the game knows of units, in a few letters, by unit; `photograph` is the newest entry with a
    picture of the table, None before the first.
    """

    entry: int
    position: Position
    headline: str = ""
    words: str = ""
    rule: str = ""
    shapes: tuple[Shape, ...] = ()
    before: Position | None = None
    markers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    photograph: int | None = None

    @property
    def shown_s(self) -> float:
        """How long it stands once nothing moves any more: as long as its words take to read."""
        if not self.words or self.before is not None:  # what is said was read before they moved
            return 0.3
        return min(_MOST_S, max(_LEAST_S, _S_PER_LETTER * len(self.words)))


def scenes(journal: Journal) -> Iterator[Scene]:
    """The scenes of a recording in order; none before the first position.

    Raises:
        BadInput: The recording cannot be read, or is damaged.
    """
    telling = Telling(journal.name)
    for entry in journal.entries(*SHOWN):
        yield from telling.of(entry)


class Telling:
    """Makes scenes of entries as they come: a recording may still be going on.

    `name` is what errors call the recording; `now` is the newest scene, None before the first.
    """

    def __init__(self, name: str) -> None:
        self.now: Scene | None = None
        self._name = name
        self._document: Json | None = None

    def of(self, entry: Entry) -> Iterator[Scene]:
        """The scenes that the next entry makes.

        Raises:
            BadInput: The entry does not follow from those before it, or says nothing of its kind.
        """
        try:
            yield from self._of(entry)
        except BadInput:
            raise
        except (LookupError, TypeError, AttributeError, ValueError) as error:
            because = f"entry {entry.number} is no {entry.kind} as tablecam keeps them"
            raise BadInput(self._name, because) from error

    def _of(self, entry: Entry) -> Iterator[Scene]:
        if "table" in entry.pictures and self.now is not None:
            self.now = replace(self.now, photograph=entry.number)
        if entry.kind == "picture":
            return  # it is seen with the next scene
        position = self._position(entry)
        if position is not None and self.now is None:
            self.now = Scene(entry.number, position)
        if self.now is not None:
            for scene in _of_entry(self.now, entry, position):
                self.now = scene
                yield scene

    def _position(self, entry: Entry) -> Position | None:
        """Where all lies after an entry that says so."""
        if entry.kind not in {"position", "play"}:
            return None
        document = self._document_after(entry)
        position = position_from_json(document, self._name, games=(document["game"],))
        self._document = document
        return position

    def _document_after(self, entry: Entry) -> Json:
        if entry.kind == "play":
            position: Json = entry.document["position"]
            return position
        return document_after(self._document, entry, self._name)


def _of_entry(now: Scene, entry: Entry, position: Position | None) -> Iterator[Scene]:
    """The scenes that an entry makes after the one that is shown."""
    fresh = replace(now, entry=entry.number, words="", rule="", shapes=(), before=None)
    if position is not None:
        before = now.position if entry.kind == "position" and position != now.position else None
        fresh = replace(fresh, position=position, before=before)
    after = entry.document.get("after")
    if after is not None:
        fresh = replace(fresh, headline=headline(after), markers=_markers(after))
    match entry.kind:
        case "position":
            if fresh.before is not None or now.entry == entry.number:  # else all lies as before
                yield replace(fresh, words=now.words)
        case "play":
            yield replace(fresh, words="The game begins.")
        case "deed":
            yield from _of_deed(fresh, entry.document)
        case "dispute":
            yield _of_dispute(fresh, entry.document["dispute"])
        case _:
            yield replace(fresh, words=entry.document["text"])


def _of_deed(fresh: Scene, document: Json) -> Iterator[Scene]:
    taken_back = len(document.get("undoes", ()))
    if taken_back:
        many = f"The last {taken_back} actions are" if taken_back > 1 else "The last action is"
        yield replace(fresh, words=f"{many} taken back.")
    for event in document.get("events", ()):
        shapes = tuple(map(shape_from_json, event["evidence"]))
        words, rule = event["text"], event["rule"] or ""
        yield replace(fresh, words=words, rule=rule, shapes=shapes)


def _of_dispute(fresh: Scene, dispute: Json) -> Scene:
    answer = dispute.get("answer") or {}
    said = ANSWERS.get(answer.get("answer", ""), "")
    words = f"Disputed: {dispute['question']['text']} {said.capitalize()}".strip()
    shapes = tuple(map(shape_from_json, answer.get("evidence", ())))
    return replace(fresh, words=words, rule=answer.get("rule", ""), shapes=shapes)


def headline(after: Json) -> str:
    """How a game stands, in a line: the round, whose it is, and the sides' morale.

    `after` is what a deed's document has of it.
    """
    state = after["state"]
    of_round = state.get("round") or {}
    parts = [f"Round {of_round['number']}"] if "number" in of_round else []
    parts += [f"{side_name(of_round['active'])} is active"] if of_round.get("active") else []
    parts += [
        f"{side_name(side['name'])}: morale {side['morale']}"
        for side in state.get("sides", ())
        if "morale" in side
    ]
    return " · ".join(parts)


def _markers(after: Json) -> Mapping[str, str]:
    """What the game knows of each unit, as short as it can be written."""
    return MappingProxyType(
        {unit: _short(marked) for unit, marked in after["markers"].items() if _short(marked)}
    )


def _short(marked: Mapping[str, Any]) -> str:
    """The first letter of each thing that is so, with its number.

    >>> _short({"disruption": 2, "smoke": True, "broken": False})
    'D2 S'
    """
    letters = [
        name[0].upper() + (str(value) if value is not True else "")
        for name, value in marked.items()
        if value and not isinstance(value, str)
    ]
    return " ".join(letters)


def shape_from_json(data: Json) -> Shape:
    """A shape as documents carry it."""
    points = tuple((float(x), float(y)) for x, y in data["points_mm"])
    return Shape(data["kind"], points, data["role"], data.get("label", ""))
