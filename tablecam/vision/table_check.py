"""Whether the table tags still lie where the calibration puts them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from calibration.camera import Camera
from tablecam.table.roster import Roster
from tablecam.vision.sighting import TagSighting


@dataclass(frozen=True, slots=True)
class TableCheck:
    """The table tags of one picture.

    `tags` are those seen; `rms_px` is the root mean square distance between the centre of each in
    the picture and where the calibration puts it, None when none is seen.
    """

    tags: tuple[int, ...]
    rms_px: float | None


def check_table_tags(
    sightings: Iterable[TagSighting], camera: Camera, roster: Roster
) -> TableCheck:
    """How far the seen table tags lie beside their places."""
    listed = {tag.id: tag for tag in roster.table_tags}
    seen = [sighting for sighting in sightings if sighting.tag in listed]
    if not seen:
        return TableCheck((), None)
    found_mm = np.array([[tag.x_mm, tag.y_mm, 0.0] for tag in seen])
    listed_mm = np.array([[listed[tag.tag].x_mm, listed[tag.tag].y_mm, 0.0] for tag in seen])
    beside_px = camera.to_image(found_mm) - camera.to_image(listed_mm)
    rms_px = float(np.sqrt(np.square(beside_px).sum(axis=1).mean()))
    return TableCheck(tuple(tag.tag for tag in seen), rms_px)
