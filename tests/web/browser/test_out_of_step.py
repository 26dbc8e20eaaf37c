"""A table where nothing lies where the game has it: one card says so, and helps."""

from __future__ import annotations

import re

from playwright.sync_api import Browser, expect

from tests.referee.tables import moved, table
from tests.web.browser.standing_games import standing_game

GHOSTS_UPON_WORDS = """() => {
  const all = [...document.querySelectorAll(".board :is(.ghost-text, .name)")];
  const boxes = all.filter((node) => node.textContent).map((node) => {
    const { left, right, top, bottom } = node.getBoundingClientRect();
    return { node, left, right, top: top + 2, bottom: bottom - 2 };
  });
  return boxes.filter((a) => a.node.matches(".ghost-text") && boxes.some((b) => a !== b
    && a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)).length;
}"""


def test_one_card_sums_up_what_is_out_of_step_with_the_game(browser: Browser) -> None:
    there = table()
    for unit in ("F1", "F2", "B1", "B2"):
        there = moved(there, unit, 85.0)
    with standing_game(browser, table()) as game:
        page = game.page
        game.begin(table())
        game.live.show(position=there)
        game.referee.table_at_rest(there)
        card = page.locator("#game-astray")
        expect(card).to_contain_text("4 units are not where the game expects them")
        expect(page.locator(".moved:visible, .placing.nearest")).to_have_count(0)
        card.get_by_text("Show me").click()
        expect(page.locator(".moved:visible")).to_have_count(4)
        expect(page.locator(".placing.nearest")).to_have_count(4)
        for width_px, height_px in ((390, 844), (1400, 900)):
            page.set_viewport_size({"width": width_px, "height": height_px})
            expect(page.locator(".placing.nearest .ghost-text")).to_have_text(
                [re.compile("here")] * 4
            )
            assert page.evaluate(GHOSTS_UPON_WORDS) == 0
        card.get_by_role("button", name="New game").click()
        expect(page.locator("#game button.main:visible")).to_have_text("Start another game")
        page.locator("#begin-back").click()
        card.get_by_role("button", name="Accept all").click()
        expect(card).to_be_hidden()
        expect(page.locator("#game-log-body")).to_contain_text("F1, F2, B1, B2 stay there")


def test_one_unit_that_was_knocked_has_its_own_card(browser: Browser) -> None:
    with standing_game(browser, table()) as game:
        game.begin(table())
        game.referee.table_at_rest(moved(table(), "B1", 30.0))
        expect(game.page.locator('.moved[data-unit="B1"]')).to_be_visible()
        expect(game.page.locator("#game-astray")).to_be_hidden()
