"""Rulings are shown on the page, proved on the table, and recorded when disputed."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

FINGER_PX = 36
"""Least size of a control, about that of a fingertip."""


def bring_together(player: Any) -> Any:
    """A3 before P3, near enough to shoot and to charge; A2 behind P3, upon its flank."""
    player.demo.table.move_unit("A3", 640, 300, 270)
    player.demo.table.move_unit("A2", 560, 165, 90)
    player.sees_the_newest()
    return player


@pytest.fixture
def facing(player: Any) -> Any:
    """A player at a laptop, with a fight on the table."""
    return bring_together(player)


@pytest.fixture
def phone_facing(phone: Any) -> Any:
    """A player with a phone, with a fight on the table."""
    return bring_together(phone)


def chip(page: Any, key: str) -> Any:
    return page.locator(f'#rulings-chips [data-section="{key}"]')


def dispute(player: Any, question: str) -> None:
    player.page.locator(f'[data-question="{question}"]').click()
    expect(player.page.locator("#dispute")).to_be_visible()


def choose_both(player: Any, first: str, second: str) -> None:
    player.page.mouse.click(*player.spot_of(first))
    expect(chip(player.page, "fire")).to_be_visible()
    player.page.mouse.click(*player.spot_of(second))
    expect(chip(player.page, "range")).to_be_visible()


def test_a_unit_shows_its_targets_and_who_is_near_with_zones_and_ring(facing: Any) -> None:
    page = facing.page
    page.mouse.click(*facing.spot_of("P3"))
    expect(page.locator(".section-fire .ruling")).not_to_have_count(0)
    expect(page.locator(".section-fire")).to_contain_text("A3")
    expect(page.locator(".section-near_enemy .ruling.yes")).to_have_count(1)
    expect(page.locator(".beneath .role-fire-zone")).not_to_have_count(0)
    expect(page.locator(".beneath .role-ring")).to_have_count(1)
    expect(page.locator(".about .role-ring")).to_have_count(0)
    page.keyboard.press("Escape")
    expect(page.locator(".shape")).to_have_count(0)
    expect(page.locator("#rulings-chips button")).to_have_count(0)


def test_keys_and_chips_show_and_hide_sections_and_the_page_remembers(facing: Any) -> None:
    page = facing.page
    page.mouse.click(*facing.spot_of("P3"))
    chip(page, "charge").click()
    expect(chip(page, "charge")).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".beneath .role-lane")).not_to_have_count(0)
    page.keyboard.press("4")
    expect(page.locator(".section-fire")).to_have_count(0)
    expect(page.locator(".role-fire-zone")).to_have_count(0)
    page.reload()
    facing.sees_the_newest()
    page.mouse.click(*facing.spot_of("P3"))
    expect(chip(page, "charge")).to_have_attribute("aria-pressed", "true")
    expect(chip(page, "fire")).to_have_attribute("aria-pressed", "false")
    expect(page.locator(".section-charge")).to_contain_text("A3")


def test_two_units_show_who_is_on_whose_flank_and_why(facing: Any) -> None:
    page = facing.page
    choose_both(facing, "P3", "A2")
    line = page.locator(".section-flank .ruling.yes").first
    expect(line).to_contain_text("behind P3's front line")
    number = line.locator(".rule")
    number.click()
    sheet = facing.page.locator("#rule-words")
    expect(sheet).to_contain_text("M-1.12 To the flank")
    facing.page.keyboard.press("Escape")
    expect(sheet).to_be_hidden()
    # Escape closed the rule, and nothing else.
    expect(line).to_be_visible()
    expect(page.locator(".proof .role-counts")).to_have_count(4)
    expect(page.locator(".proof .role-front-line")).not_to_have_count(0)


def test_a_ruling_is_read_aloud_whole(facing: Any) -> None:
    choose_both(facing, "P3", "A2")
    heard = facing.page.locator(".section-flank .ruling.yes").first.aria_snapshot()
    whole = r'button "Yes\. A2 is to the flank of P3 .+\. M-1\.12"'
    assert re.search(whole, heard)
    assert "holds by" not in heard  # this far from the limit, nobody asks by how much
    assert "✓" not in heard


def test_of_two_units_that_touch_no_length_is_written_over_their_names(facing: Any) -> None:
    facing.demo.table.move_unit("A3", 615, 245, 270)  # its front upon P3's
    facing.sees_the_newest()
    choose_both(facing, "P3", "A3")
    expect(facing.page.locator("#measure-body")).to_contain_text("0.00 BW")
    expect(facing.page.locator(".tape.settled")).to_have_count(1)
    expect(facing.page.locator(".tape.settled .reading")).to_be_hidden()


def test_a_line_that_is_pointed_at_is_proved_alone(facing: Any) -> None:
    page = facing.page
    page.mouse.click(*facing.spot_of("P3"))
    expect(page.locator(".beneath .role-ring")).to_have_count(1)
    page.locator(".section-fire .ruling .said").first.hover()
    expect(page.locator(".role-fire-zone")).to_have_count(4)  # the bases that share the line
    expect(page.locator(".beneath .role-ring")).to_have_count(0)
    expect(page.locator(".about .shape")).to_have_count(0)
    page.locator(".section-fire .ruling .said").first.click()
    page.mouse.move(5, 300)
    expect(page.locator('.said[aria-pressed="true"]')).to_have_count(1)
    expect(page.locator(".beneath .role-ring")).to_have_count(0)
    page.locator(".section-fire .ruling .said").first.click()
    page.mouse.move(5, 300)
    expect(page.locator(".beneath .role-ring")).to_have_count(1)


def test_the_round_passes_to_the_other_side_and_is_remembered(facing: Any) -> None:
    page = facing.page
    pressed = page.locator('#round [aria-pressed="true"]')
    expect(pressed).to_have_text("Prussian")
    page.keyboard.press("r")
    expect(pressed).to_have_text("Austrian")
    with page.expect_response(lambda answer: "rulings/unit" in answer.url) as told:
        page.mouse.click(*facing.spot_of("P3"))
    assert told.value.json()["active"] == "austrian"
    page.reload()
    expect(pressed).to_have_text("Austrian")


def test_rulings_follow_a_unit_that_moves(facing: Any) -> None:
    page = facing.page
    page.mouse.click(*facing.spot_of("P3"))
    expect(page.locator(".section-near_enemy .ruling.yes")).to_have_count(1)
    facing.demo.table.move_unit("A3", 640, 560, 270)
    facing.demo.table.move_unit("A2", 435, 640, 270)
    facing.sees_the_newest()
    expect(page.locator(".section-near_enemy .ruling.no")).to_have_count(1)
    expect(page.locator(".section-fire .ruling.yes")).to_have_count(0)


def test_a_dispute_is_shown_with_its_picture_and_found_again(facing: Any) -> None:
    page = facing.page
    choose_both(facing, "P3", "A2")
    dispute(facing, "flank/P3/A2")
    expect(page.locator("#dispute-question")).to_have_text("Is A2 to the flank of P3?")
    expect(page.locator("#dispute-answer")).to_have_text("Yes")
    expect(page.locator("#dispute-rule")).to_have_text("M-1.12")
    expect(page.locator("#dispute-margin")).to_contain_text("±")
    expect(page.locator("#dispute-kept")).to_contain_text("Saved with the game")
    picture = page.locator("#dispute-picture")
    facing.sees(lambda: picture.evaluate("image => image.complete && image.naturalWidth") > 100)
    page.get_by_role("button", name="Without the drawing").click()
    expect(picture).to_have_attribute("src", re.compile(r"/picture\.jpg\?plain=1$"))
    facing.sees(lambda: picture.evaluate("image => image.complete && image.naturalWidth") > 100)
    page.keyboard.press("Escape")
    expect(page.locator("#dispute")).not_to_be_visible()
    page.reload()
    page.locator("#disputes summary").click()
    page.locator("#disputes-body button").filter(has_text="Is A2 to the flank of P3?").click()
    expect(page.locator("#dispute-answer")).to_have_text("Yes")
    position = page.request.get(
        facing.demo.address + page.locator("#dispute-position").get_attribute("href").lstrip("/")
    )
    assert position.json()["format"] == "tablecam.position"


def test_a_dispute_made_on_another_phone_is_in_the_list_at_once(facing: Any) -> None:
    page = facing.page
    body = {"question": "near/P3", "active": "prussian"}
    with page.expect_response("**/api/disputes"):  # the page asks by itself
        made = page.request.post(f"{facing.demo.address}api/disputes", data=body).json()
    page.locator("#disputes summary").click()
    row = page.locator(f'#disputes-body [data-dispute="{made["number"]}"]')
    expect(row).to_contain_text("Is P3 near the enemy?")


def test_the_keyboard_alone_disputes_an_answer(facing: Any) -> None:
    page = facing.page
    page.locator('.unit[data-thing="unit:P3"]').focus()
    page.keyboard.press("Enter")
    expect(chip(page, "fire")).to_be_visible()
    page.locator(".section-fire .said").first.focus()
    page.keyboard.press("d")
    expect(page.locator("#dispute-question")).to_contain_text("of P3 shoot")
    page.keyboard.press("Escape")
    expect(page.locator("#dispute")).not_to_be_visible()


def test_a_server_that_does_not_answer_is_said_in_words(facing: Any) -> None:
    page = facing.page
    page.route("**/api/disputes", lambda route: route.abort())
    page.reload()  # a page that is already there may send past a new route
    facing.sees_the_newest()
    page.mouse.click(*facing.spot_of("P3"))
    expect(chip(page, "fire")).to_be_visible()
    page.keyboard.press("d")
    expect(page.locator("#rulings-state")).to_contain_text("tablecam does not answer")
    expect(page.locator("#dispute")).not_to_be_visible()
    page.unroute_all(behavior="wait")


def test_what_is_said_is_never_markup(facing: Any) -> None:
    page = facing.page
    evil = "<img src=x onerror='document.title = 1'> is near"

    def answer(route: Any) -> None:
        sheet = route.fetch().json()
        sheet["sections"][0]["lines"][0]["text"] = evil
        sheet["warnings"] = [evil]
        route.fulfill(json=sheet)

    page.route("**/api/rulings/unit*", answer)
    page.reload()
    facing.sees_the_newest()
    page.mouse.click(*facing.spot_of("P3"))
    expect(page.locator(".section-near_enemy .said").first).to_have_text(evil)
    expect(page.locator("#rulings img")).to_have_count(0)
    page.unroute_all(behavior="wait")


def test_a_phone_shows_rulings_within_reach_of_a_thumb(phone_facing: Any) -> None:
    page = phone_facing.page
    page.touchscreen.tap(*phone_facing.spot_of("P3"))
    expect(page.locator(".beneath .role-fire-zone")).not_to_have_count(0)
    page.locator("#panel-grip").tap()
    for control in (
        chip(page, "near_enemy"),
        page.locator("#round button").first,
        page.locator(".section-near_enemy .dispute-open").first,
    ):
        expect(control).to_be_in_viewport()
        box = control.bounding_box()
        assert box["x"] + box["width"] <= 390
        assert min(box["width"], box["height"]) >= FINGER_PX
    page.locator(".section-near_enemy .dispute-open").first.tap()
    expect(page.locator("#dispute-answer")).to_have_text("Yes")
    expect(page.locator("#dispute-close")).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.locator("#dispute-close").tap()
    expect(page.locator("#dispute")).not_to_be_visible()
