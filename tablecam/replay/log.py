"""Writes the log of a recorded game, line by line, without concealed facts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain, pairwise
from typing import Any, Final

from tablecam.documents import Json
from tablecam.record.entries import Entry, Kind
from tablecam.referee.intents import Intent
from tablecam.replay.words import ANSWERS
from tablecam.rules.descriptions import Described
from tablecam.rules.game_files import FORMATS
from tablecam.table.sides import side_name, side_plural
from tablecam.uncertainty.answer import margin_words
from tablecam.wording import counted, quoted

LogLines = Iterator["LogLine"]


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line of the log. `kind` is the event's, or the entry's if it is no action.

    `dice` are the values rolled, `note` the players' comment. `is_undone` if it was undone later.
    """

    entry: int
    at: datetime
    kind: str
    text: str
    rule: str | None = None
    dice: tuple[int, ...] = ()
    note: str = ""
    is_undone: bool = False

    def to_json(self) -> Json:
        """Returns the line as documents carry it."""
        return {
            "entry": self.entry,
            "at": self.at.isoformat(),
            "kind": self.kind,
            "text": self.text,
            "rule": self.rule,
            "dice": list(self.dice),
            "note": self.note,
            "is_undone": self.is_undone,
        }


@dataclass(slots=True)
class Log:
    """Converts the entries of a recording of a `game`, in order, to `lines`."""

    game: Described
    lines: list[LogLine] = field(default_factory=list)
    _lines_by_action: dict[int, range] = field(default_factory=dict)
    _disputes: int = 0

    def add(self, entry: Entry) -> None:
        """Adds the lines of the next entry."""
        formatter = _FORMATTERS.get(entry.kind)
        if formatter is None:
            return
        try:
            self.lines += [*formatter(self, entry)]
        # One damaged entry must not hide the rest of the log.
        except (LookupError, TypeError, AttributeError, ValueError):
            self.lines.append(_line(entry, f"this {entry.kind} cannot be read"))

    def play(self, entry: Entry) -> LogLines:
        """Yields the lines that begin a game and its first turn."""
        # The numbers of actions restart in each game.
        self._lines_by_action.clear()
        position, options = entry.document["position"], entry.document.get("options", {})
        count = Counter(unit["side"] for unit in position["units"])
        sides = [f"{side_plural(side)} ({counted(n, 'unit')})" for side, n in count.items()]
        agreed = [_agreed(key, value, count) for key, value in options.items()]
        began = ": ".join(("a game begins", *filter(None, [" v ".join(sides)])))
        yield _line(entry, "; ".join((began, *agreed)))
        # The first turn has no event of its own.
        if state := entry.document.get("after", {}).get("state"):
            standing = self.game.standing(state)
            if standing.turn is not None and standing.active:
                turn = f"{standing.turn_word} {standing.turn}, {side_name(standing.active)}"
                yield _line(entry, turn, kind="turn")

    def action(self, entry: Entry) -> LogLines:
        """Yields the action, and the events that followed."""
        document = entry.document
        if document.get("undoes"):
            yield self._undone(entry, document["undoes"])
        elif "remark" in document["entry"] and not document.get("events"):
            yield _line(entry, _remark(document["entry"]["remark"]), kind="remark")
        first_line = len(self.lines)
        events = [*_events(entry, document)]
        if document.get("deed") is not None:
            # A later undo marks these lines.
            self._lines_by_action[document["deed"]] = range(first_line, first_line + len(events))
        yield from events

    def _undone(self, entry: Entry, undoes: list[int]) -> LogLine:
        """Marks the lines of undone actions, and returns the line that says so."""
        for action in undoes:
            for line_number in self._lines_by_action.get(action, ()):
                self.lines[line_number] = replace(self.lines[line_number], is_undone=True)
        # The earliest action taken back, or the first after it that has a line.
        lines = (self._lines_by_action.get(action, ()) for action in reversed(undoes))
        first = next(chain.from_iterable(lines), None)
        target = "" if first is None else f", back to before: {self.lines[first].text}"
        steps = "the last action" if len(undoes) == 1 else f"the last {len(undoes)} actions"
        return _line(entry, f"{steps} taken back{target}", kind="undo")

    def move(self, entry: Entry) -> LogLines:
        """Yields a unit's move by hand."""
        length_mm = path_mm(entry.document["path"])
        if length_mm:
            yield _line(entry, f"{entry.document['unit']} is moved by hand, {length_mm:.0f} mm")

    def ruling(self, entry: Entry) -> LogLines:
        """Yields the referee's ruling on a move by hand."""
        answer, text = entry.document["answer"], entry.document["text"]
        because = (answer.get("because") or "") if answer["answer"] == "no" else ""
        note, is_open = "", answer["answer"] == "too_close" and not answer["margin_mm"]
        if text.endswith("?"):
            # A margin of a path says less than why it is refused.
            words = f"no: {because}" if because else "" if is_open else answer_words(answer)
            text = f"{text} {words}".strip()
        elif answer["answer"] == "no":
            # Some say what was moved and must be put back, and need no more words.
            note = f"refused: {because}" if because and because != text else ""
        else:
            # The move itself has a line once it is confirmed.
            return
        yield replace(_line(entry, text, answer["rule"]), note=note)

    def dispute(self, entry: Entry) -> LogLines:
        """Yields the question of a dispute and its answer."""
        self._disputes += 1
        dispute = entry.document["dispute"]
        answer = dispute.get("answer")
        text = f"dispute {self._disputes}: {dispute['question']['text']}"
        if answer is None:
            yield _line(entry, text)
        else:
            yield _line(entry, f"{text} {answer_words(answer)}", answer["rule"])
        if dispute.get("line"):
            yield _line(entry, dispute["line"]["text"])

    def notice(self, entry: Entry) -> LogLines:
        """Yields a notice on the camera, the disk, ..."""
        yield _line(entry, entry.document["text"])


