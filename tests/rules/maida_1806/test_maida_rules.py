"""Single rules on single positions, and moves by hand; each test's name has its rules."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from tablecam.referee.placing import laid
from tablecam.referee.table_diff import TableDiff
from tablecam.rules.game import Ban, Refused
from tablecam.rules.hexes.counters import place_of
from tablecam.rules.maida_1806 import clash, field, fire, hands, movement, reaction, sequence
from tablecam.rules.maida_1806 import state as acts
from tablecam.rules.maida_1806.game import GAME
from tablecam.rules.maida_1806.state import MoveStep
from tablecam.rules.maida_1806.tables import SHIFT_WORDS
from tablecam.rules.maida_1806.troops import firepower_of, rounded
from tests.rules.maida_1806.games import battle, begun, unit
from tests.rules.maida_1806.test_maida_play import moving, roll, to


def lie(*units: Any, **keys: Any) -> Any:
    """The state of a battle of a few units."""
    return moving(*units, **keys).state


FAR = unit("BZ", "1516")


def test_the_game_begins_with_each_counter_in_its_printed_hex_d_3_1_d_17_0a_d_3_3a():
    state = begun().state
    guards = state.piece("Guards")
    assert (guards.hexes, guards.formation, guards.facing_deg) == (("0709", "0809"), "line", 60)
    assert state.pool == ("General Blue",)


def test_i_42_loses_three_and_shows_its_back_d_3_4b_d_3_4c_d_3_4h():
    state = lie(unit("FA", "0505", full_strength=5, morale=[7, 6]), FAR)
    shown = []
    for losses in range(4):
        now = state.with_piece("FA", losses=losses)
        shown.append((now.strength("FA"), now.morale("FA")))
    assert shown == [(5, 7), (4, 7), (3, 7), (2, 6)]


def test_a_half_is_rounded_up_and_firepower_is_1_at_least_d_3_4d_d_3_4g():
    assert [rounded(Fraction(n, 100)) for n in (149, 150, 249, 250)] == [1, 2, 2, 3]
    state = lie(unit("FA", "0505", full_strength=1), FAR)
    assert firepower_of(*state.both("FA")) == 1


def test_morale_checks_pass_on_equal_or_lower_d_3_4f_d_14_8():
    play = moving(unit("FA", "0604", 240), unit("BA", "0505", morale=[7]), leaders={"F1": "0603"})
    shot = fire.shot_of(play.state, ("FA",), "BA")
    play.apply(acts.Fire(("FA",), "BA"))
    roll(play, 7 - shot.total("BA"))
    assert not play.state.piece("BA").disrupted
    disrupted = play.state.with_piece("BA", disrupted=True)
    assert disrupted.morale("BA") == 6
    step = movement.stepped(disrupted, disrupted.piece("BA"), to("0504"))
    assert isinstance(step, Ban)


def test_the_overall_commander_activates_a_leader_and_both_move_d_4_4_d_4_5_d_4_1():
    play = battle(unit("FA", "0303"), unit("FB", "1212", acts_with_oc=True, leader="F2"), FAR,
                  active=None, pool={"1": ["F-OC"]})  # fmt: skip
    play.apply(acts.Draw())
    play.apply(acts.Activate("F1"))
    assert set(play.state.active_units) == {"FA", "FB"}
    while play.state.phase == "movement":
        play.apply(acts.Pass())
    for who, leaders in (("do F-OC and F1", {"F-OC", "F1"}), ("does F-OC", {"F-OC"})):
        moves = [action for action in play.legal() if action.type == "move_leader"]
        assert {action.leader for action in moves} == leaders
        assert play.asked().question == f"Where {who} go?"
        play.apply(moves[-1])


def test_guns_near_a_leader_put_him_in_danger_d_4_6_2():
    gun, far = unit("FG", "0505", arm="artillery"), unit("BA", "0501", 240)
    near = lie(gun, unit("BA", "0502", 240))
    assert fire.shot_of(near, ("FG",), "BA").leader_die
    assert not fire.shot_of(lie(gun, far), ("FG",), "BA").leader_die


def test_leaders_go_nine_hexes_where_no_enemy_is_d_12_8_d_11_4_d_12_2():
    leaders = {"F1": "0103", "B1": "0105"}
    play = moving(unit("FA", "0505"), unit("BA", "0302", 240), leaders=leaders)
    assert play.state.phase == "leaders"
    hexes = {action.to for action in play.legal() if action.type == "move_leader"}
    assert hexes.isdisjoint({"0302", "0105"})
    assert "0505" in hexes
    assert all(play.state.grid.distance(("0103",), (number,)) <= 9 for number in hexes)


def test_a_line_lies_on_one_hex_or_two_by_its_strength_d_6_1_d_6_2_d_6_3_9_d_6_3_8():
    small = lie(unit("FA", "0505", full_strength=7), FAR, leaders={"F1": "0506"})
    forms = [form for form, _ in movement.formations(small, small.piece("FA"))]
    assert {form.hexes for form in forms if form.to == "line"} == {("0505",)}
    large = lie(unit("FA", "0505", full_strength=8), FAR, leaders={"F1": "0506"})
    forms = [form for form, _ in movement.formations(large, large.piece("FA"))]
    assert {form.hexes for form in forms if form.to == "line"} == {
        ("0404", "0505"), ("0505", "0605"),
    }  # fmt: skip


def test_a_battalion_without_room_for_two_hexes_stays_column_d_6_3_8():
    walls = [unit("FB", "0404"), unit("FC", "0605")]
    state = lie(unit("FA", "0505", full_strength=8), *walls, FAR, leaders={"F1": "0506"})
    assert "line" not in {form.to for form, _ in movement.formations(state, state.piece("FA"))}


def test_distances_of_a_wide_line_count_from_its_nearest_hex_d_g8_d_14_9():
    state = lie(unit("FA", ["0505", "0605"], full_strength=9), unit("BA", "0803", 240))
    assert state.grid.distance(state.piece("FA").hexes, ("0803",)) == 3
    assert "BA" not in field.targets_of(state, state.piece("FA"))


def test_a_wide_line_sees_from_its_middle_d_14_2_1_d_14_2_d_14_3():
    state = lie(unit("FA", ["0505", "0605"], full_strength=9), unit("BA", "0704", 240))
    assert field.targets_of(state, state.piece("FA")) == ("BA",)
    behind = lie(unit("FA", ["0505", "0605"], full_strength=9), unit("BA", "0606", 240))
    assert field.targets_of(behind, behind.piece("FA")) == ()


def test_a_line_in_two_clash_hexes_alone_fights_one_combat_d_6_5b_d_6_5d_d_15_1_d_11_6():
    wide = unit("FA", ["0505", "0605"], full_strength=9)
    state = lie(wide, unit("BA", "0505", 240), unit("BB", "0605", 240))
    (combat,) = clash.combats_of(state, "french", ("FA",), ())
    assert set(combat.defenders) == {"BA", "BB"}
    assert clash.strength_in(state, combat.defenders) == 10
    lines = lie(wide, unit("BA", ["0605", "0505"], 240, full_strength=7))
    (combat,) = clash.combats_of(lines, "french", ("FA",), ())
    assert combat.hexes == ("0505", "0605")


def test_two_friends_fight_two_combats_and_gang_up_on_nobody_d_6_5c_d_15_3():
    wide = unit("FA", ["0505", "0605"], full_strength=9)
    other = unit("FB", "0605", formation="line")
    state = lie(wide, other, unit("BA", "0505", 240), unit("BB", "0605", 240))
    combats = clash.combats_of(state, "french", ("FA", "FB"), ())
    first = combats[0]
    rest = clash.combats_of(state, "french", ("FA", "FB"), (*first.attackers, *first.defenders))
    fought = [first, *rest]
    assert {name for combat in fought for name in combat.defenders} == {"BA", "BB"}


def test_companies_are_alone_and_see_through_their_flanks_d_8_1_d_8_7_d_14_10_7():
    keys = {"kind": "company", "full_strength": 1, "fire_result": "M", "firepower": None,
            "formation": "skirmish", "morale": [7]}  # fmt: skip
    state = lie(unit("FA", "0505", **keys), unit("FB", "0605", **keys), unit("BA", "0404", 240))
    piece = state.piece("FA")
    assert piece.formation == "skirmish"
    assert field.targets_of(state, piece) == ("BA",)
    assert isinstance(fire.ban_on_fire(state, ("FA", "FB"), "BA"), Ban)
    turned = movement.stepped(state, piece, MoveStep(turn=60))
    assert not isinstance(turned, Ban)
    assert turned.mp == 0.0


def test_no_company_leaves_a_battalion_in_a_clash_hex_d_8_4():
    coy = unit("Bc1", None, kind="company", full_strength=1, morale=[7], firepower=None,
               fire_result="M", formation=None)  # fmt: skip
    light = unit("BL", "0505", full_strength=7, companies=["Bc1"], mp_left=None)
    free = lie(light, coy, unit("FA", "1516"), active="B1", leaders={"B1": "0506"})
    assert movement.detachable(free, free.piece("BL")) == ("Bc1",)
    clash_hex = free.with_piece("FA", hexes=("0505",))
    assert movement.detachable(clash_hex, clash_hex.piece("BL")) == ()


def test_batteries_fire_alone_at_their_printed_ranges_d_10_2_d_10_3_d_10_4_d_10_1():
    gun = unit("FG", "0505", arm="artillery")
    state = lie(gun, unit("FA", "0605"), unit("BA", "0501", 240), unit("BB", "0509", 60))
    assert field.targets_of(state, state.piece("FG")) == ("BA",)
    assert fire.shot_of(state, ("FG",), "BA").result == "1M"
    joint = fire.ban_on_fire(state, ("FG", "FA"), "BA")
    assert joint is not None


def test_a_battery_alone_fights_as_a_line_of_strength_1_d_10_10_d_10_11():
    state = lie(unit("FA", "0505"), unit("BG", "0505", 240, arm="artillery"))
    combat = clash.Combat(("0505",), ("FA",), ("BG",))
    assert clash.strength_in(state, combat.defenders) == 1
    assert clash.holds(state, combat, "attacker", "enemy_in_line")
    guarded = lie(unit("FA", "0505"), unit("BG", "0505", 240, arm="artillery"),
                  unit("BA", "0505", 240))  # fmt: skip
    assert clash.fighting(guarded, ("BG", "BA")) == ("BA",)
    after = clash.rout(guarded, ("BA", "BG"), 2, (("0505",),))
    assert after.piece("BG").captured_by == "french"


@pytest.mark.parametrize(("facing_deg", "is_flanked"), [(300, False), (0, True)])
def test_each_half_of_a_line_attacks_from_its_own_hex_d_15_7b(facing_deg, is_flanked):
    state = lie(unit("FA", ["0505", "0605"], full_strength=9), unit("BA", "0604", facing_deg))
    state = state.with_piece("FA", hexes=("0504", "0604"), entered_from=("0505", "0605"))
    combat = clash.Combat(("0604",), ("FA",), ("BA",))
    assert clash.holds(state, combat, "attacker", "flank") is is_flanked


def test_foot_and_horse_pass_through_each_other_and_do_not_stay_d_11_1_d_11_1_1_d_11_2():
    play = moving(unit("FH", "0505", arm="cavalry"), unit("FA", "0504"), FAR,
                  leaders={"F1": "0506"})  # fmt: skip
    play.apply(acts.Move(("FH",), (to("0504"),)))
    with pytest.raises(Refused, match=r"D-11\.1 "):
        play.apply(acts.Halt())
    play.apply(acts.Move(("FH",), (to("0503"),)))
    play.apply(acts.Halt())


def test_units_in_a_clash_hex_neither_fire_nor_turn_nor_leave_d_14_7_d_11_11_d_11_12_d_3_4e():
    state = lie(unit("FA", "0505"), unit("BA", "0505", 240), unit("BB", "0504", 240))
    piece = state.piece("FA")
    assert state.is_clash("0505")
    assert field.targets_of(state, piece) == ()
    for step in (to("0604"), MoveStep(turn=60)):
        assert isinstance(movement.stepped(state, piece, step), Ban)
    assert "BA" not in field.targets_of(state, state.piece("BB"))


def test_one_unit_moves_after_the_other_by_its_front_d_12_1_d_12_13_d_12_3():
    play = moving(unit("FA", "0505"), unit("FB", "0506"), FAR, leaders={"F1": "0507"})
    with pytest.raises(Refused, match=r"D-12\.1 "):
        play.apply(acts.Move(("FA",), (to("0404"),)))
    play.apply(acts.Move(("FA",), (to("0504"),)))
    with pytest.raises(Refused, match=r"D-12\.13"):
        play.apply(acts.Move(("FB",), (to("0505"),)))
    play.apply(acts.Halt())
    assert "FA" not in {piece.id for piece in sequence.able_units(play.state)}


def test_units_counterattack_together_if_they_are_of_one_kind_d_12_12_4_d_11_1_2():
    state = lie(unit("FA", "0504", 60), unit("BA", "0503", 240), unit("BB", "0603", 240),
                unit("BH", "0603", 240, arm="cavalry"))  # fmt: skip
    assert reaction.counter_hexes(state, state.piece("BA"), ("FA",)) == ("0504",)
    assert reaction.counter_hexes(state, state.piece("BB"), ("FA",), ("BA",)) == ("0504",)
    assert reaction.counter_hexes(state, state.piece("BH"), ("FA",), ("BA",)) is None


def test_only_the_top_of_a_stack_checks_and_all_take_the_losses_d_13_5():
    stack = [unit("BA", "0503", 240, nation="sicilian"), unit("BB", "0503", 240)]
    play = moving(unit("FA", "0505"), *stack, leaders={"F1": "0506"})
    play.apply(acts.Move(("FA",), (to("0504"),)))
    assert play.legal()[0].for_ == "reaction of BA"
    roll(play, 8)
    assert {play.state.piece(name).losses for name in ("BA", "BB")} == {1}


def test_batteries_react_by_fire_alone_d_13_6():
    gun = unit("BG", "0503", 240, arm="artillery")
    play = moving(unit("FA", "0505"), gun, leaders={"F1": "0506"})
    play.apply(acts.Move(("FA",), (to("0504"),)))
    assert {action.choice for action in play.legal()} == {"fire", "none"}


def test_a_unit_in_command_reacts_better_d_13_3_d_4_2():
    mover, own = unit("FA", "0504", 60), unit("BA", "0503", 240)
    far, near = lie(mover, own), lie(mover, own, leaders={"B1": "0502"})
    assert "in_command" not in reaction.check_of(far, "BA", ("FA",)).modifiers
    assert reaction.check_of(near, "BA", ("FA",)).modifiers["in_command"] == -1


def test_fire_from_behind_adds_one_and_the_fourth_fire_is_the_last_d_14_4_d_14_10_1_d_14_10_8():
    state = lie(unit("FA", "0405", 0), unit("BA", "0505", 60))
    parts = fire.shot_of(state, ("FA",), "BA").modifiers["BA"]
    assert (parts["flank or rear"], parts["first fire"]) == (1, 1)
    second = state.with_piece("FA", fires=1)
    assert "first fire" not in fire.shot_of(second, ("FA",), "BA").modifiers["BA"]
    spent = state.with_piece("FA", fires=4)
    assert field.targets_of(spent, spent.piece("FA")) == ()


def test_only_the_top_unit_suffers_rifle_fire_d_11_8_d_14_10_3_d_14_10_9():
    state = lie(unit("FA", "0604", 240), unit("BA", "0505"), unit("BB", "0505"))
    assert fire.shot_of(state, ("FA",), "BA").checks == ("BA",)


def test_a_fire_at_a_stack_names_the_unit_under_the_battery_that_checks_r_21():
    gun = unit("BG", "0505", 240, arm="artillery")
    play = moving(unit("FA", "0604", 240), gun, unit("BA", "0505", 240), leaders={"F1": "0603"})
    shot = acts.Fire(("FA",), "BG")
    assert GAME.offered(play.state, shot).label.startswith("FA: fire at BA, under BG, morale check")
    (told,) = [event for event in play.apply(shot).events if event.kind == "fire"]
    assert told.text.startswith("FA fires at BA, under BG: ")


def test_a_line_that_may_not_halt_under_a_gun_does_not_fire_its_points_away_d_6_4_r_14():
    gun, target = unit("FG", "0504", arm="artillery"), unit("BA", "0502", 240)
    line = unit("FA", ["0505", "0605"], full_strength=8)
    state = moving(line, gun, target, leaders={"F1": "0507"}).state
    state, _ = GAME.apply(state, acts.Move(("FA",), (to("0504", "0604"),)))
    fires = acts.Fire(("FA",), "BA")
    for left, rule in ((3.0, None), (2.5, "D-6.4")):
        now = state.with_piece("FA", mp_left=left)
        ban = fire.ban_on_fire(now, ("FA",), "BA")
        assert (ban and ban.rule, fires in GAME.legal(now)) == (rule, rule is None)


def test_two_dice_against_a_battery_alone_are_told_d_10_9():
    state = lie(unit("FG", "0505", arm="artillery"), unit("BG", "0502", 240, arm="artillery"))
    shot = acts.Fire(("FG",), "BG")
    label = "FG: fire at BG, more than 3 hits, then 1 or less captures it"
    assert GAME.offered(state, shot).label == label
    state = fire.fired(state, ("FG",), "BG")
    told = []
    for die in (3, 4, 2, 1):
        after, events = GAME.apply(state, replace(GAME.legal(state)[0], values=(die,)))
        told += [event.text for event in events if event.rule == "D-10.9"]
        state = after if die == 4 else state
    assert told == [
        "BG is not hit: die 3, hit by more than the distance 3",
        "BG is hit: die 4, hit by more than the distance 3",
        "BG holds: die 2, captured by 1 or less",
        "BG is captured (die 1, captured by 1 or less): 3 VP for the French",
    ]


def test_units_facing_alike_with_each_in_the_others_flank_hex_form_a_chain_d_g9():
    def forms_chain(one: Any, other: Any, facing_deg: int = 60) -> bool:
        units = unit("FA", one, formation="line"), unit("FB", other, facing_deg, formation="line")
        return field.flank_chain(lie(*units, FAR), ("FA", "FB"))

    assert forms_chain("0505", "0605")
    assert not forms_chain("0505", "0605", 120)
    assert not forms_chain("0505", "0504")
    assert forms_chain(["0505", "0605"], "0706")


def test_a_withdrawal_joins_friends_with_their_facing_and_keeps_its_own_d_14_11_2_d_14_11_3():
    state = lie(unit("FA", "0805"), unit("FB", "0806", 120), unit("BA", "0604", 0))
    _, ends = field.withdrawals(state, state.piece("FA"), (("0604",),))
    assert ends == (("0806",),)
    retreat = fire.Retreat("FA", (("0604",),), 1)
    after = retreat.follow(state, acts.Withdraw("FA", ("0806",)))
    assert after.piece("FA").facing_deg == 120
    assert [piece.id for piece in after.stack("FA")] == ["FB", "FA"]


def test_a_withdrawal_before_an_enemys_front_costs_a_loss_d_14_11_5_d_14_11():
    state = lie(unit("FA", "0805"), unit("BA", "0604", 0), unit("BB", "0807", 60))
    told = fire.Retreat("FA", (("0604",),), 1).follow(state, acts.Withdraw("FA", ("0806",))).told
    assert [event.text for event in told] == [
        "FA withdraws to 0806, into an enemy's Front", "FA loses 1, 4 left",
    ]  # fmt: skip


def test_a_blocked_withdrawal_eliminates_for_a_point_d_14_11_7_d_16_1():
    full = [unit(f"F{n}", "0806", kind="squadron", arm="cavalry") for n in range(4, 8)]
    walls = [unit("BB", "0906", 240), unit("BC", "0905", 240)]
    state = lie(unit("FA", "0805"), *full, *walls, unit("BA", "0604", 0))
    after = fire.Retreat("FA", (("0604",),), 1).follow(state, None)
    assert (after.piece("FA").eliminated, after.vp) == (True, -1)


def test_a_leader_may_withdraw_before_an_enemy_d_14_11_8():
    play = moving(unit("FA", "0505"), FAR, leaders={"F1": "0506", "B1": "0503"})
    play.apply(acts.Move(("FA",), (to("0504"),)))
    assert (play.asked().seat, play.legal()[0]) == ("british", acts.Withdraw("B1"))


def test_clashes_are_fought_one_by_one_in_the_order_of_the_active_side_d_15_4_d_15_5_d_15_6():
    play = moving(unit("FA", "0505"), unit("BA", "0505", 240), unit("FB", "0909"),
                  unit("BB", "0909", 240))  # fmt: skip
    while play.state.phase != "clash":
        play.apply(acts.Pass())
    assert {action.hexes for action in play.legal()} == {("0505",), ("0909",)}
    play.apply(play.legal()[1])
    roll(play, 5)
    assert len(play.state.fought) == 2


def test_a_rout_leaves_the_map_and_shakes_friends_but_no_guns_d_15_11_1_d_15_11_2_d_15_12_1():
    state = lie(unit("FA", "0505"), unit("FB", "0506"), unit("FG", "0405", arm="artillery"), FAR)
    after = clash.rout(state, ("FA",), 2, (("0504",),))
    assert (after.piece("FA").hexes, after.piece("FA").returns_turn) == ((), 2)
    (due,) = [due for due in after.due if isinstance(due, clash.Crisis)]
    assert due.units == ("FB",)


def test_charges_and_counterattacks_are_clashes_of_the_movement_d_12_11_d_15_10_d_9_2_3():
    horse, foot = unit("FH", "0505", arm="cavalry"), unit("BA", "0504", 240)
    state = lie(horse, foot).with_piece("FH", straight=3, mp_left=5.0)
    assert movement.ban_on_charge(state, ("FH",), "0504") is None
    combat = clash.Combat(("0504",), ("FH",), ("BA",), "charge")
    assert [shift.when for shift in clash.shifts_of(state, combat)] == ["charge"]


def test_each_word_that_shifts_columns_has_its_meaning_d_15_7():
    assert set(clash.HOLDS) == {word.partition(":")[0] for word in SHIFT_WORDS}


def test_batteries_flip_back_at_the_end_of_each_movement_d_10_7():
    play = moving(unit("FG", "0505", arm="artillery"), unit("BA", "0503", 240))
    play.apply(acts.Fire(("FG",), "BA"))
    assert play.state.piece("FG").fired
    roll(play, 5)
    while play.state.phase == "movement":
        play.apply(acts.Pass())
    assert not play.state.piece("FG").fired


# Moves by hand.


def seen(state: Any, **hexes: Any) -> Any:
    """The table with some counters laid elsewhere: hexes and facing, None for hidden ones."""
    position = GAME.position(state)
    units = []
    for one in position.units:
        if one.id in hexes and hexes[one.id] is None:
            one = replace(one, bases=())
        elif one.id in hexes:
            place, facing_deg = hexes[one.id]
            x_mm, y_mm = state.grid.middle_mm((place,) if isinstance(place, str) else place)
            base = replace(one.bases[0], x_mm=x_mm + 1, y_mm=y_mm, heading_deg=facing_deg + 5)
            one = replace(one, bases=(base,))
        units.append(one)
    return replace(position, units=tuple(units))


def test_a_move_by_hand_is_found_hex_by_hex_d_13_8_d_g10():
    state = lie(unit("FA", "0505"), FAR, leaders={"F1": "0506"})
    (found,) = GAME.detect_moves(state, seen(state, FA=("0604", 60)))
    assert found.action == acts.Move(("FA",), (to("0604"),))
    (far,) = GAME.detect_moves(state, seen(state, FA=("0503", 120)))
    assert isinstance(far.action, acts.Move)
    assert (len(far.action.steps), far.answer.answer) == (3, "yes")
    # Before its slot the enemy fires or passes, however many points it has (D-4.2).
    (early,) = GAME.detect_moves(replace(state, slot=0), seen(state, FA=("0604", 60)))
    assert (early.action, early.answer.because[:8]) == (None, "not yet:")


def test_a_move_that_is_too_far_names_its_points_and_the_nearest_place_d_12_4_d_12_8():
    wide = unit("FA", ["0505", "0605"], full_strength=8)
    state = lie(wide, FAR, leaders={"F1": "0506"})
    (found,) = GAME.detect_moves(state, seen(state, FA=(("0502", "0602"), 60)))
    needs, double = found.answer.because.split("; ")
    assert (found.answer.rule, needs) == ("D-12.8", "FA needs 4.5 and has 4 Movement Points")
    assert double.startswith("it comes there on a double march")
    # Of the places next to that one, it is straight behind it.
    assert lies_in(state, found.nearest, "FA") == ("0503", "0603")
    # It is never the place from which the counter came.
    (far,) = GAME.detect_moves(state, seen(state, FA=(("0512", "0612"), 60)))
    assert far.answer.rule == "D-12.2"
    assert lies_in(state, far.nearest, "FA") != ("0505", "0605")


def lies_in(state: Any, position: Any, name: str) -> tuple[str, ...]:
    """Where a counter lies on a table."""
    return place_of(state.grid, position.unit(name).bases[0]).hexes


def test_a_line_laid_on_friends_by_hand_passes_and_must_go_on_d_11_3_d_6_4():
    wide, gun = unit("FA", ["0505", "0605"], full_strength=8), unit("FG", "0604", arm="artillery")
    state = lie(wide, gun, FAR, leaders={"F1": "0506"})
    table = seen(state, FA=(("0504", "0604"), 60))
    (found,) = GAME.detect_moves(state, table)
    assert (found.action, found.answer.answer) == (acts.Move(("FA",), (to("0504", "0604"),)), "yes")
    assert found.text.endswith("through FG: it must go on")
    passed, _ = GAME.apply(state, found.action)
    assert GAME.asked(passed).question == "FA must go on"
    assert GAME.detect_moves(passed, table) == ()


def test_a_line_on_two_hexes_pushed_under_another_joins_it_d_6_4_d_g12():
    lines = [unit("FA", ["0505", "0605"], full_strength=8), unit("FB", ["0504", "0604"])]
    state = lie(*lines, FAR, leaders={"F1": "0506"})
    (found,) = GAME.detect_moves(state, seen(state, FA=None))
    assert (found.text, found.action) == (
        "FA joins 0504 and 0604", acts.Move(("FA",), (to("0504", "0604"),))
    )  # fmt: skip


def test_a_counter_that_vanishes_beside_a_friend_is_proposed_as_a_join_d_g12():
    state = lie(unit("FA", "0505"), unit("FB", "0504"), FAR, leaders={"F1": "0506"})
    (found,) = GAME.detect_moves(state, seen(state, FA=None))
    assert found.action == acts.Move(("FA",), (to("0504"),))
    joined, _ = GAME.apply(state, found.action)
    assert [piece.id for piece in joined.stack("FB")] == ["FB", "FA"]
    table = seen(joined, FA=None)
    assert GAME.detect_moves(joined, table) == ()
    # Nobody looks for it: it lies beneath.
    diff = TableDiff(GAME)
    diff.begin(table)
    diff.follow(GAME.position(state), GAME.position(joined))
    assert diff.placings(joined) == ()
    diff.seen = seen(joined, FB=None, FA=None)
    assert [placing.unit for placing in diff.placings(joined)] == ["FA"]
    # One that may not go there is looked for; one that is no more listed was taken off.
    theirs = replace(state, slot=0, drawn="B1", commanding="B1")
    (lost,) = GAME.detect_moves(theirs, table)
    assert lost.text == "FA is not seen any more: where is it?"
    off = replace(table, units=tuple(one for one in table.units if one.bases))
    assert GAME.detect_moves(state, off) == ()


@pytest.mark.parametrize("hexes", [["0504"], ["0403", "0504"]])
def test_a_unit_that_goes_under_its_leader_lies_there_as_believed_d_4_6_1_d_g12(hexes: list[str]):
    others = (unit("FB", "0605"), FAR)
    before = lie(unit("FA", "0303"), *others, leaders={"F1": "0504"})
    state = lie(unit("FA", hexes), *others, leaders={"F1": "0504"})
    table = seen(state, FA=None)
    diff = TableDiff(GAME)
    diff.begin(table)
    diff.follow(GAME.position(before), GAME.position(state))
    assert diff.placings(state) == ()
    # It has joined no stack beside it, and nobody asks where it is, until the leader goes.
    assert GAME.detect_moves(state, table) == ()
    diff.seen = replace(table, commanders=())
    assert [placing.unit for placing in diff.placings(state)] == ["FA"]
    assert [one.unit for one in GAME.detect_moves(state, diff.seen)] == ["FA"]


def test_a_counter_laid_on_an_enemy_is_never_silently_unseen_d_5_1_d_g12():
    british = [unit("BA", "0505"), unit("BB", "0404", formation="line")]
    state = lie(*british, unit("FA", "0504", 240), unit("FB", "0101"), active="B1",
                leaders={"B1": "0506"})  # fmt: skip
    # The enemy beneath counts as where it was, until something else is seen there.
    for name, rule in (("BA", "D-5.1"), ("BB", "D-12.1")):
        (found,) = GAME.detect_moves(state, seen(state, FA=None, **{name: ("0504", 60)}))
        assert (found.unit, found.answer.rule) == (name, rule)
    # A counter that was pushed under an enemy is asked about, also when both seem to be gone.
    for names in (["BA"], ["BA", "FA"]):
        asked = GAME.detect_moves(state, seen(state, **dict.fromkeys(names)))
        assert [one.text for one in asked] == [
            f"{name} is not seen any more: where is it?" for name in names
        ]
        (label, lies), *_ = asked[0].choices
        assert label == "It lies in 0505"
    after, _ = GAME.apply(state, lies)
    assert GAME.detect_moves(after, seen(after, BA=None)) == ()


def test_a_counter_that_may_lie_under_either_stack_is_asked_about_once_d_g12():
    friends = [unit("FB", "0504"), unit("FC", "0604")]
    state = lie(unit("FA", "0505"), *friends, FAR, leaders={"F1": "0506"})
    (asked,) = GAME.detect_moves(state, seen(state, FA=None))
    assert dict(asked.choices) == {
        "FA joins 0504": acts.Move(("FA",), (to("0504"),)),
        "FA joins 0604": acts.Move(("FA",), (to("0604"),)),
        "Spread 0504": hands.Spread("0504"),
        "Spread 0604": hands.Spread("0604"),
    }
    for _, action in asked.choices:
        GAME.apply(state, action)


def test_a_counter_between_two_corners_is_asked_how_it_faces_d_g4():
    state = lie(unit("FA", "0505"), FAR, leaders={"F1": "0506"})
    (asked,) = GAME.detect_moves(state, seen(state, FA=("0504", 83)))
    assert asked.text == "How does FA face?"
    facings = [action.steps[-1] for _, action in asked.choices]
    assert facings == [to("0504"), MoveStep(turn=60)]


def test_a_wrong_printed_face_is_reported_and_not_taken_as_a_loss_d_g13():
    state = begun().state
    state = replace(state, phase="movement")
    position = GAME.position(state)
    roster = {"faces": [{"tag": 1, "formation": "column"}, {"tag": 2, "formation": "line"}]}
    units = tuple(
        replace(one, extra=roster, bases=(replace(one.bases[0], tag=2),))
        if one.id == "Fusiliers" else one
        for one in position.units
    )  # fmt: skip
    found = GAME.detect_moves(state, replace(position, units=units))
    assert [(one.unit, one.answer.rule) for one in found] == [("Fusiliers", "D-3.4h")]


def test_a_counter_that_lies_in_its_hex_is_adopted_as_it_lies_d_g3():
    state = lie(unit("FA", "0505"), FAR, leaders={"F1": "0506"})
    lay = GAME.adopt_positions(state, seen(state, FA=("0505", 60)))
    after, _ = GAME.apply(state, lay)
    assert GAME.position(after).unit("FA") == seen(state, FA=("0505", 60)).unit("FA")
    assert GAME.detect_moves(after, GAME.position(after)) == ()


def test_a_withdrawal_by_hand_answers_what_is_due_d_14_11_1():
    friends = [unit("FB", "1010")]
    state = lie(unit("FA", "0805"), *friends, unit("BA", "0805", 240), unit("BB", "0803", 240))
    state = state.with_piece("BA", hexes=("0804",))
    due = fire.Retreat("FA", (("0804",),), 1)
    state = replace(state, due=(due,))
    options = due.options(state)
    assert len(options) == 2
    (found,) = GAME.detect_moves(state, seen(state, FA=(options[1][0], 60)))
    assert found.action == acts.Withdraw("FA", options[1])


def test_nobody_enters_a_clash_hex_in_which_he_could_not_stay_with_his_friends_d_6_5e():
    units = [unit("FA", "0505"), unit("FB", "0506"), unit("BA", "0504", 240)]
    for formation, is_allowed in (("column", True), ("line", False)):
        state = lie(*units, leaders={"F1": "0507"})
        state = state.with_piece("FA", hexes=("0504",), formation=formation)
        state = state.with_piece("FB", hexes=("0505",))
        step = movement.step_together(state, [state.piece("FB")], to("0504"))
        assert isinstance(step, Ban) != is_allowed
        assert is_allowed or step.rule == "D-6.5e"


def laid_out(state: Any, *names: str) -> Any:
    """The table as the game has it, with counters laid beside each other in their hexes."""
    position = GAME.position(state)
    units = []
    for index, one in enumerate(position.units):
        base = one.bases[0]
        if one.id in names:
            base = replace(base, x_mm=base.x_mm + 4.0 * (index % 3 - 1), seen="now")
        units.append(replace(one, bases=(base,)))
    return replace(position, units=tuple(units))


def test_an_untidy_change_of_order_is_asked_about_once_d_11_0():
    state = lie(unit("FA", "0505"), unit("FB", "0505"), FAR, leaders={"F1": "0506"})
    table = laid_out(state, "FA", "FB")
    (asked,) = GAME.detect_moves(state, table)
    assert (asked.text, asked.action) == ("What did FB do?", None)
    (_, on_top), (_, beside), (_, spread) = asked.choices
    assert [label for label, _ in asked.choices] == [
        "FB comes to the top in 0505", "FB only lies beside FA", "Spread 0505"
    ]  # fmt: skip
    assert on_top == acts.Reorder("0505", ("FB", "FA"))
    assert spread == hands.Spread("0505")
    # Where no unit may move, it can only lie beside the stack, and nobody is asked.
    assert GAME.detect_moves(replace(state, slot=0, drawn="B1", commanding="B1"), table) == ()
    assert (
        GAME.adopt_positions(state, table) is None
        or "FB" not in GAME.adopt_positions(state, table).units
    )
    # Players say that it only lies beside the stack: it is no news while it lies there.
    state, _ = GAME.apply(state, beside)
    assert GAME.detect_moves(state, table) == ()
    fb = next(one for one in table.units if one.id == "FB")
    moved = replace(fb, bases=(replace(fb.bases[0], y_mm=fb.bases[0].y_mm + 6),))
    units = tuple(moved if one.id == "FB" else one for one in table.units)
    (again,) = GAME.detect_moves(state, replace(table, units=units))
    assert again.text == asked.text
    assert GAME.detect_moves(state, GAME.position(state)) == ()


def test_a_leader_whom_hands_moved_too_soon_is_accepted_where_he_lies_d_3_3b():
    state = lie(unit("FA", "0505"), FAR, leaders={"F1": "0506"})
    x_mm, y_mm = state.grid.middle_mm(("0707",))
    position = GAME.position(state)
    leaders = (
        replace(one, x_mm=x_mm, y_mm=y_mm) if one.id == "F1" else one for one in position.commanders
    )
    table = replace(position, commanders=tuple(leaders))
    (moved,) = GAME.detect_moves(state, table)
    assert (moved.unit, moved.answer.answer) == ("F1", "no")
    accepted = GAME.action_from_json({"type": "overrule", **laid(table, ["F1"])})
    state, _ = GAME.apply(state, accepted)
    assert state.leader("F1").hex == "0707"
    assert GAME.detect_moves(state, table) == ()


STACKED = [unit("FA", "0505"), unit("FB", "0505"), unit("FC", "0603"), unit("FD", "0603"), FAR]


def spread_out(*shown: str) -> Any:
    """A stack of the French is laid out: the state, the table, and what the camera makes of it."""
    state = lie(*STACKED, leaders={"F1": "0506"})
    spreads = [action for action in GAME.legal(state) if action.type == "spread"]
    assert spreads == [hands.Spread("0505"), hands.Spread("0603")]
    state, _ = GAME.apply(state, spreads[0])
    assert GAME.asked(state).seat == "french"
    assert "0505" in GAME.asked(state).question
    table = laid_out(state, *shown)
    units = []
    for one in table.units:
        x_mm, y_mm = state.grid.middle_mm(("0505",))
        if one.id in shown and state.piece(one.id).hexes != ("0505",):
            one = replace(one, bases=(replace(one.bases[0], x_mm=x_mm, y_mm=y_mm - 9),))
        units.append(one)
    table = replace(table, units=tuple(units))
    (found,) = GAME.detect_moves(state, table)
    return state, table, found


def test_a_stack_that_is_laid_out_has_its_content_taken_d_11_0():
    state, table, found = spread_out("FA", "FB")
    assert (found.text, found.answer.answer) == ("0505 holds FA and FB", "yes")
    after, (told,) = GAME.apply(state, found.action)
    assert (told.kind, told.facts["units"], told.only_for) == ("spread", ["FA", "FB"], None)
    assert after.pieces == state.pieces
    # Until they are pushed together again, they are no news.
    assert GAME.detect_moves(after, table) == ()


def test_a_stack_that_holds_another_counter_is_corrected_and_told_d_11_0():
    state, _, found = spread_out("FA", "FB", "FD")
    assert found.answer.answer == "yes"
    after, (told,) = GAME.apply(state, found.action)
    assert told.text == "0505 holds FA, FB and FD; the game had FD in 0603"
    assert [piece.id for piece in after.stack("FA")] == ["FA", "FB", "FD"]
    assert [piece.id for piece in after.stack("FC")] == ["FC"]


def test_a_counter_that_is_not_shown_is_asked_about_and_stays_d_11_0():
    state, _, found = spread_out("FA")
    assert found.text == "0505 holds FA; FB not seen there"
    ((label, action),) = found.choices
    assert label == "Confirm"
    after, _ = GAME.apply(state, action)
    assert [piece.id for piece in after.stack("FA")] == ["FA", "FB"]


def test_only_the_owner_lays_out_a_stack_and_the_other_seat_learns_nothing_d_11_0():
    state = lie(*STACKED, unit("BA", "1212"), unit("BB", "1212"), leaders={"F1": "0506"})
    for number in ("1212", "0404", "9999"):
        with pytest.raises(Refused, match="counters of the side that is asked"):
            GAME.apply(state, hands.Spread(number))
    told = GAME.seen_by(state, "british")
    after, _ = GAME.apply(state, hands.Spread("0505"))
    with pytest.raises(Refused):
        GAME.apply(after, hands.Spread("0505", ("FA", "BA")))
    done, _ = GAME.apply(after, hands.Spread("0505", ("FA", "FB")))
    assert GAME.seen_by(done, "british") == told


def test_a_line_covers_what_lies_in_its_right_hex_d_g12():
    line = unit("FA", "0505", formation="line")
    state = lie(line, unit("FB", "0605"), FAR, leaders={"F1": "0506"})
    state = state.with_piece("FA", hexes=("0505", "0605"))
    state = state.with_piece("FB", hexes=("0506",)).with_piece("FB", hexes=("0605",))
    assert [piece.id for piece in state.stack("FB")] == ["FA", "FB"]
    assert GAME.detect_moves(state, GAME.position(state)) == ()
    (found,) = GAME.detect_moves(state, seen(state, FA=("0504", 60)))[:1]
    assert found.unit == "FA"
