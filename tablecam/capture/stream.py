"""Reads a network camera: `rtsp://`, `http://` and the like."""

from __future__ import annotations

from urllib.parse import urlsplit

import cv2

from tablecam.capture.clock import Clock
from tablecam.capture.device import Device, DeviceSource
from tablecam.capture.options import SourceOptions
from tablecam.capture.picture import Picture
from tablecam.errors import BadInput

SCHEMES = ("rtsp", "rtsps", "http", "https", "rtmp", "udp", "tcp")


class StreamSource(DeviceSource):
    """A network camera as a source, named by its address without user and password."""

    def __init__(self, address: str, options: SourceOptions, *, clock: Clock) -> None:
        super().__init__(shown_address(address), *_opened(address, options), clock=clock)


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
