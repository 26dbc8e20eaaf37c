"""A turn of the Seven Years' War sheet by two seats: a charge, a melee, and the replay."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from tablecam.cli import main
from tablecam.simulate.demo import embedded_demo
from tests.web.browser.halls import Hall, Seat, Table, seated
from tests.web.browser.test_another_game import looking, picture

SIXES = (6, 6, 6, 1)
AXIS_HAS_ROOM = """() => {
  const boxOf = (id) => document.getElementById(id).getBoundingClientRect();
  const most = boxOf("chart-most");
  return most.width > 0 && most.left >= boxOf("chart").left;
}"""
NO_MARKER_UPON_ANOTHER = """() => {
  const plates = [...document.querySelectorAll(".marker .pips")];
  const boxes = plates.map((plate) => plate.getBoundingClientRect());
  const meet = (a, b) =>
    a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
  return boxes.every((box, index) => !boxes.slice(index + 1).some((other) => meet(box, other)));
}"""


@contextmanager
def minden(browser: Browser, folder: Path) -> Iterator[Table]:
    """Two seats at the demo's table, with French horse before British foot."""
    hall = Hall(folder, embedded_demo("syw-d6"))
    hall.open()
    with ExitStack() as closing:
        closing.callback(hall.end)
        seats = [
            closing.enter_context(seated(hall, browser, side)) for side in ("french", "allies")
        ]
        hall.table.move_unit("FC1", 580, 400, 90)
        hall.settled()
        yield Table(hall, *seats)


def test_a_turn_with_a_charge_is_played_kept_and_shown(browser: Browser, tmp_path: Path) -> None:
    with minden(browser, tmp_path) as table:
        french, allied = table.prussian, table.austrian
        begins(table)
        marches_by_hand(table, french)
        charges(table, french, allied)
        fights(table, french, allied)
        flees(table, allied)
    (path,) = tmp_path.glob("*.tablecam")
    assert main(["replay", str(path), "--check"]) == 0
    html = tmp_path / "minden.html"
    assert main(["export", str(path), "--html", str(html)]) == 0
    with looking(browser, html.as_uri()) as page:
        page.keyboard.press("End")
        expect(page.locator("#turn-question")).not_to_be_empty()
        page.wait_for_function(AXIS_HAS_ROOM)
        page.locator("#marks-moments .attack").first.click()
        expect(page.locator("#moment-lines")).to_contain_text("FC1 charges B2 in front")
        picture(page, "minden-replay")


def begins(table: Table) -> None:
    page = table.prussian.page
    picture(page, "minden-begin")
    expect(page.locator("#begin-files")).to_contain_text("the numbers in the charts are invented")
    page.locator("#begin").click()
    table.hall.waits(lambda: table.hall.referee.position() is not None)
    both_see(table)
    expect(page.locator("#game-dice-title")).to_have_text(
        "1 die for the Fog of War, which comes on a 1"
    )
    table.prussian.enters(3)


def marches_by_hand(table: Table, french: Seat) -> None:
    """The dice come first; then the hand's move is judged by them."""
    moved = french.page.locator('.moved[data-unit="F1"]')
    table.hall.table.move_unit("F1", 230, 245, 90)
    expect(moved).to_contain_text("F1 has moved before its dice were thrown")
    picture(french.page, "minden-too-early")
    french.page.locator('.moved [data-lay-back="F1"]').click()
    expect(moved).to_have_count(0)
    french.taps("F1: 4 dice, the best counts")
    french.enters(2, 1, 1, 1)
    table.hall.table.move_unit("F1", 230, 245, 90)
    expect(moved).to_contain_text("F1 moves 1.8 in, of at most 2")
    picture(french.page, "minden-move")
    french.page.locator('.moved [data-lay-back="F1"]').click()
    expect(moved).to_have_count(0)
    table.hall.table.move_unit("F1", 230, 245, 90)
    expect(moved).to_contain_text("F1 moves 1.8 in, of at most 2")
    french.clicks('.moved [data-way="seen"]')
    expect(french.page.locator("#game-log-body")).to_contain_text("F1 moves 1.8 in")


