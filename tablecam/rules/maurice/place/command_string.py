"""Measures the string from a commander to a force, and which cards reach it (M-4.11)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import shapely

from tablecam.geometry.rectangles import EXACT_MM, rectangles
from tablecam.geometry.shapes import Shape
from tablecam.geometry.taut_path import TautPath, taut_paths
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.tables import COMMANDER_BW, STRING_BW
from tablecam.rules.memo import Memo
from tablecam.table.model import BasePose, Commander, Point
from tablecam.uncertainty.answer import Answer, decide

RULE = "M-4.12"


@dataclass(frozen=True, slots=True)
class CommandString:
    """The string from a commander to the nearest unit of a force (M-4.11, M-4.12).

    `unit` is that unit's id; `path` draws the string from the edge of the commander's marker.
    """

    length_mm: float
    sigma_mm: float
    length_bw: float
    unit: str
    path: Shape
    because: str


def command_string(field: Field, commander: Commander, ids: Iterable[str]) -> CommandString | None:
    """Returns the shortest string from a commander to any of the units; None if none is reachable.

    The string keeps 1 BW from enemies and stays on the table; friends and terrain do not bar it.
    """
    return command_strings(field, commander, [tuple(ids)])[0]


_REMEMBERED: Memo[CommandString | None] = Memo()


def command_strings(
    field: Field, commander: Commander, forces: Sequence[Sequence[str]]
) -> tuple[CommandString | None, ...]:
    """Returns the shortest string, as in `command_string`, from a commander to each force.

    They are remembered while the commander, the force and all enemies lie still.
    """
    goals = [[field.by_id[unit_id] for unit_id in force] for force in forces]
    enemies = [unit for unit in field.units if unit.side != commander.side]
    setting = (field.position.table, commander, *(enemy.place for enemy in enemies))
    keys = [(setting, *(unit.place for unit in units)) for units in goals]
    strings = _REMEMBERED.answers(
        keys, lambda new: _strings(field, commander, [goals[index] for index in new], enemies)
    )
    return tuple(strings)


def _strings(
    field: Field,
    commander: Commander,
    goals: Sequence[Sequence[UnitOnField]],
    enemies: Sequence[UnitOnField],
) -> list[CommandString | None]:
    """Lays the strings from a commander to several forces."""
    table = field.position.table
    strings = taut_paths(
        commander.place_mm,
        [[goal.outline for goal in units] for units in goals],
        around=[enemy.outline for enemy in enemies],
        keep_mm=STRING_BW * field.bw_mm,
        # From the marker's edge, as it has no footprint (M-4.12).
        start_radius_mm=COMMANDER_BW * field.bw_mm / 2,
        bounds=(0.0, 0.0, table.width_mm, table.depth_mm),
    )
    return [
        None if string is None else _span(field, commander, units[string.goal], string, enemies)
        for string, units in zip(strings, goals, strict=True)
    ]


def _span(
    field: Field,
    commander: Commander,
    unit: UnitOnField,
    string: TautPath,
    enemies: Sequence[UnitOnField],
) -> CommandString:
    length_bw = field.in_bw(string.length_mm)
    path = Shape("line", string.points_mm, "string", f"{length_bw:.2f} BW")
    course = "around the enemy" if string.corners_mm else "straight"
    because = f"the distance from {commander.name} to {unit.id} is {length_bw:.2f} BW, {course}"
    sigma_mm = _sigma(string, commander, unit, enemies)
    return CommandString(string.length_mm, sigma_mm, length_bw, unit.id, path, because)


def reaches(field: Field, string: CommandString, cards_bw: Sequence[float]) -> Answer:
    """Returns whether cards of these spans, at least one, activate the force (M-4.11, M-4.13)."""
    total_bw = sum(cards_bw)
    margin_mm = total_bw * field.bw_mm - string.length_mm
    if not cards_bw:
        because = "no card is played, but at least one is needed even at distance 0"
        return Answer("no", margin_mm, string.sigma_mm, 0.0, "M-4.13", because, (string.path,))
    tolerance_mm = field.position.table.tolerance_mm
    answer, chance = decide(margin_mm, string.sigma_mm, tolerance_mm=tolerance_mm)
    doubt = "too close to call, so the mover decides"
    verdict = {"yes": "enough", "no": "not enough", "too_close": doubt}[answer]
    because = f"{string.because}: cards of {total_bw:g} BW are {verdict}"
    return Answer(answer, margin_mm, string.sigma_mm, chance, "M-4.11", because, (string.path,))


def least_cards(field: Field, string: CommandString) -> tuple[int, Answer]:
    """Returns the least whole span, in BW, that activates the force, with its answer.

    A close call goes to the mover (G-7); even at distance 0 a card is needed (M-4.13).
    """
    # Rounding must not demand another BW.
    least_bw = max(1, math.ceil((string.length_mm - EXACT_MM) / field.bw_mm))
    # While one BW less is at least too close to call, the mover has the benefit (G-7).
    while least_bw > 1 and reaches(field, string, (least_bw - 1,)).answer != "no":
        least_bw -= 1
    return least_bw, reaches(field, string, (least_bw,))


def _sigma(
    string: TautPath, commander: Commander, goal: UnitOnField, enemies: Sequence[UnitOnField]
) -> float:
    """Propagates the pose errors of the bases that a taut string touches to its length (mm)."""
    # The errors of these bases reach the string: it bends round them, or ends at them.
    touched = [*_nearest(enemies, string.corners_mm), *_nearest([goal], string.points_mm[-1:])]
    places = [*string.corners_mm, string.points_mm[-1]]
    pulls_at = [*string.corner_pulls, string.end_pull]
    pulls: dict[BasePose | Commander, tuple[float, float, float]] = {}
    # The length's gradient at each base is the pull of the string there: a force and a torque.
    for base, at, (pull_x, pull_y) in zip(touched, places, pulls_at, strict=True):
        x, y, turn = pulls.get(base, (0.0, 0.0, 0.0))
        lever = (at[0] - base.x_mm) * pull_y - (at[1] - base.y_mm) * pull_x
        pulls[base] = (x + pull_x, y + pull_y, turn + lever)
    pulls[commander] = (*string.start_pull, 0.0)
    return rectangles([*pulls]).sigma_mm(np.array([*pulls.values()]))


def _nearest(units: Sequence[UnitOnField], places: Sequence[Point]) -> list[BasePose]:
    """Returns for each place the nearest base of the given units."""
    if not places:
        return []
    bases = [base for unit in units for base in unit.unit.bases]
    outlines = np.array([base for unit in units for base in unit.bases], dtype=object)
    apart_mm = shapely.distance(shapely.points(places)[:, None], outlines)
    return [bases[index] for index in np.argmin(apart_mm, axis=1).tolist()]
