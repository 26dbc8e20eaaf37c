"""Positions are checked before any ruling: impossible ones are refused in one line."""

from dataclasses import replace

import numpy as np
import pytest

from tablecam.errors import BadInput
from tablecam.rules.maurice.field.field import field_of
from tablecam.rules.maurice.field.tables import BASES
from tablecam.rules.miniatures.placement import units_fit_for_rulings
from tablecam.table.model import Commander, Position, Unit
from tests.rules.maurice.drawn import seen_position
from tests.rules.maurice.tables import TABLE, box, column, gun, line, massed, position

WOOD = box("woods", 380, 380, 520, 460, "wood")


def apart(unit, gap_mm):
    """A line with its last base at a gap from the others."""
    last = replace(unit.bases[-1], x_mm=unit.bases[-1].x_mm + gap_mm)
    return replace(unit, bases=(*unit.bases[:-1], last))


def test_units_have_their_formations_and_know_their_ground():
    field = field_of(position(line("F1", "french", 500, 400), terrain=[WOOD]))
    (unit,) = field.units
    assert unit.formation == "line"
    assert unit.is_in_difficult
    assert not unit.is_in_water
    assert field.warnings == ()


def test_a_bridge_takes_away_water_and_difficulty_beneath_it():  # M-5.6, G-10
    stream = box("stream", 0, 380, 1800, 460)
    bridge = box("bridge", 300, 300, 700, 500)
    wet = field_of(position(line("F1", "french", 500, 400), terrain=[stream]))
    dry = field_of(position(line("F1", "french", 500, 400), terrain=[stream, bridge]))
    assert (wet.units[0].is_in_difficult, wet.units[0].is_in_water) == (True, True)
    assert (dry.units[0].is_in_difficult, dry.units[0].is_in_water) == (False, False)


def test_what_only_touches_terrain_is_not_in_it():  # M-5.7, G-5
    for depth_mm, is_in in ((0.0, False), (0.4, False), (0.6, True)):
        edge_mm = 380 + depth_mm
        rough = box("rough", 0, 300, 1800, edge_mm)
        field = field_of(position(line("F1", "french", 500, 400), terrain=[rough]))
        assert field.units[0].is_in_difficult == is_in


GUN = gun("A1", "french", 500, 400)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (
            position(replace(line("F1", "french", 500, 400), bases=())),
            "unit F1: expected 4 bases of infantry, got 0",
        ),
        (position(GUN, gun("A2", "british", 510, 400)), "overlap by 30.0 mm"),
        (position(gun("A1", "french", 5, 400)), "base A1/1 is off the table of 1800 x 1200 mm"),
        (
            position(gun("A1", "french", 500, 400, sigma_mm=10.5)),
            "unit A1: base A1/1: sigma_mm: expected at most 10, got 10.5",
        ),
        (
            position(gun("A1", "french", 500, 400, sigma_deg=90)),
            "unit A1: base A1/1: sigma_deg: expected at most 10, got 90",
        ),
        (
            position(terrain=[replace(WOOD, kind="jungle")]),
            "terrain[1].kind: expected one of woods, rough",
        ),
        (Position("syw-d6", TABLE), "game: expected maurice-lite, got syw-d6"),
    ],
)
def test_what_cannot_lie_so_is_refused_in_one_line(wrong, said):
    with pytest.raises(BadInput) as refused:
        field_of(wrong, "position.json")
    assert said in str(refused.value)
    assert str(refused.value).startswith("position.json: ")
    assert "\n" not in str(refused.value)


def test_bases_that_overlap_by_as_much_as_hands_do_are_warned_of():
    field = field_of(position(gun("A1", "french", 500, 400), gun("A2", "british", 538, 400)))
    assert field.warnings == ("A1 and A2 overlap by 2.0 mm",)


def flush_lines(sigma_mm: float) -> Position:
    """A line of battle of four units in contact, as a camera may see it."""
    error = {"sigma_mm": sigma_mm, "sigma_deg": sigma_mm / 5}
    units = (line(f"F{place}", "french", 400 + 160 * place, 400, **error) for place in range(4))
    return position(*units)


def test_flush_bases_measured_into_each_other_are_refused_no_more_than_their_errors_say():  # M-1.6
    """At 1.5 mm four positions in five used to be refused."""
    luck = np.random.default_rng(1745)
    true = flush_lines(1.5)
    for _ in range(40):
        seen = seen_position(true, luck)
        units = zip(seen.units, true.units, strict=True)
        unsure = tuple(with_sigmas(unit, like) for unit, like in units)
        field_of(replace(seen, units=unsure))
        _, left_out = units_fit_for_rulings(replace(seen, units=unsure), BASES)
        assert not left_out


def with_sigmas(unit: Unit, like: Unit) -> Unit:
    bases = (
        replace(base, sigma_mm=known.sigma_mm, sigma_deg=known.sigma_deg)
        for base, known in zip(unit.bases, like.bases, strict=True)
    )
    return replace(unit, bases=tuple(bases), formation=None)


@pytest.mark.parametrize(("sigma_mm", "is_refused"), [(0.0, True), (0.2, True), (1.5, False)])
def test_an_overlap_of_five_mm_is_refused_where_no_error_explains_it(sigma_mm, is_refused):
    guns = (
        gun(f"A{place}", "french", 500 + 35 * place, 400, sigma_mm=sigma_mm) for place in (0, 1)
    )
    where = position(*guns)
    _, left_out = units_fit_for_rulings(where, BASES)
    assert bool(left_out) == is_refused
    if is_refused:
        with pytest.raises(BadInput, match=r"overlap by 5\.0 mm: expected at most [34]"):
            field_of(where)
    else:
        assert field_of(where).warnings == ("A0 and A1 overlap by 5.0 mm",)


