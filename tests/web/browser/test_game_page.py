"""A game by two seats, each with a browser of its own, over the simulated table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tablecam.capture.reader import Reader
from tablecam.live.keeping import KeptGame, new_game_file
from tablecam.live.resuming import unfinished_game
from tablecam.live.table import LiveTable
from tablecam.record.game_file import GameFacts
from tablecam.referee.referee import Referee
from tablecam.rules.game import Asked
from tablecam.simulate.demo import demo_camera, embedded_demo
from tablecam.simulate.source import SimulatedSource
from tests.web.browser.conftest import PATIENCE_S, Demo
from web import Server, create_app
from web.seats import Seats

SIDES = ("prussian", "austrian")
FINGER_PX = 44
"""The least that a control of the game measures, for a thumb that does not look."""
STRIP_PX = 100
"""Two lines and a seat: what a phone has to spare above its table."""
LOOKS = 400
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
    """The demo as a network sees it, with a link for each seat; it can be closed and opened."""

    def __init__(self, folder: Path) -> None:
        self.table = embedded_demo()
        self.seats = Seats(SIDES, by_link=True)
        self.folder = folder
        self._port = 0
        self._closing = ExitStack()
        self.table.pause()

    def open(self) -> None:
        """Watch the table and serve it, and go on with a game that was begun."""
        camera = demo_camera()
        facts = GameFacts(self.table.roster.game, "", datetime.now(UTC))
        unfinished = unfinished_game(self.folder, "")
        record = KeptGame(partial(new_game_file, self.folder, facts), unfinished)
        source = Reader(
            lambda: SimulatedSource(self.table, camera), name="simulated", is_live=False
        )
        self.live = LiveTable(
            source, camera, self.table.roster, simulated=self.table, record=record
        )
        app = create_app(self.live, seats=self.seats)
        for each in (source, self.live, server := Server(app, port=self._port)):
            self._closing.enter_context(each)
        source.start()
        self._port, self.address = server.port, server.address

    def close(self) -> None:
        self._closing.close()

    @property
    def referee(self) -> Referee:
        assert self.live.referee is not None
        return self.live.referee

    def asked(self) -> Asked:
        with self.referee.held() as play:
            assert play is not None
            return play.asked()

    def settled(self) -> None:
        Demo(self.address, self.table, self.live).settled()

    def waits(self, is_so: Callable[[], bool]) -> None:
        """Wait until something is so, looking again after each frame of the table."""
        for _ in range(LOOKS):
            if is_so():
                return
            self.live.wait(self.live.snapshot().version, PATIENCE_S)
        raise AssertionError("it does not come to be so")


@dataclass
class Seat:
    """A side's browser, and everything that it was ever told."""

    hall: Hall
    side: str
    page: Page
    heard: list[str] = field(default_factory=list)

    def shows_the_newest(self) -> None:
        """Wait until the page shows the game as the referee has it."""
        version = self.hall.referee.version
        self.hall.waits(lambda: self.version() >= version)

    def received(self) -> str:
        """All that the page was ever told, by answers and by its stream."""
        answers: str = self.page.evaluate("window.answers.join('')")
        return "".join([self.page.content(), answers, *self.heard])

    def version(self) -> int:
        return int(self.page.locator("#game-strip").get_attribute("data-version") or -1)

    def taps(self, label: str) -> None:
        """Tap the button of an action, and see what it led to."""
        before = self.hall.referee.version
        self.page.locator(f'#game-actions button[aria-label="{label}"]').first.click()
        self.hall.waits(lambda: self.hall.referee.version > before)
        self.shows_the_newest()

    def clicks(self, selector: str) -> None:
        """Click what sends something, and see what it led to."""
        before = self.hall.referee.version
        self.page.locator(selector).first.click()
        self.hall.waits(lambda: self.hall.referee.version > before)
        self.shows_the_newest()

    def enters(self, *faces: int) -> None:
        """Enter real dice, one tap a die."""
        for face in faces:
            self.page.locator(f'#game-dice-keys [data-face="{face}"]').click()
        self.clicks("#game-dice-enter")


