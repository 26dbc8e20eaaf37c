"""Paints the flat ground: the table's edge, grass, hills, fields, roads and water."""

from __future__ import annotations

import zlib
from collections.abc import Callable

import cv2
import numpy as np
from numpy.typing import NDArray

from tablecam.rules.hexes.files import Ground
from tablecam.simulate.rendering.map_looks import PLAIN, blocks_of, lines_of, terrain_colours
from tablecam.simulate.rendering.mat import Canvas, Mask
from tablecam.table.model import TableSize, Terrain

Paint = Callable[[Canvas, Terrain, np.random.Generator], None]

_RIM_MM = 22.0
_ROOM_MM = 20.0
_FLOOR = (42, 36, 33)
_WOOD = (112, 72, 44)
_SOILS = ((178, 146, 80), (112, 86, 62))
"""Stubble and ploughed earth."""


def paint_ground(mat: Canvas, table: TableSize, terrain: tuple[Terrain, ...], seed: int) -> None:
    """Paints everything flat, the lowest first."""
    rng = np.random.default_rng(seed)
    _paint_surroundings(mat, table, rng)
    _paint_grass(mat, table, rng)
    for kind, paint in _KINDS.items():
        for piece in terrain:
            if piece.kind == kind:
                # Only the part around a piece is painted: the canvas is large.
                paint(mat.part(piece.outline_mm, _ROOM_MM), piece, rng)


_SHEET = (244, 243, 238)
_HEX_LINE = (176, 172, 160)
_HEX_LINE_MM = 0.4


def paint_hex_map(mat: Canvas, table: TableSize, ground: Ground, seed: int) -> None:
    """Paints a printed hex map that covers the table, its hexes in the colours of their ground."""
    rng = np.random.default_rng(seed)
    _paint_surroundings(mat, table, rng)
    mat.wash(_table_mask(mat, table, 0.0), _SHEET)
    terrains = terrain_colours(ground)
    grid = ground.grid
    for number in grid.hexes:
        corners_mm = grid.corners_mm(number)
        mat.polygon(corners_mm, terrains.get(ground.terrain_of(number), PLAIN))
    for number in grid.hexes:
        corners_mm = grid.corners_mm(number)
        mat.line((*corners_mm, corners_mm[0]), _HEX_LINE, _HEX_LINE_MM)
    for _, stroke, lines_mm in lines_of(ground):
        for ends_mm in lines_mm:
            mat.line(ends_mm, stroke.colour, stroke.width_mm)
    for colour, outline_mm in blocks_of(ground):
        mat.polygon(outline_mm, colour)


def _table_mask(mat: Canvas, table: TableSize, grown_mm: float) -> Mask:
    low, wide, deep = -grown_mm, table.width_mm + grown_mm, table.depth_mm + grown_mm
    return mat.mask([[low, low], [wide, low], [wide, deep], [low, deep]])


def _paint_surroundings(mat: Canvas, table: TableSize, rng: np.random.Generator) -> None:
    mat.picture[:] = _FLOOR[::-1]
    mat.brighten(1 + 0.06 * mat.noise(90, rng) + 0.04 * mat.noise(1.2, rng))
    low, wide, deep = -_RIM_MM, table.width_mm + _RIM_MM, table.depth_mm + _RIM_MM
    rim = np.array([[low, low], [wide, low], [wide, deep], [low, deep]])
    mat.shadow([rim + np.array([14.0, -12.0])], 0.55, 9)
    # Noise stretched along x looks like the grain of wood.
    grain = cv2.resize(mat.noise(2.2, rng), None, fx=9, fy=1)[:, : mat.shape[1]]
    wood = np.clip(np.array(_WOOD[::-1]) * (1 + 0.16 * grain[..., None]), 0, 255).astype(np.uint8)
    mat.wash(_table_mask(mat, table, _RIM_MM), wood)
    # A dark line where the grass meets the rim.
    with_edge, grass = _table_mask(mat, table, 2.0), _table_mask(mat, table, 0)
    mat.brighten(1 - 0.55 * np.clip(with_edge - grass, 0, 1))


