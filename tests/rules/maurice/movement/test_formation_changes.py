"""Changes of formation and about-faces at the start of a march (M-6.21 to M-6.26)."""

import math
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablecam.rules.maurice.movement.formation_changes import formation_changes
from tablecam.table.formation import read_formation
from tablecam.table.model import Arm, Unit
from tablecam.testing import shifted, turned, unit
from tests.rules.maurice.marching import field, judged
from tests.rules.maurice.tables import FAR, box, column, gun, line, massed


def test_t_20_a_column_of_foot_deploys_for_nothing_and_moves() -> None:
    start = column("F1", "french", 900, 300, 0)
    deployed = line("F1", "french", 900, 300)
    found = judged(start, shifted(deployed, 0, 160))
    assert found.is_legal.answer == "yes"
    assert found.cost_bw == pytest.approx(4.0)
    assert found.allowance_bw == 12.0


def test_t_20_a_line_that_forms_column_may_not_move_as_well() -> None:
    start = line("F1", "french", 900, 300)
    formed = column("F1", "french", 900, 300, 0)
    in_place = judged(start, formed)
    assert in_place.is_legal.answer == "yes"
    assert in_place.cost_bw == 4.0
    assert judged(start, shifted(formed, 25, 60)).is_legal.answer == "no"


def test_t_21_a_unit_one_short_of_breaking_does_not_change_into_woods() -> None:
    start = line("F1", "french", 900, 300, disruption=4, arm="cavalry")
    closed_up = massed("F1", "french", 860, 280)
    found = judged(start, closed_up, terrain=(box("woods", 830, 215, 890, 275),))
    assert found.is_legal.rule == "M-6.4"
    assert judged(start, closed_up).is_legal.answer == "yes"


def test_m_1_7_foot_is_never_massed() -> None:
    start = line("F1", "french", 900, 300)
    assert judged(start, massed("F1", "french", 900, 300)).is_legal.rule == "M-1.7"


def test_t_20_foot_about_faces_and_does_nothing_more() -> None:
    start = line("F1", "french", 900, 300)
    about = line("F1", "french", 900, 300, 270)
    assert judged(start, about).is_legal.rule == "M-6.26"
    assert judged(start, about).is_legal.answer == "yes"
    assert judged(start, shifted(about, 0, -80)).is_legal.answer == "no"


def test_t_20_horse_about_faces_and_moves_8_but_not_to_near_the_enemy() -> None:
    start = massed("F1", "french", 900, 600)
    end = massed("F1", "french", 900, 600 - 320, 270)
    assert judged(start, end).is_legal.answer == "yes"
    near = judged(start, end, line("B1", "british", 900, 100))
    assert near.is_legal.answer == "no"
    assert near.is_legal.rule == "M-6.26"


@pytest.mark.parametrize(
    ("start", "behind", "before"),
    [
        (line("F1", "french", 900, 300, arm="cavalry"), massed("F1", "french", 860, 280), 40),
        (massed("F1", "french", 900, 320), column("F1", "french", 880, 280, arm="cavalry"), 80),
    ],
    ids=["line to massed", "massed to column"],
)
def test_m_6_24_the_others_go_behind_the_two_that_stay_and_never_before_them(
    start: Unit, behind: Unit, before: float
) -> None:
    assert judged(start, behind).is_legal.answer == "yes"
    gained = judged(start, shifted(behind, 0, before))
    assert (gained.is_legal.answer, gained.is_legal.rule) == ("no", "M-6.24")


def test_m_6_26_horse_about_faces_and_then_wheels() -> None:
    start = line("F1", "french", 900, 600, arm="cavalry")
    about = line("F1", "french", 900, 600, 270, arm="cavalry")
    # Its left is now in the east and stands still, while its right moves 2 BW.
    end = turned(about, math.degrees(80 / 160), (980, 580))
    found = judged(start, end)
    assert (found.is_legal.answer, found.cost_bw) == ("yes", pytest.approx(2.0))
    assert found.is_after_about_face
    near = judged(start, end, line("B1", "british", 900, 400))
    assert (near.is_legal.answer, near.is_legal.rule) == ("no", "M-6.26")


