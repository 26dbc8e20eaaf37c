"""Musket & Saber by two seats on the house folio: a turn by hands and taps, and its replay."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tablecam.cli import main
from tablecam.rules.hexes.grid import grid_of
from tablecam.simulate.demo import embedded_demo
from tests.web.browser.demos import spot
from tests.web.browser.halls import Hall, seated
from tests.web.browser.test_another_game import looking, picture
from tests.web.browser.test_hex_page import SIZES
from tests.web.browser.test_maida import asked

ASTRAY = """() => {
  const box = (node) => node.getBoundingClientRect();
  const all = (nodes) => [...document.querySelectorAll(nodes)];
  const cross = (a, b) => a.left < b.right && b.left < a.right;
  const meet = (a, b) => cross(a, b) && a.top < b.bottom && b.top < a.bottom;
  const names = all(".names .name").filter((name) => name.textContent);
  const isOver = (name, index) => names.slice(0, index).some((one) => meet(box(name), box(one)));
  const isOff = (marker) => {
    const name = marker.dataset.marker.split(": ")[0];
    const unit = document.querySelector(`[data-thing="unit:${name}"]`);
    const plate = marker.querySelector(".pips");
    return plate && !meet(box(unit), box(plate));
  };
  return [...names.filter(isOver), ...all(".marker").filter(isOff)].length;
}"""
"""The number of names that overlap others, and of figures off their counters."""


@pytest.fixture
def hall(tmp_path: Path) -> Iterator[Hall]:
    hall = Hall(tmp_path, embedded_demo("musket-saber"))
    hall.open()
    yield hall
    hall.end()


def test_a_whole_turn_is_played_by_two_seats_kept_and_shown(
    browser: Browser, hall: Hall, tmp_path: Path
) -> None:
    grid = grid_of(hall.table.roster.table.hex_map)
    with ExitStack() as closing:
        red, grey = (
            closing.enter_context(seated(hall, browser, side))
            for side in ("house-red", "house-grey")
        )
        red.begins_scenario()
        asked(hall, red, "Turn 1, day: House Red moves")
        # The counters beneath are known only from the scenario.
        badge = red.page.locator('.badges [data-stack="unit:Red 1st"]')
        expect(badge).to_have_text("\N{MULTIPLICATION SIGN}3")
        for width, height in SIZES.values():
            red.page.set_viewport_size({"width": width, "height": height})
            red.page.wait_for_function(f"() => ({ASTRAY})() === 0")
        # If hexes are too small for their numbers, halves of these stand along the map's rim.
        rim = red.page.locator(".hex-rim")
        expect(rim).to_have_count(14 + 12)
        expect(rim.first).to_be_visible()
        red.page.set_viewport_size({"width": 1300, "height": 900})
        expect(rim.first).to_be_hidden()
        red.page.locator('[data-thing="unit:Red 1st"]').first.click(force=True)
        rows = red.page.locator("#stacks button b")
        expect(rows).to_have_text(["Red 1st", "Red Guard", "Red Chief"])
        rows.nth(1).click()
        expect(red.page.locator("#measure-body")).to_contain_text("no camera has seen it yet")
        red.page.keyboard.press("Escape")
        # Charges and rare actions stand below moves.
        headings = red.page.locator("#game-actions h3")
        expect(headings).to_have_text(["Move", "Charge", "Square", "Go on"])
        # No counter has a front, as none has a facing (K-G3).
        expect(red.page.locator(".board .base .front").first).to_be_hidden()
        # A legend explains the map and the counters, and a tapped hex its contents.
        legend = ["woods", "hill", "village", "river", "stream", "ridge", "trail", "road"]
        expect(red.page.locator(".meanings li")).to_have_text([*legend, "combat factor"])
        red.page.mouse.click(*spot(red.page, *grid.middle_mm(("0606",))))
        expect(red.page.locator("#measure-title")).to_have_text("Hex 0606")
        ground = "Woods (infantry 2 MP, cavalry 3 MP, no artillery)"
        expect(red.page.locator("#measure-body .ground")).to_have_text(ground)
        red.page.keyboard.press("Escape")
        # The order of battle also has leaders, and no HQ listed as infantry.
        red.page.locator("#roster summary").click()
        for thing, words in (
            ("commander:Red Chief", "in 0705"),
            ("unit:Red HQ", "in 0703, HQ"),
            ("unit:Red 2nd", "infantry, in 0604, combat factor 5, morale 4, Movement Allowance 5"),
        ):
            row = red.page.locator(f'#roster-body [data-thing="{thing}"] span')
            expect(row.first).to_have_text(words)
        red.page.locator("#roster summary").click()
        # A tap on a counter shows what it controls, how far it can go, and its way back.
        red.page.locator('[data-thing="unit:Red 2nd"]').first.click(force=True)
        expect(red.page.locator(".board .role-zone-of-control")).to_have_count(6)
        expect(red.page.locator(".role-retreat-line")).to_have_count(1)
        expect(red.page.locator(".board .role-reach")).to_have_count(71)
        picture(red.page, "saber-zone")
        # Two hexes of wood at once, into the zones of two enemies.
        red.taps("Red 2nd: move")
        asked(hall, red, "Red 2nd: where to, with 5 Movement Points?")
        goal = spot(red.page, *grid.middle_mm(("0606",)))
        # Pointing at a hex among those in reach shows the way there; a tap moves there.
        red.page.mouse.move(*goal)
        expect(red.page.locator(".layer.game .role-way")).to_have_count(1)
        expect(red.page.locator(".layer.game .role-reach")).to_have_count(73)
        red.page.mouse.click(*goal)
        asked(hall, red, "Turn 1, day: House Red moves")
        expect(red.page.locator("#game-latest")).to_contain_text("Red 2nd moves to 0606")
        hall.table.move_unit("Red 2nd", *grid.middle_mm(("0606",)), 60)
        expect(red.page.locator("#game-due li")).to_have_count(0)
        # One tap on a shaded hex of a chosen unit begins its move and ends it there.
        red.page.locator('[data-thing="unit:Red 3rd"]').first.click(force=True)
        expect(red.page.locator(".board .role-zone-of-control")).to_have_count(6)
        red.page.mouse.click(*spot(red.page, *grid.middle_mm(("0805",))))
        expect(red.page.locator("#game-latest")).to_contain_text("Red 3rd moves to 0805")
        hall.table.move_unit("Red 3rd", *grid.middle_mm(("0805",)), 60)
        expect(red.page.locator("#game-due li")).to_have_count(0)
        # A hex that is asked for is the answer, even where a friend lies.
        red.page.locator('[data-thing="unit:Red Guns"]').first.click(force=True)
        red.taps("Red Guns: move")
        asked(hall, red, "Red Guns: where to")
        red.page.locator('[data-thing="unit:Red HQ"]').first.click(force=True)
        expect(red.page.locator("#game-latest")).to_contain_text("Red Guns moves to 0703")
        hall.table.move_unit("Red Guns", *grid.middle_mm(("0703",)), 60)
        expect(red.page.locator("#game-due li")).to_have_count(0)
        red.taps("Done")
        asked(hall, red, "House Red attacks or bombards")
        # Taps on a unit and its target on the table compose the attack.
        expect(red.page.locator("#game-hint")).to_contain_text(
            "Tap a unit, then its target; tap that again to attack."
        )
        for name in ("Red 2nd", "Grey 2nd", "Grey 2nd"):
            red.page.locator(f'[data-thing="unit:{name}"]').first.click(force=True)
        # The differential is on the page before the attack is declared.
        asked(hall, red, "Red 2nd attacks Grey 2nd in 0607, differential +0")
        expect(red.page.locator("#game-sums dt")).to_have_text(["Attack 5", "Defence 5"])
        picture(red.page, "saber-differential")
        # The units chosen for the attack are no longer measured, and nobody can join.
        expect(red.page.locator("#panel")).not_to_have_class(re.compile("choosing"))
        expect(red.page.locator("#game-hint")).to_contain_text("All who can attack with it are in")
        red.taps("Declare")
        red.taps("No tactic")
        asked(hall, grey, "House Grey: which tactic?")
        grey.taps("No tactic")
        red.enters(4)
        # The log gives the result first; its terms open with a tap.
        red.opens_log()
        line = red.page.locator("#game-log-body .summed")
        expect(line.locator(".words")).to_contain_text("Red 2nd against Grey 2nd")
        expect(line.locator("dd")).to_have_count(0)
        line.locator(".words").click()
        expect(line.locator("dd")).to_have_text(["Red 2nd 5", "Grey 2nd 5"])
        red.page.locator("#tab-game").click()
        # Grey 1st held the attackers, who have all fought, and was not attacked (K-7.2b). It cannot
        # use its Fortune of War: an equally fast enemy holds it (K-6.3).
        expect(red.page.locator("#game-log-body")).to_contain_text("The Fortune of War has no use")
        asked(hall, red, "House Red attacks or bombards")
        red.taps("Done")
        asked(hall, grey, "Turn 1, day: House Grey moves")
        grey.taps("Done")
        asked(hall, grey, "House Grey attacks or bombards")
        grey.taps("Done")
        asked(hall, red, "Fortune of War")
        picture(red.page, "saber-fortune-of-war")
        red.taps("Do not use it")
        for seat in (red, grey):
            seat.shows_the_newest()
            expect(seat.page.locator("#game-strip")).to_contain_text("turn 2")
        red.opens_log()
        picture(red.page, "saber-turn-2")
    hall.close()
    (path,) = tmp_path.glob("*.tablecam")
    assert main(["replay", str(path), "--check"]) == 0
    html = tmp_path / "saber.html"
    assert main(["export", str(path), "--html", str(html)]) == 0
    with looking(browser, html.as_uri()) as page:
        page.keyboard.press("End")
        expect(page.locator(".layer.hexes .hex-number")).to_have_count(14 * 12)
