"""What a player sees of a unit whom he taps: zone, targets, reach and line of retreat."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tablecam.rules.musket_saber.book import BOOK
from tablecam.rules.musket_saber.game import GAME
from tablecam.rules.musket_saber.state import Pass
from tests.rules.musket_saber.folios import battle, begun, unit

RIVER = {"hexsides": {"river": [["0505", "0504"]]}}


def sheet(play: Any, *units: str) -> dict[str, Any]:
    """The sections of a report by their keys."""
    handle = BOOK.in_game(BOOK.rulings(GAME.position(play.state), "red"), play.state)
    return {section.key: section for section in BOOK.sections(handle, *units)}


def said(section: Any) -> list[str]:
    return [line.text for line in section.lines]


def drawn(section: Any) -> int:
    return sum(shape.kind == "polygon" for shape in section.shapes)


def test_a_zone_ends_at_a_river_and_says_who_holds_the_unit_k_6_1_k_6_2a_k_6_4():
    play = battle(unit("R1", "0505"), unit("G1", "0605"), unit("G2", "1010"), map=RIVER)
    zone = sheet(play, "R1")["zone_of_control"]
    assert said(zone) == ["It controls 0604, 0404, 0405, 0506, 0605", "G1 holds it"]
    assert drawn(zone) == 5
    shaken = battle(unit("R1", "0505"), marks={"R1": {"disrupted": True}})
    assert said(sheet(shaken, "R1")["zone_of_control"]) == [
        "It has no zone of control: it is Disrupted"
    ]


def test_targets_are_those_that_may_be_attacked_now_with_the_differential_k_7_1_k_7_5_k_7_7():
    play = battle(unit("R1", "0505"), unit("G1", "0605", front={"cf": 3}), unit("G2", "0507"))
    assert said(sheet(play, "R1")["targets"]) == [
        "R1 may attack 0605 (G1), differential +2 alone",
        "R1 may skirmish with 0507 (G2), differential +0 alone",
    ]
    play = battle(
        unit("R1", "0505"), unit("G1", "0605"), phase="combat", marks={"R1": {"fought": True}}
    )
    assert said(sheet(play, "R1")["targets"]) == [
        "R1 may not attack 0605 (G1): R1 has fought in this phase"
    ]


def test_guns_bombard_at_their_range_k_8_4a_k_8_5_k_8_7():
    play = battle(unit("RG", "0505", arm="artillery"), unit("G1", "0508", arm="cavalry"))
    assert said(sheet(play, "RG")["targets"]) == ["RG may bombard 0508 (G1), column +10"]


def test_movement_is_drawn_as_far_as_the_allowance_reaches_k_4_3_k_4_4_k_4_7a_k_6_3():
    play = battle(unit("R1", "0505", front={"ma": 1}), unit("G1", "1010"))
    reach = sheet(play, "R1")["reach"]
    assert said(reach)[0] == "With 1 Movement Point it reaches 6 hexes"
    assert drawn(reach) == 6
    play.apply(Pass())
    reach = sheet(play, "R1")["reach"]
    assert said(reach)[0] == "With 1 Movement Point it reaches 6 hexes in its own movement phase"
    held = battle(unit("R1", "0505"), unit("G1", "0605"))
    assert said(sheet(held, "R1")["reach"])[0].startswith(
        "It does not move: an enemy that holds it is as fast"
    )
    slow, marks = {"ma": 1}, {"R1": {"disrupted": True}}
    shaken = battle(unit("R1", "0505", front=slow), unit("G1", "0705"), marks=marks)
    # Alone it does not enter 0604 and 0605, which G1 controls (K-6.2b).
    assert said(sheet(shaken, "R1")["reach"]) == [
        "It rolls for its Movement Allowance: with 1 at most it reaches 4 hexes",
        "It does not march: in 0505 it or its zone is in an enemy zone of control",
    ]


def test_a_line_of_retreat_is_drawn_to_its_goal_k_7_6():
    line = sheet(battle(unit("R1", "0303")), "R1")["retreat_line"]
    assert said(line) == ["It has a safe line of retreat, to 0101: 0302 0201 0101"]
    assert [shape.role for shape in line.shapes] == ["retreat-line", "withdrawal"]


def test_two_enemies_see_and_attack_each_other_or_it_is_said_why_not_k_8_6_k_7_5():
    play = battle(unit("R1", "0505"), unit("G1", "0605", front={"cf": 0}))
    pair = sheet(play, "R1", "G1")
    assert said(pair["sight"]) == ["R1 sees G1", "G1 sees R1"]
    assert said(pair["attack"]) == [
        "R1 may attack 0605 (G1), differential +5 alone",
        "G1 may not attack 0505 (R1): a unit with a factor of 0 does not attack",
    ]


def test_posts_have_a_reach_alone_and_before_a_game_there_is_a_place_alone_k_12_1_k_g3():
    assert [*sheet(begun(), "Red HQ")] == ["place", "reach"]
    position = GAME.position(begun().state)
    handle = BOOK.rulings(position, "house-red")
    assert [section.key for section in BOOK.sections(handle, "Red 1st")] == ["place"]


def test_nothing_is_worked_out_for_a_counter_whose_move_is_not_confirmed_k_g4():
    play = battle(unit("R1", "0505"), unit("G1", "0605"))
    position = GAME.position(play.state)
    x_mm, y_mm = play.state.grid.middle_mm(("0404",))
    moved = tuple(
        replace(one, bases=(replace(one.bases[0], x_mm=x_mm, y_mm=y_mm),))
        if one.id == "R1"
        else one
        for one in position.units
    )
    handle = BOOK.in_game(BOOK.rulings(replace(position, units=moved), "red"), play.state)
    assert [section.key for section in BOOK.sections(handle, "R1")] == ["place"]
    assert [section.key for section in BOOK.sections(handle, "R1", "G1")] == ["place", "range"]
    assert "targets" in sheet(play, "R1")
