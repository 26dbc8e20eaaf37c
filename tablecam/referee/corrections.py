"""Going back in a game, and putting right what was told wrong; all of it stays in the log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tablecam.referee.referee import Referee
from tablecam.referee.seats import Seat
from tablecam.rules.dice import Roll
from tablecam.rules.game import Refused


def undo_to(referee: Referee, seat: Seat, deed: int, version: int | None = None) -> None:
    """Take back what has that place in the log, and all that was done after it.

    Raises:
        NotYours, OutOfDate: As for `Referee.act`.
        BadInput: There is no such, or it was taken back already.
    """
    with referee.changing(seat, version) as play:
        play.undo(len(play.done) - play.place_of(deed))


def redo(referee: Referee, seat: Seat, version: int | None = None) -> None:
    """Do again what was taken back last; hands put the units there again.

    Raises:
        NotYours, OutOfDate: As for `Referee.act`.
        BadInput: Nothing was taken back, or something else was done since.
    """
    with referee.changing(seat, version) as play:
        play.redo()


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
    with referee.changing(seat, version) as play:
        place = play.place_of(deed)
        wrong = play.done[place].action
        if not isinstance(wrong, Roll) or wrong.values is None:
            raise Refused("expected dice that were rolled", key="deed")
        was = ", ".join(map(str, wrong.values))
        note = f"overruled: the dice were read as {was}" + (f" ({why})" if why else "")
        play.correct(place, replace(wrong, values=tuple(values)), note)
