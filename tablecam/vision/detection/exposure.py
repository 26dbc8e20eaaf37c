"""Measures a picture's exposure: its noise, its tags' contrast, clipped paper and sharpening.

A fit's residuals do not measure noise: a lens, a figure's shadow and the camera's sharpening leave
residuals as large. So noise is measured in flat parts of the picture.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from tablecam.vision.detection.sighting import TagSighting

Array = NDArray[np.float64]
Grey = NDArray[np.uint8]

_FEWEST_SIGHTINGS = 5
"""With fewer, the median describes these tags more than the picture."""
_BLOCK_PX = 8
_STRIP_EVERY = 8
"""Every eighth strip is read; an eighth of the picture is enough."""
_FLATTEST = 0.1
_TOO_DARK_GREY, _TOO_BRIGHT_GREY = 16, 239
"""Blocks outside these levels may be clipped at black or white, which hides noise."""
_SECOND_DIFFERENCES = np.array([[1, -2, 1], [-2, 4, -2], [1, -2, 1]], dtype=np.float32) / 6
"""A kernel that gives 0 on any linear slope, and unit variance on independent pixels (J.
Immerkaer, "Fast noise variance estimation", 1996)."""
_CLIPPED_GREY = 254
_RIM = 7 / 6
"""Middle of the white rim of a six-cell tag, in half sides of its black square."""
_FEWEST_LARGE, _LEAST_REACH_PX, _MOST_REACH_PX = 3, 3.0, 6.0
"""A halo is a pixel or two wide: only cells a few pixels wide, as table tags have, show paper and
paint beyond it."""
_ALONG = np.linspace(0.15, 0.85, 16)


@dataclass(frozen=True, slots=True)
class Exposure:
    """The exposure of one picture.

    `noise_grey` is the standard deviation of its flattest parts, `contrast_grey` the median of
    paper minus paint on its tags, `clipped_share` the share of tags, 0 to 1, whose paper is clipped
    to white, and `misfit_share` the median residual of the tags' fits as a share of their contrast.
    `halo_share` is how far the levels beside large tags' edges overshoot paper and paint, also as
    a share of their contrast: edges that the camera sharpened have a halo, blurred edges do not.
    A value is None if too little of the picture shows it.
    """

    noise_grey: float | None = None
    contrast_grey: float | None = None
    clipped_share: float | None = None
    misfit_share: float | None = None
    halo_share: float | None = None

    @property
    def noise_share(self) -> float | None:
        """The noise as a share of the tags' contrast: it limits what can be read."""
        if self.noise_grey is None or not self.contrast_grey:
            return None
        return self.noise_grey / self.contrast_grey


UNKNOWN_EXPOSURE = Exposure()


def exposure(grey: Grey, sightings: Sequence[TagSighting]) -> Exposure:
    """Measures the exposure of a grey picture (height, width) in which these tags were seen."""
    gains = [sighting.gain_grey for sighting in sightings if sighting.gain_grey]
    misfits = [
        sighting.noise_grey / sighting.gain_grey
        for sighting in sightings
        if sighting.gain_grey and sighting.noise_grey is not None
    ]
    has_enough = len(sightings) >= _FEWEST_SIGHTINGS
    return Exposure(
        noise_grey(grey),
        _median(gains),
        _clipped_share(grey, sightings) if has_enough else None,
        _median(misfits),
        halo_share(grey, [sighting.corners_px for sighting in sightings]),
    )


