"""The live table of players who declare before they measure: it tells nobody more than that."""

import pytest

from tablecam.referee.refusals import NotDeclared
from tablecam.referee.seats import SHARED
from tests.live.tapped import after_one_frame, tap_on, watched


@pytest.fixture(scope="module")
def live():
    with watched() as (table, tap, live):
        table.pause()
        after_one_frame(tap, live)
        options = {"active": "prussian", "measuring": "declared"}
        live.referee.begin(live.snapshot().position, options, SHARED)
        yield live


QUESTIONS = {
    "tape": lambda live: live.measure("unit:P1", "unit:A1", [4]),
    "tape of a base": lambda live: live.measure("base:P1/1", "base:A1/1"),
    "tape to a point": lambda live: live.measure("unit:P1", "point:500,500"),
    "tape of nothing": lambda live: live.measure("point:0,0", "point:500,500"),
    "rings": lambda live: live.about("unit:P1"),
    "string": lambda live: live.measure("commander:frederick", "unit:P1"),
    "unit": lambda live: live.unit_sheet("P1", "prussian"),
    "pair": lambda live: live.pair_sheet("P1", "A1", "prussian"),
    "dispute": lambda live: live.dispute("near/P1/A1", "prussian"),
    "dispute of nothing": lambda live: live.dispute("near", "prussian"),
}


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_nothing_is_told_before_something_is_declared(live, question):
    with pytest.raises(NotDeclared, match="Measuring is closed until the Prussian"):
        question(live)
    assert live.disputes() == []


def test_what_was_declared_is_told_until_it_is_settled(live):
    taps = (("volleys", "Skip"), ("command", "Bombard"), ("activate", "PA1: with 12"))
    for group, label in (*taps, ("card", "No card"), ("card", "No card"), ("card", "No card")):
        tap_on(live, group, label)
    with pytest.raises(NotDeclared, match="until the Prussian fire is declared"):
        live.measure("unit:PA1", "unit:AA1")
    tap_on(live, "fire", "PA1 at AA1")
    assert live.measure("unit:PA1", "unit:AA1")["distance_bw"] == pytest.approx(11.8, abs=0.5)
    sheet = live.pair_sheet("PA1", "AA1", "prussian")
    line = next(
        line for section in sheet["sections"] for line in section["lines"] if line["question"]
    )
    assert live.dispute(line["question"]["id"], "prussian")["number"] == 1
    for question in (QUESTIONS["tape"], QUESTIONS["unit"], QUESTIONS["pair"]):
        with pytest.raises(NotDeclared, match="Only declared units may be measured: PA1, AA1"):
            question(live)
    with pytest.raises(NotDeclared):
        live.about("unit:PA1")
    tap_on(live, "dice")
    with pytest.raises(NotDeclared):
        live.measure("unit:PA1", "unit:P1")
