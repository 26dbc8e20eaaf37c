"""The referee: a game in progress over a table that is watched.

It never gets in the way. What hands have done is suggested, with what it costs or why it is not
legal; a player confirms, corrects or overrules. Where table and game do not agree it says so, shows
where, and waits.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

from tablecam.documents import document_from
from tablecam.errors import BadInput
from tablecam.referee.closing import Closing
from tablecam.referee.course import AnyPlay, Course
from tablecam.referee.intents import Intent, answered, check_units, said_of_late
from tablecam.referee.kept import Keeper, Kept
from tablecam.referee.known import Known
from tablecam.referee.placing import Placing, laid
from tablecam.referee.refusals import NotYours, OutOfDate
from tablecam.referee.seats import SHARED, Proposal, Seat
from tablecam.referee.taps import Taps, check_asked, check_plays, offered
from tablecam.referee.ways import Way, decided_by
from tablecam.rules.game import OVERRULE, Game, Refused, Suggestion
from tablecam.rules.play import Play
from tablecam.table.model import Position
from tablecam.uncertainty.answer import Answer

_RUN_BYTES = 6


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a game that is no action, made by `edit`.

    It takes back every action from the place `since` on, where that is given. `what` tells
    everybody what else it does, and names nothing concealed.
    """

    edit: Callable[[], object]
    since: int | None = None
    what: str = ""


