"""Ranges: who is near the enemy (M-1.9), forces (M-1.15), and the string to a force (M-4.11)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

import numpy as np
import shapely

from tablecam.geometry.rectangles import EXACT_MM, Array, rectangles
from tablecam.geometry.shapes import Shape, shapes_of
from tablecam.geometry.taut_path import TautPath, taut_paths
from tablecam.rules.maurice.field.field import FAR_SIGMAS, Field, UnitOnField, distance_matrix
from tablecam.rules.maurice.field.tables import COMMANDER_BW, FORCE_BW, NEAR_BW, STRING_BW
from tablecam.rules.memo import Memo
from tablecam.table.model import BasePose, Commander, Point
from tablecam.uncertainty.answer import Answer, certain, decide, measured
from tablecam.uncertainty.clear_line import is_barred, shortest_clear_line
from tablecam.uncertainty.lengths import Length, distance
from tablecam.uncertainty.margins import TURNING_PRECISION, turning_shift_mm
from tablecam.uncertainty.samples import draw_gaps_mm
from tablecam.uncertainty.within import within

NEAR_RULE = "M-1.9"


@dataclass(frozen=True, slots=True)
class NearEnemy:
    """Whether a unit is near the enemy, and the enemy that decides it.

    `nearest` is the nearest enemy not barred by impassable ground, or simply the nearest if all
    within reach are barred; `distance_bw` is the distance to it. `is_near` is the answer as
    measured, ignoring errors; `turns_on_impassable` means that impassable ground bars the shortest
    line.
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
    return _Nearness(
        field, unit, {enemy.id: apart.mm(unit.id, enemy.id) for enemy in enemies}
    ).nearest()


