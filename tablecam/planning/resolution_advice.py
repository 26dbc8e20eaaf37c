"""Tags that a camera shows too small to be read surely, and what would make them large enough."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from calibration.camera import Camera
from tablecam.planning.detection_model import Expectation
from tablecam.table.roster import Roster
from tablecam.vision.search.camera_scale import (
    TagScale,
    highest_height_mm,
    hung_at,
    largest_tag_mm,
    sees_table,
    side_cells,
    tag_scales,
)


@dataclass(frozen=True, slots=True)
class TooSmall:
    """The base tags that are too small for a camera, and each way out of it that there is.

    `px_per_cell` is that of the smallest of them. `closer_mm` is how much closer the camera must
    come, None where it would no longer see the whole table from there; `print_mm` how large to
    print them, by base type, None where that would not fit a base; `picture_width_px` how wide a
    picture from the same place would show them large enough.
    """

    tags: frozenset[int]
    px_per_cell: float
    wanted_px_per_cell: float
    closer_mm: float | None
    print_mm: Mapping[str, float] | None
    picture_width_px: int


def too_small(camera: Camera, roster: Roster, expectation: Expectation) -> TooSmall | None:
    """The tags that are too small at the table's median; None when none is. Once a camera."""
    wanted = expectation.good_px_per_cell
    scales = [
        scale
        for scale in tag_scales(camera, roster)
        if scale.tags and scale.middle_px_per_cell < wanted
    ]
    if not scales:
        return None
    least = min(scale.middle_px_per_cell for scale in scales)
    return TooSmall(
        tags=frozenset(tag for scale in scales for tag in scale.tags),
        px_per_cell=least,
        wanted_px_per_cell=wanted,
        closer_mm=_closer_mm(camera, roster, scales, wanted),
        print_mm=_print_mm(scales, wanted, side_cells(roster)),
        picture_width_px=math.ceil(camera.lens.width_px * wanted / least / 100) * 100,
    )


def large_enough_mm(scale: TagScale, wanted_px_per_cell: float) -> float:
    """The size, in whole half millimetres, that gives a type's tags so many pixels a cell."""
    exact_mm = scale.base_type.tag_size_mm * wanted_px_per_cell / scale.middle_px_per_cell
    return math.ceil(2 * exact_mm - 1e-6) / 2


def _closer_mm(
    camera: Camera, roster: Roster, scales: Sequence[TagScale], wanted: float
) -> float | None:
    """How much closer the camera must come, in whole centimetres; None where it must not."""
    height_mm = float(camera.pose.camera_centre_mm[2])
    closer_mm = 10 * math.ceil((height_mm - highest_height_mm(camera, roster, scales, wanted)) / 10)
    nearer = hung_at(camera, height_mm - closer_mm)
    return float(closer_mm) if sees_table(nearer, roster) else None


def _print_mm(scales: Sequence[TagScale], wanted: float, cells: int) -> Mapping[str, float] | None:
    sizes_mm = {scale.base_type.name: large_enough_mm(scale, wanted) for scale in scales}
    fit = all(
        sizes_mm[scale.base_type.name] <= largest_tag_mm(scale.base_type, cells) for scale in scales
    )
    return MappingProxyType(sizes_mm) if fit else None
