"""Charging as steps of a game (M-8.1 to M-8.9): duties, limits, and what counts as contact."""

from __future__ import annotations

import math
from dataclasses import replace
from random import Random

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from tablecam.geometry.moves.lanes import Corner, lane, pivot_mm, turned_deg, wheeled
from tablecam.rules.game import Refused
from tablecam.rules.maurice.combat.combat import meeting
from tablecam.rules.maurice.game import GAME
from tablecam.rules.maurice.game.actions import Charge, Done, March
from tablecam.rules.maurice.game.cards import Modifying
from tablecam.rules.maurice.game.charge import Charging
from tablecam.rules.maurice.game.combat import RollingCombat
from tablecam.rules.maurice.game.commander import Displacing, MovingCommander
from tablecam.rules.maurice.game.state import State
from tablecam.rules.maurice.game.table import field_at
from tablecam.table.model import Commander, Unit
from tablecam.testing import shifted, turned
from tests.rules.maurice.combat.test_engagement import four_cavalry
from tests.rules.maurice.game.states import after, charge, charging, level, march, state_at
from tests.rules.maurice.tables import BW, SOUTH, box, column, gun, line, massed, position


def listed(state: State, kind: type) -> list:
    return [action for action in GAME.legal(state) if isinstance(action, kind)]


FOOT = line("F1", "french", 500, 500)
ENEMY = line("B1", "british", 500, 500 + 20 + 2 * BW + 20, SOUTH)
HOME = shifted(FOOT, 0, 2 * BW)


def test_m_8_5_a_charge_goes_straight_ahead_into_contact() -> None:
    state, events = after(charging(FOOT, ENEMY), charge(HOME, "B1"))
    assert events[0].rule == "M-8.5"
    assert events[0].facts["cost_bw"] == 2.0
    assert events[0].facts["off_mm"] < 0.1
    assert state.step == RollingCombat(("F1", "B1"))


def uneven(unit: Unit, chance: Random, *, step_mm: float, sigma_mm: float = 0.0) -> Unit:
    """A line whose bases are slightly ahead of or behind each other, as a camera sees them."""

    def laid(place: int) -> float:
        return step_mm * place + chance.gauss(0.0, sigma_mm)

    bases = (
        replace(
            base,
            x_mm=base.x_mm + chance.gauss(0.0, sigma_mm),
            y_mm=base.y_mm + laid(place),
            heading_deg=base.heading_deg + chance.gauss(0.0, 1.5 * sigma_mm),
            sigma_mm=sigma_mm,
            sigma_deg=1.5 * sigma_mm,
        )
        for place, base in enumerate(unit.bases)
    )
    return replace(unit, bases=tuple(bases))


def fights(state: State, *units: str) -> bool:
    """Returns whether units fight once everybody has declined to play a card."""
    step = state.step.then if isinstance(state.step, Modifying) else state.step
    return isinstance(step, RollingCombat) and {*units} <= {*step.engaged}


@pytest.mark.parametrize("step_mm", [-2.0, -1.0, -0.5, 0.5, 1.0, 2.0])
@pytest.mark.parametrize("at_mm", [440.0, 500.0, 560.0])
def test_m_8_5_a_line_that_lies_askew_makes_every_charge_that_is_listed_and_fights(
    step_mm: float, at_mm: float
) -> None:
    askew = uneven(FOOT, Random(1), step_mm=step_mm)
    state = charging(askew, gun("B1", "british", at_mm, 640, SOUTH))
    for action in listed(state, Charge):
        made, _ = after(state, action)
        assert fights(made, "F1", "B1")
    assert listed(state, Charge)


def test_g_8_a_line_that_was_laid_flush_askew_has_charged_as_a_camera_sees_it() -> None:
    chance = Random(3)
    for _ in range(30):
        true = uneven(FOOT, chance, step_mm=-0.5)
        home = shifted(true, 0, 620 - 520 - max(base.y_mm - 500 for base in true.bases[3:]))
        seen, there = (uneven(each, chance, step_mm=0.0, sigma_mm=0.2) for each in (true, home))
        state = charging(seen, gun("B1", "british", 560, 640, SOUTH))
        made, _ = after(state, charge(there, "B1"))
        assert fights(made, "F1", "B1")


@pytest.mark.parametrize("beside_mm", [160.0, 160.8, -160.0])
def test_m_8_5_a_line_that_stands_flush_in_a_row_may_wheel_to_charge(beside_mm: float) -> None:
    beside = replace(shifted(FOOT, beside_mm, 0), id="F2")
    enemy = gun("B1", "british", 395, 640, SOUTH)
    assert "B1" in [each.target for each in listed(charging(FOOT, beside, enemy), Charge)]


