"""An open `cv2.VideoCapture`, with types; it hands on JPEGs as they come where it can.

A webcam, a phone's page and an old film send JPEGs. OpenCV, left to itself, decodes each to its
full size in colour; asked not to, it gives the bytes. It is asked only where it says that JPEGs
are what comes, and by the two back ends that are known to obey. Where what then comes is no JPEG
after all, it is opened again, or told, to decode as ever.

Tested with films and network cameras, by FFmpeg. For USB cameras, by V4L2, tested only with a
stand-in that behaves as OpenCV's documentation and source say: a row of bytes.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Mapping
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from tablecam.capture.errors import BrokenPicture
from tablecam.capture.picture import DecodedPicture, JpegPicture, Picture, is_jpeg
from tablecam.capture.quiet import silence_opencv

_log = logging.getLogger(__name__)

MJPEG = cv2.VideoWriter.fourcc(*"MJPG")

# How each back end is told to give bytes: what is set, and to which value.
_GIVE_BYTES = {"V4L2": (cv2.CAP_PROP_CONVERT_RGB, 0), "FFMPEG": (cv2.CAP_PROP_FORMAT, -1)}
_DECODE_AGAIN = {"V4L2": (cv2.CAP_PROP_CONVERT_RGB, 1)}
_MOST_BROKEN = 10
"""A bad cable breaks a picture now and then; so many in a row are a source that is lost."""


_WATCHED = 100
_FEWEST_WATCHED = 20
_OFTEN_BROKEN, _SELDOM_BROKEN = 0.1, 0.05
"""Players are warned once the first share of the last pictures is broken, and as long as the second
share is.
"""


class Device:
    """What OpenCV captures from: a camera, a stream or a video file."""

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
        """Open a camera by its number, or an address or path; None when it does not open.

        May take many seconds. `parameters` are what has to be known before opening.
        """
        silence_opencv()
        given = [part for pair in (parameters or {}).items() for part in pair]
        arguments = (target, back_end, given) if given else (target, back_end)
        capture = cv2.VideoCapture(*arguments)
        if capture.isOpened():
            return cls(capture, arguments)
        capture.release()
        return None

    def keep_jpegs(self) -> None:
        """From now on, where JPEGs come, do not decode them; ask for this before the first read."""
        if int(self.get(cv2.CAP_PROP_FOURCC)) == MJPEG and self.back_end in _GIVE_BYTES:
            self._gives_bytes = self.set(*_GIVE_BYTES[self.back_end])

    def read(self) -> Picture | None:
        """The next picture; None when there is none. Broken JPEGs are passed over."""
        for _ in range(_MOST_BROKEN):
            seen = self._read_array()
            if seen is None:
                return None
            if not _is_row_of_bytes(seen):
                return DecodedPicture(seen)
            data = seen.tobytes()
            if not is_jpeg(data):
                return self._read_decoded()
            try:
                picture = JpegPicture(data)
                self._count(is_broken=False)
                return picture
            except BrokenPicture:
                self._count(is_broken=True)
                _log.debug("%s: a broken picture was passed over", self._arguments[0])
        return None

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence where many of its latest pictures were passed over."""
        if not self._is_often_broken:
            return ()
        is_camera = isinstance(self._arguments[0], int)
        way = "cable or port" if is_camera else "network"
        hint = f"try another {way}, or fewer pictures a second"
        return (f"more than one in ten pictures come broken: {hint}",)

    def _count(self, *, is_broken: bool) -> None:
        self._were_broken.append(is_broken)
        count, broken = len(self._were_broken), sum(self._were_broken)
        limit = _SELDOM_BROKEN if self._is_often_broken else _OFTEN_BROKEN
        self._is_often_broken = count >= _FEWEST_WATCHED and broken >= limit * count

    def get(self, what: int) -> float:
        """A property (`cv2.CAP_PROP_...`); 0 or -1 where the back end does not know it."""
        return float(self._capture.get(what))

    def set(self, what: int, value: float) -> bool:
        """Ask for a property; False when the back end refuses. True does not mean it is so."""
        return bool(self._capture.set(what, value))

    @property
    def back_end(self) -> str:
        """OpenCV's name of who opened it: `V4L2`, `DSHOW`, `FFMPEG`."""
        return str(self._capture.getBackendName())

    def close(self) -> None:
        """Let go of it. May be called twice."""
        self._capture.release()

    def _read_array(self) -> NDArray[Any] | None:
        good, seen = self._capture.read()
        return np.asarray(seen) if good and seen is not None else None

    def _read_decoded(self) -> Picture | None:
        """The next picture after all, decoded by OpenCV: what came as bytes is no JPEG."""
        if not self._gives_bytes:
            return None
        _log.info("%s gives no JPEGs; OpenCV decodes them", self._arguments[0])
        self._gives_bytes = False
        if self.back_end in _DECODE_AGAIN:
            self.set(*_DECODE_AGAIN[self.back_end])
        else:
            self._capture.release()
            self._capture = cv2.VideoCapture(*self._arguments)
        seen = self._read_array()
        return None if seen is None or _is_row_of_bytes(seen) else DecodedPicture(seen)


def _is_row_of_bytes(seen: NDArray[Any]) -> bool:
    return seen.ndim == 1 or (seen.ndim == 2 and 1 in seen.shape)
