"""A whole live calibration in a browser: a self-waving board, the table, a ruler."""

from __future__ import annotations

import re
import threading
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from calibration.camera import Camera
from calibration.results import CameraFile, Origin, TableCalibration
from tablecam.capture.frame import Frame
from tablecam.capture.reader import Reader
from tablecam.live_calibration.calibration import LiveCalibration
from tablecam.record.camera_file import read_camera_file, write_camera_file
from tablecam.rules.hexes.grid import grid_of
from tablecam.simulate.calibration_source import SimulatedCalibration
from tablecam.simulate.demo import demo_camera, demo_roster
from tablecam.simulate.jig_source import glued_by_hand
from tablecam.table.bases_file import read_bases
from tablecam.table.roster import Roster
from tests.live_calibration.stepped import PLACES
from tests.rules.hexes.drill import house_roster
from tests.web.browser.demos import patient
from tests.web.browser.test_another_game import picture
from web.calibrating import MOST_WAITING, create_calibration_app
from web.server import Server
from web.streams import Streams

CAMERA = demo_camera(1280, 720)
CORNERS_MM = np.array([[0, 0, 0], [1200, 0, 0], [1200, 800, 0], [0, 800, 0], [600, 400, 0]])


class InStep:
    """The simulated hands, never faster than they are watched, however slow the machine."""

    name = "simulated"

    def __init__(self, source: SimulatedCalibration) -> None:
        self._source = source
        self._closed = threading.Event()
        self.live: LiveCalibration | None = None
        self._given = -1

    def read(self) -> Frame | None:
        while self.live is not None and not self._closed.is_set():
            state = self.live.state()
            if state["frame"] >= self._given:
                break
            self.live.wait(state["version"], 0.5)
        frame = None if self._closed.is_set() else self._source.read()
        self._given = -1 if frame is None else frame.number
        return frame

    def close(self) -> None:
        self._closed.set()
        self._source.close()


LISTED = house_roster()
TRUE_MAP = replace(
    LISTED.table.hex_map, hex_size_mm=20.8, origin_mm=(86.0, 294.0), rotation_deg=0.7
)
OVER_MAP = demo_camera(1280, 720, LISTED.table)


@dataclass(frozen=True)
class Served:
    address: str
    camera_path: Path
    live: LiveCalibration


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    simulated = SimulatedCalibration(
        demo_roster(), CAMERA, frames_per_s=2.5, is_paced=False, places=PLACES, is_endless=True
    )
    source = InStep(simulated)
    path = tmp_path / "camera.json"
    streams = Streams(MOST_WAITING)

    def on_stage(stage: str) -> None:
        (simulated.wave_again if stage == "lens" else simulated.put_away)()

    with Reader(lambda: source, name="simulated", is_live=False) as reader:
        reader.start()
        with LiveCalibration(reader, path, demo_roster(), on_stage=on_stage) as live:
            source.live = live
            app = create_calibration_app(live, streams)
            with Server(app, port=0, streams=streams) as server:
                yield Served(server.address, path, live)
            source.close()


@pytest.fixture
def over_map(tmp_path: Path) -> Iterator[Served]:
    """A calibrated camera over a bought map that lies elsewhere than the table file says."""
    laid = replace(LISTED, table=replace(LISTED.table, hex_map=TRUE_MAP))
    yield from calibrated(tmp_path / "camera.json", laid, LISTED, OVER_MAP)


@pytest.fixture
def over_jig(tmp_path: Path) -> Iterator[Served]:
    """A calibrated camera, and hands that push bases into the jig on request."""
    roster = glued_by_hand(demo_roster())
    yield from calibrated(tmp_path / "camera.json", roster, roster, CAMERA, frames_per_s=10.0)


def calibrated(
    path: Path, laid: Roster, listed: Roster, camera: Camera, *, frames_per_s: float = 2.5
) -> Iterator[Served]:
    simulated = SimulatedCalibration(laid, camera, frames_per_s=frames_per_s, is_paced=False)
    simulated.put_away()
    origin = Origin("2025-01-01T00:00:00Z", ("truth",))
    table = TableCalibration(camera.lens, camera.pose, np.zeros((15, 15)), 0.0, 0.0, (), origin)
    write_camera_file(path, CameraFile("true", 1280, 720, table=table))
    source = InStep(simulated)

    def on_stage(stage: str) -> None:
        (simulated.lay_bases if stage == "bases" else simulated.put_away)()

    with Reader(lambda: source, name="simulated", is_live=False) as reader:
        reader.start()
        with LiveCalibration(reader, path, listed, on_stage=on_stage) as live:
            source.live = live
            streams = Streams(MOST_WAITING)
            with Server(create_calibration_app(live, streams), port=0, streams=streams) as server:
                yield Served(server.address, path, live)
            source.close()


def opened(context: BrowserContext, served: Served) -> Iterator[Page]:
    """The page; its scripts must not fail."""
    page = patient(context).new_page()
    mistakes: list[Any] = []
    page.on("pageerror", lambda mistake: mistakes.append(mistake))
    page.goto(served.address)
    yield page
    context.close()
    assert mistakes == []


@pytest.fixture
def page(browser: Browser, served: Served) -> Iterator[Page]:
    yield from opened(browser.new_context(viewport={"width": 1400, "height": 900}), served)


@pytest.fixture
def phone(browser: Browser, served: Served) -> Iterator[Page]:
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    )
    yield from opened(context, served)


