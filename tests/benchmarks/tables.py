"""Simulated tables at any number of pixels a cell, with the truth of every tag.

A hundred bases in units lie on a table of 1800 x 1200 mm under a 1080p or a 4K camera, with
everything that makes footage hard: figures that lean over tags, smoke, dice, hands, uneven light,
shadows, soft corners, a colour filter, noise, gamma and JPEG. The same arguments give the same
pictures.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Literal

import cv2
import numpy as np

from calibration.camera import Camera, Pose
from calibration.lens import Lens
from tablecam.simulate.rendering.bases import BasePainter, lay_print
from tablecam.simulate.rendering.ground import paint_ground
from tablecam.simulate.rendering.hands import HandPainter
from tablecam.simulate.rendering.light import GAMMA, Patch, encoded, light_field, whole
from tablecam.simulate.rendering.mat import Canvas
from tablecam.simulate.rendering.places import Place
from tablecam.simulate.rendering.prints import TagPrints
from tablecam.simulate.rendering.scene import Hand
from tablecam.simulate.rendering.scenery import paint_scenery
from tablecam.table.roster import Roster
from tests.benchmarks.armies import TABLE, TERRAIN, army, deployed
from tests.benchmarks.camera_effects import PLAIN, CameraEffect
from tests.benchmarks.clutter import TALL_MM, Layer, Shadows, cards, coverings, markers, miniatures
from tests.benchmarks.lamps import LIGHTS, Light
from tests.benchmarks.sensors import exposed, jpeg, softened
from tests.footage import TrueTag

Resolution = Literal["1080p", "4K"]

BLUR_PX = 0.55
"""The lens's blur, one standard deviation, excluding a pixel's own width."""
_CORNER_BLUR_PX = {"1080p": 0.40, "4K": 0.55}
_TILTED_TALL_MM = 30.0
"""Tilted cameras see the taller figures of today, hats and bayonets included."""
_SEEN_FROM = (np.arange(16) + 0.5) / 16
"""Points along a tag's sides at which its visibility is tested."""


@dataclass(frozen=True)
class TablePicture:
    """One simulated picture, as a JPEG, and its truth.

    `tags` holds every tag on the table; `visible` is the share of its black square that is in the
    picture and not hidden.
    """

    name: str
    data: bytes
    camera: Camera
    roster: Roster
    places: Mapping[int, Place]
    tags: Mapping[int, TrueTag]
    px_per_cell: float
    light: str
    noise_grey: float
    blur_px: float

    @cached_property
    def grey(self) -> np.ndarray:
        """The picture in grey (height, width)."""
        grey = cv2.imdecode(np.frombuffer(self.data, np.uint8), cv2.IMREAD_GRAYSCALE)
        assert grey is not None
        return grey


@dataclass(frozen=True)
class _Shot:
    resolution: Resolution
    px_per_cell: float
    noise_grey: float
    blur_px: float
    tilt_deg: float
    is_crowded: bool
    effects: Sequence[CameraEffect] = (PLAIN,)


def table_pictures(
    px_per_cell: float,
    *,
    count: int,
    resolution: Resolution | None = None,
    noise_grey: float = 4.0,
    blur_px: float = BLUR_PX,
    lights: Sequence[Light] = LIGHTS,
    dictionary: str = "DICT_4X4_250",
    seed: int = 1757,
    tilt_deg: float = 0.0,
    is_crowded: bool = False,
    effects: Sequence[CameraEffect] = (PLAIN,),
) -> Iterator[TablePicture]:
    """Pictures of different deployments, the lights in turn.

    Tags are sized for `px_per_cell` in the median over the table: a lens makes those at its edge up
    to a tenth smaller (guns' and commanders' tags are a tenth larger). `resolution` is 1080p below
    3 px a cell and 4K from there on, unless said. `noise_grey` is the noise of the grey picture,
    twice as much in dim light; `blur_px` the lens's blur in the middle of the picture (both one
    standard deviation). With `tilt_deg` the camera looks from a long side, and half of the units
    face it, so that their own figures stand before their tags. `is_crowded` lays something over a
    corner or an edge of half of the tags. Each table is pictured once with each of the `effects`,
    at the same moment.
    """
    resolution = resolution or ("1080p" if px_per_cell < 3 else "4K")
    camera = camera_over_table(resolution, tilt_deg)
    cells = 6 if "4X4" in dictionary else 8
    roster = army(cell_mm(px_per_cell, camera), dictionary=dictionary, tag_cells=cells)
    for number in range(count):
        light = lights[number % len(lights)]
        yield from _picture(
            f"{px_per_cell:g} px {resolution} {number + 1}",
            camera,
            roster,
            light,
            _Shot(
                resolution,
                px_per_cell,
                noise_grey * light.noise_factor,
                blur_px,
                tilt_deg,
                is_crowded,
                effects,
            ),
            np.random.default_rng((seed, number, round(100 * px_per_cell))),
        )


