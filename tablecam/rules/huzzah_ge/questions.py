"""Plain questions about single rules of the book."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Annotated, Any, Final, Literal

import shapely
from pydantic import Field as Limits

from tablecam.documents import Json
from tablecam.geometry.arrangement import arrangement
from tablecam.geometry.moves.poses import shifted, wheeled
from tablecam.geometry.outlines import table_outline
from tablecam.rules.frozen_json import to_plain
from tablecam.rules.game import Ban
from tablecam.rules.huzzah_ge import fire, orders, tables, troops
from tablecam.rules.huzzah_ge.deployment import ban_on_passage
from tablecam.rules.huzzah_ge.field import corner_distances_mm, reaches
from tablecam.rules.huzzah_ge.movement import ban_on_step, squaring_up, step_between
from tablecam.rules.huzzah_ge.settlements import Contest, contest, effect_factors, skirmish_factors
from tablecam.rules.huzzah_ge.state import Army
from tablecam.rules.huzzah_ge.troops import NOBODY, Officer, OfficerFacts, Troops, UnitFacts
from tablecam.rules.miniatures.faces import FaceName
from tablecam.rules.miniatures.ground import area_of, centre_mm, footprints
from tablecam.rules.miniatures.reckon import terms
from tablecam.rules.miniatures.unit_keys import Count, Some
from tablecam.rules.questions import FactError, Facts, NestedFacts, Questions, as_answer
from tablecam.table.model import TableSize, Terrain
from tablecam.table.position_file import BaseSection
from tablecam.table.sections import Name, TerrainSection

Die = Annotated[int, Limits(ge=1, le=6)]
Throw = Annotated[list[Die], Limits(min_length=2, max_length=2)]
Centimetres = Annotated[float, Limits(ge=0, le=10_000)]
ArmyFactor = Annotated[int, Limits(ge=-20, le=20)]
Units = Annotated[list[UnitFacts], Limits(min_length=1)]
Pair = Annotated[list[Name], Limits(min_length=2, max_length=2)]
Table = tuple[Centimetres, Centimetres]
Battery = Literal["reserve_foot", "reserve_horse", "reserve_heavy"]
QUESTIONS: Final = Questions(tables.GAME)


def _factor_json(factor: tables.Factor) -> Json:
    parts = factor.parts
    return {"sum": factor.sum, "factor": factor.value, "parts": parts, "because": terms(parts)}


@QUESTIONS.asks("H-3.1 H-3.2 H-3.3")
def _quality(
    expected: tables.Class,
    dice: Annotated[list[Throw], Limits(min_length=1)],
    abilities: Sequence[tables.Ability] = (),
) -> Json:
    """The grade that a unit of a class rolls."""
    rolled = troops.quality(expected, abilities, dice)
    if rolled is None:
        raise FactError("dice", "expected another throw after a double one, got none")
    if rolled.rolls_used != len(dice):
        raise FactError("dice", f"expected {rolled.rolls_used} throws, got {len(dice)}")
    return {**asdict(rolled), "readings": ["H-3.1"]}


@QUESTIONS.asks("H-4.3 H-4.4")
def _setup(
    dice: Throw | None = None,
    left: Count | None = None,
    sides: Pair | None = None,
    finished_first: Name | None = None,
) -> Json:
    """How many units a side places, or who is which player."""
    answer: Json = {}
    if dice is not None:
        most = max(dice) if left is None else left
        answer |= {"least": min(*dice, most), "most": min(max(dice), most)}
    if sides is not None:
        if finished_first not in sides:
            raise FactError("finished_first", f"expected one of {sides}")
        (other,) = [side for side in sides if side != finished_first]
        answer |= {"player_1": other, "player_2": finished_first}
    return answer


class Contender(NestedFacts):
    """A side's roll for its skirmishers or its guns."""

    factor: ArmyFactor
    dice: Throw
    skirmish_bases: Count = 0
    previous: Literal["won", "passed", "failed"] | None = None


def _contested(a: Contender, b: Contender, modified: Mapping[str, int]) -> Contest:
    bases, dice = {"a": a.factor, "b": b.factor}, {"a": a.dice, "b": b.dice}
    return contest(bases, modified, dice)


