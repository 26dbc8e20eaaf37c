"""Finds the tags that are too small in a camera's picture, and ways to make them large enough."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from calibration.camera import Camera
from tablecam.planning.detection_model import DetectionModel
from tablecam.table.roster import Roster
from tablecam.vision.search.camera_scale import (
    TagScale,
    at_height,
    highest_height_mm,
    largest_tag_mm,
    sees_table,
    side_cells,
    tag_scales,
)


@dataclass(frozen=True, slots=True)
class ResolutionAdvice:
    """The base tags that are too small in the picture, and the available remedies.

    `px_per_cell` is that of the smallest. `closer_mm` is how much closer the camera must come, None
    if it would no longer see the whole table; `print_mm` is the size to print, by base type, None
    if that would not fit a base; `picture_width_px` is the picture width that would suffice from
    the same place.
    """

    tags: frozenset[int]
    px_per_cell: float
    required_px_per_cell: float
    closer_mm: float | None
    print_mm: Mapping[str, float] | None
    picture_width_px: int


def resolution_advice(
    camera: Camera, roster: Roster, model: DetectionModel
) -> ResolutionAdvice | None:
    """Returns the tags too small at the table's median scale; None if there are none."""
    required = model.good_px_per_cell
    scales = [
        scale
        for scale in tag_scales(camera, roster)
        # Base types without tags have nothing to enlarge.
        if scale.tags and scale.median_px_per_cell < required
    ]
    if not scales:
        return None
    least = min(scale.median_px_per_cell for scale in scales)
    return ResolutionAdvice(
        tags=frozenset(tag for scale in scales for tag in scale.tags),
        px_per_cell=least,
        required_px_per_cell=required,
        closer_mm=_closer_mm(camera, roster, scales, required),
        print_mm=_print_mm(scales, required, side_cells(roster)),
        picture_width_px=math.ceil(camera.lens.width_px * required / least / 100) * 100,
    )


def large_enough_mm(scale: TagScale, wanted_px_per_cell: float) -> float:
    """Returns the size, in whole half millimetres, that gives tags enough pixels per cell."""
    exact_mm = scale.base_type.tag_size_mm * wanted_px_per_cell / scale.median_px_per_cell
    # The tolerance keeps rounding errors from adding half a millimetre.
    return math.ceil(2 * exact_mm - 1e-6) / 2


def _closer_mm(
    camera: Camera, roster: Roster, scales: Sequence[TagScale], required: float
) -> float | None:
    """Returns how much closer the camera must come, in whole centimetres; None if it cannot."""
    height_mm = float(camera.pose.camera_centre_mm[2])
    # Rounded up, so that the sentence's number is enough.
    closer_mm = 10 * math.ceil(
        (height_mm - highest_height_mm(camera, roster, scales, required)) / 10
    )
    # A closer camera shows less of the table: it must still see all of it.
    lowered = at_height(camera, height_mm - closer_mm)
    return float(closer_mm) if sees_table(lowered, roster) else None


def _print_mm(
    scales: Sequence[TagScale], required: float, cells: int
) -> Mapping[str, float] | None:
    """Returns the sizes to print, by base type; None if one does not fit its base."""
    sizes_mm = {scale.base_type.name: large_enough_mm(scale, required) for scale in scales}
    # Printing larger helps only if every small tag can be enlarged.
    all_fit = all(
        sizes_mm[scale.base_type.name] <= largest_tag_mm(scale.base_type, cells) for scale in scales
    )
    return MappingProxyType(sizes_mm) if all_fit else None
