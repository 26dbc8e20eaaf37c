"""The JSON beside the page: the table, its position and health, measurements, the live stream."""

from __future__ import annotations

import math

from flask import Blueprint, Response, abort, current_app, jsonify, request

from tablecam.errors import BadInput
from tablecam.table.position_file import position_to_json
from web.bodies import Bump, Lifted, Light, Move, TakeOff, asked
from web.shown import shown
from web.streams import events
from web.view import health_json, state_json, table_json

blueprint = Blueprint("api", __name__, url_prefix="/api")

_MOST_RANGES = 16
_LONGEST_RANGE_BW = 10_000


@blueprint.get("/table")
def table() -> Response:
    """What does not change: the table's size, sides, terrain and who is expected on it."""
    return jsonify(table_json(shown().live, current_app.config["RANGES_BW"]))


@blueprint.get("/position")
def position() -> Response:
    """What lies on the table now, as a position document."""
    return jsonify(position_to_json(shown().live.snapshot().position))


@blueprint.get("/health")
def health() -> Response:
    """How well the camera sees."""
    live = shown().live
    return jsonify(health_json(live.snapshot().health, live.roster))


@blueprint.get("/state")
def state() -> Response:
    """What one event carries, for a page that has to ask; 204 while `after` is the newest."""
    live = shown().live
    snapshot = live.snapshot()
    if request.args.get("after", type=int) == snapshot.version:
        return Response(status=204)
    return jsonify(state_json(live, snapshot))


@blueprint.get("/events")
def event_stream() -> Response:
    """Every new state, as server-sent events; 503 when too many listen already."""
    live, streams = shown().live, shown().streams
    if not streams.enter():
        abort(503, f"{streams.limit} pages listen already; ask /api/state instead")
    is_gone = request.environ.get("waitress.client_disconnected", lambda: False)
    keep_alive_s = current_app.config["KEEP_ALIVE_S"]
    response = Response(
        events(live, streams, is_gone, keep_alive_s=keep_alive_s), mimetype="text/event-stream"
    )
    response.call_on_close(streams.leave)
    response.headers["Cache-Control"] = "no-store"
    return response


@blueprint.get("/measure")
def measure() -> Response:
    """The distance between `a` and `b`, and whether it is within each of `within_bw`."""
    return jsonify(shown().live.measure(_thing("a"), _thing("b"), _ranges_bw()))


@blueprint.get("/about")
def about() -> Response:
    """The drawings that explain `thing`."""
    return jsonify(shown().live.about(_thing("thing")))


@blueprint.post("/take-off")
def take_off() -> Response:
    """Forget what is hidden of a thing: players have taken it off the table."""
    wanted = asked(TakeOff, "take-off")
    shown().live.take_off(wanted.thing)
    return Response(status=204)


@blueprint.post("/simulated/move")
def move() -> Response:
    """Put a unit of the simulated table somewhere else."""
    wanted = asked(Move, "move")
    shown().simulated.move_unit(wanted.unit, wanted.x_mm, wanted.y_mm, wanted.heading_deg)
    return Response(status=204)


@blueprint.post("/simulated/take-off")
def lift_off() -> Response:
    """Take a unit of the simulated table off it, or one of its bases."""
    wanted = asked(Lifted, "take-off")
    shown().simulated.take_off(wanted.unit, wanted.tag)
    return Response(status=204)


@blueprint.post("/simulated/put-back")
def put_back() -> Response:
    """Put back what was taken off the simulated table."""
    wanted = asked(Lifted, "put-back")
    shown().simulated.put_back(wanted.unit, wanted.tag)
    return Response(status=204)


@blueprint.post("/simulated/bump")
def bump() -> Response:
    """Knock the camera over the simulated table."""
    wanted = asked(Bump, "bump")
    shown().simulated.bump_camera(wanted.right_px, wanted.down_px)
    return Response(status=204)


@blueprint.post("/simulated/light")
def light() -> Response:
    """Dim the lamp over the simulated table, or let it shine."""
    wanted = asked(Light, "light")
    shown().simulated.dim_lamp(wanted.light)
    return Response(status=204)


@blueprint.post("/simulated/<any(pause, 'stand-still', resume, restart):deed>")
def play(deed: str) -> Response:
    """Stop the script of the simulated table, also without its hands, let it go on, or begin it."""
    controls = shown().simulated
    deeds = {
        "pause": controls.pause,
        "stand-still": controls.stand_still,
        "resume": controls.resume,
        "restart": controls.restart,
    }
    deeds[deed]()
    return Response(status=204)


def _thing(key: str) -> str:
    value = request.args.get(key, "").strip()
    if not value:
        expected = "expected a thing such as unit:F1, base:10 or point:512.3,400, got nothing"
        raise BadInput("request", expected, key=key)
    return value


def _ranges_bw() -> list[float]:
    """The ranges asked about: `within_bw=4`, repeated or with commas between."""
    texts = [t for value in request.args.getlist("within_bw") for t in value.split(",") if t]
    if len(texts) > _MOST_RANGES:
        message = f"expected at most {_MOST_RANGES} ranges, got {len(texts)}"
        raise BadInput("request", message, key="within_bw")
    return [_range_bw(text) for text in texts]


def _range_bw(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= _LONGEST_RANGE_BW:  # nan is refused too
        expected = f"expected a number from 0 to {_LONGEST_RANGE_BW}"
        raise BadInput("request", f"{expected}, got {text!r}", key="within_bw")
    return value
