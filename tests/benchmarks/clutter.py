"""Things on a table that hide parts of tags: figures, smoke, dice, spears, cards.

Everything consists of flat pieces at heights, drawn as the camera sees them, with the share of each
pixel that they cover: so the visible share of a tag is known exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass

import cv2
import numpy as np

from calibration.camera import Camera
from tablecam.simulate.rendering.figures import Shape, figures, uniform
from tablecam.simulate.rendering.light import linear_colour
from tablecam.simulate.rendering.places import Place
from tablecam.simulate.rendering.rays import Box
from tablecam.table.model import TableSize
from tablecam.table.roster import BaseType, Roster

_FINER = 4
"""Factor by which pieces are drawn larger than they are seen."""
_SHIFT_BITS = 4
TALL_MM = 24.0
"""Most people own figures of 25 mm; the simulated ones are drawn 15 mm tall and made taller."""
_DRAWN_MM = 15.0
_SMOKE, _CASUALTY, _BONE = (232, 230, 226), (190, 40, 36), (238, 236, 228)
_PIPS = ((3, 3), (-3, -3), (3, -3), (-3, 3), (0, 3), (0, -3))
_PAPER, _INK, _WOOD = (236, 233, 224), (38, 36, 40), (110, 82, 52)


@dataclass(frozen=True)
class Piece:
    """One spot (1, 3) makes a disc `width_mm` wide, two a stick, more a polygon; table frame."""

    spots_mm: np.ndarray
    colour: tuple[int, int, int]
    width_mm: float = 0.0


@dataclass(frozen=True)
class Thing:
    """Pieces drawn together, lowest first, and the plane on which their shadow falls."""

    pieces: tuple[Piece, ...]
    ground_mm: float = 0.0


@dataclass(frozen=True)
class Shadows:
    """The offset of shadows (mm per mm of height), their darkness, and their softness in pixels."""

    falls: tuple[tuple[float, float], ...]
    strength: float
    soft_px: float


class Layer:
    """A picture in linear light (height, width, 3), and how much of each pixel is hidden."""

    def __init__(self, camera: Camera, linear: np.ndarray, shadows: Shadows, blur_px: float):
        self.linear = linear
        self.hidden = np.zeros(linear.shape[:2], np.float32)
        self.camera = camera
        self._shadows = shadows
        self._blur_px = blur_px

    def add(self, thing: Thing) -> None:
        """Draw a thing and the shadows it throws."""
        spots = np.concatenate([piece.spots_mm for piece in thing.pieces])
        for fall in self._shadows.falls:
            self._shade(thing, spots, np.array(fall))
        box = self._box(spots, thing)
        if box.is_empty:
            return
        light, cover = self._drawn(thing, spots, box)
        self.hidden[box.slices] = 1 - (1 - self.hidden[box.slices]) * (1 - cover)
        seen = cv2.GaussianBlur(np.dstack([light, cover]), (0, 0), self._blur_px)
        self.linear[box.slices] = self.linear[box.slices] * (1 - seen[..., 3:]) + seen[..., :3]

    def copy(self) -> Layer:
        """A copy of the picture to draw on."""
        other = copy(self)
        other.linear, other.hidden = self.linear.copy(), self.hidden.copy()
        return other

    def add_all(self, things: Iterable[Thing]) -> None:
        """Draw things, one on top of the other."""
        for thing in things:
            self.add(thing)

    def _shade(self, thing: Thing, spots: np.ndarray, fall: np.ndarray) -> None:
        up = np.maximum(spots[:, 2:] - thing.ground_mm, 0)
        fallen = np.hstack([spots[:, :2] + up * fall, np.full_like(up, thing.ground_mm)])
        box = self._box(fallen, thing)
        if box.is_empty:
            return
        _, cover = self._drawn(thing, fallen, box)
        dark = cv2.GaussianBlur(cover, (0, 0), self._shadows.soft_px) * self._shadows.strength
        self.linear[box.slices] *= 1 - dark[..., None]

    def _box(self, spots: np.ndarray, thing: Thing) -> Box:
        reach_mm = max(piece.width_mm for piece in thing.pieces) / 2
        margin = reach_mm * self._px_per_mm(spots) + 4 * self._shadows.soft_px + 3
        frame = Box(0, 0, self.linear.shape[1], self.linear.shape[0])
        return Box.around(self.camera.to_image(spots), margin).clipped(frame)

    def _px_per_mm(self, spots: np.ndarray) -> float:
        return float(self.camera.px_per_mm(spots[:1, :2], spots[:1, 2])[0])

    def _drawn(self, thing: Thing, spots: np.ndarray, box: Box) -> tuple[np.ndarray, np.ndarray]:
        """Light times cover (rows, columns, 3), and cover, as means over the finer drawing."""
        fine = np.zeros((box.height * _FINER, box.width * _FINER, 4), np.float32)
        pixels = (self.camera.to_image(spots) - [box.left, box.top] + 0.5) * _FINER - 0.5
        fixed = np.rint(pixels * 2**_SHIFT_BITS).astype(np.int32)
        ends = np.cumsum([len(piece.spots_mm) for piece in thing.pieces])[:-1]
        scale = self._px_per_mm(spots) * _FINER
        for piece, at in zip(thing.pieces, np.split(fixed, ends), strict=True):
            _draw(fine, piece, at, scale)
        small = cv2.resize(fine, (box.width, box.height), interpolation=cv2.INTER_AREA)
        return small[..., :3], small[..., 3]


def _draw(fine: np.ndarray, piece: Piece, pixels: np.ndarray, px_per_mm: float) -> None:
    colour = (*linear_colour(*piece.colour), 1.0)
    width_px = piece.width_mm * px_per_mm
    if len(pixels) == 1:
        radius = max(1, round(width_px / 2 * 2**_SHIFT_BITS))
        at = (int(pixels[0, 0]), int(pixels[0, 1]))
        cv2.circle(fine, at, radius, colour, -1, cv2.LINE_8, _SHIFT_BITS)
    elif len(pixels) == 2:
        cv2.polylines(
            fine, [pixels], False, colour, max(1, round(width_px)), cv2.LINE_8, _SHIFT_BITS
        )
    else:
        cv2.fillPoly(fine, [pixels], colour, cv2.LINE_8, _SHIFT_BITS)


def miniatures(
    roster: Roster,
    places: Mapping[int, Place],
    rng: np.random.Generator,
    *,
    tall_mm: float = TALL_MM,
) -> list[Thing]:
    """The figures on all bases; some are glued so near the tag that they lean over it."""
    groups = [(unit.side, unit.arm, unit.id, unit.base_type, unit.tags) for unit in roster.units]
    groups += [
        (leader.side, None, leader.id, leader.base_type, (leader.tag,))
        for leader in roster.commanders
    ]
    return [
        _standing(
            figures(arm, base_type, uniform(side, arm, owner), tag, has_flag=number == 1),
            places[tag],
            base_type,
            back_mm=float(rng.choice([0.0, 1.0, 3.0], p=[0.6, 0.3, 0.1])),
            tall_mm=tall_mm,
        )
        for side, arm, owner, base_type, tags in groups
        for number, tag in enumerate(tags)
    ]


def _standing(
    shapes: Sequence[Shape],
    place: Place,
    base_type: BaseType,
    *,
    back_mm: float,
    tall_mm: float,
) -> Thing:
    taller = tall_mm / _DRAWN_MM
    return Thing(
        tuple(
            Piece(
                _on_table(
                    place,
                    [
                        (f - back_mm, r, taller * up + base_type.tag_height_mm)
                        for f, r, up in shape.spots
                    ],
                ),
                shape.colour,
                shape.width_mm,
            )
            for shape in shapes
        ),
        base_type.tag_height_mm,
    )


def markers(
    roster: Roster, places: Mapping[int, Place], table: TableSize, rng: np.random.Generator
) -> list[Thing]:
    """Smoke, casualties, spears and dice near bases, and dice and pompons anywhere."""
    tags = list(places)
    types = roster.base_type_by_tag()

    def near(spread_mm: float) -> Place:
        tag = tags[rng.integers(len(tags))]
        at = places[tag].offset(types[tag].tag_forward_mm, types[tag].tag_right_mm)
        return at.offset(*rng.normal(0, spread_mm, 2), float(rng.uniform(0, 360)))

    return [
        *(_smoke(near(16), rng) for _ in range(12)),
        *(_ball(near(14), _CASUALTY, 7.0) for _ in range(6)),
        *(_spear(near(14), rng) for _ in range(8)),
        *(_die(near(22), rng) for _ in range(4)),
        *(_die(_anywhere(table, rng), rng) for _ in range(6)),
        *(_ball(_anywhere(table, rng), (40, 60, 170), 8.0) for _ in range(4)),
    ]


def coverings(
    roster: Roster, places: Mapping[int, Place], rng: np.random.Generator, *, share: float = 0.5
) -> list[Thing]:
    """Cards, dice, pompons, smoke and figures over any corner or edge of a share of the tags."""
    types = roster.base_type_by_tag()
    things = []
    for tag, place in places.items():
        if rng.uniform() < 1 - share:
            continue
        base_type = types[tag]
        beside_mm = base_type.tag_size_mm * rng.uniform(0.3, 0.6)
        at = place.offset(base_type.tag_forward_mm, base_type.tag_right_mm, rng.uniform(0, 360))
        at = at.offset(beside_mm, 0.0, rng.uniform(0, 360))
        kind = rng.integers(5)
        if kind == 0:
            things.append(_covering_card(at, rng))
        elif kind == 1:
            things.append(_die(at, rng))
        elif kind == 2:
            things.append(_ball(at, _CASUALTY, float(rng.uniform(6, 11))))
        elif kind == 3:
            things.append(_smoke(at, rng))
        else:
            things.append(_fallen(roster, base_type, at, rng))
    return things


def _covering_card(at: Place, rng: np.random.Generator) -> Thing:
    """A small card of one grey, half of them framed, with a corner over a tag."""
    long_mm, wide_mm = rng.uniform(8, 25, 2)
    at = at.offset(long_mm / 2 - 4, rng.uniform(-0.5, 0.5) * wide_mm, 0.0)
    colours = (_PAPER, _INK, _WOOD, _SMOKE)
    inner, outer = (colours[number] for number in rng.integers(4, size=2))
    pieces = (
        Piece(_rectangle(at, long_mm, wide_mm, 3.6), outer),
        Piece(_rectangle(at, long_mm - 4, wide_mm - 4, 3.6), inner),
    )
    return Thing(pieces[: rng.integers(1, 3)], 3.0)


def _fallen(roster: Roster, base_type: BaseType, at: Place, rng: np.random.Generator) -> Thing:
    """A part of another base's figures."""
    unit = roster.units[rng.integers(len(roster.units))]
    colours = uniform(unit.side, unit.arm, unit.id)
    shapes = figures(unit.arm, base_type, colours, int(rng.integers(250)), has_flag=False)
    middle = np.mean([shape.spots[0][:2] for shape in shapes], axis=0)
    near = [shape for shape in shapes if math.dist(shape.spots[0][:2], middle) < 6]
    return _standing(
        near, at.offset(-middle[0], -middle[1], 0.0), base_type, back_mm=0.0, tall_mm=TALL_MM
    )


