"""A rulebook unknown to the page, from its first form to its replay and its hall."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from tablecam.cli import main
from tablecam.hall.watch import HallWatch
from tablecam.record.game_file import GameFile
from tablecam.simulate.demo import demo_roster
from tablecam.simulate.script import Script, Start
from tablecam.simulate.table import SimulatedTable
from tests.record.games import catch_up
from tests.record.postgres import Postgres, hall_on
from tests.web.browser.demos import patient
from tests.web.browser.halls import Hall, Seat, seated
from web import Server, create_replay
from web.hall import create_hall
from web.streams import Streams

STARTS = (
    Start("R1", 350, 200, 90),
    Start("R2", 750, 200, 90),
    Start("B1", 350, 500, 270),
    Start("B2", 750, 500, 270),
)


THUMBNAIL_IS_LOADED = """() => document.querySelector("#playing img")?.naturalWidth > 0"""


def skirmish_table() -> SimulatedTable:
    """Two units a side on the demo's table, with its bases and tags."""
    demo = demo_roster()
    units = tuple(
        replace(entry, id=start.id, side="rovers" if start.id[0] == "R" else "bandits", extra={})
        for entry, start in zip(demo.units, STARTS, strict=False)
    )
    roster = replace(demo, game="skirmish", units=units, commanders=())
    return SimulatedTable(roster, Script("rovers", STARTS, ()))


def picture(page: Page, name: str) -> None:
    """Save a screenshot, if `PICTURES` names a folder."""
    if folder := os.environ.get("PICTURES"):
        page.screenshot(path=f"{folder}/{name}.png")


@dataclass(frozen=True)
class Players:
    hall: Hall
    rovers: Seat
    bandits: Seat

    def bases_seen(self, unit_id: str) -> int:
        unit = self.hall.live.snapshot().position.unit(unit_id)
        return 0 if unit is None else len(unit.bases)

    def settle(self) -> None:
        for seat in (self.rovers, self.bandits):
            seat.shows_the_newest()


@contextmanager
def two_players(browser: Browser, folder: Path) -> Iterator[Players]:
    """A game of two browsers, without errors in their consoles."""
    hall = Hall(folder, skirmish_table())
    hall.open()
    mistakes: list[str] = []
    with ExitStack() as closing:
        closing.callback(hall.end)
        sides = ("rovers", "bandits")
        seats = [closing.enter_context(seated(hall, browser, side)) for side in sides]
        for seat in seats:
            keep_errors(seat.page, mistakes)
            seat.page.reload()
        yield Players(hall, *seats)
    assert mistakes == []


def keep_errors(page: Page, mistakes: list[str]) -> None:
    page.on("pageerror", lambda mistake: mistakes.append(str(mistake)))
    page.on("console", lambda said: mistakes.append(said.text) if said.type == "error" else None)


@contextmanager
def looking(browser: Browser, address: str) -> Iterator[Page]:
    """A page without errors in its console."""
    mistakes: list[str] = []
    with browser.new_context(viewport={"width": 1300, "height": 900}) as context:
        page = patient(context).new_page()
        keep_errors(page, mistakes)
        page.goto(address)
        yield page
    assert mistakes == []


def test_a_game_that_the_page_does_not_know_is_played_kept_and_shown(
    toys: None, browser: Browser, postgres: Postgres, tmp_path: Path
) -> None:
    with two_players(browser, tmp_path) as players:
        begins(players)
        hides_the_relics(players)
        moves_by_hand(players)
        shoots(players)
        loses_a_base(players)
        is_overruled(players)
        leaves_and_comes_back(players)
        is_played_to_its_end(players)
    (path,) = tmp_path.glob("*.tablecam")
    is_looked_back_at(browser, path)
    is_exported(browser, path, tmp_path)
    is_in_the_hall(browser, path, postgres)


def begins(players: Players) -> None:
    players.hall.settled()
    page = players.rovers.page
    expect(page.locator("#begin-fields")).to_contain_text("First side")
    picture(page, "1-begin")
    page.locator("#begin-change > summary").click()
    page.locator("#begin-first button", has_text="Bandits").click()
    page.locator("#begin-first button", has_text="Rovers").click()
    page.locator("#begin").click()
    players.hall.waits(lambda: players.hall.referee.position() is not None)
    players.settle()
    expect(page.locator("#turn-question")).to_have_text("Which unit carries the relic?")


def hides_the_relics(players: Players) -> None:
    rovers, bandits = players.rovers, players.bandits
    rovers.taps("R2")
    players.settle()
    bandits.taps("B1")
    players.settle()
    assert "R2 carries the relic" in rovers.received()
    assert "R2 carries" not in bandits.received()
    expect(rovers.page.locator("#game-hand")).to_contain_text("On R2")
    expect(bandits.page.locator("#game-hand")).to_contain_text("On B1")
    expect(rovers.page.locator("#turn-number")).to_have_text("1")
    expect(rovers.page.locator("#turn-active")).to_have_text("Rovers")
    picture(rovers.page, "2-hidden")


def moves_by_hand(players: Players) -> None:
    rovers = players.rovers
    moved = rovers.page.locator('.moved[data-unit="R1"]')
    players.hall.table.move_unit("R1", 350, 400, 90)
    expect(moved).to_contain_text("✗ no")
    expect(moved).to_contain_text("R1 moves 7.9 inches, of at most 6")
    picture(rovers.page, "3-too-far")
    players.hall.table.move_unit("R1", 350, 300, 90)
    expect(moved).to_contain_text("✓ yes")
    rovers.clicks('.moved [data-way="seen"]')
    expect(rovers.page.locator("#game-log-body")).to_contain_text("R1 moves 3.9 inches")
    expect(rovers.page.locator('[data-marker="R1: acted"] .ring')).not_to_have_count(0)


