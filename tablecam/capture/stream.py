"""Reads a network camera: `rtsp://`, `http://` and the like."""

from __future__ import annotations

from urllib.parse import urlsplit

import cv2

from tablecam.capture.clock import Clock
from tablecam.capture.device import Device
from tablecam.capture.errors import SourceLost
from tablecam.capture.frame import Frame
from tablecam.capture.options import SourceOptions
from tablecam.capture.picture import Picture
from tablecam.errors import BadInput

SCHEMES = ("rtsp", "rtsps", "http", "https", "rtmp", "udp", "tcp")


class StreamSource:
    """A network camera as a source; each frame is timed on arrival."""

    def __init__(self, address: str, options: SourceOptions, *, clock: Clock) -> None:
        self._name = shown_address(address)
        self._clock = clock
        self._number = 0
        self._first_picture: Picture | None
        self._device, self._first_picture = _opened(address, options)

    @property
    def name(self) -> str:
        """The address without user and password."""
        return self._name

    @property
    def notes(self) -> tuple[str, ...]:
        """A warning if many pictures arrive broken."""
        return self._device.notes

    def read(self) -> Frame | None:
        """Returns the next frame.

        Raises:
            SourceLost: The stream ended, or nothing came before the timeout.
        """
        picture = self._first_picture if self._first_picture is not None else self._device.read()
        self._first_picture = None
        if picture is None:
            raise SourceLost(f"{self._name} stopped delivering pictures")
        number = self._number
        self._number += 1
        return Frame(picture, number, self._clock.now_s())

    def close(self) -> None:
        """Closes the stream."""
        self._device.close()


def shown_address(address: str) -> str:
    """Returns an address without user and password, safe to show.

    >>> shown_address("rtsp://admin:secret@192.168.1.20:554/live")
    'rtsp://192.168.1.20:554/live'
    """
    parts = urlsplit(address)
    # The last "@", as a password may contain one.
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def _opened(address: str, options: SourceOptions) -> tuple[Device, Picture]:
    """Opens the stream and reads its first picture.

    A stream that answers but sends nothing counts as not open.
    """
    timeouts = {
        cv2.CAP_PROP_OPEN_TIMEOUT_MSEC: round(options.open_timeout_s * 1000),
        cv2.CAP_PROP_READ_TIMEOUT_MSEC: round(options.read_timeout_s * 1000),
    }
    device = Device.open(address, cv2.CAP_FFMPEG, timeouts)
    if device is not None:
        device.keep_jpegs()
    # Some streams open without ever sending: only a picture proves that one works.
    picture = device.read() if device is not None else None
    if device is None or picture is None:
        if device is not None:
            device.close()
        raise BadInput(
            shown_address(address),
            f"no pictures came within {options.open_timeout_s:g} s; "
            "check that the camera is on, in the same network, and that the address is right",
        )
    return device, picture
