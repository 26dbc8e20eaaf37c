"""The game's procedure, rule by rule, on a few counters; each test's name has its rules."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tablecam.errors import BadInput
from tablecam.rules.game import Refused
from tablecam.rules.musket_saber import state as acts
from tablecam.rules.musket_saber.aftermath import Flee
from tablecam.rules.musket_saber.game import GAME
from tests.rules.musket_saber.folios import battle, begun, unit


def roll(play: Any, *dice: int) -> None:
    due = play.legal()[0]
    assert due.type == "roll", play.asked().question
    play.apply(replace(due, values=dice))


def choose(play: Any, kind: str, **fields: Any) -> Any:
    """Do the one legal action of a kind with these fields."""
    (action,) = (
        action
        for action in play.legal()
        if action.type == kind and all(getattr(action, k) == v for k, v in fields.items())
    )
    return play.apply(action)


def kinds(play: Any) -> set[str]:
    return {action.type for action in play.legal()}


def attack(play: Any, *units: str, on: str, tactics: tuple[str, str] = ("none", "none")) -> None:
    """Put an attack together, declare it, and choose the tactics."""
    choose(play, "attack", units=units[:1], target_hex=on, how="attack")
    for name in units[1:]:
        choose(play, "join", unit=name)
    choose(play, "declare", yes=True)
    for choice in tactics:
        if "tactic" in kinds(play):
            choose(play, "tactic", choice=choice)


def events_of(play: Any) -> list[tuple[str | None, str]]:
    return [(event.rule, event.text) for done in play.done for event in done.events]


def goal(play: Any) -> str:
    """What the page says of the die that is due."""
    (group,) = GAME.offered(play.state, play.legal()[0]).dice
    return f"{group.whose}: {group.goal}"


LOST = {"hex": None, "steps": 0, "set_aside": True}
REDUCED = {"steps": 1, "reduced": True}


# Turns and moves.


def test_each_side_moves_and_then_attacks_k_3_2():
    play = battle(unit("R1", "0505"), unit("G1", "1010"))
    seen = []
    for _ in range(4):
        seen.append((play.state.turn, play.state.active, play.state.phase))
        play.apply(acts.Pass())
    assert seen == [(1, s, p) for s in ("red", "grey") for p in ("movement", "combat")]
    assert (play.state.turn, play.state.active) == (2, "red")


def test_a_unit_moves_once_and_only_in_its_phase_k_4_2_k_3_2():
    play = battle(unit("R1", "0505"), unit("G1", "1010"))
    play.apply(acts.Move(("R1",), ("0504",)))
    with pytest.raises(Refused, match=r"K-4.2"):
        play.apply(acts.Move(("R1",), ("0503",)))
    with pytest.raises(Refused, match=r"K-3.2"):
        play.apply(acts.Move(("G1",), ("1009",)))


def test_one_unit_moves_at_a_time_k_4_2():
    play = battle(unit("R1", "0505"), unit("R2", "0505"), unit("G1", "1010"))
    with pytest.raises(Refused, match=r"K-4.2 R1: R2 moves by itself"):
        play.apply(acts.Move(("R1", "R2"), ("0504",)))


def test_a_move_by_hand_may_be_as_long_as_the_allowance_k_4_3():
    play = battle(unit("R1", "0508"), unit("G1", "1018"))
    with pytest.raises(Refused, match=r"K-4.3"):
        play.apply(acts.Move(("R1",), ("0507", "0506", "0505", "0504", "0503", "0502")))
    play.apply(acts.Move(("R1",), ("0507", "0506", "0505", "0504", "0503")))
    assert play.state.unit("R1").hex == "0503"


def test_a_variable_allowance_is_rolled_before_the_move_k_4_4():
    play = battle(unit("R1", "0508", front={"ma": "V"}), unit("G1", "1018"))
    with pytest.raises(Refused, match=r"K-4.4"):
        play.apply(acts.Move(("R1",), ("0507",)))
    choose(play, "start", unit="R1", march=False)
    roll(play, 1)
    assert play.asked().question == "R1: where to, with 1 Movement Point?"
    with pytest.raises(Refused):
        play.apply(acts.Move(("R1",), ("0507", "0506")))
    play.apply(acts.Move(("R1",), ("0507",)))


def test_a_leader_helps_one_unit_a_turn_k_10_3a_k_10_3b():
    chief = {"id": "RC", "side": "red", "span": ["R"], "hex": "0508",
             "front": {"movement": 2, "morale": 1, "combat": 1}}  # fmt: skip
    play = battle(unit("R1", "0508"), unit("R2", "0508"), unit("G1", "1018"), leader=[chief])
    choose(play, "start", unit="R1", leader="RC", march=False)
    assert play.asked().question == "R1: where to, with 7 Movement Points?"
    play.apply(acts.Pass())
    assert not any(getattr(a, "leader", "") for a in play.legal())


def test_a_unit_that_leaves_the_map_routs_off_it_k_4_1():
    play = battle(unit("R1", "0501"), unit("R2", "0508"), unit("G1", "1018"))
    with pytest.raises(Refused, match=r"K-4.1"):
        play.apply(acts.Exit("R2"))
    play.apply(acts.Exit("R1"))
    assert (play.state.unit("R1").hex, play.state.unit("R1").trt) == (None, 3)


def test_reinforcements_enter_in_column_at_their_hex_k_13_1():
    play = battle(
        unit("R1", None), unit("R2", None), unit("G1", "1018"),
        reinforcement=[{"turn": 1, "side": "red", "hex": "0501", "units": ["R1", "R2"]}],
        hq=[{"id": "RQ", "side": "red", "ma": 8, "hex": "0907"}],
    )  # fmt: skip
    # Who enters rolls no die, even while the HQ is inactive.
    play.apply(acts.Move(("RQ",), ("0908",)))
    play.apply(acts.Move(("R1",), ("0501", "0502", "0503", "0504", "0505")))
    with pytest.raises(Refused, match=r"K-4.3"):
        play.apply(acts.Move(("R2",), ("0501", "0502", "0503", "0504", "0505")))
    play.apply(acts.Move(("R2",), ("0501", "0502", "0503", "0504")))


def test_who_enters_beside_a_zone_does_not_march_in_k_4_7a_k_13_1():
    arrival = [{"turn": 1, "side": "red", "hex": "0505", "units": ["R1"]}]
    play = battle(unit("R1", None), unit("R2", "0101"), unit("G1", "0508"), reinforcement=arrival)
    assert acts.Start("R1", march=True) in play.legal()
    play = battle(unit("R1", None), unit("R2", "0101"), unit("G1", "0507"), reinforcement=arrival)
    assert acts.Start("R1") in play.legal()
    with pytest.raises(Refused, match=r"K-4.7a"):
        play.apply(acts.Start("R1", march=True))


def test_a_leader_enters_as_a_reinforcement_too_k_13_1():
    chief = {"id": "RC", "side": "red", "span": ["R"],
             "front": {"movement": 2, "morale": 1, "combat": 1}}  # fmt: skip
    play = battle(
        unit("R1", "0505"), unit("G1", "1018"), leader=[chief],
        reinforcement=[{"turn": 1, "side": "red", "hex": "0501", "units": ["RC"]}],
    )  # fmt: skip
    choose(play, "start", unit="RC")
    choose(play, "move", path=("0501", "0502"))
    assert play.state.thing("RC").hex == "0502"


def test_a_unit_that_has_marched_starts_no_combat_k_4_7a():
    play = battle(unit("R1", "0505"), unit("G1", "0506"), marks={"R1": {"marched": True}})
    play.apply(acts.Pass())
    assert kinds(play) == {"pass"}


@pytest.mark.parametrize("marched", [False, True])
def test_guns_that_have_marched_neither_bombard_nor_support_k_4_7a_k_8_4a_k_8_8(marched):
    guns = unit("R2", "0504", arm="artillery")
    play = battle(unit("R1", "0505"), guns, unit("G1", "0506"), phase="combat",
                  marks={"R2": {"marched": marched}})  # fmt: skip
    assert ("bombard" in kinds(play)) != marched
    assert ("No bombardment: R2 has marched" in GAME.why_missing(play.state)) == marched
    choose(play, "attack", units=("R1",), how="attack")
    assert ("join" in kinds(play)) != marched


def test_an_enemy_that_enters_takes_the_trains_k_12_2():
    trains = [{"id": "GT", "side": "grey", "ma": 4, "hex": "0507"}]
    play = battle(unit("R1", "0505"), unit("G1", "1018"), trains=trains)
    play.apply(acts.Move(("R1",), ("0506", "0507")))
    assert play.state.thing("GT").hex is None


def test_an_hq_that_moves_is_inactive_until_the_end_of_its_next_phase_k_12_1():
    hq = [{"id": "RQ", "side": "red", "ma": 8, "hex": "0507"}]
    play = battle(unit("R1", "0508"), unit("G1", "1018"), hq=hq)
    play.apply(acts.Move(("RQ",), ("0506",)))
    choose(play, "start", unit="R1", march=False)
    assert play.legal()[0].type == "roll"
    roll(play, 3)
    for _ in range(5):
        play.apply(acts.Pass())
    assert not play.state.thing("RQ").active
    play.apply(acts.Pass())
    assert play.state.thing("RQ").active


def test_a_square_is_formed_out_of_reach_and_ends_at_will_k_9_5b_k_9_5d():
    play = battle(unit("R1", "0505"), unit("R2", "0905"), unit("G1", "0507"), unit("G2", "0906"))
    with pytest.raises(Refused, match=r"K-9.5b"):
        play.apply(acts.Square("R2"))
    play.apply(acts.Square("R1"))
    assert play.state.unit("R1").square
    with pytest.raises(Refused, match=r"K-4.2"):
        play.apply(acts.Move(("R1",), ("0504",)))
    play.apply(acts.Square("R1", forms=False))
    assert not play.state.unit("R1").square


# What returns.


def test_a_disrupted_unit_recovers_instead_of_moving_k_11_1f():
    play = battle(unit("R1", "0505"), unit("G1", "1018"), marks={"R1": {"disrupted": True}})
    choose(play, "recover", unit="R1", leader="")
    # Its own disruption does not hinder it.
    assert goal(play) == "R1: 4 or less passes"
    roll(play, 4)
    assert not play.state.unit("R1").disrupted
    assert ("K-11.1f", "R1 passes its morale check with 4: 4 or less passes") in events_of(play)
    with pytest.raises(Refused, match=r"K-4.2 R1: it stood still in this phase"):
        play.apply(acts.Move(("R1",), ("0504",)))


def test_effectiveness_comes_back_without_a_die_k_11_3():
    horse = unit("R1", "0505", arm="cavalry")
    play = battle(horse, unit("G1", "1018"), marks={"R1": {"ineffective": True}})
    choose(play, "recover", unit="R1", leader="")
    assert (play.state.unit("R1").ineffective, play.state.unit("R1").charge) == (False, 7)


def test_an_eliminated_unit_regains_a_step_or_is_destroyed_k_11_2b():
    for die, marks in ((4, (2, False)), (5, (None, True))):
        play = battle(unit("R1", "0505"), unit("R2", "0506"), unit("G1", "1018"), side="grey",
                      marks={"R1": LOST})  # fmt: skip
        play.apply(acts.Pass())
        play.apply(acts.Pass())
        roll(play, die)
        piece = play.state.unit("R1")
        assert (piece.trt and piece.trt - 1, piece.destroyed) == marks


def test_a_red_dot_bars_replacements_and_unaided_checks_k_11_2c():
    play = battle(unit("R1", "0505", red_dots=1), unit("G1", "1018"), side="grey",
                  replacements={"red": {"2": 1}}, marks={"R1": LOST})  # fmt: skip
    play.apply(acts.Pass())
    play.apply(acts.Pass())
    assert play.state.active == "red"
    assert "replace" not in kinds(play)


def test_a_replacement_step_makes_a_reduced_unit_whole_k_11_2a():
    play = battle(unit("R1", "0505"), unit("G1", "1018"), side="grey",
                  replacements={"red": {"2": 1}}, marks={"R1": REDUCED})  # fmt: skip
    play.apply(acts.Pass())
    play.apply(acts.Pass())
    play.apply(acts.Replace("R1"))
    assert (play.state.unit("R1").steps, play.state.unit("R1").cf) == (2, 5)
    assert "replace" not in kinds(play)


def test_a_routed_unit_returns_beside_its_loc_hex_k_13_2():
    play = battle(unit("R1", "0505"), unit("G1", "1018"), marks={"R1": {"hex": None, "trt": 1}})
    choose(play, "place", unit="R1", hex="0102")
    assert (play.state.unit("R1").hex, play.state.unit("R1").trt) == ("0102", None)


# Attacks.


def test_the_differential_and_each_halving_are_shown_before_it_is_declared_k_7_7():
    play = battle(unit("R1", "0505"), unit("R2", "0605", formation="X", front={"paren": True}),
                  unit("G1", "0506"), phase="combat")  # fmt: skip
    choose(play, "attack", units=("R1",), target_hex="0506", how="attack")
    choose(play, "join", unit="R2")
    assert play.asked().question == "R1 and R2 attack G1 in 0506, differential +1"
    assert play.asked().sums == (
        ("Attack 6", ("R1 5, primary unit",
                      "R2 1, of 5 halved: parentheses (K-2.4b), uncoordinated (K-7.14)")),
        ("Defence 5", ("G1 5",)),
    )  # fmt: skip
    choose(play, "declare", yes=False)
    assert play.state.targets == ()
    attack(play, "R1", "R2", on="0506")
    assert play.asked().sums[0].terms[0] == "R1 5, primary unit"


@pytest.mark.parametrize(
    ("ground", "named"),
    [
        ({"woods": ["0506"]}, "woods in 0506 (K-2.2a)"),
        ({"secondary": [{"kind": "village", "hexes": ["0506"]}]}, "village in 0506 (K-2.2b)"),
        ({"hexsides": {"stream": [["0505", "0506"]]}}, "stream (K-2.2c)"),
    ],
)
def test_the_ground_that_halves_an_attack_is_named_k_2_2a_k_2_2b_k_2_2c(ground, named):
    play = battle(unit("R1", "0505", arm="cavalry"), unit("G1", "0506"), phase="combat", map=ground)
    choose(play, "attack", units=("R1",), how="attack")
    assert play.asked().sums[0].terms == (f"R1 2, of 4 halved: {named}",)


def test_who_has_joined_an_attack_may_be_taken_out_before_it_is_declared_k_7_5():
    play = battle(unit("R1", "0505"), unit("R2", "0605"), unit("G1", "0506"), phase="combat")
    choose(play, "attack", units=("R1",), how="attack")
    assert not any(action.type == "join" and not action.joins for action in play.legal())
    choose(play, "join", unit="R2")
    assert "All who can attack" in play.asked().hint
    choose(play, "join", unit="R1", joins=False)
    assert (play.state.step.battle.attackers, play.state.step.battle.primary) == (("R2",), "R2")


def test_the_tactics_say_what_they_do_and_the_combat_stays_marked_k_7_13():
    play = battle(unit("R1", "0505"), unit("G1", "0506"), phase="combat")
    choose(play, "attack", units=("R1",), how="attack")
    choose(play, "declare", yes=True)
    roles = [shape.role for shape in GAME.step_shapes(play.state)]
    labels = [GAME.offered(play.state, action).label for action in play.legal()]
    assert roles == ["target", "attack"]
    assert "Disengage: retreat or be Disrupted in place of any D, Ex or Ac" in labels


def test_the_die_lists_nothing_that_strikes_nobody_k_7_8():
    play = battle(unit("R1", "0505", front={"cf": 8}), unit("G1", "0506"), phase="combat")
    attack(play, "R1", on="0506")
    words = " ".join(play.asked().sums[2].terms)
    assert "+Leader" in words or "+Ammo" in words
    assert "in danger" not in words
    assert "ammunition" not in words


def test_a_hex_is_attacked_once_and_a_unit_attacks_once_k_7_4_k_7_5():
    play = battle(unit("R1", "0505"), unit("R2", "0605"), unit("G1", "0506"), unit("G2", "0405"),
                  phase="combat")  # fmt: skip
    attack(play, "R1", on="0506")
    roll(play, 4)
    with pytest.raises(Refused, match=r"K-7.4"):
        play.apply(acts.Attack(("R2",), "0506"))
    with pytest.raises(Refused, match=r"K-7.5"):
        play.apply(acts.Attack(("R1",), "0405"))


def test_the_side_that_is_struck_chooses_k_7_8():
    play = battle(unit("R1", "0505", front={"cf": 8}), unit("G1", "0506"), phase="combat")
    attack(play, "R1", on="0506")
    # Before the die is thrown, the page shows what each face brings.
    assert play.asked().sums[2].terms[3] == "4: the defender retreats or is Disrupted (Dr)"
    roll(play, 4)
    assert play.asked().seat == "grey"
    choose(play, "choose", choice="retreat")
    assert {action.path[-1] for action in play.legal()} >= {"0507", "0508"}
    assert "It goes 1 hex or 2 along its line of retreat, away from 0506." in play.asked().hint
    far = next(action for action in play.legal() if action.path == ("0507", "0508"))
    offer = GAME.offered(play.state, far)
    assert (offer.label, len(offer.evidence[0].points_mm)) == ("G1: to 0508 by 0507", 3)
    choose(play, "retreat", path=("0507",))
    assert play.asked().seat == "red"
    choose(play, "advance", to="0506")
    assert (play.state.unit("G1").hex, play.state.unit("R1").hex) == ("0507", "0506")


def test_a_step_is_lost_by_the_primary_unit_k_7_11():
    play = battle(unit("R1", "0505", front={"cf": 9}), unit("G1", "0506"), phase="combat")
    attack(play, "R1", on="0506")
    roll(play, 4)
    labels = [GAME.offered(play.state, action).label for action in play.legal()]
    assert labels == ["lose a step", "retreat and be Disrupted"]
    choose(play, "choose", choice="step")
    assert (play.state.unit("G1").steps, play.state.unit("G1").cf) == (1, 3)


@pytest.mark.parametrize(
    ("other", "is_asked"),
    [
        ({"size": "battalion"}, True),
        ({"size": "battalion", "formation": "7"}, False),
        ({"printed_id": "House"}, True),
        ({}, False),
    ],
    ids=["its battalion", "another formation's", "the same printed ID", "another brigade"],
)
def test_a_stacked_unit_may_take_the_loss_of_the_primary_one_k_7_11(other, is_asked):
    small = unit("G3", "0506", size="battalion")
    play = battle(unit("R1", "0505", front={"cf": 15}), unit("G1", "0506", printed_id="House"),
                  small, unit("G2", "0506", **other), phase="combat")  # fmt: skip
    choose(play, "attack", units=("R1",), how="attack")
    choose(play, "declare", yes=True)
    choose(play, "defend", primary="G1", units=("G1", "G3"))
    choose(play, "tactic", choice="none")
    choose(play, "tactic", choice="none")
    roll(play, 4)
    choose(play, "choose", choice="step")
    assert (kinds(play) == {"step_loss"}) == is_asked
    if is_asked:
        choose(play, "step_loss", unit="G2")
    assert play.state.unit("G1").steps == (2 if is_asked else 1)
    assert play.state.unit("G2").steps + play.state.unit("G2").flips == (1 if is_asked else 2)


def test_a_defender_without_a_safe_line_checks_before_the_die_k_7_3():
    around = [unit(f"R{n}", at) for n, at in enumerate(("1618", "1519"), 1)]
    play = battle(*around, unit("G1", "1619"), phase="combat", loc={"red": ["0101"], "grey": []})
    attack(play, "R1", on="1619")
    assert play.legal()[0].for_ == "the morale of G1, which has no safe line of retreat"
    roll(play, 5)
    assert play.state.unit("G1").disrupted


def test_who_must_retreat_through_his_trains_is_disrupted_k_12_2():
    # G1 in the corner has one way out: over 1618, where its trains are, to the LOC hex beyond.
    trains = [{"id": "GT", "side": "grey", "ma": 4, "hex": "1618"}]
    river = {"hexsides": {"river": [["1619", "1519"]]}}
    play = battle(unit("R1", "0505"), unit("G1", "1619"), trains=trains, map=river,
                  loc={"red": ["0101"], "grey": ["1617"]})  # fmt: skip
    line = play.state.field.line(play.state.unit("G1"))
    assert (line.kind, line.path, line.through_trains) == ("safe", ("1618",), False)
    idle = play.state.changed("GT", active=False)
    line = idle.field.line(idle.unit("G1"))
    assert (line.path, line.through_trains) == (("1618", "1617"), True)
    flee = Flee("G1", 2, "1619")
    (way,) = (way for way in flee.legal(idle) if way.path == ("1618", "1617"))
    after = flee.follow(idle, way)
    assert (after.unit("G1").hex, after.unit("G1").disrupted) == ("1617", True)
    assert [event.rule for event in after.told] == ["K-7.9a", "K-12.2"]


def test_pressing_forward_costs_a_step_unless_the_enemy_routs_k_7_13b_k_7_11():
    strong = unit("G1", "0506", front={"cf": 10})
    play = battle(unit("R1", "0505"), unit("R2", "0605"), strong, phase="combat")
    attack(play, "R1", "R2", on="0506", tactics=("press", "none"))
    roll(play, 4)
    choose(play, "choose", choice="disrupt")
    # The only loss is the primary unit's.
    assert ("K-7.11", "R1 loses a step by pressing forward") in events_of(play)
    play = battle(unit("R1", "0505"), unit("R2", "0605"), strong, phase="combat")
    attack(play, "R1", "R2", on="0506", tactics=("press", "none"))
    roll(play, 3)
    # A second one is anybody's who took part.
    assert play.asked().question == "Reds: which unit loses a step by pressing forward?"
    choose(play, "step_loss", unit="R2")
    assert [play.state.unit(name).steps for name in ("R1", "R2", "G1")] == [1, 1, 1]


def test_triggered_units_that_are_not_attacked_give_fortunes_of_war_k_7_2b():
    fast = unit("G1", "0506", front={"ma": 6})
    play = battle(unit("R1", "0505"), fast, phase="combat")
    # Before the phase ends, its button says so.
    done = GAME.offered(play.state, acts.Pass())
    assert done.label == "Done (Grey then has a Fortune of War for G1)"
    play.apply(acts.Pass())
    assert play.asked().question == (
        "Greys: how to use the Fortune of War? (no enemy in the zone of control of G1 attacked it)"
    )
    assert {getattr(action, "unit", "G1") for action in play.legal()} == {"G1"}


def test_it_is_used_as_soon_as_all_who_triggered_it_have_fought_k_7_2b():
    fast = unit("G2", "0405", front={"ma": 6})
    play = battle(unit("R1", "0505"), unit("R2", "0605"), unit("G1", "0506"), fast, phase="combat")
    # G2 is next to R1 alone, G1 to both.
    attack(play, "R1", on="0506")
    roll(play, 4)
    assert {getattr(action, "unit", "G2") for action in play.legal()} == {"G2"}
    play.apply(acts.Pass())
    assert play.asked().seat == "red"
    play.apply(acts.Pass())
    assert "Fortune" not in play.asked().question


def test_a_fortune_of_war_that_has_no_use_is_not_asked_for_k_12_4_k_6_3():
    play = battle(unit("R1", "0505"), unit("G1", "0506"), phase="combat")
    play.apply(acts.Pass())
    why = "No move: an enemy that holds it is as fast, or faster"
    assert ("K-12.4", f"The Fortune of War has no use. {why}") in events_of(play)
    assert (play.state.phase, play.state.active) == ("movement", "grey")


def test_a_die_too_low_to_leave_the_hex_ends_the_move_k_6_3_k_4_5():
    around = ["0505", "0605", "0606", "0507", "0406", "0405"]
    play = battle(unit("R1", "0506", front={"ma": "V"}), unit("G1", "1018"), map={"woods": around})
    choose(play, "start", unit="R1", march=False)
    assert goal(play) == "R1: its Movement Points are the die; below 2, it stays"
    roll(play, 1)
    assert ("K-4.3", "R1 stays: it costs 2 of 1 Movement Points") in events_of(play)
    assert not any(action.type == "start" for action in play.legal())


def test_who_reaches_no_hex_does_not_begin_to_move_k_4_5():
    river = [["0101", "0102"], ["0101", "0201"]]
    play = battle(unit("R1", "0101"), unit("G1", "1018"), map={"hexsides": {"river": river}})
    assert "start" not in kinds(play)
    assert "prohibited to infantry" in GAME.why_missing(play.state)


def test_a_folio_turns_a_rule_off_by_its_id_k_1_1():
    play = battle(unit("R1", "0505"), unit("G1", "0506"), phase="combat", off=["K-7.2b"])
    play.apply(acts.Pass())
    assert (play.state.active, play.state.phase) == ("grey", "movement")
    with pytest.raises(BadInput, match=r"scenario: off\[1\]: expected K-4.7a, .* got"):
        battle(unit("R1", "0505"), unit("G1", "0506"), off=["K-9.9"])


def test_all_bombardments_of_a_hex_are_declared_at_once_k_8_4b_k_8_4c():
    guns = [unit(f"R{n}", at, arm="artillery") for n, at in ((1, "0505"), (2, "0805"))]
    play = battle(*guns, unit("G1", "0607"), unit("G2", "0607"), phase="combat")
    choose(play, "bombard", units=("R1",), target="0607")
    choose(play, "join", unit="R2")
    choose(play, "declare", yes=True)
    choose(play, "aim", unit="G1")
    roll(play, 4)
    choose(play, "choose", choice="step")
    choose(play, "aim", unit="G2")
    roll(play, 1)
    assert "bombard" not in kinds(play)
    assert [play.state.unit(name).steps for name in ("G1", "G2")] == [1, 2]


def test_skirmishers_attack_from_two_hexes_away_k_7_13a():
    play = battle(unit("R1", "0505"), unit("G1", "0507"), phase="combat")
    choose(play, "attack", units=("R1",), how="skirmish")
    assert play.asked().question == "R1 skirmishes with G1 in 0507, differential +0"


def test_a_leader_beside_skirmishers_coordinates_them_k_7_13a_k_7_14():
    chief = {"id": "RC", "side": "red", "span": ["1", "2"], "hex": "0504",
             "front": {"movement": 2, "morale": 1, "combat": 2}}  # fmt: skip
    two = (unit("R1", "0505", formation="1"), unit("R2", "0605", formation="2"))
    said = "coordinated by RC (K-7.14)"
    for leaders, value in (([], "+3"), ([chief], "+5")):
        play = battle(*two, unit("G1", "0507"), phase="combat", leader=leaders)
        choose(play, "attack", units=("R1",), how="skirmish")
        choose(play, "join", unit="R2")
        assert f"differential {value}" in play.asked().question
        assert (said in play.asked().sums[0].terms) == bool(leaders)


# Charges.


def charging(*units: dict[str, Any], **keys: Any) -> Any:
    """R1 has moved beside its target 0507, which it charges."""
    play = battle(unit("R1", "0504", arm="cavalry"), *units, **keys)
    choose(play, "start", unit="R1", march=False)
    play.apply(acts.Move(("R1",), ("0505", "0506"), charge="0507"))
    play.apply(acts.Pass())
    return play


def test_the_phase_offers_charges_under_a_heading_of_their_own_k_7_13c_k_9_3():
    horse = [unit(name, "0504", arm="cavalry") for name in ("R1", "R4")]
    play = battle(*horse, unit("R2", "0606"), unit("R3", "0501"), unit("G1", "0507"))
    offers = [GAME.offered(play.state, action) for action in play.legal()]
    labels = {offer.label for offer in offers if offer.group == "charge"}
    # R2 is beside its target already, and R3 far away.
    assert labels == {f"{name}: charge G1 from 0506" for name in ("R1", "R4")}
    play.apply(next(action for action in play.legal() if action.type == "move"))
    assert play.state.unit("R1").charging
    card = next(m for m in GAME.markers(GAME.position(play.state).unit("R1").state) if m.words)
    assert "combat factor 4, charge factor 7" in card.words


def test_a_charge_is_declared_by_its_move_and_excludes_others_k_7_13c():
    play = charging(unit("R2", "0606"), unit("R3", "0101"), unit("G1", "0507"))
    why = "no enemy is next to it (R3)"
    assert why in GAME.why_missing(play.state)  # who is far away is not barred by the charge
    assert [a.how for a in play.legal() if a.type == "attack"] == ["charge"]
    with pytest.raises(Refused, match=r"K-7.13c"):
        play.apply(acts.Attack(("R2",), "0507"))


@pytest.mark.parametrize("there", ["G2", "R2", None])
def test_a_charge_is_void_once_no_enemy_is_in_its_hex_k_7_1(there):
    play = charging(unit("R2", "0101"), unit("G1", "0507"), unit("G2", "1212"))
    state = play.state.changed("G1", hex="0512")
    state = state if there is None else state.changed(there, hex="0507")
    charges = [a for a in GAME.legal(state) if a.type == "attack" and a.how == "charge"]
    assert [a.target_hex for a in charges] == ["0507"] * (there == "G2")
    if there != "G2":
        with pytest.raises(Refused, match=r"K-7.1 no enemy is in 0507"):
            GAME.apply(state, acts.Attack(("R1",), "0507", "charge"))


def test_why_units_do_not_move_charge_attack_or_bombard_k_4_2_k_7_13c_k_7_1_k_8_7():
    guns = unit("R2", "0101", arm="artillery")
    play = battle(unit("R1", "0504"), guns, unit("G1", "0512"))
    choose(play, "start", unit="R1", march=False)
    why = "No charge: no enemy is 1 or 2 Movement Points away"
    assert GAME.why_missing(play.state) == why
    play.apply(acts.Move(("R1",), ("0505",)))
    assert GAME.why_missing(play.state) == "No move: it has moved in this phase (R1)"
    play.apply(acts.Pass())
    why = "No attack: no enemy is next to it. No bombardment: 0512 is 1"
    assert GAME.why_missing(play.state).startswith(why)


def test_why_a_disrupted_unit_does_not_recover_k_11_1f():
    worn = {"R1": {"disrupted": True}}
    play = battle(unit("R1", "0505"), unit("R2", "0101"), unit("G1", "0507"), marks=worn)
    why = "No recovery: it or its zone is in an enemy zone of control"
    assert why in GAME.why_missing(play.state)


def test_a_charge_that_fails_its_check_counts_half_k_7_13c():
    play = charging(unit("G1", "0507", front={"cf": 1}))
    choose(play, "attack", how="charge")
    assert not play.state.unit("R1").charging  # its card says so only until it fights
    choose(play, "defend", square=False)
    choose(play, "tactic", choice="none")
    roll(play, 6)
    assert "differential +3" in play.legal()[0].for_


@pytest.mark.parametrize(
    ("choice", "differential", "die", "said"),
    [("last_stand", "-2", 3, "(Ax+DF) instead of"), ("disengage", "+1", 1, "(Dr) instead of")],
)
def test_who_is_charged_chooses_a_tactic_k_7_3_k_7_13d_k_7_13e(choice, differential, die, said):
    play = charging(unit("G1", "0507", front={"cf": 6}))
    choose(play, "attack", how="charge")
    choose(play, "defend", square=False)
    choose(play, "tactic", choice=choice)
    roll(play, 3)
    assert play.legal()[0].for_.endswith(f"differential {differential}")
    roll(play, die)
    assert any(said in text for _, text in events_of(play))
    if choice == "last_stand":  # K-9.2 leaves the choice to cavalry that charges
        assert play.asked().hint == "Only cavalry that charges may choose so (K-9.2)."


def test_horse_that_routs_its_enemy_rides_on_and_is_spent_in_the_end_k_9_3():
    play = charging(unit("G1", "0507", front={"cf": 1}), unit("G2", "0510"))
    choose(play, "attack", how="charge")
    choose(play, "defend", square=False)
    choose(play, "tactic", choice="none")
    roll(play, 3)
    roll(play, 6)
    roll(play, 5)
    choose(play, "retreat", path=("0508", "0608", "0709"))
    assert {"capture_try", "advance", "pass"} <= kinds(play)
    choose(play, "advance", to="0509")
    choose(play, "attack", target_hex="0510")
    # While the charge goes on, who was routed may stay.
    choose(play, "retreat", unit="G1", path=("0507",))
    assert (play.state.unit("G1").hex, play.state.unit("G1").disrupted) == ("0507", True)
    # The Fortune of War for the rout comes before the next charge.
    play.apply(acts.Pass())
    assert not play.state.unit("R1").ineffective
    assert play.asked().question.startswith("R1 charges G2 in 0510.")
    choose(play, "defend", square=False)
    choose(play, "tactic", choice="none")
    roll(play, 3)
    roll(play, 2)
    while not play.state.unit("R1").ineffective:
        play.apply(play.legal()[0])
    assert ("K-9.3", "R1 is ineffective at the end of its charge") in events_of(play)


def test_a_square_faces_horse_alone_k_9_5a_k_9_5c():
    play = charging(unit("G1", "0507"), unit("G2", "0507"))
    choose(play, "attack", how="charge")
    choose(play, "defend", square=True, primary="G2")
    roll(play, 2)
    choose(play, "tactic", choice="none")
    assert play.state.unit("G2").square
    roll(play, 1)
    assert play.legal()[0].for_.endswith("differential +2")


def test_a_square_makes_a_charge_suffer_that_fails_its_check_k_9_5c():
    play = charging(unit("G1", "0507"))
    choose(play, "attack", how="charge")
    choose(play, "defend", square=True)
    roll(play, 2)
    choose(play, "tactic", choice="none")
    roll(play, 6)
    roll(play, 5)
    assert any("(Ax) instead of Ex+Leader" in text for _, text in events_of(play))


def test_defending_horse_countercharges_k_9_4():
    play = battle(unit("R1", "0505"), unit("G1", "0506", arm="cavalry"), phase="combat")
    choose(play, "attack", units=("R1",), how="attack")
    choose(play, "declare", yes=True)
    choose(play, "defend", countercharge=True)
    play.apply(acts.Pass())
    assert play.legal()[0].for_.endswith("differential +2")


def test_one_unit_of_a_stack_meets_a_countercharge_in_square_k_9_4_k_9_5a():
    stack = (unit("R1", "0505"), unit("R2", "0505", size="battalion", front={"cf": 2}))
    play = battle(*stack, unit("G1", "0506", arm="cavalry"), phase="combat")
    choose(play, "attack", units=("R1",), how="attack")
    choose(play, "join", unit="R2")
    choose(play, "declare", yes=True)
    choose(play, "defend", countercharge=True)
    choose(play, "square", unit="R1")
    roll(play, 4)
    assert play.state.unit("R1").square
    # Its charge factor of 7 against the 5 of the Square alone: no D stands but as Dm (Ax).
    assert play.legal()[0].for_.endswith("differential +2")
    roll(play, 4)
    assert play.legal()[0].for_ == "the morale of R1"
    assert goal(play) == "R1: 5 or less passes", "a Square adds to the MR"
    roll(play, 5)
    assert ("K-2.4c", "R1 passes its morale check with 5: 5 or less passes") in events_of(play)
    choose(play, "choose", choice="step")
    assert (play.state.unit("R1").square, play.state.unit("G1").steps) == (True, 0)


# Leaders, headquarters, Fortunes of War.


def test_no_headquarters_rides_over_a_disrupted_enemy_k_12_1_k_4_2():
    hq = [{"id": "RQ", "side": "red", "ma": 8, "hex": "0505"}]
    play = battle(unit("R1", "0101"), unit("G1", "0506"), hq=hq, marks={"G1": {"disrupted": True}})
    with pytest.raises(Refused, match=r"K-4.2 RQ: an enemy stands in 0506"):
        play.apply(acts.Move(("RQ",), ("0506", "0507")))


def test_a_leader_left_alone_joins_a_friend_or_is_captured_k_10_1():
    chief = {"id": "GC", "side": "grey", "span": ["G"], "hex": "0506",
             "front": {"movement": 2, "morale": 1, "combat": 1}}  # fmt: skip
    play = battle(unit("R1", "0505", front={"cf": 20}), unit("G1", "0506"), unit("G2", "1018"),
                  leader=[chief], phase="combat", marks={"G1": REDUCED})  # fmt: skip
    choose(play, "attack", units=("R1",), how="attack")
    choose(play, "declare", yes=True)
    choose(play, "defend", leader="")
    choose(play, "tactic", choice="none")
    choose(play, "tactic", choice="none")
    roll(play, 2)
    choose(play, "choose", choice="step")
    while play.state.battle is not None:
        play.apply(play.legal()[-1])
    assert play.state.thing("GC").hex == "1018"


def test_who_stands_on_an_enemy_leader_is_not_attacked_by_his_friends_k_7_1():
    chief = {"id": "GC", "side": "grey", "span": ["G"], "hex": "0506",
             "front": {"movement": 2, "morale": 1, "combat": 1}}  # fmt: skip
    play = battle(
        unit("R1", "0506"), unit("R2", "0504"), unit("G1", "1018"),
        leader=[chief], phase="combat",
    )  # fmt: skip
    assert not any(isinstance(action, acts.Attack) for action in play.legal())
    with pytest.raises(Refused, match=r"K-7\.1"):
        play.apply(acts.Attack(("R2",), "0506", "skirmish"))


def test_an_attack_on_a_headquarters_gives_two_fortunes_of_war_k_12_1_k_12_4():
    hq = [{"id": "GQ", "side": "grey", "ma": 8, "hex": "0506"}]
    play = battle(unit("R1", "0505"), unit("G1", "1018"), hq=hq, phase="combat")
    choose(play, "attack", units=("R1",), how="attack")
    choose(play, "declare", yes=True)
    choose(play, "advance", to="0506")
    assert play.state.thing("GQ").hex is None
    choose(play, "fow", choice="check_enemy", unit="G1")
    roll(play, 6)
    assert play.state.unit("G1").disrupted
    assert "Fortune of War" in play.asked().question


def test_a_fortune_of_war_moves_an_enemy_on_a_low_die_k_12_4():
    hq = [{"id": "GQ", "side": "grey", "ma": 8, "hex": "0506"}]
    play = battle(unit("R1", "0505"), unit("G1", "1018"), hq=hq, phase="combat")
    choose(play, "attack", units=("R1",), how="attack")
    choose(play, "declare", yes=True)
    play.apply(acts.Pass())
    choose(play, "fow", choice="move_enemy", unit="G1")
    roll(play, 2)
    roll(play, 1)
    assert play.asked().seat == "red"
    choose(play, "move", path=("1017",))
    assert play.state.unit("G1").hex == "1017"


def test_a_fortune_of_war_moves_a_stack_as_its_slowest_unit_k_12_4():
    hq = [{"id": "GQ", "side": "grey", "ma": 8, "hex": "0506"}]
    slow = unit("R3", "0903", front={"ma": 2})
    play = battle(unit("R1", "0505"), unit("R2", "0903"), slow, unit("G1", "1018"), hq=hq,
                  phase="combat")  # fmt: skip
    choose(play, "attack", units=("R1",), how="attack")
    choose(play, "declare", yes=True)
    play.apply(acts.Pass())
    choose(play, "fow", choice="move_friend", unit="R3", others=("R2",))
    roll(play, 2)
    choose(play, "move", path=("0904", "0905"))
    assert [play.state.unit(name).hex for name in ("R2", "R3")] == ["0905", "0905"]


def fortune_of_red(*units: dict[str, Any], **keys: Any) -> Any:
    """R1 has attacked an HQ alone, so that Red has two Fortunes of War."""
    hq = [{"id": "GQ", "side": "grey", "ma": 8, "hex": "0506"}]
    play = battle(unit("R1", "0505"), *units, hq=hq, phase="combat", **keys)
    choose(play, "attack", units=("R1",), how="attack")
    choose(play, "declare", yes=True)
    play.apply(acts.Pass())
    return play


def test_a_fortune_of_war_charges_with_a_stack_and_its_leader_k_12_4c_k_10_3e():
    chief = {"id": "RC", "side": "red", "span": ["R"], "hex": "0903",
             "front": {"movement": 2, "morale": 1, "combat": 2}}  # fmt: skip
    small = unit("R3", "0903", size="battalion", front={"cf": 2})
    play = fortune_of_red(unit("R2", "0903"), small, unit("G1", "0906"), leader=[chief])
    choose(play, "fow", choice="charge", unit="R2", others=("R3", "RC"), path=("0904", "0905"))
    choose(play, "tactic", choice="none")
    # With the leader's rating the MR of 4 is 5.
    roll(play, 5)
    # Twice 5 and twice 2, and 2 of the leader, against 5.
    assert play.legal()[0].for_.endswith("differential +11")


def test_the_target_of_such_a_charge_has_fought_and_so_have_those_who_would_attack_it_k_12_4c():
    slated = unit("R3", "1104", front={"ma": 6})
    play = battle(unit("R1", "0505"), unit("R2", "0903"), slated, unit("G1", "0906"),
                  hq=[{"id": "GQ", "side": "grey", "ma": 8, "hex": "0506"}])  # fmt: skip
    choose(play, "start", unit="R3", march=False)
    charge = next(a for a in play.legal() if getattr(a, "charge", None) == "0906")
    play.apply(charge)
    play.apply(acts.Pass())
    choose(play, "attack", units=("R1",), how="attack")
    choose(play, "declare", yes=True)
    play.apply(acts.Pass())
    choose(play, "fow", choice="charge", unit="R2", path=("0904", "0905"))
    assert (play.state.charges, play.state.unit("R3").fought) == ((), True)
    assert play.state.unit("G1").fought


def test_a_leader_who_takes_part_adds_his_factors_and_goes_along_k_10_3e():
    chief = {"id": "RC", "side": "red", "span": ["R"], "hex": "0505",
             "front": {"movement": 2, "morale": 1, "combat": 2}}  # fmt: skip
    play = battle(unit("R1", "0505", front={"cf": 6}), unit("G1", "0506"), leader=[chief],
                  phase="combat")  # fmt: skip
    choose(play, "attack", units=("R1",), how="attack")
    choose(play, "join", unit="RC")
    assert play.asked().sums == (("Attack 8", ("R1 6", "RC +2")), ("Defence 5", ("G1 5",)))
    choose(play, "declare", yes=True)
    choose(play, "tactic", choice="none")
    choose(play, "tactic", choice="none")
    roll(play, 4)
    choose(play, "choose", choice="retreat")
    choose(play, "retreat", path=("0507",))
    choose(play, "advance", unit="R1", to="0506")
    assert play.state.thing("RC").hex == "0506"


def test_a_leader_in_the_defence_adds_to_checks_before_the_combat_k_10_3e():
    chief = {"id": "GC", "side": "grey", "span": ["G"], "hex": "1619",
             "front": {"movement": 2, "morale": 1, "combat": 2}}  # fmt: skip
    around = [unit(f"R{n}", at) for n, at in enumerate(("1618", "1519"), 1)]
    play = battle(*around, unit("G1", "1619"), phase="combat", leader=[chief],
                  loc={"red": ["0101"], "grey": []})  # fmt: skip
    choose(play, "attack", units=("R1",), how="attack")
    choose(play, "declare", yes=True)
    choose(play, "defend", leader="GC")
    roll(play, 5)
    assert not play.state.unit("G1").disrupted


def test_at_night_only_charges_of_infantry_are_fought_k_14_2():
    play = battle(unit("R1", "0505"), unit("G1", "0506"), phase="combat", time="night")
    assert kinds(play) == {"pass"}
    assert "Fortune of War unless it is attacked, at night too (K-7.2)" in play.asked().hint
    play = battle(unit("R1", "0504"), unit("G1", "0507"), time="night")
    choose(play, "start", unit="R1", march=False)
    play.apply(acts.Move(("R1",), ("0505", "0506"), charge="0507"))
    play.apply(acts.Pass())
    assert kinds(play) == {"attack", "pass"}


# The end, and bad input.


def test_victory_is_judged_after_the_last_turn_k_3_1():
    play = battle(unit("R1", "0505"), unit("G1", "1018"), turns=["day"], marks={"G1": REDUCED})
    for _ in range(4):
        play.apply(acts.Pass())
    assert play.asked().question == "Victory for Red: Red 1, Grey 0 points"


@pytest.mark.parametrize(("at", "score"), [("1010", 8), ("1011", 4), ("0505", 0)])
def test_a_hex_is_held_by_a_unit_of_the_side_in_it_at_the_end_k_3_1(at, score):
    hold = {"side": "red", "kind": "hold", "hexes": ["1010", "0909"], "points": 4}
    play = battle(unit("R1", at), unit("R2", "0909" if at != "0505" else "0504"),
                  unit("G1", "1618"), turns=["day"], victory=[hold])  # fmt: skip
    for _ in range(4):
        play.apply(acts.Pass())
    assert f"Red {score}, Grey 0 points" in play.asked().question


def test_a_game_without_files_names_them_and_the_house_sample():
    with pytest.raises(BadInput, match=r"options: charts: expected the charts file.*house sample"):
        type(begun())(GAME, begun().state.position, {})


ODD = (
    acts.Start("nobody"), acts.Start("Grey 1st"), acts.Move((), ()), acts.Move(("x",), ()),
    acts.Move(("Red 1st",), ("9999",)), acts.Move(("Red 1st",), ()),
    acts.Move(("Red 2nd", "Red 1st"), ("0605",)), acts.Recover("Red 1st"),
    acts.Square("Red Horse"), acts.Exit("Red 1st"), acts.Place("Red 1st", "0101"),
    acts.Replace("Red 1st"), acts.Bombard((), "0101"), acts.Attack((), "9999"),
    acts.Join("x"),
    acts.Attack(("nobody",), "0707"), acts.Bombard(("Red Guns",), "9999"), acts.Primary("x"),
    acts.Declare(), acts.Defend((), ""), acts.UseTactic("press"), acts.Choose("step"),
    acts.Retreat("x", ()), acts.StepLoss("x"), acts.Advance("x", "0101"), acts.Capture(),
    acts.Fow("charge", "x"), acts.Aim("x"), acts.Overrule(off=("nobody",)),
)  # fmt: skip


@pytest.mark.parametrize("phases", [0, 1])
def test_an_action_that_is_not_legal_is_refused_and_changes_nothing(phases):
    play = begun()
    for _ in range(phases):
        play.apply(acts.Pass())
    before = play.state
    for action in ODD:
        with pytest.raises(Refused):
            play.apply(action)
        assert play.state == before, action
