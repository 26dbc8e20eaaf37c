"""Counters as they lie on a hex map: their hexes, facings and printed faces.

A place is in doubt near a hexside, a facing between two corners; neither is guessed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, Literal

from tablecam.rules.hexes.grid import Grid, Hex, grid_of
from tablecam.rules.hexes.zones import Hexes, right_hex
from tablecam.rules.reports import Finding, Question
from tablecam.table.headings import forward
from tablecam.table.model import BasePose, Keys, Position, Unit
from tablecam.uncertainty.answer import Answer, certain, decide
from tablecam.wording import counted

CLEAR_DEG: Final = 20.0
"""A counter turned this far from a corner still clearly faces it."""
HALF_STEP_DEG: Final = 30.0
SIGMAS: Final = 1.645
"""The quantile of a normal error that is exceeded with probability 0.05."""
SMALL_MM: Final = 15.0
"""The side of a counter of unknown size, and half the front of one on two hexes."""

FacingWord = Literal["clear", "unclear", "none"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a counter lies: its hexes, the left one first, or none off the map.

    `answer` says whether its hexes are sure: the nearest hexside is `margin_mm` away, with a
    standard deviation of `sigma_mm`, and they are right with `probability`. `facing_deg` is the
    nearest corner, and unclear between two corners. `others` are the next likely hexes and facings.
    """

    hexes: Hexes
    answer: Literal["yes", "too_close", "off_map"]
    margin_mm: float
    sigma_mm: float
    probability: float
    facing_deg: int
    facing: FacingWord
    other_hexes: Hexes = ()
    other_facing_deg: int | None = None
    warning: str = ""


def place_of(
    grid: Grid, base: BasePose, *, has_facing: bool = True, tolerance_mm: float = 0.0
) -> Place:
    """Returns the place of a counter; one wider than a hex is deep lies on two hexes."""
    facing_deg, off_deg = grid.facing_near(base.heading_deg)
    sure_deg = HALF_STEP_DEG - abs(off_deg) - SIGMAS * base.sigma_deg
    unclear = has_facing and (abs(off_deg) > CLEAR_DEG or (base.sigma_deg > 0 and sure_deg < 0))
    word: FacingWord = "none" if not has_facing else "unclear" if unclear else "clear"
    turn_deg = 60 if off_deg > 0 else -60
    other_facing = (facing_deg + turn_deg) % 360 if unclear else None
    points = [base.place_mm]
    if is_wide(base):
        ahead_x, ahead_y = forward(facing_deg + grid.map.rotation_deg + 90)
        half_mm = grid.size_mm / 2
        points = [
            (base.x_mm + sign * half_mm * ahead_x, base.y_mm + sign * half_mm * ahead_y)
            for sign in (1, -1)
        ]
    spots = [grid.cube_at(point) for point in points]
    numbers = [grid.number(cube) for cube, _ in spots]
    margin_mm = min(margin for _, margin in spots)
    hexes = tuple(number for number in numbers if number is not None)
    if len(hexes) < len(numbers):
        return Place((), "off_map", margin_mm, base.sigma_mm, 1.0, facing_deg, word, (), None)
    if len(hexes) > 1 and right_hex(grid, hexes[0], facing_deg) != hexes[1]:
        why = "expected a line on two hexes that touch along its front"
        return Place(
            hexes, "too_close", 0.0, base.sigma_mm, 0.5, facing_deg, "unclear", (), None, why
        )
    answer, chance = decide(margin_mm, base.sigma_mm, tolerance_mm=tolerance_mm)
    is_close = answer != "yes"
    warning = "its centre lies on a hexside" if margin_mm == 0.0 else ""
    others = _others(grid, hexes, points) if is_close else ()
    return Place(
        hexes, "too_close" if is_close else "yes", margin_mm, base.sigma_mm, chance,
        facing_deg, word, others, other_facing, warning,
    )  # fmt: skip


