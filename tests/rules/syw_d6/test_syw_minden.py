"""Fire at Minden, as the demo's table lies: gaps, sight and response fire by one judgement."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tablecam.rules.syw_d6.field import Field
from tablecam.rules.syw_d6.fire import Ban, Shot, fire_pool
from tablecam.rules.syw_d6.game import GAME
from tablecam.rules.syw_d6.responses import responses
from tablecam.rules.syw_d6.volleys import FireDice, ban_on_shots
from tablecam.simulate.demo import embedded_demo
from tests.rules.syw_d6.battles import Battle


def minden(*without: str, **at: tuple[float, float, float]) -> Any:
    """Return the demo's position with some units elsewhere (mm, mm, degrees) or off the table."""
    table = embedded_demo("syw-d6")
    for name, place in at.items():
        table.move_unit(name, *place)
    position = table.truth()
    units = tuple(unit for unit in position.units if unit.id not in without)
    return replace(position, units=units)


def shot(position: Any, firer: str, target: str) -> Any:
    ground = Field(position)
    return ground.shot(ground.units[firer], ground.units[target])


def dice(position: Any, firer: str, target: str) -> int:
    ground, lies = Field(position), shot(position, firer, target)
    assert not isinstance(lies, Ban), lies.because
    there = ground.target_of(ground.units[firer], ground.units[target])
    return fire_pool(ground.troops[firer], there, lies).dice


def test_a_gun_whose_axis_meets_another_first_fires_askew_through_the_gap_s_e_6():
    position = minden()
    lies = shot(position, "FG1", "B4")
    assert not lies.is_ahead, "B1 stands straight before it"
    assert dice(position, "FG1", "B4") == 2
    assert dice(minden("B1"), "FG1", "B4") == 4


def test_the_line_of_a_shot_on_offer_goes_to_what_is_seen_s_e_1():
    battle = Battle(at=minden()).to_fire()
    (offer,) = [
        offer
        for action in battle.play.legal()
        if (offer := GAME.offered(battle.state, action)).label.startswith("FG1 at B4")
    ]
    (line,) = [shape for shape in offer.evidence if shape.role == "shot"]
    assert 500 < line.points_mm[1][0] < 520
    ((_, terms),) = FireDice("FG1", "B4").sums(battle.state)
    assert "halved: its part ahead is hidden" in terms


def test_why_a_gun_has_no_fire_is_told_by_the_enemy_before_it_s_e_5():
    battle = Battle(at=minden(FC2=(620, 445, 90)), first="allies").to_fire()
    gap = "F2 lies behind a gap of 2.1 in between B1 and H2, and 12 in are needed"
    why = ban_on_shots(battle.state, "BG1")
    assert why == Ban("S-E.5", gap)
    beside = "FC2 lies outside of the guns' cone of 22.5°"
    assert shot(battle.state.position, "BG1", "FC2") == Ban("S-D.7", beside)


def charge_at_minden(unit: str, x_mm: float) -> Battle:
    """Return the battle at Minden in which a unit of horse has charged B2."""
    battle = Battle(at=minden(**{unit: (x_mm, 240, 90)}))
    battle.act(f"{unit}: ")
    (roll,) = battle.play.legal()
    battle.throw(6, 6, 6, *[1] * (roll.count - 3))
    if "how far may" in battle.question:
        battle.act("18 in")
    battle.act(f"{unit} charges B2 in front")
    battle.act("Stand")
    return battle


def asked_to_respond(battle: Battle) -> list[str]:
    """Lets every unit hold its response fire; returns the units that were asked."""
    firers = []
    while ": fire at" in battle.question:
        firers.append(battle.question.partition(":")[0])
        battle.act("Hold fire")
    return firers


@pytest.mark.parametrize(("unit", "x_mm"), [("FC1", 540), ("FC2", 635)])
def test_no_response_goes_through_a_gap_that_is_too_narrow_s_c_1_s_e_5(unit, x_mm):
    firers = asked_to_respond(charge_at_minden(unit, x_mm))
    assert "B2" in firers
    assert not {"B4", "H1", "BG1"} & {*firers}, "they stand behind gaps of about an inch"


def test_the_horse_that_charges_home_is_ahead_of_half_of_the_files_s_c_2_s_d_4():
    battle = charge_at_minden("FC2", 610)
    while not battle.question.startswith("B2: fire at FC2"):
        battle.act("Hold fire")
    ((_, terms),) = battle.play.asked().sums
    assert terms == ("24 of its figures count", "fire bonus +2")


def test_the_line_of_response_fire_goes_to_the_nearest_place_of_the_way_s_c_1():
    battle = charge_at_minden("FC1", 540)
    assert battle.question.startswith("B1: fire at FC1"), battle.question
    shapes = battle.state.step.shapes(battle.state)
    (line,) = [shape for shape in shapes if shape.role == "shot"]
    (_, (_, y_mm)) = line.points_mm
    assert y_mm == pytest.approx(525, abs=20), "before B2, not where FC1 still stands"
    roles = [shape.role for shape in shapes]
    assert (roles.count("path"), roles.count("goal")) == (1, 1), "the charge, to its end"


def test_response_and_own_fire_judge_alike_where_nothing_moves_s_c_1():
    position = minden(FC2=(620, 445, 90))
    state = Battle(at=position).state
    rider = state.unit("FC2")
    asked = {due.unit: due.range_in for due in responses(state, rider, rider.bases)}
    lies = {enemy.id: shot(position, enemy.id, "FC2") for enemy in state.field.enemies(rider)}
    ranges_in = {name: one.range_in for name, one in lies.items() if isinstance(one, Shot)}
    assert asked == ranges_in
    assert {"B2", "B3"} <= {*asked}
