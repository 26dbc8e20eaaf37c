"""Intents that players declare before a move ("just outside 4 BW of B1"), and close calls.

Where the camera cannot decide a hair's breadth, the declared intent does, as among players.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Literal

from tablecam.documents import Json
from tablecam.errors import BadInput
from tablecam.rules.game import DeclareFirst
from tablecam.rules.play import Play
from tablecam.rules.play_log import Remark
from tablecam.table.model import Position, length_units
from tablecam.uncertainty.answer import Answer, AnswerWord
from tablecam.uncertainty.lengths import distance
from tablecam.uncertainty.within import within
from tablecam.wording import nearest

_KEY = "intent"
_SHOWN_FOR_ACTIONS = 12
"""For how many actions an intent is shown: more than a march takes."""
_NEGATED: Final[Mapping[AnswerWord, AnswerWord]] = {
    "yes": "no",
    "no": "yes",
    "too_close": "too_close",
}


@dataclass(frozen=True, slots=True)
class Intent:
    """The intent to end a move within a range of another unit, or just outside it.

    The `limit` is in the unit of length of that `symbol`.
    """

    unit: str
    of: str
    limit: float
    is_within: bool
    symbol: str = "BW"

    @property
    def text(self) -> str:
        """The intent in words."""
        return f"{self.unit} {self._where}"

    @property
    def sentence(self) -> str:
        """The intent in a sentence."""
        return f"{self.unit} intends to end {self._where}"

    @property
    def _where(self) -> str:
        where = "within" if self.is_within else "just outside"
        return f"{where} {self.limit:g} {self.symbol} of {self.of}"

    @classmethod
    def from_json(cls, fields: Json) -> Intent:
        """Returns the intent in a remark."""
        limit = fields["limit"] if "limit" in fields else fields["range_bw"]
        symbol = fields.get("symbol", "BW")
        return cls(fields["unit"], fields["of"], limit, fields["is_within"], symbol)

    def to_json(self) -> Json:
        """Returns the intent as a remark for a game's log."""
        plain = asdict(self)
        if self.symbol == "BW":
            # As in the first recordings.
            plain["range_bw"] = plain.pop("limit")
            del plain["symbol"]
        return {_KEY: plain}


def check_intent(intent: Intent, position: Position) -> None:
    """Refuses an intent that is not about two units of the game, in a unit of length of its table.

    Raises:
        BadInput: A unit is not in the game, both are the same, or the table has no such length.
    """
    symbols = [unit.symbol for unit in length_units(position.table)]
    if intent.symbol not in symbols:
        expected = f"expected one of {', '.join(symbols)}, got {intent.symbol!r}"
        raise BadInput("intent", expected, key="symbol")
    units = [unit.id for unit in position.units]
    for name in (intent.unit, intent.of):
        if name not in units:
            raise BadInput("intent", f"there is no unit {name}{nearest(name, units)}")
    if intent.unit == intent.of:
        raise BadInput("intent", f"expected two units, got {intent.unit} twice")


def said_of_late(play: Play[Any, Any]) -> tuple[Intent, ...]:
    """Returns the recent intents, the last of each unit."""
    return _latest(play.remarks, len(play.done) - _SHOWN_FOR_ACTIONS)


def answered(
    said: Iterable[Intent],
    seen: Position | None,
    moved: Collection[str],
    closed: DeclareFirst | None,
) -> tuple[tuple[Intent, Answer | None], ...]:
    """Pairs intents with the answer whether the table matches, None where it may not be revealed.

    Under a ban on measuring, the answer is revealed once the unit has declared and `moved`.
    """
    return tuple(
        (intent, judged(intent, seen) if seen and _may_know(intent.unit, moved, closed) else None)
        for intent in said
    )


def judged(intent: Intent, position: Position) -> Answer | None:
    """Decides whether a position matches an intent; None if one of the units is missing."""
    a, b = position.unit(intent.unit), position.unit(intent.of)
    if a is None or b is None or not (a.bases and b.bases):
        return None
    units = {known.symbol: known for known in length_units(position.table)}
    length, unit = distance(a, b), units[intent.symbol]
    answer = within(length, intent.limit, position.table, unit=unit, a=a.id, b=b.id)
    # Just outside is the opposite answer about the same limit.
    return answer if intent.is_within else _negated(answer)


def _negated(answer: Answer) -> Answer:
    return replace(
        answer,
        answer=_NEGATED[answer.answer],
        margin_mm=-answer.margin_mm,
        probability=1.0 - answer.probability,
    )


def _latest(remarks: Iterable[Remark], since: int) -> tuple[Intent, ...]:
    """Returns the intents among the remarks made after `since` actions, the last of each unit."""
    intents: dict[str, Intent] = {}
    for remark in remarks:
        fields: Any = remark.document.get(_KEY)
        # An older intent was about another move.
        if fields is not None and remark.after >= since:
            intents[fields["unit"]] = Intent.from_json(fields)
    return tuple(intents.values())


def _may_know(unit: str, moved: Collection[str], closed: DeclareFirst | None) -> bool:
    return closed is None or (unit in moved and unit in closed.declared)


TieBreak = Literal["seen", "intent", "die", "benefit"]
WAYS: Final[Mapping[TieBreak, str]] = {
    "seen": "what is seen",
    "intent": "the mover's intent",
    "die": "a die",
    "benefit": "giving the mover the benefit",
}
"""The wording of each way in the log."""


def decided_by(way: TieBreak, intent: Intent | None) -> str:
    """Returns the log's note on how players decided a close call, empty if it was `seen`.

    `intent` is the intent declared before the move, if any.
    """
    if way == "seen":
        return ""
    declared = f": {intent.text}" if way == "intent" and intent is not None else ""
    return f"too close to call, decided by {WAYS[way]}{declared}"