def _paint_grass(mat: Canvas, table: TableSize, rng: np.random.Generator) -> None:
    """Paints static grass: lush and dry patches, tufts, and light and dark blades."""
    lush, dry = np.array([58, 104, 82]), np.array([84, 142, 148])  # blue, green, red
    patches = mat.noise(150, rng) + 0.6 * mat.noise(55, rng) + 0.35 * mat.noise(18, rng)
    # A logistic curve turns noise into shares of lush grass between 0 and 1.
    share = (1 / (1 + np.exp(-1.5 * patches - 0.2)))[..., None]
    grass = dry * (1 - share) + lush * share
    blades = 0.055 * mat.noise(0.7, rng) + 0.065 * mat.noise(1.7, rng) + 0.05 * mat.noise(5, rng)
    grass = np.clip(grass * (1 + blades[..., None]), 0, 255).astype(np.uint8)
    mat.wash(_table_mask(mat, table, 0), grass)
    bare = np.clip(mat.noise(42, rng) + 0.5 * mat.noise(9, rng) - 1.75, 0, 1) * 0.6
    mat.wash((bare * _table_mask(mat, table, 0)).astype(np.float32), (142, 118, 80))


def _paint_hill(mat: Canvas, piece: Terrain, rng: np.random.Generator) -> None:
    """Paints a hill: lit on the slopes toward the window, shaded on the others."""
    inside = mat.mask(piece.outline_mm)
    # The distance from the outline, in millimetres.
    reach_mm = cv2.distanceTransform((inside > 0.5).astype(np.uint8), cv2.DIST_L2, 5) / mat.scale
    # Rises from the outline and levels off on top.
    height_mm = 21 * (1 - np.exp(-reach_mm / 13)) + 0.3 * mat.noise(12, rng) * inside
    height_mm = cv2.GaussianBlur(height_mm.astype(np.float32), (0, 0), 2.4 * mat.scale)
    # Lambertian shading from the slopes of a height field.
    slope_x = cv2.Sobel(height_mm, cv2.CV_32F, 1, 0, ksize=3) / 8 * mat.scale
    slope_y = cv2.Sobel(height_mm, cv2.CV_32F, 0, 1, ksize=3) / 8 * mat.scale
    mat.brighten(np.clip(1 + 0.42 * slope_x - 0.36 * slope_y, 0.62, 1.3).astype(np.float32))
    mat.wash(np.clip(height_mm - 9, 0, 9) / 9 * np.float32(0.30), (158, 150, 92))


def _paint_field(mat: Canvas, piece: Terrain, rng: np.random.Generator) -> None:
    """Paints a field with furrows along its longest side, brown or golden by its id."""
    outline = np.array(piece.outline_mm)
    sides = np.roll(outline, -1, axis=0) - outline
    longest = sides[np.argmax(np.linalg.norm(sides, axis=1))]
    along = longest / np.linalg.norm(longest)
    rows, columns = np.indices(mat.shape, dtype=np.float32)
    # The distance across the furrows sets their stripes.
    across_mm = (columns * -along[1] + rows * along[0]) / mat.scale
    wobble = 0.25 * mat.noise(14, rng)
    stripes = np.sin(2 * np.pi * (across_mm / 4.2 + wobble)) * 0.16
    # A hash, so that a field keeps its colour in every run.
    colour = np.array(_SOILS[zlib.crc32(piece.id.encode()) % len(_SOILS)][::-1])
    soil = colour * (1 + (stripes + 0.07 * mat.noise(1.1, rng))[..., None])
    edge = mat.mask(outline, soft_mm=1.5)
    edge = np.clip(edge * 1.2 - 0.1 + 0.12 * mat.noise(3, rng) * (edge * (1 - edge) * 4), 0, 1)
    mat.wash(edge * np.float32(0.92), np.clip(soil, 0, 255).astype(np.uint8))


