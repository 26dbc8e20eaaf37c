"""Ranges: who is near the enemy (M-1.9), forces (M-1.15), and the string to a force (M-4.11)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

import numpy as np
import shapely

from tablecam.geometry.rectangles import EXACT_MM, Array, rectangles
from tablecam.geometry.shapes import Shape, shapes_of
from tablecam.geometry.taut_path import TautPath, taut_paths
from tablecam.rules.maurice.field.field import (
    FAR_SIGMAS,
    DistanceMatrix,
    Field,
    UnitOnField,
    distance_matrix,
)
from tablecam.rules.maurice.field.tables import COMMANDER_BW, FORCE_BW, NEAR_BW, STRING_BW
from tablecam.rules.memo import Memo
from tablecam.table.model import BasePose, Commander, Point
from tablecam.uncertainty.answer import Answer, certain, decide, measured
from tablecam.uncertainty.clear_line import is_barred, shortest_clear_line
from tablecam.uncertainty.lengths import Length, distance
from tablecam.uncertainty.margins import SIGMAS, TURNING_PRECISION, turning_shift_mm
from tablecam.uncertainty.samples import draw_gaps_mm
from tablecam.uncertainty.within import within

NEAR_RULE = "M-1.9"


@dataclass(frozen=True, slots=True)
class NearEnemy:
    """Whether a unit is near the enemy, and the enemy that decides it.

    `nearest` is the nearest enemy that impassable ground does not bar, or simply the nearest if it
    bars all within reach; `distance_bw` is the distance to it. `is_near` is the answer as measured,
    without regard to errors; `turns_on_impassable` means that impassable ground bars
    the shortest line.
    """

    answer: Answer
    nearest: str | None
    distance_bw: float | None
    is_near: bool
    turns_on_impassable: bool = False


def near_enemy(field: Field, unit: UnitOnField) -> NearEnemy:
    """Returns whether a unit is near the enemy (M-1.9)."""
    enemies = field.enemies_of(unit)
    if not enemies:
        because = f"{unit.id} is not near the enemy: there is none on the table"
        evidence = shapes_of(shapely.centroid(unit.outline), "nobody")
        nobody = certain("no", NEAR_RULE, because, evidence, margin_mm=-NEAR_BW * field.bw_mm)
        return NearEnemy(nobody, None, None, is_near=False)
    apart = distance_matrix(field)
    far_mm = {enemy.id: apart.mm(unit.id, enemy.id) for enemy in enemies}
    nearest = min(enemies, key=lambda enemy: far_mm[enemy.id])
    length = _length(unit, nearest, apart)
    # Only the shortest line is barred; a longer one beside it may be clear (M-1.9).
    if _may_be_barred(field, length):
        near = _past_barriers(field, unit, enemies, far_mm)
    else:
        near = _near(field, unit, nearest, length, _drawn_mm(field, unit, enemies, far_mm, length))
    return _unless_an_edge_decides(field, unit, near, far_mm)


def _near(
    field: Field,
    unit: UnitOnField,
    enemy: UnitOnField,
    length: Length,
    drawn_mm: Array | None = None,
) -> NearEnemy:
    table = field.position.table
    answer = within(
        length, NEAR_BW, table, a=unit.id, b=enemy.id, rule=NEAR_RULE, drawn_mm=drawn_mm
    )
    is_near = answer.margin_mm >= -EXACT_MM
    return NearEnemy(answer, enemy.id, field.in_bw(length.value_mm), is_near)


def _length(unit: UnitOnField, enemy: UnitOnField, apart: DistanceMatrix) -> Length:
    """Returns the distance between two units, with value and sigma from `apart`."""
    ends = [shapely.multipolygons(list(owner.bases)) for owner in (unit, enemy)]
    (x_a, y_a), (x_b, y_b) = shapely.get_coordinates(shapely.shortest_line(*ends)).tolist()
    measured = apart.mm(unit.id, enemy.id), apart.sigma_mm(unit.id, enemy.id)
    return Length(*measured, (x_a, y_a), (x_b, y_b))


def _drawn_mm(
    field: Field,
    unit: UnitOnField,
    enemies: Sequence[UnitOnField],
    far_mm: Mapping[str, float],
    length: Length,
) -> Array | None:
    """Returns draws (DRAWS,) of the distance to the nearest enemy, whichever that truly is.

    None if errors cannot bring it to the limit.
    """
    doubt_mm = FAR_SIGMAS * length.sigma_mm
    if abs(NEAR_BW * field.bw_mm - length.value_mm) >= doubt_mm:
        return None
    nearby = [enemy for enemy in enemies if far_mm[enemy.id] <= length.value_mm + doubt_mm]
    drawn_mm = [draw_gaps_mm(unit.unit, enemy.unit) for enemy in nearby]
    return np.asarray(np.min(drawn_mm, axis=0))


def _may_be_barred(field: Field, length: Length) -> bool:
    impassable = field.ground.impassable
    if length.value_mm > NEAR_BW * field.bw_mm + FAR_SIGMAS * length.sigma_mm:
        # Too far off with or without it.
        return False
    return not shapely.is_empty(impassable) and is_barred(length, impassable)


def _past_barriers(
    field: Field, unit: UnitOnField, enemies: Sequence[UnitOnField], far_mm: Mapping[str, float]
) -> NearEnemy:
    """Answers `near_enemy` if impassable ground bars the shortest line to the nearest enemy."""
    limit_mm = NEAR_BW * field.bw_mm
    best = _clearest(unit, enemies, far_mm, field.ground.impassable)
    if best is None or best[1].value_mm > limit_mm + FAR_SIGMAS * best[1].sigma_mm:
        nearest = min(enemies, key=lambda enemy: far_mm[enemy.id])
        length = None if best is None else best[1]
        return _barred(field, unit, nearest, length)
    enemy, clear = best
    near = _near(field, unit, enemy, clear)
    passing = "by the shortest straight line past impassable ground"
    answer = replace(near.answer, because=f"{near.answer.because}, {passing}")
    distance_bw = field.in_bw(far_mm[enemy.id])
    return replace(near, answer=answer, distance_bw=distance_bw, turns_on_impassable=True)


def _clearest(
    unit: UnitOnField,
    enemies: Iterable[UnitOnField],
    far_mm: Mapping[str, float],
    impassable: shapely.Geometry,
) -> tuple[UnitOnField, Length] | None:
    """Returns the enemy with the shortest line past impassable ground, and that line."""
    best: tuple[UnitOnField, Length] | None = None
    # By plain distance, as no clear line is shorter than that.
    for enemy in sorted(enemies, key=lambda enemy: far_mm[enemy.id]):
        if best is not None and far_mm[enemy.id] >= best[1].value_mm:
            break
        clear = shortest_clear_line(unit.unit, enemy.unit, impassable)
        if clear is not None and (best is None or clear.value_mm < best[1].value_mm):
            best = enemy, clear
    return best


def _unless_an_edge_decides(
    field: Field, unit: UnitOnField, near: NearEnemy, far_mm: Mapping[str, float]
) -> NearEnemy:
    """Returns `near`, less certain if errors could open or bar a line past impassable ground."""
    impassable, limit_mm = field.ground.impassable, NEAR_BW * field.bw_mm
    tolerance_mm = field.position.table.tolerance_mm
    if shapely.is_empty(impassable):
        return near
    widest_mm = max(field.by_id[name].sigma_bound_mm for name in far_mm)
    bound_mm = max(SIGMAS * (unit.sigma_bound_mm + widest_mm), tolerance_mm)
    if not bound_mm or not shapely.dwithin(impassable, unit.outline, limit_mm + bound_mm):
        return near
    # No error brings any other within reach.
    nearby = [field.by_id[name] for name, mm in far_mm.items() if mm <= limit_mm + bound_mm]

    def is_near_after(by_mm: float) -> bool:
        # Errors of the poses are tried as changes of the ground and of the limit.
        ground = shapely.buffer(impassable, -by_mm, join_style="mitre") if by_mm else impassable
        best = _clearest(unit, nearby, far_mm, ground)
        return best is not None and best[1].value_mm <= limit_mm + by_mm

    margin_mm = turning_shift_mm(is_near_after, bound_mm)
    in_the_open_mm = limit_mm - min(far_mm.values())
    if margin_mm is None or abs(margin_mm - in_the_open_mm) <= TURNING_PRECISION * bound_mm:
        # No error changes it, or only the plain distance matters.
        return near
    sigma_mm = math.hypot(unit.sigma_bound_mm, max(enemy.sigma_bound_mm for enemy in nearby))
    because = f"{near.answer.because}; {abs(margin_mm):.1f} mm at its edge decide it"
    answer = measured(
        margin_mm, sigma_mm, NEAR_RULE, because, near.answer.evidence, tolerance_mm=tolerance_mm
    )
    return replace(near, answer=answer)


def _barred(
    field: Field, unit: UnitOnField, nearest: UnitOnField, clear: Length | None
) -> NearEnemy:
    """Answers that no clear line of 4 BW or less passes the impassable ground."""
    plain, limit_mm = distance(unit.unit, nearest.unit), NEAR_BW * field.bw_mm
    distance_bw = field.in_bw(plain.value_mm)
    # Without any clear line there is no length to compare; the margin is then the whole limit.
    margin_mm = -limit_mm if clear is None else limit_mm - clear.value_mm
    sigma_mm = plain.sigma_mm if clear is None else clear.sigma_mm
    because = (
        f"{unit.id} and {nearest.id} are {distance_bw:.2f} BW apart, but "
        f"impassable ground blocks every straight line of {NEAR_BW:g} BW or less between them"
    )
    evidence = (plain.evidence("barred"), *shapes_of(field.ground.impassable, "impassable"))
    tolerance_mm = field.position.table.tolerance_mm
    answer = measured(margin_mm, sigma_mm, NEAR_RULE, because, evidence, tolerance_mm=tolerance_mm)
    return NearEnemy(answer, nearest.id, distance_bw, is_near=False, turns_on_impassable=True)


FORCE_RULE = "M-1.15"


def forces(field: Field, side: str) -> tuple[tuple[str, ...], ...]:
    """Returns the maximal forces of a side: chains of linked units."""
    return _chains(field.of_side(side), partial(are_linked, field))


def possible_forces(field: Field, side: str) -> tuple[tuple[str, ...], ...]:
    """Returns the maximal forces of a side if every link that is too close to call holds.

    Players judge those links and may name any part of such a force (M-4.14): a measuring error must
    not separate units that were placed by hand at exactly 2 BW.
    """
    return _chains(field.of_side(side), partial(_may_be_linked, field))


def first_unlinked(field: Field, ids: Iterable[str]) -> str | None:
    """Returns the id of the first unit that no chain of links joins to the first one (M-4.14).

    None if all may be activated as one force. A link that is too close to call counts as a link,
    since players judge it.
    """
    units = [field.by_id[unit_id] for unit_id in dict.fromkeys(ids)]
    chains = _chains(units, partial(_may_be_linked, field))
    return next((unit.id for unit in units if unit.id not in chains[0]), None)


def linking_obstacle(a: UnitOnField, b: UnitOnField) -> str | None:
    """Returns why two units cannot be in one force at any distance; None if they can."""
    if a.side != b.side:
        return "they are on different sides"
    if a.unit.arm != b.unit.arm:
        return f"one is {a.unit.arm}, the other {b.unit.arm}"
    if a.formation != b.formation:
        return f"one is in {a.formation}, the other in {b.formation}"
    if a.formation == "broken-up":
        return "their formation is unclear"
    if a.is_in_difficult != b.is_in_difficult:
        return "one stands in difficult ground, the other in the open"
    return None


def are_linked(field: Field, a: UnitOnField, b: UnitOnField) -> bool:
    """Returns whether two units are directly linked, as measured."""
    far_mm = distance_matrix(field).mm(a.id, b.id)
    return far_mm <= FORCE_BW * field.bw_mm + EXACT_MM and linking_obstacle(a, b) is None


def link(field: Field, a: UnitOnField, b: UnitOnField) -> Answer:
    """Returns whether two units are linked: alike and at most 2 BW apart (M-1.15)."""
    length = distance(a.unit, b.unit)
    table = field.position.table
    answer = within(length, FORCE_BW, table, a=a.id, b=b.id, rule=FORCE_RULE)
    obstacle = linking_obstacle(a, b)
    if obstacle is None:
        return answer
    no = replace(answer, answer="no", margin_mm=0.0, sigma_mm=0.0, probability=0.0)
    # The distance does not matter.
    return replace(no, because=obstacle)


def close_call_links(field: Field, side: str) -> tuple[Answer, ...]:
    """Returns the answers of a side's links that are too close to call."""
    pairs = combinations(field.of_side(side), 2)
    answers = (link(field, a, b) for a, b in pairs if _is_in_doubt(field, a, b))
    return tuple(answer for answer in answers if answer.answer == "too_close")


