"""The pixels on and around tags, each with its place on the tag's plane."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from tablecam.vision.local_map import picture_to_table
from tablecam.vision.tags import TagGuesses

Array = NDArray[np.float64]
Map = NDArray[np.float32]
Grey = NDArray[np.uint8]

_MOST_ACROSS = 50
"""A larger tag is read at every second pixel, or third, ...: more would tell no more."""
_SLACK_CELLS = 1.0
"""How far a tag may turn out to lie from where its pixels were cut."""


@dataclass(frozen=True, slots=True, eq=False)
class Patches:
    """For n tags, m pixels each: grey levels (n, m), and offsets (n, m, 2) in mm.

    The offsets are on the tag's plane, from the place about which the pixels were cut. Rows of
    fewer pixels are filled up with some that are not `real` (n, m).
    """

    grey: Map
    offsets_mm: Map
    real: NDArray[np.bool_]


def cut_patches(
    grey: Grey, camera: Camera, tags: TagGuesses, *, reach_mm: float, cell_mm: float
) -> Patches:
    """The pixels of squares about tags, `reach_mm` to each side, and a cell more for slack."""
    places_mm, heights_mm = tags.places_mm, tags.heights_mm
    wanted_mm = reach_mm + _SLACK_CELLS * cell_mm
    centres = camera.to_image(np.column_stack([places_mm, heights_mm])).round()
    # A tag may stand a little nearer the camera than the middle of them all.
    px_per_mm = float(camera.px_per_mm(places_mm, heights_mm).max())
    half = math.ceil(math.sqrt(2) * wanted_mm * px_per_mm) + 1
    stride = math.ceil(2 * reach_mm * px_per_mm / _MOST_ACROSS)
    steps = np.arange(-half, half + 1, stride)
    window = np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2)
    to_table = picture_to_table(camera, centres, heights_mm, float(half))
    offsets = (to_table(window.astype(np.float64)) - places_mm[:, None]).astype(np.float32)
    pixels = centres[:, None].astype(np.int64) + window
    inside = ((pixels >= 0) & (pixels < [grey.shape[1], grey.shape[0]])).all(axis=2)
    inside &= _in_square(offsets, tags.headings_rad, wanted_mm)
    columns, real = _packed(inside)
    offsets = np.take_along_axis(offsets, columns[..., None], axis=1)
    pixels = np.take_along_axis(pixels, columns[..., None], axis=1)
    pixels = np.where(real[..., None], pixels, 0)
    return Patches(grey[pixels[..., 1], pixels[..., 0]].astype(np.float32), offsets, real)


def _in_square(offsets: Map, headings_rad: Array, half_mm: float) -> NDArray[np.bool_]:
    cosine = np.cos(headings_rad).astype(np.float32)[:, None]
    sine = np.sin(headings_rad).astype(np.float32)[:, None]
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
