"""How likely a unit can charge whom, where the camera's error could change it."""

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tablecam.geometry.outlines import unit_footprint
from tablecam.rules.maurice.charge.charge import charge_of, charges
from tablecam.rules.maurice.field.field import field_of
from tablecam.rules.maurice.field.worlds import tilted
from tablecam.rules.maurice.rulings.facts import Rulings
from tablecam.rules.maurice.rulings.rulings import rulings_document
from tablecam.table.model import Position, Terrain, Unit
from tablecam.uncertainty.samples import DRAWS
from tests.rules.maurice.drawn import drawn_position
from tests.rules.maurice.tables import gun, line, massed, position

SOUTH = 270.0
ERROR = {"sigma_mm": 0.5, "sigma_deg": 0.2}
TRUTHS = 300


def exact(unit: Unit) -> Unit:
    return replace(
        unit, bases=tuple(replace(base, sigma_mm=0.0, sigma_deg=0.0) for base in unit.bases)
    )


def charge(of: Position):
    field = field_of(of)
    return charge_of(field, field.units[0])


def chance(of: Position, target: str) -> float:
    (answer,) = charge(of).answers
    assert target in answer.because
    return answer.probability


FOOT = line("F1", "french", 600, 480, **ERROR)
HORSE = massed("F1", "french", 600, 460, **ERROR)
DOUBTFUL = {
    "the end of its reach": (FOOT, line("1", "british", 600, 680.4, SOUTH, **ERROR)),
    "the end of the longest wheel": (HORSE, gun("1", "british", 725.2, 600, SOUTH, **ERROR)),
    "a friend in the way": (
        line("F1", "french", 600, 480, **ERROR),
        line("1", "british", 600, 580, SOUTH, **ERROR),
        gun("F2", "french", 699.7, 520.1, **ERROR),
        gun("F3", "french", 500.4, 520.1, **ERROR),
    ),
}


@pytest.mark.parametrize("units", DOUBTFUL.values(), ids=DOUBTFUL)
def test_the_probability_is_how_often_it_can_be_charged_in_truth(units):
    told = chance(position(*units), "1")
    assert 0.05 < told < 0.95
    rng = np.random.default_rng(5)
    held = 0
    for _ in range(TRUTHS):
        truth = charge(drawn_position(position(*units), rng))
        held += "1" in truth.targets
    # Both are counts: of 200 draws and of as many truths.
    spread = math.sqrt(told * (1 - told) * (1 / DRAWS + 1 / TRUTHS))
    assert held / TRUTHS == pytest.approx(told, abs=4 * spread)


@settings(max_examples=8, deadline=None)
@given(off_sigmas=st.floats(-3, 3))
def test_within_three_sigma_of_its_reach_it_is_never_a_flat_yes_or_no(off_sigmas):
    """The way ahead of a line that faces a gun is as sure as the two fronts together."""
    ahead_mm = math.hypot(0.5 / 2, 0.5)
    enemy = gun("1", "british", 600, 680 + off_sigmas * ahead_mm, SOUTH, **ERROR)
    found = charge(position(FOOT, enemy))
    (answer,) = found.answers
    assert 0.0 < answer.probability < 1.0
    assert all(lane.probability == answer.probability for lane in found.lanes)


def at_its_reach(by_mm: float) -> Position:
    return position(FOOT, line("1", "british", 600, 680 + by_mm, SOUTH, **ERROR))


def at_the_longest_wheel(by_mm: float) -> Position:
    return position(HORSE, gun("1", "british", 725 + by_mm, 600, SOUTH, **ERROR))


def at_a_friends_corner(by_mm: float) -> Position:
    friends = gun("F2", "french", 699.5 + by_mm, 520.1, **ERROR), gun("F3", "french", 500, 540.1)
    return position(FOOT, line("1", "british", 600, 580, SOUTH, **ERROR), *friends)


def at_the_edge_of_a_lake(by_mm: float) -> Position:
    lakes = (strip("impassable", 400, 520.5, 680), strip("impassable", 679.5 + by_mm, 800, 680))
    return position(FOOT, gun("1", "british", 600, 640, SOUTH, **ERROR), terrain=lakes)


def flush_with_a_wall(by_mm: float) -> Position:
    """Within 4 BW of the wall, and of the enemy only as he stands flush with it."""
    wall = Terrain("wall", "wall", ((400, 655), (800, 655), (800, 665), (400, 665)))
    enemy = line("1", "british", 600, 686 + by_mm, SOUTH, **ERROR)
    return position(FOOT, enemy, terrain=[wall])


def strip(kind: str, left_mm: float, right_mm: float, high_mm: float) -> Terrain:
    corners = ((left_mm, 505), (right_mm, 505), (right_mm, high_mm), (left_mm, high_mm))
    return Terrain(f"{kind} {left_mm}", kind, corners)


