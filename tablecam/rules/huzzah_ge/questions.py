"""Plain questions to single rules of the book, by what counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Final, Literal

from pydantic import Field as Limits

from tablecam.documents import Document
from tablecam.geometry.moves.poses import wheeled
from tablecam.geometry.outlines import table_outline
from tablecam.rules.frozen_json import to_plain
from tablecam.rules.game import Ban
from tablecam.rules.huzzah_ge import command, fire, morale
from tablecam.rules.huzzah_ge.fire import outline_of
from tablecam.rules.huzzah_ge.rolls import Factor, is_huzzah, limited, succeeds
from tablecam.rules.huzzah_ge.tables import (
    COMMAND,
    GAME,
    Ability,
    Class,
    Command,
    Grade,
    Order,
)
from tablecam.rules.huzzah_ge.troops import (
    Troops,
    quality,
    raised,
    support_ranks,
    worst_class,
    worst_grade,
)
from tablecam.rules.huzzah_ge.unit_keys import Count, OfficerFacts, Some, UnitFacts
from tablecam.rules.miniatures.faces import FaceName
from tablecam.rules.questions import Facts, Questions
from tablecam.table.model import TableSize, Terrain
from tablecam.table.position_file import BaseSection
from tablecam.table.sections import Name, TerrainSection

Json = dict[str, Any]
Die = Annotated[int, Limits(ge=1, le=6)]
Throw = Annotated[list[Die], Limits(min_length=2, max_length=2)]
Centimetres = Annotated[float, Limits(ge=0, le=10_000)]
ArmyFactor = Annotated[int, Limits(ge=-20, le=20)]
QUESTIONS: Final = Questions(GAME)


def _officer(facts: OfficerFacts | None) -> morale.Officer:
    return morale.NOBODY if facts is None else facts.officer


def _factor_json(factor: Factor) -> Json:
    terms = [f"{name.replace('_', ' ')} {value:+d}" for name, value in factor.parts.items()]
    return {
        "sum": factor.sum,
        "factor": factor.value,
        "parts": dict(factor.parts),
        "because": terms,
    }


@dataclass(frozen=True, kw_only=True)
class QualityFacts(Facts):
    """The grade that a unit of a class rolls."""

    expected: Class
    abilities: list[Ability] = field(default_factory=list)
    dice: Annotated[list[Throw], Limits(min_length=1)]


@QUESTIONS.asks("H-3.1 H-3.2 H-3.3")
def _quality(facts: QualityFacts, document: Document) -> Json:
    """The grade that a unit of a class rolls."""
    rolled = quality(facts.expected, facts.abilities, facts.dice)
    if rolled is None:
        raise document.error(("dice",), "expected another throw after a double one, got none")
    if rolled.rolls_used != len(facts.dice):
        message = f"expected {rolled.rolls_used} throws, got {len(facts.dice)}"
        raise document.error(("dice",), message)
    return {
        "grade": rolled.grade,
        "abilities": list(rolled.abilities),
        "rolls_used": rolled.rolls_used,
        "readings": ["H-3.1"],
    }


@dataclass(frozen=True, kw_only=True)
class SetupFacts(Facts):
    """How many units a side places, or who is which player."""

    dice: Throw | None = None
    left: Count | None = None
    sides: Annotated[list[Name], Limits(min_length=2, max_length=2)] | None = None
    finished_first: Name | None = None


@QUESTIONS.asks("H-4.3 H-4.4")
def _setup(facts: SetupFacts, document: Document) -> Json:
    """How many units a side places, or who is which player."""
    answer: Json = {}
    if facts.dice is not None:
        left = max(facts.dice) if facts.left is None else facts.left
        answer |= {"least": min(*facts.dice, left), "most": min(max(facts.dice), left)}
    if facts.sides is not None:
        if facts.finished_first not in facts.sides:
            raise document.error(("finished_first",), f"expected one of {facts.sides}")
        (other,) = [side for side in facts.sides if side != facts.finished_first]
        answer |= {"player_1": other, "player_2": facts.finished_first}
    return answer


@dataclass(frozen=True, kw_only=True)
class Skirmishers:
    """A side's roll for superiority."""

    factor: ArmyFactor
    dice: Throw
    skirmish_bases: Count = 0
    previous: Literal["won", "failed"] | None = None


@dataclass(frozen=True, kw_only=True)
class SuperiorityFacts(Facts):
    """Which side's skirmishers are superior."""

    a: Skirmishers
    b: Skirmishers
    foul_weather: bool = False


