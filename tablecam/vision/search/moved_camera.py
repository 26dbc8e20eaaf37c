"""What was placed by a camera as it stood, placed by the camera as it stands now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from calibration.camera import Camera
from tablecam.vision.detection.sighting import TagSighting

_AHEAD_MM = 5.0


def placed_by(
    sightings: Sequence[TagSighting], old: Camera, new: Camera
) -> tuple[TagSighting, ...]:
    """Tags in the same pixels, with the places that another camera gives these."""
    if not sightings:
        return ()
    places = np.array([[tag.x_mm, tag.y_mm, tag.height_mm] for tag in sightings])
    headings = np.radians([tag.heading_deg for tag in sightings])
    ahead = np.stack([np.cos(headings), np.sin(headings), np.zeros_like(headings)], axis=1)
    there = [
        new.to_table(old.to_image(places + side * _AHEAD_MM * ahead), places[:, 2])
        for side in (-1, 1)
    ]
    middles, ways = (there[0] + there[1]) / 2, there[1] - there[0]
    turned = np.degrees(np.arctan2(ways[:, 1], ways[:, 0])) % 360
    return tuple(
        replace(tag, x_mm=float(x_mm), y_mm=float(y_mm), heading_deg=float(heading_deg))
        for tag, (x_mm, y_mm), heading_deg in zip(sightings, middles, turned, strict=True)
    )
