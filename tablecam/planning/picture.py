"""Draws a plan: the table from above, tags at true scale, and how the camera shows them."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, replace
from functools import cached_property

import cv2
import numpy as np

from calibration.camera import Camera
from tablecam.drawing.pen import INK, PAPER, WHITE, Array, Colour, Pen, Picture
from tablecam.drawing.shape_style import side_colours
from tablecam.planning.plan import Plan, TagPrediction
from tablecam.planning.report import found_percent, px_a_cell, sight_words
from tablecam.simulate.rendering.places import Place, corners_mm
from tablecam.simulate.rendering.prints import TagPrints
from tablecam.simulate.rendering.render import Renderer, RenderStyle
from tablecam.simulate.rendering.scene import Scene
from tablecam.table.roster import BaseType, Roster, UnitEntry
from tablecam.vision.search.camera_scale import extent_mm, px_per_cell, side_cells, table_grid_mm

_MAP_WIDTH_PX, _PANEL_WIDTH_PX, _EDGE_PX = 1180, 520, 40
_AROUND = 0.06
"""The margin shown around the table, as a share of its width."""
_LEAST_PX, _MOST_PX = 1.0, 8.0
"""Pixels per cell at the ends of the colour scale, which is logarithmic."""
_CONTOURS_PX = (1.25, 1.5, 1.75, 2.0, 2.25, 2.5, 2.75, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0)
_OUT_OF_SIGHT: Colour = (96, 92, 88)
_CROP_MM_OF_TAG = 1.7
_MOST_CROPS = 3
_SIMULATED = RenderStyle(noise=3.0, uneven_light=False, scenery=False, figures=False)


def plan_picture(plan: Plan) -> Picture:
    """Draws a plan, (height, width, 3), blue-green-red."""
    sheet = _Sheet(plan)
    sheet.draw()
    return sheet.pen.picture


@dataclass(frozen=True, eq=False)
class _Sheet:
    """The drawing of one plan: a map on the left, a panel of text on the right."""

    plan: Plan

    @cached_property
    def pen(self) -> Pen:
        """The pen on an empty sheet."""
        shape = (self._map_height_px + 2 * _EDGE_PX, _MAP_WIDTH_PX + _PANEL_WIDTH_PX, 3)
        picture = np.empty(shape, dtype=np.uint8)
        picture[:] = PAPER
        return Pen(picture, 1.3)

    def draw(self) -> None:
        """Draws everything, from the bottom layer to the top."""
        self._heat()
        self._contours()
        self._table()
        self._parade()
        self._camera()
        self._panel()

    @cached_property
    def _box_mm(self) -> tuple[float, float, float, float]:
        """The part of the table's plane that the map shows."""
        x_low, y_low, x_high, y_high = extent_mm(self.plan.roster)
        around = _AROUND * (x_high - x_low)
        return x_low - around, y_low - around, x_high + around, y_high + around

    @property
    def _px_per_mm(self) -> float:
        """The scale of the map."""
        x_low, _, x_high, _ = self._box_mm
        return (_MAP_WIDTH_PX - 2 * _EDGE_PX) / (x_high - x_low)

    @property
    def _map_height_px(self) -> int:
        """The height of the map."""
        _, y_low, _, y_high = self._box_mm
        # The panel beside the map needs room, too.
        return max(760, round((y_high - y_low) * self._px_per_mm))

    def _pixels(self, places_mm: Array) -> Array:
        """Projects table places (n, 2) onto the map, its far edge on top."""
        x_low, _, _, y_high = self._box_mm
        away = (np.asarray(places_mm) - [x_low, y_high]) * [1, -1] * self._px_per_mm
        return np.asarray(away + _EDGE_PX)

    @cached_property
    def _mapped(self) -> TagPrediction:
        """The base type whose pixels per cell colour the map: that of most tags."""
        return max(self.plan.tags, key=lambda tag: len(tag.scale.tags))

    @cached_property
    def _sizes_px(self) -> Array:
        """The pixels per cell at each pixel of the map, (height, width); nan out of view."""
        x_low, y_low, _, y_high = self._box_mm
        rows = round((y_high - y_low) * self._px_per_mm)
        columns = _MAP_WIDTH_PX - 2 * _EDGE_PX
        # Half the resolution suffices: the scale varies slowly.
        step = 2
        x = x_low + (np.arange(0, columns, step) + 0.5) / self._px_per_mm
        y = y_high - (np.arange(0, rows, step) + 0.5) / self._px_per_mm
        places = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
        camera, base = self.plan.camera, self._mapped.scale.base_type
        sizes = px_per_cell(camera, places, base, side_cells(self.plan.roster))
        pixels = camera.to_image(np.hstack([places, np.zeros((len(places), 1))]))
        size = np.array([camera.lens.width_px, camera.lens.height_px])
        # The outermost pixels reach half a pixel beyond their centres.
        is_visible = ((pixels >= -0.5) & (pixels <= size - 0.5)).all(axis=1)
        grid = np.where(is_visible, sizes, np.nan).reshape(len(y), len(x))
        return np.asarray(cv2.resize(grid, (columns, rows), interpolation=cv2.INTER_LINEAR))

    def _heat(self) -> None:
        """Colours the map by pixels per cell."""
        sizes = self._sizes_px
        colours = _colours(sizes)
        colours[~np.isfinite(sizes)] = _OUT_OF_SIGHT
        rows, columns = sizes.shape
        self.pen.picture[_EDGE_PX : _EDGE_PX + rows, _EDGE_PX : _EDGE_PX + columns] = colours

    def _contours(self) -> None:
        """Draws contours of equal pixels per cell, a strong one at the required size."""
        required = self.plan.model.good_px_per_cell
        for level in _CONTOURS_PX:
            for line in self._contour(level):
                self.pen.lines(line, WHITE, width=0.8, casing=None)
                self._number(line, f"{level:g}")
        for line in self._contour(required):
            self.pen.lines(line, WHITE, width=2.4, casing=INK)
            self._number(line, f"{required:.1f}")

    def _number(self, line: Array, words: str) -> None:
        """Letters a contour at its left end, beside the table."""
        left = line[line[:, 0].argmin()] + [4 * self.pen.unit_px, 0]
        self.pen.words(words, left, INK, height=9)

    def _contour(self, level: float) -> list[Array]:
        """Returns the pieces (n, 2) of one contour on the sheet, without the edges of the view."""
        sizes = self._sizes_px
        is_visible = np.isfinite(sizes).astype(np.uint8)
        inside = cv2.copyMakeBorder(
            is_visible[4:-4, 4:-4], 4, 4, 4, 4, cv2.BORDER_CONSTANT, value=0
        )
        # Keeps contours off the edge of the view, which would count as a step.
        inside = cv2.erode(inside, np.ones((5, 5), np.uint8))
        above = (np.nan_to_num(sizes, nan=0.0) > level).astype(np.uint8)
        # The outline of a thresholded map, split where it follows the edge of the view.
        outlines, _ = cv2.findContours(above, cv2.RETR_LIST, cv2.CHAIN_APPROX_NONE)
        pieces: list[Array] = []
        for outline in outlines:
            points = outline[:, 0].astype(np.float64)
            # Points that follow the edge of the view belong to no contour.
            columns, rows = points.astype(np.int64).T
            free = inside[rows, columns] > 0
            breaks = np.flatnonzero(np.diff(free.astype(np.int8))) + 1
            split = zip(np.split(points, breaks), np.split(free, breaks), strict=True)
            # Every third point suffices at this scale.
            pieces += [piece[::3] + _EDGE_PX for piece, is_free in split if is_free[0]]
        return [piece for piece in pieces if len(piece) > 8]

    def _table(self) -> None:
        """Draws the table with its terrain, dimensions and table tags."""
        table, pen = self.plan.roster.table, self.pen
        corners = np.array([[0, 0], [1, 0], [1, 1], [0, 1]]) * [table.width_mm, table.depth_mm]
        for piece in self.plan.roster.terrain:
            outline = self._pixels(np.array(piece.outline_mm))
            pen.lines(outline, INK, width=0.7, casing=None, closed=True)
        pen.lines(self._pixels(corners), INK, width=2, closed=True)
        ends = self._pixels(corners)
        below = (ends[0] + ends[1]) / 2 + [0, 12 * pen.unit_px]
        beside = (ends[1] + ends[2]) / 2 + [6 * pen.unit_px, 0]
        pen.words(f"{table.width_mm:g} mm", below, INK, height=9, at="middle")
        pen.words(f"{table.depth_mm:g}", beside, INK, height=9)
        prints, size_mm = TagPrints(self.plan.roster), self.plan.roster.table_tag_size_mm
        for tag in self.plan.roster.table_tags:
            self._tag(prints.cells(tag.id), Place(tag.x_mm, tag.y_mm, 90.0), size_mm)

    def _camera(self) -> None:
        """Marks the place above which the camera hangs, if that is on the map."""
        x_low, y_low, x_high, y_high = self._box_mm
        x_mm, y_mm, _ = (float(value) for value in self.plan.camera.pose.camera_centre_mm)
        if not (x_low < x_mm < x_high and y_low < y_mm < y_high):
            return
        at = self._pixels(np.array([[x_mm, y_mm]]))[0]
        for arm in ((9, 0), (0, 9)):
            reach = np.array(arm) * self.pen.unit_px
            self.pen.lines(np.array([at - reach, at + reach]), INK, width=2)
        self.pen.words("camera", at + 9 * self.pen.unit_px, INK, height=9)

    def _parade(self) -> None:
        """Draws units of each side on the table, bases and tags at true scale."""
        prints = TagPrints(self.plan.roster)
        colours = side_colours(unit.side for unit in self.plan.roster.units)
        for unit, places in _drawn_up(self.plan.roster):
            for tag, place in zip(unit.upward(), places, strict=True):
                self._base(prints.cells(tag), place, unit.base_type, colours[unit.side])

    def _base(self, cells: Array, place: Place, base: BaseType, colour: Colour) -> None:
        """Draws a base with its tag."""
        outline = self._pixels(corners_mm(place, base.width_mm, base.depth_mm))
        self.pen.area(outline, colour)
        self.pen.lines(outline, INK, width=0.8, casing=None, closed=True)
        at = place.offset(base.tag_forward_mm, base.tag_right_mm)
        self._tag(cells, at, base.tag_size_mm)

    def _tag(self, cells: Array, at: Place, size_mm: float) -> None:
        """Draws a tag with its white rim."""
        rows = len(cells)
        # One white cell on each side.
        rim_mm = size_mm * (1 + 2 / rows)
        self.pen.area(self._pixels(corners_mm(at, rim_mm, rim_mm)), WHITE)
        self.pen.area(self._pixels(corners_mm(at, size_mm, size_mm)), INK)
        cell_mm = size_mm / rows
        for row, column in np.argwhere(cells > 0.5):
            spot = at.offset(((rows - 1) / 2 - row) * cell_mm, (column - (rows - 1) / 2) * cell_mm)
            self.pen.area(self._pixels(corners_mm(spot, cell_mm, cell_mm)), WHITE)

    def _panel(self) -> None:
        """Draws the text, the colour key, and a simulated tag of each base type."""
        left, unit = _MAP_WIDTH_PX, self.pen.unit_px
        lens = self.plan.camera.lens
        y = _EDGE_PX + 10.0
        heading = f"{lens.width_px} x {lens.height_px} from {self.plan.height_mm:g} mm"
        self.pen.words(heading, np.array([left, y]), INK, height=15, bold=True, casing=None)
        y += 34
        for line in _wrapped(sight_words(self.plan), 46):
            self.pen.words(line, np.array([left, y]), INK, height=9.5, casing=None)
            y += 20
        y = self._key(left, y + 12)
        words = "simulated, at the worst point of the table"
        self.pen.words(words, np.array([left, y]), INK, height=9.5, casing=None)
        y += 18
        tags = sorted(self.plan.tags, key=lambda tag: tag.scale.min_px_per_cell)
        room = self.pen.picture.shape[0] - y - _EDGE_PX
        side = min(190.0, room / min(len(tags), _MOST_CROPS) - 16 * unit)
        for tag in tags[:_MOST_CROPS]:
            self._crop(tag, left, y, side)
            y += side + 16 * unit

    def _key(self, left: float, top: float) -> float:
        """Draws the key of the map's colours; returns where it ends."""
        width, height = _PANEL_WIDTH_PX - _EDGE_PX, 22
        ramp = np.exp(np.linspace(np.log(_LEAST_PX), np.log(_MOST_PX), width))
        y, x = round(top + 18), round(left)
        self.pen.picture[y : y + height, x : x + width] = _colours(ramp[None])
        name = self._mapped.scale.base_type.name
        share = found_percent(self.plan.model.good_recall)
        words = f"px per cell of {name} tags; thick line: {share} are found"
        self.pen.words(words, np.array([x, top]), INK, height=9.5, casing=None)
        for size in (1, 1.5, 2, 3, 4, 6, 8):
            at = x + width * np.log(size / _LEAST_PX) / np.log(_MOST_PX / _LEAST_PX)
            at_px = np.array([at, y + height + 14.0])
            self.pen.words(f"{size:g}", at_px, INK, height=9, casing=None, at="middle")
        return float(y + height + 44)

    def _crop(self, tag: TagPrediction, left: float, top: float, side: float) -> None:
        """Draws a simulated tag enlarged without smoothing, with its prediction beside it."""
        base, expected = tag.scale.base_type, tag.expected
        enlarged = cv2.resize(
            _simulated_tag(self.plan, base),
            (round(side), round(side)),
            interpolation=cv2.INTER_NEAREST,
        )
        y, x = round(top), round(left)
        self.pen.picture[y : y + enlarged.shape[0], x : x + enlarged.shape[1]] = enlarged
        lines = [
            f"{base.name}: {base.tag_size_mm:g} mm",
            f"{px_a_cell(tag)} px per cell",
        ]
        if expected is None:
            least = self.plan.model.smallest_px_per_cell
            lines += [f"not measured below {least:g}"]
        else:
            lines += [
                f"{found_percent(expected.recall)} found",
                f"median error {tag.median_mm:.2f} mm",
                f"95 % within {tag.p95_mm:.2f} mm",
            ]
        step = min(24.0, side / len(lines))
        for i, line in enumerate(lines):
            at_px = np.array([x + side + 16, top + (i + 0.5) * step])
            self.pen.words(line, at_px, INK, height=10, bold=i == 0, casing=None)