@dataclass(frozen=True, eq=False)
class _Nearness:
    """A unit and its distance to each enemy, whatever lies between."""

    field: Field
    unit: UnitOnField
    far_mm: Mapping[str, float]

    @property
    def limit_mm(self) -> float:
        return NEAR_BW * self.field.bw_mm

    def nearest(self) -> NearEnemy:
        nearest = self.field.by_id[min(self.far_mm, key=self.far_mm.__getitem__)]
        length, impassable = self._length(nearest), self.field.ground.impassable
        # Beyond this it is not near, whatever the ground.
        may_be_near = length.value_mm <= self.limit_mm + FAR_SIGMAS * length.sigma_mm
        # Only the shortest line is barred; a longer one beside it may be clear (M-1.9).
        if may_be_near and not shapely.is_empty(impassable) and is_barred(length, impassable):
            near = self._past_barriers(nearest)
        else:
            near = self._near(nearest, length, self._drawn_mm(length))
        return self._unless_an_edge_decides(near)

    def _near(self, enemy: UnitOnField, length: Length, drawn_mm: Array | None = None) -> NearEnemy:
        table, a, b = self.field.position.table, self.unit.id, enemy.id
        answer = within(length, NEAR_BW, table, a=a, b=b, rule=NEAR_RULE, drawn_mm=drawn_mm)
        is_near = answer.margin_mm >= -EXACT_MM
        return NearEnemy(answer, enemy.id, self.field.in_bw(length.value_mm), is_near)

    def _length(self, enemy: UnitOnField) -> Length:
        """Returns the distance to an enemy, with the field's value and sigma."""
        apart, pair = distance_matrix(self.field), (self.unit.id, enemy.id)
        ends = [shapely.multipolygons(list(owner.bases)) for owner in (self.unit, enemy)]
        (x_a, y_a), (x_b, y_b) = shapely.get_coordinates(shapely.shortest_line(*ends)).tolist()
        return Length(apart.mm(*pair), apart.sigma_mm(*pair), (x_a, y_a), (x_b, y_b))

    def _drawn_mm(self, length: Length) -> Array | None:
        """Returns draws (DRAWS,) of the distance to the nearest enemy, whichever that is in each.

        None if errors cannot bring it to the limit.
        """
        doubt_mm = FAR_SIGMAS * length.sigma_mm
        if abs(self.limit_mm - length.value_mm) >= doubt_mm:
            return None
        nearby = (name for name, mm in self.far_mm.items() if mm <= length.value_mm + doubt_mm)
        drawn_mm = [draw_gaps_mm(self.unit.unit, self.field.by_id[name].unit) for name in nearby]
        return np.asarray(np.min(drawn_mm, axis=0))

    def _past_barriers(self, nearest: UnitOnField) -> NearEnemy:
        """Answers if impassable ground bars the shortest line to the nearest enemy."""
        best = self._clearest(self.far_mm, self.field.ground.impassable)
        if best is None or best[1].value_mm > self.limit_mm + FAR_SIGMAS * best[1].sigma_mm:
            return self._barred(nearest, None if best is None else best[1])
        enemy, clear = best
        near = self._near(enemy, clear)
        passing = "by the shortest straight line past impassable ground"
        answer = replace(near.answer, because=f"{near.answer.because}, {passing}")
        distance_bw = self.field.in_bw(self.far_mm[enemy.id])
        return replace(near, answer=answer, distance_bw=distance_bw, turns_on_impassable=True)

    def _clearest(
        self, names: Iterable[str], impassable: shapely.Geometry
    ) -> tuple[UnitOnField, Length] | None:
        """Returns the enemy with the shortest line past impassable ground, and that line."""
        best: tuple[UnitOnField, Length] | None = None
        # In order of plain distance: no clear line is shorter.
        for name in sorted(names, key=self.far_mm.__getitem__):
            if best is not None and self.far_mm[name] >= best[1].value_mm:
                break
            enemy = self.field.by_id[name]
            clear = shortest_clear_line(self.unit.unit, enemy.unit, impassable)
            if clear is not None and (best is None or clear.value_mm < best[1].value_mm):
                best = enemy, clear
        return best

    def _unless_an_edge_decides(self, near: NearEnemy) -> NearEnemy:
        """Returns `near`, less certain if errors could open or bar a line past the ground."""
        impassable, outline = self.field.ground.impassable, self.unit.outline
        tolerance_mm, own_mm = self.field.tolerance_mm, self.unit.sigma_bound_mm
        if shapely.is_empty(impassable):
            return near
        sigmas_mm = {name: self.field.by_id[name].sigma_bound_mm for name in self.far_mm}
        bound_mm = self.field.bound_mm(own_mm + max(sigmas_mm.values()))
        if not bound_mm or not shapely.dwithin(impassable, outline, self.limit_mm + bound_mm):
            return near
        # No error brings any other within reach.
        nearby = [name for name, mm in self.far_mm.items() if mm <= self.limit_mm + bound_mm]

        def is_near_after(by_mm: float) -> bool:
            # Pose errors act like changes of the ground and of the limit.
            ground = shapely.buffer(impassable, -by_mm, join_style="mitre") if by_mm else impassable
            best = self._clearest(nearby, ground)
            return best is not None and best[1].value_mm <= self.limit_mm + by_mm

        margin_mm = turning_shift_mm(is_near_after, bound_mm)
        in_the_open_mm = self.limit_mm - min(self.far_mm.values())
        if margin_mm is None or abs(margin_mm - in_the_open_mm) <= TURNING_PRECISION * bound_mm:
            # No error changes the answer, or only the plain distance matters.
            return near
        sigma_mm = math.hypot(own_mm, max(sigmas_mm[name] for name in nearby))
        because = f"{near.answer.because}; {abs(margin_mm):.1f} mm at its edge decide it"
        shown = near.answer.evidence
        answer = measured(margin_mm, sigma_mm, NEAR_RULE, because, shown, tolerance_mm=tolerance_mm)
        return replace(near, answer=answer)

    def _barred(self, nearest: UnitOnField, clear: Length | None) -> NearEnemy:
        """Answers that no clear line of 4 BW or less passes the impassable ground."""
        field, plain = self.field, distance(self.unit.unit, nearest.unit)
        distance_bw = field.in_bw(plain.value_mm)
        # Without any clear line there is no length to compare; the margin is then the whole limit.
        margin_mm = -self.limit_mm if clear is None else self.limit_mm - clear.value_mm
        sigma_mm = plain.sigma_mm if clear is None else clear.sigma_mm
        because = (
            f"{self.unit.id} and {nearest.id} are {distance_bw:.2f} BW apart, but "
            f"impassable ground blocks every straight line of {NEAR_BW:g} BW or less between them"
        )
        shown = (plain.evidence("barred"), *shapes_of(field.ground.impassable, "impassable"))
        tolerance_mm = field.tolerance_mm
        answer = measured(margin_mm, sigma_mm, NEAR_RULE, because, shown, tolerance_mm=tolerance_mm)
        return NearEnemy(answer, nearest.id, distance_bw, is_near=False, turns_on_impassable=True)