@dataclass(frozen=True)
class Table:
    """Two players at a table, a browser each."""

    hall: Hall
    prussian: Seat
    austrian: Seat

    def asked(self) -> Seat:
        """Whose page is asked; the dice are the active side's here."""
        side = self.hall.asked().seat
        return self.austrian if side == "austrian" else self.prussian

    def begin(self, *, active: str = "prussian", deck: str = "") -> None:
        """Begin a game from the page, on the table as it lies now."""
        self.hall.settled()
        page = self.prussian.page
        with self.hall.referee.held() as play:
            has_begun = play is not None
        if has_begun:  # the page offers to begin only once
            options = {"active": active} | ({"deck": deck} if deck else {})
            body = {"options": options}
            page.request.post(f"{self.hall.address}api/game/begin", data=body)
        else:
            page.locator(f'#begin-side [data-side="{active}"]').click()
            page.locator(f'#begin-deck [data-deck="{deck}"]').click()
            page.locator("#begin").click()
        self.hall.waits(lambda: self.hall.referee.position() is not None)
        for seat in (self.prussian, self.austrian):
            seat.shows_the_newest()

    def without_cards(self) -> None:
        """Nobody plays a card, for as long as that is what is asked."""
        while any(word in self.hall.asked().question for word in ("interrupt", "play a card")):
            seat = self.asked()
            seat.shows_the_newest()
            seat.taps("No card")

    def taps(self, *labels: str) -> None:
        """Whoever is asked taps, one label after the other, and nobody plays a card."""
        for label in labels:
            self.without_cards()
            seat = self.asked()
            seat.shows_the_newest()
            seat.taps(label)
        self.without_cards()

    def lay(self, unit: str, ghost: Any) -> None:
        """A hand puts a unit where a ghost lies."""
        x_mm = sum(base.x_mm for base in ghost) / len(ghost)
        y_mm = sum(base.y_mm for base in ghost) / len(ghost)
        self.hall.table.move_unit(unit, x_mm, y_mm, ghost[0].heading_deg)


def is_seen(hall: Hall, unit: str) -> bool:
    return any(each.unit == unit for each in hall.referee.suggested)


@pytest.fixture(scope="module")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:
    hall = Hall(tmp_path_factory.mktemp("games"))
    hall.open()
    yield hall
    hall.close()


@pytest.fixture(scope="module")
def players(hall: Hall, browser: Browser) -> Iterator[Table]:
    """Both players, who came in by their links; no script of the page may fail."""
    with ExitStack() as closing:
        seats = [closing.enter_context(seated(hall, browser, side)) for side in SIDES]
        yield Table(hall, *seats)


@contextmanager
def seated(hall: Hall, browser: Browser, name: str, **device: Any) -> Iterator[Seat]:
    """A seat's browser, and all that it receives."""
    context = browser.new_context(**({"viewport": {"width": 1300, "height": 900}} | device))
    context.set_default_timeout(1000 * PATIENCE_S)
    page = context.new_page()
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


@pytest.fixture
def fight(players: Table) -> Table:
    """A3 has come within reach of P3, and the game has just begun."""
    hall = players.hall
    hall.table.restart()
    hall.table.pause()
    hall.table.move_unit("A3", 640, 330, 270)
    players.begin()
    return players


def test_three_rounds_by_two_seats(fight: Table) -> None:
    prussian, austrian = fight.prussian, fight.austrian
    expect(prussian.page.locator("#turn-who")).to_have_text("your turn")
    expect(austrian.page.locator("#turn-who")).to_have_text("waiting for prussian")
    expect(austrian.page.locator("#game-actions button")).to_have_count(0)
    volley(fight)
    march(fight)
    charge(fight)
    rally(fight)


