"""Picture files: reading one, one as a source, a folder of them as a source.

Pictures come in the sensor's orientation: what a file says about being turned (EXIF) is ignored.
A calibration belongs to the sensor, and a phone that looks straight down guesses at random which
way is up.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from tablecam.capture.clock import Clock
from tablecam.capture.errors import BrokenPicture
from tablecam.capture.frame import Frame
from tablecam.capture.options import AtEnd
from tablecam.capture.picture import (
    DecodedPicture,
    Image,
    JpegPicture,
    Picture,
    decoded,
    frozen_image,
    is_jpeg,
)
from tablecam.capture.quiet import silence_opencv, silent_libraries
from tablecam.errors import BadInput

PICTURE_ENDINGS = (".jpg", ".jpeg", ".png", ".bmp", ".tif", ".tiff", ".webp")

_STANDING_FRAMES_PER_S = 2.0
_PNG_START = b"\x89PNG"
_PNG_END = b"IEND"
_PNG_END_BYTES = 64  # the last chunk is 12 bytes; some programs leave a few after it


def read_picture(path: Path | str) -> Image:
    """A picture file as an array (height, width, 3), blue-green-red, in the sensor's orientation.

    It cannot be written to.

    Raises:
        BadInput: There is no such file, or it is not a picture, or only part of one.
    """
    data = _bytes_of(path)
    with silent_libraries():
        image = decoded(data)
    if image is None or _is_cut_short(data):
        raise _unreadable(path, data)
    return frozen_image(image)


def open_picture(path: Path | str) -> Picture:
    """A picture file, decoded no further than asked where it is a JPEG.

    Raises:
        BadInput: There is no such file, or it is not a picture, or only part of one.
    """
    data = _bytes_of(path)
    if not is_jpeg(data):
        image = None if _is_cut_short(data) else decoded(data)
        if image is None:
            raise _unreadable(path, data)
        return DecodedPicture(image)
    try:
        picture = JpegPicture(data)
        # Reads all of its code: a file that is damaged is refused here, not later on.
        picture.reduced_grey()
    except BrokenPicture:
        raise _unreadable(path, data) from None
    return picture


def picture_paths(folder: Path) -> tuple[Path, ...]:
    """The pictures in a folder, in the order a person counts: `view-2` before `view-10`.

    Raises:
        BadInput: The folder cannot be listed, or holds no pictures.
    """
    try:
        found = [path for path in folder.iterdir() if _is_picture(path)]
    except OSError as error:
        raise BadInput(str(folder), f"cannot be listed: {error.strerror}") from None
    if not found:
        raise BadInput(str(folder), f"no pictures ({', '.join(PICTURE_ENDINGS)}) in this folder")
    return natural_order(found)


def natural_order(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Paths by name, with the numbers in them read as numbers.

    >>> [path.name for path in natural_order([Path("a10.png"), Path("a9.png"), Path("A1.png")])]
    ['A1.png', 'a9.png', 'a10.png']
    """

    def key(path: Path) -> tuple[list[tuple[int, str]], str]:
        parts = re.split(r"([0-9]+)", path.name.casefold())
        return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts], path.name

    return tuple(sorted(paths, key=key))


class PicturesSource:
    """Pictures one after the other: a folder's, or a lone one.

    Each lasts 1 / `frames_per_s` of the film that they make together. A lone picture that loops
    is read once and keeps standing.
    """

    def __init__(
        self,
        name: str,
        paths: tuple[Path, ...],
        *,
        at_end: AtEnd,
        frames_per_s: float | None,
        clock: Clock,
    ) -> None:
        self._name = name
        self._paths = paths
        self._loops = at_end == "loop"
        self._rate = frames_per_s or _STANDING_FRAMES_PER_S
        self._opened_at_s = clock.now_s()
        self._number = 0
        self._standing: Picture | None = None

    @property
    def name(self) -> str:
        """The file's or folder's name."""
        return self._name

    def read(self) -> Frame | None:
        """The next picture; None after the last, unless they loop."""
        number = self._number
        if number >= len(self._paths) and not self._loops:
            return None
        self._number += 1
        picture = self._picture(self._paths[number % len(self._paths)])
        return Frame(picture, number, self._opened_at_s + number / self._rate)

    def close(self) -> None:
        """Nothing is held open."""

    def _picture(self, path: Path) -> Picture:
        if len(self._paths) > 1:
            return open_picture(path)
        if self._standing is None:
            self._standing = open_picture(path)
        return self._standing


def _is_picture(path: Path) -> bool:
    # Names that start with a dot are what macOS leaves beside pictures on other people's disks.
    return path.suffix.lower() in PICTURE_ENDINGS and not path.name.startswith(".")


def _bytes_of(path: Path | str) -> bytes:
    silence_opencv()
    name = str(path)
    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        raise BadInput(name, "there is no such picture") from None
    except IsADirectoryError:
        raise BadInput(name, "expected a picture, got a folder") from None
    except OSError as error:
        raise BadInput(name, f"cannot be read: {error.strerror}") from None


def _unreadable(path: Path | str, data: bytes) -> BadInput:
    return BadInput(str(path), f"cannot be read as a picture{_guess_why(data)}")


def _is_cut_short(data: bytes) -> bool:
    # libpng complains of this on standard error by itself; the other decoders stay silent.
    return data.startswith(_PNG_START) and _PNG_END not in data[-_PNG_END_BYTES:]


def _guess_why(data: bytes) -> str:
    if not data:
        return ": the file is empty"
    if data.startswith(_PNG_START) or is_jpeg(data):
        return ": it is cut short or damaged"
    return ""
