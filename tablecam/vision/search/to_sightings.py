"""Fitted tags as the sightings that the rest of the program is told of."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from tablecam.vision.detection.sighting import TagSighting
from tablecam.vision.fitting.dictionary import TagPatterns
from tablecam.vision.fitting.tags import TagFits


def sightings_of(camera: Camera, patterns: TagPatterns, fits: TagFits) -> tuple[TagSighting, ...]:
    """One sighting for each of the fits."""
    tags = fits.tags
    corners = _corners_px(camera, fits)
    return tuple(
        TagSighting(
            tag=int(patterns.ids[tags.pattern[row]]),
            x_mm=float(tags.places_mm[row, 0]),
            y_mm=float(tags.places_mm[row, 1]),
            heading_deg=float(np.degrees(tags.headings_rad[row]) % 360),
            height_mm=float(tags.heights_mm[row]),
            covariance=fits.covariance[row],
            corners_px=corners[row],
            gain_grey=float(fits.gain_grey[row]),
            noise_grey=float(fits.noise_grey[row]),
        )
        for row in range(len(fits))
    )


def _corners_px(camera: Camera, fits: TagFits) -> NDArray[np.float64]:
    """The corners of the black squares in the picture, (n, 4, 2), as a `TagSighting` has them."""
    tags = fits.tags
    cosine, sine = np.cos(tags.headings_rad), np.sin(tags.headings_rad)
    right = np.stack([sine, -cosine], axis=1)[:, None] * tags.sizes_mm[:, None, None] / 2
    up = np.stack([cosine, sine], axis=1)[:, None] * tags.sizes_mm[:, None, None] / 2
    sides = np.array([[-1, 1], [1, 1], [1, -1], [-1, -1]])[None, :, :, None]
    places = tags.places_mm[:, None] + sides[:, :, 0] * right + sides[:, :, 1] * up
    heights = np.broadcast_to(tags.heights_mm[:, None, None], (*places.shape[:2], 1))
    points = np.concatenate([places, heights], axis=2)
    return camera.to_image(points.reshape(-1, 3)).reshape(-1, 4, 2)
