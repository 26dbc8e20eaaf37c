"""Rulings state correct probabilities, tested in positions close to each rule's limit.

They are ruled on as measured, and then in possible true positions drawn at random. If these do not
all agree, the measured ruling is no flat yes or no, and it holds as often as it states. Fire is
tested in `fire/test_fire_doubts.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablecam.rules.maurice.charge.charge import charge_of
from tablecam.rules.maurice.combat.combat import cover_answer
from tablecam.rules.maurice.combat.engagement import engagements
from tablecam.rules.maurice.field.field import Field, field_of
from tablecam.rules.maurice.place.contacts import contacts_of_field, to_flank
from tablecam.rules.maurice.place.ranges import near_enemy
from tablecam.table.model import Position, Terrain
from tests.rules.maurice.drawn import drawn_position
from tests.rules.maurice.tables import SOUTH, box, gun, line, massed, position

SIGMAS = {"sigma_mm": 0.3, "sigma_deg": 0.2}
FEW, MANY = 20, 200
"""Numbers of true positions: few rarely include errors of three standard deviations or more."""

# Questions: each returns the answer, and the probability of a yes.


def near(field: Field) -> tuple[str, float]:
    found = near_enemy(field, field.by_id["F1"]).answer
    return found.answer, found.probability


def touches(field: Field) -> tuple[str, float]:
    found = contacts_of_field(field).answer("F1", "B1")
    return found.answer, found.probability


def flanks(field: Field) -> tuple[str, float]:
    found = to_flank(field, field.by_id["F1"], field.by_id["B1"])
    return found.answer, found.probability


def engages(field: Field) -> tuple[str, float]:
    """For the last unit on the table."""
    found, enemy = engagements(field, "french"), field.units[-1].id
    if (answer := found.answer("F1", enemy).answer) != "too_close":
        answer = is_engaged(field)
    return answer, found.answer("F1", enemy).probability


def is_engaged(field: Field) -> str:
    """The same as measured, which is cheaper than its probability."""
    return "yes" if field.units[-1].id in engagements(field, "french").enemies_of("F1") else "no"


def has_cover(field: Field) -> tuple[str, float]:
    found = cover_answer(field, field.by_id["F1"], field.by_id["B1"])
    return found.answer, found.probability


def may_charge(field: Field) -> tuple[str, float]:
    found = charge_of(field, field.by_id["F1"])
    for doubt in found.answers.values():
        return doubt.answer, doubt.probability
    return ("yes", 1.0) if "B1" in found.targets else ("no", 0.0)


# Positions at a given distance from the limit that decides.


def facing(gap_mm: float, terrain: tuple[Terrain, ...] = (), **sure: float) -> Position:
    """Two lines; F1's front is at y = 500."""
    ours = line("F1", "french", 600, 480, **sure)
    return position(ours, line("B1", "british", 600, 520 + gap_mm, SOUTH, **sure), terrain=terrain)


def near_in_the_open(by_mm: float, **sure: float) -> Position:
    return facing(160.0 + by_mm, **sure)


def near_past_a_lake(by_mm: float, **sure: float) -> Position:
    """All lines of 4 BW or less end at x = 680, where the lake does."""
    return facing(158.5, (box("impassable", 100, 560, 680.0 + by_mm, 570),), **sure)


def near_round_a_lake(by_mm: float, **sure: float) -> Position:
    """Past the lake's corner an oblique line is 4 BW long, although straight ones are shorter."""
    ours = line("F1", "french", 600, 480, **sure)
    lake = box("impassable", 100, 560, 730 + by_mm, 570)
    return position(ours, gun("B1", "british", 765, 643, SOUTH, **sure), terrain=[lake])


def touching(by_mm: float, **sure: float) -> Position:
    return facing(1.0 + by_mm, **sure)


