"""The page of a live calibration: an application of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Flask, Response, abort, current_app, jsonify, render_template, request
from pydantic import Field

import tablecam
from tablecam.errors import BadInput
from tablecam.live.camera_choice import CameraChoice
from tablecam.live_calibration.calibration import LiveCalibration, UserAction
from tablecam.table.sections import StrictModel
from tablecam.wording import quoted
from web import errors, fonts, guard
from web.bodies import request_body
from web.cameras import offer_cameras
from web.streams import Streams

MOST_WAITING = 8
"""How many pages may wait for a new state at once, each in a thread (see server.py); others poll.
"""

DEFAULTS = {
    "MAX_CONTENT_LENGTH": 4_096,
    # How long one request for a new state waits.
    "PATIENCE_S": 1.5,
}

blueprint = Blueprint("calibrating", __name__)

_KEY = "tablecam.calibration"


class Act(StrictModel):
    """An action of the user; `view` names the view to drop."""

    deed: UserAction
    view: str = ""


class Ruler(StrictModel):
    """A ruler on the table: its two ends in the picture, its true length and its thickness."""

    first_px: list[float] = Field(min_length=2, max_length=2)
    second_px: list[float] = Field(min_length=2, max_length=2)
    true_mm: float = Field(gt=0, le=10_000)
    height_mm: float = Field(default=0.0, ge=0, le=500)


class Tap(StrictModel):
    """The middle of a hex in the picture."""

    hex: str
    at_px: list[float] = Field(min_length=2, max_length=2)


class Taps(StrictModel):
    """The middles of some hexes of a map."""

    taps: list[Tap] = Field(max_length=32)


def create_calibration_app(
    live: LiveCalibration,
    streams: Streams | None = None,
    config: Mapping[str, Any] | None = None,
    *,
    cameras: CameraChoice | None = None,
) -> Flask:
    """Returns the application that guides through a calibration.

    Args:
        live: The calibration; it must outlive the application.
        streams: Counts the waiting pages; pass the same to the server.
        config: Flask's settings and those of `DEFAULTS` to override.
        cameras: The cameras to choose from; None if no real camera is calibrated.
    """
    app = Flask("web")
    app.config.from_mapping(DEFAULTS)
    app.config.from_mapping(config or {})
    app.extensions[_KEY] = live, streams or Streams(MOST_WAITING)
    app.register_blueprint(blueprint)
    app.register_blueprint(fonts.blueprint)
    offer_cameras(app, cameras)
    guard.protect(app)
    errors.explain(app)
    return app


def _live() -> LiveCalibration:
    live, _ = current_app.extensions[_KEY]
    if not isinstance(live, LiveCalibration):
        raise TypeError(f"expected an application made by create_calibration_app, got {live!r}")
    return live


@blueprint.get("/")
def page() -> str:
    """Returns the page."""
    return render_template("calibrating.html", version=tablecam.__version__)


@blueprint.get("/picture.jpg")
def picture() -> Response:
    """Returns the newest frame, unrectified: scaled down, or whole with `whole=1`."""
    data = _live().picture(whole=request.args.get("whole") == "1")
    response = Response(data or abort(404, "no picture yet"), mimetype="image/jpeg")
    response.headers["Cache-Control"] = "no-store"
    return response


@blueprint.get("/api/calibration")
def state() -> Response:
    """Returns the state once it is newer than `after`; 204 if it stays the same for a while."""
    after = request.args.get("after", default=-1, type=int)
    newer = _waited_for(after)
    return Response(status=204) if newer is None else jsonify(newer)


@blueprint.post("/api/calibration/act")
def act() -> Response:
    """Performs the user's action; returns the state afterwards."""
    body = request_body(Act, "act")
    _live().act(body.deed, body.view)
    return jsonify(_live().state())


@blueprint.post("/api/calibration/ruler")
def ruler() -> Response:
    """Compares the length of a ruler with the camera's measurement."""
    body = request_body(Ruler, "ruler")
    ends_px = (body.first_px, body.second_px)
    return jsonify(_live().check_ruler(ends_px, body.true_mm, body.height_mm))


@blueprint.post("/api/calibration/hexmap")
def hexmap() -> Response:
    """Fits the table's hex map to hexes in the picture."""
    body = request_body(Taps, "hexmap")
    taps_px: dict[str, list[float]] = {}
    for tap in body.taps:
        if tap.hex in taps_px:
            raise BadInput("hexmap", f"expected each hex once, got {quoted(tap.hex)} twice")
        taps_px[tap.hex] = tap.at_px
    return jsonify(_live().fit_hexmap(taps_px))


def _waited_for(after: int) -> dict[str, Any] | None:
    _, streams = current_app.extensions[_KEY]
    if not streams.enter():
        # Without a place to wait, the page gets the state at once and polls.
        return _live().wait(after, 0.0)
    try:
        return _live().wait(after, current_app.config["PATIENCE_S"])
    finally:
        streams.leave()
