"""A video file as a source."""

from __future__ import annotations

import logging
from pathlib import Path

import cv2

from tablecam.capture.clock import Clock
from tablecam.capture.device import Device
from tablecam.capture.frame import Frame
from tablecam.capture.options import AtEnd
from tablecam.capture.picture import Picture
from tablecam.errors import BadInput

_log = logging.getLogger(__name__)

_WHOLE = 0.9
"""Of the pictures that a file says it has: some count by their length, which is not exact."""

# What a file says is believed between these; outside it is a file that does not know.
_SLOWEST_FRAMES_PER_S = 0.01
_FASTEST_FRAMES_PER_S = 1000.0
_USUAL_FRAMES_PER_S = 25.0


class VideoSource:
    """The frames of a video file, in the sensor's orientation, timed by the film.

    Frame n is taken n / `frames_per_s` after the film was opened, however fast it is read.
    """

    def __init__(self, path: Path, *, at_end: AtEnd, clock: Clock) -> None:
        self._path = path
        self._loops = at_end == "loop"
        self._opened_at_s = clock.now_s()
        self._number = 0
        self._ahead: Picture | None
        self._device, self._ahead = _opened(path)
        self._round = 0
        self.notes: tuple[str, ...] = ()
        self.frames_per_s = _frames_per_s(self._device, path)

    @property
    def length_s(self) -> float:
        """How long the film says that it is; 0 where it does not."""
        return max(0.0, self._device.get(cv2.CAP_PROP_FRAME_COUNT)) / self.frames_per_s

    @property
    def name(self) -> str:
        """The file's name; `notes` say at its end whether it is damaged."""
        return self._path.name

    def read(self) -> Frame | None:
        """The next frame; None at the film's end, unless it loops."""
        picture = self._next_picture()
        if picture is None:
            return None
        number = self._number
        self._number += 1
        return Frame(picture, number, self._opened_at_s + number / self.frames_per_s)

    def close(self) -> None:
        """Let go of the file."""
        self._device.close()

    def _next_picture(self) -> Picture | None:
        picture = self._ahead if self._ahead is not None else self._device.read()
        self._ahead = None
        if picture is None:
            self._note_damage()
        if picture is None and self._loops:
            # Opened again, for not every file can be wound back.
            self._device.close()
            self._device, picture = _opened(self._path)
            self._round = self._number
        return picture

    def _note_damage(self) -> None:
        """Say so where it ends before it should: a damaged film just ends, as whole ones do."""
        read, listed = self._number - self._round, self._device.get(cv2.CAP_PROP_FRAME_COUNT)
        if read < _WHOLE * listed and not self.notes:
            damage = (
                f"{self.name} is cut short or damaged: {read} of its {listed:.0f} pictures came"
            )
            self.notes = (damage,)
            _log.warning("%s", damage)


def _opened(path: Path) -> tuple[Device, Picture]:
    """The file and its first picture."""
    # An absolute path, because FFmpeg takes `a:b.mp4` for an address.
    device = Device.open(str(path.absolute()), cv2.CAP_FFMPEG)
    if device is None:
        raise BadInput(str(path), "cannot be read as a video or a picture")
    device.set(cv2.CAP_PROP_ORIENTATION_AUTO, 0)
    device.keep_jpegs()
    picture = device.read()
    if picture is None:
        device.close()
        raise BadInput(str(path), "this video holds no pictures")
    return device, picture


def _frames_per_s(device: Device, path: Path) -> float:
    rate = device.get(cv2.CAP_PROP_FPS)
    if _SLOWEST_FRAMES_PER_S <= rate <= _FASTEST_FRAMES_PER_S:
        return rate
    _log.warning("%s does not say its frame rate; taking %g/s", path, _USUAL_FRAMES_PER_S)
    return _USUAL_FRAMES_PER_S
