"""Findings on where counters lie on a hex map, which the books of both hex games report."""

from __future__ import annotations

from tablecam.rules.hexes.counters import Place, place_of
from tablecam.rules.hexes.drawings import hexes_shapes
from tablecam.rules.hexes.grid import grid_of
from tablecam.rules.reports import Finding, Question
from tablecam.table.model import Position, Unit
from tablecam.uncertainty.answer import Answer, certain


def place_finding(
    position: Position, unit: Unit, rule: str, *, has_facing: bool
) -> tuple[Place, Finding]:
    """Returns the place of a unit's counter on its map, and in which hexes it lies or may lie."""
    assert position.table.hex_map is not None
    grid = grid_of(position.table.hex_map)
    tolerance_mm = position.table.tolerance_mm
    place = place_of(grid, unit.bases[0], has_facing=has_facing, tolerance_mm=tolerance_mm)
    asked = Question(f"place/{unit.id}", f"Does {unit.id} lie in {' '.join(place.hexes)}?")
    if place.answer == "off_map":
        text = f"{unit.id} is off the map"
        return place, Finding(text, certain("no", rule, text), question=asked)
    text = f"{unit.id} lies in {' and '.join(place.hexes)}, {place.margin_mm:.1f} mm from its side"
    shapes = hexes_shapes(grid, (*place.hexes, *place.other_hexes), "hex")
    answer = Answer(
        place.answer, place.margin_mm, place.sigma_mm, place.probability, rule, text, shapes
    )
    return place, Finding(text, answer, question=asked)
