"""How uncertain fitted places are, from what the fit leaves unexplained.

Three things make errors larger than those of a fit to independent pixels of known noise, and each
is measured in the very picture: pixels are not alike (an M-estimator's "sandwich" over
pixels), robust weights give up some of what pixels tell (the sandwich's bread is of how firmly
pixels pull, not of their weights), and neighbouring pixels err together (demosaicing, sharpening,
JPEG, a lens that is not the model's): how much larger that makes errors is told by all tags of a
picture together, as no single tag has pixels enough.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from tablecam.vision.fitting.patches import Patches
from tablecam.vision.fitting.robust import Believed
from tablecam.vision.fitting.tag_model import PLACE, TagColumns

Array = NDArray[np.float64]
Map = NDArray[np.float32]

_REACH_PX = 2
"""How far pixels err together: on the shared footage, what tags' pixels leave (with the true place)
is correlated by 0.4, 0.1 and less over 1, 2 and more pixels (4K), by 0.1, 0.15, less (1080p)."""
_LEAST_TOGETHER, _MOST_TOGETHER = 0.8, 8.0
_USUAL_TOGETHER = 2.5
"""What pixels of one tag's size that err together add to variances: 2.2 to 4.0 in the shared
footage, 0.9 to 1.2 where noise is independent. Counts as much as two tags of the picture."""
_USUAL_COUNTS = 2.0
_MOST_TAGS = 50
_WHOLE, _HIDDEN_PULLS = 0.98, 2.5
"""From which `visible_share` on a tag is whole; and by how much a standard deviation grows with the
share that is not. What lies over a tag pulls at the rest, by half of a sigma where a fifth is
hidden: measured on 300 tags of the shared footage and of simulated tables, 30 to 95 % visible."""


def place_covariances(
    columns: TagColumns,
    told: Map,
    left: Believed,
    shares: Map,
    prior: Array,
    patches: Patches,
    is_tag: NDArray[np.bool_],
) -> Array:
    """Of (x, y, heading) in cells and radians of each tag, (n, 3, 3).

    `told` (n, k, m) are the columns times what their pixels tell; `shares` and `prior` (n, k) are
    those that the fit ended with. `is_tag` (n,) says which fits
    may tell how pixels of this picture err together.
    """
    pulls = _pulls(columns, told, left, shares, prior)
    together = np.sqrt(_together(pulls, patches, is_tag))
    alone = (pulls @ pulls.transpose(0, 2, 1)).astype(np.float64)
    return np.asarray(alone * together[:, None] * together)


def grown_where_hidden(covariance: Array, visible_share: Array) -> Array:
    """Covariances (n, 3, 3) of tags of which so much is seen, (n,)."""
    hidden = 1 + _HIDDEN_PULLS * np.maximum(_WHOLE - visible_share, 0)
    return np.asarray(covariance * np.square(hidden)[:, None, None])


def _pulls(columns: TagColumns, told: Map, left: Believed, shares: Map, prior: Array) -> Map:
    """How far each pixel's residual has moved the place, (n, 3, m)."""
    normal = (told @ columns.values.transpose(0, 2, 1)).astype(np.float64)
    inverse = np.linalg.inv(normal + prior[:, :, None] * np.eye(prior.shape[1]))
    gain = np.where(np.abs(shares[:, :1]) > 1e-3, shares[:, :1], 1e-3)
    scale = gain * left.firmness[:, None]
    by_pixel = (inverse[:, PLACE] / scale[..., None]).astype(np.float32) @ told
    return np.asarray(by_pixel * left.residuals[:, None], dtype=np.float32)


def _together(pulls: Map, patches: Patches, is_tag: NDArray[np.bool_]) -> Array:
    """By how much variances grow as neighbouring pixels err together: of x, y, heading, (3,)."""
    mine = np.flatnonzero(is_tag)[:_MOST_TAGS]
    grown = np.full(3, _USUAL_COUNTS * _USUAL_TOGETHER)
    if len(mine):
        grown += _grown(_laid_out(pulls[mine], patches.spots[mine], patches.across)).sum(axis=1)
    mean = grown / (_USUAL_COUNTS + len(mine))
    mean[:2] = mean[:2].mean()
    return mean.clip(_LEAST_TOGETHER, _MOST_TOGETHER)


def _laid_out(pulls: Map, spots: NDArray[np.int64], across: int) -> Map:
    """The pulls where their pixels are in squares, (3, n, across, across)."""
    count, kinds, _ = pulls.shape
    squares = np.zeros((kinds, count * across * across), np.float32)
    # Pixels that fill up rows have spot 0, a corner that is no pixel's, and pull nothing.
    where = (spots + across * across * np.arange(count)[:, None]).ravel()
    squares[:, where] = pulls.transpose(1, 0, 2).reshape(kinds, -1)
    return squares.reshape(kinds, count, across, across)


def _grown(squares: Map) -> Array:
    """The variance of each tag's pulls with their neighbours', over that without, (3, n)."""
    window = 2 * _REACH_PX + 1
    # One tall picture: no pixel of a square's outermost rows is a tag's.
    tall = squares.reshape(-1, squares.shape[-1])
    sums = np.asarray(
        cv2.boxFilter(
            tall, cv2.CV_32F, (window, window), normalize=False, borderType=cv2.BORDER_CONSTANT
        )
    ).reshape(squares.shape)
    alone = np.maximum(np.einsum("knij,knij->kn", squares, squares), 1e-20)
    together = np.einsum("knij,knij->kn", squares, sums)
    # A fit's pulls add up to nothing, so neighbours seem to pull the other way a little.
    pixels = np.square(np.abs(squares).sum(axis=(2, 3))) / alone
    hidden = 1 - np.minimum(window**2 / np.maximum(pixels, 1), 0.5)
    return np.asarray(together / alone / hidden, dtype=np.float64)
