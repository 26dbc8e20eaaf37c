"""A recording checked by a sceptic: what was done is done again, what was ruled is ruled again.

The engine is handed the actions and dice as they were kept, and has to say the same of them; the
rulebook is handed each dispute's position, and the referee where all lay when hands had moved.
What shows a ruling may be drawn better by now: that is counted apart, and is no fault.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

import tablecam
from tablecam.errors import BadInput
from tablecam.record.entries import Entry, Json, Kind
from tablecam.replay.film import public_part
from tablecam.replay.rerun import Rerun
from tablecam.rules.books import book_of
from tablecam.rules.games import game_of
from tablecam.table.position_file import position_from_json
from tablecam.toml_lines import KeyPath
from tablecam.wording import quoted, written

SAME: Final = 1e-3
"""Two lengths in mm, or other numbers, that differ by less are the same: documents are rounded to a
tenth of it, and another machine's last digits are not ours."""

_DRAWINGS: Final = frozenset({"evidence", "ghost"})
"""Keys of shapes that show why, which are drawn better without any answer being another."""
_SENTENCES: Final = frozenset({"text", "because", "question", "reading"})
"""Keys of sentences, which another tablecam may put better."""
_ABSENT: Final = object()


@dataclass(frozen=True, slots=True)
class Difference:
    """A value that is not as it was kept. What is not there at all is None, in words too."""

    path: KeyPath
    kept: str
    found: str

    @property
    def is_drawn(self) -> bool:
        """Whether it is in a drawing, which shows what was ruled, and not in the ruling."""
        return not _DRAWINGS.isdisjoint(self.path)

    @property
    def is_worded(self) -> bool:
        """Whether it is in a sentence."""
        return not _SENTENCES.isdisjoint(self.path)

    def __str__(self) -> str:
        place = f"{written(self.path)}: " if self.path else ""
        return f"{place}it says {self.kept}, the rules now say {self.found}"


def differences(kept: object, found: object, *, is_older: bool = False) -> Iterator[Difference]:
    """The values, in the order in which they were kept, that are not found so again.

    What an older program kept says less: what it did not say is no difference.

    >>> print(next(differences({"a": [1, 2.0]}, {"a": [1, 2.5]})))
    a[2]: it says 2.0, the rules now say 2.5
    """
    yield from _differences((), kept, found, is_older)


def _differences(path: KeyPath, kept: Any, found: Any, is_older: bool) -> Iterator[Difference]:
    if isinstance(kept, dict) and isinstance(found, dict):
        new = () if is_older else tuple(key for key in found if key not in kept)
        for key in (*kept, *new):
            inside = kept.get(key, _ABSENT), found.get(key, _ABSENT)
            yield from _differences((*path, key), *inside, is_older)
    elif isinstance(kept, list | tuple) and isinstance(found, list | tuple):
        for place in range(max(len(kept), len(found))):
            inside = _at(kept, place), _at(found, place)
            yield from _differences((*path, place), *inside, is_older)
    elif not _is_same(kept, found):
        yield Difference(path, _words(kept), _words(found))


def _at(values: Sequence[Any], place: int) -> Any:
    return values[place] if place < len(values) else _ABSENT


def _is_same(kept: Any, found: Any) -> bool:
    if _is_number(kept) and _is_number(found):
        return kept == found or math.isclose(kept, found, rel_tol=0.0, abs_tol=SAME)
    return type(kept) is type(found) and bool(kept == found)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _words(value: object) -> str:
    return "nothing" if value is _ABSENT else quoted(value)


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
    """What was checked so far: `counts` of actions, rolls, ... in words; and the first `fault`.

    `reworked` are entries that hold, but are drawn otherwise now; or, where another tablecam kept
    them, put in other words.
    """

    counts: Counter[str] = field(default_factory=Counter)
    fault: Fault | None = None
    reworked: int = 0


