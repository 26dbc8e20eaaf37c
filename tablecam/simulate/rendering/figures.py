"""Uniforms, and miniatures of flat shapes: discs, polygons and lines at heights above the base.

The frame is the base's, in millimetres: forward and right of its centre, and up from its top.
"""

from __future__ import annotations

import colorsys
import math
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from tablecam.simulate.rendering.mat import Colour
from tablecam.table.model import Arm
from tablecam.table.roster import BaseType


@dataclass(frozen=True, slots=True)
class Uniform:
    """The screen colours of one unit's soldiers and of the ground on their bases."""

    coat: Colour
    facing: Colour
    saddle_cloth: Colour
    flag: Colour
    ground: Colour


_WHITE: Colour = (226, 222, 210)
_COATS: dict[str, tuple[Colour, Colour, Colour, Colour]] = {
    "prussian": ((34, 50, 112), (186, 38, 36), _WHITE, (122, 112, 72)),
    "austrian": (_WHITE, (178, 40, 40), (222, 178, 44), (148, 126, 86)),
    "french": ((216, 214, 208), (44, 64, 140), (236, 236, 230), (104, 96, 62)),
    "british": ((172, 34, 34), (36, 60, 112), (40, 52, 120), (92, 90, 56)),
    "russian": ((36, 84, 50), (186, 44, 38), (230, 200, 60), (110, 96, 66)),
    "swedish": ((40, 70, 140), (232, 196, 50), (232, 196, 50), (98, 92, 60)),
    "union": ((36, 48, 92), (96, 132, 176), (180, 40, 44), (100, 92, 58)),
    "confederate": ((132, 130, 122), (148, 104, 60), (190, 36, 40), (116, 100, 66)),
}
"""Coat, facings, flag and ground of the bases, by side."""


def uniform(side: str, arm: Arm | None, owner: str) -> Uniform:
    """Returns the uniform of a unit; a side's cavalry regiments differ, unknown sides get a hue."""
    coat, facing, flag, ground = _COATS.get(side) or _invented(side)
    if arm == "cavalry":
        variants = (coat, _mixed(coat, (214, 200, 160)), _mixed(coat, (112, 160, 190)))
        # A hash, so that a regiment looks the same in every run.
        coat = variants[zlib.crc32(owner.encode()) % len(variants)]
    if arm == "artillery":
        coat = _mixed(coat, (96, 76, 56))
    return Uniform(coat, facing, facing, flag, ground)


def _invented(side: str) -> tuple[Colour, Colour, Colour, Colour]:
    # A hash: an unknown side has the same hue in every run.
    hue = zlib.crc32(side.encode()) % 360 / 360
    return (
        _from_hue(hue, 0.75, 0.55),
        _from_hue(hue + 0.5, 0.6, 0.7),
        _from_hue(hue, 0.4, 0.9),
        (104, 94, 62),
    )


def _from_hue(hue: float, saturation: float, value: float) -> Colour:
    red, green, blue = colorsys.hsv_to_rgb(hue % 1, saturation, value)
    return round(255 * red), round(255 * green), round(255 * blue)


def _mixed(first: Colour, second: Colour) -> Colour:
    red, green, blue = (round((a + 2 * b) / 3) for a, b in zip(first, second, strict=True))
    return red, green, blue


Spot = tuple[float, float, float]
"""A point in the base's frame: forward, right, up."""

_FLESH: Colour = (206, 156, 124)
_HAT: Colour = (28, 26, 28)
_LACE: Colour = (214, 206, 180)
_BREECHES: Colour = (206, 200, 184)
_STEEL: Colour = (168, 172, 180)
_WALNUT: Colour = (84, 54, 34)
_BRASS: Colour = (186, 150, 70)
_HORSES: tuple[Colour, ...] = ((84, 54, 36), (58, 40, 30), (116, 78, 48), (44, 36, 34))
_CARRIAGE: Colour = (72, 84, 92)
_RIDER_MM = 15.0
"""Length of a horse, whose nose may overhang a little."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A flat disc (one spot and a `width_mm`), line (two spots) or polygon (more) at a height."""

    spots: tuple[Spot, ...]
    colour: Colour
    width_mm: float = 0.0

    @property
    def top_mm(self) -> float:
        """The height of its highest spot, which is the drawing order."""
        return max(spot[2] for spot in self.spots)


