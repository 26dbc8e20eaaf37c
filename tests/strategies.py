"""Hypothesis strategies: bases, units and positions that can lie on a table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hypothesis import strategies as st

from tablecam.table.model import (
    BasePose,
    Commander,
    HexMap,
    Position,
    TableSize,
    Terrain,
    Unit,
)
from tablecam.testing import unit

headings_deg = st.floats(0.0, 360.0, exclude_max=True)
places_mm = st.floats(-2000.0, 2000.0)
sizes_mm = st.floats(10.0, 80.0)
formations = st.sampled_from(["line", "column", "massed", "artillery"])
names = st.from_regex(r"[A-Za-z][A-Za-z0-9 -]{0,8}[a-z0-9]", fullmatch=True)
scalars = st.one_of(st.booleans(), st.integers(-9, 99), st.floats(-9.0, 9.0), names)
keys = st.dictionaries(
    names.map("my {}".format),
    st.recursive(
        scalars,
        lambda values: st.lists(values, max_size=3) | st.dictionaries(names, values, max_size=3),
        max_leaves=4,
    ),
    max_size=3,
)
"""A game's own keys, unlike any common key."""
hex_maps = st.builds(
    HexMap,
    st.sampled_from(["flat", "pointy"]),
    st.floats(10.0, 40.0),
    st.tuples(places_mm, places_mm),
    st.integers(1, 40),
    st.integers(1, 40),
    st.sampled_from(["CCRR", "RRCC"]),
    st.sampled_from(["even", "odd"]),
    st.floats(-180.0, 180.0),
)


@st.composite
def bases(draw: st.DrawFn, *, near_mm: float = 400.0) -> BasePose:
    """A base of any size and heading, exact."""
    place = st.floats(-near_mm, near_mm)
    return BasePose(draw(place), draw(place), draw(headings_deg), draw(sizes_mm), draw(sizes_mm))


@st.composite
def bases_of_any_shape(draw: st.DrawFn, *, near_mm: float = 400.0) -> BasePose:
    """A base that is a rectangle, round or oval, exact."""
    base, shape = (
        draw(bases(near_mm=near_mm)),
        draw(st.sampled_from(["rectangle", "round", "oval"])),
    )
    depth_mm = base.width_mm if shape == "round" else base.depth_mm
    return replace(base, depth_mm=depth_mm, shape=shape)


@st.composite
def units(draw: st.DrawFn, *, unit_id: str = "F1", near_mm: float = 400.0) -> Unit:
    """A unit laid flush in some formation, exact."""
    place = st.floats(-near_mm, near_mm)
    return unit(
        unit_id,
        draw(formations),
        draw(place),
        draw(place),
        draw(headings_deg),
        size_mm=(draw(sizes_mm), draw(sizes_mm)),
    )


@st.composite
def positions(draw: st.DrawFn) -> Position:
    """A position with anything that a document can contain."""
    ids = draw(st.lists(names, min_size=4, max_size=8, unique=True))
    tags = st.integers(0, 249)
    used = iter(draw(st.lists(tags, min_size=40, max_size=40, unique=True)))
    placed = [_dressed(draw, name, used) for name in ids[1:]]
    marker = replace(draw(bases()), tag=next(used)) if draw(st.booleans()) else None
    place_mm = draw(places_mm), draw(places_mm)
    leader = Commander(
        ids[0], draw(names), *place_mm, pose=marker, state=draw(keys), extra=draw(keys)
    )
    outline_mm = ((400.0, 300.0), (520.0, 310.0), (500.0, 420.0))
    wood = Terrain("wood", draw(names), outline_mm, 25.0, draw(keys))
    table = TableSize(
        1800.0,
        1200.0,
        draw(st.sampled_from([None, 40.0])),
        draw(st.sampled_from([0.0, 1.5])),
        measure_in=draw(st.sampled_from([None, "in"])),
        hex_map=draw(st.none() | hex_maps),
    )
    calibration = draw(st.one_of(st.none(), names))
    return Position("maurice-lite", table, tuple(placed), (leader,), (wood,), calibration)


def _dressed(draw: st.DrawFn, name: str, tags: Iterator[int]) -> Unit:
    made = draw(units(unit_id=name))
    seen = st.sampled_from(["now", "held", "hand"])
    poses = tuple(
        replace(
            pose,
            tag=next(tags) if draw(st.booleans()) else None,
            sigma_mm=draw(st.floats(0.0, 2.0)),
            sigma_deg=draw(st.floats(0.0, 2.0)),
            seen=draw(seen),
            tag_right_mm=draw(st.floats(-10.0, 10.0)),
            tag_forward_mm=draw(st.floats(-10.0, 10.0)),
            depth_mm=pose.width_mm if shape == "round" else pose.depth_mm,
            shape=shape,
        )
        for pose in made.bases
        for shape in (draw(st.sampled_from(["rectangle", "round", "oval"])),)
    )
    formation = draw(st.one_of(st.none(), formations))
    return replace(made, bases=poses, formation=formation, state=draw(keys), extra=draw(keys))
