"""A recording checked by a sceptic: what was done is done again, what was ruled is ruled again.

The engine is handed the actions and dice as they were kept, and has to say the same of them; the
rulebook is handed each dispute's position, and the referee where all lay when hands had moved.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import tablecam
from tablecam.errors import BadInput
from tablecam.record.entries import Entry, Json, Kind
from tablecam.replay.differences import Difference, first_difference
from tablecam.replay.rerun import Rerun
from tablecam.rules.books import book_of
from tablecam.rules.games import game_of
from tablecam.table.position_file import position_from_json

_DEED_KEYS = ("entry", "deed", "undoes", "events", "after")


@dataclass(frozen=True, slots=True)
class Fault:
    """The first entry that does not hold: which, and why, in one sentence."""

    entry: int
    at: datetime
    kind: Kind
    because: str

    def to_json(self) -> Json:
        """The fault as documents carry it."""
        about = {"entry": self.entry, "at": self.at.isoformat(), "kind": self.kind}
        return about | {"because": self.because}

    def __str__(self) -> str:
        return f"entry {self.entry} ({self.kind}, {self.at:%H:%M:%S}): {self.because}"


@dataclass(slots=True)
class Checked:
    """What was checked so far: `counts` of actions, rolls, ... in words; and the first `fault`."""

    counts: Counter[str] = field(default_factory=Counter)
    fault: Fault | None = None


class Check:
    """Goes through a recording entry by entry; `checked` says how far it held.

    Args:
        game: The game's name.
        name: What errors call the recording.
        written_by: The tablecam that wrote it: what an older one did not tell, or told in other
            words, is no difference.

    Raises:
        BadInput: There are neither an engine nor rulings for the game.
    """

    def __init__(self, game: str, name: str, written_by: str = tablecam.__version__) -> None:
        engine = game_of(game)
        self._book = book_of(game)
        if engine is None or self._book is None:
            raise BadInput(name, f"tablecam has no rules for {game}: there is nothing to check by")
        self._rerun = Rerun(engine, name)
        self._name = name
        self._game = game
        self._is_older = written_by != tablecam.__version__
        self.checked = Checked()
        self._checks: dict[Kind, Callable[[Entry], str | None]] = {
            "position": self._position,
            "play": self._play,
            "deed": self._deed,
            "ruling": self._ruling,
            "dispute": self._dispute,
        }

    def entry(self, entry: Entry) -> bool:
        """Check the next entry; whether it holds."""
        check = self._checks.get(entry.kind)
        if check is None:
            return True
        try:
            because = check(entry)
        except BadInput as refused:
            because = f"cannot be done again: {refused}"
        except (KeyError, TypeError, AttributeError) as error:
            because = f"expected a {entry.kind}, but its document is none ({error!r})"
        if because is not None:
            self.checked.fault = Fault(entry.number, entry.at, entry.kind, because)
        return because is None

    def _position(self, entry: Entry) -> str | None:
        self._rerun.see(entry)
        self._count("position")
        return None

    def _play(self, entry: Entry) -> str | None:
        found = self._rerun.begin(entry)
        self._count("game")
        return self._difference(entry.document, found, ("after",))

    def _deed(self, entry: Entry) -> str | None:
        found = self._rerun.act(entry)
        self._count_deed(entry.document)
        return self._difference(entry.document, found, _DEED_KEYS)

    def _count_deed(self, document: Json) -> None:
        action = document["entry"].get("action", document["entry"])
        what = "roll" if action.get("type") == "roll" else "action"
        self._count(next((key for key in ("undo", "remark") if key in action), what))
        self.checked.counts["event"] += len(document.get("events", ()))
        self.checked.counts["state"] += "after" in document

    def _ruling(self, entry: Entry) -> str | None:
        unit = entry.document["unit"]
        because: str | None = f"the referee now makes nothing of what a hand did with {unit}"
        for place, found in enumerate(self._rerun.rulings(unit)):
            differs = self._difference(entry.document, found, tuple(found))
            if differs is None:
                because = None
                break
            because = differs if not place else because
        self._count("ruling")
        return because

    def _dispute(self, entry: Entry) -> str | None:
        asked: dict[str, Any] = entry.document["dispute"]
        source = f"{self._name}: entry {entry.number}"
        position = position_from_json(entry.document["position"], source, games=(self._game,))
        if self._book is None:
            return None
        handle = self._book.rulings(position, asked["active"])
        line = self._book.answer(handle, asked["question"]["id"])
        answer = None if line.answer is None else line.answer.to_json()
        self._count("dispute")
        return self._difference(asked, {"answer": answer, "line": line.to_json()})

    def _difference(
        self, kept: Json, found: Json, keys: Iterable[str] = ("answer", "line")
    ) -> str | None:
        """Where what was kept under some keys is not found so again; what was not kept is not."""
        for key in keys:
            if key in kept and key in found:
                differs = first_difference(kept[key], found[key], is_older=self._is_older)
                if differs is not None:
                    return str(Difference((key, *differs.path), differs.kept, differs.found))
        return None

    def _count(self, what: str) -> None:
        self.checked.counts[what] += 1
