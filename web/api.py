"""The API of the live table: position, health, measurements, events, simulated controls."""

from __future__ import annotations

import math
from contextlib import suppress

from flask import Blueprint, Response, jsonify, request

from tablecam.errors import BadInput
from tablecam.referee.guards import check_plays
from tablecam.table.model import length_units
from tablecam.table.position_file import position_to_json
from web.bodies import (
    Bump,
    KeepTape,
    Lay,
    Lifted,
    Light,
    MaskPart,
    Move,
    MoveTogether,
    PingAt,
    TakeOff,
    request_body,
)
from web.seats import seat_now
from web.shown import shown
from web.streams import event_stream, message
from web.view import health_json, state_json, table_json

blueprint = Blueprint("api", __name__, url_prefix="/api")

_MAX_RANGES = 16
_MAX_RANGE = 10_000


@blueprint.get("/table")
def table() -> Response:
    """Returns the table's constant facts: its size, sides, terrain, units and commanders."""
    return jsonify(table_json(shown().live))


@blueprint.get("/position")
def position() -> Response:
    """Returns the current position document."""
    return jsonify(position_to_json(shown().live.snapshot().position))


@blueprint.get("/health")
def health() -> Response:
    """Returns the camera's health."""
    live = shown().live
    return jsonify(health_json(live.snapshot().health, live.roster))


@blueprint.get("/state")
def state() -> Response:
    """Returns one event's data, for pages that poll; 204 while `after` is the newest version."""
    live = shown().live
    snapshot = live.snapshot()
    # Equal, not older: a restarted table restarts its versions.
    if request.args.get("after", type=int) == snapshot.version:
        return Response(status=204)
    return jsonify(state_json(live, snapshot))


@blueprint.get("/events")
def events() -> Response:
    """Streams every new state as server-sent events; 503 if too many pages listen."""
    live, version = shown().live, -1

    def newest(timeout_s: float) -> bytes | None:
        nonlocal version
        snapshot = live.wait(version, timeout_s)
        if snapshot is None:
            return None
        version = snapshot.version
        return message("state", state_json(live, snapshot))

    return event_stream(shown().streams, newest, "/api/state")


@blueprint.get("/measure")
def measure() -> Response:
    """Returns the distance between `a` and `b`, and whether it is within each of some ranges.

    The ranges are `within`, in the game's unit of length or in `unit`, or `within_bw`; `usual` are
    those of the weapons of `a`, or of the game.
    """
    live = shown().live
    units = {unit.symbol: unit for unit in length_units(live.roster.table)}
    key = "within_bw" if "within_bw" in request.args else "within"
    symbol = "BW" if key == "within_bw" else request.args.get("unit")
    if symbol is not None and symbol not in units:
        message = f"expected one of {', '.join(units)}, got {symbol!r}"
        raise BadInput("request", message, key="unit")
    unit = None if symbol is None else units[symbol]
    ranges = None if request.args.get(key) == "usual" else _ranges(key)
    return jsonify(live.measure(_thing("a"), _thing("b"), ranges, unit))


@blueprint.get("/about")
def about() -> Response:
    """Describes `thing`, with its range rings, front and flank lines."""
    return jsonify(shown().live.about(_thing("thing")))


@blueprint.post("/tapes")
def keep_tape() -> Response:
    """Keeps a tape for all seats to see."""
    body = request_body(KeepTape, "tapes")
    shown().live.keep_tape(_pointing_seat(), body.a, body.b)
    return Response(status=204)


@blueprint.post("/tapes/remove")
def remove_tape() -> Response:
    """Removes a tape that this seat has kept."""
    body = request_body(KeepTape, "tapes")
    shown().live.pointing.remove(_pointing_seat(), body.a, body.b)
    return Response(status=204)


@blueprint.post("/masks")
def mask() -> Response:
    """Ignores a part of the table, such as one covered by a book."""
    check_plays(seat_now())
    shown().live.mask(request_body(MaskPart, "masks").mask)
    return Response(status=204)


@blueprint.post("/masks/remove")
def unmask() -> Response:
    """Stops ignoring a part of the table."""
    check_plays(seat_now())
    shown().live.unmask(request_body(MaskPart, "masks/remove").mask)
    return Response(status=204)


@blueprint.post("/map/follow")
def follow_map() -> Response:
    """Follows a hex map that has slipped far: it lies there from now on."""
    check_plays(seat_now())
    shown().live.map.follow()
    return Response(status=204)