@QUESTIONS.asks("H-5.2 H-5.3 H-5.5 H-5.6")
def _superiority(facts: SuperiorityFacts, document: Document) -> Json:
    """Which side's skirmishers are superior."""

    def modified(own: Skirmishers, enemy: Skirmishers) -> int:
        is_reinforced = own.skirmish_bases > 0 and own.skirmish_bases >= 2 * enemy.skirmish_bases
        after = {"won": 1, "failed": -1}.get(own.previous or "", 0)
        return own.factor - facts.foul_weather + after + is_reinforced

    rolled = command.contest(
        {"a": facts.a.factor, "b": facts.b.factor},
        {"a": modified(facts.a, facts.b), "b": modified(facts.b, facts.a)},
        {"a": facts.a.dice, "b": facts.b.dice},
    )
    return {
        "modified": dict(rolled.factors),
        "succeeds": {side: margin is not None for side, margin in rolled.margins.items()},
        "margins": dict(rolled.margins),
        "superiority": rolled.winner,
        "factors_for_good": dict(rolled.factors_for_good),
        "readings": ["H-5.3", "H-5.4"],
    }


@dataclass(frozen=True, kw_only=True)
class Gunners:
    """A side's roll for the effect of its guns."""

    factor: ArmyFactor
    dice: Throw
    previous: Literal["passed", "failed"] | None = None


@dataclass(frozen=True, kw_only=True)
class EffectivenessFacts(Facts):
    """Which sides' guns are effective."""

    a: Gunners
    b: Gunners
    superiority: Literal["a", "b"] | None = None
    ground: Literal["soft", "hard"] | None = None
    foul_weather: bool = False


@QUESTIONS.asks("H-6.2 H-6.3 H-6.4")
def _effectiveness(facts: EffectivenessFacts, document: Document) -> Json:
    """Which sides' guns are effective."""
    ground = {"soft": -1, "hard": 1}.get(facts.ground or "", 0) - facts.foul_weather

    def modified(own: Gunners, enemy: str) -> int:
        after = {"passed": 1, "failed": -1}.get(own.previous or "", 0)
        return own.factor + ground + after - (facts.superiority == enemy)

    rolled = command.contest(
        {"a": facts.a.factor, "b": facts.b.factor},
        {"a": modified(facts.a, "b"), "b": modified(facts.b, "a")},
        {"a": facts.a.dice, "b": facts.b.dice},
    )
    return {
        "modified": dict(rolled.factors),
        "effective": {side: margin is not None for side, margin in rolled.margins.items()},
        "factors_for_good": dict(rolled.factors_for_good),
    }


@dataclass(frozen=True, kw_only=True)
class RollFacts(Facts):
    """A roll against a factor, and its hits."""

    sum: Annotated[int, Limits(ge=-50, le=50)]
    dice: Throw


@QUESTIONS.asks("H-1.1 H-7.9")
def _roll(facts: RollFacts, document: Document) -> Json:
    """A roll against a factor, and its hits."""
    factor = limited(facts.sum)
    return {"factor": factor, **_thrown(factor, facts.dice)}


def _thrown(factor: int, dice: Sequence[int]) -> Json:
    hits = fire.hits_of(factor, dice)
    return {"success": hits is not None, "hits": hits or 0, "morale_test": hits is not None}


@dataclass(frozen=True, kw_only=True)
class FireFacts(Facts):
    """Fire by what counts: the range, and the face of the target that is fired at."""

    firer: UnitFacts
    target: UnitFacts
    range_cm: Centimetres
    face: FaceName = "front"
    foul_weather: bool = False
    dice: Throw | None = None


@QUESTIONS.asks("H-7.2 H-7.3 H-7.8 H-7.9 H-7.10")
def _fire(facts: FireFacts, document: Document) -> Json:
    """Fire by what counts: the range, and the face of the target that is fired at."""
    firer = facts.firer.troops(document, "firer", rolled=True)
    target = facts.target.troops(document, "target")
    ban = fire.ban_on_firing(firer, facts.range_cm)
    answer: Json = {
        "may_fire": ban is None,
        "in_range": facts.range_cm <= firer.range_cm,
        "range_limit_cm": firer.range_cm,
        "short": fire.is_short(firer, facts.range_cm),
    }
    if ban is not None:
        return answer | {"why_not": {"rule": ban.rule, "because": ban.because}}
    factor = fire.fire_factor(
        firer, target, facts.range_cm, facts.face, is_foul_weather=facts.foul_weather
    )
    answer |= _factor_json(factor)
    if facts.dice is None:
        return answer
    answer |= _thrown(factor.value, facts.dice)
    off = fire.removal(target, answer["hits"])
    return answer | {"bases_removed": off.bases, "odd_hits": off.odd_hits}


