"""The API of this computer's cameras: list them, test one, switch to it."""

from __future__ import annotations

from flask import Blueprint, Flask, Response, current_app, jsonify
from pydantic import Field

from tablecam.errors import BadInput
from tablecam.live.camera_choice import CameraChoice
from tablecam.table.sections import StrictModel
from web.bodies import request_body

blueprint = Blueprint("cameras", __name__, url_prefix="/api/cameras")

_KEY = "tablecam.cameras"


class Chosen(StrictModel):
    """A camera by its number."""

    number: int = Field(ge=0)


def offer_cameras(app: Flask, choice: CameraChoice | None) -> None:
    """Adds the API; `choice` is None for a table without a camera, such as a simulated one."""
    app.extensions[_KEY] = choice
    app.register_blueprint(blueprint)


@blueprint.get("")
def cameras() -> Response:
    """Returns all cameras of this computer; null if none can be chosen."""
    choice: CameraChoice | None = current_app.extensions[_KEY]
    if choice is None:
        return jsonify({"cameras": None})
    listed = [
        {"number": camera.number, "name": camera.name, "used": camera.number == choice.number}
        for camera in choice.cameras()
    ]
    return jsonify({"cameras": listed})


@blueprint.post("/test")
def test() -> Response:
    """Returns a picture from a camera as JPEG, at full size."""
    data = _choice().test(request_body(Chosen, "test").number)
    return Response(data, mimetype="image/jpeg")


@blueprint.post("/use")
def use() -> Response:
    """Switches to a camera."""
    _choice().use(request_body(Chosen, "use").number)
    return Response(status=204)


def _choice() -> CameraChoice:
    choice: CameraChoice | None = current_app.extensions[_KEY]
    if choice is None:
        raise BadInput("source", "expected a camera, but none watches this table")
    return choice
