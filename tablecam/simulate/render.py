"""Renders pictures of a simulated table through the camera model that also measures them."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import numpy as np

from calibration.camera import Camera
from tablecam.simulate.ground import paint_ground
from tablecam.simulate.hands import HandPainter
from tablecam.simulate.lamp import dimmed
from tablecam.simulate.light import Linear, Picture, SensorNoise
from tablecam.simulate.mat import Canvas
from tablecam.simulate.mount import UPRIGHT
from tablecam.simulate.scene import Scene
from tablecam.simulate.scenery import paint_scenery
from tablecam.simulate.tag_prints import TagPrints
from tablecam.simulate.view import TableView
from tablecam.table.roster import Roster


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
    paint_ground(mat, roster.table, roster.terrain, look.seed)
    paint_scenery(mat, roster.terrain, look.seed)
    return mat
