"""Reads a USB camera: requests a picture size, holds focus and exposure, and checks the result."""

from __future__ import annotations

import logging
from dataclasses import dataclass

import cv2
from cv2_enumerate_cameras import enumerate_cameras, supported_backends

from tablecam.capture.clock import Clock
from tablecam.capture.device import MJPEG, Device, DeviceSource
from tablecam.capture.options import BackEnd, SourceOptions
from tablecam.capture.picture import Picture
from tablecam.errors import BadInput

_log = logging.getLogger(__name__)

BACK_ENDS: dict[BackEnd, int] = {
    "any": cv2.CAP_ANY,
    "v4l2": cv2.CAP_V4L2,
    "dshow": cv2.CAP_DSHOW,
    "msmf": cv2.CAP_MSMF,
    "avfoundation": cv2.CAP_AVFOUNDATION,
}

# The value that means "manual": a menu number in V4L2, a truth value in the other back ends.
_MANUAL_EXPOSURE = {"V4L2": 1.0}
_MANUAL_EXPOSURE_ELSEWHERE = 0.0
_ADVICE = "Close that program, or try another camera number or back end"
_SAME_VALUE = 0.5  # focus and exposure go in whole steps in nearly every camera


class CameraSource(DeviceSource):
    """A USB camera as a source.

    `notes` lists where the camera deviates from what was requested.
    """

    def __init__(self, camera: int | str, options: SourceOptions, *, clock: Clock) -> None:
        """Opens a camera by its number, or on Linux by its path.

        A path such as `/dev/v4l/by-id/...` names the same camera whatever else is plugged in.

        Raises:
            BadInput: It is absent, busy, or gives no pictures.
        """
        name, device = camera_name(camera), _opened(camera, options.back_end)
        _request(device, options)
        if options.mjpeg:
            device.keep_jpegs()
        # Some busy cameras open but give no pictures, so one is read at once.
        first_picture = device.read()
        if first_picture is None:
            device.close()
            raise BadInput(
                name, "opens but delivers no pictures; is another program using it? " + _ADVICE
            )
        super().__init__(name, device, first_picture, clock=clock, hint="; is it still plugged in?")
        self._shortcomings = _shortcomings(device, options, first_picture)
        for note in self._shortcomings:
            _log.warning("%s: %s", name, note)

    @property
    def notes(self) -> tuple[str, ...]:
        """Deviations from the request, and a warning if many pictures arrive broken."""
        return (*self._shortcomings, *super().notes)


def camera_name(camera: int | str) -> str:
    """Returns the name of a camera as shown to users, such as `camera 0`."""
    return f"camera {camera}"


@dataclass(frozen=True, slots=True)
class ListedCamera:
    """A camera of this computer: the number that opens it, and its maker's name."""

    number: int
    name: str


def listed_cameras(back_end: BackEnd = "any") -> tuple[ListedCamera, ...]:
    """Returns this computer's cameras by number; none where no back end can list them."""
    codes = [
        code for code in cv2.videoio_registry.getCameraBackends() if code in supported_backends
    ]
    if back_end != "any":
        codes = [code for code in codes if code == BACK_ENDS[back_end]]
    # Back ends number cameras differently: ask the one that OpenCV would take.
    cameras = enumerate_cameras(codes[0]) if codes else []
    return tuple(
        ListedCamera(camera.index, camera.name)
        for camera in sorted(cameras, key=lambda camera: camera.index)
    )


def _opened(camera: int | str, back_end: BackEnd) -> Device:
    """Opens the device, or raises `BadInput` with the likely cause."""
    available = [name for name, code in BACK_ENDS.items() if _is_available(code)]
    if back_end not in available:
        raise BadInput(
            camera_name(camera),
            f"back end {back_end} is not available here; choose one of {', '.join(available)}",
        )
    device = Device.open(camera, BACK_ENDS[back_end])
    if device is None:
        raise BadInput(camera_name(camera), _why_not_open(camera))
    return device


def _is_available(code: int) -> bool:
    """Whether this build of OpenCV has a back end."""
    # OpenCV does not list "any", which every build has.
    return code in (cv2.CAP_ANY, *cv2.videoio_registry.getCameraBackends())