@dataclass(frozen=True, kw_only=True)
class RangeFacts:
    """How far a target is."""

    range_cm: Centimetres


@dataclass(frozen=True, kw_only=True)
class TargetsFacts(Facts):
    """The targets among which a unit may choose."""

    firer: UnitFacts
    targets: dict[str, RangeFacts]


@QUESTIONS.asks("H-7.7")
def _choose_target(facts: TargetsFacts, document: Document) -> Json:
    """The targets among which a unit may choose."""
    ranges_cm = {name: target.range_cm for name, target in facts.targets.items()}
    return {"may_choose": fire.choices(facts.firer.troops(document, "firer"), ranges_cm)}


@dataclass(frozen=True, kw_only=True)
class MoraleFacts(Facts):
    """A morale test after fire, and what follows from it."""

    unit: UnitFacts
    hits_taken: Count | None = None
    bases_lost: Count | None = None
    officer: OfficerFacts | None = None
    removed: list[Count] = field(default_factory=list)
    routing_friend_cm: Centimetres | None = None
    renowned_within_one_move: bool = False
    dice: Throw | None = None
    failed: bool = False


@QUESTIONS.asks("H-9.2 H-9.3 H-9.4 H-9.5 H-9.7 H-9.8")
def _morale(facts: MoraleFacts, document: Document) -> Json:
    """A morale test after fire, and what follows from it."""
    unit = facts.unit.troops(document, "unit", rolled=True)
    off = morale.losses(unit, facts.hits_taken or 0)
    lost = off.bases if facts.bases_lost is None else facts.bases_lost
    factor = morale.morale_factor(
        unit,
        unit.bases_lost_this_turn + lost,
        _officer(facts.officer),
        routing_friend_cm=facts.routing_friend_cm,
        faces_renowned=facts.renowned_within_one_move,
    )
    answer = {"bases_removed": lost, "odd_hits": off.odd_hits} | _factor_json(factor)
    if facts.dice is None and not facts.failed:
        return answer
    passes = not facts.failed and morale.is_passed(factor, facts.dice)
    follows = morale.outcome(unit, lost, passes=passes)
    gain = morale.gain_of(unit, facts.dice)
    left = [base for base in facts.unit.poses if base.tag not in facts.removed]
    if left:
        routs = follows.rout_cm is not None
        back_cm = follows.fall_back_cm if follows.rout_cm is None else follows.rout_cm
        after = fire.Rear.of(left).moved(left, back_cm, turned=routs)
        answer["bases"] = to_plain(after)
    return answer | {
        "passes": passes,
        "disordered": follows.is_disordered,
        "fall_back_cm": follows.fall_back_cm,
        "rout": follows.rout_cm is not None,
        "rout_cm": follows.rout_cm,
        "gains": raised(unit.grade) if gain == "grade" else gain,
    }


@dataclass(frozen=True, kw_only=True)
class EscapeFacts(Facts):
    """Whether an officer lives when his unit is hit."""

    hits: Count
    dice: Throw | None = None
    unit_destroyed: bool = False
    charmed: bool = False
    inspirational: bool = False


@QUESTIONS.asks("H-10.1 H-10.2 H-10.3 H-10.4")
def _officer_save(facts: EscapeFacts, document: Document) -> Json:
    """Whether an officer lives when his unit is hit."""
    rolls = facts.hits > 0 and not facts.unit_destroyed and not facts.charmed
    if rolls and facts.dice is None:
        return {"rolls": True}
    dice = facts.dice or [1, 2]
    lives = not facts.unit_destroyed
    if rolls:
        lives = succeeds(morale.escape_limit(facts.hits), dice)
    used = facts.charmed and facts.hits > 0
    officer = morale.Officer(lives, facts.inspirational, is_killed=not lives)
    return {
        "rolls": rolls,
        "survives": lives,
        "charmed": (rolls and is_huzzah(dice)) or (facts.charmed and not used),
        "morale_modifier": officer.modifier,
    }


@dataclass(frozen=True, kw_only=True)
class OrderFacts(Facts):
    """The factor against which an officer rolls to give an order."""

    quality: Command
    order: Order
    earlier_orders: Count = 0
    all_in_radius: bool = False
    out_of_range: bool = False
    attached: bool = False
    inspirational: bool = False
    fired: Count = 0
    disordered: Count = 0
    in_dense_terrain: Count = 0
    formed_enemy_within_one_move: bool = False
    hesitant_within_one_move: bool = False
    renowned_ahead_within_one_move: bool = False
    infantry_on_cavalry_within_one_move: bool = False


