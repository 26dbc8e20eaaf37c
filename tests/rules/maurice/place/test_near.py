"""Near the enemy (M-1.9): the worked examples of T-14 and T-39, and what must never matter."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablecam.geometry.outlines import corners
from tablecam.rules.maurice.field.field import field_of
from tablecam.rules.maurice.place.near import NearEnemy, near_enemy
from tablecam.table.model import BasePose, Terrain, Unit
from tablecam.testing import mirrored, shifted, turned
from tests.rules.maurice.tables import gun, line, position

SOUTH = 270.0
LAKE = "impassable"


def near(*units: Unit, of: str = "F1", **more: object) -> NearEnemy:
    field = field_of(position(*units, **more))
    return near_enemy(field, field.by_id[of])


def facing(gap_mm: float, right_mm: float = 0.0, **more: float) -> tuple[Unit, Unit]:
    """A line, and an enemy line that faces it across a gap."""
    return (
        line("F1", "french", 600, 400, **more),
        line("B1", "british", 600 + right_mm, 440 + gap_mm, SOUTH, **more),
    )


def strip(left_mm: float, right_mm: float, kind: str = LAKE) -> Terrain:
    corners = ((left_mm, 480.0), (right_mm, 480.0), (right_mm, 490.0), (left_mm, 490.0))
    return Terrain("strip", kind, corners)


@pytest.mark.parametrize(
    ("gap_mm", "right_mm", "is_near"),
    [
        (120.0, 0.0, True),
        (160.0, 0.0, True),
        (160.01, 0.0, False),
        (110.0, 160.0 + 90.0, True),  # 142 mm from corner to corner
        (110.0, 160.0 + 130.0, False),  # 170 mm
    ],
    ids=["3 BW", "exactly 4 BW", "a hair more", "142 mm aslant", "170 mm aslant"],
)
def test_t_14_near_is_within_4_bw_of_any_part_of_an_enemy(gap_mm, right_mm, is_near) -> None:
    found = near(*facing(gap_mm, right_mm))
    assert found.is_near == is_near
    assert found.answer.answer == ("yes" if is_near else "no")
    assert found.nearest == "B1"


def test_m_1_9_the_distance_and_the_margin_are_told() -> None:
    found = near(*facing(120.0))
    assert found.distance_bw == pytest.approx(3.0)
    assert found.answer.margin_mm == pytest.approx(40.0)
    assert found.answer.because == "F1 and B1 are 3.00 BW apart, within 4 BW by 1.00 BW"


def test_m_1_9_bases_and_passable_terrain_between_do_not_matter() -> None:
    between = gun("F2", "french", 600, 500)
    assert near(*facing(140.0), between, terrain=[strip(0, 1800, "woods")]).is_near


def test_m_1_9_friends_and_commanders_make_nobody_near() -> None:
    found = near(line("F1", "french", 600, 400), line("F2", "french", 600, 480))
    assert (found.is_near, found.nearest, found.distance_bw) == (False, None, None)


def test_t_14_an_impassable_strip_between_bars_nearness() -> None:
    found = near(*facing(120.0), terrain=[strip(100, 1100)])
    assert not found.is_near
    assert found.answer.answer == "no"
    assert (found.nearest, found.distance_bw) == ("B1", pytest.approx(3.0))
    assert "impassable ground blocks every straight line of 4 BW" in found.answer.because


def test_m_1_9_where_the_shortest_line_is_barred_another_of_4_bw_is_enough() -> None:
    # The strip bars all straight across but for the last 10 mm on the right.
    found = near(*facing(120.0), terrain=[strip(100, 670)])
    assert found.is_near
    assert found.answer.margin_mm == pytest.approx(40.0)
    # It bars all straight across, and what slants past its end is longer than 4 BW.
    assert not near(*facing(120.0), terrain=[strip(100, 760)]).is_near
    # Past an end that is 20 mm beyond both corners a slanting line is 126.5 mm: near.
    bent = near(*facing(120.0, right_mm=40.0), terrain=[strip(100, 700)])
    assert bent.is_near
    assert 120.0 < 160.0 - bent.answer.margin_mm < 140.0


def test_m_1_9_behind_a_barrier_an_enemy_farther_off_may_be_the_one() -> None:
    other = gun("B2", "british", 830, 400)  # 130 mm off
    found = near(*facing(120.0), other, terrain=[strip(100, 760)])
    assert (found.nearest, found.is_near) == ("B2", True)
    assert found.distance_bw == pytest.approx(130.0 / 40.0)


def test_t_39_exactly_4_bw_with_measured_bases_is_too_close_to_call() -> None:
    found = near(*facing(160.0, sigma_mm=0.3))
    assert found.answer.answer == "too_close"
    assert "too close to 4 BW to call" in found.answer.because


def test_t_39_so_it_is_within_the_tolerance_that_players_agreed_on() -> None:
    assert near(*facing(159.0), tolerance_mm=2.0).answer.answer == "too_close"
    assert near(*facing(157.0), tolerance_mm=2.0).answer.answer == "yes"


def test_g_7_of_two_enemies_that_vie_for_nearest_either_may_be_near() -> None:
    one = (gun("F1", "french", 600, 400, sigma_mm=1.0), gun("B1", "british", 600, 600, sigma_mm=1))
    two = (*one, gun("B2", "british", 400, 400, sigma_mm=1.0))
    assert near(*one).answer.probability == pytest.approx(0.5, abs=0.1)
    assert near(*two).answer.probability == pytest.approx(0.75, abs=0.1)


@given(
    st.floats(90.0, 200.0),
    st.floats(0, 300.0),
    st.floats(0, 359),
    st.booleans(),
    st.floats(500, 800),
)
def test_nothing_changes_when_the_table_is_turned_moved_or_mirrored(
    gap_mm, right_mm, by_deg, has_strip, end_mm
) -> None:
    units = facing(gap_mm, right_mm)
    shore = BasePose((end_mm + 100) / 2, 485.0, 90.0, end_mm - 100, 10.0)
    lake = Unit("lake", "nobody", "artillery", (shore,))

    def ruled(change) -> tuple[bool, float]:
        terrain = [_as_terrain(change(lake))] if has_strip else []
        found = near(*map(change, units), terrain=terrain)
        return found.is_near, found.answer.margin_mm

    plain, margin_mm = ruled(lambda each: each)
    about = (600.0, 480.0)
    for change in (
        lambda each: turned(each, by_deg, about),
        lambda each: shifted(each, 313.0, 207.0),
        lambda each: shifted(mirrored(each), 1200.0, 0.0),
    ):
        is_near, changed_mm = ruled(change)
        assert changed_mm == pytest.approx(margin_mm, abs=1e-5)
        assert is_near == plain or abs(margin_mm) < 1e-5


def _as_terrain(lake: Unit) -> Terrain:
    return Terrain("strip", LAKE, corners(lake.bases[0]))


def test_g_7_the_edge_of_a_barrier_near_the_only_clear_line_leaves_it_open() -> None:
    """Both units end at x = 680: past a strip that ends beyond it no line at all is clear."""
    words = {}
    for end_mm in (640.0, 680.3, 720.0):
        found = near(*facing(150.0, sigma_mm=0.5), terrain=[strip(100, end_mm)]).answer
        words[end_mm] = found.answer
        assert (end_mm == 680.3) == (0.05 < found.probability < 0.95)
    assert words == {640.0: "yes", 680.3: "too_close", 720.0: "no"}
    barred = near(*facing(150.0, sigma_mm=0.5), terrain=[strip(100, 680.3)]).answer
    assert barred.margin_mm == pytest.approx(-0.3, abs=0.01)
    exact = near(*facing(150.0), terrain=[strip(100, 680.3)]).answer
    assert (exact.answer, exact.sigma_mm) == ("no", 0.0)
