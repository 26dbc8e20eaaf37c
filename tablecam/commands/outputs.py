"""Writes pictures and texts that a command makes, once `new_files.check_new` allows it."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from tablecam.errors import BadInput


def check_picture_name(path: Path) -> None:
    """Refuses a file name without a known picture format, before any work.

    Raises:
        BadInput: It has no known ending.
    """
    if not cv2.haveImageWriter(path.suffix or "."):
        expected = f"expected a name that ends in .png or .jpg, got {path.suffix!r}"
        raise BadInput(str(path), expected)


def write_picture(path: Path, picture: NDArray[np.uint8]) -> None:
    """Writes a picture (height, width, 3) in the format of the file's ending.

    Raises:
        BadInput: The ending is unknown, or the file cannot be written.
    """
    check_picture_name(path)
    _, data = cv2.imencode(path.suffix, picture)
    try:
        path.write_bytes(data.tobytes())
    except OSError as error:
        raise BadInput(str(path), f"cannot be written: {error.strerror}") from None


def write_text(path: Path, text: str) -> None:
    """Writes a text file.

    Raises:
        BadInput: The file cannot be written.
    """
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadInput(str(path), f"cannot be written: {error.strerror}") from None