def click_at(page: Page, point_px: np.ndarray) -> None:
    """Click a pixel of the picture."""
    at = page.evaluate(
        """([x, y]) => {
          const svg = document.getElementById("view");
          const point = new DOMPoint(x, y).matrixTransform(svg.getScreenCTM());
          return [point.x, point.y];
        }""",
        [float(value) for value in point_px],
    )
    page.mouse.click(at[0], at[1])


def test_a_person_is_led_from_the_board_to_a_checked_camera_file(
    page: Page, served: Served
) -> None:
    # The board is waved; views are taken automatically until there are enough.
    for number in range(8):  # one after the other, each in its time
        expect(page.locator("#views li").nth(number)).to_be_visible()
    expect(page.locator("#wanting li.met")).to_be_visible()
    assert page.locator("#views li .error").first.inner_text().endswith(" px")
    page.click("#finish-lens")
    expect(page.locator("#tags tr")).to_have_count(4)
    page.click("#finish-table")
    expect(page.locator("#saved-reached b")).to_contain_text("mm")
    expect(page.locator("#saved-command")).to_contain_text("run --table table.toml --camera")

    camera = read_camera_file(served.camera_path).camera()
    off_mm = camera.to_table(CAMERA.to_image(CORNERS_MM)) - CORNERS_MM[:, :2]
    assert np.linalg.norm(off_mm, axis=1).max() < 0.3

    # A ruler of 300 mm, clicked at its two true ends.
    expect(page.locator("#view.rules image")).to_have_attribute("href", re.compile("^blob:"))
    ends_px = CAMERA.to_image([[300, 300, 0], [540, 480, 0]])
    click_at(page, ends_px[0])
    click_at(page, ends_px[1])
    result = page.locator("#ruler-result")
    expect(result).to_have_attribute("data-verdict", "good")
    # A screen pixel is some 0.9 of the picture's, and as many millimetres: two clicks.
    assert abs(float(result.get_attribute("data-measured-mm") or 0) - 300) < 3


def test_a_view_can_be_dropped_and_brought_back(page: Page, served: Served) -> None:
    views = page.locator("#views li")
    expect(views.first).to_be_visible()
    page.locator("#views li[data-view=view-001] button").click()
    expect(page.locator("#views li[data-view=view-001]")).to_have_count(0)
    page.click("#undo")
    expect(page.locator("#views li[data-view=view-001]")).to_have_count(1)
    assert (served.camera_path.with_suffix(".views") / "view-001.png").exists()


def test_four_clicks_fit_a_bought_hex_map_and_one_in_another_hex_is_refused(
    browser: Browser, over_map: Served
) -> None:
    for page in opened(browser.new_context(viewport={"width": 1400, "height": 1000}), over_map):
        expect(page.locator("#view.rules image")).to_have_attribute("href", re.compile("^blob:"))
        page.click("#hexmap-begin")
        hexes = page.locator("#hexmap-hexes input")
        for index, number in enumerate(("0101", "1601", "1612", "0112")):
            expect(page.locator("#say-text")).to_have_text(f"Click the middle of hex {number}")
            assert hexes.nth(index).input_value() == number
            at_mm = (*grid_of(TRUE_MAP).middle_mm((number,)), 0.0)
            click_at(page, OVER_MAP.to_image([at_mm])[0])
        rows = page.locator("#hexmap-hexes li span")
        expect(rows.first).to_contain_text("of a hex")
        expect(page.locator("#say-text")).to_have_text("The map fits: copy its section")
        picture(page, "hexmap-fits")
        section = tomllib.loads(page.locator("#hexmap-section").inner_text())["map"]
        # A click hits a screen pixel, some half a millimetre.
        assert section["origin_mm"] == pytest.approx(TRUE_MAP.origin_mm, abs=0.5)
        assert section["rotation_deg"] == pytest.approx(0.7, abs=0.15)
        hexes.nth(0).fill("0202")
        expect(page.locator("#hexmap-problem")).to_contain_text("within 0.15 of a hex, got")
        expect(page.locator("#hexmap-hexes li.odd").first).to_be_visible()
        expect(page.locator("#hexmap-section")).to_be_hidden()
        picture(page, "hexmap-refused")
        hexes.nth(0).fill("9999")
        expect(page.locator("#notice")).to_contain_text("expected a hex of the map")
        # The clicks were not on a ruler.
        expect(page.locator("#ruler-result")).to_be_hidden()


def test_bases_are_pushed_into_the_jig_one_after_the_other(
    browser: Browser, over_jig: Served
) -> None:
    for page in opened(browser.new_context(viewport={"width": 1400, "height": 900}), over_jig):
        page.click("#learn-bases")
        expect(page.locator("#bases-reached")).to_contain_text(re.compile("[1-9] of 78"))
        expect(page.locator("#bases-rows li").first).to_contain_text(re.compile("P1.*of 4"))
        expect(page.locator("#view .jig polyline.ink")).to_have_count(1)
        picture(page, "bases")
        page.click("#leave-bases")
        expect(page.locator("#learn-bases")).to_be_visible()
        path = over_jig.camera_path.with_name("bases.json")
        assert read_bases(path, demo_roster()).bases[0].owner == "P1"


def test_a_phone_shows_what_to_do_and_the_picture_without_scrolling(phone: Page) -> None:
    expect(phone.locator("#say-text")).not_to_have_text("Waiting for the camera")
    assert phone.evaluate("() => document.documentElement.scrollWidth") <= 390
    for part in ("#say", "#view", "#focus"):
        box = phone.locator(part).bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= 844
    size = phone.locator("#say").evaluate("say => getComputedStyle(say).fontSize")
    assert float(size.removesuffix("px")) >= 20
