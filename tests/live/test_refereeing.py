"""A game on the simulated table: real frames, real vision, real rules, hands that move units."""

import pytest

from tablecam.referee.seat_view import seat_view
from tablecam.referee.seats import SHARED
from tests.live.tapped import (
    after_one_frame,
    march_declared,
    moved_ahead,
    until_shown,
    watched,
)


@pytest.fixture(scope="module")
def scene():
    with watched() as (table, tap, live):
        table.pause()
        after_one_frame(tap, live)
        live.referee.begin(live.snapshot().position, {"active": "prussian"}, SHARED)
        yield table, tap, live


def test_a_march_by_hand_is_seen_suggested_and_confirmed(scene):
    table, tap, live = scene
    march_declared(live, "P1")
    moved_ahead(table, "P1", 60.0)
    now = until_shown(live, tap, lambda now: now["moved"])
    (suggestion,) = now["moved"]
    assert suggestion["unit"] == "P1"
    assert suggestion["is_legal"], suggestion
    live.referee.confirm(SHARED, "P1")
    told = [event["text"] for event in seat_view(live.referee, SHARED)["log"]]
    assert any("P1 marches 2.0" in text for text in told), told


def test_a_unit_that_is_knocked_is_told_and_forgotten_when_it_lies_right_again(scene):
    table, tap, live = scene
    moved_ahead(table, "A1", -20.0)
    now = until_shown(live, tap, lambda now: now["moved"])
    assert (now["moved"][0]["unit"], now["moved"][0]["is_legal"]) == ("A1", False)
    moved_ahead(table, "A1", 20.0)
    until_shown(live, tap, lambda now: not now["moved"])


def test_the_rulings_of_the_page_know_the_games_disruption(scene):
    _, _, live = scene
    live.referee.act(SHARED, {"type": "overrule", "disruption": {"P2": 4}})
    assert live.snapshot().position.unit("P2").state["disruption"] == 4
    charge = next(
        section
        for section in live.unit_sheet("P2", "prussian")["sections"]
        if section["key"] == "charge"
    )
    assert "disruptions may not charge" in charge["lines"][0]["text"]


def test_a_broken_unit_is_asked_off_the_table_and_the_referee_sees_it_gone(scene):
    table, tap, live = scene
    live.referee.act(SHARED, {"type": "overrule", "off": ["A6"]})
    now = until_shown(live, tap, lambda now: now["to_place"])
    assert [each["text"] for each in now["to_place"]] == [
        "A6 is out of play: take it off the table"
    ]
    table.take_off("A6")
    until_shown(live, tap, lambda now: not now["to_place"] and not now["moved"])
    assert live.snapshot().position.unit("A6") is None


def test_a_broken_unit_that_lies_there_again_is_asked_off_once_more(scene):
    table, tap, live = scene
    table.put_back("A6")
    now = until_shown(live, tap, lambda now: now["moved"])
    assert "A6 has left the game but is still on the table" in now["moved"][0]["text"]
    table.take_off("A6")
    until_shown(live, tap, lambda now: not now["moved"])
