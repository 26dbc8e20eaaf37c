"""The API of rulings on units and of disputes, with pictures."""

from __future__ import annotations

from flask import Blueprint, Response, abort, jsonify, request, url_for

from tablecam.documents import Json
from tablecam.errors import BadInput
from web.bodies import Dispute, request_body
from web.shown import shown

blueprint = Blueprint("rulings", __name__, url_prefix="/api")


@blueprint.get("/rulings/unit")
def unit() -> Response:
    """Returns the rulings on `unit` when `active` is the active side.

    With `only`, keys of sections joined by commas, the lines of all others are null.
    """
    return jsonify(shown().live.unit_sheet(_asked("unit", "a unit"), _side(), _only()))


@blueprint.get("/rulings/pair")
def pair() -> Response:
    """Returns the rulings between `a` and `b`, like `unit`."""
    a, b = _asked("a", "a unit"), _asked("b", "another unit")
    return jsonify(shown().live.pair_sheet(a, b, _side(), _only()))


@blueprint.post("/disputes")
def dispute() -> tuple[Response, int]:
    """Settles a question on the table as it lies now, and records the dispute."""
    body = request_body(Dispute, "dispute")
    return jsonify(_with_address(shown().live.dispute(body.question, body.active))), 201


@blueprint.get("/disputes")
def disputes() -> Response:
    """Returns all disputes of this game, the newest last, and why some are not on the disk."""
    live = shown().live
    return jsonify(
        disputes=[_with_address(document) for document in live.disputes()], trouble=live.trouble
    )


@blueprint.get("/disputes/<int:number>")
def one(number: int) -> Response:
    """Returns one dispute."""
    return jsonify(_with_address(_dispute(number)))


@blueprint.get("/disputes/<int:number>/picture.jpg")
def picture(number: int) -> Response:
    """Returns the camera's picture of a dispute, the evidence drawn on it unless `plain=1`."""
    if not _dispute(number)["has_picture"]:
        abort(404, f"dispute {number} has no picture: it was asked before the first frame")
    is_plain = request.args.get("plain") == "1"
    data = shown().live.dispute_picture(number, plain=is_plain)
    response = Response(data, mimetype="image/jpeg")
    response.headers["Cache-Control"] = "private, no-cache"
    return response


@blueprint.get("/disputes/<int:number>/position")
def position(number: int) -> Response:
    """Returns the position on which a dispute was settled, as `tablecam rulings` reads it."""
    # Refuses a number that no dispute has.
    _dispute(number)
    response = jsonify(shown().live.dispute_position(number))
    response.headers["Content-Disposition"] = f'inline; filename="dispute-{number}.json"'
    return response


def _with_address(document: Json) -> Json:
    """Returns a dispute with the address of its picture."""
    rest = {key: value for key, value in document.items() if key != "has_picture"}
    address = url_for("rulings.picture", number=document["number"])
    return rest | {"picture": address if document["has_picture"] else None}


def _dispute(number: int) -> Json:
    for document in shown().live.disputes():
        if document["number"] == number:
            return document
    abort(404, f"there is no dispute {number} in this game")


def _only() -> list[str] | None:
    only = request.args.get("only")
    return None if only is None else only.split(",")


def _side() -> str:
    return _asked("active", "the active side")


def _asked(key: str, expected: str) -> str:
    value = request.args.get(key, "").strip()
    if not value:
        raise BadInput("request", f"expected {expected}, got nothing", key=key)
    return value
