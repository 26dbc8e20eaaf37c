"""A hall's page in a browser: its tables are distinct, and what they wrote is only text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest
from playwright.sync_api import Browser, Page, expect

from tablecam.hall.server import Hall
from tablecam.hall.watch import HallWatch
from tablecam.record.entries import NewEntry
from tablecam.record.game_file import GameFile
from tests.record.games import FACTS, catch_up
from tests.record.postgres import Postgres, hall_on
from tests.replay.small import deed, position
from tests.web.browser.demos import patient
from web.hall import create_hall
from web.server import Server

NAMES = ("Table 3, by the window", "", "<img src=x onerror=alert(1)> Größer " + "三國志" * 60)


def played(hall: Hall, folder: Path, name: str) -> str:
    """Creates a game now played at a table of this name; returns its id."""
    facts = replace(FACTS, id=uuid4().hex)
    begun = NewEntry("position", {"whole": position()})
    game = GameFile.create(folder / f"{facts.id}.tablecam", facts, [begun, deed("F1 hits B1.")])
    catch_up(game, hall)
    if name:
        hall.set_table_name(game.id, name)
    hall.report_presence(game.id)
    return game.id


@pytest.fixture
def address(postgres: Postgres, tmp_path: Path) -> Iterator[str]:
    with hall_on(postgres) as hall:
        for name in NAMES:
            played(hall, tmp_path, name)
        with HallWatch(hall) as watch:
            app, streams = create_hall(watch)
            with Server(app, port=0, streams=streams) as server:
                yield server.address


@pytest.fixture(params=[1400, 390])
def page(browser: Browser, address: str, request: pytest.FixtureRequest) -> Iterator[Page]:
    mistakes: list[object] = []
    context = browser.new_context(viewport={"width": request.param, "height": 900})
    page = patient(context).new_page()
    page.on("pageerror", lambda mistake: mistakes.append(mistake))
    page.on("dialog", lambda dialog: mistakes.append(dialog.message))
    page.goto(address)
    expect(page.locator("#playing > li")).to_have_count(len(NAMES))
    yield page
    context.close()
    assert mistakes == []


def test_tables_are_told_apart_by_name_or_by_who_plays(page: Page) -> None:
    titles = {words.strip() for words in page.locator("#playing h2").all_text_contents()}
    assert titles == {NAMES[0], "French against British", NAMES[2]}
    card = page.locator("#playing > li", has_text=NAMES[0])
    expect(card.locator(".when")).to_contain_text("Round 3")
    expect(card.locator(".side").first).to_contain_text("French")
    expect(card.locator(".side").first).to_contain_text("morale 9")
    expect(card.locator(".words")).to_have_text("F1 hits B1.")
    expect(card.locator(".about")).to_contain_text("Maurice Lite · since")


def test_no_name_is_markup_or_wider_than_the_page(page: Page) -> None:
    assert page.locator("#playing h2 *").count() == 0
    width_px, window_px = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert width_px <= window_px