def half_behind(by_mm: float, **sure: float) -> Position:
    """The second of four bases is just behind F1's front line, or not."""
    across = line("B1", "british", 720, 500.0 + by_mm, 180.0, **sure)
    return position(line("F1", "french", 600, 480, **sure), across)


def in_front_by_a_corner(by_mm: float, **sure: float) -> Position:
    """B1 is oblique: its end is just directly in front of F1, or not."""
    slanting = line("B1", "british", 737.3 + by_mm, 460, 210.0, **sure)
    return position(line("F1", "french", 600, 480, **sure), slanting)


def in_contact(by_mm: float, **sure: float) -> Position:
    ours = line("F1", "french", 600, 480, **sure)
    return position(ours, gun("B1", "british", 640, 521 + by_mm, SOUTH, **sure))


def before_the_front(by_mm: float, **sure: float) -> Position:
    """A gun in contact, and another 1 BW ahead of the front."""
    return position(
        line("F1", "french", 600, 480, **sure),
        gun("B1", "british", 540, 520, SOUTH, **sure),
        gun("B2", "british", 660, 560 + by_mm, SOUTH, **sure),
    )


def past_a_first_line(by_mm: float, **sure: float) -> Position:
    """A second line with one base that stands past the end of the first (M-8.12)."""
    first = line("B1", "british", 560.25 - by_mm, 513, SOUTH, **sure)
    first = replace(first, bases=tuple(replace(base, depth_mm=26.0) for base in first.bases))
    second = line("B2", "british", 640, 550, SOUTH, **sure)
    return position(line("F1", "french", 600, 480, **sure), first, second)


def across_a_wall(by_mm: float, **sure: float) -> Position:
    return facing(7.0 + by_mm, (box("wall", 400, 500, 800, 506),), **sure)


def slipped_over_the_flank(by_mm: float, **sure: float) -> Position:
    ours = line("F1", "french", 600, 480, **sure)
    return position(ours, line("B1", "british", 759.5 - by_mm, 520.5, SOUTH))


def covered_by_a_wall(by_mm: float, **sure: float) -> Position:
    """A wall across all lines between the units, or ending just short of the last one."""
    return facing(30.0, (box("wall", 400, 512, 680.5 + by_mm, 516),), **sure)


def covered_by_a_trench(by_mm: float, **sure: float) -> Position:
    return facing(20.0, (box("trench", 300, 508, 679.5 + by_mm, 514),), **sure)


def at_its_reach(by_mm: float, **sure: float) -> Position:
    return facing(160 + by_mm, **sure)


def at_the_longest_wheel(by_mm: float, **sure: float) -> Position:
    ours = massed("F1", "french", 600, 460, **sure)
    return position(ours, gun("B1", "british", 725 + by_mm, 600, SOUTH, **sure))


def at_a_friends_corner(by_mm: float, **sure: float) -> Position:
    ours, enemy = facing(60, **sure).units
    friends = gun("F2", "french", 699.5 + by_mm, 520.1, **sure), gun("F3", "french", 500, 540.1)
    return position(ours, enemy, *friends)


def at_the_edge_of_a_lake(by_mm: float, **sure: float) -> Position:
    lakes = (
        box("impassable", 400, 505, 520.5, 680),
        box("impassable", 679.5 + by_mm, 505, 800, 680, "another"),
    )
    ours = line("F1", "french", 600, 480, **sure)
    return position(ours, gun("B1", "british", 600, 640, SOUTH, **sure), terrain=lakes)


def flush_with_a_wall(by_mm: float, **sure: float) -> Position:
    """The wall is within 4 BW, the enemy only in that he stands flush with it."""
    return facing(166 + by_mm, (box("wall", 400, 655, 800, 665),), **sure)


