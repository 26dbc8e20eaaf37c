"""The API of the cameras of this computer: listing them, testing one, and changing to it."""

from __future__ import annotations

from flask import Blueprint, Flask, Response, current_app, jsonify
from pydantic import BaseModel, ConfigDict, Field

from tablecam.errors import BadInput
from tablecam.live.protocol import CameraChoice
from web.bodies import request_body

blueprint = Blueprint("cameras", __name__, url_prefix="/api/cameras")

_KEY = "tablecam.cameras"


class Chosen(BaseModel):
    """A camera by its number."""

    model_config = ConfigDict(extra="forbid", strict=True)

    number: int = Field(ge=0)


def offer_cameras(app: Flask, choice: CameraChoice | None) -> None:
    """Adds the API; None is for a table that no camera watches, such as a simulated one."""
    app.extensions[_KEY] = choice
    app.register_blueprint(blueprint)


@blueprint.get("")
def cameras() -> Response:
    """Returns all cameras of this computer; null where none can be chosen."""
    choice: CameraChoice | None = current_app.extensions[_KEY]
    if choice is None:
        return jsonify({"cameras": None})
    listed = [
        {"number": camera.number, "name": camera.name, "used": str(camera.number) == choice.source}
        for camera in choice.cameras()
    ]
    return jsonify({"cameras": listed})


@blueprint.post("/test")
def test() -> Response:
    """Returns what a camera sees, as JPEG in the size of its pictures."""
    data = _choice().test(request_body(Chosen, "test").number)
    return Response(data, mimetype="image/jpeg")


@blueprint.post("/use")
def use() -> Response:
    """Changes to a camera."""
    _choice().use(request_body(Chosen, "use").number)
    return Response(status=204)


def _choice() -> CameraChoice:
    choice: CameraChoice | None = current_app.extensions[_KEY]
    if choice is None:
        raise BadInput("source", "expected a camera, but none watches this table")
    return choice