@blueprint.post("/ping")
def ping() -> Response:
    """Points at a place for all seats to see."""
    body = request_body(PingAt, "ping")
    shown().live.pointing.ping(_pointing_seat(), body.x_mm, body.y_mm)
    return Response(status=204)


def _pointing_seat() -> str:
    seat = seat_now()
    check_plays(seat)
    return seat.side or seat.kind


@blueprint.post("/take-off")
def take_off() -> Response:
    """Forgets a hidden thing that players have taken off the table."""
    body = request_body(TakeOff, "take-off")
    shown().live.take_off(body.thing)
    return Response(status=204)


@blueprint.post("/simulated/move")
def move() -> Response:
    """Moves a unit of the simulated table."""
    body = request_body(Move, "move")
    shown().simulated.move_unit(body.unit, body.x_mm, body.y_mm, body.heading_deg)
    return Response(status=204)


@blueprint.post("/simulated/move-together")
def move_together() -> Response:
    """Moves units of the simulated table together, all or none, and says which slid."""
    moves = request_body(MoveTogether, "move-together").moves
    slid = shown().simulated.move_units(
        {move.unit: (move.x_mm, move.y_mm, move.heading_deg) for move in moves}
    )
    return jsonify({"slid": slid})


@blueprint.post("/simulated/take-off")
def lift_off() -> Response:
    """Takes a unit or one of its bases off the simulated table."""
    body = request_body(Lifted, "take-off")
    game = shown()
    game.simulated.take_off(body.unit, body.tag)
    leaders = {leader.id for leader in game.live.snapshot().position.commanders}
    # The camera does not see things leave from under others.
    with suppress(BadInput):
        if body.tag is None:
            game.live.take_off(f"{'commander' if body.unit in leaders else 'unit'}:{body.unit}")
    return Response(status=204)


@blueprint.post("/simulated/put-back")
def put_back() -> Response:
    """Puts a unit or base back on the simulated table."""
    body = request_body(Lifted, "put-back")
    shown().simulated.put_back(body.unit, body.tag)
    return Response(status=204)


@blueprint.post("/simulated/lay")
def lay() -> Response:
    """Puts a unit of the simulated table, or everything, where the game has it.

    A unit that may stay where it is stays, unless players want it back.
    """
    body = request_body(Lay, "lay")
    game = shown()
    if game.live.referee is None:
        raise BadInput("lay", "expected a table with a game, but this one has no rules")
    position = game.live.referee.due_position(body.unit, back=body.back)
    if position is not None:
        game.simulated.lie_as(position, body.unit)
    return Response(status=204)


@blueprint.post("/simulated/bump")
def bump() -> Response:
    """Bumps the camera over the simulated table."""
    body = request_body(Bump, "bump")
    shown().simulated.bump_camera(body.right_px, body.down_px)
    return Response(status=204)


@blueprint.post("/simulated/light")
def light() -> Response:
    """Dims or brightens the lamp over the simulated table."""
    body = request_body(Light, "light")
    shown().simulated.dim_lamp(body.light)
    return Response(status=204)


@blueprint.post("/simulated/<any(pause, 'stand-still', resume, restart):command>")
def play(command: str) -> Response:
    """Controls the simulated table's script: pause with or without hands, resume, restart."""
    controls = shown().simulated
    actions = {
        "pause": controls.pause,
        "stand-still": controls.stand_still,
        "resume": controls.resume,
        "restart": controls.restart,
    }
    actions[command]()
    return Response(status=204)


def _thing(key: str) -> str:
    value = request.args.get(key, "").strip()
    if not value:
        expected = "expected a thing such as unit:F1, base:10 or point:512.3,400, got nothing"
        raise BadInput("request", expected, key=key)
    return value


def _ranges(key: str) -> list[float]:
    """Returns the ranges asked about: `within=4`, repeated or separated by commas."""
    texts = [t for value in request.args.getlist(key) for t in value.split(",") if t]
    if len(texts) > _MAX_RANGES:
        message = f"expected at most {_MAX_RANGES} ranges, got {len(texts)}"
        raise BadInput("request", message, key=key)
    return [_range(text, key) for text in texts]


def _range(text: str, key: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    # Written so that it also refuses NaN.
    if not 0 <= value <= _MAX_RANGE:
        expected = f"expected a number from 0 to {_MAX_RANGE}"
        raise BadInput("request", f"{expected}, got {text!r}", key=key)
    return value
