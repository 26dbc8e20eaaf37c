"""Renders bases: flocked ground, miniatures and the printed tag."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from tablecam.geometry.outlines import rim
from tablecam.simulate.rendering.figures import Shape, figures, uniform
from tablecam.simulate.rendering.light import GAMMA, INK, PAPER, Linear, Patch, linear_colour
from tablecam.simulate.rendering.map_looks import counter_colours
from tablecam.simulate.rendering.mat import SHADOW_MM_PER_MM, Colour
from tablecam.simulate.rendering.places import Place
from tablecam.simulate.rendering.prints import Print, TagPrints, seen_print
from tablecam.simulate.rendering.rays import Array, Box, plane_map
from tablecam.table.model import Arm, BasePose
from tablecam.table.roster import BaseType, CommanderEntry, Roster, UnitEntry

_MARGIN_SIGMAS = 5
_SUPERSAMPLING = 3
"""The supersampling factor of miniatures."""
_SHIFT_BITS = 4
_SHADOW_STRENGTH = 0.38
_LINEAR = ((np.arange(256) / 255) ** GAMMA).astype(np.float32)


@dataclass(frozen=True, slots=True)
class _PaintedBase:
    """A painted base: its size, the colour of its top, its grain (0: smooth), its miniatures."""

    base_type: BaseType
    ground: Colour
    grain: float
    shapes: tuple[Shape, ...]

    def raised(self, level: int) -> _PaintedBase:
        """Returns it raised by other counters beneath, each as thick as itself."""
        if not level:
            return self
        top_mm = self.base_type.tag_height_mm * (1 + level)
        return replace(self, base_type=replace(self.base_type, tag_height_mm=top_mm))


class BasePainter:
    """Renders the bases of a roster, each at its place.

    The tag is accurate to far below a hundredth of a pixel; the rest only has to look right.
    """

    def __init__(
        self, camera: Camera, roster: Roster, prints: TagPrints, *, blur_px: float, figures: bool
    ) -> None:
        self._camera = camera
        self._prints = prints
        self._blur_px = blur_px
        self._margin_px = _MARGIN_SIGMAS * blur_px + 1
        self._painted_bases = _painted_bases(roster, with_figures=figures)
        # A fixed seed: a table looks the same in every run.
        self._flock = _flock(np.random.default_rng(7))

    def painted(self, tag: int, place: Place) -> Patch:
        """Renders one base as a patch."""
        base = self._painted_bases[tag].raised(place.level)
        sheet = self._prints.on_base(tag, place, base.base_type)
        outline = _outline(place, base.base_type)
        solids = _Solids(self._camera, place, base)
        box = outline.box(self._camera, self._margin_px).joined(
            sheet.box(self._camera, self._margin_px)
        )
        box = box.joined(solids.box(self._margin_px))
        patch = Patch.clear(box)
        # Painted from the bottom up: shadow on the table, base, tag, shadow on the base,
        # miniatures.
        rim_mm = _rim_mm(place, base.base_type)
        patch.shade(self._soft(_slab_shadow(self._camera, rim_mm, box)) * np.float32(0.45))
        if base.base_type.shape == "rectangle":
            covered, _ = seen_print(self._camera, outline, box, self._blur_px, is_quick=True)
        else:
            covered = self._soft(_filled(self._camera, rim_mm, box))
        patch.cover(self._ground(tag, place, base, box), covered)
        lay_print(patch, self._camera, sheet, self._blur_px)
        if base.shapes:
            patch.shade(self._soft(solids.shadow(box)) * np.float32(_SHADOW_STRENGTH))
            colour, cover = solids.drawn(box)
            blurred = self._soft(np.dstack([_LINEAR[colour] * cover[..., None], cover]))
            patch.light[:] = patch.light * (1 - blurred[..., 3:]) + blurred
        return patch

    def tag_corners_mm(self, tag: int, place: Place) -> Array:
        """Returns the corners (4, 3) of a base's tag, including its white rim, if any."""
        base = self._painted_bases[tag].raised(place.level)
        return self._prints.on_base(tag, place, base.base_type).corners_mm

    def _soft(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        if self._blur_px <= 0:
            return values
        return np.asarray(cv2.GaussianBlur(values, (0, 0), self._blur_px), dtype=np.float32)

    def _ground(self, tag: int, place: Place, base: _PaintedBase, box: Box) -> Linear:
        """Renders the flocked top of a base, with grain that moves with it and a darker edge."""
        base_type = base.base_type
        x_mm, y_mm = plane_map(self._camera, box, base_type.tag_height_mm)
        forward, right = _local(x_mm, y_mm, place)
        # Each tag shows another part of the texture; 250 of its 256 pixels leave room to
        # interpolate.
        grain = cv2.remap(
            self._flock,
            ((right + 31.7 * tag) * 3 % 250).astype(np.float32),
            ((forward + 17.3 * tag) * 3 % 250).astype(np.float32),
            cv2.INTER_LINEAR,
        )
        to_edge_mm = _to_edge_mm(base_type, right, forward)
        edge = 1 - 0.5 * np.exp(-np.square(np.maximum(to_edge_mm, 0) / 0.8))
        shade = ((1 + base.grain * (grain - 1)) * edge).astype(np.float32)
        colour = np.array(linear_colour(*base.ground), dtype=np.float32)
        return np.asarray(shade[..., None] * colour)


class _Solids:
    """The miniatures of one base at its place, as polygons in the picture."""

    def __init__(self, camera: Camera, place: Place, base: _PaintedBase) -> None:
        self._shapes = base.shapes
        spots = np.array([spot for shape in base.shapes for spot in shape.spots]).reshape(-1, 3)
        top_mm = base.base_type.tag_height_mm
        heading_rad = math.radians(place.heading_deg)
        ahead = np.array([math.cos(heading_rad), math.sin(heading_rad)])
        aside = np.array([ahead[1], -ahead[0]])
        ground = np.array([place.x_mm, place.y_mm]) + spots[:, :1] * ahead + spots[:, 1:2] * aside
        up = spots[:, 2:]
        self._pixels = camera.to_image(np.hstack([ground, up + top_mm]))
        shadow = ground + up * SHADOW_MM_PER_MM * 0.6
        self._shadow_pixels = camera.to_image(np.hstack([shadow, 0 * up + top_mm]))
        self._px_per_mm = float(camera.px_per_mm([[place.x_mm, place.y_mm]])[0])

    def box(self, margin_px: float) -> Box:
        """Returns the box of pixels that the miniatures and their shadows cover."""
        points = np.concatenate([self._pixels, self._shadow_pixels])
        # Without miniatures: an empty box, which joining replaces.
        return Box.around(points, margin_px + 2) if len(points) else Box(10**6, 10**6, -1, -1)

    def drawn(self, box: Box) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
        """Returns the colours (rows, columns, 3) of a box, and the coverage of each pixel."""
        size = (box.height * _SUPERSAMPLING, box.width * _SUPERSAMPLING)
        colour, cover = np.zeros((*size, 3), np.uint8), np.zeros(size, np.uint8)
        for shape, pixels in self._pieces(self._pixels, box):
            self._draw(colour, shape, pixels, shape.colour[::-1])
            self._draw(cover, shape, pixels, 255)
        # Extend the colours beyond the edges, or downsampling would give them dark rims.
        extended = cv2.dilate(colour, np.ones((3, 3), np.uint8))
        colour = np.where(cover[..., None] > 0, colour, extended)
        small = cv2.resize(colour, (box.width, box.height), interpolation=cv2.INTER_AREA)
        share = cv2.resize(cover, (box.width, box.height), interpolation=cv2.INTER_AREA)
        return np.asarray(small, dtype=np.uint8), _share(share)

    def shadow(self, box: Box) -> NDArray[np.float32]:
        """Returns the share of each pixel in the miniatures' shadow."""
        shadow = np.zeros((box.height, box.width), np.uint8)
        for shape, pixels in self._pieces(self._shadow_pixels, box, supersampling=1):
            self._draw(shadow, shape, pixels, 255, supersampling=1)
        return _share(cv2.GaussianBlur(shadow, (0, 0), 0.8))

    def _pieces(
        self, pixels: Array, box: Box, supersampling: int = _SUPERSAMPLING
    ) -> list[tuple[Shape, NDArray[np.int32]]]:
        # Pixel centres are at integers, so scaling is about -0.5.
        local = (pixels - [box.left, box.top] + 0.5) * supersampling - 0.5
        fixed = np.rint(local * 2**_SHIFT_BITS).astype(np.int32)
        ends = np.cumsum([len(shape.spots) for shape in self._shapes])
        return list(zip(self._shapes, np.split(fixed, ends[:-1]), strict=True))

    def _draw(
        self,
        picture: NDArray[np.uint8],
        shape: Shape,
        pixels: NDArray[np.int32],
        colour: int | tuple[int, ...],
        supersampling: int = _SUPERSAMPLING,
    ) -> None:
        # Drawn without antialiasing, because supersampling smooths the edges.
        width_px = shape.width_mm * self._px_per_mm * supersampling
        if len(pixels) == 1:
            at = (int(pixels[0, 0]), int(pixels[0, 1]))
            radius = max(1, round(width_px / 2 * 2**_SHIFT_BITS))
            cv2.circle(picture, at, radius, colour, -1, cv2.LINE_8, shift=_SHIFT_BITS)
        elif len(pixels) == 2:
            thick = max(1, round(width_px))
            cv2.polylines(picture, [pixels], False, colour, thick, cv2.LINE_8, _SHIFT_BITS)
        else:
            cv2.fillPoly(picture, [pixels], colour, cv2.LINE_8, _SHIFT_BITS)


def lay_print(patch: Patch, camera: Camera, sheet: Print, blur_px: float) -> None:
    """Draws printed paper onto the part of a patch that it covers."""
    box = sheet.box(camera, _MARGIN_SIGMAS * blur_px + 1).clipped(patch.box)
    covered, white = seen_print(camera, sheet, box, blur_px)
    part = Patch(box, patch.light[box.within(patch.box)])
    # Ink where it is covered but not white, per covered share.
    light = (INK * covered + (PAPER - INK) * white) / np.maximum(covered, 1e-6)
    part.cover(np.repeat(light[..., None], 3, axis=-1), covered)


def _painted_bases(roster: Roster, *, with_figures: bool) -> dict[int, _PaintedBase]:
    if roster.table.hex_map is not None:
        return _painted_counters(roster)
    bases: dict[int, _PaintedBase] = {}
    for unit in roster.units:
        for index, tag in enumerate(unit.tags):
            # The second base, or the only one, carries the flag.
            has_flag = index == min(1, len(unit.tags) - 1)
            bases[tag] = _painted_base(
                unit.id, unit.side, unit.arm, unit.base_type, tag, has_flag, with_figures
            )
    for commander in roster.commanders:
        bases[commander.tag] = _painted_base(
            commander.id,
            commander.side,
            None,
            commander.base_type,
            commander.tag,
            True,
            with_figures,
        )
    return bases


def _painted_counters(roster: Roster) -> dict[int, _PaintedBase]:
    """Returns the printed sides of counters, in the colours of their sides."""
    owners: tuple[UnitEntry | CommanderEntry, ...] = (*roster.units, *roster.commanders)
    colours, side_by_id = (
        counter_colours(owner.side for owner in owners),
        {owner.id: owner.side for owner in owners},
    )
    owner_by_tag = roster.owner_by_tag()
    return {
        tag: _PaintedBase(base_type, colours[side_by_id[owner_by_tag[tag]]], 0.0, ())
        for tag, base_type in roster.base_type_by_tag().items()
    }


def _painted_base(
    owner: str,
    side: str,
    arm: Arm | None,
    base_type: BaseType,
    tag: int,
    has_flag: bool,
    with_figures: bool,
) -> _PaintedBase:
    colours = uniform(side, arm, owner)
    shapes = figures(arm, base_type, colours, tag, has_flag=has_flag) if with_figures else ()
    return _PaintedBase(base_type, colours.ground, 1.0, shapes)


def _slab_shadow(camera: Camera, rim_mm: Array, box: Box) -> NDArray[np.float32]:
    """Returns the narrow shadow that a base's thickness casts on the table."""
    shadow_mm = rim_mm.copy()
    shadow_mm[:, :2] += SHADOW_MM_PER_MM * (rim_mm[:, 2:] + 0.6)
    # The shadow lies on the table.
    shadow_mm[:, 2] = 0
    return np.asarray(cv2.GaussianBlur(_filled(camera, shadow_mm, box), (0, 0), 1.2))


def _filled(camera: Camera, outline_mm: Array, box: Box) -> NDArray[np.float32]:
    """Returns the share of each pixel that an outline (k, 3) covers."""
    pixels = (camera.to_image(outline_mm) - [box.left, box.top]) * 2**_SHIFT_BITS
    cover = np.zeros((box.height, box.width), np.uint8)
    cv2.fillPoly(cover, [np.rint(pixels).astype(np.int32)], 255, cv2.LINE_AA, _SHIFT_BITS)
    return _share(cover)


def _rim_mm(place: Place, base_type: BaseType) -> Array:
    """Returns the outline (k, 3) of a base's top."""
    pose = BasePose(
        place.x_mm,
        place.y_mm,
        place.heading_deg,
        base_type.width_mm,
        base_type.depth_mm,
        shape=base_type.shape,
    )
    outline_mm = rim(pose)
    return np.column_stack([outline_mm, np.full(len(outline_mm), base_type.tag_height_mm)])


def _to_edge_mm(base_type: BaseType, right: Array, forward: Array) -> Array:
    """Returns how far points of a base lie from its edge, roughly for an oval."""
    half_width_mm, half_depth_mm = base_type.width_mm / 2, base_type.depth_mm / 2
    if base_type.shape == "rectangle":
        to_side_mm, to_front_mm = half_width_mm - np.abs(right), half_depth_mm - np.abs(forward)
        return np.asarray(np.minimum(to_side_mm, to_front_mm))
    share = np.hypot(right / half_width_mm, forward / half_depth_mm)
    return np.asarray((1.0 - share) * min(half_width_mm, half_depth_mm))


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


def _local(x_mm: Array, y_mm: Array, place: Place) -> tuple[Array, Array]:
    """Converts table points to distances forward and right of a base's centre."""
    heading_rad = math.radians(place.heading_deg)
    cos, sin = math.cos(heading_rad), math.sin(heading_rad)
    x, y = x_mm - place.x_mm, y_mm - place.y_mm
    return cos * x + sin * y, sin * x - cos * y


def _share(cover: NDArray[np.uint8]) -> NDArray[np.float32]:
    return np.asarray(cover / np.float32(255), dtype=np.float32)


def _flock(rng: np.random.Generator) -> NDArray[np.float32]:
    """Returns a texture (256, 256) of light and dark grain about 1, at 3 px per mm."""
    fine = rng.standard_normal((256, 256), dtype=np.float32)
    tufts = cv2.resize(rng.standard_normal((40, 40), dtype=np.float32), (256, 256))
    return np.asarray(1 + 0.2 * cv2.GaussianBlur(fine, (0, 0), 0.9) + 0.22 * tufts)
