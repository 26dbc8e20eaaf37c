"""Places printed tags and boards, and renders them through a blurring lens without rasterising.

A print is a grid of black and white cells. A Gaussian blur turns each edge into an error function,
so the light at a point follows exactly from its place on the grid.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from tablecam.errors import BadInput
from tablecam.simulate.rendering.places import Place
from tablecam.simulate.rendering.rays import (
    PIXEL_CENTRE,
    PIXEL_SAMPLES,
    Array,
    Box,
    pixel_means,
    plane_map,
)
from tablecam.table.roster import BaseType, Roster, TableTag

_REACH = 4.5
"""Standard deviations at which a blurred edge ends: 3e-6 of its step remain."""
_STEPS = np.linspace(-_REACH, _REACH, 1801)
_EDGE = np.array([0.5 * (1 + math.erf(step / math.sqrt(2))) for step in _STEPS])
_PIXEL_SPREAD_PX = math.sqrt(1 / 12)
"""The standard deviation of a uniform pixel."""


@dataclass(frozen=True, slots=True, eq=False)
class Print:
    """A grid of cells on the plane `height_mm` above the table, centred at `middle_mm`.

    `right_mm` and `down_mm` (2,) are orthogonal unit vectors; `across_mm` and `along_mm` are the
    positions of the cells' edges along them, from the middle. `cells` (rows, columns) are 1 for
    white.
    """

    middle_mm: Array
    right_mm: Array
    down_mm: Array
    across_mm: Array
    along_mm: Array
    cells: Array
    height_mm: float = 0.0

    @property
    def corners_mm(self) -> Array:
        """The corners (4, 3) of the print: top left, top right, bottom right, bottom left."""
        ends = [
            self.middle_mm + self.right_mm * across + self.down_mm * along
            for across, along in (
                (self.across_mm[0], self.along_mm[0]),
                (self.across_mm[-1], self.along_mm[0]),
                (self.across_mm[-1], self.along_mm[-1]),
                (self.across_mm[0], self.along_mm[-1]),
            )
        ]
        return np.column_stack([ends, np.full(4, self.height_mm)])

    def box(self, camera: Camera, margin_px: float) -> Box:
        """Returns the box of pixels that it covers, with a margin on each side."""
        return Box.around(camera.to_image(self.corners_mm), margin_px)


def seen_print(
    camera: Camera, sheet: Print, box: Box, blur_px: float, *, is_quick: bool = False
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Returns the share of each pixel of a box that the print covers, and that its white covers.

    Both are (rows, columns), 0 to 1; `blur_px` is the standard deviation of the lens's blur.
    """
    samples = PIXEL_CENTRE if is_quick else PIXEL_SAMPLES
    # The quick way treats the pixel's square as more blur: a quarter of the work, no edge moves.
    blur_px = math.hypot(blur_px, _PIXEL_SPREAD_PX) if is_quick else blur_px
    count = len(samples)
    x_mm, y_mm = plane_map(camera, box, sheet.height_mm, samples)
    x_mm, y_mm = x_mm - sheet.middle_mm[0], y_mm - sheet.middle_mm[1]
    u = x_mm * sheet.right_mm[0] + y_mm * sheet.right_mm[1]
    v = x_mm * sheet.down_mm[0] + y_mm * sheet.down_mm[1]
    across = _cell_weights(u, sheet.across_mm, blur_px * _steepness(u, count))
    along = _cell_weights(v, sheet.along_mm, blur_px * _steepness(v, count))
    covered = across.sum(axis=-1) * along.sum(axis=-1)
    # The blur is separable, so two small products replace a 2-D convolution.
    white = ((along @ sheet.cells) * across).sum(axis=-1)
    return (
        pixel_means(covered, count).astype(np.float32),
        pixel_means(white, count).astype(np.float32),
    )


def _cell_weights(places_mm: Array, edges_mm: Array, blur_mm: float) -> Array:
    """Returns the weight of each cell at each point, (..., cells), blurred in one direction."""
    steps = np.interp((places_mm[..., None] - edges_mm) / blur_mm, _STEPS, _EDGE)
    # A cell's weight is the difference of the blurred edges on its two sides.
    return np.asarray(steps[..., :-1] - steps[..., 1:])


