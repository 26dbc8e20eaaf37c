"""A game in progress: what was done, what followed, and what was taken back.

`Play` is where a game's memory lives; the rule systems themselves have none. All of it can be
made again from how it began and from what was done, in that order, so that is all a document holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random
from types import MappingProxyType
from typing import Any, Generic

from pydantic import Field

from tablecam.documents import document_from
from tablecam.errors import BadInput
from tablecam.rules.dice import Roll
from tablecam.rules.game import Action, Asked, Game, Json, Refused, State, Suggestion
from tablecam.rules.play_log import Done, Logged, PlayLog, Remark
from tablecam.table.model import Position
from tablecam.table.position_file import position_from_json, position_to_json
from tablecam.table.sections import StrictModel

FORMAT = "tablecam.play"
VERSION = 1


class Play(Generic[State, Action]):
    """A game between its first state and now.

    Args:
        game: The rule system.
        position: The table as it lay when the game began.
        options: What players agreed on; the game's own.
        chance: Throws dice and draws cards where players do not; give it a seed for a game that
            can be had again.

    Raises:
        BadInput: The table does not fit the game, or an option is wrong.
    """

    def __init__(
        self,
        game: Game[State, Action],
        position: Position,
        options: Mapping[str, Any] = MappingProxyType({}),
        *,
        chance: Random | None = None,
    ) -> None:
        self.game = game
        self._position = position
        self._options = dict(options)
        self._chance = Random() if chance is None else chance
        self._first = game.begin(position, options)
        self._standing: list[Done[State, Action]] = []
        self._taken_back: list[Done[State, Action]] = []
        self._log: PlayLog[State, Action] = PlayLog(game, self._first)

    @property
    def first(self) -> State:
        """The game as it began."""
        return self._first

    @property
    def state(self) -> State:
        """The game as it stands."""
        return self._standing[-1].state if self._standing else self._first

    @property
    def done(self) -> tuple[Done[State, Action], ...]:
        """What led from the beginning to the state, in order."""
        return tuple(self._standing)

    @property
    def log(self) -> tuple[Done[State, Action], ...]:
        """All that was ever done, in order; what was taken back stays, marked as such."""
        standing = {id(each) for each in self._standing}
        return tuple(
            each if id(each) in standing else replace(each, is_undone=True)
            for each in self._log.deeds
        )

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """All that was said beside the actions, in order."""
        return self._log.remarks

    def remark(self, document: Json) -> None:
        """Keep something that players said in the log."""
        self._log.add(Remark(document, len(self._standing)))

    def asked(self) -> Asked:
        """What is due now, and of whom."""
        return self.game.asked(self.state)

    def legal(self) -> tuple[Action, ...]:
        """Complete actions that `apply` takes."""
        return self.game.legal(self.state)

    def apply(self, action: Action, note: str = "") -> Done[State, Action]:
        """Do an action; what players have not said of dice and cards is left to chance.

        `note` goes into the log with it.

        Raises:
            Refused: It is not legal now, and nothing has changed.
        """
        chance_before = self._chance.getstate()
        try:
            settled = self.game.settle(self.state, action, self._chance)
            state, events = self.game.apply(self.state, settled)
        except Exception:
            self._chance.setstate(chance_before)
            raise
        done = Done(settled, state, events, note)
        if not (self._taken_back and self._taken_back.pop().action == settled):
            self._taken_back.clear()
        self._standing.append(done)
        self._log.add(done)
        return done

    def undo(self, steps: int = 1) -> tuple[Done[State, Action], ...]:
        """Take back the latest actions; they are returned, latest first.

        Raises:
            Refused: Not as many have been done, and nothing is taken back.
        """
        there = len(self._standing)
        if there == 0:
            raise Refused("expected something to take back: nothing has been done yet")
        if not 1 <= steps <= there:
            raise Refused(f"expected to take back from 1 to {there} actions, got {steps}")
        taken = tuple(reversed(self._standing[-steps:]))
        del self._standing[-steps:]
        self._taken_back += taken
        self._log.add(steps)
        return taken

    @property
    def can_redo(self) -> bool:
        """Whether anything was taken back that nothing else was done instead of."""
        return bool(self._taken_back)

    def redo(self) -> Done[State, Action]:
        """Do again what was taken back last, with the same dice and cards.

        Raises:
            Refused: Nothing was taken back, or something else was done since.
        """
        if not self._taken_back:
            raise Refused("expected something that was taken back: there is nothing to do again")
        again = self._taken_back[-1]
        return self.apply(again.action, again.note)

    def place_of(self, deed: int) -> int:
        """The place in `done` of what has a place in `log`.

        Raises:
            Refused: There is no such, or it was taken back.
        """
        done = self._log.deeds
        wanted = done[deed] if 0 <= deed < len(done) else None
        for place, each in enumerate(self._standing):
            if each is wanted:
                return place
        raise Refused("expected what was done and not taken back", key="deed")

    def state_before(self, place: int) -> State:
        """The state before what has a place in `done`."""
        return self._standing[place - 1].state if place else self._first

    def correct(self, place: int, action: Action, note: str = "") -> int:
        """Do another action in place of one of `done`, and again what followed, if it can be.

        The first that is no longer legal ends it: that and all after it stay taken back. How many
        were done again is returned. Dice lie as they fell: they count for whatever as many are
        rolled for instead.

        Raises:
            Refused: The action was not legal there, and nothing has changed.
        """
        self.game.apply(self.state_before(place), action)
        later = self._standing[place + 1 :]
        self.undo(len(self._standing) - place)
        self.apply(action, note)
        for number, each in enumerate(later):
            try:
                self.apply(self._as_due(each.action), each.note)
            except BadInput:
                return number
        return len(later)

    def _as_due(self, action: Action) -> Any:
        """The same dice for what is rolled for now, where just as many of them are due."""
        due = self.legal()[:1] if isinstance(action, Roll) else ()
        if not isinstance(action, Roll) or not due or not isinstance(due[0], Roll):
            return action
        is_alike = (due[0].count, due[0].sides) == (action.count, action.sides)
        return replace(due[0], values=action.values) if is_alike else action

    def moved(self, position: Position) -> tuple[Suggestion, ...]:
        """What was done by hand, going by where the bases lie now."""
        return self.game.moved(self.state, position)

    def to_json(self) -> Json:
        """The game as a document, from which `from_json` makes the very same one again."""
        return self.beginning() | {"log": self.entries()}

    def beginning(self) -> Json:
        """The document of the game as it began; with `entries` as its `log` it is whole."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "game": self.game.name,
            "position": position_to_json(self._position),
            "options": dict(self._options),
        }

    def entries(self, after: int = 0) -> list[Json]:
        """The log's entries as documents, in order, but for so many of the first."""
        return self._log.documents(after)

    def logged(self, after: int = 0) -> Iterator[Logged[State, Action]]:
        """The log's entries with the state after each, in order, but for so many of the first."""
        return self._log.logged(after)

    @property
    def log_length(self) -> int:
        """How many entries the log has: it only grows."""
        return len(self._log)

    def deeds_since(self, entries: int) -> frozenset[int]:
        """What has been done, taken back or done again since the log had so many entries.

        Each by its place in `log`.
        """
        return self._log.deeds_since(entries)

    @classmethod
    def from_json(
        cls, game: Game[State, Action], data: object, *, chance: Random | None = None
    ) -> Play[State, Action]:
        """The game that a document holds, played again from its beginning.

        Raises:
            BadInput: It is not one of this game's, or cannot be played as it says: naming the
                first entry of the log that does not hold.
        """
        document = document_from(data, "play")
        document.require(FORMAT, VERSION)
        parsed = document.parsed(_PlayDocument)
        if parsed.game != game.name:
            raise document.error(("game",), f"expected {game.name}, got {parsed.game}")
        position = position_from_json(parsed.position, "play: position", games=(game.name,))
        play = cls(game, position, parsed.options, chance=chance)
        play._again(parsed.log)
        return play

    def take(self, entry: Mapping[str, Any]) -> None:
        """Do what an entry of a log says: an action with its dice and cards, an undo, a remark.

        Raises:
            BadInput: It is none, or cannot be done now; nothing has changed.
        """
        if set(entry) == {"undo"}:
            self.undo(_steps(entry["undo"]))
        elif set(entry) == {"remark"}:
            self.remark(entry["remark"])
        elif set(entry) == {"note", "action"}:
            self.apply(self.game.action_from_json(entry["action"]), str(entry["note"]))
        else:
            self.apply(self.game.action_from_json(entry))

    def _again(self, log: Sequence[Mapping[str, Any]]) -> None:
        for place, entry in enumerate(log, start=1):
            try:
                self.take(entry)
            except BadInput as refused:
                raise BadInput("play", f"cannot be done: {refused}", key=f"log[{place}]") from None


class _PlayDocument(StrictModel):
    """The whole document."""

    format: str
    version: int
    game: str
    position: dict[str, Any]
    options: dict[str, Any] = Field(default_factory=dict)
    log: list[dict[str, Any]] = Field(default_factory=list)


def _steps(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise Refused("expected how many actions to take back", key="undo")
    return value
