"""The view of a simulated table through a fixed camera, redrawn only where something moved."""

from __future__ import annotations

import numpy as np

from calibration.camera import Camera
from tablecam.simulate.bases import BasePainter, lay_print
from tablecam.simulate.hands import HandPainter
from tablecam.simulate.light import Linear, Picture, encoded, light_field, linear_colour, whole
from tablecam.simulate.mat import Canvas
from tablecam.simulate.patch import Patch
from tablecam.simulate.places import Place
from tablecam.simulate.rays import Box
from tablecam.simulate.scene import Scene
from tablecam.simulate.tag_prints import TagPrints
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
        # Hands are drawn on a copy, as they move in every frame.
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
            # The place where it lay is uncovered and must be painted, too.
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
        for _, patch in self._patches.values():
            patch.laid_on(linear, box)
        # Only changed boxes are encoded; the rest of the canvas is reused.
        self._canvas[box.slices] = encoded(linear * self.light[box.slices][..., None])


def _listed(tag: TableTag) -> Place:
    return Place(tag.x_mm, tag.y_mm, 90.0)


def _felt(camera: Camera) -> Linear:
    plain = np.empty((camera.lens.height_px, camera.lens.width_px, 3), dtype=np.float32)
    plain[:] = linear_colour(*_PLAIN_FELT)
    return plain
