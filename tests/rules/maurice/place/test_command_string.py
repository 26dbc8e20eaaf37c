import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablecam.live.questions import measure
from tablecam.rules.maurice.field.field import Field, field_of
from tablecam.rules.maurice.place.ranges import (
    CommandString,
    command_string,
    command_strings,
    least_cards,
    reaches,
)
from tablecam.rules.maurice.rulings.facts import Rulings
from tablecam.rules.maurice.rulings.rulings import rulings_document
from tablecam.table.model import Commander, Terrain, Unit
from tests.rules.maurice.sheets.sheets_asked import lines_of, unit_sheet
from tests.rules.maurice.tables import BW, box, column, gun, line, position

CINC = Commander("cinc", "french", 900.0, 100.0)
STRAIGHT = line("F1", "french", 900, 600)


def found(field: Field, *ids: str) -> CommandString:
    return_value = command_string(field, field.position.commanders[0], ids)
    assert return_value is not None
    return return_value


def table(*units: Unit, cinc: Commander = CINC, terrain: tuple[Terrain, ...] = ()) -> Field:
    return field_of(position(*units, commanders=[cinc], terrain=terrain))


def test_m_4_12_the_string_runs_from_the_markers_edge_to_the_nearest_point() -> None:
    straight = found(table(STRAIGHT), "F1")
    assert straight.length_mm == 600 - 20 - 100 - 20
    assert straight.length_bw == 11.5
    assert straight.path.points_mm == ((900.0, 120.0), (900.0, 580.0))


def test_t_5_a_string_goes_round_an_enemy_line_at_1_bw() -> None:
    round_it = found(table(STRAIGHT, line("B1", "british", 900, 350)), "F1")
    assert round_it.length_mm > 460 + 30
    for point in round_it.path.points_mm:
        # Nowhere within 1 BW of the 160 x 40 mm line at (900, 350); 0.03 mm for the chords.
        aside = max(abs(point[0] - 900) - 80, 0.0)
        along = max(abs(point[1] - 350) - 20, 0.0)
        assert math.hypot(aside, along) > BW - 0.03


@pytest.mark.parametrize(
    ("other", "terrain"),
    [
        (line("B1", "british", 900 + 80 + BW, 350), ()),
        (line("F2", "french", 900, 400), ()),
        (STRAIGHT, (box("impassable", 800, 200, 1000, 300),)),
    ],
    ids=["T-5 an enemy 1 BW aside", "a friend", "impassable ground"],
)
def test_m_4_12_what_is_no_obstacle_leaves_the_string_straight(other, terrain) -> None:
    others = () if other is STRAIGHT else (other,)
    assert found(table(STRAIGHT, *others, terrain=terrain), "F1").length_bw == 11.5


def test_m_4_12_a_force_behind_a_wall_of_enemies_to_both_table_edges_is_closed_off() -> None:
    wall = [line(f"B{i}", "british", 80 + 180 * i, 350) for i in range(10)]
    field = table(STRAIGHT, *wall)
    assert command_string(field, CINC, ["F1"]) is None


def test_m_4_12_a_unit_faced_by_an_enemy_is_reached_from_behind() -> None:
    facing = line("B1", "british", 900, 660, 270)
    from_behind = found(table(STRAIGHT, facing), "F1")
    # Its enemy is 20 mm ahead of its front, so only ground 20 mm or more behind it is free.
    assert from_behind.length_bw == 11.5
    ahead = Commander("cinc", "french", 900.0, 1100.0)
    way_round = found(table(STRAIGHT, facing, cinc=ahead), "F1")
    assert way_round.length_mm > 1100 - 620 - 20
    assert way_round.path.points_mm[-1][1] <= 600 + 1e-6


def test_m_4_12_a_commander_in_a_ring_leaves_it_by_the_shortest_way() -> None:
    close = line("B1", "british", 900, 155)  # 15 mm off his marker's edge
    away = found(table(line("F1", "french", 900, 20 + 20, 90), close, cinc=CINC), "F1")
    assert away.length_mm == pytest.approx(20.0)


