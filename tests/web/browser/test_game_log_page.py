"""The log on the page: drawings of its lines, the way back, corrected dice, and pointing."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tablecam.referee.seats import SHARED
from tests.web.browser.halls import Table


def volley(table: Table) -> None:
    """P3 fires at A3, hits it twice and disrupts it once."""
    table.taps("Fire", "Start from the left", "P3 at A3 (4 bases)")
    table.prussian.enters(6, 6, 1, 1)
    table.taps("End firing")
    table.prussian.enters(6, 1)


def test_dice_read_wrong_some_steps_ago_are_corrected_and_struck_through(fight: Table) -> None:
    volley(fight)
    seat, page = fight.prussian, fight.prussian.page
    expect(page.locator('[data-marker="A3: 1 disruption"]')).to_have_count(1)
    seat.opens_log()
    page.locator("#game-log-body .words", has_text="P3 at A3: 6 6 1 1").click()
    page.locator("[data-fix-open]:visible").click()
    for _ in range(2):  # a 6 is turned to a 1, and then a 2
        page.locator('[data-turn="1"]:visible').click()
    expect(page.locator(".line-actions .alike:visible > span")).to_have_text(["4+ P3"])
    expect(page.locator("[data-others]:visible")).to_have_count(0)  # dice are not a choice
    page.locator("#game-log-body .line-actions input:visible").fill("<i>cocked</i>")
    seat.clicks("[data-fix]:visible")
    for each in (fight.prussian, fight.austrian):
        each.shows_the_newest()
        expect(each.page.locator('[data-marker="A3: 1 disruption"]')).to_have_count(0)
        right = each.page.locator("#game-log-body li.overrule").last
        expect(right).to_contain_text("the dice were first entered as 6, 6, 1, 1 (<i>cocked</i>)")
        expect(each.page.locator("#game-log-body li.undone")).to_have_count(0)
        each.opens_log()
        each.page.locator("#game-log-body [data-fold]").click()
        expect(each.page.locator("#game-log-body li.undone")).not_to_have_count(0)
    expect(page.locator("#game-dice-title")).to_contain_text("1 die for hits on A3")


def test_all_since_a_line_is_taken_back_and_done_again(fight: Table) -> None:
    fight.taps("Fire", "Start from the left", "P3 at A3 (4 bases)")
    seat, page = fight.prussian, fight.prussian.page
    seat.opens_log()
    page.locator("#game-log-body .words", has_text="start the volley phase").press("Enter")
    seat.clicks("[data-back]:visible")
    expect(page.locator("#turn-question")).to_have_text("Volley phase: fire?")
    for _ in range(3):  # volleys, their end, the fire
        seat.clicks("#game-redo")
    expect(page.locator("#turn-question")).not_to_contain_text("Volley phase")


def test_the_log_finds_a_word_and_is_reached_by_keys(fight: Table) -> None:
    volley(fight)
    page = fight.prussian.page
    expect(page.locator("#game-latest")).to_contain_text("A3 is hit: 6 1")
    expect(page.locator("#game-log")).to_be_hidden()
    page.locator("#tab-game").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#tab-log")).to_be_focused()
    expect(page.locator("#game-actions")).to_be_hidden()
    lines = page.locator("#game-log-body li")
    page.locator("#game-log-find").fill("6 6 1 1")
    expect(lines).to_have_count(1)
    page.locator("#game-log-find").fill("m-7.8")
    expect(lines).to_contain_text("P3 fires at A3")
    page.locator("#game-log-find").fill("cavalry")
    expect(page.locator("#game-log-none")).to_have_text("Nothing about “cavalry” so far.")
    page.locator("#game-log-find").fill("")
    expect(lines).not_to_have_count(0)


def test_every_line_is_drawn_when_it_is_tapped_and_results_stand_beside_units(
    fight: Table,
) -> None:
    volley(fight)
    page = fight.prussian.page
    expect(page.locator(".layer.results .result")).to_have_text([re.compile(r"^\w+ \+1 ●$")])
    fight.prussian.opens_log()
    said = re.compile("no card|end firing", re.IGNORECASE)  # passes are not drawn
    lines = page.locator("#game-log-body .words").filter(has_not_text=said)
    for line in lines.all():
        line.click()
        expect(page.locator("#board.looking .layer.game .shape")).not_to_have_count(0)
        line.click()
    expect(page.locator("#board.looking")).to_have_count(0)


def test_the_drawing_of_a_line_goes_by_esc_with_the_log_and_with_a_new_action(fight: Table) -> None:
    volley(fight)
    page = fight.prussian.page
    for leaves in ("Escape", "tab", "action"):
        fight.prussian.opens_log()
        page.locator("#game-log-body .words", has_text="A3 is hit").click()
        expect(page.locator("#board.looking")).to_have_count(1)
        page.mouse.move(5, 5)
        if leaves == "Escape":
            page.keyboard.press("Escape")
        elif leaves == "tab":
            page.locator("#tab-game").click()
        else:
            fight.hall.referee.act(SHARED, {"type": "overrule", "disruption": {"A1": 1}})
        expect(page.locator("#board.looking")).to_have_count(0)


def test_what_is_due_is_drawn_until_something_is_pointed_at(fight: Table) -> None:
    page = fight.prussian.page
    fight.taps("Fire", "Start from the left", "P3 at A3 (4 bases)")
    expect(page.locator(".layer.game.due .role-shot")).to_have_count(4)


def test_a_button_that_is_focused_by_keys_shows_who_it_is_for(fight: Table) -> None:
    page = fight.prussian.page
    fight.taps("Skip")
    page.locator("#game-undo").focus()
    page.keyboard.press("Tab")
    for _ in range(10):
        if page.evaluate("document.activeElement.textContent") == "March":
            break
        page.keyboard.press("Tab")
    expect(page.locator("#board.looking .layer.game .role-unit")).to_have_count(11)


def test_a_wrongly_tapped_target_is_put_right_without_throwing_again(fight: Table) -> None:
    fight.taps("Fire", "Start from the left", "P3 at A3 (4 bases)")
    fight.prussian.enters(6, 6, 1, 1)
    page = fight.prussian.page
    fight.prussian.opens_log()
    page.locator("#game-log-body .words", has_text="P3 fires at A3").click()
    page.locator("[data-others]:visible").click()
    wanted = page.locator("[data-other]:visible").first
    unit, targets = wanted.inner_text().split(" at ")
    page.locator("#game-log-body .line-actions input:visible").fill("wrong button")
    wanted.click()
    for each in (fight.prussian, fight.austrian):
        each.shows_the_newest()
        right = each.page.locator("#game-log-body li.overrule").last
        expect(right).to_contain_text(f"{unit} fires at {targets.split(' ')[0]}")
        expect(right).to_contain_text("P3 at A3 (4 bases) was chosen first (wrong button)")
        expect(each.page.locator("#game-log-body li.fold")).to_contain_text("taken back")
