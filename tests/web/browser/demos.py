"""The whole demo for tests, and when its view is near the truth."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from math import hypot

from playwright.sync_api import BrowserContext, Page

from tablecam.capture.frame import Frame
from tablecam.capture.reader import Reader
from tablecam.live.state import Snapshot
from tablecam.live.table import LiveTable
from tablecam.recorder.game_recorder import GameRecorder
from tablecam.simulate.demo import demo_camera, demo_roster, games_with_demo
from tablecam.simulate.rendering.render import PLAIN, Renderer
from tablecam.simulate.rendering.scene import Scene
from tablecam.simulate.source import SimulatedSource
from tablecam.simulate.table import SimulatedTable
from tablecam.table.model import BasePose, Position
from tablecam.table.roster import Roster
from tests.patience import PATIENCE_S, FrameClock, in_time

NEAR_MM = 3.0
STACKED_MM = 7.5
FRAME_S, LOOK_S = 0.5, 0.02
FRAMES_TO_REST = 7
"""A change is noticed, searched, accepted when seen twice, and rests for 0.8 s."""
SLOW_HAND = """
  if (location.protocol.startsWith("http")) {
    import("/static/shared/gestures.js").then(({ timing }) => { timing.longPress_ms = 3_600_000; });
  }
  addEventListener("click", (event) => {
    const list = event.isTrusted && event.target.closest("[aria-disabled=true]");
    if (!list) return;
    const again = setInterval(() => {
      if (list.ariaDisabled === "true") return;
      clearInterval(again);
      event.target.click();
    }, 50);
  }, true);
"""
"""A press does not become a long one because the machine is busy, and a tap ignored by a list that
has just changed is repeated: a new picture may change the list between finding a button and tapping
it."""


@dataclass(frozen=True)
class Demo:
    """The whole demo: its address, its view, and the truth."""

    address: str
    table: SimulatedTable
    live: LiveTable

    def settled(self) -> Snapshot:
        """A state of the live table with every base seen near the truth."""
        wait_until(self.live, lambda: is_near(self.live.snapshot().position, self.table.truth()))
        return self.live.snapshot()


class RestingCamera:
    """The demo's camera: it takes pictures while anything changes, and few otherwise.

    Each is half a second of table time after the last, and is taken when that one has been read, so
    that a page sees the same on a machine of any speed. A running script keeps real time.
    """

    name = "simulated"

    def __init__(self, table: SimulatedTable) -> None:
        self.clock = FrameClock()
        self.live: LiveTable | None = None
        self._table = table
        self._source = SimulatedSource(
            table,
            demo_camera(table=table.roster.table),
            frames_per_s=1 / FRAME_S,
            is_paced=False,
            renderer=demo_renderer(table.roster),
        )
        self._closed = threading.Event()
        self._given = -1
        self._scene: Scene | None = None
        self._still = 0

    def read(self) -> Frame | None:
        for _ in in_time(FRAME_S):
            if self._closed.wait(LOOK_S) or (self._is_read() and self._is_asked_for()):
                break
        if self._closed.is_set() or (frame := self._source.read()) is None:
            return None
        self._still = self._still + 1 if self._table.scene() == self._scene else 0
        self._scene, self._given = self._source.scene_of(frame.number), frame.number
        self.clock.show(frame.taken_at_s)
        return frame

    def _is_read(self) -> bool:
        return self.live is None or self.live.snapshot().frame >= self._given

    def _is_asked_for(self) -> bool:
        """Whether something may not be at rest yet; a script's hands keep their own time."""
        is_at_rest = self._still > FRAMES_TO_REST and self._table.scene() == self._scene
        return self._table.is_paused and not is_at_rest

    def close(self) -> None:
        self._closed.set()
        self._source.close()


def demo_watched(table: SimulatedTable, record: GameRecorder) -> tuple[Reader, LiveTable]:
    """The reader of the demo's camera, and the live table that watches it."""
    camera = RestingCamera(table)
    reader = Reader(lambda: camera, name=camera.name, is_live=False, clock=camera.clock)
    seen_by = demo_camera(table=table.roster.table)
    camera.live = LiveTable(reader, seen_by, table.roster, simulated=table, record=record)
    return reader, camera.live


def demo_renderer(roster: Roster) -> Renderer:
    """The renderer of the demo, shared by test files; two demos never run at once."""
    if roster.table.hex_map is not None:
        return Renderer(roster, demo_camera(table=roster.table), PLAIN)
    return _renderer_of(roster.game)


@cache
def _renderer_of(game: str) -> Renderer:
    roster = demo_roster(game if game in games_with_demo() else None)
    return Renderer(roster, demo_camera(), PLAIN)


def patient(context: BrowserContext) -> BrowserContext:
    """A browser context with patient timeouts, in which a press may take as long as it needs."""
    context.set_default_timeout(1000 * PATIENCE_S)
    context.add_init_script(SLOW_HAND)
    return context


def wait_until(live: LiveTable, is_so: Callable[[], bool]) -> None:
    """Wait until a condition is true, checked after each frame of a table.

    It is also checked without a frame, as a browser draws later.
    """
    for _ in in_time():
        if is_so():
            return
        live.wait(live.snapshot().version, LOOK_S)
    raise AssertionError("it never comes to be so")


def bases_by_tag(position: Position) -> dict[int | None, BasePose]:
    return {base.tag: base for unit in position.units for base in unit.bases}


def is_near(seen: Position, truth: Position) -> bool:
    seen_bases, true = bases_by_tag(seen), bases_by_tag(truth)
    if truth.table.hex_map is None and seen_bases.keys() != true.keys():
        return False
    near = {tag: _lies_near(seen_bases[tag], true[tag]) for tag in true.keys() & seen_bases.keys()}
    on_hexes = truth.table.hex_map is not None
    return all(
        near.get(tag) or (on_hexes and _is_stacked(base, true)) for tag, base in true.items()
    )


def _lies_near(base: BasePose, true: BasePose) -> bool:
    return base.seen == "now" and hypot(base.x_mm - true.x_mm, base.y_mm - true.y_mm) < NEAR_MM


def _is_stacked(base: BasePose, true: Mapping[int | None, BasePose]) -> bool:
    """Whether a counter lies under or on another, and need not be seen."""
    return any(
        other.tag != base.tag and hypot(other.x_mm - base.x_mm, other.y_mm - base.y_mm) < STACKED_MM
        for other in true.values()
    )


def spot(page: Page, x_mm: float, y_mm: float) -> tuple[float, float]:
    """The place on the screen of a place on the table, as the browser draws it."""
    x_px, y_px = page.evaluate(
        """([x, y]) => {
          const frame = document.querySelector(".table-frame").getScreenCTM();
          const at = new DOMPoint(x, y).matrixTransform(frame);
          return [at.x, at.y];
        }""",
        [x_mm, y_mm],
    )
    return x_px, y_px
