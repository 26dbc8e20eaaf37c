"""A player finds the right camera on the page: Test shows a picture, Use changes to it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tablecam.live_calibration.calibration import LiveCalibration
from tests.web.browser.demos import patient
from tests.web.plain_cameras import plain_cameras
from web.calibrating import MOST_WAITING, create_calibration_app
from web.server import Server
from web.streams import Streams


@pytest.fixture
def page(browser: Browser, tmp_path: Path) -> Iterator[Page]:
    streams = Streams(MOST_WAITING)
    with (
        plain_cameras() as (reader, cameras),
        LiveCalibration(reader, tmp_path / "camera.json") as live,
        Server(
            create_calibration_app(live, streams, cameras=cameras), port=0, streams=streams
        ) as server,
    ):
        context = patient(browser.new_context(viewport={"width": 1400, "height": 900}))
        page = context.new_page()
        page.goto(server.address)
        yield page
        context.close()


def test_a_camera_is_tested_and_then_used(page: Page) -> None:
    expect(page.locator("#source")).to_contain_text("camera 0")
    page.click("#cameras summary")
    page.get_by_role("button", name="Test Cam Link 4K").click()
    expect(page.locator(".camera-problem")).to_contain_text("another program uses it")
    page.get_by_role("button", name="Test Logitech BRIO").click()
    expect(page.locator("#cameras figcaption")).to_contain_text("360 pixels")
    expect(page.locator("#source")).to_contain_text("camera 0")
    page.get_by_role("button", name="Use Logitech BRIO").click()
    expect(page.locator("#source")).to_contain_text("camera 2 · ")
    expect(page.get_by_role("button", name="In use: Logitech BRIO")).to_be_disabled()
