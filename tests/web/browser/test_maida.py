"""Maida 1806 by two seats on the house sample: a whole turn, by hands and taps, and its replay."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tablecam.cli import main
from tablecam.referee.seats import SHARED
from tablecam.rules.hexes.grid import grid_of
from tablecam.simulate.demo import embedded_demo
from tests.web.browser.demos import spot
from tests.web.browser.halls import Hall, Seat, seated
from tests.web.browser.test_another_game import looking, picture

SIZES = {"wide": (1400, 900), "tablet": (1024, 768), "phone": (390, 844)}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


@pytest.fixture
def hall(tmp_path: Path) -> Iterator[Hall]:
    hall = Hall(tmp_path, embedded_demo("maida-1806"))
    hall.open()
    yield hall
    hall.end()


def confirms(hall: Hall, seat: Seat, words: str) -> None:
    """A side sees its own move by hand, and confirms it."""
    hall.waits(lambda: bool(hall.referee.suggested))
    seat.shows_the_newest()
    expect(seat.page.locator("#game-moved")).to_contain_text(words)
    seat.clicks("#game-moved button:has-text('Confirm')")


def asked(hall: Hall, seat: Seat, words: str) -> None:
    """A side is asked, on its own page."""
    assert hall.asked().seat == seat.side
    seat.shows_the_newest()
    expect(seat.page.locator("#game-strip")).to_contain_text(words)
    expect(seat.page.locator("#game-strip")).to_contain_text("your turn")


def test_a_whole_turn_is_played_by_two_seats_kept_and_shown(
    browser: Browser, hall: Hall, tmp_path: Path
) -> None:
    grid = grid_of(hall.table.roster.table.hex_map)
    with ExitStack() as closing:
        french, british = (
            closing.enter_context(seated(hall, browser, side)) for side in ("french", "british")
        )
        french.begins_scenario()
        asked(hall, french, "General Blue: move a unit or pass?")
        # The company is pushed three hexes ahead at once, up to two lines of the British.
        hall.table.move_unit("Scouts", *grid.middle_mm(("0808",)), 300)
        hall.waits(lambda: bool(hall.referee.suggested))
        french.shows_the_newest()
        for name, (width, height) in SIZES.items():
            for scheme in ("light", "dark"):
                french.page.set_viewport_size({"width": width, "height": height})
                french.page.emulate_media(color_scheme=scheme)
                picture(french.page, f"maida-{name}-{scheme}")
        french.page.set_viewport_size({"width": 1400, "height": 900})
        confirms(hall, french, "Scouts moves to 0808 facing south-east")
        # They may react: one fires, and hits nobody, one does nothing.
        asked(hall, british, "Who reacts to Scouts?")
        picture(british.page, "maida-reaction")
        british.taps("Guards: react")
        british.enters(3)
        asked(hall, british, "What does Guards do?")
        british.taps("Guards: fire")
        british.enters(3)
        british.taps("Line: do nothing")
        # The move goes on: it fires back, and ends.
        asked(hall, french, "Scouts: turn, fire or halt?")
        expect(french.page.locator("#game-hint")).to_contain_text("turn the counter by hand")
        picture(french.page, "maida-goes-on")
        french.taps("Scouts: fire at Guards, morale check, 7 or less passes")
        french.enters(0)
        french.taps("Halt")
        asked(hall, british, "Fire or pass?")
        british.taps("Pass")
        asked(hall, french, "General Blue: move a unit or pass?")
        french.taps("Pass, and end General Blue's moves")
        # A tap on a counter only looks at it (D-3.3b): the leader waits for a button or a hex.
        asked(hall, french, "Where does General Blue go?")
        french.page.locator('[data-thing="unit:Foot 2"]').first.click(force=True)
        expect(french.page.locator("#measure-title")).to_have_text("Foot 2")
        expect(french.page.locator("#game-actions button[data-offer]")).to_have_count(2)
        asked(hall, french, "Where does General Blue go?")
        hall.table.move_unit("General Blue", *grid.middle_mm(("0804",)), 300)
        confirms(hall, french, "General Blue goes to 0804")
        for seat in (french, british):
            seat.shows_the_newest()
            expect(seat.page.locator("#game-strip")).to_contain_text("turn 2")
        assert hall.asked().question == "Draw one of 2 chits"
        french.opens_log()
        picture(french.page, "maida-turn-2")
    hall.close()
    (path,) = tmp_path.glob("*.tablecam")
    assert main(["replay", str(path), "--check"]) == 0
    html = tmp_path / "maida.html"
    assert main(["export", str(path), "--html", str(html)]) == 0
    with looking(browser, html.as_uri()) as page:
        page.keyboard.press("End")
        expect(page.locator(".layer.hexes .hex-number")).to_have_count(16 * 12)
        picture(page, "maida-replay")


def test_a_stack_is_asked_about_once_looked_into_and_carried_by_its_box(
    browser: Browser, hall: Hall
) -> None:
    """An untidy stack is one question; its counters are spread, then moved by a box's marker."""
    grid, lines = grid_of(hall.table.roster.table.hex_map), ("Foot 1", "Foot 2")
    x_mm, y_mm = grid.middle_mm(("0703", "0603"))
    hall.settled()
    hall.referee.begin(hall.live.snapshot().position, {}, SHARED)
    hall.table.move_unit(lines[1], x_mm, y_mm, 300)
    hall.table.turn_over(lines[1], 15)
    hall.waits(lambda: bool(hall.referee.suggested))
    hall.referee.accept(SHARED, lines[1:])
    # Foot 1 lies beneath; Foot 2's hidden face counts as covered by nothing.
    hall.waits(lambda: hall.live.snapshot().health.tags_held == 1)
    hall.table.turn_over(lines[0], 10)
    with seated(hall, browser, "french") as french:
        moved = french.page.locator("#game-moved")
        asked(hall, french, "General Blue: move a unit or pass?")
        hall.waits(lambda: not hall.referee.suggested)
        assert hall.referee.to_place == ()
        hall.table.move_units({lines[0]: (x_mm, y_mm + 6, 300), lines[1]: (x_mm, y_mm - 6, 300)})
        hall.waits(lambda: bool(hall.referee.suggested))
        french.shows_the_newest()
        expect(moved.locator(".moved")).to_have_count(1)
        expect(moved).to_contain_text("What did Foot 2 do?")
        expect(moved).not_to_contain_text("%")
        ways = ["comes to the top in 0703", "only lies beside Foot 1"]
        expect(moved.locator("button:visible")).to_have_text(
            [*(f"Foot 2 {way}" for way in ways), "Spread 0703"]
        )
        picture(french.page, "maida-stack")
        french.clicks("#game-moved button:has-text('Spread 0703')")
        asked(hall, french, "Lay the counters of 0703 beside each other")
        confirms(hall, french, "0703 holds Foot 1 and Foot 2")
        asked(hall, french, "General Blue: move a unit or pass?")
        expect(moved.locator(".moved")).to_have_count(0)
        hall.table.move_units({lines[0]: (406, 215, 90), lines[1]: (406, 250, 90)})
        hall.table.move_unit("Blue box", *grid.middle_mm(("0704", "0604")), 300)
        confirms(hall, french, "Foot 1 and Foot 2 move to 0704 and 0604 facing south-east")
        expect(moved.locator(".moved")).to_have_count(0)


