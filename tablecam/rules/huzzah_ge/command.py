"""Armies and officers: superiority, effectiveness, orders, and how far they lead (H-5 to H-13)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import shapely

from tablecam.geometry.moves.lanes import lane
from tablecam.geometry.outlines import rim
from tablecam.rules.game import Ban
from tablecam.rules.huzzah_ge.fire import Bases, ban_on_firing, centre_mm, outline_of
from tablecam.rules.huzzah_ge.morale import NOBODY, Officer, Outcome, waver_factor
from tablecam.rules.huzzah_ge.rolls import Factor, factor_of, is_huzzah, succeeds
from tablecam.rules.huzzah_ge.tables import COMMAND, Command, Order
from tablecam.rules.huzzah_ge.troops import Troops, heading_of
from tablecam.rules.miniatures.battle import first_ban
from tablecam.rules.miniatures.faces import FaceName, closest_visible, faces_of
from tablecam.rules.miniatures.unit_keys import Count
from tablecam.rules.questions import Facts
from tablecam.table.headings import difference_deg, forward, right
from tablecam.table.model import Point

DRIFT_CM = 5.0
"""H-12.3: how far a unit may drift sideways at the end of an advance."""
ALIKE_DEG = 5.0
"""H-14.9: how far headings of units that pass lines may differ."""
_CM_MM, _SLIVER_MM2, _HAND_MM, _HAND_DEG, _TOUCH_MM = 10.0, 1.0, 0.5, 1.0, 2.0


@dataclass(frozen=True, kw_only=True)
class Situation(Facts):
    """What the ordered units are in, which a command factor counts (H-11.4)."""

    order: Order
    earlier_orders: Count = 0
    all_in_radius: bool = False
    out_of_range: bool = False
    fired: Count = 0
    disordered: Count = 0
    in_dense_terrain: Count = 0
    formed_enemy_within_one_move: bool = False
    hesitant_within_one_move: bool = False
    renowned_ahead_within_one_move: bool = False
    infantry_on_cavalry_within_one_move: bool = False


def order_factor(quality: Command, officer: Officer, situation: Situation) -> Factor:
    """Returns the command factor of an order by its terms (H-11.1, H-11.4)."""
    advances = situation.order == "advance"
    return factor_of(
        {
            "command_factor": COMMAND[quality][0],
            "earlier_orders": -situation.earlier_orders,
            "fired": -(situation.fired > 0),
            "disordered": -(situation.disordered > 0),
            "in_dense_terrain": -(situation.in_dense_terrain > 0),
            "formed_enemy": -situation.formed_enemy_within_one_move,
            "hesitant": -situation.hesitant_within_one_move,
            "renowned": -(situation.renowned_ahead_within_one_move and advances),
            "infantry_on_cavalry": -2
            * (situation.infantry_on_cavalry_within_one_move and advances),
            "all_in_radius": int(situation.all_in_radius),
            "out_of_range": int(situation.out_of_range),
            "attached": int(officer.attached),
            "inspirational": int(officer.inspirational and advances),
        }
    )


@dataclass(frozen=True, slots=True)
class OrderResult:
    """What comes of an order for its officer and for the phase (H-11.5 to H-11.8)."""

    is_success: bool
    is_officer_done: bool
    is_second_order_free: bool
    phase_ends: bool


def order_result(factor: int, dice: Sequence[int], *, is_cinc: bool) -> OrderResult:
    """Returns what comes of a roll for an order."""
    is_success = succeeds(factor, dice)
    return OrderResult(is_success, not is_success, is_huzzah(dice), is_cinc and not is_success)


@dataclass(frozen=True, slots=True)
class Army:
    """A side's factors, its bases in the skirmish line, and its last tests (H-5, H-6)."""

    skirmish_factor: int | None = None
    artillery_factor: int | None = None
    skirmish_bases: int = 0
    last_superiority: Literal["won", "passed", "failed"] | None = None
    last_effect: Literal["won", "passed", "failed"] | None = None


def skirmish_factor(own: Army, enemy: Army, *, is_foul_weather: bool) -> int:
    """Returns a side's modified skirmish factor (H-5.2, H-5.6)."""
    is_reinforced = 0 < own.skirmish_bases >= 2 * enemy.skirmish_bases
    after = {"won": 1, "failed": -1}.get(own.last_superiority or "", 0)
    return (own.skirmish_factor or 0) - is_foul_weather + after + is_reinforced


def effect_factor(own: Army, *, ground: str | None, is_harried: bool, is_foul_weather: bool) -> int:
    """Returns a side's modified artillery factor (H-6.2)."""
    firm = {"soft": -1, "hard": 1}.get(ground or "", 0)
    after = {"passed": 1, "failed": -1}.get(own.last_effect or "", 0)
    return (own.artillery_factor or 0) + firm - is_foul_weather + after - is_harried