def cards(table: TableSize, rng: np.random.Generator) -> list[Thing]:
    """Reference cards: they lie beneath bases."""
    return [_card(_anywhere(table, rng), rng) for _ in range(3)]


def _anywhere(table: TableSize, rng: np.random.Generator) -> Place:
    x, y, turn = rng.uniform(0.03, 0.97, 3)
    return Place(x * table.width_mm, y * table.depth_mm, turn * 360)


def _smoke(at: Place, rng: np.random.Generator) -> Thing:
    """Cotton wool: a few puffs, the higher the smaller and the brighter."""
    puffs = sorted(
        (rng.uniform(4, 14), *rng.normal(0, 4.0, 2), rng.uniform(7, 13)) for _ in range(5)
    )
    return Thing(
        tuple(
            Piece(_on_table(at, [(f, r, up)]), _shaded(_SMOKE, 0.8 + up / 70), width)
            for up, f, r, width in puffs
        ),
        3.0,
    )


def _ball(at: Place, colour: tuple[int, int, int], width_mm: float) -> Thing:
    shades = [(0.75, width_mm, 0.5), (1.0, 0.8 * width_mm, 0.75), (1.2, 0.4 * width_mm, 0.95)]
    return Thing(
        tuple(
            Piece(_on_table(at, [(0, 0, 3 + width_mm * up)]), _shaded(colour, light), width)
            for light, width, up in shades
        ),
        3.0,
    )


