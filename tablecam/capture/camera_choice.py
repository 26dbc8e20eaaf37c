"""Lets players choose among the cameras of this computer, and test one before they use it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial

import cv2

from tablecam.capture.camera import ListedCamera, listed_cameras
from tablecam.capture.errors import SourceLost
from tablecam.capture.frame import Frame, Source
from tablecam.capture.open_source import open_source, source_kind
from tablecam.capture.options import SourceOptions
from tablecam.capture.reader import Reader
from tablecam.errors import BadInput

_JPEG_QUALITY = 85
_WARM_UP_FRAMES = 10
"""Frames until a camera that was just opened has found its exposure."""


class CameraChoice:
    """The cameras among which players may choose, and the reader of the chosen one.

    Implements `tablecam.live.protocol.CameraChoice`. Thread-safe. `opens` opens a camera by its
    number, `lists` lists all.
    """

    def __init__(
        self,
        reader: Reader,
        source: str,
        options: SourceOptions,
        *,
        opens: Callable[[str, SourceOptions], Source] = open_source,
        lists: Callable[[], tuple[ListedCamera, ...]] | None = None,
    ) -> None:
        self._reader = reader
        self._source = source
        self._options = options
        self._opens = opens
        self._lists = lists or partial(listed_cameras, options.back_end)
        # One at a time: a camera can be opened only once.
        self._testing = threading.Lock()

    @classmethod
    def of(cls, reader: Reader, source: str, options: SourceOptions) -> CameraChoice | None:
        """Returns the choice for a source; None where it is neither a camera nor a stream."""
        return cls(reader, source, options) if source_kind(source) in ("camera", "stream") else None

    @property
    def source(self) -> str:
        """The source that is read: a camera's number, or the name it was opened by."""
        return self._source

    def cameras(self) -> tuple[ListedCamera, ...]:
        """Returns all cameras of this computer, in the order of their numbers."""
        return self._lists()

    def test(self, number: int) -> bytes:
        """Returns a picture from a camera as JPEG, whether or not it is the one in use.

        Raises:
            BadInput: There is no such camera, another program uses it, or it delivers no pictures.
        """
        self._check(number)
        if str(number) == self._source:
            frame = self._reader.newest()
            if frame is None:
                raise BadInput(f"camera {number}", self._reader.status.message)
            return _jpeg(frame)
        with self._testing:
            source = self._opens(str(number), self._options)
            try:
                return _jpeg(_settled_frame(source))
            except SourceLost as error:
                raise BadInput(f"camera {number}", str(error)) from None
            finally:
                source.close()

    def use(self, number: int) -> None:
        """Switches to another camera.

        Raises:
            BadInput: There is no such camera.
        """
        self._check(number)
        name = str(number)
        with self._testing:
            self._source = name
            self._reader.change_source(
                partial(self._opens, name, self._options), name=f"camera {number}", is_live=True
            )

    def _check(self, number: int) -> None:
        if number not in (camera.number for camera in self.cameras()):
            raise BadInput(f"camera {number}", "there is no such camera on this computer")


def _jpeg(frame: Frame) -> bytes:
    _, encoded = cv2.imencode(".jpg", frame.image, [cv2.IMWRITE_JPEG_QUALITY, _JPEG_QUALITY])
    return encoded.tobytes()


def _settled_frame(source: Source) -> Frame:
    """Returns a frame of a source that was just opened, once its exposure has settled."""
    newest: Frame | None = None
    for _ in range(_WARM_UP_FRAMES):
        frame = source.read()
        if frame is None:
            break
        newest = frame
    if newest is None:
        raise SourceLost("it delivers no pictures")
    return newest
