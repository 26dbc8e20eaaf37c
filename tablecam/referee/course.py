"""A game in progress beside the table that it is played on: how the one follows the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from tablecam.errors import BadInput
from tablecam.referee.by_hand import ByHand
from tablecam.referee.together import is_sure
from tablecam.rules.game import LAY, Game, Refused, Suggestion
from tablecam.rules.play import Play
from tablecam.rules.play_log import Done
from tablecam.table.model import Position

AnyPlay = Play[Any, Any]

ONLY_CHOICE = "the only choice"
"""The note of what the referee did by itself, as nothing was left to be chosen."""


class Course:
    """The course of a game: `play` is None before it has begun, `by_hand` is the table beside it.

    It minds neither threads nor seats.

    Args:
        game: The rule system of the table.
        is_automatic: Legal moves are confirmed by themselves, and so is what leaves no choice.
    """

    def __init__(self, game: Game[Any, Any], *, is_automatic: bool = False) -> None:
        self.game = game
        self.is_automatic = is_automatic
        self.play: AnyPlay | None = None
        self.by_hand = ByHand(game)

    def begin(self, position: Position, options: Mapping[str, Any]) -> AnyPlay:
        """Begin a game on the table as it lies; markers of a game before are taken off.

        Raises:
            BadInput: The table does not fit the game, or an option is wrong.
        """
        if self.play is not None:
            position = _without_markers(position)
        self.play = Play(self.game, position, options)
        self.by_hand.begin(position)
        return self.play

    def resume(self, document: object) -> AnyPlay:
        """Go on with a game as `Play.to_json` wrote it.

        Raises:
            BadInput: It is none of this game's.
        """
        self.play = Play.from_json(self.game, document)
        self.by_hand.begin(self.by_hand.seen)
        return self.play

    def required(self) -> AnyPlay:
        """The game in progress.

        Raises:
            BadInput: None has begun.
        """
        if self.play is None:
            raise BadInput("game", "expected a game in progress: none has begun")
        return self.play

    def position(self) -> Position | None:
        """The table as the game knows it; None before it has begun."""
        return None if self.play is None else self.game.position(self.play.state)

    def apply(self, action: Any, note: str = "") -> None:
        """Do an action, and note what hands have to do on the table because of it.

        Raises:
            BadInput: No game has begun, or the action is refused.
        """
        with self.changing() as play:
            play.apply(action, note)

    @contextmanager
    def changing(self) -> Iterator[AnyPlay]:
        """The game, to be changed; then what hands have to do because of it is noted.

        Raises:
            BadInput: No game has begun.
        """
        play = self.required()
        before = self.game.position(play.state)
        yield play
        self.by_hand.follow(before, self.game.position(play.state))

    def undo(self, steps: int) -> None:
        """Take back so many actions of players, and what the referee did by itself since.

        Raises:
            BadInput: No game has begun, or not so many have been done.
        """
        with self.changing() as play:
            play.undo(self._with_own(play, steps))

    def last_done(self, steps: int) -> tuple[Done[Any, Any], ...]:
        """What `undo` would take back.

        Raises:
            BadInput: No game has begun.
        """
        play = self.required()
        number = self._with_own(play, steps)
        return play.done[len(play.done) - min(number, len(play.done)) :]

    def is_latest(self, action: Any) -> bool:
        """Whether an action is the latest that was done, what the referee takes over apart."""
        done = () if self.play is None else self.play.done
        others = (each.action for each in reversed(done) if not self._is_lay(each.action))
        return bool(next(others, None) == action)

    def compare(self) -> bool:
        """See what hands have done and have to do; whether the referee did anything by itself."""
        went_on = False
        while self.play is not None:
            self._take_over_hairs(self.play)
            self.by_hand.look(self.play.state)
            if not (self.is_automatic and self._goes_on_by_itself(self.play)):
                break
            went_on = True
        return went_on

    def _with_own(self, play: AnyPlay, steps: int) -> int:
        """So many actions of players', and what the referee did by itself since."""
        number = 0
        for number, done in enumerate(reversed(play.done), start=1):
            steps -= not (self._is_lay(done.action) or done.note == ONLY_CHOICE)
            if steps == 0:
                return number
        return number + steps

    def _is_lay(self, action: Any) -> bool:
        return bool(self.game.action_to_json(action)["type"] == LAY)

    def _take_over_hairs(self, play: AnyPlay) -> None:
        """Let the game know where things really lie, where that is a hair beside its own places."""
        seen = self.by_hand.seen
        action = None if seen is None else self.game.laid(play.state, seen)
        if action is not None:
            play.apply(action)

    def _goes_on_by_itself(self, play: AnyPlay) -> bool:
        """Whether nothing was left to be chosen, or a move could be confirmed: it is done then."""
        action = self.game.forced(play.state)
        if action is None:
            return self._confirms_by_itself()
        self.apply(action, ONLY_CHOICE)
        return True

    def _confirms_by_itself(self) -> bool:
        """Whether a move was legal beyond doubt; what is too close is left to the players."""
        done = [self._is_confirmed(each) for each in self.by_hand.together]
        return any(done or map(self._is_confirmed, filter(is_sure, self.by_hand.suggested)))

    def _is_confirmed(self, found: Suggestion) -> bool:
        """Whether a move could be confirmed, which it is then."""
        try:
            self.apply(found.action)
        except Refused:
            return False
        return True


def _without_markers(position: Position) -> Position:
    return replace(position, units=tuple(replace(unit, state={}) for unit in position.units))
