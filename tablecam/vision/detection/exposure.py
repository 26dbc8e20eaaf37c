"""How well a picture is exposed: its noise, the contrast of its tags, and paper that is pure white.

What a fit leaves unexplained is no measure of noise: a lens, a figure's shadow and a camera's own
sharpening leave as much. So noise is measured where the picture shows nothing else.
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
"""The median of fewer says more of these tags than of the picture."""
_BLOCK_PX = 8
_STRIP_EVERY = 8
"""An eighth of the picture is enough."""
_FLATTEST = 0.1
_TOO_DARK_GREY, _TOO_BRIGHT_GREY = 16, 239
"""Where a picture may be cut off at black or white it shows no noise."""
_SECOND_DIFFERENCES = np.array([[1, -2, 1], [-2, 4, -2], [1, -2, 1]], dtype=np.float32) / 6
"""Blind to all that varies linearly, and of unit variance for independent pixels (J. Immerkaer,
"Fast noise variance estimation", 1996)."""
_CLIPPED_GREY = 254
_RIM = 7 / 6
"""The middle of the white rim of a tag of six cells, in half sides of its black square."""


@dataclass(frozen=True, slots=True)
class Exposure:
    """How a picture is exposed.

    `noise_grey` is the noise of its flattest parts (one standard deviation), `contrast_grey` the
    median of how much brighter the tags' paper is than their paint, `clipped_share` the share, 0
    to 1, of tags whose paper is pure white, and `misfit_share` what tags' fits leave unexplained
    as a share of their contrast (median). None where too little of the picture tells.
    """

    noise_grey: float | None = None
    contrast_grey: float | None = None
    clipped_share: float | None = None
    misfit_share: float | None = None

    @property
    def noise_share(self) -> float | None:
        """Noise as a share of the tags' contrast: what spoils a reading."""
        if self.noise_grey is None or not self.contrast_grey:
            return None
        return self.noise_grey / self.contrast_grey


UNKNOWN_EXPOSURE = Exposure()


def exposure(grey: Grey, sightings: Sequence[TagSighting]) -> Exposure:
    """How a grey picture (height, width), in which tags were seen, is exposed."""
    gains = [sighting.gain_grey for sighting in sightings if sighting.gain_grey]
    misfits = [
        sighting.noise_grey / sighting.gain_grey
        for sighting in sightings
        if sighting.gain_grey and sighting.noise_grey is not None
    ]
    enough = len(sightings) >= _FEWEST_SIGHTINGS
    return Exposure(
        noise_grey(grey),
        _median(gains),
        _clipped_share(grey, sightings) if enough else None,
        _median(misfits),
    )


def noise_grey(grey: Grey) -> float | None:
    """The noise of the flattest tenth of a picture; None where all of it is black or white.

    A camera or a codec that smooths hides noise from it, as it does from a fit.
    """
    height, width = (side // _BLOCK_PX * _BLOCK_PX for side in grey.shape)
    strips = [
        _block_noise(grey[top : top + _BLOCK_PX, :width])
        for top in range(0, height, _BLOCK_PX * _STRIP_EVERY)
    ]
    noise = np.concatenate([np.empty(0), *strips])
    return float(np.quantile(noise, _FLATTEST)) if len(noise) else None


def _median(values: Sequence[float]) -> float | None:
    return float(np.median(values)) if len(values) >= _FEWEST_SIGHTINGS else None


def _block_noise(strip: Grey) -> Array:
    """The noise of those blocks of a strip, one block high, that are neither black nor white."""
    levels = strip.astype(np.float32)
    rough = cv2.filter2D(levels, -1, _SECOND_DIFFERENCES)[1:-1]
    power = _by_block(rough * rough)
    level = _by_block(levels)
    usable = (level > _TOO_DARK_GREY) & (level < _TOO_BRIGHT_GREY)
    return np.asarray(np.sqrt(power[usable]))


def _by_block(rows: NDArray[np.float32]) -> Array:
    """The means over each block of a strip."""
    blocks = rows.mean(axis=0, dtype=np.float64).reshape(-1, _BLOCK_PX)
    return np.asarray(blocks.mean(axis=1))


def _clipped_share(grey: Grey, sightings: Sequence[TagSighting]) -> float:
    """The share of tags of whose white rim at least half is pure white."""
    corners = np.stack([sighting.corners_px for sighting in sightings])
    middles = corners.mean(axis=1, keepdims=True)
    rim = middles + _RIM * (corners - middles)
    rim = np.concatenate([rim, (rim + np.roll(rim, 1, axis=1)) / 2], axis=1)
    columns, rows = np.moveaxis(rim.round().astype(np.int64), -1, 0)
    height, width = grey.shape
    levels = grey[rows.clip(0, height - 1), columns.clip(0, width - 1)]
    return float(((levels >= _CLIPPED_GREY).mean(axis=1) >= 0.5).mean())
