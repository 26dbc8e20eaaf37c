"""The referee: runs a game on a table that the camera watches, for all seats.

It never gets in the way. It suggests the moves that players seem to have made, with their cost or
the reason why they are illegal; a player confirms, corrects or overrules. Where table and game
differ it says so, shows where, and waits.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tablecam.documents import document_from
from tablecam.errors import BadInput
from tablecam.referee.game_controller import ONLY_CHOICE, AnyPlay, GameController
from tablecam.referee.game_overlay import GameOverlay
from tablecam.referee.game_store import GameStore, StoreWriter
from tablecam.referee.guards import MeasuringBan, VersionGuard, check_asked, check_plays, offered
from tablecam.referee.intents import (
    Intent,
    TieBreak,
    answered,
    check_intent,
    decided_by,
    said_of_late,
)
from tablecam.referee.placing import Placing, changed, laid, put_back
from tablecam.referee.refusals import NotYours, OutOfDate
from tablecam.referee.seats import Proposal, Seat, taken_back
from tablecam.rules.descriptions import begin_words
from tablecam.rules.game import OVERRULE, Game, Refused, Suggestion
from tablecam.rules.game_files import FORMATS, options_with_files
from tablecam.rules.play import Play
from tablecam.table.model import Position
from tablecam.uncertainty.answer import Answer

_RUN_BYTES = 6
EVERYBODY = "everybody passes"
"""The note of the first of several seats that pass with one tap."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a game that is no action, carried out by `edit`.

    It takes back all actions from index `since` on, if given. `what` describes to everybody what
    else it does, and reveals nothing concealed.
    """

    edit: Callable[[], object]
    since: int | None = None
    what: str = ""


class Referee:
    """A game and the table that it is played on. Thread-safe.

    Args:
        game: The rule system of the table.
        is_automatic: Legal moves are confirmed automatically.
        tell: Called with the version whenever a seat may see something new.
        store: Stores the game; None to store nothing.
        now_s: A monotonic clock.
    """

    def __init__(
        self,
        game: Game[Any, Any],
        *,
        is_automatic: bool = False,
        tell: Callable[[int], None] = lambda version: None,
        store: GameStore | None = None,
        now_s: Callable[[], float] = time.monotonic,
        files: Mapping[str, Path] = MappingProxyType({}),
    ) -> None:
        self.game = game
        self._files = files
        self._tell = tell
        self._lock = threading.RLock()
        self._controller = GameController(game, is_automatic=is_automatic)
        self._by_hand = self._controller.by_hand
        self._versions = VersionGuard(now_s)
        self._store = StoreWriter(game, store)
        self._overlay = GameOverlay()
        self._ban = MeasuringBan()
        self._run = ""
        self._proposal: Proposal | None = None
        self._proposals = 0

    @property
    def version(self) -> int:
        """The version of the game, which grows with every change that a seat may see."""
        with self._lock:
            return self._versions.version

    @property
    def run(self) -> str:
        """A random name of the game in progress, new whenever it begins or resumes."""
        with self._lock:
            return self._run

    @property
    def can_undo(self) -> bool:
        """Whether players have done anything that they can take back."""
        with self._lock:
            return self._controller.can_undo

    @property
    def proposal(self) -> Proposal | None:
        """The proposal that one side has made and that is still open."""
        with self._lock:
            return self._proposal

    @property
    def refused(self) -> Mapping[Seat, int]:
        """The number of refused corrections of each seat."""
        with self._lock:
            return dict(self._versions.refused)

    @contextmanager
    def locked(self) -> Iterator[AnyPlay | None]:
        """Yields the game in progress under the lock, None before it begins."""
        with self._lock:
            yield self._controller.play

    @property
    def suggested(self) -> tuple[Suggestion, ...]:
        """The moves that players seem to have made and that are not confirmed."""
        with self._lock:
            return self._by_hand.suggested

    @property
    def brings(self) -> Mapping[str, tuple[str, ...]]:
        """What else each suggested move that is legal brings if it is confirmed first."""
        with self._lock:
            return self._by_hand.brings

    @property
    def together(self) -> tuple[Suggestion, ...]:
        """The moves that may be confirmed at once, in order; empty if fewer than two."""
        with self._lock:
            return self._by_hand.together

    @property
    def problem(self) -> str:
        """The reason why the table cannot be interpreted, empty if it can."""
        with self._lock:
            return self._by_hand.problem

    @property
    def to_place(self) -> tuple[Placing, ...]:
        """The units that players still have to move on the table."""
        with self._lock:
            play = self._controller.play
            return () if play is None else self._by_hand.placings(play.state)

    @property
    def bases_left(self) -> Mapping[str, int]:
        """The number of bases that each unit on the table has in the game: none if it has left."""
        with self._lock:
            play = self._controller.play
            return {} if play is None else self._by_hand.bases_left(play.state)

    @property
    def intents(self) -> tuple[Intent, ...]:
        """The recent intents, declared before moves."""
        with self._lock:
            play = self._controller.play
            return () if play is None else said_of_late(play)

    def intent_answers(self) -> tuple[tuple[Intent, Answer | None], ...]:
        """Returns each recent intent with the answer whether the table matches it.

        Under a ban on measuring, the answer is None until the unit has moved.
        """
        with self._lock:
            moved = {suggestion.unit for suggestion in self._by_hand.suggested}
            return answered(self.intents, self._by_hand.seen, moved, self._ban.now)

    def position(self) -> Position | None:
        """Returns the table according to the game, None before it begins."""
        with self._lock:
            return self._controller.position()

    def due_position(self, unit: str | None = None, *, back: bool = False) -> Position | None:
        """Returns the table as it should lie, by the game.

        A `unit` with a move that is not legal is at its nearest legal place; None if its move is
        legal: it may stay until players confirm it, or want it `back`.

        Raises:
            BadInput: No game has begun.
        """
        with self._lock:
            position = self._controller.position()
            if position is None:
                raise BadInput("table", "expected a game in progress, but none has begun")
            move = next((move for move in self._by_hand.suggested if move.unit == unit), None)
            if move is None or back:
                return position
            return move.nearest or (None if move.is_legal else position)

    def with_game_state(self, position: Position) -> Position:
        """Returns a seen position with the game's states of units and terrain.

        Never waits, because the camera's loop calls it for every frame.
        """
        return self._overlay.marked(position)

    @property
    def believed(self) -> Position | None:
        """The table according to the game, None before it begins. Never waits."""
        return self._overlay.position

    def lost(self, tags: Collection[int]) -> frozenset[int]:
        """Returns the tags of units' bases that the game does not have. Never waits."""
        return self._overlay.lost(tags)

    def check_open(self, *names: str | None) -> None:
        """Refuses to measure between things that may not be measured: `MeasuringBan.check_open`."""
        self._ban.check_open(names)

    def foresee(self, name: str, poses: Sequence[Sequence[float]]) -> Suggestion | None:
        """Returns the ruling on a move of a unit's bases, before it is made.

        A pose is x and y in mm and the heading in degrees. None if that is no move, or before a
        game begins.

        Raises:
            NotDeclared: Measuring is closed.
            BadInput: There is no such unit, or it has another number of bases.
        """
        self.check_open(name, None)
        with self._lock:
            play, seen = self._controller.play, self._by_hand.seen
            unit = None if seen is None else seen.unit(name)
            if unit is None or len(unit.bases) != len(poses):
                raise BadInput("foresee", "expected a unit on the table, and a pose for each base")
            if play is None:
                return None
            bases = tuple(
                replace(base, x_mm=x_mm, y_mm=y_mm, heading_deg=heading_deg)
                for base, (x_mm, y_mm, heading_deg) in zip(unit.bases, poses, strict=True)
            )
            return self._by_hand.foreseen(play.state, replace(unit, bases=bases))

    def begin(self, position: Position, options: Mapping[str, Any], seat: Seat) -> None:
        """Begins a game on the table as it lies; markers of a previous game are removed.

        In the middle of another game both sides must agree, so the request becomes a proposal.

        Raises:
            NotYours: The seat is a spectator's.
            BadInput: The table does not fit the game, or an option or a file is wrong.
        """
        check_plays(seat)
        options = options_with_files(
            options, self.game.name, self.game.file_models, self._files, position.table.hex_map
        )
        with self._lock:
            if not self._is_in_middle or seat.is_for_all:
                self._begin(position, options)
                return
            # Raises if the game cannot begin.
            Play(self.game, position, options)
            sides = list(dict.fromkeys(unit.side for unit in position.units))
            terms = begin_words(
                self.game.begin_form(sides),
                {key: value for key, value in options.items() if key not in FORMATS},
            )
            self._propose(
                seat,
                f"another game ({terms})" if terms else "another game",
                # The table may have changed by the time the other side agrees.
                lambda _: self._begin(self._by_hand.seen or position, options),
            )

    def agree(self, seat: Seat, number: int) -> None:
        """Agrees to the proposal of this number, which is then carried out.

        Raises:
            NotYours: The seat is a spectator's, or made the proposal itself.
            OutOfDate: The proposal has lapsed.
            BadInput: It cannot be carried out.
        """
        with self._lock:
            check_plays(seat)
            proposal = self._proposal
            if proposal is None or proposal.number != number:
                raise OutOfDate("game", "this is no longer proposed: look again")
            if not proposal.may_agree(seat):
                raise NotYours("seat", "expected the other side to agree")
            # A proposal is used up, even if it fails now.
            self._proposal = None
            try:
                proposal.carry_out(seat)
            except BadInput:
                # Pages must see that it is gone.
                self._compare()
                raise

    def resume(self, document: object) -> None:
        """Resumes a stored game from the document of `Play.to_json`.

        Raises:
            BadInput: The document is of another game.
        """
        with self._lock:
            play = self._controller.resume(document)
            self._run = _new_run()
            self._store.resume(play)
            self._go_on()

    def table_at_rest(self, position: Position) -> None:
        """Takes in the table after it has come to rest."""
        with self._lock:
            astray, before = self._by_hand.astray, self._by_hand.seen or position
            self._by_hand.seen = position
            # Units that have come to light were not there before.
            self._versions.move(changed(before, position) | changed(position, before))
            if self._controller.play is not None:
                self._compare(astray)

    def act(self, seat: Seat, action: object, version: int | None = None, note: str = "") -> None:
        """Applies a seat's action; `version` is the version of the game that the seat saw.

        An offered action without other data carries its version (`at`). Without a version, such an
        action is accepted only once from a seat, because a repetition would answer the next
        question. An action that reveals something concealed becomes a proposal, unless it comes
        from the shared screen.

        Raises:
            NotYours: Another seat has to decide.
            OutOfDate: The game has gone on since.
            TooOften: Too many corrections of this seat were refused recently.
            BadInput: There is no such action, or it is refused.
        """
        with self._lock:
            action, at = offered(action)
            version = at if version is None else version
            play = self._checked(seat, version)
            is_overrule = _is_overrule(action)
            # Counted, as refusals of corrections could be used to guess what is concealed.
            with self._versions.counted(seat) if is_overrule else nullcontext():
                parsed = self.game.action_from_json(action)
                self._act(seat, play, parsed, note, version=version, is_overrule=is_overrule)

    def sit(self, seat: Seat) -> None:
        """Notes that a screen has taken a seat: a player of both sides has nothing to hide."""
        with self._lock:
            self._controller.hands_are_open = seat.kind == "both"
            if self._controller.play is not None:
                self._compare()

    def pass_all(self, seat: Seat, version: int | None = None) -> None:
        """Passes for every seat asked in a row, at the shared screen.

        Raises:
            NotYours: The seat is not the shared screen, at which all players sit.
            OutOfDate: As for `act`.
            BadInput: Somebody has to decide something.
        """
        with self._lock:
            play = self._checked(seat, version)
            if not seat.is_for_all:
                raise NotYours("seat", "expected the shared screen: each seat passes for itself")
            if self.game.passed(play.state) is None:
                raise Refused(f"expected a decision: {play.asked().question}")
            note = EVERYBODY
            while (action := self.game.passed(play.state)) is not None:
                self._controller.apply(action, note)
                # One tap is one line of the log, and one step back.
                note = ONLY_CHOICE
            self._go_on()

    def confirm(
        self, seat: Seat, unit: str, version: int | None = None, way: TieBreak = "seen"
    ) -> None:
        """Confirms the suggested move of a unit.

        `way` is how the players decided a move that is too close to call.

        Raises:
            NotYours, OutOfDate: As for `act`.
            BadInput: No move of that unit is suggested, or it is not legal.
        """
        with self._lock:
            play = self._checked(seat, version, [unit])
            moves = (move for move in self._by_hand.suggested if move.unit == unit)
            move = next(moves, None)
            if move is None or move.action is None:
                raise Refused(f"expected a move of {unit} to confirm: there is none", key="unit")
            intent = next((intent for intent in self.intents if intent.unit == unit), None)
            self._act(seat, play, move.action, decided_by(way, intent))

    def confirm_all(self, seat: Seat, units: Sequence[str], version: int | None = None) -> None:
        """Confirms the suggested moves of several units, in the order in which they were offered.

        Raises:
            NotYours, OutOfDate: As for `act`; also out of date if other units are on offer.
        """
        with self._lock:
            play = self._checked(seat, version, units)
            moves = self._by_hand.together
            # The rulings hold for these moves in this order alone.
            if [move.unit for move in moves] != list(units):
                raise OutOfDate("game", "the moves to confirm have changed: look again")
            check_asked(seat, play)
            try:
                for move in moves:
                    self._controller.apply(move.action)
            finally:
                # Those before a refused one have been applied.
                self._go_on()

    def accept(
        self, seat: Seat, units: Sequence[str], why: str = "", version: int | None = None
    ) -> None:
        """Accepts units and commanders where they lie, even against the rules.

        Where the game waits for the move of one of them, this is that move if the game can do so.

        Raises:
            NotYours, OutOfDate: As for `act`.
            BadInput: One is not seen, or cannot lie there.
        """
        with self._lock:
            self._checked(seat, version, units)
            placed = laid(self._by_hand.seen, units)
            moves = (move for move in self._by_hand.suggested if move.action is not None)
            asked = [move.unit for move in moves if move.unit in units]
            self.act(seat, {"type": OVERRULE, "why": why, **placed, "asked": asked})

    def intend(self, seat: Seat, intent: Intent, version: int | None = None) -> None:
        """Records an intent before a move; it is checked after the move.

        Raises:
            NotYours, OutOfDate: As for `act`.
            BadInput: A unit is not in the game, both are the same, or the table has no such length.
        """
        with self._lock:
            play = self._checked(seat, version)
            check_intent(intent, self.game.position(play.state))
            play.remark(intent.to_json())
            # Not a decision: earlier offers stay valid.
            self._compare()

    def undo(self, seat: Seat, steps: int = 1, version: int | None = None) -> None:
        """Takes back the latest actions; players then put the units back.

        Actions that revealed something concealed need the agreement of both sides, or the shared
        screen.

        Raises:
            NotYours, OutOfDate: As for `act`.
            BadInput: There are fewer actions.
        """

        def carry_out(_: Seat) -> None:
            askeds = (self.game.asked(done.before) for done in self._controller.last_done(steps))
            others = {asked.seat for asked in askeds if asked.seat not in (None, seat.side)}
            self._controller.undo(steps)
            if seat.side is not None and others:
                self._controller.required().remark(taken_back(seat, others, steps))
            self._go_on()

        with self._lock:
            play = self._checked(seat, version)
            self._take_back(seat, play, len(self._controller.last_done(steps)), "", carry_out)

    def change(
        self, seat: Seat, plan: Callable[[AnyPlay], Change], version: int | None = None
    ) -> None:
        """Applies a change that is no action, such as a correction.

        Actions that it takes back need the same agreement as for `undo`.

        Raises:
            NotYours, OutOfDate: As for `act`.
            BadInput: The change is impossible.
        """
        with self._lock:
            play = self._checked(seat, version)
            change = plan(play)

            def carry_out(_: Seat) -> None:
                with self._controller.changing():
                    change.edit()
                self._go_on()

            number = 0 if change.since is None else len(play.done) - change.since
            self._take_back(seat, play, number, change.what, carry_out)

    @property
    def _is_in_middle(self) -> bool:
        """Whether a game has begun and is not over."""
        play = self._controller.play
        return play is not None and not play.asked().is_over

    def _begin(self, position: Position, options: Mapping[str, Any]) -> None:
        play = self._controller.begin(position, options)
        self._run = _new_run()
        self._store.begin(play)
        self._go_on()

    def _act(
        self,
        seat: Seat,
        play: AnyPlay,
        action: Any,
        note: str,
        *,
        version: int | None = None,
        is_overrule: bool = False,
    ) -> None:
        """Applies a seat's action, or proposes it if it reveals something concealed."""
        # Without a version, the same action again may be the second of two taps.
        if version is None and self._controller.is_latest(action):
            self._versions.check_not_said(seat, action, play)
        # Players may overrule at any time, whoever is asked.
        if not is_overrule:
            check_asked(seat, play)
        agreed_on = self.game.agreed_on(play.state, action)
        if agreed_on and not seat.is_for_all:
            self._propose(
                seat,
                agreed_on,
                lambda agreeing: self._apply(seat, action, _agreed(agreeing, agreed_on)),
            )
            return
        self._apply(seat, action, _agreed(seat, agreed_on) if agreed_on else note)

    def _apply(self, seat: Seat, action: Any, note: str) -> None:
        self._controller.apply(action, note)
        self._versions.note(seat, action)
        self._go_on()

    def _take_back(
        self, seat: Seat, play: AnyPlay, number: int, what: str, carry_out: Callable[[Seat], None]
    ) -> None:
        """Takes back the latest actions, or proposes it where one side may not alone.

        One side may not if they revealed something concealed: it could look at cards and take the
        action back. Nor may it undo without a correction, `what`, if the other side chose one.
        """
        undone = play.done[len(play.done) - number :]
        has_revealed = any(event.only_for for done in undone for event in done.events)
        choosers = () if what else map(self._controller.chooser, undone)
        if seat.is_for_all or not (
            has_revealed or any(one not in (None, seat.side) for one in choosers)
        ):
            carry_out(seat)
            return
        text = f"taking back {'an action' if number == 1 else f'{number} actions'}"
        text += " that showed a side what is concealed" if has_revealed else " of the other side"
        self._propose(seat, f"{what}, {text}" if what else text, carry_out)

    def _propose(self, seat: Seat, text: str, carry_out: Callable[[Seat], None]) -> None:
        """Makes a proposal that the other side may agree to."""
        self._proposals += 1
        self._proposal = Proposal(self._proposals, seat, text, carry_out)
        # No decision yet, but a new version for pages to show.
        self._compare()

    def _checked(self, seat: Seat, version: int | None, lying: Iterable[str] = ()) -> AnyPlay:
        """Returns the game, if the seat may change it and has seen its latest version.

        It must also have seen the latest places of the units `lying` on the table.
        """
        check_plays(seat)
        play = self._controller.required()
        self._versions.check(version, lying)
        self._controller.hands_are_open = seat.kind == "both"
        return play

    def _go_on(self) -> None:
        """Compares the table after a decision, which makes all earlier offers out of date."""
        self._versions.decide()
        self._proposal = None
        self._compare()

    def _compare(self, astray: Collection[str] = ()) -> None:
        """Compares table and game, records the result, and announces a new version.

        Notes which units that were `astray` have been put back.
        """
        # Before the comparison, which takes time.
        self._ban.follow(self._controller.play)
        if self._controller.compare():
            self._versions.decide()
            # It referred to the game before this.
            self._proposal = None
        elif play := self._controller.play:
            moved = {move.unit for move in self._by_hand.suggested}
            for unit in sorted(set(astray) - moved):
                play.remark(put_back(unit))
        # Again, as a move may have been confirmed automatically.
        self._ban.follow(self._controller.play)
        play = self._controller.play
        if play is not None:
            # Stored before it is announced: a crash loses nothing that a page has shown.
            self._store.follow(play, self._by_hand.suggested)
            self._overlay.follow(self.game.position(play.state))
        self._versions.version += 1
        self._tell(self._versions.version)


def _new_run() -> str:
    return secrets.token_hex(_RUN_BYTES)


def _agreed(seat: Seat, what: str) -> str:
    """Returns the note of an action that both sides or the shared screen agreed on."""
    who = "both sides" if seat.side else "the shared screen"
    return f"agreed by {who}: {what}"


def _is_overrule(action: object) -> bool:
    return document_from(action, "action").data.get("type") == OVERRULE
