"""The simulated table as a source of pictures, with the truth of each beside it."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict

from calibration.camera import Camera
from tablecam.capture.frame import Frame
from tablecam.simulate.render import DEMO_LOOK, Look, Renderer
from tablecam.simulate.scene import Scene, true_position
from tablecam.simulate.table import SimulatedTable
from tablecam.table.model import Position

_KEPT_TRUTHS = 64
_LONGEST_STEP_S = 0.5
"""After a stall the battle goes on from where it was seen last, not where it would have been."""


class SimulatedSource:
    """A camera over a simulated table (`tablecam.capture.frame.Source`).

    Paced, it gives `frames_per_s` pictures a second of real time; not paced, as fast as it is
    read, each one frame's time later than the last: the same numbers on every machine.
    """

    def __init__(
        self,
        table: SimulatedTable,
        camera: Camera,
        *,
        frames_per_s: float = 10.0,
        look: Look = DEMO_LOOK,
        is_paced: bool = True,
    ) -> None:
        self.table = table
        self.camera = camera
        self._renderer = Renderer(table.roster, camera, look)
        self._interval_s = 1.0 / frames_per_s
        self._is_paced = is_paced
        self._closed = threading.Event()
        self._number = 0
        self._last_s: float | None = None
        self._scenes: OrderedDict[int, Scene] = OrderedDict()

    @property
    def name(self) -> str:
        """What a person calls it."""
        return "simulated"

    def read(self) -> Frame | None:
        """The next frame; None once the source is closed."""
        taken_at_s = self._next_moment()
        if self._closed.is_set():
            return None
        scene = self.table.scene()
        frame = Frame(self._renderer.picture(scene, self._number), self._number, taken_at_s)
        self._scenes[self._number] = scene
        if len(self._scenes) > _KEPT_TRUTHS:
            self._scenes.popitem(last=False)
        self._number += 1
        return frame

    def close(self) -> None:
        """End the pictures, also one that is being waited for."""
        self._closed.set()

    def scene_of(self, number: int) -> Scene:
        """What was drawn in one of the last frames.

        Raises:
            KeyError: The frame has not been taken, or too long ago.
        """
        return self._scenes[number]

    def truth_of(self, number: int) -> Position:
        """The exact position in one of the last frames.

        Raises:
            KeyError: The frame has not been taken, or too long ago.
        """
        return true_position(self.table.roster, self.scene_of(number).places)

    def _next_moment(self) -> float:
        """Let the table's time pass up to the next frame; that moment, in seconds."""
        if not self._is_paced:
            if self._last_s is not None:
                self.table.advance(self._interval_s)
            self._last_s = self._number * self._interval_s
            return self._last_s
        if self._last_s is not None:
            self._closed.wait(self._last_s + self._interval_s - time.monotonic())
        now_s = time.monotonic()
        if self._last_s is not None:
            self.table.advance(min(now_s - self._last_s, _LONGEST_STEP_S))
        self._last_s = now_s
        return now_s