@pytest.mark.parametrize(
    "laid",
    [
        at_its_reach,
        at_the_longest_wheel,
        at_a_friends_corner,
        at_the_edge_of_a_lake,
        flush_with_a_wall,
    ],
)
@settings(max_examples=4, deadline=None)
@given(by_mm=st.floats(-1.5, 1.5), seed=st.integers(0, 9))
def test_what_the_cameras_error_turns_is_never_a_flat_yes_or_no(laid, by_mm, seed):
    """Where the truths, drawn by chance, do not all agree, the measured ruling has said so."""
    seen = laid(by_mm)
    rng = np.random.default_rng(seed)
    truths = [charge(drawn_position(seen, rng)).targets for _ in range(12)]
    found = charge(seen)
    if len(set(truths)) > 1:
        (answer,) = found.answers
        assert 0.0 < answer.probability < 1.0
    elif found.answers:
        # Certainty is not claimed, but where it is near no truth speaks against it.
        (answer,) = found.answers
        assert answer.answer == "too_close" or (answer.answer == "yes") == bool(truths[0])


def test_what_is_clear_is_not_asked():
    for gap_mm in (100, 150, 172, 300):
        enemy = line("1", "british", 600, 520 + gap_mm, SOUTH, **ERROR)
        found = charge(position(FOOT, enemy))
        assert found.answers == ()
        assert all(lane.probability == 1.0 for lane in found.lanes)


@settings(max_examples=6, deadline=None)
@given(st.lists(st.floats(-3, 3), min_size=3, max_size=3), st.floats(0, 15))
def test_charges_asked_together_are_those_of_each_unit_alone(off_mm, askew_deg):
    """Two lines and a gun before a line and horse, near the ends of their reach."""
    units = (
        line("F1", "french", 500, 480, 90 + askew_deg, **ERROR),
        massed("F2", "french", 720, 360, sigma_mm=0.2, sigma_deg=0.1),
        line("1", "british", 500, 681 + off_mm[0], SOUTH, **ERROR),
        line("2", "british", 700, 721 + off_mm[1], SOUTH, **ERROR),
        gun("3", "british", 840 + off_mm[2], 660, SOUTH, sigma_mm=1.0, sigma_deg=0.5),
    )
    field = field_of(position(*units))
    for unit_id, together in charges(field).items():
        alone = charge_of(field, field.by_id[unit_id])
        assert (together, together.answers) == (alone, alone.answers)


def test_a_margin_below_the_players_tolerance_is_too_close():
    units = line("F1", "french", 600, 480), line("1", "british", 600, 679, SOUTH)
    found = charge(position(*units, tolerance_mm=2.0))
    (doubt,) = found.close_calls
    assert (doubt.answer, doubt.probability) == ("too_close", 1.0)
    assert doubt.margin_mm == pytest.approx(1.0, abs=0.01)
    assert found.targets == ("1",)
    assert charge(position(*units)).answers == ()


def test_the_document_carries_probabilities_and_doubts():
    field = field_of(position(*DOUBTFUL["the end of its reach"]))
    told = rulings_document(Rulings(field, "french"))["units"]["F1"]["charge"]
    (doubt,) = told["doubts"]
    assert (doubt["answer"], doubt["rule"]) == ("too_close", "M-8.3")
    assert doubt["margin_mm"] == pytest.approx(-0.4, abs=0.05)
    assert "F1" in doubt["because"]
    certain = field_of(position(*map(exact, (FOOT, gun("1", "british", 600, 600, SOUTH)))))
    told = rulings_document(Rulings(certain, "french"))["units"]["F1"]["charge"]
    assert "doubts" not in told
    assert [lane["probability"] for lane in told["lanes"]] == [1.0]


places = st.tuples(st.floats(480, 720), st.floats(560, 760), st.floats(180, 360))


@settings(max_examples=30, deadline=None)
@given(
    foe=places, battery=st.tuples(st.floats(480, 720), st.floats(560, 760)), deep=st.floats(5, 60)
)
def test_a_world_tilted_for_a_charge_allows_it_wherever_the_table_does(foe, battery, deep):
    wood = Terrain("wood", "woods", ((500, 540), (620, 540), (620, 540 + deep), (500, 540 + deep)))
    units = (
        line("F1", "french", 600, 480),
        line("1", "british", *foe),
        gun("2", "british", *battery, SOUTH),
    )
    shapes = [unit_footprint(unit) for unit in units]
    assume(all(a.distance(b) > 0.5 for a, b in combinations(shapes, 2)))
    field = field_of(position(*units, terrain=[wood]))
    unit, *enemies = field.units
    for enemy in enemies:
        may = [
            enemy.id in charge_of(tilted(field, unit, (enemy.id,), by_mm), unit).targets
            for by_mm in (-2.0, 0.0, 2.0)
        ]
        assert may == sorted(may)
        assert may[1] == (enemy.id in charge_of(field, unit).targets)


@pytest.mark.parametrize("gap_mm", [158.5, 159.5, 160.0, 160.5, 161.2])
@pytest.mark.parametrize("laid", [line, gun])
def test_m_8_3_no_charge_is_surer_than_that_its_target_is_near_enough(laid, gap_mm):
    """Two lines square at 160.0 mm were near with 0.50, and charged with 0.98, on one page."""
    enemy = laid("1", "british", 600, 520 + gap_mm, SOUTH, **ERROR)
    found = Rulings(field_of(position(FOOT, enemy)), "french").units["F1"]
    told = [lane.probability for lane in found.charge.lanes]
    told += [answer.probability for answer in found.charge.answers]
    assert told
    # A front is fitted to its bases, so that single draws may differ.
    assert max(told) <= found.near.answer.probability + 0.01
    if gap_mm == 160.0:
        assert found.near.answer.answer == "too_close"  # T-39
        assert max(told) == pytest.approx(found.near.answer.probability, abs=0.05)
