"""What the rules say of units, and the disputes that it settled, as JSON and pictures."""

from __future__ import annotations

from flask import Blueprint, Response, abort, jsonify, request, url_for

from tablecam.errors import BadInput
from tablecam.live.protocol import Json
from web.bodies import Dispute, asked
from web.shown import shown

blueprint = Blueprint("rulings", __name__, url_prefix="/api")


@blueprint.get("/rulings/unit")
def unit() -> Response:
    """All that holds for `unit` when it is the round of `active`."""
    return jsonify(shown().live.unit_sheet(_asked("unit", "a unit"), _side()))


@blueprint.get("/rulings/pair")
def pair() -> Response:
    """All that holds between `a` and `b` when it is the round of `active`."""
    a, b = _asked("a", "a unit"), _asked("b", "another unit")
    return jsonify(shown().live.pair_sheet(a, b, _side()))


@blueprint.post("/disputes")
def dispute() -> tuple[Response, int]:
    """Settle a question by the table as it lies now, and keep it."""
    wanted = asked(Dispute, "dispute")
    return jsonify(_shown(shown().live.dispute(wanted.question, wanted.active))), 201


@blueprint.get("/disputes")
def disputes() -> Response:
    """All disputes of this game, the newest last, and why some are not on the disk."""
    live = shown().live
    return jsonify(disputes=[_shown(each) for each in live.disputes()], trouble=live.trouble)


@blueprint.get("/disputes/<int:number>")
def one(number: int) -> Response:
    """One dispute."""
    return jsonify(_shown(_known(number)))


@blueprint.get("/disputes/<int:number>/picture.jpg")
def picture(number: int) -> Response:
    """The camera's picture of a dispute, its evidence drawn on it unless `plain=1`."""
    if not _known(number)["has_picture"]:
        abort(404, f"dispute {number} has no picture: no frame had come yet")
    is_plain = request.args.get("plain") == "1"
    data = shown().live.dispute_picture(number, plain=is_plain)
    response = Response(data, mimetype="image/jpeg")
    response.headers["Cache-Control"] = "private, no-cache"
    return response


@blueprint.get("/disputes/<int:number>/position")
def position(number: int) -> Response:
    """The position by which a dispute was settled: what `tablecam rulings` reads."""
    _known(number)
    response = jsonify(shown().live.dispute_position(number))
    response.headers["Content-Disposition"] = f'inline; filename="dispute-{number}.json"'
    return response


def _shown(document: Json) -> Json:
    """A dispute with the address of its picture."""
    rest = {key: value for key, value in document.items() if key != "has_picture"}
    address = url_for("rulings.picture", number=document["number"])
    return rest | {"picture": address if document["has_picture"] else None}


def _known(number: int) -> Json:
    for each in shown().live.disputes():
        if each["number"] == number:
            return each
    abort(404, f"there is no dispute {number} in this game")


def _side() -> str:
    return _asked("active", "the side whose round it is")


def _asked(key: str, expected: str) -> str:
    value = request.args.get(key, "").strip()
    if not value:
        raise BadInput("request", f"expected {expected}, got nothing", key=key)
    return value
