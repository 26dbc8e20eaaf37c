"""Units of a simulated table, moved by hand and seen again by the camera."""

from __future__ import annotations

import re
from math import dist, hypot
from typing import Any

import pytest
from playwright.sync_api import expect

from tablecam.table.headings import difference_deg


def test_dragging_a_unit_moves_it_and_the_camera_finds_it_there(player: Any) -> None:
    page = player.page
    before = player.middle_of("PC1")
    start = player.spot_of("PC1")
    goal_px = (start[0] + 60 * player.px_per_mm(), start[1] - 90 * player.px_per_mm())
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(start[0] + 20, start[1] - 20)
    expect(page.locator(".ghost .base")).to_have_count(4)
    page.mouse.move(*goal_px)
    page.mouse.up()
    expect(page.locator("#notice")).to_contain_text("found")
    after = player.middle_of("PC1")
    assert hypot(after[0] - before[0] - 60, after[1] - before[1] - 90) < 2 / player.px_per_mm()
    player.sees_the_newest()
    unit = next(u for u in player.demo.live.snapshot().position.units if u.id == "PC1")
    assert all(base.seen == "now" for base in unit.bases)
    page.keyboard.press("Control+z")
    player.sees(lambda: dist(player.middle_of("PC1"), before) < 0.5)


def test_a_unit_dropped_on_another_slides_off_it_and_the_page_says_so(player: Any) -> None:
    page = player.page
    start, onto = player.spot(*player.middle_of("P1")), player.middle_of("P2")
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*player.spot(onto[0], onto[1] + 20), steps=3)
    page.mouse.up()
    expect(page.locator("#notice-text")).to_have_text(
        re.compile(r"P1 lay on P2: it slid \d+ mm, into contact\.")
    )
    expect(page.locator(".ghost .base")).to_have_count(0)


def test_a_unit_is_taken_by_whoever_misses_it_by_a_little(player: Any) -> None:
    """A base is 25 px deep here: 44 px of the table take it, and not the handle of another."""
    page = player.page
    x_px, y_px = player.spot(*player.middle_of("P1"))
    half_px = 15 * player.px_per_mm()
    page.mouse.move(x_px, y_px - max(half_px + 9, 22))
    page.mouse.down()
    page.mouse.move(x_px, y_px - 60)
    expect(page.locator("#measure-title")).to_have_text("Moving P1")
    page.keyboard.press("Escape")
    page.mouse.up()


def test_a_group_is_dragged_and_undone_as_one(player: Any) -> None:
    page = player.page
    before = {unit: player.middle_of(unit) for unit in ("P3", "P4")}
    page.click("#group")
    page.mouse.move(*player.spot(before["P3"][0] - 65, before["P3"][1] - 40))
    page.mouse.down()
    page.mouse.move(*player.spot(before["P4"][0] + 65, before["P4"][1] + 40), steps=3)
    page.mouse.up()
    expect(page.locator(".unit.grouped")).to_have_count(2)
    start = player.spot_of("P3")
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(start[0], start[1] - 60 * player.px_per_mm(), steps=3)
    expect(page.locator(".ghost .base")).to_have_count(8)
    page.mouse.up()
    expect(page.locator("#notice")).to_contain_text("P3, P4 found")
    for unit, (x_mm, y_mm) in before.items():
        assert dist(player.middle_of(unit), (x_mm, y_mm + 60)) < 2 / player.px_per_mm()
    page.keyboard.press("Escape")
    expect(page.locator(".unit.grouped")).to_have_count(0)
    page.reload()  # as after looking back
    expect(page.locator("#undo")).to_be_visible()
    page.keyboard.press("Control+z")
    player.sees(lambda: all(dist(player.middle_of(unit), at) < 0.5 for unit, at in before.items()))


def test_what_was_moved_before_a_restart_on_another_page_cannot_be_undone(player: Any) -> None:
    page = player.page
    page.mouse.move(*player.spot_of("P1"))
    page.mouse.down()
    page.mouse.move(player.spot_of("P1")[0], player.spot_of("P1")[1] - 40, steps=3)
    page.mouse.up()
    expect(page.locator("#undo")).to_be_visible()
    player.demo.table.restart()
    expect(page.locator("#undo")).to_be_hidden()


