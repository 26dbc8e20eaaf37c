"""A base within its sigma of its last place still lies there."""

from dataclasses import replace

import pytest

from tablecam.simulate.demo import embedded_demo
from tablecam.table.motion import steadied

SIGMA_MM, SIGMA_DEG = 0.2, 0.3


def measured(position, shift_mm=0.0):
    units = tuple(
        replace(
            unit,
            bases=tuple(
                replace(base, x_mm=base.x_mm + shift_mm, sigma_mm=SIGMA_MM, sigma_deg=SIGMA_DEG)
                for base in unit.bases
            ),
        )
        for unit in position.units
    )
    return replace(position, units=units)


@pytest.fixture(scope="module")
def position():
    return embedded_demo().truth()


def test_noise_below_sigma_leaves_everything_where_it_was_ruled_on(position):
    first = measured(position)
    assert steadied(measured(position, shift_mm=0.9 * SIGMA_MM), first) == first


def test_a_push_beyond_sigma_is_seen(position):
    first, pushed = measured(position), measured(position, shift_mm=1.1 * SIGMA_MM)
    assert steadied(pushed, first) == pushed


def test_slow_drift_is_not_lost_in_steps_below_sigma(position):
    ruled = measured(position)
    for step in range(1, 11):
        seen = measured(position, shift_mm=0.3 * SIGMA_MM * step)
        ruled = steadied(seen, ruled)
        off_mm = [
            abs(new.x_mm - old.x_mm)
            for a, b in zip(seen.units, ruled.units, strict=True)
            for new, old in zip(a.bases, b.bases, strict=True)
        ]
        assert max(off_mm) <= SIGMA_MM


def test_a_base_that_is_hidden_now_says_so_though_it_lies_still(position):
    first = measured(position)
    unit = first.units[0]
    hidden = replace(unit, bases=tuple(replace(base, seen="held") for base in unit.bases))
    after = steadied(replace(first, units=(hidden, *first.units[1:])), first)
    assert {base.seen for base in after.units[0].bases} == {"held"}
