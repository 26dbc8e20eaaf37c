"""Draws a search's result on a copy of its picture: bases, tags and rejections."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from calibration.camera import Camera
from tablecam.drawing.labels import Labels, box_of
from tablecam.drawing.panel import numbered_cross, with_panel
from tablecam.drawing.pen import INK, WHITE, Array, Colour, Pen, Picture
from tablecam.drawing.report import PictureReport
from tablecam.drawing.shape_style import side_colours
from tablecam.table.headings import forward, right
from tablecam.table.model import BasePose
from tablecam.table.roster import Roster
from tablecam.vision.detection.sighting import SearchResult, TagSighting

UNCERTAIN_MM = 0.5
"""Bases with a larger standard deviation are marked: half a millimetre can decide a dispute."""
_NAME, _SMALL = 12.0, 9.5
"""Letter heights, in drawing units."""


@dataclass(frozen=True, slots=True)
class Overlay:
    """Draws on pictures of one camera over one table; strokes scale with the picture."""

    camera: Camera
    roster: Roster

    def draw(
        self,
        picture: Picture,
        search: SearchResult,
        poses: Mapping[int, BasePose],
        report: PictureReport,
    ) -> Picture:
        """Returns a copy of the picture (height, width, 3) with findings drawn and a text margin.

        `poses` are the bases by tag. Bases are outlined at the height of their tags, the front edge
        thick, uncertain ones dashed; units are named; rejections are numbered as in the margin.
        """
        pen = Pen(picture.copy(), picture.shape[0] / 1080)
        outlines = {
            sighting.tag: self._outline(poses[sighting.tag], sighting.height_mm)
            for sighting in search.sightings
            if sighting.tag in poses
        }
        colours = self._colour_by_tag()
        for tag, outline in outlines.items():
            self._base(pen, outline, poses[tag], colours.get(tag, WHITE))
        # Labels stay off all bases, not only their own.
        labels = Labels(picture.shape[1], picture.shape[0], [*map(box_of, outlines.values())])
        self._table_tags(pen, search, labels)
        self._rejections(pen, search, labels)
        for name, boxes in self._named(outlines):
            self._name(pen, name, box_of(boxes), labels)
        self._uncertainties(pen, outlines, poses, labels)
        return with_panel(pen.picture, report, self._colour_by_side())

    def _colour_by_side(self) -> dict[str, Colour]:
        """Assigns the sides colours by their order in the table file."""
        sides = [unit.side for unit in self.roster.units]
        sides += [leader.side for leader in self.roster.commanders]
        return side_colours(sides)

    def _colour_by_tag(self) -> dict[int, Colour]:
        """Returns the side's colour of each tag."""
        colours = self._colour_by_side()
        by_tag = {tag: colours[unit.side] for unit in self.roster.units for tag in unit.tags}
        return by_tag | {leader.tag: colours[leader.side] for leader in self.roster.commanders}

    def _outline(self, pose: BasePose, height_mm: float) -> Array:
        """Projects a base's corners, (4, 2): front left, front right, rear right, rear left."""
        ahead = np.array(forward(pose.heading_deg)) * pose.depth_mm / 2
        beside = np.array(right(pose.heading_deg)) * pose.width_mm / 2
        signs = ((1, -1), (1, 1), (-1, 1), (-1, -1))
        corners = np.array([along * ahead + across * beside for along, across in signs])
        return self._pixels(corners + np.array([pose.x_mm, pose.y_mm]), height_mm)

    def _pixels(self, places_mm: Array, height_mm: float) -> Array:
        """Projects table places (n, 2) at one height to pixels (n, 2)."""
        heights = np.full((len(places_mm), 1), height_mm)
        return self.camera.to_image(np.hstack([places_mm, heights]))

    @staticmethod
    def _base(pen: Pen, outline: Array, pose: BasePose, colour: Colour) -> None:
        """Draws a base's outline, dashed if uncertain, with a thick front edge."""
        if pose.sigma_mm > UNCERTAIN_MM:
            pen.dashes(outline, colour, width=1.6)
        else:
            pen.lines(outline, colour, width=1.6, closed=True)
        pen.lines(outline[:2], colour, width=4.0)

    def _named(self, outlines: Mapping[int, Array]) -> Iterator[tuple[str, list[Array]]]:
        """Yields each unit's and commander's name with the outlines of its visible bases."""
        owners: dict[str, list[Array]] = {}
        owner_by_tag = self.roster.owner_by_tag()
        for tag, outline in outlines.items():
            owners.setdefault(owner_by_tag.get(tag, str(tag)), []).append(outline)
        yield from owners.items()

    @staticmethod
    def _name(pen: Pen, name: str, about: Array, labels: Labels, height: float = _NAME) -> None:
        """Letters a name beside its box."""
        # A base partly behind the camera has no box to stand beside.
        if not np.isfinite(about).all():
            return
        width_px, tall_px = pen.size_px(name, height, bold=True)
        room = (width_px + 4 * pen.unit_px, tall_px + 4 * pen.unit_px)
        at = labels.place(about, room, gap_px=4 * pen.unit_px)
        pen.words(name, at, INK, height=height, bold=True, at="middle")

    def _uncertainties(
        self,
        pen: Pen,
        outlines: Mapping[int, Array],
        poses: Mapping[int, BasePose],
        labels: Labels,
    ) -> None:
        """Letters the standard deviation of each uncertain base."""
        for tag, outline in outlines.items():
            if poses[tag].sigma_mm > UNCERTAIN_MM:
                words = f"{tag}: +-{poses[tag].sigma_mm:.1f} mm"
                self._name(pen, words, box_of(outline), labels, _SMALL)

    def _table_tags(self, pen: Pen, search: SearchResult, labels: Labels) -> None:
        """Outlines and names the table's own tags."""
        own = {tag.id for tag in self.roster.table_tags}
        tags: list[TagSighting] = [tag for tag in search.sightings if tag.tag in own]
        # All tags first, so that no name covers another tag.
        labels.take(box_of(tag.corners_px) for tag in tags)
        for tag in tags:
            pen.lines(tag.corners_px, WHITE, width=2.0, casing=INK, closed=True)
            self._name(pen, f"table tag {tag.tag}", box_of(tag.corners_px), labels, _SMALL)

    def _rejections(self, pen: Pen, search: SearchResult, labels: Labels) -> None:
        """Draws a numbered cross at each rejection; the margin lists the reasons."""
        # Rejected tags are drawn at the height of their base type, as they have no fit.
        heights = {tag: base.tag_height_mm for tag, base in self.roster.base_type_by_tag().items()}
        for number, rejection in enumerate(search.rejections, start=1):
            place = np.array([[rejection.x_mm, rejection.y_mm]])
            (at,) = self._pixels(place, heights.get(rejection.tag, 0.0))
            numbered_cross(pen, at, number)
            reach = 30 * pen.unit_px
            labels.take([np.array([at[0] - reach, at[1] - reach, at[0] + reach, at[1] + reach])])
