"""The game's procedure, rule by rule, on a few counters; each test's name has its rules."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tablecam.referee.referee import Referee
from tablecam.referee.seats import SHARED
from tablecam.rules.game import Refused
from tablecam.rules.maida_1806 import sequence
from tablecam.rules.maida_1806 import state as acts
from tablecam.rules.maida_1806.game import GAME
from tablecam.rules.maida_1806.state import MoveStep
from tablecam.simulate.demo import embedded_demo
from tests.rules.maida_1806.games import battle, close_up, unit


def to(*hexes: str) -> MoveStep:
    return MoveStep(to=hexes)


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


def moving(*units: Any, **keys: Any) -> Any:
    """A battle in which the other side has let its slot pass."""
    play = battle(*units, **keys)
    if play.state.slot == 0:
        play.apply(acts.Pass())
    return play


# Chits and slots.


def test_the_pool_of_turn_1_is_drawn_until_it_is_empty_d_3_3b_d_17_0c():
    play = battle(unit("FA", "0303"), unit("BA", "1516"), active=None)
    assert sorted(play.state.pool) == ["B1", "F1"]
    # Hands may draw: all know who is in the pool, unless sides chose in secret (D-17.0d).
    labels = [GAME.offered(play.state, action).label for action in play.legal()]
    assert labels == ["Draw a chit", "F1, drawn by hand", "B1, drawn by hand"]
    secret = battle(unit("FA", "0303"), active=None, pool={"1": {"french": 1, "british": 1}}).state
    assert [*sequence.draws(replace(secret, pool=("F-OC", "F1")))] == [acts.Draw()]
    play.apply(acts.Draw("F1"))
    assert (play.state.drawn, play.state.pool, play.state.phase) == ("F1", ("B1",), "movement")


def test_the_side_that_is_not_active_fires_first_d_14_5():
    play = battle(unit("FA", "0505"), unit("BA", "0604", 240))
    assert (play.asked().seat, {a.type for a in play.legal()}) == ("british", {"fire", "pass"})
    choose(play, "fire", units=("BA",))
    roll(play, 0)
    assert play.asked().seat == "french"
    with pytest.raises(Refused, match=r"D-14.5"):
        play.apply(acts.Fire(("BA",), "FA"))


def test_two_passes_in_a_row_end_the_subphase_d_14_5():
    play = moving(unit("FA", "0303"), unit("BA", "1516"))
    play.apply(acts.Pass())
    assert play.state.phase == "leaders"


def test_a_fire_in_the_own_subphase_costs_a_point_d_14_10_2():
    play = moving(unit("FA", "0505"), unit("BA", "0604", 240))
    fire = next(action for action in play.legal() if action.type == "fire")
    passes = "8 or less passes (Morale 7, on the die first fire +1, fire result M-2 -2)"
    assert GAME.offered(play.state, fire).label == f"FA: fire at BA, morale check, {passes}"
    (fired,) = choose(play, "fire", units=("FA",)).events
    assert fired.text == "FA fires at BA: result M-2, a Morale Check at -2"
    assert (play.state.piece("FA").mp_left, play.state.piece("FA").fires) == (3.0, 1)
    (dice,) = GAME.offered(play.state, play.legal()[0]).dice
    assert (dice.whose, dice.goal) == ("BA", passes)


def test_units_of_other_leaders_fire_but_do_not_move_d_14_5_d_4_2():
    play = moving(unit("FA", "0505", leader="F2"), unit("BA", "0604", 240))
    assert {action.type for action in play.legal()} == {"fire", "pass"}
    choose(play, "fire", units=("FA",))
    assert play.state.piece("FA").mp_left == 0.0


def test_a_unit_out_of_command_does_not_move_d_4_2():
    play = moving(unit("FA", "0909"), unit("FB", "0103"), unit("BA", "1516"))
    assert {a.units for a in play.legal() if a.type == "move"} == {("FB",)}


def test_fires_and_disruption_go_at_the_end_of_the_turn_d_3_3c_d_14_8_2_d_14_10_11():
    play = battle(unit("FA", "0505"), unit("BA", "1516"))
    play.apply(acts.Overrule(disrupted={"FA": True}, fires={"FA": 4}))
    while play.state.turn == 1:
        play.apply(next(a for a in play.legal() if a.type in ("pass", "draw", "roll")))
    piece = play.state.piece("FA")
    assert (piece.disrupted, piece.fires) == (False, 0)


# Moves and reactions.


def test_a_step_that_triggers_a_reaction_stops_the_move_there_d_13_8():
    play = moving(unit("FA", "0506", leader="F1"), unit("BA", "0503", 240),
                  leaders={"F1": "0507"})  # fmt: skip
    play.apply(acts.Move(("FA",), (to("0505"), to("0504"), MoveStep(turn=60))))
    assert play.state.piece("FA").hexes == ("0504",)
    assert play.legal()[0].type == "roll"
    roll(play, 7)
    choose(play, "react", choice="none")
    assert (play.state.piece("FA").facing_deg, play.asked().seat) == (120, "british") or (
        play.legal()[0].type == "roll"
    )


def test_the_turns_of_a_drag_are_told_with_its_hex_d_12_1_d_12_7():
    play = moving(unit("FA", "0505"), unit("BA", "1516"), leaders={"F1": "0506"})
    turns = (MoveStep(turn=60), MoveStep(turn=-60))
    done = play.apply(acts.Move(("FA",), (*turns, to("0504"), turns[0])))
    texts = [event.text for event in done.events]
    assert (texts[0], play.state.piece("FA").facing_deg) == ("FA moves to 0504", 120)
    assert "FA turns" not in texts


def test_a_turn_names_its_facing_and_shows_its_front_hexes_d_g4_d_g5():
    play = moving(unit("FA", "0505"), unit("BA", "1516"), leaders={"F1": "0506"})
    offer = GAME.offered(play.state, acts.Move(("FA",), (MoveStep(turn=60),)))
    assert offer.label == "FA: turn left, facing north-west ↖ (1 MP)"
    fronts = [shape.points_mm for shape in offer.evidence if shape.role == "hex-front"]
    assert fronts == [play.state.grid.corners_mm(number) for number in ("0404", "0504")]


def test_a_failed_reaction_costs_a_loss_and_withdraws_d_13_1a():
    sicilians = unit("BA", "0503", 240, nation="sicilian")
    play = moving(unit("FA", "0505"), sicilians, leaders={"F1": "0506"})
    play.apply(acts.Move(("FA",), (to("0504"),)))
    (faces,) = play.asked().sums
    assert faces.terms == (
        "0, 1: may fire and counterattack, or turn",
        "2, 3, 4, 5, 6, 7: may do one: fire, counterattack or turn",
        "8: 1 Loss and withdraws 1 hex",
        "9: 2 Losses and Rout",
    )
    roll(play, 8)
    text = "BA fails its reaction to FA: die 8 against Morale 7"
    assert text in [event.text for event in play.done[-1].events]
    assert play.state.piece("BA").losses == 1
    if play.asked().seat == "british":
        play.apply(play.legal()[0])
    assert play.state.piece("BA").hexes != ("0503",)
    assert play.state.piece("BA").facing_deg == 240


def test_a_line_on_two_hexes_wheels_in_reaction_d_13_1a_d_12_7_d_6_3_3():
    wide = unit("BA", ["0603", "0503"], 240, full_strength=6)
    play = moving(unit("FA", "0605"), wide, unit("BB", "0602"), leaders={"F1": "0606"})
    play.apply(acts.Move(("FA",), (to("0604"),)))
    roll(play, 1)
    # Both wheels back would enter the hex of BB, with which a line on two hexes does not stack.
    wheels = {(a.facing_deg, a.hexes) for a in play.legal() if a.choice == "turn"}
    assert wheels == {(300, ("0603", "0504")), (180, ("0504", "0503"))}
    labels = [GAME.offered(play.state, action).label for action in play.legal()]
    assert "BA: wheel left, facing south-east ↘" in labels
    choose(play, "react", choice="turn", facing_deg=300)
    assert play.state.piece("BA").hexes == ("0603", "0504")
    assert (play.asked().seat, play.state.movers) == ("french", ("FA",))


def test_a_counterattack_ends_the_move_with_a_clash_at_once_d_12_12_1_d_12_12_2():
    play = moving(unit("FA", "0505"), unit("BA", "0503", 240), leaders={"F1": "0506"})
    play.apply(acts.Move(("FA",), (to("0504"), to("0603"))))
    roll(play, 0)
    choose(play, "react", choice="counterattack")
    assert play.state.piece("BA").hexes == ("0504",)
    assert "in 0504: roll a die" in play.asked().question
    faces = play.asked().sums[-1]
    assert faces.terms[-1] == "8, 9: BA wins, FA out for 2 turns"
    roll(play, 9)
    # The counterattacking side is the attacker: D+2 routs the French for two turns.
    assert play.state.piece("FA").returns_turn == 3
    assert play.state.vp == -1


def test_a_unit_counterattacks_again_others_move_on_and_clash_d_12_12_5_d_12_12_6_d_12_12_7():
    rear = unit("BC", "0705", 60, full_strength=3)
    play = moving(unit("FA", "0505"), unit("FB", "0506"), unit("FC", "0706", formation="line"),
                  unit("BA", "0503", 240), rear, leaders={"F1": "0507"})  # fmt: skip
    for name, target in (("FA", "0504"), ("FB", "0505")):
        play.apply(acts.Move((name,), (to(target),)))
        roll(play, 0)
        choose(play, "react", choice="counterattack")
        roll(play, 9)
        choose(play, "face", facing_deg=240)
        assert (play.state.piece("BA").hexes, play.asked().seat) == ((target,), "french")
    play.apply(acts.Move(("FC",), (to("0705"),)))
    play.apply(acts.Pass())
    assert (play.state.phase, play.asked().question) == (
        "clash",
        "FC against BC in 0705: roll a die",
    )


def test_reaction_fire_is_no_slot_and_counts_against_the_four_d_13_1x():
    play = moving(unit("FA", "0505"), unit("BA", "0503", 240), leaders={"F1": "0506"})
    play.apply(acts.Move(("FA",), (to("0504"),)))
    roll(play, 2)
    choose(play, "react", choice="fire")
    assert play.state.piece("BA").fires == 1
    roll(play, 0)
    assert (play.asked().seat, play.state.movers) == ("french", ("FA",))


def test_who_may_react_knows_the_odds_and_whose_counterattack_waits_d_8_8_d_12_12_4():
    scouts = {"kind": "company", "full_strength": 1, "formation": "skirmish", "fire_result": "M"}
    play = moving(unit("FA", "0505", firepower=None, morale=[7], **scouts),
                  unit("BA", "0503", 240, morale=[6]), unit("BB", "0603", 240))  # fmt: skip
    play.apply(acts.Move(("FA",), (to("0504"),)))
    labels = [GAME.offered(play.state, action).label for action in play.legal()]
    assert labels[:2] == ["BA: react (8 or less passes)", "BA: do nothing"]
    choose(play, "react", unit="BA", choice="check")
    roll(play, 0)
    choose(play, "react", choice="fire+counterattack")
    roll(play, 0)
    assert (play.asked().question, play.asked().hint) == (
        "Who reacts to FA?", "The counterattack of BA follows when all have reacted."
    )  # fmt: skip


def test_nobody_reacts_in_or_to_a_clash_hex_d_13_4():
    play = moving(unit("FA", "0505", formation="line"), unit("BA", "0504", 240),
                  unit("BB", "0403", 240), leaders={"F1": "0506"})  # fmt: skip
    play.apply(acts.Move(("FA",), (to("0504"),)))
    assert play.state.movers == ()
    assert play.state.is_clash("0504")
    assert "fires" not in play.asked().question


def ride(play: Any, *units: str) -> None:
    """Ride straight at BA, which does nothing about it."""
    for number in ("0509", "0508", "0607"):
        play.apply(acts.Move(units, (to(number),)))
        while play.legal()[0].type == "roll" or play.asked().seat == "british":
            if play.legal()[0].type == "roll":
                roll(play, 0)
            else:
                choose(play, "react", choice="none")


def test_a_stack_charges_with_the_units_that_began_in_its_hex_d_9_2_2():
    horse = [unit(name, "0510", 60, arm="cavalry", full_strength=4) for name in ("FH", "FI")]
    late = unit("FJ", "0511", 60, arm="cavalry", full_strength=4)
    play = moving(*horse, late, unit("BA", "0707", 240), leaders={"F1": "0511"})
    play.apply(acts.Move(("FJ",), (to("0510"),)))
    play.apply(acts.Halt())
    assert play.state.slot == 1
    with pytest.raises(Refused, match=r"D-4.2"):
        play.apply(acts.Move(("FH", "FI", "FJ"), (to("0509"),)))
    ride(play, "FH", "FI")
    choose(play, "charge", target="0707", units=("FH", "FI"))


def test_cavalry_charges_and_foot_tries_to_form_square_d_9_2_1_d_7_2_d_9_3():
    horse = unit("FH", "0510", 60, arm="cavalry", full_strength=4)
    play = moving(horse, unit("BA", "0707", 240), leaders={"F1": "0511"})
    ride(play, "FH")
    choose(play, "charge", target="0707")
    choose(play, "decide", yes=True)
    roll(play, 0)
    assert play.state.piece("BA").formation == "square"
    roll(play, 9)
    # Square against cavalry, 9: the defender has lost, and the horse is checked.
    assert play.state.piece("BA").returns_turn == 3
    choose(play, "face", facing_deg=0)
    roll(play, 6)
    assert play.state.piece("FH").hexes == ("0707",)
    assert play.state.movers == ("FH",)


def test_why_units_do_not_move_charge_or_fire_d_4_2_d_4_5_d_9_2_1_d_14_9_d_3_4d():
    horse = unit("FH", "0606", 60, arm="cavalry", full_strength=4)
    foot = (unit("FA", "0303", leader="F2"), unit("FB", "0909", 60))
    play = moving(horse, *foot, unit("BA", "0605", 240), leaders={"F1": "0505"})
    assert GAME.why_missing(play.state) == (
        "No move: not under the active leader (FA); out of command (FB). "
        "No charge: it moved 0 of 3 hexes straight on (FH). "
        "No fire: it is cavalry (FH); no enemy is within 2 hexes (FA, FB)"
    )


def test_french_horse_that_is_out_of_hand_leaves_for_a_turn_d_9_3():
    horse = unit("FH", "0510", 60, arm="cavalry", full_strength=4)
    play = battle(horse, unit("BA", "0504", 240))
    dues = play.state.pushed(_horse_check("FH"))
    state, _ = GAME.apply(dues, replace(GAME.legal(dues)[0], values=(7,)))
    assert state.piece("FH").returns_turn == 2
    state, told = GAME.apply(dues, replace(GAME.legal(dues)[0], values=(6,)))
    assert state.piece("FH").returns_turn is None
    assert told[-1].text == "FH of the French stays in hand: die 6 against Morale 6"


def _horse_check(name: str) -> Any:
    from tablecam.rules.maida_1806.clash import HorseCheck

    return HorseCheck((name,))


def test_units_flank_to_flank_move_as_a_line_of_units_d_12_10():
    play = moving(unit("FA", "0505", formation="line"), unit("FB", "0605", formation="line"),
                  unit("BA", "1516"), leaders={"F1": "0506"})  # fmt: skip
    play.apply(acts.Move(("FA", "FB"), (to("0504"),)))
    assert play.state.piece("FB").hexes == ("0604",)
    with pytest.raises(Refused, match=r"D-12.13"):
        play.apply(acts.Move(("FA",), (to("0503"),)))
    # Turned in their hexes they stand in echelon, and are still one move.
    for turn in (60, -60):
        play.apply(acts.Move(("FA", "FB"), (acts.MoveStep(turn=turn),)))
    assert {play.state.piece(name).facing_deg for name in ("FA", "FB")} == {60}


def test_who_joins_a_stack_goes_to_the_bottom_d_11_0_d_11_7():
    play = moving(unit("FA", "0505"), unit("FB", "0504"), unit("BA", "0502", 240),
                  leaders={"F1": "0506"})  # fmt: skip
    play.apply(acts.Move(("FA",), (to("0504"),)))
    assert [piece.id for piece in play.state.stack("FA")] == ["FB", "FA"]
    play.apply(acts.Halt())
    play.apply(acts.Pass())
    fires = [a.units for a in play.legal() if a.type == "fire"]
    assert ("FA",) not in fires
    assert ("FB",) in fires


def test_the_order_of_a_stack_costs_each_unit_a_point_d_11_0():
    play = moving(unit("FA", "0505"), unit("FB", "0505"), unit("BA", "1516"),
                  leaders={"F1": "0506"})  # fmt: skip
    choose(play, "reorder", order=("FB", "FA"))
    assert [piece.id for piece in play.state.stack("FA")] == ["FB", "FA"]
    assert {play.state.piece(n).mp_left for n in ("FA", "FB")} == {3.0}


def test_a_double_march_goes_ahead_alone_and_must_spend_its_points_d_12_9():
    play = moving(unit("FA", "0510", formation="line"), unit("BA", "1516"),
                  leaders={"F1": "0511"})  # fmt: skip
    play.apply(acts.Move(("FA",), (to("0509"),), double_march=True))
    assert play.state.piece("FA").mp_left == 4.5
    with pytest.raises(Refused, match=r"D-12.9"):
        play.apply(acts.Halt())
    assert play.asked().question == "FA must go on"
    assert GAME.why_missing(play.state).startswith("No halt: FA spends all Movement Points")
    ahead = {acts.Move(("FA",), (to(number),)) for number in ("0508", "0608")}
    assert {action for action in play.legal() if action.type == "move"} == ahead
    back = MoveStep(to=("0510",), backward=True)
    for step, deed in ((back, "go backward"), (MoveStep(turn=60), "turn")):
        with pytest.raises(Refused, match=f"does not {deed} on a double march"):
            play.apply(acts.Move(("FA",), (step,)))
    for number in ("0508", "0507", "0506"):
        done = play.apply(acts.Move(("FA",), (to(number),)))
    assert (done.events[-1].text, play.state.movers) == ("The move of FA is over", ())


def test_who_has_too_few_points_for_a_hex_is_not_asked_to_go_on_d_12_5_d_12_8():
    play = moving(unit("FA", "0505", formation="line"), unit("BA", "1516"),
                  leaders={"F1": "0506"})  # fmt: skip
    play.apply(acts.Move(("FA",), (to("0504"), to("0503"))))
    assert play.asked().question == "FA: turn, change formation or halt?"
    assert play.asked().hint.startswith("1 of 4 Movement Points left. Choose how it faces")
    assert GAME.why_missing(play.state).startswith("No move: FA has 1 of the 1.5 Movement Points")


# Formations and companies.


def test_a_line_too_weak_for_two_hexes_keeps_one_of_its_owners_choice_d_6_3_4():
    play = moving(unit("FA", "0605", 60), unit("BA", ["0603", "0503"], 240, full_strength=6),
                  leaders={"F1": "0606"})  # fmt: skip
    choose(play, "fire", units=("FA",))
    roll(play, 9)
    assert (play.state.strength("BA"), play.asked().seat) == (5, "british")
    why = "The British need Strength 6 for a Line on two hexes: BA has 5."
    assert play.asked().hint == why
    choose(play, "keep-hex", hex="0503")
    assert play.state.piece("BA").hexes == ("0503",)


def test_the_counter_of_a_line_too_weak_for_two_hexes_is_exchanged_d_6_3_4_d_g13():
    """The referee asks for the one-hex counter in the hex, until it lies there."""
    table, referee = embedded_demo("maida-1806"), Referee(GAME)
    referee.begin(table.truth(), close_up().state.options, SHARED)
    table.lie_as(referee.position())
    referee.act(SHARED, {"type": "overrule", "losses": {"Foot 1": 1}})
    referee.act(SHARED, {"type": "fire", "units": ["Light"], "target": "Foot 1"})
    die = {"type": "roll", "for": "morale of Foot 1", "count": 1, "sides": 10, "lowest": 0}
    referee.act(SHARED, die | {"values": [9]})
    for hex in ("0706", "0606"):
        referee.table_at_rest(table.truth())
        referee.act(SHARED, {"type": "keep-hex", "unit": "Foot 1", "hex": hex})
        (placing,) = referee.to_place
        deed = "exchange Foot 1 for its one-hex line, and put it"
        assert placing.text == f"{deed} where the ghost is, in {hex}"
        table.lie_as(referee.due_position("Foot 1"), "Foot 1")
        referee.table_at_rest(table.truth())
        assert (referee.to_place, referee.suggested) == ((), ())
        referee.undo(SHARED)
        assert referee.to_place[0].text.startswith("exchange Foot 1 for its two-hex line")
        table.lie_as(referee.position(), "Foot 1")


def test_a_line_that_detaches_companies_keeps_one_hex_when_too_weak_for_two_d_6_3_7():
    coys = [unit(f"Bc{n}", None, kind="company", full_strength=1, morale=[7], firepower=None,
                 fire_result="M", formation=None) for n in (1, 2)]  # fmt: skip
    light = unit("BL", ["0505", "0605"], full_strength=7, companies=["Bc1", "Bc2"])
    play = moving(light, *coys, unit("FA", "1516"), active="B1", leaders={"B1": "0506"})
    choose(play, "detach", companies=("Bc1", "Bc2"))
    assert (play.asked().seat, play.asked().question) == ("british", "Which hex does BL keep?")
    choose(play, "keep-hex", hex="0605")
    assert (play.state.piece("BL").hexes, play.state.strength("BL")) == (("0605",), 5)


def test_a_line_on_two_hexes_forms_column_in_one_of_them_d_6_3_5():
    play = moving(unit("FA", ["0505", "0605"], full_strength=9), unit("BA", "1516"),
                  leaders={"F1": "0506"})  # fmt: skip
    hexes = {a.hexes for a in play.legal() if a.type == "formation" and a.to == "column"}
    assert hexes == {("0505",), ("0605",)}
    squares = [a for a in play.legal() if a.type == "formation" and a.to == "square"]
    choose(play, "formation", to="square", hexes=("0505",))
    assert (len(squares), play.state.piece("FA").mp_left) == (2, 0.0)


def test_a_square_leaves_for_one_point_with_any_facing_d_7_1():
    play = moving(unit("FA", "0505", formation="square"), unit("BA", "1516"),
                  leaders={"F1": "0506"})  # fmt: skip
    facings = {a.facing_deg for a in play.legal() if a.type == "formation" and a.to == "line"}
    assert len(facings) == 6


def test_companies_are_detached_with_their_strength_and_rejoin_d_8_2_d_8_3_d_8_5():
    coys = [unit(f"Bc{n}", None, kind="company", full_strength=1, morale=[7], firepower=None,
                 fire_result="M", formation=None) for n in (1, 2, 3)]  # fmt: skip
    light = unit("BL", "0505", full_strength=7, companies=["Bc1", "Bc2", "Bc3"])
    play = moving(light, *coys, unit("FA", "1516"), active="B1", leaders={"B1": "0506"})
    choose(play, "detach", companies=("Bc1", "Bc2"))
    assert play.state.strength("BL") == 5
    assert play.state.piece("Bc1").mp_left == 4.0
    play.apply(acts.Halt())
    play.apply(acts.Move(("Bc1",), (to("0504"),)))
    play.apply(acts.Halt())
    play.apply(acts.Pass())
    # The company that has not moved is alone with its battalion, and rejoins.
    assert play.state.strength("BL") == 6
    assert play.state.piece("Bc2").hexes == ()


# Fire in the game.


def test_a_disrupted_unit_that_fails_again_withdraws_a_hex_d_14_8_1():
    play = moving(unit("FA", "0604", 240, formation="line"), unit("BA", "0505", 60),
                  leaders={"F1": "0603"})  # fmt: skip
    play.apply(acts.Overrule(disrupted={"BA": True}))
    choose(play, "fire", units=("FA",))
    roll(play, 9)
    assert play.state.piece("BA").hexes in (("0506",), ("0405",)) or play.asked().seat == "british"


def test_a_unit_that_fire_eliminates_is_worth_a_point_d_16_1():
    play = moving(unit("FA", "0604", 240, formation="line"), unit("BA", "0505", 60,
                  full_strength=1), leaders={"F1": "0603"})  # fmt: skip
    choose(play, "fire", units=("FA",))
    roll(play, 9)
    assert (play.state.piece("BA").eliminated, play.state.vp) == (True, 1)


def test_a_leader_whose_units_are_all_gone_leaves_with_his_chit_d_4_6():
    play = moving(unit("FA", "0604", 240, formation="line"), unit("BB", "1516", leader="B2"),
                  unit("BA", "0505", 60, full_strength=1), leaders={"F1": "0603"})  # fmt: skip
    choose(play, "fire", units=("FA",))
    roll(play, 9)
    assert play.state.leader("B1").dead


def test_batteries_fire_once_in_a_subphase_and_not_in_other_leaders_d_10_5():
    gun = unit("FG", "0505", arm="artillery", leader="F2")
    play = moving(gun, unit("BA", "0503", 240))
    assert not [a for a in play.legal() if a.type == "fire"]
    own = moving(unit("FG", "0505", arm="artillery"), unit("BA", "0503", 240))
    choose(own, "fire", units=("FG",))
    roll(own, 5)
    own.apply(acts.Pass())
    assert not [a for a in own.legal() if a.type == "fire" and a.units == ("FG",)]


def test_a_foot_battery_that_turned_does_not_fire_again_this_turn_d_10_13():
    play = moving(unit("FG", "0505", arm="artillery"), unit("BA", "0503", 240),
                  leaders={"F1": "0506"})  # fmt: skip
    play.apply(acts.Move(("FG",), (MoveStep(turn=120),)))
    assert play.state.piece("FG").silent


def test_captured_guns_are_silent_and_recaptured_by_friends_d_10_12():
    gun = unit("BG", "0505", arm="artillery")
    play = moving(unit("FA", "0604", 240, formation="line"), gun, unit("BA", "1516"),
                  leaders={"F1": "0603"})  # fmt: skip
    choose(play, "fire", units=("FA",))
    roll(play, 0)
    assert (play.state.piece("BG").captured_by, play.state.vp) == ("french", 3)
    back = play.state.with_piece("BA", hexes=("0505",))
    state, events = GAME.apply(back, acts.Overrule())
    assert state.piece("BG").captured_by == "british"
    assert (state.vp, events[-1].rule) == (1, "D-10.12")


# Clashes and the Turn Track.


def clash(**keys: Any) -> Any:
    """A French line that moved onto a British one, at the end of the movement subphase."""
    line = {"formation": "line"}
    play = moving(unit("FA", "0505", **line), unit("BA", "0504", 240, **keys),
                  leaders={"F1": "0506"})  # fmt: skip
    play.apply(acts.Move(("FA",), (to("0504"),)))
    while play.state.phase != "clash":
        play.apply(acts.Pass())
    return play


def test_active_units_in_clash_hexes_fight_after_the_movement_d_15_2_d_15_7():
    play = clash()
    assert "in 0504: roll a die" in play.asked().question
    roll(play, 5)
    assert play.state.piece("BA").returns_turn == 2
    assert play.state.strength("BA") == 3
    assert (play.state.strength("FA"), play.state.vp) == (4, 1)
    choose(play, "face", facing_deg=180)
    assert play.state.piece("FA").facing_deg == 180


def test_a_loser_of_strength_2_is_eliminated_and_said_to_be_d_15_8():
    play = clash(full_strength=2)
    assert "4, 5, 6, 7, 8, 9: FA wins, BA eliminated by 2 Losses" in play.asked().sums[-1].terms
    roll(play, 5)
    assert play.done[-1].events[0].text.startswith("FA wins, BA eliminated by 2 Losses: die 5")
    assert play.state.piece("BA").eliminated


def test_a_return_after_the_last_turn_is_none_d_15_11_5():
    play = clash()
    late = replace(play.state, turn=7)
    assert "5, 6, 7, 8, 9: FA wins, BA out of the game" in GAME.asked(late).sums[-1].terms
    state, _ = GAME.apply(late, replace(GAME.legal(late)[0], values=(5,)))
    assert state.piece("BA").eliminated


def test_a_routed_unit_returns_disrupted_beside_its_leader_d_15_11_3_d_15_11_4():
    play = battle(unit("FA", "0505"), unit("BA", "1516"), active=None,
                  leaders={"F1": "0505"})  # fmt: skip
    waiting = play.state.with_piece("FA", hexes=(), returns_turn=1)
    state, _ = GAME.apply(waiting, acts.Draw("F1"))
    hexes = {action.hexes[0] for action in GAME.legal(state)}
    assert hexes == {"0505", *state.grid.neighbours("0505")}
    state, _ = GAME.apply(state, GAME.legal(state)[0])
    assert (state.piece("FA").disrupted, state.piece("FA").returns_turn) == (True, None)


def test_a_leader_stacked_with_a_unit_that_routs_is_in_danger_d_4_6_3():
    play = clash()
    state = play.state.with_leader("B1", hex="0504")
    state, _ = GAME.apply(state, replace(GAME.legal(state)[0], values=(5,)))
    while GAME.legal(state)[0].type != "roll":
        state, _ = GAME.apply(state, GAME.legal(state)[0])
    assert GAME.legal(state)[0].for_ == "leader B1"
    state, _ = GAME.apply(state, replace(GAME.legal(state)[0], values=(0,)))
    assert state.leader("B1").dead


def test_reinforcements_enter_by_the_edge_from_their_turn_on_d_17_0b_d_17_0e():
    late = unit("BL", None, full_strength=6, formation="line", acts_with_oc=True,
                enters={"turn": 1, "edge": "british_reinforcements"})  # fmt: skip
    play = moving(unit("FA", "0303"), unit("BA", "1516"), late, active="B-OC")
    places = [a for a in play.legal() if a.type == "place"]
    edge = {"0119", "0219", "0319", "0419", "0519", "0619"}
    assert places
    assert all(set(a.hexes) <= edge and len(a.hexes) == 2 for a in places)
    play.apply(places[0])
    assert (play.state.piece("BL").mp_left, play.state.movers) == (2.5, ("BL",))


def test_an_automatic_victory_ends_the_game_at_the_end_of_a_turn_d_16_4():
    play = battle(unit("FA", "0505"), unit("BA", "1516"))
    play.apply(acts.Overrule(vp=7))
    while not play.asked().is_over:
        play.apply(next(a for a in play.legal() if a.type in ("pass", "draw")))
    assert (play.state.turn, play.asked().question) == (1, "The French win with 7 VP")