def test_m_8_5_the_way_of_a_line_askew_is_from_its_front_edge() -> None:
    """Its last base has 164 mm to go, whichever end leads; 4 BW are 160 mm."""
    for step_mm, at_mm in ((-2.0, 560.0), (2.0, 440.0)):
        askew = uneven(FOOT, Random(1), step_mm=step_mm)
        end = min(askew.bases, key=lambda base: abs(base.x_mm - at_mm))
        for away_mm, is_listed in ((164.0, False), (157.0, True)):
            enemy = gun("B1", "british", at_mm, end.y_mm + 20 + away_mm + 20, SOUTH)
            assert bool(listed(charging(askew, enemy), Charge)) == is_listed, (step_mm, away_mm)


def test_m_8_19_cards_are_asked_for_before_the_combat_is_rolled() -> None:
    state, _ = after(charging(FOOT, ENEMY, hand=3), charge(HOME, "B1"))
    assert isinstance(state.step, Modifying)
    assert state.step.then == RollingCombat(("F1", "B1"))


@pytest.mark.parametrize(("off_mm", "is_taken"), [(0.5, True), (2.9, True), (3.5, False)])
def test_g_8_a_gap_of_up_to_3_mm_counts_as_contact_and_is_told(
    off_mm: float, is_taken: bool
) -> None:
    state, short = charging(FOOT, ENEMY), charge(shifted(HOME, 0, -off_mm), "B1")
    if not is_taken:
        with pytest.raises(Refused, match=r"M-8\.5 F1 is 3\.5 mm from where"):
            after(state, short)
        return
    state, events = after(state, short)
    assert events[0].facts["off_mm"] == pytest.approx(off_mm, abs=0.1)
    assert ("counts as contact" in events[0].text) == (off_mm > 1.0)
    assert meeting(field_at(state), "french").engaged["F1"] == ("B1",)


def test_g_8_a_hand_may_be_a_little_aside_and_askew() -> None:
    aside = turned(shifted(HOME, 1.5, -1.0), 0.4, (500, 600))
    state, _ = after(charging(FOOT, ENEMY), charge(aside, "B1"))
    # It is placed at the end of a charge move: not straight ahead, but after a tiny wheel.
    assert state.position.unit("F1").bases[0].heading_deg == pytest.approx(90.0, abs=1.0)
    assert meeting(field_at(state), "french").engaged["F1"] == ("B1",)


@settings(deadline=None, max_examples=25)
@given(st.floats(0.5, 39.5), st.sampled_from(["left", "right"]), st.floats(-20, 20))
def test_m_8_5_wherever_a_legal_wheel_leads_is_a_charge(
    arc_mm: float, corner: Corner, askew_deg: float
) -> None:
    horse = massed("F1", "french", 500, 500)
    enemy = line("B1", "british", 500, 690, SOUTH + askew_deg)
    state = charging(horse, enemy)
    unit, met = (field_at(state).by_id[name] for name in ("F1", "B1"))
    front = wheeled(unit.axes, corner, arc_mm)
    ahead = np.array([np.cos(np.radians(front.heading_deg)), np.sin(np.radians(front.heading_deg))])
    there = shapely.get_coordinates(shapely.intersection(met.outline, lane(front, 320)))
    far_mm = float(((there - front.left_mm) @ ahead).min())
    turned_by = turned_deg(unit.axes, corner, arc_mm)
    home = shifted(turned(horse, turned_by, pivot_mm(unit.axes, corner)), *(ahead * far_mm))
    state, events = after(state, charge(home, "B1"))
    assert events[0].facts["cost_bw"] == pytest.approx((arc_mm + far_mm) / BW, abs=0.05)
    assert meeting(field_at(state), "french").engaged["F1"] == ("B1",)


def test_t_31_four_horse_charge_and_are_engaged_as_the_book_tells() -> None:
    units = four_cavalry()
    begun = [shifted(unit, 0, -80) if unit.side == "french" else unit for unit in units]
    state = charging(*begun)
    for unit in units[:3]:
        state, _ = after(state, charge(unit, "2"))
    state, _ = after(state, march(units[3]))
    # D has an enemy ahead within 1 BW but touches nobody, so it does not fight.
    assert state.step == RollingCombat(("A", "B", "C", "1", "2", "3"))


def test_m_8_7_who_lies_elsewhere_has_made_no_charge_move() -> None:
    with pytest.raises(Refused, match=r"M-8\.5 F1 is .* mm from where its charge at B1 ends"):
        after(charging(FOOT, ENEMY), charge(shifted(HOME, 30, 0), "B1"))


