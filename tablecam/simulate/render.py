"""Pictures of a simulated table, through the same camera model that reads them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibration.camera import Camera
from tablecam.simulate.bases import BasePainter, lay_print
from tablecam.simulate.ground import paint_ground
from tablecam.simulate.hands import HandPainter
from tablecam.simulate.light import (
    Linear,
    Picture,
    SensorNoise,
    encoded,
    light_field,
    linear_colour,
    whole,
)
from tablecam.simulate.mat import Mat
from tablecam.simulate.patch import Patch
from tablecam.simulate.places import Place
from tablecam.simulate.rays import Box
from tablecam.simulate.scene import Scene
from tablecam.simulate.scenery import paint_scenery
from tablecam.simulate.tag_prints import TagPrints
from tablecam.table.roster import Roster

_PLAIN_FELT = (104, 116, 66)


@dataclass(frozen=True, slots=True)
class Look:
    """What a simulated picture shows beside its tags.

    `noise` is one standard deviation in 8-bit steps; `blur_px` the lens's blur, one standard
    deviation.
    """

    noise: float = 2.0
    blur_px: float = 0.55
    uneven_light: bool = True
    scenery: bool = True
    figures: bool = True
    seed: int = 1757


DEMO_LOOK = Look()
PLAIN = Look(noise=0.0, uneven_light=False, scenery=False, figures=False)
"""Tags on a plain table: what tests of exactness want."""


class Renderer:
    """Draws scenes of one table through one camera; what has not moved is not drawn again.

    Not for two threads at once.
    """

    def __init__(self, roster: Roster, camera: Camera, look: Look = DEMO_LOOK) -> None:
        self._camera = camera
        self._frame = whole(camera)
        prints = TagPrints(roster)
        self._painter = BasePainter(
            camera, roster, prints, blur_px=look.blur_px, figures=look.figures
        )
        self._light = light_field(camera, roster.table, uneven=look.uneven_light)
        self._ground = _ground(camera, roster, prints, look)
        self._hands = HandPainter(camera, self._light)
        self._patches: dict[int, tuple[Place, Patch]] = {}
        self._canvas = encoded(self._ground * self._light[..., None])
        lens = camera.lens
        self._noise = (
            SensorNoise(lens.width_px, lens.height_px, look.noise, look.seed)
            if look.noise > 0
            else None
        )

    def picture(self, scene: Scene, number: int) -> Picture:
        """The frame `number` of a scene, (height, width, 3), blue-green-red."""
        for box in self._repainted(scene):
            self._compose(box)
        picture = self._canvas.copy()
        self._hands.draw(picture, scene.hands)
        return picture if self._noise is None else self._noise.added(picture, number)

    def lit_ground(self) -> Linear:
        """The table without bases and hands, as much light as comes from it."""
        return np.asarray(self._ground * self._light[..., None])

    def hidden_share(self, scene: Scene, tag: int) -> float:
        """How much, 0 to 1, of a base's tag the hands of a scene hide."""
        corners = self._painter.tag_corners_mm(tag, scene.places[tag])
        steps = (np.arange(5) + 0.5) / 5
        across, down = (grid.reshape(-1, 1) for grid in np.meshgrid(steps, steps))
        spots = corners[0] + (corners[1] - corners[0]) * across + (corners[3] - corners[0]) * down
        return float(self._hands.is_hidden(scene.hands, self._camera.to_image(spots)).mean())

    def _repainted(self, scene: Scene) -> list[Box]:
        """Paint the bases that moved; the boxes where the picture has changed."""
        gone = self._patches.keys() - scene.places.keys()
        changed = [self._patches.pop(tag)[1].box for tag in gone]
        for tag, place in scene.places.items():
            before = self._patches.get(tag)
            if before is not None and before[0] == place:
                continue
            patch = self._painter.painted(tag, place)
            self._patches[tag] = (place, patch)
            changed += [patch.box] if before is None else [before[1].box, patch.box]
        clipped = [box.clipped(self._frame) for box in changed]
        return [box for box in clipped if not box.is_empty]

    def _compose(self, box: Box) -> None:
        """Lay all the patches in a box of the picture onto the ground again."""
        linear: Linear = self._ground[box.slices].copy()
        for _, patch in self._patches.values():
            patch.laid_on(linear, box)
        self._canvas[box.slices] = encoded(linear * self._light[box.slices][..., None])


def _ground(camera: Camera, roster: Roster, prints: TagPrints, look: Look) -> Linear:
    """The table without bases, in linear light: land, scenery, table tags."""
    if look.scenery:
        mat = Mat.under(camera, roster.table)
        paint_ground(mat, roster.table, roster.terrain, look.seed)
        paint_scenery(mat, roster.terrain, look.seed)
        ground = mat.seen(camera)
    else:
        ground = np.empty((camera.lens.height_px, camera.lens.width_px, 3), dtype=np.float32)
        ground[:] = linear_colour(*_PLAIN_FELT)
    for tag in roster.table_tags:
        sheet = prints.on_table(tag)
        patch = Patch.clear(sheet.box(camera, 5 * look.blur_px + 1))
        lay_print(patch, camera, sheet, look.blur_px)
        patch.laid_on(ground, whole(camera))
    return ground
