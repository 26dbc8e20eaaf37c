"""Cuts out the pixels on and around tags, each with its offset on the tag's plane."""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from tablecam.vision.fitting.local_map import picture_to_table
from tablecam.vision.fitting.tags import TagGuesses

Array = NDArray[np.float64]
Map = NDArray[np.float32]
Grey = NDArray[np.uint8]

_MOST_ACROSS = 48
"""Larger tags are cut from a reduced picture. Tags of 60 mm in the shared footage are then off by
0.021 to 0.029 mm (rms), and by 0.032 to 0.062 when cut up to 96 px across, as the renderer's own
edges begin to show."""


@dataclass(frozen=True, slots=True, eq=False)
class Patches:
    """The pixels of n tags, m each: grey levels (n, m), and offsets (2, n, m) in mm.

    Offsets are on the tag's plane, from the centre of the cut. Rows with fewer pixels are padded;
    padding is not `real` (n, m). Each pixel is the mean of `shrink` x `shrink` pixels of the
    picture and covers `pixel_mm2` (n,) of the plane. `spots` (n, m) are the pixels' indices, row by
    row, in the square of `across` x `across` pixels that a tag was cut from; `corners_px` (n, 2)
    are the column and row of each square's first pixel.
    """

    grey: Map
    offsets_mm: Map
    real: NDArray[np.bool_]
    shrink: int
    pixel_mm2: Array
    spots: NDArray[np.int64]
    across: int
    corners_px: NDArray[np.int64]


def cut_patches(
    grey: Grey, camera: Camera, tags: TagGuesses, *, reach_mm: float, slack_mm: float
) -> Patches:
    """Cuts squares around tags: `reach_mm` to each side, plus `slack_mm`."""
    places_mm, heights_mm = tags.places_mm, tags.heights_mm
    half_mm = reach_mm + slack_mm
    centres, by_place = camera.to_image_with_jacobian(np.column_stack([places_mm, heights_mm]))
    px_per_mm = math.sqrt(np.abs(np.linalg.det(by_place[..., :2])).max())
    # The largest tag of a size in the picture sets the reduction for all of that size.
    shrink = math.ceil(2 * reach_mm * px_per_mm / _MOST_ACROSS)
    # Pixel centres are integers, so shift by half a pixel around the scaling.
    centres = ((centres + 0.5) / shrink - 0.5).round()
    # A square turned by 45 degrees reaches sqrt(2) times as far.
    half = math.ceil(math.sqrt(2) * half_mm * px_per_mm / shrink) + 1
    grey = _shrunk(grey, shrink, centres.astype(np.int64), half)
    steps = np.arange(-half, half + 1)
    window = np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2)
    in_full_px = (centres + 0.5) * shrink - 0.5
    to_table = picture_to_table(camera, in_full_px, heights_mm, float(half * shrink))
    x_mm, y_mm = to_table.about(places_mm).over(window.astype(np.float64) * shrink)
    # The upright windows fit a tag at any heading, so their corners may be off the tag.
    inside = _in_square(x_mm, y_mm, tags.headings_rad, half_mm)
    inside &= _in_picture(centres, window, grey)
    real, tag, spot = _packed(inside)
    # Flat indices: masks of two axes take twice as long.
    packed, cut = np.flatnonzero(real), np.flatnonzero(inside)
    offsets = np.zeros((2, *real.shape), np.float32)
    for offset, values_mm in zip(offsets, (x_mm, y_mm), strict=True):
        offset.ravel()[packed] = values_mm.ravel()[cut]
    # Index into the flattened picture: one lookup for all tags.
    across = grey.shape[1]
    centre = centres.astype(np.int64) @ [1, across]
    levels, spots = np.zeros(real.shape, np.float32), np.zeros(real.shape, np.int64)
    levels.ravel()[packed] = grey.ravel()[centre[tag] + (window @ [1, across])[spot]]
    spots.ravel()[packed] = spot
    pixel_mm2 = np.abs(np.linalg.det(to_table.steps)) * shrink**2
    corners_px = centres.astype(np.int64) - half
    return Patches(levels, offsets, real, shrink, pixel_mm2, spots, len(steps), corners_px)


def _shrunk(grey: Grey, shrink: int, centres: NDArray[np.int64], half: int) -> Grey:
    """Reduces the picture by `shrink`, only `half` pixels around each centre (n, 2).

    The rest stays black: four table tags cover 1 % of a 4K picture, and reducing all of it took 4
    ms.
    """
    if shrink == 1:
        return grey
    across, down = grey.shape[1] // shrink, grey.shape[0] // shrink
    smaller = np.zeros((down, across), np.uint8)
    low = (centres - half).clip(0, [across, down]).tolist()
    high = (centres + half + 1).clip(0, [across, down]).tolist()
    for (left, top), (right, bottom) in zip(low, high, strict=True):
        if left < right and top < bottom:
            window = grey[top * shrink : bottom * shrink, left * shrink : right * shrink]
            size = (right - left, bottom - top)
            small = cv2.resize(window, size, interpolation=cv2.INTER_AREA)
            smaller[top:bottom, left:right] = small
    return smaller


def _in_square(x_mm: Map, y_mm: Map, headings_rad: Array, half_mm: float) -> NDArray[np.bool_]:
    """Returns which offsets (n, w) from tags' centres lie in their squares, (n, w)."""
    headings = headings_rad.astype(np.float32)[:, None]
    cosine, sine = np.cos(headings), np.sin(headings)
    along, across = x_mm * cosine + y_mm * sine, x_mm * sine - y_mm * cosine
    return np.asarray(np.maximum(np.abs(along), np.abs(across)) <= np.float32(half_mm))


def _in_picture(centres_px: Array, window: NDArray[np.int64], grey: Grey) -> NDArray[np.bool_]:
    """Returns which pixels of the window around each centre are in the picture, (n, w)."""
    is_inside = np.ones((len(centres_px), len(window)), dtype=np.bool_)
    size = np.array(grey.shape[::-1])
    first, last = centres_px + window.min(axis=0), centres_px + window.max(axis=0)
    # Most windows lie inside as a whole and need no test per pixel.
    for row in np.flatnonzero(((first < 0) | (last >= size)).any(axis=1)):
        pixels = centres_px[row] + window
        is_inside[row] = ((pixels >= 0) & (pixels < size)).all(axis=1)
    return is_inside


def _packed(
    mask: NDArray[np.bool_],
) -> tuple[NDArray[np.bool_], NDArray[np.int64], NDArray[np.int64]]:
    """Packs a mask (n, w): the filled places (n, m), and their rows and columns, in order."""
    counts = mask.sum(axis=1)
    row, column = np.nonzero(mask)
    # Each row is filled from the left; the rest of it is padding.
    return np.arange(max(1, int(counts.max(initial=0)))) < counts[:, None], row, column