@QUESTIONS.asks("H-5.2 H-5.3 H-5.5 H-5.6")
def _superiority(a: Contender, b: Contender, foul_weather: bool = False) -> Json:
    """Which side's skirmishers are superior."""
    armies = {
        side: Army(one.factor, None, one.skirmish_bases, one.previous)
        for side, one in (("a", a), ("b", b))
    }
    rolled = _contested(a, b, skirmish_factors(armies, is_foul_weather=foul_weather))
    decided = {"succeeds": rolled.succeeds, "superiority": rolled.winner}
    return as_answer(rolled) | decided | {"readings": ["H-5.3", "H-5.4"]}


@QUESTIONS.asks("H-6.2 H-6.3 H-6.4")
def _effectiveness(
    a: Contender,
    b: Contender,
    superiority: Literal["a", "b"] | None = None,
    ground: Literal["soft", "hard"] | None = None,
    foul_weather: bool = False,
) -> Json:
    """Which sides' guns are effective."""
    armies = {
        side: Army(None, one.factor, last_effect=one.previous) for side, one in (("a", a), ("b", b))
    }
    factors = effect_factors(armies, superiority, ground, is_foul_weather=foul_weather)
    rolled = _contested(a, b, factors)
    return as_answer(rolled) | {"effective": rolled.succeeds}


@QUESTIONS.asks("H-1.1 H-7.9")
def _roll(sum_: Annotated[int, Limits(ge=-50, le=50)], dice: Throw) -> Json:
    """A roll against a factor, and its hits."""
    factor = tables.limited(sum_)
    return {"factor": factor, **_thrown(factor, dice)}


def _thrown(factor: int, dice: Sequence[int]) -> Json:
    hits = fire.hits_of(factor, dice)
    return {"success": hits is not None, "hits": hits or 0, "morale_test": hits is not None}


@QUESTIONS.asks("H-7.2 H-7.3 H-7.8 H-7.9 H-7.10")
def _fire(
    firer: UnitFacts,
    target: UnitFacts,
    range_cm: Centimetres,
    face: FaceName = "front",
    foul_weather: bool = False,
    dice: Throw | None = None,
) -> Json:
    """Fire by what counts: the range, and the face of the target that is fired at."""
    firing, hit = firer.rolled(), target.troops()
    ban = fire.ban_on_firing(firing, range_cm)
    answer: Json = {
        "may_fire": ban is None,
        "in_range": range_cm <= firing.range_cm,
        "range_limit_cm": firing.range_cm,
        "short": fire.is_short(firing, range_cm),
        "why_not": ban,
    }
    if ban is not None:
        return answer
    factor = fire.fire_factor(firing, hit, range_cm, face, is_foul_weather=foul_weather)
    answer |= _factor_json(factor)
    if dice is None:
        return answer
    answer |= _thrown(factor.value, dice)
    return answer | as_answer(fire.removal(hit, answer["hits"]))


class RangeFacts(NestedFacts):
    """How far a target is."""

    range_cm: Centimetres


@QUESTIONS.asks("H-7.7")
def _choose_target(firer: UnitFacts, targets: dict[str, RangeFacts]) -> Json:
    """The targets among which a unit may choose."""
    ranges_cm = {name: target.range_cm for name, target in targets.items()}
    return {"may_choose": fire.choices(firer.troops(), ranges_cm)}


def _fate(follows: fire.Outcome, *, passes: bool) -> Json:
    """Returns the outcome of a morale test, except for what the unit gains."""
    return as_answer(follows) | {"passes": passes, "rout": follows.rout_cm is not None}


@QUESTIONS.asks("H-9.2 H-9.3 H-9.4 H-9.5 H-9.7 H-9.8")
def _morale(
    unit: UnitFacts,
    hits_taken: Count | None = None,
    bases_lost: Count | None = None,
    officer: OfficerFacts | None = None,
    removed: Sequence[Count] = (),
    routing_friend_cm: Centimetres | None = None,
    renowned_within_one_move: bool = False,
    dice: Throw | None = None,
    failed: bool = False,
) -> Json:
    """A morale test after fire, and what follows from it."""
    tested = unit.rolled()
    off = fire.removal(tested, hits_taken or 0)
    lost = off.bases_removed if bases_lost is None else bases_lost
    factor = fire.morale_factor(
        tested,
        tested.bases_lost_this_turn + lost,
        officer or NOBODY,
        routing_friend_cm=routing_friend_cm,
        faces_renowned=renowned_within_one_move,
    )
    answer = {"bases_removed": lost, "odd_hits": off.odd_hits} | _factor_json(factor)
    if dice is None and not failed:
        return answer
    passes = not failed and factor.succeeds(dice)
    follows = fire.outcome(tested, lost, passes=passes)
    left = [base for base in unit.poses if base.tag not in removed] if unit.bases else []
    if left:
        routs = follows.rout_cm is not None
        back_cm = follows.fall_back_cm if follows.rout_cm is None else follows.rout_cm
        answer["bases"] = to_plain(fire.Rear.of(left).moved(left, back_cm, turned=routs))
    return answer | _fate(follows, passes=passes) | {"gains": fire.gain_of(tested, dice)}


