"""A game on the simulated table: real frames, real vision, real rules, hands that move units."""

import time

import pytest

from tablecam.referee.seats import SHARED
from tablecam.referee.shown import shown
from tests.live.test_table import PATIENCE_S, after_one_frame, watched


@pytest.fixture(scope="module")
def scene():
    with watched(is_live=True) as (table, tap, live):
        table.pause()
        after_one_frame(tap, live)
        live.referee.begin(live.snapshot().position, {"active": "prussian"}, SHARED)
        yield table, tap, live


def tap_on(live, group, label=""):
    """Tap the first button of a group that says so."""
    actions = shown(live.referee, SHARED)["actions"]
    chosen = next(each for each in actions if each["group"] == group and label in each["label"])
    live.referee.act(SHARED, chosen["action"])


def until_shown(live, tap, holds):
    """Frames as a camera takes them, until a page is shown what is expected."""
    end_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < end_s:
        after_one_frame(tap, live)
        now = shown(live.referee, SHARED)
        if holds(now):
            return now
    raise AssertionError(f"never shown: {now['moved']} {now['to_place']}")


def moved_ahead(table, name, length_mm):
    unit = table.truth().unit(name)
    middle = [
        sum(getattr(b, key) for b in unit.bases) / len(unit.bases) for key in ("x_mm", "y_mm")
    ]
    heading_deg = unit.bases[0].heading_deg
    ahead = {0: (1, 0), 90: (0, 1), 180: (-1, 0), 270: (0, -1)}[round(heading_deg) % 360]
    x_mm, y_mm = (m + length_mm * a for m, a in zip(middle, ahead, strict=True))
    table.move_unit(name, x_mm, y_mm, heading_deg)


def test_a_march_by_hand_is_seen_suggested_and_confirmed(scene):
    table, tap, live = scene
    tap_on(live, "volleys", "No")
    tap_on(live, "command", "March")
    while not (now := shown(live.referee, SHARED))["actions"][0]["label"].startswith("P"):
        tap_on(live, now["actions"][-1]["group"], now["actions"][-1]["label"])
    tap_on(live, "activate", "P1")
    while not shown(live.referee, SHARED)["question"].startswith("prussian marches"):
        tap_on(live, "card", "No card")
    moved_ahead(table, "P1", 60.0)
    now = until_shown(live, tap, lambda now: now["moved"])
    (found,) = now["moved"]
    assert found["unit"] == "P1"
    assert found["is_legal"], found
    live.referee.confirm(SHARED, "P1")
    told = [event["text"] for event in shown(live.referee, SHARED)["log"]]
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
    assert [each["text"] for each in now["to_place"]] == ["A6 is broken: take it off the table"]
    table.take_off("A6")
    until_shown(live, tap, lambda now: not now["to_place"] and not now["moved"])
    assert live.snapshot().position.unit("A6") is None


def test_a_broken_unit_that_lies_there_again_is_asked_off_once_more(scene):
    table, tap, live = scene
    table.put_back("A6")
    now = until_shown(live, tap, lambda now: now["moved"])
    assert "A6 has left the game and lies on the table yet" in now["moved"][0]["text"]
    table.take_off("A6")
    until_shown(live, tap, lambda now: not now["moved"])
