"""A picture as its source delivered it, decoded no further than needed.

Most of the time to read a JPEG goes into undoing its Huffman code; later steps can be skipped.
Shortest of 15 runs on two cores, OpenCV 5, rendered photographs at quality 90:

| picture | colour | colour, then `to_grey` | grey | an eighth, grey |
|---|---|---|---|---|
| 3840x2160, 2.5 MB | 45 ms | 55 ms | 26 ms | 18 ms |
| 1920x1080, 0.55 MB | 8.0 ms | 10 ms | 6.0 ms | 4.3 ms |

The grey of a JPEG is its stored luma, not `to_grey` of its colours, which takes twice as long. On
grass the two differ by 5 grey levels, on black and white not at all. `to_grey` exists for sensors
with interpolated colours, which shift all tags alike: by 0.02 px on 1080p pictures of such a sensor
(median of 242 tags; one tag differed from the next by 0.007 px), by 0.001 px on 4K pictures of
another. Against the truth the stored luma was no worse in either (median error 0.039 and 0.087 px;
`to_grey`: 0.042 and 0.086 px). Lens calibration still uses `to_grey` of the colours: there the
shift varies over the picture and does not cancel.
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
    """A picture in the sensor's orientation; its arrays are read-only."""

    @property
    def width_px(self) -> int:
        """The width of the picture."""

    @property
    def height_px(self) -> int:
        """The height of the picture."""

    @property
    def image(self) -> Image:
        """The whole picture (height, width, 3), blue-green-red, 8 bits."""

    def grey(self) -> Image:
        """Returns the whole picture in grey (height, width)."""

    def reduced_grey(self) -> Image:
        """Returns the grey means of 8 x 8 pixels: (ceil(height / 8), ceil(width / 8))."""


class DecodedPicture:
    """A picture that came as pixels: (h, w), (h, w, 3) or (h, w, 4).

    Takes ownership of the array: if it already has the right form, it is made read-only in place.
    """

    def __init__(self, image: NDArray[Any]) -> None:
        self.image = frozen_image(image)
        self._lock = threading.Lock()
        self._grey: Image | None = None
        self._reduced: Image | None = None

    @property
    def width_px(self) -> int:
        """The width of the picture."""
        return int(self.image.shape[1])

    @property
    def height_px(self) -> int:
        """The height of the picture."""
        return int(self.image.shape[0])

    def grey(self) -> Image:
        """Returns the whole picture in grey (height, width)."""
        with self._lock:
            if self._grey is None:
                self._grey = _frozen(to_grey(self.image))
            return self._grey

    def reduced_grey(self) -> Image:
        """Returns the grey means of 8 x 8 pixels: (ceil(height / 8), ceil(width / 8))."""
        with self._lock:
            if self._reduced is None:
                # Reduced before conversion: a fifth of the time, equal but for rounding.
                self._reduced = _frozen(to_grey(_reduced(self.image)))
            return self._reduced


class JpegPicture:
    """A picture that came as a JPEG; each form of it is decoded at most once, on demand.

    Thread-safe: a thread that needs a form another is decoding waits for it. `data` are the
    original bytes.
    """

    def __init__(self, data: bytes) -> None:
        """Takes the bytes after checking their headers.

        Raises:
            BrokenPicture: They are not a JPEG, or end too soon.
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
        return self._form(_COLOUR)

    def grey(self) -> Image:
        """Returns the luma that the JPEG stores (height, width).

        Raises:
            BrokenPicture: The bytes turn out to be damaged.
        """
        return self._form(_GREY)

    def reduced_grey(self) -> Image:
        """Returns the mean luma of each 8 x 8 pixels: (ceil(height / 8), ceil(width / 8)).

        Raises:
            BrokenPicture: The bytes turn out to be damaged.
        """
        return self._form(_REDUCED_GREY)

    def _form(self, form: int) -> Image:
        """Returns one form of the picture, decoding it on first use."""
        with self._lock:
            if form not in self._decoded:
                self._decoded[form] = _frozen(self._decode(form))
            return self._decoded[form]

    def _decode(self, form: int) -> Image:
        """Decodes one form of the picture."""
        if form == _REDUCED_GREY and _GREY in self._decoded:
            return _reduced(self._decoded[_GREY])  # 1 ms instead of 18, equal but for rounding
        image = decoded(self.data, form)
        if image is None:
            raise BrokenPicture("cut short or damaged")
        return image


def is_jpeg(data: bytes) -> bool:
    """Whether bytes begin like a JPEG."""
    return data.startswith(_JPEG_START)


def decoded(data: bytes, form: int = _COLOUR) -> Image | None:
    """Decodes a file's bytes with OpenCV's flags `form`; None if they are no picture.

    Takes bytes rather than a path, as imread cannot open every path on Windows and returns half a
    picture for half a JPEG.
    """
    try:
        image = cv2.imdecode(np.frombuffer(data, dtype=np.uint8), form)
    except cv2.error:  # an empty file, or a picture beyond OpenCV's largest size
        return None
    return None if image is None else np.asarray(image, dtype=np.uint8)


def jpeg_bytes(image: Image, quality: int = 85) -> bytes:
    """Encodes a picture, grey or blue-green-red, as JPEG."""
    return cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, quality])[1].tobytes()


def frozen_image(image: NDArray[Any]) -> Image:
    """Converts (h, w), (h, w, 3) or (h, w, 4) to a read-only (h, w, 3) picture.

    Takes ownership of the array: if it already has the right form, it is made read-only in place.
    """
    # Grey becomes three equal channels, so that all pictures have one form.
    if image.ndim == 2:
        image = np.repeat(image[..., None], 3, axis=2)
    return _frozen(np.asarray(image[..., :3], dtype=np.uint8))


def _reduced(image: Image) -> Image:
    """Reduces a picture to the means of 8 x 8 pixels."""
    size = (-(-image.shape[1] // _REDUCED), -(-image.shape[0] // _REDUCED))
    return np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA))


def _frozen(image: Image) -> Image:
    """Makes an array read-only."""
    image.flags.writeable = False
    return image


def _jpeg_size_px(data: bytes) -> tuple[int, int]:
    """Reads width and height from the headers; requires an end marker after the scan."""
    if not is_jpeg(data):
        raise BrokenPicture("not a JPEG")
    size_px: tuple[int, int] | None = None
    # Walks from marker to marker; only the frame header holds the size.
    at = len(_JPEG_START)
    while at + 4 <= len(data) and data[at] == 0xFF:
        kind = data[at + 1]
        if kind == 0xFF:  # padding before a marker
            at += 1
            continue
        if kind in _FRAME_HEADERS:
            # A frame header: marker, length and precision take five bytes, then height and width.
            height_px, width_px = (int.from_bytes(data[at + b : at + b + 2]) for b in (5, 7))
            size_px = width_px, height_px
        # An end marker after the scan shows that the file is not cut short.
        if kind == _SCAN and size_px is not None and data.rfind(_JPEG_END, at) > at:
            return size_px
        # The length that follows a marker includes itself, but not the marker.
        at += 2 if kind in _WITHOUT_LENGTH else 2 + int.from_bytes(data[at + 2 : at + 4])
    raise BrokenPicture("cut short or damaged")