@QUESTIONS.asks("H-10.1 H-10.2 H-10.3 H-10.4")
def _officer_save(
    hits: Count,
    dice: Throw | None = None,
    unit_destroyed: bool = False,
    charmed: bool = False,
    inspirational: bool = False,
) -> Json:
    """Whether an officer lives when his unit is hit."""
    rolls = hits > 0 and not unit_destroyed and not charmed
    if rolls and dice is None:
        return {"rolls": True}
    lives = not unit_destroyed
    if rolls:
        lives = tables.succeeds(fire.escape_limit(hits), dice or ())
    used = charmed and hits > 0
    officer = Officer(lives, inspirational, killed=not lives)
    return {
        "rolls": rolls,
        "survives": lives,
        "charmed": (rolls and tables.is_huzzah(dice or ())) or (charmed and not used),
        "morale_modifier": officer.modifier,
    }


@QUESTIONS.asks("H-11.1 H-11.4")
def _order_factor(
    situation: orders.Situation,
    quality: tables.Command,
    attached: bool = False,
    inspirational: bool = False,
) -> Json:
    """The factor against which an officer rolls to give an order."""
    officer = Officer(attached, inspirational)
    return _factor_json(orders.order_factor(quality, officer, situation))


class StepFacts(NestedFacts):
    """A roll for an order."""

    officer: Name
    level: Literal["division", "corps", "cinc"] = "division"
    factor: ArmyFactor
    dice: Throw


@QUESTIONS.asks("H-11.5 H-11.6 H-11.8")
def _orders(steps: list[StepFacts]) -> Json:
    """What comes of a row of orders."""
    results = [
        orders.order_result(step.factor, step.dice, is_cinc=step.level == "cinc") for step in steps
    ]
    return {"steps": results}


@QUESTIONS.asks("H-12.1 H-12.2 H-13.1")
def _allowance(units: Units, order: Literal["advance", "retire"]) -> Json:
    """How far units that are ordered together may go."""
    group = [unit.troops() for unit in units]
    return {"cm": orders.allowances_cm(group, order), "readings": ["H-12.2"]}


@QUESTIONS.asks("H-13.3 H-13.4 H-13.5")
def _waver(
    unit: UnitFacts,
    officer: OfficerFacts | None = None,
    enemy_within_one_move: bool = True,
    routing_friend_within_one_move: bool = False,
    dice: Throw | None = None,
) -> Json:
    """The waver test of a unit that retires near an enemy."""
    tested = unit.rolled()
    if not enemy_within_one_move:
        return {"tests": False}
    factor = fire.waver_factor(
        tested, officer or NOBODY, has_routing_friend=routing_friend_within_one_move
    )
    answer = {"tests": True} | _factor_json(factor)
    if dice is None:
        return answer
    passes = factor.succeeds(dice)
    follows = fire.waver_outcome(tested, passes=passes)
    return answer | _fate(follows, passes=passes) | {"gains": fire.gain_of(tested, dice)}


@QUESTIONS.asks("H-2.5")
def _support_ranks(ranks: Sequence[Some] = (), unit: UnitFacts | None = None) -> Json:
    """How many complete support ranks a unit has."""
    if unit is not None and unit.poses:
        return {"support_ranks": unit.troops().support_ranks}
    if not ranks:
        raise FactError("ranks", "expected ranks, or a unit with bases")
    return {"support_ranks": troops.support_ranks(ranks)}


class BatteryBase(NestedFacts):
    """A base of a grand battery, with its grade if that is known."""

    kind: Battery
    expected: tables.Class
    grade: tables.Grade | None = None


