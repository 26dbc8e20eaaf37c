"""Games on the page: a hall that serves the demo, and seats with a browser each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, Response, expect

from tablecam.record.game_file import GameFacts
from tablecam.recorder.game_recorder import GameRecorder, new_game_file
from tablecam.recorder.resuming import unfinished_game
from tablecam.referee.referee import Referee
from tablecam.referee.seats import SHARED
from tablecam.rules.game import PendingDecision
from tablecam.simulate.demo import embedded_demo
from tablecam.simulate.table import SimulatedTable
from tests.ports import kept_port
from tests.web.browser.demos import Demo, demo_watched, patient, wait_until
from web import Server, create_app
from web.seats import Seats

SIDES = ("prussian", "austrian")
KEEP_ANSWERS = """
    window.answers = [];
    const ask = window.fetch;
    window.fetch = async (...of) => {
      const answer = await ask(...of);
      answer.clone().text().then((text) => window.answers.push(text));
      return answer;
    };
"""


class Hall:
    """A simulated table served on a network, by default the demo's.

    It has a link for each seat; it can be closed and opened.
    """

    def __init__(self, folder: Path, table: SimulatedTable | None = None) -> None:
        self.table = table or embedded_demo()
        self.seats = Seats(self.table.roster.sides, by_link=True)
        self.folder = folder
        self._keeping, self._closing = ExitStack(), ExitStack()
        self._port = self._keeping.enter_context(kept_port())
        self.table.pause()

    def open(self) -> None:
        """Watch the table and serve it, and resume an unfinished game."""
        facts = GameFacts(self.table.roster.game, "", datetime.now(UTC))
        unfinished = unfinished_game(self.folder, "")
        record = GameRecorder(partial(new_game_file, self.folder, facts), unfinished)
        source, self.live = demo_watched(self.table, record)
        app = create_app(self.live, seats=self.seats, recording=record.journal)
        for each in (source, self.live, server := Server(app, port=self._port)):
            self._closing.enter_context(each)
        source.start()
        self.address = server.address

    def close(self) -> None:
        """Stop watching and serving; it may be reopened at the same address."""
        self._closing.close()

    def end(self) -> None:
        """Close it for good."""
        self.close()
        self._keeping.close()

    @property
    def referee(self) -> Referee:
        assert self.live.referee is not None
        return self.live.referee

    def asked(self) -> PendingDecision:
        with self.referee.locked() as play:
            assert play is not None
            return play.asked()

    def settled(self) -> None:
        Demo(self.address, self.table, self.live).settled()

    def waits(self, is_so: Callable[[], bool]) -> None:
        """Wait until something is so, looking again after each frame of the table."""
        wait_until(self.live, is_so)


def is_of_a_deed(answer: Response) -> bool:
    """Whether a response is the result of a player's action."""
    return answer.request.method == "POST" and "/api/game/" in answer.url


@dataclass
class Seat:
    """A side's browser, and everything that it received."""

    hall: Hall
    side: str
    page: Page
    heard: list[str] = field(default_factory=list)

    def shows_the_newest(self) -> None:
        """Wait until the page shows the game as the referee has it."""
        version = self.hall.referee.version
        self.hall.waits(lambda: self.version() >= version)

    def received(self) -> str:
        """Everything that the page received, by responses and by its stream."""
        answers: str = self.page.evaluate("window.answers.join('')")
        return "".join([self.page.content(), answers, *self.heard])

    def version(self) -> int:
        return int(self.page.locator("#game-strip").get_attribute("data-version") or -1)

    def taps(self, label: str) -> None:
        """Tap the button of an action, by its label before any brackets; await the result."""
        if self.page.locator("#tab-game").is_visible():
            self.page.locator("#tab-game").click()
        button = "#game-actions button[aria-label"
        self.clicks(f'{button}="{label}"], {button}^="{label} ("]')

    def begins_scenario(self) -> None:
        """Begin a game with its own places, and wait until the demo's hands have laid the table."""
        self.hall.settled()
        with self.page.expect_response("**/api/simulated/lay") as answer:
            self.page.locator("#begin").click()
        assert answer.value.ok, answer.value.text()
        self.shows_the_newest()

    def opens_log(self) -> None:
        """Open the log's tab, which a page leaves when its turn comes."""
        self.shows_the_newest()
        self.page.locator("#tab-log").click()
        expect(self.page.locator("#game-log")).to_be_visible()  # keys do not reach hidden elements

    def clicks(self, selector: str) -> None:
        """Click something that sends a request, and wait for the result."""
        with self.page.expect_response(is_of_a_deed) as answer:
            self.page.locator(selector).first.click()
        assert answer.value.ok, answer.value.text()
        self.shows_the_newest()

    def enters(self, *faces: int) -> None:
        """Enter real dice by digits, as a list that has just changed ignores taps."""
        expect(self.page.locator("#game-dice-keys button").first).to_be_enabled()
        for face in faces:
            self.page.keyboard.press(str(face))
        self.clicks("#game-dice-enter")


