from dataclasses import replace

import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from tablecam.errors import BadInput
from tablecam.geometry.outlines import bases_footprint
from tablecam.live.questions import resolve
from tablecam.table.model import Commander, Unit, base_widths
from tablecam.testing import base, position, unit
from tablecam.uncertainty.illustration import illustration, ring

TABLE = position(
    unit("F1", "line", 900, 400, 90, first_tag=10),
    unit("F2", "massed", 500, 400, 90),
    Unit("F3", "french", "infantry", ()),
    commanders=[Commander("french-cinc", "french", 300, 200, sigma_mm=0.4)],
)
UNIT = base_widths(TABLE.table)


def test_a_unit_is_named_by_its_id() -> None:
    thing = resolve(TABLE, "unit:F1")
    assert thing.what is TABLE.units[0]
    assert (thing.kind, thing.name, thing.unit) == ("unit", "F1", TABLE.units[0])


def test_a_base_is_named_by_its_tag_or_by_its_place_in_its_unit() -> None:
    assert resolve(TABLE, "base:12").what is TABLE.units[0].bases[2]
    assert resolve(TABLE, "base:F1/3").what is TABLE.units[0].bases[2]
    thing = resolve(TABLE, "base:F2/1")
    assert thing.what is TABLE.units[1].bases[0]
    assert (thing.name, thing.unit) == ("F2's front left base", TABLE.units[1])


def test_a_commander_and_a_point_are_named() -> None:
    assert resolve(TABLE, "commander:french-cinc").sigma_mm == 0.4
    assert resolve(TABLE, "point:512.3,-4e1").what == (512.3, -40.0)


@pytest.mark.parametrize(
    ("reference", "line"),
    [
        ("unit:F1x", '"unit:F1x": there is no such unit on the table; did you mean F1?'),
        ("unit:F3", '"unit:F3": there is no such unit on the table; there are F1, F2'),
        ("unit:xyz", '"unit:xyz": there is no such unit on the table; there are F1, F2'),
        ("base:F1/9", '"base:F1/9": there is no such base on the table; did you mean F1/'),
        ("commander:x", '"commander:x": there is no such commander on the table; there are french'),
        ("point:1", '"point:1": expected point:X,Y with two numbers of millimetres'),
        ("point:1,2,3", '"point:1,2,3": expected point:X,Y'),
        ("point:nan,2", '"point:nan,2": expected point:X,Y'),
        ("F1", '"F1": expected unit:ID, base:TAG, base:ID/PLACE, commander:ID or point:X,Y'),
        ("unit:", '"unit:": expected unit:ID'),
        ("", '"": expected unit:ID'),
    ],
)
def test_what_is_not_there_is_refused_with_the_nearest_that_is(reference, line) -> None:
    with pytest.raises(BadInput) as caught:
        resolve(TABLE, reference)
    assert str(caught.value).startswith(line)


def test_a_unit_is_explained_by_rings_front_line_and_flank_lines() -> None:
    shapes = illustration(TABLE, resolve(TABLE, "unit:F1").what)
    roles = [shape.role for shape in shapes]
    assert roles == ["ring"] * 4 + ["front-line", "flank-line", "flank-line", "front-edge"]
    assert [shape.label for shape in shapes[:4]] == ["1 BW", "2 BW", "4 BW", "8 BW"]
    lines = [shape for shape in shapes if shape.role == "front-line"]
    assert lines[0].points_mm == ((0.0, 420.0), (1800.0, 420.0))


def test_a_point_and_a_commander_have_rings_alone() -> None:
    for reference in ("point:10,10", "commander:french-cinc"):
        shapes = illustration(TABLE, resolve(TABLE, reference).what, ranges=(4, 12))
        assert [shape.label for shape in shapes] == ["4 BW", "12 BW"]


def test_an_unknown_unit_is_refused() -> None:
    with pytest.raises(BadInput, match="no such unit"):
        resolve(TABLE, "unit:F9")


@given(st.sampled_from([*UNIT.ranges, 24.0]), st.floats(0, 360), st.floats(0.1, 0.9))
def test_a_ring_is_nowhere_more_than_a_twentieth_of_a_millimetre_off(radius, heading, at) -> None:
    laid = unit("F1", "line", 900, 600, heading)
    (shape,) = ring(laid, radius, UNIT)
    outline = shapely.Polygon(shape.points_mm).exterior
    edge = outline.interpolate(at, normalized=True)
    radius_mm = radius * UNIT.size_mm
    assert bases_footprint(laid).distance(edge) == pytest.approx(radius_mm, abs=0.05)


def test_the_rings_of_a_scattered_unit_come_in_parts() -> None:
    scattered = replace(unit("F1"), bases=(base(0, 0), base(500, 0)))
    assert len(ring(scattered, 1.0, UNIT)) == 2
    assert len(ring(scattered, 8.0, UNIT)) == 1
