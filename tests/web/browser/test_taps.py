"""The number of taps for the commonest tasks on one screen; `-s` prints them, with seconds.

Tasks that took more before tablecam passed for all seats and gave answers without a choice also
have that count: one tap for each action of the game.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
from playwright.sync_api import Browser, expect

from tests.web.browser.halls import Seat, Table, seated


@dataclass
class Tapper:
    """A player at the shared screen with counted taps."""

    seat: Seat
    taps: int = 0

    def tap(self, selector: str) -> None:
        self.seat.shows_the_newest()
        self.seat.page.locator(selector).first.click()
        self.taps += 1

    def answer(self, *labels: str) -> None:
        """Tap buttons of actions, by the beginnings of their labels."""
        for label in labels:
            self._sends(f'#game-actions button[aria-label^="{label}"]')

    def passes(self) -> None:
        self._sends("#game-pass")

    def _sends(self, selector: str) -> None:
        """Tap something that sends a request, and wait for the result."""
        self.seat.shows_the_newest()
        self.seat.clicks(selector)
        self.taps += 1


@pytest.fixture
def calm(players: Table) -> Table:
    """The demo's armies, far apart."""
    players.hall.table.restart()
    players.hall.settled()
    return players


@contextmanager
def counted(table: Table, browser: Browser, task: str, most: int) -> Iterator[Tapper]:
    """Count the taps of a task, which must take at most `most`."""
    with seated(table.hall, browser, "shared") as seat:
        seat.shows_the_newest()
        before, began_s = actions_of(table), time.monotonic()
        tapper = Tapper(seat)
        yield tapper
        took_s, actions = time.monotonic() - began_s, actions_of(table) - before
        print(f"{task}: {tapper.taps} taps, {took_s:.1f} s ({actions} actions of the game)")  # noqa: T201
        assert tapper.taps <= most


def actions_of(table: Table) -> int:
    with table.hall.referee.locked() as play:
        return 0 if play is None else len(play.done)


def moves_ahead(table: Table, *units: str) -> None:
    """Hands move units one and a half base widths ahead."""
    for name in units:
        unit = table.hall.table.truth().unit(name)
        assert unit is not None
        x_mm = sum(base.x_mm for base in unit.bases) / len(unit.bases)
        y_mm = sum(base.y_mm for base in unit.bases) / len(unit.bases)
        table.hall.table.move_unit(name, x_mm, y_mm + 45, 90)


def test_to_measure_takes_two_taps(calm: Table, browser: Browser) -> None:
    with counted(calm, browser, "measure", 2) as player:
        for unit in ("P2", "A2"):
            player.tap(f'.units [data-thing="unit:{unit}"] .base')
        expect(player.seat.page.locator(".reading b")).to_contain_text("BW")


def test_to_march_two_units_takes_four_taps_with_printed_cards(
    calm: Table, browser: Browser
) -> None:
    calm.begin()
    with counted(calm, browser, "march two units, printed cards", 4) as player:
        player.answer("March", "P1, P2, P3, P4: ")
        player.passes()
        moves_ahead(calm, "P3", "P4")
        player.tap("#confirm-all")
        expect(player.seat.page.locator("#game-log-body")).to_contain_text("P4 marches 1.50 BW")


def test_to_march_two_units_takes_eight_taps_with_cards_that_tablecam_deals(
    calm: Table, browser: Browser
) -> None:
    calm.begin(deck="house")
    with counted(calm, browser, "march two units, dealt cards", 8) as player:
        player.answer("Draw")
        player.tap("#game-take")
        player.answer("March", "P1, P2, P3, P4: ")
        player.tap("#game-next")
        player.passes()
        moves_ahead(calm, "P3", "P4")
        player.tap("#game-take")
        player.tap("#confirm-all")
        expect(player.seat.page.locator("#game-log-body")).to_contain_text("P4 marches 1.50 BW")


def test_to_fire_a_volley_and_look_back_at_it(fight: Table, browser: Browser) -> None:
    with counted(fight, browser, "volley, dice rolled by tablecam", 6) as player:
        player.answer("Fire")
        player.passes()
        player.answer("Start from the left", "P3 at A3")
        player.tap("#game-dice-roll")
        player.answer("End firing")
        expect(player.seat.page.locator("#game-log-body")).to_contain_text("P3 at A3: ")
    with counted(fight, browser, "look back at it", 2) as player:
        player.tap("#look-back")
        page = player.seat.page
        page.locator("#log-body li", has_text="P3 fires at A3").first.click()
        player.taps += 1
        expect(page.locator(".layer.game .shape").first).to_be_visible()


def test_to_charge_and_fight(fight: Table, browser: Browser) -> None:
    fight.begin(active="austrian")
    with counted(fight, browser, "charge with combat", 7) as player:
        player.answer("Skip", "Charge", "A3: ")
        player.passes()
        player.answer("A3 charges P3")
        player.seat.shows_the_newest()
        (ghost,) = fight.hall.referee.to_place
        fight.lay("A3", ghost.bases)
        player.passes()
        player.tap("#game-dice-roll")
        expect(player.seat.page.locator("#game-cast .die")).to_have_count(3)
