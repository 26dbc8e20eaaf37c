"""The API of the game: a seat's view of it, and its actions."""

from __future__ import annotations

from flask import Blueprint, Response, current_app, jsonify, request

from tablecam.errors import BadInput
from tablecam.referee.corrections import (
    correct_choice,
    correct_dice,
    dice_groups,
    others,
    undo_to,
)
from tablecam.referee.corrections import redo as again
from tablecam.referee.game_views import ruling_document
from tablecam.referee.intents import Intent
from tablecam.referee.referee import Referee
from tablecam.referee.seat_view import seat_view as shown_to
from web.bodies import (
    Accept,
    Act,
    Agree,
    AtVersion,
    Begin,
    Confirm,
    ConfirmAll,
    Correct,
    Foresee,
    Intend,
    Undo,
    request_body,
)
from web.seats import seat_now, seats_of
from web.shown import shown

blueprint = Blueprint("game", __name__, url_prefix="/api/game")


@blueprint.get("")
def game() -> Response:
    """Returns this seat's view: what it may know and do."""
    return _shown()


@blueprint.post("/begin")
def begin() -> Response:
    """Begins a game on the table as it lies, once its places can be read."""
    body, now = request_body(Begin, "begin"), shown().live.snapshot()
    if now.health.frozen:
        raise BadInput("begin", f"no game starts now. {now.health.frozen}")
    _referee().begin(now.position, body.options, seat_now())
    return _shown()


@blueprint.post("/agree")
def agree() -> Response:
    """Agrees to the other side's proposal."""
    _referee().agree(seat_now(), request_body(Agree, "agree").proposal)
    return _shown()


@blueprint.post("/act")
def act() -> Response:
    """Performs an offered action, or any other that the rules or the players allow."""
    body = request_body(Act, "act")
    _referee().act(seat_now(), body.action, body.version)
    return _shown()


@blueprint.post("/pass-all")
def pass_all() -> Response:
    """Passes for every seat asked in a row."""
    _referee().pass_all(seat_now(), request_body(AtVersion, "pass-all").version)
    return _shown()


@blueprint.post("/confirm")
def confirm() -> Response:
    """Confirms the move that a hand seems to have made with a unit."""
    body = request_body(Confirm, "confirm")
    _referee().confirm(seat_now(), body.unit, body.version, body.way)
    return _shown()


@blueprint.post("/confirm-all")
def confirm_all() -> Response:
    """Confirms the moves that hands seem to have made with several units, in the offered order."""
    body = request_body(ConfirmAll, "confirm-all")
    _referee().confirm_all(seat_now(), body.units, body.version)
    return _shown()


@blueprint.post("/accept")
def accept() -> Response:
    """Leaves units where they lie against the rules, as the players have agreed."""
    body = request_body(Accept, "accept")
    _referee().accept(seat_now(), body.units, body.why, body.version)
    return _shown()


@blueprint.post("/intend")
def intend() -> Response:
    """Declares a unit's intended place before its move."""
    body = request_body(Intend, "intend")
    limit = body.range_bw if body.limit is None else body.limit
    if limit is None:
        raise BadInput("intend", "expected this key, but it is missing", key="limit")
    intent = Intent(body.unit, body.of, limit, body.is_within, body.symbol)
    _referee().intend(seat_now(), intent, body.version)
    return _shown()


@blueprint.post("/foresee")
def foresee() -> Response:
    """Returns the ruling on a move before it is made; null if it is not a move."""
    body = request_body(Foresee, "foresee")
    move = _referee().foresee(body.unit, body.poses)
    return jsonify({"moved": None if move is None else ruling_document(move)})


@blueprint.post("/undo")
def undo() -> Response:
    """Undoes the latest actions."""
    body = request_body(Undo, "undo")
    if body.deed is not None:
        undo_to(_referee(), seat_now(), body.deed, body.version)
    else:
        _referee().undo(seat_now(), body.steps, body.version)
    return _shown()


@blueprint.post("/redo")
def redo() -> Response:
    """Redoes the action undone last."""
    body = request_body(AtVersion, "redo")
    again(_referee(), seat_now(), body.version)
    return _shown()


@blueprint.post("/correct")
def correct() -> Response:
    """Corrects dice or a choice of an earlier action."""
    body = request_body(Correct, "correct")
    reason_and_version = body.why, body.version
    if body.values is not None:
        correct_dice(_referee(), seat_now(), body.deed, body.values, *reason_and_version)
    else:
        correct_choice(_referee(), seat_now(), body.deed, body.action, *reason_and_version)
    return _shown()


@blueprint.get("/others/<int:number>")
def might_have_been(number: int) -> Response:
    """Returns this seat's alternatives to an action, and the groups of its dice."""
    referee = _referee()
    known = {"others": others(referee, seat_now(), number), "dice": dice_groups(referee, number)}
    response = jsonify(known)
    # It may reveal a concealed hand.
    response.headers["Cache-Control"] = "no-store"
    return response


def _shown() -> Response:
    after = request.args.get("after", "")
    seats, own = seats_of(current_app), seat_now()
    elsewhere = [] if seats is None else seats.sides_elsewhere(own)
    response = jsonify(shown_to(_referee(), own, after) | {"elsewhere": elsewhere})
    # It may hold a concealed hand.
    response.headers["Cache-Control"] = "no-store"
    return response


def _referee() -> Referee:
    referee = shown().live.referee
    if referee is None:
        game = shown().live.roster.game
        raise BadInput("game", f"tablecam cannot play {game} yet")
    return referee
