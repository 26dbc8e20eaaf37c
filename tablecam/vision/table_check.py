"""Whether the table tags still lie where the calibration puts them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from tablecam.table.roster import Roster
from tablecam.vision.sighting import TagSighting

MOVED_PX = 0.4
"""Calibrations that held put the table tags within 0.03 to 0.18 px (rms) in rendered and simulated
pictures; a camera tilted by 0.07 degrees, which shifts places by half a millimetre, by 0.42."""

_IN_PLACE_MM = 30.0


@dataclass(frozen=True, slots=True)
class TableCheck:
    """The table tags of one picture.

    `tags` are those seen; `rms_px` is the root mean square distance between the centre of each in
    the picture and where the calibration puts it, and `rms_mm` the same on the table; None when
    none is seen. `in_place` are those seen about where they should be, whatever has been bumped.
    """

    tags: tuple[int, ...]
    rms_px: float | None
    rms_mm: float | None
    in_place: tuple[int, ...] = ()

    @property
    def has_moved(self) -> bool:
        """Whether the camera, or a tag, has moved since the calibration."""
        return self.rms_px is not None and self.rms_px > MOVED_PX


NO_TABLE_TAGS = TableCheck((), None, None)


def check_table_tags(
    sightings: Iterable[TagSighting], camera: Camera, roster: Roster
) -> TableCheck:
    """How far the seen table tags lie beside their places."""
    listed = {tag.id: tag for tag in roster.table_tags}
    seen = [sighting for sighting in sightings if sighting.tag in listed]
    if not seen:
        return NO_TABLE_TAGS
    found_mm = np.array([[tag.x_mm, tag.y_mm, 0.0] for tag in seen])
    listed_mm = np.array([[listed[tag.tag].x_mm, listed[tag.tag].y_mm, 0.0] for tag in seen])
    beside_px = camera.to_image(found_mm) - camera.to_image(listed_mm)
    beside_mm = (found_mm - listed_mm)[:, :2]
    near = np.hypot(*beside_mm.T) < _IN_PLACE_MM
    ids = [tag.tag for tag in seen]
    in_place = tuple(tag for tag, is_near in zip(ids, near, strict=True) if is_near)
    return TableCheck(tuple(ids), _rms(beside_px), _rms(beside_mm), in_place)


def _rms(offsets: NDArray[np.float64]) -> float:
    return float(np.sqrt(np.square(offsets).sum(axis=1).mean()))