def test_m_4_11_the_closest_unit_of_the_force_counts() -> None:
    field = table(STRAIGHT, line("F2", "french", 1100, 600), line("F3", "french", 1300, 600))
    force = found(field, "F3", "F2", "F1")
    assert force.unit == "F1"
    assert force.length_mm == found(field, "F1").length_mm


@pytest.mark.parametrize(
    ("at_bw", "cards_bw", "answer", "rule"),
    [
        (17.0, (12, 6), "yes", "M-4.11"),
        (17.0, (12,), "no", "M-4.11"),
        (11.0, (11,), "yes", "M-4.11"),
        (11.0, (8,), "no", "M-4.11"),
        (0.0, (4,), "yes", "M-4.11"),
        (0.0, (), "no", "M-4.13"),  # the first card has a rule of its own
    ],
)
def test_t_3_spans_of_cards_are_added_and_equal_is_enough(at_bw, cards_bw, answer, rule) -> None:
    field = table(line("F1", "french", 900, 100 + 20 + at_bw * BW + 20))
    string = found(field, "F1")
    assert string.length_bw == pytest.approx(at_bw)
    said = reaches(field, string, cards_bw)
    assert (said.answer, said.rule) == (answer, rule)


def test_t_4_part_of_a_force_has_its_own_span() -> None:
    rank = [line(name, "french", x, 280) for name, x in (("A", 700), ("B", 900), ("C", 1100))]
    field = table(*rank)
    string = found(field, "B", "C")
    assert string.length_bw == pytest.approx(3.5)
    assert reaches(field, string, (4,)).answer == "yes"


def test_m_4_12_the_strings_to_all_forces_are_those_to_each() -> None:
    rank = [line(name, "french", x, 600) for name, x in (("A", 500), ("B", 900), ("C", 1300))]
    hidden = line("B1", "british", 900, 350), gun("B2", "british", 1250, 480)
    walled_in = [line(f"W{i}", "british", 1700, y, 0) for i, y in enumerate((900, 1100))]
    walled_in.append(gun("W2", "british", 1775, 850))
    field = table(*rank, column("D", "french", 1775, 1000), *hidden, *walled_in)
    forces = [("A",), ("B",), ("C",), ("C", "A"), ("D",)]
    together = command_strings(field, CINC, forces)
    assert together == tuple(command_string(field, CINC, force) for force in forces)
    assert together[4] is None
    assert command_strings(field, CINC, []) == ()


def test_a_span_measured_to_a_hair_of_its_limit_is_too_close_to_call() -> None:
    cinc = Commander("cinc", "french", 900.0, 100.0, sigma_mm=0.3)
    field = table(line("F1", "french", 900, 580, sigma_mm=0.4), cinc=cinc)
    string = found(field, "F1")
    # Four bases in a row halve the error of one.
    assert string.sigma_mm == pytest.approx(math.hypot(0.3, 0.4 / 2), abs=0.01)
    assert reaches(field, string, (11,)).answer == "too_close"
    assert reaches(field, string, (12,)).answer == "yes"


def test_the_sigma_of_a_string_round_an_enemy_is_that_of_many_measurements() -> None:
    rng = np.random.default_rng(4)
    lengths = []
    for _ in range(120):
        dx, dy, ex, ey = rng.normal(0, (0.4, 0.4, 0.2, 0.2))
        enemy = gun("B1", "british", 930 + dx, 350 + dy, 20)
        lengths.append(found(table(column("F1", "french", 900 + ex, 680 + ey), enemy), "F1"))
    measured = [
        column("F1", "french", 900, 680, sigma_mm=0.4),
        gun("B1", "british", 930, 350, 20, sigma_mm=0.4),
    ]
    spread = float(np.std([each.length_mm for each in lengths]))
    # 120 samples give a standard deviation to 6.5 %; the tolerance is three times that.
    assert found(table(*measured), "F1").sigma_mm == pytest.approx(spread, rel=0.2)


