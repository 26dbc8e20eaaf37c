"""Rulings and disputes over the simulated table: real frames, real vision, real rules."""

import re
from dataclasses import replace

import cv2
import numpy as np
import pytest

from tablecam.errors import BadInput
from tablecam.live.rulings import LiveRulings
from tablecam.rules.books import book_of
from tablecam.rules.games import known_games
from tablecam.simulate.demo import demo_roster, embedded_demo
from tablecam.table.model import BasePose, Glue, Position, Unit
from tablecam.table.position_file import position_from_json
from tests.live.tapped import after_one_frame, watched

SIGMA_MM, SIGMA_DEG = 0.2, 0.3
GLUED = Glue(0.4, 0.8)


@pytest.fixture(scope="module")
def scene():
    with watched() as (table, tap, live):
        table.pause()
        after_one_frame(tap, live)
        yield table, tap, live


@pytest.fixture(scope="module")
def position():
    return embedded_demo().truth()


def test_either_side_may_be_asked_as_active(position):
    rulings = LiveRulings(demo_roster())
    for active in ("prussian", "austrian"):
        sheet = rulings.unit_sheet(position, "P1", active)
        assert sheet.sections[0].key == "near_enemy"


@pytest.mark.parametrize(
    ("unit", "active", "said"),
    [
        ("P1", "swedish", 'request: active: expected one of prussian, austrian, got "swedish"'),
        ("P99", "prussian", 'rulings: there is no unit "P99"'),
    ],
)
def test_who_is_not_of_the_table_is_refused_in_one_line(position, unit, active, said):
    with pytest.raises(BadInput, match=said):
        LiveRulings(demo_roster()).unit_sheet(position, unit, active)


def test_a_game_without_a_rulebook_can_be_asked_what_any_table_can(position):
    rulings = LiveRulings(replace(demo_roster(), game="free"))
    assert not rulings.has_rules
    sheet = rulings.pair_sheet(replace(position, game="free"), "P1", "A1", "prussian")
    assert [section.key for section in sheet.sections if section.lines] == [
        "range",
        "contact",
    ]


def apart(between_mm, sigma_mm=0.42, glue=GLUED):
    """Two single bases of a table without a rulebook, one in front of the other."""
    roster = replace(demo_roster(), game="free")
    bases = [
        BasePose(
            400, y_mm, 90, 30, 30, sigma_mm=sigma_mm, sigma_deg=0.82, tag_forward_mm=-5, glue=glue
        )
        for y_mm in (300, 330 + between_mm)
    ]
    units = (
        Unit("P1", "prussian", "infantry", bases[:1]),
        Unit("A1", "austrian", "infantry", bases[1:]),
    )
    table = Position("free", roster.table, units)
    sheet = LiveRulings(roster).pair_sheet(table, "P1", "A1", "prussian", {"contact"})
    return next(line for line in sheet.lines if line.question.id.startswith("contact/"))


def test_a_close_call_that_calibrated_bases_would_decide_says_so():
    line = apart(1.5)
    assert line.answer.answer == "too_close"
    said = r"too close by 0\.\d mm: calibrating the bases of P1 and A1 would decide it$"
    assert re.search(said, line.text)


@pytest.mark.parametrize(
    ("between_mm", "sigma_mm", "glue"),
    [(1.0, 0.42, GLUED), (1.5, 1.5, GLUED), (1.5, 0.42, None), (9.0, 0.42, GLUED)],
    ids=["too near even so", "the camera limits it", "no glue is stated", "decided"],
)
def test_no_other_call_speaks_of_calibrating_bases(between_mm, sigma_mm, glue):
    assert "calibrating" not in apart(between_mm, sigma_mm, glue).text


def test_the_live_table_tells_of_a_unit_as_the_newest_picture_shows_it(scene):
    _, _, live = scene
    sheet = live.unit_sheet("P1", "prussian")
    assert (sheet["unit"], sheet["side"], sheet["active"]) == ("P1", "prussian", "prussian")
    assert sheet["version"] <= live.snapshot().version
    assert len(sheet["sections"]) == 9


def test_the_live_table_tells_of_two_units(scene):
    _, _, live = scene
    sheet = live.pair_sheet("P1", "A1", "austrian")
    assert (sheet["a"], sheet["b"], len(sheet["sections"])) == ("P1", "A1", 7)


def test_a_dispute_keeps_answer_picture_and_position_together(scene):
    _, _, live = scene
    made = live.dispute("near/P1", "prussian")
    assert live.disputes()[-1] == made
    assert made["question"] == {"id": "near/P1", "text": "Is P1 near the enemy?"}
    assert made["answer"] == made["line"]["answer"]
    for plain in (False, True):
        jpeg = np.frombuffer(live.dispute_picture(made["number"], plain=plain), dtype=np.uint8)
        assert cv2.imdecode(jpeg, cv2.IMREAD_COLOR) is not None


def test_a_disputes_position_comes_to_the_same_answer_again(scene):
    """Anyone who doubts it can rule on the document himself."""
    _, _, live = scene
    made = live.dispute("flank/P1/A1", "prussian")
    kept = position_from_json(live.dispute_position(made["number"]), games=known_games())
    book = book_of("maurice-lite")
    line = book.answer(book.rulings(kept, "prussian"), "flank/P1/A1")
    assert line.answer.to_json() == made["answer"]


def test_a_dispute_stays_as_it_was_when_the_table_moves_on(scene):
    table, tap, live = scene
    made = live.dispute("near/P1", "prussian")
    picture = live.dispute_picture(made["number"])
    table.move_unit("P1", 600.0, 300.0, 45.0)
    for _ in range(3):
        after_one_frame(tap, live)
    assert live.dispute("near/P1", "prussian")["version"] > made["version"]
    assert live.disputes()[made["number"] - 1] == made
    assert live.dispute_picture(made["number"]) == picture


def test_a_dispute_of_nothing_is_refused_and_not_kept(scene):
    _, _, live = scene
    before = len(live.disputes())
    said = 'expected the id of a question on the page, such as flank/P1/A1, got "flank/P1"'
    with pytest.raises(BadInput, match=said):
        live.dispute("flank/P1", "prussian")
    assert len(live.disputes()) == before