def _why_not_open(camera: int | str) -> str:
    """Explains why a camera does not open."""
    cameras = listed_cameras()
    # Where no cameras are listed, nothing is known about the number.
    if isinstance(camera, int) and cameras and camera not in [known.number for known in cameras]:
        present = ", ".join(f"{known.number} ({known.name})" for known in cameras)
        return f"there is no such camera; this computer has {present}"
    return f"does not open: it is not plugged in, or another program uses it. {_ADVICE}"


def _request(device: Device, options: SourceOptions) -> None:
    """Requests the options; the back end may ignore them, so `_shortcomings` checks the result."""
    # A longer queue would deliver old frames.
    device.set(cv2.CAP_PROP_BUFFERSIZE, 1)
    if options.mjpeg:
        # Set before the size, as cameras offer large pictures only compressed.
        device.set(cv2.CAP_PROP_FOURCC, MJPEG)
    if options.resolution_px is not None:
        width_px, height_px = options.resolution_px
        device.set(cv2.CAP_PROP_FRAME_WIDTH, width_px)
        device.set(cv2.CAP_PROP_FRAME_HEIGHT, height_px)
    if options.frames_per_s is not None:
        device.set(cv2.CAP_PROP_FPS, options.frames_per_s)
    # Autofocus off first, as it may overrule the value set below.
    if options.hold_focus or options.focus is not None:
        device.set(cv2.CAP_PROP_AUTOFOCUS, 0)
    if options.focus is not None:
        device.set(cv2.CAP_PROP_FOCUS, options.focus)
    # Likewise manual exposure before its value.
    if options.exposure is not None:
        manual = _MANUAL_EXPOSURE.get(device.back_end, _MANUAL_EXPOSURE_ELSEWHERE)
        device.set(cv2.CAP_PROP_AUTO_EXPOSURE, manual)
    if options.exposure is not None:
        device.set(cv2.CAP_PROP_EXPOSURE, options.exposure)


def _shortcomings(device: Device, options: SourceOptions, picture: Picture) -> tuple[str, ...]:
    """Lists where the camera deviates from the request, one sentence each."""
    notes = (
        _other_size(options, picture),
        _other_coding(device, options),
        _other_value(device, cv2.CAP_PROP_FOCUS, options.focus, "focus"),
        _other_value(device, cv2.CAP_PROP_EXPOSURE, options.exposure, "exposure"),
        _autofocus_stays_on(device, options),
    )
    return tuple(note for note in notes if note)


def _other_size(options: SourceOptions, picture: Picture) -> str | None:
    """Returns a note if the pictures have another size than requested."""
    given = (picture.width_px, picture.height_px)
    requested = options.resolution_px
    if requested is None or requested == given:
        return None
    return (
        f"requested {requested[0]}x{requested[1]} pictures, "
        f"but the camera delivers {given[0]}x{given[1]}"
    )


def _other_coding(device: Device, options: SourceOptions) -> str | None:
    """Returns a note if the pictures do not come as MJPEG although requested."""
    if not options.mjpeg:
        return None
    code = int(device.get(cv2.CAP_PROP_FOURCC))
    if code in (MJPEG, 0, -1):  # 0 and -1: the back end does not say
        return None
    # The four letters of the code, the lowest byte first.
    letters = "".join(chr(code >> shift & 0xFF) for shift in (0, 8, 16, 24))
    shown = letters if letters.isprintable() else f"code {code:#x}"
    return f"requested MJPEG, but the camera delivers {shown}: large pictures will arrive slowly"


def _other_value(device: Device, control: int, requested: float | None, word: str) -> str | None:
    """Returns a note if a camera control has another value than requested."""
    given = device.get(control)
    if requested is None or abs(given - requested) <= _SAME_VALUE:
        return None
    return (
        f"requested {word} {requested:g}, but the camera reports {given:g}; "
        "set it in the camera's own software"
    )


def _autofocus_stays_on(device: Device, options: SourceOptions) -> str | None:
    """Returns a note if autofocus stays on although focus was to be held."""
    asked = options.hold_focus or options.focus is not None
    if not asked or device.get(cv2.CAP_PROP_AUTOFOCUS) <= 0:
        return None
    return "its autofocus cannot be turned off; refocusing invalidates the calibration"