@pytest.mark.parametrize("by_deg", [90.5, 100.0, 110.0])
def test_m_6_26_horse_that_about_faced_may_wheel_more_than_a_quarter_back(by_deg: float) -> None:
    """It ends facing more forward than backward; only an about-face leads there."""
    start = line("F1", "french", 900, 600, arm="cavalry")
    end = turned(line("F1", "french", 900, 600, 270, arm="cavalry"), by_deg, (980, 580))
    found = judged(start, end)
    assert found.is_legal.answer == "yes"
    assert found.is_after_about_face
    assert found.cost_bw == pytest.approx(math.radians(by_deg) * 4)


@pytest.mark.parametrize("by_deg", [165, 175, 180])
def test_m_6_16_massed_horse_may_wheel_round_near_the_enemy_too(by_deg: float) -> None:
    start = massed("F1", "french", 900, 600)
    end = turned(start, by_deg, (860, 640))
    found = judged(start, end, line("B1", "british", 860, 800, 270))
    assert (found.is_legal.answer, found.is_legal.rule) == ("yes", "M-6.17")
    assert found.cost_bw == pytest.approx(math.radians(by_deg) * 2)
    assert not found.is_after_about_face


@pytest.mark.parametrize("by_deg", [90.0, 90.0 + 1e-9, 90.5])
def test_m_6_26_a_wheel_that_costs_as_little_is_no_about_face(by_deg: float) -> None:
    start = massed("F1", "french", 900, 600)
    found = judged(start, turned(start, by_deg, (860, 640)))
    assert found.is_legal.answer == "yes"
    assert not found.is_after_about_face


def wide_column(x_mm: float, y_mm: float) -> Unit:
    """A column of 60 x 40 mm bases facing east, its leading base at (x, y)."""
    return unit("F1", "column", x_mm - 60, y_mm, 0, size_mm=(60, 40))


def wide_line(x_mm: float, y_mm: float) -> Unit:
    """A line of 60 x 40 mm bases facing north, its leftmost base at (x, y)."""
    return unit("F1", "line", x_mm + 90, y_mm, size_mm=(60, 40))


@pytest.mark.parametrize("pivot", [0, 1, 2, 3])
def test_m_6_23_wide_bases_deploy_on_one_of_them_and_line_up_flush(pivot: int) -> None:
    start = wide_column(900, 300)
    # The leading base is the line's rightmost; the base that turns keeps its place.
    formed = wide_line(900 - 40 * pivot - 60 * (3 - pivot), 300)
    found = judged(start, formed)
    assert (found.is_legal.answer, found.cost_bw) == ("yes", pytest.approx(0.0, abs=1e-6))
    ahead = judged(start, shifted(formed, 0, 160))
    assert (ahead.is_legal.answer, ahead.cost_bw) == ("yes", pytest.approx(4.0))


def test_m_6_23_wide_bases_line_up_on_no_place_between() -> None:
    aside = judged(wide_column(900, 300), wide_line(900 - 180 + 15, 300))
    assert aside.is_legal.answer == "no"


def test_m_6_23_a_line_of_wide_bases_forms_column_on_one_of_them() -> None:
    start = wide_line(720, 300)
    assert judged(start, wide_column(900, 300)).is_legal.answer == "yes"
    assert judged(start, wide_column(890, 300)).is_legal.answer == "no"


def test_m_6_25_to_turn_about_in_woods_costs_nothing() -> None:
    start, about = line("F1", "french", 900, 300), line("F1", "french", 900, 300, 270)
    found = judged(start, about, terrain=(box("woods", 700, 200, 1100, 400),))
    assert (found.is_legal.answer, found.disruptions) == ("yes", 0)
    tired = replace(start, state={"disruption": 4})
    assert (
        judged(tired, about, terrain=(box("woods", 860, 200, 920, 400),)).is_legal.answer == "yes"
    )


