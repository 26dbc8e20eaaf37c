"""Columns and guns move freely: bent columns, and guns that turn for free."""

import math
from dataclasses import replace

import pytest

from tablecam.rules.maurice.field.field import field_of
from tablecam.rules.maurice.movement.judge import judge_move
from tablecam.testing import shifted
from tests.rules.maurice.tables import SOUTH, column, gun, line, position


def judged(start, bases, *others, terrain=()):
    field = field_of(position(start, *others, terrain=terrain))
    return judge_move(field, field.by_id[start.id], tuple(bases))


def bent(x_mm, y_mm, by_deg):
    """A column heading north, bent left about the touching corners of its middle bases."""
    start = column("F1", "french", x_mm, y_mm)
    turned = math.radians(by_deg)
    corner_x, corner_y = x_mm - 20.0, y_mm  # where the left corners of the middle two meet
    rear = tuple(
        replace(
            base,
            x_mm=corner_x + 20 * math.cos(turned) - back_mm * math.sin(turned),
            y_mm=corner_y - 20 * math.sin(turned) - back_mm * math.cos(turned),
            heading_deg=90.0 - by_deg,
        )
        for base, back_mm in zip(start.bases[2:], (20.0, 60.0), strict=True)
    )
    return (*start.bases[:2], *rear)


@pytest.mark.parametrize("by_deg", [0.0, 20.0, 45.0])
def test_m_6_10_a_column_may_end_bent_if_it_is_flush(by_deg):
    start = column("F1", "french", 500, 300)
    there = bent(500, 560, by_deg)
    assert judged(start, there).is_legal.answer == "yes"
    torn = (replace(there[0], y_mm=there[0].y_mm + 30.0), *there[1:])
    assert judged(start, torn).is_legal.answer == "no"


@pytest.mark.parametrize(
    ("there", "cost_bw"),
    [
        (column("F1", "french", 900, 200), 17.81),  # 400 mm back: the head reaches the tail first
        (column("F1", "french", 1380, 600), 16.02),  # 480 mm aside
    ],
    ids=["backward", "sideways"],
)
def test_m_6_9_a_column_goes_nowhere_but_by_the_way_of_its_head(there, cost_bw):
    found = judged(column("F1", "french", 900, 600), there.bases)
    assert (found.is_legal.answer, found.is_legal.rule) == ("no", "M-6.9")
    assert found.cost_bw == pytest.approx(cost_bw, abs=0.01)


@pytest.mark.parametrize("far_mm", [20, 100, 160, 300, 480])
def test_m_6_9_straight_ahead_a_column_goes_as_far_as_its_front_does(far_mm):
    start = column("F1", "french", 900, 400)
    found = judged(start, shifted(start, 0, far_mm).bases)
    assert found.is_legal.answer == "yes"
    assert found.cost_bw == pytest.approx(far_mm / 40)


def test_m_6_10_the_rear_of_a_column_follows_in_its_track():
    start = column("F1", "french", 500, 300)
    rear = start.bases[:2]  # where the last two stand after following

    def turned_left(base_ahead_mm, by_deg):
        """A base beyond the head's front edge, turned about its left corner."""
        turn = math.radians(by_deg)
        return replace(
            start.bases[0],
            x_mm=480 + 20 * math.cos(turn) - base_ahead_mm * math.sin(turn),
            y_mm=380 + 20 * math.sin(turn) + base_ahead_mm * math.cos(turn),
            heading_deg=90.0 + by_deg,
        )

    followed = judged(start, (turned_left(60, 45), turned_left(20, 45), *rear))
    assert followed.is_legal.answer == "yes"
    assert 2.0 < followed.cost_bw < 2.5  # two bases on, about a corner
    about_its_tail = column("F1", "french", 560, 240, 0.0)
    assert judged(start, about_its_tail.bases).cost_bw > 7.0


def test_m_6_26_a_foot_column_that_about_faced_marches_no_more_and_horse_may():
    start = column("F1", "french", 900, 700)
    about = [
        replace(base, y_mm=1400.0 - base.y_mm - 300.0, heading_deg=SOUTH) for base in start.bases
    ]
    about = [replace(base, y_mm=to.y_mm) for base, to in zip(about, reversed(about), strict=True)]
    found = judged(start, about)
    assert (found.is_legal.answer, found.is_legal.rule) == ("no", "M-6.26")
    horse = judged(replace(start, arm="cavalry"), about)
    assert (horse.is_legal.answer, horse.cost_bw) == ("yes", pytest.approx(7.5))


@pytest.mark.parametrize(("far_mm", "is_legal"), [(240.0, True), (242.0, False)])
@pytest.mark.parametrize("heading_deg", [90.0, 0.0, 251.0])
def test_m_6_18_a_guns_way_is_that_of_its_middle_and_it_turns_for_nothing(
    far_mm, is_legal, heading_deg
):
    start = gun("G1", "french", 500, 300)
    (base,) = start.bases
    there = replace(base, x_mm=base.x_mm + far_mm, heading_deg=heading_deg)
    assert (judged(start, [there]).is_legal.answer == "yes") == is_legal


@pytest.mark.parametrize(
    ("start", "far_mm"),
    [(column("F1", "french", 600, 180), 480), (gun("F1", "french", 600, 300), 240)],
    ids=["column", "gun"],
)
def test_m_6_7_who_would_go_too_far_past_a_friend_goes_through_him(start, far_mm):
    others = line("F2", "french", 680, 450), line("B1", "british", 1500, 1100, SOUTH)

    def gone(by_mm):
        return judged(start, shifted(start, 0, by_mm).bases, *others)

    past, through = gone(far_mm - 20), gone(far_mm)
    assert (past.is_legal.answer, past.passed) == ("yes", ())
    assert (through.is_legal.answer, through.passed) == ("yes", ("F2",))
    assert through.cost_bw == pytest.approx(far_mm / 40)
    assert gone(far_mm + 2).is_legal.answer == "no"
