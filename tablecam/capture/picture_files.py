"""Reads picture files, alone or in a folder.

Pictures keep the sensor's orientation: EXIF rotation is ignored. A calibration belongs to the
sensor, and a phone that points straight down guesses its orientation at random.
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

PICTURE_SUFFIXES = (".jpg", ".jpeg", ".png", ".bmp", ".tif", ".tiff", ".webp")

_USUAL_FRAMES_PER_S = 2.0
_PNG_START = b"\x89PNG"
_PNG_END = b"IEND"
_PNG_END_BYTES = 64  # the last chunk is 12 bytes; some programs leave a few after it


def read_picture(path: Path | str) -> Image:
    """Reads a picture file as a read-only array (height, width, 3), blue-green-red.

    It is in the sensor's orientation.

    Raises:
        BadInput: There is no such file, or it is not a whole picture.
    """
    data = _bytes_of(path)
    with silent_libraries():
        image = decoded(data)
    if image is None or _is_cut_short(data):
        raise _unreadable(path, data)
    return frozen_image(image)


def open_picture(path: Path | str) -> Picture:
    """Opens a picture file; a JPEG is decoded only as far as needed.

    Raises:
        BadInput: There is no such file, or it is not a whole picture.
    """
    data = _bytes_of(path)
    if not is_jpeg(data):
        image = None if _is_cut_short(data) else decoded(data)
        if image is None:
            raise _unreadable(path, data)
        return DecodedPicture(image)
    try:
        picture = JpegPicture(data)
        # Decodes the whole file once, so that a damaged one is refused here and not later.
        picture.reduced_grey()
    except BrokenPicture:
        raise _unreadable(path, data) from None
    return picture


def picture_paths(folder: Path) -> tuple[Path, ...]:
    """Lists the pictures in a folder in natural order: `view-2` before `view-10`.

    Raises:
        BadInput: The folder cannot be listed, or holds no pictures.
    """
    try:
        paths = [path for path in folder.iterdir() if _is_picture(path)]
    except OSError as error:
        raise BadInput(str(folder), f"cannot be listed: {error.strerror}") from None
    if not paths:
        raise BadInput(str(folder), f"no pictures ({', '.join(PICTURE_SUFFIXES)}) in this folder")
    return natural_order(paths)


def natural_order(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Sorts paths by name, comparing the numbers in them as numbers.

    >>> [path.name for path in natural_order([Path("a10.png"), Path("a9.png"), Path("A1.png")])]
    ['A1.png', 'a9.png', 'a10.png']
    """

    def key(path: Path) -> tuple[list[tuple[int, str]], str]:
        parts = re.split(r"([0-9]+)", path.name.casefold())
        # Numbers and words never meet in a comparison; the full name settles ties.
        return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts], path.name

    return tuple(sorted(paths, key=key))


class PicturesSource:
    """A folder of pictures, or a single one, as a source.

    Each picture lasts 1 / `frames_per_s`. A single picture that loops is read only once.
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
        self._rate = frames_per_s or _USUAL_FRAMES_PER_S
        self._opened_at_s = clock.now_s()
        self._number = 0
        self._single_picture: Picture | None = None

    @property
    def name(self) -> str:
        """The name of the file or folder."""
        return self._name

    def read(self) -> Frame | None:
        """Returns the next picture; None after the last, unless they loop."""
        number = self._number
        # In a loop the number goes on, and with it the time.
        if number >= len(self._paths) and not self._loops:
            return None
        self._number += 1
        picture = self._picture(self._paths[number % len(self._paths)])
        return Frame(picture, number, self._opened_at_s + number / self._rate)

    def close(self) -> None:
        """Does nothing, as no file is held open."""

    def _picture(self, path: Path) -> Picture:
        """Opens a picture; a single one is opened only once."""
        if len(self._paths) > 1:
            return open_picture(path)
        # A single picture that loops keeps its decoded forms, too.
        if self._single_picture is None:
            self._single_picture = open_picture(path)
        return self._single_picture


def _is_picture(path: Path) -> bool:
    """Whether a file in a folder is a picture, by its name."""
    # macOS leaves files whose names start with a dot beside pictures on foreign disks.
    return path.suffix.lower() in PICTURE_SUFFIXES and not path.name.startswith(".")


def _bytes_of(path: Path | str) -> bytes:
    """Reads a file, or raises `BadInput` with the cause."""
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
    """Builds the error for a file that is not a whole picture."""
    return BadInput(str(path), f"cannot be read as a picture{_guess_why(data)}")


def _is_cut_short(data: bytes) -> bool:
    """Whether a PNG lacks its end."""
    # Checked first because libpng would complain on standard error; other decoders stay silent.
    return data.startswith(_PNG_START) and _PNG_END not in data[-_PNG_END_BYTES:]


def _guess_why(data: bytes) -> str:
    """Guesses why bytes cannot be decoded, as the end of a sentence."""
    if not data:
        return ": the file is empty"
    if data.startswith(_PNG_START) or is_jpeg(data):
        return ": it is cut short or damaged"
    return ""
