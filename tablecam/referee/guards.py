"""Rejects requests that a page may not make now: outdated, repeated, or banned measuring.

A page may show an earlier state of the game, and players may have to declare before they measure.
"""

from __future__ import annotations

import logging
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from tablecam.errors import BadInput
from tablecam.referee.refusals import NotDeclared, NotYours, OutOfDate, TooOften
from tablecam.referee.seats import Seat
from tablecam.rules.game import DeclareFirst
from tablecam.rules.play import Play
from tablecam.table.sides import side_plural
from tablecam.wording import quoted

AT = "at"
"""The key of an offered action with the version of the game at which it was offered."""

MAX_REFUSED, REFUSED_FOR_S = 10, 60.0
"""How many refused corrections within a time make a seat wait: it is guessing."""

log = logging.getLogger(__name__)


class VersionGuard:
    """The version of a game in progress, and the latest action.

    `version` grows with every change that a seat may see, moves on the table included; a request
    is out of date only if something was decided since, or if one of its units was moved.
    `refused` counts each seat's refused corrections.
    """

    def __init__(self, now_s: Callable[[], float] = time.monotonic) -> None:
        self.version = 0
        self.refused: Counter[Seat] = Counter()
        self._refused_s: dict[Seat, deque[float]] = {}
        self._now_s = now_s
        self._decided = 0
        self._moved: dict[str, int] = {}
        self._latest: tuple[Seat, object] | None = None

    def decide(self) -> None:
        """Notes a decision, which makes all earlier offers out of date."""
        # The decision is about to be published under the next version.
        self._decided = self.version + 1

    def move(self, names: Iterable[str]) -> None:
        """Notes the units and commanders that hands have moved."""
        self._moved |= dict.fromkeys(names, self.version + 1)

    def check(self, seen: int | None, names: Iterable[str] = ()) -> None:
        """Refuses a request that was made for an earlier version; None states no version.

        A request about units or commanders as they lie on the table gives their `names`: it is also
        out of date if one of them was moved since.

        Raises:
            OutOfDate: The game has gone on since that version.
        """
        since = max((self._decided, *(self._moved.get(name, 0) for name in names)))
        if seen is not None and not since <= seen <= self.version:
            raise OutOfDate("game", "it has moved on: look again before you choose")

    def note(self, seat: Seat, action: object) -> None:
        """Notes the latest action of a seat."""
        self._latest = seat, action

    def check_not_said(self, seat: Seat, action: Any, play: Play[Any, Any]) -> None:
        """Refuses to repeat a seat's latest action, if it has no data of its own.

        Raises:
            OutOfDate: It would answer the next question instead.
        """
        # Data of its own, such as a unit or dice, ties an action to its question.
        is_bare = set(play.game.action_to_json(action)) == {"type"}
        if is_bare and self._latest == (seat, action):
            why = f"{action.type} was already sent; the question now is: {play.asked().question}"
            raise OutOfDate("game", f"{why}: say which version it is meant for")

    @contextmanager
    def counted(self, seat: Seat) -> Iterator[None]:
        """Counts a seat's correction if it is refused, except for being out of date.

        Raises:
            TooOften: Too many of its corrections were refused recently.
        """
        refused_s = self._refused_s.setdefault(seat, deque(maxlen=MAX_REFUSED))
        # Only the latest refusals are kept: the time of the first says how fast they came.
        if len(refused_s) == MAX_REFUSED and self._now_s() - refused_s[0] < REFUSED_FOR_S:
            raise TooOften("action", "too many corrections were refused: wait a minute")
        try:
            yield
        except OutOfDate:
            # Being late is not guessing.
            raise
        except BadInput:
            refused_s.append(self._now_s())
            self.refused[seat] += 1
            who = seat.side or seat.kind
            log.warning("a correction by %s was refused, %d so far", who, self.refused[seat])
            raise


class MeasuringBan:
    """The current ban on measuring, if any. Thread-safe, and never waits."""

    def __init__(self) -> None:
        self.now: DeclareFirst | None = None

    def follow(self, play: Play[Any, Any] | None) -> None:
        """Updates the ban from a game; without one there is none."""
        self.now = None if play is None else play.asked().closed

    def check_open(self, names: Collection[str | None]) -> None:
        """Refuses to measure between things; a name is a unit's or a commander's, None a point.

        Raises:
            NotDeclared: Measuring between them is banned until something is declared.
        """
        # Read once, as another thread may replace it.
        closed = self.now
        if closed is not None and not closed.permits(names):
            raise NotDeclared("measuring", closed.because)


def offered(action: object) -> tuple[object, int | None]:
    """Splits an action of a page into the game's action and the version of the offer, if any.

    Raises:
        BadInput: The version is no number.
    """
    if not isinstance(action, dict) or AT not in action:
        return action, None
    at = action[AT]
    # A `bool` is an `int`, too.
    if isinstance(at, bool) or not isinstance(at, int):
        raise BadInput("action", f"expected a version of the game, got {quoted(at)}", key=AT)
    return {key: value for key, value in action.items() if key != AT}, at


def check_plays(seat: Seat) -> None:
    """Refuses a seat that may not change the game.

    Raises:
        NotYours: The seat is a spectator's.
    """
    if not seat.plays:
        raise NotYours("seat", "expected a player: spectators cannot change anything")


def check_asked(seat: Seat, play: Play[Any, Any]) -> None:
    """Refuses a seat that may not make the pending decision.

    Raises:
        NotYours: Another seat has to decide.
    """
    asked = play.asked()
    if not seat.may_answer(asked):
        whose = f"the {side_plural(asked.seat)}" if asked.seat else "a player"
        raise NotYours("action", f"waiting for {whose}: {asked.question}")