@pytest.mark.parametrize(
    ("unit", "formation", "expected"),
    [
        (line("F1", "french", 500, 400), "square", "one of line, column, massed, broken-up"),
        (line("F1", "french", 500, 400), "artillery", "one of line, column, massed, broken-up"),
        (gun("F1", "french", 500, 400), "line", "artillery"),
    ],
)
def test_a_formation_that_no_unit_of_its_arm_lies_in_is_refused(unit, formation, expected):  # M-1.7
    with pytest.raises(BadInput) as refused:
        field_of(position(replace(unit, formation=formation)), "p.json")
    assert str(refused.value) == (
        f'p.json: unit F1: formation: expected {expected}, got "{formation}"'
    )


@pytest.mark.parametrize(
    ("unit", "formation", "because"),
    [
        (column("F1", "french", 500, 400), "line", "its 4 bases are one behind the other"),
        (line("F1", "french", 500, 400), "column", "its 4 bases are side by side"),
        (line("F1", "french", 500, 400), "broken-up", "its 4 bases are side by side"),
        (
            apart(line("F1", "french", 500, 400), 100),
            "line",
            "F1's bases 3 and 4 from the left are 100 mm apart",
        ),
        (apart(line("F1", "french", 500, 400), 9), "line", None),
        (line("F1", "french", 500, 400), "line", None),
        (line("F1", "french", 500, 400), None, None),
    ],
)
def test_a_unit_that_does_not_lie_as_it_is_said_to_is_warned_of(unit, formation, because):  # M-1.7
    """A borderline formation, which would flicker from frame to frame, causes no warning."""
    warnings = field_of(position(replace(unit, formation=formation))).warnings
    said = f"unit F1 is declared to be in formation {formation}, but {because}"
    assert warnings == ((said,) if because else ())


@pytest.mark.parametrize(
    ("y_mm", "over"), [(20.0, None), (19.6, None), (15.0, "5.0"), (1184.0, "4.0"), (10.1, "9.9")]
)
def test_bases_that_hang_over_the_tables_edge_are_warned_of(y_mm, over):  # M-6.32
    said = f"F1 extends {over} mm over the table's edge"
    warnings = field_of(position(gun("F1", "french", 500, y_mm))).warnings
    assert warnings == ((said,) if over else ())


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (
            {"disruption": "two"},
            'state.disruption: expected a whole number of at least 0, got "two"',
        ),
        ({"disruption": True}, "state.disruption: expected a whole number of at least 0, got true"),
        ({"disruption": -1}, "state.disruption: expected a whole number of at least 0, got -1"),
        ({"disruption": 1.5}, "state.disruption: expected a whole number of at least 0, got 1.5"),
        ({"smoke": 1}, "state.smoke: expected true or false, got 1"),
    ],
)
def test_a_state_that_a_unit_cannot_have_is_refused_in_one_line(state, said):
    with pytest.raises(BadInput) as refused:
        field_of(position(gun("A1", "french", 500, 400, **state)), "position.json")
    assert str(refused.value) == f"position.json: unit A1: {said}"


@pytest.mark.parametrize(("disruption", "is_broken"), [(1, False), (2, True)])
def test_a_broken_unit_that_still_stands_is_warned_of(disruption, is_broken):  # M-1.14
    field = field_of(position(gun("A1", "french", 500, 400, disruption=disruption)))
    said = "unit A1 has disruption 2 with 1 base: it is broken and leaves the table"
    assert field.warnings == ((said,) if is_broken else ())


@pytest.mark.parametrize(
    ("place_mm", "off"),
    [((500.0, 0.0), None), ((500.0, -30.0), "30.0"), ((1900.0, 1210.0), "100.0")],
)
def test_a_commander_beside_the_table_is_warned_of(place_mm, off):  # M-4.12
    leader = Commander("cinc", "french", *place_mm)
    warnings = field_of(position(gun("A1", "french", 500, 400), commanders=[leader])).warnings
    assert warnings == ((f"commander Cinc is {off} mm off the table",) if off else ())


def test_a_unit_that_lies_as_before_is_remembered_until_its_ground_changes():
    wood = box("woods", 480, 380, 560, 420, "wood")
    first, second = gun("A1", "french", 500, 400), line("F1", "french", 900, 400)
    before = field_of(position(first, second, terrain=[wood]))
    after = field_of(position(replace(first, state={"disruption": 1}), second, terrain=[wood]))
    assert after.by_id["F1"] is before.by_id["F1"]
    assert after.by_id["A1"].disruption == 1
    assert [field.units[0].is_in_difficult for field in (after, field_of(position(first)))] == [
        True,
        False,
    ]


def test_a_state_that_only_equals_a_remembered_one_is_checked():
    unit = gun("A1", "french", 500, 400)
    field_of(position(replace(unit, state={"disruption": 1})))
    with pytest.raises(BadInput, match=r"state\.disruption: expected a whole number"):
        field_of(position(replace(unit, state={"disruption": True})))


def test_foot_that_lies_massed_is_warned_of_and_horse_is_not():  # M-1.7
    foot, horse = massed("F1", "french", 600, 400, arm="infantry"), massed("F2", "french", 900, 400)
    enemy = line("B1", "british", 600, 900, 270.0)
    assert field_of(position(foot, horse, enemy)).warnings == (
        "unit F1 is massed, which infantry may not be",
    )
