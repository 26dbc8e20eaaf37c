"""The page's measurements by pointing are right, and stay right."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import expect

from tablecam.live import questions

ROUNDING_MM = 0.05
"""Players read tenths of a millimetre."""

SIGMAS = 5
"""With some 90 bases and two coordinates each, none is expected beyond this in a thousand runs."""


def test_a_measurement_by_clicking_equals_the_true_distance(player: Any) -> None:
    page = player.page
    page.mouse.click(*player.spot_of("P3"))
    page.mouse.click(*player.spot_of("A5"))
    expect(page.locator(".tape.settled .reading")).to_contain_text("BW")
    distance_bw, distance_mm, sigma_mm = player.reading()
    true = questions.measure(player.demo.table.truth(), "unit:P3", "unit:A5")
    assert abs(distance_mm - true["distance_mm"]) <= SIGMAS * sigma_mm + ROUNDING_MM
    assert abs(distance_bw - true["distance_bw"]) <= 0.01
    expect(page.locator("#measure-title")).to_have_text("P3 to A5")
    nearest = [re.compile(r"^\d+\.\d\d BW beyond 4 BW$")]  # rulings say the rest
    expect(page.locator(".verdict.within")).to_have_text(nearest)
    first, chips = page.locator(".ruling").first, page.locator("#rulings-chips")
    expect(first).to_be_in_viewport(ratio=1)
    assert first.bounding_box()["y"] < chips.bounding_box()["y"]
    expect(page.locator("#announce")).to_contain_text("P3 to A5")
    truth = player.demo.table.truth()
    x_mm, y_mm = truth.unit("P3").bases[1].x_mm, truth.unit("P3").bases[1].y_mm
    player.demo.table.move_unit("A5", x_mm, y_mm + 3.8 * truth.table.bw_mm, 270)
    telling = [re.compile(r"^within 4 BW")]
    expect(page.locator(".verdict.within")).to_have_text(telling)


def test_one_unit_shows_its_rings_and_lines(player: Any) -> None:
    player.page.mouse.click(*player.spot_of("P3"))
    expect(player.page.locator(".role-ring")).not_to_have_count(0)
    expect(player.page.locator(".role-front-line")).not_to_have_count(0)
    expect(player.page.locator(".role-flank-line")).not_to_have_count(0)
    player.page.keyboard.press("Escape")
    expect(player.page.locator(".shape")).to_have_count(0)


def test_a_place_on_the_ground_can_be_measured_to(player: Any) -> None:
    page = player.page
    page.mouse.click(*player.spot(600, 540))
    page.mouse.click(*player.spot(700, 540))
    expect(page.locator(".tape.settled .reading-mm")).to_contain_text("mm")
    _, distance_mm, _ = player.reading()
    assert abs(distance_mm - 100) <= 2 / player.px_per_mm()


def test_the_tape_follows_the_pointer_before_the_second_click(player: Any) -> None:
    player.page.mouse.click(*player.spot_of("P3"))
    player.page.mouse.move(*player.spot(600, 540))
    expect(player.page.locator(".tape.preview .reading")).to_contain_text("BW")


def test_single_bases_can_be_chosen(player: Any) -> None:
    page = player.page
    page.get_by_role("button", name="Bases").click()
    page.mouse.click(*player.spot_of("P3"))
    expect(page.locator("#measure-title")).to_have_text("P3's left base")
    expect(page.locator(".base.chosen")).to_have_count(1)


def test_a_measurement_follows_a_unit_that_moves(player: Any) -> None:
    page, table = player.page, player.demo.table
    page.mouse.click(*player.spot_of("P3"))
    page.mouse.click(*player.spot_of("A5"))
    expect(page.locator(".tape.settled .reading")).to_contain_text("BW")
    before_mm = player.reading()[1]
    middle = player.middle_of("P3")
    table.move_unit("P3", middle[0], middle[1] + 40, 90)
    player.sees_the_newest()
    true = questions.measure(table.truth(), "unit:P3", "unit:A5")
    player.sees(lambda: abs(player.reading()[1] - true["distance_mm"]) < 1)
    assert abs(before_mm - true["distance_mm"]) > 30


OVERLAPPING = """() => {
  const boxes = (selector) => [...document.querySelectorAll(selector)]
    .map((node) => ({ text: node.textContent, at: node.getBoundingClientRect() }));
  const lies = (a, b) =>
    a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  const names = boxes(".layer.names .name");
  return boxes(".tape .upright").flatMap(({ text, at }) =>
    names.filter((name) => lies(at, name.at)).map((name) => `${text} over ${name.text}`));
}"""


def test_a_kept_line_stays_when_others_are_chosen(player: Any) -> None:
    page = player.page
    page.mouse.click(*player.spot_of("P3"))
    page.mouse.click(*player.spot_of("A5"))
    page.get_by_role("button", name="Keep").click()
    page.mouse.click(*player.spot_of("A1"))
    expect(page.locator(".tape.kept .reading")).to_contain_text("BW")
    page.mouse.click(*player.spot_of("P3"))  # its middle may be under a unit's name
    expect(page.locator(".tape.settled .reading")).to_contain_text("BW")
    assert page.evaluate(OVERLAPPING) == []
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    expect(page.locator(".tape")).to_have_count(1)  # others see it: only its own button removes it
    page.get_by_role("button", name="Remove the line P3 to A5").click()
    expect(page.locator(".tape")).to_have_count(0)


def test_the_keyboard_alone_is_enough(player: Any) -> None:
    page = player.page
    page.locator('.unit[data-thing="unit:P3"]').focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.locator(".unit:focus")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.locator(".tape.settled .reading")).to_contain_text("BW")
    wide = player.px_per_mm()
    page.keyboard.press("+")
    player.sees(lambda: player.px_per_mm() > wide)
    page.keyboard.press("0")
    player.sees(lambda: abs(player.px_per_mm() - wide) < 1e-3)
    page.keyboard.press("?")
    expect(page.locator("#help")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#help")).not_to_be_visible()