def _spear(at: Place, rng: np.random.Generator) -> Thing:
    length, low, high = rng.uniform(25, 60), rng.uniform(6, 15), rng.uniform(15, 30)
    return Thing((Piece(_on_table(at, [(0, 0, low), (length, 0, high)]), _WOOD, 1.1),), 3.0)


def _die(at: Place, rng: np.random.Generator) -> Thing:
    """A white die with its pips: nearly a tag."""
    side_mm, top_mm = 12.0, 15.0
    pips = _PIPS[: rng.integers(1, len(_PIPS) + 1)]
    return Thing(
        (
            Piece(_square(at, side_mm, 3.0), _shaded(_BONE, 0.7)),
            Piece(_square(at, side_mm, top_mm), _BONE),
            *(Piece(_on_table(at, [(f, r, top_mm)]), _INK, 2.4) for f, r in pips),
        )
    )


def _card(at: Place, rng: np.random.Generator) -> Thing:
    """A reference card: lines of print, and a black square that is not a tag."""
    bars = [
        Piece(
            _on_table(
                at, [(30 - 8.0 * line, -24, 0.5), (30 - 8.0 * line, float(rng.uniform(0, 24)), 0.5)]
            ),
            _INK,
            3.2,
        )
        for line in range(7)
    ]
    square = Piece(_square(at.offset(-32, 18), 14, 0.5), _INK)
    return Thing((Piece(_rectangle(at, 88, 63, 0.5), _PAPER), *bars, square), 0.0)


def _square(at: Place, side_mm: float, up_mm: float) -> np.ndarray:
    return _rectangle(at, side_mm, side_mm, up_mm)


def _rectangle(at: Place, long_mm: float, wide_mm: float, up_mm: float) -> np.ndarray:
    f, r = long_mm / 2, wide_mm / 2
    return _on_table(at, [(f, -r, up_mm), (f, r, up_mm), (-f, r, up_mm), (-f, -r, up_mm)])


def _on_table(at: Place, spots: Iterable[tuple[float, float, float]]) -> np.ndarray:
    """Spots ahead, to the right and above a place, in the table's frame (n, 3)."""
    heading = math.radians(at.heading_deg)
    cos, sin = math.cos(heading), math.sin(heading)
    return np.array(
        [(at.x_mm + f * cos + r * sin, at.y_mm + f * sin - r * cos, up) for f, r, up in spots]
    )


def _shaded(colour: tuple[int, int, int], factor: float) -> tuple[int, int, int]:
    red, green, blue = (int(min(max(value * factor, 0), 255)) for value in colour)
    return red, green, blue
