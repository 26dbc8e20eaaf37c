"""Going back in a game, and putting right what was told wrong; all of it stays in the log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tablecam.referee.course import AnyPlay
from tablecam.referee.referee import Change, Referee
from tablecam.referee.seats import Seat
from tablecam.rules.dice import Roll
from tablecam.rules.game import Json, Refused


def undo_to(referee: Referee, seat: Seat, deed: int, version: int | None = None) -> None:
    """Take back what has that place in the log, and all that was done after it.

    Raises:
        NotYours, OutOfDate: As for `Referee.act`.
        BadInput: There is no such, or it was taken back already.
    """

    def plan(play: AnyPlay) -> Change:
        place = play.place_of(deed)
        return Change(lambda: play.undo(len(play.done) - place), since=place)

    referee.change(seat, plan, version)


def redo(referee: Referee, seat: Seat, version: int | None = None) -> None:
    """Do again what was taken back last; hands put the units there again.

    Raises:
        NotYours, OutOfDate: As for `Referee.act`.
        BadInput: Nothing was taken back, or something else was done since.
    """
    referee.change(seat, lambda play: Change(play.redo), version)


def correct_dice(
    referee: Referee,
    seat: Seat,
    deed: int,
    values: Sequence[int],
    why: str = "",
    version: int | None = None,
) -> None:
    """Say what dice that were read wrong really showed, however long ago they were thrown.

    What followed is done again, as far as it can be.

    Raises:
        NotYours, OutOfDate: As for `Referee.act`.
        BadInput: There is no such roll, or its dice cannot be so.
    """

    def plan(play: AnyPlay) -> Change:
        place = play.place_of(deed)
        wrong = play.done[place].action
        if not isinstance(wrong, Roll) or wrong.values is None:
            raise Refused("expected dice that were rolled", key="deed")
        was, really = (", ".join(map(str, dice)) for dice in (wrong.values, values))
        right = replace(wrong, values=tuple(values))
        note = _note(f"the dice were read as {was}", why)
        what = f"dice of {was} put right to {really}"
        return Change(lambda: play.correct(place, right, note), since=place, what=what)

    referee.change(seat, plan, version)


def others(referee: Referee, seat: Seat, deed: int) -> list[Json]:
    """What else of its kind might have been chosen instead of what has that place in the log.

    Each with its words and its action. None where a hand did it or chance, or another seat.

    Raises:
        BadInput: No game has begun, there is no such deed, or it was taken back.
    """
    with referee.held() as play:
        if play is None:
            raise Refused("expected a game in progress: none has begun", key="deed")
        place = play.place_of(deed)
        before = play.state_before(place)
        offers = ((each, play.game.offered(before, each)) for each in _others(play, seat, place))
        return [
            {"group": offer.group, "label": offer.label, "action": play.game.action_to_json(each)}
            for each, offer in offers
        ]


def correct_choice(
    referee: Referee,
    seat: Seat,
    deed: int,
    action: object,
    why: str = "",
    version: int | None = None,
) -> None:
    """Say that something else was chosen than was tapped, however long ago: one of the `others`.

    What followed is done again, as far as it can be, with the dice that were thrown.

    Raises:
        NotYours, OutOfDate: As for `Referee.act`.
        BadInput: It was not to be chosen there.
    """

    def plan(play: AnyPlay) -> Change:
        place = play.place_of(deed)
        wanted = play.game.action_from_json(action)
        if wanted not in _others(play, seat, place):
            raise Refused("expected what else might have been chosen then", key="action")
        before = play.state_before(place)
        first, right = (_said(play, before, choice) for choice in (play.done[place].action, wanted))
        note = _note(f"{first} was told first", why)
        what = f"{right} in place of {first}"
        return Change(lambda: play.correct(place, wanted, note), since=place, what=what)

    referee.change(seat, plan, version)


def _said(play: AnyPlay, before: Any, choice: Any) -> str:
    """A choice in words for everybody: as it was offered, unless that may show a hand."""
    if not play.game.asked(before).is_concealed:
        return play.game.offered(before, choice).label
    try:
        _, events = play.game.apply(before, choice)
    except Refused:
        events = ()
    heard = [event.text for event in events if event.only_for is None]
    return heard[0] if heard else "another choice"


def _others(play: AnyPlay, seat: Seat, place: int) -> tuple[Any, ...]:
    """The actions of a kind that a seat was offered, one of which it did."""
    before, done = play.state_before(place), play.done[place].action
    if not seat.may_answer(play.game.asked(before)) or isinstance(done, Roll):
        return ()
    alike = [each for each in play.game.legal(before) if type(each) is type(done)]
    return tuple(each for each in alike if each != done) if done in alike else ()


def _note(what: str, why: str) -> str:
    return f"overruled: {what}" + (f" ({why})" if why else "")
