"""The log of a game in progress: actions, remarks and undos, in order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Generic

from tablecam.documents import Json
from tablecam.rules.game import Action, Event, Game, State


@dataclass(frozen=True, slots=True)
class Done(Generic[State, Action]):
    """An action that was applied, with its dice and cards, the states around it and its events.

    `note` is the players' comment, irrelevant to the rules. `is_undone` if it was taken back later.
    """

    before: State
    action: Action
    state: State
    events: tuple[Event, ...]
    note: str = ""
    is_undone: bool = False


@dataclass(frozen=True, slots=True)
class Remark:
    """A remark of the players in the log, made when `after` actions had been done."""

    document: Json
    after: int


@dataclass(frozen=True, slots=True)
class Logged(Generic[State, Action]):
    """An entry of the log: its document, and the state after it.

    `done` is the action and `deed` its index in `log`, both None for undos and remarks; `undoes`
    are the indices of the actions that an undo takes back, latest first.
    """

    document: Json
    state: State
    done: Done[State, Action] | None = None
    deed: int | None = None
    undoes: tuple[int, ...] = ()


class PlayLog(Generic[State, Action]):
    """An append-only log; an entry that is a number is an undo of as many actions.

    `first` is the state before all entries.
    """

    def __init__(self, game: Game[State, Action], first: State) -> None:
        self._game = game
        self._first = first
        self._entries: list[Done[State, Action] | Remark | int] = []

    def __len__(self) -> int:
        """Returns the number of entries."""
        return len(self._entries)

    def add(self, entry: Done[State, Action] | Remark | int) -> None:
        """Appends an action, a remark, or the number of actions taken back."""
        self._entries.append(entry)

    @property
    def deeds(self) -> tuple[Done[State, Action], ...]:
        """All actions in order, including those taken back."""
        return tuple(entry for entry in self._entries if isinstance(entry, Done))

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """All remarks in order."""
        return tuple(entry for entry in self._entries if isinstance(entry, Remark))

    @property
    def remarks_after(self) -> Mapping[int, tuple[Remark, ...]]:
        """The remarks by the index in `deeds` of the action that they follow, or the first one."""
        remarks: dict[int, tuple[Remark, ...]] = {}
        for deed, _, remark in self._remarked():
            remarks[deed] = (*remarks.get(deed, ()), remark)
        return remarks

    def _remarked(self) -> Iterator[tuple[int, int, Remark]]:
        """Yields remarks, after the index of the action that each follows, and their own."""
        deed = -1
        for index, entry in enumerate(self._entries):
            deed += isinstance(entry, Done)
            if isinstance(entry, Remark):
                yield max(deed, 0), index, entry

    def documents(self, after: int = 0) -> list[Json]:
        """Returns the documents of the entries after the first `after`."""
        return [self._document(entry) for entry in self._entries[after:]]

    def logged(self, after: int = 0) -> Iterator[Logged[State, Action]]:
        """Yields the entries after the first `after`, with the state after each."""
        current: list[tuple[int, Done[State, Action]]] = []
        deeds = 0
        # From the beginning, as only then is it known what an undo takes back.
        for index, entry in enumerate(self._entries):
            done, deed = None, None
            undoes: tuple[int, ...] = ()
            if isinstance(entry, Done):
                done, deed = entry, deeds
                current.append((deed, done))
                deeds += 1
            elif isinstance(entry, int):
                # An undo refers to the current actions, not to the last entries.
                undoes = tuple(number for number, _ in reversed(current[-entry:]))
                del current[-entry:]
            if index >= after:
                state = current[-1][1].state if current else self._first
                yield Logged(self._document(entry), state, done, deed, undoes)

    def deeds_since(self, entries: int) -> frozenset[int]:
        """Returns the indices in `deeds` of actions done or undone after the first `entries`.

        Includes those followed by a new remark.
        """
        later = self.logged(after=entries)
        deeds = (deed for logged in later for deed in (logged.deed, *logged.undoes))
        remarked = (deed for deed, index, _ in self._remarked() if index >= entries)
        return frozenset(deed for deed in (*deeds, *remarked) if deed is not None)

    def _document(self, entry: Done[State, Action] | Remark | int) -> Json:
        if isinstance(entry, int):
            return {"undo": entry}
        if isinstance(entry, Remark):
            return {"remark": entry.document}
        action = self._game.action_to_json(entry.action)
        return {"note": entry.note, "action": action} if entry.note else action