def figures(
    arm: Arm | None, base_type: BaseType, uniform: Uniform, seed: int, *, has_flag: bool
) -> tuple[Shape, ...]:
    """Returns the miniatures of one base, placed ahead of its tag, lowest shapes first."""
    # Seeded by the tag: a base looks the same in every run.
    rng = np.random.default_rng(seed)
    rim_mm = base_type.tag_size_mm * 2 / 3  # half the tag and its white rim
    back_mm = base_type.tag_forward_mm + rim_mm
    # On a round base the miniatures stand nearer to its middle.
    share = 0.5 if base_type.shape == "rectangle" else 0.38
    front_mm, half_mm = share * base_type.depth_mm, share * base_type.width_mm
    if arm == "cavalry":
        shapes = _troop(back_mm, front_mm, half_mm, uniform, rng, has_flag=has_flag)
    elif arm == "artillery":
        shapes = _battery(back_mm, front_mm, half_mm, uniform, rng)
    elif arm == "infantry":
        shapes = _company(back_mm, front_mm, half_mm, uniform, rng, has_flag=has_flag)
    else:
        shapes = _staff(back_mm, front_mm, half_mm, uniform, rng)
    # Painter's algorithm: from above, higher shapes cover lower ones.
    return tuple(sorted(shapes, key=lambda shape: shape.top_mm))


def _company(
    back_mm: float,
    front_mm: float,
    half_mm: float,
    uniform: Uniform,
    rng: np.random.Generator,
    *,
    has_flag: bool,
) -> Iterator[Shape]:
    """Yields two ranks of foot, with the standard in the middle."""
    depth_mm = front_mm - back_mm
    files = max(2, round(half_mm * 2 / 7.0))
    step_mm = 2 * half_mm / files
    for rank, forward in enumerate((front_mm - depth_mm * 0.26, front_mm - depth_mm * 0.74)):
        for file in range(files):
            right = (file - (files - 1) / 2) * step_mm
            spot = (forward + rng.normal(0, 0.25), right + rng.normal(0, 0.25))
            if has_flag and rank == 0 and file == files // 2:
                yield from _standard(spot, uniform)
            else:
                yield from _soldier(spot, uniform, rng)


def _soldier(
    at: tuple[float, float], uniform: Uniform, rng: np.random.Generator
) -> Iterator[Shape]:
    """Yields a foot soldier with shouldered musket, about 12 mm tall."""
    f, r = at
    tilt = rng.normal(0, 0.2)
    yield _oval(f - 0.2, r, 2.4, 1.15, 1.5, _BREECHES)
    yield _oval(f - 0.3, r, 5.0, 1.5, 1.9, _shaded(uniform.coat, 0.72))
    yield _oval(f, r, 8.0, 1.25, 2.35, uniform.coat)
    yield _box(f - 1.5, r - 1.0, f - 0.6, r + 1.0, 7.6, (92, 62, 40))  # the cartridge pouch
    yield Shape(((f - 1.0, r - 1.6, 8.3), (f + 1.0, r + 1.2, 8.3)), _BREECHES, 0.5)
    yield Shape(((f + 0.7, r - 0.9, 8.2), (f + 0.7, r + 0.9, 8.2)), uniform.facing, 0.7)
    yield Shape(((f + 0.5, r - 2.0, 6.5), (f - 0.7 + tilt, r - 2.3, 12.5)), _WALNUT, 0.55)
    yield Shape(((f - 0.7 + tilt, r - 2.3, 12.5), (f - 1.2 + tilt, r - 2.4, 15)), _STEEL, 0.45)
    yield from _head(f, r, 10.2)


def _head(f: float, r: float, up: float) -> Iterator[Shape]:
    """Yields a head under a three-cornered hat with lace."""
    yield Shape(((f + 0.3, r, up - 0.6),), _FLESH, 2.0)
    brim = ((f + 1.7, r, up), (f - 1.1, r + 1.6, up), (f - 1.1, r - 1.6, up))
    yield Shape(brim, _LACE)
    # The hat is smaller than its brim, which leaves the lace as a border.
    inner = tuple((f + (a - f) * 0.74, r + (b - r) * 0.74, up + 0.1) for a, b, _ in brim)
    yield Shape(inner, _HAT)


