"""An open `cv2.VideoCapture`, with types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import cv2

from tablecam.capture.frame import Image, frozen_image
from tablecam.capture.quiet import silence_opencv


class Device:
    """What OpenCV captures from: a camera, a stream or a video file."""

    def __init__(self, capture: Any) -> None:
        self._capture = capture

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
            return cls(capture)
        capture.release()
        return None

    def read(self) -> Image | None:
        """The next picture; None when there is none."""
        ok, image = self._capture.read()
        return frozen_image(image) if ok and image is not None else None

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
