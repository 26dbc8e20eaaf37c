"""How an edge between black and white looks in a picture: soft, and brighter than it should be.

The lens and the pixels blur an edge in the light itself, and only then the camera's gamma bends
light into brightness. So an edge is an error function of the distance from it, and a bend on top.
Most of the bend is taken back before anything is fitted (`as_light`), the rest is fitted.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


_GAMMA = 1.6
"""Cameras use 1.8 to 2.2, but then steepen the contrast: corners came out best with this."""

_LIGHT = 255 * (np.arange(256) / 255) ** _GAMMA


_STORED_GAMMA = 2.2
_BLACK_LIGHT = 0.06
"""Black paint or toner sends back about this share of what white paper does.

Neither is estimated from pictures: with 1.8 to 2.4, and 0.03 to 0.09, places on the shared footage
err by the same to 3 %."""

BLACK_STORED = 1 / (_BLACK_LIGHT ** (-1 / _STORED_GAMMA) - 1)
"""What a camera stores for black, as a share of what lies between its black and its white."""


def stored_light(light: Array) -> tuple[Array, Array]:
    """Light, 0 black paint and 1 white paper, as a camera stores it, again 0 to 1; and the slope.

    Cameras blur light and store about its 1/2.2th power: white bleeds into black.
    """
    bare = _BLACK_LIGHT + (1 - _BLACK_LIGHT) * np.clip(light, 0, 1)
    black = _BLACK_LIGHT ** (1 / _STORED_GAMMA)
    stored = bare ** (1 / _STORED_GAMMA)
    slope = stored / bare * (1 - _BLACK_LIGHT) / (_STORED_GAMMA * (1 - black))
    return (stored - black) / (1 - black), slope


def as_light(grey: NDArray[np.uint8]) -> Array:
    """Grey levels, any shape, about as bright as the light was that made them, 0 to 255."""
    return np.asarray(_LIGHT[grey])


def blurred_edge(distance_px: Array, blur_px: Array) -> tuple[Array, Array, Array]:
    """How light an edge is at signed distances from it, from -1 to 1, with two derivatives.

    The edge is blurred by a Gaussian of standard deviation `blur_px`, and then gathered by pixels:
    by a box one pixel wide across the edge, whichever way it runs. (A square that is crossed
    aslant has another shape, but the same variance.) The derivatives are by `distance_px` and by
    the logarithm of `blur_px`.
    """
    ahead, by_ahead, ahead_by_blur = _gathered(distance_px + 0.5, blur_px)
    behind, by_behind, behind_by_blur = _gathered(distance_px - 0.5, blur_px)
    return ahead - behind, by_ahead - by_behind, (ahead_by_blur - behind_by_blur) * blur_px


def _gathered(distance_px: Array, blur_px: Array) -> tuple[Array, Array, Array]:
    """The integral of a blurred edge up to a distance; its derivatives by distance and blur."""
    scaled = distance_px / (np.sqrt(2) * blur_px)
    bell = np.sqrt(2 / np.pi) * np.exp(-np.square(np.clip(scaled, -8.0, 8.0)))
    light = _erf(np.clip(scaled, -8.0, 8.0))
    return distance_px * light + blur_px * bell, light, bell


def _erf(x: Array) -> Array:
    """The error function to 1.5e-7 (Abramowitz and Stegun, 7.1.26); numpy itself has none."""
    size = np.abs(x)
    t = 1 / (1 + 0.3275911 * size)
    tail = np.full_like(t, 1.061405429)
    for coefficient in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        tail = tail * t + coefficient
    return np.asarray(np.copysign(1 - tail * t * np.exp(-size * size), x))
