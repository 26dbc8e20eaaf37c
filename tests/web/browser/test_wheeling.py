"""Units of the simulated table in a game wheel, with rulings on the move while dragged."""

from __future__ import annotations

from math import cos, hypot, radians, sin

import pytest
from playwright.sync_api import Browser, Route, expect

from tests.patience import comes_true
from tests.referee.tables import table
from tests.web.browser.demos import spot
from tests.web.browser.standing_games import StandingGame, standing_game
from tests.web.standing import StandingControls

MIDDLE = (600.0, 300.0)
LEFT_CORNER = (520.0, 320.0)
"""F1's front, which faces up the table."""


def by_handle(game: StandingGame) -> None:
    grip = game.page.locator(".turning .grip").bounding_box()
    assert grip is not None
    game.page.mouse.move(grip["x"] + grip["width"] / 2, grip["y"] + grip["height"] / 2)
    game.page.mouse.down()
    game.page.mouse.move(*spot(game.page, MIDDLE[0] - 100, MIDDLE[1] + 173.2), steps=4)
    game.page.mouse.up()


def by_keys(game: StandingGame) -> None:
    for key in "qqeqqqqq":
        game.page.keyboard.press(key)


@pytest.mark.parametrize("turn", [by_handle, by_keys])
def test_in_a_game_the_handle_wheels_a_unit_about_its_front_corner(browser: Browser, turn) -> None:
    controls = StandingControls()
    with standing_game(browser, table(), simulated=controls) as game:
        game.begin(table())
        expect(game.page.locator("#turn-question")).to_contain_text("French")
        game.page.mouse.click(*spot(game.page, *MIDDLE))
        # Nothing is moved by hand, and nothing is drawn without a request.
        expect(game.page.locator("#rulings-chips button")).not_to_have_count(0)
        expect(game.page.locator(".turning")).to_have_count(0)
        lines = game.page.locator("#show-lines")
        expect(lines).not_to_be_checked()
        game.page.keyboard.press("l")
        expect(lines).to_be_checked()
        game.page.keyboard.press("l")
        game.marches("F1")
        expect(game.page.locator(".turning")).to_have_count(1)
        turn(game)
        comes_true(lambda: bool(controls.deeds))
        _, x_mm, y_mm, heading_deg = controls.deeds[-1]
    assert heading_deg == pytest.approx(120, abs=2)
    turned = radians(heading_deg - 90)
    x, y = MIDDLE[0] - LEFT_CORNER[0], MIDDLE[1] - LEFT_CORNER[1]
    there = (
        LEFT_CORNER[0] + cos(turned) * x - sin(turned) * y,
        LEFT_CORNER[1] + sin(turned) * x + cos(turned) * y,
    )
    assert hypot(x_mm - there[0], y_mm - there[1]) < 0.5


def test_the_way_of_a_unit_in_hand_is_coloured_by_what_it_may_still_go(browser: Browser) -> None:
    with standing_game(browser, table(), simulated=StandingControls()) as game:
        game.begin(table())
        game.marches("F1")
        page, (x_mm, y_mm) = game.page, MIDDLE
        expect(page.locator("#turn-question")).to_contain_text("F1")
        page.mouse.move(*spot(page, x_mm, y_mm))
        page.mouse.down()
        foreseen = page.locator(".foreseen")
        for length_mm, answer, said in ((100, "yes", "2.50 of 4 BW"), (200, "no", "too far")):
            page.mouse.move(*spot(page, x_mm, y_mm + length_mm), steps=2)
            expect(foreseen).to_contain_text(said)
            expect(page.locator(f".ghost.would-{answer}")).to_have_count(1)
        expect(page.locator("#rulings")).to_be_hidden()
        # A late ruling is drawn only at the place it was requested for.
        held: list[Route] = []
        asks = "**/api/game/foresee"
        page.route(asks, lambda route: held.append(route))
        with page.expect_request(asks):
            page.mouse.move(*spot(page, x_mm, y_mm + 100))
        expect(page.locator('.ghost[class*="would-"]')).to_have_count(0)
        page.mouse.move(*spot(page, x_mm, y_mm + 210))
        with page.expect_request(asks):
            held[0].continue_()
        expect(foreseen).to_have_text("Checking the move …")
        expect(page.locator('.ghost[class*="would-"]')).to_have_count(0)
        held[1].continue_()
        expect(page.locator(".ghost.would-no")).to_have_count(1)
        expect(page.locator("#rulings")).to_be_hidden()
        page.keyboard.press("Escape")
        expect(foreseen).to_have_count(0)
        page.mouse.up()
