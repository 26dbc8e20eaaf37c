"""Renders pictures of a simulated table through the camera model that also measures them."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import numpy as np

from calibration.camera import Camera
from tablecam.simulate.rendering.bases import BasePainter, lay_print
from tablecam.simulate.rendering.ground import paint_ground, paint_hex_map
from tablecam.simulate.rendering.hands import HandPainter
from tablecam.simulate.rendering.light import (
    Linear,
    Patch,
    Picture,
    SensorNoise,
    dimmed,
    encoded,
    light_field,
    linear_colour,
    whole,
)
from tablecam.simulate.rendering.map_looks import table_ground
from tablecam.simulate.rendering.mat import Canvas
from tablecam.simulate.rendering.mount import UPRIGHT
from tablecam.simulate.rendering.places import Place
from tablecam.simulate.rendering.prints import TagPrints
from tablecam.simulate.rendering.rays import Box
from tablecam.simulate.rendering.scene import Scene
from tablecam.simulate.rendering.scenery import paint_scenery
from tablecam.table.roster import Roster, TableTag

_PLAIN_FELT = (104, 116, 66)


class TableView:
    """Renders the noise-free pictures of a fixed camera.

    `land` is the ground beneath tags and bases, None for plain felt.
    """

    def __init__(
        self,
        roster: Roster,
        camera: Camera,
        prints: TagPrints,
        land: Canvas | None,
        *,
        blur_px: float,
        uneven_light: bool,
        figures: bool,
    ) -> None:
        self._camera = camera
        self._frame = whole(camera)
        self._prints = prints
        self._blur_px = blur_px
        self._table_tags = {tag.id: tag for tag in roster.table_tags}
        self.painter = BasePainter(camera, roster, prints, blur_px=blur_px, figures=figures)
        self.light = light_field(camera, roster.table, uneven=uneven_light)
        self._hands = HandPainter(camera, self.light)
        self._ground = _felt(camera) if land is None else land.seen(camera)
        # Table tags come first, because they lie beneath everything else.
        self._patches: dict[int, tuple[Place, Patch]] = {
            tag.id: self._printed(tag, _listed(tag)) for tag in roster.table_tags
        }
        self._canvas = encoded(self.lit_ground())

    def picture(self, scene: Scene) -> Picture:
        """Renders a scene, (height, width, 3), blue-green-red."""
        for box in self._repainted(scene):
            self._compose(box)
        # Hands are drawn on a copy, because they move in every frame.
        picture = self._canvas.copy()
        self._hands.draw(picture, scene.hands)
        return picture

    def lit_ground(self) -> Linear:
        """Returns the table without bases and hands, in linear light."""
        ground = self._ground.copy()
        for tag in self._table_tags:
            self._patches[tag][1].laid_on(ground, self._frame)
        return np.asarray(ground * self.light[..., None])

    def _repainted(self, scene: Scene) -> list[Box]:
        """Renders the patches that have moved, and returns the boxes that have changed."""
        places = {tag: _listed(listed) for tag, listed in self._table_tags.items()}
        places |= {**scene.pushed, **scene.places}
        removed = self._patches.keys() - places.keys()
        changed = [self._patches.pop(tag)[1].box for tag in removed]
        for tag, place in places.items():
            before = self._patches.get(tag)
            if before is not None and before[0] == place:
                continue
            patch = self._painted(tag, place)
            self._patches[tag] = (place, patch)
            # Its old place is uncovered and must be painted, too.
            changed += [patch.box] if before is None else [before[1].box, patch.box]
        clipped = [box.clipped(self._frame) for box in changed]
        return [box for box in clipped if not box.is_empty]

    def _painted(self, tag: int, place: Place) -> Patch:
        listed = self._table_tags.get(tag)
        if listed is not None:
            return self._printed(listed, place)[1]
        return self.painter.painted(tag, place)

    def _printed(self, tag: TableTag, place: Place) -> tuple[Place, Patch]:
        """Renders a table tag."""
        sheet = self._prints.on_table(tag, place)
        patch = Patch.clear(sheet.box(self._camera, 5 * self._blur_px + 1))
        lay_print(patch, self._camera, sheet, self._blur_px)
        return place, patch

    def _compose(self, box: Box) -> None:
        """Composites all patches onto the ground again, within a box of the picture."""
        linear: Linear = self._ground[box.slices].copy()
        # From the bottom of each stack up.
        for _, patch in sorted(self._patches.values(), key=lambda laid: laid[0].level):
            patch.laid_on(linear, box)
        # Only changed boxes are encoded; the rest of the canvas is reused.
        self._canvas[box.slices] = encoded(linear * self.light[box.slices][..., None])


def _listed(tag: TableTag) -> Place:
    return Place(tag.x_mm, tag.y_mm, 90.0)


def _felt(camera: Camera) -> Linear:
    plain = np.empty((camera.lens.height_px, camera.lens.width_px, 3), dtype=np.float32)
    plain[:] = linear_colour(*_PLAIN_FELT)
    return plain


@dataclass(frozen=True, slots=True)
class RenderStyle:
    """The contents and quality of a simulated picture besides its tags.

    `noise` is a standard deviation in 8-bit steps, `blur_px` that of the lens's blur.
    """

    noise: float = 2.0
    blur_px: float = 0.55
    uneven_light: bool = True
    scenery: bool = True
    figures: bool = True
    seed: int = 1757


DEMO_LOOK = RenderStyle()
PLAIN = RenderStyle(noise=0.0, uneven_light=False, scenery=False, figures=False)
"""Tags on a plain table, for tests of accuracy."""


class Renderer:
    """Renders scenes of one table through one camera, redrawing only what has moved.

    A bump of the camera redraws everything except the painted ground, which takes 0.8 s instead of
    3 s for the demo's picture of 2560x1440. Thread-safe, so that sources may share one.
    """

    def __init__(self, roster: Roster, camera: Camera, look: RenderStyle = DEMO_LOOK) -> None:
        self._drawing = threading.Lock()
        self._upright = camera
        self._roster = roster
        self._look = look
        self._prints = TagPrints(roster)
        # Painted once for the original camera and seen from any other.
        self._land = _land(roster, camera, look) if look.scenery else None
        self._tilt = UPRIGHT
        self._view = self._seen_by(camera)
        lens = camera.lens
        self._noise = (
            SensorNoise(lens.width_px, lens.height_px, look.noise, look.seed)
            if look.noise > 0
            else None
        )

    def picture(self, scene: Scene, number: int) -> Picture:
        """Renders frame `number` of a scene, (height, width, 3), blue-green-red."""
        with self._drawing:
            if scene.tilt != self._tilt:
                self._tilt, self._view = scene.tilt, self._seen_by(scene.tilt.of(self._upright))
            picture = dimmed(self._view.picture(scene), scene.light)
        # Outside the lock: noise changes nothing that sources share.
        return picture if self._noise is None else self._noise.added(picture, number)

    def lit_ground(self) -> Linear:
        """Returns the table without bases and hands, in linear light."""
        return self._view.lit_ground()

    def hidden_share(self, scene: Scene, tag: int) -> float:
        """Returns the share of a base's tag, 0 to 1, that the hands of a scene hide."""
        corners = self._view.painter.tag_corners_mm(tag, scene.places[tag])
        # 25 points spread evenly over the tag.
        steps = (np.arange(5) + 0.5) / 5
        across, down = (grid.reshape(-1, 1) for grid in np.meshgrid(steps, steps))
        spots = corners[0] + (corners[1] - corners[0]) * across + (corners[3] - corners[0]) * down
        camera = scene.tilt.of(self._upright)
        hands = HandPainter(camera, self._view.light)
        return float(hands.is_hidden(scene.hands, camera.to_image(spots)).mean())

    def _seen_by(self, camera: Camera) -> TableView:
        look = self._look
        return TableView(
            self._roster,
            camera,
            self._prints,
            self._land,
            blur_px=look.blur_px,
            uneven_light=look.uneven_light,
            figures=look.figures,
        )


def _land(roster: Roster, camera: Camera, look: RenderStyle) -> Canvas:
    """Paints the ground and the scenery of a table from above."""
    mat = Canvas.under(camera, roster.table)
    if roster.table.hex_map is not None:
        printed = table_ground(roster.table.hex_map, roster.game, roster.files.get("map"))
        paint_hex_map(mat, roster.table, printed, look.seed)
        return mat
    paint_ground(mat, roster.table, roster.terrain, look.seed)
    paint_scenery(mat, roster.terrain, look.seed)
    return mat
