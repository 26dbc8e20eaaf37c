"""The first minute of the demo: what to try, and a game with one button."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.web.browser.halls import Hall, seated

LAPTOP: dict[str, Any] = {"viewport": {"width": 1400, "height": 900}}
PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 844},
    "has_touch": True,
    "is_mobile": True,
}


@pytest.mark.parametrize(("device", "verb"), [(LAPTOP, "Click"), (PHONE, "Tap")])
def test_a_game_is_started_from_the_first_screen(
    hall: Hall, browser: Browser, device: dict[str, Any], verb: str
) -> None:
    hall.table.restart()
    with seated(hall, browser, "shared", **device) as seat:
        expect(seat.page.locator("#try")).to_contain_text("This table is simulated")
        expect(seat.page.locator("#try-steps li").first).to_have_text(f"{verb} P1 to choose it")
        expect(seat.page.locator("#begin")).to_be_in_viewport(ratio=1)
        expect(seat.page.locator("button.main:visible")).to_have_text("Start a game")
        if device is PHONE:
            # The last card of the sheet has room for all its buttons.
            seat.page.locator("#lift").scroll_into_view_if_needed()
            expect(seat.page.locator("#lift")).to_be_in_viewport(ratio=1)
            return
        # Beside the table it stays, whatever is chosen.
        seat.page.locator('.units [data-thing="unit:P1"]').focus()
        seat.page.keyboard.press("Enter")
        expect(seat.page.locator("#measure-title")).to_contain_text("P1")
        expect(seat.page.locator("#begin")).to_be_in_viewport(ratio=1)


def test_a_small_table_shows_the_names_of_places_that_fit(hall: Hall, browser: Browser) -> None:
    with seated(hall, browser, "shared", **PHONE) as seat:
        names = seat.page.locator(".terrain-name:visible")
        expect(names.filter(has_text="Leuthen")).to_have_count(1)
        expect(names.filter(has_text="Zettelbusch")).to_have_count(0)
