"""Wraps `cv2.VideoCapture` with types, and passes JPEGs on undecoded where it can.

Webcams, phone apps and old videos deliver JPEGs. By default OpenCV decodes each at full size in
colour; on request it returns the bytes. They are requested only where it reports MJPEG, and only
from the two back ends known to obey. If the bytes turn out not to be a JPEG, decoding is switched
on again, or the capture is reopened.

Tested through FFmpeg with videos and network cameras. USB cameras through V4L2 are tested only with
a stand-in that behaves as OpenCV's documentation and source say: it returns a row of bytes.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Mapping
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from tablecam.capture.clock import Clock
from tablecam.capture.errors import BrokenPicture, SourceLost
from tablecam.capture.frame import Frame
from tablecam.capture.picture import DecodedPicture, JpegPicture, Picture, is_jpeg
from tablecam.capture.quiet import silence_opencv

_log = logging.getLogger(__name__)

MJPEG = cv2.VideoWriter.fourcc(*"MJPG")

# The property and value that make each back end return bytes.
_GIVE_BYTES = {"V4L2": (cv2.CAP_PROP_CONVERT_RGB, 0), "FFMPEG": (cv2.CAP_PROP_FORMAT, -1)}
_DECODE_AGAIN = {"V4L2": (cv2.CAP_PROP_CONVERT_RGB, 1)}
_MOST_BROKEN = 10
"""A bad cable breaks a picture now and then; this many in a row mean that the source is lost."""


_WATCHED = 100
_FEWEST_WATCHED = 20
_OFTEN_BROKEN, _SELDOM_BROKEN = 0.1, 0.05
"""A warning starts above the first share of broken pictures and stops below the second."""


class Device:
    """An open camera, stream or video file."""

    def __init__(self, capture: Any, arguments: tuple[Any, ...]) -> None:
        self._capture = capture
        self._arguments = arguments
        self._gives_bytes = False
        self._were_broken: deque[bool] = deque(maxlen=_WATCHED)
        self._is_often_broken = False

    @classmethod
    def open(
        cls, target: str | int, back_end: int, parameters: Mapping[int, int] | None = None
    ) -> Device | None:
        """Opens a camera number, address or path; returns None if it does not open.

        May take many seconds. `parameters` are the properties that must be set before opening.
        """
        silence_opencv()
        # OpenCV takes properties as a flat list of keys and values.
        given = [part for pair in (parameters or {}).items() for part in pair]
        arguments = (target, back_end, given) if given else (target, back_end)
        capture = cv2.VideoCapture(*arguments)
        if capture.isOpened():
            return cls(capture, arguments)
        capture.release()
        return None

    def keep_jpegs(self) -> None:
        """Requests undecoded JPEGs where the source delivers them; call before the first read."""
        # Other formats would come as bytes that this program cannot decode.
        if int(self.get(cv2.CAP_PROP_FOURCC)) == MJPEG and self.back_end in _GIVE_BYTES:
            self._gives_bytes = self.set(*_GIVE_BYTES[self.back_end])

    def read(self) -> Picture | None:
        """Returns the next picture, skipping broken JPEGs; None if there is none."""
        for _ in range(_MOST_BROKEN):
            array = self._read_array()
            if array is None:
                return None
            if not _is_row_of_bytes(array):
                return DecodedPicture(array)
            data = array.tobytes()
            # The source reports MJPEG but sends something else.
            if not is_jpeg(data):
                return self._read_decoded()
            try:
                picture = JpegPicture(data)
                self._count(is_broken=False)
                return picture
            except BrokenPicture:
                self._count(is_broken=True)
                _log.debug("%s: skipped a damaged picture", self._arguments[0])
        return None

    @property
    def notes(self) -> tuple[str, ...]:
        """A warning if many of the latest pictures were broken."""
        if not self._is_often_broken:
            return ()
        # A camera has a number or a path; only addresses have a scheme.
        way = "network" if "://" in str(self._arguments[0]) else "cable or port"
        hint = f"try another {way}, or a lower frame rate"
        return (f"more than one picture in ten arrives damaged: {hint}",)

    def _count(self, *, is_broken: bool) -> None:
        """Records whether a picture was broken and updates the warning."""
        self._were_broken.append(is_broken)
        count, broken = len(self._were_broken), sum(self._were_broken)
        # Two limits, so that the warning does not flicker.
        limit = _SELDOM_BROKEN if self._is_often_broken else _OFTEN_BROKEN
        self._is_often_broken = count >= _FEWEST_WATCHED and broken >= limit * count

    def get(self, control: int) -> float:
        """Returns a property (`cv2.CAP_PROP_...`); 0 or -1 if the back end does not know it."""
        return float(self._capture.get(control))

    def set(self, control: int, value: float) -> bool:
        """Sets a property; False if the back end refuses. True does not prove it took effect."""
        return bool(self._capture.set(control, value))

    @property
    def back_end(self) -> str:
        """OpenCV's name of the back end: `V4L2`, `DSHOW`, `FFMPEG`."""
        return str(self._capture.getBackendName())

    def close(self) -> None:
        """Releases the device; may be called twice."""
        self._capture.release()

    def _read_array(self) -> NDArray[Any] | None:
        """Returns what OpenCV captured next; None at the end or on failure."""
        is_good, array = self._capture.read()
        return np.asarray(array) if is_good and array is not None else None

    def _read_decoded(self) -> Picture | None:
        """Switches decoding on again, as the bytes are no JPEG, and returns the next picture."""
        if not self._gives_bytes:
            return None
        _log.info("%s delivers no JPEGs; OpenCV decodes them", self._arguments[0])
        self._gives_bytes = False
        if self.back_end in _DECODE_AGAIN:
            self.set(*_DECODE_AGAIN[self.back_end])
        else:
            self._capture.release()
            # This back end cannot switch back: opening it again restores decoding.
            self._capture = cv2.VideoCapture(*self._arguments)
        array = self._read_array()
        return None if array is None or _is_row_of_bytes(array) else DecodedPicture(array)


def _is_row_of_bytes(array: NDArray[Any]) -> bool:
    """Whether a capture is undecoded bytes rather than pixels."""
    # Back ends differ in whether they return a row, a column or a flat array.
    return array.ndim == 1 or (array.ndim == 2 and 1 in array.shape)


class DeviceSource:
    """A device that delivers pictures as they are taken; each frame is timed on arrival.

    `first_picture` was read when it was opened, to see that it works; `hint` says what may have
    happened when no more come.
    """

    def __init__(
        self, name: str, device: Device, first_picture: Picture, *, clock: Clock, hint: str = ""
    ) -> None:
        self._name = name
        self._device = device
        self._next_picture: Picture | None = first_picture
        self._clock = clock
        self._hint = hint
        self._count = 0

    @property
    def name(self) -> str:
        """The name shown to users, such as `camera 0`."""
        return self._name

    @property
    def notes(self) -> tuple[str, ...]:
        """A warning if many pictures arrive broken."""
        return self._device.notes

    def read(self) -> Frame | None:
        """Returns the next frame.

        Raises:
            SourceLost: The device delivers no more pictures, or none before its timeout.
        """
        picture, self._next_picture = self._next_picture or self._device.read(), None
        if picture is None:
            raise SourceLost(f"{self._name} stopped delivering pictures{self._hint}")
        number = self._count
        self._count += 1
        return Frame(picture, number, self._clock.now_s())

    def close(self) -> None:
        """Releases the device."""
        self._device.close()
