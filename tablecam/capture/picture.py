"""A picture as its source gave it, decoded no further than is asked for.

Reading a JPEG is mostly undoing its Huffman code; what comes after can be left out. Shortest of
15 runs on two cores, OpenCV 5, rendered photographs at quality 90:

| picture | colour | colour, then `to_grey` | grey | an eighth, grey |
|---|---|---|---|---|
| 3840x2160, 2.5 MB | 45 ms | 55 ms | 26 ms | 18 ms |
| 1920x1080, 0.55 MB | 8.0 ms | 10 ms | 6.0 ms | 4.3 ms |

The grey of a JPEG is the brightness that it stores, not `to_grey` of its colours: half the time.
On grass the two differ by 5 grey levels, on black and white by none. What `to_grey` is for, the
colours of a sensor whose missing ones were filled in, shifts all tags alike: by 0.02 px on the
1080p pictures of such a sensor (median of 242 tags; one tag differed from the next by 0.007 px),
by 0.001 px on 4K pictures of another. Against truth the stored brightness was no worse in either
(median error 0.039 and 0.087 px; `to_grey`: 0.042 and 0.086 px). A lens is still found from
`to_grey` of the colours: there such a shift is not alike everywhere, and does not cancel.
"""

from __future__ import annotations

import threading
from typing import Any, Protocol

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.grey import to_grey
from tablecam.capture.errors import BrokenPicture

Image = NDArray[np.uint8]

_REDUCED = 8
_GREY = cv2.IMREAD_GRAYSCALE | cv2.IMREAD_IGNORE_ORIENTATION
_COLOUR = cv2.IMREAD_COLOR | cv2.IMREAD_IGNORE_ORIENTATION
_REDUCED_GREY = cv2.IMREAD_REDUCED_GRAYSCALE_8 | cv2.IMREAD_IGNORE_ORIENTATION

_JPEG_START, _JPEG_END = b"\xff\xd8", b"\xff\xd9"
_FRAME_HEADERS = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_SCAN = 0xDA
_WITHOUT_LENGTH = frozenset({0x01, *range(0xD0, 0xD9)})


class Picture(Protocol):
    """What a source gives, in the sensor's orientation. No array of it can be written to."""

    @property
    def width_px(self) -> int:
        """The picture's width."""

    @property
    def height_px(self) -> int:
        """The picture's height."""

    @property
    def image(self) -> Image:
        """The whole picture (height, width, 3), blue-green-red, 8 bits."""

    def grey(self) -> Image:
        """The whole picture in grey (height, width)."""

    def reduced_grey(self) -> Image:
        """Grey, eight times smaller, each pixel a mean: (ceil(height / 8), ceil(width / 8))."""


class DecodedPicture:
    """A picture that came as pixels: (h, w), (h, w, 3) or (h, w, 4).

    The array is frozen in place where it already has the right form: its maker gives it away.
    """

    def __init__(self, image: NDArray[Any]) -> None:
        self.image = frozen_image(image)
        self._lock = threading.Lock()
        self._grey: Image | None = None
        self._reduced: Image | None = None

    @property
    def width_px(self) -> int:
        """The picture's width."""
        return int(self.image.shape[1])

    @property
    def height_px(self) -> int:
        """The picture's height."""
        return int(self.image.shape[0])

    def grey(self) -> Image:
        """The whole picture in grey (height, width)."""
        with self._lock:
            if self._grey is None:
                self._grey = _frozen(to_grey(self.image))
            return self._grey

    def reduced_grey(self) -> Image:
        """Grey, eight times smaller, each pixel a mean: (ceil(height / 8), ceil(width / 8))."""
        with self._lock:
            if self._reduced is None:
                # Made smaller first: a fifth of the time, and the same but for rounding.
                self._reduced = _frozen(to_grey(_reduced(self.image)))
            return self._reduced