def _paint_road(mat: Canvas, piece: Terrain, rng: np.random.Generator) -> None:
    ragged = _ragged(mat, piece, rng, 1.6)
    dust = np.array([112, 152, 182]) * (
        1 + (0.05 * mat.noise(1, rng) + 0.06 * mat.noise(7, rng))[..., None]
    )
    mat.wash(ragged * np.float32(0.93), np.clip(dust, 0, 255).astype(np.uint8))
    inside = (mat.mask(piece.outline_mm) > 0.5).astype(np.uint8)
    reach_mm = cv2.distanceTransform(inside, cv2.DIST_L2, 5) / mat.scale
    # A rut along each side of the road, 6.5 mm from its edge.
    ruts = np.exp(-(((reach_mm - 6.5) / 1.0) ** 2)) * inside
    mat.brighten(1 - ruts.astype(np.float32) * (0.16 + 0.07 * mat.noise(16, rng)))


def _paint_stream(mat: Canvas, piece: Terrain, rng: np.random.Generator) -> None:
    banks = _ragged(mat, piece, rng, 2.0)
    mat.wash(banks * np.float32(0.85), (92, 80, 54))
    inside = (mat.mask(piece.outline_mm) > 0.5).astype(np.uint8)
    reach_mm = cv2.distanceTransform(inside, cv2.DIST_L2, 5) / mat.scale
    depth = np.clip((reach_mm - 1.8) / 7, 0, 1).astype(np.float32)
    ripples = 0.07 * mat.noise(3.2, rng) + 0.06 * mat.noise(9, rng)
    shallow, deep = np.array([112, 116, 84]), np.array([100, 86, 56])
    water = shallow + (deep - shallow) * depth[..., None]
    water = np.clip(water * (1 + ripples[..., None]), 0, 255)
    glints = np.clip(mat.noise(2.6, rng) * mat.noise(30, rng) - 2.2, 0, 1) * 0.35
    water += (np.array([225, 220, 205]) - water) * glints[..., None]
    wet = np.clip(reach_mm - 1.5, 0, 1).astype(np.float32)
    wet = cv2.GaussianBlur(wet, (0, 0), 0.5 * mat.scale)
    mat.wash(np.asarray(wet), water.astype(np.uint8))


def _paint_undergrowth(mat: Canvas, piece: Terrain, rng: np.random.Generator) -> None:
    ragged = _ragged(mat, piece, rng, 3.0)
    floor = np.array([40, 66, 62]) * (
        1 + (0.14 * mat.noise(1.3, rng) + 0.16 * mat.noise(6, rng))[..., None]
    )
    mat.wash(ragged * np.float32(0.8), np.clip(floor, 0, 255).astype(np.uint8))


def _paint_yards(mat: Canvas, piece: Terrain, rng: np.random.Generator) -> None:
    """Paints the bare earth of a village."""
    ragged = _ragged(mat, piece, rng, 5.0)
    earth = np.array([96, 130, 152]) * (
        1 + (0.05 * mat.noise(0.9, rng) + 0.08 * mat.noise(9, rng))[..., None]
    )
    worn = np.clip(0.62 + 0.3 * mat.noise(13, rng), 0, 0.95)
    mat.wash(ragged * worn, np.clip(earth, 0, 255).astype(np.uint8))


def _ragged(
    mat: Canvas, piece: Terrain, rng: np.random.Generator, soft_mm: float
) -> NDArray[np.float32]:
    """Returns a mask of the outline with an irregular edge, like flock and sand."""
    soft = mat.mask(piece.outline_mm, soft_mm=soft_mm)
    wander = 0.16 * mat.noise(2.4, rng) + 0.14 * mat.noise(7, rng)
    # Noise moves the soft edge; the factor then steepens it again.
    ragged = np.clip((soft - 0.5 + wander * (soft > 0.02)) * 3.5 + 0.5, 0, 1)
    return np.asarray(ragged, dtype=np.float32)


_KINDS: dict[str, Paint] = {
    "hill": _paint_hill,
    "field": _paint_field,
    "woods": _paint_undergrowth,
    "village": _paint_yards,
    "impassable": _paint_yards,
    "stream": _paint_stream,
    "river": _paint_stream,
    "road": _paint_road,
}
"""The painter of each kind of terrain, the lowest kind first."""
