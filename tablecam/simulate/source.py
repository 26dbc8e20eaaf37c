"""A source of pictures of a simulated table, with the ground truth of each."""

from __future__ import annotations

from collections import OrderedDict

from calibration.camera import Camera
from tablecam.capture.frame import Frame
from tablecam.capture.picture import DecodedPicture
from tablecam.simulate.pace import Pace
from tablecam.simulate.render import DEMO_LOOK, Renderer, RenderStyle
from tablecam.simulate.scene import Scene, true_position
from tablecam.simulate.table import SimulatedTable
from tablecam.table.model import Position

_KEPT_TRUTHS = 64


class SimulatedSource:
    """A camera over a simulated table, as a `tablecam.capture.frame.Source`.

    Paced, it gives `frames_per_s` pictures per second of real time; unpaced, as many as are read,
    each one interval later, with the same numbers on every machine. `camera` is the original
    camera; `camera_of` includes bumps and sagging. Pass a `renderer` of this table and camera to
    save the seconds that a new one takes to paint the ground.
    """

    def __init__(
        self,
        table: SimulatedTable,
        camera: Camera,
        *,
        frames_per_s: float = 10.0,
        look: RenderStyle = DEMO_LOOK,
        is_paced: bool = True,
        renderer: Renderer | None = None,
    ) -> None:
        self.table = table
        self.camera = camera
        self._renderer = renderer or Renderer(table.roster, camera, look)
        self._pace = Pace(1.0 / frames_per_s, is_paced=is_paced)
        self._number = 0
        self._scenes: OrderedDict[int, Scene] = OrderedDict()

    @property
    def name(self) -> str:
        """The name of the source for users."""
        return "simulated"

    def read(self) -> Frame | None:
        """Returns the next frame, None once the source is closed."""
        moment = self._pace.wait()
        if moment is None:
            return None
        self.table.advance(moment.passed_s)
        scene = self.table.scene()
        picture = self._renderer.picture(scene, self._number)
        frame = Frame(DecodedPicture(picture), self._number, moment.taken_at_s)
        self._scenes[self._number] = scene
        if len(self._scenes) > _KEPT_TRUTHS:
            # Drops the oldest, so that a long battle does not fill the memory.
            self._scenes.popitem(last=False)
        self._number += 1
        return frame

    def close(self) -> None:
        """Ends the frames and any wait for one."""
        self._pace.stop()

    def scene_of(self, number: int) -> Scene:
        """Returns the scene of a recent frame.

        Raises:
            KeyError: The frame has not been taken, or too long ago.
        """
        return self._scenes[number]

    def hidden_share(self, number: int, tag: int) -> float:
        """Returns the share of a base's tag, 0 to 1, that hands hid in a recent frame.

        Raises:
            KeyError: The frame has not been taken, or too long ago.
        """
        return self._renderer.hidden_share(self.scene_of(number), tag)

    def camera_of(self, number: int) -> Camera:
        """Returns the exact camera of a recent frame, including bumps and sagging.

        Raises:
            KeyError: The frame has not been taken, or too long ago.
        """
        return self.scene_of(number).tilt.of(self.camera)

    def bump(self, right_px: float, down_px: float, roll_deg: float = 0.0) -> None:
        """Bumps the camera, so that the middle of its picture shifts by about this much.

        Thread-safe; the next frame shows it. For sagging and light see the table's `mount` and
        `lamp`.
        """
        self.table.bump_camera(right_px, down_px, roll_deg)

    def truth_of(self, number: int) -> Position:
        """Returns the exact position in a recent frame.

        Raises:
            KeyError: The frame has not been taken, or too long ago.
        """
        return true_position(self.table.roster, self.scene_of(number).places)
