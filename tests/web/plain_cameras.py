"""Two cameras that each see one shade, and a third in use by another program."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from tablecam.capture.camera import ListedCamera
from tablecam.capture.clock import SystemClock
from tablecam.capture.frame import Frame
from tablecam.capture.options import SourceOptions
from tablecam.capture.picture import DecodedPicture
from tablecam.capture.reader import Reader
from tablecam.errors import BadInput
from tablecam.live.camera_choice import CameraChoice

CAMERAS = (
    ListedCamera(0, "Integrated Webcam"),
    ListedCamera(2, "Logitech BRIO"),
    ListedCamera(4, "Cam Link 4K"),
)
SIZES_PX = {0: (320, 180), 2: (640, 360)}


class PlainCamera:
    """A camera over an empty table."""

    def __init__(self, number: int) -> None:
        self.name = f"camera {number}"
        self._number = number
        self._count = 0
        self._closed = threading.Event()

    def read(self) -> Frame | None:
        if self._count:
            self._closed.wait(0.02)
        width_px, height_px = SIZES_PX[self._number]
        image = np.full((height_px, width_px, 3), 60 + 40 * self._number, dtype=np.uint8)
        self._count += 1
        return Frame(DecodedPicture(image), self._count - 1, SystemClock().now_s())

    def close(self) -> None:
        self._closed.set()


def opened(name: str, options: SourceOptions) -> PlainCamera:
    if int(name) not in SIZES_PX:
        raise BadInput(f"camera {name}", "does not open: another program uses it")
    return PlainCamera(int(name))


@contextmanager
def plain_cameras() -> Iterator[tuple[Reader, CameraChoice]]:
    """A reader of camera 0, and the choice of cameras."""
    options = SourceOptions()
    with Reader(lambda: opened("0", options), name="camera 0", is_live=True) as reader:
        reader.start()
        yield reader, CameraChoice(reader, "0", options, opens=opened, lists=lambda: CAMERAS)
