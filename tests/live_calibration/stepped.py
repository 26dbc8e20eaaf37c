"""A simulated board, held in one place per frame, shown when a test asks for the next frame."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from calibration.camera import Camera
from tablecam.capture.frame import Frame
from tablecam.capture.reader import Reader
from tablecam.live_calibration.calibration import LiveCalibration
from tablecam.simulate.calibration_source import HOLD_S, MOVE_S, WAVED, SimulatedCalibration
from tablecam.simulate.demo import demo_camera, demo_roster
from tablecam.simulate.rendering.render import PLAIN
from tablecam.table.roster import Roster
from tests.patience import PATIENCE_S

PLACES = (*WAVED[1:9], WAVED[10], WAVED[12])


class SteppedSource:
    """A source that gives a frame only when asked for one."""

    name = "stepped"

    def __init__(self, source: SimulatedCalibration) -> None:
        self._source = source
        self._asked = threading.Semaphore(1)
        self._closed = False

    def ask(self) -> None:
        self._asked.release()

    def read(self) -> Frame | None:
        self._asked.acquire()
        return None if self._closed else self._source.read()

    def close(self) -> None:
        self._closed = True
        self._asked.release()


class Stepped:
    """A live calibration that sees one frame per step; the first, an empty table, at once."""

    def __init__(self, live: LiveCalibration, source: SteppedSource, camera: Camera) -> None:
        self.live = live
        self.camera = camera
        self._source = source
        self._await_frame(0)

    def step(self) -> dict[str, Any]:
        """Show the next frame and return the result."""
        frame = self.live.state()["frame"] + 1
        self._source.ask()
        return self._await_frame(frame)

    def take(self, count: int) -> dict[str, Any]:
        """Take the next views without waiting for hands to be still."""
        for _ in range(count):
            self.live.act("take-now")
            state = self.step()
        return state

    def _await_frame(self, frame: int) -> dict[str, Any]:
        state = self.live.state()
        while state["frame"] < frame:
            newer = self.live.wait(state["version"], PATIENCE_S)
            assert newer is not None, f"frame {frame} was not seen within {PATIENCE_S} s"
            state = newer
        return state


@contextmanager
def stepped(
    camera_path: Path,
    *,
    roster: Roster | None,
    places: tuple[Any, ...] = PLACES,
    width_px: int = 1280,
    height_px: int = 720,
) -> Iterator[Stepped]:
    """A live calibration over the demo's table that proceeds step by step."""
    camera = demo_camera(width_px, height_px)
    simulated = SimulatedCalibration(
        demo_roster(),
        camera,
        frames_per_s=1 / (MOVE_S + HOLD_S),
        look=PLAIN,
        is_paced=False,
        places=places,
    )
    source = SteppedSource(simulated)
    with Reader(lambda: source, name="stepped", is_live=False) as reader:
        reader.start()
        try:
            with LiveCalibration(reader, camera_path, roster) as live:
                yield Stepped(live, source, camera)
        finally:
            source.close()