@QUESTIONS.asks("H-1.13 H-3.4 H-3.5 H-7.3")
def _battery(
    bases: Annotated[list[BatteryBase], Limits(min_length=1)],
    joins: Count | None = None,
    dice: Sequence[Throw] = (),
) -> Json:
    """The quality and the range of a grand battery."""
    if joins is not None and joins >= len(bases):
        raise FactError("joins", f"expected 0 to {len(bases) - 1}")
    worst = troops.worst_class([base.expected for base in bases])
    grades = [base.grade for base in bases if base.grade is not None]
    # A base that joins a battery of known grade rolls at once; otherwise all roll together (H-3.5).
    rolls_for = bases[joins].expected if grades and joins is not None else worst
    is_due = joins is not None if grades else bool(dice)
    if is_due:
        rolled = troops.quality(rolls_for, (), dice)
        if rolled is None:
            raise FactError("dice", "expected a throw, got too few")
        grades.append(rolled.grade)
    return {
        "class": worst,
        "grade": max(grades, key=tables.GRADES.index, default=None),
        "rolled_now": is_due,
        "range_cm": min(Troops(kind=base.kind).range_cm for base in bases),
        "readings": ["H-3.4"],
    }


@dataclass(frozen=True, kw_only=True)
class Around(Facts):
    """What else lies on the table."""

    others: list[UnitFacts] = field(default_factory=list)
    terrain: list[TerrainSection] = field(default_factory=list)

    def obstacles(self, key: str) -> tuple[Any, ...]:
        """Returns the outlines of other units, and of terrain that has a key."""
        units = [footprints(other.poses) for other in self.others]
        pieces = [piece.to_terrain() for piece in self.terrain]
        return (*units, *(area_of(piece) for piece in pieces if piece.extra.get(key)))


@QUESTIONS.asks("H-2.3 H-7.4 H-7.5 H-7.6")
def _shot(
    around: Around,
    firer: UnitFacts,
    target: UnitFacts,
    firing: Sequence[Count] = (),
    from_mm: tuple[float, float] | None = None,
) -> Json:
    """How a target lies to those who fire at it."""
    bases = firer.poses
    if odd := set(firing) - {base.tag for base in bases}:
        raise FactError("firing", f"expected tags of the firer, got {sorted(odd)}")
    chosen = tuple(base for base in bases if base.tag in firing) or tuple(
        bases[place] for place in arrangement(bases).ranks[0]
    )
    shot = fire.shot_at(chosen, target.poses, around.obstacles("blocks_sight"), from_mm)
    if shot is None:
        raise FactError("firer", "expected a firer outside of its target")
    shooter = firer.troops()
    return as_answer(shot) | {
        "flank_or_rear": shot.face != "front" and target.formation != "square",
        "in_range": shot.range_cm <= shooter.range_cm,
        "short": fire.is_short(shooter, shot.range_cm),
        "clear": [base.tag for base in shot.clear],
        "readings": ["H-2.3", "H-7.4"],
    }


@QUESTIONS.asks("H-11.11")
def _command_radius(officer: OfficerFacts, units: Units) -> Json:
    """Whether units are wholly within an officer's command radius."""
    if officer.quality is None or officer.x_mm is None or officer.y_mm is None:
        raise FactError("officer", "expected the keys quality, x_mm and y_mm")
    bases = [unit.poses for unit in units]
    farthest_mm = corner_distances_mm((officer.x_mm, officer.y_mm), bases)
    radius_cm = tables.COMMAND[officer.quality][1]
    return {
        "radius_cm": radius_cm,
        "farthest_corner_mm": [round(length_mm, 4) for length_mm in farthest_mm],
        "all_in_radius": max(farthest_mm) <= radius_cm * 10 + 1e-6,
    }


class MoveFacts(NestedFacts):
    """A move on the table."""

    dx_mm: float = 0.0
    dy_mm: float = 0.0
    turn_deg: float = 0.0


