"""A source of pictures of a simulated table, with the ground truth of each, and its clock."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass

from calibration.camera import Camera
from tablecam.capture.frame import Frame
from tablecam.capture.picture import DecodedPicture
from tablecam.simulate.rendering.render import DEMO_LOOK, Renderer, RenderStyle
from tablecam.simulate.rendering.scene import Scene, true_position
from tablecam.simulate.table import SimulatedTable
from tablecam.table.model import Position

_LONGEST_STEP_S = 0.25
"""The longest time step: nothing jumps after a stall, and on a slow computer hands move slowly
enough to be followed."""


@dataclass(frozen=True, slots=True)
class Moment:
    """The time of a frame, on the clock of `time.monotonic`, and the time since the last one."""

    taken_at_s: float
    passed_s: float


class Pace:
    """Waits for the moment of the next frame, if paced.

    Unpaced moments follow at once, `interval_s` apart, and are the same on every machine.
    """

    def __init__(self, interval_s: float, *, is_paced: bool) -> None:
        self._interval_s = interval_s
        self._is_paced = is_paced
        self._stopped = threading.Event()
        self._last_s: float | None = None

    def wait(self) -> Moment | None:
        """Waits for the moment of the next frame and returns it, None once stopped."""
        if self._last_s is None:
            now_s, passed_s = time.monotonic() if self._is_paced else 0.0, 0.0
        elif self._is_paced:
            # Waiting on the event lets `stop` end the wait.
            self._stopped.wait(self._last_s + self._interval_s - time.monotonic())
            now_s = time.monotonic()
            # A frame after a stall shows the next moment, not the one that would be due.
            passed_s = min(now_s - self._last_s, _LONGEST_STEP_S)
        else:
            now_s, passed_s = self._last_s + self._interval_s, self._interval_s
        self._last_s = now_s
        return None if self._stopped.is_set() else Moment(now_s, passed_s)

    def stop(self) -> None:
        """Ends all waiting, now and later."""
        self._stopped.set()


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
