"""What a mover says before he moves: "just outside 4 BW of B1". It is checked when he has moved.

Where the camera cannot tell a hair's breadth, what was said beforehand decides, as among players.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from tablecam.errors import BadInput
from tablecam.rules.game import Closed, Json
from tablecam.rules.play import Play
from tablecam.rules.play_log import Remark
from tablecam.table.model import Position
from tablecam.uncertainty.answer import Answer, AnswerWord
from tablecam.uncertainty.lengths import distance
from tablecam.uncertainty.within import within
from tablecam.wording import nearest

_KEY = "intent"
_SHOWN_FOR_ACTIONS = 12
"""What a mover said is shown until so many actions have been done: more than a march has."""
_AGAINST: Final[Mapping[AnswerWord, AnswerWord]] = {
    "yes": "no",
    "no": "yes",
    "too_close": "too_close",
}


@dataclass(frozen=True, slots=True)
class Intent:
    """A unit is to end within a range of another one, or outside of it."""

    unit: str
    of: str
    range_bw: float
    is_within: bool

    @property
    def text(self) -> str:
        """The intent in words."""
        where = "within" if self.is_within else "just outside"
        return f"{self.unit} {where} {self.range_bw:g} BW of {self.of}"

    def to_json(self) -> Json:
        """The intent as a remark of a game's log."""
        return {_KEY: asdict(self)}


def check_units(intent: Intent, units: Collection[str]) -> None:
    """See to it that an intent is about two units of a game.

    Raises:
        BadInput: One of them is not in the game, or they are one.
    """
    for name in (intent.unit, intent.of):
        if name not in units:
            raise BadInput("intent", f"there is no unit {name}{nearest(name, units)}")
    if intent.unit == intent.of:
        raise BadInput("intent", f"expected two units, got {intent.unit} twice")


def said_of_late(play: Play[Any, Any]) -> tuple[Intent, ...]:
    """The intents that were said not many actions ago, the last for each unit."""
    return _said(play.remarks, len(play.done) - _SHOWN_FOR_ACTIONS)


def answered(
    said: Iterable[Intent], seen: Position | None, moved: Collection[str], closed: Closed | None
) -> tuple[tuple[Intent, Answer | None], ...]:
    """Each of these intents, and whether the table is as it was meant; None where none may know.

    Where measuring is `closed` until something is declared it is told once the unit has `moved`.
    """
    return tuple(
        (each, judged(each, seen) if seen and _may_know(each.unit, moved, closed) else None)
        for each in said
    )


def judged(intent: Intent, position: Position) -> Answer | None:
    """Whether it is as it was meant, going by where the two lie; None where one is not there."""
    a, b = position.unit(intent.unit), position.unit(intent.of)
    if a is None or b is None or not (a.bases and b.bases):
        return None
    found = within(distance(a, b), intent.range_bw, position.table, a=a.id, b=b.id)
    return found if intent.is_within else _against(found)


def _against(answer: Answer) -> Answer:
    return replace(
        answer,
        answer=_AGAINST[answer.answer],
        margin_mm=-answer.margin_mm,
        probability=1.0 - answer.probability,
    )


def _said(remarks: Iterable[Remark], since: int) -> tuple[Intent, ...]:
    """The intents that were said after so many actions, the last for each unit."""
    found: dict[str, Intent] = {}
    for remark in remarks:
        said: Any = remark.document.get(_KEY)
        if said is not None and remark.after >= since:
            found[said["unit"]] = Intent(**said)
    return tuple(found.values())


def _may_know(unit: str, moved: Collection[str], closed: Closed | None) -> bool:
    return closed is None or (unit in moved and unit in closed.declared)