@dataclass(frozen=True)
class Table:
    """Two players at a table, a browser each."""

    hall: Hall
    prussian: Seat
    austrian: Seat

    def asked(self) -> Seat:
        """The seat that is asked; dice belong to the active side here."""
        side = self.hall.asked().seat
        return self.austrian if side == "austrian" else self.prussian

    def begin(self, *, active: str = "prussian", deck: str = "") -> None:
        """Begin a game from the page, on the table as it lies now."""
        self.hall.settled()
        page = self.prussian.page
        with self.hall.referee.locked() as play:
            has_begun = play is not None
        if has_begun:  # the page offers to begin only once
            options = {"active": active} | ({"deck": deck} if deck else {})
            position = self.hall.live.snapshot().position
            self.hall.referee.begin(position, options, SHARED)  # one side alone only proposes it
        else:
            page.locator("#begin-change > summary").click()
            page.locator("#begin-active button", has_text=active.capitalize()).click()
            page.locator("#begin-deck button").nth(int(bool(deck))).click()
            page.locator("#begin").click()
        self.hall.waits(lambda: self.hall.referee.position() is not None)
        for seat in (self.prussian, self.austrian):
            seat.shows_the_newest()

    def without_cards(self) -> None:
        """Nobody plays a card, as long as cards are asked for."""
        while any(word in self.hall.asked().question for word in ("interrupt", "play a card")):
            seat = self.asked()
            seat.shows_the_newest()
            seat.taps("No card")

    def taps(self, *labels: str) -> None:
        """The seat asked taps one label after the other, and nobody plays a card."""
        for label in labels:
            self.without_cards()
            seat = self.asked()
            seat.shows_the_newest()
            seat.taps(label)
        self.without_cards()

    def lay(self, unit: str, ghost: Any) -> None:
        """A hand puts a unit on its ghost."""
        x_mm = sum(base.x_mm for base in ghost) / len(ghost)
        y_mm = sum(base.y_mm for base in ghost) / len(ghost)
        self.hall.table.move_unit(unit, x_mm, y_mm, ghost[0].heading_deg)


@contextmanager
def seated(hall: Hall, browser: Browser, name: str, **device: Any) -> Iterator[Seat]:
    """A seat's browser, with everything that it receives."""
    context = browser.new_context(**({"viewport": {"width": 1300, "height": 900}} | device))
    page = patient(context).new_page()
    seat = Seat(hall, name, page)
    mistakes: list[Any] = []
    page.on("pageerror", lambda mistake: mistakes.append(mistake))
    page.add_init_script(KEEP_ANSWERS)
    stream = context.new_cdp_session(page)
    stream.send("Network.enable")
    stream.on("Network.eventSourceMessageReceived", lambda sent: seat.heard.append(sent["data"]))
    page.goto(hall.address.rstrip("/") + hall.seats.path(name))
    yield seat
    context.close()
    assert mistakes == []
