"""A game with cards dealt by tablecam, taken up in the middle."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.web.browser.halls import Table


def test_a_game_with_dealt_cards_is_taken_up_in_its_middle(players: Table) -> None:
    table, page = players.hall.table, players.prussian.page
    table.restart()
    players.hall.settled()
    address = f"{players.hall.address}api/game/begin"
    assert page.request.post(address, data={"options": {"active": "prussian", "deck": "house"}}).ok
    for seat in (players.prussian, players.austrian):
        seat.shows_the_newest()
    with players.hall.referee.locked() as play:
        assert play is not None
        left = play.state.deck.left
    page.locator("#game-overrule summary").click()
    page.locator("#states-open").click()
    expect(page.locator("#game-states")).to_be_visible()
    for label in (
        "active side: Austrian",
        *["Prussian: cards in hand: one more"] * 2,
        "Austrian: cards in hand: one less",
        "cards left in the deck: one less",
    ):
        page.get_by_role("button", name=re.compile(f"^{label}$", re.IGNORECASE)).click()
    table.move_unit("P1", 700.0, 700.0, 90)  # hands continue laying the table meanwhile
    players.hall.settled()
    moved = page.locator("#game-moved .moved, #astray-moved .moved")
    expect(moved).to_have_count(1)
    players.prussian.clicks("#states-send")
    expect(page.locator("#game-states")).to_be_hidden()
    expect(moved).to_have_count(0)
    page.locator("#game-overrule summary").click()
    players.taps("Draw 8")
    with players.hall.referee.locked() as play:
        assert play is not None
        state = play.state
    assert (state.active, state.deck.left, len(state.deck.discards)) == ("austrian", left - 14, 1)
    assert {side.name: len(side.cards) for side in state.sides} == {"prussian": 8, "austrian": 5}