@settings(deadline=None, max_examples=25)
@given(st.floats(100, 1700), st.floats(250, 900), st.floats(0, 360))
def test_a_string_is_never_shorter_than_the_straight_distance(
    x_mm: float, y_mm: float, heading_deg: float
) -> None:
    enemy = gun("B1", "british", x_mm, y_mm, heading_deg)
    far = line("F1", "french", 900, 1100)
    string = found(table(far, enemy), "F1")
    assert string.length_mm >= 960 - 1e-9
    mirrored = gun("B1", "british", 1800 - x_mm, y_mm, 180 - heading_deg)
    assert found(table(far, mirrored), "F1").length_mm == pytest.approx(string.length_mm, abs=1e-5)


def knife_edge(beyond_mm: float, sigma_mm: float) -> Field:
    """A unit whose string is slightly longer than 4 BW."""
    unit = line("F1", "french", 900, 120 + 160 + 20 + beyond_mm, sigma_mm=sigma_mm)
    return table(unit, cinc=replace(CINC, sigma_mm=sigma_mm))


def test_m_4_11_a_string_a_hair_over_four_bw_is_too_close_and_the_movers() -> None:
    """1.4 micrometres with a sigma of 0.02 mm once counted as certain: cards of 5 BW."""
    field = knife_edge(0.0014, 0.019)
    cards_bw, answer = least_cards(field, found(field, "F1"))
    assert (cards_bw, answer.answer, answer.rule) == (4, "too_close", "M-4.11")
    assert answer.margin_mm == pytest.approx(-0.0014, abs=1e-6)
    assert 0.4 < answer.probability < 0.5
    document = rulings_document(Rulings(field, "french"))
    (string,) = document["spans"]
    assert (string["cards_bw"], string["answer"]) == (4, "too_close")
    assert "M-4.11" in {doubt["rule"] for doubt in document["doubts"]}
    (said,) = lines_of(unit_sheet(field.position, "F1"), "span")
    assert said.answer is not None
    assert said.answer.answer == "too_close"
    assert "cards of 4 BW are too close to call, so the mover decides" in said.text


@pytest.mark.parametrize(
    ("beyond_mm", "sigma_mm", "cards_bw", "word"),
    [(0.0, 0.0, 4, "yes"), (0.0014, 0.0, 5, "yes"), (0.2, 0.02, 5, "yes"), (-0.2, 0.02, 4, "yes")],
)
def test_m_4_11_what_is_not_too_close_is_as_it_was(beyond_mm, sigma_mm, cards_bw, word) -> None:
    field = knife_edge(beyond_mm, sigma_mm)
    least_bw, answer = least_cards(field, found(field, "F1"))
    assert (least_bw, answer.answer) == (cards_bw, word)


def test_m_4_12_measure_takes_the_string_and_says_from_where_to_where() -> None:
    measured = measure(knife_edge(0.0, 0.0).position, "unit:F1", "commander:cinc", [4])
    assert (measured["distance_bw"], measured["rule"]) == (4.0, "M-4.12")
    assert measured["from_mm"] == [900.0, 120.0]
    assert measured["within"][0]["answer"] == "yes"
    assert "from the edge of the marker to the nearest point it reaches" in measured["because"]
    field = table(STRAIGHT, line("B1", "british", 900, 350))
    bent = measure(field.position, "commander:cinc", "unit:F1")
    assert bent["distance_mm"] == pytest.approx(found(field, "F1").length_mm, abs=1e-4)
    assert len(bent["path"]["points_mm"]) > 2


@pytest.mark.parametrize(
    ("a", "b", "ends"),
    [
        ("unit:F1", "unit:B1", "apart, edge to edge at their nearest points"),
        ("commander:cinc", "unit:B1", "from the middle of cinc to the nearest edge of B1"),
        ("base:F1/1", "point:0,0", "from the nearest edge of F1's left base to the point 0, 0"),
    ],
)
def test_g_2_where_no_rule_speaks_of_a_pair_the_ends_are_named(a, b, ends) -> None:
    field = table(STRAIGHT, line("B1", "british", 900, 900))
    measured = measure(field.position, a, b)
    assert ends in measured["because"]
    assert "rule" not in measured
