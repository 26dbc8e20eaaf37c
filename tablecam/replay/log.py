"""What happened in a recorded game, line by line, as everybody may know it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import pairwise
from typing import Any, Final

from tablecam.record.entries import Entry, Json, Kind
from tablecam.replay.words import ANSWERS, counted
from tablecam.table.sides import side_name
from tablecam.wording import quoted

Said = Iterator["LogLine"]

ROUND: Final = "round"
"""Events of this kind begin a part of the game, in every rule system."""


@dataclass(frozen=True, slots=True)
class LogLine:
    """One thing that happened. `kind` is the event's, or the entry's that is no deed.

    `dice` are as they came up, `note` what players said of it. `is_undone` when it was taken back
    later.
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
        """The line as documents carry it."""
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
    """Makes lines of a recording's entries, in their order; `lines` are those so far."""

    lines: list[LogLine] = field(default_factory=list)
    _deeds: dict[int, range] = field(default_factory=dict)
    _disputes: int = 0

    def add(self, entry: Entry) -> None:
        """Take in the next entry."""
        tell = _TELLERS.get(entry.kind)
        if tell is None:
            return
        try:
            self.lines += [*tell(self, entry)]
        except (LookupError, TypeError, AttributeError, ValueError):
            self.lines.append(_line(entry, f"this {entry.kind} cannot be read"))

    def play(self, entry: Entry) -> Said:
        """How a game begins."""
        self._deeds.clear()
        position, options = entry.document["position"], entry.document.get("options", {})
        count = Counter(unit["side"] for unit in position["units"])
        sides = [f"{side_name(side)} with {counted(n, 'unit')}" for side, n in count.items()]
        agreed = [_agreed(key, value, count) for key, value in options.items()]
        yield _line(entry, "; ".join(("a game begins: " + " against ".join(sides), *agreed)))

    def deed(self, entry: Entry) -> Said:
        """What was done, and what followed."""
        document = entry.document
        if document.get("undoes"):
            yield self._undone(entry, document["undoes"])
        elif "remark" in document["entry"]:
            yield _line(entry, _remark(document["entry"]["remark"]), kind="remark")
        begins = len(self.lines)
        events = [*_events(entry, document)]
        if document.get("deed") is not None:
            self._deeds[document["deed"]] = range(begins, begins + len(events))
        yield from events

    def _undone(self, entry: Entry, undoes: list[int]) -> LogLine:
        """Marks the lines of what was taken back; the line that says so."""
        for deed in undoes:
            for place in self._deeds.get(deed, ()):
                self.lines[place] = replace(self.lines[place], is_undone=True)
        first = next(
            (place for deed in reversed(undoes) for place in self._deeds.get(deed, ())), None
        )
        what = "" if first is None else f", back to before: {self.lines[first].text}"
        steps = "the last action" if len(undoes) == 1 else f"the last {len(undoes)} actions"
        return _line(entry, f"{steps} taken back{what}", kind="undo")

    def move(self, entry: Entry) -> Said:
        """What a hand did."""
        far_mm = path_mm(entry.document["path"])
        if far_mm:
            yield _line(entry, f"{entry.document['unit']} is moved by hand, {far_mm:.0f} mm")

    def ruling(self, entry: Entry) -> Said:
        """What the referee made of it."""
        answer, text = entry.document["answer"], entry.document["text"]
        # What is no question has its answer in it: what was moved, and that it is to be put back.
        said = f"{text} {answer_words(answer)}" if text.endswith("?") else text
        yield _line(entry, said, answer["rule"])

    def dispute(self, entry: Entry) -> Said:
        """What players asked."""
        self._disputes += 1
        asked = entry.document["dispute"]
        answer, said = asked.get("answer"), f"dispute {self._disputes}: {asked['question']['text']}"
        rule = None if answer is None else answer["rule"]
        yield _line(entry, said if answer is None else f"{said} {answer_words(answer)}", rule)
        if asked.get("line"):
            yield _line(entry, asked["line"]["text"])

    def notice(self, entry: Entry) -> Said:
        """What happened to the camera, the disk, ..."""
        yield _line(entry, entry.document["text"])


def answer_words(answer: Json) -> str:
    """An answer with by how much it holds or fails to.

    >>> answer_words({"answer": "no", "margin_mm": -31.42, "sigma_mm": 0.24, "probability": 0.0})
    'no, by 31.4 ± 0.2 mm'
    """
    word, margin_mm, sigma_mm = answer["answer"], answer["margin_mm"], answer["sigma_mm"]
    said = ANSWERS.get(word, str(word))
    if not math.isfinite(margin_mm) or (word != "too_close" and margin_mm == 0):
        return said  # no distance decides
    places = 2 if min(abs(margin_mm), sigma_mm or 1.0) < 0.1 else 1
    doubt = f" ± {sigma_mm:.{places}f}" if sigma_mm else ""
    likely = f", {answer['probability']:.0%} likely" if word == "too_close" else ""
    return f"{said}, by {abs(margin_mm):.{places}f}{doubt} mm{likely}"


def path_mm(path: Iterable[Iterable[float]]) -> float:
    """How far a path of `[t_s, x_mm, y_mm, heading_deg]` leads, along it."""
    places = [(x, y) for _, x, y, *_ in path]
    return sum(math.dist(one, other) for one, other in pairwise(places))


def _events(entry: Entry, document: Json) -> Said:
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
    """One of a game's options in words."""
    name = key.replace("_", " ")
    if value is True:
        return name
    if isinstance(value, dict):
        each = ", ".join(f"{side_name(side)} {agreed}" for side, agreed in value.items())
        return f"{name}: {each}"
    return f"{name} {side_name(str(value)) if value in sides else value}"


def _remark(document: Any) -> str:
    """A remark in words: what was meant, where it is an intent."""
    said = document.get("intent") if isinstance(document, dict) else None
    if not isinstance(said, dict):
        return f"said: {quoted(document)}"
    where = "within" if said["is_within"] else "just outside"
    return f"{said['unit']} is meant to end {where} {said['range_bw']:g} BW of {said['of']}"


def _line(entry: Entry, text: str, rule: str | None = None, kind: str | None = None) -> LogLine:
    return LogLine(entry.number, entry.at, kind or entry.kind, text, rule)


_TELLERS: Final[dict[Kind, Callable[[Log, Entry], Said]]] = {
    "play": Log.play,
    "deed": Log.deed,
    "move": Log.move,
    "ruling": Log.ruling,
    "dispute": Log.dispute,
    "notice": Log.notice,
}
"""By kind of entry; of positions and pictures there is nothing to say."""
