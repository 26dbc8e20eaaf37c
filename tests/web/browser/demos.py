"""The whole demo as tests see it, and when what it sees is near the truth."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import hypot

from playwright.sync_api import BrowserContext, Page

from tablecam.live.state import Snapshot
from tablecam.live.table import LiveTable
from tablecam.simulate.demo import demo_camera, demo_roster
from tablecam.simulate.render import Renderer
from tablecam.simulate.table import SimulatedTable
from tablecam.table.model import BasePose, Position

PATIENCE_S = 90.0  # only reached when a test fails, however slow the machine is
NEAR_MM = 3.0
SLOW_HAND = """
  if (location.protocol.startsWith("http")) {
    import("/static/gestures.js").then(({ timing }) => { timing.longPress_ms = 3_600_000; });
  }
"""
"""A press does not become a long one because the machine was busy before it ended."""


@dataclass(frozen=True)
class Demo:
    """The whole demo: where its page is, what it sees, and the truth."""

    address: str
    table: SimulatedTable
    live: LiveTable

    def settled(self) -> Snapshot:
        """A state of the live table in which every base is seen near the truth."""
        wait_until(self.live, lambda: is_near(self.live.snapshot().position, self.table.truth()))
        return self.live.snapshot()


@cache
def demo_renderer() -> Renderer:
    """What draws the demo for one test file after the other; two demos never run at once."""
    return Renderer(demo_roster(), demo_camera())


def patient(context: BrowserContext) -> BrowserContext:
    """A browser's context that waits, and whose hand may press, for as long as it takes."""
    context.set_default_timeout(1000 * PATIENCE_S)
    context.add_init_script(SLOW_HAND)
    return context


def wait_until(live: LiveTable, is_so: Callable[[], bool]) -> None:
    """Wait until something is so, looking again after each frame of a table.

    Patience ends by the clock: how many frames come while a browser draws says nothing.
    """
    end_s = time.monotonic() + PATIENCE_S
    version = -1
    while not is_so():
        snapshot = live.wait(version, PATIENCE_S)
        if snapshot is None or time.monotonic() > end_s:
            raise AssertionError(f"it has not come to be so within {PATIENCE_S} s")
        version = snapshot.version


def bases_by_tag(position: Position) -> dict[int | None, BasePose]:
    return {base.tag: base for unit in position.units for base in unit.bases}


def is_near(seen: Position, truth: Position) -> bool:
    found, true = bases_by_tag(seen), bases_by_tag(truth)
    return found.keys() == true.keys() and all(
        found[tag].seen == "now"
        and hypot(found[tag].x_mm - base.x_mm, found[tag].y_mm - base.y_mm) < NEAR_MM
        for tag, base in true.items()
    )


def spot(page: Page, x_mm: float, y_mm: float) -> tuple[float, float]:
    """Where on the screen a place of the table is, as the browser itself draws it."""
    x_px, y_px = page.evaluate(
        """([x, y]) => {
          const frame = document.querySelector(".table-frame").getScreenCTM();
          const at = new DOMPoint(x, y).matrixTransform(frame);
          return [at.x, at.y];
        }""",
        [x_mm, y_mm],
    )
    return x_px, y_px