def volley(table: Table) -> None:
    """P3 hits A3 twice, and disrupts it once; both see the marker."""
    table.taps("Volleys", "From the left", "P3 at A3 (4)")
    table.prussian.enters(6, 6, 1, 1)
    table.taps("Done")
    table.prussian.enters(6, 1)
    for seat in (table.prussian, table.austrian):
        expect(seat.page.locator('[data-marker="A3 1"]')).to_have_count(1)
        expect(seat.page.locator("#game-log-body")).to_contain_text("hits A3")
    table.taps("Done")


def march(table: Table) -> None:
    """P1 is put too far, and is told where it might have gone; then as far as it may go."""
    table.taps("March", "P1: 1 card for 8 BW")
    page = table.prussian.page
    moved = page.locator('.moved[data-unit="P1"]')
    table.hall.table.move_unit("P1", 300, 395, 90)
    expect(moved).to_contain_text("✗ no")
    expect(moved).to_contain_text("60 mm too far")
    expect(moved.locator('[data-way="seen"]')).to_have_count(0)
    expect(page.locator(".placing.nearest .ghost-text")).to_have_text("P1: legal")
    table.hall.table.move_unit("P1", 300, 290, 90)
    expect(moved).to_contain_text("✓ yes")
    expect(page.locator(".placing.nearest")).to_have_count(0)
    table.prussian.clicks('.moved [data-way="seen"]')
    expect(page.locator("#game-log-body")).to_contain_text("P1 marches 2.50 BW")
    expect(page.locator("#game-log-body .undone")).to_have_count(0)


def charge(table: Table) -> None:
    """A3 charges P3: a hand lays it where the ghost lies; the dice of all engaged decide."""
    hall, austrian = table.hall, table.austrian
    table.taps("Done", "No volleys", "Charge", "A3: 1 card for 13 BW")
    offer = austrian.page.locator('#game-actions button[aria-label="A3 charges P3"]')
    offer.hover()
    expect(austrian.page.locator(".layer.game .role-lane")).not_to_have_count(0)
    austrian.taps("A3 charges P3")
    (ghost,) = hall.referee.to_place
    expect(austrian.page.locator(".placing.due .ghost-text")).to_have_text("A3 here")
    table.lay("A3", ghost.bases)
    expect(austrian.page.locator("#game-due")).to_contain_text("A3: ✓ placed")
    expect(table.prussian.page.locator(".placing.due")).to_have_count(0)
    table.without_cards()
    expect(austrian.page.locator("#game-dice-title")).to_contain_text("combat: P3, P4, A3")
    austrian.enters(1, 1, 6)
    expect(austrian.page.locator("#game-cast .die")).to_have_count(3)
    expect(austrian.page.locator("#game-log-body")).to_contain_text("P3: beaten by A3, 9 to 7")
    expect(table.prussian.page.locator('[data-marker="P3 2"]')).to_have_count(1)
    austrian.taps("A3")
    (ghost,) = hall.referee.to_place
    table.lay("A3", ghost.bases)
    expect(table.prussian.page.locator("#game-due")).to_contain_text("A3: ✓ placed")
    table.taps("Done")


def rally(table: Table) -> None:
    """A beaten unit rallies in the third round, by dice that tablecam rolls."""
    table.taps("No volleys", "Rally")
    page = table.prussian.page
    force = page.locator("#game-actions .group-activate button").first.get_attribute("aria-label")
    table.taps(force or "")
    unit = page.locator("#game-actions .group-rally button").first.get_attribute("aria-label")
    table.taps(unit or "")
    table.prussian.clicks("#game-dice-roll")
    expect(page.locator("#game-cast .die")).not_to_have_count(0)
    expect(page.locator("#game-log-body li").first).to_contain_text("M-9")


def test_what_was_done_is_taken_back_and_stays_in_the_log(fight: Table) -> None:
    page = fight.prussian.page
    fight.taps("No volleys")
    expect(page.locator("#turn-question")).to_have_text("What does prussian do in this round?")
    page.keyboard.press("Backspace")
    expect(page.locator("#turn-question")).to_have_text("Does prussian invoke the volley phase?")


