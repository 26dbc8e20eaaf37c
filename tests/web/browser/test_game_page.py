"""A game by two seats, each with a browser of its own, over the simulated table."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Browser, expect

from tablecam.referee.seats import SHARED
from tests.web.browser.halls import Table, seated

FINGER_PX = 44
"""Least size of the game's controls, for thumbs without looking."""
PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 844},
    "has_touch": True,
    "is_mobile": True,
}
STRIP_PX = 100
"""Two lines and a seat: the space that a phone can spare above its table."""


def test_three_rounds_by_two_seats(fight: Table) -> None:
    prussian, austrian = fight.prussian, fight.austrian
    expect(prussian.page.locator("#turn-who")).to_have_text("your turn")
    expect(austrian.page.locator("#turn-who")).to_have_text("waiting for the Prussians")
    expect(austrian.page.locator("#game-actions button")).to_have_count(0)
    for seat in (prussian, austrian):  # rulings are for the current round
        expect(seat.page.locator("#round-now")).to_have_text("Prussian")
        expect(seat.page.locator("#round")).to_be_hidden()
    volley(fight)
    march(fight)
    charge(fight)
    rally(fight)


def volley(table: Table) -> None:
    """P3 hits A3 twice, and disrupts it once; both see the marker."""
    table.taps("Fire", "Start from the left", "P3 at A3 (4 bases)")
    table.prussian.enters(6, 6, 1, 1)
    table.taps("End firing")
    table.prussian.enters(6, 1)
    for seat in (table.prussian, table.austrian):
        expect(seat.page.locator('[data-marker="A3: 1 disruption"]')).to_have_count(1)
        expect(seat.page.locator("#game-log-body")).to_contain_text("P3 at A3: 6 6 1 1, needs")
    table.taps("End firing")


def march(table: Table) -> None:
    """P1 is moved too far, and shown where it might have gone; then as far as it may go."""
    table.taps("March", "P1: with 1 card of 8 BW")
    page = table.prussian.page
    moved = page.locator('.moved[data-unit="P1"]')
    table.hall.table.move_unit("P1", 300, 395, 90)
    expect(moved).to_contain_text("✗ no")
    expect(moved).to_contain_text("60 mm too far")
    expect(moved.locator('[data-way="seen"]')).to_have_count(0)
    expect(page.locator(".placing.nearest .ghost-text")).to_have_text("P1: legal")
    table.hall.table.move_unit("P1", 300, 290, 90)
    expect(moved).to_contain_text("✓ yes")
    expect(page.locator(".placing.nearest")).to_have_count(0)
    table.prussian.clicks('.moved [data-way="seen"]')
    expect(page.locator("#game-log-body")).to_contain_text("P1 marches 2.50 BW")
    expect(page.locator("#game-log-body .undone")).to_have_count(0)


def charge(table: Table) -> None:
    """A3 charges P3: a hand lays it on the ghost; the dice of all engaged decide."""
    hall, austrian = table.hall, table.austrian
    table.taps("Keep the commander where he is", "Skip", "Charge")
    table.taps("A3: with 1 card of 13 BW")
    offer = austrian.page.locator('#game-actions button[aria-label="A3 charges P3"]')
    offer.hover()
    expect(austrian.page.locator(".layer.game .role-lane")).not_to_have_count(0)
    austrian.taps("A3 charges P3")
    (ghost,) = hall.referee.to_place
    expect(austrian.page.locator(".placing.due .ghost-text")).to_have_text("A3 here")
    table.lay("A3", ghost.bases)
    expect(austrian.page.locator("#game-placed")).to_contain_text("A3: ✓ placed")
    expect(table.prussian.page.locator(".placing.due")).to_have_count(0)
    table.without_cards()
    expect(austrian.page.locator("#game-dice-title")).to_contain_text("combat: P3, P4, A3")
    owners = austrian.page.locator("#game-dice-entered .alike span")
    expect(owners).to_have_text(["P3", "P4", "A3"])
    added = austrian.page.locator("#game-hint")  # before anybody rolls
    expect(added).to_contain_text("Added to the die (M-8.16): P3 against A3: 6")
    austrian.enters(1, 1, 6)
    expect(austrian.page.locator("#game-cast .die")).to_have_count(3)
    expect(austrian.page.locator("#game-log-body")).to_contain_text("P3: loses to A3 7-9")
    results = table.prussian.page.locator(".layer.results .result")
    expect(results.filter(has_text="P3 7 \N{MIDDLE DOT} +2 \N{BLACK CIRCLE}")).to_have_count(1)
    expect(table.prussian.page.locator('[data-marker="P3: 2 disruptions"]')).to_have_count(1)
    (ghost,) = hall.referee.to_place
    table.lay("A3", ghost.bases)
    expect(table.prussian.page.locator("#game-placed")).to_contain_text("A3: ✓ placed")
    table.taps("Keep the commander where he is")


def rally(table: Table) -> None:
    """A beaten unit rallies in the third round, by dice that tablecam rolls."""
    table.taps("Skip", "Rally")
    page = table.prussian.page
    force = page.locator("#game-actions .group-activate button").first.get_attribute("aria-label")
    table.taps(force or "")
    unit = page.locator("#game-actions .group-rally button").first.get_attribute("aria-label")
    table.taps(unit or "")
    table.prussian.clicks("#game-dice-roll")
    expect(page.locator("#game-cast .die")).not_to_have_count(0)
    expect(page.locator("#game-log-body li").first).to_contain_text("M-9")


