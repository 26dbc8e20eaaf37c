"""A live table over a simulated one for tests: a tap gives frames, hands move units."""

import threading
from contextlib import contextmanager
from dataclasses import replace
from functools import cache

import cv2

from tablecam.capture.errors import SourceLost
from tablecam.capture.picture import DecodedPicture
from tablecam.capture.reader import Reader
from tablecam.live.table import LiveTable
from tablecam.referee.seat_view import seat_view
from tablecam.referee.seats import SHARED
from tablecam.simulate.demo import demo_camera, demo_roster, embedded_demo
from tablecam.simulate.rendering.render import PLAIN, Renderer
from tablecam.simulate.source import SimulatedSource
from tests.patience import PATIENCE_S, FrameClock, comes_true, in_time


class Tap:
    """A simulated source that gives a frame on request; it may fail on request.

    Its clock is the frames': it stands still while nobody asks for one. `covers` names a unit that
    something grey hides in the next frames, `hides_mm` are places that it hides; whatever is at the
    first of the two `copies_mm` is also seen at the second.
    """

    def __init__(self, source):
        self.source = source
        self.name = source.name
        self.clock = FrameClock()
        self.turns = threading.Semaphore(0)
        self.is_over = False
        self.is_failing = False
        self.covers = None
        self.hides_mm = ()
        self.copies_mm = None
        self.crops = False

    def read(self):
        self.turns.acquire()
        if self.is_failing:
            raise SourceLost("simulated: the cable was pulled")
        if self.is_over:
            return None
        frame = self.source.read()
        self.clock.show(frame.taken_at_s)
        if self.crops:
            return replace(frame, picture=DecodedPicture(frame.image[:100]))
        if self.covers is not None:
            bases = self.source.truth_of(frame.number).unit(self.covers).bases
            return self.covered(frame, [(b.x_mm, b.y_mm, 0.0) for b in bases])
        if self.copies_mm is not None:
            return self.copied(frame)
        return self.covered(frame, self.hides_mm) if self.hides_mm else frame

    def copied(self, frame):
        image = frame.image.copy()
        (x, y), (to_x, to_y) = self.source.camera.to_image(self.copies_mm).round().astype(int)
        image[to_y - 45 : to_y + 45, to_x - 45 : to_x + 45] = image[
            y - 45 : y + 45, x - 45 : x + 45
        ]
        return replace(frame, picture=DecodedPicture(image))

    def covered(self, frame, places_mm):
        image = frame.image.copy()
        for x_px, y_px in self.source.camera.to_image(places_mm):
            cv2.circle(image, (round(x_px), round(y_px)), 50, (90, 90, 90), cv2.FILLED)
        return replace(frame, picture=DecodedPicture(image))

    def close(self):
        self.source.close()

    def one_more(self):
        self.turns.release()

    def end(self):
        self.is_over = True
        self.one_more()

    def fail(self):
        self.is_failing = True
        self.one_more()


@cache
def plain_renderer():
    """The renderer of the demo's table, shared by all tests."""
    return Renderer(demo_roster(), demo_camera(), PLAIN)


class TappedTable(LiveTable):
    """A live table that records how far the referee has looked."""

    refereed = -1

    def wait(self, after_version, timeout_s):
        if threading.current_thread().name == "referee":
            self.refereed = after_version  # a caller who asks for later ones has looked at this one
        return super().wait(after_version, timeout_s)


@contextmanager
def tapped(tap, camera, roster, **more):
    """The live table that watches a tap's frames."""
    with Reader(lambda: tap, name="simulated", is_live=True, clock=tap.clock) as reader:
        reader.start()
        with TappedTable(reader, camera, roster, **more) as live:
            yield live
            tap.end()


@contextmanager
def watched(**more):
    """The demo's table, its tap, and the live table that watches it."""
    table, camera = embedded_demo(), demo_camera()
    tap = Tap(SimulatedSource(table, camera, is_paced=False, renderer=plain_renderer()))
    with tapped(tap, camera, table.roster, simulated=table, **more) as live:
        yield table, tap, live


def after_one_frame(tap, live):
    frame = live.snapshot().frame
    tap.one_more()
    return until(live, lambda snapshot: snapshot.frame > frame)


def until(live, holds):
    version = -1
    while (snapshot := live.wait(version, PATIENCE_S)) is not None:
        if holds(snapshot):
            return snapshot
        version = snapshot.version
    raise AssertionError("nothing of the kind was published")


def until_shown(live, tap, holds):
    """Give frames, as a camera does, until a page shows what is expected."""
    for _ in in_time():
        after_one_frame(tap, live)
        now = seat_view(live.referee, SHARED)
        if holds(now):
            return now
    raise AssertionError(f"never shown: {now['moved']} {now['to_place']}")


def until_still(tap, live):
    """Give frames until a table has surely come to rest, and the referee has looked at the last."""
    still_from_s = tap.clock.now_s()
    while tap.clock.now_s() - still_from_s < 1.5:
        version = after_one_frame(tap, live).version
    comes_true(lambda: live.refereed >= version)


def tap_on(live, group, label=""):
    """Tap the first button of a group with this label."""
    actions = seat_view(live.referee, SHARED)["actions"]
    chosen = next(
        action for action in actions if action["group"] == group and label in action["label"]
    )
    live.referee.act(SHARED, chosen["action"])


def march_declared(live, unit):
    """The prussians declare a march and activate one unit."""
    tap_on(live, "command", "March")
    while not (now := seat_view(live.referee, SHARED))["actions"][0]["label"].startswith("P"):
        tap_on(live, now["actions"][-1]["group"], now["actions"][-1]["label"])
    tap_on(live, "activate", unit)
    while not seat_view(live.referee, SHARED)["question"].startswith("Prussians march"):
        tap_on(live, "card", "No card")


def moved_ahead(table, name, length_mm):
    unit = table.truth().unit(name)
    middle = [
        sum(getattr(b, key) for b in unit.bases) / len(unit.bases) for key in ("x_mm", "y_mm")
    ]
    heading_deg = unit.bases[0].heading_deg
    ahead = {0: (1, 0), 90: (0, 1), 180: (-1, 0), 270: (0, -1)}[round(heading_deg) % 360]
    x_mm, y_mm = (m + length_mm * a for m, a in zip(middle, ahead, strict=True))
    table.move_unit(name, x_mm, y_mm, heading_deg)
