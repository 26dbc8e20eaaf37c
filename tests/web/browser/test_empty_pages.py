"""Pages with nothing to show yet say so, and have no dead buttons."""

from __future__ import annotations

from dataclasses import replace

from playwright.sync_api import Browser, expect

from tests.referee.tables import table
from tests.web.browser.standing_games import standing_game


def test_an_empty_replay_has_nothing_to_play_it_with(browser: Browser) -> None:
    with standing_game(browser, table()) as game:
        game.page.goto(game.page.url + "replay")
        expect(game.page.locator("#nothing")).to_contain_text("Nothing has been recorded yet")
        expect(game.page.get_by_text("Recording of")).to_be_hidden()
        expect(game.page.locator(":is(button, select):visible")).to_have_count(1)  # the help


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
