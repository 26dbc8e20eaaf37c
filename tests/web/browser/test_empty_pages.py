"""Pages with nothing to show yet say so, and have no dead buttons."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from playwright.sync_api import Browser, expect

from tablecam.record.entries import GameFacts
from tablecam.record.game_file import GameFile
from tests.referee.tables import table
from tests.replay.recorded import STARTED_AT
from tests.web.browser.demos import patient
from tests.web.browser.standing_games import standing_game
from web import Server, create_replay
from web.streams import Streams


def test_an_empty_replay_has_nothing_to_play_it_with(browser: Browser) -> None:
    with standing_game(browser, table()) as game:
        game.page.goto(game.page.url + "replay")
        expect(game.page.locator("#nothing")).to_contain_text("no entries yet. Start a game")
        expect(game.page.get_by_text("Recording of")).to_be_hidden()
        expect(game.page.locator(":is(button, select):visible")).to_have_count(1)  # the help
        game.page.locator("#help-open").click()
        game.page.locator("#help-close").click()
        game.page.get_by_role("link", name="Go to the live table").click()
        # The server must not close while it still sends the page's modules.
        expect(game.page.locator("#health-state")).not_to_have_text("Connecting")


def test_a_recording_that_ended_empty_says_so(browser: Browser, tmp_path: Path) -> None:
    empty = GameFile.create(tmp_path / "a.tablecam", GameFacts("maurice-lite", "", STARTED_AT))
    app = create_replay(empty, is_own=True)
    with (
        Server(app, port=0, streams=Streams(1)) as server,
        browser.new_context() as context,
    ):
        page = patient(context).new_page()
        page.goto(server.address)
        expect(page.locator("#nothing")).to_contain_text("it ended before a game began")
        expect(page.locator("#nothing a")).to_have_count(0)


def test_a_lost_camera_leaves_the_table_in_sight(browser: Browser) -> None:
    with standing_game(browser, table(), viewport={"width": 1400, "height": 900}) as game:
        missing = tuple(range(1000, 1136))
        health = replace(game.live.snapshot().health, missing=missing, state="lost")
        game.live.show(health=health)
        game.page.locator("#health").click()
        expect(game.page.locator("#health-state")).to_have_text("Camera lost")
        expect(game.page.locator('#health-facts [data-key="Missing"] dd')).to_contain_text(
            "table: 1000, 1001, 1002"
        )
        box = game.page.locator("#board").bounding_box()
        assert box is not None
        assert box["height"] > 400
        expect(game.page.locator("#turn-question")).to_contain_text("The camera is lost")
