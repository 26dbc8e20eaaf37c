"""Fits a hex map to places whose hexes are known.

A place on the table is origin + size * turn * place on a grid of size 1 (Umeyama, 1991, without a
reflection), so that origin, size and turn follow from linear least squares in complex numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Final, Literal

import numpy as np

from tablecam.errors import BadInput
from tablecam.rules.hexes.grid import Grid, Hex, grid_of
from tablecam.table.model import HexMap, Point

LEAST_PLACES: Final = 4
MOST_RESIDUAL: Final = 0.15
"""The largest residual of a fit that is accepted, in hexes."""
_ORIENTATIONS: Final[tuple[Literal["flat", "pointy"], ...]] = ("flat", "pointy")
_NUMBERINGS: Final[tuple[Literal["CCRR", "RRCC"], ...]] = ("CCRR", "RRCC")
_SHIFTED: Final[tuple[Literal["even", "odd"], ...]] = ("even", "odd")

_FITS_BETTER: Final = 0.5
"""The share of a fit's residual below which another numbering is worth a word."""


@dataclass(frozen=True, slots=True)
class MapFit:
    """A map fitted to places, with each one's distance from its hex's centre, in millimetres."""

    map: HexMap
    residuals_mm: Mapping[Hex, float]

    @property
    def worst(self) -> float:
        """The largest residual, in hexes."""
        return max(self.residuals_mm.values()) / self.map.hex_size_mm

    def share(self, number: Hex) -> float:
        """Returns a hex's residual, in hexes."""
        return self.residuals_mm[number] / self.map.hex_size_mm

    @property
    def is_good(self) -> bool:
        """Whether every place lies near enough to its hex."""
        return self.worst <= MOST_RESIDUAL

    @property
    def problem(self) -> str:
        """Why the fit is refused, empty if it is good."""
        if self.is_good:
            return ""
        return (
            f"expected every place within {MOST_RESIDUAL} of a hex, got {self.worst:.2f}: is one "
            "of them another hex?"
        )


def fit_map(hex_map: HexMap, places_mm: Mapping[Hex, Point]) -> MapFit:
    """Returns a map with the origin, size and rotation that fit the centres of hexes best.

    Only the arrangement of hexes is taken from `hex_map`.

    Args:
        hex_map: The map as the table file has it.
        places_mm: Where the centres of at least four hexes lie on the table.

    Raises:
        BadInput: There are fewer than four places, a hex is not on the map, or all lie in one spot.
    """
    if len(places_mm) < LEAST_PLACES:
        raise BadInput("hexmap fit", f"expected {LEAST_PLACES} hexes or more, got {len(places_mm)}")
    unit_map = replace(hex_map, hex_size_mm=1.0, origin_mm=(0.0, 0.0), rotation_deg=0.0)
    grid = grid_of(unit_map)
    for number in places_mm:
        if number not in grid:
            raise BadInput(
                "hexmap fit", f"expected a hex of the map, {_extent(grid)}, got {number}"
            )
    on_grid = np.array([complex(*grid.middle_mm((number,))) for number in places_mm])
    on_table = np.array([complex(*place) for place in places_mm.values()])
    spread, middle = on_grid - on_grid.mean(), on_table.mean()
    turn = complex(np.vdot(spread, on_table - middle) / np.vdot(spread, spread))
    if abs(turn) < 1.0:
        raise BadInput("hexmap fit", "expected different places, got all of them at one spot")
    start = complex(middle - turn * on_grid.mean())
    fitted = replace(
        hex_map,
        hex_size_mm=abs(turn),
        origin_mm=(start.real, start.imag),
        rotation_deg=math.degrees(math.atan2(turn.imag, turn.real)),
    )
    residuals = np.abs(on_table - start - turn * on_grid)
    return MapFit(fitted, dict(zip(places_mm, residuals.tolist(), strict=True)))


def better_fits(fit: MapFit, places_mm: Mapping[Hex, Point]) -> Iterator[MapFit]:
    """Yields fits of maps with other numbering or shift, if they are much better."""
    for orientation, numbering, shifted in product(_ORIENTATIONS, _NUMBERINGS, _SHIFTED):
        other = replace(fit.map, orientation=orientation, numbering=numbering, shifted=shifted)
        if other == fit.map or any(number not in grid_of(other) for number in places_mm):
            continue
        fitted = fit_map(other, places_mm)
        if fitted.is_good and fitted.worst < _FITS_BETTER * fit.worst:
            yield fitted


def better_words(fit: MapFit, places_mm: Mapping[Hex, Point]) -> str:
    """Names another arrangement that fits much better, empty if none does."""
    better = min(better_fits(fit, places_mm), key=lambda other: other.worst, default=None)
    if better is None:
        return ""
    keys = ("orientation", "numbering", "shifted")
    changed = [key for key in keys if getattr(better.map, key) != getattr(fit.map, key)]
    words = ", ".join(f'{key} = "{getattr(better.map, key)}"' for key in changed)
    how = f"{better.worst:.3f} of a hex, not {fit.worst:.3f}"
    return f"another numbering fits better: {words} ({how})"


def far_hexes(hex_map: HexMap) -> tuple[Hex, ...]:
    """Returns the hexes in the four corners of a map, clockwise from the top left one."""
    grid = grid_of(replace(hex_map, rotation_deg=0.0))
    middles = {number: grid.middle_mm((number,)) for number in grid.hexes}
    return tuple(
        max(middles, key=lambda number: right * middles[number][0] + up * middles[number][1])
        for right, up in ((-1, 1), (1, 1), (1, -1), (-1, -1))
    )


def _extent(grid: Grid) -> str:
    hexes = tuple(grid.hexes)
    return f"{hexes[0]} to {hexes[-1]}"


def map_section(hex_map: HexMap) -> str:
    """Returns the section `[map]` of a table file."""
    x_mm, y_mm = hex_map.origin_mm
    lines: Iterable[str] = (
        "[map]",
        f'orientation = "{hex_map.orientation}"',
        f"hex_size_mm = {hex_map.hex_size_mm:.3f}",
        f"origin_mm = [{x_mm:.2f}, {y_mm:.2f}]",
        f"rotation_deg = {hex_map.rotation_deg:.3f}",
        f"columns = {hex_map.columns}",
        f"rows = {hex_map.rows}",
        f"first_column = {hex_map.first_column}",
        f"first_row = {hex_map.first_row}",
        f'numbering = "{hex_map.numbering}"',
        f'shifted = "{hex_map.shifted}"',
    )
    return "\n".join(lines)
