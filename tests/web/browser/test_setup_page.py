"""Games that are set up on the page, or taken up in the middle."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, expect

from tablecam.referee.seats import SHARED
from tests.web.browser.demos import spot
from tests.web.browser.halls import Hall, Seat, Table, seated

FINGER_PX = 44


@pytest.fixture
def armies(players: Table) -> Table:
    """Both armies in their thirds, as the demo begins, before any setup."""
    players.hall.table.restart()
    players.hall.settled()
    return players


def begins(table: Table, **options: Any) -> None:
    """Begin a game with options that the page offers."""
    position = table.hall.live.snapshot().position
    table.hall.referee.begin(position, options, SHARED)  # one side alone only proposes it
    for seat in (table.prussian, table.austrian):
        seat.shows_the_newest()


def step(hall: Hall) -> Any:
    with hall.referee.locked() as play:
        assert play is not None
        return play.state.step


def pieces(seat: Seat) -> Locator:
    return seat.page.locator("#laying-pieces button")


def test_two_players_set_up_a_game_with_it(armies: Table) -> None:
    prussian, austrian = armies.prussian, armies.austrian
    begins(armies, setup=True)
    expect(prussian.page.locator("#turn-active")).to_have_text("setting up")
    prussian.enters(2, 1)
    expect(austrian.page.locator("#game-laying")).to_be_hidden()
    lays_terrain(prussian)
    austrian.shows_the_newest()
    expect(austrian.page.locator(".piece.kind-marsh")).to_have_count(1)
    expect(austrian.page.locator(".layer.game .role-zone")).to_have_count(2)
    armies.taps("The far edge", "Prussians deploy first")
    deploys(armies)
    armies.taps("Keep all units where they are")
    prussian.enters(5, 4)
    expect(prussian.page.locator("#turn-active")).to_have_text("Prussian")
    expect(prussian.page.locator("#turn-number")).to_have_text("1")


def lays_terrain(seat: Seat) -> None:
    """Remove all terrain; tap a marsh and drag it; draw a pond by its corners; remove another."""
    page = seat.page
    expect(page.locator("#laying-count")).to_contain_text("Prussian places 2 to 3 pieces")
    page.locator('[data-edit="clear"]').click()
    page.locator('[data-kind="marsh"]').click()
    expect(page.locator("#laying-does")).to_have_text("Difficult, water.")
    page.mouse.click(*spot(page, 300, 560))
    expect(pieces(seat)).to_have_text(["marsh 1"])
    page.mouse.move(*spot(page, 300, 560))
    page.mouse.down()
    page.mouse.move(*spot(page, 500, 500), steps=4)
    page.mouse.up()
    page.locator('[data-kind="pond"]').click()
    page.locator('[data-tool="corners"]').click()
    for corner in ((700, 500), (800, 500), (800, 600)):
        page.mouse.click(*spot(page, *corner))
    page.locator('[data-edit="close"]').click()
    expect(page.locator("#laying-count")).to_contain_text("2 now ✓")
    seat.clicks("#laying-done")
    with seat.hall.referee.locked() as play:
        assert play is not None
        marsh, pond = play.state.position.terrain
    assert [marsh.kind, pond.kind] == ["marsh", "pond"]
    middle_mm = sum(x for x, _ in marsh.outline_mm) / len(marsh.outline_mm)
    assert middle_mm == pytest.approx(500, abs=6)
    assert len(pond.outline_mm) == 3


def deploys(table: Table) -> None:
    """A unit laid outside the zone is refused; then, inside it, all are accepted as they lie."""
    page = table.prussian.page
    moved = page.locator(".moved")
    table.hall.table.move_unit("P5", 700, 560, 90)
    expect(moved).to_contain_text("✗ no")
    expect(moved).to_contain_text("is not wholly in the Prussian third of the table")
    table.hall.table.move_unit("P5", 400, 60, 90)
    expect(moved).to_contain_text(
        "Prussians have placed 1 unit: deployment finished?", ignore_case=True
    )
    table.prussian.clicks('.moved [data-way="seen"]')


def test_a_game_is_taken_up_in_its_middle_and_played_on(armies: Table) -> None:
    seat = armies.prussian
    begins(armies, active="prussian")
    page = seat.page
    page.locator("#game-overrule summary").click()
    page.locator("#states-open").click()
    expect(page.locator("#game-states")).to_be_visible()
    for label in (
        *["round: one more"] * 3,
        "active side: Austrian",
        "Prussian: morale: one less",
        "Austrian: cards in hand: one less",
        "cards left in the deck: one less",
        "deck: Last",
        "A3: disruption 2",
        "PA1: smoke",
    ):
        page.get_by_role("button", name=label, exact=True).click()
    expect(page.locator('[data-marker="A3: disruption 2"]')).to_have_count(1)
    assert step(armies.hall).type == "command-choice"
    seat.clicks("#states-send")
    expect(page.locator("#game-states")).to_be_hidden()
    expect(page.locator("#turn-number")).to_have_text("4")
    expect(page.locator("#turn-active")).to_have_text("Austrian")
    expect(page.locator("#game-log-body .overrule")).to_contain_text("A3 at 2 disruption")
    armies.austrian.shows_the_newest()
    expect(armies.austrian.page.locator('[data-marker="PA1: smoke"]')).to_have_count(1)
    page.locator("#game-overrule summary").click()
    armies.taps("Rally")
    armies.austrian.clicks("#game-actions .group-activate button")
    armies.taps("A3")
    expect(armies.austrian.page.locator("#game-dice-title")).to_contain_text("2 dice")


def test_a_phone_lays_terrain_with_a_thumb(armies: Table, browser: Browser) -> None:
    begins(armies, setup=True)
    armies.prussian.enters(6, 1)
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    with seated(armies.hall, browser, "prussian", **phone) as seat:
        seat.shows_the_newest()
        page = seat.page
        for button in page.locator("#game-laying button").all():
            box = button.bounding_box()
            assert box is not None
            assert min(box["width"], box["height"]) >= FINGER_PX
        before = pieces(seat).count()
        page.touchscreen.tap(*spot(page, 600, 620))
        expect(pieces(seat)).to_have_count(before + 1)
        expect(page.locator(".corner")).not_to_have_count(0)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
