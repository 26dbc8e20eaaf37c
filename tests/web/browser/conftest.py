"""The whole demo, served from this process, and a browser to view it."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tablecam.live.state import Snapshot
from tablecam.record.entries import GameFacts
from tablecam.recorder.game_recorder import GameRecorder, new_game_file
from tablecam.rules.games import game_of
from tablecam.simulate.demo import embedded_demo
from tablecam.table.model import BasePose
from tests.patience import PATIENCE_S
from tests.web.browser.demos import Demo, demo_watched, patient, spot, wait_until
from tests.web.browser.halls import SIDES, Hall, Table, seated
from tests.web.standing import StandingTable
from web import Server, create_app

CHROMIUM_OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")
def demo_game() -> str | None:
    """The demo's game; a test file may name another."""
    return None


@pytest.fixture(scope="module")
def running_demo(tmp_path_factory: pytest.TempPathFactory, demo_game: str | None) -> Iterator[Demo]:
    """A demo for the tests of one file."""
    table = embedded_demo(demo_game)
    facts = GameFacts(table.roster.game, "", datetime.now(UTC))
    record = GameRecorder(partial(new_game_file, tmp_path_factory.mktemp("games"), facts))
    source, live = demo_watched(table, record)
    with source, live, Server(create_app(live), port=0) as server:
        source.start()
        yield Demo(server.address, table, live)


@pytest.fixture
def demo(running_demo: Demo) -> Demo:
    """The demo at its beginning, at rest, with every base seen."""
    running_demo.table.restart()
    running_demo.settled()
    return running_demo


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    # The shell first: it draws no window, which takes a third of a test's processor time.
    names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    program = next(filter(None, map(shutil.which, names)), None)
    if program is None:
        message = (
            "needs Chromium (Debian: apt install chromium-headless-shell, or chromium; "
            "Ubuntu: snap install chromium)"
        )
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    expect.set_options(timeout=1000 * PATIENCE_S)  # a context's timeout does not cover it
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=CHROMIUM_OPTIONS)
        yield chromium
        chromium.close()


@dataclass(frozen=True)
class Player:
    """A viewer of the page: what he sees, and where he points."""

    page: Page
    demo: Demo

    def sees_the_newest(self) -> Snapshot:
        """Wait until the page shows a settled state, and return it."""
        snapshot = self.demo.settled()
        self.sees(lambda: self.version() >= snapshot.version)
        return snapshot

    def sees(self, is_so: Callable[[], bool]) -> None:
        """Wait until a condition is true, checked after each frame of the table."""
        wait_until(self.demo.live, is_so)

    def version(self) -> int:
        return int(self.page.locator("#board").get_attribute("data-version") or -1)

    def spot(self, x_mm: float, y_mm: float) -> tuple[float, float]:
        """The place on the screen of a place on the table."""
        return spot(self.page, x_mm, y_mm)

    def spot_of(self, unit_id: str) -> tuple[float, float]:
        """The place on the screen of a unit's base, by the truth."""
        base = self.true_bases(unit_id)[0]
        return self.spot(base.x_mm, base.y_mm)

    def middle_of(self, unit_id: str) -> tuple[float, float]:
        """The true middle of a regular unit."""
        bases = self.true_bases(unit_id)
        return sum(b.x_mm for b in bases) / len(bases), sum(b.y_mm for b in bases) / len(bases)

    def heading_of(self, unit_id: str) -> float:
        """The true heading of a unit."""
        return self.true_bases(unit_id)[0].heading_deg

    def true_bases(self, unit_id: str) -> tuple[BasePose, ...]:
        unit = self.demo.table.truth().unit(unit_id)
        assert unit is not None
        return unit.bases

    def reading(self) -> tuple[float, float, float]:
        """The tape's reading: in the game's unit, in mm, and its standard deviation."""
        expect(self.page.locator(".tape.settled .reading-mm")).to_have_text(re.compile(r"\d mm"))
        bw = self.page.locator(".tape.settled .reading").text_content() or ""
        mm = self.page.locator(".tape.settled .reading-mm").text_content() or ""
        distance, sigma = re.fullmatch(r"([\d.]+)(?: ± ([\d.]+))? mm", mm).groups("0.05")
        return float(bw.split()[0]), float(distance), float(sigma)

    def px_per_mm(self) -> float:
        width_mm = (self.page.locator("#board").get_attribute("viewBox") or "").split()[2]
        return self.page.locator("#board").bounding_box()["width"] / float(width_mm)


def looking(context: BrowserContext, demo: Demo) -> Iterator[Player]:
    """The page, showing everything on the table; its scripts must not fail."""
    page = patient(context).new_page()
    mistakes: list[Any] = []
    page.on("pageerror", lambda mistake: mistakes.append(mistake))
    page.goto(demo.address)
    player = Player(page, demo)
    player.sees_the_newest()
    if game_of(demo.table.roster.game) is not None:
        expect(page.locator("#game-strip")).to_have_attribute("data-version", re.compile(r"\d"))
    yield player
    context.close()
    assert mistakes == []


@pytest.fixture
def player(browser: Browser, demo: Demo) -> Iterator[Player]:
    """A player at a laptop."""
    yield from looking(browser.new_context(viewport={"width": 1400, "height": 900}), demo)


@pytest.fixture(scope="module")
def modules(browser: Browser) -> Iterator[Page]:
    """A page that may import the modules of the application; nothing moves on its table."""
    with (
        Server(create_app(StandingTable()), port=0) as server,
        browser.new_context() as context,
    ):
        page = patient(context).new_page()
        page.goto(server.address)
        yield page


@pytest.fixture
def phone(browser: Browser, demo: Demo) -> Iterator[Player]:
    """A player with a phone."""
    context = browser.new_context(
        viewport={"width": 390, "height": 844},
        has_touch=True,
        is_mobile=True,
        device_scale_factor=2,
    )
    yield from looking(context, demo)


@pytest.fixture(scope="module")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:
    hall = Hall(tmp_path_factory.mktemp("games"))
    hall.open()
    yield hall
    hall.end()


@pytest.fixture(scope="module")
def players(hall: Hall, browser: Browser) -> Iterator[Table]:
    """Both players, who opened their links; no script of the page may fail."""
    with ExitStack() as closing:
        seats = [closing.enter_context(seated(hall, browser, side)) for side in SIDES]
        yield Table(hall, *seats)


@pytest.fixture
def fight(players: Table) -> Table:
    """A3 has come within reach of P3, and the game has just begun."""
    hall = players.hall
    hall.table.restart()
    hall.table.move_unit("A3", 640, 330, 270)
    players.begin()
    return players
