"""Divides a recording into scenes: a picture and words, shown for a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final

from tablecam.documents import Json
from tablecam.errors import BadInput
from tablecam.geometry.shapes import Shape
from tablecam.record.entries import Entry, Kind
from tablecam.record.journal import Journal
from tablecam.replay.moment import document_after
from tablecam.replay.words import ANSWERS
from tablecam.rules.descriptions import Described, Standing
from tablecam.rules.games import described
from tablecam.table.model import Position
from tablecam.table.position_file import position_from_json
from tablecam.table.sides import side_name, side_plural

MOVE_S: Final = 0.8
"""How long a movement takes."""
_MIN_S, _MAX_S = 1.2, 4.0
_S_PER_LETTER: Final = 0.035
"""Reading speed, about twice as fast as speech."""
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
    """A scene of a film: the table and words, shown for a time.

    `before` is the position from which units move in this scene, None if nothing moves. `markers`
    are the units' states in the game, in a few letters; `photograph` is the newest entry with a
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
        """How long the scene stays once nothing moves: as long as its words take to read."""
        # The words of a movement were shown before it.
        if not self.words or self.before is not None:
            return 0.3
        return min(_MAX_S, max(_MIN_S, _S_PER_LETTER * len(self.words)))


def scenes(journal: Journal) -> Iterator[Scene]:
    """Yields the scenes of a recording in order; none before the first position.

    Raises:
        BadInput: The recording cannot be read, or is damaged.
    """
    telling = SceneBuilder(journal.name)
    for entry in journal.entries(*SHOWN):
        yield from telling.scenes_of(entry)


class SceneBuilder:
    """Converts entries to scenes one by one, as a recording may still be in progress.

    `name` is the recording's name in errors; `now` is the newest scene, None before the first.
    """

    def __init__(self, name: str) -> None:
        self.now: Scene | None = None
        self._name = name
        self._document: Json | None = None

    def scenes_of(self, entry: Entry) -> Iterator[Scene]:
        """Yields the scenes of the next entry.

        Raises:
            BadInput: The entry does not follow from those before it, or is not valid for its kind.
        """
        try:
            yield from self._of(entry)
        except BadInput:
            raise
        except (LookupError, TypeError, AttributeError, ValueError) as error:
            because = f"entry {entry.number} is not a valid {entry.kind}"
            raise BadInput(self._name, because) from error

    def _of(self, entry: Entry) -> Iterator[Scene]:
        if "table" in entry.pictures and self.now is not None:
            self.now = replace(self.now, photograph=entry.number)
        if entry.kind == "picture":
            # The next scene shows it.
            return
        position = self._position(entry)
        if position is not None and self.now is None:
            self.now = Scene(entry.number, position)
        if self.now is not None:
            for scene in _entry_scenes(self.now, entry, position):
                self.now = scene
                yield scene

    def _position(self, entry: Entry) -> Position | None:
        """Returns the position after an entry that has one."""
        if entry.kind not in {"position", "play"}:
            return None
        document = self._document_after(entry)
        position = position_from_json(document, self._name, games=(document["game"],))
        # Only now is the document known to be valid.
        self._document = document
        return position

    def _document_after(self, entry: Entry) -> Json:
        if entry.kind == "play":
            position: Json = entry.document["position"]
            return position
        return document_after(self._document, entry, self._name)


def _entry_scenes(now: Scene, entry: Entry, position: Position | None) -> Iterator[Scene]:
    """Yields the scenes of an entry that follow the one being shown."""
    next_scene = replace(now, entry=entry.number, words="", rule="", shapes=(), before=None)
    if position is not None:
        # Where a game begins nothing moves.
        before = now.position if entry.kind == "position" and position != now.position else None
        next_scene = replace(next_scene, position=position, before=before)
    after = entry.document.get("after")
    if after is not None:
        game = described(next_scene.position.game)
        words = headline(game.standing(after["state"]))
        next_scene = replace(next_scene, headline=words, markers=_markers(game, after))
    match entry.kind:
        case "position":
            # Otherwise nothing has moved.
            if next_scene.before is not None or now.entry == entry.number:
                # The words that led to the movement stay while it is shown.
                yield replace(next_scene, words=now.words)
        case "play":
            yield replace(next_scene, words="The game begins.")
        case "deed":
            yield from _action_scenes(next_scene, entry.document)
        case "dispute":
            yield _dispute_scene(next_scene, entry.document["dispute"])
        case _:
            yield replace(next_scene, words=entry.document["text"])


def _action_scenes(next_scene: Scene, document: Json) -> Iterator[Scene]:
    taken_back = len(document.get("undoes", ()))
    if taken_back:
        actions = f"The last {taken_back} actions are" if taken_back > 1 else "The last action is"
        yield replace(next_scene, words=f"{actions} taken back.")
    for event in document.get("events", ()):
        shapes = tuple(map(shape_from_json, event["evidence"]))
        words, rule = event["text"], event["rule"] or ""
        yield replace(next_scene, words=words, rule=rule, shapes=shapes)


def _dispute_scene(next_scene: Scene, dispute: Json) -> Scene:
    answer = dispute.get("answer") or {}
    answer_text = ANSWERS.get(answer.get("answer", ""), "")
    words = f"Disputed: {dispute['question']['text']} {answer_text.capitalize()}".strip()
    shapes = tuple(map(shape_from_json, answer.get("evidence", ())))
    return replace(next_scene, words=words, rule=answer.get("rule", ""), shapes=shapes)


def headline(standing: Standing) -> str:
    """Returns a game's status in one line: the turn, the active side, each side's first figure.

    >>> from tablecam.rules.descriptions import Figure, SideStanding
    >>> side = SideStanding("french", (Figure("morale", 12),))
    >>> headline(Standing((side,), turn=3, turn_word="round", active="french"))
    'Round 3 · French · French: morale 12'
    """
    parts = [] if standing.turn is None else [f"{standing.turn_word.capitalize()} {standing.turn}"]
    parts += [side_plural(standing.active)] if standing.active else []
    parts += [
        f"{side_name(side.name)}: {side.figures[0].label} {side.figures[0].value}"
        for side in standing.sides
        if side.figures
    ]
    return " · ".join(parts)


def _markers(game: Described, after: Json) -> Mapping[str, str]:
    """Returns the markers of each unit in a few letters."""
    shown = ((unit, game.markers(state)) for unit, state in after["markers"].items())
    return MappingProxyType(
        {unit: " ".join(_brief(m.text) for m in markers) for unit, markers in shown if markers}
    )


def _brief(label: str) -> str:
    """Abbreviates the label of a marker: its initial with its number.

    >>> _brief("2 disruptions"), _brief("smoke")
    ('D2', 'S')
    """
    words = label.split()
    letter = next((word[0].upper() for word in words if word[0].isalpha()), "")
    return letter + next((word for word in words if word.isdecimal()), "")


def shape_from_json(data: Json) -> Shape:
    """Returns a shape from its document."""
    points = tuple((float(x), float(y)) for x, y in data["points_mm"])
    return Shape(data["kind"], points, data["role"], data.get("label", ""))
