"""Lets players choose among the cameras of this computer, and test one before they use it."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from tablecam.capture.camera import ListedCamera, listed_cameras
from tablecam.capture.errors import BrokenPicture, SourceLost
from tablecam.capture.frame import Frame, Source
from tablecam.capture.open_source import open_source, source_kind
from tablecam.capture.options import SourceOptions
from tablecam.capture.picture import jpeg_bytes
from tablecam.capture.reader import Reader
from tablecam.errors import BadInput

_WARM_UP_FRAMES = 10
"""Frames until a camera that was just opened has found its exposure."""
_TESTED_WITHIN_S = 15.0
"""A camera that takes longer to answer than this hangs."""


class CameraChoice:
    """The cameras among which players may choose, and the reader of the chosen one.

    Thread-safe. `opens` opens a camera by its number, `lists` lists all.
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
        self._opening = threading.Lock()

    @classmethod
    def of(cls, reader: Reader, source: str, options: SourceOptions) -> CameraChoice | None:
        """Returns the choice for a source; None where it is neither a camera nor a stream."""
        return cls(reader, source, options) if source_kind(source) in ("camera", "stream") else None

    @property
    def number(self) -> int | None:
        """The number of the camera that is read; None for a stream."""
        if self._source.isdecimal():
            return int(self._source)
        # Linux names a camera by a device file, or by a link to it that says its maker.
        device = re.fullmatch(r"/dev/video(\d+)", str(Path(self._source).resolve()))
        return int(device[1]) if device else None

    def cameras(self) -> tuple[ListedCamera, ...]:
        """Returns all cameras of this computer, in the order of their numbers."""
        return self._lists()

    def test(self, number: int) -> bytes:
        """Returns a picture from a camera as JPEG, whether or not it is the one in use.

        Raises:
            BadInput: There is no such camera, another program uses it, or it delivers no pictures.
        """
        self._check(number)
        with self._alone(number):
            if number == self.number:
                frame = self._reader.newest()
                if frame is None:
                    raise BadInput(f"camera {number}", self._reader.status.message)
                return jpeg_bytes(frame.image)
            source = self._opens(str(number), self._options)
            try:
                return jpeg_bytes(_settled_frame(source).image)
            except SourceLost as error:
                raise BadInput(f"camera {number}", str(error)) from None
            except BrokenPicture as error:
                raise BadInput(f"camera {number}", f"its picture arrived {error}") from None
            finally:
                source.close()

    def use(self, number: int) -> None:
        """Switches to another camera.

        Raises:
            BadInput: There is no such camera, or another one is being tested and does not answer.
        """
        self._check(number)
        name = str(number)
        with self._alone(number):
            self._source = name
            self._reader.change_source(
                partial(self._opens, name, self._options), name=f"camera {number}", is_live=True
            )

    @contextmanager
    def _alone(self, number: int) -> Iterator[None]:
        """Waits for other tests and changes: a camera can be opened only once."""
        if not self._opening.acquire(timeout=_TESTED_WITHIN_S):
            raise BadInput(
                f"camera {number}",
                "cannot be opened yet: another camera is being tested and does not answer",
            )
        try:
            yield
        finally:
            self._opening.release()

    def _check(self, number: int) -> None:
        if number not in (camera.number for camera in self.cameras()):
            raise BadInput(f"camera {number}", "there is no such camera on this computer")


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
