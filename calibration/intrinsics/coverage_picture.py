"""Draws the field covered by board views, and the lens's uncertainty there.

The colours (cividis, dark blue to yellow) are readable with any kind of colour blindness; yellow
marks the most uncertain parts.
"""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.intrinsics.board import BoardView
from calibration.intrinsics.lens_expectation import field_sigmas_px
from calibration.results import LensCalibration

Array = NDArray[np.float64]
Picture = NDArray[np.uint8]

_FIELD_WIDTH = 1120
_MARGIN, _TOP, _BOTTOM, _RIGHT = 30, 84, 30, 150
_INK, _PAPER, _FAINT = (40, 40, 40), (255, 255, 255), (110, 110, 110)
_FONT = cv2.FONT_HERSHEY_DUPLEX
_BAR_WIDTH = 28
_LEAST_SCALE_PX = 0.05
_GRID = (27, 48)


def coverage_picture(calibration: LensCalibration, views: Sequence[BoardView]) -> Picture:
    """Draws each view's outline and corners over the expected error of the lens.

    Blue-green-red, (height, width, 3).
    """
    lens = calibration.lens
    scale = _FIELD_WIDTH / lens.width_px
    field = (_FIELD_WIDTH, round(lens.height_px * scale))
    size = (_TOP + field[1] + _BOTTOM, _MARGIN + _FIELD_WIDTH + _RIGHT)
    canvas = np.full((*size, 3), 255, dtype=np.uint8)
    sigmas = _field_sigmas(calibration)
    largest_px = _round_up(float(sigmas.max()))
    painted = _painted(sigmas, field, largest_px)
    _draw_views(painted, views, scale)
    canvas[_TOP : _TOP + field[1], _MARGIN : _MARGIN + _FIELD_WIDTH] = painted
    _draw_heading(canvas, calibration)
    _draw_bar(canvas, field[1], largest_px)
    return canvas


def png_bytes(picture: Picture) -> bytes:
    """Returns the picture encoded as PNG."""
    _, encoded = cv2.imencode(".png", picture)
    return bytes(encoded)


def _field_sigmas(calibration: LensCalibration) -> Array:
    """Returns the lens's sigma in pixels all over the picture, (27, 48)."""
    down, across = _GRID
    sigmas = field_sigmas_px(calibration, across=across, down=down, field=1.0)
    return np.nan_to_num(sigmas, nan=float(np.nanmax(sigmas)))  # the worst where it sees nothing


def _round_up(value: float) -> float:
    """Rounds up to 1, 2, 5, 10, 20, ... hundredths, so that the colour bar has round numbers."""
    value = max(value, _LEAST_SCALE_PX)
    power_of_ten = 10.0 ** np.floor(np.log10(value))
    return float(
        power_of_ten * next(step for step in (1, 2, 5, 10) if step * power_of_ten >= value * 0.999)
    )


def _painted(sigmas: Array, field: tuple[int, int], largest_px: float) -> Picture:
    """Returns the sigmas as colours, at the size of the field."""
    levels = np.clip(sigmas / largest_px * 255, 0, 255).astype(np.float32)
    smooth = cv2.resize(levels, field, interpolation=cv2.INTER_CUBIC)
    return _coloured(np.clip(smooth, 0, 255).astype(np.uint8))


def _coloured(levels: Picture) -> Picture:
    """Applies the colour map."""
    return np.asarray(cv2.applyColorMap(levels, cv2.COLORMAP_CIVIDIS), dtype=np.uint8)


def _draw_views(painted: Picture, views: Sequence[BoardView], scale: float) -> None:
    """Draws the outlines and corners of views."""
    shift = 4  # cv2 draws between pixels when coordinates come in sixteenths
    for view in views:
        # Pixel centres are at integers, so pictures are scaled about their corner.
        corners = np.rint(((view.corners_px + 0.5) * scale - 0.5) * 2**shift).astype(np.int32)
        hull = cv2.convexHull(corners)
        # A dark line under a light one is visible on any colour.
        cv2.polylines(painted, [hull], True, _INK, 3, cv2.LINE_AA, shift)
        cv2.polylines(painted, [hull], True, _PAPER, 1, cv2.LINE_AA, shift)
    for view in views:
        # All corners after all outlines, so that no line hides a corner.
        for x, y in np.rint(((view.corners_px + 0.5) * scale - 0.5) * 2**shift).astype(int):
            cv2.circle(painted, (int(x), int(y)), 3 << shift, _INK, -1, cv2.LINE_AA, shift)
            cv2.circle(painted, (int(x), int(y)), 2 << shift, _PAPER, -1, cv2.LINE_AA, shift)


def _draw_heading(canvas: Picture, calibration: LensCalibration) -> None:
    """Draws two lines of text above the field."""
    sigmas = field_sigmas_px(calibration)
    corners = sum(view.corners for view in calibration.views)
    lines = (
        f"Where {len(calibration.views)} board views ({corners} corners) covered the field",
        f"reprojection error {calibration.rms_px:.3f} px;  typical error of a pixel "
        f"{np.nanmedian(sigmas):.3f} px, largest {np.nanmax(sigmas):.3f} px "
        "(outermost edges excluded)",
    )
    for line, (text, size, ink) in enumerate(zip(lines, (0.8, 0.55), (_INK, _FAINT), strict=True)):
        at = (_MARGIN, 36 + 28 * line)
        cv2.putText(canvas, text, at, _FONT, size, ink, 1, cv2.LINE_AA)


def _draw_bar(canvas: Picture, height: int, largest_px: float) -> None:
    """Draws the colour bar beside the field."""
    left = _MARGIN + _FIELD_WIDTH + 24
    ramp = np.linspace(255, 0, height).astype(np.uint8)[:, None].repeat(_BAR_WIDTH, axis=1)
    canvas[_TOP : _TOP + height, left : left + _BAR_WIDTH] = _coloured(ramp)
    for step in range(6):
        share = step / 5
        y = _TOP + round((1 - share) * (height - 1))
        cv2.line(canvas, (left + _BAR_WIDTH, y), (left + _BAR_WIDTH + 6, y), _INK, 1)
        at = (left + _BAR_WIDTH + 12, min(max(y + 6, _TOP + 12), _TOP + height))
        cv2.putText(canvas, f"{share * largest_px:.2g}", at, _FONT, 0.5, _INK, 1, cv2.LINE_AA)
    cv2.putText(canvas, "error, px", (left - 6, _TOP - 12), _FONT, 0.5, _INK, 1, cv2.LINE_AA)
