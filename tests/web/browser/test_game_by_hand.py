"""What hands do on the table, and what the page says about it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, Route, expect

from tablecam.referee.intents import Intent
from tablecam.referee.seats import SHARED, player
from tablecam.rules.maurice.game import by_hand
from tests.web.browser.demos import spot
from tests.web.browser.halls import Table

PRUSSIAN = player("prussian")


def test_an_intent_is_said_before_the_move_and_checked_after_it(fight: Table) -> None:
    page = fight.prussian.page
    for unit in ("P1", "A1"):
        page.locator(f'.units [data-thing="unit:{unit}"]').focus()
        page.keyboard.press("Enter")
    page.locator("#intent-part summary").click()
    page.get_by_role("button", name="just outside 8 BW").click()
    for seat in (fight.prussian, fight.austrian):
        intent = seat.page.locator("#game-intents li")
        expect(intent).to_contain_text("P1 just outside 8 BW of A1")
        expect(intent.locator("b")).to_have_text("✓ yes")
    page.keyboard.press("Escape")


def test_a_unit_moved_out_of_turn_is_said_and_may_be_accepted(fight: Table) -> None:
    page = fight.austrian.page
    fight.hall.table.move_unit("A6", 230, 700, 0)
    moved = page.locator('.moved[data-unit="A6"]')
    expect(moved).to_contain_text("✗ no")
    opens = moved.locator('[data-way="accept-open"]')
    opens.click()
    # Nobody mistakes the first step for the whole: the second one asks.
    expect(moved.locator(".accepting b")).to_have_text("Not accepted yet: do the players agree?")
    expect(moved.locator("input")).to_be_focused()
    moved.locator("input").press("Escape")
    opens.click()
    moved.get_by_role("button", name="Cancel").click()
    opens.click()
    moved.locator("input").fill("it slipped")
    accept = moved.locator('[data-way="accept"]')

    def answer(route: Route) -> None:
        expect(accept).to_have_attribute("data-busy", "Accepting …")
        route.continue_()

    page.route("**/api/game/accept*", answer)
    moved.locator("input").press("Enter")
    expect(moved).to_have_count(0)
    line = fight.prussian.page.locator("#game-log-body li.overrule")
    expect(line).to_contain_text("A6 stays there (it slipped)")


def test_a_legal_move_is_confirmed_by_its_own_side_and_overruled_by_nobody(fight: Table) -> None:
    fight.taps("Skip", "March", "P1: with 1 card of 8 BW")
    fight.hall.table.move_unit("P1", 300, 290, 90)
    for seat, ways in ((fight.prussian, 1), (fight.austrian, 0)):
        moved = seat.page.locator('.moved[data-unit="P1"]')
        expect(moved).to_contain_text("✓ yes")
        expect(moved.locator("[data-way]:visible")).to_have_count(ways)
    page = fight.prussian.page
    # The room for one card hides no question.
    page.wait_for_function("document.getElementById('game-seen').clientHeight < 180")
    page.locator('.units [data-thing="unit:P1"]').focus()
    page.keyboard.press("Enter")
    expect(page.locator("#clear")).to_be_visible()
    fight.prussian.clicks('.moved[data-unit="P1"] [data-way="seen"]')
    expect(page.locator("#clear")).to_be_hidden()  # the next unit is not measured from it


def test_a_force_that_was_moved_at_once_is_confirmed_with_one_tap(fight: Table) -> None:
    hall, page = fight.hall, fight.prussian.page
    fight.taps("Skip", "March", "P1, P2, P3, P4: with 1 card of 4 BW")
    cards = page.locator("#game-moved .moved")
    for unit, y_mm in (("P2", 260), ("P1", 275), ("P4", 395)):
        middle = hall.table.truth().unit(unit)
        x_mm = sum(base.x_mm for base in middle.bases) / 4
        hall.table.move_unit(unit, x_mm, y_mm, 90)
        if unit == "P2":
            expect(cards).to_have_count(1)
    expect(cards).to_have_count(3)
    # A new card appears below the one that may be under the pointer.
    expect(cards.first).to_have_attribute("data-unit", "P2")
    expect(page.locator("#confirm-all")).to_have_text("Confirm all 2 moves")
    expect(page.locator("#together-order")).to_have_text("in this order: P1, P2")
    expect(page.locator('.moved[data-unit="P2"] [data-way="seen"]')).to_have_count(1)
    expect(page.locator('.moved[data-unit="P4"]')).to_contain_text("✗ no")
    fight.prussian.clicks("#confirm-all")
    expect(page.locator("#game-log-body")).to_contain_text("P1 marches 2.00 BW")
    expect(page.locator("#game-log-body")).to_contain_text("P2 marches 1.50 BW")
    expect(page.locator("#game-moved .moved")).to_have_count(1)
    expect(page.locator("#game-together")).to_be_hidden()
    # The march's end first warns of what would be lost.
    page.locator('#game-actions button[aria-label="End the march"]').click()
    ending = page.locator("#game-actions button", has_text="P4 not settled yet")
    expect(ending).to_have_text("P4 not settled yet: End the march anyway?")
    fight.prussian.clicks('#game-actions button:has-text("anyway?")')
    expect(page.locator("#turn-question")).to_contain_text("move the commander?")


def test_a_unit_dragged_too_far_sees_its_limit_and_is_put_where_it_may_go(fight: Table) -> None:
    fight.taps("Skip", "March", "P1, P2, P3, P4: with 1 card of 4 BW")
    page = fight.prussian.page
    asked = "#game-actions"
    expect(page.locator(f"{asked} .group-march")).to_be_visible()
    board, below_px = page.locator("#board").bounding_box(), place_in_panel(page, asked)
    for other in (fight.austrian.page, page):  # every seat sees the limit
        carry(other, fight, "P1", 200)
        expect(other.locator(".tape .reading-mm")).to_contain_text("may move only 4")
        expect(other.locator(".layer.ghost")).to_have_class(re.compile("would-no"))
        if other is not page:
            other.keyboard.press("Escape")
            other.mouse.up()
    page.mouse.up()
    moved = page.locator('.moved[data-unit="P1"]')
    expect(moved).to_contain_text("P1: checking the move …")  # at once
    expect(moved).to_contain_text("✗ no")
    expect(page.locator("#undo")).to_have_text("Put P1 back")
    put_there, lays = page.locator('[data-lay="P1"]'), "**/api/simulated/lay"
    held: list[Route] = []
    page.route(lays, lambda route: held.append(route))
    with page.expect_request(lays):
        put_there.click()
    expect(put_there).to_be_disabled()  # until the camera has found it there
    held[0].continue_()
    page.unroute(lays)
    expect(moved).to_contain_text("✓ yes")
    there = fight.hall.table.truth().unit("P1")
    assert page.request.post(f"{fight.hall.address}api/simulated/lay", data={"unit": "P1"}).ok
    assert fight.hall.table.truth().unit("P1") == there  # a second press does not undo the first
    assert page.locator("#board").bounding_box() == board  # one row of the demo's buttons
    assert place_in_panel(page, asked) == below_px
    fight.prussian.clicks('.moved[data-unit="P1"] [data-way="seen"]')
    expect(moved).to_have_count(0)
    # The question stays in place; a click may have scrolled the panel to its button.
    assert place_in_panel(page, asked) == below_px
    expect(page.locator("#undo")).to_be_hidden()  # the game undoes it


def test_a_move_that_is_put_back_leaves_nothing_to_undo(fight: Table) -> None:
    page = fight.prussian.page
    carry(page, fight, "P1", 60)
    page.mouse.up()
    expect(page.locator("#undo")).to_be_visible()
    page.locator('[data-lay="P1"]').click()
    expect(page.locator(".moved")).to_have_count(0)
    expect(page.locator("#undo")).to_be_hidden()
    expect(page.locator("#notice-undo")).to_be_hidden()


def place_in_panel(page: Page, selector: str) -> float:
    """The offset of an element from the panel's top, in pixels, whatever the scrolling."""
    scrolled_px: float = page.locator("#panel").evaluate("panel => panel.scrollTop")
    box = page.locator(selector).bounding_box()
    assert box is not None
    return box["y"] + scrolled_px


