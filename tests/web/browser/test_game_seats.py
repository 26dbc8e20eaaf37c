"""What is shown to whom: concealed hands, strangers, links, spectators."""

from __future__ import annotations

from playwright.sync_api import Browser, expect

from tablecam.referee.seats import SHARED
from tests.web.browser.demos import patient
from tests.web.browser.halls import Hall, Table, seated


def test_a_hand_that_is_dealt_is_seen_by_its_owner_alone(fight: Table) -> None:
    deal(fight)
    fight.taps("Skip")
    for seat in (fight.prussian, fight.austrian):
        seat.shows_the_newest()
        expect(seat.page.locator("#game-hand li")).to_have_count(6)
    prussian, austrian = fight.prussian.received(), fight.austrian.received()
    for card in hand(fight.hall, "prussian"):
        assert card in prussian
        assert card not in austrian
    for card in hand(fight.hall, "austrian"):
        assert card in austrian
        assert card not in prussian


def deal(table: Table) -> None:
    """Begin with cards that tablecam deals."""
    table.begin(deck="house")
    while table.hall.asked().seat is None:
        table.prussian.shows_the_newest()
        table.prussian.clicks('#game-actions button[aria-label^="Draw"]')


def hand(hall: Hall, side: str) -> list[str]:
    """The cards that a side holds, each as JSON names it."""
    with hall.referee.locked() as play:
        assert play is not None
        return [f'"{card}"' for card in play.state.side(side).cards]


def test_on_a_shared_screen_a_seat_is_taken_by_a_tap_and_its_hand_is_hidden_again(
    fight: Table, browser: Browser
) -> None:
    deal(fight)
    with seated(fight.hall, browser, "shared") as shared:
        page = shared.page
        shared.shows_the_newest()
        expect(page.locator("#game-hand li")).to_have_count(0)
        expect(page.locator("#game-take")).to_have_text("Take the Prussian seat to answer")
        page.locator("#game-take").click()
        expect(page.locator("#game-hand li")).to_have_count(6)
        expect(page.locator("#turn-who")).to_have_text("your turn")
        expect(page.locator("#game-leave")).to_have_text("Hide the hand")
        with seated(fight.hall, browser, "shared") as other:
            said = other.page.locator("#game-elsewhere")
            expect(said).to_have_text("Prussians answer on their own screen.")
            expect(other.page.locator("#game-seats button.main:visible")).to_have_count(0)
            page.locator("#game-leave").click()
            other.page.reload()
            expect(other.page.locator("#game-take")).to_be_visible()
            expect(said).to_be_hidden()
        expect(page.locator("#game-hand li")).to_have_count(0)
        expect(page.locator("#game-leave")).to_be_hidden()
        page.locator("#seat-open").click()
        page.locator('#seats-body [data-seat="austrian"]').click()
        expect(page.locator("#game-hand li")).to_have_count(6)
        page.reload()  # it is still this screen's seat, and is restored
        expect(page.locator("#game-hand li")).to_have_count(6)
        page.locator("#seat-open").click()
        page.locator('#seats-body [data-seat="shared"]').click()
        expect(page.locator("#game-take")).to_be_visible()
        expect(page.locator("#game-hand li")).to_have_count(0)


def test_who_has_answered_passes_the_screen_to_the_side_that_is_asked(
    fight: Table, browser: Browser
) -> None:
    deal(fight)
    fight.taps("Skip")
    with seated(fight.hall, browser, "shared") as shared:
        shared.shows_the_newest()
        page = shared.page
        page.locator("#game-take").click()
        page.locator('#game-actions button[aria-label="March"]').click()
        page.locator('#game-actions [data-offer^="offer"]').first.click()
        expect(page.locator("#game-leave")).to_be_hidden()
        expect(page.locator("#game-next")).to_have_text("Hand this screen to the Austrians")
        page.locator("#game-next").click()
        expect(page.locator("#game-hand li")).to_have_count(0)
        expect(page.locator("#game-take")).to_have_text("Take the Austrian seat to answer")


def test_one_person_plays_both_sides_and_sees_the_hand_of_the_side_that_is_asked(
    fight: Table, browser: Browser
) -> None:
    deal(fight)
    with seated(fight.hall, browser, "shared") as shared:
        shared.shows_the_newest()
        page = shared.page
        page.locator("#game-both").click()
        expect(page.locator("#game-hand-title")).to_have_text("Hand of the Prussians")
        shared.taps("Skip")
        shared.taps("Pass")
        shared.taps("Keep the commander where he is")
        fight.hall.waits(lambda: fight.hall.asked().seat == "austrian")
        shared.shows_the_newest()
        expect(page.locator("#game-hand-title")).to_have_text("Hand of the Austrians")
        expect(page.locator("#game-hand li")).to_have_count(6)
        expect(page.locator("#game-both")).to_be_hidden()
        page.locator("#game-leave").click()
        expect(page.locator("#game-hand li")).to_have_count(0)


