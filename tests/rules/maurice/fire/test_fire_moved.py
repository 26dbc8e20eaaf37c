"""Fire does not depend on a battle's place on the table, or its direction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tablecam.errors import BadInput
from tablecam.rules.maurice.field.field import field_of
from tablecam.rules.maurice.fire.fire import fire_of
from tablecam.rules.maurice.fire.targets import BaseFire
from tablecam.rules.maurice.fire.zone import (
    Scene,
    ZoneContents,
    zone_contents_at,
    zone_contents_turned,
)
from tablecam.table.model import Position
from tests.rules.maurice.moved import Motion, motions
from tests.rules.maurice.tables import box, column, gun, line, massed, position

# Places off any common grid, so that nothing lies exactly on a limit except by rounding.
aside_mm = st.integers(-180, 180).map(lambda step: 600.0 + step * 1.0371)
ahead_mm = st.integers(55, 240).map(lambda step: 400.0 + step * 1.0271)
headings_deg = st.integers(0, 359).map(lambda step: step + 0.137)
shapes = st.sampled_from([line, column, massed, gun])


@st.composite
def battles(draw: st.DrawFn) -> Position:
    """A line or gun that may shoot, two or three units ahead of it, and a wall or woods."""
    shooter = draw(st.sampled_from([line, gun]))("F1", "french", 600, 400 - 20.3)
    sides = draw(st.lists(st.sampled_from(["french", "british"]), min_size=1, max_size=2))
    others = [
        draw(shapes)(f"U{place}", side, draw(aside_mm), draw(ahead_mm), draw(headings_deg))
        for place, side in enumerate(["british", *sides])
    ]
    left, low = draw(aside_mm), draw(ahead_mm)
    wide, deep = draw(st.sampled_from([(23.3, 19.7), (181.3, 5.3)]))
    kind = draw(st.sampled_from(["woods", "wall", "crest"]))
    return position(shooter, *others, terrain=[box(kind, left, low, left + wide, low + deep)])


def fire(of: Position) -> Mapping[str, BaseFire]:
    try:
        field = field_of(of)
    except BadInput:  # Units lie over each other.
        assume(False)
    return fire_of(field, field.units[0])


def told(each: BaseFire, swap: Mapping[str, str]) -> tuple[object, ...]:
    """Everything that options say about targets; `swap` exchanges left and right."""
    return (
        each.blocked,
        [
            (o.target, o.range, swap.get(o.angle, o.angle), o.to_hit, o.has_cover, o.is_enfilade)
            for o in each.options
        ],
    )


@settings(max_examples=60, deadline=None)
@given(battles(), motions)
def test_turned_and_moved_nothing_changes_and_mirrored_only_left_and_right_are_swapped(
    battle, motion: Motion
):
    units = map(motion.unit, battle.units)
    after = fire(position(*units, terrain=[motion.terrain(piece) for piece in battle.terrain]))
    swap = {"left": "right", "right": "left"} if motion.is_mirrored else {}
    assert {name: told(each, swap) for name, each in fire(battle).items()} == {
        name: told(each, {}) for name, each in after.items()
    }


@settings(max_examples=40, deadline=None)
@given(battles())
def test_every_option_holds_at_its_angle_and_every_shooter_has_options_or_a_reason(battle):
    for each in fire(battle).values():
        assert (each.blocked is None) == bool(each.options)
        assert len({option.target for option in each.options}) == len(each.options)
        assert len({option.range for option in each.options}) <= 1
        for option in each.options:
            assert abs(option.turned_deg) <= 45
            assert (option.range == "short") == (option.distance_mm <= 160 + 1e-6)
            assert 2 <= option.to_hit <= 6


@settings(max_examples=40, deadline=None)
@given(battles())
def test_a_friend_less_never_loses_a_target(battle):
    """Every target can still be hit once friends and terrain are removed."""
    friends = [unit for unit in battle.units[1:] if unit.side == "french"]
    bare = replace(battle, units=tuple(u for u in battle.units if u not in friends), terrain=())
    with_all, without = fire(battle), fire(bare)
    for name, each in with_all.items():
        kinds = {(o.range, o.angle == "ahead") for o in (*each.options, *without[name].options)}
        if each.options and len(kinds) == 1:  # Else what is nearer, or ahead, has become a must.
            assert {o.target for o in each.options} <= {o.target for o in without[name].options}


def hit_by(met: ZoneContents) -> set[str]:
    return {met.others[place].unit.id for place in np.flatnonzero(met.can_hit.any(axis=0))}


@settings(max_examples=20, deadline=None)
@given(battles())
def test_m_7_12_no_angle_tried_ten_times_as_finely_hits_anybody_else(battle):
    fire(battle)  # Impossible battles are skipped.
    field = field_of(battle)
    unit = field.units[0]
    bases = Scene.measured(field).shooters([(unit, place) for place in range(len(unit.bases))])
    short_mm = [bases[0].short_mm] * len(bases)
    finely = zone_contents_at(bases, [np.linspace(-45, 45, 3601)] * len(bases), short_mm)
    for fine, tried in zip(finely, zone_contents_turned(bases, short_mm), strict=True):
        assert hit_by(fine) <= hit_by(tried)