@QUESTIONS.asks("H-11.1 H-11.4")
def _order_factor(facts: OrderFacts, document: Document) -> Json:
    """The factor against which an officer rolls to give an order."""
    situation = command.Situation(
        order=facts.order,
        earlier_orders=facts.earlier_orders,
        fired=facts.fired,
        disordered=facts.disordered,
        in_dense_terrain=facts.in_dense_terrain,
        near_formed_enemy=facts.formed_enemy_within_one_move,
        hesitant_near_enemy=facts.hesitant_within_one_move,
        renowned_ahead=facts.renowned_ahead_within_one_move,
        infantry_on_cavalry=facts.infantry_on_cavalry_within_one_move,
        all_in_radius=facts.all_in_radius,
        out_of_range=facts.out_of_range,
    )
    officer = morale.Officer(facts.attached, facts.inspirational)
    return _factor_json(command.order_factor(facts.quality, officer, situation))


@dataclass(frozen=True, kw_only=True)
class StepFacts:
    """A roll for an order."""

    officer: Name
    level: Literal["division", "corps", "cinc"] = "division"
    factor: ArmyFactor
    dice: Throw


@dataclass(frozen=True, kw_only=True)
class OrdersFacts(Facts):
    """What comes of a row of orders."""

    steps: list[StepFacts]


@QUESTIONS.asks("H-11.5 H-11.6 H-11.8")
def _orders(facts: OrdersFacts, document: Document) -> Json:
    """What comes of a row of orders."""
    results = [
        command.order_result(step.factor, step.dice, is_cinc=step.level == "cinc")
        for step in facts.steps
    ]
    steps = [
        {
            "success": result.is_success,
            "officer_done": result.is_officer_done,
            "second_order_free": result.has_second_order,
            "phase_ends": result.ends_phase,
        }
        for result in results
    ]
    return {"steps": steps}


@dataclass(frozen=True, kw_only=True)
class AllowanceFacts(Facts):
    """How far units that are ordered together may go."""

    units: Annotated[list[UnitFacts], Limits(min_length=1)]
    order: Literal["advance", "retire"]


@QUESTIONS.asks("H-12.1 H-12.2 H-13.1")
def _allowance(facts: AllowanceFacts, document: Document) -> Json:
    """How far units that are ordered together may go."""
    group = [unit.troops(document, "units", place) for place, unit in enumerate(facts.units)]
    return {"cm": command.allowances_cm(group, facts.order), "readings": ["H-12.2"]}


@dataclass(frozen=True, kw_only=True)
class WaverFacts(Facts):
    """The waver test of a unit that retires near an enemy."""

    unit: UnitFacts
    officer: OfficerFacts | None = None
    enemy_within_one_move: bool = True
    routing_friend_within_one_move: bool = False
    dice: Throw | None = None


@QUESTIONS.asks("H-13.3 H-13.4 H-13.5")
def _waver(facts: WaverFacts, document: Document) -> Json:
    """The waver test of a unit that retires near an enemy."""
    unit = facts.unit.troops(document, "unit", rolled=True)
    if not facts.enemy_within_one_move:
        return {"tests": False}
    near = facts.routing_friend_within_one_move
    factor, follows = command.waver(
        unit, facts.dice, _officer(facts.officer), has_routing_friend=near
    )
    answer = {"tests": True} | _factor_json(factor)
    if facts.dice is None:
        return answer
    gain = morale.gain_of(unit, facts.dice)
    return answer | {
        "passes": succeeds(factor.value, facts.dice),
        "disordered": follows.is_disordered,
        "rout_cm": follows.rout_cm,
        "gains": raised(unit.grade) if gain == "grade" else gain,
    }


@dataclass(frozen=True, kw_only=True)
class SupportFacts(Facts):
    """How many complete support ranks a unit has."""

    ranks: list[Some] = field(default_factory=list)
    unit: UnitFacts | None = None


@QUESTIONS.asks("H-2.5")
def _support_ranks(facts: SupportFacts, document: Document) -> Json:
    """How many complete support ranks a unit has."""
    if facts.unit is not None:
        facts.unit.lying(document, "unit")
        return {"support_ranks": facts.unit.troops(document, "unit").support_ranks}
    if not facts.ranks:
        raise document.error(("ranks",), "expected ranks, or a unit with bases")
    return {"support_ranks": support_ranks(facts.ranks)}


