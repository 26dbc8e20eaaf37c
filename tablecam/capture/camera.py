"""A USB camera as a source: asks for a picture size, holds focus and exposure, and checks it."""

from __future__ import annotations

import logging
import re
from pathlib import Path

import cv2

from tablecam.capture.clock import Clock
from tablecam.capture.device import MJPEG, Device
from tablecam.capture.errors import SourceLost
from tablecam.capture.frame import Frame
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

# What each back end understands by "manual": Linux's own menu number there, a truth value in the
# others.
_MANUAL_EXPOSURE = {"V4L2": 1.0}
_MANUAL_EXPOSURE_ELSEWHERE = 0.0
_ADVICE = "Close that program, or try another camera number or back end"
_SAME_VALUE = 0.5  # focus and exposure go in whole steps in nearly every camera


class CameraSource:
    """The frames of a USB camera, each timed when it arrived.

    `notes` says what the camera gives instead of what it was asked for.
    """

    def __init__(self, camera: int | str, options: SourceOptions, *, clock: Clock) -> None:
        """Open a camera by its number, or on Linux by its path.

        A path such as `/dev/v4l/by-id/...` names the same camera whatever else is plugged in.

        Raises:
            BadInput: It is absent, busy, or gives no pictures.
        """
        self._name = camera_name(camera)
        self._clock = clock
        self._count = 0
        self._device = _opened(camera, options.back_end)
        _ask(self._device, options)
        if options.mjpeg:
            self._device.keep_jpegs()
        self._ahead: Picture | None = self._device.read()
        if self._ahead is None:
            self._device.close()
            raise BadInput(
                self._name, "opens but gives no pictures; does another program use it? " + _ADVICE
            )
        self._shortcomings = _shortcomings(self._device, options, self._ahead)
        for note in self._shortcomings:
            _log.warning("%s: %s", self._name, note)

    @property
    def name(self) -> str:
        """`camera 0`."""
        return self._name

    @property
    def notes(self) -> tuple[str, ...]:
        """What it does otherwise than asked, and whether many of its pictures come broken."""
        return (*self._shortcomings, *self._device.notes)

    def read(self) -> Frame | None:
        """The next frame.

        Raises:
            SourceLost: The camera was unplugged, or another program took it.
        """
        picture = self._ahead if self._ahead is not None else self._device.read()
        self._ahead = None
        if picture is None:
            raise SourceLost(f"{self._name} gives no more pictures; is it still plugged in?")
        number = self._count
        self._count += 1
        return Frame(picture, number, self._clock.now_s())

    def close(self) -> None:
        """Let go of the camera."""
        self._device.close()


def camera_name(camera: int | str) -> str:
    """What a person calls a camera: `camera 0`."""
    return f"camera {camera}"


def camera_numbers() -> tuple[int, ...]:
    """The cameras that Linux shows; empty where there is none, and on other systems."""
    found = (re.fullmatch(r"video([0-9]+)", path.name) for path in Path("/dev").glob("video*"))
    return tuple(sorted(int(match[1]) for match in found if match))


def _opened(camera: int | str, back_end: BackEnd) -> Device:
    here = [name for name, code in BACK_ENDS.items() if _is_here(code)]
    if back_end not in here:
        raise BadInput(
            camera_name(camera),
            f"expected a back end that this computer has ({', '.join(here)}), got {back_end}",
        )
    device = Device.open(camera, BACK_ENDS[back_end])
    if device is None:
        raise BadInput(camera_name(camera), _why_not_open(camera))
    return device


def _is_here(code: int) -> bool:
    return code in (cv2.CAP_ANY, *cv2.videoio_registry.getCameraBackends())


def _why_not_open(camera: int | str) -> str:
    there = camera_numbers()
    if there and isinstance(camera, int) and camera not in there:
        return f"there is no such camera; this computer has {', '.join(map(str, there))}"
    return f"does not open: it is not plugged in, or another program uses it. {_ADVICE}"


def _ask(device: Device, options: SourceOptions) -> None:
    """Ask the camera for what is wanted. What came of it is seen afterwards."""
    device.set(cv2.CAP_PROP_BUFFERSIZE, 1)
    if options.mjpeg:
        # Before the size: uncompressed, the large ones are not even on offer.
        device.set(cv2.CAP_PROP_FOURCC, MJPEG)
    if options.resolution_px is not None:
        width_px, height_px = options.resolution_px
        device.set(cv2.CAP_PROP_FRAME_WIDTH, width_px)
        device.set(cv2.CAP_PROP_FRAME_HEIGHT, height_px)
    if options.frames_per_s is not None:
        device.set(cv2.CAP_PROP_FPS, options.frames_per_s)
    if options.hold_focus or options.focus is not None:
        device.set(cv2.CAP_PROP_AUTOFOCUS, 0)
    if options.focus is not None:
        device.set(cv2.CAP_PROP_FOCUS, options.focus)
    if options.hold_exposure or options.exposure is not None:
        manual = _MANUAL_EXPOSURE.get(device.back_end, _MANUAL_EXPOSURE_ELSEWHERE)
        device.set(cv2.CAP_PROP_AUTO_EXPOSURE, manual)
    if options.exposure is not None:
        device.set(cv2.CAP_PROP_EXPOSURE, options.exposure)


def _shortcomings(device: Device, options: SourceOptions, picture: Picture) -> tuple[str, ...]:
    """What the camera does otherwise than asked, one sentence each."""
    found = (
        _other_size(options, picture),
        _other_coding(device, options),
        _other_value(device, cv2.CAP_PROP_FOCUS, options.focus, "focus"),
        _other_value(device, cv2.CAP_PROP_EXPOSURE, options.exposure, "exposure"),
        _still_hunting(device, options),
    )
    return tuple(note for note in found if note)


def _other_size(options: SourceOptions, picture: Picture) -> str | None:
    given = (picture.width_px, picture.height_px)
    wanted = options.resolution_px
    if wanted is None or wanted == given:
        return None
    return f"asked for {wanted[0]}x{wanted[1]} pictures, it gives {given[0]}x{given[1]}"


def _other_coding(device: Device, options: SourceOptions) -> str | None:
    if not options.mjpeg:
        return None
    code = int(device.get(cv2.CAP_PROP_FOURCC))
    if code in (MJPEG, 0, -1):  # 0 and -1: the back end does not say
        return None
    letters = "".join(chr(code >> shift & 0xFF) for shift in (0, 8, 16, 24))
    shown = letters if letters.isprintable() else f"code {code:#x}"
    return f"asked for MJPEG, it gives {shown}: large pictures will come slowly"


def _other_value(device: Device, what: int, wanted: float | None, word: str) -> str | None:
    given = device.get(what)
    if wanted is None or abs(given - wanted) <= _SAME_VALUE:
        return None
    return f"asked for {word} {wanted:g}, it says {given:g}; fix it with the camera's own program"


def _still_hunting(device: Device, options: SourceOptions) -> str | None:
    asked = options.hold_focus or options.focus is not None
    if not asked or device.get(cv2.CAP_PROP_AUTOFOCUS) <= 0:
        return None
    return "its autofocus cannot be turned off; a lens that hunts spoils the calibration"
