"""A game that begins while the simulated battle is still running."""

from __future__ import annotations

from playwright.sync_api import Browser, expect

from tablecam.simulate.demo import embedded_demo
from tests.web.browser.demos import is_near
from tests.web.browser.halls import Table, seated


def test_units_are_taken_in_where_they_come_to_rest(players: Table) -> None:
    hall, page = players.hall, players.prussian.page
    hall.table.resume()
    while not hall.table.scene().held:  # a hand of the script pushes a unit
        hall.table.advance(0.1)
    hall.waits(lambda: hall.live.snapshot().health.tags_held > 0)
    expect(page.locator("#begin")).to_have_text("Start a game")
    page.locator("#begin").click()
    hall.waits(lambda: hall.referee.position() is not None)
    hall.settled()
    players.prussian.shows_the_newest()
    expect(page.locator("#turn-question")).to_contain_text("Prussians draw 6 cards")
    expect(page.locator("#game-moved .moved")).to_have_count(0)
    assert hall.referee.suggested == ()


def test_another_game_of_the_demo_begins_in_the_opening_places(
    players: Table, browser: Browser
) -> None:
    hall = players.hall
    opening = embedded_demo().truth()
    hall.table.move_unit("P5", 430, 180, 90)
    with seated(hall, browser, "shared") as seat:
        seat.page.locator("#restart").click()
        expect(seat.page.locator("#game button:visible").first).to_have_text("Start another game")
        seat.page.locator("#begin-back").click()
        expect(seat.page.locator("#begin")).to_be_hidden()
        run = hall.referee.run
        seat.page.locator("#begin-again").click()
        seat.page.locator("#begin").click()
        hall.waits(lambda: hall.referee.run != run)
        began = hall.referee.position()
        assert began is not None
        assert is_near(began, opening)
        expect(seat.page.locator(".moved:visible")).to_have_count(0)