@dataclass(frozen=True, kw_only=True)
class BatteryBase:
    """A base of a grand battery, with its grade if that is known."""

    kind: Literal["reserve_foot", "reserve_horse", "reserve_heavy"]
    expected: Class
    grade: Grade | None = None


@dataclass(frozen=True, kw_only=True)
class BatteryFacts(Facts):
    """The quality and the range of a grand battery."""

    bases: Annotated[list[BatteryBase], Limits(min_length=1)]
    joins: Count | None = None
    dice: list[Throw] = field(default_factory=list)


@QUESTIONS.asks("H-1.13 H-3.4 H-3.5 H-7.3")
def _battery(facts: BatteryFacts, document: Document) -> Json:
    """The quality and the range of a grand battery."""
    if facts.joins is not None and facts.joins >= len(facts.bases):
        raise document.error(("joins",), f"expected 0 to {len(facts.bases) - 1}")
    worst = worst_class([base.expected for base in facts.bases])
    grades = [base.grade for base in facts.bases if base.grade is not None]
    # A base that joins one whose grade is known rolls at once; else all roll together (H-3.5).
    rolls_for = facts.bases[facts.joins].expected if grades and facts.joins is not None else worst
    is_due = facts.joins is not None if grades else bool(facts.dice)
    if is_due:
        rolled = quality(rolls_for, (), facts.dice)
        if rolled is None:
            raise document.error(("dice",), "expected a throw, got too few")
        grades.append(rolled.grade)
    return {
        "class": worst,
        "grade": worst_grade(grades) if grades else None,
        "rolled_now": is_due,
        "range_cm": min(Troops(kind=base.kind).range_cm for base in facts.bases),
        "readings": ["H-3.4"],
    }


@dataclass(frozen=True, kw_only=True)
class AmongFacts(Facts):
    """What else lies on the table."""

    others: list[UnitFacts] = field(default_factory=list)
    terrain: list[TerrainSection] = field(default_factory=list)

    def obstacles(self, document: Document, key: str) -> list[Any]:
        """Returns the outlines of other units, and of terrain that has a key."""
        units = [
            outline_of(other.lying(document, "others", place))
            for place, other in enumerate(self.others)
        ]
        pieces = [piece.to_terrain() for piece in self.terrain]
        return units + [outline_of(piece) for piece in pieces if piece.extra.get(key)]


@dataclass(frozen=True, kw_only=True)
class ShotFacts(AmongFacts):
    """How a target lies to those who fire at it."""

    firer: UnitFacts
    firing: list[Count] = field(default_factory=list)
    target: UnitFacts
    from_mm: tuple[float, float] | None = None


@QUESTIONS.asks("H-2.3 H-7.4 H-7.5 H-7.6")
def _shot(facts: ShotFacts, document: Document) -> Json:
    """How a target lies to those who fire at it."""
    bases = facts.firer.lying(document, "firer")
    tags = {base.tag for base in bases}
    if odd := set(facts.firing) - tags:
        raise document.error(("firing",), f"expected tags of the firer, got {sorted(odd)}")
    firing = tuple(base for base in bases if base.tag in facts.firing) or fire.front_rank(bases)
    target = facts.target.lying(document, "target")
    blockers = facts.obstacles(document, "blocks_sight")
    shot = fire.shot_at(firing, target, blockers, facts.from_mm)
    if shot is None:
        raise document.error(("firer",), "expected a firer outside of its target")
    firer = facts.firer.troops(document, "firer")
    is_square = facts.target.formation == "square"
    return {
        "face": shot.face,
        "flank_or_rear": shot.face != "front" and not is_square,
        "range_cm": shot.range_cm,
        "in_arc": shot.is_in_arc,
        "in_range": shot.range_cm <= firer.range_cm,
        "short": fire.is_short(firer, shot.range_cm),
        "clear": [base.tag for base in shot.clear],
        "readings": ["H-2.3", "H-7.4"],
    }


@dataclass(frozen=True, kw_only=True)
class RadiusFacts(Facts):
    """Whether units are wholly within an officer's command radius."""

    officer: OfficerFacts
    units: Annotated[list[UnitFacts], Limits(min_length=1)]


