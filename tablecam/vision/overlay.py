"""Drawing what was seen on a copy of the picture: bases, tags, and what was refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from tablecam.table.headings import forward, right
from tablecam.table.model import BasePose
from tablecam.table.roster import Roster
from tablecam.vision.sighting import Rejection, Search

Array = NDArray[np.float64]
Picture = NDArray[np.uint8]
Colour = tuple[int, int, int]

# Blue, green, red; told apart by colour-blind people too (P. Tol, "bright").
_SIDES: tuple[Colour, ...] = ((238, 204, 102), (119, 102, 238), (68, 187, 204), (51, 136, 34))
_TABLE: Colour = (255, 255, 255)
_REFUSED: Colour = (80, 80, 255)
_INK: Colour = (30, 25, 20)
_FONT = cv2.FONT_HERSHEY_SIMPLEX
_SHIFT = 4
"""Corners are drawn at sixteenths of a pixel."""


@dataclass(frozen=True, slots=True)
class Overlay:
    """Draws on pictures of one camera over one table."""

    camera: Camera
    roster: Roster

    def draw(self, picture: Picture, search: Search, poses: Mapping[int, BasePose]) -> Picture:
        """A copy of the picture (height, width, 3) with a search's finds drawn upon it.

        `poses` are the bases by tag. Bases are outlined at the height of their tags, a tick marks
        the front; tags missing from the picture are listed at its top.
        """
        drawn = picture.copy()
        colours = self._colour_by_tag()
        for sighting in search.sightings:
            colour = colours.get(sighting.tag, _TABLE)
            self._lines(drawn, sighting.corners_px, colour, closed=True)
            pose = poses.get(sighting.tag)
            if pose is None:
                self._words(drawn, str(sighting.tag), sighting.corners_px.mean(axis=0), colour)
            else:
                self._base(drawn, pose, sighting.height_mm, colour)
        for rejection in search.rejections:
            self._refused(drawn, rejection)
        seen = {sighting.tag for sighting in search.sightings}
        self._head(drawn, search, [tag for tag in colours if tag not in seen])
        return drawn

    def _colour_by_tag(self) -> dict[int, Colour]:
        side_by_tag = {tag: unit.side for unit in self.roster.units for tag in unit.tags}
        side_by_tag |= {leader.tag: leader.side for leader in self.roster.commanders}
        sides = list(dict.fromkeys(side_by_tag.values()))
        colours = {side: _SIDES[index % len(_SIDES)] for index, side in enumerate(sides)}
        return {tag: colours[side] for tag, side in side_by_tag.items()}

    def _base(self, drawn: Picture, pose: BasePose, height_mm: float, colour: Colour) -> None:
        ahead, beside = np.array(forward(pose.heading_deg)), np.array(right(pose.heading_deg))
        centre = np.array([pose.x_mm, pose.y_mm])
        front, side = ahead * pose.depth_mm / 2, beside * pose.width_mm / 2
        corners = [(1, -1), (1, 1), (-1, 1), (-1, -1)]
        outline = np.array([centre + along * front + across * side for along, across in corners])
        tick = np.array([centre + 0.7 * front, centre + 1.2 * front])
        self._lines(drawn, self._pixels(outline, height_mm), colour, closed=True)
        self._lines(drawn, self._pixels(tick, height_mm), colour, closed=False)
        (middle,) = self._pixels(np.array([centre + 0.35 * front]), height_mm)
        self._words(drawn, str(pose.tag), middle, colour)

    def _refused(self, drawn: Picture, rejection: Rejection) -> None:
        place = np.array([[rejection.x_mm, rejection.y_mm]])
        ((x_px, y_px),) = self._pixels(place, 0.0)
        reach = 12 * self._unit
        for slope in (-1, 1):
            cross = np.array(
                [[x_px - reach, y_px - slope * reach], [x_px + reach, y_px + slope * reach]]
            )
            self._lines(drawn, cross, _REFUSED, closed=False)
        words = f"{rejection.tag}: {rejection.because}"
        self._words(drawn, words, np.array([x_px, y_px - 2 * reach]), _REFUSED)

    def _head(self, drawn: Picture, search: Search, missing: Sequence[int]) -> None:
        lines = [f"{len(search.sightings)} tags seen, {len(search.rejections)} refused"]
        if missing:
            lines.append("not seen: " + ", ".join(map(str, missing)))
        height = 34 * self._unit
        for number, line in enumerate(lines):
            self._words(drawn, line, np.array([0, (number + 0.7) * height]), _TABLE, large=True)

    @property
    def _unit(self) -> float:
        """How much larger than on a picture 1920 pixels wide everything is drawn."""
        return self.camera.lens.width_px / 1920

    def _pixels(self, places_mm: Array, height_mm: float) -> Array:
        heights = np.full((len(places_mm), 1), height_mm)
        return self.camera.to_image(np.hstack([places_mm, heights]))

    def _lines(self, drawn: Picture, points_px: Array, colour: Colour, *, closed: bool) -> None:
        if not np.isfinite(points_px).all():
            return
        fixed = [np.round(points_px * 2**_SHIFT).astype(np.int32)]
        thick = max(1, round(1.2 * self._unit))
        cv2.polylines(drawn, fixed, closed, _INK, 2 * thick + 1, cv2.LINE_AA, _SHIFT)
        cv2.polylines(drawn, fixed, closed, colour, thick, cv2.LINE_AA, _SHIFT)

    def _words(
        self,
        drawn: Picture,
        words: str,
        middle_px: Array,
        colour: Colour,
        *,
        large: bool = False,
    ) -> None:
        """Words about a place, moved so that they stay in the picture."""
        if not np.isfinite(middle_px).all():
            return
        scale = (0.8 if large else 0.42) * self._unit
        thick = max(1, round((1.6 if large else 1.0) * self._unit))
        (width, height), _ = cv2.getTextSize(words, _FONT, scale, thick)
        gap = round(6 * self._unit)
        right_most, lowest = drawn.shape[1] - width - gap, drawn.shape[0] - gap
        x_px = min(max(gap, round(float(middle_px[0]) - width / 2)), max(gap, right_most))
        y_px = min(max(height + gap, round(float(middle_px[1]) + height / 2)), lowest)
        for ink, wide in ((_INK, thick + max(2, 2 * thick)), (colour, thick)):
            cv2.putText(drawn, words, (x_px, y_px), _FONT, scale, ink, wide, cv2.LINE_AA)
