"""The page of a live calibration: a second, small application."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Flask, Response, abort, current_app, jsonify, render_template, request
from pydantic import BaseModel, ConfigDict, Field

import tablecam
from tablecam.live_calibration.calibration import Deed, LiveCalibration
from web import errors, guard
from web.bodies import asked
from web.streams import Streams

MOST_WAITING = 8
"""Pages that wait for news at once: each holds a thread (see server.py). Others ask again."""

DEFAULTS = {
    "MAX_CONTENT_LENGTH": 4_096,
    # How long one question for news waits for an answer.
    "PATIENCE_S": 1.5,
}

blueprint = Blueprint("calibrating", __name__)

_KEY = "tablecam.calibration"


class Act(BaseModel):
    """Something that a person does; `view` names the view to drop."""

    model_config = ConfigDict(extra="forbid", strict=True)

    deed: Deed
    view: str = ""


class Ruler(BaseModel):
    """A ruler on the table: its two ends in the picture, how long it truly is, how thick."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    first_px: list[float] = Field(min_length=2, max_length=2)
    second_px: list[float] = Field(min_length=2, max_length=2)
    true_mm: float = Field(gt=0, le=10_000)
    height_mm: float = Field(default=0.0, ge=0, le=500)


def create_calibration_app(
    live: LiveCalibration, streams: Streams | None = None, config: Mapping[str, Any] | None = None
) -> Flask:
    """The application that leads through a calibration.

    Args:
        live: The calibration; it must outlive the application.
        streams: Counts the pages that wait for news; hand the same to the server.
        config: Flask's settings and those of `DEFAULTS`, to replace what they say.
    """
    app = Flask("web")
    app.config.from_mapping(DEFAULTS)
    app.config.from_mapping(config or {})
    app.extensions[_KEY] = live, streams or Streams(MOST_WAITING)
    app.register_blueprint(blueprint)
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
    """The page."""
    return render_template("calibrating.html", version=tablecam.__version__)


@blueprint.get("/picture.jpg")
def picture() -> Response:
    """The newest frame as the camera sees it: smaller, or `whole=1`."""
    data = _live().picture(whole=request.args.get("whole") == "1")
    response = Response(data or abort(404, "there is no picture yet"), mimetype="image/jpeg")
    response.headers["Cache-Control"] = "no-store"
    return response


@blueprint.get("/api/calibration")
def state() -> Response:
    """The state, once it is newer than `after`; 204 when it does not change for a while."""
    after = request.args.get("after", default=-1, type=int)
    newer = _waited_for(after)
    return Response(status=204) if newer is None else jsonify(newer)


@blueprint.post("/api/calibration/act")
def act() -> Response:
    """Do what a person asks for; answers with the state that came of it."""
    wanted = asked(Act, "act")
    _live().act(wanted.deed, wanted.view)
    return jsonify(_live().state())


@blueprint.post("/api/calibration/ruler")
def ruler() -> Response:
    """How far off the camera is about a ruler's length."""
    laid = asked(Ruler, "ruler")
    ends_px = (laid.first_px, laid.second_px)
    return jsonify(_live().check_ruler(ends_px, laid.true_mm, laid.height_mm))


def _waited_for(after: int) -> dict[str, Any] | None:
    _, streams = current_app.extensions[_KEY]
    if not streams.enter():
        return _live().wait(after, 0.0)
    try:
        return _live().wait(after, current_app.config["PATIENCE_S"])
    finally:
        streams.leave()
