"""Places a roster's tags as prints on bases and on the table."""

from __future__ import annotations

import math
from dataclasses import replace

import cv2
import numpy as np

from tablecam.errors import BadInput
from tablecam.simulate.places import Place
from tablecam.simulate.print_ink import Print
from tablecam.simulate.rays import Array
from tablecam.table.roster import BaseType, Roster, TableTag

_GLUE_SEED = 1741


def glued(tag: int, base_type: BaseType) -> BaseType:
    """Returns a base's type with its tag where simulated hands glued it, always the same.

    Its errors of place and turn are drawn from the type's sigmas.
    """
    right, forward, turn = np.random.default_rng([_GLUE_SEED, tag]).standard_normal(3).tolist()
    return replace(
        base_type,
        tag_right_mm=base_type.tag_right_mm + right * base_type.glue_sigma_mm,
        tag_forward_mm=base_type.tag_forward_mm + forward * base_type.glue_sigma_mm,
        tag_turn_deg=base_type.tag_turn_deg + turn * base_type.glue_sigma_deg,
    )


class TagPrints:
    """The tag patterns of one dictionary, as prints.

    Raises:
        BadInput: The roster's dictionary does not exist, or has no such tag.
    """

    def __init__(self, roster: Roster) -> None:
        name = getattr(cv2.aruco, roster.dictionary, None)
        if not isinstance(name, int):
            raise BadInput(
                roster.source,
                f"expected one of OpenCV's dictionaries, got {roster.dictionary!r}",
                key="tags.dictionary",
            )
        self._dictionary = cv2.aruco.getPredefinedDictionary(name)
        self._modules = int(self._dictionary.markerSize) + 2
        self._source = roster.source
        self._table_tag_size_mm = roster.table_tag_size_mm

    def cells(self, tag: int) -> Array:
        """Returns a tag's cells (n, n) with its black border, 1 for white, top row first."""
        count = len(self._dictionary.bytesList)
        if not 0 <= tag < count:
            raise BadInput(self._source, f"expected a tag from 0 to {count - 1}, got {tag}")
        picture = cv2.aruco.generateImageMarker(self._dictionary, tag, self._modules)
        return np.asarray(picture, dtype=np.float64) / 255

    def on_base(self, tag: int, place: Place, base_type: BaseType) -> Print:
        """Returns the tag of a base as `glued`, with a white rim of up to one cell."""
        actual = glued(tag, base_type)
        at = place.offset(actual.tag_forward_mm, actual.tag_right_mm, actual.tag_turn_deg)
        half_mm = base_type.tag_size_mm / 2
        room_mm = min(
            base_type.width_mm / 2 - abs(base_type.tag_right_mm) - half_mm,
            base_type.depth_mm / 2 - abs(base_type.tag_forward_mm) - half_mm,
        )
        rim_mm = min(max(room_mm, 0.0), base_type.tag_size_mm / self._modules)
        return self._laid(tag, at, base_type.tag_size_mm, rim_mm, base_type.tag_height_mm)

    def on_table(self, tag: TableTag, at: Place | None = None) -> Print:
        """Returns a table tag at its listed place, top row toward +y, or at the place `at`."""
        size_mm = self._table_tag_size_mm
        at = at or Place(tag.x_mm, tag.y_mm, 90.0)
        return self._laid(tag.id, at, size_mm, size_mm / self._modules, 0.0)

    def _laid(self, tag: int, at: Place, size_mm: float, rim_mm: float, height_mm: float) -> Print:
        heading_rad = math.radians(at.heading_deg)
        forward = np.array([math.cos(heading_rad), math.sin(heading_rad)])
        edges_mm = np.linspace(-size_mm / 2, size_mm / 2, self._modules + 1)
        # The rim is one more cell on each side, or as much of it as fits.
        edges_mm = np.concatenate([[edges_mm[0] - rim_mm], edges_mm, [edges_mm[-1] + rim_mm]])
        return Print(
            middle_mm=np.array([at.x_mm, at.y_mm]),
            right_mm=np.array([forward[1], -forward[0]]),
            down_mm=-forward,
            across_mm=edges_mm,
            along_mm=edges_mm,
            cells=np.pad(self.cells(tag), 1, constant_values=1.0),
            height_mm=height_mm,
        )
