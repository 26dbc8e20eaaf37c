"""Loads the printed patterns of an ArUco dictionary for the tags of one roster."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.errors import CalibrationError
from calibration.extrinsics.table_tags import tag_dictionary
from tablecam.errors import BadInput

_PLAIN_SHARE = 0.25
"""Plain tags have at most this share of their cells white, or black."""


@dataclass(frozen=True, eq=False)
class TagPatterns:
    """The printed cells of some tags of one dictionary.

    `ids` (k,) are the tags' numbers, `cells` (k, n, n) their inner cells: 1 white, 0 black, the
    top row first, without the black border (one cell) and the white rim (one cell) around it.
    """

    ids: NDArray[np.int64]
    cells: NDArray[np.uint8]

    @property
    def inner_cells(self) -> int:
        """The number of cells along a side inside the black border: 4 for `DICT_4X4_250`."""
        return int(self.cells.shape[1])

    @property
    def side_cells(self) -> int:
        """The number of cells along a side of the black square."""
        return self.inner_cells + 2

    @cached_property
    def is_plain(self) -> NDArray[np.bool_]:
        """Which tags have most of their cells of one colour, (k,)."""
        white = self.cells.mean(axis=(1, 2))
        return np.asarray(np.minimum(white, 1 - white) <= _PLAIN_SHARE)

    @cached_property
    def index_of(self) -> dict[int, int]:
        """The row of each id in `ids` and `cells`."""
        return {int(tag): index for index, tag in enumerate(self.ids)}


def tag_patterns(dictionary: str, ids: Iterable[int], *, source: str = "table file") -> TagPatterns:
    """Returns the patterns of these ids of an OpenCV dictionary, such as `DICT_4X4_250`.

    Raises:
        BadInput: No such dictionary, or it has no such id; `source` is the file to name.
    """
    opencv_dictionary = _predefined(dictionary, source)
    size = int(opencv_dictionary.markerSize)
    count = int(opencv_dictionary.bytesList.shape[0])
    unique_ids = sorted(set(ids))
    for tag in unique_ids:
        if not 0 <= tag < count:
            raise BadInput(source, f"expected tags 0 to {count - 1} of {dictionary}, got {tag}")
    cells = np.empty((len(unique_ids), size, size), dtype=np.uint8)
    for index, tag in enumerate(unique_ids):
        # A marker drawn at one pixel a cell, then stripped of its border.
        drawn = cv2.aruco.generateImageMarker(opencv_dictionary, tag, size + 2)
        cells[index] = np.asarray(drawn)[1:-1, 1:-1] > 127
    return TagPatterns(np.array(unique_ids, dtype=np.int64), cells)


def all_patterns(dictionary: str, *, source: str = "table file") -> TagPatterns:
    """Returns the patterns of all ids of a dictionary; the row is the id.

    Raises:
        BadInput: No such dictionary; `source` is the file to name.
    """
    count = int(_predefined(dictionary, source).bytesList.shape[0])
    return tag_patterns(dictionary, range(count), source=source)


def _predefined(dictionary: str, source: str) -> Any:
    """Returns OpenCV's dictionary of this name."""
    try:
        return tag_dictionary(dictionary)
    except CalibrationError as error:
        raise BadInput(source, str(error), key="tags.dictionary") from None