def test_players_overrule_what_they_agree_on(fight: Table) -> None:
    page = fight.prussian.page
    page.locator('.units [data-thing="unit:P5"]').focus()
    page.keyboard.press("Enter")
    page.locator("#game-overrule summary").click()
    page.locator("#overrule-why").fill("<b>forgotten</b>")
    page.get_by_role("group", name="P5: disruption").get_by_role("button", name="2").click()
    for seat in (fight.prussian, fight.austrian):
        expect(seat.page.locator('[data-marker="P5 2"]')).to_have_count(1)
        line = seat.page.locator("#game-log-body li.overrule")
        expect(line).to_contain_text("P5 at 2 disruption (<b>forgotten</b>)")
    expect(page.locator("#game-marked")).to_have_text("P5: 2 disruptions")
    page.locator("#game-overrule summary").click()
    page.keyboard.press("Escape")


def test_a_reload_in_the_middle_of_a_decision_changes_nothing(fight: Table) -> None:
    fight.taps("Volleys", "From the left")
    seat = fight.prussian
    buttons = seat.page.locator("#game-actions button")
    before = buttons.evaluate_all("all => all.map((each) => each.ariaLabel)")
    seat.page.reload()
    expect(seat.page.locator("#turn-question")).to_contain_text("fires next, and at whom?")
    expect(buttons).to_have_count(len(before))
    assert buttons.evaluate_all("all => all.map((each) => each.ariaLabel)") == before
    fight.taps("P3 at A3 (4)")


def test_two_taps_at_once_are_one(fight: Table) -> None:
    seat = fight.prussian
    sent: list[str] = []
    seat.page.on("request", lambda request: sent.append(request.method + request.url[-4:]))
    seat.page.locator("#game-actions button").first.evaluate(
        "each => { each.click(); each.click() }"
    )
    expect(seat.page.locator("#turn-question")).not_to_contain_text("volley phase")
    assert sent.count("POST/act") == 1


def test_who_taps_too_late_is_told_that_the_game_had_gone_on(fight: Table) -> None:
    late = fight.austrian
    fight.taps("Volleys", "From the left", "P3 at A3 (4)")
    late.shows_the_newest()
    old = late.page.request.get(f"{fight.hall.address}api/game").json()
    late.page.route("**/api/game", lambda route: route.fulfill(json=old))
    fight.prussian.clicks("#game-dice-roll")
    late.page.locator("#game-dice-roll").click()
    expect(late.page.locator("#game-said")).to_have_text("The game had gone on: look again.")
    late.page.unroute_all()
    fight.taps("Done")
    late.shows_the_newest()
    expect(late.page.locator("#game-dice")).to_be_visible()


def test_a_hand_that_is_dealt_is_seen_by_its_owner_alone(fight: Table) -> None:
    fight.begin(deck="house")
    while fight.hall.asked().seat is None:
        fight.prussian.shows_the_newest()
        fight.prussian.clicks('#game-actions button[aria-label^="Draw"]')
    fight.taps("No volleys")
    for seat in (fight.prussian, fight.austrian):
        seat.shows_the_newest()
        expect(seat.page.locator("#game-hand li")).to_have_count(6)
    prussian, austrian = fight.prussian.received(), fight.austrian.received()
    for card in hand(fight.hall, "prussian"):
        assert card in prussian
        assert card not in austrian
    for card in hand(fight.hall, "austrian"):
        assert card in austrian
        assert card not in prussian


def hand(hall: Hall, side: str) -> list[str]:
    """The cards that a side holds, each as JSON names it."""
    with hall.referee.held() as play:
        assert play is not None
        return [f'"{card}"' for card in play.state.side(side).cards]


