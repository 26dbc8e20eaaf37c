"""Corrections of a game: undo, redo, misread dice and wrong choices. The log keeps them all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tablecam.documents import Json
from tablecam.referee.game_controller import AnyPlay
from tablecam.referee.referee import Change, Referee
from tablecam.referee.seat_view import dice_document
from tablecam.referee.seats import Seat
from tablecam.rules.dice import Roll
from tablecam.rules.game import Refused


def undo_to(referee: Referee, seat: Seat, number: int, version: int | None = None) -> None:
    """Takes back the action with index `number` in the log, and all actions after it.

    Raises:
        NotYours, OutOfDate: As for `Referee.act`.
        BadInput: There is no such action, or it was already taken back.
    """

    def plan(play: AnyPlay) -> Change:
        place = play.place_of(number)
        return Change(lambda: play.undo(len(play.done) - place), since=place)

    referee.change(seat, plan, version)


def redo(referee: Referee, seat: Seat, version: int | None = None) -> None:
    """Repeats the action taken back last; players then put the units back.

    Raises:
        NotYours, OutOfDate: As for `Referee.act`.
        BadInput: Nothing was taken back, or something else was done since.
    """
    referee.change(seat, lambda play: Change(play.redo), version)


def correct_dice(
    referee: Referee,
    seat: Seat,
    number: int,
    values: Sequence[int],
    why: str = "",
    version: int | None = None,
) -> None:
    """Corrects dice that were misread, however long ago, and repeats what followed if it can.

    Raises:
        NotYours, OutOfDate: As for `Referee.act`.
        BadInput: There is no such roll, or its dice cannot have these values.
    """

    def plan(play: AnyPlay) -> Change:
        place = play.place_of(number)
        roll = play.done[place].action
        if not isinstance(roll, Roll) or roll.values is None:
            raise Refused("expected dice that were rolled", key="deed")
        before, after = (", ".join(map(str, dice)) for dice in (roll.values, values))
        corrected = replace(roll, values=tuple(values))
        note = _note(f"the dice were first entered as {before}", why)
        what = f"dice of {before} corrected to {after}"
        return Change(lambda: play.correct(place, corrected, note), since=place, what=what)

    referee.change(seat, plan, version)


def others(referee: Referee, seat: Seat, number: int) -> list[Json]:
    """Returns the alternatives to an action of the log, each with its label and action.

    Empty if it was a move on the table, a roll or another seat's action.

    Raises:
        BadInput: No game has begun, there is no such action, or it was taken back.
    """
    with referee.locked() as play:
        if play is None:
            raise Refused("expected a game in progress: none has begun", key="deed")
        place = play.place_of(number)
        # Alternatives and their labels are those of that moment, not of today.
        before = play.done[place].before
        alternatives = _alternatives(play, seat, place)
        offers = ((action, play.game.offered(before, action)) for action in alternatives)
        return [
            {"group": offer.group, "label": offer.label, "action": play.game.action_to_json(action)}
            for action, offer in offers
        ]


def dice_groups(referee: Referee, number: int) -> list[Json]:
    """Returns the dice of a roll of the log in their groups; empty for any other action.

    Raises:
        BadInput: No game has begun, there is no such action, or it was taken back.
    """
    with referee.locked() as play:
        if play is None:
            raise Refused("expected a game in progress: none has begun", key="deed")
        done = play.done[play.place_of(number)]
        if not isinstance(done.action, Roll):
            return []
        roll = replace(done.action, values=None)
        groups: list[Json] = dice_document(roll, play.game.offered(done.before, roll).dice)[
            "groups"
        ]
        return groups


def correct_choice(
    referee: Referee,
    seat: Seat,
    number: int,
    action: object,
    why: str = "",
    version: int | None = None,
) -> None:
    """Replaces a choice that was tapped by mistake, however long ago, by one of the `others`.

    What followed is repeated as far as it can be, with the same dice.

    Raises:
        NotYours, OutOfDate: As for `Referee.act`.
        BadInput: The choice was not available then.
    """

    def plan(play: AnyPlay) -> Change:
        place = play.place_of(number)
        choice = play.game.action_from_json(action)
        # A page may send anything: only what was legal then may take its place.
        if choice not in _alternatives(play, seat, place):
            raise Refused("expected another choice that was possible then", key="action")
        before = play.done[place].before
        first = _public_text(play, before, play.done[place].action)
        corrected = _public_text(play, before, choice)
        note = _note(f"{first} was chosen first", why)
        what = f"{corrected} instead of {first}"
        return Change(lambda: play.correct(place, choice, note), since=place, what=what)

    referee.change(seat, plan, version)


def _public_text(play: AnyPlay, before: Any, choice: Any) -> str:
    """Returns a choice in words that reveal nothing concealed: its label, or its public event."""
    if not play.game.asked(before).is_concealed:
        return play.game.offered(before, choice).label
    try:
        # Labels of concealed choices would show a hand, but public events do not.
        _, events = play.game.apply(before, choice)
    except Refused:
        events = ()
    public = [event.text for event in events if event.only_for is None]
    return public[0] if public else "another choice"


def _alternatives(play: AnyPlay, seat: Seat, place: int) -> tuple[Any, ...]:
    """Returns the other legal actions of the same type that a seat could have chosen."""
    before, done = play.done[place].before, play.done[place].action
    # A seat may not correct another seat's choice; `correct_dice` corrects dice.
    if not seat.may_answer(play.game.asked(before)) or isinstance(done, Roll):
        return ()
    # An action of another type would be another decision.
    alike = [action for action in play.game.legal(before) if type(action) is type(done)]
    return tuple(action for action in alike if action != done) if done in alike else ()


def _note(what: str, why: str) -> str:
    return f"overruled: {what}" + (f" ({why})" if why else "")