def shoots(players: Players) -> None:
    """A die from 0 to 9, by keys."""
    rovers = players.rovers
    rovers.taps("R2 at B2")
    page = rovers.page
    expect(page.locator("#game-dice-title")).to_have_text("1 die for the shot")
    faces = [key.get_attribute("data-face") for key in page.locator("#game-dice-keys button").all()]
    assert faces == list("0123456789")
    picture(page, "4-die")
    for key in ("0", "Backspace", "7"):
        page.keyboard.press(key)
    rovers.clicks("#game-dice-enter")
    players.settle()
    for seat in (rovers, players.bandits):
        expect(seat.page.locator('[data-marker="B2: wounds: 1"]')).to_have_count(1)
    picture(page, "5-wounded")
    rovers.taps("end turn")
    players.settle()


def loses_a_base(players: Players) -> None:
    """B2 wounds R1 twice: R1 loses a base, which a hand takes off."""
    bandits = players.bandits
    expect(bandits.page.locator("#turn-active")).to_have_text("Bandits")
    bandits.taps("B2 at R2")
    bandits.enters(6)
    bandits.taps("B1 at R1")
    bandits.enters(5)
    expect(bandits.page.locator('[data-marker="R1: pinned"]')).to_have_count(1)
    bandits.taps("end turn")
    expect(bandits.page.locator("#game-log .new-turn").first).to_contain_text("Turn 2")
    players.settle()
    rovers = players.rovers
    rovers.taps("R1 at B2")
    rovers.enters(9)
    due = rovers.page.locator("#game-due li")
    expect(due).to_contain_text("B2 has lost 1 base: take it off the table")
    picture(rovers.page, "6-base-off")
    tag = players.hall.table.roster.units[3].tags[0]
    players.hall.table.take_off("B2", tag)
    expect(due.filter(has_text="has lost")).to_have_count(0)
    players.hall.waits(lambda: players.bases_seen("B2") == 3)
    picture(rovers.page, "7-base-gone")


def is_overruled(players: Players) -> None:
    page = players.rovers.page
    page.locator('.units [data-thing="unit:B1"]').focus()
    page.keyboard.press("Enter")
    page.locator("#game-overrule summary").click()
    expect(page.locator("#overrule-body")).to_contain_text("B1: wounds")
    picture(page, "8-overrule")
    players.rovers.clicks('#overrule-body button[aria-label="B1: wounds 1"]')
    expect(page.locator('[data-marker="B1: wounds: 1"]')).to_have_count(1)
    players.rovers.clicks('#overrule-body button[aria-label="Rovers: points: one more"]')
    expect(page.locator("#turn-sides li").first).to_contain_text("1")


def leaves_and_comes_back(players: Players) -> None:
    page = players.rovers.page
    players.rovers.clicks('#overrule-body button[aria-label="off the table"]')
    due = page.locator("#game-due li")
    expect(due).to_contain_text("B1 is out of play: take it off the table")
    picture(page, "9-off")
    players.rovers.clicks("#game-undo")
    expect(due).to_have_count(0)
    page.keyboard.press("Escape")


def is_played_to_its_end(players: Players) -> None:
    rovers = players.rovers
    page = rovers.page
    for _ in range(2):
        rovers.taps("end turn")
        players.settle()
        players.bandits.taps("end turn")
        players.settle()
    expect(page.locator("#turn-question")).to_have_text("The game is over")
    picture(page, "10-over")


def is_looked_back_at(browser: Browser, path: Path) -> None:
    journal = GameFile.open(path, read_only=True)
    app = create_replay(journal, is_own=True)
    with (
        Server(app, port=0, streams=Streams(1)) as server,
        looking(browser, f"{server.address}replay") as page,
    ):
        walks_through(page, "replay")


def walks_through(page: Page, name: str) -> None:
    expect(page.locator(".units .unit")).not_to_have_count(0)
    page.keyboard.press("End")
    expect(page.locator("#turn-question")).to_have_text("The game is over")
    picture(page, f"11-{name}-end")
    for kind in ("attack", "over"):
        expect(page.locator(f"#marks-moments .{kind}")).not_to_have_count(0)
    page.locator("#marks-moments .attack").first.click()
    expect(page.locator("#moment-lines")).to_contain_text("R2 shoots at B2")
    expect(page.locator("#losses-title")).to_have_text("Points")
    picture(page, f"12-{name}-shot")


def is_exported(browser: Browser, path: Path, folder: Path) -> None:
    html = folder / "game.html"
    assert main(["export", str(path), "--html", str(html)]) == 0
    with looking(browser, html.as_uri()) as page:
        walks_through(page, "file")
    assert main(["replay", str(path), "--check"]) == 0
    assert main(["replay", str(path)]) == 0


def is_in_the_hall(browser: Browser, path: Path, postgres: Postgres) -> None:
    with hall_on(postgres) as hall:
        game = GameFile.open(path, read_only=True)
        catch_up(game, hall)
        hall.report_presence(game.id)
        with HallWatch(hall) as watch:
            app, streams = create_hall(watch)
            with (
                Server(app, port=0, streams=streams) as server,
                looking(browser, server.address) as page,
            ):
                card = page.locator("#playing > li")
                page.wait_for_function(THUMBNAIL_IS_LOADED)
                expect(card).to_contain_text("Rovers against Bandits")
                expect(card).to_contain_text("points 1")
                picture(page, "13-hall")
