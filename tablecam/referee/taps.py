"""Which taps count: a page shows a game as it was, and two may be tapped at once."""

from __future__ import annotations

import logging
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tablecam.errors import BadInput
from tablecam.referee.refusals import NotYours, OutOfDate, TooOften
from tablecam.referee.seats import Seat
from tablecam.rules.play import Play
from tablecam.table.sides import side_name
from tablecam.wording import quoted

AT = "at"
"""The key of an offered action that names the version of the game at which it was offered."""

MOST_REFUSED, REFUSED_FOR_S = 10, 60.0
"""After so many refused corrections within that time a seat has to wait: it is guessing."""

log = logging.getLogger(__name__)


class Taps:
    """The versions of a game in progress, and what was tapped last.

    `version` grows with whatever a seat may see, also with a hand's move; an answer is late only
    where something was decided since. `refused` counts each seat's corrections that were refused.
    """

    def __init__(self, now_s: Callable[[], float] = time.monotonic) -> None:
        self.version = 0
        self.refused: Counter[Seat] = Counter()
        self._refused_s: dict[Seat, deque[float]] = {}
        self._now_s = now_s
        self._decided = 0
        self._latest: tuple[Seat, object] | None = None

    def decide(self) -> None:
        """Note that something is decided: what was on offer up to now is so no more."""
        self._decided = self.version + 1

    def check(self, seen: int | None, *, is_of_table: bool = False) -> None:
        """See to it that a tap was meant for the game as it stands; None says nothing of it.

        What is `is_of_table` is late, too, where a hand has moved since.

        Raises:
            OutOfDate: The game has gone on since that version.
        """
        since = self.version if is_of_table else self._decided
        if seen is not None and not since <= seen <= self.version:
            raise OutOfDate("game", "it has gone on since: look again before you choose")

    def note(self, seat: Seat, action: object) -> None:
        """Note what a seat has just said."""
        self._latest = seat, action

    def check_not_said(self, seat: Seat, action: Any, play: Play[Any, Any]) -> None:
        """Refuse what a seat has just said, if it does not tell what it answers.

        Raises:
            OutOfDate: It would answer what has come to be asked since.
        """
        is_bare = set(play.game.action_to_json(action)) == {"type"}
        if is_bare and self._latest == (seat, action):
            why = f"{action.type} was said already, and now it is asked: {play.asked().question}"
            raise OutOfDate("game", f"{why}: say of which version it is meant")

    @contextmanager
    def counted(self, seat: Seat) -> Iterator[None]:
        """Count a seat's correction if it is refused; being late is no refusal.

        Raises:
            TooOften: Too many of its corrections were refused of late.
        """
        refused_s = self._refused_s.setdefault(seat, deque(maxlen=MOST_REFUSED))
        if len(refused_s) == MOST_REFUSED and self._now_s() - refused_s[0] < REFUSED_FOR_S:
            raise TooOften("action", "too many corrections were refused: wait a minute")
        try:
            yield
        except OutOfDate:
            raise
        except BadInput:
            refused_s.append(self._now_s())
            self.refused[seat] += 1
            who = seat.side or seat.kind
            log.warning("a correction by %s was refused, %d so far", who, self.refused[seat])
            raise


def offered(action: object) -> tuple[object, int | None]:
    """An action as the game knows it, and the version at which it was offered, if it says so.

    Raises:
        BadInput: What it says is no version.
    """
    if not isinstance(action, dict) or AT not in action:
        return action, None
    at = action[AT]
    if isinstance(at, bool) or not isinstance(at, int):
        raise BadInput("action", f"expected a version of the game, got {quoted(at)}", key=AT)
    return {key: value for key, value in action.items() if key != AT}, at


def check_plays(seat: Seat) -> None:
    """See to it that a seat may change anything at all.

    Raises:
        NotYours: It only looks on.
    """
    if not seat.plays:
        raise NotYours("seat", "expected a player: who looks on changes nothing")


def check_asked(seat: Seat, play: Play[Any, Any]) -> None:
    """See to it that a seat may do what is due in a game.

    Raises:
        NotYours: It is asked of another.
    """
    asked = play.asked()
    if not seat.may_answer(asked):
        whose = side_name(asked.seat or "a player")
        raise NotYours("action", f"expected it of {whose}: {asked.question}")
