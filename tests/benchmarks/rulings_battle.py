"""A battle of 40 units on a table full of terrain, for measuring the speed of rulings.

French foot and horse face north, British south, four rows of ten units of four bases of 40 x 40
mm (160 bases; ten of the units are cavalry), all a little askew, at seeded places on 2400 x 1600
mm; one French unit in five has charged home. Each side's commander stands behind the middle of its
second row. Twenty pieces of terrain lie at seeded places.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from tablecam.table.model import BasePose, Commander, Position, TableSize, Terrain, Unit

TABLE = TableSize(2400, 1600, 40)
BW = 40.0
SIGMA_MM, SIGMA_DEG = 0.1, 0.3
"""As for tags at 1.8 pixels a cell (`detection_model.toml`)."""
ROWS = 10
COMMANDERS = (
    Commander("french-cinc", "french", 1180.0, 520.0),
    Commander("british-cinc", "british", 1220.0, 1080.0),
)
PIECES = ("woods", "rough", "hill", "field", "wall", "woods", "marsh", "road", "crest", "woods")
LINE = tuple(((place - 1.5) * BW, 0.0) for place in range(4))
MASSED = tuple((right, ahead) for ahead in (BW / 2, -BW / 2) for right in (-BW / 2, BW / 2))


def battle(seed: int = 1759) -> Position:
    rng = np.random.default_rng(seed)
    units = [*army("french", 90.0, rng), *army("british", 270.0, rng)]
    return Position("maurice-lite", TABLE, tuple(units), COMMANDERS, tuple(terrain(rng)))


def army(side: str, heading_deg: float, rng: np.random.Generator) -> Iterator[Unit]:
    facing = math.sin(math.radians(heading_deg))
    for row, column in np.ndindex(2, ROWS):
        is_horse = row == 1 and column % 2 == 0
        # The first rows lie 3 BW apart from front to front, the second 2.5 BW behind them.
        y_mm = 800 - facing * (80 + row * 140) + rng.uniform(-4, 4)
        askew_deg = rng.uniform(-3, 3)
        if side == "french" and row == 0 and column % 5 == 2:
            y_mm, askew_deg = 836.0, 0.0
        elif side == "british" and row == 0 and column % 5 == 2:
            y_mm, askew_deg = 876.5, 0.0
        x_mm = 200 + column * 220 + rng.uniform(-15, 15)
        name = f"{side[0].upper()}{row * ROWS + column + 1}"
        places = MASSED if is_horse else LINE
        yield Unit(
            name,
            side,
            "cavalry" if is_horse else "infantry",
            tuple(bases(x_mm, y_mm, heading_deg + askew_deg, places)),
            "massed" if is_horse else "line",
            {"disruption": int(rng.integers(0, 4))},
        )


def bases(
    x_mm: float, y_mm: float, heading_deg: float, places: tuple[tuple[float, float], ...]
) -> Iterator[BasePose]:
    turn = math.radians(heading_deg)
    cos, sin = math.cos(turn), math.sin(turn)
    for right, ahead in places:
        x = x_mm + ahead * cos + right * sin
        y = y_mm + ahead * sin - right * cos
        yield BasePose(x, y, heading_deg, BW, BW)


def terrain(rng: np.random.Generator) -> Iterator[Terrain]:
    for number in range(2 * len(PIECES)):
        kind = PIECES[number % len(PIECES)]
        middle = rng.uniform((100, 450), (2300, 1150))
        if kind in ("wall", "road", "crest"):
            # Long and thin, at any angle.
            radii, turns = np.array([120, 120, 120, 120]), np.radians([-3, 3, 177, 183])
            turns = turns + rng.uniform(0, math.pi)
        else:
            radii = rng.uniform(40, 110, size=12)
            turns = np.linspace(0, 2 * math.pi, 12, endpoint=False)
        outline = middle + radii[:, None] * np.stack([np.cos(turns), np.sin(turns)], axis=1)
        corners = tuple((float(x), float(y)) for x, y in outline)
        yield Terrain(f"{kind}-{number}", kind, corners)


def with_one_moved(position: Position, unit_id: str, by_mm: float) -> Position:
    """The same table after a hand has shifted one unit straight along x."""
    units = tuple(
        replace(unit, bases=tuple(replace(base, x_mm=base.x_mm + by_mm) for base in unit.bases))
        if unit.id == unit_id
        else unit
        for unit in position.units
    )
    return replace(position, units=units)


def measured(position: Position) -> Position:
    """The same table as a camera gives it, with every base known to 0.1 mm and 0.3 degrees."""
    return _with_bases(position, lambda base: replace(base, sigma_mm=SIGMA_MM, sigma_deg=SIGMA_DEG))


def jittered(position: Position, seed: int) -> Position:
    """The same table in the next picture, with every base displaced by less than its sigma."""
    rng = np.random.default_rng(seed)

    def moved(base: BasePose) -> BasePose:
        x_mm, y_mm, turned_deg = rng.uniform(-1, 1, 3) * (
            base.sigma_mm,
            base.sigma_mm,
            base.sigma_deg,
        )
        return replace(
            base,
            x_mm=base.x_mm + x_mm,
            y_mm=base.y_mm + y_mm,
            heading_deg=base.heading_deg + turned_deg,
        )

    return _with_bases(position, moved)


def drawn(position: Position, seed: int) -> Position:
    """The same table as it may be in truth, with every base drawn from its distribution."""
    rng = np.random.default_rng(seed)

    def moved(base: BasePose) -> BasePose:
        x_mm, y_mm, turned_deg = rng.standard_normal(3).tolist()
        return replace(
            base,
            x_mm=base.x_mm + x_mm * base.sigma_mm,
            y_mm=base.y_mm + y_mm * base.sigma_mm,
            heading_deg=base.heading_deg + turned_deg * base.sigma_deg,
            sigma_mm=0.0,
            sigma_deg=0.0,
        )

    return _with_bases(position, moved)


def _with_bases(position: Position, change: Callable[[BasePose], BasePose]) -> Position:
    units = (
        replace(unit, bases=tuple(change(base) for base in unit.bases)) for unit in position.units
    )
    return replace(position, units=tuple(units))