def test_m_6_25_a_change_costs_one_when_bases_enter_or_leave_difficult_ground() -> None:
    start = massed("F1", "french", 900, 300)
    in_line = line("F1", "french", 900, 320, arm="cavalry")
    left_wood, rear_wood = box("woods", 780, 290, 840, 350), box("woods", 820, 250, 980, 290)
    all_of_it = box("woods", 700, 200, 1100, 400)
    for ground, disruptions in ((left_wood, 1), (rear_wood, 1), (all_of_it, 0)):
        found = judged(start, in_line, terrain=(ground,))
        assert (found.is_legal.answer, found.disruptions) == ("yes", disruptions)


def test_m_6_25_a_column_that_deploys_into_woods_pays_once_for_change_and_move() -> None:
    start = column("F1", "french", 900, 300, arm="cavalry")
    # The two rear bases come up beside the front two, into the wood.
    formed = massed("F1", "french", 920, 340)
    beside = box("woods", 930, 300, 990, 390)
    in_place = judged(start, formed, terrain=(beside,))
    assert (in_place.is_legal.answer, in_place.disruptions) == ("yes", 1)
    moved = judged(start, shifted(formed, 0, 160), terrain=(beside,))
    assert (moved.is_legal.answer, moved.disruptions) == ("yes", 1)
    assert judged(start, formed).disruptions == 0
    tired = replace(start, state={"disruption": 4})
    assert judged(tired, formed, terrain=(beside,)).is_legal.rule == "M-6.25"


@pytest.mark.parametrize(("off_mm", "answer"), [(150, "no"), (165, "yes")])
def test_m_6_11_what_was_a_column_passes_nobody_near_on_more_than_4(
    off_mm: float, answer: str
) -> None:
    # It deploys facing east and goes 12.5 BW of 16, past a gun half way along.
    start = column("F1", "french", 600, 300, 90, arm="cavalry")
    end = line("F1", "french", 600 + 500, 300, 0, arm="cavalry")
    found = judged(start, end, gun("B1", "british", 850, 380 + off_mm + 20, 0))
    assert found.is_legal.answer == answer
    if answer == "no":
        assert (found.is_legal.rule, found.allowance_bw) == ("M-6.11", 4.0)


def test_m_6_26_a_column_of_horse_about_faces_and_moves_to_where_no_enemy_is_near() -> None:
    start = column("F1", "french", 900, 600, 90, arm="cavalry")
    # After an about-face it goes 2 BW; its head would have to snake 5 BW, beyond the limit of 4.
    end = column("F1", "french", 900, 600 - 80, 270, arm="cavalry")
    behind = line("B1", "british", 900, 600 + 80 + 140, 270)
    away = judged(start, end, behind)
    assert (away.is_legal.answer, away.cost_bw) == ("yes", pytest.approx(2.0))
    ahead = line("B1", "british", 900, 600 - 160 - 100, 90)
    found = judged(start, end, ahead)
    assert (found.is_legal.answer, found.is_legal.rule) == ("no", "M-6.26")


@pytest.mark.parametrize("arm", ["infantry", "cavalry"])
@pytest.mark.parametrize("seed", range(3))
def test_m_6_22_a_column_that_was_measured_deploys_on_its_spot_for_nothing(
    arm: Arm, seed: int
) -> None:
    """Its bases have the usual placing and measuring errors: none is exactly behind another."""
    chance = Random(seed)
    start = column("F1", "french", 900, 400, arm=arm)
    bases = tuple(
        replace(
            base,
            x_mm=base.x_mm + chance.gauss(0, 0.3),
            y_mm=base.y_mm + chance.gauss(0, 0.3),
            heading_deg=base.heading_deg + chance.gauss(0, 0.4),
            sigma_mm=0.1,
            sigma_deg=0.2,
        )
        for base in start.bases
    )
    start = replace(start, bases=bases)
    deployed = [bases for _, bases in formation_changes(field(start).by_id["F1"])]
    assert len(deployed) == (2 if arm == "infantry" else 4)
    for bases in deployed:
        found = judged(start, replace(start, bases=bases))
        assert found.is_legal.answer == "yes"
        assert found.cost_bw == pytest.approx(0.0, abs=1e-6)