def _standard(at: tuple[float, float], uniform: Uniform) -> Iterator[Shape]:
    """Yields an ensign with the colours flying to the right."""
    f, r = at
    yield from _oval_man(f, r, uniform)
    yield Shape(((f + 0.5, r + 1.6, 5), (f + 0.2, r + 1.6, 19)), _WALNUT, 0.6)
    cloth = ((f - 0.6, r + 1.6, 18.5), (f + 3.2, r + 1.8, 18.0), (f + 3.6, r + 6.2, 15.5))
    yield Shape((*cloth, (f - 0.4, r + 6.0, 16.0)), uniform.flag)
    yield Shape(((f + 1.5, r + 3.8, 17.6),), uniform.facing, 2.2)


def _oval_man(f: float, r: float, uniform: Uniform) -> Iterator[Shape]:
    yield _oval(f - 0.3, r, 4.0, 1.5, 1.9, _shaded(uniform.coat, 0.72))
    yield _oval(f, r, 8.0, 1.25, 2.35, uniform.coat)
    yield Shape(((f + 0.7, r - 1.0, 8.2), (f + 0.7, r + 1.0, 8.2)), uniform.facing, 0.7)
    yield from _head(f, r, 10.2)


def _troop(
    back_mm: float,
    front_mm: float,
    half_mm: float,
    uniform: Uniform,
    rng: np.random.Generator,
    *,
    has_flag: bool,
) -> Iterator[Shape]:
    """Yields three riders abreast, scaled to fit ahead of the tag."""
    middle = (front_mm + back_mm) / 2
    # Shallow bases get smaller horses.
    scale = min(1.0, (front_mm - back_mm) / _RIDER_MM)
    for number in range(3):
        right = (number - 1) * half_mm * 0.62
        rider = _rider(uniform, rng, has_flag=has_flag and number == 1)
        yield from _placed(rider, middle - 0.5 + rng.normal(0, 0.5), right, scale=scale)


def _rider(uniform: Uniform, rng: np.random.Generator, *, has_flag: bool) -> Iterator[Shape]:
    f = r = 0.0
    horse = _HORSES[int(rng.integers(len(_HORSES)))]
    for leg_f, leg_r in ((4, 1.2), (4.6, -1.2), (-4, 1.2), (-3.4, -1.2)):
        yield Shape(((f + leg_f, r + leg_r, 5), (f + leg_f * 1.15, r + leg_r, 0.5)), horse, 0.9)
    yield _oval(f, r, 7.5, 6.2, 2.1, _shaded(horse, 0.85))
    yield _oval(f - 0.6, r, 9.0, 4.8, 1.6, horse)
    yield Shape(((f - 5.6, r, 8), (f - 7.6, r + 0.4, 5)), _shaded(horse, 0.5), 1.1)
    yield Shape(((f + 4.2, r, 9), (f + 7.0, r, 12.5)), horse, 1.9)
    yield Shape(((f + 4.0, r, 9.6), (f + 6.6, r, 13)), _shaded(horse, 0.45), 0.7)
    yield Shape(((f + 6.8, r, 12.6), (f + 8.6, r, 11.6)), horse, 1.3)
    yield _box(f - 3.2, r - 2.3, f - 0.4, r + 2.3, 9.4, uniform.saddle_cloth)
    yield _box(f - 2.8, r - 1.8, f - 0.7, r + 1.8, 9.6, _shaded(uniform.saddle_cloth, 0.8))
    yield _oval(f - 0.6, r, 13.0, 1.35, 2.2, uniform.coat)
    yield Shape(((f - 1.6, r - 1.5, 13.2), (f + 0.4, r + 1.3, 13.2)), _BREECHES, 0.5)
    if has_flag:
        yield Shape(((f, r + 2.0, 9), (f - 0.5, r + 2.0, 23)), _WALNUT, 0.6)
        cloth = ((f - 0.5, r + 2, 22.5), (f + 3.2, r + 2, 22), (f + 3.4, r + 6, 20))
        yield Shape((*cloth, (f - 0.4, r + 5.6, 20)), uniform.flag)
    else:
        yield Shape(((f + 0.6, r + 2.2, 12), (f + 3.4, r + 2.6, 18)), _STEEL, 0.5)
    yield from _head(f - 0.5, r, 15.6)


