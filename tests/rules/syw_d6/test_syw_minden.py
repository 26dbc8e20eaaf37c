"""Fire at Minden, as the demo's table lies: gaps, sight and response fire by one judgement."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tablecam.rules.syw_d6.field import Field
from tablecam.rules.syw_d6.fire import Ban, fire_pool
from tablecam.rules.syw_d6.volleys import ban_on_shots
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
    (_, (x_mm, _)) = lies.line.coords
    assert 500 < x_mm < 520, "the line goes through the gap between B1 and B2"


def test_why_a_gun_has_no_fire_is_told_by_the_enemy_before_it_s_e_5():
    battle = Battle(at=minden(FC2=(620, 445, 90)), first="allies").to_fire()
    gap = "F2 lies behind a gap of 2.1 in between friends, and 12 in are needed"
    why = ban_on_shots(battle.state, "BG1")
    assert why == Ban("S-E.5", gap)
    beside = "FC2 lies outside of the guns' cone of 22.5°"
    assert shot(battle.state.position, "BG1", "FC2") == Ban("S-D.7", beside)
