"""Certainty of fire: correct probabilities, reported doubts, and none if all poses are exact."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tablecam.errors import BadInput
from tablecam.rules.maurice.field.field import Field, field_of
from tablecam.rules.maurice.fire.fire import fire_of, fire_of_units
from tablecam.rules.maurice.fire.targets import BaseFire
from tablecam.table.model import BasePose, Position, Unit
from tablecam.uncertainty.answer import Answer
from tests.rules.maurice.drawn import drawn_position
from tests.rules.maurice.fire.test_fire_moved import battles
from tests.rules.maurice.firing import cannon, enemy, foot, only
from tests.rules.maurice.tables import SOUTH, box, column, gun, line, position

MEASURED, LESS_SURE = {"sigma_mm": 0.4, "sigma_deg": 0.3}, {"sigma_mm": 0.5, "sigma_deg": 0.3}
TRIALS = 200
FAR_OFF = 3.5 * (0.25 / TRIALS) ** 0.5
"""Tolerance for a share of the trials: 3.5 standard deviations."""
FAR_OFF_OF_DRAWS = 3.5 * (0.25 / TRIALS + 0.25 / 400) ** 0.5
"""The same, if the stated probability is itself a share of 400 draws."""


def fire_in(table: Position, base: str = "F1/1") -> BaseFire:
    field = field_of(table)
    return fire_of(field, field.units[0])[base]


def with_poses(table: Position, pose: Callable[[BasePose], BasePose]) -> Position:
    units = [replace(unit, bases=tuple(map(pose, unit.bases))) for unit in table.units]
    return replace(table, units=tuple(units))


def truly(pose: BasePose, by: np.ndarray) -> BasePose:
    """An exact base, off by some standard deviations in x, y and heading."""
    return replace(
        pose,
        x_mm=pose.x_mm + by[0] * pose.sigma_mm,
        y_mm=pose.y_mm + by[1] * pose.sigma_mm,
        heading_deg=pose.heading_deg + by[2] * pose.sigma_deg,
        sigma_mm=0.0,
        sigma_deg=0.0,
        row=None,
    )


def three_sigma_off(table: Position, measured: Field, luck: np.random.Generator) -> Position:
    """A true table whose units are three standard deviations off, their rows flush."""

    def off(unit: Unit) -> Unit:
        way = luck.standard_normal(3)
        way *= 3.0 / np.linalg.norm(way)
        return replace(unit, bases=tuple(truly(base, way) for base in unit.bases))

    return replace(table, units=tuple(off(unit.unit) for unit in measured.units))


def how_often(table: Position, base: str, holds: Callable[[BaseFire], bool]) -> float:
    luck = np.random.default_rng(7)
    return float(
        np.mean([holds(fire_in(drawn_position(table, luck), base)) for _ in range(TRIALS)])
    )


def hits(target: str) -> Callable[[BaseFire], bool]:
    return lambda fire: any(option.target == target for option in fire.options)


def enfilades(fire: BaseFire) -> bool:
    return only(fire).is_enfilade


def stands_in_water(fire: BaseFire) -> bool:
    return fire.blocked == "water"


def doubt(fire: BaseFire, rule: str, about: str = "") -> Answer:
    (found,) = (each for each in fire.close_calls if each.rule == rule and about in each.because)
    return found


def crested(end_mm: float) -> Position:
    """A gun that may see another past the right end of a crest, along the line x = 620."""
    near = gun("B1", "british", 600, 520, SOUTH, **MEASURED)
    return position(cannon(**MEASURED), near, terrain=[box("crest", 300, 450, end_mm, 452)])


def walled(gap_mm: float) -> Position:
    """A gun that can reach another only if the wall, `gap_mm` ahead of it, is its own."""
    far = gun("B1", "british", 600, 540, SOUTH, **MEASURED)
    wall = box("wall", 400, 400 + gap_mm, 800, 405 + gap_mm)
    return position(cannon(**MEASURED), far, terrain=[wall])


def between_friends(gap_mm: float, aside_mm: float) -> Position:
    """A shot at a gun 15 BW away, between two friends 7 BW away."""
    left_mm, right_mm = 520 + aside_mm - gap_mm / 2, 680 + aside_mm + gap_mm / 2
    return position(
        cannon(**LESS_SURE),
        gun("B1", "british", 600 + aside_mm, 1000, SOUTH, **LESS_SURE),
        line("F2", "french", left_mm, 700, **LESS_SURE),
        line("F3", "french", right_mm, 700, **LESS_SURE),
    )


SLIVER = position(
    cannon(**MEASURED),
    gun("B1", "british", 640 - 0.6, 480, SOUTH, **MEASURED),
    enemy(120, 600, "B2", **MEASURED),
)
RANGE = position(cannon(**MEASURED), column("B1", "british", 600, 641.3, SOUTH, **MEASURED))
FRIEND = position(
    cannon(**MEASURED),
    enemy(100, 600, "B1", **MEASURED),
    line("F2", "french", 700.2 - 0.4, 455, **MEASURED),
)
# Turned by 45 degrees the zone's side passes B1's corner at 718.
LIMIT = position(cannon(**MEASURED), gun("B1", "british", 717.6 + 0.5, 450, SOUTH, **MEASURED))


@pytest.mark.parametrize(
    ("table", "target", "far_off"),
    [
        pytest.param(SLIVER, "B1", FAR_OFF, id="a sliver"),
        pytest.param(SLIVER, "B2", FAR_OFF, id="or the next"),
        pytest.param(FRIEND, "B1", FAR_OFF, id="a friend"),
        pytest.param(RANGE, "B1", FAR_OFF, id="range"),
        pytest.param(LIMIT, "B1", FAR_OFF, id="45 degrees"),
        pytest.param(between_friends(39, 0), "B1", FAR_OFF, id="a narrow range of angles"),
        pytest.param(between_friends(41, 15), "B1", FAR_OFF, id="and aside"),
        pytest.param(crested(619.7), "B1", FAR_OFF_OF_DRAWS, id="M-5.9 past a crest"),
        pytest.param(crested(620.1), "B1", FAR_OFF_OF_DRAWS, id="M-5.9 hidden by a crest"),
        pytest.param(walled(0.9), "B1", FAR_OFF_OF_DRAWS, id="M-7.18 its own wall"),
        pytest.param(walled(1.2), "B1", FAR_OFF_OF_DRAWS, id="M-7.18 not its own"),
    ],
)
def test_m_7_12_a_unit_may_be_shot_at_as_often_as_told(table, target, far_off):
    fire = fire_in(table)
    chances = {option.target: option.probability for option in fire.options}
    named = (each.probability for each in fire.answers if f"shoot {target}" in each.because)
    chance = chances[target] if target in chances else next(named)
    assert how_often(table, "F1/1", hits(target)) == pytest.approx(chance, abs=far_off)


IN_WATER = position(
    foot(**MEASURED), enemy(100, **MEASURED), terrain=[box("marsh", 540, 300, 580, 360.7)]
)
ALONGSIDE = position(
    gun("F1", "french", 600.1, 380, **MEASURED), column("B1", "british", 540, 500, 0.0, **MEASURED)
)


@pytest.mark.parametrize(
    ("table", "base", "rule", "margin_mm", "holds", "far_off"),
    [
        (IN_WATER, "F1/2", "M-7.6", 0.2, stands_in_water, FAR_OFF),
        (ALONGSIDE, "F1/1", "M-7.22", -0.1, enfilades, FAR_OFF),
        (walled(0.9), "F1/1", "M-7.18", 0.1, hits("B1"), FAR_OFF_OF_DRAWS),
        (walled(1.2), "F1/1", "M-7.18", -0.2, hits("B1"), FAR_OFF_OF_DRAWS),
    ],
    ids=["water", "enfilade", "its own wall", "not its own"],
)
def test_m_7_18_what_hangs_on_a_hair_is_as_often_as_told(
    table, base, rule, margin_mm, holds, far_off
):
    told = doubt(fire_in(table, base), rule)
    assert told.margin_mm == pytest.approx(margin_mm, abs=0.01)
    assert how_often(table, base, holds) == pytest.approx(told.probability, abs=far_off)


def test_m_7_22_enfilade_is_that_of_the_best_base_that_may_be_hit():
    """B1/3 is enfiladed beyond doubt, but in one draw of four only B1/2 is hit."""
    facing_east = column("B1", "british", 640, 480, 0.0, **LESS_SURE)
    # The bases are not flush, so that their errors are independent.
    bases = tuple(
        replace(base, x_mm=base.x_mm - 4 * place) for place, base in enumerate(facing_east.bases)
    )
    shooter = gun("F1", "french", 600, 380, **LESS_SURE)
    table = position(shooter, replace(facing_east, bases=bases))
    fire = fire_in(table)
    assert (only(fire).target_base, only(fire).is_enfilade) == ("B1/3", True)
    told = doubt(fire, "M-7.22")
    assert how_often(table, "F1/1", enfilades) == pytest.approx(told.probability, abs=FAR_OFF)
    assert told.answer == "too_close"
    assert told.margin_mm > 0.0


def test_m_7_12_a_turned_zone_reaches_farther_and_is_as_sure_as_its_draws():
    """Beyond 4 BW straight ahead, the corner of a turned zone still meets a facing line."""
    facing = line("B1", "british", 580, 420 + 160.9, SOUTH, **MEASURED)
    table = position(foot(**MEASURED), facing)
    option = only(fire_in(table, "F1/2"))
    assert option.angle != "ahead"
    share = how_often(table, "F1/2", hits("B1"))
    assert option.probability == pytest.approx(share, abs=FAR_OFF)


def test_who_may_or_may_not_be_in_the_zone_first_is_too_close_to_call_and_so_is_the_next():
    fire = fire_in(SLIVER)
    assert [option.target for option in fire.options] == ["B1"]
    first, second = (doubt(fire, "M-7.12", f"shoot {name}") for name in ("B1", "B2"))
    assert (first.answer, first.margin_mm) == ("too_close", pytest.approx(0.1, abs=0.01))
    assert first.probability + second.probability == pytest.approx(1.0, abs=0.01)
    assert only(fire).probability == first.probability
    crest = doubt(fire_in(crested(619.7)), "M-7.12", "shoot B1")
    assert crest.margin_mm == pytest.approx(0.3, abs=0.01)
    own = doubt(fire_in(walled(0.9)), "M-7.18")
    assert {shape.role for shape in own.evidence} == {"front-edge", "cover"}


def test_m_7_19_cover_that_hangs_on_a_hair_is_too_close_to_call_and_a_long_wall_is_not():
    def cover(right_mm: float) -> list[Answer]:
        wall = box("wall", 500, 440, right_mm, 445)
        table = position(foot(**MEASURED), enemy(70, **MEASURED), terrain=[wall])
        return [each for each in fire_in(table, "F1/2").close_calls if each.rule == "M-7.19"]

    (told,) = cover(579.8)
    assert told.answer == "too_close"
    assert 0.05 < told.probability < 0.95
    assert not cover(700)
    # The target is near enough to be hit whether or not the wall is the shooter's own.
    near = gun("B1", "british", 600, 455, SOUTH, **MEASURED)
    table = position(cannon(**MEASURED), near, terrain=[box("wall", 400, 400.95, 800, 405)])
    assert doubt(fire_in(table), "M-7.19").answer == "too_close"


def test_exact_poses_and_what_is_far_from_its_limit_leave_no_doubt():
    exact = with_poses(SLIVER, lambda pose: replace(pose, sigma_mm=0.0, sigma_deg=0.0))
    fire = fire_in(exact)
    assert (fire.close_calls, only(fire).probability) == ((), 1.0)
    assert fire.to_json().keys() == {"options", "blocked"}
    assert "probability" not in only(fire).to_json()
    for table in (crested(600.0), crested(640.0), walled(-1.0), walled(10.0)):
        assert fire_in(table).answers == ()
    for tolerance_mm, doubts in ((0.05, 0), (0.5, 2)):  # that players agreed on
        table = replace(exact, table=replace(exact.table, tolerance_mm=tolerance_mm))
        assert len(fire_in(table).close_calls) == doubts


def test_one_who_is_shot_at_ahead_or_after_a_turn_is_shot_at_for_certain():
    """Half a millimetre decides whether B1 is in the zone ahead, but a turned zone reaches it."""
    fire = fire_in(replace(SLIVER, units=SLIVER.units[:2]))
    assert (only(fire).target, only(fire).probability, fire.answers) == ("B1", 1.0, ())


@pytest.mark.parametrize(("end_mm", "word"), [(619.4, "yes"), (620.6, "no")])
def test_what_is_likely_but_not_certain_is_told_with_its_probability(end_mm, word):
    """Probabilities between 0.13 and 5 per cent, or their complements, are reported."""
    fire = fire_in(crested(end_mm))
    (told,) = fire.answers
    assert told.answer == word
    assert 0.0013 < min(told.probability, 1.0 - told.probability) < 0.05
    assert fire.close_calls == ()
    assert fire.to_json()["answers"] == [told.to_json()]
    assert [option.target for option in fire.options] == ["B1"] * (word == "yes")


@settings(max_examples=10, deadline=None)
@given(battles(), st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_bases_asked_together_are_told_what_each_unit_is_told_alone(battle, sigma_mm, sigma_deg):
    """They have different sigmas."""

    def surer(unit: Unit, share: int) -> Unit:
        sigmas = {"sigma_mm": sigma_mm / share, "sigma_deg": sigma_deg / share}
        return replace(unit, bases=tuple(replace(base, **sigmas) for base in unit.bases))

    units = [surer(unit, share) for share, unit in enumerate(battle.units, start=1)]
    try:
        field = field_of(replace(battle, units=tuple(units)))
    except BadInput:  # Units lie over each other.
        assume(False)
    every = fire_of_units(field)
    assert [*every] == [unit.id for unit in field.units]
    for unit_id, together in every.items():
        alone = fire_of(field, field.by_id[unit_id])
        assert {name: each.to_json() for name, each in together.items()} == {
            name: each.to_json() for name, each in alone.items()
        }
    assert [*fire_of_units(field, only=["F1"])] == ["F1"]


offs_mm = st.floats(-3.0, 3.0)


@st.composite
def near_their_limits(draw: st.DrawFn) -> Position:
    """A gun or foot, and a crest's end or wall within a few millimetres of its limit."""
    shooter = draw(st.sampled_from([cannon, foot]))(**MEASURED)
    far = gun("B1", "british", 600, draw(st.sampled_from([520.0, 541.0])), SOUTH, **MEASURED)
    crest = box("crest", 300, 450, 620 + draw(offs_mm), 452)
    wall = box("wall", 560 + draw(offs_mm), 401 + draw(offs_mm), 640, 408)
    terrain = draw(st.sampled_from([[crest], [wall], [crest, wall]]))
    return position(shooter, far, terrain=terrain)


@settings(max_examples=15, deadline=None)
@given(near_their_limits(), st.integers(0, 10**6))
def test_no_fire_within_three_sigma_of_its_limit_is_a_flat_yes_or_no(table, seed):
    """Answers not reported as uncertain still hold with every unit three sigma off."""
    measured = field_of(table)
    true = field_of(three_sigma_off(table, measured, np.random.default_rng(seed)))
    then = fire_of(true, true.units[0])
    for name, fire in fire_of(measured, measured.units[0]).items():
        may = any(option.target == "B1" for option in then[name].options)
        listed = [option for option in fire.options if option.target == "B1"]
        is_open = any("shoot B1" in each.because for each in fire.answers)
        if not is_open:
            assert may == bool(listed)
        assert is_open == any(option.probability < 1.0 for option in listed) or not listed