def place_finding(
    position: Position, unit: Unit, rule: str, *, has_facing: bool
) -> tuple[Place, Finding]:
    """Returns the place of a unit's counter, and a line on the hexes where it may lie."""
    assert position.table.hex_map is not None
    grid = grid_of(position.table.hex_map)
    tolerance_mm = position.table.tolerance_mm
    place = place_of(grid, unit.bases[0], has_facing=has_facing, tolerance_mm=tolerance_mm)
    asked = Question(f"place/{unit.id}", f"Does {unit.id} lie in {' '.join(place.hexes)}?")
    if place.answer == "off_map":
        text = f"{unit.id} is off the map"
        return place, Finding(text, certain("no", rule, text), question=asked)
    text = f"{unit.id} lies in {' and '.join(place.hexes)}, {place.margin_mm:.1f} mm from its side"
    shapes = grid.outlines((*place.hexes, *place.other_hexes), "hex")
    answer = Answer(
        place.answer, place.margin_mm, place.sigma_mm, place.probability, rule, text, shapes
    )
    return place, Finding(text, answer, question=asked)


def range_findings(position: Position, rule: str, one: Unit, other: Unit) -> Iterator[Finding]:
    """Yields the line with the distance in hexes between two counters on the map."""
    assert position.table.hex_map is not None
    grid = grid_of(position.table.hex_map)
    hexes = [place_of(grid, unit.bases[0]).hexes if unit.bases else () for unit in (one, other)]
    if all(hexes):
        apart = counted(grid.distance(*hexes), "hex")
        yield Finding(f"{one.id} and {other.id} are {apart} apart", rule=rule)


def _others(grid: Grid, hexes: Hexes, points: list[tuple[float, float]]) -> Hexes:
    """Returns the hexes beyond the nearest hexside; for a wide counter, both shifted alike."""
    x_mm, y_mm = points[0]

    def far(number: Hex) -> float:
        to_x, to_y = grid.centre_mm(grid.cube(number))
        return (to_x - x_mm) ** 2 + (to_y - y_mm) ** 2

    beside = min((n for n in grid.neighbours(hexes[0]) if n not in hexes), key=far, default=None)
    if beside is None:
        return ()
    direction = grid.direction_deg(hexes[0], beside)
    moved = [None if direction is None else grid.neighbour(n, direction) for n in hexes]
    return tuple(number for number in moved if number is not None)


def is_wide(base: BasePose) -> bool:
    """Whether a counter lies on two hexes side by side: it is much wider than deep."""
    return base.width_mm > 1.5 * base.depth_mm


def laid(
    grid: Grid, hexes: Hexes, facing_deg: int, *, like: BasePose | None = None, tag: int | None
) -> BasePose:
    """Returns a counter in the middle of its hexes, with the size of a measured one, `like`."""
    x_mm, y_mm = grid.middle_mm(hexes)
    heading_deg = facing_deg + grid.map.rotation_deg
    if like is not None and is_wide(like) == (len(hexes) > 1):
        return replace(
            like, x_mm=x_mm, y_mm=y_mm, heading_deg=heading_deg, tag=tag, sigma_mm=0.0,
            sigma_deg=0.0, common=(), row=None, seen="now",
        )  # fmt: skip
    return BasePose(x_mm, y_mm, heading_deg, SMALL_MM * len(hexes), SMALL_MM, tag)


_USUAL_FACE: Final[Keys] = {"side": "front", "formation": "", "hexes": 1, "reduced": False}
"""Defaults of the keys of a printed face that a table file omits."""


def faces_of(unit: Unit) -> tuple[Keys, ...]:
    """Returns the keys of the printed faces of a unit's counters, from the table file."""
    return tuple({**_USUAL_FACE, **face} for face in unit.extra.get("faces", ()))


def face_of(unit: Unit, keys: Keys) -> Keys | None:
    """Returns a unit's last face with the given keys; None if there is none."""
    faces = (face for face in reversed(faces_of(unit)) if keys.items() <= face.items())
    return next(faces, None)


def seen_faces(unit: Unit) -> tuple[Keys, ...]:
    """Returns the faces that lie face up."""
    tags = {base.tag for base in unit.bases if base.seen == "now"}
    return tuple(face for face in faces_of(unit) if face["tag"] in tags)