FORCE_RULE = "M-1.15"


def forces(field: Field, side: str) -> tuple[tuple[str, ...], ...]:
    """Returns the maximal forces of a side: chains of linked units."""
    return _chains(field.of_side(side), partial(are_linked, field))


def possible_forces(field: Field, units: Sequence[UnitOnField]) -> tuple[tuple[str, ...], ...]:
    """Returns the units' maximal forces if every link that is too close to call holds.

    Players judge those links and may name any part of such a force (M-4.14): a measuring error must
    not separate units that were placed by hand at exactly 2 BW.
    """
    return _chains(units, partial(_may_be_linked, field))


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
    answer = within(length, FORCE_BW, field.position.table, a=a.id, b=b.id, rule=FORCE_RULE)
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
    # Beyond two sigmas no answer is too close to call: most pairs skip the full check.
    apart = distance_matrix(field)
    doubt_mm = field.tolerance_mm + 2 * apart.sigma_mm(a.id, b.id)
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
        # The chain grows as links are found.
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

    They are cached while the commander, the force and all enemies stay in place.
    """
    goals = [[field.by_id[unit_id] for unit_id in force] for force in forces]
    enemies = [unit for unit in field.units if unit.side != commander.side]
    setting = (field.position.table, commander, *(enemy.place for enemy in enemies))
    keys = [(setting, *(unit.place for unit in units)) for units in goals]
    strings = _REMEMBERED.answers(
        keys, lambda new: [*_strings(field, commander, [goals[index] for index in new], enemies)]
    )
    return tuple(strings)


def _strings(
    field: Field,
    commander: Commander,
    goals: Sequence[Sequence[UnitOnField]],
    enemies: Sequence[UnitOnField],
) -> Iterator[CommandString | None]:
    table = field.position.table
    strings = taut_paths(
        commander.place_mm,
        [[goal.outline for goal in units] for units in goals],
        around=[enemy.outline for enemy in enemies],
        keep_mm=STRING_BW * field.bw_mm,
        # The string starts at the marker's edge: the marker has no footprint (M-4.12).
        start_radius_mm=COMMANDER_BW * field.bw_mm / 2,
        bounds=(0.0, 0.0, table.width_mm, table.depth_mm),
    )
    for string, units in zip(strings, goals, strict=True):
        if string is None:
            yield None
            continue
        unit, length_bw = units[string.goal], field.in_bw(string.length_mm)
        path = Shape("line", string.points_mm, "string", f"{length_bw:.2f} BW")
        course = "around the enemy" if string.corners_mm else "straight"
        because = f"the distance from {commander.name} to {unit.id} is {length_bw:.2f} BW, {course}"
        sigma_mm = _sigma_mm(string, commander, unit, enemies)
        yield CommandString(string.length_mm, sigma_mm, length_bw, unit.id, path, because)


def reaches(field: Field, string: CommandString, cards_bw: Sequence[float]) -> Answer:
    """Returns whether cards of these spans, at least one, activate the force (M-4.11, M-4.13)."""
    total_bw = sum(cards_bw)
    margin_mm = total_bw * field.bw_mm - string.length_mm
    if not cards_bw:
        because = "no card is played, but at least one is needed even at distance 0"
        return Answer("no", margin_mm, string.sigma_mm, 0.0, "M-4.13", because, (string.path,))
    answer, chance = decide(margin_mm, string.sigma_mm, tolerance_mm=field.tolerance_mm)
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


def _sigma_mm(
    string: TautPath, commander: Commander, goal: UnitOnField, enemies: Sequence[UnitOnField]
) -> float:
    """Returns the sigma of a taut string's length, from the errors of the bases that it touches."""
    # The string bends round these bases or ends at them.
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
