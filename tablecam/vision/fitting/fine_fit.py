"""The place of a tag to the last hundredth of a pixel, for tags that are known to be there.

A fit that must tell tags from what is none looks at clear black and white. From its place, more can
be made of the same pixels: what surrounds the rim and shines into it, what the sensor's colour
filter does to each pixel, and that neighbouring pixels err together. On simulated tables of 2 and
2.3 px a cell that takes the median error from 0.038 to 0.029 and from 0.034 to 0.026 px.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from tablecam.vision.fitting.covariance import grown_where_hidden, place_covariances
from tablecam.vision.fitting.dictionary import TagPatterns
from tablecam.vision.fitting.gauss_newton import expected, light_and_blur_held, moved, solved
from tablecam.vision.fitting.neighbours import beside, told_apart
from tablecam.vision.fitting.patches import Patches
from tablecam.vision.fitting.rendered import drawn_tags
from tablecam.vision.fitting.robust import LEAST_GAIN_GREY, believed
from tablecam.vision.fitting.tag_model import GAIN, PLACE, TagColumns, TagModel, TagPoses
from tablecam.vision.fitting.tags import TagFits

_ALONG_ROWS = np.array([[0, 0, 0], [1, -2, 1], [0, 0, 0]], np.float32)
_CROSSWISE = np.array([[1, 0, 1], [0, -4, 0], [1, 0, 1]], np.float32)
_BLURS = (_ALONG_ROWS, _ALONG_ROWS.T, _CROSSWISE)
"""What is added of them blurs. All are symmetrical, so that no tag is moved by what is measured."""
_PLACES = 4
"""Pixels of one square of the filter: each guesses in its own way."""
_USUAL = 0.1
"""How much of each is added, one standard deviation: up to 0.25 was measured, 0.1 as a rule."""
_WHITE = 1.0
_NOTHING = 1e-9
"""Keeps what is solved for determined where nothing is left to be explained."""


def mosaic_trace(
    columns: TagColumns, shares: Map, residuals: Map, weights: Map, patches: Patches
) -> Map:
    """By how many grey levels tags differ from their prediction as the filter lets expect, (n, m).

    The `residuals` (n, m) of a prediction without it tell how much, by their `weights`. Nothing
    where pixels were averaged.
    """
    trace = np.zeros_like(residuals)
    if patches.shrink > 1:
        return trace
    gain = np.maximum(shares[:, GAIN], LEAST_GAIN_GREY)
    drawn = columns.values[None, :, GAIN]
    by_blur = gain[:, None] * np.concatenate(
        [beside(drawn, patches, blur, fill=_WHITE) for blur in _BLURS]
    )
    place = _place_in_filter(patches)
    for each in range(_PLACES):
        mine = place == each
        trace += mine * np.tensordot(_added(by_blur, weights * mine, residuals), by_blur, 1)
    return trace


def _added(by_blur: Map, weights: Map, residuals: Map) -> Map:
    """How much of each blur (3, n, m) explains the residuals best, (3,)."""
    told = (weights * by_blur).reshape(len(by_blur), -1)
    normal = (told @ by_blur.reshape(len(by_blur), -1).T).astype(np.float64)
    right = (told @ residuals.ravel()).astype(np.float64)
    total = max(float(weights.sum()), 1.0)
    noise = float((weights * residuals**2).sum()) / total
    normal += (noise / _USUAL**2 + _NOTHING) * np.eye(len(by_blur))
    return np.linalg.solve(normal, right).astype(np.float32)


def _place_in_filter(patches: Patches) -> NDArray[np.int64]:
    """Which pixel of a square of the filter each is, (n, m)."""
    down, right = np.divmod(patches.spots, patches.across)
    column, row = patches.corners_px.T[..., None]
    return np.asarray((row + down) % 2 * 2 + (column + right) % 2)


Array = NDArray[np.float64]
Map = NDArray[np.float32]
Grey = NDArray[np.uint8]

_STEPS = 2
_RIM_CELLS = 0.95
"""How much of the white rim is compared: all but where it may be cut, as the light and what shines
in are fitted. With 0.85 the median error is 2 % larger at 2 and 2.3 px a cell, with 0.7 7 %."""
_FURTHEST = 7.0
"""Standard deviations beyond which pixels have no weight. So near to the place, most of what is
left are the model's own errors, not outliers: with 4.7 the median error is a tenth larger."""
_LIGHT_CHANGES = 0.1
"""Over half of a tag, as a share: shadows' edges do this, under lamps, and what lies over a tag is
known by now."""
_SLACK_CELLS = 0.2
_LARGEST_PX = 5.0
"""A cell; where they are larger there is nothing to gain: at 6 px 0.018 px before, 0.019 after."""
_TELLS = 0.8
"""The least likeness of a tag of which others may learn."""


