"""The page and the server lose contact, or respond late: nothing is lost."""

from __future__ import annotations

from urllib.parse import urlsplit

from playwright.sync_api import expect

from tests.web.browser.halls import SIDES, Table
from web.seats import Seats


def test_a_reload_in_the_middle_of_a_decision_changes_nothing(fight: Table) -> None:
    fight.taps("Fire", "Start from the left")
    seat = fight.prussian
    buttons = seat.page.locator("#game-actions button")
    before = buttons.evaluate_all("all => all.map((each) => each.ariaLabel)")
    seat.page.reload()
    expect(seat.page.locator("#turn-question")).to_contain_text("fires next, and at whom?")
    expect(buttons).to_have_count(len(before))
    assert buttons.evaluate_all("all => all.map((each) => each.ariaLabel)") == before
    fight.taps("P3 at A3 (4 bases)")


def test_two_taps_at_once_are_one(fight: Table) -> None:
    seat = fight.prussian
    sent: list[str] = []
    seat.page.on(
        "request", lambda request: sent.append(request.method + urlsplit(request.url).path[-4:])
    )
    expect(seat.page.locator("#game-actions")).not_to_have_attribute("aria-disabled", "true")
    seat.page.locator("#game-actions button").first.evaluate(
        "each => { each.click(); each.click() }"
    )
    expect(seat.page.locator("#turn-question")).not_to_contain_text("Volley phase")
    assert sent.count("POST/act") == 1


def test_who_taps_too_late_is_told_that_the_game_had_gone_on(fight: Table) -> None:
    late = fight.austrian
    fight.taps("Fire", "Start from the left", "P3 at A3 (4 bases)")
    late.shows_the_newest()
    old = late.page.request.get(f"{fight.hall.address}api/game").json()
    late.page.route("**/api/game*", lambda route: route.fulfill(json=old))
    late.page.reload()
    late.shows_the_newest()
    fight.prussian.enters(6, 6, 1, 1)
    late.page.locator("#game-dice-roll").click()
    expect(late.page.locator("#game-said")).to_have_text("The game has moved on: look again.")
    late.page.unroute_all(behavior="wait")
    fight.taps("End firing")
    late.shows_the_newest()
    expect(late.page.locator("#game-dice")).to_be_visible()


def test_a_game_goes_on_after_the_server_was_away(fight: Table) -> None:
    hall, page = fight.hall, fight.prussian.page
    fight.taps("Fire", "Start from the left")
    hall.close()
    expect(page.locator("#lost")).to_be_visible()
    hall.open()
    for seat in (fight.prussian, fight.austrian):
        expect(seat.page.locator("#lost")).to_be_hidden()
        seat.shows_the_newest()
        expect(seat.page.locator("#turn-question")).to_contain_text("fires next, and at whom?")
        expect(seat.page.locator("#game-log-body")).to_contain_text("start the volley phase")
    hall.settled()
    fight.taps("P3 at A3 (4 bases)")
    expect(page.locator("#game-dice")).to_be_visible()


def test_a_page_whose_link_counts_no_more_says_so(fight: Table) -> None:
    hall, page = fight.hall, fight.prussian.page
    seats = hall.seats
    hall.close()
    hall.seats = Seats(SIDES, by_link=True)
    hall.open()
    expect(page.locator("#lost")).to_contain_text("This link is no longer valid")
    hall.close()
    hall.seats = seats
    hall.open()
    expect(page.locator("#lost")).to_be_hidden()