def _drawn_up(roster: Roster) -> list[tuple[UnitEntry, tuple[Place, ...]]]:
    """Places units in line, in two armies facing each other, as many as the table has room for."""
    table = roster.table
    lines: list[tuple[UnitEntry, tuple[Place, ...]]] = []
    for side_index, side in enumerate(dict.fromkeys(unit.side for unit in roster.units)):
        heading_deg = 90.0 if side_index % 2 == 0 else 270.0
        x_mm, rank = 0.12 * table.width_mm, 0
        for unit in (unit for unit in roster.units if unit.side == side):
            base = unit.base_type
            width_mm = len(unit.upward()) * base.width_mm
            if x_mm + width_mm > 0.88 * table.width_mm:
                x_mm, rank = 0.12 * table.width_mm, rank + 1
            # Units for which there is no room are left out: the picture shows examples.
            if rank > 2 or x_mm + width_mm > 0.88 * table.width_mm:
                continue
            ahead_mm = (0.1 + 0.11 * rank) * table.depth_mm + 60.0
            y_mm = table.depth_mm / 2 + (-ahead_mm if side_index % 2 == 0 else ahead_mm)
            places = tuple(
                Place(x_mm + (index + 0.5) * base.width_mm, y_mm, heading_deg)
                for index in range(len(unit.upward()))
            )
            lines.append((unit, places))
            x_mm += width_mm + 1.2 * table.marker_mm
    return lines


