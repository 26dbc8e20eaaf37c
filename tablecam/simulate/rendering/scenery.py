"""Paints trees, houses, walls and bridges in the camera's perspective."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from shapely import MultiPoint, Point, Polygon, get_coordinates
from shapely.affinity import rotate

from tablecam.simulate.rendering.mat import SHADOW_MM_PER_MM, Canvas, Colour
from tablecam.simulate.rendering.rays import Array
from tablecam.table.model import Terrain

PaintTerrain = Callable[[Canvas, Terrain, np.random.Generator], None]

_LEAVES: tuple[Colour, ...] = (
    (58, 84, 34),
    (72, 96, 40),
    (50, 78, 40),
    (88, 104, 44),
    (44, 70, 38),
)
_ROOFS: tuple[Colour, ...] = ((150, 66, 44), (134, 58, 42), (160, 80, 52), (118, 88, 62))
_PLASTER: Colour = (206, 196, 172)
_STONE: Colour = (140, 134, 124)


def paint_scenery(mat: Canvas, terrain: tuple[Terrain, ...], seed: int) -> None:
    """Paints the scenery and its shadows."""
    # Another seed than the ground's, so that the two share no noise.
    rng = np.random.default_rng(seed + 1)
    for kind, paint in _KINDS.items():
        for piece in terrain:
            if piece.kind == kind:
                paint(mat, piece, rng)


@dataclass(frozen=True, slots=True)
class _Tree:
    x_mm: float
    y_mm: float
    radius_mm: float
    height_mm: float
    leaves: Colour


def _paint_woods(mat: Canvas, piece: Terrain, rng: np.random.Generator) -> None:
    # Crowns may reach over the edge of the wood, trunks may not.
    inner = Polygon(piece.outline_mm).buffer(-6)
    trees: list[_Tree] = []
    low_x, low_y, high_x, high_y = inner.bounds
    # Random tries: most find no room once the wood is dense.
    for _ in range(900):
        x, y = rng.uniform(low_x, high_x), rng.uniform(low_y, high_y)
        radius = rng.uniform(7.0, 12.5)
        near = any(
            math.dist((x, y), (tree.x_mm, tree.y_mm)) < 0.72 * (radius + tree.radius_mm)
            for tree in trees
        )
        if near or not inner.contains(Point(x, y)):
            continue
        leaves = _LEAVES[int(rng.integers(len(_LEAVES)))]
        trees.append(_Tree(x, y, radius, radius * rng.uniform(1.7, 2.4), leaves))
    # All shadows first: they fall on the ground.
    for tree in trees:
        _paint_tree_shadow(mat, tree)
    # Painter's algorithm: nearer trees cover farther ones.
    trees.sort(key=lambda tree: -mat.from_camera_foot_mm((tree.x_mm, tree.y_mm)))
    for tree in trees:
        _paint_tree(mat, tree, rng)


def _paint_tree_shadow(mat: Canvas, tree: _Tree) -> None:
    at = np.array([tree.x_mm, tree.y_mm]) + SHADOW_MM_PER_MM * tree.height_mm * 0.62
    mat.shadow([_ring(at, tree.radius_mm * 0.95)], 0.42, 1.8)


def _paint_tree(mat: Canvas, tree: _Tree, rng: np.random.Generator) -> None:
    """Paints puffs of leaves, dark and wide below, small and light toward the sun above."""
    sunward = -SHADOW_MM_PER_MM / np.linalg.norm(SHADOW_MM_PER_MM)
    for layer in np.linspace(0, 1, 7):
        height = tree.height_mm * (0.35 + 0.65 * layer)
        reach = tree.radius_mm * math.sqrt(max(0.06, 1 - layer**1.7))
        light = 0.42 + 0.78 * layer
        middle = np.array([tree.x_mm, tree.y_mm]) + sunward * tree.radius_mm * 0.22 * layer
        for _ in range(round(5 + 16 * (1 - layer))):
            angle, out = rng.uniform(0, 2 * math.pi), reach * math.sqrt(rng.uniform(0, 1))
            step = out * np.array([math.cos(angle), math.sin(angle)])
            facing = float(step @ sunward) / max(tree.radius_mm, 1)
            shade = light * (1 + 0.32 * facing + rng.normal(0, 0.09))
            at = mat.lifted(middle + step, height)
            mat.disc(at, tree.radius_mm * rng.uniform(0.14, 0.27), _shaded(tree.leaves, shade))


def _paint_village(mat: Canvas, piece: Terrain, rng: np.random.Generator) -> None:
    """Paints a church in the middle, surrounded by as many houses as fit."""
    ground = Polygon(piece.outline_mm)
    centre = np.array([ground.centroid.x, ground.centroid.y])
    church = _House(centre, 40, 19, 3.0, 20, 13, (96, 92, 98))
    houses, taken = [church], [church.plot(4)]
    low_x, low_y, high_x, high_y = ground.bounds
    for _ in range(400):
        at = np.array([rng.uniform(low_x, high_x), rng.uniform(low_y, high_y)])
        turn = float(rng.choice([0.0, 90.0]) + rng.normal(0, 6))
        roof = _ROOFS[int(rng.integers(len(_ROOFS)))]
        house = _House(at, rng.uniform(20, 28), rng.uniform(13, 16), turn, 10, 8, roof)
        plot = house.plot(3)
        if ground.contains(plot) and not any(plot.intersects(other) for other in taken):
            houses.append(house)
            taken.append(plot)
    # As with trees, all shadows first.
    for house in houses:
        house.paint_shadow(mat)
    tower = _House(centre + np.array([-25.0, -1.0]), 13, 13, 3.0, 38, 12, (84, 84, 96))
    tower.paint_shadow(mat)
    houses.append(tower)
    for house in sorted(houses, key=lambda house: -mat.from_camera_foot_mm(house.middle_mm)):
        house.paint(mat)
    _paint_trees(mat, ground, taken, rng)


def _paint_trees(
    mat: Canvas, ground: Polygon, taken: list[Polygon], rng: np.random.Generator
) -> None:
    low_x, low_y, high_x, high_y = ground.bounds
    for _ in range(60):
        at = Point(rng.uniform(low_x, high_x), rng.uniform(low_y, high_y))
        if ground.contains(at.buffer(3)) and not any(at.distance(plot) < 3 for plot in taken):
            taken.append(at.buffer(5))
            tree = _Tree(at.x, at.y, rng.uniform(3.5, 5.5), 10, (84, 102, 46))
            _paint_tree_shadow(mat, tree)
            _paint_tree(mat, tree, rng)


@dataclass(frozen=True, slots=True, eq=False)
class _House:
    """A gabled house with the ridge along its length, at `turn_deg` to x."""

    middle_mm: Array
    length_mm: float
    width_mm: float
    turn_deg: float
    wall_mm: float
    roof_mm: float
    roof: Colour

    def plot(self, room_mm: float) -> Polygon:
        """Returns its footprint with a margin."""
        x, y = self.length_mm / 2 + room_mm, self.width_mm / 2 + room_mm
        at_x, at_y = self.middle_mm
        corners = [(at_x + a * x, at_y + b * y) for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
        return rotate(Polygon(corners), self.turn_deg)

    def paint_shadow(self, mat: Canvas) -> None:
        """Paints the shadow of walls and ridge on the ground."""
        corners, ridge = self._corners(), self._ridge()
        cast = [corners, corners + SHADOW_MM_PER_MM * self.wall_mm]
        top = ridge + SHADOW_MM_PER_MM * (self.wall_mm + self.roof_mm)
        mat.shadow([_hull(np.concatenate([*cast, top]))], 0.5, 0.9)

    def paint(self, mat: Canvas) -> None:
        """Paints the walls, the roof with its courses of tiles, and the ridge."""
        corners, ridge = self._corners(), self._ridge()
        eaves = mat.lifted(corners, self.wall_mm)
        top = mat.lifted(ridge, self.wall_mm + self.roof_mm)
        for k in range(4):
            j = (k + 1) % 4
            wall = np.array([corners[k], corners[j], eaves[j], eaves[k]])
            mat.polygon(wall, _shaded(_PLASTER, _lit(corners[j] - corners[k]) * 0.85))
        mat.polygon([eaves[1], eaves[2], top[1]], _shaded(_PLASTER, 0.7))
        mat.polygon([eaves[3], eaves[0], top[0]], _shaded(_PLASTER, 0.85))
        for a, b, near, far in ((0, 1, top[1], top[0]), (2, 3, top[0], top[1])):
            shade = 0.55 + 0.5 * _lit(corners[b] - corners[a])
            slope = np.array([eaves[a], eaves[b], near, far])
            mat.polygon(slope, _shaded(self.roof, shade))
            for course in np.linspace(0.15, 0.9, 5):
                ends = slope[[0, 1]] * (1 - course) + slope[[3, 2]] * course
                mat.line(ends, _shaded(self.roof, shade * 0.86), 0.35)
        mat.line(top, _shaded(self.roof, 1.25), 0.8)

    def _corners(self) -> Array:
        return np.array(self.plot(0).exterior.coords)[:4]

    def _ridge(self) -> Array:
        corners = self._corners()
        return np.array([(corners[0] + corners[3]) / 2, (corners[1] + corners[2]) / 2])


def _paint_wall(mat: Canvas, piece: Terrain, rng: np.random.Generator) -> None:
    """Paints a wall of field stones inside the outline."""
    outline = Polygon(piece.outline_mm)
    corners = np.array(piece.outline_mm)
    mat.shadow([_hull(np.concatenate([corners, corners + SHADOW_MM_PER_MM * 7]))], 0.5, 0.8)
    mat.polygon(corners, _shaded(_STONE, 0.55))
    low_x, low_y, high_x, high_y = outline.bounds
    for layer_mm in (2.0, 5.0, 7.0):
        for _ in range(round(outline.area * 0.22)):
            at = Point(rng.uniform(low_x, high_x), rng.uniform(low_y, high_y))
            if outline.contains(at.buffer(0.4)):
                shade = rng.normal(0.7 + 0.05 * layer_mm, 0.1)
                place = mat.lifted([at.x, at.y], layer_mm)
                mat.disc(place, rng.uniform(0.8, 1.4), _shaded(_STONE, shade))


def _paint_bridge(mat: Canvas, piece: Terrain, rng: np.random.Generator) -> None:
    """Paints a stone bridge: a paved way between two parapets along its longer sides."""
    corners = np.array(piece.outline_mm)
    if np.linalg.norm(corners[1] - corners[0]) < np.linalg.norm(corners[2] - corners[1]):
        # The way runs along the longer sides.
        corners = np.roll(corners, -1, axis=0)
    mat.shadow([corners + SHADOW_MM_PER_MM * 7], 0.45, 1.2)
    mat.polygon(corners, (158, 142, 116))
    for step in np.linspace(0.04, 0.96, 18):
        ends = [
            corners[0] + (corners[1] - corners[0]) * step,
            corners[3] + (corners[2] - corners[3]) * step,
        ]
        mat.line(ends, _shaded((138, 122, 98), rng.normal(1, 0.06)), 0.5)
    for a, b in ((0, 1), (3, 2)):
        inward = (corners[3 - a] - corners[a]) / np.linalg.norm(corners[3 - a] - corners[a])
        mat.shadow([_strip(corners[a], corners[b], 1.6) + SHADOW_MM_PER_MM * 4], 0.4, 0.7)
        wall = mat.lifted(_strip(corners[a] + inward, corners[b] + inward, 1.3), 4)
        mat.polygon(wall, _shaded(_STONE, 1.15))


_KINDS: dict[str, PaintTerrain] = {
    "bridge": _paint_bridge,
    "wall": _paint_wall,
    "village": _paint_village,
    "town": _paint_village,
    "impassable": _paint_village,  # Rulebooks use it for towns.
    "woods": _paint_woods,
}


def _lit(side: Array) -> float:
    """Returns the light, 0.4 to 1.1, on a wall whose outside is to the right of a side."""
    outward = np.array([side[1], -side[0]]) / np.linalg.norm(side)
    sunward = -SHADOW_MM_PER_MM / np.linalg.norm(SHADOW_MM_PER_MM)
    return float(0.75 + 0.35 * (outward @ sunward))


def _shaded(colour: Colour, factor: float) -> Colour:
    red, green, blue = (int(min(max(value * factor, 0), 255)) for value in colour)
    return red, green, blue


def _ring(middle_mm: Array, radius_mm: float) -> Array:
    angles = np.linspace(0, 2 * math.pi, 24, endpoint=False)
    return middle_mm + radius_mm * np.column_stack([np.cos(angles), np.sin(angles)])


def _strip(start: Array, end: Array, half_width_mm: float) -> Array:
    along = (end - start) / np.linalg.norm(end - start)
    across = np.array([-along[1], along[0]]) * half_width_mm
    return np.array([start - across, end - across, end + across, start + across])


def _hull(points_mm: Array) -> Array:
    return np.asarray(get_coordinates(MultiPoint(points_mm).convex_hull))
