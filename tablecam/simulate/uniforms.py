"""Uniform colours by side and arm."""

from __future__ import annotations

import colorsys
import zlib
from dataclasses import dataclass

from tablecam.simulate.mat import Colour
from tablecam.table.model import Arm


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