class JpegPicture:
    """A picture that came as a JPEG; it is kept so, and each form of it is decoded once at most.

    Any thread may ask; one that asks for what another is decoding waits for it. `data` are the
    bytes, as they came.
    """

    def __init__(self, data: bytes) -> None:
        """Take the bytes, after a look at their headers.

        Raises:
            BrokenPicture: They are no JPEG, or end too soon.
        """
        self.width_px, self.height_px = _jpeg_size_px(data)
        self.data = data
        self._lock = threading.Lock()
        self._decoded: dict[int, Image] = {}

    @property
    def image(self) -> Image:
        """The whole picture (height, width, 3), blue-green-red, 8 bits.

        Raises:
            BrokenPicture: The bytes turn out to be damaged.
        """
        return self._as(_COLOUR)

    def grey(self) -> Image:
        """The brightness that the JPEG stores (height, width).

        Raises:
            BrokenPicture: The bytes turn out to be damaged.
        """
        return self._as(_GREY)

    def reduced_grey(self) -> Image:
        """The brightness of each eight by eight pixels: (ceil(height / 8), ceil(width / 8)).

        Raises:
            BrokenPicture: The bytes turn out to be damaged.
        """
        return self._as(_REDUCED_GREY)

    def _as(self, form: int) -> Image:
        with self._lock:
            if form not in self._decoded:
                self._decoded[form] = _frozen(self._made(form))
            return self._decoded[form]

    def _made(self, form: int) -> Image:
        if form == _REDUCED_GREY and _GREY in self._decoded:
            return _reduced(self._decoded[_GREY])  # 1 ms, not 18: the same but for rounding
        image = decoded(self.data, form)
        if image is None:
            raise BrokenPicture("cut short or damaged")
        return image


def is_jpeg(data: bytes) -> bool:
    """Whether bytes begin as a JPEG does."""
    return data.startswith(_JPEG_START)


def decoded(data: bytes, form: int = _COLOUR) -> Image | None:
    """The picture in a file's bytes, as OpenCV's flags `form` say; None when there is none.

    Decoding bytes, not a path: imread cannot open every path on Windows, and gives half a picture
    for half a JPEG.
    """
    try:
        image = cv2.imdecode(np.frombuffer(data, dtype=np.uint8), form)
    except cv2.error:  # an empty file, or a picture beyond OpenCV's largest size
        return None
    return None if image is None else np.asarray(image, dtype=np.uint8)


def frozen_image(image: NDArray[Any]) -> Image:
    """A picture as (h, w, 3) that cannot be written to, from (h, w), (h, w, 3) or (h, w, 4).

    The array is frozen in place where it already has the right form, so the caller gives it away.
    """
    if image.ndim == 2:
        image = np.repeat(image[..., None], 3, axis=2)
    return _frozen(np.asarray(image[..., :3], dtype=np.uint8))


def _reduced(image: Image) -> Image:
    size = (-(-image.shape[1] // _REDUCED), -(-image.shape[0] // _REDUCED))
    return np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA))


def _frozen(image: Image) -> Image:
    image.flags.writeable = False
    return image


def _jpeg_size_px(data: bytes) -> tuple[int, int]:
    """Width and height, from the headers; the picture's code must have an end, too."""
    if not is_jpeg(data):
        raise BrokenPicture("no JPEG")
    size_px: tuple[int, int] | None = None
    at = len(_JPEG_START)
    while at + 4 <= len(data) and data[at] == 0xFF:
        kind = data[at + 1]
        if kind == 0xFF:  # filled up
            at += 1
            continue
        if kind in _FRAME_HEADERS:
            height_px, width_px = (int.from_bytes(data[at + b : at + b + 2]) for b in (5, 7))
            size_px = width_px, height_px
        if kind == _SCAN and size_px is not None and data.rfind(_JPEG_END, at) > at:
            return size_px
        at += 2 if kind in _WITHOUT_LENGTH else 2 + int.from_bytes(data[at + 2 : at + 4])
    raise BrokenPicture("cut short or damaged")
