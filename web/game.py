"""The game on the table: what a seat sees of it, and what it does."""

from __future__ import annotations

from flask import Blueprint, Response, jsonify, request

from tablecam.errors import BadInput
from tablecam.referee.corrections import correct_choice, correct_dice, others, undo_to
from tablecam.referee.corrections import redo as again
from tablecam.referee.intents import Intent
from tablecam.referee.referee import Referee
from tablecam.referee.shown import shown as shown_to
from web.bodies import (
    Accept,
    Act,
    Agree,
    Begin,
    Confirm,
    ConfirmAll,
    Correct,
    Intend,
    Redo,
    Undo,
    asked,
)
from web.seats import seat_now
from web.shown import shown

blueprint = Blueprint("game", __name__, url_prefix="/api/game")


@blueprint.get("")
def game() -> Response:
    """What this seat may know and do."""
    return _shown()


@blueprint.post("/begin")
def begin() -> Response:
    """Begin a game on the table as it lies."""
    wanted = asked(Begin, "begin")
    _referee().begin(shown().live.snapshot().position, wanted.options, seat_now())
    return _shown()


@blueprint.post("/agree")
def agree() -> Response:
    """Agree to what the other side has proposed."""
    _referee().agree(seat_now(), asked(Agree, "agree").proposal)
    return _shown()


@blueprint.post("/act")
def act() -> Response:
    """Do one of the actions, or any other that the rules or the players allow."""
    wanted = asked(Act, "act")
    _referee().act(seat_now(), wanted.action, wanted.version)
    return _shown()


@blueprint.post("/confirm")
def confirm() -> Response:
    """Do what a hand seems to have done with a unit."""
    wanted = asked(Confirm, "confirm")
    _referee().confirm(seat_now(), wanted.unit, wanted.version, wanted.way)
    return _shown()


@blueprint.post("/confirm-all")
def confirm_all() -> Response:
    """Do what hands seem to have done with several units, in the order that was offered."""
    wanted = asked(ConfirmAll, "confirm-all")
    _referee().confirm_all(seat_now(), wanted.units, wanted.version)
    return _shown()


@blueprint.post("/accept")
def accept() -> Response:
    """Leave units where they were laid, against the rules: the players have agreed on it."""
    wanted = asked(Accept, "accept")
    _referee().accept(seat_now(), wanted.units, wanted.why, wanted.version)
    return _shown()


@blueprint.post("/intend")
def intend() -> Response:
    """Say where a unit is going to be put, before it is moved."""
    wanted = asked(Intend, "intend")
    intent = Intent(wanted.unit, wanted.of, wanted.range_bw, wanted.is_within)
    _referee().intend(seat_now(), intent, wanted.version)
    return _shown()


@blueprint.post("/undo")
def undo() -> Response:
    """Take back the latest actions."""
    wanted = asked(Undo, "undo")
    if wanted.deed is not None:
        undo_to(_referee(), seat_now(), wanted.deed, wanted.version)
    else:
        _referee().undo(seat_now(), wanted.steps, wanted.version)
    return _shown()


@blueprint.post("/redo")
def redo() -> Response:
    """Do again what was taken back last."""
    wanted = asked(Redo, "redo")
    again(_referee(), seat_now(), wanted.version)
    return _shown()


@blueprint.post("/correct")
def correct() -> Response:
    """Say what dice of an earlier action really showed, or what was really chosen there."""
    wanted = asked(Correct, "correct")
    told = wanted.why, wanted.version
    if wanted.values is not None:
        correct_dice(_referee(), seat_now(), wanted.deed, wanted.values, *told)
    else:
        correct_choice(_referee(), seat_now(), wanted.deed, wanted.action, *told)
    return _shown()


@blueprint.get("/others/<int:deed>")
def might_have_been(deed: int) -> Response:
    """What else this seat might have chosen where it made a deed of the log."""
    response = jsonify({"others": others(_referee(), seat_now(), deed)})
    response.headers["Cache-Control"] = "no-store"  # it may tell of a concealed hand
    return response


def _shown() -> Response:
    after = request.args.get("after", "")
    response = jsonify(shown_to(_referee(), seat_now(), after))
    response.headers["Cache-Control"] = "no-store"  # it may hold a concealed hand
    return response


def _referee() -> Referee:
    referee = shown().live.referee
    if referee is None:
        game = shown().live.roster.game
        raise BadInput("game", f"tablecam does not know yet how {game} is played")
    return referee
