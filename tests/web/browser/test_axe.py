"""Every page meets WCAG 2 A and AA, and axe's best practices beyond them.

By day and by night, on a desktop and on a phone. Folded parts are unfolded first.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from calibration.camera import CAMERA_PARAMETERS
from calibration.results import CameraFile, Origin, TableCalibration
from tablecam.hall.watch import HallWatch
from tablecam.live_calibration.calibration import LiveCalibration
from tablecam.record.camera_file import write_camera_file
from tablecam.record.entries import NewEntry
from tablecam.record.game_file import GameFile
from tablecam.simulate.demo import demo_camera, demo_roster
from tests.live_calibration.stepped import PLACES, stepped
from tests.record.games import FACTS, catch_up
from tests.record.postgres import Postgres, hall_on
from tests.replay.small import deed, position
from tests.web.browser.demos import patient
from tests.web.browser.halls import Hall, Table, seated
from tests.web.plain_cameras import SIZES_PX, plain_cameras
from web.calibrating import create_calibration_app
from web.hall import create_hall
from web.server import Server
from web.streams import Streams

RULES = {
    "resultTypes": ["violations"],
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    "preload": False,
}
CONTRAST = RULES | {"runOnly": ["color-contrast"]}
DEVICES: dict[str, dict[str, Any]] = {
    "desktop": {"viewport": {"width": 1400, "height": 900}},
    "phone": {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True},
}
UNFOLD = """() => {
  for (const part of document.querySelectorAll("details")) part.open = true;
}"""
SHOW_ALL_RULINGS = """() => {
  const chips = document.querySelectorAll('#rulings-chips [aria-pressed="false"]');
  for (const chip of chips) chip.click();
}"""


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest) -> dict[str, Any]:
    """A browser without animations, as a fading colour has no definite contrast."""
    return DEVICES[request.param] | {"reduced_motion": "reduce"}


@pytest.fixture
def page(browser: Browser, device: dict[str, Any]) -> Iterator[Page]:
    with browser.new_context(**device) as context:
        yield patient(context).new_page()


def faults(page: Page) -> list[str]:
    """axe's findings in a page by day, and in its colours by night."""
    page.evaluate(UNFOLD)
    found = []
    for theme, options in (("light", RULES), ("dark", CONTRAST)):
        page.emulate_media(color_scheme=theme)
        for fault in Axe().run(page, options=options).response["violations"]:
            found += [
                f"{theme}: {fault['help']}: {node['target'][0]}: {node['failureSummary']}"
                for node in fault["nodes"]
            ]
    return found


def choose(page: Page, *units: str) -> None:
    for unit in units:
        page.locator(f'.units [data-thing="unit:{unit}"]').focus()
        page.keyboard.press("Enter")


def test_a_refusal(page: Page, hall: Hall) -> None:
    page.goto(hall.address)
    expect(page.locator(".why")).to_contain_text("link")
    assert faults(page) == []


def test_a_live_page_before_a_game(browser: Browser, hall: Hall, device: dict[str, Any]) -> None:
    hall.settled()
    with seated(hall, browser, "shared", **device) as seat:
        page = seat.page
        expect(page.locator("#health-state")).to_have_text("Camera good")
        assert faults(page) == []
        choose(page, "P3", "A3")
        expect(page.locator("#measure-body .reading")).to_contain_text("mm")
        expect(page.locator("#rulings-chips button")).not_to_have_count(0)
        page.evaluate(SHOW_ALL_RULINGS)
        expect(page.locator(".ruling")).not_to_have_count(0)
        assert faults(page) == []


def test_a_replay_without_entries(browser: Browser, hall: Hall, device: dict[str, Any]) -> None:
    with seated(hall, browser, "shared", **device) as seat:
        seat.page.goto(f"{hall.address}replay")
        expect(seat.page.locator("#nothing")).to_contain_text("no entries yet")
        assert faults(seat.page) == []


def test_a_game(browser: Browser, players: Table, device: dict[str, Any]) -> None:
    players.begin()
    with seated(players.hall, browser, "prussian", **device) as seat:
        seat.shows_the_newest()
        assert faults(seat.page) == []
        choose(seat.page, "P3", "A3")
        expect(seat.page.locator(".ruling")).not_to_have_count(0)
        seat.page.locator(".ruling .rule").first.click()
        expect(seat.page.locator("#rule-words")).to_be_visible()
        seat.page.locator("#health").click()
        expect(seat.page.locator("#masks")).to_be_visible()
        assert faults(seat.page) == []
        # A button may be redrawn between finding and pressing it.
        seat.page.locator(".ruling .dispute-open").first.evaluate("button => button.click()")
        expect(seat.page.locator("#dispute-close")).to_be_visible()
        assert faults(seat.page) == []
        seat.page.locator("#dispute-close").press("Enter")
        if device["viewport"]["width"] > 1000:  # a phone has no tabs
            seat.opens_log()
        expect(seat.page.locator("#disputes-body button")).not_to_have_count(0)
        assert faults(seat.page) == []