def test_a_phone_shows_the_verdict_of_a_refused_drag_and_no_cheer(
    browser: Browser, hall: Hall
) -> None:
    """A finger drags a counter where it may not go: the refusal is in view, without a cheer."""
    grid = grid_of(hall.table.roster.table.hex_map)
    with seated(hall, browser, "french", **PHONE) as french:
        french.begins_scenario()
        hall.settled()
        asked(hall, french, "General Blue: move a unit or pass?")
        page = french.page
        base = hall.table.truth().unit("Foot 2").bases[0]
        start = spot(page, base.x_mm, base.y_mm)
        goal = spot(page, *grid.middle_mm(("0404", "0304")))
        touch = page.context.new_cdp_session(page)

        def finger(kind: str, *points: tuple[float, float]) -> None:
            at = [{"x": x, "y": y, "id": 0} for x, y in points]
            touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": at})

        page.evaluate("document.getElementById('panel').scrollTop = 9999")
        finger("touchStart", start)
        for part in (0.3, 0.6, 1.0):
            between = (start[n] + part * (goal[n] - start[n]) for n in (0, 1))
            finger("touchMove", tuple(between))
        finger("touchEnd")
        refused = page.locator("#game-moved .moved.no")
        expect(refused).to_contain_text("Foot 2 moves to 0403 and 0304")
        picture(page, "maida-phone-refused")
        expect(refused.locator("> b")).to_be_in_viewport()
        assert not page.get_by_text("found at its new place").is_visible()