def _may_be_linked(field: Field, a: UnitOnField, b: UnitOnField) -> bool:
    if _is_in_doubt(field, a, b):
        return link(field, a, b).answer != "no"
    return are_linked(field, a, b)


def _is_in_doubt(field: Field, a: UnitOnField, b: UnitOnField) -> bool:
    # Beyond two sigmas no answer is too close, which spares most pairs the full check.
    apart = distance_matrix(field)
    doubt_mm = field.position.table.tolerance_mm + 2 * apart.sigma_mm(a.id, b.id)
    margin_mm = FORCE_BW * field.bw_mm - apart.mm(a.id, b.id)
    return abs(margin_mm) <= doubt_mm and linking_obstacle(a, b) is None


def _chains(
    units: Sequence[UnitOnField], linked: Callable[[UnitOnField, UnitOnField], bool]
) -> tuple[tuple[str, ...], ...]:
    """Returns the chains that linked units form, each in the units' order."""
    unlinked = list(units)
    chains = []
    while unlinked:
        chain = [unlinked.pop(0)]
        # Grows as links are found.
        for member in chain:
            chain += [other for other in unlinked if linked(member, other)]
            unlinked = [other for other in unlinked if other not in chain]
        chains.append(tuple(unit.id for unit in units if unit in chain))
    return tuple(chains)


STRING_RULE = "M-4.12"


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