def test_a_stranger_is_told_in_words_to_ask_for_a_link(hall: Hall, browser: Browser) -> None:
    with browser.new_context() as context:
        page = context.new_page()
        answer = page.goto(hall.address)
        assert answer is not None
        assert answer.status == 403
        expect(page.locator("body")).to_contain_text("ask for yours")
        assert page.request.get(f"{hall.address}api/game").status == 403


def test_the_shared_screen_shows_the_links_and_who_looks_on_has_no_buttons(
    fight: Table, browser: Browser
) -> None:
    hall = fight.hall
    with seated(hall, browser, "shared") as shared:
        page = shared.page
        shared.shows_the_newest()
        page.locator("#seat-open").click()
        page.locator("#seats-body summary").first.click()
        code = page.locator("#seats-body img").first
        hall.waits(lambda: code.evaluate("image => image.complete && image.naturalWidth") > 0)
        link = page.locator("#seats-body input").first.input_value()
        assert link.endswith(hall.seats.path("prussian"))
    with seated(hall, browser, "spectator") as spectator:
        spectator.shows_the_newest()
        expect(spectator.page.locator("#turn-question")).to_contain_text("volley phase")
        expect(spectator.page.locator("#game button:visible")).to_have_count(0)


def test_a_phone_has_all_that_is_asked_within_reach(fight: Table, browser: Browser) -> None:
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    fight.taps("Volleys", "From the left", "P3 at A3 (4)")
    with seated(fight.hall, browser, "prussian", **phone) as seat:
        seat.shows_the_newest()
        keys = seat.page.locator("#game-dice-keys button, #game-dice .row button")
        expect(keys).to_have_count(9)
        for key in keys.all():
            expect(key).to_be_in_viewport()
            box = key.bounding_box()
            assert box is not None
            assert min(box["width"], box["height"]) >= FINGER_PX
        strip = seat.page.locator("#game-strip").bounding_box()
        assert strip is not None
        assert strip["height"] <= STRIP_PX
        assert seat.page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_game_goes_on_after_the_server_was_away(fight: Table) -> None:
    hall, page = fight.hall, fight.prussian.page
    fight.taps("Volleys", "From the left")
    hall.close()
    expect(page.locator("#lost")).to_be_visible()
    hall.open()
    for seat in (fight.prussian, fight.austrian):
        expect(seat.page.locator("#lost")).to_be_hidden()
        seat.shows_the_newest()
        expect(seat.page.locator("#turn-question")).to_contain_text("fires next, and at whom?")
        expect(seat.page.locator("#game-log-body")).to_contain_text("invokes the volley phase")
    hall.settled()
    fight.taps("P3 at A3 (4)")
    expect(page.locator("#game-dice")).to_be_visible()


def test_an_intent_is_said_before_the_move_and_checked_after_it(fight: Table) -> None:
    page = fight.prussian.page
    for unit in ("P1", "A1"):
        page.locator(f'.units [data-thing="unit:{unit}"]').focus()
        page.keyboard.press("Enter")
    page.locator("#intent-part summary").click()
    page.get_by_role("button", name="just outside 8 BW").click()
    for seat in (fight.prussian, fight.austrian):
        intent = seat.page.locator("#game-intents li")
        expect(intent).to_contain_text("P1 just outside 8 BW of A1")
        expect(intent.locator("b")).to_have_text("✓ yes")
    page.keyboard.press("Escape")


def test_a_unit_moved_out_of_turn_is_said_and_may_be_accepted(fight: Table) -> None:
    page = fight.austrian.page
    fight.hall.table.move_unit("A6", 230, 700, 0)
    moved = page.locator('.moved[data-unit="A6"]')
    expect(moved).to_contain_text("✗ no")
    moved.locator('[data-way="accept-open"]').click()
    moved.locator("input").fill("it slipped")
    fight.austrian.clicks('.moved [data-way="accept"]')
    expect(moved).to_have_count(0)
    line = fight.prussian.page.locator("#game-log-body li.overrule")
    expect(line).to_contain_text("A6 as laid (it slipped)")
