"""How sure fire is: probabilities that are met, doubts that are told, none where all is exact."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tablecam.errors import BadInput
from tablecam.rules.maurice.field.field import Field, field_of
from tablecam.rules.maurice.fire.fire import BaseFire, fire_of, fire_of_units
from tablecam.table.model import BasePose, Position, Unit
from tablecam.uncertainty.answer import Answer
from tests.rules.maurice.afresh import afresh
from tests.rules.maurice.drawn import drawn_position
from tests.rules.maurice.fire.test_fire_moved import battles
from tests.rules.maurice.firing import SOUTH, box, cannon, enemy, foot, only
from tests.rules.maurice.tables import column, gun, line, position

MEASURED = {"sigma_mm": 0.4, "sigma_deg": 0.3}
TRIALS = 300
FAR_OFF = 3.5 * (0.25 / TRIALS) ** 0.5
"""A share of the trials lies within 3.5 of its own standard deviations of the true one."""


def fire_in(table: Position, base: str) -> BaseFire:
    field = field_of(table)
    return fire_of(field, field.units[0])[base]


def with_poses(table: Position, pose: Callable[[BasePose], BasePose]) -> Position:
    units = [replace(unit, bases=tuple(map(pose, unit.bases))) for unit in table.units]
    return replace(table, units=tuple(units))


def truly(pose: BasePose, by: np.ndarray) -> BasePose:
    """A base exactly where it lies, off by so many standard deviations in x, y and heading."""
    return replace(
        pose,
        x_mm=pose.x_mm + by[0] * pose.sigma_mm,
        y_mm=pose.y_mm + by[1] * pose.sigma_mm,
        heading_deg=pose.heading_deg + by[2] * pose.sigma_deg,
        sigma_mm=0.0,
        sigma_deg=0.0,
    )


def three_sigma_off(table: Position, measured: Field, luck: np.random.Generator) -> Position:
    """A table whose units truly lie three of their standard deviations off, their rows flush."""

    def off(unit: Unit) -> Unit:
        way = luck.standard_normal(3)
        way *= 3.0 / np.linalg.norm(way)
        return replace(unit, bases=tuple(replace(truly(b, way), row=None) for b in unit.bases))

    return replace(table, units=tuple(off(unit.unit) for unit in measured.units))


def how_often(table: Position, base: str, holds: Callable[[BaseFire], bool]) -> float:
    luck = np.random.default_rng(7)
    found = [holds(fire_in(drawn_position(table, luck), base)) for _ in range(TRIALS)]
    return float(np.mean(found))


def hits(target: str) -> Callable[[BaseFire], bool]:
    return lambda fire: any(option.target == target for option in fire.options)


def doubt(fire: BaseFire, rule: str, about: str = "") -> Answer:
    (found,) = (each for each in fire.close_calls if each.rule == rule and about in each.because)
    return found


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

# Between two friends 7 BW off, only 39 and 41 mm apart, to a gun 15 BW off.
GAP, GAP_ASIDE = (
    position(
        cannon(sigma_mm=0.5, sigma_deg=0.3),
        gun("B1", "british", 600 + aside_mm, 1000, SOUTH, sigma_mm=0.5, sigma_deg=0.3),
        line("F2", "french", 520 + aside_mm - gap_mm / 2, 700, sigma_mm=0.5, sigma_deg=0.3),
        line("F3", "french", 680 + aside_mm + gap_mm / 2, 700, sigma_mm=0.5, sigma_deg=0.3),
    )
    for gap_mm, aside_mm in ((39, 0), (41, 15))
)


@pytest.mark.parametrize(
    ("table", "target"),
    [
        (SLIVER, "B1"),
        (SLIVER, "B2"),
        (FRIEND, "B1"),
        (RANGE, "B1"),
        (LIMIT, "B1"),
        pytest.param(GAP, "B1", id="a narrow range of angles"),
        pytest.param(GAP_ASIDE, "B1", id="a narrow range of angles aside"),
    ],
)
def test_the_probability_that_a_unit_may_be_shot_at_is_how_often_it_may(table, target):
    fire = fire_in(table, "F1/1")
    chances = {option.target: option.probability for option in fire.options}
    if target not in chances:
        chances[target] = doubt(fire, "M-7.12", f"shoot {target}").probability
    assert how_often(table, "F1/1", hits(target)) == pytest.approx(chances[target], abs=FAR_OFF)


def test_who_may_or_may_not_be_in_the_zone_first_is_too_close_to_call_and_so_is_the_next():
    fire = fire_in(SLIVER, "F1/1")
    assert [option.target for option in fire.options] == ["B1"]
    first, second = (doubt(fire, "M-7.12", f"shoot {name}") for name in ("B1", "B2"))
    assert first.margin_mm == pytest.approx(0.1, abs=0.01)
    assert first.answer == "too_close"
    assert first.probability + second.probability == pytest.approx(1.0, abs=0.01)
    assert only(fire).probability == first.probability


def test_whether_a_base_stands_in_water_is_as_probable_as_told():
    marsh = box("marsh", 540, 300, 580, 360.7)
    table = position(foot(**MEASURED), enemy(100, **MEASURED), terrain=[marsh])
    fire = fire_in(table, "F1/2")
    told = doubt(fire, "M-7.6")
    assert fire.blocked == "water"
    assert told.margin_mm == pytest.approx(0.2, abs=0.01)
    stands = how_often(table, "F1/2", lambda each: each.blocked == "water")
    assert stands == pytest.approx(told.probability, abs=FAR_OFF)


def test_whether_a_base_enfilades_is_as_probable_as_told():
    facing_east = column("B1", "british", 540, 500, 0.0, **MEASURED)
    table = position(gun("F1", "french", 600.1, 380, **MEASURED), facing_east)
    told = doubt(fire_in(table, "F1/1"), "M-7.22")
    assert told.margin_mm == pytest.approx(-0.1, abs=0.01)
    share = how_often(table, "F1/1", lambda each: only(each).is_enfilade)
    assert share == pytest.approx(told.probability, abs=FAR_OFF)


def test_enfilade_is_that_of_the_best_base_that_may_be_hit():
    """M-7.22: B1/3 is behind all doubt, as measured; in one draw of four only B1/2 is hit."""
    facing_east = column("B1", "british", 640, 480, 0.0, sigma_mm=0.5, sigma_deg=0.3)
    # Not flush, so that each base errs by itself.
    bases = tuple(
        replace(base, x_mm=base.x_mm - 4 * place) for place, base in enumerate(facing_east.bases)
    )
    strung_out = replace(facing_east, bases=bases)
    table = position(gun("F1", "french", 600, 380, sigma_mm=0.5, sigma_deg=0.3), strung_out)
    fire = fire_in(table, "F1/1")
    assert (only(fire).target_base, only(fire).is_enfilade) == ("B1/3", True)
    told = doubt(fire, "M-7.22")
    share = how_often(table, "F1/1", lambda each: only(each).is_enfilade)
    assert share == pytest.approx(told.probability, abs=FAR_OFF)
    assert told.answer == "too_close"
    assert told.margin_mm > 0.0


def test_cover_that_hangs_on_a_hair_is_too_close_to_call_and_a_long_wall_is_not():
    def cover(right_mm: float) -> list[Answer]:
        wall = box("wall", 500, 440, right_mm, 445)
        table = position(foot(**MEASURED), enemy(70, **MEASURED), terrain=[wall])
        return [each for each in fire_in(table, "F1/2").close_calls if each.rule == "M-7.19"]

    (told,) = cover(579.8)
    assert told.answer == "too_close"
    assert 0.05 < told.probability < 0.95
    assert not cover(700)


def test_exact_poses_leave_no_doubt_and_say_what_they_always_said():
    exact = with_poses(SLIVER, lambda pose: replace(pose, sigma_mm=0.0, sigma_deg=0.0))
    fire = fire_in(exact, "F1/1")
    assert fire.close_calls == ()
    assert only(fire).probability == 1.0
    assert fire.to_json().keys() == {"options", "blocked"}
    assert "probability" not in only(fire).to_json()


def test_the_players_tolerance_makes_exact_poses_too_close_to_call():
    exact = with_poses(SLIVER, lambda pose: replace(pose, sigma_mm=0.0, sigma_deg=0.0))
    for tolerance_mm, wanted in ((0.05, 0), (0.5, 2)):
        table = replace(exact, table=replace(exact.table, tolerance_mm=tolerance_mm))
        assert len(fire_in(table, "F1/1").close_calls) == wanted


def test_m_7_12_a_turned_zone_reaches_farther_and_is_as_sure_as_its_draws():
    """Beyond 4 BW straight ahead, the corner of a turned zone still meets a line that faces it."""
    facing = line("B1", "british", 580, 420 + 160.9, SOUTH, **MEASURED)
    table = position(foot(**MEASURED), facing)
    (option,) = fire_in(table, "F1/2").options
    assert option.angle != "ahead"
    share = how_often(table, "F1/2", hits("B1"))
    assert option.probability == pytest.approx(share, abs=FAR_OFF)


def test_all_fires_at_once_are_those_of_each_unit():
    other = gun("F2", "french", 900, 380)
    table = position(foot(), enemy(100), line("B2", "british", 900, 700, SOUTH), other)
    field = field_of(table)
    every = fire_of_units(field)
    assert list(every) == ["F1", "B1", "B2", "F2"]
    for unit in field.units:
        alone = fire_of(field, unit)
        assert {k: v.to_json() for k, v in every[unit.id].items()} == {
            k: v.to_json() for k, v in alone.items()
        }
    assert list(fire_of_units(field, only=["B2"])) == ["B2"]


def test_one_who_is_shot_at_ahead_or_after_a_turn_is_shot_at_for_certain():
    """Whether B1 reaches into the zone ahead hangs on half a millimetre; a turn reaches it well."""
    fire = fire_in(replace(SLIVER, units=SLIVER.units[:2]), "F1/1")
    assert only(fire).target == "B1"
    assert (only(fire).probability, fire.answers) == (1.0, ())


@settings(max_examples=10, deadline=None)
@given(battles(), st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_bases_asked_together_are_told_what_each_unit_is_told_alone(battle, sigma_mm, sigma_deg):
    """Though some are surer than others of where they lie."""
    units = [
        replace(
            unit,
            bases=tuple(
                replace(base, sigma_mm=sigma_mm / share, sigma_deg=sigma_deg / share)
                for base in unit.bases
            ),
        )
        for share, unit in enumerate(battle.units, start=1)
    ]
    try:
        field = field_of(replace(battle, units=tuple(units)))
    except BadInput:  # Units lie over each other.
        assume(False)
    for unit_id, together in fire_of_units(field).items():
        alone = fire_of(field, field.by_id[unit_id])
        assert {name: each.to_json() for name, each in together.items()} == {
            name: each.to_json() for name, each in alone.items()
        }


@pytest.mark.parametrize(("y_mm", "is_same"), [(480, False), (900, True)])
def test_a_unit_is_not_asked_again_when_one_out_of_its_reach_moves(y_mm, is_same):
    before, after = (
        position(
            foot(**MEASURED),
            gun("B1", "british", 500, 500, SOUTH, **MEASURED),
            gun("B2", "british", 760 + by_mm, y_mm, SOUTH, **MEASURED),
        )
        for by_mm in (0.0, 3.0)
    )
    old, new = (fire_of_units(field_of(table))["F1"] for table in (before, after))
    assert (old is new) == is_same
    said = {name: fire.to_json() for name, fire in new.items()}
    anew = fire_of_units(afresh(after))["F1"]
    assert said == {name: fire.to_json() for name, fire in anew.items()}


@settings(max_examples=25, deadline=None)
@given(battles(), st.integers(0, 10**6))
def test_no_option_within_three_sigma_of_its_limit_is_a_flat_yes_or_no(battle, seed):
    """Whatever is certain stands when every unit lies three standard deviations off."""
    table = with_poses(battle, lambda pose: replace(pose, **MEASURED))
    try:
        measured = field_of(table)
        true = field_of(three_sigma_off(table, measured, np.random.default_rng(seed)))
    except BadInput:  # Units lie over each other.
        assume(False)
    then = fire_of(true, true.units[0])
    for name, fire in fire_of(measured, measured.units[0]).items():
        for option in fire.options:
            if option.probability == 1.0:
                assert option.target in {each.target for each in then[name].options}
        may = {option.target for option in fire.options}
        may |= {word for each in fire.answers for word in each.because.replace(":", " ").split()}
        assert {option.target for option in then[name].options} <= may