Asked, Laid = Callable[[Field], tuple[str, float]], Callable[..., Position]
QUESTIONS: list[tuple[Asked, Laid]] = [
    (near, near_in_the_open),
    (near, near_past_a_lake),
    (near, near_round_a_lake),
    (touches, touching),
    (flanks, half_behind),
    (flanks, in_front_by_a_corner),
    (engages, in_contact),
    (engages, before_the_front),
    (engages, past_a_first_line),
    (engages, across_a_wall),
    (engages, slipped_over_the_flank),
    (has_cover, covered_by_a_wall),
    (has_cover, covered_by_a_trench),
    (may_charge, at_its_reach),
    (may_charge, at_the_longest_wheel),
    (may_charge, at_a_friends_corner),
    (may_charge, at_the_edge_of_a_lake),
    (may_charge, flush_with_a_wall),
]


def truths(asked: Asked, measured: Position, seed: int, count: int) -> list[bool]:
    luck = np.random.default_rng(seed)
    drawn = (field_of(drawn_position(measured, luck)) for _ in range(count))
    return [
        (is_engaged(field) if asked is engages else asked(field)[0]) == "yes" for field in drawn
    ]


@pytest.mark.parametrize(("asked", "laid"), QUESTIONS)
@settings(max_examples=4, deadline=None)
@given(st.floats(-1.5, 1.5), st.integers(0, 1000))
def test_g_7_what_errors_may_turn_is_never_a_flat_yes_or_no(asked, laid, by_mm, seed):
    measured = laid(by_mm, **SIGMAS)
    word, probability = asked(field_of(measured))
    held = {*truths(asked, measured, seed, FEW)}
    if len(held) == 2:
        assert 0.0 < probability < 1.0
    elif word != "too_close":
        assert held == {word == "yes"}


@pytest.mark.parametrize(
    ("asked", "laid", "by_mm"),
    [
        (flanks, in_front_by_a_corner, -0.4),
        (engages, in_contact, -0.1),
        (engages, in_contact, 0.3),
        (engages, before_the_front, 0.2),
        (engages, before_the_front, -0.2),
        (engages, past_a_first_line, -0.1),
        (engages, across_a_wall, 0.1),
        (engages, slipped_over_the_flank, 0.1),
        (has_cover, covered_by_a_trench, 0.3),
        (has_cover, covered_by_a_trench, 0.4),
        (may_charge, at_its_reach, 0.1),
        (may_charge, at_the_longest_wheel, 0.1),
        (may_charge, at_a_friends_corner, 0.1),
    ],
)
def test_g_7_a_ruling_holds_as_often_as_it_says(asked, laid, by_mm):
    measured = laid(by_mm, **SIGMAS)
    word, probability = asked(field_of(measured))
    assert (word, 0.05 < probability < 0.95) == ("too_close", True)
    held = np.mean(truths(asked, measured, 11, MANY))
    # Three standard deviations of a share of that many positions.
    assert held == pytest.approx(probability, abs=3 * 0.5 / sqrt(MANY))


@pytest.mark.parametrize(("asked", "laid"), QUESTIONS)
@pytest.mark.parametrize("by_mm", [-0.1, 0.3])
def test_g_7_exact_positions_are_certain(asked, laid, by_mm):
    word, probability = asked(field_of(laid(by_mm)))
    assert probability == (1.0 if word == "yes" else 0.0)


@pytest.mark.parametrize(
    ("asked", "laid", "by_mm"),
    [
        (near, near_in_the_open, 12.0),
        (engages, in_contact, -2.5),
        (engages, before_the_front, -20.0),
        (engages, past_a_first_line, 30.0),
        (has_cover, covered_by_a_trench, 60.0),
        (has_cover, covered_by_a_trench, -60.0),
        (may_charge, at_its_reach, -10.0),
        (may_charge, at_its_reach, 12.0),
    ],
)
def test_g_7_far_from_every_limit_measured_positions_are_certain_too(asked, laid, by_mm):
    word, probability = asked(field_of(laid(by_mm, sigma_mm=0.1)))
    assert probability == (1.0 if word == "yes" else 0.0)
