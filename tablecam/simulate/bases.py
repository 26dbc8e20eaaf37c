"""A base as the camera sees it: its ground, its figures and its printed tag."""

from __future__ import annotations

import math

import numpy as np

from calibration.camera import Camera
from tablecam.simulate.light import INK, PAPER, linear_colour
from tablecam.simulate.patch import Patch
from tablecam.simulate.places import Place
from tablecam.simulate.print_ink import Print, seen_print
from tablecam.simulate.rays import Box
from tablecam.simulate.tag_prints import TagPrints
from tablecam.table.roster import BaseType

_MARGIN_SIGMAS = 5


class BasePainter:
    """Paints bases, each at its place; the tag is exact to far below a hundredth of a pixel."""

    def __init__(self, camera: Camera, prints: TagPrints, *, blur_px: float) -> None:
        self._camera = camera
        self._prints = prints
        self._blur_px = blur_px
        self._margin_px = _MARGIN_SIGMAS * blur_px + 1

    def painted(self, tag: int, place: Place, base_type: BaseType, side: str) -> Patch:
        """The patch of one base."""
        outline = _outline(place, base_type)
        sheet = self._prints.on_base(tag, place, base_type)
        box = outline.box(self._camera, self._margin_px).joined(
            sheet.box(self._camera, self._margin_px)
        )
        patch = Patch.clear(box)
        covered, _ = seen_print(self._camera, outline, box, self._blur_px)
        patch.cover(linear_colour(110, 98, 60), covered)
        lay_print(patch, self._camera, sheet, self._blur_px)
        return patch


def lay_print(patch: Patch, camera: Camera, sheet: Print, blur_px: float) -> None:
    """Lay printed paper onto the part of a patch that it reaches."""
    box = sheet.box(camera, _MARGIN_SIGMAS * blur_px + 1).clipped(patch.box)
    covered, white = seen_print(camera, sheet, box, blur_px)
    part = Patch(box, patch.light[box.within(patch.box)])
    light = (INK * covered + (PAPER - INK) * white) / np.maximum(covered, 1e-6)
    part.cover(np.repeat(light[..., None], 3, axis=-1), covered)


def _outline(place: Place, base_type: BaseType) -> Print:
    heading_rad = math.radians(place.heading_deg)
    forward = np.array([math.cos(heading_rad), math.sin(heading_rad)])
    return Print(
        middle_mm=np.array([place.x_mm, place.y_mm]),
        right_mm=np.array([forward[1], -forward[0]]),
        down_mm=-forward,
        across_mm=np.array([-base_type.width_mm, base_type.width_mm]) / 2,
        along_mm=np.array([-base_type.depth_mm, base_type.depth_mm]) / 2,
        cells=np.ones((1, 1)),
        height_mm=base_type.tag_height_mm,
    )


__all__ = ["BasePainter", "Box", "lay_print"]
