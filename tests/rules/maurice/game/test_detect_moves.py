"""Moves by hand, recognised from seen bases: named, judged, and corrected if wrong."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tablecam.rules.game import Suggestion
from tablecam.rules.maurice.game import GAME
from tablecam.rules.maurice.game.actions import Charge, Deploy, FallBack, March, PlaceCommander
from tablecam.rules.maurice.game.activation import Interrupting
from tablecam.rules.maurice.game.charge import Charging
from tablecam.rules.maurice.game.combat import ChoosingFallBacks
from tablecam.rules.maurice.game.command import CommandChoice
from tablecam.rules.maurice.game.commander import Displacing, MovingCommander
from tablecam.rules.maurice.game.march import Marching
from tablecam.rules.maurice.game.setup import Deploying, RollingTerrain
from tablecam.rules.maurice.game.state import Modifier, Over, State, Step
from tablecam.table.model import Commander, Position, Unit
from tablecam.testing import shifted, turned
from tests.rules.maurice.game.states import after, laid, level, state_at
from tests.rules.maurice.game.varied_games import small_tables
from tests.rules.maurice.tables import BW, SOUTH, box, column, gun, line

F1, F2 = line("F1", "french", 500, 500), line("F2", "french", 900, 500)
B1 = line("B1", "british", 500, 1000, SOUTH)


def seen(state: State, *units: Unit) -> Position:
    """The table as the game has it, except for these units."""
    now = {unit.id: unit for unit in (*state.position.units, *units)}
    return replace(state.position, units=tuple(now.values()))


def the_one(state: State, *units: Unit) -> Suggestion:
    (found,) = GAME.detect_moves(state, seen(state, *units))
    return found


def test_what_lies_where_the_game_has_it_was_not_moved() -> None:
    state = laid(Marching(("F1",)), F1, B1)
    assert GAME.detect_moves(state, state.position) == ()
    a_hair_off = turned(shifted(F1, 1.5, -1.5), 0.5, (500, 500))
    assert GAME.detect_moves(state, seen(state, a_hair_off, shifted(B1, 2, 0))) == ()


def test_m_6_12_a_march_is_told_in_the_words_of_the_book_with_its_cost_and_its_way() -> None:
    state = laid(Marching(("F1",)), F1, B1)
    wheeled = turned(F1, 17.19, (420.0, 520.0))
    # After a wheel of 0.3 rad its front faces 107 degrees.
    there = shifted(wheeled, 60 * -0.2955, 60 * 0.9553)
    found = the_one(state, there)
    assert found.text == "F1 wheeled left 1.2 BW and moved ahead 1.5 BW: march?"
    assert found.answer.answer == "yes"
    assert "2.70 of 4 BW" in found.answer.because
    assert {shape.role for shape in found.answer.evidence} == {"path"}
    state, events = after(state, found.action)
    assert events[0].kind == "march"


@pytest.mark.parametrize(
    ("far_mm", "whose"), [(160.0, "camera"), (160.1, "camera"), (160.6, "hand")]
)
def test_m_6_17_a_march_of_a_whole_allowance_has_the_benefit_of_the_doubt(far_mm, whose) -> None:
    state = laid(Marching(("F1",)), FOOT)
    march = the_one(state, shifted(FOOT, 0.0, far_mm))
    assert (march.is_legal, march.answer.answer, march.answer.rule) == (True, "yes", "M-6.17")
    assert re.fullmatch(rf"4\.0\d of 4 BW and within (the|a) {whose}'s error", march.answer.because)


def test_m_6_31_whether_a_march_touches_an_enemy_is_not_decided_for_the_players() -> None:
    state = laid(Marching(("F1",)), FOOT, AHEAD)
    march = the_one(state, shifted(FOOT, 0.0, 99.0))
    assert (march.answer.answer, march.answer.rule) == ("too_close", "M-6.31")


def test_m_6_15_a_wheel_back_is_told_as_one() -> None:
    state = laid(Marching(("F1",)), F1, B1)
    # About its left rear corner: as it turns right, its right rear corner goes back.
    found = the_one(state, turned(F1, -14.324, (420.0, 480.0)))
    assert found.text == "F1 wheeled back, turning right 1 BW: march?"
    assert found.answer.answer == "yes"


def test_what_follows_of_a_march_is_told_before_it_is_confirmed() -> None:
    friend = line("F2", "french", 500, 570)
    leader = Commander("british-cinc", "british", 440, 640)
    enemy = line("B1", "british", 500, 800, SOUTH)
    horse = replace(F1, arm="cavalry")
    woods = (box("woods", 560, 620, 590, 650),)
    units = horse, friend, enemy
    state = laid(Marching(("F1",)), *units, terrain=woods, commanders=(leader,))
    found = the_one(state, shifted(horse, 0, 200))
    for part in (
        "1 disruption for difficult ground (M-6.3)",
        "1 disruption for passing through F2 (M-6.7)",
        "1 disruption for F2, which is passed through (M-6.7)",
        "British Cinc is displaced (M-6.29)",
        "it ends near B1 (M-1.9)",
    ):
        assert part in found.answer.because
    state, _ = after(state, found.action)
    assert (level(state, "F1"), level(state, "F2")) == (2, 1)


SIGMA_MM, SURE = 0.1, {"sigma_mm": 0.1, "sigma_deg": 0.02}
FOOT = line("F1", "french", 500, 500, **SURE)
HORSE = line("F1", "french", 500, 500, arm="cavalry", **SURE)
FILE = column("F1", "french", 500, 500, **SURE)
GUN = gun("F1", "french", 500, 500, **SURE)
AHEAD = line("B1", "british", 500, 640, SOUTH, **SURE)
ABOUT = shifted(turned(HORSE, 160, (500, 500)), 0, -400)
LEFT, RIGHT, REAR = (420, 520), (580, 520), (420, 480)
"""The fixed corners of a line of four as it wheels."""


@pytest.mark.parametrize(
    ("unit", "there", "rule", "ghost", "within_mm"),
    [
        (FOOT, shifted(FOOT, 0, 5 * BW), "M-6.17", shifted(FOOT, 0, 4 * BW), 1.5),
        (FOOT, shifted(FOOT, 0, -3 * BW), "M-6.13", shifted(FOOT, 0, -2 * BW), 1.5),
        (FOOT, turned(FOOT, 80, LEFT), "M-6.17", turned(FOOT, math.degrees(1), LEFT), 5),
        (FOOT, turned(FOOT, -45, REAR), "M-6.13", turned(FOOT, -math.degrees(0.5), REAR), 5),
        (FOOT, turned(FOOT, 30, (500, 500)), "M-6.12", turned(FOOT, 30, LEFT), 1),
        (FOOT, turned(FOOT, -30, (500, 500)), "M-6.12", turned(FOOT, -30, RIGHT), 1),
        (FOOT, turned(FOOT, 80, (500, 500)), "M-6.12", None, 0),
        (FOOT, shifted(FOOT, 0, 99.5), "M-6.31", shifted(FOOT, 0, 97), 3),
        (FOOT, shifted(column("F1", "french", 500, 500, 0), 30, 50), "M-6.23", None, 0),
        (FILE, shifted(FILE, 0, 13 * BW), "M-6.9", shifted(FILE, 0, 12 * BW), 2),
        (GUN, shifted(GUN, 180, 240), "M-6.19", shifted(GUN, 144, 192), 2),
        (HORSE, ABOUT, "M-6.17", None, 0),
    ],
)
def test_what_is_put_on_its_ghost_is_clearly_legal_however_often_it_is_measured(
    unit: Unit, there: Unit, rule: str, ghost: Unit | None, within_mm: float
) -> None:
    enemy = AHEAD if rule == "M-6.31" else shifted(B1, 1000, 0)
    state = laid(Marching(("F1",)), unit, enemy)
    moved = the_one(state, there)
    assert (moved.answer.answer, moved.answer.rule) == ("no", rule)
    found = moved.nearest.unit("F1")
    for base, wanted in zip(found.bases, ghost.bases if ghost else (), strict=bool(ghost)):
        assert math.dist((base.x_mm, base.y_mm), (wanted.x_mm, wanted.y_mm)) < within_mm
    if there is ABOUT:
        assert "faced about" in moved.text
        assert all(base.y_mm < 300 and 240 < base.heading_deg < 300 for base in found.bases)
    for right_mm, up_mm in ((0, 0), (0, SIGMA_MM), (0, -SIGMA_MM), (SIGMA_MM, 0), (-SIGMA_MM, 0)):
        again = the_one(state, shifted(found, right_mm, up_mm))
        assert (again.answer.answer, again.action is None) == ("yes", False), again.answer


def test_m_6_17_too_far_is_told_by_how_much() -> None:
    found = the_one(laid(Marching(("F1",)), F1, B1), shifted(F1, 0, 5 * BW))
    assert "40 mm too far" in found.answer.because
    assert found.answer.margin_mm == pytest.approx(-40)


def test_a_bugle_counts_for_what_a_hand_did_too() -> None:
    bugle = Modifier("french", "bugle", {"F1": 1})
    state = laid(Marching(("F1",)), F1, B1, modifiers=(bugle,))
    assert the_one(state, shifted(F1, 0, 5 * BW)).answer.answer == "yes"
    ghost = the_one(state, shifted(F1, 0, 6 * BW)).nearest.unit("F1")
    assert ghost.bases[0].y_mm == pytest.approx(700, abs=1.5)


def test_m_6_21_a_change_of_formation_is_named_and_a_wrong_one_shown_right() -> None:
    state = laid(Marching(("F1",)), F1, B1)
    formed = column("F1", "french", 500, 500, 0)
    assert the_one(state, formed).text == "F1 changed from line to column: march?"
    ghost = the_one(state, shifted(formed, 30, 50)).nearest.unit("F1")
    after(state, March("F1", ghost.bases))
    about = line("F1", "french", 500, 500, SOUTH)
    assert the_one(state, about).text == "F1 faced about: march?"


def test_m_1_7_bases_that_are_not_flush_are_to_be_closed_up() -> None:
    state = laid(Marching(("F1",)), F1, B1)
    *flush, last = shifted(F1, 0, 80).bases
    loose = replace(F1, bases=(*flush, replace(last, x_mm=last.x_mm + 20)))
    found = the_one(state, loose)
    assert (found.action, found.answer.rule) == (None, "M-1.7")
    assert "close up its bases" in found.text
    after(state, March("F1", found.nearest.unit("F1").bases))


def test_m_6_32_off_the_table_is_off_the_table() -> None:
    state = laid(Marching(("F1",)), F1, B1)
    found = the_one(state, shifted(F1, -600, 0))
    assert (found.answer.answer, found.answer.rule) == ("no", "M-6.32")


def test_a_unit_that_lies_upon_another_is_refused_and_shown_beside_it() -> None:
    state = laid(Marching(("F1",)), F1, line("F2", "french", 500, 640), B1)
    found = the_one(state, shifted(F1, 0, 120))
    assert (found.answer.answer, found.answer.rule) == ("no", "M-6.8")
    assert found.answer.because == "F1 overlaps F2"
    after(state, March("F1", found.nearest.unit("F1").bases))


def test_who_lies_where_another_stood_waits_for_that_to_be_confirmed() -> None:
    first, second = line("F1", "french", 500, 500), line("F2", "french", 500, 430)
    state = laid(Marching(("F2", "F1")), second, first, B1)
    now = shifted(first, 0, 120), shifted(second, 0, 80)
    front, rear = GAME.detect_moves(state, seen(state, *now))
    assert (front.unit, front.answer.answer) == ("F1", "yes")
    assert rear.answer.because == "F2 is where F1 stood: confirm F1 first"
    assert rear.nearest is None
    state, _ = after(state, front.action)
    assert the_one(state, now[1]).answer.answer == "yes"


@pytest.mark.parametrize(
    ("step", "unit", "rule", "why"),
    [
        (Marching(("F1",)), B1, "M-1.5", "French are active in this round"),
        (Marching(("F1",)), F2, "M-6.1", "it is not in the activated force"),
        (Marching(("F1", "F2"), moved=("F2",)), F2, "M-6.31", "it has already moved in this round"),
        (CommandChoice(), F1, "M-4.2", "something else is asked first"),
        (
            Interrupting("activation", ("F1",)),
            F1,
            "M-4.16",
            "something else is asked first",
        ),
    ],
)
def test_what_is_out_of_turn_is_told_once_and_to_be_put_back(
    step: Step, unit: Unit, rule: str, why: str
) -> None:
    state = laid(step, F1, F2, B1)
    for by_mm, what in ((8, "was pushed 0.20 BW"), (60, "was moved 1.50 BW")):
        found = the_one(state, shifted(unit, 0, by_mm))
        assert found.text == f"{unit.id} {what}, but {why}: put it back"
        assert (found.action, found.answer.rule, found.nearest) == (None, rule, state.position)


def test_m_1_6_missing_bases_and_units_are_missed() -> None:
    state = laid(CommandChoice(), F1, F2, B1)
    short = replace(F1, bases=F1.bases[:3])
    assert "a base of F1 cannot be seen" in the_one(state, short).text
    gone = replace(state.position, units=(F1, B1))
    (found,) = GAME.detect_moves(state, gone)
    assert found.text.startswith("F2 cannot be seen on the table")
    extra = replace(F1, bases=(*F1.bases, F2.bases[0]))
    assert "remove the rest" in the_one(state, extra).text


def test_m_1_14_a_broken_unit_that_lies_on_the_table_yet_is_to_be_taken_off() -> None:
    state = laid(CommandChoice(), F1, B1)
    found = the_one(state, line("B2", "british", 900, 900, SOUTH))
    assert (found.unit, found.answer.rule) == ("B2", "M-1.14")
    assert "take it off" in found.text


HOME = shifted(F1, 0, 80)
NEAR = line("B1", "british", 500, 620, SOUTH)


def test_m_8_5_a_charge_is_known_by_whom_it_meets() -> None:
    state = laid(Charging(("F1",)), F1, NEAR)
    found = the_one(state, shifted(HOME, 0, -2))
    assert found.text == "F1 goes 2.00 BW ahead into B1: charge?"
    assert "gap of 2.0 mm counts as contact (G-8)" in found.answer.because
    assert isinstance(found.action, Charge)
    after(state, found.action)


@pytest.mark.parametrize(
    ("aside_mm", "what"), [(12, "push it into contact"), (45, "its charge leads elsewhere")]
)
def test_m_8_5_a_charge_that_was_none_is_shown_where_it_leads(aside_mm: int, what: str) -> None:
    state = laid(Charging(("F1",)), F1, NEAR)
    found = the_one(state, shifted(HOME, aside_mm, 0))
    assert (found.answer.answer, found.answer.rule) == ("no", "M-8.5")
    assert found.text == f"F1 stands in front of B1: {what}"
    assert found.answer.margin_mm < -5.0
    after(state, Charge("F1", "B1", found.nearest.unit("F1").bases))


def test_m_8_2_who_has_to_charge_is_shown_where_its_charge_leads() -> None:
    state = laid(Charging(("F1", "F2")), F1, F2, NEAR)
    found = the_one(state, shifted(F1, 0, 30))
    assert (found.answer.answer, found.answer.rule) == ("no", "M-8.2")
    after(state, Charge("F1", "B1", found.nearest.unit("F1").bases))


def test_m_8_9_who_goes_elsewhere_moves_up() -> None:
    state = laid(Charging(("F1", "F2")), F1, F2, NEAR)
    found = the_one(state, shifted(F2, 0, 40))
    assert found.text == "F2 moved ahead 1 BW: move up?"
    assert found.answer.answer == "yes"
    back = the_one(state, shifted(F2, 0, -40))
    assert (back.answer.answer, back.answer.rule) == ("no", "M-8.9")


def test_m_8_9_who_stops_just_short_of_an_enemy_is_asked_whether_it_charges() -> None:
    state = laid(Charging(("F1", "F2")), F1, F2, NEAR, line("B2", "british", 900, 620, SOUTH))
    found = the_one(state, shifted(F1, 0, 72))
    assert found.text == "F1 stops just short of B1: move up or charge?"
    # Nothing can be confirmed until somebody says which.
    assert found.action is None
    actions = dict(found.choices)
    assert isinstance(actions["Move up"], March)
    charged, _ = after(state, actions["Charge B1: put it in contact"])
    assert charged.step.charged == {"F1": ("B1",)}


def test_m_8_24_a_fall_back_is_right_or_shown_where_it_leads() -> None:
    attacker = shifted(F1, 0, 80)
    state = laid(ChoosingFallBacks(("F1",)), attacker, NEAR)
    right = the_one(state, shifted(attacker, 1, -41))
    assert (right.action, right.answer.answer) == (FallBack("F1"), "yes")
    wrong = the_one(state, shifted(attacker, 0, -55))
    assert (wrong.answer.answer, wrong.answer.rule) == ("no", "M-8.24")
    assert "15 mm from where its fall back ends" in wrong.text
    assert wrong.nearest.unit("F1").bases[0].y_mm == pytest.approx(540)


def test_m_8_27_who_cannot_fall_back_breaks_wherever_a_hand_puts_it() -> None:
    attacker = shifted(F1, 0, 80)
    behind = line("B2", "british", 500, 520)
    state = laid(ChoosingFallBacks(("F1",)), attacker, NEAR, behind)
    found = the_one(state, shifted(attacker, 100, -80))
    assert "breaks as it falls back: take it off" in found.text
    assert found.answer.rule == "M-8.27"


def with_leader(state: State, x_mm: float, y_mm: float) -> Position:
    (leader,) = state.position.commanders
    return replace(state.position, commanders=(replace(leader, x_mm=x_mm, y_mm=y_mm),))


def test_m_6_27_a_commander_is_moved_at_the_end_of_his_round() -> None:
    leader = Commander("french-cinc", "french", 300, 300)
    state = laid(MovingCommander(), F1, B1, commanders=(leader,), hand=2)
    (found,) = GAME.detect_moves(state, with_leader(state, 420, 300))
    assert found.action == PlaceCommander("french", 420, 300)
    assert found.text == "french-cinc was moved 3.0 BW: move him there?"
    assert found.answer.answer == "yes"
    (found,) = GAME.detect_moves(state, with_leader(state, 500, 1000))
    assert (found.answer.answer, found.answer.rule) == ("no", "M-6.27")
    state = state.to(CommandChoice())
    (found,) = GAME.detect_moves(state, with_leader(state, 420, 300))
    assert found.action is None
    assert "put him back" in found.text


def test_m_6_29_a_displaced_commander_is_put_1_bw_off() -> None:
    leader = Commander("british-cinc", "british", 300, 300)
    state = laid(Displacing("british", then=Marching(("F1",))), F1, B1, commanders=(leader,))
    (found,) = GAME.detect_moves(state, with_leader(state, 340, 300))
    assert (found.answer.answer, found.answer.rule) == ("yes", "M-6.29")
    (found,) = GAME.detect_moves(state, with_leader(state, 380, 300))
    assert found.answer.answer == "no"


def test_m_2_3_what_a_side_lays_while_it_deploys_is_one_action() -> None:
    state = laid(Deploying("french", "french", then=CommandChoice()), F1, F2, B1)
    first, second = shifted(F1, 0, -300), shifted(F2, 0, -300)
    found = the_one(state, first, second)
    assert found.action == Deploy("french", {"F1": first.bases, "F2": second.bases})
    assert (found.text, found.answer.answer) == (
        "French have placed 2 units: deployment finished?",
        "yes",
    )
    assert the_one(state, shifted(F1, 0, -250)).answer.answer == "no"
    assert (
        GAME.detect_moves(
            laid(RollingTerrain(then=CommandChoice()), F1, B1), seen(state, shifted(F1, 0, 99))
        )
        == ()
    )


def test_bases_are_told_apart_by_their_tags_in_whatever_order_they_come() -> None:
    tagged = replace(F1, bases=tuple(replace(b, tag=10 + i) for i, b in enumerate(F1.bases)))
    state = laid(Marching(("F1",)), tagged, B1)
    there = shifted(tagged, 0, 80)
    found = the_one(state, replace(there, bases=there.bases[::-1]))
    assert found.action == March("F1", there.bases)


@settings(
    deadline=None,
    max_examples=12,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(
    small_tables,
    st.booleans(),
    st.floats(-150, 150),
    st.floats(-150, 150),
    st.sampled_from([0.0, 12.0, -35.0, 90.0, 180.0]),
)
def test_wherever_a_unit_is_put_the_answer_holds_and_the_nearest_place_is_legal(
    table: Position, is_charge: bool, right_mm: float, up_mm: float, by_deg: float
) -> None:
    force = tuple(unit.id for unit in table.units if unit.side == "french")
    state = state_at(table, Charging(force) if is_charge else Marching(force), hand=0)
    unit = table.unit(force[0])
    about = (unit.bases[0].x_mm, unit.bases[0].y_mm)
    there = turned(shifted(unit, right_mm, up_mm), by_deg, about)
    for found in GAME.detect_moves(state, seen(state, there)):
        assert found.unit == unit.id
        if found.action is not None and found.answer.answer != "no":
            GAME.apply(state, found.action)
        elif found.answer.rule == "M-8.2":
            assert found.nearest is not None  # where its charge leads
        elif isinstance(found.action, March | Charge) and found.nearest is not None:
            ghost = found.nearest.unit(unit.id).bases
            if ghost != unit.bases:
                GAME.apply(state, replace(found.action, bases=ghost))


def test_m_4_1_after_the_game_units_are_packed_away_without_a_word() -> None:
    foot = line("F1", "french", 500, 300)
    over = laid(Over("french", "the British army has no morale left", "M-4.1"), foot)
    assert GAME.detect_moves(over, seen(over, shifted(foot, 200, 400))) == ()
    assert GAME.detect_moves(over, seen(over)) == ()
    playing = laid(Marching(("F1",)), foot)
    assert GAME.detect_moves(playing, seen(playing, shifted(foot, 200, 400))) != ()
