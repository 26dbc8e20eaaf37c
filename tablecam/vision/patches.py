"""The pixels on and around tags, each with its place on the tag's plane."""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from tablecam.vision.local_map import picture_to_table
from tablecam.vision.tags import TagGuesses

Array = NDArray[np.float64]
Map = NDArray[np.float32]
Grey = NDArray[np.uint8]

_MOST_ACROSS = 48
"""A tag that is larger in the picture is read from a smaller picture: that tells as much."""
_SLACK_CELLS = 0.6
"""How far a tag may turn out to lie from where its pixels were cut."""


@dataclass(frozen=True, slots=True, eq=False)
class Patches:
    """For n tags, m pixels each: grey levels (n, m), and offsets (n, m, 2) in mm.

    The offsets are on the tag's plane, from the place about which the pixels were cut. Rows of
    fewer pixels are filled up with some that are not `real` (n, m). Each is the mean of `shrink` x
    `shrink` pixels of the picture, and covers `pixel_mm2` (n,) of the plane. `spots` (n, m) numbers
    the pixels of each square of `across` x `across` that the rows were taken from, row by row.
    """

    grey: Map
    offsets_mm: Map
    real: NDArray[np.bool_]
    shrink: int
    pixel_mm2: Array
    spots: NDArray[np.int64]
    across: int


def cut_patches(
    grey: Grey, camera: Camera, tags: TagGuesses, *, reach_mm: float, cell_mm: float
) -> Patches:
    """The pixels of squares about tags, `reach_mm` to each side, and a cell more for slack."""
    places_mm, heights_mm = tags.places_mm, tags.heights_mm
    wanted_mm = reach_mm + _SLACK_CELLS * cell_mm
    px_per_mm = float(camera.px_per_mm(places_mm, heights_mm).max())
    shrink = math.ceil(2 * reach_mm * px_per_mm / _MOST_ACROSS)
    grey = _shrunk(grey, shrink)
    centres = camera.to_image(np.column_stack([places_mm, heights_mm]))
    centres = ((centres + 0.5) / shrink - 0.5).round()
    half = math.ceil(math.sqrt(2) * wanted_mm * px_per_mm / shrink) + 1
    steps = np.arange(-half, half + 1)
    window = np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2)
    in_full_px = (centres + 0.5) * shrink - 0.5
    to_table = picture_to_table(camera, in_full_px, heights_mm, float(half * shrink))
    offsets = to_table(window.astype(np.float64) * shrink) - places_mm[:, None]
    pixels = centres[:, None].astype(np.int64) + window
    inside = ((pixels >= 0) & (pixels < [grey.shape[1], grey.shape[0]])).all(axis=2)
    inside &= _in_square(offsets, tags.headings_rad, wanted_mm)
    columns, real = _packed(inside)
    offsets = np.take_along_axis(offsets, columns[..., None], axis=1)
    pixels = np.take_along_axis(pixels, columns[..., None], axis=1)
    pixels = np.where(real[..., None], pixels, 0)
    levels = grey[pixels[..., 1], pixels[..., 0]]
    pixel_mm2 = np.abs(np.linalg.det(to_table.steps)) * shrink**2
    return Patches(
        levels.astype(np.float32),
        offsets.astype(np.float32),
        real,
        shrink,
        pixel_mm2,
        columns,
        2 * half + 1,
    )


def _shrunk(grey: Grey, shrink: int) -> Grey:
    if shrink == 1:
        return grey
    size = (grey.shape[1] // shrink, grey.shape[0] // shrink)
    whole = grey[: size[1] * shrink, : size[0] * shrink]
    return np.asarray(cv2.resize(whole, size, interpolation=cv2.INTER_AREA))


def _in_square(offsets: Array, headings_rad: Array, half_mm: float) -> NDArray[np.bool_]:
    cosine, sine = np.cos(headings_rad)[:, None], np.sin(headings_rad)[:, None]
    x, y = offsets[..., 0], offsets[..., 1]
    along, across = np.abs(x * cosine + y * sine), np.abs(y * cosine - x * sine)
    return np.asarray(np.maximum(along, across) <= half_mm)


def _packed(wanted: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Which columns are wanted in each row, moved to the left; and which of these are real."""
    counts = wanted.sum(axis=1)
    most = max(1, int(counts.max(initial=0)))
    real = np.arange(most) < counts[:, None]
    columns = np.zeros((len(wanted), most), dtype=np.int64)
    columns[real] = np.nonzero(wanted)[1]
    return columns, real
