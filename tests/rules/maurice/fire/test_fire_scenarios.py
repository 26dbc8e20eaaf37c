"""How sure fire is where a crest may hide a target (M-5.9), or a wall be one's own (M-7.18)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablecam.rules.maurice.field.field import field_of
from tablecam.rules.maurice.fire.fire import fire_of
from tablecam.table.model import Position
from tests.rules.maurice.fire.test_fire_doubts import (
    MEASURED,
    TRIALS,
    doubt,
    fire_in,
    hits,
    how_often,
    three_sigma_off,
)
from tests.rules.maurice.firing import SOUTH, box, cannon, foot
from tests.rules.maurice.tables import gun, position

FAR_OFF = 3.5 * (0.25 / TRIALS + 0.25 / 400) ** 0.5
"""Trials and the 400 draws each lie within so many of their standard deviations of the truth."""


def crested(end_mm: float) -> Position:
    """A gun may see another past the right end of a crest, along the line x = 620."""
    crest = box("crest", 300, 450, end_mm, 452)
    return position(
        cannon(**MEASURED), gun("B1", "british", 600, 520, SOUTH, **MEASURED), terrain=[crest]
    )


def walled(gap_mm: float, right_mm: float = 800.0) -> Position:
    """A gun whose wall, so far before it, lets it reach another only if it is its own."""
    wall = box("wall", 400, 400 + gap_mm, right_mm, 405 + gap_mm)
    return position(
        cannon(**MEASURED), gun("B1", "british", 600, 540, SOUTH, **MEASURED), terrain=[wall]
    )


def chance_of(table: Position, target: str) -> float:
    """How likely it is told that the first unit's first base may shoot a unit."""
    fire = fire_in(table, "F1/1")
    listed = {option.target: option.probability for option in fire.options}
    named = (each for each in fire.answers if f"shoot {target}" in each.because)
    return listed[target] if target in listed else next(named).probability


@pytest.mark.parametrize("end_mm", [619.7, 620.1])
def test_m_5_9_a_crest_hides_a_target_as_often_as_told(end_mm):
    table = crested(end_mm)
    told = doubt(fire_in(table, "F1/1"), "M-7.12", "shoot B1")
    assert told.margin_mm == pytest.approx(620.0 - end_mm, abs=0.01)
    assert how_often(table, "F1/1", hits("B1")) == pytest.approx(
        chance_of(table, "B1"), abs=FAR_OFF
    )


@pytest.mark.parametrize("gap_mm", [0.9, 1.2])
def test_m_7_18_a_wall_is_ones_own_as_often_as_told(gap_mm):
    table = walled(gap_mm)
    fire = fire_in(table, "F1/1")
    own = doubt(fire, "M-7.18")
    assert own.margin_mm == pytest.approx(1.0 - gap_mm, abs=0.01)
    assert {shape.role for shape in own.evidence} == {"front-edge", "cover"}
    reached = how_often(table, "F1/1", hits("B1"))
    assert reached == pytest.approx(chance_of(table, "B1"), abs=FAR_OFF)
    assert reached == pytest.approx(own.probability, abs=FAR_OFF)


def test_a_crest_and_a_wall_far_from_their_limits_leave_no_doubt():
    for table in (crested(600.0), crested(640.0), walled(-1.0), walled(10.0)):
        assert fire_in(table, "F1/1").answers == ()


def test_a_wall_that_may_be_ones_own_leaves_cover_in_doubt():
    """The target is near enough to be hit over the wall whether that counts or not."""
    wall = box("wall", 400, 400.95, 800, 405)
    near = gun("B1", "british", 600, 455, SOUTH, **MEASURED)
    fire = fire_in(position(cannon(**MEASURED), near, terrain=[wall]), "F1/1")
    assert doubt(fire, "M-7.19").answer == "too_close"


@pytest.mark.parametrize(("end_mm", "word"), [(618.0, "yes"), (622.0, "no")])
def test_what_is_likely_but_not_certain_is_told_with_its_probability(end_mm, word):
    """Between 0.13 and 5 in a hundred a target may, or may not, be shot at all the same."""
    fire = fire_in(crested(620.0 + np.sign(end_mm - 620.0) * 0.6), "F1/1")
    (told,) = fire.answers
    assert told.answer == word
    assert 0.0013 < min(told.probability, 1.0 - told.probability) < 0.05
    assert fire.close_calls == ()
    assert fire.to_json()["answers"] == [told.to_json()]
    assert [option.target for option in fire.options] == ["B1"] * (word == "yes")


offs_mm = st.floats(-3.0, 3.0)


@st.composite
def tables(draw: st.DrawFn) -> Position:
    """A gun or foot, a crest's end or a wall within a few millimetres of where it decides."""
    shooter = draw(st.sampled_from([cannon, foot]))(**MEASURED)
    enemy = gun("B1", "british", 600, draw(st.sampled_from([520.0, 541.0])), SOUTH, **MEASURED)
    crest = box("crest", 300, 450, 620 + draw(offs_mm), 452)
    wall = box("wall", 560 + draw(offs_mm), 401 + draw(offs_mm), 640, 408)
    terrain = draw(st.sampled_from([[crest], [wall], [crest, wall]]))
    return position(shooter, enemy, terrain=terrain)


@settings(max_examples=15, deadline=None)
@given(tables(), st.integers(0, 10**6))
def test_no_fire_within_three_sigma_of_its_limit_is_a_flat_yes_or_no(table, seed):
    """What is not told of as uncertain is as told when every unit lies three sigma off."""
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