def placed_finely(grey: Grey, camera: Camera, patterns: TagPatterns, fits: TagFits) -> TagFits:
    """The fits moved by the little that they were off; how they look stays as it was."""
    sizes_mm = fits.tags.sizes_mm
    rows = [np.flatnonzero(sizes_mm == size_mm) for size_mm in np.unique(sizes_mm)]
    placed = [_placed(grey, camera, patterns, fits[group]) for group in rows]
    order = np.argsort(np.concatenate([np.empty(0, np.int64), *rows]))
    return TagFits.joined(placed)[order]


def _placed(grey: Grey, camera: Camera, patterns: TagPatterns, fits: TagFits) -> TagFits:
    """Tags of one size."""
    cell_mm = fits.tags.sizes_mm[0] / patterns.side_cells
    px_per_mm = camera.px_per_mm(fits.tags.places_mm, fits.tags.heights_mm)
    if np.median(px_per_mm) * cell_mm > _LARGEST_PX:
        return fits
    drawn = drawn_tags(
        grey,
        camera,
        patterns,
        fits.tags,
        np.full(len(fits), np.median(fits.blur_px)),
        rim_cells=_RIM_CELLS,
        slack_cells=_SLACK_CELLS,
        with_ground=True,
    )
    model, tells = drawn.model, fits.likeness > _TELLS
    poses, covariance = _fitted(model, model.start(fits.tags), drawn.px_per_cell, tells)
    tags = replace(
        fits.tags,
        places_mm=fits.tags.places_mm + poses.moved_cells.astype(np.float64) * model.cell_mm,
        headings_rad=poses.headings_rad.astype(np.float64),
    )
    units = np.array([model.cell_mm, model.cell_mm, 1.0])
    covariance = grown_where_hidden(covariance, fits.visible_share) * units[:, None] * units
    return replace(fits, tags=tags, covariance=covariance)


def _fitted(
    model: TagModel, poses: TagPoses, px_per_cell: Array, tells: NDArray[np.bool_]
) -> tuple[TagPoses, Array]:
    """The poses, and their covariances (n, 3, 3) in cells and radians."""
    patches = model.patches
    grey, trace = patches.grey, np.zeros_like(patches.grey)
    columns = model.columns(poses)
    on_tag = columns.values * columns.on_tag[:, None]
    shares = solved(columns, on_tag, grey, light_and_blur_held(columns))
    for step in range(_STEPS):
        if step > 0:
            columns = model.columns(poses)
            shares[:, PLACE] = 0
        left = believed(columns, shares, grey - trace, px_per_cell, furthest=_FURTHEST)
        telling = left.weights * tells[:, None]
        trace = mosaic_trace(columns, shares, left.residuals + trace, telling, patches)
        told = _told(columns, left.weights, patches)
        prior = expected(shares, left, light_changes=_LIGHT_CHANGES)
        shares = solved(columns, told, grey - trace, prior)
        poses = moved(poses, shares, left.firmness)
    residuals = grey - trace - (shares[:, None] @ columns.values)[:, 0]
    left = replace(left, residuals=residuals)
    return poses, place_covariances(columns, told, left, shares, prior, patches, tells)


def _told(columns: TagColumns, weights: Map, patches: Patches) -> Map:
    """The columns times what pixels tell, (n, k, m): of light each for itself, which is enough."""
    told = columns.values * weights[:, None]
    told[:, PLACE] = told_apart(columns.values[:, PLACE], weights, patches)
    return told