def test_a_commander_is_dragged_as_a_hand_would_move_his_marker(player: Any) -> None:
    page, live = player.page, player.demo.live

    def stands() -> tuple[float, float]:
        leader = live.snapshot().position.commanders[0]
        return leader.x_mm, leader.y_mm

    x_mm, y_mm = stands()
    page.mouse.move(*player.spot(x_mm, y_mm))
    page.mouse.down()
    page.mouse.move(*player.spot(x_mm + 30, y_mm + 30))
    expect(page.locator(".ghost .base")).to_have_count(1)
    page.mouse.move(*player.spot(x_mm + 120, y_mm))
    page.mouse.up()
    expect(page.locator("#notice")).to_contain_text("found")
    expect(page.locator("#notice")).to_be_hidden()  # news does not stay all day
    off_mm = 2 / player.px_per_mm()
    player.sees(lambda: hypot(stands()[0] - x_mm - 120, stands()[1] - y_mm) < off_mm)


def test_keys_turn_the_chosen_unit(player: Any) -> None:
    page = player.page
    before_deg = player.heading_of("PC1")
    page.mouse.click(*player.spot_of("PC1"))
    expect(page.locator(".turning")).to_have_count(1)
    for _ in range(3):
        page.keyboard.press("q")
    player.sees(lambda: abs(difference_deg(player.heading_of("PC1"), before_deg + 15)) < 1)
    expect(page.locator(".ghost .base")).to_have_count(0)


LONG_MS = 800  # longer than the page calls a press long
QUICK_HAND = """async () => {
  const { timing } = await import("/static/shared/gestures.js");
  timing.longPress_ms = 500;
}"""
"""A press becomes a long one as soon as for people."""


@pytest.mark.parametrize("held_ms", [0, LONG_MS])
def test_the_handle_turns_a_unit_however_long_it_was_held(player: Any, held_ms: int) -> None:
    page = player.page
    page.mouse.click(*player.spot_of("PC1"))
    page.evaluate(QUICK_HAND)
    grip = page.locator(".turning .grip").bounding_box()
    page.mouse.move(grip["x"] + grip["width"] / 2, grip["y"] + grip["height"] / 2)
    page.mouse.down()
    page.wait_for_timeout(held_ms)
    x_mm, y_mm = player.middle_of("PC1")
    page.mouse.move(*player.spot(x_mm + 60, y_mm + 60))
    page.mouse.up()
    player.sees(lambda: abs(difference_deg(player.heading_of("PC1"), 45)) < 2)


def test_a_unit_that_was_pressed_long_for_its_base_can_still_be_carried(player: Any) -> None:
    page = player.page
    page.evaluate(QUICK_HAND)
    before = player.middle_of("PC1")
    start = player.spot_of("PC1")
    page.mouse.move(*start)
    page.mouse.down()
    expect(page.locator(".base.chosen")).to_be_visible()
    page.mouse.move(start[0] + 60 * player.px_per_mm(), start[1])
    # It was the start of a slow drag.
    expect(page.locator(".base.chosen")).to_have_count(0)
    page.mouse.up()
    player.sees(lambda: abs(player.middle_of("PC1")[0] - before[0] - 60) < 2 / player.px_per_mm())


def test_a_long_press_chooses_one_base_and_its_end_does_nothing(player: Any) -> None:
    page = player.page
    page.evaluate(QUICK_HAND)
    page.mouse.click(*player.spot_of("PC1"))
    page.mouse.down()
    expect(page.locator(".base.chosen")).to_be_visible()
    page.mouse.up()
    expect(page.locator(".base.chosen")).to_be_visible()
    expect(page.locator("#measure-title")).to_have_text(re.compile("^PC1's .* base$"))


def test_a_move_off_the_table_is_refused_in_words(player: Any) -> None:
    page = player.page
    page.mouse.move(*player.spot_of("A6"))
    page.mouse.down()
    page.mouse.move(*player.spot(30, 1000), steps=3)
    page.mouse.up()
    expect(page.locator("#notice")).to_contain_text("expected A6 to lie within")
    expect(page.locator(".ghost .base")).to_have_count(0)


def test_hands_move_units_only_while_somebody_wants_to_watch(player: Any) -> None:
    player.page.get_by_role("button", name="Watch a battle").click()
    player.sees(lambda: not player.demo.table.is_paused)
    player.page.get_by_role("button", name="Pause", exact=True).click()
    player.sees(lambda: player.demo.table.is_resting)
