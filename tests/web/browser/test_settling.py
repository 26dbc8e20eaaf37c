"""A list that has just changed under the pointer ignores taps."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.referee.tables import SOUTH
from tests.rules.maurice.tables import line, position
from tests.web.browser.standing_games import StandingGame, standing_game

TWO_LINES = position(
    line("F1", "french", 600, 400),
    line("F2", "french", 760, 400),
    line("B1", "british", 600, 540, SOUTH),
    line("B2", "british", 760, 540, SOUTH),
)


@pytest.fixture
def game(browser: Browser) -> Iterator[StandingGame]:
    """F1 has four dice to hit, and F2 may fire next."""
    with standing_game(browser, TWO_LINES) as game:
        game.begin(TWO_LINES)
        game.goes_on("Fire", "Start from the left", "F1 at B1 (4 bases)")
        expect(game.page.locator("#game-dice")).to_be_visible()
        for _ in range(4):
            game.page.keyboard.press("6")
        expect(game.page.locator("#game-dice-enter")).to_be_enabled()
        yield game


SECOND_CLICK = """() => new Promise((done) => {
  const list = document.getElementById("game-actions");
  new MutationObserver((_, seen) => {
    const next = list.querySelector(".group-fire button");
    if (!next) return;
    seen.disconnect();
    next.click();  // as a pointer does, or a key on what has come to have the focus
    done();
  }).observe(list, { childList: true, subtree: true });
  document.getElementById("game-dice-enter").click();
})"""
"""As soon as *Enter* has given way to another list, however busy the machine."""


def test_a_double_click_on_enter_does_not_declare_another_units_shot(game: StandingGame) -> None:
    game.page.evaluate(SECOND_CLICK)
    expect(game.page.locator("#turn-question")).to_contain_text("fires next")
    game.offers("F2 at B2 (4 bases)").click()  # it waits until the list accepts it
    expect(game.page.locator("#game-dice-title")).to_have_text("4 dice for F2 to hit")
    assert (
        sum("F2 fires" in line for line in game.page.locator("#game-log-body li").all_inner_texts())
        == 1
    )