@QUESTIONS.asks("H-11.11")
def _command_radius(facts: RadiusFacts, document: Document) -> Json:
    """Whether units are wholly within an officer's command radius."""
    officer = facts.officer
    if officer.quality is None or officer.x_mm is None or officer.y_mm is None:
        raise document.error(("officer",), "expected the keys quality, x_mm and y_mm")
    units = [unit.lying(document, "units", place) for place, unit in enumerate(facts.units)]
    farthest = command.corner_distances_mm((officer.x_mm, officer.y_mm), units)
    radius_cm = COMMAND[officer.quality][1]
    return {
        "radius_cm": radius_cm,
        "farthest_corner_mm": [round(length, 4) for length in farthest],
        "all_in_radius": max(farthest) <= radius_cm * 10 + 1e-6,
    }


@dataclass(frozen=True, kw_only=True)
class MoveFacts:
    """A move on the table."""

    dx_mm: float = 0.0
    dy_mm: float = 0.0
    turn_deg: float = 0.0


@dataclass(frozen=True, kw_only=True)
class OrderMoveFacts(AmongFacts):
    """A move that follows an order."""

    unit: UnitFacts
    order: Literal["advance", "retire"]
    move: MoveFacts | None = None
    bases_after: list[BaseSection] = field(default_factory=list)
    group: list[UnitFacts] = field(default_factory=list)
    table_mm: tuple[Centimetres, Centimetres] | None = None


@QUESTIONS.asks("H-12.1 H-12.3 H-12.4 H-13.1")
def _order_move(facts: OrderMoveFacts, document: Document) -> Json:
    """A move that follows an order."""
    before = facts.unit.lying(document, "unit")
    if (facts.move is None) == (not facts.bases_after):
        raise document.error(("move",), "expected a move, or bases_after")
    after = tuple(base.to_pose() for base in facts.bases_after)
    if facts.move is not None:
        way = facts.move
        there = [
            replace(base, x_mm=base.x_mm + way.dx_mm, y_mm=base.y_mm + way.dy_mm) for base in before
        ]
        after = wheeled(there, fire.centre_mm(tuple(there)), way.turn_deg)
    group = [facts.unit.troops(document, "unit")]
    group += [one.troops(document, "group", place) for place, one in enumerate(facts.group)]
    allowance_cm = command.allowances_cm(group, facts.order)[0]
    side = facts.unit.side
    enemies = [
        other.lying(document, "others", place)
        for place, other in enumerate(facts.others)
        if other.side != side
    ]
    step = command.step_between(before, after)
    ban = command.ban_on_step(
        step,
        facts.order,
        allowance_cm,
        touched=any(command.touch(after, enemy) for enemy in enemies),
        was_engaged=any(command.touch(before, enemy) for enemy in enemies),
    )
    if ban is None and facts.table_mm is not None:
        table = table_outline(TableSize(*facts.table_mm))
        if not table.buffer(0.5).covers(outline_of(after)):
            ban = Ban("H-12.3", "it would leave the table")
    answer: Json = {
        "legal": ban is None,
        "forward_cm": step.forward_cm,
        "sideways_cm": step.sideways_cm,
        "turn_deg": step.turn_deg,
        "allowance_cm": allowance_cm,
    }
    return answer if ban is None else answer | {"why_not": ban}


@dataclass(frozen=True, kw_only=True)
class WithinFacts(AmongFacts):
    """Whether a unit and an enemy are within one move of each other."""

    unit: UnitFacts
    enemy: UnitFacts


@QUESTIONS.asks("H-11.9")
def _within_one_move(facts: WithinFacts, document: Document) -> Json:
    """Whether a unit and an enemy are within one move of each other."""
    bases, enemy = facts.unit.lying(document, "unit"), facts.enemy.lying(document, "enemy")
    obstacles = facts.obstacles(document, "impassable")
    there = command.reaches(bases, facts.unit.troops(document, "unit"), enemy, obstacles)
    back = command.reaches(enemy, facts.enemy.troops(document, "enemy"), bases, obstacles)
    return {"within": there or back, "unit_reaches": there, "enemy_reaches": back}


@dataclass(frozen=True, kw_only=True)
class SquaringFacts(Facts):
    """On which face a charger is squared up."""

    charger: UnitFacts
    target: UnitFacts


@QUESTIONS.asks("H-12.9 H-12.10")
def _squaring_up(facts: SquaringFacts, document: Document) -> Json:
    """On which face a charger is squared up."""
    target = facts.target.lying(document, "target")
    squared = command.squaring_up(facts.charger.lying(document, "charger"), target)
    if squared is None:
        raise document.error(("charger",), "expected a charger that meets its target straight on")
    return {
        "front_share": round(squared.front_share, 6),
        "face": squared.face,
        "contact_mm": round(squared.contact_mm, 4),
        "readings": ["H-12.9", "H-12.10"],
    }


