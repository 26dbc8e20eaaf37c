"""The game in progress, rule by rule: what a sequence asks, and what follows from the dice."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from tablecam.errors import BadInput
from tablecam.geometry.moves.poses import ahead, wheeled
from tablecam.geometry.outlines import corners
from tablecam.referee.table_diff import TableDiff
from tablecam.rules.game import Refused
from tablecam.rules.miniatures.battle import Done
from tablecam.rules.miniatures.ground import axes_of, footprints
from tablecam.rules.steps import Decide
from tablecam.rules.syw_d6 import fire, fog_of_war, leaders, marches, melee, morale, volleys
from tablecam.rules.syw_d6 import state as acts
from tablecam.rules.syw_d6.forming import formation_words
from tablecam.rules.syw_d6.game import GAME
from tablecam.rules.syw_d6.state import disordered
from tablecam.table.model import BasePose
from tests.rules.syw_d6.battles import (
    CHART,
    DOWN,
    INCH_MM,
    NO_FOG,
    UP,
    Battle,
    box,
    commander,
    table,
    unit,
)

F1, F2 = unit("F1", 20, 15), unit("F2", 40, 15)
A1, A2 = unit("A1", 20, 40, DOWN), unit("A2", 40, 40, DOWN)


def moved(battle: Battle, name: str, inches: float) -> acts.Move:
    bases = battle.unit(name).bases
    return acts.Move(name, ahead(bases, bases[0].heading_deg, inches * INCH_MM))


def apart(battle):
    """Whether no unit lies on another or on a commander, as bases cannot on a table."""
    ground = battle.state.field
    return not any(ground.upon(area, name) for name, area in ground.outlines.items())


# The sequence.


def test_a_sequence_begins_with_the_fog_of_war_s_0_12():
    battle = Battle(F1, A1, fog=True)
    assert battle.question == "1 die for the Fog of War, which comes on a 1"
    battle.throw(2)
    assert battle.question.startswith("French: throw")


def test_a_turn_is_one_sequence_of_each_side_s_0_9():
    battle = Battle(F1, A1)
    battle.act("End the moves")
    assert (battle.state.turn, battle.state.active) == (1, "allied")
    assert "No fire: no enemy is within 6 in; Turn 1: Allied" in battle.texts()
    battle.act("End the moves")
    assert (battle.state.turn, battle.state.active) == (2, "french")


def test_the_other_side_may_begin_every_other_turn_s_0_9():
    battle = Battle(F1, A1, alternate_first=True)
    for _ in range(2):
        battle.act("End the moves")
    assert (battle.state.turn, battle.state.active) == (2, "allied")


def test_marks_of_the_turn_go_when_the_first_side_begins_again_s_0_11():
    tested = replace(F1, state={"casualties_this_turn": 2, "tested_this_turn": True})
    battle = Battle(tested, A1)
    battle.act("End the moves")
    assert battle.marks("F1")["casualties_this_turn"] == 2
    battle.act("End the moves")
    assert "casualties_this_turn" not in battle.marks("F1")


def test_the_battle_ends_after_the_turns_agreed_or_when_a_side_is_gone():
    battle = Battle(F1, A1, turns=1)
    battle.act("End the moves")
    done = battle.act("End the moves")
    assert [event.kind for event in done.events][-1] == "over"
    assert battle.play.legal() == ()


# Clearing disorder.


def reforming(experience="trained", **state):
    return unit("F1", 20, 15, experience=experience, state={"reforming": True, **state})


@pytest.mark.parametrize(
    ("experience", "throws", "clears"),
    [
        ("green", [(2,)], True), ("green", [(1,)], False),
        ("trained", [(1,), (5,)], False), ("trained", [(1,), (6,)], True),
        ("veteran", [(1,), (2, 6)], True), ("veteran", [(1,), (2, 5)], False),
    ],
)  # fmt: skip
def test_a_red_marker_is_cleared_by_dice_s_a_3(experience, throws, clears):
    battle = Battle(reforming(experience), A1)
    for faces in throws:
        battle.throw(*faces)
    assert ("forms up" in battle.question) is clears
    assert ("reforming" in battle.marks("F1")) is not clears


def test_a_cleared_unit_forms_up_near_where_it_was_s_a_4():
    battle = Battle(reforming(), A1)
    battle.throw(3)
    unit_there = battle.unit("F1")
    facing = wheeled(unit_there.bases, (20 * INCH_MM, 14.5 * INCH_MM), 180)
    with pytest.raises(Refused, match=r"S-A\.4"):
        battle.do(acts.FormUp("F1", ahead(facing, UP, 2.5 * INCH_MM)))
    battle.do(acts.FormUp("F1", ahead(facing, UP, 1.5 * INCH_MM)))
    assert battle.unit("F1").bases[0].heading_deg == 270
    assert "F1: 2 dice, the best counts" in battle.offers()


def test_a_unit_laid_too_far_off_is_drawn_where_its_centre_may_lie_s_a_4():
    battle = Battle(reforming(), A1)
    battle.throw(3)
    turned = wheeled(battle.unit("F1").bases, (16 * INCH_MM, 15 * INCH_MM), 90)
    (too_far,) = laid(battle, "F1", turned)
    assert too_far.text.endswith("in, of at most 2")
    there = too_far.nearest.unit("F1").bases
    assert {round(base.heading_deg) for base in there} == {180}
    (fits,) = laid(battle, "F1", there)
    assert "2.0 in, of at most 2" in fits.text
    battle.do(fits.action)


@pytest.mark.parametrize(
    ("troops", "why"),
    [({"weight": "light"}, "No formation: light troops have none (F1)"),
     ({"arm": "cavalry", "bases": 2}, "No column of march: 2 bases cannot lie three figures deep")],
)  # fmt: skip
def test_who_may_only_stay_as_it_lies_is_told_why_s_a_4(troops, why):
    battle = Battle(unit("F1", 20, 15, state={"reforming": True}, **troops), A1)
    battle.throw(3)
    assert battle.offers() == ["F1: stay as it lies"]
    assert GAME.why_missing(battle.state) == why
    assert battle.play.asked().hint.startswith("By hand it faces any way")


FORMED = (
    # The bases, what is offered besides to stay, and where the outline lies then, in inches.
    ({}, ("column of march", "square"), "square", (19, 11, 21, 15)),
    ({"bases": 6}, ("column of march", "square"), "column of march", (19, 9.5, 21, 15.5)),
    (
        {"bases": 6, "wide_in": 1, "ranks_per_base": 1, "nation": "French"},
        ("column of march", "attack column", "square"), "attack column", (19, 12, 21, 15),
    ),
    ({"arm": "cavalry", "bases": 3}, ("column of march",), "column of march", (19, 12, 21, 15)),
)  # fmt: skip


@pytest.mark.parametrize(("bases", "offered", "taken", "outline_in"), FORMED)
def test_a_cleared_unit_is_offered_its_formations_s_a_4(bases, offered, taken, outline_in):
    battle = Battle(unit("F1", 20, 15, state={"reforming": True}, **bases), A1)
    battle.throw(3)
    assert battle.offers() == ["F1: stay as it lies", *(f"F1: {name}" for name in offered)]
    battle.act(f"F1: {taken}")
    assert f"F1 forms {taken}" in battle.texts()
    assert formation_words(battle.state.field.troops["F1"].formation) == taken
    bounds = battle.state.field.outlines["F1"].bounds
    assert [edge / INCH_MM for edge in bounds] == pytest.approx(outline_in, abs=0.01)


def test_a_square_marches_and_does_not_wheel_s_l_14():
    battle = Battle(reforming(), A1)
    battle.throw(3)
    battle.act("F1: square")
    battle.act("F1: 2 dice")
    battle.throw(4, 4)
    assert battle.offers() == ["F1: 4.0 in ahead", "F1: 2.0 in ahead"]
    turned = wheeled(battle.unit("F1").bases, (19 * INCH_MM, 15 * INCH_MM), 30)
    with pytest.raises(Refused, match=r"S-L\.14 F1 is in square"):
        battle.do(acts.Move("F1", turned))


def test_a_formation_that_the_bases_cannot_make_is_named_s_l_10():
    battle = Battle(unit("F1", 20, 15, state={"reforming": True}, nation="French"), A1)
    battle.throw(3)
    why = "No attack column: its bases, 2 figures deep, make no three ranks"
    assert GAME.why_missing(battle.state) == why


def test_a_column_of_three_ranks_may_be_one_of_march_s_l_11():
    lies = unit("F1", 20, 15, bases=3, ranks=3, ranks_per_base=1, nation="French",
                state={"reforming": True})  # fmt: skip
    battle = Battle(lies, A1)
    battle.throw(3)
    battle.act("F1: column of march")
    assert battle.state.field.troops["F1"].formation == "march_column"
    assert "F1 forms column of march" in battle.texts()


def test_a_unit_forms_up_where_it_has_room_s_a_4():
    behind = commander("F", 20, 13)
    behind = replace(behind, pose=BasePose(*behind.place_mm, UP, 25.4, 25.4))
    battle = Battle(reforming(), behind, A1)
    battle.throw(3)
    battle.act("F1: square")
    area = battle.state.field.outlines["F1"]
    assert area.bounds[1] / INCH_MM == pytest.approx(13.5, abs=0.1)


def test_who_fails_to_clear_does_nothing_in_this_sequence_s_a_5():
    battle = Battle(reforming("green"), F2, A1)
    battle.throw(1)
    assert not any(offer.startswith("F1") for offer in battle.offers())


def test_orange_is_swapped_for_red_by_those_who_reform_s_a_6():
    battle = Battle(replace(F1, state={"disordered": True}), A1)
    battle.act("F1: reform")
    assert battle.marks("F1")["reforming"] is True
    assert not any(offer.startswith("F1: 1 die") for offer in battle.offers())


# Moves.


def test_dice_are_thrown_and_some_are_taken_s_b_4():
    light = unit("F1", 20, 15, weight="light", wide_in=2)
    battle = Battle(light, A1, commander("F", 20, 10))
    battle.act("F1: 4 dice")
    ((title, terms),) = battle.play.asked().sums
    assert (title, terms) == ("4 dice", ("rate +2", "command +1", "experience +1"))
    battle.throw(5, 1, 4, 2)
    assert battle.texts() == "Move; F1 may move 5 + 4 = 9 in (the best 2 of 4 dice)"
    # Whoever shall go less far than half of the best takes fewer dice (S-B.6).
    dice = {"9 in = 5 + 4": 4.5, "5 in": 2.5, "3 in = 1 + 2": 1.5, "2 in": 1, "1 in": 0.5}
    labels = [f"{took} (at least {least:g} in)" for took, least in dice.items()]
    assert battle.offers() == labels
    battle.act("9 in")
    assert battle.state.allowed["F1"] == acts.Allowance(9, 4.5)
    assert battle.question == "French: move F1"


def test_a_green_unit_must_use_all_and_a_trained_one_half_s_b_6():
    battle = Battle(F1, F2, A1)
    battle.act("F1: 2 dice")
    battle.throw(4, 2)
    battle.act("4 in")
    with pytest.raises(Refused, match=r"S-B\.6"):
        battle.do(moved(battle, "F1", 1))
    with pytest.raises(Refused, match=r"S-B\.8"):
        battle.do(moved(battle, "F1", 4.2))
    too_far = {"F1": moved(battle, "F1", 4.2).bases}
    (told,) = battle.do(acts.Overrule(units=too_far, asked=("F1",))).events
    assert told.text == "overruled: F1 has moved there"
    assert "F1" not in battle.state.allowed
    battle.play.undo()
    battle.do(moved(battle, "F1", 2))
    assert battle.marks("F1")["moved"] is True


@pytest.mark.parametrize(
    ("friend", "may_stop"),
    [(unit("F2", 28, 15), False), (unit("F2", 20, 19), True), (unit("A2", 28, 16, DOWN), False)],
)
def test_a_green_unit_stops_short_where_it_cannot_go_on_alone_s_b_6(friend, may_stop):
    battle = Battle(unit("F1", 20, 15, experience="green"), friend, A1)
    battle.act("F1: 1 die")
    battle.throw(6)
    half = "F1: 3.0 in ahead" in battle.offers()
    ruling = marches.judged(battle.state, moved(battle, "F1", 3)).answer
    assert (half, ruling.answer == "yes") == (may_stop, may_stop), ruling.because


ERRORS = st.tuples(st.floats(-0.5, 0.5), st.floats(-0.5, 0.5), st.floats(-0.3, 0.3))


@given(st.floats(5, 90), st.sampled_from([0, 1]), st.lists(ERRORS, min_size=4, max_size=4))
def test_a_wheel_counts_the_arc_of_the_outer_corner_as_hands_lay_it_s_b_8(angle_deg, side, errors):
    state = replace(Battle(F1, A1).state, allowed={"F1": acts.Allowance(13)})
    about_mm = corners(F1.bases[-side])[side]
    meant = wheeled(F1.bases, about_mm, -angle_deg if side else angle_deg)
    bases = tuple(
        replace(
            base,
            x_mm=base.x_mm + x_mm,
            y_mm=base.y_mm + y_mm,
            heading_deg=base.heading_deg + turn_deg,
        )
        for base, (x_mm, y_mm, turn_deg) in zip(meant, errors, strict=True)
    )
    way = marches.judged(state, acts.Move("F1", bases))
    assert way.answer.answer == "yes", way.answer.because
    assert way.cost_in == pytest.approx(8 * math.radians(angle_deg), abs=0.1)


def test_other_formations_are_changes_of_formation_s_b_2():
    battle = Battle(F1, A1)
    battle.act("F1: 2 dice")
    battle.throw(4, 5)
    battle.act("5 in")
    column = tuple(ahead([base], UP, place * INCH_MM)[0] for place, base in enumerate(F1.bases))
    with pytest.raises(Refused, match=r"S-B\.2"):
        battle.do(acts.Move("F1", column))


def test_a_move_stops_three_inches_off_the_enemy_s_b_9():
    # Who is listed first stands aside: told is who lies ahead.
    battle = Battle(F1, unit("A0", 29, 20, DOWN), unit("A1", 20, 19, DOWN))
    battle.act("F1: 2 dice")
    battle.throw(4, 5)
    battle.act("5 in")
    with pytest.raises(Refused, match=r"S-B\.9"):
        battle.do(moved(battle, "F1", 2))
    (short,) = laid(battle, "F1", moved(battle, "F1", 3.5).bases)
    charge = "to charge A1, press Charge or lay F1 in contact"
    assert short.text == f"F1 comes nearer than 3 in to A1: {charge}"
    battle.do(moved(battle, "F1", 1))


def test_a_march_on_offer_ends_three_inches_off_the_enemy_s_b_9():
    battle = Battle(F1, unit("A1", 20, 22.05, DOWN))
    battle.act("F1: 2 dice")
    battle.throw(5, 5)
    battle.act("F1: 4.0 in ahead")
    assert 3 <= battle.state.field.apart_in(battle.unit("F1"), battle.unit("A1")) < 3.02


def test_commanders_move_last_s_b_1():
    battle = Battle(F1, A1, commander("F", 20, 10), commander("FB", 30, 10))
    battle.act("F: 3 dice; after him no unit")
    battle.throw(1, 1, 1)
    battle.act("F: stay")
    assert battle.offers() == ["FB: 3 dice", "End the moves"]
    assert battle.play.asked().hint == "Commanders move last: after F no unit moves."
    assert GAME.why_missing(battle.state) == "No move: commanders move last, and F has moved"


def test_a_wheel_by_a_quarter_turn_is_offered_once_s_b_8():
    battle = Battle(unit("F1", 20, 15, arm="cavalry", bases=1, experience="veteran"), A1)
    battle.act("F1: 5 dice")
    battle.throw(6, 6, 6, 1, 1)
    wheels = [offer for offer in battle.offers() if "wheel" in offer]
    assert wheels == ["F1: wheel left 90° (3.1 in)", "F1: wheel right 90° (3.1 in)"]


def test_a_brigade_moves_as_one_with_the_worst_of_each_s_b_7():
    green = unit("F2", 40, 15, experience="green")
    battle = Battle(F1, green, A1)
    battle.act("French Brigade")
    battle.throw(3, 5)
    battle.act("5 in")
    assert set(battle.state.allowed) == {"F1", "F2"}
    assert battle.state.allowed["F2"].least_in == 5


def test_all_of_a_brigade_that_moves_as_one_must_move_s_b_7():
    battle = Battle(
        *(unit(name, x_in, 15, experience="veteran") for name, x_in in (("F1", 20), ("F2", 40))), A1
    )
    battle.act("French Brigade")
    battle.throw(3, 5, 1, 1)
    assert not {"F1: stay", "F2: stay", "End the moves"} & set(battle.offers())
    with pytest.raises(Refused, match=r"S-B\.6 F1 and F2 must move first"):
        battle.do(Done())


def test_a_brigade_with_a_disordered_unit_does_not_s_b_7():
    battle = Battle(F1, replace(F2, state={"disordered": True}), A1)
    battle.act("No more units reform")
    assert "French Brigade" not in battle.offers()
    assert GAME.why_missing(battle.state) == "No move as one: F2 is disordered"


def test_a_formation_change_brings_a_red_marker_s_b_5():
    battle = Battle(F1, A1)
    battle.act("F1: change formation")
    assert battle.marks("F1")["reforming"] is True
    assert battle.state.field.troops["F1"].is_disordered
    assert not any(offer.startswith("F1: ") for offer in battle.offers())


def test_who_changes_formation_may_fire_and_wears_orange_then_s_b_5_s_d_2():
    battle = Battle(F1, unit("A1", 20, 18, DOWN))
    battle.act("F1: change formation")
    battle.act("F1 at A1: 12 dice")
    ((_, terms),) = battle.play.asked().sums
    assert terms == ("24 of its figures count", "halved: disordered")
    battle.throw(*[1] * 12)
    assert battle.marks("F1").get("disordered")
    assert "reforming" not in battle.marks("F1")


def test_terrain_stops_and_disorders_s_j_8_s_j_9():
    battle = Battle(F1, A1, box("wood", "woods", 10, 17, 30, 25))
    battle.act("F1: 2 dice")
    battle.throw(6, 6)
    assert any(offer.endswith(" in ahead, disorders F1 (Wood)") for offer in battle.offers())
    with pytest.raises(Refused, match=r"S-J\.8"):
        battle.do(moved(battle, "F1", 5))
    battle.do(moved(battle, "F1", 2.9))
    assert battle.marks("F1")["disordered"] is True


@pytest.mark.parametrize(("weight", "disordered"), [("line", True), ("light", False)])
def test_friends_who_pass_through_each_other_s_j_6(weight, disordered):
    friend = unit("F2", 20, 17, weight=weight, experience="veteran")
    battle = Battle(unit("F1", 20, 15, experience="veteran"), friend, A1)
    battle.act("F1: 3 dice")
    battle.throw(6, 5, 3)
    onward = "F1: 6.0 in ahead"
    assert (f"{onward}, disorders F1 and F2" if disordered else onward) in battle.offers()
    battle.do(moved(battle, "F1", 5))
    assert [bool(battle.marks(name).get("disordered")) for name in ("F1", "F2")] == [disordered] * 2
    said = "F2 is disordered: friends went through each other"
    assert (said in battle.texts()) is disordered


def test_who_rides_through_friends_about_to_leave_is_warned_and_waits_s_j_6_s_c_1():
    horse = {"arm": "cavalry", "bases": 2, "figures": 8, "files": 4, "brigade": "horse"}
    places = {"F1": (18, 15), "F2": (22.5, 15), "F3": (20.25, 10)}
    battle = Battle(
        *(unit(name, *at, **horse) for name, at in places.items()), unit("A1", 20, 30, DOWN)
    )
    battle.act("Horse")
    battle.throw(6, 6, 6, 1, 1)
    battle.act("18 in")
    diff = TableDiff(battle.play.game)
    here = battle.play.game.position(battle.state)
    gone = tuple(
        replace(there, bases=ahead(there.bases, UP, 11 * INCH_MM)) if there.id in places else there
        for there in here.units
    )
    diff.begin(replace(here, units=gone))
    diff.compare(battle.state)
    # Each that goes first draws fire, which is asked before another goes.
    assert (diff.together, [move.unit for move in diff.suggested]) == ((), ["F1", "F2", "F3"])
    said = "is disordered: friends went through each other"
    assert diff.brings == {
        "F1": (),
        "F2": (),
        "F3": tuple(f"{n} {said}" for n in ("F3", "F1", "F2")),
    }


def test_a_retreat_by_choice_costs_three_figures_s_b_10():
    battle = Battle(F1, F2, A1)
    battle.act("F1: retreat")
    assert battle.marks("F1")["figures"] == 21
    before = battle.unit("F1").bases[0].y_mm
    battle.throw(4)
    assert battle.unit("F1").bases[0].y_mm == pytest.approx(before - 4 * INCH_MM, abs=8)
    assert battle.unit("F1").bases[0].heading_deg == 90, "who retreats keeps its facing (S-C.11)"


@pytest.mark.parametrize("who", ["unit", "commander"])
def test_a_flight_ends_beyond_friends_and_says_so_s_c_13(who):
    leader = commander("F", 20, 12)
    leader = replace(leader, pose=BasePose(*leader.place_mm, UP, 25.4, 25.4))
    battle = Battle(F1, {"unit": unit("F2", 20, 12.5), "commander": leader}[who], A1)
    battle.act("F1: retreat")
    battle.throw(2)
    (flight,) = (one for done in battle.play.done for one in done.events if one.kind == "flight")
    past = "from where it stood, so as not to end on friends (our reading)"
    assert flight.text == f"F1 retreats 2 in away from A1, and on to 3.5 in {past}"
    assert flight.rule == "S-C.13"


def test_all_whom_a_flight_passes_are_disordered_s_c_13_s_j_6():
    battle = Battle(F1, unit("F2", 20, 12.5), unit("F3", 20, 11.2), A1)
    battle.act("F1: retreat")
    battle.throw(2)
    assert [battle.marks(name)["disordered"] for name in ("F2", "F3")] == [True, True]


@pytest.mark.parametrize(("rule", "stays"), [("S-J.6", True), ("S-J.9", False)])
def test_a_red_marker_stays_when_friends_pass_s_a_7_s_j_6(rule, stays):
    state = Battle(replace(F1, state={"reforming": True}), F2, A1).state
    assert bool(disordered(state, "F1", rule).unit("F1").state.get("reforming")) is stays


def test_a_shot_without_a_die_is_not_offered_s_d_5():
    gun = unit("F1", 20, 15, arm="artillery", bases=1, figures=1, files=1, experience="green")
    bans = []
    for marks in ({}, {"disordered": True}):
        state = Battle(replace(gun, state=marks), unit("A1", 20, 27, DOWN)).state
        ban = volleys.ban_on_shot(state, state.unit("F1"), state.unit("A1"))
        bans.append(ban and (ban.rule, ban.because))
    assert bans == [None, ("S-D.5", "its shot at A1 has no die")]


# Charges.


def charging(*others, gap_in=4.0, target=None, faces=(6, 3), **options):
    """A light cavalry unit or what the test gives, with its dice, before its target."""
    rider = unit(
        "F1", 20, 15, arm="cavalry", bases=2, wide_in=4, figures=8, files=4, experience="veteran"
    )
    target = target or unit("A1", 20, 15 + gap_in, DOWN)
    battle = Battle(rider, target, *others, **options)
    battle.act("F1: 5 dice")
    battle.throw(*faces, 1, 1, 1)
    return battle


def test_a_charge_goes_straight_at_a_right_angle_s_b_11():
    battle = charging()
    assert "F1 charges A1 in front" in battle.offers()
    front = wheeled(battle.unit("F1").bases, (16 * INCH_MM, 15 * INCH_MM), 10)
    with pytest.raises(Refused, match=r"S-B\.1[14]"):
        battle.do(acts.Charge("F1", "A1", ahead(front, 100, 3.3 * INCH_MM)))


def test_a_charge_strikes_whom_the_middle_of_its_front_meets_s_b_12():
    beside = unit("A2", 25.1, 19, DOWN)
    # The rider has most of its front, and the middle, before A1, whom the table lists last.
    battle = charging(beside, unit("A3", 60, 40, DOWN), target=unit("A1", 17, 19, DOWN))
    units = battle.state.position.units
    battle = Battle(at=table(units[0], *units[2:], units[1]))
    battle.act("F1: 5 dice")
    battle.throw(6, 3, 1, 1, 1)
    straight = ahead(battle.unit("F1").bases, UP, 4 * INCH_MM)
    with pytest.raises(Refused, match=r"S-B\.12 F1 points the middle of its front past"):
        battle.do(acts.Charge("F1", "A2", straight))
    (suggestion,) = laid(battle, "F1", straight)
    assert suggestion.text.startswith("F1 charges A1 over 4.0 in")
    charges = [action for action in battle.play.legal() if isinstance(action, acts.Charge)]
    middles_in = {
        charge.target: axes_of(battle.unit("F1"), charge.bases).middle_mm[0] / INCH_MM
        for charge in charges
    }
    assert middles_in["A1"] == pytest.approx(20)
    assert middles_in.get("A2", 22) > 21.1


@pytest.mark.parametrize(("south_in", "may"), [(16.5, False), (19.2, True)])
def test_a_charge_stops_at_the_edge_of_terrain_too_s_j_8(south_in, may):
    battle = charging(box("field", "field", 18, south_in, 22, 25), gap_in=5)
    assert any("charges" in offer for offer in battle.offers()) is may


def test_the_last_inches_must_be_straight_s_b_11():
    # A quarter wheel would leave less than six inches straight on.
    target = unit("A1", 14, 19, UP)
    battle = charging(target=target)
    assert not any("in the flank" in offer for offer in battle.offers())


@pytest.mark.parametrize(("faces", "may"), [((6, 6), True), ((6, 4), False)])
def test_a_charge_may_wheel_aside_and_back_before_its_last_six_inches_s_b_11(faces, may):
    friend = unit("F3", 17.8, 24.5, arm="cavalry", bases=2, wide_in=1.5, figures=8, files=4)
    rider = unit("F1", 19.5, 15, arm="cavalry", bases=2, wide_in=1.5, figures=8, files=4,
                 experience="veteran")  # fmt: skip
    battle = Battle(rider, friend, unit("A1", 20, 25, DOWN, figures=48))
    battle.act("F1: 5 dice")
    battle.throw(*faces, 1, 1, 1)
    assert ("F1 charges A1 in front" in battle.offers()) is may
    straight = ahead(battle.unit("F1").bases, UP, 10 * INCH_MM)
    (suggestion,) = laid(battle, "F1", ahead(straight, 0, 1.4 * INCH_MM))
    assert isinstance(suggestion.action, acts.Charge)
    assert (suggestion.answer.answer == "yes") is may


def test_a_target_that_stands_fires_at_short_range_and_is_met_s_c_2():
    battle = charging(gap_in=4)
    battle.act("F1 charges")
    assert battle.question == "F1 charges A1: stand or evade?"
    battle.act("Stand")
    battle.act("Fire")
    # A front of four bases sees the charger ahead: 24 figures and one die for training.
    battle.throw(*[1] * 25)
    assert battle.marks("F1")["melee_with"] == ("A1",)
    assert battle.marks("A1")["contacted_on"] == "front"


def test_why_a_unit_has_no_move_no_charge_and_no_fire_s_b_1_s_b_11_s_c_5_s_d_8():
    behind = unit("F2", 40, 15)
    battle = charging(behind, gap_in=20)
    assert GAME.why_missing(battle.state) == "No charge: no enemy is within 10 in (F1)"
    battle = charging(behind, target=unit("A1", 20, 10, UP))
    no_wheel = "no wheel leaves the last 6 in straight and square onto an enemy's edge"
    assert f"No charge: {no_wheel} (F1)" in GAME.why_missing(battle.state)
    battle = charging(behind, target=unit("A1", 24.5, 17, DOWN), faces=(2, 2))
    no_wheel = no_wheel.replace("6 in", "5 in")
    past = "straight ahead, F1 points the middle of its front past the edge of A1"
    assert f"No charge: {past}; {no_wheel} (F1)" in GAME.why_missing(battle.state)
    battle = charging(behind, unit("F3", 20, 29), gap_in=20)
    battle.act("F1: wheel left")
    assert GAME.why_missing(battle.state) == "No move: it has moved in this sequence (F1)"
    battle.act("End the moves")
    why = "No fire: cavalry fires in response only (F1); no enemy is within 6 in (F2)"
    assert GAME.why_missing(battle.state) == why


def test_fire_that_destroys_a_charger_ends_its_charge_s_h_4():
    battle = charging()
    battle.act("F1 charges")
    battle.act("Stand")
    battle.act("Fire")
    battle.throw(*[6] * 8, *[1] * 17)
    assert battle.play.asked().is_over
    assert "F1 is destroyed" in battle.texts()


@pytest.mark.parametrize(("figures", "status"), [(8, "retreating"), (5, "routing")])
@pytest.mark.parametrize("answer", ["Stand", "Evade", "Counter-charge"])
def test_a_charger_that_fire_puts_to_flight_strikes_nobody_s_f_1_s_a_1(answer, figures, status):
    target = light(10) if answer == "Evade" else unit("A1", 20, 25, DOWN)
    if answer == "Counter-charge":
        target = unit("A1", 20, 25, DOWN, arm="cavalry", bases=2, wide_in=4, figures=8, files=4)
    beside = unit("A3", 29, 25, DOWN, experience="veteran")
    far = unit("F2", 60, 5)
    battle = charging(beside, far, target=target, faces=(6, 6))
    battle.do(acts.Overrule(figures={"F1": figures}))
    battle.act("F1 charges A1")
    battle.act(answer)
    if answer != "Stand":
        battle.throw(1, 1)
    if answer == "Evade":
        battle.act("F1 strikes A1")
    battle.act("Fire")
    battle.throw(6, 6, 1)
    if status == "retreating":
        battle.throw(3)
    assert battle.marks("F1")["status"] == status
    assert battle.question.startswith("French: throw"), "A1 has nobody to fire at"
    assert not battle.state.fights
    assert not battle.marks("A1").get("melee_with")
    assert battle.unit("F1").bases[0].y_mm == pytest.approx(18.5 * INCH_MM), "6 in before A1"


def light(gap_in):
    return unit("A1", 20, 15 + gap_in, DOWN, weight="light", figures=12, bases=4)


def test_an_evader_that_is_reached_is_struck_in_the_rear_s_c_8():
    battle = charging(target=light(5), faces=(6, 6))
    battle.act("F1 charges")
    battle.act("Evade")
    battle.throw(3, 2)
    assert battle.question == "A1 has evaded: how far does F1 go on?"
    assert battle.offers()[1:] == ["F1: stops where it stands", "F1: goes on 10.0 in"]
    battle.act("F1 strikes A1 in the rear")
    assert battle.marks("A1")["contacted_on"] == "rear"
    assert battle.marks("A1")["disordered"] is True


def evading(*others, before=(), **options):
    """F1 may go 12 in; A1, 5 in before it, evades by 5 in, through those behind it."""
    battle = charging(*others, target=light(5), faces=(6, 6), **options)
    battle.act("F1 charges A1")
    for answer in (*before, "Evade"):
        battle.act(answer)
    battle.throw(3, 2)
    return battle


def test_a_friend_through_whom_an_evader_went_may_be_charged_s_c_10():
    battle = evading(unit("A2", 20, 24.5, DOWN))
    assert "so as not to end on friends (our reading)" in battle.texts()
    assert not any("strikes A1" in offer for offer in battle.offers()), "A2 stands between"
    battle.act("F1 charges A2, through whom A1 went")
    assert battle.question == "F1 charges A2: stand or evade?"
    battle.act("Stand")
    battle.act("Hold fire")
    assert battle.marks("A2")["melee_with"] == ("F1",)
    assert apart(battle)


def test_a_pursuit_goes_through_no_other_unit_s_b_12_s_c_8():
    # A2 stands askew before the charger: no edge of it can be struck square.
    battle = evading(unit("A2", 24.5, 24, 240))
    assert not any("A1" in offer or "A2" in offer for offer in battle.offers())
    battle.act("F1: goes on")
    assert apart(battle)


def based(name, x_in, y_in, level="army"):
    leader = commander(name, x_in, y_in, level)
    return replace(leader, pose=BasePose(*leader.place_mm, UP, 25.4, 25.4))


@pytest.mark.parametrize(("answer", "left"), [("Yes", 1), ("No", 0)])
def test_a_commander_whom_a_charger_reaches_evades_or_is_removed_s_k_3(answer, left):
    battle = charging(based("A", 17, 18), gap_in=5)
    battle.act("F1 charges A1")
    assert battle.question == "F1 reaches A: does he evade?"
    battle.act(answer)
    if left:
        battle.throw(1, 2, 1)
        assert "A evades by 4 in" in battle.texts()
    assert len(battle.state.position.commanders) == left
    battle.act("Stand")
    battle.act("Hold fire")
    assert apart(battle)


def test_a_commander_without_a_place_to_evade_to_is_removed_s_k_3():
    state = charging(based("A", 20, 47), gap_in=5).state
    state = leaders.LeaderFlight("F1", "A", state.unit("F1").bases).follow(state, (1, 1, 1))
    assert state.told[-1].text == "A finds no place to evade to"
    assert not state.position.commanders


def test_commanders_who_meet_find_free_places_s_m_4():
    battle = Battle(F1, A1, based("F", 18, 13), based("FB", 40, 5, "brigade"))
    state = fog_of_war.FOG["crisis_meeting"].effect(battle.state)
    ground = state.field
    assert not any(ground.upon(base, name) for name, base in ground.markers.items())
    assert shapely.distance(*ground.markers.values()) < 1.5 * INCH_MM


def test_no_unit_ends_on_a_commander_s_j_6():
    battle = charging(based("A", 17, 18), gap_in=20)
    with pytest.raises(Refused, match=r"S-J\.6 F1 would lie on A"):
        battle.do(moved(battle, "F1", 3))
    seen = replace(battle.unit("F1"), bases=moved(battle, "F1", 3).bases)
    there = GAME.nearest(battle.state, battle.unit("F1"), seen.bases)
    assert not battle.state.field.upon(footprints(there), "F1")


def test_riders_without_room_to_face_the_charger_do_not_counter_charge_s_c_9():
    beside = unit("A2", 20.1, 24, 180, bases=2)
    riders = unit("A1", 20, 21, DOWN, arm="cavalry", bases=2, wide_in=4, deep_in=2, figures=8,
                  files=4)  # fmt: skip
    battle = charging(
        beside,
        target=replace(riders, bases=wheeled(riders.bases, (20 * INCH_MM, 21 * INCH_MM), 90)),
    )
    battle.act("F1 charges A1")
    assert "counter-charge" not in battle.question


def test_who_catches_nobody_stops_where_he_likes_and_is_disordered_s_c_8():
    battle = charging(target=light(5), faces=(6, 6))
    battle.act("F1 charges")
    battle.act("Evade")
    battle.throw(4, 4)
    assert not any("strikes" in offer for offer in battle.offers())
    start = battle.unit("F1").bases
    with pytest.raises(Refused, match=r"S-C\.8"):
        battle.do(acts.Move("F1", ahead(start, UP, 13.5 * INCH_MM)))
    battle.do(acts.Move("F1", ahead(start, UP, 7 * INCH_MM)))
    assert battle.marks("F1")["disordered"] is True
    assert "F1 strikes no enemy and goes on 7.0 in" in battle.texts()


@pytest.mark.parametrize(
    ("gap_in", "stops"),
    [
        (5, ["stops where it stands", "goes on 13.0 in"]),
        (8, ["stops where its last 6 in begin", "stops 11.0 in on from where its last 6 in begin"]),
    ],
)
def test_the_stops_of_a_pursuit_say_where_they_are_s_c_8(gap_in, stops):
    battle = charging(target=light(gap_in), faces=(6, 6))
    battle.act("F1 charges")
    battle.act("Evade")
    battle.throw(5, 5)
    assert battle.offers() == [f"F1: {stop}" for stop in stops]


AWAY = "directly away, disordered; it may be caught."
COSTS = (
    ({}, f"Stand: it may fire 9 dice. Evade: 3 dice {AWAY} Counter-charge: 2 dice, with a charge "
         "bonus from 4.0 in."),
    ({"disordered": True}, f"Stand: it may fire 4 dice. Evade: 3 dice {AWAY} Cavalry "
                           "counter-charges in order, out of a melee, with room to face the "
                           "charger."),
    (None, f"Stand: it may fire 25 dice. Evade: 1 die {AWAY}"),
)  # fmt: skip


@pytest.mark.parametrize(("marks", "costs"), COSTS)
def test_each_answer_to_a_charge_says_what_it_brings_s_c_6(marks, costs):
    riders = unit("A1", 20, 19, DOWN, arm="cavalry", bases=2, wide_in=4, figures=8, files=4)
    battle = charging(target=None if marks is None else replace(riders, state=marks))
    battle.act("F1 charges")
    assert battle.play.asked().hint == costs


@pytest.mark.parametrize(("faces", "bonus"), [((2, 1), False), ((2, 2), True)])
def test_a_counter_charge_has_the_bonus_if_it_reaches_the_start_s_c_9(faces, bonus):
    riders = unit("A1", 20, 19, DOWN, arm="cavalry", bases=2, wide_in=4, figures=8, files=4)
    battle = charging(target=riders)
    battle.act("F1 charges")
    battle.act("Counter-charge")
    battle.throw(*faces)
    (fight,) = battle.state.fights
    assert ("A1" in fight.chargers) is bonus
    why = "with the bonus: it reaches" if bonus else "without the bonus: it falls short of"
    far = f"{sum(faces)}.0 in, of {sum(faces)} in thrown"
    assert f"A1 counter-charges {far}, {why} where the charge began" in battle.texts()
    further = ahead(battle.state.unit("F1").bases, UP, 50.8)
    (told,) = laid(battle, "F1", further)
    assert told.text == "F1 was moved 2.0 in, but it meets A1 at the outline: put it back"


@pytest.mark.parametrize(("faces", "is_asked"), [((1, 1), True), ((3, 3), False)])
def test_fire_at_a_charger_goes_by_where_a_counter_charge_meets_it_s_c_1_s_c_9(faces, is_asked):
    riders = unit("A1", 20, 25, DOWN, arm="cavalry", bases=2, wide_in=4, figures=8, files=4)
    battle = charging(unit("A3", 29, 25, DOWN), target=riders, faces=(6, 6))
    battle.act("F1 charges A1")
    battle.act("Counter-charge")
    assert "A3: fire" not in battle.question
    battle.throw(*faces)
    assert ("A3: fire at F1" in battle.question) is is_asked, "its muskets reach 6 in"


def test_fire_at_who_pursues_goes_by_where_he_stops_s_c_1_s_c_8():
    battle = charging(unit("A3", 29, 28, DOWN), target=light(10), faces=(6, 6))
    battle.act("F1 charges A1")
    battle.act("Evade")
    battle.throw(6, 6)
    start = battle.unit("F1").bases
    # Its charge distance begins 4 in on; A3 lies 9 in ahead of that, and its muskets reach 6.
    battle.do(acts.Move("F1", ahead(start, UP, 4 * INCH_MM)))
    assert "A3: fire" not in battle.question


def test_a_unit_in_a_melee_fires_at_who_strikes_its_front_s_c_2_s_d_1():
    second = unit("F2", 13, 15, arm="cavalry", bases=2, figures=8, files=4, experience="veteran")
    battle = charging(second, target=unit("A1", 18, 19, DOWN, bases=8, figures=48))
    for label in ("F1 charges A1", "Stand", "Hold fire", "F2: 5 dice"):
        battle.act(label)
    battle.throw(6, 6, 1, 1, 1)
    battle.act("F2 charges A1 in front")
    assert battle.play.asked().hint == "Stand: it may fire 32 dice."
    battle.act("Stand")
    assert battle.question == "A1: fire at F2 as it charges home?"
    assert fire.ban_on_response(battle.state.field.troops["A1"], "crosses", 1.0).rule == "S-D.1"


def test_a_rout_in_front_of_muskets_calls_response_fire_s_c_1_s_a_1():
    flees = {"status": "routing", "disordered": True, "flees_from": "A1"}
    battle = Battle(replace(F1, state=flees), F2, unit("A1", 20, 17, DOWN))
    battle.throw(3)
    assert battle.question == "A1: fire at F1 as it moves, 2.0 in away at its closest?"
    battle.act("Fire")
    battle.throw(1, 1)
    assert "A1 fires at F1: 0 hits" in battle.texts()


def test_losses_cite_the_rule_that_takes_them_s_f_3_s_b_10():
    done = fighting((3, 2)).play.done[-1].events
    (lost,) = [event for event in done if event.kind == "casualties"]
    assert (lost.rule, lost.text) == (
        "S-F.3", "A1 loses 3 figures, 3 for 1 point: 21 left"
    )  # fmt: skip
    battle = Battle(F1, A1)
    done = battle.act("F1: retreat, losing 3 figures").events
    assert "S-B.10" in [event.rule for event in done if event.kind == "casualties"]


def test_tests_that_no_die_decides_are_summed_up_s_g_1():
    state = Battle(F1, A1).state
    for name in ("F1", "F2", "A1"):
        state = state.tells("test", f"{name} takes a TEST", "S-H.1", unit=name, fate="none")
    assert morale.moral_due(state).told[1].text == "3 units take a TEST: all hold"
    state = state.tells("test", "A2 takes a TEST", "S-H.1", unit="A2", fate="rout")
    assert morale.moral_due(state).told[1].text == "4 units take a TEST: A2 fails"


def test_who_has_gone_too_little_is_shown_how_far_it_must_s_b_6():
    battle = Battle(unit("F1", 20, 15, experience="green"), A1)
    battle.act("F1: 1 die")
    battle.throw(5)
    seen = replace(battle.unit("F1"), bases=moved(battle, "F1", 2.6).bases)
    (made,) = GAME.detect_moves(battle.state, table(seen, A1))
    assert made.text == "F1 moves 2.6 in, and must use 5"
    assert made.nearest.unit("F1").bases[0].y_mm == pytest.approx(19.5 * INCH_MM, abs=0.1)
    upon = replace(seen, bases=ahead(battle.unit("F1").bases, 0, 400))
    assert GAME.nearest(battle.state, battle.unit("F1"), upon.bases)


@pytest.mark.parametrize(
    ("skill", "words"),
    [("green", "exactly 4 in"), ("trained", "2 to 4 in"), ("veteran", "up to 4 in")],
)
def test_the_hint_says_how_far_a_unit_must_go_s_b_6(skill, words):
    battle = Battle(unit("F1", 20, 15, experience=skill), A1)
    battle.act("F1:")
    battle.throw(*[4] * battle.play.legal()[0].count)
    if "how far" in battle.question:
        battle.act("4 in")
    stops = "A unit that does not charge stops 3 in from the enemy (S-B.9)."
    assert battle.play.asked().hint == f"By hand: F1 {words}. {stops}"


def test_who_passes_the_front_of_an_enemy_is_fired_at_s_c_1():
    battle = Battle(F1, unit("A1", 20, 21.5, DOWN), unit("A2", 60, 40, DOWN))
    battle.act("F1: 2 dice")
    battle.throw(2, 1)
    battle.act("2 in")
    battle.do(moved(battle, "F1", 2))
    assert battle.question == "A1: fire at F1 as it moves, 4.5 in away at its closest?"
    ((title, terms),) = battle.play.asked().sums
    assert title == "1 die, each 6 takes a figure"
    passing = ("1 die for fire in passing", "halved: long range", "rounded down to 0")
    assert terms == (*passing, "fire bonus +1")
    assert GAME.passed(battle.state) is None, "no button beside the two gives up the shot"
    battle.act("Fire")
    # One die is halved to none beyond 3 in; one more for training (S-C.3).
    battle.throw(1)


@pytest.mark.parametrize(
    ("over_in", "away", "is_long"),
    [(0, "3.0", False), (0.002, "3.0", False), (0.03, "3.03", True)],
)
def test_a_range_over_a_band_is_seen_and_a_hair_is_none_s_0_2_s_d_8(over_in, away, is_long):
    battle = Battle(F1, unit("A1", 20, 20 + over_in, DOWN), unit("A2", 60, 40, DOWN))
    battle.act("F1: 2 dice")
    battle.throw(2, 1)
    battle.act("2 in")
    battle.do(moved(battle, "F1", 2))
    assert battle.question == f"A1: fire at F1 as it moves, {away} in away at its closest?"
    ((_, terms),) = battle.play.asked().sums
    assert ("halved: long range" in terms) is is_long


def test_fire_in_passing_without_a_die_is_not_asked_s_c_3():
    # As before, but a green enemy has no die for training.
    green = unit("A1", 20, 21.5, DOWN, experience="green")
    battle = Battle(F1, green, unit("A2", 60, 40, DOWN))
    battle.act("F1: 2 dice")
    battle.throw(2, 1)
    battle.act("2 in")
    battle.do(moved(battle, "F1", 2))
    assert battle.question == "Allied: throw for a unit or a brigade, or end the moves"


# Fire.


def test_fire_removes_figures_and_then_bases_s_0_7():
    battle = Battle(F1, unit("A1", 20, 17, DOWN, figures=24), A2).to_fire()
    battle.act("F1 at A1: 25 dice")
    battle.throw(*[6] * 6, *[1] * 19)
    assert "A1 loses 6 figures, one for each 6: 18 left" in battle.texts()
    assert len(battle.unit("A1").bases) == 3
    assert battle.marks("A1")["disordered"] is True, "two casualties disorder (S-J.1)"
    assert battle.question == "1 die for the TEST of A1"


def test_a_unit_that_has_moved_does_not_fire_s_b_1():
    battle = Battle(F1, unit("A1", 20, 20.5, DOWN))
    battle.act("F1: 2 dice")
    battle.throw(2, 1)
    battle.act("2 in")
    battle.do(moved(battle, "F1", 1.5))
    battle.act("Hold fire")
    assert battle.state.active == "allied"


def test_one_shot_a_sequence_s_d_1():
    battle = Battle(F1, unit("A1", 20, 17, DOWN), A2).to_fire()
    battle.act("F1 at A1")
    battle.throw(*[1] * 25)
    assert not any(offer.startswith("F1") for offer in battle.offers())


# TESTs and melee.


def shot_at(marks=None, **options):
    battle = Battle(F1, unit("A1", 20, 17, DOWN, state=marks), A2, **options).to_fire()
    battle.act("F1 at A1")
    battle.throw(6, 6, *[1] * 23)
    return battle


def test_a_test_sums_named_factors_s_h_1():
    battle = shot_at(charts={"test": CHART["test"] | {"retreat_at": -2}})
    done = battle.throw(6)
    assert done.events[0].facts["parts"] == {
        "losses": 0, "disordered": -2, "casualties_artillery": 0, "casualties_flank_rear": 0,
        "contacted_flank_rear": 0, "green": 0, "trained": 0, "retreats": 0, "retreating_friends": 0,
        "routs": 0, "routed_friends": 0, "destroyed_friends": 0, "charging": 0,
        "friends_in_sight": 0, "command": 0, "modifier_die": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("chart", "fault"),
    [
        ({"test": {"grene": -1}}, r"charts: test\.grene: unknown key; did you mean green"),
        ({"test": {"green": -7}}, r"charts: test\.green: expected a number of -6 or more, got -7"),
        ({"game": "huzzah-ge"}, r"charts: game: expected syw-d6"),
    ],
)
def test_a_battle_takes_no_chart_with_a_fault_s_n_2(chart, fault):
    with pytest.raises(BadInput, match=fault):
        shot_at(charts=chart)


def test_a_lost_row_is_asked_for_once_and_kept_s_n_3():
    battle = shot_at(charts={"game": "syw-d6", "test": {"retreat_at": "none"}})
    assert "trained unit" in battle.question
    battle.act("trained unit -1")
    assert battle.state.chart["trained"] == -1
    assert "The players say: trained unit -1" in battle.texts()
    held = "A1 takes a TEST: disordered -2, trained unit -1; it holds at -3, whatever the die"
    assert held in battle.texts()


def test_a_lost_row_says_what_it_leads_to_s_n_1_s_n_3():
    battle = shot_at(charts={"test": {key: -1 for key in CHART["test"] if key != "retreat_at"}})
    question = "At which score does a TEST mean “retreat”, by your printed sheet?"
    assert battle.question == question
    scores = [f"retreat at {score:+d} or less".replace("+0", "0") for score in range(-6, 7)]
    assert battle.offers() == ["no retreat by a TEST", *scores]
    battle.act("retreat at -4 or less")
    (die,) = GAME.offered(battle.state, *battle.play.legal()).dice
    assert die.goal == "1 it retreats at -4, 2-5 it holds at -3, 6 it holds at -2"


def fighting(faces):
    """Two lines in a melee that the French have brought on."""
    alone = unit("F2", 60, 5), unit("A2", 60, 40, DOWN)
    battle = Battle(F1, unit("A1", 20, 17, DOWN), *alone)
    battle.act("F1: 2 dice")
    battle.throw(4, 1)
    battle.act("4 in")
    for label in ("F1 charges A1 in front", "Stand", "Hold fire", "End the moves"):
        battle.act(label)
    battle.throw(*faces)
    return battle


def test_the_loser_of_a_melee_loses_three_figures_a_point_s_f_3():
    battle = fighting((3, 1))
    # The charge counts 1, the die of 1 of a trained unit takes 1 off.
    assert battle.marks("A1")["figures"] == 24 - 6
    assert "A1 loses 6 figures, 3 for each of 2 points: 18 left" in battle.texts()
    assert battle.marks("A1")["status"] == "retreating", "the loser retreats at least (S-F.4)"
    assert battle.marks("F1")["disordered"] is True, "the end of a melee disorders all (S-F.7)"


def test_a_melee_names_the_commander_who_is_too_far_s_h_8():
    target = unit("A1", 20, 17, DOWN)
    battle = Battle(F1, target, A2, commander("F", 50, 15), commander("A", 20, 30))
    battle.act("F1: 2 dice")
    battle.throw(4, 1)
    battle.act("4 in")
    for label in ("F1 charges A1 in front", "Stand", "Hold fire", "End the moves"):
        battle.act(label)
    (attack, defence) = battle.play.asked().sums
    assert attack.terms[-1].startswith("no command: F, the nearest over it, is ")
    assert "command +1" in defence.terms


def test_a_draw_goes_on_if_somebody_wishes_s_f_6():
    battle = fighting((1, 3))
    assert "A draw" in battle.question
    battle.act("No")
    assert battle.play.asked().seat == "allied"
    battle.act("Yes")
    assert len(battle.state.fights) == 1


def test_who_flees_from_a_melee_that_goes_on_ends_it_s_f_7_s_a_1():
    battle = fighting((1, 3))
    battle.act("No")
    battle.act("Yes")
    battle.do(acts.Overrule(status={"A1": "routing"}, phase="flights", active="allied"))
    battle.throw(4)
    assert not battle.state.fights
    assert not battle.marks("F1").get("melee_with")


def test_after_a_draw_that_nobody_continues_all_fall_back_s_f_6():
    battle = fighting((1, 3))
    assert "all fall back 3 in and are disordered" in battle.play.asked().hint
    before = battle.unit("F1").bases[0].y_mm
    battle.act("No")
    battle.act("No")
    assert battle.unit("F1").bases[0].y_mm == pytest.approx(before - 3 * INCH_MM)
    assert battle.state.fights == ()


def test_who_was_struck_in_the_rear_falls_back_away_from_who_struck_him_s_f_6():
    battle = evading()
    battle.act("F1 strikes A1 in the rear")
    (fight,), before = battle.state.fights, battle.unit("A1").bases
    draw = melee.WishDue(fight, battle.state.enemy_of(battle.state.active))
    state = draw.follow(battle.state, Decide(False))
    assert state.unit("A1").bases == ahead(before, UP, 3 * INCH_MM)
    assert state.unit("A1").bases[0].heading_deg == before[0].heading_deg
    assert state.field.apart_in(state.unit("A1"), state.unit("F1")) == pytest.approx(6)


def test_who_must_flee_moves_first_in_its_own_sequence_s_a_1():
    loser = replace(A1, state={"status": "retreating", "disordered": True, "flees_from": "F1"})
    battle = Battle(F1, loser, A2)
    battle.act("End the moves")
    assert battle.question == "1 die for how far A1 retreats"
    drawn = {shape.role for shape in GAME.step_shapes(battle.state)}
    assert drawn == {"unit"}, "a line to the enemy would look like fire"
    before = battle.unit("A1").bases[0].y_mm
    battle.throw(4)
    assert battle.unit("A1").bases[0].y_mm == pytest.approx(before + 4 * INCH_MM)
    assert "status" not in battle.marks("A1"), "a retreat is one move (S-A.2)"


def test_a_rout_runs_off_the_owners_edge_s_a_2():
    loser = unit("A1", 20, 46, DOWN, state={"status": "routing", "fled": True, "disordered": True})
    battle = Battle(F1, loser, A2)
    battle.act("End the moves")
    battle.throw(5)
    assert not battle.state.has("A1")
    assert "A1 leaves the table" in battle.texts()


def moral_step(*things, flight="retreating", y_in=30):
    """The Moral step after A1 has fled by 2 in, with what each TEST counted and did."""
    fate = {"status": flight, "disordered": True, "flees_from": "F1"}
    battle = Battle(F1, unit("A1", 20, y_in, DOWN, state=fate), *things, turns=2)
    battle.act("End the moves")
    battle.throw(2)
    while battle.state.active == "allied":
        throws = "TEST" in battle.question
        battle.throw(3) if throws else battle.play.apply(battle.play.legal()[-1])
    tests = [event for done in battle.play.done for event in done.events if event.kind == "test"]
    counted = {}
    for test in tests:
        assert test.facts["unit"] not in counted, "a moral TEST is taken once a turn (S-G.3)"
        counted[test.facts["unit"]] = {
            part: value for part, value in test.facts["parts"].items() if value
        }
    return battle, counted


def test_friends_near_a_flight_take_the_moral_test_s_g_1():
    friend, far = unit("A2", 40, 30, DOWN), unit("A3", 64, 30, DOWN)
    battle, counted = moral_step(friend, far, flight="routing")
    assert list(counted) == ["A1", "A2"]
    routs = "A1 takes a TEST: disordered -2, routs -2, friends in sight +1; it routs at -3"
    assert routs in battle.texts(), "no TEST ends a rout (S-A.2)"


def test_a_unit_that_has_retreated_tests_for_its_own_retreat_s_a_2_s_h_10():
    battle, counted = moral_step(unit("A2", 40, 30, DOWN))
    assert counted["A1"] == {"disordered": -2, "retreats": -1, "friends_in_sight": 1}
    assert counted["A2"] == {"retreating_friends": -1}
    assert "status" not in battle.marks("A1")


def test_a_rout_by_a_test_counts_in_the_tests_after_it_s_g_2_s_h_4():
    worn = {"figures": 12, "disordered": True}
    broken = unit("A2", 30, 30, DOWN, state=worn)
    same, other = unit("A3", 40, 30, DOWN), unit("A4", 40, 34, DOWN, brigade="guards")
    called = unit("A5", 56, 30, DOWN)
    battle, counted = moral_step(broken, same, other, called)
    assert battle.marks("A2")["status"] == "routing"
    assert counted["A3"]["routed_friends"] == -2
    assert counted["A4"]["routed_friends"] == -1
    assert counted["A5"] == {"routed_friends": -2, "friends_in_sight": 1}, "more than 18 in from A1"


def test_a_friend_that_retreats_and_then_routs_counts_once_as_routed_s_h_4():
    battle = Battle(F1, A1, A2)
    state = acts.with_calamity(acts.with_calamity(battle.state, "A1", "retreats"), "A1", "routs")
    state = acts.with_calamity(state, "A1", "evades")
    company = morale.company_of(state, "A2")
    assert company.routed_friends == morale.ByBrigade(same=1)
    assert company.retreating_friends == 0


def test_a_friend_counts_wherever_it_passed_within_18_in_s_h_9():
    behind = unit("A2", 20, 45.5, DOWN)
    assert "A2" in moral_step(behind, y_in=25)[1], "it stood 19.5 in off and ran to 17.5 in"


def test_a_unit_that_has_tested_says_why_it_takes_no_other_test_s_g_3():
    battle = shot_at({"tested_this_turn": True})
    assert "A1 takes no TEST: it has taken one this turn" in battle.texts()


def test_losses_beyond_what_is_left_say_how_many_were_due_s_f_3():
    due = melee.LossesDue(("F1",), 15, "A1")
    state = due.follow(Battle(unit("F1", 20, 15, figures=6), F2, A1).state, None)
    text = "F1 loses 6 figures of the 15 due (3 for each of 5 points, but has no more): 0 left"
    assert text in [event.text for event in state.told]


# The Fog of War.


@pytest.mark.parametrize(
    ("faces", "rule", "event"),
    [((1, 3), "S-M.4", "crisis_meeting"), ((2, 3), "S-M.5", "fitz_james"),
     ((3, 3), "S-M.6", "lost_orders"), ((3, 4), "S-M.7", "heavy_rain"),
     ((4, 4), "S-M.8", "dead_calm"), ((4, 5), "S-M.9", "inspired_command"),
     ((6, 6), "S-M.12", "ad_victoriam")],
)  # fmt: skip
def test_the_table_of_the_fog_of_war_s_m(faces, rule, event):
    leaders = commander("F", 20, 5), commander("FB", 40, 5, "brigade")
    battle = Battle(F1, A1, *leaders, fog=True)
    battle.throw(1)
    done = battle.throw(*faces)
    assert [(said.rule, said.facts["event"]) for said in done.events if said.kind == "fog"] == [
        (rule, event)
    ]


def test_lost_orders_name_the_brigade_s_m_6():
    battle = Battle(F1, unit("F2", 40, 15, brigade="guerchy"), A1, commander("F", 42, 8), fog=True)
    battle.throw(1)
    battle.throw(3, 3)
    assert "Guerchy brigade goes half as far: F2" in battle.texts()


def test_dead_calm_takes_a_die_of_every_shot_s_m_8():
    battle = Battle(F1, unit("A1", 20, 17, DOWN), fog=True)
    battle.throw(1)
    battle.throw(4, 4)
    battle.to_fire()
    battle.act("F1 at A1: 24 dice")
    ((_, terms),) = battle.play.asked().sums
    assert terms == ("24 of its figures count", "fire bonus +1", "weather -1")


def test_rain_lasts_both_sequences_and_then_on_a_one_s_m_7():
    battle = Battle(F1, A1, fog=True)
    battle.throw(1)
    battle.throw(3, 4)
    battle.act("End the moves")
    battle.throw(2)
    assert battle.state.events == ("heavy_rain",)
    battle.act("End the moves")
    assert battle.question == "1 die for the rain, which lasts on a 1"
    battle.throw(3)
    assert battle.state.events == ()


def test_a_stray_shell_kills_a_commander_by_lot_s_m_2():
    leaders = commander("F", 20, 5), commander("FB", 40, 5, "brigade")
    battle = Battle(F1, A1, *leaders, fog=True)
    battle.throw(1)
    battle.throw(1, 1)
    assert battle.question == "1 die for the lot"
    battle.throw(3)
    assert [leader.id for leader in battle.state.position.commanders] == ["FB"]


def test_to_victory_takes_the_orange_markers_off_s_m_12():
    marks = {"disordered": True}
    routed = unit("F2", 40, 15, state=marks | {"status": "routing"})
    retreating = unit("F3", 60, 15, state=marks | {"status": "retreating"})
    battle = Battle(replace(F1, state=marks), routed, retreating, A1, fog=True)
    battle.throw(1)
    battle.throw(6, 6)
    assert "disordered" not in battle.marks("F1")
    assert not {"disordered", "status"} & battle.marks("F2").keys(), "it has rallied (S-A.2)"
    assert "F2 has cleared its disorder: its rout is over (our reading)" in battle.texts()
    assert battle.question == "1 die for how far F3 retreats"


# Hands.


def laid(battle: Battle, name: str, bases):
    return GAME.detect_moves(battle.state, seen(battle, name, bases))


def test_a_way_before_its_dice_is_told_and_not_judged_s_b_4():
    battle = Battle(F1, A1)
    (suggestion,) = laid(battle, "F1", ahead(F1.bases, UP, 2 * INCH_MM))
    assert (suggestion.action, suggestion.answer.rule) == (None, "S-B.4")
    assert suggestion.text == "F1 has moved before its dice were thrown"


def test_a_move_by_hand_is_judged_by_its_dice_s_b_8():
    battle = Battle(F1, A1)
    battle.act("F1: 2 dice")
    battle.throw(4, 2)
    battle.act("4 in")
    (fits,) = laid(battle, "F1", ahead(F1.bases, UP, 3 * INCH_MM))
    (too_far,) = laid(battle, "F1", ahead(F1.bases, UP, 5 * INCH_MM))
    assert (fits.answer.answer, too_far.answer.answer) == ("yes", "no")
    (aside,) = laid(battle, "F1", ahead(F1.bases, 0, INCH_MM))
    assert aside.text == "F1 cannot march ahead and wheel to there within 4 in"
    battle.do(fits.action)


@pytest.mark.parametrize("over_in", [0.04, 0.2, 2.0])
def test_the_nearest_legal_place_lies_back_on_the_way_s_b_6_s_b_8(over_in):
    bases = tuple(replace(base, sigma_mm=0.2, sigma_deg=0.1) for base in F1.bases)
    battle = Battle(unit("F1", 20, 15, experience="green"), A1)
    battle.act("F1: 1 die")
    battle.throw(5)
    (too_far,) = laid(battle, "F1", ahead(bases, UP, (5 + over_in) * INCH_MM))
    assert too_far.text == f"F1 moves {round(5 + over_in, 2)} in, of at most 5"
    for base, there in zip(bases, too_far.nearest.unit("F1").bases, strict=True):
        assert there.heading_deg == pytest.approx(UP, abs=0.2)
        way = there.x_mm - base.x_mm, there.y_mm - base.y_mm
        assert way == (pytest.approx(0, abs=0.5), pytest.approx(5 * INCH_MM, abs=2))


@pytest.mark.parametrize(("gap_in", "aside_mm"), [(5, 0), (5, 2), (7, 0), (7, 2), (7, -1)])
def test_a_move_into_contact_by_hand_is_a_charge_s_b_11(gap_in, aside_mm):
    """A hand goes a hair aside, which wheels there and back would explain."""
    battle = charging(gap_in=gap_in)
    straight = ahead(battle.unit("F1").bases, UP, gap_in * INCH_MM)
    (suggestion,) = laid(battle, "F1", ahead(straight, 0, aside_mm))
    assert isinstance(suggestion.action, acts.Charge)
    assert suggestion.answer.answer == "yes"


@pytest.mark.parametrize("answer", ["Stand", "Evade"])
@pytest.mark.parametrize("gone_in", [2, 5])
def test_a_charger_may_lie_on_its_way_while_it_is_answered_s_c_1_s_c_6(gone_in, answer):
    battle = charging(gap_in=5)
    battle.act("F1 charges")
    there = ahead(battle.unit("F1").bases, UP, gone_in * INCH_MM + 1)
    assert laid(battle, "F1", there) == ()
    (astray,) = laid(battle, "F1", ahead(there, 0, INCH_MM))
    assert (astray.action, astray.answer.answer) == (None, "no")
    battle.act(answer)
    assert laid(battle, "F1", there) == (), battle.question


@pytest.mark.parametrize(("aside_in", "short_in"), [(1.5, 0), (0, 0.25)])
def test_a_charge_that_players_accept_is_answered_and_fought_s_b_11_s_c_6(aside_in, short_in):
    """The referee finds no straight way there, or the hand has stopped a hair short."""
    battle = charging(gap_in=5)
    there = ahead(
        ahead(battle.unit("F1").bases, UP, (5 - short_in) * INCH_MM), 0, aside_in * INCH_MM
    )
    (made,) = laid(battle, "F1", there)
    assert made.answer.answer == "no"
    assert made.text.endswith("if you accept it, F1 charges A1")
    told = battle.do(acts.Overrule(units={"F1": there}, asked=("F1",))).events
    assert [event.kind for event in told] == ["overrule", "charge"]
    assert battle.question == "F1 charges A1: stand or evade?"
    assert laid(battle, "F1", there) == ()
    battle.act("Stand")
    battle.act("Hold fire")
    assert battle.marks("F1")["melee_with"] == ("A1",)
    assert battle.unit("F1").bases[0].y_mm == pytest.approx(there[0].y_mm)
    assert "F1" not in battle.state.allowed


def test_sigmas_make_a_move_too_close_to_call_s_b_8():
    unsure = replace(F1, bases=tuple(replace(base, sigma_mm=1.0) for base in F1.bases))
    battle = Battle(unsure, A1)
    battle.act("F1: 2 dice")
    battle.throw(4, 2)
    battle.act("4 in")
    (suggestion,) = laid(battle, "F1", ahead(unsure.bases, UP, 4 * INCH_MM + 0.5))
    assert suggestion.answer.answer == "too_close"
    (too_far,) = laid(battle, "F1", ahead(unsure.bases, UP, 5 * INCH_MM))
    (put_there,) = laid(battle, "F1", too_far.nearest.unit("F1").bases)
    assert put_there.answer.answer == "yes"


# Bad input.


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"figures": None}, "figures"),
        ({"experience": "seasoned"}, "experience"),
        ({"figures": "many"}, "figures"),
    ],
)
def test_a_unit_that_lacks_a_key_is_refused_in_one_line_s_0_4(change, message):
    odd = replace(F1, extra={key: value for key, value in (F1.extra | change).items() if value})
    with pytest.raises(BadInput, match=message):
        GAME.begin(table(odd, A1), NO_FOG)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"first": "dutch"}, "dutch"), ({"turns": -1}, "turns"), ({"moon": 1}, "moon")],
)
def test_odd_options_are_refused_in_one_line(options, message):
    with pytest.raises(BadInput, match=message):
        GAME.begin(table(F1, A1), options)


def test_one_side_alone_cannot_fight():
    with pytest.raises(BadInput, match="two sides"):
        GAME.begin(table(F1, F2), {})


def test_players_overrule_what_they_like():
    battle = Battle(F1, A1)
    battle.do(acts.Overrule(figures={"F1": 20}, marker={"A1": "orange"}, status={"A1": "routing"}))
    assert battle.marks("F1")["figures"] == 20
    assert (battle.marks("A1")["disordered"], battle.marks("A1")["status"]) == (True, "routing")


def test_guns_limber_by_a_formation_change_s_l_6_s_l_15():
    guns = unit("F1", 20, 15, arm="artillery", bases=1, figures=6, files=6)
    battle = Battle(guns, F2, A1)
    assert "F1: 1 die" not in battle.offers(), "unlimbered guns do not march (S-B.3)"
    battle.act("F1: change formation")
    battle.act("End the moves")
    battle.act("End firing")
    battle.act("End the moves")
    battle.throw(4)
    assert battle.offers() == ["F1: stay as it lies", "F1: limber"]
    battle.act("F1: limber")
    assert "F1 limbers" in battle.texts()
    assert battle.marks("F1")["limbered"] is True
    assert "F1: 2 dice, the best counts" in battle.offers()


def test_guns_that_stay_as_they_lie_do_not_limber_s_a_4():
    guns = unit("F1", 20, 15, arm="artillery", bases=1, figures=6, files=6)
    battle = Battle(replace(guns, state={"reforming": True}), A1)
    battle.throw(4)
    battle.act("F1: stay as it lies")
    assert "limbered" not in battle.marks("F1")


def test_in_the_enemys_sequence_there_are_responses_only_s_0_13():
    battle = Battle(F1, A1)
    assert battle.play.asked().seat == "french"
    with pytest.raises(Refused, match="a unit of the French"):
        battle.do(acts.ChangeFormation("A1"))


def test_a_disordered_charger_has_no_bonus_s_b_13_s_i_5():
    battle = Battle(unit("F1", 20, 15, state={"disordered": True}), F2, unit("A1", 20, 18, DOWN))
    battle.act("No more units reform")
    battle.act("F1: 1 die")
    battle.throw(6)
    for label in ("F1 charges A1", "Stand"):
        battle.act(label)
    while "fire at" in battle.question:
        battle.act("Hold fire")
    (fight,) = battle.state.fights
    assert fight.chargers == ()


def test_light_horse_has_the_bonus_in_the_rear_alone_s_h_6():
    def chargers(heading_deg):
        target = unit("A1", 20, 19 if heading_deg == DOWN else 20, heading_deg)
        rider = unit("F1", 20, 15, arm="cavalry", weight="light", bases=2, wide_in=4, figures=7)
        battle = Battle(rider, F2, target, A2)
        battle.act("F1: 5 dice")
        battle.throw(6, 3, 1, 1, 1)
        battle.act("11 in")
        for label in ("F1 charges A1", "Stand"):
            battle.act(label)
        while "fire at" in battle.question:
            battle.act("Hold fire")
        return battle.state.fights[0].chargers

    assert chargers(DOWN) == ()
    assert chargers(UP) == ("F1",)


def test_contact_on_flank_or_rear_disorders_s_j_3_s_b_14():
    target = unit("A1", 20, 20, UP)
    battle = charging(target=target)
    battle.act("F1 charges A1 in the rear")
    battle.act("Stand")
    while "fire at" in battle.question:
        battle.act("Hold fire")
    assert battle.marks("A1")["contacted_on"] == "rear"
    assert battle.marks("A1")["disordered"] is True


def test_attackers_over_a_wall_are_disordered_s_j_13():
    battle = charging(box("wall", "wall", 10, 18.5, 30, 18.8))
    battle.act("F1 charges A1")
    battle.act("Stand")
    while "fire at" in battle.question:
        battle.act("Hold fire")
    assert battle.marks("F1")["disordered"] is True


def test_several_attackers_count_the_best_of_each_factor_s_f_5():
    line, other = unit("F1", 20, 15), unit("F3", 29, 17.5, 180.0, experience="veteran")
    battle = Battle(line, other, unit("A1", 20, 17, DOWN), unit("A2", 60, 40, DOWN))
    for name, dice, faces in (("F1", 2, (4, 1)), ("F3", 3, (5, 1, 1))):
        battle.act(f"{name}: {dice} dice")
        battle.throw(*faces)
        if name == "F1":
            battle.act("4 in")
        battle.act(f"{name} charges A1")
        battle.act("Stand")
        while "fire at" in battle.question:
            battle.act("Hold fire")
    (fight,) = battle.state.fights
    assert fight.attackers == ("F1", "F3")
    # One charge bonus and one support, and a veteran's die of one costs nothing.
    done = battle.throw(1, 3)
    melee = next(event for event in done.events if event.kind == "melee")
    assert melee.facts["totals"][0] == 1 + 1
    assert melee.text == "Melee: F1, F3 2, A1 -4 (dice 1 and 3)"
    terms = ("charging +1", "friends in sight +1", "die 1 +0")
    assert melee.facts["sums"][0] == {"title": "F1, F3 2", "terms": terms}


def test_a_flight_that_has_nowhere_to_go_destroys_s_c_13():
    places = {"north": (0, 36.5, 72, 47), "west": (0, 30, 15, 47), "east": (25, 30, 72, 47)}
    water = [box(name, "pond", *place, impassable=True) for name, place in places.items()]
    loser = unit("A1", 20, 35, DOWN, state={"status": "retreating", "flees_from": "F1"})
    battle = Battle(F1, loser, unit("A2", 60, 25, DOWN), *water)
    battle.act("End the moves")
    battle.throw(6)
    assert "A1 is destroyed: it has no way to go" in battle.texts()


def test_who_retreats_by_fire_goes_away_from_the_firer_s_a_1_s_c_11():
    battle = Battle(F1, unit("A1", 20, 17, DOWN, experience="veteran", figures=8), F2).to_fire()
    battle.act("F1 at A1")
    battle.throw(6, 6, *[1] * 23)
    battle.throw(1)
    assert battle.marks("A1")["flees_from"] == "F1"
    battle.throw(3)
    assert "A1 retreats 3 in away from F1" in battle.texts()
    assert "fled" not in battle.marks("A1"), "a retreat has no later moves (S-C.12)"


def test_who_retreats_by_a_moral_test_goes_away_from_the_nearest_enemy_s_a_1():
    loser = unit("A1", 20, 25, DOWN, state={"status": "retreating", "disordered": True})
    battle = Battle(F2, F1, loser, A2)
    battle.act("End the moves")
    battle.throw(3)
    assert "A1 retreats 3 in away from F1" in battle.texts()


def test_later_moves_of_a_flight_go_to_the_owners_edge_s_c_12():
    flight = {"status": "routing", "fled": True, "disordered": True, "flees_from": "F1"}
    loser = unit("A1", 20, 30, 0.0, state=flight)
    battle = Battle(F1, loser, A2)
    battle.act("End the moves")
    battle.throw(3)
    assert {base.heading_deg for base in battle.unit("A1").bases} == {90}


def test_who_evades_is_disordered_s_c_14_s_j_7():
    battle = charging(target=light(5), faces=(6, 6))
    battle.act("F1 charges")
    battle.act("Evade")
    battle.throw(4, 4)
    assert battle.marks("A1")["disordered"] is True


def test_a_unit_is_destroyed_at_three_quarters_and_friends_remember_s_l_5_s_h_9():
    guns = unit("A1", 20, 18, DOWN, arm="artillery", bases=1, figures=6, files=6)
    battle = Battle(F1, guns, unit("A2", 40, 20, DOWN)).to_fire()
    battle.act("F1 at A1")
    battle.throw(*[6] * 5, *[1] * (battle.play.done[-1].state.due[-1].roll(battle.state).count - 5))
    assert not battle.state.has("A1")
    done = battle.throw(3)
    assert done.events[0].facts["parts"]["destroyed_friends"] == -3


def test_all_units_of_the_guns_that_fire_twice_s_m_10():
    guns = unit("F1", 20, 15, arm="artillery", bases=1, figures=6, files=6)
    battle = Battle(guns, unit("A1", 20, 20, DOWN), fog=True)
    battle.throw(1)
    battle.throw(4, 6)
    battle.act("F1")
    battle.act("End the moves")
    for _ in range(2):
        battle.act("F1 at A1")
        (roll,) = battle.play.legal()
        battle.throw(*[1] * roll.count)
    assert not any(offer.startswith("F1 at") for offer in battle.offers())


def attack(*things):
    """The French with Attaque before their moves."""
    battle = Battle(*things, A1, fog=True)
    battle.throw(1)
    battle.throw(5, 6)
    return battle


def test_a_brigade_goes_forward_before_its_move_s_m_11():
    battle = attack(F1, F2, unit("F3", 60, 15, brigade="guerchy"))
    asked = battle.play.asked()
    assert asked.question == "Attaque: which brigade?"
    assert "form attack column and go 2 in straight toward the enemy" in asked.hint
    assert battle.offers() == ["French Brigade: F1 and F2", "Guerchy: F3", "None"]
    before = battle.unit("F1").bases[0].y_mm
    battle.act("French Brigade")
    assert battle.unit("F1").bases[0].y_mm == pytest.approx(before + 2 * INCH_MM)
    why = "its bases, 2 figures deep, make no three ranks"
    assert f"F1 goes 2.0 in toward A1, in no attack column: {why}" in battle.texts()
    assert "F1: 2 dice, the best counts" in battle.offers()


def test_a_brigade_that_goes_forward_keeps_off_its_own_s_m_11():
    battle = attack(F1, unit("F2", 24.1, 15))
    battle.act("French Brigade")
    one, other = (battle.state.field.outlines[name] for name in ("F1", "F2"))
    assert one.intersection(other).area == pytest.approx(0, abs=1)


def test_the_french_form_attack_column_before_they_go_s_m_11_s_l_10():
    battle = attack(unit("F1", 20, 15, bases=6, wide_in=1, ranks_per_base=1, nation="French"))
    battle.act("French Brigade: F1")
    assert "F1 forms attack column and goes 2.0 in toward A1" in battle.texts()
    assert battle.state.field.troops["F1"].formation == "attack_column"
    front = battle.state.field.outlines["F1"].bounds
    assert [edge / INCH_MM for edge in front] == pytest.approx([19, 14, 21, 17])


def test_commanders_gather_at_the_army_commander_s_m_4():
    leaders = commander("F", 20, 5), commander("FB", 60, 5, "brigade")
    battle = Battle(F1, A1, *leaders, fog=True)
    battle.throw(1)
    battle.throw(1, 3)
    places = [leader.place_mm for leader in battle.state.position.commanders]
    assert abs(places[0][0] - places[1][0]) <= 2 * INCH_MM


def test_commanders_move_by_three_dice_s_k_5():
    battle = Battle(F1, A1, commander("F", 20, 5))
    battle.act("F: 3 dice")
    battle.throw(2, 4, 1)
    with pytest.raises(Refused, match=r"S-K\.5"):
        battle.do(acts.MoveCommander("F", 28 * INCH_MM, 5 * INCH_MM))
    battle.do(acts.MoveCommander("F", 26 * INCH_MM, 5 * INCH_MM))
    assert battle.state.position.commanders[0].x_mm == 26 * INCH_MM


def test_a_fallen_brigade_commander_counts_as_a_lost_unit_s_k_4():
    leaders = commander("FB", 20, 10, "brigade"), commander("F", 60, 5)
    battle = Battle(F1, unit("F2", 60, 15), A1, *leaders, fog=True)
    battle.throw(1)
    battle.throw(1, 1)
    battle.throw(1)
    battle.act("End the moves")
    assert battle.question == "1 die for the TEST of F1", "F2 stands more than 18 in off"
    done = battle.throw(3)
    assert done.events[0].facts["parts"]["destroyed_friends"] == -3


def seen(battle: Battle, name: str, bases):
    units = (
        replace(one, bases=bases) if one.id == name else one for one in battle.state.position.units
    )
    return replace(battle.state.position, units=tuple(units))


def test_ranges_are_measured_from_where_hands_put_bases_s_0_3():
    battle = Battle(F1, F2, unit("A1", 20, 21.05, DOWN))
    slipped = ahead(F1.bases, UP, 2.0)
    lay = GAME.adopt_positions(battle.state, seen(battle, "F1", slipped))
    assert lay is not None
    battle.do(lay)
    assert battle.unit("F1").bases == slipped
    far = ahead(F1.bases, UP, 20.0)
    assert GAME.adopt_positions(battle.state, seen(battle, "F1", far)) is None
    battle.act("F1: 2 dice")
    assert GAME.adopt_positions(battle.state, seen(battle, "F1", F1.bases)) is None, "dice are due"
