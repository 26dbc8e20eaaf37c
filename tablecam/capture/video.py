"""Reads a video file."""

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
"""The share of its listed pictures that a whole video yields, as some files only estimate the
number."""

# A frame rate outside these bounds means that the file does not know it.
_SLOWEST_FRAMES_PER_S = 0.01
_FASTEST_FRAMES_PER_S = 1000.0
_USUAL_FRAMES_PER_S = 25.0


class VideoSource:
    """A video file as a source, in the sensor's orientation, timed by the video.

    Frame n is taken n / `frames_per_s` after the video was opened, however fast it is read.
    """

    def __init__(self, path: Path, *, at_end: AtEnd, clock: Clock) -> None:
        self._path = path
        self._loops = at_end == "loop"
        self._opened_at_s = clock.now_s()
        self._number = 0
        self._first_picture: Picture | None
        self._device, self._first_picture = _opened(path)
        self._loop_start = 0
        self.notes: tuple[str, ...] = ()
        self.frames_per_s = _frames_per_s(self._device, path)

    @property
    def length_s(self) -> float:
        """The length that the file states; 0 if it states none."""
        return max(0.0, self._device.get(cv2.CAP_PROP_FRAME_COUNT)) / self.frames_per_s

    @property
    def name(self) -> str:
        """The name of the file."""
        return self._path.name

    def read(self) -> Frame | None:
        """Returns the next frame; None at the end, unless it loops."""
        picture = self._next_picture()
        if picture is None:
            return None
        number = self._number
        self._number += 1
        return Frame(picture, number, self._opened_at_s + number / self.frames_per_s)

    def close(self) -> None:
        """Closes the file."""
        self._device.close()

    def _next_picture(self) -> Picture | None:
        """Returns the next picture; at the end begins again if it loops."""
        picture = self._first_picture if self._first_picture is not None else self._device.read()
        self._first_picture = None
        if picture is None:
            self._note_damage()
        if picture is None and self._loops:
            # Reopened, as not every file supports seeking to its start.
            self._device.close()
            self._device, picture = _opened(self._path)
            self._loop_start = self._number
        return picture

    def _note_damage(self) -> None:
        """Notes a video that ends too soon: a damaged file ends without an error."""
        # Counts from the start of the present loop.
        read, listed = self._number - self._loop_start, self._device.get(cv2.CAP_PROP_FRAME_COUNT)
        # One note is enough, however often the video loops.
        if read < _WHOLE * listed and not self.notes:
            damage = (
                f"{self.name} is cut short or damaged: "
                f"only {read} of {listed:.0f} frames could be read"
            )
            self.notes = (damage,)
            _log.warning("%s", damage)


def _opened(path: Path) -> tuple[Device, Picture]:
    """Opens the file and reads its first picture."""
    # An absolute path, because FFmpeg reads `a:b.mp4` as an address.
    device = Device.open(str(path.absolute()), cv2.CAP_FFMPEG)
    if device is None:
        why = "cannot be read as a video or a picture" if path.exists() else "there is no such file"
        raise BadInput(str(path), why)
    # A calibration belongs to the sensor's orientation.
    device.set(cv2.CAP_PROP_ORIENTATION_AUTO, 0)
    device.keep_jpegs()
    picture = device.read()
    if picture is None:
        device.close()
        raise BadInput(str(path), "this video holds no pictures")
    return device, picture


def _frames_per_s(device: Device, path: Path) -> float:
    """Returns the frame rate that the file states, or else the usual one."""
    rate = device.get(cv2.CAP_PROP_FPS)
    if _SLOWEST_FRAMES_PER_S <= rate <= _FASTEST_FRAMES_PER_S:
        return rate
    _log.warning("%s states no frame rate; assuming %g per second", path, _USUAL_FRAMES_PER_S)
    return _USUAL_FRAMES_PER_S
