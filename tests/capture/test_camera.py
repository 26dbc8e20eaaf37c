"""Only the USB camera is replaced by a fake here: `cv2.VideoCapture` by number."""

from typing import Any

import cv2
import numpy as np
import pytest

from tablecam.capture.camera import CameraSource
from tablecam.capture.errors import SourceLost
from tablecam.capture.open_source import open_source
from tablecam.capture.options import SourceOptions
from tablecam.capture.picture import JpegPicture
from tablecam.errors import BadInput

MJPG = cv2.VideoWriter.fourcc(*"MJPG")
YUYV = cv2.VideoWriter.fourcc(*"YUYV")


class FakeDevice:
    """A camera that accepts all settings except its fixed ones."""

    def __init__(
        self,
        *,
        opens: bool = True,
        pictures: int = 3,
        fixed: dict[int, float] | None = None,
        back_end: str = "V4L2",
    ) -> None:
        self.opens = opens
        self.pictures = pictures
        self.fixed = fixed or {}
        self.back_end = back_end
        self.asked: list[tuple[int, float]] = []
        self.values: dict[int, float] = {
            cv2.CAP_PROP_FRAME_WIDTH: 640,
            cv2.CAP_PROP_FRAME_HEIGHT: 480,
            cv2.CAP_PROP_FOURCC: YUYV,
            cv2.CAP_PROP_AUTOFOCUS: 1,
        }
        self.opened_with: tuple[Any, ...] = ()
        self.releases = 0

    def __call__(self, *arguments: Any) -> "FakeDevice":
        self.opened_with = arguments
        return self

    def isOpened(self) -> bool:  # noqa: N802 - OpenCV's name
        return self.opens

    def getBackendName(self) -> str:  # noqa: N802 - OpenCV's name
        return self.back_end

    def set(self, what: int, value: float) -> bool:
        self.asked.append((what, value))
        if what in self.fixed:
            return False
        self.values[what] = value
        return True

    def get(self, what: int) -> float:
        return self.fixed.get(what, self.values.get(what, 0.0))

    def read(self) -> tuple[bool, np.ndarray | None]:
        if self.pictures == 0:
            return False, None
        self.pictures -= 1
        size = self.get(cv2.CAP_PROP_FRAME_HEIGHT), self.get(cv2.CAP_PROP_FRAME_WIDTH)
        return True, np.zeros((int(size[0]), int(size[1]), 3), dtype=np.uint8)

    def release(self) -> None:
        self.releases += 1


