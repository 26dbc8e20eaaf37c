"""Estimates the covariance of fitted poses from the fit's residuals.

Three effects make errors larger than independent pixels of known noise would. All are measured in
the picture itself:

- Noise differs from pixel to pixel: an M-estimator's "sandwich" covariance over the pixels.
- Robust weights discard information: the sandwich's bread uses the true curvature of the cost.
- Neighbouring pixels have correlated errors (demosaicing, sharpening, JPEG, lens model). All tags
  of a picture together give one factor, because a single tag has too few pixels.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from tablecam.vision.fitting.patches import Patches
from tablecam.vision.fitting.robust import RobustWeights
from tablecam.vision.fitting.tag_model import POSE, TagColumns

Array = NDArray[np.float64]
Map = NDArray[np.float32]

_REACH_PX = 2
"""Reach of the residuals' correlation: on the shared footage, with the true pose, it is 0.4, 0.1
and less over 1, 2 and more pixels (4K), and 0.1, 0.15 and less (1080p)."""
_LEAST_INFLATION, _MOST_INFLATION = 0.8, 8.0
_USUAL_INFLATION = 2.5
"""Prior of the variance's inflation by correlated pixels: 2.2 to 4.0 on the shared footage, 0.9 to
1.2 with independent noise. It counts as much as two tags of the picture."""
_USUAL_INFLATION_TAGS = 2.0
_MOST_TAGS = 50
_UNOCCLUDED_SHARE, _SIGMA_BY_HIDDEN_SHARE = 0.98, 2.5
"""The `visible_share` above which a tag is unoccluded, and how fast sigma grows with the share that
is hidden. An occluder biases the pose by half a sigma where it hides a fifth: measured on 300 tags
of the shared footage and of simulated tables, 30 to 95 % visible."""


def pose_covariances(
    columns: TagColumns,
    weighted: Map,
    robust: RobustWeights,
    coefficients: Map,
    prior: Array,
    patches: Patches,
    is_tag: NDArray[np.bool_],
) -> Array:
    """Returns each tag's covariance of (x, y, heading) in cells and radians, (n, 3, 3).

    `weighted` (n, k, m) are the columns times their pixels' weights; `coefficients` and `prior`
    (n, k) are those of the fit's last step. Only fits that `is_tag` (n,) marks help to estimate
    the correlation of the picture's pixels.
    """
    influences = _influences(columns, weighted, robust, coefficients, prior)
    correlated = np.sqrt(_correlation_inflation(influences, patches, is_tag))
    independent = (influences @ influences.transpose(0, 2, 1)).astype(np.float64)
    return np.asarray(independent * correlated[:, None] * correlated)


def inflated_by_occlusion(
    covariance: Array, visible_share: Array, glare: NDArray[np.bool_]
) -> Array:
    """Returns the covariances (n, 3, 3) inflated for tags with this `visible_share` (n,).

    Pixels under `glare` (n, spots) do not count as hidden: the fit leaves them out, so they bias
    nothing, and the covariances already count them as missing.
    """
    seen_share = visible_share + glare.mean(axis=1)
    inflation = 1 + _SIGMA_BY_HIDDEN_SHARE * np.maximum(_UNOCCLUDED_SHARE - seen_share, 0)
    return np.asarray(covariance * np.square(inflation)[:, None, None])


def _influences(
    columns: TagColumns, weighted: Map, robust: RobustWeights, coefficients: Map, prior: Array
) -> Map:
    """Returns how far each pixel's residual moved the pose, (n, 3, m)."""
    normal = (weighted @ columns.values.transpose(0, 2, 1)).astype(np.float64)
    inverse = np.linalg.inv(normal + prior[:, :, None] * np.eye(prior.shape[1]))
    # The pose columns are those of a tag with gain 1, so their coefficients are gain times the
    # step.
    gain = np.where(np.abs(coefficients[:, :1]) > 1e-3, coefficients[:, :1], 1e-3)
    scale = gain * robust.curvature_ratio[:, None]
    # The Hessian is smaller than the weights suggest where a step takes weight from pixels.
    by_pixel = (inverse[:, POSE] / scale[..., None]).astype(np.float32) @ weighted
    return np.asarray(by_pixel * robust.residuals[:, None], dtype=np.float32)


def _correlation_inflation(influences: Map, patches: Patches, is_tag: NDArray[np.bool_]) -> Array:
    """Returns the variance's inflation by correlated pixels, of x, y and heading, (3,)."""
    tags = np.flatnonzero(is_tag)[:_MOST_TAGS]
    # The usual inflation counts as if measured on a few more tags.
    total = np.full(3, _USUAL_INFLATION_TAGS * _USUAL_INFLATION)
    if len(tags):
        squares = _as_squares(influences[tags], patches.spots[tags], patches.across)
        total += _variance_ratios(squares).sum(axis=1)
    mean = total / (_USUAL_INFLATION_TAGS + len(tags))
    # x and y have the same physics: averaging them halves the noise of the estimate.
    mean[:2] = mean[:2].mean()
    return mean.clip(_LEAST_INFLATION, _MOST_INFLATION)


def _as_squares(influences: Map, spots: NDArray[np.int64], across: int) -> Map:
    """Lays the influences out as the squares they were cut from, (3, n, across, across)."""
    count, kinds, _ = influences.shape
    squares = np.zeros((kinds, count * across * across), np.float32)
    # Padding has spot 0, a corner that no real pixel uses, and its influence is 0.
    where = (spots + across * across * np.arange(count)[:, None]).ravel()
    squares[:, where] = influences.transpose(1, 0, 2).reshape(kinds, -1)
    return squares.reshape(kinds, count, across, across)


def _variance_ratios(squares: Map) -> Array:
    """Returns each tag's variance with neighbours' covariances over that without, (3, n)."""
    window = 2 * _REACH_PX + 1
    # One tall picture filters all squares at once: no tag pixel lies in a square's outermost rows.
    tall = squares.reshape(-1, squares.shape[-1])
    # Covariances with neighbours beyond the reach count as 0.
    sums = np.asarray(
        cv2.boxFilter(
            tall, cv2.CV_32F, (window, window), normalize=False, borderType=cv2.BORDER_CONSTANT
        )
    ).reshape(squares.shape)
    independent = np.maximum(np.einsum("knij,knij->kn", squares, squares), 1e-20)
    correlated = np.einsum("knij,knij->kn", squares, sums)
    # A fit's influences sum to 0, which biases neighbours to negative correlation: correct for it.
    pixels = np.square(np.abs(squares).sum(axis=(2, 3))) / independent
    bias = 1 - np.minimum(window**2 / np.maximum(pixels, 1), 0.5)
    return np.asarray(correlated / independent / bias, dtype=np.float64)