def _battery(
    back_mm: float, front_mm: float, half_mm: float, uniform: Uniform, rng: np.random.Generator
) -> Iterator[Shape]:
    """Yields a bronze gun on its carriage, served by four gunners."""
    muzzle, trail = front_mm - 1.0, back_mm + 0.5
    axle = muzzle - 0.42 * (muzzle - trail)
    for right in (-0.9, 0.9):
        yield Shape(((trail, right * 0.7, 1.0), (axle + 1, right * 1.3, 5)), _CARRIAGE, 1.3)
    yield Shape(((axle, -4.2, 4.5), (axle, 4.2, 4.5)), _WALNUT, 1.0)
    for right in (-4.2, 4.2):
        yield Shape(((axle - 4, right, 4.6), (axle + 4, right, 4.6)), _shaded(_CARRIAGE, 0.6), 1.5)
        yield Shape(((axle - 3.2, right, 8), (axle + 3.2, right, 8)), _CARRIAGE, 1.2)
    yield Shape(((axle - 4.2, 0, 6.6), (muzzle, 0, 7.6)), _shaded(_BRASS, 0.7), 2.9)
    yield Shape(((axle - 4.2, 0, 7.3), (muzzle, 0, 8.2)), _BRASS, 1.9)
    yield Shape(((axle - 4.0, -0.4, 8.0), (muzzle - 0.3, -0.4, 8.6)), _shaded(_BRASS, 1.3), 0.6)
    yield Shape(((muzzle, 0, 8.2),), (34, 28, 22), 1.4)
    for forward, right in (
        (muzzle - 3, half_mm - 5.2),
        (axle - 4.5, half_mm - 4.4),
        (axle - 5, -half_mm + 4.4),
        (muzzle - 2.4, -half_mm + 5.4),
    ):
        yield from _oval_man(forward, right, uniform)
    ram = (muzzle - 2.4, -half_mm + 7.0, 8.0)
    yield Shape((ram, (muzzle - 3.4 + rng.normal(0, 0.5), -1.5, 9)), _WALNUT, 0.7)


def _staff(
    back_mm: float, front_mm: float, half_mm: float, uniform: Uniform, rng: np.random.Generator
) -> Iterator[Shape]:
    """Yields a mounted commander, an aide and a standard."""
    middle = (front_mm + back_mm) / 2
    yield from _placed(_rider(uniform, rng, has_flag=False), middle, -3.5, turn_deg=65)
    yield from _standard((middle + 1, half_mm - 6.5), uniform)
    yield from _oval_man(middle - 2, -half_mm + 3.6, uniform)


def _placed(
    shapes: Iterable[Shape],
    forward: float,
    right: float,
    *,
    turn_deg: float = 0.0,
    scale: float = 1.0,
) -> Iterator[Shape]:
    """Yields shapes scaled and turned clockwise about their origin, then moved to a place."""
    cos = scale * math.cos(math.radians(turn_deg))
    sin = scale * math.sin(math.radians(turn_deg))
    for shape in shapes:
        spots = tuple(
            (forward + f * cos - r * sin, right + f * sin + r * cos, scale * up)
            for f, r, up in shape.spots
        )
        yield Shape(spots, shape.colour, scale * shape.width_mm)


def _oval(f: float, r: float, up: float, reach_f: float, reach_r: float, colour: Colour) -> Shape:
    angles = [2 * math.pi * k / 10 for k in range(10)]
    spots = tuple((f + reach_f * math.cos(a), r + reach_r * math.sin(a), up) for a in angles)
    return Shape(spots, colour)


def _box(back: float, left: float, front: float, right: float, up: float, colour: Colour) -> Shape:
    return Shape(
        ((back, left, up), (back, right, up), (front, right, up), (front, left, up)), colour
    )


def _shaded(colour: Colour, factor: float) -> Colour:
    red, green, blue = (int(min(max(value * factor, 0), 255)) for value in colour)
    return red, green, blue