def _steepness(values: Array, count: int) -> float:
    """Returns the change of a coordinate per pixel, at the middle of a patch."""
    rows, columns = values.shape[0] // 2, values.shape[1] // 2
    # Each pixel has `count` samples along an axis.
    down = (values[-1, columns] - values[0, columns]) / (values.shape[0] / count - 1)
    across = (values[rows, -1] - values[rows, 0]) / (values.shape[1] / count - 1)
    return math.hypot(down, across)


_GLUE_SEED = 1741


def glued(tag: int, base_type: BaseType) -> BaseType:
    """Returns a base's type with its tag where simulated hands glued it, always the same.

    Its errors of place and turn are drawn from the type's sigmas.
    """
    right, forward, turn = np.random.default_rng([_GLUE_SEED, tag]).standard_normal(3).tolist()
    return replace(
        base_type,
        tag_right_mm=base_type.tag_right_mm + right * base_type.glue_sigma_mm,
        tag_forward_mm=base_type.tag_forward_mm + forward * base_type.glue_sigma_mm,
        tag_turn_deg=base_type.tag_turn_deg + turn * base_type.glue_sigma_deg,
    )


class TagPrints:
    """The tag patterns of one dictionary, as prints.

    Raises:
        BadInput: The roster's dictionary does not exist, or has no such tag.
    """

    def __init__(self, roster: Roster) -> None:
        name = getattr(cv2.aruco, roster.dictionary, None)
        if not isinstance(name, int):
            raise BadInput(
                roster.source,
                f"expected one of OpenCV's dictionaries, got {roster.dictionary!r}",
                key="tags.dictionary",
            )
        self._dictionary = cv2.aruco.getPredefinedDictionary(name)
        self._modules = int(self._dictionary.markerSize) + 2
        self._source = roster.source
        self._table_tag_size_mm = roster.table_tag_size_mm

    def cells(self, tag: int) -> Array:
        """Returns a tag's cells (n, n) with its black border, 1 for white, top row first."""
        count = len(self._dictionary.bytesList)
        if not 0 <= tag < count:
            raise BadInput(self._source, f"expected a tag from 0 to {count - 1}, got {tag}")
        picture = cv2.aruco.generateImageMarker(self._dictionary, tag, self._modules)
        return np.asarray(picture, dtype=np.float64) / 255

    def on_base(self, tag: int, place: Place, base_type: BaseType) -> Print:
        """Returns the tag of a base as `glued`, with a white rim of up to one cell."""
        actual = glued(tag, base_type)
        at = place.offset(actual.tag_forward_mm, actual.tag_right_mm, actual.tag_turn_deg)
        half_mm = base_type.tag_size_mm / 2
        room_mm = min(
            base_type.width_mm / 2 - abs(base_type.tag_right_mm) - half_mm,
            base_type.depth_mm / 2 - abs(base_type.tag_forward_mm) - half_mm,
        )
        rim_mm = min(max(room_mm, 0.0), base_type.tag_size_mm / self._modules)
        return self._laid(tag, at, base_type.tag_size_mm, rim_mm, base_type.tag_height_mm)

    def on_table(self, tag: TableTag, at: Place | None = None) -> Print:
        """Returns a table tag at its listed place, top row toward +y, or at the place `at`."""
        size_mm = self._table_tag_size_mm
        at = at or Place(tag.x_mm, tag.y_mm, 90.0)
        return self._laid(tag.id, at, size_mm, size_mm / self._modules, 0.0)

    def _laid(self, tag: int, at: Place, size_mm: float, rim_mm: float, height_mm: float) -> Print:
        heading_rad = math.radians(at.heading_deg)
        forward = np.array([math.cos(heading_rad), math.sin(heading_rad)])
        edges_mm = np.linspace(-size_mm / 2, size_mm / 2, self._modules + 1)
        # The rim is one more cell on each side, or as much of it as fits.
        edges_mm = np.concatenate([[edges_mm[0] - rim_mm], edges_mm, [edges_mm[-1] + rim_mm]])
        return Print(
            middle_mm=np.array([at.x_mm, at.y_mm]),
            right_mm=np.array([forward[1], -forward[0]]),
            down_mm=-forward,
            across_mm=edges_mm,
            along_mm=edges_mm,
            cells=np.pad(self.cells(tag), 1, constant_values=1.0),
            height_mm=height_mm,
        )