def charges(table: Table, french: Seat, allied: Seat) -> None:
    holds_fire(table, allied)
    leader = french.page.locator(".group-throw .bunch:not(.told) > b", has_text="Contades")
    expect(leader).to_be_visible()  # in a row like those of units
    french.taps("FC1: 4 dice, the best 3 count, or fewer")
    french.enters(*SIXES)
    # "12 in" does not stand above "6 in", as if it headed that.
    expect(french.page.locator(".group-less .bunch > b")).to_have_text("")
    french.taps("18 in = 6 + 6 + 6")
    drags_to_contact(table, french, allied)
    french.page.locator("#roster summary").click()
    squadron = french.page.locator('#roster [data-thing="unit:FC1"]')
    expect(squadron).to_contain_text("trained, Fitz James brigade")
    squadron.click()
    expect(french.page.locator("#measure-body")).to_contain_text("Trained, Fitz James brigade")
    french.page.locator("#clear").click()
    expect(allied.page.locator("#turn-question")).to_contain_text("FC1 charges B2")
    picture(allied.page, "minden-charge")
    allied.taps("Stand")
    both_see(table)
    holds_fire(table, allied)
    assert not table.hall.referee.to_place
    french.taps("End the moves")


def drags_to_contact(table: Table, french: Seat, allied: Seat) -> None:
    """Units at the end of a confirmed charge are not asked back while it is answered."""
    moved = french.page.locator('.moved[data-unit="FC1"]')
    table.hall.table.move_unit("FC1", 580, 510, 90)
    expect(moved).to_contain_text("FC1 charges B2 over")
    french.clicks('.moved [data-way="seen"]')
    both_see(table)
    expect(allied.page.locator("#turn-question")).to_contain_text("FC1 charges B2")
    expect(allied.page.locator("#game-hint")).to_contain_text("Stand: it may fire")
    for seat in (french, allied):
        expect(seat.page.locator(".moved")).to_have_count(0)
        expect(seat.page.locator("#game-astray")).to_be_hidden()


def fights(table: Table, french: Seat, allied: Seat) -> None:
    """The demo's chart supplies the rows that the sheet lacks, and says that it is invented."""
    both_see(table)
    if table.hall.asked().question.endswith("end the fire"):
        french.taps("End firing")
        both_see(table)
    expect(french.page.locator("#game-house")).to_contain_text("charts are invented; the rules")
    expect(french.page.locator("#game-dice-title")).to_contain_text("the melee of FC1 with B2")
    picture(french.page, "minden-melee")
    french.enters(1, 3)
    both_see(table)
    expect(french.page.locator("#game-log-body")).to_contain_text("Melee: FC1")
    while "TEST" in table.hall.asked().question:
        french.enters(3)
        both_see(table)


def flees(table: Table, allied: Seat) -> None:
    """The beaten horse wears its marker until its own sequence, and then goes."""
    both_see(table)
    expect(allied.page.locator("#turn-active")).to_have_text("Allies")
    allied.enters(4)
    both_see(table)
    picture(allied.page, "minden-allied")
    marks = table.hall.referee.position()
    assert marks is not None
    beaten = marks.unit("FC1")
    assert beaten is not None
    assert beaten.state["status"] in ("retreating", "routing")
    fits_its_screen(allied.page)
    reads_on_a_phone(allied.page)


def reads_on_a_phone(page: Page) -> None:
    """If units are small, their figures are bare numbers that do not overlap."""
    page.set_viewport_size({"width": 390, "height": 844})
    words = page.locator(".marker .word")
    expect(words.filter(has_text="fig.")).to_have_count(0)
    expect(words.filter(has_text=re.compile(r"^32$"))).not_to_have_count(0)
    picture(page, "minden-phone")
    page.wait_for_function(NO_MARKER_UPON_ANOTHER)


def holds_fire(table: Table, allied: Seat) -> None:
    both_see(table)
    while "fire at" in table.hall.asked().question:
        allied.taps("Hold fire")
        both_see(table)


def fits_its_screen(page: Page) -> None:
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def both_see(table: Table) -> None:
    for seat in (table.prussian, table.austrian):
        seat.shows_the_newest()