def test_what_was_done_is_taken_back_and_stays_in_the_log(fight: Table) -> None:
    page = fight.prussian.page
    fight.taps("Skip")
    expect(page.locator("#turn-question")).to_have_text("Prussians: choose a command")
    page.keyboard.press("Control+z")
    expect(page.locator("#turn-question")).to_have_text("Volley phase: fire?")
    page.keyboard.press("Control+y")
    expect(page.locator("#turn-question")).to_have_text("Prussians: choose a command")


def test_whoever_plays_by_keys_goes_on_where_the_next_answer_is(fight: Table) -> None:
    page = fight.prussian.page
    page.locator('#game-actions button[aria-label="Skip"]').focus()
    page.keyboard.press("Shift")  # the focus is shown from the first key on
    for key in ("Enter", "Tab", "Tab", "Enter"):
        expect(page.locator("#game-actions")).not_to_have_attribute("aria-disabled", "true")
        page.keyboard.press(key)
        expect(page.locator("#game-actions button:focus-visible")).to_have_count(1)
        fight.prussian.shows_the_newest()
    expect(page.locator("#turn-question")).to_contain_text("which force will")


def test_players_overrule_what_they_agree_on(fight: Table) -> None:
    page = fight.prussian.page
    page.locator('.units [data-thing="unit:P5"]').focus()
    page.keyboard.press("Enter")
    page.locator("#game-overrule summary").click()
    page.locator("#overrule-why").fill("<b>forgotten</b>")
    page.get_by_role("group", name="P5: disruption").get_by_role("button", name="2").click()
    for seat in (fight.prussian, fight.austrian):
        expect(seat.page.locator('[data-marker="P5: 2 disruptions"]')).to_have_count(1)
        line = seat.page.locator("#game-log-body li.overrule")
        expect(line).to_contain_text("P5 at 2 disruption (<b>forgotten</b>)")
    expect(page.locator("#measure-body .marked")).to_have_text("2 disruptions")
    page.locator("#game-overrule summary").click()
    page.keyboard.press("Escape")


def test_a_phone_has_all_that_is_asked_within_reach(fight: Table, browser: Browser) -> None:
    fight.taps("Fire", "Start from the left", "P3 at A3 (4 bases)")
    with seated(fight.hall, browser, "prussian", **PHONE) as seat:
        seat.shows_the_newest()
        keys = seat.page.locator("#game-dice-keys button, #game-dice .row button")
        expect(keys).to_have_count(9)
        for key in keys.all():
            expect(key).to_be_in_viewport()
            box = key.bounding_box()
            assert box is not None
            assert min(box["width"], box["height"]) >= FINGER_PX
        strip = seat.page.locator("#game-strip").bounding_box()
        assert strip is not None
        assert strip["height"] <= STRIP_PX
        assert seat.page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_phone_shows_a_chosen_units_moves_at_once(fight: Table, browser: Browser) -> None:
    fight.taps("Skip", "March", "P1, P2, P3, P4: with 1 card of 4 BW")
    with seated(fight.hall, browser, "prussian", **PHONE) as seat:
        seat.shows_the_newest()
        chip = seat.page.locator('#game-actions [data-unit-chip="P4"]')
        expect(chip).to_be_in_viewport(ratio=1)
        chip.click()
        expect(seat.page.locator("#game-actions .bunch button").first).to_be_in_viewport(ratio=1)


def test_a_phone_shows_what_is_asked_and_a_thumb_finds_every_button(
    fight: Table, browser: Browser
) -> None:
    with seated(fight.hall, browser, "prussian", **PHONE) as seat:
        seat.shows_the_newest()
        seat.page.locator("#panel").evaluate("panel => { panel.scrollTop = panel.scrollHeight }")
        fight.taps("Skip")
        seat.shows_the_newest()
        expect(seat.page.locator("#game-actions button").first).to_be_in_viewport()
        small = seat.page.locator("button:visible:not(#panel-grip)").evaluate_all(
            """(all, least) => all.map((each) => [each.textContent, each.getBoundingClientRect()])
                 .filter(([, { width, height }]) => Math.min(width, height) < least)
                 .map(([text]) => text)""",
            FINGER_PX,
        )
        assert small == []


def test_a_phone_shows_what_is_asked_before_what_lies_wrong(fight: Table, browser: Browser) -> None:
    with seated(fight.hall, browser, "prussian", **PHONE) as seat:
        seat.shows_the_newest()
        fight.hall.table.move_unit("A6", 230, 700, 0)
        expect(seat.page.locator('.moved[data-unit="A6"]')).to_contain_text("✗ no")
        expect(seat.page.locator("#game-actions button").first).to_be_in_viewport(ratio=1)


def test_an_army_without_morale_ends_the_game_for_all_to_see_and_another_begins(
    fight: Table, browser: Browser
) -> None:
    wanted = {"type": "overrule", "morale": {"austrian": 1}, "disruption": {"A3": 4}}
    fight.hall.referee.act(SHARED, wanted)
    fight.taps("Fire", "Start from the left", "P3 at A3 (4 bases)")
    fight.prussian.enters(6, 6, 6, 6)
    fight.taps("End firing")
    fight.prussian.enters(6, 6, 6, 6)
    with seated(fight.hall, browser, "spectator") as spectator:
        for seat in (fight.prussian, fight.austrian, spectator):
            over = seat.page.locator("#game-over")
            expect(over).to_contain_text("The Austrian army has no morale left: Prussians win")
            expect(over).to_contain_text("Prussian: morale 6, Austrian: morale 0")
        expect(fight.prussian.page.locator("#game-due button:visible")).to_have_text("Take it off")
        expect(spectator.page.locator("#game button:not(.link):visible")).to_have_count(0)
        expect(fight.prussian.page.locator("#begin")).to_have_text("Start another game")
        fight.begin()
        expect(spectator.page.locator("#game-over")).to_be_hidden()