def answer_words(answer: Json) -> str:
    """Returns an answer in words with its margin.

    >>> answer_words({"answer": "no", "margin_mm": -31.42, "sigma_mm": 0.24, "probability": 0.0})
    'no, by 31.4 ± 0.2 mm'
    """
    margin = margin_words(
        answer["answer"], answer["margin_mm"], answer["sigma_mm"], answer["probability"]
    )
    return ", ".join(filter(None, (ANSWERS.get(answer["answer"], str(answer["answer"])), margin)))


def path_mm(path: Iterable[Iterable[float]]) -> float:
    """Returns the length of a path of `[t_s, x_mm, y_mm, heading_deg]`."""
    places = [(x, y) for _, x, y, *_ in path]
    return sum(math.dist(one, other) for one, other in pairwise(places))


def _events(entry: Entry, document: Json) -> LogLines:
    for event in document.get("events", ()):
        dice = event.get("dice") or {}
        yield LogLine(
            entry.number,
            entry.at,
            event["kind"],
            event["text"],
            event.get("rule"),
            tuple(dice.get("values", ())),
            event.get("note", ""),
        )


def _agreed(key: str, value: object, sides: Container[object]) -> str:
    """Returns one of a game's options in words."""
    name = key.replace("_", " ")
    if value is True:
        return name
    if key in FORMATS:
        source = value.get("source", "owner") if isinstance(value, dict) else ""
        return f"{source} {name}"
    if isinstance(value, dict):
        choices = ", ".join(f"{side_name(side)} {choice}" for side, choice in value.items())
        return f"{name}: {choices}"
    return f"{name} {side_name(str(value)) if value in sides else value}"


def _remark(document: Any) -> str:
    """Returns a remark in words, and an intent spelt out."""
    intent = document.get("intent") if isinstance(document, dict) else None
    if not isinstance(intent, dict):
        return f"said: {quoted(document)}"
    return Intent.from_json(intent).sentence


def _line(entry: Entry, text: str, rule: str | None = None, kind: str | None = None) -> LogLine:
    return LogLine(entry.number, entry.at, kind or entry.kind, text, rule)


_FORMATTERS: Final[dict[Kind, Callable[[Log, Entry], LogLines]]] = {
    "play": Log.play,
    "deed": Log.action,
    "move": Log.move,
    "ruling": Log.ruling,
    "dispute": Log.dispute,
    "notice": Log.notice,
}
"""By kind of entry; positions and pictures have no line."""
