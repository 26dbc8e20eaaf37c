"""The referee: a game in progress over a table that is watched.

It never gets in the way. What hands have done is suggested, with what it costs or why it is not
legal; a player confirms, corrects or overrules. Where table and game do not agree it says so, shows
where, and waits.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from tablecam.documents import document_from, nearest, quoted
from tablecam.errors import BadInput
from tablecam.measure.answer import Answer
from tablecam.referee.by_hand import ByHand
from tablecam.referee.intents import Intent, intents, judged
from tablecam.referee.kept import Keeper, Kept
from tablecam.referee.placing import Placing
from tablecam.referee.refusals import NotDeclared, NotYours, OutOfDate
from tablecam.referee.seats import Seat
from tablecam.referee.together import is_sure
from tablecam.referee.ways import WAYS, Way
from tablecam.rules.frozen_json import to_plain
from tablecam.rules.game import LAY, OVERRULE, Closed, Game, Refused, Suggestion
from tablecam.rules.play import Play
from tablecam.table.model import Position, Scalar, Terrain

AnyPlay = Play[Any, Any]

AT = "at"
"""The key of an offered action that names the version of the game at which it was offered."""

_RUN_BYTES = 6

_SAID_FOR_ACTIONS = 12
"""What a mover said is shown until so many actions have been done: more than a march has."""


ONLY_CHOICE = "the only choice"
"""The note of what the referee did by itself, as nothing was left to be chosen."""


class Referee:
    """A game and the table that it is played on; any thread may call, and they take turns.

    Args:
        game: The rule system of the table.
        is_automatic: Legal moves are confirmed by themselves.
        tell: Called with the version whenever a seat may see something new.
        keeper: Where the game is kept; None keeps it nowhere.
    """

    def __init__(
        self,
        game: Game[Any, Any],
        *,
        is_automatic: bool = False,
        tell: Callable[[int], None] = lambda version: None,
        keeper: Keeper | None = None,
    ) -> None:
        self.game = game
        self.is_automatic = is_automatic
        self._tell = tell
        self._kept = Kept(game, keeper)
        self._turn = threading.RLock()
        self._play: AnyPlay | None = None
        self._by_hand = ByHand(game)
        self._markers: Mapping[str, Mapping[str, Scalar]] = {}
        self._ground: tuple[Terrain, ...] | None = None
        self._closed: Closed | None = None
        self._run = ""
        self._latest: tuple[Seat, object] | None = None
        self._version = 0
        self._decided = 0

    @property
    def version(self) -> int:
        """Grows with whatever a seat may see of the game."""
        with self._turn:
            return self._version

    @property
    def run(self) -> str:
        """A name for the game in progress that no other has, nor this one when it is resumed."""
        with self._turn:
            return self._run

    @contextmanager
    def held(self) -> Iterator[AnyPlay | None]:
        """The game in progress, held so while it is looked at; None before it has begun."""
        with self._turn:
            yield self._play

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

    def check_open(self, *names: str | None) -> None:
        """See to it that nobody measures what nobody may; a name is a unit's or a commander's.

        None is a point of the table. It waits for nobody: a page asks with every turn of a hand.

        Raises:
            NotDeclared: Measuring is closed between these until something is declared.
        """
        closed = self._closed
        if closed is not None and not closed.permits(names):
            raise NotDeclared("measuring", closed.because)

    @property
    def to_place(self) -> tuple[Placing, ...]:
        """What hands still have to do on the table for the game."""
        with self._turn:
            return () if self._play is None else self._by_hand.placings(self._play.state)

    @property
    def to_take_off(self) -> frozenset[str]:
        """The units that have left the game and lie on the table yet."""
        with self._turn:
            play = self._play
            return frozenset() if play is None else self._by_hand.to_take_off(play.state)

    def begin(self, position: Position, options: Mapping[str, Any], seat: Seat) -> None:
        """Begin a game on the table as it lies; markers of a game before are taken off.

        Raises:
            NotYours: The seat only looks on.
            BadInput: The table does not fit the game, or an option is wrong.
        """
        _check_plays(seat)
        with self._turn:
            if self._play is not None:
                position = _without_markers(position)
            self._play, self._run = Play(self.game, position, options), _new_run()
            self._by_hand.begin(position)
            self._kept.begin(self._play)
            self._go_on()

    def resume(self, document: object) -> None:
        """Go on with a game that was kept, as `Play.to_json` wrote it.

        Raises:
            BadInput: It is none of this game's.
        """
        with self._turn:
            self._play, self._run = Play.from_json(self.game, document), _new_run()
            self._kept.resume(self._play)
            self._by_hand.begin(self._by_hand.seen)
            self._go_on()

    def see(self, position: Position) -> None:
        """Take in where everything lies now that it has come to rest."""
        with self._turn:
            self._by_hand.seen = position
            if self._play is not None:
                self._look()

    def act(self, seat: Seat, action: object, version: int | None = None, note: str = "") -> None:
        """Do what a seat wants; `version` is that of the game it looked at, if it says so.

        An action that was offered brings it along, where it says nothing else (`at`). Without one
        such an action is taken once from a seat: said again it would answer what has come to be
        asked since.

        Raises:
            NotYours: It is not this seat's to do.
            OutOfDate: The game has gone on since.
            BadInput: There is no such action, or it is refused.
        """
        with self._turn:
            action, at = _offered(action)
            version = at if version is None else version
            play = self._checked(seat, version)
            wanted = self.game.action_from_json(action)
            if version is None:
                self._check_not_said(seat, wanted)
            if not _is_overrule(action):
                _check_asked(seat, play)
            self._apply(wanted, note)
            self._latest = seat, wanted
            self._go_on()

    def _check_not_said(self, seat: Seat, wanted: Any) -> None:
        """Refuse what a seat has just said, if it does not tell what it answers."""
        is_bare = set(self.game.action_to_json(wanted)) == {"type"}
        is_latest = self._latest == (seat, wanted) and self._is_standing(wanted)
        if is_bare and is_latest:
            asked = self.game.asked(self._play.state).question if self._play else ""
            why = f"{wanted.type} was said already, and now it is asked: {asked}"
            raise OutOfDate("game", f"{why}: say of which version it is meant")

    def _is_standing(self, action: Any) -> bool:
        """Whether an action is the latest that was done, what the referee takes over apart."""
        if self._play is None:
            return False
        done = (each.action for each in reversed(self._play.done))
        others = (each for each in done if self.game.action_to_json(each)["type"] != LAY)
        return bool(next(others, None) == action)

    def confirm(self, seat: Seat, unit: str, version: int | None = None, way: Way = "seen") -> None:
        """Do what a hand seems to have done with a unit.

        `way` is how the players have decided what is too close to call.

        Raises:
            NotYours, OutOfDate: As for `act`.
            BadInput: Nothing is suggested of that unit, or it is not legal.
        """
        with self._turn:
            self._checked(seat, version, since=self._version)
            found = next((each for each in self._by_hand.suggested if each.unit == unit), None)
            if found is None or found.action is None:
                raise Refused(f"expected a move of {unit} to confirm: there is none", key="unit")
            note = f"too close to call, decided by {WAYS[way]}" if way != "seen" else ""
            said = next((each.text for each in self.intents if each.unit == unit), None)
            if way == "intent" and said is not None:
                note += f": {said}"
            self.act(seat, self.game.action_to_json(found.action), note=note)

    def confirm_all(self, seat: Seat, units: Sequence[str], version: int | None = None) -> None:
        """Do what a hand seems to have done with several units, in the order that was offered.

        Raises:
            NotYours, OutOfDate: As for `act`; late, too, where these are not the units on offer.
        """
        with self._turn:
            play = self._checked(seat, version, since=self._version)
            moves = self._by_hand.together
            if [each.unit for each in moves] != list(units):
                raise OutOfDate("game", "other moves are on offer by now: look again")
            _check_asked(seat, play)
            try:
                for each in moves:
                    self._apply(each.action)
            finally:
                self._go_on()

    def intend(self, seat: Seat, intent: Intent, version: int | None = None) -> None:
        """Keep what a mover says before he moves; it is checked when he has.

        Raises:
            NotYours, OutOfDate: As for `act`.
            BadInput: One of the two units is not in the game, or they are one.
        """
        with self._turn:
            play = self._checked(seat, version)
            units = [unit.id for unit in self.game.position(play.state).units]
            for name in (intent.unit, intent.of):
                if name not in units:
                    raise BadInput("intent", f"there is no unit {name}{nearest(name, units)}")
            if intent.unit == intent.of:
                raise BadInput("intent", f"expected two units, got {intent.unit} twice")
            play.remark(intent.to_json())
            self._look()

    @property
    def intents(self) -> tuple[Intent, ...]:
        """What movers have said of late, before they moved."""
        with self._turn:
            if self._play is None:
                return ()
            return intents(self._play.remarks, len(self._play.done) - _SAID_FOR_ACTIONS)

    def of_intents(self) -> tuple[tuple[Intent, Answer | None], ...]:
        """Each of these intents, and whether the table is as it was meant.

        Where nobody measures before he declares it is told once his unit has been moved.
        """
        with self._turn:
            seen, closed = self._by_hand.seen, self._closed
            moved = {each.unit for each in self._by_hand.suggested}
            told = {
                each.unit
                for each in self.intents
                if closed is None or each.unit in moved.intersection(closed.declared)
            }
            return tuple(
                (each, judged(each, seen) if seen and each.unit in told else None)
                for each in self.intents
            )

    def accept(self, seat: Seat, unit: str, why: str = "", version: int | None = None) -> None:
        """Leave a unit where a hand has laid it, whatever the rules say of it: an overrule.

        Raises:
            NotYours, OutOfDate: As for `act`.
            BadInput: It is not seen, or cannot lie so.
        """
        with self._turn:
            self._checked(seat, version, since=self._version)
            there = self._by_hand.seen
            seen = None if there is None else there.unit(unit)
            if seen is None or not seen.bases:
                raise Refused(f"expected a unit that is seen, got {unit}", key="unit")
            laid = [to_plain(base) for base in seen.bases]
            self.act(seat, {"type": OVERRULE, "why": why, "units": {unit: laid}})

    def undo(self, seat: Seat, steps: int = 1, version: int | None = None) -> None:
        """Take back the latest actions; hands put the units back.

        Raises:
            NotYours, OutOfDate: As for `act`.
            BadInput: Not so many have been done.
        """
        with self.changing(seat, version) as play:
            play.undo(self._with_lays(play, steps))

    @contextmanager
    def changing(self, seat: Seat, version: int | None) -> Iterator[AnyPlay]:
        """The game, for a seat to change otherwise than by an action; then hands have to follow.

        Raises:
            NotYours, OutOfDate: As for `act`.
        """
        with self._turn:
            play = self._checked(seat, version)
            before = self.game.position(play.state)
            yield play
            self._by_hand.follow(before, self.game.position(play.state))
            self._go_on()

    def _with_lays(self, play: AnyPlay, steps: int) -> int:
        """So many actions of players', and what the referee took over by itself since."""
        number = 0
        for number, done in enumerate(reversed(play.done), start=1):
            is_lay = self.game.action_to_json(done.action)["type"] == LAY
            steps -= not (is_lay or done.note == ONLY_CHOICE)
            if steps == 0:
                return number
        return number + steps

    def position(self) -> Position | None:
        """The table as the game knows it; None before it has begun."""
        with self._turn:
            return None if self._play is None else self.game.position(self._play.state)

    def marked(self, position: Position) -> Position:
        """A table as it is seen, with what the game knows of it: disruption, smoke, ground.

        It waits for nobody: a camera's loop asks with every frame.
        """
        known, ground = self._markers, self._ground
        if ground is None:
            return position
        units = tuple(
            replace(unit, state=known[unit.id]) if unit.id in known else unit
            for unit in position.units
        )
        return replace(position, units=units, terrain=ground)

    def _checked(self, seat: Seat, version: int | None, since: int | None = None) -> AnyPlay:
        """The game, if a seat may change it and has looked at it since it last went on.

        A hand on the table does not make a tap late; `since` another version, if it says so.
        """
        _check_plays(seat)
        if self._play is None:
            raise BadInput("game", "expected a game in progress: none has begun")
        since = self._decided if since is None else since
        if version is not None and not since <= version <= self._version:
            raise OutOfDate("game", "it has gone on since: look again before you choose")
        return self._play

    def _apply(self, action: Any, note: str = "") -> None:
        """Do an action, and note what hands have to do on the table because of it."""
        if self._play is None:
            raise BadInput("game", "expected a game in progress: none has begun")
        before = self.game.position(self._play.state)
        self._play.apply(action, note)
        self._by_hand.follow(before, self.game.position(self._play.state))

    def _go_on(self) -> None:
        """Look at the table after something was decided: what was offered before is no more."""
        self._decided = self._version + 1
        self._look()

    def _look(self) -> None:
        """Compare the table with the game, and tell that there is something new to see."""
        self._close_tools()  # before the table is judged, as that takes its time
        self._compare()
        self._close_tools()  # a move may have been confirmed by itself
        if self._play is not None:
            self._kept.follow(self._play, self._by_hand.suggested)
        if (position := self.position()) is not None:
            self._markers = {unit.id: unit.state for unit in position.units}
            self._ground = position.terrain
        self._version += 1
        self._tell(self._version)

    def _close_tools(self) -> None:
        self._closed = None if self._play is None else self._play.asked().closed

    def _compare(self) -> None:
        """What is to be placed by hand, and what hands have done."""
        if self._play is None:
            return
        self._take_over_hairs(self._play)
        self._by_hand.look(self._play.state)
        if not self.is_automatic:
            return
        if self._goes_on_by_itself(self._play) or self._confirms_by_itself():
            self._decided = self._version + 1
            self._compare()

    def _take_over_hairs(self, play: AnyPlay) -> None:
        seen = self._by_hand.seen
        action = None if seen is None else self.game.laid(play.state, seen)
        if action is not None:
            play.apply(action)

    def _goes_on_by_itself(self, play: AnyPlay) -> bool:
        """Whether nothing was left to be chosen, which is done then."""
        action = self.game.forced(play.state)
        if action is not None:
            self._apply(action, ONLY_CHOICE)
        return action is not None

    def _confirms_by_itself(self) -> bool:
        """Whether a move was legal beyond doubt; what is too close is left to the players."""
        done = [self._is_confirmed(each) for each in self._by_hand.together]
        return any(done or map(self._is_confirmed, filter(is_sure, self._by_hand.suggested)))

    def _is_confirmed(self, found: Suggestion) -> bool:
        """Whether a move could be confirmed, which it is then."""
        try:
            self._apply(found.action)
        except Refused:
            return False
        return True


def _offered(action: object) -> tuple[object, int | None]:
    """An action as the game knows it, and the version at which it was offered, if it says so."""
    if not isinstance(action, dict) or AT not in action:
        return action, None
    at = action[AT]
    if isinstance(at, bool) or not isinstance(at, int):
        raise BadInput("action", f"expected a version of the game, got {quoted(at)}", key=AT)
    return {key: value for key, value in action.items() if key != AT}, at


def _new_run() -> str:
    return secrets.token_hex(_RUN_BYTES)


def _without_markers(position: Position) -> Position:
    return replace(position, units=tuple(replace(unit, state={}) for unit in position.units))


def _is_overrule(action: object) -> bool:
    return document_from(action, "action").data.get("type") == OVERRULE


def _check_plays(seat: Seat) -> None:
    if not seat.plays:
        raise NotYours("seat", "expected a player: who looks on changes nothing")


def _check_asked(seat: Seat, play: AnyPlay) -> None:
    asked = play.asked()
    if not seat.may_answer(asked):
        raise NotYours("action", f"expected it of {asked.seat}: {asked.question}")
