"""A game that begins while the simulated battle is still running."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.web.browser.halls import Table


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
