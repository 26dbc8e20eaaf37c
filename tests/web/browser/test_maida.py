"""Maida 1806 by two seats on the house sample: a chit, a march by hand, a pass, a replay."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from playwright.sync_api import Browser, expect

from tablecam.cli import main
from tablecam.referee.seats import SHARED
from tablecam.rules.hexes.grid import grid_of
from tablecam.simulate.demo import embedded_demo
from tests.web.browser.halls import Hall, seated
from tests.web.browser.test_another_game import looking, picture

SIZES = {"wide": (1400, 900), "tablet": (1024, 768), "phone": (390, 844)}


def test_an_activation_is_played_by_hand_kept_and_shown(browser: Browser, tmp_path: Path) -> None:
    hall = Hall(tmp_path, embedded_demo("maida-1806"))
    hall.open()
    with ExitStack() as closing:
        closing.callback(hall.end)
        french, british = (
            closing.enter_context(seated(hall, browser, side)) for side in ("french", "british")
        )
        hall.settled()
        french.page.locator("#begin").click()
        hall.waits(lambda: hall.referee.position() is not None)
        for seat in (french, british):
            seat.shows_the_newest()
        expect(french.page.locator("#game-strip")).to_be_visible()
        draw(hall)
        hall.waits(lambda: hall.asked().seat == "french")
        # A line steps ahead to the right, both halves at once.
        grid = grid_of(hall.table.roster.table.hex_map)
        hall.table.move_unit("House Foot 1", *grid.middle_mm(("0704", "0604")), 300)
        hall.waits(lambda: bool(hall.referee.suggested))
        french.shows_the_newest()
        for name, (width, height) in SIZES.items():
            for scheme in ("light", "dark"):
                french.page.set_viewport_size({"width": width, "height": height})
                french.page.emulate_media(color_scheme=scheme)
                picture(french.page, f"maida-{name}-{scheme}")
        french.page.set_viewport_size({"width": 1400, "height": 900})
        expect(french.page.locator("#game-moved")).to_contain_text(
            "House Foot 1 moves to 0704 0604"
        )
        french.clicks("#game-moved button:has-text('Confirm')")
        position = hall.referee.position()
        assert position is not None
        foot = position.unit("House Foot 1")
        assert foot is not None
        middle = grid.middle_mm(("0704", "0604"))
        assert abs(foot.bases[0].x_mm - middle[0]) < 1.0
        assert abs(foot.bases[0].y_mm - middle[1]) < 1.0
        assert "House Foot 1" in hall.asked().question
    (path,) = tmp_path.glob("*.tablecam")
    assert main(["replay", str(path), "--check"]) == 0
    html = tmp_path / "maida.html"
    assert main(["export", str(path), "--html", str(html)]) == 0
    with looking(browser, html.as_uri()) as page:
        page.keyboard.press("End")
        expect(page.locator(".layer.hexes .hex-number")).to_have_count(16 * 12)
        picture(page, "maida-replay")


def draw(hall: Hall) -> None:
    """The chit is drawn on the shared screen."""
    with hall.referee.locked() as play:
        assert play is not None
        (action,) = play.legal()
        document = play.game.action_to_json(action)
    hall.referee.act(SHARED, document)
