"""Rectifies the newest frame to a picture of the table from above."""

from __future__ import annotations

import threading

import cv2

from calibration.camera import Camera
from tablecam.capture.frame import Frame
from tablecam.table.model import TableSize
from tablecam.vision.detection.rectify import Rectifier, make_rectifier

_WIDTH_PX = 1800
_JPEG_QUALITY = 85


class TablePicture:
    """Frames rectified to the table, as JPEG; made on demand, once per frame, in any thread.

    The maps for it are made once a camera.
    """

    def __init__(self, table: TableSize) -> None:
        self._table = table
        self._lock = threading.Lock()
        self._camera: Camera | None = None
        self._rectifier: Rectifier | None = None
        self._number = -1
        self._jpeg = b""

    def of(self, frame: Frame, camera: Camera) -> bytes:
        """Returns the rectified frame as JPEG; the top row is y = depth."""
        with self._lock:
            if frame.number != self._number:
                flat = self._rectifier_of(camera).rectify(frame.image)
                quality = [cv2.IMWRITE_JPEG_QUALITY, _JPEG_QUALITY]
                _, encoded = cv2.imencode(".jpg", flat, quality)
                self._number, self._jpeg = frame.number, encoded.tobytes()
            return self._jpeg

    def _rectifier_of(self, camera: Camera) -> Rectifier:
        if self._rectifier is None or camera is not self._camera:
            scale = _WIDTH_PX / self._table.width_mm
            self._rectifier = make_rectifier(camera, self._table, px_per_mm=scale)
            self._camera = camera
        return self._rectifier
