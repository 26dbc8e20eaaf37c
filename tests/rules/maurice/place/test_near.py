"""Near the enemy (M-1.9): the worked examples of T-14 and T-39, and irrelevant changes."""

import pytest

from tablecam.rules.maurice.field.field import field_of
from tablecam.rules.maurice.place.ranges import NearEnemy, near_enemy
from tablecam.table.model import Terrain, Unit
from tests.rules.maurice.tables import SOUTH, gun, line, position

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


def test_m_1_9_friends_and_commanders_make_nobody_near() -> None:
    found = near(line("F1", "french", 600, 400), line("F2", "french", 600, 480))
    assert (found.is_near, found.nearest, found.distance_bw) == (False, None, None)


def test_t_14_an_impassable_strip_between_bars_nearness() -> None:
    found = near(*facing(120.0), terrain=[strip(100, 1100)])
    assert (found.is_near, found.answer.answer) == (False, "no")
    assert (found.nearest, found.distance_bw) == ("B1", pytest.approx(3.0))
    assert "impassable ground blocks every straight line of 4 BW" in found.answer.because
    between = gun("F2", "french", 600, 500)
    assert near(*facing(140.0), between, terrain=[strip(0, 1800, "woods")]).is_near


@pytest.mark.parametrize(
    ("right_mm", "end_mm", "is_near", "least_mm", "most_mm"),
    [
        (0.0, 670, True, 39.9, 40.1),  # straight across, on the last 10 mm on the right
        (0.0, 760, False, -161, -159),  # slanting lines past its end are longer than 4 BW
        (40.0, 700, True, 20, 40),  # past an end 20 mm beyond both corners it is 126.5 mm
    ],
)
def test_m_1_9_where_the_shortest_line_is_barred_another_of_4_bw_is_enough(
    right_mm, end_mm, is_near, least_mm, most_mm
) -> None:
    found = near(*facing(120.0, right_mm), terrain=[strip(100, end_mm)])
    assert found.is_near == is_near
    assert least_mm < found.answer.margin_mm < most_mm


def test_m_1_9_behind_a_barrier_an_enemy_farther_off_may_be_the_one() -> None:
    other = gun("B2", "british", 830, 400)  # 130 mm off
    found = near(*facing(120.0), other, terrain=[strip(100, 760)])
    assert (found.nearest, found.is_near) == ("B2", True)
    assert found.distance_bw == pytest.approx(130.0 / 40.0)


@pytest.mark.parametrize(
    ("gap_mm", "sigma_mm", "tolerance_mm", "answer"),
    [(160, 0.3, 0.0, "too_close"), (159, 0.0, 2.0, "too_close"), (157, 0.0, 2.0, "yes")],
    ids=["measured", "within what players agreed on", "not within it"],
)
def test_t_39_exactly_4_bw_is_too_close_to_call(gap_mm, sigma_mm, tolerance_mm, answer) -> None:
    found = near(*facing(gap_mm, sigma_mm=sigma_mm), tolerance_mm=tolerance_mm).answer
    assert found.answer == answer
    assert ("too close to 4 BW to call" in found.because) == (answer == "too_close")


def test_g_7_of_two_enemies_that_vie_for_nearest_either_may_be_near() -> None:
    one = (gun("F1", "french", 600, 400, sigma_mm=1.0), gun("B1", "british", 600, 600, sigma_mm=1))
    two = (*one, gun("B2", "british", 400, 400, sigma_mm=1.0))
    assert near(*one).answer.probability == pytest.approx(0.5, abs=0.1)
    assert near(*two).answer.probability == pytest.approx(0.75, abs=0.1)


def test_g_7_the_edge_of_a_barrier_near_the_only_clear_line_leaves_it_open() -> None:
    """Both units end at x = 680: if the strip ends beyond that, no line is clear."""
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
