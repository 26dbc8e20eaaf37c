"""The log of a game in progress: all that was done, said and taken back, in order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic

from tablecam.rules.game import Action, Event, Game, Json, State


@dataclass(frozen=True, slots=True)
class Done(Generic[State, Action]):
    """An action that was applied, dice and cards filled in, with the state and the events after it.

    `note` is what players have said of it, which no rule asks for. `is_undone` when it was taken
    back later.
    """

    action: Action
    state: State
    events: tuple[Event, ...]
    note: str = ""
    is_undone: bool = False


@dataclass(frozen=True, slots=True)
class Remark:
    """What players said that is no action: it stays in the log, after so many actions."""

    document: Json
    after: int


@dataclass(frozen=True, slots=True)
class Logged(Generic[State, Action]):
    """An entry of the log: its document, and the state after it.

    `done` is what was done and `deed` its place in `log`, both None of what is no action; `undoes`
    are the places of those that it takes back, the latest first.
    """

    document: Json
    state: State
    done: Done[State, Action] | None = None
    deed: int | None = None
    undoes: tuple[int, ...] = ()


class PlayLog(Generic[State, Action]):
    """The entries of a log, which only grow: a number says how many deeds were taken back.

    `first` is the state before all of them.
    """

    def __init__(self, game: Game[State, Action], first: State) -> None:
        self._game = game
        self._first = first
        self._entries: list[Done[State, Action] | Remark | int] = []

    def __len__(self) -> int:
        """How many entries there are."""
        return len(self._entries)

    def add(self, entry: Done[State, Action] | Remark | int) -> None:
        """Write down what was done or said, or how many deeds were taken back."""
        self._entries.append(entry)

    @property
    def deeds(self) -> tuple[Done[State, Action], ...]:
        """All that was done, in order, whether or not it was taken back."""
        return tuple(each for each in self._entries if isinstance(each, Done))

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """All that was said, in order."""
        return tuple(each for each in self._entries if isinstance(each, Remark))

    def documents(self, after: int = 0) -> list[Json]:
        """The entries as documents, in order, but for so many of the first."""
        return [self._document(each) for each in self._entries[after:]]

    def logged(self, after: int = 0) -> Iterator[Logged[State, Action]]:
        """The entries with the state after each, in order, but for so many of the first."""
        standing: list[tuple[int, Done[State, Action]]] = []
        deeds = 0
        for place, each in enumerate(self._entries):
            done, deed = None, None
            undoes: tuple[int, ...] = ()
            if isinstance(each, Done):
                done, deed = each, deeds
                standing.append((deed, done))
                deeds += 1
            elif isinstance(each, int):
                undoes = tuple(number for number, _ in reversed(standing[-each:]))
                del standing[-each:]
            if place >= after:
                state = standing[-1][1].state if standing else self._first
                yield Logged(self._document(each), state, done, deed, undoes)

    def deeds_since(self, entries: int) -> frozenset[int]:
        """The places in `deeds` of what was done or taken back since there were so many entries."""
        later = self.logged(after=entries)
        places = (place for each in later for place in (each.deed, *each.undoes))
        return frozenset(place for place in places if place is not None)

    def _document(self, entry: Done[State, Action] | Remark | int) -> Json:
        if isinstance(entry, int):
            return {"undo": entry}
        if isinstance(entry, Remark):
            return {"remark": entry.document}
        action = self._game.action_to_json(entry.action)
        return {"note": entry.note, "action": action} if entry.note else action