def test_a_stranger_is_told_in_words_to_ask_for_a_link(hall: Hall, browser: Browser) -> None:
    with browser.new_context() as context:
        page = patient(context).new_page()
        answer = page.goto(hall.address)
        assert answer is not None
        assert answer.status == 403
        expect(page.locator("body")).to_contain_text("ask for yours")
        assert page.request.get(f"{hall.address}api/game").status == 403


def test_the_shared_screen_shows_the_links_and_who_looks_on_has_no_buttons(
    fight: Table, browser: Browser
) -> None:
    hall = fight.hall
    with seated(hall, browser, "shared") as shared:
        page = shared.page
        shared.shows_the_newest()
        page.locator("#seat-open").click()
        page.locator("#seats-body summary").first.click()
        code = page.locator("#seats-body img").first
        hall.waits(lambda: code.evaluate("image => image.complete && image.naturalWidth") > 0)
        link = page.locator("#seats-body input").first.input_value()
        assert link.endswith(hall.seats.path("prussian"))
    with seated(hall, browser, "spectator") as spectator:
        spectator.shows_the_newest()
        expect(spectator.page.locator("#turn-question")).to_contain_text("Volley phase")
        waits = "What happens will be listed here."
        expect(spectator.page.locator("#game-hint")).to_have_text(waits)
        expect(spectator.page.locator("#game button:visible")).to_have_count(0)
        expect(spectator.page.locator(".simulated")).to_be_hidden()
        expect(spectator.page.locator("#moving")).to_be_hidden()
        spectator.page.keyboard.press("m")
        expect(spectator.page.locator("#moving")).to_have_attribute("aria-pressed", "false")


def test_a_tape_that_one_seat_keeps_and_where_it_points_are_seen_by_the_other(fight: Table) -> None:
    prussian, austrian = fight.prussian.page, fight.austrian.page
    fight.hall.referee.act(SHARED, {"type": "overrule", "disruption": {"A6": 1}})
    for unit in ("P1", "A1"):
        prussian.locator(f'.units [data-thing="unit:{unit}"]').focus()
        prussian.keyboard.press("Enter")
    disputes = prussian.locator(".dispute-open").first
    expect(disputes).to_be_in_viewport(ratio=1)
    disputes.click()
    prussian.locator("#dispute-close").click()
    fight.prussian.opens_log()
    expect(prussian.locator("#game-log #disputes")).to_contain_text("Past disputes (1)")
    prussian.locator("#tab-game").click()
    prussian.locator("#keep").click()
    tape = austrian.locator(".tape.kept.of-side")
    expect(tape).to_have_count(1)
    expect(austrian.locator("#measure-body .kept")).to_contain_text("P1 to A1")
    expect(austrian.locator("#measure-body .kept")).to_contain_text("Prussian")
    expect(austrian.locator("[data-tape]")).to_have_count(0)  # it is not theirs
    austrian.reload()
    expect(tape).to_have_count(1)
    expect(prussian.locator("[data-tape]")).to_be_in_viewport(ratio=1)
    prussian.locator("[data-tape]").click()
    expect(tape).to_have_count(0)
    pinged = {"x_mm": 300.0, "y_mm": 300.0}
    assert prussian.request.post(f"{fight.hall.address}api/ping", data=pinged).ok
    expect(austrian.locator(".ping.of-side")).to_have_count(1)
    expect(austrian.locator(".ping")).to_have_count(0)


def test_one_phone_proposes_another_game_and_the_other_agrees(fight: Table) -> None:
    fight.begin()
    prussian, austrian = fight.prussian.page, fight.austrian.page
    run = fight.hall.referee.run
    prussian.locator("#begin-again").click()
    prussian.locator("#begin").click()
    expect(prussian.locator("#proposed-what")).to_contain_text("Waiting for the other side")
    expect(prussian.locator("#agree")).to_be_hidden()
    expect(austrian.locator("#proposed-what")).to_contain_text("Prussians propose: another game")
    assert fight.hall.referee.run == run
    austrian.locator("#agree").click()
    expect(austrian.locator("#game-proposed")).to_be_hidden()
    assert fight.hall.referee.run != run
    fight.hall.end()
