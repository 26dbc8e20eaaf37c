"""The log of a game as pages receive it: once whole, and then its new lines."""

from random import Random

import pytest

from tests.referee.tables import table
from tests.web.of_four import ROSTER_OF_FOUR, begin, seated
from tests.web.standing import StandingTable
from web import create_app

SKIPPED = "Volley phase: nobody is within 4 BW of an enemy"
SMALL_BYTES = 7_000
"""A game with four units takes 5 kB without its log; a line of the log 300 bytes."""


@pytest.fixture
def live():
    return StandingTable(roster=ROSTER_OF_FOUR, position=table())


@pytest.fixture
def app(live, seats):
    return create_app(live, {"TESTING": True}, seats=seats)


class Page:
    """A client that receives the log bit by bit, and assembles it as pages do."""

    def __init__(self, client):
        self.client = client
        self.take(client.get("/api/game"))

    def take(self, answer):
        told = answer.json
        fresh = {line["deed"] for line in told["log"]}
        old = [] if told["log_is_whole"] else self.log
        kept = [line for line in old if line["deed"] not in fresh]
        self.log = sorted(kept + told["log"], key=lambda line: line["deed"])
        self.mark = told["log_mark"]
        self.told = told
        return answer

    def look(self):
        return self.take(self.client.get("/api/game", query_string={"after": self.mark}))

    def post(self, deed, **body):
        return self.client.post(f"/api/game/{deed}", query_string={"after": self.mark}, json=body)


def smoke(page, unit, is_smoking):
    return page.post("act", action={"type": "overrule", "smoke": {unit: is_smoking}})


def test_the_log_is_told_once_and_then_what_is_new(french):
    begin(french)
    page = Page(french)
    assert page.told["log_is_whole"]
    for unit in ("F1", "F2", "B1"):
        told = page.take(smoke(page, unit, is_smoking=True)).json
        assert len(told["log"]) == 1
        assert not told["log_is_whole"]
    assert page.look().json["log"] == []
    assert page.log == french.get("/api/game").json["log"]


def test_an_answer_in_a_long_game_stays_small(french):
    begin(french)
    page = Page(french)
    for number in range(300):
        page.take(smoke(page, "F1", is_smoking=number % 2 == 0))
    whole = french.get("/api/game")
    assert len(whole.json["log"]) == 1 + 300  # before them, the line that nobody can fire
    assert len(page.look().data) < SMALL_BYTES < len(whole.data) / 10
    assert len(smoke(page, "F2", is_smoking=True).data) < SMALL_BYTES


def test_what_is_taken_back_and_done_again_is_told_of_the_lines_that_it_concerns(french):
    begin(french)
    page = Page(french)
    for unit in ("F1", "F2", "B1"):
        page.take(smoke(page, unit, is_smoking=True))
    undone = page.take(page.post("undo", steps=2)).json["log"]
    assert [(line["deed"], line["undone"]) for line in undone] == [(2, True), (3, True)]
    again = page.take(page.post("redo")).json["log"]
    assert [(line["deed"], line["undone"]) for line in again] == [(4, False)]
    assert page.log == french.get("/api/game").json["log"]


@pytest.mark.parametrize("seed", range(5))
def test_pages_that_look_now_and_then_have_the_log_that_a_reload_has(app, seats, seed):
    french = seated(app, seats, "french")
    begin(french)
    pages = [Page(seated(app, seats, name)) for name in ("french", "british", "spectator")]
    chance = Random(seed)
    for _ in range(40):
        deed = chance.choice(("act", "act", "act", "undo", "redo"))
        if deed == "act":
            smoke(pages[0], chance.choice(("F1", "F2", "B1")), is_smoking=chance.random() < 0.5)
        else:
            pages[0].post(deed, **({"steps": chance.randint(1, 3)} if deed == "undo" else {}))
        for page in pages:
            if chance.random() < 0.4:
                page.look()
    for page in pages:
        page.look()
        assert page.log == page.client.get("/api/game").json["log"]


def test_another_seat_and_another_game_are_told_the_whole_log(app, seats, french):
    begin(french)
    page = Page(french)
    page.take(smoke(page, "F1", is_smoking=True))
    british = seated(app, seats, "british")
    told = british.get("/api/game", query_string={"after": page.mark}).json
    assert told["log_is_whole"]
    assert len(told["log"]) == 2
    begin(french)
    proposed = british.get("/api/game").json["proposed"]
    british.post("/api/game/agree", json={"proposal": proposed["number"]})
    assert page.look().json["log_is_whole"]
    assert [line["text"] for line in page.log] == [SKIPPED]


@pytest.mark.parametrize("mark", ["nonsense", "1", "....", "-1", "\u0661"])
def test_a_mark_that_is_none_has_the_whole_log_told(french, mark):
    begin(french)
    assert french.get("/api/game", query_string={"after": mark}).json["log_is_whole"]
