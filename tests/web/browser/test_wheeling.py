"""A unit of the simulated table that is turned in a game: no unit turns about its middle there."""

from __future__ import annotations

from math import cos, hypot, radians, sin

import pytest
from playwright.sync_api import Browser, expect

from tests.patience import comes_true
from tests.referee.tables import table
from tests.web.browser.demos import spot
from tests.web.browser.standing_games import StandingGame, standing_game
from tests.web.standing import StandingControls

MIDDLE = (600.0, 300.0)
LEFT_CORNER = (520.0, 320.0)
"""Of F1's front, which faces up the table."""


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
