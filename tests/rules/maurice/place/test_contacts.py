"""Contact across a thin obstacle against which two enemies stand (interpretation of M-8.14)."""

import pytest

from tablecam.rules.maurice.combat.results import fall_back_path
from tablecam.rules.maurice.field.field import Field, field_of
from tablecam.rules.maurice.field.terms import Reason
from tablecam.rules.maurice.movement.judge import judge_move
from tablecam.rules.maurice.place.contacts import contacts_of_field, flanked_by
from tablecam.table.model import Terrain
from tablecam.testing import shifted
from tests.rules.maurice.tables import SOUTH, box, line, position

OURS = line("F1", "french", 600, 480)
"""Its front edge lies at y = 500, from x = 520 to 680."""


def wall(low_mm: float, thick_mm: float, kind: str = "wall") -> Terrain:
    high_mm = low_mm + thick_mm
    return box(kind, 400, low_mm, 800, high_mm)


def opposed(thick_mm: float, sigma_mm: float = 0.0, **ground: str) -> Field:
    across = line("B1", "british", 600, 520 + thick_mm, SOUTH, sigma_mm=sigma_mm)
    return field_of(position(OURS, across, terrain=[wall(500, thick_mm, **ground)]))


@pytest.mark.parametrize(("thick_mm", "touches"), [(5.0, True), (10.0, True), (12.0, False)])
def test_m_8_14_enemies_flush_with_a_thin_wall_touch_across_it(thick_mm, touches):
    found = contacts_of_field(opposed(thick_mm))
    assert found.enemies_of("F1") == (("B1",) if touches else ())
    assert found.enemies_of("B1") == (("F1",) if touches else ())
    assert (found.answer("B1", "F1").answer == "yes") == touches


def test_m_8_14_across_what_is_no_obstacle_nobody_touches():
    assert contacts_of_field(opposed(5.0, kind="rough")).contacts == {}


def test_m_8_14_contact_across_a_wall_is_a_question_like_any_other():
    found = contacts_of_field(opposed(5.0, sigma_mm=1.6)).answer("F1", "B1")
    assert (found.answer, found.rule) == ("too_close", "M-8.14")


def test_on_a_table_with_a_wall_and_no_units_nobody_touches():
    assert contacts_of_field(field_of(position(terrain=[wall(500, 5)]))).contacts == {}


def test_m_1_13_who_is_touched_across_a_wall_may_be_flanked():
    beyond = box("wall", 400, 500, 800, 505)
    field = field_of(position(OURS, line("B1", "british", 600, 525), terrain=[beyond]))
    assert flanked_by(field, field.by_id["B1"], contacts_of_field(field)) == ("F1",)


def test_m_6_31_a_march_does_not_end_flush_with_a_wall_that_an_enemy_holds():
    start = shifted(OURS, 0, -60)
    enemy = line("B1", "british", 600, 525, SOUTH)
    field = field_of(position(start, enemy, terrain=[wall(500, 5)]))
    ends = {
        short_mm: judge_move(field, field.by_id["F1"], shifted(OURS, 0, -short_mm).bases).is_legal
        for short_mm in (0.0, 2.0)
    }
    assert (ends[0.0].answer, ends[0.0].rule) == ("no", "M-6.31")
    assert ends[2.0].answer == "yes"


def test_m_6_31_a_gap_of_1_mm_is_contact_whatever_rounding_says():
    start = line("F1", "french", 600.1, 400.3)
    enemy = line("B1", "british", 600.1, 541.3, SOUTH)
    field = field_of(position(start, enemy))
    ended = judge_move(field, field.by_id["F1"], shifted(start, 0, 100).bases)
    assert ended.is_legal.rule == "M-6.31"


@pytest.mark.parametrize(("short_mm", "word"), [(-0.8, "no"), (1.2, "too_close"), (5.0, "yes")])
def test_m_6_31_whether_a_measured_march_ends_in_contact_is_a_question_like_any_other(
    short_mm, word
):
    """The mover has the benefit of the doubt (M-6.17), and learns the probability."""
    seen = {"sigma_mm": 0.3}
    start = line("F1", "french", 600, 400, **seen)
    field = field_of(position(start, line("B1", "british", 600, 540, SOUTH, **seen)))
    end = judge_move(field, field.by_id["F1"], shifted(start, 0, 100 - short_mm).bases).is_legal
    assert end.answer == word
    if word == "too_close":
        assert end.rule == "M-6.31"
        assert end.margin_mm == pytest.approx(short_mm - 1)
        assert 0.05 < end.probability < 0.95


STILL_TOUCHING = Reason("M-8.27", "still_touching", ("B1",))


def test_m_8_27_who_falls_back_to_a_wall_that_an_enemy_holds_is_still_in_contact():
    # 1 BW back, its rear edge is at y = 420, flush with the wall; the enemy behind faces it.
    behind = line("B1", "british", 600, 395)
    field = field_of(position(OURS, behind, terrain=[wall(415, 5)]))
    assert fall_back_path(field, "F1", {}).blocked_by == STILL_TOUCHING
    away = field_of(position(OURS, shifted(behind, 0, -2), terrain=[wall(415, 5)]))
    assert fall_back_path(away, "F1", {}).blocked_by is None


@pytest.mark.parametrize(
    ("apart_mm", "bar", "doubts"), [(0.8, STILL_TOUCHING, 1), (1.2, None, 1), (6.0, None, 0)]
)
def test_m_8_27_whether_who_has_fallen_back_still_touches_is_told_where_it_is_in_doubt(
    apart_mm, bar, doubts
):
    """The measured poses decide, as everywhere in a combat."""
    seen = {"sigma_mm": 0.4}
    ours = line("F1", "french", 600, 480, **seen)
    behind = line("B1", "british", 600, 400 - apart_mm, **seen)
    way = fall_back_path(field_of(position(ours, behind)), "F1", {})
    assert way.blocked_by == bar
    assert [doubt.answer for doubt in way.close_calls] == ["too_close"] * doubts