def half_hidden_pictures(
    px_per_cell: float, *, looks: int, seed: int, tilt_deg: float = 0.0
) -> Iterator[TablePicture]:
    """Yields `looks` pictures of one deployment; four of five tags are covered anew in each.

    Most of the time goes into drawing the table: here it is drawn once, in `table_pictures` once
    for each picture.
    """
    camera = camera_over_table("1080p", tilt_deg)
    roster = army(cell_mm(px_per_cell, camera))
    rng = np.random.default_rng((seed, round(100 * px_per_cell)))
    light = LIGHTS[rng.integers(len(LIGHTS))]
    shot = _Shot("1080p", px_per_cell, 4.0 * light.noise_factor, BLUR_PX, tilt_deg, True)
    places = deployed(roster, rng, facing_deg=270.0 if tilt_deg else None)
    scene = _scene(camera, roster, places, light, shot, rng)
    for look in range(looks):
        layer = scene.copy()
        layer.add_all(coverings(roster, places, rng, share=0.8))
        name = f"{px_per_cell:g} px, seed {seed}, look {look}"
        yield from _taken(name, layer, roster, places, light, shot, rng)


def cell_mm(px_per_cell: float, camera: Camera) -> float:
    """The cell size that has `px_per_cell` over half of the table, and less over the rest."""
    x, y = np.meshgrid(np.linspace(60, 1740, 15), np.linspace(60, 1140, 10))
    scale = camera.px_per_mm(np.column_stack([x.ravel(), y.ravel()]), 3.0)
    return px_per_cell / float(np.median(scale))


@cache
def camera_over_table(resolution: Resolution, tilt_deg: float = 0.0) -> Camera:
    """The true camera: a webcam with a strongly distorting lens, or a better one in 4K.

    Tilted, it looks at the table's middle from the side of small y, from a little farther away.
    """
    farther_mm = 150.0 * (tilt_deg > 0)
    if resolution == "1080p":
        lens = Lens(1920, 1080, 1640.0, 1641.2, 966.3, 533.8, -0.21, 0.045, 0.0007, -0.0005)
        pose = _pose(1890.0 + farther_mm, (3.2 - tilt_deg, -2.4, 2.0))
        return Camera(lens, pose, "simulated 1080p")
    lens = Lens(3840, 2160, 2880.0, 2878.5, 1902.7, 1090.4, -0.07, 0.017, -0.0006, 0.0005)
    return Camera(lens, _pose(1700.0 + farther_mm, (-2.6 - tilt_deg, 3.1, -2.8)), "simulated 4K")


def _pose(distance_mm: float, turns_deg: tuple[float, float, float]) -> Pose:
    """A camera at a distance from the middle of the table, not quite level."""
    rotation = np.diag([1.0, -1.0, -1.0])
    for axis, degrees in enumerate(turns_deg):
        turn, _ = cv2.Rodrigues(np.eye(3)[axis] * math.radians(degrees))
        rotation = turn @ rotation
    middle = np.array([TABLE.width_mm / 2, TABLE.depth_mm / 2, 0.0])
    vector, _ = cv2.Rodrigues(rotation)
    x, y, z = np.array([0.0, 0.0, distance_mm]) - rotation @ middle
    return Pose((*map(float, vector.ravel()),), (float(x), float(y), float(z)))


def _picture(
    name: str,
    camera: Camera,
    roster: Roster,
    light: Light,
    shot: _Shot,
    rng: np.random.Generator,
) -> Iterator[TablePicture]:
    places = deployed(roster, rng, facing_deg=270.0 if shot.tilt_deg else None)
    layer = _scene(camera, roster, places, light, shot, rng)
    if shot.is_crowded:
        layer.add_all(coverings(roster, places, rng))
    return _taken(name, layer, roster, places, light, shot, rng)


def _scene(
    camera: Camera,
    roster: Roster,
    places: Mapping[int, Place],
    light: Light,
    shot: _Shot,
    rng: np.random.Generator,
) -> Layer:
    """The table with bases, figures and markers, not yet lit."""
    linear = _table_and_bases(camera, shot, roster, places, light.shadows, rng)
    layer = Layer(camera, linear, light.shadows, shot.blur_px)
    tall_mm = _TILTED_TALL_MM if shot.tilt_deg else TALL_MM
    layer.add_all(miniatures(roster, places, rng, tall_mm=tall_mm))
    layer.add_all(markers(roster, places, TABLE, rng))
    return layer


def _taken(
    name: str,
    layer: Layer,
    roster: Roster,
    places: Mapping[int, Place],
    light: Light,
    shot: _Shot,
    rng: np.random.Generator,
) -> Iterator[TablePicture]:
    """The camera's pictures of a scene: one per effect, all with the same moment and noise."""
    camera = layer.camera
    lit = layer.linear * light.field(camera, TABLE, rng)
    hands = _hands(rng)
    painter = HandPainter(camera, light_field(camera, TABLE) * light.level)
    if hands:
        picture = encoded(lit)
        painter.draw(picture, hands)
        lit = ((np.arange(256) / 255) ** GAMMA).astype(np.float32)[picture]
    lit = softened(lit, _CORNER_BLUR_PX[shot.resolution])
    tags = _true_tags(camera, roster, places, layer.hidden, painter, hands)
    for effect in shot.effects:
        noise = deepcopy(rng)
        seen = exposed(effect.light(lit, tags), shot.noise_grey, noise)
        quality = int(noise.integers(85, 96))
        yield TablePicture(
            f"{name}, {effect.name}" if effect.name else name,
            jpeg(effect.processing(seen), effect.quality or quality),
            camera,
            roster,
            places,
            tags,
            shot.px_per_cell,
            light.name,
            shot.noise_grey,
            shot.blur_px,
        )


