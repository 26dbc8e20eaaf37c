"""Checks a recording by replaying its actions and asking for its rulings again.

The engine replays the recorded actions and dice, the rulebook gets each dispute's position, and
the referee the tables after moves by hand. All must give the recorded result. Drawings of a ruling
may change between versions: they are counted separately and are no fault.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

import tablecam
from tablecam.documents import Json
from tablecam.errors import BadInput
from tablecam.record.entries import Entry, Kind
from tablecam.replay.film import public_part
from tablecam.replay.moment import document_after
from tablecam.replay.rerun import Rerun
from tablecam.rules.books import book_of
from tablecam.rules.games import game_of
from tablecam.rules.measuring import Measures
from tablecam.table.model import FREE
from tablecam.table.position_file import position_from_json
from tablecam.toml_lines import KeyPath
from tablecam.wording import quoted, written

SAME: Final = 1e-3
"""Tolerance for lengths in mm and other numbers: documents are rounded to a tenth of it, and the
last digits differ between machines."""

_DRAWINGS: Final = frozenset({"evidence", "ghost"})
"""Keys of shapes that illustrate a ruling: they may change while the answer stays the same."""
_SENTENCES: Final = frozenset({"text", "because", "question", "reading"})
"""Keys of sentences, which another version may word differently."""
_ESTIMATES: Final = frozenset({"probability", "sigma_mm", "margin_mm"})
"""Keys of numbers that another version may estimate differently, with the same answer."""
_ABSENT: Final = object()


@dataclass(frozen=True, slots=True)
class Difference:
    """A value that differs from the recording. A missing value is None, or "nothing" in words."""

    path: KeyPath
    recorded: str
    recomputed: str

    @property
    def is_drawn(self) -> bool:
        """Whether it is in the drawing of a ruling, not in the ruling itself."""
        return not _DRAWINGS.isdisjoint(self.path)

    @property
    def is_worded(self) -> bool:
        """Whether it is in a sentence."""
        return not _SENTENCES.isdisjoint(self.path)

    @property
    def is_estimated(self) -> bool:
        """Whether it is a number that says how sure an answer is."""
        return bool(self.path) and self.path[-1] in _ESTIMATES

    def __str__(self) -> str:
        place = f"{written(self.path)}: " if self.path else ""
        return f"{place}recorded {self.recorded}, but the rules give {self.recomputed}"


def differences(
    recorded: object, recomputed: object, *, is_older: bool = False
) -> Iterator[Difference]:
    """Yields the values, in recorded order, that differ when computed again.

    >>> print(next(differences({"a": [1, 2.0]}, {"a": [1, 2.5]})))
    a[2]: recorded 2.0, but the rules give 2.5
    """
    yield from _differences((), recorded, recomputed, is_older)


def _differences(
    path: KeyPath, recorded: Any, recomputed: Any, is_older: bool
) -> Iterator[Difference]:
    if isinstance(recorded, dict) and isinstance(recomputed, dict):
        # An older program recorded less: missing values are no difference.
        new = () if is_older else tuple(key for key in recomputed if key not in recorded)
        for key in (*recorded, *new):
            values = recorded.get(key, _ABSENT), recomputed.get(key, _ABSENT)
            yield from _differences((*path, key), *values, is_older)
    elif isinstance(recorded, list | tuple) and isinstance(recomputed, list | tuple):
        for index in range(max(len(recorded), len(recomputed))):
            values = _item_at(recorded, index), _item_at(recomputed, index)
            yield from _differences((*path, index), *values, is_older)
    elif not _is_same(recorded, recomputed):
        yield Difference(path, _quoted_or_nothing(recorded), _quoted_or_nothing(recomputed))


def _item_at(values: Sequence[Any], index: int) -> Any:
    return values[index] if index < len(values) else _ABSENT


def _is_same(recorded: Any, recomputed: Any) -> bool:
    if _is_number(recorded) and _is_number(recomputed):
        return recorded == recomputed or math.isclose(
            recorded, recomputed, rel_tol=0.0, abs_tol=SAME
        )
    # In Python True equals 1, in JSON it does not.
    return type(recorded) is type(recomputed) and bool(recorded == recomputed)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _quoted_or_nothing(value: object) -> str:
    return "nothing" if value is _ABSENT else quoted(value)


_ACTION_KEYS = ("entry", "deed", "undoes", "events", "after")


@dataclass(frozen=True, slots=True)
class Fault:
    """The first entry that fails the check, with the reason in one sentence."""

    entry: int
    at: datetime
    kind: Kind
    because: str

    def to_json(self) -> Json:
        """Returns the fault as documents carry it."""
        about = {"entry": self.entry, "at": self.at.isoformat(), "kind": self.kind}
        return about | {"because": self.because}

    def __str__(self) -> str:
        return f"entry {self.entry} ({self.kind}, {self.at:%H:%M:%S}): {self.because}"


@dataclass(slots=True)
class CheckResult:
    """The result so far: `counts` of actions, rolls, ... by noun, and the first `fault`.

    `reworked` counts entries that pass but are drawn differently now or, if another version
    recorded them, worded differently.
    """

    counts: Counter[str] = field(default_factory=Counter)
    fault: Fault | None = None
    reworked: int = 0


@dataclass(frozen=True, slots=True)
class _Comparison:
    """The result of comparing an entry: why it fails, if so, and whether it is reworked."""

    because: str | None
    is_reworked: bool = False


class RecordingCheck:
    """Checks a recording entry by entry; `checked` is the result so far.

    Args:
        game: The game's name.
        name: The recording's name in errors.
        written_by: The version that wrote it: omissions and other wording of an older one are no
            differences.

    Raises:
        BadInput: tablecam does not know the game.
    """

    def __init__(self, game: str, name: str, written_by: str = tablecam.__version__) -> None:
        engine = game_of(game)
        if engine is None and game != FREE:
            raise BadInput(name, f"tablecam has no rules for {game} to check by")
        self._book = book_of(game) or Measures(game)
        self._table: Json | None = None
        self._name = name
        self._game = game
        self._is_older = written_by != tablecam.__version__
        self.checked = CheckResult()
        self._checks: dict[Kind, Callable[[Entry], _Comparison]] = {
            "position": self._position_alone,
            "dispute": self._dispute,
        }
        # On a table without a rulebook, nothing is played.
        if engine is not None:
            self._rerun = Rerun(engine, name)
            self._checks |= {
                "position": self._position,
                "play": self._play,
                "deed": self._action,
                "ruling": self._ruling,
            }

    def entry(self, entry: Entry) -> bool:
        """Checks the next entry and returns whether it passes."""
        check = self._checks.get(entry.kind, self._document_only)
        try:
            compared = check(entry)
        except BadInput as refused:
            compared = _Comparison(f"cannot be replayed: {refused}")
        # Documents are not validated first, so a damaged one may fail anywhere.
        except (KeyError, TypeError, AttributeError) as error:
            because = f"its document is not a valid {entry.kind} ({error!r})"
            compared = _Comparison(because)
        self.checked.reworked += compared.is_reworked
        if compared.because is not None:
            self.checked.fault = Fault(entry.number, entry.at, entry.kind, compared.because)
        return compared.because is None

    def _document_only(self, entry: Entry) -> _Comparison:
        """Checks only the document of an entry that has no consequences to recompute."""
        public_part(entry, self._name)
        return _Comparison(None)

    def _position_alone(self, entry: Entry) -> _Comparison:
        self._table = document_after(self._table, entry, self._name)
        position_from_json(self._table, f"{self._name}: entry {entry.number}", games=(self._game,))
        self._count("position")
        return _Comparison(None)

    def _position(self, entry: Entry) -> _Comparison:
        self._rerun.see(entry)
        self._count("position")
        return _Comparison(None)

    def _play(self, entry: Entry) -> _Comparison:
        recomputed = self._rerun.begin(entry)
        self._count("game")
        return self._compared(entry.document, recomputed, ("after",))

    def _action(self, entry: Entry) -> _Comparison:
        recomputed = self._rerun.act(entry)
        self._count_action(entry.document)
        return self._compared(entry.document, recomputed, _ACTION_KEYS)

    def _count_action(self, document: Json) -> None:
        # With a note, the action is wrapped.
        action = document["entry"].get("action", document["entry"])
        noun = "roll" if action.get("type") == "roll" else "action"
        self._count(next((key for key in ("undo", "remark") if key in action), noun))
        self.checked.counts["event"] += len(document.get("events", ()))
        self.checked.counts["state"] += "after" in document

    def _ruling(self, entry: Entry) -> _Comparison:
        unit = entry.document["unit"]
        comparison: _Comparison | None = None
        for again in self._rerun.rulings(unit):
            compared = self._compared(entry.document, again, tuple(again))
            # A ruling holds if any of the recomputed ones agrees with it.
            comparison = compared if comparison is None or compared.because is None else comparison
            if comparison.because is None:
                break
        self._count("ruling")
        nothing = f"the referee now has no ruling on {unit}'s move by hand"
        return comparison or _Comparison(nothing)

    def _dispute(self, entry: Entry) -> _Comparison:
        asked: dict[str, Any] = entry.document["dispute"]
        source = f"{self._name}: entry {entry.number}"
        position = position_from_json(entry.document["position"], source, games=(self._game,))
        handle = self._book.rulings(position, asked["active"])
        line = self._book.answer(handle, asked["question"]["id"])
        answer = None if line.answer is None else line.answer.to_json()
        self._count("dispute")
        return self._compared(asked, {"answer": answer, "line": line.to_json()}, ("answer", "line"))

    def _compared(self, recorded: Json, recomputed: Json, keys: Iterable[str]) -> _Comparison:
        """Compares the values under some keys; keys missing on either side are skipped."""
        common = [key for key in keys if key in recorded and key in recomputed]
        recorded_values, recomputed_values = (
            {key: document[key] for key in common} for document in (recorded, recomputed)
        )
        is_reworked = False
        for difference in differences(recorded_values, recomputed_values, is_older=self._is_older):
            may_differ = self._is_older and (difference.is_worded or difference.is_estimated)
            if not (difference.is_drawn or may_differ):
                return _Comparison(str(difference))
            is_reworked = True
        return _Comparison(None, is_reworked)

    def _count(self, noun: str) -> None:
        self.checked.counts[noun] += 1
