from dataclasses import replace

import shapely

from tablecam.rules.maurice.field.field import Field, field_of
from tablecam.rules.maurice.movement.judge import reach
from tablecam.rules.maurice.rulings.facts import Rulings
from tablecam.rules.maurice.rulings.rulings import document_under_rule, rulings_document
from tablecam.table.model import Terrain, Unit
from tests.rules.maurice.tables import BW, box, column, gun, line, position


def reach_of(unit: Unit, *others: Unit, terrain: tuple[Terrain, ...] = ()) -> shapely.Geometry:
    field: Field = field_of(position(unit, *others, terrain=terrain))
    return reach(field, field.by_id[unit.id])


def test_m_6_2_a_line_of_foot_reaches_4_ahead_and_2_back() -> None:
    area = reach_of(line("F1", "french", 900, 600))
    assert abs(area.bounds[3] - (620 + 4 * BW)) < 0.1
    assert abs(area.bounds[1] - (580 - 2 * BW)) < 0.1


def test_m_6_6_a_reach_ends_before_enemies() -> None:
    enemy = line("B1", "british", 900, 720, 270)
    area = reach_of(line("F1", "french", 900, 600), enemy)
    assert area.intersection(shapely.box(820, 701, 980, 740)).area < 1.0


def test_m_6_32_a_reach_ends_at_the_tables_edge() -> None:
    area = reach_of(line("F1", "french", 900, 1150))
    assert area.bounds[3] < 1200.6


def test_m_6_11_a_column_keeps_farther_from_enemies_the_farther_it_goes() -> None:
    enemy = line("B1", "british", 900, 900, 270)
    area = reach_of(column("F1", "french", 900, 400), enemy)
    # Its front is at 480 and the near zone begins at 720, 6 BW on: only moves up to 4 may enter.
    assert not area.covers(shapely.Point(900, 760))
    assert area.covers(shapely.Point(900, 690))
    assert area.covers(shapely.Point(500, 460))


def test_m_6_19_a_gun_goes_6_in_the_open_and_2_in_woods() -> None:
    wood = box("woods", 700, 640, 1100, 900, "wood")
    area = reach_of(gun("F1", "french", 900, 600), terrain=(wood,))
    assert area.covers(shapely.Point(900, 600 - 235))
    assert area.covers(shapely.Point(900, 690))
    assert not area.covers(shapely.Point(900, 760))


def test_m_4_23_a_gun_with_smoke_reaches_nothing_but_its_place() -> None:
    area = reach_of(gun("F1", "french", 900, 600, smoke=True))
    assert area.area == 1600.0


def test_a_document_of_a_few_units_carries_their_reach_and_one_of_all_does_not() -> None:
    field = field_of(position(line("F1", "french", 900, 600), line("F2", "french", 300, 600)))
    found = Rulings(field, "french")
    document = rulings_document(Rulings(field, "french", about=("F1",)))
    (outline,) = document["units"]["F1"]["reach"]
    assert abs(shapely.Polygon(outline).area - reach(field, field.by_id["F1"]).area) < 1.0
    assert "reach" in document_under_rule("M-6.2", document)["units"]["F1"]
    assert "reach" not in document_under_rule("M-8.3", document)["units"]["F1"]
    assert "reach" not in rulings_document(found)["units"]["F1"]


def test_bases_that_stand_a_little_unevenly_reach_as_far_as_a_straight_line() -> None:
    """It is swept as one outline; with larger gaps, base by base."""
    straight = line("F1", "french", 900, 600)
    for aside_mm, apart_mm in ((0.4, 1.0), (3.0, 6.0)):
        bases = list(straight.bases)
        bases[2] = replace(bases[2], y_mm=bases[2].y_mm - aside_mm)
        uneven = reach_of(replace(straight, bases=tuple(bases)))
        assert shapely.hausdorff_distance(uneven, reach_of(straight)) < apart_mm