def carry(page: Page, table: Table, unit: str, ahead_mm: float) -> None:
    """A hand takes a unit and holds it ahead of where it stood."""
    bases = table.hall.table.truth().unit(unit).bases
    x_mm, y_mm = (sum(at) / 4 for at in zip(*((b.x_mm, b.y_mm) for b in bases), strict=True))
    page.mouse.move(*spot(page, x_mm, y_mm))
    page.mouse.down()
    page.mouse.move(*spot(page, x_mm, y_mm + ahead_mm), steps=3)


@pytest.fixture
def in_doubt(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rulebook that leaves the length of a march to the players."""
    monkeypatch.setattr(by_hand, "is_within_error", lambda answer: False)


def test_what_is_too_close_to_call_goes_by_the_movers_intent_or_to_his_benefit(
    fight: Table, in_doubt: None
) -> None:
    page = fight.prussian.page
    fight.hall.referee.intend(PRUSSIAN, Intent("P1", "A1", 5.0, is_within=False))
    a_slip_too_far(fight, "P1", "P2")
    for unit, way, said in (
        ("P1", "intent", "the mover's intent: P1 just outside 5 BW of A1"),
        ("P2", "benefit", "giving the mover the benefit"),
    ):
        moved = page.locator(f'.moved[data-unit="{unit}"]')
        expect(moved).to_contain_text("≈ too close")
        expect(moved.locator("[data-way]:visible")).to_have_count(3)
        expect(moved.locator(".means small")).to_have_text(
            [
                "Allowed: the Prussians said beforehand where it would end.",
                "4 or more: as the Prussians like. Less: as the Austrians like.",
                "Allowed: the Austrians leave it to the Prussians.",
            ]
        )
        fight.prussian.clicks(f'.moved[data-unit="{unit}"] [data-way="{way}"]')
        expect(moved).to_have_count(0)
        for seat in (fight.prussian, fight.austrian):
            line = seat.page.locator("#game-log-body li").first
            expect(line).to_contain_text(f"{unit} marches 4.0")
            expect(line).to_contain_text(f"too close to call, decided by {said}")


def test_what_is_too_close_to_call_is_rolled_for_with_one_tap(fight: Table, in_doubt: None) -> None:
    page = fight.prussian.page
    a_slip_too_far(fight, "P1", "P2")
    holds, fails = (page.locator(f'.moved[data-unit="{unit}"]') for unit in ("P1", "P2"))
    page.evaluate("() => { crypto.getRandomValues = (some) => some.fill(0) }")  # a 1
    fails.locator('[data-way="die"]').click()
    expect(fails.locator(".decided")).to_contain_text("Not allowed")
    expect(fails.locator('[data-way="seen"]')).to_have_count(0)
    page.evaluate("() => { crypto.getRandomValues = (some) => some.fill(5) }")  # a 6
    fight.prussian.clicks('.moved[data-unit="P1"] [data-way="die"]')
    expect(holds).to_have_count(0)
    expect(fails).to_have_count(1)
    line = fight.austrian.page.locator("#game-log-body li").first
    expect(line).to_contain_text("too close to call, decided by a die")


def a_slip_too_far(table: Table, *units: str) -> None:
    """Units march half a millimetre too far: a hand's slip."""
    table.taps("Skip", "March", "P1, P2, P3, P4: with 1 card of 4 BW")
    for unit in units:
        bases = table.hall.table.truth().unit(unit).bases
        x_mm, y_mm = (sum(at) / 4 for at in zip(*((b.x_mm, b.y_mm) for b in bases), strict=True))
        table.hall.table.move_unit(unit, x_mm, y_mm + 120.5, 90)
    moved = table.prussian.page.locator("#game-moved .moved.too_close")
    expect(moved).to_have_count(len(units))


def test_units_out_of_step_are_put_in_place_and_a_legal_move_stays(fight: Table) -> None:
    page, table = fight.prussian.page, fight.hall.table
    fight.taps("Skip", "March", "P1, P2, P3, P4: with 1 card of 4 BW")
    for unit, ahead_mm in (("P1", 60), ("A1", 50), ("A2", 50)):
        bases = table.truth().unit(unit).bases
        x_mm, y_mm = (
            sum(at) / len(bases) for at in zip(*((b.x_mm, b.y_mm) for b in bases), strict=True)
        )
        table.move_unit(unit, x_mm, y_mm + ahead_mm, bases[0].heading_deg)
    expect(page.locator('#game-moved .moved[data-unit="P1"]')).to_contain_text("✓ yes")
    page.locator("#astray-lay").click()
    expect(page.locator("#game-astray")).to_be_hidden()
    expect(page.locator('#game-moved .moved[data-unit="P1"]')).to_contain_text("✓ yes")


def test_a_broken_unit_is_taken_off_by_a_tap_and_put_back_by_another(fight: Table) -> None:
    page = fight.prussian.page
    fight.hall.referee.act(SHARED, {"type": "overrule", "off": ["A6"]})
    due = page.locator("#game-due li")
    expect(due).to_contain_text("A6 is out of play: take it off the table")
    page.locator('.units [data-thing="unit:A6"]').focus()
    page.keyboard.press("Enter")
    expect(page.locator("#clear")).to_be_visible()
    page.locator("#game-due [data-lift]").click()
    expect(due.filter(has_text="take it off")).to_have_count(0)
    expect(page.locator('.units [data-thing="unit:A6"]')).to_have_count(0)
    expect(page.locator("#clear")).to_be_hidden()  # a unit that has left is no longer chosen
    expect(page.locator("#health-state")).to_have_text("Camera good")  # nobody misses its tags
    page.locator("#lifted button", has_text="Put A6 back").click()
    expect(page.locator("#game-moved")).to_contain_text("A6 has left the game")


def test_a_chosen_unit_is_taken_off_the_simulated_table_and_undo_puts_it_back(fight: Table) -> None:
    page = fight.prussian.page
    expect(page.locator("#lift")).to_be_disabled()
    page.locator('.units [data-thing="unit:P5"]').focus()
    page.keyboard.press("Enter")
    page.get_by_title("Take P5 off the table").click()
    fight.hall.waits(lambda: not fight.hall.table.truth().unit("P5").bases)
    page.keyboard.press("Control+z")
    fight.hall.waits(lambda: len(fight.hall.table.truth().unit("P5").bases) == 4)
    expect(page.locator("#lifted button")).to_have_count(0)
    page.keyboard.press("Escape")


def test_the_demo_puts_units_where_the_game_has_them(fight: Table) -> None:
    hall, page = fight.hall, fight.austrian.page
    fight.begin(active="austrian")
    fight.taps("Skip", "Charge", "A3: with 1 card of 13 BW", "A3 charges P3")
    # The scripted battle would run into the game.
    expect(page.locator("#pause")).to_be_hidden()
    page.locator('#game-due [data-lay="A3"]').click()
    hall.waits(lambda: hall.referee.to_place == ())
    hall.table.move_unit("P5", 430, 180, 90)
    hall.table.move_unit("A6", 230, 700, 0)
    page.locator("#astray-lay").click()
    hall.waits(lambda: hall.referee.suggested == ())
    expect(page.locator("#game-astray")).to_be_hidden()
    expect(page.locator("#in-place")).to_be_disabled()
    hall.table.move_unit("P5", 430, 180, 90)
    page.locator('#game-moved [data-lay="P5"]').click()
    hall.waits(lambda: hall.referee.suggested == ())