class Referee:
    """A game and the table that it is played on; any thread may call, and they take turns.

    Args:
        game: The rule system of the table.
        is_automatic: Legal moves are confirmed by themselves.
        tell: Called with the version whenever a seat may see something new.
        keeper: Where the game is kept; None keeps it nowhere.
        now_s: A clock.
    """

    def __init__(
        self,
        game: Game[Any, Any],
        *,
        is_automatic: bool = False,
        tell: Callable[[int], None] = lambda version: None,
        keeper: Keeper | None = None,
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self.game = game
        self._tell = tell
        self._turn = threading.RLock()
        self._course = Course(game, is_automatic=is_automatic)
        self._by_hand = self._course.by_hand
        self._taps = Taps(now_s)
        self._kept = Kept(game, keeper)
        self._known = Known()
        self._closing = Closing()
        self._run = ""
        self._proposal: Proposal | None = None
        self._proposals = 0

    @property
    def version(self) -> int:
        """Grows with whatever a seat may see of the game."""
        with self._turn:
            return self._taps.version

    @property
    def run(self) -> str:
        """A name for the game in progress that no other has, nor this one when it is resumed."""
        with self._turn:
            return self._run

    @property
    def proposal(self) -> Proposal | None:
        """What one side has proposed, while the other has neither agreed nor gone on."""
        with self._turn:
            return self._proposal

    @property
    def refused(self) -> Mapping[Seat, int]:
        """How many corrections of each seat have been refused."""
        with self._turn:
            return dict(self._taps.refused)

    @contextmanager
    def held(self) -> Iterator[AnyPlay | None]:
        """The game in progress, held so while it is looked at; None before it has begun."""
        with self._turn:
            yield self._course.play

    @property
    def suggested(self) -> tuple[Suggestion, ...]:
        """What hands seem to have done, and the game does not know yet."""
        with self._turn:
            return self._by_hand.suggested

    @property
    def together(self) -> tuple[Suggestion, ...]:
        """The moves that may be confirmed at once, in their order; none where there are not two."""
        with self._turn:
            return self._by_hand.together

    @property
    def trouble(self) -> str:
        """Why nothing can be said of what lies on the table now; empty when all is well."""
        with self._turn:
            return self._by_hand.trouble

    @property
    def to_place(self) -> tuple[Placing, ...]:
        """What hands still have to do on the table for the game."""
        with self._turn:
            play = self._course.play
            return () if play is None else self._by_hand.placings(play.state)

    @property
    def to_take_off(self) -> frozenset[str]:
        """The units that have left the game and lie on the table yet."""
        with self._turn:
            play = self._course.play
            return frozenset() if play is None else self._by_hand.to_take_off(play.state)

    @property
    def intents(self) -> tuple[Intent, ...]:
        """What movers have said of late, before they moved."""
        with self._turn:
            play = self._course.play
            return () if play is None else said_of_late(play)

    def of_intents(self) -> tuple[tuple[Intent, Answer | None], ...]:
        """Each of these intents, and whether the table is as it was meant.

        Where nobody measures before he declares it is told once his unit has been moved.
        """
        with self._turn:
            moved = {each.unit for each in self._by_hand.suggested}
            return answered(self.intents, self._by_hand.seen, moved, self._closing.now)

    def position(self) -> Position | None:
        """The table as the game knows it; None before it has begun."""
        with self._turn:
            return self._course.position()

    def marked(self, position: Position) -> Position:
        """A table as it is seen, with what the game knows of it: disruption, smoke, ground.

        It waits for nobody: a camera's loop asks with every frame.
        """
        return self._known.marked(position)

    def check_open(self, *names: str | None) -> None:
        """See to it that nobody measures what nobody may: `Closing.check_open`."""
        self._closing.check_open(names)

    def begin(self, position: Position, options: Mapping[str, Any], seat: Seat) -> None:
        """Begin a game on the table as it lies; markers of a game before are taken off.

        In the middle of another both sides have to want it: what one asks for is proposed.

        Raises:
            NotYours: The seat only looks on.
            BadInput: The table does not fit the game, or an option is wrong.
        """
        check_plays(seat)
        with self._turn:
            if not self._is_in_middle or seat == SHARED:
                self._begin(position, options)
                return
            Play(self.game, position, options)  # what cannot be is not proposed
            told = ", ".join(f"{key} {value}" for key, value in options.items())
            self._propose(
                seat,
                f"another game ({told})" if told else "another game",
                lambda _: self._begin(self._by_hand.seen or position, options),
            )

    def agree(self, seat: Seat, number: int) -> None:
        """Agree to the proposal of this number: it is carried out.

        Raises:
            NotYours: The seat only looks on, or has proposed it itself.
            OutOfDate: It is proposed no more.
            BadInput: It cannot be done.
        """
        with self._turn:
            check_plays(seat)
            proposal = self._proposal
            if proposal is None or proposal.number != number:
                raise OutOfDate("game", "this is proposed no more: look again")
            if not proposal.may_agree(seat):
                raise NotYours("seat", "expected the other side to agree")
            self._proposal = None
            try:
                proposal.carry_out(seat)
            except BadInput:
                self._look()
                raise

    def resume(self, document: object) -> None:
        """Go on with a game that was kept, as `Play.to_json` wrote it.

        Raises:
            BadInput: It is none of this game's.
        """
        with self._turn:
            play = self._course.resume(document)
            self._run = _new_run()
            self._kept.resume(play)
            self._go_on()

    def see(self, position: Position) -> None:
        """Take in where everything lies now that it has come to rest."""
        with self._turn:
            self._by_hand.seen = position
            if self._course.play is not None:
                self._look()

    def act(self, seat: Seat, action: object, version: int | None = None, note: str = "") -> None:
        """Do what a seat wants; `version` is that of the game it looked at, if it says so.

        An action that was offered brings it along, where it says nothing else (`at`). Without one
        such an action is taken once from a seat: said again it would answer what has come to be
        asked since. What would show what is concealed is proposed, and done once the other side
        agrees, or at once from the table's own screen.

        Raises:
            NotYours: It is not this seat's to do.
            OutOfDate: The game has gone on since.
            TooOften: Too many corrections of this seat were refused of late.
            BadInput: There is no such action, or it is refused.
        """
        with self._turn:
            action, at = offered(action)
            version = at if version is None else version
            play = self._checked(seat, version)
            is_overrule = _is_overrule(action)
            with self._taps.counted(seat) if is_overrule else nullcontext():
                wanted = self.game.action_from_json(action)
                if version is None and self._course.is_latest(wanted):
                    self._taps.check_not_said(seat, wanted, play)
                if not is_overrule:
                    check_asked(seat, play)
                agreed_on = self.game.agreed_on(play.state, wanted)
                if agreed_on and seat != SHARED:
                    self._propose(
                        seat,
                        agreed_on,
                        lambda agreeing: self._apply(seat, wanted, _agreed(agreeing, agreed_on)),
                    )
                    return
                self._apply(seat, wanted, _agreed(seat, agreed_on) if agreed_on else note)

    def confirm(self, seat: Seat, unit: str, version: int | None = None, way: Way = "seen") -> None:
        """Do what a hand seems to have done with a unit.

        `way` is how the players have decided what is too close to call.

        Raises:
            NotYours, OutOfDate: As for `act`.
            BadInput: Nothing is suggested of that unit, or it is not legal.
        """
        with self._turn:
            self._checked(seat, version, is_of_table=True)
            found = next((each for each in self._by_hand.suggested if each.unit == unit), None)
            if found is None or found.action is None:
                raise Refused(f"expected a move of {unit} to confirm: there is none", key="unit")
            said = next((each for each in self.intents if each.unit == unit), None)
            self.act(seat, self.game.action_to_json(found.action), note=decided_by(way, said))

    def confirm_all(self, seat: Seat, units: Sequence[str], version: int | None = None) -> None:
        """Do what a hand seems to have done with several units, in the order that was offered.

        Raises:
            NotYours, OutOfDate: As for `act`; late, too, where these are not the units on offer.
        """
        with self._turn:
            play = self._checked(seat, version, is_of_table=True)
            moves = self._by_hand.together
            if [each.unit for each in moves] != list(units):
                raise OutOfDate("game", "other moves are on offer by now: look again")
            check_asked(seat, play)
            try:
                for each in moves:
                    self._course.apply(each.action)
            finally:
                self._go_on()

    def accept(
        self, seat: Seat, units: Sequence[str], why: str = "", version: int | None = None
    ) -> None:
        """Leave units and commanders where hands have laid them, whatever the rules say.

        Raises:
            NotYours, OutOfDate: As for `act`.
            BadInput: One is not seen, or cannot lie so.
        """
        with self._turn:
            self._checked(seat, version, is_of_table=True)
            self.act(seat, {"type": OVERRULE, "why": why, **laid(self._by_hand.seen, units)})

    def intend(self, seat: Seat, intent: Intent, version: int | None = None) -> None:
        """Keep what a mover says before he moves; it is checked when he has.

        Raises:
            NotYours, OutOfDate: As for `act`.
            BadInput: One of the two units is not in the game, or they are one.
        """
        with self._turn:
            play = self._checked(seat, version)
            check_units(intent, [unit.id for unit in self.game.position(play.state).units])
            play.remark(intent.to_json())
            self._look()

    def undo(self, seat: Seat, steps: int = 1, version: int | None = None) -> None:
        """Take back the latest actions; hands put the units back.

        Actions that showed a side something concealed are taken back only by both sides, or from
        the table's own screen.

        Raises:
            NotYours, OutOfDate: As for `act`.
            BadInput: Not so many have been done.
        """

        def carry_out(_: Seat) -> None:
            self._course.undo(steps)
            self._go_on()

        with self._turn:
            play = self._checked(seat, version)
            self._take_back(seat, play, len(self._course.last_done(steps)), "", carry_out)

    def change(
        self, seat: Seat, plan: Callable[[AnyPlay], Change], version: int | None = None
    ) -> None:
        """Change the game otherwise than by an action; then hands have to follow.

        What it takes back is taken back as by `undo`.

        Raises:
            NotYours, OutOfDate: As for `act`.
            BadInput: The plan cannot be.
        """
        with self._turn:
            play = self._checked(seat, version)
            change = plan(play)

            def carry_out(_: Seat) -> None:
                with self._course.changing():
                    change.edit()
                self._go_on()

            number = 0 if change.since is None else len(play.done) - change.since
            self._take_back(seat, play, number, change.what, carry_out)

    @property
    def _is_in_middle(self) -> bool:
        """Whether a game is in progress, and not over."""
        play = self._course.play
        return play is not None and not play.asked().is_over

    def _begin(self, position: Position, options: Mapping[str, Any]) -> None:
        play = self._course.begin(position, options)
        self._run = _new_run()
        self._kept.begin(play)
        self._go_on()

    def _apply(self, seat: Seat, action: Any, note: str) -> None:
        self._course.apply(action, note)
        self._taps.note(seat, action)
        self._go_on()

    def _take_back(
        self, seat: Seat, play: AnyPlay, number: int, what: str, carry_out: Callable[[Seat], None]
    ) -> None:
        """Take back the latest actions now, or propose it if they showed what is concealed."""
        done = play.done[len(play.done) - number :]
        has_shown = any(event.only_for for each in done for event in each.events)
        if seat == SHARED or not has_shown:
            carry_out(seat)
            return
        actions = "an action" if number == 1 else f"{number} actions"
        text = f"taking back {actions}, by which a side saw what is concealed"
        self._propose(seat, f"{what}, {text}" if what else text, carry_out)

    def _propose(self, seat: Seat, text: str, carry_out: Callable[[Seat], None]) -> None:
        """Leave it to the other side whether something is done."""
        self._proposals += 1
        self._proposal = Proposal(self._proposals, seat, text, carry_out)
        self._look()

    def _checked(self, seat: Seat, version: int | None, *, is_of_table: bool = False) -> AnyPlay:
        """The game, if a seat may change it and has looked at it since it last went on."""
        check_plays(seat)
        play = self._course.required()
        self._taps.check(version, is_of_table=is_of_table)
        return play

    def _go_on(self) -> None:
        """Look at the table after something was decided: what was offered before is no more."""
        self._taps.decide()
        self._proposal = None
        self._look()

    def _look(self) -> None:
        """Compare the table with the game, and tell that there is something new to see."""
        self._closing.follow(self._course.play)  # before the table is judged: that takes its time
        if self._course.compare():
            self._taps.decide()
            self._proposal = None  # it was made of the game before
        self._closing.follow(self._course.play)  # a move may have been confirmed by itself
        play = self._course.play
        if play is not None:
            self._kept.follow(play, self._by_hand.suggested)
            self._known.follow(self.game.position(play.state))
        self._taps.version += 1
        self._tell(self._taps.version)


def _new_run() -> str:
    return secrets.token_hex(_RUN_BYTES)


def _agreed(seat: Seat, what: str) -> str:
    """The note of what a seat has agreed to, or the table's own screen has done at once."""
    who = "both sides" if seat.side else "the table's own screen"
    return f"agreed on by {who}: {what}"


def _is_overrule(action: object) -> bool:
    return document_from(action, "action").data.get("type") == OVERRULE
