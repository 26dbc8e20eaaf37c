"""A thief at the table: no answer to him depends on a hand concealed from him."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from random import Random
from typing import Any

from tablecam.referee.referee import Referee
from tablecam.rules.game import Json
from tablecam.rules.games import game_of
from tablecam.rules.play import Play
from tests.referee.tables import table
from tests.web.of_four import ROSTER_OF_FOUR, SIDES, seated
from tests.web.standing import StandingTable
from web import create_app
from web.seats import Seats

REQUESTS = 5000
OWN, OTHERS = ("runner-1", "rider-1"), ("first-fire-1", "muddy-lanes-1")


def dealt(french: tuple[str, ...]) -> Json:
    """A game in which the french hold these and four other cards, the british always the same."""
    play = Play(game_of("maurice-lite"), table(), {"active": "french", "deck": "house"})
    free = [card for card in play.state.deck.cards if card not in {*OWN, *OTHERS}]
    hands = {"french": (*french, *free[:4]), "british": free[4:10]}
    while play.asked().seat is None:
        side = play.legal()[0].side
        cards = list(hands[side])
        play.take({"type": "draw", "side": side, "count": len(cards), "cards": cards})
    return play.to_json()


class Watched:
    """A game with a hand of the french, a thief and a spectator; calls are a minute apart."""

    def __init__(self, french: tuple[str, ...]) -> None:
        live = StandingTable(roster=ROSTER_OF_FOUR, position=table())
        minutes = itertools.count(step=60.0)
        self.referee = Referee(game_of("maurice-lite"), now_s=lambda: next(minutes))
        self.referee.resume(dealt(french))
        live.referee = self.referee
        seats = Seats(SIDES, by_link=True)
        app = create_app(live, {"TESTING": True}, seats=seats)
        self.clients = {name: seated(app, seats, name) for name in ("british", "spectator")}

    def answers(self, seat: str, path: str, body: Json | None) -> tuple[int, str]:
        client = self.clients[seat]
        answer = client.get(path) if body is None else client.post(path, json=body)
        return answer.status_code, answer.text.replace(self.referee.run, "RUN")


def requests(chance: Random) -> Iterator[tuple[str, str, Json | None]]:
    """A thief's attempts: he names cards in all ways, lays units upon others, corrects, begins."""
    state = Play.from_json(game_of("maurice-lite"), dealt(OWN)).state
    cards = [*(card.id for card in state.options.cards), "reshuffle", "no-such-card"]
    upon = [
        {"x_mm": base.x_mm, "y_mm": base.y_mm, "heading_deg": 90, "width_mm": 40, "depth_mm": 40}
        for base in table().unit("F2").bases
    ]

    def some(most: int) -> list[str]:
        return [chance.choice(cards) for _ in range(chance.randint(1, most))]

    def overrule() -> Json:
        told: dict[str, Any] = {
            "aside": some(3),
            "deck": chance.randint(0, 52),
            "stage": chance.choice(["first", "second", "last"]),
            "hands": {chance.choice(SIDES): chance.randint(0, 50)},
            "units": {"F1": upon},
            "smoke": {"F1": chance.random() < 0.5},
            "off": ["F9"],
        }
        keys = chance.sample(sorted(told), chance.randint(1, 4))
        return {"type": "overrule"} | {key: told[key] for key in keys}

    def act(action: Json) -> tuple[str, Json]:
        return "/api/game/act", {"action": action}

    ways = (
        lambda: act(overrule()),
        lambda: act(overrule() | {"aside": some(3), "units": {"F1": upon}}),
        lambda: act({"type": "draw", "side": chance.choice(SIDES), "count": 6, "cards": some(6)}),
        lambda: act({"type": "discard", "side": "french", "count": 1, "cards": some(1)}),
        lambda: act({"type": "interrupt", "effect": "first-fire", "card": chance.choice(cards)}),
        lambda: act({"type": "declare", "command": "event", "card": chance.choice(cards)}),
        lambda: act({"type": "activate", "force": ["F1"], "cards": some(3)}),
        lambda: ("/api/game/correct", {"deed": chance.randint(0, 3), "action": overrule()}),
        lambda: ("/api/game/begin", {"options": {"active": "french", "deck": "house"}}),
        lambda: (f"/api/game/others/{chance.randint(0, 3)}", None),
        lambda: ("/api/game/undo", {"steps": chance.randint(1, 3)}),
        lambda: ("/api/game/undo", {"deed": chance.randint(0, 3)}),
        lambda: ("/api/game/redo", {}),
        lambda: ("/api/game/agree", {"proposal": chance.randint(1, 3)}),
        lambda: ("/api/game", None),
    )
    while True:
        path, body = chance.choice(ways)()
        yield chance.choice(("british", "british", "spectator")), path, body


def test_a_thief_learns_nothing_of_a_concealed_hand_by_5000_requests() -> None:
    one, other = Watched(OWN), Watched(OTHERS)
    codes = set()
    for seat, path, body in itertools.islice(requests(Random(13)), REQUESTS):
        answer = one.answers(seat, path, body)
        assert answer == other.answers(seat, path, body), (seat, path, body)
        codes.add(answer[0])
    assert codes == {200, 400, 403, 409}
