"""Real dice, entered die by die: each empty slot says whose it is and what it needs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Route, expect

from tablecam.table.model import Position, Terrain
from tests.rules.maurice.tables import line, position
from tests.web.browser.standing_games import StandingGame, standing_game

SOUTH = 270.0


def half_in_a_wood() -> Position:
    """F1 has B1 before it, whose left base stands in a wood."""
    wood = Terrain("wood", "woods", ((500, 530), (560, 530), (560, 600), (500, 600)))
    return position(
        line("F1", "french", 600, 400), line("B1", "british", 600, 560, SOUTH), terrain=[wood]
    )


@pytest.fixture
def game(browser: Browser) -> Iterator[StandingGame]:
    """F1 is to roll to hit."""
    with standing_game(browser, half_in_a_wood()) as game:
        game.begin(half_in_a_wood())
        game.goes_on("Fire", "F1 at B1 (4 bases)")
        expect(game.page.locator("#game-dice-title")).to_have_text("4 dice for F1 to hit")
        yield game


def test_each_die_says_whose_it_is_and_what_it_needs(game: StandingGame) -> None:
    groups = game.page.locator("#game-dice-entered .alike")
    expect(groups.locator("span")).to_have_text(
        ["5+ F1's left base", "4+ F1's bases 2, 3 and 4 from the left"]
    )
    # Players took a slot with a number for a die that had been rolled.
    expect(groups.locator(".die")).to_have_text([""] * 4)
    for face in (4, 4, 1, 1):
        game.page.locator(f'#game-dice-keys [data-face="{face}"]').click()
    game.page.locator("#game-dice-enter").click()
    result = "F1 at B1: 4, needs 5+: no hit"
    cast = game.page.locator("#game-cast-for")
    expect(cast).to_have_text(result)
    # The result is shown once: among the latest, or beside its dice on a phone, which lacks them.
    latest = game.page.locator("#game-latest li", has_text=result)
    expect(latest).to_be_visible()
    expect(cast).to_be_hidden()
    game.page.set_viewport_size({"width": 390, "height": 844})
    expect(latest).to_be_hidden()
    expect(cast).to_be_visible()
    log = game.page.locator("#game-log-body")
    expect(log).to_contain_text("F1 at B1: 4 1 1, needs 4+: 1 hit")


def test_dice_are_entered_by_their_digits_and_backspace_never_undoes_the_game(
    game: StandingGame,
) -> None:
    keys = game.page.keyboard
    thrown = game.page.locator("#game-dice-entered .die:not(.empty)")
    for key in ("4", "6", "Backspace", "5"):
        keys.press(key)
    expect(thrown).to_have_count(2)
    for _ in range(4):
        keys.press("Backspace")
    expect(thrown).to_have_count(0)
    expect(game.page.locator("#game-dice-title")).to_have_text("4 dice for F1 to hit")
    # A clicked tab keeps an invisible focus; Enter is still for the dice.
    game.page.locator("#tab-log").click()
    game.page.locator("#tab-game").click()
    for key in ("5", "4", "1", "1", "Enter"):
        keys.press(key)
    log = game.page.locator("#game-log-body")
    expect(log).to_contain_text("F1 at B1: 5, needs 5+: 1 hit")
    keys.press("Control+z")
    expect(game.page.locator("#game-dice-title")).to_have_text("4 dice for F1 to hit")


def test_what_is_seen_done_is_taken_back_though_its_answer_is_on_its_way(
    game: StandingGame,
) -> None:
    """The table's news arrived before the response, and Ctrl+Z was lost."""
    keys = game.page.keyboard

    def answer_late(route: Route) -> None:
        response = route.fetch()
        expect(game.page.locator("#game-log-body")).to_contain_text("F1 at B1: 5, needs 5+")
        keys.press("Control+z")
        route.fulfill(response=response)

    game.page.route("**/api/game/act*", answer_late)
    for key in ("5", "4", "1", "1", "Enter"):
        keys.press(key)
    redo = game.page.locator("#game-redo")
    expect(redo).to_be_visible()
    expect(redo).to_be_enabled()
    expect(game.page.locator("#game-dice-title")).to_have_text("4 dice for F1 to hit")