def noise_grey(grey: Grey) -> float | None:
    """Returns the noise of the flattest tenth of a picture, or None if all of it is black or white.

    A camera or codec that smooths the picture hides noise from this measure, as it does from a fit.
    """
    height, width = (side // _BLOCK_PX * _BLOCK_PX for side in grey.shape)
    # Every `_STRIP_EVERY`-th strip of blocks samples the whole picture.
    strips = [
        _block_noise(grey[top : top + _BLOCK_PX, :width])
        for top in range(0, height, _BLOCK_PX * _STRIP_EVERY)
    ]
    noise = np.concatenate([np.empty(0), *strips])
    return float(np.quantile(noise, _FLATTEST)) if len(noise) else None


def halo_share(grey: Grey, corners_px: Sequence[Array]) -> float | None:
    """Returns the median halo of tags with these corners (4, 2), or None if too few are large.

    The larger halo of black and white counts, because the other may be clipped.
    """
    halos = [halo for corners in corners_px if (halo := _halo(grey, corners)) is not None]
    return float(np.median(halos)) if len(halos) >= _FEWEST_LARGE else None


def _halo(grey: Grey, corners_px: Array) -> float | None:
    """Returns the overshoot across the edges of one black square, None if it is too small."""
    sides = np.roll(corners_px, -1, axis=0) - corners_px
    lengths = np.linalg.norm(sides, axis=1)
    # Half a cell of a tag of six cells, and still inside a cell of one of ten.
    reach = min(float(lengths.min()) / 12, _MOST_REACH_PX)
    if reach < _LEAST_REACH_PX:
        return None
    steps = np.linspace(-reach, reach, 33)
    outward = np.stack([sides[:, 1], -sides[:, 0]], axis=1) / lengths[:, None]
    on_edge = corners_px[:, None] + sides[:, None] * _ALONG[:, None]
    points = on_edge[:, :, None] + outward[:, None, None] * steps[:, None]
    across, down = points.astype(np.float32).reshape(4, -1, 2).transpose(2, 0, 1)
    seen = cv2.remap(grey, across, down, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    # Opposite sides together cancel slopes of the light; medians ignore occluded parts of an edge.
    profile = np.median(seen.reshape(4, len(_ALONG), -1), axis=1).mean(axis=0)
    black, white = profile[:4].mean(), profile[-4:].mean()
    return float(max(profile.max() - white, black - profile.min()) / max(white - black, 1.0))


def _median(values: Sequence[float]) -> float | None:
    """Returns the median, or None for too few values."""
    return float(np.median(values)) if len(values) >= _FEWEST_SIGHTINGS else None


def _block_noise(strip: Grey) -> Array:
    """Returns the noise of each block of a strip that is neither near black nor near white."""
    levels = strip.astype(np.float32)
    # The outermost rows would need pixels beyond the strip.
    differences = cv2.filter2D(levels, -1, _SECOND_DIFFERENCES)[1:-1]
    power = _by_block(differences * differences)
    level = _by_block(levels)
    # Clipped pixels show no noise.
    usable = (level > _TOO_DARK_GREY) & (level < _TOO_BRIGHT_GREY)
    return np.asarray(np.sqrt(power[usable]))


def _by_block(rows: NDArray[np.float32]) -> Array:
    """Returns the mean of each block of a strip."""
    blocks = rows.mean(axis=0, dtype=np.float64).reshape(-1, _BLOCK_PX)
    return np.asarray(blocks.mean(axis=1))


def _clipped_share(grey: Grey, sightings: Sequence[TagSighting]) -> float:
    """Returns the share of tags with at least half of the white rim clipped to white."""
    corners = np.stack([sighting.corners_px for sighting in sightings])
    middles = corners.mean(axis=1, keepdims=True)
    rim = middles + _RIM * (corners - middles)
    # The corners of the rim and the middles of its sides.
    rim = np.concatenate([rim, (rim + np.roll(rim, 1, axis=1)) / 2], axis=1)
    # Out-of-picture points take the nearest pixel.
    columns, rows = np.moveaxis(rim.round().astype(np.int64), -1, 0)
    height, width = grey.shape
    levels = grey[rows.clip(0, height - 1), columns.clip(0, width - 1)]
    return float(((levels >= _CLIPPED_GREY).mean(axis=1) >= 0.5).mean())
