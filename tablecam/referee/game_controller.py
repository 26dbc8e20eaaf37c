"""Runs a game in progress in step with the table that it is played on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from tablecam.errors import BadInput
from tablecam.referee.table_diff import TableDiff, is_sure
from tablecam.rules.game import LAY, OVERRULE, Game, Refused, Suggestion
from tablecam.rules.play import Play
from tablecam.rules.play_log import Done
from tablecam.table.model import Position

AnyPlay = Play[Any, Any]

ONLY_CHOICE = "nothing to choose"
"""The note of actions that the referee took by itself because there was no other choice."""


class GameController:
    """A game, and its comparison with the table. `play` is None before the game begins.

    Not thread-safe, and without regard to seats.

    Args:
        game: The rule system of the table.
        is_automatic: Legal moves are confirmed automatically; actions without an alternative
            always are.
    """

    def __init__(self, game: Game[Any, Any], *, is_automatic: bool = False) -> None:
        self.game = game
        self.is_automatic = is_automatic
        self.play: AnyPlay | None = None
        self.by_hand = TableDiff(game)
        self.hands_are_open = False
        """Whether one person plays both sides, so that nothing is concealed from anybody."""

    def begin(self, position: Position, options: Mapping[str, Any]) -> AnyPlay:
        """Begins a game on the table as it lies; markers of a previous game are removed.

        Raises:
            BadInput: The table does not fit the game, or an option is wrong.
        """
        if self.play is not None:
            # Markers of the previous game belong to that game.
            position = _without_markers(position)
        self.play = Play(self.game, position, options)
        self.by_hand.begin(position)
        return self.play

    def resume(self, document: object) -> AnyPlay:
        """Resumes a game from the document of `Play.to_json`.

        Raises:
            BadInput: The document is of another game.
        """
        self.play = Play.from_json(self.game, document)
        # A document does not say which units players still had to move: they count as moved.
        self.by_hand.begin(self.by_hand.seen)
        return self.play

    def required(self) -> AnyPlay:
        """Returns the game in progress.

        Raises:
            BadInput: No game has begun.
        """
        if self.play is None:
            raise BadInput("game", "expected a game in progress: none has begun")
        return self.play

    def position(self) -> Position | None:
        """Returns the table according to the game, None before it begins."""
        return None if self.play is None else self.game.position(self.play.state)

    def apply(self, action: Any, note: str = "") -> None:
        """Applies an action, and notes which units players have to move because of it.

        Raises:
            BadInput: No game has begun, or the action is refused.
        """
        with self.changing() as play:
            play.apply(action, note)

    @contextmanager
    def changing(self) -> Iterator[AnyPlay]:
        """Yields the game for a change, then notes which units players have to move.

        Raises:
            BadInput: No game has begun.
        """
        play = self.required()
        before = self.game.position(play.state)
        yield play
        # Not reached after an error, which leaves the game as it was.
        self.by_hand.follow(before, self.game.position(play.state))

    def undo(self, steps: int) -> None:
        """Takes back players' actions, with those that the referee has done by itself since.

        Raises:
            BadInput: No game has begun, or there are fewer actions.
        """
        with self.changing() as play:
            play.undo(self._with_automatic(play, steps))

    @property
    def can_undo(self) -> bool:
        """Whether players have done anything."""
        return self.play is not None and not all(map(self._is_automatic, self.play.done))

    def last_done(self, steps: int) -> tuple[Done[Any, Any], ...]:
        """Returns the actions that `undo` would take back.

        Raises:
            BadInput: No game has begun.
        """
        play = self.required()
        number = self._with_automatic(play, steps)
        return play.done[len(play.done) - min(number, len(play.done)) :]

    def chooser(self, done: Done[Any, Any]) -> str | None:
        """Returns the side that chose an action; None for chance, a pass, or an action of all."""
        is_for_all = self.game.action_to_json(done.action)["type"] == OVERRULE
        if is_for_all or self._is_automatic(done) or done.action == self.game.passed(done.before):
            return None
        return self.game.asked(done.before).seat

    def is_latest(self, action: Any) -> bool:
        """Whether an action is the latest one of a player."""
        log = () if self.play is None else self.play.done
        actions = (done.action for done in reversed(log) if not self._is_automatic(done))
        return bool(next(actions, None) == action)

    def compare(self) -> bool:
        """Compares table and game, and returns whether the referee confirmed anything by itself."""
        has_confirmed = False
        # One confirmed action may allow the next, so it goes on until nothing is left.
        while self.play is not None:
            # First: hands are never exact, and a hair's breadth is not a move.
            self._adopt_small_differences(self.play)
            self.by_hand.compare(self.play.state)
            if not self._takes_only_choice(self.play) and not self._confirms_moves():
                break
            has_confirmed = True
        return has_confirmed

    def _with_automatic(self, play: AnyPlay, steps: int) -> int:
        """Returns the number of actions that contain the latest `steps` actions of players."""
        count = 0
        for count, done in enumerate(reversed(play.done), start=1):
            steps -= not self._is_automatic(done)
            if steps == 0:
                return count
        if not self.can_undo:
            raise Refused("expected an action to undo, but none has been done yet")
        # More than have been done: the game refuses the number.
        return count + steps

    def _is_automatic(self, done: Done[Any, Any]) -> bool:
        """Whether the referee did this by itself, rather than a player."""
        is_lay = self.game.action_to_json(done.action)["type"] == LAY
        return is_lay or done.note == ONLY_CHOICE

    def _adopt_small_differences(self, play: AnyPlay) -> None:
        """Updates the game's places to the table's if they differ by very little."""
        seen = self.by_hand.seen
        action = None if seen is None else self.game.adopt_positions(play.state, seen)
        if action is not None:
            play.apply(action)

    def _takes_only_choice(self, play: AnyPlay) -> bool:
        """Applies a forced action; returns whether there was one."""
        action = self.game.forced(play.state)
        if action is None and self.hands_are_open:
            # Elsewhere a side that is not asked would show that it has no card to play.
            passed = self.game.passed(play.state)
            action = passed if passed is not None and play.legal() == (passed,) else None
        if action is None:
            return False
        with self.changing():
            play.repeat_or_apply(action, ONLY_CHOICE)
        return True

    def _confirms_moves(self) -> bool:
        """Confirms the moves that are legal beyond doubt; returns whether there were any."""
        if not self.is_automatic:
            return False
        confirmed = [self._confirms(suggestion) for suggestion in self.by_hand.together]
        # Single moves only if none belong together: the first that the game accepts.
        return any(confirmed or map(self._confirms, filter(is_sure, self.by_hand.suggested)))

    def _confirms(self, suggestion: Suggestion) -> bool:
        """Confirms a move; returns False if the game refuses it."""
        try:
            self.apply(suggestion.action)
        except Refused:
            return False
        return True


def _without_markers(position: Position) -> Position:
    return replace(position, units=tuple(replace(unit, state={}) for unit in position.units))
