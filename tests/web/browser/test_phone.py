"""The page on a phone: 390 pixels wide, fingers only."""

from __future__ import annotations

import time
from collections.abc import Callable
from math import hypot
from typing import Any

import pytest
from playwright.sync_api import expect

Touch = Callable[..., None]

LONG_PHASE = """
() => {
  const strip = document.getElementById("game-strip");
  document.getElementById("turn-round").className = "turn-round";
  document.getElementById("turn-active").textContent = "skirmisher superiority and movement 1";
  document.getElementById("turn-question").textContent = "Where will General Blue go? ".repeat(3);
  const sides = ["Fre 32", "Pru 32"].map((text) => `<li class="turn-side">${text}</li>`);
  document.getElementById("turn-sides").innerHTML = sides.join("");
  const { top, bottom, right } = strip.getBoundingClientRect();
  const isOut = (at) => at.top < top || at.bottom > bottom || at.right > right;
  return [...strip.children]
    .filter((node) => isOut(node.getBoundingClientRect()))
    .map(({ id }) => id);
}
"""
"""Overflow of the strip if a phase has a long name."""
FINGER_PX = 36
"""Least size of a control, about that of a fingertip."""


@pytest.fixture
def touch(phone: Any) -> Touch:
    """Fingers on the glass, through the browser's own input: their action, and their places."""
    session = phone.page.context.new_cdp_session(phone.page)

    def send(kind: str, *points: tuple[float, float], at_s: float | None = None) -> None:
        fingers = [{"x": x, "y": y, "id": index} for index, (x, y) in enumerate(points)]
        event = {"type": kind, "touchPoints": fingers}
        session.send("Input.dispatchTouchEvent", event | ({"timestamp": at_s} if at_s else {}))

    return send


def test_nothing_sticks_out_at_the_side(phone: Any) -> None:
    assert phone.page.evaluate("document.documentElement.scrollWidth") <= 390
    assert phone.page.evaluate("document.documentElement.scrollHeight") <= 844
    expect(phone.page.locator("#seat-open")).to_be_visible()  # hidden elements have no place
    outside = phone.page.evaluate(LONG_PHASE)
    assert outside == []


def test_controls_are_within_reach_of_a_thumb(phone: Any) -> None:
    page = phone.page
    for name in ("Whole table", "Turn the table", "Units", "Bases", "Drag"):
        if name == "Units":  # the strip has no room for them
            page.locator("#panel-grip").tap()
            page.locator("#show summary").tap()
        control = page.get_by_role("button", name=name, exact=True)
        box = control.bounding_box()
        assert box["x"] >= 0, name
        assert box["x"] + box["width"] <= 390, name
        assert min(box["width"], box["height"]) >= FINGER_PX, name
        control.tap()


def test_two_taps_measure(phone: Any) -> None:
    page = phone.page
    page.touchscreen.tap(*phone.spot_of("P3"))
    expect(page.locator("#measure-title")).to_contain_text("P3")
    page.touchscreen.tap(*phone.spot_of("A3"))
    expect(page.locator(".tape.settled .reading")).to_contain_text("BW")
    reading = page.locator("#measure-body .reading")
    expect(reading).to_be_in_viewport()
    size_before = page.locator("#board").bounding_box()
    page.get_by_role("button", name="Deselect").tap()
    assert page.locator("#board").bounding_box() == size_before


def test_a_finger_may_miss_a_unit_by_a_little(phone: Any) -> None:
    truth = phone.demo.table.truth().unit("PA1").bases[0]
    x_px, y_px = phone.spot(truth.x_mm, truth.y_mm - truth.depth_mm / 2)
    beyond = phone.spot(truth.x_mm, truth.y_mm)
    away = hypot(x_px - beyond[0], y_px - beyond[1])
    miss = (x_px + 8 * (x_px - beyond[0]) / away, y_px + 8 * (y_px - beyond[1]) / away)
    phone.page.touchscreen.tap(*miss)
    expect(phone.page.locator("#measure-title")).to_contain_text("PA1")


def test_the_table_does_not_jump_when_the_referee_begins_to_speak(phone: Any) -> None:
    silent_and_speaking = phone.page.evaluate(
        """() => {
          const said = document.getElementById("turn-question");
          const seat = document.getElementById("seat-open");
          const height = () => document.getElementById("board").getBoundingClientRect().top;
          const speaking = height();
          const words = said.textContent;
          [said.textContent, seat.hidden] = ["", true];
          const silent = height();
          [said.textContent, seat.hidden] = [words, false];
          return [silent, speaking];
        }"""
    )
    assert silent_and_speaking[0] == silent_and_speaking[1]


def test_two_fingers_zoom(phone: Any, touch: Touch) -> None:
    x_px, y_px = phone.spot(600, 540)
    before = phone.px_per_mm()
    touch("touchStart", (x_px - 30, y_px), (x_px + 30, y_px))
    for apart in (45, 60, 75, 90):
        touch("touchMove", (x_px - apart, y_px), (x_px + apart, y_px))
    touch("touchEnd")
    phone.sees(lambda: 2.5 < phone.px_per_mm() / before < 3.5)
    there = phone.spot(600, 540)
    assert hypot(there[0] - x_px, there[1] - y_px) < 3


def test_tapping_twice_shows_the_whole_table_again(phone: Any, touch: Touch) -> None:
    before = phone.px_per_mm()
    phone.page.keyboard.press("+")
    phone.sees(lambda: phone.px_per_mm() > before)
    spot = phone.spot(600, 540)
    now_s = time.time()
    for at_s in (now_s, now_s + 0.2):  # as fingers tap, whenever the browser gets to it
        touch("touchStart", spot, at_s=at_s)
        touch("touchEnd", at_s=at_s + 0.05)
    phone.sees(lambda: abs(phone.px_per_mm() - before) < 1e-3)
    expect(phone.page.locator("#measure-title")).to_have_text("Measure")


def test_a_finger_drags_a_unit(phone: Any, touch: Touch) -> None:
    start, before = phone.spot_of("P3"), phone.demo.table.truth().unit("P3").bases[0]
    goal = phone.spot(before.x_mm, before.y_mm + 60)
    touch("touchStart", start)
    for part in (0.3, 0.6, 1.0):
        between = (start[0] + part * (goal[0] - start[0]), start[1] + part * (goal[1] - start[1]))
        touch("touchMove", between)
    touch("touchEnd")
    expect(phone.page.locator("#notice")).to_contain_text("found")
    after = phone.demo.table.truth().unit("P3").bases[0]
    assert hypot(after.x_mm - before.x_mm, after.y_mm - before.y_mm - 60) < 2 / phone.px_per_mm()
    phone.page.locator("#notice-undo").tap()
    phone.sees(lambda: abs(phone.demo.table.truth().unit("P3").bases[0].y_mm - before.y_mm) < 1)


def test_more_of_the_panel_slides_over_the_table(phone: Any) -> None:
    page = phone.page
    board = page.locator("#board").bounding_box()
    panel = page.locator("#panel")
    top_px = panel.bounding_box()["y"]
    page.locator("#panel-grip").tap()
    phone.sees(lambda: panel.bounding_box()["y"] < top_px - 200)
    page.locator("#show summary").tap()  # earlier disputes may have pushed it further down
    page.locator("#show-terrain").tap()
    expect(page.locator(".piece")).to_have_count(0)
    assert page.locator("#board").bounding_box() == board