@QUESTIONS.asks("H-12.1 H-12.3 H-12.4 H-13.1")
def _order_move(
    around: Around,
    unit: UnitFacts,
    order: Literal["advance", "retire"],
    move: MoveFacts | None = None,
    bases_after: Sequence[BaseSection] = (),
    group: Sequence[UnitFacts] = (),
    table_mm: Table | None = None,
) -> Json:
    """A move that follows an order."""
    before = unit.poses
    if (move is None) == (not bases_after):
        raise FactError("move", "expected a move, or bases_after")
    after = tuple(base.to_pose() for base in bases_after)
    if move is not None:
        there = shifted(before, move.dx_mm, move.dy_mm)
        after = wheeled(there, centre_mm(there), move.turn_deg)
    ordered = [one.troops() for one in (unit, *group)]
    allowance_cm = orders.allowances_cm(ordered, order)[0]
    enemies = [other.poses for other in around.others if other.side != unit.side]
    step, others = step_between(before, after), shapely.union_all([*map(footprints, enemies)])
    was_engaged, touched = (
        bool(shapely.dwithin(footprints(bases), others, tables.TOUCH_MM))
        for bases in (before, after)
    )
    ban = ban_on_step(step, order, allowance_cm, touched=touched, was_engaged=was_engaged)
    if ban is None and table_mm is not None:
        table = table_outline(TableSize(*table_mm))
        if not table.buffer(0.5).covers(footprints(after)):
            ban = Ban("H-12.3", "it would leave the table")
    legal = {"legal": ban is None, "allowance_cm": allowance_cm, "why_not": ban}
    return asdict(step) | legal


@QUESTIONS.asks("H-11.9")
def _within_one_move(around: Around, unit: UnitFacts, enemy: UnitFacts) -> Json:
    """Whether a unit and an enemy are within one move of each other."""
    obstacles, bases, enemies = around.obstacles("impassable"), unit.poses, enemy.poses
    own, other = unit.troops(), enemy.troops()
    there = reaches(bases, own, enemies, obstacles, own.allowance_cm)
    back = reaches(enemies, other, bases, obstacles, other.allowance_cm)
    return {"within": there or back, "unit_reaches": there, "enemy_reaches": back}


@QUESTIONS.asks("H-12.9 H-12.10")
def _squaring_up(charger: UnitFacts, target: UnitFacts) -> Json:
    """On which face a charger is squared up."""
    squared = squaring_up(charger.poses, target.poses)
    if squared is None:
        raise FactError("charger", "expected a charger that meets its target straight on")
    return as_answer(squared) | {"readings": ["H-12.9", "H-12.10"]}


@QUESTIONS.asks("H-14.9")
def _passage_of_lines(
    a: UnitFacts,
    b: UnitFacts,
    front_distance_cm: Centimetres,
    heading_difference_deg: Annotated[float, Limits(ge=-360, le=360)] = 0.0,
) -> Json:
    """Whether two units may pass lines."""
    ban = ban_on_passage(a.troops(), b.troops(), front_distance_cm, heading_difference_deg)
    return {"allowed": ban is None, "why_not": ban}


class HitsEvent(NestedFacts):
    """Hits on a unit, or the end of a Rally phase, which wipes odd ones off."""

    hits: Count | None = None
    phase: Literal["rally_ends"] | None = None


@QUESTIONS.asks("H-1.4 H-1.5 H-7.10")
def _hits(unit: UnitFacts, events: list[HitsEvent]) -> Json:
    """What hits take off a unit, one after the other."""
    left, after = unit.troops(), []
    for event in events:
        if (event.hits is None) == (event.phase is None):
            raise FactError("hits", "expected hits, or a phase", event)
        off = fire.Removal(0, 0) if event.hits is None else fire.removal(left, event.hits)
        count = max(0, left.base_count - off.bases_removed)
        left = replace(left, base_count=count, hits=off.odd_hits)
        after.append({"bases": count, "odd_hits": off.odd_hits})
    return {"after": after}


@QUESTIONS.asks("H-1.12 H-7.1 H-11.13 H-12.1")
def _may(
    unit: UnitFacts, deed: Literal["advance", "retire", "deploy", "fire", "be_ordered"]
) -> Json:
    """Whether a unit may do something now."""
    ban = orders.ban_on_deed(unit.troops(), deed, has_moved=unit.moved)
    return {"may": ban is None, "why_not": ban}


