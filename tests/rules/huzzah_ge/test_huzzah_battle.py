"""Battles of Huzzah! Glorious Empires on the table; each test names the rule that it proves."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tablecam.errors import BadInput
from tablecam.geometry.arrangement import arrangement
from tablecam.geometry.moves.poses import ahead
from tablecam.rules.game import Refused
from tablecam.rules.game_files import options_with_files
from tablecam.rules.huzzah_ge import orders
from tablecam.rules.huzzah_ge.game import GAME
from tablecam.rules.huzzah_ge.movement import step_between
from tablecam.rules.huzzah_ge.state import (
    Charge,
    Deploy,
    Fire,
    GiveName,
    GiveNumber,
    Move,
    MoveOfficer,
    Overrule,
)
from tablecam.rules.steps import Decide
from tablecam.table.headings import forward, right
from tests.rules.huzzah_ge.battles import DOWN, UP, Battle, box, officer, table, unit

STAFF = (officer("FC", 60, 10), officer("AC", 60, 90))


def shifted(bases, on_cm=0.0, aside_cm=0.0):
    """Return bases moved in their own axes, ahead and to the right."""
    heading_deg = bases[0].heading_deg
    (on_x, on_y), (right_x, right_y) = forward(heading_deg), right(heading_deg)
    x_mm, y_mm = (
        10 * (on * on_cm + to * aside_cm) for on, to in ((on_x, right_x), (on_y, right_y))
    )
    return tuple(replace(base, x_mm=base.x_mm + x_mm, y_mm=base.y_mm + y_mm) for base in bases)


def facing(apart_cm=7.0, **allied):
    """Return two lines of infantry that face each other, with their staffs."""
    return (unit("F1", 60, 40), unit("A1", 60, 40 + apart_cm, DOWN, **allied), *STAFF)


# The beginning


def test_a_unit_that_lacks_its_class_is_refused_in_one_line_h_1_6():
    odd = unit("F1", 60, 40, expected=None)
    with pytest.raises(BadInput, match="F1: expected: expected a class such as regulars_b"):
        GAME.begin(table(odd, unit("A1", 60, 60, DOWN)), {})


def test_an_officer_without_quality_is_refused_in_one_line_h_1_8():
    odd = officer("FC", 60, 10, quality=None)
    with pytest.raises(BadInput, match="FC: quality: expected"):
        GAME.begin(table(*facing()[:2], odd), {})


def test_factors_that_no_list_gives_are_asked_once_h_15_7():
    battle = Battle(*facing(), armies=(), charts={})
    assert battle.question == "What is the Skirmish Factor of the French?"
    for factor in (7, 8):
        battle.act(str(factor))
    battle.throw(6, 6, 6, 6)
    assert "Artillery Factor" in battle.question
    assert [army.skirmish_factor for army in battle.state.armies.values()] == [7, 8]


def test_a_chart_file_gives_the_factors_h_15_9_h_5_1_h_6_1():
    chart = {"format": "tablecam.charts", "version": 1, "game": "huzzah-ge"}
    chart["army"] = {"french": {"skirmish_factor": 9, "artillery_factor": 8}}
    options = options_with_files({"charts": chart}, "huzzah-ge", GAME.file_models, {})
    battle = Battle(*facing(), armies=(), charts=options["charts"])
    assert battle.question.startswith("What is the Skirmish Factor of the Allie")
    assert battle.state.armies["french"].skirmish_factor == 9
    chart["army"] = {"french": {"skirmish_factor": 12}}
    with pytest.raises(BadInput, match=r"army\.french\.skirmish_factor"):
        options_with_files({"charts": chart}, "huzzah-ge", GAME.file_models, {})


def test_a_turn_goes_through_its_phases_for_each_side_h_4_5():
    battle = Battle(*facing(40), turns=1)
    seen = [(battle.state.active, battle.state.phase)]
    while not battle.play.asked().is_over:
        battle.play.apply(battle.play.legal()[-1])
        seen.append((battle.state.active, battle.state.phase))
    # At the end of the last Rally phase players say who has won.
    phases = ["orders", "officers", "orders", "officers", "rally"]
    assert [phase for _, phase in dict.fromkeys(seen)][:-1] == phases


def test_open_order_and_stagger_are_read_from_the_bases_h_3_6_h_1_9():
    line = unit("F1", 60, 40)
    loose = tuple(
        replace(base, y_mm=base.y_mm + 15 * (place % 2)) for place, base in enumerate(line.bases)
    )
    assert GAME.formation(line, 4) == "line"
    open_order = replace(line, extra={**line.extra, "abilities": ["irregular"]})
    assert GAME.formation(open_order, 4) == "open"
    staggered = replace(line, bases=loose, state={"disordered": True})
    assert GAME.formation(staggered, 4) == "line"


def test_a_grand_battery_has_the_shortest_range_and_the_slowest_move_h_1_13():
    pieces = [
        {"kind": kind, "expected": "regulars_b"} for kind in ("reserve_heavy", "reserve_horse")
    ]
    battery = unit("F1", 60, 40, arm="artillery", bases=2, kind="reserve_heavy", pieces=pieces)
    battle = Battle(battery, *facing(40)[1:])
    troops = battle.state.troops("F1")
    assert (troops.range_cm, troops.allowance_cm) == (60, 15)


# Superiority and effectiveness


def test_the_greater_margin_has_superiority_all_turn_h_5_3_h_4_5():
    battle = Battle(*facing(), armies=((1, 3, 3, 3), (6, 6, 6, 6)))
    assert battle.state.superiority == "french"
    told = "The French have skirmisher superiority: French 4, of at most 7, by 3; Allied 6, "
    assert told in battle.texts()
    # Fire at its units is at -1, whatever their arm (H-7.8).
    battle.act("Nobody fires")
    assert battle.state.armies["allied"].last_superiority is None


def test_a_double_one_lowers_the_enemys_factor_for_good_h_5_5_h_6_4():
    battle = Battle(*facing(), armies=((1, 1, 5, 6), (1, 1, 5, 6)))
    assert battle.state.armies["allied"].skirmish_factor == 6
    assert battle.state.armies["allied"].artillery_factor == 6
    assert battle.state.effective == ("french",)


def test_soft_ground_and_foul_weather_hinder_the_guns_h_6_2_h_6_5():
    battle = Battle(*facing(), weather="foul", ground="soft", armies=((6, 6, 6, 6), (2, 3, 2, 4)))
    # 7 - 1 - 1 - 0: a five succeeds, a six does not.
    assert battle.state.effective == ("french",)


# Firing


def test_targets_are_declared_before_any_dice_h_7_7():
    things = (unit("F2", 30, 40), unit("A2", 30, 48, DOWN), *facing())
    battle = Battle(*things)
    battle.act("F1 at A1")
    assert battle.question == "French: declare fire, or roll"
    battle.act("F2 at A2")
    assert battle.play.asked().hint == "Declared: F1 at A1, F2 at A2."
    assert [shape.role for shape in GAME.step_shapes(battle.state)].count("shot") == 2
    # The last declaration may still be taken back: players say when they roll.
    assert battle.offers() == ["done: Roll for all declared fire"]
    assert not GAME.why_missing(battle.state)
    battle.act("Roll for all declared fire")
    assert battle.question.startswith("2 dice for F1 firing at A1")


def test_hits_take_bases_and_call_a_test_after_all_fire_h_7_9_h_9_1():
    battle = Battle(*facing())
    battle.fires("F1 at A1")
    # Trained 6, four bases +2, short range +1: on 9 or less, and 4 makes five hits.
    battle.throw(2, 2)
    assert len(battle.unit("A1").bases) == 3
    assert battle.marks("A1")["hits"] == 2
    # Trained 8, less one for the base: 7.
    assert battle.question == "2 dice for the morale of A1, on 7 or less"
    battle.throw(4, 4)
    assert battle.marks("A1")["disordered"]
    assert battle.unit("A1").bases[0].y_mm == pytest.approx(10 * (47 + 2 + 5))
    assert battle.marks("F1")["fired"]


def test_the_table_says_whose_fire_misses_h_7_9():
    battle = Battle(*facing())
    battle.fires("F1 at A1")
    (fired,) = [event for event in battle.throw(6, 6).events if event.kind == "fire"]
    (shown,) = [shape for shape in fired.evidence if shape.role == "result"]
    # It stands after the name of the target.
    assert shown.label == "missed by F1"


def test_quality_is_rolled_when_it_is_first_needed_h_3_1():
    things = (unit("F1", 60, 40, quality=None), unit("A1", 60, 47, DOWN), *STAFF)
    battle = Battle(*things)
    # What the shot needs is said before it is declared: 6 or 7, four bases +2, short range +1.
    assert "fire: F1 at A1 (on 9 or less, up to 10 if F1 proves better)" in battle.offers()
    battle.fires("F1 at A1")
    assert battle.question == "2 dice for the quality of F1"
    battle.throw(1, 1)
    assert battle.question == "2 dice for the quality of F1, again"
    battle.throw(5, 6)
    assert battle.marks("F1")["quality"] == "green"
    assert battle.marks("F1")["abilities"] == ("grognards",)


def test_a_short_target_must_be_taken_first_h_7_7():
    things = (*facing(), unit("A2", 60, 58, DOWN, bases=2))
    far = (unit("A3", 45, 57, DOWN, bases=2),)
    battle = Battle(*things[:2], *things[2:4], *far)
    assert [label for label in battle.offers() if "F1 at" in label] == [
        "fire: F1 at A1 (on 9 or less)"
    ]
    with pytest.raises(Refused, match=r"H-7\.[67]"):
        battle.do(Fire("F1", "A3", (0, 1, 2, 3)))


def test_fewer_bases_may_fire_who_see_their_target_clearly_h_7_6():
    screen = unit("F2", 54, 44, bases=1)
    battle = Battle(*facing(), screen)
    assert "fire: F1 at A1 with 1 base (on 6 or less)" in battle.offers()
    with pytest.raises(Refused, match=r"H-7\.6"):
        battle.do(Fire("F1", "A1", (0, 1, 2, 3)))


def test_players_may_agree_on_the_nearest_base_h_7_4():
    askew = unit("A1", 76, 44, DOWN)
    far = Battle(unit("F1", 60, 40), askew, *STAFF)
    near = Battle(unit("F1", 60, 40), askew, *STAFF, range_to="nearest_base")
    far.fires("F1 at A1")
    near.fires("F1 at A1")
    ranges = [battle.play.done[-2].events[0].facts["cm"] for battle in (far, near)]
    assert ranges[0] > ranges[1]


def test_cavalry_routers_and_columns_do_not_fire_h_7_1():
    horse = unit("F1", 60, 40, arm="cavalry", kind="other_cavalry", bases=2)
    routers = unit("F2", 30, 40, state={"routing": True, "disordered": True})
    column = unit("F3", 90, 40, bases=3, ranks=3)
    battle = Battle(horse, routers, column, unit("A1", 60, 47, DOWN, bases=20), *STAFF)
    assert not [label for label in battle.offers() if label.startswith("fire: F")]


def test_an_officer_with_a_unit_that_is_hit_may_fall_h_10_1_h_10_2():
    battle = Battle(*facing())
    battle.do(Overrule(phase="officers", active="allied"))
    battle.act("AC: to A1")
    battle.do(Overrule(phase="fire", active="french"))
    battle.fires("F1 at A1")
    battle.throw(2, 2)
    assert battle.question == "2 dice for AC to escape, on 7 or less"
    battle.throw(4, 4)
    assert "AC is killed" in battle.texts()
    # 8, a base lost, the officer killed this turn: 6 (H-9.3).
    assert battle.question == "2 dice for the morale of A1, on 6 or less"


@pytest.mark.parametrize("place", [0, 2], ids=["left", "right"])
def test_guns_go_last_and_never_stay_alone_h_7_11(place):
    target = unit("A1", 60, 47, DOWN, bases=3)
    guns = target.bases[place].tag
    target = replace(target, extra={**target.extra, "divisional_artillery": guns})
    battle = Battle(unit("F1", 60, 40), target, *STAFF)
    battle.fires("F1 at A1")
    battle.throw(2, 2)
    left = battle.unit("A1").bases
    assert guns in {base.tag for base in left}
    # No gap opens in the line (H-7.10).
    assert len(arrangement(left).groups) == 1


# Routs


def test_a_disordered_unit_that_fails_routs_turned_about_h_9_7_h_9_8():
    battle = Battle(*facing(state={"disordered": True}))
    battle.fires("F1 at A1")
    battle.throw(4, 5)
    battle.throw(6, 6)
    assert battle.marks("A1")["routing"]
    assert battle.unit("A1").bases[0].heading_deg == pytest.approx(UP)
    assert battle.unit("A1").bases[0].y_mm == pytest.approx(10 * (47 + 2 + 20))


def test_a_friend_in_the_way_of_a_rout_is_disordered_h_9_9():
    second = unit("A2", 60, 60, DOWN)
    battle = Battle(*facing(state={"disordered": True}), second)
    battle.fires("F1 at A1")
    battle.throw(4, 5)
    battle.throw(6, 6)
    assert battle.marks("A2")["disordered"]
    assert battle.marks("A1")["hits"] == 1
    assert not battle.state.field.outlines["A1"].intersects(battle.state.field.outlines["A2"])


def test_who_runs_off_the_battlefield_goes_to_the_rout_table_h_9_12():
    things = (unit("F1", 60, 100), unit("A1", 60, 107, DOWN, state={"disordered": True}), *STAFF)
    battle = Battle(*things, unit("A2", 120, 60, DOWN))
    battle.fires("F1 at A1")
    battle.throw(4, 5)
    battle.throw(6, 6)
    assert battle.state.rout_table == ("A1",)
    assert not battle.state.has("A1")


# Orders


def test_an_order_is_named_and_rolled_against_its_terms_h_11_3_h_11_4():
    battle = Battle(*facing(30)).to_orders()
    battle.act("FC: F1")
    assert battle.question == "FC orders F1: which order?"
    battle.act("Advance")
    # Average 8, wholly within 40 cm +1: 9.
    assert battle.question == "2 dice for FC: F1 to advance, on 9 or less"
    battle.throw(4, 5)
    assert battle.question == "French: advance with F1"
    # Horse straight ahead reaches the foot from 20 cm, which is within one move (H-11.9).
    for y_cm, factor in ((60, 9 - 1 - 2), (90, 9)):
        horse = unit("A1", 60, y_cm, DOWN, arm="cavalry", kind="other_cavalry", bases=2)
        battle = Battle(unit("F1", 60, 40), horse, *STAFF).to_orders()
        battle.act("FC: F1")
        battle.act("Advance")
        assert battle.question == f"2 dice for FC: F1 to advance, on {factor} or less"


def test_a_failed_order_ends_the_officer_and_the_cinc_the_phase_h_11_6():
    staff = (*STAFF, officer("FD", 50, 20, "division"))
    battle = Battle(*facing(30)[:2], *staff)
    battle.orders("FD", "F1", "Advance", 6, 6)
    assert battle.state.done_officers == ("FD",)
    battle = Battle(*facing(30)[:2], *staff)
    battle.orders("FC", "F1", "Advance", 6, 6)
    assert battle.state.phase == "officers"
    assert "it does not obey: 12 on the dice, of at most" in battle.texts()
    assert "No officer has orders left" in battle.texts()


def test_turning_to_another_unit_or_officer_closes_the_one_before_h_11_7():
    things = (unit("F2", 30, 40), officer("FD", 50, 20, "division"), *facing(40))
    battle = Battle(*things)
    battle.orders("FC", "F1", "Advance")
    battle.act("Done with this order")
    battle.orders("FC", "F2", "Advance")
    battle.act("Done with this order")
    assert "address: FC: F1" not in battle.offers()
    # What one officer has ordered takes no order from another.
    assert not [label for label in battle.offers() if label.startswith("address: FD")]


@pytest.mark.parametrize("first", ["F1", "all of french division"])
def test_a_unit_may_be_ordered_again_at_one_less_alone_or_with_its_group_h_11_4_h_11_5(first):
    battle = Battle(unit("F2", 60, 30), *facing(40))
    battle.orders("FC", first, "Advance")
    battle.act("Done with this order")
    battle.act("FC: F1")
    # Average 8, in radius +1, an order given to it already -1.
    assert "manoeuvre on 8 or less" in battle.play.asked().hint


def test_a_double_one_gives_a_second_order_h_11_8():
    battle = Battle(*facing(40), unit("F2", 60, 40))
    battle.orders("FC", "F1", "Advance", 1, 1)
    battle.act("F1: 15.0 cm ahead")
    assert battle.question == "FC orders F1: a double one, which second order?"
    battle.act("Advance")
    battle.act("F1: 15.0 cm ahead")
    assert orders.able(battle.state, ("F1", "F2")) == ("F2",)
    assert battle.unit("F1").bases[0].y_mm == pytest.approx(10 * (40 - 2 + 30))


def test_a_group_acts_together_and_each_as_far_as_it_may_h_11_2_h_12_2():
    horse = unit("F2", 30, 40, arm="cavalry", kind="other_cavalry", bases=2)
    battle = Battle(horse, *facing(40))
    battle.orders("FC", "all of french division", "Advance")
    assert dict(battle.state.under.allowed_cm) == {"F2": 20, "F1": 15}
    lies = {"F1": battle.unit("F1").bases}
    for said in ("has moved there", "stays there and may still move"):
        (told,) = battle.do(Overrule(units=lies, asked=("F1",))).events
        assert told.text == f"overruled: F1 {said}"
    assert dict(battle.state.under.allowed_cm) == {"F2": 20}


def test_an_attached_officer_orders_his_unit_alone_and_goes_with_it_h_11_12():
    battle = Battle(unit("F2", 30, 40), *facing(40))
    battle.do(Overrule(phase="officers"))
    battle.act("FC: to F1")
    marker_mm = battle.state.position.table.marker_mm
    behind_mm = 600, 400 - 40 - marker_mm / 2 - 2
    assert battle.state.field.officers["FC"].place_mm == pytest.approx(behind_mm)
    battle.do(Overrule(phase="orders", active="french"))
    assert battle.offers()[:-1] == ["address: FC: F1"]
    battle.orders("FC", "F1", "Advance")
    before = battle.state.field.officers["FC"].y_mm
    battle.act("F1: 15.0 cm ahead")
    assert battle.state.field.officers["FC"].y_mm == pytest.approx(before + 150)


def test_a_routing_unit_takes_no_orders_h_11_13():
    battle = Battle(unit("F2", 30, 40, state={"routing": True, "disordered": True}), *facing(40))
    assert "address: FC: F2" not in battle.to_orders().offers()


def test_an_impulsive_unit_charges_what_it_could_reach_h_11_16():
    things = (unit("F1", 60, 40, abilities=["impulsive"]), *facing(12)[1:])
    battle = Battle(*things).to_orders()
    assert battle.question == "F1 is impulsive and must charge"
    assert (GAME.forced(battle.state),) == GAME.legal(battle.state)
    battle.act("F1 charges A1")
    assert "F1 is impulsive and must charge A1" in battle.texts()
    assert battle.marks("F1")["charging"]


def test_an_officer_under_a_friend_that_stops_is_set_behind_it_h_11_14():
    battle = Battle(*facing(40)[:2], officer("FC", 56, 34), officer("AC", 60, 90))
    battle.orders("FC", "F1", "Deploy")
    battle.act("F1: square")
    assert battle.state.field.officers["FC"].place_mm[1] < 400 - 2 * 40


def test_an_enemy_officer_is_captured_or_escapes_h_11_14():
    battle = Battle(*facing(60)[:2], officer("FC", 60, 10), officer("AC", 60, 50))
    battle.orders("FC", "F1", "Advance")
    battle.act("F1: 15.0 cm ahead")
    assert "AC is captured by F1" in battle.texts()
    battle = Battle(*facing(40)[:2], officer("FC", 60, 10), officer("AC", 60, 50))
    battle.orders("FC", "F1", "Advance")
    battle.act("F1: 15.0 cm ahead")
    assert "AC escapes to A1" in battle.texts()


def test_an_officer_in_the_way_of_a_charge_escapes_as_well_h_11_14():
    battle = Battle(*facing(12)[:2], officer("FC", 60, 10), officer("AC", 60, 46))
    battle.orders("FC", "F1", "Advance")
    battle.act("F1 charges A1")
    assert "F1 charges A1; AC escapes to A1" in battle.texts()


# Moves


@pytest.mark.parametrize(
    ("on_cm", "aside_cm", "says"),
    [
        (15, 5, "yes"), (15, 5.5, "no"), (16, 0, "no"), (-1, 0, "no"), (7, -3, "yes"),
    ],
)  # fmt: skip
def test_an_advance_goes_straight_with_a_drift_h_12_3(on_cm, aside_cm, says):
    battle = Battle(*facing(40))
    battle.orders("FC", "F1", "Advance")
    there = shifted(battle.unit("F1").bases, on_cm, aside_cm)
    (seen,) = battle.play.detect_moves(placed(battle, "F1", there))
    # Within a hand's slip of a limit nobody is accused.
    assert (seen.answer.answer == "no") == (says == "no")
    if says == "yes":
        battle.do(Move("F1", there))
    else:
        with pytest.raises(Refused, match=r"H-12\.3"):
            battle.do(Move("F1", there))


@pytest.mark.parametrize("apart_cm", [9, 14])
def test_where_an_enemy_bars_the_way_as_far_as_is_free_is_offered_h_12_3(apart_cm):
    battle = Battle(*facing(apart_cm))
    battle.orders("FC", "F1", "Advance")
    moves = [action for action in battle.play.legal() if isinstance(action, Move)]
    gone_cm = [(move.bases[0].y_mm - 380) / 10 for move in moves]
    # A centimetre of ground is left: at two millimetres they would touch (H-1.3).
    assert gone_cm == pytest.approx([apart_cm - 1.0, 7.5], abs=0.1)
    (seen,) = battle.play.detect_moves(
        placed(battle, "F1", shifted(battle.unit("F1").bases, apart_cm - 2.5, 6))
    )
    front_mm = seen.nearest.unit("F1").bases[0].y_mm + 20
    assert 10 * (40 + apart_cm) - front_mm >= 10


def test_an_illegal_advance_shows_the_nearest_place_that_is_clearly_legal_h_12_3():
    f1, *others = facing(40)
    battle = Battle(measured(f1), *others)
    battle.orders("FC", "F1", "Advance")
    there = shifted(battle.unit("F1").bases, 19, 8)
    (seen,) = battle.play.detect_moves(placed(battle, "F1", there))
    nearest = seen.nearest.unit("F1").bases
    expected = shifted(battle.unit("F1").bases, 15, 5)[0]
    assert nearest[0].place_mm == pytest.approx(expected.place_mm, abs=2)
    for more_cm in (-0.01, 0, 0.01):  # as far as it is mismeasured
        (again,) = battle.play.detect_moves(placed(battle, "F1", shifted(nearest, more_cm, 0)))
        assert again.answer.answer == "yes"


def measured(unit, sigma_mm=0.1):
    return replace(unit, bases=tuple(replace(base, sigma_mm=sigma_mm) for base in unit.bases))


def placed(battle, name, bases):
    units = (
        replace(one, bases=bases) if one.id == name else one for one in battle.state.position.units
    )
    return replace(battle.state.position, units=tuple(units))


def test_a_retreat_keeps_its_facing_and_may_waver_h_13_1_h_13_3():
    battle = Battle(*facing(14))
    battle.orders("FC", "F1", "Retire")
    battle.act("F1: 7.5 cm back")
    assert battle.question == "2 dice for F1 not to waver, on 8 or less"
    battle.throw(6, 3)
    assert battle.marks("F1")["disordered"]


def test_moving_through_friends_disorders_both_h_12_11():
    front = unit("F2", 60, 46, bases=2)
    battle = Battle(*facing(40), front)
    battle.orders("FC", "F1", "Advance")
    # It is said before the move is chosen, in the list and of a move by hand.
    assert "move: F1: 15.0 cm ahead, disorders F1 and F2" in battle.offers()
    passed = placed(battle, "F1", shifted(battle.unit("F1").bases, 15.0))
    (seen,) = battle.play.detect_moves(passed)
    assert seen.text == "F1 advances 15.0 cm, of at most 15, disorders F1 and F2"
    battle.act("F1: 15.0 cm ahead")
    assert battle.marks("F1")["disordered"]
    assert battle.marks("F2")["disordered"]


def test_dense_terrain_is_entered_and_left_by_deploying_h_12_5_h_14_8():
    wood = box("wood", "wood", 50, 40.1, 70, 50)
    battle = Battle(*facing(60), wood)
    battle.orders("FC", "F1", "Advance")
    assert not [label for label in battle.offers() if "15.0 cm ahead" in label]
    battle.act("Done with this order")
    battle.orders("FC", "F1", "Deploy")
    battle.act("F1: into wood")
    assert battle.marks("F1")["sector"] == "wood"
    battle.orders("FC", "F1", "Deploy")
    battle.act("F1: out of wood")
    assert "sector" not in battle.marks("F1")


def test_out_of_dense_terrain_onto_an_enemy_takes_two_orders_h_12_6_h_14_7():
    wood = box("wood", "wood", 50, 34, 70, 42)
    things = (unit("F1", 60, 40), unit("A1", 60, 46.1, DOWN), *STAFF, wood)
    battle = Battle(*things)
    battle.orders("FC", "F1", "Deploy")
    assert "form: F1: out of wood" not in battle.offers()


def test_far_from_the_enemy_orders_are_easier_h_11_10():
    battle = Battle(unit("F1", 60, 10), unit("A1", 60, 91, DOWN), *STAFF).to_orders()
    battle.act("FC: F1")
    # Average 8, in radius +1, out of range +1.
    assert "manoeuvre on 10 or less" in battle.play.asked().hint


def test_a_manoeuvre_is_taken_as_players_make_it_h_15_1():
    battle = Battle(*facing(40))
    battle.orders("FC", "F1", "Manoeuvre")
    battle.act("F1: wheel left 45° (12.6 cm)")
    assert battle.unit("F1").bases[0].heading_deg == pytest.approx(135)
    assert "turns by 45°" in battle.texts()


# Charges


def test_a_charge_is_squared_up_on_what_it_meets_h_12_7_h_12_9_h_12_10():
    turned = unit("A1", 64, 52, DOWN + 20)
    battle = Battle(unit("F1", 60, 40), turned, *STAFF)
    battle.orders("FC", "F1", "Advance")
    battle.act("F1 charges A1")
    assert battle.unit("F1").bases[0].heading_deg == pytest.approx(110)
    ground = battle.state.field
    assert ground.outlines["F1"].distance(ground.outlines["A1"]) < 0.01


def test_who_is_accepted_in_contact_as_it_advances_charges_h_12_7():
    battle = Battle(*facing())
    battle.orders("FC", "F1", "Advance")
    lies = tuple(replace(base, x_mm=base.x_mm + 120, y_mm=base.y_mm + 64)
                 for base in battle.unit("F1").bases)  # fmt: skip
    unit_there = replace(battle.unit("F1"), bases=lies)
    made = GAME.suggestion(battle.state, battle.unit("F1"), unit_there)
    assert made.answer.answer == "no"
    assert made.text.endswith("sideways, of at most 5; if you accept it, F1 charges A1")
    told = battle.do(Overrule(units={"F1": lies}, asked=("F1",))).events
    assert [event.text for event in told][:2] == ["overruled: F1 has moved there", "F1 charges A1"]
    assert [rush.target for rush in battle.state.rushes] == ["A1"]


def test_why_a_unit_has_no_fire_no_order_and_no_charge_h_7_1_h_7_3_h_11_13_h_12_1():
    aside, horse = unit("F2", 20, 40), unit("F3", 90, 40, arm="cavalry", state={"routing": True})
    battle = Battle(aside, horse, *facing(12))
    why = "No fire: no enemy is within 20 cm (F2); cavalry does not fire (F3)"
    assert GAME.why_missing(battle.state) == why
    battle.to_orders()
    assert GAME.why_missing(battle.state) == "No order: a routing unit takes no orders (F3)"
    battle.orders("FC", "F2", "Advance")
    why = "No charge: it is more than 15 cm from A1 (F2)"
    assert GAME.why_missing(battle.state) == why


def test_a_unit_goes_as_far_as_is_free_and_why_not_farther_is_said_h_12_5():
    battle = Battle(*facing(25), box("Wood", "wood", 50, 45, 70, 60))
    battle.orders("FC", "F1", "Advance")
    (move,) = (one for one in GAME.legal(battle.state) if isinstance(one, Move))
    assert 0 < step_between(battle.unit("F1").bases, move.bases).forward_cm < 7.5
    why = "No full move: it enters Wood only by deploying. "
    assert GAME.why_missing(battle.state).startswith(why)


def test_a_charger_laid_askew_is_told_where_it_lies_h_12_10():
    battle = Battle(*facing(12))
    battle.orders("FC", "F1", "Advance")
    askew = shifted(battle.unit("F1").bases, 12.0, 3.0)
    battle.do(Charge("F1", "A1", askew))
    battle = Battle(*facing(12))
    battle.orders("FC", "F1", "Advance")
    with pytest.raises(Refused, match=r"H-12\.10 F1 must be squared up on A1"):
        battle.do(Charge("F1", "A1", shifted(battle.unit("F1").bases, 10.0)))


def charged(*faces, **allied):
    battle = Battle(*facing(12, **allied))
    battle.orders("FC", "F1", "Advance")
    battle.act("F1 charges A1")
    return battle


def test_who_is_charged_must_fire_always_at_short_range_h_8_1_h_8_2():
    battle = charged()
    # Trained 6, four bases +2, short +1.
    assert battle.question == "2 dice for A1 firing at F1, on 9 or less"


def test_a_charger_that_is_hit_tests_and_is_never_forced_back_h_8_3():
    battle = charged()
    battle.throw(2, 2)
    place = battle.unit("F1").bases[0].place_mm
    battle.throw(6, 6)
    assert battle.marks("F1")["disordered"]
    assert battle.unit("F1").bases[0].place_mm == place
    assert battle.question == "Combat of F1 and A1: how many hits on F1?"


def test_a_disordered_charger_that_routs_fights_no_combat_h_8_3_h_9_8():
    battle = charged()
    battle.do(Overrule(status={"F1": "disordered"}))
    battle.throw(2, 2)
    battle.throw(6, 6)
    assert battle.marks("F1")["routing"]
    assert not battle.question.startswith("How many hits")
    assert not battle.marks("A1").get("in_combat_with")


def test_a_firer_who_fails_tests_and_may_leave_its_ground_h_8_4():
    battle = charged(state={"disordered": True})
    battle.throw(6, 6)
    assert battle.question.startswith("2 dice for the morale of A1")
    battle.throw(6, 6)
    assert battle.question == "A1 is gone: does F1 take its ground?"
    battle.do(Decide(True))
    assert battle.unit("F1").bases[0].y_mm == pytest.approx(10 * (40 - 2 + 12 + 4))


def test_a_combat_asks_what_the_book_would_tell_h_15_2():
    battle = charged()
    battle.throw(6, 6)
    battle.throw(1, 2)
    counts = "F1: 0 support ranks, A1 strikes its front, charging. A1: 0 support ranks, F1 strikes"
    assert counts in battle.play.asked().hint
    results = {
        "Combat of F1 and A1: how many hits on F1?": GiveNumber(2),
        "Combat of F1 and A1: how many hits on A1?": GiveNumber(4),
        "Combat of F1 and A1: who lost?": GiveName("allied"),
        "How far is A1 forced back?": GiveNumber(10),
        "A1 goes 10 cm back: does it hold its order?": GiveName("disordered"),
    }
    for question, result in results.items():
        asked = battle.play.asked()
        # Any player may enter what their own book says.
        assert (asked.question, asked.seat) == (question, None)
        assert "has no combat chapter" in asked.hint
        battle.do(result)
    assert len(battle.unit("A1").bases) == 3
    assert battle.unit("A1").bases[0].y_mm == pytest.approx(10 * (52 + 2 + 10))
    assert not battle.marks("A1").get("in_combat_with")


def test_a_charge_from_contact_or_past_others_is_refused_h_12_4_h_12_7():
    screen = unit("A2", 60, 46, DOWN, bases=1)
    battle = Battle(*facing(12), screen)
    battle.orders("FC", "F1", "Advance")
    with pytest.raises(Refused, match=r"H-12\.7 .* another unit before A1"):
        battle.do(Charge("F1", "A1", ahead(battle.unit("F1").bases, UP, 120)))


# Deploying


def test_formations_keep_one_base_and_the_facing_h_14_1_h_14_2():
    battle = Battle(*facing(40))
    battle.orders("FC", "F1", "Deploy")
    labels = [label for label in battle.offers() if label.startswith("form: F1")]
    assert labels == ["form: F1: line, 2 ranks", "form: F1: road column", "form: F1: square"]
    battle.act("F1: square")
    assert "square" in [marker.text for marker in GAME.markers(battle.marks("F1"))]
    assert GAME.formation(battle.unit("F1"), 4) == "square"
    # A square does not move (H-14.4, H-12.1).
    battle.orders("FC", "F1", "Advance")
    assert battle.offers() == ["done: Done with this order"]


def test_a_unit_laid_elsewhere_has_not_deployed_h_14_2():
    battle = Battle(*facing(40))
    battle.orders("FC", "F1", "Deploy")
    there = shifted(battle.unit("F1").bases, 3.0)
    with pytest.raises(Refused, match=r"H-14\.2 one base of F1 must stay"):
        battle.do(Deploy("F1", there))


@pytest.mark.parametrize(
    ("order", "on_cm", "action", "rule"),
    [("Advance", 10.0, Move, r"H-12\.3"), ("Deploy", 0.0, Deploy, r"H-14\.2")],
)
def test_no_base_is_turned_by_itself_h_12_3_h_14_2(order, on_cm, action, rule):
    battle = Battle(*facing(40))
    battle.orders("FC", "F1", order)
    bases = shifted(battle.unit("F1").bases, on_cm)
    # Both ways, so that the unit on the whole faces as before.
    there = [replace(base, heading_deg=base.heading_deg + turn_deg)
             for base, turn_deg in zip(bases, (40, 0, 0, -40), strict=True)]  # fmt: skip
    with pytest.raises(Refused, match=rule):
        battle.do(action("F1", tuple(there)))


def test_bases_go_into_the_skirmish_line_h_14_5_h_5_6():
    battle = Battle(unit("F1", 60, 40, abilities=["skirmish_limited"]), *facing(40)[1:])
    battle.orders("FC", "F1", "Deploy")
    battle.act("F1: 1 into the skirmish line")
    assert len(battle.unit("F1").bases) == 3
    assert battle.state.armies["french"].skirmish_bases == 1
    battle.orders("FC", "F1", "Deploy")
    assert not [label for label in battle.offers() if "skirmish" in label]


def test_two_lines_pass_each_other_h_14_9():
    battle = Battle(unit("F2", 60, 52), *facing(60))
    fronts = {name: battle.unit(name).bases[0].y_mm for name in ("F1", "F2")}
    battle.orders("FC", "F1", "Deploy")
    battle.act("F1: pass lines with F2")
    assert battle.unit("F1").bases[0].y_mm == fronts["F2"]
    assert battle.unit("F2").bases[0].y_mm == fronts["F1"]
    assert not battle.marks("F1").get("disordered")


# Officers, rally, the end


def test_officers_move_sixty_centimetres_h_15_3_h_12_1():
    battle = Battle(*facing(40))
    battle.do(Overrule(phase="officers"))
    with pytest.raises(Refused, match=r"H-15\.3 FC moves 60\.9 cm"):
        battle.do(MoveOfficer("FC", 609 + 600, 100))
    battle.do(MoveOfficer("FC", 600, 690))
    assert battle.state.field.officers["FC"].y_mm == 690


def test_rally_is_asked_and_wipes_odd_hits_h_15_4_h_1_5():
    battle = Battle(unit("F1", 60, 40, state={"disordered": True, "hits": 2}), *facing(40)[1:])
    battle.do(Overrule(phase="rally"))
    assert battle.question == "F1 is disordered: does it rally?"
    assert battle.play.asked().hint.startswith("Look it up in your own book")
    battle.act("Reformed")
    assert not battle.marks("F1").get("disordered")
    assert not battle.marks("F1").get("hits")
    assert battle.state.active == "allied"


@pytest.mark.parametrize(
    ("turns", "asks"), [(0, "4 dice for skirmisher superiority"), (1, "Who has won?")]
)
def test_after_each_turn_a_battle_goes_on_unless_it_was_the_last_h_15_8(turns, asks):
    battle = Battle(*facing(40), turns=turns)
    battle.do(Overrule(phase="officers", active="allied"))
    battle.act("No more officers move")
    assert battle.question == asks


def test_players_say_who_has_won_h_15_8():
    battle = Battle(*facing(40), turns=1)
    battle.do(Overrule(phase="officers", active="allied"))
    battle.act("No more officers move")
    battle.act("French")
    assert battle.play.asked().is_over
    assert "The French have won" in battle.texts()
