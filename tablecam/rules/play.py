"""A game in progress, with its history, undo and redo.

`Play` holds a game's memory; rule systems have none. Replaying the actions from the beginning
restores everything, so a document holds only the beginning and the log.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from random import Random
from types import MappingProxyType
from typing import Any, Generic

from pydantic import Field

from tablecam.documents import Json, document_from
from tablecam.errors import BadInput
from tablecam.rules.dice import Roll
from tablecam.rules.game import Action, Game, Offer, PendingDecision, Refused, State, Suggestion
from tablecam.rules.game_files import house_files
from tablecam.rules.play_log import Done, Logged, PlayLog, Remark
from tablecam.table.model import Position
from tablecam.table.position_file import position_from_json, position_to_json
from tablecam.table.sections import StrictModel

FORMAT = "tablecam.play"
VERSION = 1


class Play(Generic[State, Action]):
    """A game in progress, from its first state to the current one.

    Args:
        game: The rule system.
        position: The table at the beginning of the game.
        options: The options that players agreed on; the game defines their meaning.
        chance: Rolls dice and draws cards where players do not; a seeded one makes a game
            repeatable.

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
        self.house = house_files(options)
        self._current: list[Done[State, Action]] = []
        self._taken_back: list[Done[State, Action]] = []
        self._offers: tuple[tuple[Action, Offer], ...] = ()
        self._offers_of: State | None = None
        self._log: PlayLog[State, Action] = PlayLog(game, self._first)

    @property
    def first(self) -> State:
        """The first state."""
        return self._first

    @property
    def state(self) -> State:
        """The current state."""
        return self._current[-1].state if self._current else self._first

    @property
    def done(self) -> tuple[Done[State, Action], ...]:
        """The actions that led to the current state, in order."""
        return tuple(self._current)

    @property
    def log(self) -> tuple[Done[State, Action], ...]:
        """All actions ever done, in order; those taken back are marked."""
        # By identity, as equal actions may have been done more than once.
        current = {id(done) for done in self._current}
        return tuple(
            done if id(done) in current else replace(done, is_undone=True)
            for done in self._log.deeds
        )

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """The remarks in the log, in order."""
        return self._log.remarks

    @property
    def remarks_after(self) -> Mapping[int, tuple[Remark, ...]]:
        """The remarks by the index in `log` of the action that they follow, or of the first one."""
        return self._log.remarks_after

    def remark(self, document: Json) -> None:
        """Adds a remark of the players to the log."""
        self._log.add(Remark(document, len(self._current)))

    def asked(self) -> PendingDecision:
        """Returns the decision that the game waits for."""
        return self.game.asked(self.state)

    def legal(self) -> tuple[Action, ...]:
        """Lists complete actions that `apply` accepts."""
        return self.game.legal(self.state)

    def offers(self) -> tuple[tuple[Action, Offer], ...]:
        """Returns the legal actions, each as a page offers it; worked out once per state."""
        state = self.state
        if self._offers_of is not state:
            offers = ((action, self.game.offered(state, action)) for action in self.legal())
            self._offers, self._offers_of = tuple(offers), state
        return self._offers

    def apply(self, action: Action, note: str = "") -> Done[State, Action]:
        """Applies an action, with random dice and cards where players gave none.

        `note` is logged with it.

        Raises:
            Refused: The action is not legal now; nothing has changed.
        """
        chance_before = self._chance.getstate()
        try:
            settled = self.game.settle(self.state, action, self._chance)
            state, events = self.game.apply(self.state, settled)
        except Exception:
            # A refused action must not use up random numbers, or replays would differ.
            self._chance.setstate(chance_before)
            raise
        done = Done(self.state, settled, state, events, note)
        # Repeating the action taken back last is a redo; anything else drops the redo stack.
        if not (self._taken_back and self._taken_back.pop().action == settled):
            self._taken_back.clear()
        self._current.append(done)
        self._log.add(done)
        return done

    def undo(self, steps: int = 1) -> tuple[Done[State, Action], ...]:
        """Takes back the latest actions and returns them, latest first.

        Raises:
            Refused: There are fewer actions; nothing is taken back.
        """
        count = len(self._current)
        if count == 0:
            raise Refused("expected an action to undo, but none has been done yet")
        if not 1 <= steps <= count:
            raise Refused(f"expected to undo 1 to {count} actions, got {steps}")
        undone = tuple(reversed(self._current[-steps:]))
        del self._current[-steps:]
        self._taken_back += undone
        self._log.add(steps)
        return undone

    @property
    def can_redo(self) -> bool:
        """Whether the action taken back last can be done again."""
        return bool(self._taken_back)

    def redo(self) -> Done[State, Action]:
        """Repeats the action taken back last, with the same dice and cards.

        Raises:
            Refused: Nothing was taken back, or something else has been done since.
        """
        if not self._taken_back:
            raise Refused("expected an undone action, but there is none to redo")
        undone = self._taken_back[-1]
        return self.apply(undone.action, undone.note)

    def repeat_or_apply(self, action: Action, note: str) -> Done[State, Action]:
        """Applies an action that the referee takes by itself.

        If the same one was taken back last, it is redone: undo and redo draw no other cards.

        Raises:
            Refused: The action is not legal now.
        """
        undone = self._taken_back[-1] if self._taken_back else None
        if undone is not None and undone.note == note and type(undone.action) is type(action):
            with suppress(Refused):
                return self.redo()
        return self.apply(action, note)

    def place_of(self, deed: int) -> int:
        """Returns the index in `done` of the action with index `deed` in `log`.

        Raises:
            Refused: There is no such action, or it was taken back.
        """
        deeds = self._log.deeds
        target = deeds[deed] if 0 <= deed < len(deeds) else None
        # By identity, as equal actions may have been done more than once.
        for place, done in enumerate(self._current):
            if done is target:
                return place
        raise Refused("expected an action that was done and not undone", key="deed")

    def correct(self, place: int, action: Action, note: str = "") -> int:
        """Replaces one action of `done` and repeats the later ones as far as they are still legal.

        A roll that is no longer due stays taken back, as does the first other action that is no
        longer legal, with all after it. Dice keep their values for any roll of as many dice that
        replaces theirs.

        Returns:
            The number of later actions that were repeated.

        Raises:
            Refused: The new action was not legal at that point; nothing has changed.
        """
        # A trial run: it raises before anything is taken back.
        self.game.apply(self._current[place].before, action)
        later = self._current[place + 1 :]
        self.undo(len(self._current) - place)
        self.apply(action, note)
        repeated = 0
        for number, done in enumerate(later, start=1):
            if self._has_lost_its_cause(done.action, later[number:]):
                continue
            try:
                # The same dice, so that players need not roll again.
                self.apply(self._for_current_roll(done.action), done.note)
            except BadInput:
                break
            repeated += 1
        return repeated

    def _has_lost_its_cause(self, action: Action, later: Sequence[Done[State, Action]]) -> bool:
        """Whether a roll is not due now: no roll is, or only one that was made `later`."""
        if not isinstance(action, Roll):
            return False
        due = {one.for_ for one in self.legal()[:1] if isinstance(one, Roll)}
        made = {done.action.for_ for done in later if isinstance(done.action, Roll)}
        return action.for_ not in due and due <= made

    def _for_current_roll(self, action: Action) -> Any:
        """Returns a roll's values as the roll that is legal now, if it has as many dice."""
        legal = self.legal()[:1] if isinstance(action, Roll) else ()
        if not isinstance(action, Roll) or not legal or not isinstance(legal[0], Roll):
            return action
        is_alike = (legal[0].count, legal[0].sides) == (action.count, action.sides)
        return replace(legal[0], values=action.values) if is_alike else action

    def detect_moves(self, position: Position) -> tuple[Suggestion, ...]:
        """Infers the moves that players made by hand from the current position of the bases."""
        return self.game.detect_moves(self.state, position)

    def to_json(self) -> Json:
        """Returns the document of the game, from which `from_json` restores it."""
        return self.beginning() | {"log": self.entries()}

    def beginning(self) -> Json:
        """Returns the document of the beginning of the game, without its `log`."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "game": self.game.name,
            "position": position_to_json(self._position),
            "options": dict(self._options),
        }

    def entries(self, after: int = 0) -> list[Json]:
        """Returns the documents of the log's entries after the first `after`."""
        return self._log.documents(after)

    def logged(self, after: int = 0) -> Iterator[Logged[State, Action]]:
        """Yields the log's entries after the first `after`, with the state after each."""
        return self._log.logged(after)

    @property
    def log_length(self) -> int:
        """The number of entries in the log, which only grows."""
        return len(self._log)

    def deeds_since(self, entries: int) -> frozenset[int]:
        """Returns the indices in `log` of actions done or taken back after the first `entries`."""
        return self._log.deeds_since(entries)

    @classmethod
    def from_json(
        cls, game: Game[State, Action], data: object, *, chance: Random | None = None
    ) -> Play[State, Action]:
        """Restores a game from its document by replaying it from the beginning.

        Raises:
            BadInput: The document is of another game, or an entry of its log, which is named,
                cannot be applied.
        """
        document = document_from(data, "play")
        document.require(FORMAT, VERSION)
        parsed = document.parsed(_PlayDocument)
        # Checked before the position, which only its own game can read.
        if parsed.game != game.name:
            raise document.error(("game",), f"expected {game.name}, got {parsed.game}")
        needs = {game.name: game.table_needs}
        position = position_from_json(parsed.position, "play: position", games=needs)
        play = cls(game, position, parsed.options, chance=chance)
        play._replay(parsed.log)
        return play

    def take(self, entry: Mapping[str, Any]) -> None:
        """Applies an entry of a log: an action with its dice and cards, an undo, or a remark.

        Raises:
            BadInput: The entry is malformed or not legal now; nothing has changed.
        """
        # An action's document has a `type`, so these cannot be mistaken for one.
        if set(entry) == {"undo"}:
            self.undo(_steps(entry["undo"]))
        elif set(entry) == {"remark"}:
            self.remark(entry["remark"])
        elif set(entry) == {"note", "action"}:
            self.apply(self.game.action_from_json(entry["action"]), str(entry["note"]))
        else:
            self.apply(self.game.action_from_json(entry))

    def _replay(self, log: Sequence[Mapping[str, Any]]) -> None:
        for number, entry in enumerate(log, start=1):
            try:
                self.take(entry)
            except BadInput as refused:
                raise BadInput("play", f"is refused: {refused}", key=f"log[{number}]") from None


class _PlayDocument(StrictModel):
    """A whole play document."""

    format: str
    version: int
    game: str
    position: dict[str, Any]
    options: dict[str, Any] = Field(default_factory=dict)
    log: list[dict[str, Any]] = Field(default_factory=list)


def _steps(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise Refused("expected the number of actions to undo", key="undo")
    return value
