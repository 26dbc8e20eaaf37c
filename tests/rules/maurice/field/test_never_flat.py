"""What errors may turn is never a flat yes or no: its probability is neither 0 nor 1.

Of each question, positions in which it hangs on a hair are ruled on as measured, and then as they
may truly be, drawn by chance. Where these do not all agree, the measured ruling must have said so.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablecam.rules.maurice.combat.cover import cover_answer
from tablecam.rules.maurice.combat.engagement import engagements
from tablecam.rules.maurice.field.field import Field, field_of
from tablecam.rules.maurice.place.contacts import contacts_of_field
from tablecam.rules.maurice.place.flank import to_flank
from tablecam.rules.maurice.place.near import near_enemy
from tablecam.table.model import Position, Terrain
from tablecam.uncertainty.answer import Answer
from tests.rules.maurice.drawn import drawn_position
from tests.rules.maurice.tables import gun, line, position

SOUTH = 270.0
SIGMAS = {"sigma_mm": 0.3, "sigma_deg": 0.2}
DRAWS = 20
"""Errors of three standard deviations and more are hardly ever among so many draws."""

hairs_mm = st.floats(-1.5, 1.5)


def near_in_the_open(by_mm: float) -> Position:
    return facing(160.0 + by_mm)


def near_past_a_lake(by_mm: float) -> Position:
    """All lines of 4 BW or less end at x = 680, where the lake does."""
    return facing(158.5, [strip(100, 680.0 + by_mm, "impassable")])


def near_round_a_lake(by_mm: float) -> Position:
    """Past the lake's corner a slanting line is 4 BW long, where straight ones are shorter."""
    units = (
        line("F1", "french", 600, 400, **SIGMAS),
        gun("B1", "british", 765, 563, SOUTH, **SIGMAS),
    )
    return position(*units, terrain=[strip(100, 730 + by_mm, "impassable")])


def touching_or_not(by_mm: float) -> Position:
    return facing(1.0 + by_mm)


def half_behind(by_mm: float) -> Position:
    """The second of four bases lies just behind F1's front line, or not."""
    across = line("B1", "british", 720, 420.0 + by_mm, 180.0, **SIGMAS)
    return position(line("F1", "french", 600, 400, **SIGMAS), across)


def in_front_by_a_corner(by_mm: float) -> Position:
    """B1 slants: its end is just directly in front of F1, or not."""
    slanting = line("B1", "british", 737.3 + by_mm, 380, 210.0, **SIGMAS)
    return position(line("F1", "french", 600, 400, **SIGMAS), slanting)


def engaged_across_a_gap(by_mm: float) -> Position:
    """F1 touches B1, and B2 is just within 1 BW or just not."""
    return position(
        line("F1", "french", 600, 400, **SIGMAS),
        gun("B1", "british", 540, 440, SOUTH, **SIGMAS),
        gun("B2", "british", 640, 480 + by_mm, SOUTH, **SIGMAS),
    )


def covered_by_a_wall(by_mm: float) -> Position:
    """F1 touches B1; a wall across all lines between ends just there, or just before."""
    return facing(30.0, [strip(400, 680.5 + by_mm, "wall", 432, 436)])


def facing(gap_mm: float, terrain: tuple[Terrain, ...] | list[Terrain] = ()) -> Position:
    units = (
        line("F1", "french", 600, 400, **SIGMAS),
        line("B1", "british", 600, 440 + gap_mm, SOUTH, **SIGMAS),
    )
    return position(*units, terrain=terrain)


def strip(
    from_mm: float, to_mm: float, kind: str, low_mm: float = 480, high_mm: float = 490
) -> Terrain:
    corners = ((from_mm, low_mm), (to_mm, low_mm), (to_mm, high_mm), (from_mm, high_mm))
    return Terrain("strip", kind, corners)


def is_near(field: Field) -> Answer:
    return near_enemy(field, field.by_id["F1"]).answer


def is_touching(field: Field) -> Answer:
    return contacts_of_field(field).answer("F1", "B1")


def is_to_flank(field: Field) -> Answer:
    return to_flank(field, field.by_id["F1"], field.by_id["B1"])


def is_engaged(field: Field) -> Answer:
    return engagements(field, "french").answer("F1", "B2")


def has_cover(field: Field) -> Answer:
    return cover_answer(field, field.by_id["F1"], field.by_id["B1"])


@pytest.mark.parametrize(
    ("asked", "lying"),
    [
        (is_near, near_in_the_open),
        (is_near, near_past_a_lake),
        (is_near, near_round_a_lake),
        (is_touching, touching_or_not),
        (is_to_flank, half_behind),
        (is_to_flank, in_front_by_a_corner),
        (is_engaged, engaged_across_a_gap),
        (has_cover, covered_by_a_wall),
    ],
)
@settings(max_examples=4, deadline=None)
@given(hairs_mm, st.integers(0, 1000))
def test_what_errors_may_turn_is_never_a_flat_yes_or_no(asked, lying, by_mm, seed):
    measured = lying(by_mm)
    luck = np.random.default_rng(seed)
    truths = {asked(field_of(drawn_position(measured, luck))).answer == "yes" for _ in range(DRAWS)}
    found = asked(field_of(measured)).to_json()
    if len(truths) == 2:
        assert 0.0 < found["probability"] < 1.0
    if found["probability"] in (0.0, 1.0):
        assert truths == {found["answer"] == "yes"}