@dataclass(frozen=True, kw_only=True)
class PassageFacts(Facts):
    """Whether two units may pass lines."""

    a: UnitFacts
    b: UnitFacts
    front_distance_cm: Centimetres
    heading_difference_deg: Annotated[float, Limits(ge=-360, le=360)] = 0.0


@QUESTIONS.asks("H-14.9")
def _passage_of_lines(facts: PassageFacts, document: Document) -> Json:
    """Whether two units may pass lines."""
    a, b = facts.a.troops(document, "a"), facts.b.troops(document, "b")
    apart_cm, turned_deg = facts.front_distance_cm, facts.heading_difference_deg
    ban = command.ban_on_passage(a, b, apart_cm, turned_deg)
    return {"allowed": True} if ban is None else {"allowed": False, "why_not": ban}


@dataclass(frozen=True, kw_only=True)
class HitsEvent:
    """Hits on a unit, or the end of a Rally phase, which wipes odd ones off."""

    hits: Count | None = None
    phase: Literal["rally_ends"] | None = None


@dataclass(frozen=True, kw_only=True)
class HitsFacts(Facts):
    """What hits take off a unit, one after the other."""

    unit: UnitFacts
    events: list[HitsEvent]


@QUESTIONS.asks("H-1.4 H-1.5 H-7.10")
def _hits(facts: HitsFacts, document: Document) -> Json:
    """What hits take off a unit, one after the other."""
    unit = facts.unit.troops(document, "unit")
    after = []
    for place, event in enumerate(facts.events):
        if (event.hits is None) == (event.phase is None):
            raise document.error(("events", place), "expected hits, or a phase")
        odd = 0
        if event.hits is not None:
            off = fire.removal(unit, event.hits)
            left = max(0, unit.base_count - off.bases)
            unit, odd = replace(unit, base_count=left), off.odd_hits
        unit = replace(unit, hits=odd)
        after.append({"bases": unit.base_count, "odd_hits": unit.hits})
    return {"after": after}


@dataclass(frozen=True, kw_only=True)
class MayFacts(Facts):
    """Whether a unit may do something now."""

    unit: UnitFacts
    deed: Literal["advance", "retire", "deploy", "fire", "be_ordered"]


@QUESTIONS.asks("H-1.12 H-7.1 H-11.13 H-12.1")
def _may(facts: MayFacts, document: Document) -> Json:
    """Whether a unit may do something now."""
    unit = facts.unit.troops(document, "unit")
    ban = command.ban_on_deed(unit, facts.deed, has_moved=facts.unit.moved)
    return {"may": True} if ban is None else {"may": False, "why_not": ban}


@dataclass(frozen=True, kw_only=True)
class ChargersFacts(Facts):
    """Fire at a charger, and the tests that follow."""

    firer: UnitFacts
    charger: UnitFacts
    fire_dice: Throw | None = None
    hits: Count | None = None
    morale_dice: Throw | None = None


@QUESTIONS.asks("H-8.1 H-8.2 H-8.3 H-8.4")
def _fire_at_chargers(facts: ChargersFacts, document: Document) -> Json:
    """Fire at a charger, and the tests that follow."""
    firer = facts.firer.troops(document, "firer", rolled=True)
    charger = facts.charger.troops(document, "charger", rolled=True)
    charger = replace(charger, is_charging=True)
    must = fire.ban_on_firing(firer, 0.0) is None
    factor = fire.fire_factor(firer, charger, 0.0, "front", is_foul_weather=False)
    answer: Json = {"must_fire": must} | _factor_json(factor)
    if facts.fire_dice is None and facts.hits is None:
        return answer
    hits = (
        facts.hits if facts.hits is not None else fire.hits_of(factor.value, facts.fire_dice or [])
    )
    off = fire.removal(charger, hits or 0)
    struck = replace(charger, base_count=charger.base_count - off.bases)
    is_hit = hits is not None
    tested, lost = (struck, off.bases) if is_hit else (replace(firer, is_charging=True), 0)
    test = _test_after(tested, lost, facts.morale_dice)
    idle = {"tests": False}
    return answer | {
        "hit": is_hit,
        "hits": hits or 0,
        "firer": idle if is_hit else test,
        "charger": {
            "bases_removed": off.bases,
            "odd_hits": off.odd_hits,
            **(test if is_hit else idle),
            "in_contact": not (is_hit and test.get("rout")),
        },
    }