def test_m_8_3_who_cannot_charge_is_told_why() -> None:
    horse = line("B1", "british", 500, 640, SOUTH, arm="cavalry")
    cases = [
        (line("F1", "french", 500, 500, disruption=4), ENEMY, r"M-8\.4", "4 disruptions"),
        (column("F1", "french", 500, 440), ENEMY, r"M-8\.4", "in column"),
        (FOOT, horse, r"M-8\.4", "infantry may not charge cavalry"),
        (FOOT, shifted(ENEMY, 0, 200), r"M-8\.5|M-8\.3", "No charge: no enemy is in reach"),
    ]
    assert GAME.why_missing(charging(FOOT, ENEMY)) == ""
    for unit, enemy, rule, why in cases:
        assert why in GAME.why_missing(charging(unit, enemy))
        with pytest.raises(Refused, match=rf"(?:{rule}) F1 cannot charge"):
            after(charging(unit, enemy), charge(shifted(unit, 0, 80), "B1"))
    with pytest.raises(Refused, match="expected an enemy to charge, got F1"):
        after(charging(FOOT, ENEMY), charge(HOME, "F1"))


def test_m_8_6_difficult_ground_on_the_way_disrupts() -> None:
    rough = (box("rough", 480, 540, 520, 570),)
    state, events = after(charging(FOOT, ENEMY, terrain=rough), charge(HOME, "B1"))
    assert level(state, "F1") == 1
    assert events[1].rule == "M-8.6"


def test_t_8_nobody_charges_out_of_difficult_ground_in_rough_going() -> None:
    rough = (box("rough", 480, 490, 520, 500),)
    state = charging(FOOT, ENEMY, terrain=rough, is_rough_going=True)
    assert GAME.legal(state) == (Done(),)
    assert "difficult ground, which is impassable in this round" in GAME.why_missing(state)
    with pytest.raises(Refused, match=r"M-5\.2"):
        after(state, charge(HOME, "B1"))


def test_m_6_29_a_commander_charged_over_is_displaced() -> None:
    leader = Commander("british-cinc", "british", 500, 560)
    state, _ = after(charging(FOOT, ENEMY, commanders=(leader,)), charge(HOME, "B1"))
    assert isinstance(state.step, Displacing)
    state, _ = after(state, GAME.legal(state)[0])
    assert state.step == RollingCombat(("F1", "B1"))


def force_of_six(able: int) -> tuple[list[Unit], list[Unit]]:
    """Six lines in a row, `able` of them with an enemy 2 BW ahead."""
    force = [line(f"F{place}", "french", 150 + 290 * place, 400) for place in range(6)]
    enemies = [line(f"B{place}", "british", 150 + 290 * place, 520, SOUTH) for place in range(able)]
    return force, enemies


def test_t_30_four_of_six_charge_and_two_move_up_in_support() -> None:
    force, enemies = force_of_six(4)
    state = charging(*force, *enemies)
    assert Done() not in GAME.legal(state)
    for unit, enemy in zip(force, enemies, strict=False):
        state, _ = after(state, charge(shifted(unit, 0, 80), enemy.id))
    for unit in force[4:]:
        state, _ = after(state, march(shifted(unit, 0, 40)))
    assert isinstance(state.step, RollingCombat)
    assert len(state.step.engaged) == 8


def test_m_8_2_at_least_half_of_the_force_charges_before_it_is_done() -> None:
    force, enemies = force_of_six(4)
    state = charging(*force, *enemies)
    for place in range(3):
        with pytest.raises(Refused, match=rf"M-8\.2 {place} of 6 have charged"):
            after(state, Done())
        state, _ = after(state, charge(shifted(force[place], 0, 80), f"B{place}"))
    assert Done() in GAME.legal(state)
    assert isinstance(after(state, Done())[0].step, RollingCombat)


def test_m_8_2_nobody_stays_behind_whose_charge_is_needed() -> None:
    force, enemies = force_of_six(3)
    state = charging(*force, *enemies)
    with pytest.raises(Refused, match=r"M-8\.2 F0 can charge, and 3 more units of the force must"):
        after(state, march(shifted(force[0], 0, 40)))
    assert {action.unit for action in listed(state, March)} == {"F3", "F4", "F5"}
    after(state, march(shifted(force[5], 0, 40)))


def test_m_8_2_who_can_charge_no_more_need_not() -> None:
    # Both can reach the one enemy's flank; the first to do so bars the other's way.
    first, second = line("F1", "french", 500, 500), line("F2", "french", 500, 380)
    state = charging(first, second, ENEMY)
    assert {action.unit for action in listed(state, Charge)} == {"F1"}
    state, _ = after(state, charge(shifted(first, 0, 80), "B1"))
    assert {action.unit for action in listed(state, Charge)} == set()
    assert isinstance(after(state, Done())[0].step, RollingCombat)


