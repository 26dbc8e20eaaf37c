"""A game on a still table, with a browser: what the page does by itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Browser, Page

from tablecam.referee.referee import Referee
from tablecam.referee.seats import SHARED
from tablecam.table.model import Position
from tests.web.browser.demos import patient
from tests.web.of_four import ROSTER_OF_FOUR
from tests.web.standing import StandingControls, StandingTable
from web import Server, create_app


@dataclass(frozen=True)
class StandingGame:
    """A game of the french, who begin, against the british, on one shared screen."""

    live: StandingTable
    page: Page

    @property
    def referee(self) -> Referee:
        assert self.live.referee is not None
        return self.live.referee

    def begin(self, position: Position) -> None:
        """Begin a game on a table that the page shows as it lies."""
        self.live.show(position=position)
        self.referee.begin(position, {"active": "french"}, SHARED)
        self.referee.table_at_rest(position)

    def goes_on(self, *labels: str) -> None:
        """Take the offers with these labels, bypassing the page; nobody plays a card."""
        for label in labels:
            while not (offered := [action for action in self._offers() if is_under(label, action)]):
                self._act(self._offers()["No card"])
            self._act(self._offers()[offered[0]])

    def marches(self, unit: str) -> None:
        """Activate a unit to march; nobody plays a card."""
        self.goes_on("March")
        self.goes_on(next(label for label in self._offers() if label.startswith(f"{unit}:")))
        self.referee.pass_all(SHARED)

    def _offers(self) -> dict[str, Any]:
        with self.referee.locked() as play:
            assert play is not None
            game, state = play.game, play.state
            return {game.offered(state, action).label: action for action in play.legal()}

    def _act(self, action: Any) -> None:
        self.referee.act(SHARED, self.referee.game.action_to_json(action), self.referee.version)

    def offers(self, label: str) -> Any:
        """The button of an action."""
        return self.page.locator(f'#game-actions button[aria-label="{label}"]')


def is_under(label: str, offered: str) -> bool:
    """Whether an offer has this label, before any brackets."""
    return offered == label or offered.startswith(f"{label} (")


@contextmanager
def standing_game(
    browser: Browser,
    position: Position,
    *,
    simulated: StandingControls | None = None,
    **device: Any,
) -> Iterator[StandingGame]:
    """A browser on a still table; no script of the page may fail."""
    live = StandingTable(roster=ROSTER_OF_FOUR, position=position, simulated=simulated)
    context = browser.new_context(**({"viewport": {"width": 1400, "height": 900}} | device))
    with Server(create_app(live), port=0) as server, context:
        page = patient(context).new_page()
        mistakes: list[Any] = []
        page.on("pageerror", lambda mistake: mistakes.append(mistake))
        page.route("**/api/measure*", lambda route: route.abort())  # it replaces lengths
        page.goto(server.address)
        yield StandingGame(live, page)
    assert not mistakes, mistakes