@dataclass(frozen=True, slots=True)
class _Compared:
    """What was kept beside what is found now: what does not hold, and whether more is reworked."""

    because: str | None
    is_reworked: bool = False


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
        engine, book = game_of(game), book_of(game)
        if engine is None or book is None:
            raise BadInput(name, f"tablecam has no rules for {game}: there is nothing to check by")
        self._book = book
        self._rerun = Rerun(engine, name)
        self._name = name
        self._game = game
        self._is_older = written_by != tablecam.__version__
        self.checked = Checked()
        self._checks: dict[Kind, Callable[[Entry], _Compared]] = {
            "position": self._position,
            "play": self._play,
            "deed": self._deed,
            "ruling": self._ruling,
            "dispute": self._dispute,
        }

    def entry(self, entry: Entry) -> bool:
        """Check the next entry; whether it holds."""
        check = self._checks.get(entry.kind, self._told)
        try:
            compared = check(entry)
        except BadInput as refused:
            compared = _Compared(f"cannot be done again: {refused}")
        except (KeyError, TypeError, AttributeError) as error:
            because = f"expected a {entry.kind}, but its document is none ({error!r})"
            compared = _Compared(because)
        self.checked.reworked += compared.is_reworked
        if compared.because is not None:
            self.checked.fault = Fault(entry.number, entry.at, entry.kind, compared.because)
        return compared.because is None

    def _told(self, entry: Entry) -> _Compared:
        """What nothing follows from has only to say what its kind does."""
        public_part(entry, self._name)
        return _Compared(None)

    def _position(self, entry: Entry) -> _Compared:
        self._rerun.see(entry)
        self._count("position")
        return _Compared(None)

    def _play(self, entry: Entry) -> _Compared:
        found = self._rerun.begin(entry)
        self._count("game")
        return self._compared(entry.document, found, ("after",))

    def _deed(self, entry: Entry) -> _Compared:
        found = self._rerun.act(entry)
        self._count_deed(entry.document)
        return self._compared(entry.document, found, _DEED_KEYS)

    def _count_deed(self, document: Json) -> None:
        action = document["entry"].get("action", document["entry"])
        what = "roll" if action.get("type") == "roll" else "action"
        self._count(next((key for key in ("undo", "remark") if key in action), what))
        self.checked.counts["event"] += len(document.get("events", ()))
        self.checked.counts["state"] += "after" in document

    def _ruling(self, entry: Entry) -> _Compared:
        unit = entry.document["unit"]
        found: _Compared | None = None
        for again in self._rerun.rulings(unit):
            compared = self._compared(entry.document, again, tuple(again))
            found = compared if found is None or compared.because is None else found
            if found.because is None:
                break
        self._count("ruling")
        nothing = f"the referee now makes nothing of what a hand did with {unit}"
        return found or _Compared(nothing)

    def _dispute(self, entry: Entry) -> _Compared:
        asked: dict[str, Any] = entry.document["dispute"]
        source = f"{self._name}: entry {entry.number}"
        position = position_from_json(entry.document["position"], source, games=(self._game,))
        handle = self._book.rulings(position, asked["active"])
        line = self._book.answer(handle, asked["question"]["id"])
        answer = None if line.answer is None else line.answer.to_json()
        self._count("dispute")
        return self._compared(asked, {"answer": answer, "line": line.to_json()}, ("answer", "line"))

    def _compared(self, kept: Json, found: Json, keys: Iterable[str]) -> _Compared:
        """What was kept under some keys, beside what is found; what was not kept is left out."""
        both = [key for key in keys if key in kept and key in found]
        one, other = ({key: each[key] for key in both} for each in (kept, found))
        is_reworked = False
        for each in differences(one, other, is_older=self._is_older):
            if not (each.is_drawn or (self._is_older and each.is_worded)):
                return _Compared(str(each))
            is_reworked = True
        return _Compared(None, is_reworked)

    def _count(self, what: str) -> None:
        self.checked.counts[what] += 1