@settings(deadline=None, max_examples=40)
@given(
    st.sampled_from(["line", "column", "massed"]),
    st.sampled_from(["infantry", "cavalry"]),
    st.floats(40, 55),
    st.floats(30, 40),
    st.floats(0, 359),
)
def test_m_6_24_every_change_lies_flush_in_the_formation_that_it_is_called(
    formation: str, arm: str, width_mm: float, depth_mm: float, heading_deg: float
) -> None:
    arm = "cavalry" if formation == "massed" else arm
    size_mm = (width_mm, depth_mm)
    start = unit("F1", formation, 900, 600, heading_deg, arm=arm, size_mm=size_mm)
    here = field(start, FAR).by_id["F1"]
    found = list(formation_changes(here))
    assert found
    for name, bases in found:
        there = replace(start, bases=bases)
        assert read_formation(there).name == name != here.formation
        outline = field(there, FAR).by_id["F1"].outline
        assert outline.area == pytest.approx(4 * width_mm * depth_mm, rel=1e-3)


@pytest.mark.parametrize(
    ("start", "names"),
    [
        (line("F1", "french", 900, 600), ["column"] * 2),
        (line("F1", "french", 900, 600, arm="cavalry"), ["column"] * 2 + ["massed"] * 3),
        (column("F1", "french", 900, 600), ["line"] * 2),
        (column("F1", "french", 900, 600, arm="cavalry"), ["line"] * 2 + ["massed"] * 2),
        (massed("F1", "french", 900, 600), ["line"] * 3 + ["column"] * 2),
        (gun("F1", "french", 900, 600), []),
    ],
    ids=["foot in line", "horse in line", "foot in column", "horse in column", "massed", "gun"],
)
def test_m_6_23_each_arm_changes_as_it_may_and_every_change_is_judged_legal(
    start: Unit, names: list[str]
) -> None:
    found = list(formation_changes(field(start, FAR).by_id["F1"]))
    assert [name for name, _ in found] == names
    for _, bases in found:
        assert judged(start, replace(start, bases=bases)).is_legal.answer == "yes"


def horse(formation, *places):
    """A unit of horse facing north, with its bases at these places."""
    unit = massed("F1", "french", 500, 400)
    bases = tuple(
        replace(base, x_mm=x, y_mm=y) for base, (x, y) in zip(unit.bases, places, strict=True)
    )
    return replace(unit, bases=bases, formation=formation)


COLUMN = horse("column", *((500.0, 460.0 - 40 * place) for place in range(4)))
LINE = horse("line", *((440.0 + 40 * place, 400.0) for place in range(4)))
MASSED = horse("massed", (480.0, 420.0), (520.0, 420.0), (480.0, 380.0), (520.0, 380.0))


@pytest.mark.parametrize(
    ("start", "end"),
    [
        (COLUMN, [(500, 460), (500, 420), (540, 460), (540, 420)]),
        (COLUMN, [(460, 380), (460, 340), (500, 380), (500, 340)]),
        (MASSED, [(480, 420), (480, 380), (480, 340), (480, 300)]),
        (MASSED, [(520, 420), (520, 380), (520, 340), (520, 300)]),
        (LINE, [(520, 400), (560, 400), (520, 360), (560, 360)]),
        (LINE, [(480, 400), (520, 400), (480, 360), (520, 360)]),
        (MASSED, [(440, 420), (480, 420), (520, 420), (560, 420)]),
        (MASSED, [(480, 420), (520, 420), (560, 420), (600, 420)]),
        (MASSED, [(400, 380), (440, 380), (480, 380), (520, 380)]),
    ],
    ids=[
        "column, rear beside front",
        "column, front beside rear",
        "massed, right file behind left",
        "massed, left file behind right",
        "line, left two behind",
        "line, both ends behind",
        "massed, rear up on both sides",
        "massed, rear up on the right",
        "massed, front back beside the rear",
    ],
)
def test_m_6_24_two_bases_keep_their_place_when_horse_forms_or_leaves_massed(start, end):
    there = horse(None, *end)
    found = judged(start, there)
    assert found.is_legal.answer == "yes", found.is_legal.because
    if start.formation != "column":  # whose change is free, so that it may move as well
        assert judged(start, shifted(there, 30, 0)).is_legal.answer == "no"