@pytest.fixture
def plugged_in(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Plugs a fake camera in, in place of all real ones."""

    def plug(device: FakeDevice) -> FakeDevice:
        monkeypatch.setattr(cv2, "VideoCapture", device)
        return device

    return plug


def test_a_camera_is_asked_for_mjpeg_before_its_size(plugged_in: Any, clock: Any) -> None:
    device = plugged_in(FakeDevice())
    source = open_source("2", SourceOptions(resolution_px=(1920, 1080)), clock=clock)
    frame = source.read()
    assert frame is not None
    assert (frame.width_px, frame.height_px, frame.number) == (1920, 1080, 0)
    assert device.opened_with == (2, cv2.CAP_ANY)
    assert device.asked == [
        (cv2.CAP_PROP_BUFFERSIZE, 1),
        (cv2.CAP_PROP_FOURCC, MJPG),
        (cv2.CAP_PROP_FRAME_WIDTH, 1920),
        (cv2.CAP_PROP_FRAME_HEIGHT, 1080),
        (cv2.CAP_PROP_CONVERT_RGB, 0),
    ]


def test_nothing_is_asked_for_that_was_not_wanted(plugged_in: Any, clock: Any) -> None:
    device = plugged_in(FakeDevice())
    open_source("0", SourceOptions(mjpeg=False), clock=clock)
    assert device.asked == [(cv2.CAP_PROP_BUFFERSIZE, 1)]


def test_a_camera_by_path_is_opened_by_path(plugged_in: Any, clock: Any) -> None:
    device = plugged_in(FakeDevice())
    source = open_source("/dev/v4l/by-id/usb-cam", clock=clock)
    assert source.name == "camera /dev/v4l/by-id/usb-cam"
    assert device.opened_with == ("/dev/v4l/by-id/usb-cam", cv2.CAP_ANY)


@pytest.mark.parametrize(("back_end", "manual"), [("V4L2", 1.0), ("DSHOW", 0.0), ("MSMF", 0.0)])
def test_focus_and_exposure_are_fixed_after_their_automatics_are_off(
    plugged_in: Any, clock: Any, back_end: str, manual: float
) -> None:
    device = plugged_in(FakeDevice(back_end=back_end))
    options = SourceOptions(mjpeg=False, focus=30, exposure=-6)
    source = CameraSource(0, options, clock=clock)
    assert device.asked[1:] == [
        (cv2.CAP_PROP_AUTOFOCUS, 0),
        (cv2.CAP_PROP_FOCUS, 30),
        (cv2.CAP_PROP_AUTO_EXPOSURE, manual),
        (cv2.CAP_PROP_EXPOSURE, -6),
    ]
    assert source.notes == ()


def test_the_focus_can_be_held_where_it_stands(plugged_in: Any, clock: Any) -> None:
    device = plugged_in(FakeDevice())
    options = SourceOptions(mjpeg=False, hold_focus=True)
    CameraSource(0, options, clock=clock)
    assert device.asked[1:] == [(cv2.CAP_PROP_AUTOFOCUS, 0)]


def test_what_the_camera_does_otherwise_than_asked_is_said(plugged_in: Any, clock: Any) -> None:
    fixed = {
        cv2.CAP_PROP_FRAME_WIDTH: 1280,
        cv2.CAP_PROP_FRAME_HEIGHT: 720,
        cv2.CAP_PROP_FOURCC: YUYV,
        cv2.CAP_PROP_FOCUS: 0,
        cv2.CAP_PROP_AUTOFOCUS: 1,
    }
    plugged_in(FakeDevice(fixed=fixed))
    options = SourceOptions(resolution_px=(3840, 2160), focus=30)
    source = CameraSource(0, options, clock=clock)
    assert source.notes == (
        "requested 3840x2160 pictures, but the camera delivers 1280x720",
        "requested MJPEG, but the camera delivers YUYV: large pictures will arrive slowly",
        "requested focus 30, but the camera reports 0; set it in the camera's own software",
        "its autofocus cannot be turned off; refocusing invalidates the calibration",
    )


class JpegDevice(FakeDevice):
    """A camera whose back end passes on undecoded data on request."""

    def __init__(self, *sent: bytes, back_end: str = "V4L2") -> None:
        super().__init__(back_end=back_end)
        self.sent = list(sent)

    def read(self) -> tuple[bool, np.ndarray | None]:
        if not self.sent:
            return False, None
        data = np.frombuffer(self.sent.pop(0), np.uint8)
        if self.get(cv2.CAP_PROP_CONVERT_RGB) == 0 and cv2.CAP_PROP_CONVERT_RGB in self.values:
            return True, data[None]
        return True, np.full((480, 640, 3), 99, dtype=np.uint8)


def _jpeg(level: int) -> bytes:
    return bytes(cv2.imencode(".jpg", np.full((480, 640), level, np.uint8))[1].tobytes())


def test_jpegs_of_a_camera_are_handed_on_undecoded(plugged_in: Any, clock: Any) -> None:
    # Buffers are larger than their contents.
    plugged_in(JpegDevice(*(_jpeg(level) + bytes(500) for level in (60, 70))))
    source = CameraSource(0, SourceOptions(), clock=clock)
    frames = [source.read() for _ in range(2)]
    assert all(isinstance(frame.picture, JpegPicture) for frame in frames if frame)
    assert [round(frame.grey().mean()) for frame in frames if frame] == [60, 70]
    assert [(frame.width_px, frame.height_px) for frame in frames if frame] == [(640, 480)] * 2


def test_a_camera_that_sends_no_jpegs_after_all_is_decoded_by_opencv(
    plugged_in: Any, clock: Any
) -> None:
    device = plugged_in(JpegDevice(*(bytes(640 * 480 * 2) for _ in range(3))))
    source = CameraSource(0, SourceOptions(), clock=clock)
    frame = source.read()
    assert frame is not None
    assert (frame.image == 99).all()
    assert device.asked[-2:] == [(cv2.CAP_PROP_CONVERT_RGB, 0), (cv2.CAP_PROP_CONVERT_RGB, 1)]
    assert source.read() is not None


def test_a_back_end_that_is_not_known_to_hand_on_jpegs_is_not_asked_to(
    plugged_in: Any, clock: Any
) -> None:
    device = plugged_in(JpegDevice(_jpeg(60), back_end="MSMF"))
    frame = CameraSource(0, SourceOptions(), clock=clock).read()
    assert frame is not None
    assert (frame.image == 99).all()
    assert cv2.CAP_PROP_CONVERT_RGB not in [what for what, _ in device.asked]


def test_a_broken_jpeg_is_passed_over_and_nothing_but_broken_ones_is_a_lost_camera(
    plugged_in: Any, clock: Any
) -> None:
    whole = _jpeg(60)
    plugged_in(JpegDevice(whole, whole[:200], b"\xff\xd8", whole, *[whole[:200]] * 20))
    source = CameraSource(0, SourceOptions(), clock=clock)
    assert [frame.number for frame in (source.read(), source.read()) if frame] == [0, 1]
    with pytest.raises(SourceLost, match="camera 0 stopped delivering pictures"):
        source.read()


def test_a_camera_whose_every_second_picture_is_broken_is_told_of(
    plugged_in: Any, clock: Any
) -> None:
    whole = _jpeg(60)
    plugged_in(JpegDevice(*[whole, whole[:200]] * 30, *[whole] * 100))
    source = CameraSource(0, SourceOptions(), clock=clock)
    assert source.notes == ()
    for _ in range(30):
        source.read()
    (note,) = source.notes
    assert note.startswith("more than one picture in ten arrives damaged: try another cable")
    for _ in range(95):
        source.read()
    assert source.notes == ()


def test_a_camera_that_stops_is_lost_not_ended(plugged_in: Any, clock: Any) -> None:
    device = plugged_in(FakeDevice(pictures=2))
    source = CameraSource(0, SourceOptions(), clock=clock)
    assert source.read() is not None
    assert source.read() is not None
    with pytest.raises(SourceLost, match="camera 0 stopped delivering pictures"):
        source.read()
    source.close()
    source.close()
    assert device.releases == 2


def test_a_camera_that_does_not_open_says_which_and_what_to_try(
    plugged_in: Any, clock: Any
) -> None:
    plugged_in(FakeDevice(opens=False))
    with pytest.raises(BadInput, match=r"camera 0: .*(another camera number|this computer has)"):
        CameraSource(0, SourceOptions(), clock=clock)


def test_a_camera_that_opens_but_gives_nothing_is_let_go_of(plugged_in: Any, clock: Any) -> None:
    device = plugged_in(FakeDevice(pictures=0))
    with pytest.raises(BadInput, match="camera 0: opens but delivers no pictures"):
        CameraSource(0, SourceOptions(), clock=clock)
    assert device.releases == 1


def test_a_back_end_of_another_system_is_refused_with_those_there_are(clock: Any) -> None:
    here = set(cv2.videoio_registry.getCameraBackends())
    absent = "v4l2" if cv2.CAP_V4L2 not in here else "dshow"
    with pytest.raises(
        BadInput, match=f"back end {absent} is not available here; choose one of any, "
    ):
        CameraSource(0, SourceOptions(back_end=absent), clock=clock)  # type: ignore[arg-type]


def test_a_camera_that_is_not_there_is_one_line_and_nothing_else(
    capfd: pytest.CaptureFixture[str], clock: Any
) -> None:
    """With the real OpenCV: no computer has a camera 97."""
    with pytest.raises(BadInput, match="camera 97: "):
        open_source("97", clock=clock)
    assert capfd.readouterr().err == ""