def _simulated_tag(plan: Plan, base: BaseType) -> Picture:
    """Renders a tag of a base type as the camera would show it where the scale is smallest."""
    grid = table_grid_mm(plan.roster)
    # Where the scale is smallest the prediction is worst.
    farthest = grid[plan.camera.px_per_mm(grid).argmin()]
    room_mm = np.hypot(base.width_mm, base.depth_mm) / 2
    size_mm = np.array([plan.roster.table.width_mm, plan.roster.table.depth_mm])
    # Moved inwards, so that the whole base lies on the table.
    at_mm = farthest.clip(
        np.minimum(room_mm, size_mm / 2), np.maximum(size_mm - room_mm, size_mm / 2)
    )
    on_base_mm = np.array([base.tag_right_mm, base.tag_forward_mm])
    tag_mm = np.array([[*(at_mm + on_base_mm), base.tag_height_mm]])
    ((x_px, y_px),) = plan.camera.to_image(tag_mm)
    scale = float(plan.camera.px_per_mm(at_mm[None])[0])
    side_px = max(8, round(_CROP_MM_OF_TAG * base.tag_size_mm * scale))
    lens = replace(
        plan.camera.lens,
        width_px=side_px,
        height_px=side_px,
        # A shifted principal point cuts the tag out of the whole picture, in whole pixels.
        cx_px=plan.camera.lens.cx_px - round(float(x_px) - side_px / 2),
        cy_px=plan.camera.lens.cy_px - round(float(y_px) - side_px / 2),
    )
    # Any tag shows the scale.
    tag = next(iter(plan.roster.base_type_by_tag()), 10)
    unit = UnitEntry("shown", "", "infantry", base, (tag,))
    roster = replace(plan.roster, units=(unit,), commanders=(), table_tags=(), terrain=())
    crop = Camera(lens, plan.camera.pose)
    place = Place(float(at_mm[0]), float(at_mm[1]), 90.0)
    return Renderer(roster, crop, _SIMULATED).picture(Scene({tag: place}), 0)


def _colours(sizes_px: Array) -> Picture:
    """Returns the colours of pixels per cell, (..., 3)."""
    share = np.log(np.nan_to_num(sizes_px, nan=1.0).clip(_LEAST_PX, _MOST_PX) / _LEAST_PX)
    # Logarithmic: equal ratios of size get equal steps of colour.
    level = np.round(255 * share / np.log(_MOST_PX / _LEAST_PX)).astype(np.uint8)
    return np.asarray(cv2.applyColorMap(level, cv2.COLORMAP_VIRIDIS), dtype=np.uint8)


def _wrapped(lines: list[str], letters: int) -> list[str]:
    """Wraps lines to a number of letters."""
    return [part for line in lines for part in textwrap.wrap(line, letters)]