def test_a_replay(browser: Browser, players: Table, device: dict[str, Any]) -> None:
    players.begin()
    players.taps("Pass")
    with seated(players.hall, browser, "prussian", **device) as seat:
        page = seat.page
        page.goto(f"{players.hall.address}replay")
        expect(page.locator("#nothing")).to_be_hidden()
        page.keyboard.press("Home")
        expect(page.locator("#log-body .future")).not_to_have_count(0)
        choose(page, "P3")
        assert faults(page) == []
        page.keyboard.press("w")
        choose(page, "P3", "A3")
        expect(page.locator(".ruling")).not_to_have_count(0)
        assert faults(page) == []


@pytest.fixture(scope="module")
def calibration(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a calibration that has one view."""
    camera, streams = tmp_path_factory.mktemp("camera") / "camera.json", Streams(1)
    with stepped(camera, roster=demo_roster(), places=PLACES[:2]) as at:
        at.take(1)
        with Server(create_calibration_app(at.live, streams), port=0, streams=streams) as server:
            yield server.address


def test_a_calibration(page: Page, calibration: str) -> None:
    page.goto(calibration)
    expect(page.locator("#views li")).to_have_count(1)
    assert faults(page) == []


@pytest.fixture
def finished(tmp_path: Path) -> Iterator[str]:
    """The address of a finished calibration, with cameras to choose from."""
    path, streams = tmp_path / "camera.json", Streams(1)
    camera = demo_camera(*SIZES_PX[0])
    size, origin = len(CAMERA_PARAMETERS), Origin("2026-05-01T00:00:00Z", ("simulated",))
    parts = (camera.lens, camera.pose, np.zeros((size, size)), 0.0, 0.0, (), origin)
    write_camera_file(path, CameraFile("simulated", *SIZES_PX[0], table=TableCalibration(*parts)))
    with (
        plain_cameras() as (reader, cameras),
        LiveCalibration(reader, path, demo_roster()) as live,
        Server(
            create_calibration_app(live, streams, cameras=cameras), port=0, streams=streams
        ) as server,
    ):
        yield server.address


def test_a_finished_calibration_and_its_cameras(page: Page, finished: str) -> None:
    page.goto(finished)
    expect(page.locator("#saved-where")).to_contain_text("Read from")
    assert faults(page) == []
    page.locator("#learn-bases").press("Enter")
    expect(page.locator("#bases-reached")).to_contain_text("0 of 78")
    assert faults(page) == []
    page.locator("#leave-bases").press("Enter")
    expect(page.locator("#learn-bases")).to_be_visible()
    page.locator("#more-views").press("Enter")
    page.get_by_role("button", name="Test Logitech BRIO").press("Enter")
    expect(page.locator("#cameras figcaption")).to_be_visible()
    assert faults(page) == []


def test_a_club_without_tables(page: Page, postgres: Postgres) -> None:
    with hall_on(postgres) as server_of_club, HallWatch(server_of_club) as watch:
        app, streams = create_hall(watch)
        with Server(app, port=0, streams=streams) as server:
            page.goto(server.address)
            expect(page.locator("#playing > li")).to_have_count(0)
            assert faults(page) == []


@pytest.fixture(scope="module")
def club(postgres: Postgres, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a hall with one table."""
    game = GameFile.create(tmp_path_factory.mktemp("club") / "game.tablecam", FACTS)
    game.append(NewEntry("position", {"whole": position()}), deed("F1 hits B1."))
    with hall_on(postgres) as server_of_club:
        catch_up(game, server_of_club)
        server_of_club.report_presence(game.id)
        with HallWatch(server_of_club) as watch:
            app, streams = create_hall(watch)
            with Server(app, port=0, streams=streams) as server:
                yield server.address


def test_a_club(page: Page, club: str) -> None:
    page.goto(club)
    expect(page.locator("#playing > li")).to_have_count(1)
    assert faults(page) == []