def _test_after(unit: Troops, lost: int, dice: Sequence[int] | None) -> Json:
    """Returns a morale test in which nobody is forced back (H-8.3, H-8.4)."""
    factor = morale.morale_factor(
        unit, lost, morale.NOBODY, routing_friend_cm=None, faces_renowned=False
    )
    answer: Json = {"tests": True, "factor": factor.value}
    if dice is None:
        return answer
    passes = morale.is_passed(factor, dice)
    follows = morale.outcome(unit, lost, passes=passes)
    return answer | {
        "passes": passes,
        "disordered": follows.is_disordered,
        "rout": follows.rout_cm is not None,
        "rout_cm": follows.rout_cm,
        "fall_back_cm": 0.0,
    }


@dataclass(frozen=True, kw_only=True)
class SectorFacts:
    """A sector of dense terrain: its outline, or its edges in cm from the unit's rear face."""

    id: Name
    outline_mm: list[tuple[float, float]] = field(default_factory=list)
    near_edge_cm: float | None = None
    far_edge_cm: float | None = None
    held_by: Literal["friend", "enemy"] | None = None


@dataclass(frozen=True, kw_only=True)
class BackFacts(Facts):
    """A fall back or a rout straight to the rear, past friends and through dense terrain."""

    unit: UnitFacts
    rear_edge_cm: float | None = None
    how: Literal["falls_back", "routs"]
    distance_cm: Centimetres
    friends: list[UnitFacts] = field(default_factory=list)
    enemies: list[UnitFacts] = field(default_factory=list)
    sectors: list[SectorFacts] = field(default_factory=list)
    table_mm: tuple[Centimetres, Centimetres] | None = None


@QUESTIONS.asks("H-9.8 H-9.9 H-9.10 H-9.11 H-9.12")
def _back(facts: BackFacts, document: Document) -> Json:
    """A fall back or a rout straight to the rear, past friends and through dense terrain."""
    routs, bases = facts.how == "routs", facts.unit.poses
    if not bases and facts.rear_edge_cm is None:
        raise document.error(("unit", "bases"), "expected bases, or rear_edge_cm")
    lane = fire.Rear.of(bases) if bases else None
    sectors = [_span(sector, lane, document, place) for place, sector in enumerate(facts.sectors)]
    friends = []
    for place, friend in enumerate(facts.friends):
        outline = outline_of(friend.lying(document, "friends", place))
        if lane is None:
            raise document.error(("unit", "bases"), "expected bases, as friends have them")
        behind = lane.span_cm(outline)
        name = friend.id or f"friend {place + 1}"
        friends += [morale.Span(name, *behind)] if behind is not None else []
    deep_cm = 0.0 if lane is None else lane.deep_cm
    known = [sector for sector in sectors if sector is not None]
    way = morale.way_back(facts.distance_cm, deep_cm, known, friends, routs=routs)
    unit = facts.unit.troops(document, "unit")
    off = fire.removal(unit, way.extra_hits)
    answer: Json = {
        "extra_hits": way.extra_hits,
        "bases_removed": off.bases,
        "odd_hits": off.odd_hits,
        "disordered_friends": list(way.passed),
        "deployed_in": way.deployed_in,
        "beyond_far_edge_cm": way.beyond_cm,
        "captured": way.is_captured,
        "routing": routs,
        "readings": ["H-9.9", "H-9.10", "H-9.11"],
    }
    if lane is None:
        return answer
    after = lane.moved(bases, way.distance_cm, turned=routs)
    width_mm, depth_mm = facts.table_mm or (math.inf, math.inf)
    x_mm, y_mm = fire.centre_mm(after)
    on_table = 0 <= x_mm <= width_mm and 0 <= y_mm <= depth_mm
    stands = on_table and not way.is_captured
    answer["bases"] = to_plain(after) if stands else []
    return answer | {
        "on_table": on_table,
        "on_rout_table": not on_table,
        "routing": routs or not on_table,
    }


def _span(
    sector: SectorFacts, lane: fire.Rear | None, document: Document, place: int
) -> morale.Span | None:
    """Returns a sector as it lies behind a unit; None if it does not."""
    if sector.near_edge_cm is not None and sector.far_edge_cm is not None:
        return morale.Span(sector.id, sector.near_edge_cm, sector.far_edge_cm, sector.held_by)
    if len(sector.outline_mm) < 3 or lane is None:
        why = "expected near_edge_cm and far_edge_cm, or an outline and a unit with bases"
        raise document.error(("sectors", place), why)
    terrain = Terrain(sector.id, "sector", tuple(sector.outline_mm))
    behind = lane.span_cm(outline_of(terrain), centre_only=True)
    return None if behind is None else morale.Span(sector.id, *behind, sector.held_by)