def _table_and_bases(
    camera: Camera,
    shot: _Shot,
    roster: Roster,
    places: Mapping[int, Place],
    shadows: Shadows,
    rng: np.random.Generator,
) -> np.ndarray:
    """The table with everything that lies flat on it, in linear light, not yet lit."""
    blur_px = shot.blur_px
    layer = Layer(camera, _ground(camera).copy(), shadows, blur_px)
    for card in cards(TABLE, rng):
        layer.add(card)
    prints = TagPrints(roster)
    for tag in roster.table_tags:
        sheet = prints.on_table(tag)
        patch = Patch.clear(sheet.box(camera, 5 * blur_px + 1))
        lay_print(patch, camera, sheet, blur_px)
        patch.laid_on(layer.linear, whole(camera))
    painter = BasePainter(camera, roster, prints, blur_px=blur_px, figures=False)
    for tag, place in places.items():
        painter.painted(tag, place).laid_on(layer.linear, whole(camera))
    return layer.linear


@cache
def _ground(camera: Camera) -> np.ndarray:
    mat = Canvas.under(camera, TABLE)
    paint_ground(mat, TABLE, TERRAIN, 1757)
    paint_scenery(mat, TERRAIN, 1757)
    return mat.seen(camera)


def _hands(rng: np.random.Generator) -> tuple[Hand, ...]:
    """A hand over every second table, from one of its long sides."""
    if rng.uniform() < 0.5:
        return ()
    x_mm, from_below = rng.uniform(200, TABLE.width_mm - 200), rng.uniform() < 0.5
    y_mm = rng.uniform(150, 450)
    return (
        Hand(
            "british",
            x_mm,
            y_mm if from_below else TABLE.depth_mm - y_mm,
            rng.uniform(70, 110) if from_below else rng.uniform(250, 290),
            grip=rng.uniform(),
        ),
    )


def _true_tags(
    camera: Camera,
    roster: Roster,
    places: Mapping[int, Place],
    hidden: np.ndarray,
    painter: HandPainter,
    hands: tuple[Hand, ...],
) -> dict[int, TrueTag]:
    types = roster.base_type_by_tag()
    squares = {
        tag: _square_mm(
            place.offset(types[tag].tag_forward_mm, types[tag].tag_right_mm),
            types[tag].tag_size_mm,
            types[tag].tag_height_mm,
        )
        for tag, place in places.items()
    }
    for tag in roster.table_tags:
        at = Place(tag.x_mm, tag.y_mm, 90.0)
        squares[tag.id] = _square_mm(at, roster.table_tag_size_mm, 0.0)
    cells = 6 if "4X4" in roster.dictionary else 8
    across, down = (grid.reshape(-1, 1) for grid in np.meshgrid(_SEEN_FROM, _SEEN_FROM))
    found: dict[int, TrueTag] = {}
    for tag, corners in squares.items():
        spots = corners[0] + (corners[1] - corners[0]) * across + (corners[3] - corners[0]) * down
        pixels = camera.to_image(spots)
        covered = _at(hidden, pixels)
        covered[painter.is_hidden(hands, pixels)] = 1.0
        seen_px = camera.to_image(corners)
        found[tag] = TrueTag(
            float(1 - covered.mean()),
            math.sqrt(_area(seen_px)) / cells,
            seen_px,
            _cells_in_view(covered, cells),
        )
    return found


def _cells_in_view(covered: np.ndarray, cells: int) -> int:
    """The number of cells inside the border that are at least half visible."""
    at = np.floor(_SEEN_FROM * cells).astype(int)
    shown = 1 - covered.reshape(len(at), len(at))
    inner = range(1, cells - 1)
    means = [shown[np.ix_(at == row, at == column)].mean() for row in inner for column in inner]
    return int((np.array(means) >= 0.5).sum())


def _square_mm(at: Place, size_mm: float, height_mm: float) -> np.ndarray:
    """The corners (4, 3) of a black square: top left, top right, bottom right, bottom left."""
    half = size_mm / 2
    ends = [
        at.offset(f, r) for f, r in ((half, -half), (half, half), (-half, half), (-half, -half))
    ]
    return np.array([(end.x_mm, end.y_mm, height_mm) for end in ends])


def _at(hidden: np.ndarray, pixels: np.ndarray) -> np.ndarray:
    """How much is hidden at pixels (n, 2): everything beyond the picture's edge."""
    column, row = np.rint(pixels).astype(int).T
    height, width = hidden.shape
    inside = (column >= 0) & (row >= 0) & (column < width) & (row < height)
    covered = np.ones(len(pixels))
    covered[inside] = hidden[row[inside], column[inside]]
    return covered


def _area(corners: np.ndarray) -> float:
    x, y = corners.T
    return abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1))) / 2
