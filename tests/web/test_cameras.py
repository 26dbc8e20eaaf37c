"""Choosing among the cameras of a computer: the list, a test of one, and the change to it."""

import os
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
import pytest
from flask.testing import FlaskClient

from tablecam.capture.errors import BrokenPicture
from tablecam.capture.frame import Frame
from tablecam.capture.options import SourceOptions
from tablecam.capture.reader import Reader
from tablecam.live.camera_choice import CameraChoice
from tests.patience import PATIENCE_S
from tests.web.plain_cameras import SIZES_PX, PlainCamera, plain_cameras
from tests.web.standing import StandingTable
from web.application import create_app


@pytest.fixture
def chosen() -> Iterator[tuple[Reader, CameraChoice]]:
    with plain_cameras() as pair:
        yield pair


@pytest.fixture
def client(chosen: tuple[Reader, CameraChoice]) -> FlaskClient:
    return create_app(StandingTable(), {"TESTING": True}, cameras=chosen[1]).test_client()


def test_the_cameras_are_listed_with_the_one_in_use(client: FlaskClient) -> None:
    listed = client.get("/api/cameras").json["cameras"]
    assert [(camera["number"], camera["used"]) for camera in listed] == [
        (0, True),
        (2, False),
        (4, False),
    ]


@pytest.mark.parametrize("number", [0, 2])
def test_a_test_shows_what_a_camera_sees(
    client: FlaskClient, chosen: tuple[Reader, CameraChoice], number: int
) -> None:
    assert chosen[0].newest(timeout_s=PATIENCE_S) is not None
    answer = client.post("/api/cameras/test", json={"number": number})
    image = cv2.imdecode(np.frombuffer(answer.data, np.uint8), cv2.IMREAD_GRAYSCALE)
    assert image is not None
    assert image.shape[::-1] == SIZES_PX[number]
    assert abs(int(image[0, 0]) - (60 + 40 * number)) <= 2
    # A test does not touch the camera in use.
    assert chosen[0].status.name == "camera 0"


def test_a_camera_is_used_from_the_next_frame_on(
    client: FlaskClient, chosen: tuple[Reader, CameraChoice]
) -> None:
    reader, choice = chosen
    frame = reader.newest(timeout_s=PATIENCE_S)
    assert frame is not None
    assert client.post("/api/cameras/use", json={"number": 2}).status_code == 204
    newer = reader.newest(after=frame.number, timeout_s=PATIENCE_S)
    while newer is not None and newer.width_px == SIZES_PX[0][0]:
        newer = reader.newest(after=newer.number, timeout_s=PATIENCE_S)
    assert newer is not None
    assert (newer.width_px, newer.height_px) == SIZES_PX[2]
    assert (choice.number, reader.status.name) == (2, "camera 2")


@pytest.mark.parametrize("action", ["test", "use"])
def test_a_camera_that_is_not_there_is_refused(client: FlaskClient, action: str) -> None:
    answer = client.post(f"/api/cameras/{action}", json={"number": 7})
    assert answer.status_code == 400
    assert answer.json == {"error": "camera 7: there is no such camera on this computer"}


def test_a_busy_camera_says_so_when_it_is_tested(client: FlaskClient) -> None:
    answer = client.post("/api/cameras/test", json={"number": 4})
    assert answer.json == {"error": "camera 4: does not open: another program uses it"}


@pytest.mark.parametrize(
    ("source", "number"), [("2", 2), ("/dev/video2", 2), ("by-id", 3), ("http://cam.local/", None)]
)
@pytest.mark.skipif(os.name != "posix", reason="only Linux names cameras by paths")
def test_the_camera_in_use_is_known_by_its_number_or_path(
    source: str, number: int | None, tmp_path: Path, chosen: tuple[Reader, CameraChoice]
) -> None:
    if source == "by-id":
        (link := tmp_path / source).symlink_to("/dev/video3")
        source = str(link)
    assert CameraChoice(chosen[0], source, SourceOptions()).number == number


class Damaged:
    """A picture whose damage shows only when it is decoded."""

    @property
    def image(self) -> None:
        raise BrokenPicture("cut short or damaged")


def test_a_damaged_picture_says_so_when_its_camera_is_tested(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = PlainCamera.read

    def damaged(camera: PlainCamera) -> Frame | None:
        return Frame(Damaged(), 0, 0.0) if camera.name == "camera 2" else read(camera)

    monkeypatch.setattr(PlainCamera, "read", damaged)
    answer = client.post("/api/cameras/test", json={"number": 2})
    assert answer.json == {"error": "camera 2: its picture arrived cut short or damaged"}


def test_a_table_without_a_camera_offers_none(simulated_client: FlaskClient) -> None:
    assert simulated_client.get("/api/cameras").json == {"cameras": None}
    answer = simulated_client.post("/api/cameras/use", json={"number": 0})
    assert answer.json == {"error": "source: expected a camera, but none watches this table"}
