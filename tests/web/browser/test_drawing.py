"""The page draws what lies on the table."""

from __future__ import annotations

import re
from math import dist
from typing import Any

from playwright.sync_api import expect

from tablecam.table.headings import difference_deg

ROUNDING_MM = 0.01
"""The stream rounds places to a hundredth of a millimetre, the drawing to a thousandth."""

SIGMAS = 5
"""With some 90 bases and two coordinates each, none is expected beyond this in a thousand runs."""


def drawn_bases(player: Any) -> dict[int, tuple[float, float, float]]:
    """The place and heading in the SVG of each unit's bases, by tag."""
    numbers_by_tag = {}
    for base in player.page.locator(".unit .base").all():
        tag = int(base.get_attribute("data-thing").removeprefix("base:"))
        numbers = re.findall(r"-?[\d.]+", base.get_attribute("transform"))
        numbers_by_tag[tag] = tuple(map(float, numbers))
    return numbers_by_tag


def test_units_appear_where_the_truth_is(player: Any) -> None:
    snapshot = player.sees_the_newest()
    drawn = drawn_bases(player)
    sigmas = {base.tag: base for unit in snapshot.position.units for base in unit.bases}
    truth = {b.tag: b for unit in player.demo.table.truth().units for b in unit.bases}
    assert drawn.keys() == truth.keys()
    for tag, base in truth.items():
        x_mm, y_mm, heading_deg = drawn[tag]
        off_mm = max(abs(x_mm - base.x_mm), abs(y_mm - base.y_mm))
        assert off_mm <= SIGMAS * sigmas[tag].sigma_mm + ROUNDING_MM
        off_deg = abs(difference_deg(heading_deg, base.heading_deg))
        assert off_deg <= SIGMAS * sigmas[tag].sigma_deg + ROUNDING_MM


def test_dragging_the_ground_moves_the_view_and_no_unit(player: Any) -> None:
    page, truth = player.page, player.demo.table.truth()
    before = player.spot(600, 400)
    start = player.spot(600, 540)
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(start[0] + 80, start[1] + 40, steps=4)
    page.mouse.up()
    player.sees(lambda: dist(player.spot(600, 400), before) > 80)
    assert player.demo.table.truth() == truth
    page.get_by_role("button", name="Whole table").click()
    player.sees(lambda: dist(player.spot(600, 400), before) < 1)


def test_the_wheel_keeps_what_is_under_the_pointer(player: Any) -> None:
    page = player.page
    at = player.spot(400, 300)
    before = player.px_per_mm()
    page.mouse.move(*at)
    page.mouse.wheel(0, -400)
    player.sees(lambda: player.px_per_mm() > 1.5 * before)
    # The browser rounds the mouse wheel's place to whole pixels, and zooming magnifies the rest.
    assert dist(player.spot(400, 300), at) < 2


def test_the_table_can_be_looked_at_from_each_side(player: Any) -> None:
    page = player.page
    frame = page.locator(".table-frame")
    for _ in range(4):
        before = frame.get_attribute("transform") or ""
        page.keyboard.press("t")
        expect(frame).not_to_have_attribute("transform", before)
        page.mouse.click(*player.spot_of("P3"))
        expect(page.locator("#measure-title")).to_contain_text("P3")
        page.keyboard.press("Escape")
        expect(page.locator("#measure-title")).to_have_text("Measure")


def test_uncertainty_says_how_much_larger_it_is_drawn(player: Any) -> None:
    page = player.page
    expect(page.locator("#legend")).to_be_hidden()
    page.keyboard.press("u")
    page.keyboard.press("u")
    expect(page.locator("#legend")).to_contain_text("10 times")
    snapshot = player.demo.live.snapshot()
    sigma_mm = snapshot.position.units[0].bases[0].sigma_mm
    radius = float(page.locator(".unit .base .sigma").first.get_attribute("r"))
    assert abs(radius - 10 * sigma_mm) <= 0.5 * radius


def test_the_picture_lies_under_the_drawing_and_can_be_taken_off(player: Any) -> None:
    page = player.page
    expect(page.locator(".picture image")).to_have_attribute("href", re.compile("^blob:"))
    page.keyboard.press("p")
    expect(page.locator(".picture image")).to_have_count(0)


def test_the_order_of_battle_lists_every_unit_and_commander(player: Any) -> None:
    page = player.page
    page.locator("#roster summary").click()
    roster = player.demo.table.roster
    listed = len(roster.units) + len(roster.commanders)
    expect(page.locator("#roster li")).to_have_count(listed)
    page.locator('#roster [data-thing="unit:A3"]').click()
    expect(page.locator("#measure-title")).to_contain_text("A3")
