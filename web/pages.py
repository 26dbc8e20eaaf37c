"""The page of the live table, and the camera's picture under it."""

from __future__ import annotations

from flask import Blueprint, Response, abort, render_template, request

import tablecam
from web.shown import shown
from web.view import table_json

blueprint = Blueprint("pages", __name__)


@blueprint.get("/")
def board() -> str:
    """Returns the page."""
    table = table_json(shown().live)
    return render_template("board.html", table=table, version=tablecam.__version__)


@blueprint.get("/picture.jpg")
def picture() -> Response:
    """Returns the newest frame, rectified to the table; 304 if the page has it already.

    `v` in the address only makes it unique; the entity tag identifies the frame.
    """
    live = shown().live
    response = Response(mimetype="image/jpeg")
    # The tag alone decides: a page that has the frame costs no rectifying.
    response.set_etag(f"frame-{live.snapshot().frame}")
    response.headers["Cache-Control"] = "private, no-cache"
    response.make_conditional(request)
    if response.status_code != 304:
        response.data = live.picture() or abort(404, "no picture yet")
    return response