@dataclass(frozen=True, slots=True)
class Contest:
    """The rolls of two sides against their factors; margins only of those who succeed."""

    modified: Mapping[str, int]
    margins: Mapping[str, int | None]
    factors_for_good: Mapping[str, int]

    @property
    def succeeds(self) -> Mapping[str, bool]:
        """Whether each side succeeds."""
        return {side: margin is not None for side, margin in self.margins.items()}

    @property
    def winner(self) -> str | None:
        """The side that succeeds by more; nobody if the margins are alike (H-5.3)."""
        known = {side: margin for side, margin in self.margins.items() if margin is not None}
        best = max(known.values(), default=None)
        leading = [side for side, margin in known.items() if margin == best]
        return leading[0] if len(leading) == 1 else None


def contest(
    bases: Mapping[str, int], modified: Mapping[str, int], dice: Mapping[str, Sequence[int]]
) -> Contest:
    """Returns who succeeds and by how much; a double one lowers the enemy's factor for good."""
    margins = {
        side: modified[side] - sum(dice[side]) if succeeds(modified[side], dice[side]) else None
        for side in modified
    }
    first, second = modified
    enemy = {first: second, second: first}
    lasting = {side: factor - is_huzzah(dice[enemy[side]]) for side, factor in bases.items()}
    return Contest(modified, margins, lasting)


def allowances_cm(group: Sequence[Troops], order: Order) -> list[float]:
    """Returns how far the units of a group may go (H-12.2, H-13.1)."""
    slowest_cm = min(troops.greatest_cm for troops in group)
    if order == "retire":
        half_cm = min(troops.allowance_cm for troops in group) / 2
        return [min(half_cm, troops.allowance_cm / 2) for troops in group]
    return [min(troops.allowance_cm, slowest_cm) for troops in group]


def waver(
    troops: Troops,
    dice: Sequence[int] | None,
    officer: Officer = NOBODY,
    *,
    has_routing_friend: bool = False,
) -> tuple[Factor, Outcome]:
    """Returns the waver test of a unit that retires, and what follows (H-13.3 to H-13.5)."""
    factor = waver_factor(troops, officer, has_routing_friend=has_routing_friend)
    if dice is not None and succeeds(factor.value, dice):
        return factor, Outcome(troops.disordered)
    return factor, Outcome(
        is_disordered=True, rout_cm=troops.rout_cm if troops.disordered else None
    )


def corner_distances_mm(officer_mm: Point, units: Sequence[Bases]) -> list[float]:
    """Returns the distance from an officer to the farthest corner of each unit (H-11.11)."""
    return [
        max(float(np.linalg.norm(rim(base) - officer_mm, axis=1).max()) for base in bases)
        for bases in units
    ]


def reaches(bases: Bases, troops: Troops, enemy: Bases, obstacles: Sequence[Any]) -> bool:
    """Whether a unit could reach an enemy by an advance straight ahead (H-11.9).

    `obstacles` are outlines of other units and of impassable terrain.
    """
    if troops.routing or troops.formation == "square":
        return False
    heading_deg = heading_of(bases)
    front = faces_of(bases, heading_deg)["front"]
    outline = outline_of(enemy)
    met = shapely.intersection(lane(front, troops.allowance_cm * _CM_MM), outline)
    if met.area <= _SLIVER_MM2:
        return False
    across = shapely.get_coordinates(met) @ right(heading_deg)
    middle = (float(across.min()) + float(across.max())) / 2
    aside = middle - float(np.dot(front.middle_mm, right(heading_deg)))
    (x, y), (right_x, right_y) = front.middle_mm, right(heading_deg)
    start = shapely.Point(x + right_x * aside, y + right_y * aside)
    way = shapely.shortest_line(start, met)
    return not any(shapely.crosses(way, obstacle) for obstacle in obstacles)


@dataclass(frozen=True, slots=True)
class Step:
    """A move in a unit's own axes."""

    forward_cm: float
    sideways_cm: float
    turn_deg: float


def step_between(before: Bases, after: Bases) -> Step:
    """Returns the move from one place to another (H-12.3)."""
    heading_deg = heading_of(before)
    start, end = centre_mm(before), centre_mm(after)
    way = np.subtract(end, start)
    turn_deg = difference_deg(heading_of(after), heading_deg)
    ahead_cm, aside_cm = (
        float(way @ np.array(axis(heading_deg))) / _CM_MM for axis in (forward, right)
    )
    return Step(round(ahead_cm, 6), round(aside_cm, 6), round(turn_deg, 6))


def unlike_order(
    step: Step, order: Order, *, drift_cm: float, slack_mm: float, slack_deg: float
) -> str:
    """Returns why a move is not one straight ahead or back, beyond what hands may err (H-12.3)."""
    slack_cm, aside_cm = slack_mm / _CM_MM, abs(step.sideways_cm)
    way_cm = -step.forward_cm if order == "retire" else step.forward_cm
    if abs(step.turn_deg) > slack_deg:
        return f"turns by {abs(step.turn_deg):.0f}°, and keeps its facing by this order"
    if aside_cm > drift_cm + slack_cm:
        return f"goes {aside_cm:.1f} cm sideways, of at most {drift_cm:g}"
    return "goes the other way" if way_cm < -slack_cm else ""


