"""A turn of Huzzah! Glorious Empires by two seats: fire, orders, a charge that breaks, a replay."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from playwright.sync_api import Browser, expect

from tablecam.cli import main
from tablecam.simulate.demo import embedded_demo
from tests.web.browser.halls import Hall, Seat, Table, seated
from tests.web.browser.test_another_game import looking, picture


@contextmanager
def auerstedt(browser: Browser, folder: Path) -> Iterator[Table]:
    """Two seats at the demo's table, with Prussian horse before a French line."""
    hall = Hall(folder, embedded_demo("huzzah-ge"))
    hall.open()
    with ExitStack() as closing:
        closing.callback(hall.end)
        seats = [
            closing.enter_context(seated(hall, browser, side)) for side in ("french", "prussians")
        ]
        hall.settled()
        yield Table(hall, *seats)


def test_a_turn_with_a_charge_and_a_rout_is_played_kept_and_shown(
    browser: Browser, tmp_path: Path
) -> None:
    with auerstedt(browser, tmp_path) as table:
        french, prussian = table.prussian, table.austrian
        begins(table, french)
        fires(table, french)
        marches_by_hand(table, french)
        charges(table, french, prussian)
        fights(table, french, prussian)
    (path,) = tmp_path.glob("*.tablecam")
    assert main(["replay", str(path), "--check"]) == 0
    html = tmp_path / "auerstedt.html"
    assert main(["export", str(path), "--html", str(html)]) == 0
    with looking(browser, html.as_uri()) as page:
        page.keyboard.press("End")
        page.locator("#marks-moments .attack").last.click()
        expect(page.locator("#moment-lines")).to_contain_text("Combat: F1, PC1")
        picture(page, "auerstedt-replay")


def both_see(table: Table) -> None:
    for seat in (table.prussian, table.austrian):
        seat.shows_the_newest()


def begins(table: Table, french: Seat) -> None:
    """Both sides roll together against the factors of the demo's charts."""
    french.page.locator("#begin").click()
    table.hall.waits(lambda: table.hall.referee.position() is not None)
    for dice in ((6, 6, 6, 6), (2, 3, 6, 6)):
        both_see(table)
        french.enters(*dice)
    both_see(table)
    expect(french.page.locator("#game-log-body")).to_contain_text(
        "Divisional and reserve guns of the French are effective"
    )
    picture(french.page, "auerstedt-fire")


def fires(table: Table, french: Seat) -> None:
    """Targets are declared first; a unit's grade is rolled when first needed."""
    french.taps("FG1 at P1")
    french.taps("Roll for all declared fire")
    expect(french.page.locator("#game-dice-title")).to_contain_text("the quality of FG1")
    french.enters(2, 3)
    expect(french.page.locator("#game-dice-title")).to_contain_text("FG1 firing at P1, on")
    expect(french.page.locator("#game-dice-entered .alike span")).to_have_text(
        "FG1: 8 or less together"
    )
    picture(french.page, "auerstedt-volley")
    french.enters(6, 6)
    both_see(table)


def marches_by_hand(table: Table, french: Seat) -> None:
    """An order is rolled; then the hand's move is judged by it."""
    expect(french.page.locator("#game-actions")).to_contain_text("Friant")
    picture(french.page, "auerstedt-orders")
    french.taps("Friant: F4")
    picture(french.page, "auerstedt-order")
    french.taps("Advance")
    french.enters(3, 3)
    both_see(table)
    moved = french.page.locator('.moved[data-unit="F4"]')
    table.hall.table.move_unit("F4", 790, 415, 90)
    expect(moved).to_contain_text("F4 advances 20.0 cm, of at most 15")
    picture(french.page, "auerstedt-too-far")
    table.hall.table.move_unit("F4", 790, 345, 90)
    expect(moved).to_contain_text("F4 advances 13.0 cm")
    french.clicks('.moved [data-way="seen"]')
    both_see(table)
    french.taps("No more orders")
    both_see(table)
    french.taps("No more officers move")


def charges(table: Table, french: Seat, prussian: Seat) -> None:
    """Impulsive horse charges an enemy in reach, without an order and without being asked."""
    both_see(table)
    if table.hall.asked().question.endswith("or roll"):
        prussian.taps("Nobody fires")
        both_see(table)
    log = prussian.page.locator("#game-log-body")
    expect(log).to_contain_text("PC1 is impulsive and must charge F1")
    picture(prussian.page, "auerstedt-impulsive")
    (ghost,) = table.hall.referee.to_place
    table.lay("PC1", ghost.bases)
    prussian.taps("No more orders")
    both_see(table)


def fights(table: Table, french: Seat, prussian: Seat) -> None:
    """F1 must fire; the combat asks for what the book lacks; the loser routs."""
    expect(french.page.locator("#game-dice-title")).to_contain_text("the quality of F1")
    french.enters(3, 3)
    expect(french.page.locator("#game-dice-title")).to_contain_text("F1 firing at PC1")
    french.enters(3, 3)
    both_see(table)
    expect(prussian.page.locator("#game-dice-title")).to_contain_text("the quality of PC1")
    prussian.enters(3, 3)
    expect(prussian.page.locator("#game-dice-title")).to_contain_text("the morale of PC1")
    prussian.enters(2, 3)
    both_see(table)
    french.taps("1")
    both_see(table)
    # Either player may enter results from his own book.
    for seat in (french, prussian):
        expect(seat.page.locator("#game-strip")).to_contain_text("hits on PC1?")
        expect(seat.page.locator("#game-hint")).to_contain_text("has no combat chapter")
    picture(prussian.page, "auerstedt-combat")
    prussian.taps("2")
    both_see(table)
    prussian.taps("Prussians")
    both_see(table)
    prussian.taps("10 cm")
    prussian.taps("Routs")
    both_see(table)
    position = table.hall.referee.position()
    assert position is not None
    beaten = position.unit("PC1")
    assert beaten is not None
    assert beaten.state["routing"]
    picture(french.page, "auerstedt-rout")
    page = french.page
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
