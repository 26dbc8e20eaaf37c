"""The API of this computer's cameras: list them, test one, switch to it."""

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
        {"number": camera.number, "name": camera.name, "used": str(camera.number) == choice.source}
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