def test_m_8_9_who_moves_up_keeps_its_formation_and_goes_forward() -> None:
    first, second = line("F1", "french", 500, 500), line("F2", "french", 800, 500)
    state, _ = after(charging(first, second, ENEMY), charge(shifted(first, 0, 80), "B1"))
    formed = column("F2", "french", 800, 500, 0)
    about = line("F2", "french", 800, 500, SOUTH)
    for unit in (formed, about, shifted(second, 0, -40)):
        with pytest.raises(Refused, match=r"M-8\.9 F2 was activated to charge"):
            after(state, march(unit))
    beside = shifted(second, 0, 97)
    enemy = line("B2", "british", 800, 640, SOUTH)
    state, _ = after(charging(first, second, ENEMY, enemy), charge(shifted(first, 0, 80), "B1"))
    with pytest.raises(Refused, match=r"M-6\.31"):
        after(state, march(shifted(second, 0, 99.5)))
    state, _ = after(state, march(beside))
    assert isinstance(state.step, RollingCombat)


def test_m_8_9_who_moves_up_may_wheel_right_round_but_neither_about_faces_nor_wheels_back() -> None:
    """Massed horse wheels half a turn with 6.28 of its 8 BW; as a march it is an about-face."""
    first, second = line("F1", "french", 500, 500), massed("F2", "french", 900, 500)
    state, _ = after(charging(first, second, ENEMY), charge(shifted(first, 0, 80), "B1"))
    for by_deg in (120, 165, 180):
        _, events = after(state, march(turned(second, by_deg, (860, 540))))
        told = next(each.text for each in events if each.kind == "march")
        assert told == f"F2 marches {math.radians(by_deg) * 2:.2f} BW of 8"
    about = shifted(massed("F2", "french", 900, 500, SOUTH), 0, -120)
    for unit, deed in ((about, "about-face"), (turned(second, 30, (940, 460)), "move backward")):
        with pytest.raises(Refused, match=rf"M-8\.9 F2 was activated to charge and may not {deed}"):
            after(state, march(unit))


def test_each_unit_of_the_force_acts_once_and_nobody_else() -> None:
    first, second = line("F1", "french", 500, 500), line("F2", "french", 800, 500)
    state, _ = after(charging(first, second, ENEMY), charge(shifted(first, 0, 80), "B1"))
    with pytest.raises(Refused, match="F1 has already charged in this round"):
        after(state, march(shifted(first, 0, 40)))
    with pytest.raises(Refused, match="B1 is not in the activated force"):
        after(state, charge(shifted(ENEMY, 0, 0), "F1"))


def test_m_8_10_where_nobody_meets_anyone_the_action_is_over() -> None:
    state, _ = after(charging(FOOT, shifted(ENEMY, 0, 400)), Done())
    assert isinstance(state.step, MovingCommander)


def test_a_charge_is_listed_once_for_each_target() -> None:
    other = gun("B2", "british", 600, 580, SOUTH)
    found = listed(charging(FOOT, shifted(ENEMY, -60, 0), other), Charge)
    assert sorted(action.target for action in found) == ["B1", "B2"]


def test_m_8_5_what_is_too_close_to_reach_is_the_movers() -> None:
    foot = line("F1", "french", 500, 500, sigma_mm=0.5)
    for far_mm, is_taken in ((160.4, True), (170.0, False)):
        enemy = line("B1", "british", 500, 540 + far_mm, SOUTH, sigma_mm=0.5)
        state, home = charging(foot, enemy), charge(shifted(foot, 0, far_mm), "B1")
        if not is_taken:
            with pytest.raises(Refused, match=r"M-8\.5 F1 cannot charge"):
                after(state, home)
            continue
        assert listed(state, Charge) == []
        state, events = after(state, home)
        assert "too close to call, so the mover decides" in events[0].text
        assert state.step == RollingCombat(("F1", "B1"))


def test_m_8_2_whoever_must_charge_is_told_so_and_not_that_it_may_move_up() -> None:
    foe = line("B1", "british", 600, 700, 270.0)
    state = state_at(position(line("F1", "french", 600, 560), foe), Charging(("F1",)))
    assert GAME.asked(state).question == "French charge: F1 must charge"
    away = replace(state, step=Charging(("F1", "F2")))
    away = replace(away, position=position(*state.position.units, line("F2", "french", 200, 200)))
    assert "F1, F2 may charge or move up; 1 more must charge" in GAME.asked(away).question
    blind = replace(state, options=replace(state.options, measuring="declared"))
    assert "1 more must charge" in GAME.asked(blind).question