def ban_on_step(
    step: Step, order: Order, allowance_cm: float, *, touched: bool, was_engaged: bool
) -> Ban | None:
    """Returns why a move is not one of its order (H-12.3, H-12.4, H-12.7, H-13.1, H-13.2)."""
    retires = order == "retire"
    rule = "H-13.1" if retires else "H-12.3"
    drift_cm = 0.0 if retires or touched else DRIFT_CM
    gone_cm = -step.forward_cm if retires else step.forward_cm
    why = unlike_order(step, order, drift_cm=drift_cm, slack_mm=_HAND_MM, slack_deg=_HAND_DEG)
    is_too_far = gone_cm > allowance_cm + _HAND_MM / _CM_MM
    return first_ban(
        (was_engaged, "H-12.4", "it cannot break contact with an enemy"),
        (bool(why), rule, f"it {why}"),
        (is_too_far, rule, f"it goes {gone_cm:g} of {allowance_cm:g} cm"),
        (touched and retires, "H-13.2", "a retire order never makes contact"),
    )


@dataclass(frozen=True, slots=True)
class Squaring:
    """On which face a charger is squared up, and how much of it its front touches."""

    front_share: float
    face: FaceName
    contact_mm: float


def squaring_up(charger: Bases, target: Bases) -> Squaring | None:
    """Returns the face that a charger strikes (H-12.9, H-12.10); None if it meets nothing."""
    heading_deg = heading_of(charger)
    front = faces_of(charger, heading_deg)["front"]
    faces = faces_of(target, heading_of(target))
    corner_mm = min(
        (front.left_mm, front.right_mm),
        key=lambda corner: shapely.Point(corner).distance(outline_of(target)),
    )
    shares = _shares_met(front, faces, heading_deg)
    if not shares:
        return None
    whole = sum(shares.values())
    front_share = shares.get("front", 0.0) / whole
    nearest = closest_visible(faces, corner_mm)
    face: FaceName = "front" if front_share > 0.5 or nearest is None else nearest
    contact_mm = min(front.edge.length, faces[face].edge.length)
    return Squaring(round(front_share, 6), face, round(contact_mm, 4))


def _shares_met(
    front: Any, faces: Mapping[FaceName, Any], heading_deg: float
) -> dict[FaceName, float]:
    """Returns the length of a charger's front that meets each face straight ahead."""
    axis = right(heading_deg)
    start, end = (float(np.dot(point, axis)) for point in (front.left_mm, front.right_mm))
    shares: dict[FaceName, float] = {}
    for name, face in faces.items():
        # Only faces that look toward the charger can be met first.
        if abs(difference_deg(face.heading_deg, heading_deg + 180.0)) >= 90.0 - 1e-9:
            continue
        spans = sorted(float(np.dot(point, axis)) for point in (face.left_mm, face.right_mm))
        length = min(end, spans[1]) - max(start, spans[0])
        if length > 0:
            shares[name] = length
    return shares


def ban_on_passage(a: Troops, b: Troops, apart_cm: float, turned_deg: float) -> Ban | None:
    """Returns why two units may not pass lines (H-14.9)."""
    shortest_cm = min(a.allowance_cm, b.allowance_cm)
    return first_ban(
        (a.arm != b.arm, "H-14.9", "they are of different arms"),
        ({a.formation, b.formation} != {"line"}, "H-14.9", "both must be in line of battle"),
        (a.support_ranks + b.support_ranks > 0, "H-14.9", "neither may have support ranks"),
        (abs(turned_deg) > ALIKE_DEG, "H-14.9", f"they face {abs(turned_deg):g}° apart"),
        (apart_cm > shortest_cm, "H-14.9", f"they are {apart_cm:g} cm apart, of {shortest_cm:g}"),
        (a.disordered or b.disordered, "H-14.9", "one of them is disordered"),
    )


def touch(bases: Bases, others: Bases) -> bool:
    """Whether two units are in contact (H-1.3)."""
    return bool(shapely.distance(outline_of(bases), outline_of(others)) <= _TOUCH_MM)


def ban_on_deed(
    troops: Troops,
    deed: Literal["advance", "retire", "deploy", "fire", "be_ordered"],
    *,
    has_moved: bool,
) -> Ban | None:
    """Returns why a unit may not do something now (H-1.12, H-7.1, H-11.13, H-12.1)."""
    if deed == "fire":
        ban = ban_on_firing(troops, 0.0)
        if ban is None and troops.is_reserve and has_moved:
            return Ban("H-1.12", "reserve artillery fires or moves in a turn, never both")
        return ban
    moves = deed in ("advance", "retire")
    return first_ban(
        (troops.routing, "H-11.13", "a routing unit takes no orders"),
        (troops.is_reserve and troops.fired, "H-11.13", "reserve artillery that fired is done"),
        (moves and troops.formation == "square", "H-12.1", "a square does not move"),
    )