@QUESTIONS.asks("H-8.1 H-8.2 H-8.3 H-8.4")
def _fire_at_chargers(
    firer: UnitFacts,
    charger: UnitFacts,
    fire_dice: Throw | None = None,
    hits: Count | None = None,
    morale_dice: Throw | None = None,
) -> Json:
    """Fire at a charger, and the tests that follow."""
    firing, charging = firer.rolled(), replace(charger.rolled(), charging=True)
    factor = fire.fire_factor(firing, charging, 0.0, "front", is_foul_weather=False)
    must_fire = fire.ban_on_firing(firing, 0.0) is None
    answer: Json = {"must_fire": must_fire} | _factor_json(factor)
    if fire_dice is None and hits is None:
        return answer
    scored = fire.hits_of(factor.value, fire_dice or []) if hits is None else hits
    off = fire.removal(charging, scored or 0)
    is_hit = scored is not None
    # The charger tests if hit, otherwise the firer; neither is forced back (H-8.3, H-8.4).
    tested = replace(charging, base_count=charging.base_count - off.bases_removed)
    tested = tested if is_hit else replace(firing, charging=True)
    lost = off.bases_removed if is_hit else 0
    against = fire.morale_factor(tested, lost, NOBODY)
    test: Json = {"tests": True, "factor": against.value}
    if morale_dice is not None:
        passes = against.succeeds(morale_dice)
        test |= _fate(fire.outcome(tested, lost, passes=passes), passes=passes)
    idle = {"tests": False}
    return answer | {
        "hit": is_hit,
        "hits": scored or 0,
        "firer": idle if is_hit else test,
        "charger": as_answer(off)
        | (test if is_hit else idle)
        | {"in_contact": not (is_hit and test.get("rout"))},
    }


class SectorFacts(NestedFacts):
    """A sector of dense terrain: its outline, or its edges in cm from the unit's rear face."""

    id: Name
    outline_mm: list[tuple[float, float]] = field(default_factory=list)
    near_edge_cm: float | None = None
    far_edge_cm: float | None = None
    held_by: Literal["friend", "enemy"] | None = None

    def behind(self, lane: fire.Rear | None) -> fire.Span | None:
        """Returns the sector's span behind a unit; None if it is not there."""
        if self.near_edge_cm is not None and self.far_edge_cm is not None:
            return fire.Span(self.id, self.near_edge_cm, self.far_edge_cm, self.held_by)
        if len(self.outline_mm) < 3 or lane is None:
            why = "expected near_edge_cm and far_edge_cm, or an outline and a unit with bases"
            raise FactError("outline_mm", why, self)
        outline = area_of(Terrain(self.id, "sector", tuple(self.outline_mm)))
        span_cm = lane.span_cm(outline, centre_only=True)
        return None if span_cm is None else fire.Span(self.id, *span_cm, self.held_by)


@QUESTIONS.asks("H-9.8 H-9.9 H-9.10 H-9.11 H-9.12")
def _back(
    unit: UnitFacts,
    how: Literal["falls_back", "routs"],
    distance_cm: Centimetres,
    rear_edge_cm: float | None = None,
    friends: Sequence[UnitFacts] = (),
    enemies: Sequence[UnitFacts] = (),
    sectors: Sequence[SectorFacts] = (),
    table_mm: Table | None = None,
) -> Json:
    """A fall back or a rout straight to the rear, past friends and through dense terrain."""
    routs, bases = how == "routs", unit.poses if unit.bases else ()
    if not bases and (rear_edge_cm is None or friends):
        raise FactError("bases", "expected bases, or rear_edge_cm and no friends", unit)
    lane = fire.Rear.of(bases) if bases else None
    behind = [span for sector in sectors if (span := sector.behind(lane)) is not None]
    passed = []
    for number, friend in enumerate(friends, 1):
        span_cm = None if lane is None else lane.span_cm(footprints(friend.poses))
        if span_cm is not None:
            passed.append(fire.Span(friend.id or f"friend {number}", *span_cm))
    deep_cm = 0.0 if lane is None else lane.deep_cm
    way = fire.way_back(distance_cm, deep_cm, behind, passed, routs=routs)
    answer = as_answer(way) | as_answer(fire.removal(unit.troops(), way.extra_hits))
    answer |= {"routing": routs, "readings": ["H-9.9", "H-9.10", "H-9.11"]}
    if lane is None:
        return answer
    after = lane.moved(bases, way.distance_cm, turned=routs)
    width_mm, depth_mm = table_mm or (math.inf, math.inf)
    x_mm, y_mm = centre_mm(after)
    on_table = 0 <= x_mm <= width_mm and 0 <= y_mm <= depth_mm
    return answer | {
        "bases": to_plain(after) if on_table and not way.is_captured else [],
        "on_table": on_table,
        "on_rout_table": not on_table,
        "routing": routs or not on_table,
    }
