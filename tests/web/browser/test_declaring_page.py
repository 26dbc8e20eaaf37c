"""The page of players who declare before they measure: nothing it receives reveals a range."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.web.browser.halls import Hall, Seat, Table, seated

TELLING = re.compile(r"distance_bw|margin_mm|probability|\d+\.\d+ BW|± \d|role-ring|fire-zone")
"""Words in answers, sentences and drawings of anything measured."""

ASKED = (
    "api/measure?a=unit:P1&b=unit:A1&within_bw=4",
    "api/measure?a=base:P1/1&b=point:500,400",
    "api/about?thing=unit:P1",
    "api/rulings/unit?unit=P1&active=prussian",
    "api/rulings/pair?a=P1&b=A1&active=prussian",
)


@pytest.fixture
def duel(players: Table) -> Table:
    """A game of players who declare first, begun from the page, before anybody points anywhere."""
    hall, page = players.hall, players.prussian.page
    hall.settled()
    page.locator("#begin-change > summary").click()
    page.locator("#begin-deck button", has_text="Printed cards").click()
    page.locator("#begin-active button", has_text="Prussian").click()
    page.locator("#begin-measuring button", has_text="After declaring").click()
    expect(page.locator("#begin-fields")).to_contain_text("No distance or range is shown")
    page.locator("#begin").click()
    hall.waits(lambda: hall.referee.position() is not None)
    for seat in (players.prussian, players.austrian):
        seat.shows_the_newest()
    return players


@pytest.fixture
def spectator(hall: Hall, browser: Browser) -> Iterator[Seat]:
    with seated(hall, browser, "spectator") as seat:
        yield seat


def points_at(page: Page, *units: str) -> None:
    """Choose only these units, from the order of battle."""
    page.keyboard.press("Escape")
    page.evaluate("document.getElementById('roster').open = true")
    for unit in units:
        page.locator(f'#roster-body [data-thing="unit:{unit}"]').click()


def test_nothing_is_told_to_anybody_before_it_is_declared_and_then_what_was(
    duel: Table, spectator: Seat
) -> None:
    seats = (duel.prussian, duel.austrian, spectator)
    for seat in seats:
        seat.shows_the_newest()
        is_told_nothing(seat)
    duel.taps("Skip", "Bombard", "PA1: with 12 BW")
    points_at(duel.prussian.page, "PA1", "AA1")
    expect(duel.prussian.page.locator("#measure-body")).to_have_text(
        "Measuring is closed until the Prussian fire is declared."
    )
    string = f"{span_bw(duel.hall):.2f} BW"  # it was declared with the force
    for seat in seats:
        assert set(TELLING.findall(seat.received())) <= {string}

    duel.taps("PA1 at AA1 (1 base)")
    page = duel.prussian.page
    expect(page.locator(".tape.settled .reading")).to_contain_text("BW")
    expect(page.locator("#closed")).to_have_text("Measuring: only what was declared")
    expect(page.locator("#rulings-body")).to_contain_text("PA1")
    dispute = page.locator("#rulings-body [data-question]").first
    dispute.click()
    expect(page.locator("#dispute")).to_be_visible()
    page.locator("#dispute-close").click()
    expect(page.locator("#dispute")).not_to_be_visible()  # keys do not reach elements behind it

    duel.prussian.enters(1)
    expect(page.locator(".tape .reading")).to_have_text("")
    expect(page.locator("#rulings-body")).to_be_empty()
    expect(page.locator("#closed")).to_have_text("Measuring is closed")


def span_bw(hall: Hall) -> float:
    """The distance of the force activated last from its commander."""
    with hall.referee.locked() as play:
        assert play is not None
        events = [event for done in play.done for event in done.events]
    return next(event.facts["span_bw"] for event in events if event.kind == "activated")


def is_told_nothing(seat: Seat) -> None:
    """Pointing at units, and asking the server directly, give only the reason for silence."""
    page = seat.page
    because = "Measuring is closed until the Prussian action is declared."
    points_at(page, "P1")
    expect(page.locator("#measure-body")).to_have_text(because)
    expect(page.locator(".shape")).to_have_count(0)
    points_at(page, "P1", "A1")
    expect(page.locator("#measure-body")).to_have_text(because)
    expect(page.locator("#rulings-state")).to_have_text(because)
    expect(page.locator("#scale")).to_be_hidden()
    expect(page.locator("#closed")).to_be_visible()
    for address in ASKED:
        answer = page.request.get(seat.hall.address + address)
        assert answer.status == 403
        assert answer.json() == {"error": f"measuring: {because.removesuffix('.')}"}
    body = {"question": "near/P1/A1", "active": "prussian"}
    assert page.request.post(f"{seat.hall.address}api/disputes", data=body).status == 403
    assert not TELLING.search(seat.received())
