"""Plain questions to single rules of the sheet, by what counts or by how the bases lie."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Annotated, Final, Literal

from pydantic import Field as Limits

from tablecam.documents import Json
from tablecam.geometry.moves.lanes import room_ahead_mm
from tablecam.geometry.moves.poses import ahead, wheeled
from tablecam.rules.dice import dice_words
from tablecam.rules.frozen_json import to_plain
from tablecam.rules.game import Ban
from tablecam.rules.miniatures.faces import FACES
from tablecam.rules.miniatures.ground import axes_of, centre_mm
from tablecam.rules.miniatures.unit_keys import Count, Some
from tablecam.rules.questions import (
    INCH_MM,
    FactError,
    Facts,
    NestedFacts,
    Questions,
    as_answer,
)
from tablecam.rules.syw_d6 import (
    charges,
    fire,
    flights,
    fog_of_war,
    forming,
    marches,
    melee,
    morale,
    tables,
)
from tablecam.rules.syw_d6.field import Between, field_of
from tablecam.rules.syw_d6.morale import Company, Inches, TestKind
from tablecam.rules.syw_d6.state import Call, State
from tablecam.rules.syw_d6.troops import (
    Charted,
    Face,
    Troops,
    UnitFacts,
    bases_needed,
    bent_line,
    formation_of,
    may_pass,
)
from tablecam.table.headings import difference_deg
from tablecam.table.model import Commander, Point, Position, TableSize, Unit
from tablecam.table.position_file import BaseSection
from tablecam.table.sections import Name, Positive, TerrainSection

Die = Annotated[int, Limits(ge=1, le=6)]
Dice = tuple[Die, ...]
Degrees = Annotated[float, Limits(ge=-180, le=180)]
Share = Annotated[float, Limits(ge=0, le=1)]
Step = tuple[Literal["march", "wheel"], Annotated[float, Limits(ge=-3600, le=3600)]]
QUESTIONS: Final = Questions(tables.GAME)
_FAR_MM: Final = 1e5
_SIDES: Final = {"target": "enemy", "attacker": "enemy"}


class Leader(NestedFacts):
    """A commander's base on the table."""

    id: Name
    side: Name
    base: BaseSection

    def commander(self) -> Commander:
        """Returns the commander, who commands all."""
        at = self.base
        army = {"level": "army"}
        return Commander(self.id, self.side, at.x_mm, at.y_mm, pose=at.to_pose(), extra=army)


@dataclass(frozen=True, kw_only=True)
class OnTable(Charted):
    """What else lies on the table."""

    others: tuple[UnitFacts, ...] = ()
    commanders: tuple[Leader, ...] = ()
    terrain: tuple[TerrainSection, ...] = ()

    def position(
        self, named: Mapping[str, UnitFacts], table_mm: Point = (_FAR_MM, _FAR_MM)
    ) -> Position:
        """Returns the table; `named` are the units of the question by their keys, two enemies."""
        units = [unit.on_table(key, _SIDES.get(key, "own")) for key, unit in named.items()]
        units += [unit.on_table(f"other {n}") for n, unit in enumerate(self.others, 1)]
        return Position(
            tables.GAME,
            TableSize(*table_mm, tolerance_mm=self.tolerance_mm),
            tuple(units),
            tuple(leader.commander() for leader in self.commanders),
            tuple(piece.to_terrain() for piece in self.terrain),
        )


# --- by what counts ----------------------------------------------------------------------------


def _check_count(key: str, dice: Sequence[int], due: int) -> None:
    if len(dice) != due:
        raise FactError(key, f"expected {dice_words(due)}, got {len(dice)}")


@QUESTIONS.asks("S-0.7 S-L.4")
def _bases_needed(unit: UnitFacts) -> Json:
    """How many bases a unit needs for the figures that it has left."""
    return {"bases": bases_needed(unit.troops("figures"))}


@QUESTIONS.asks("S-H.5")
def _thresholds(strength: Some) -> Json:
    """From how many losses a strength counts 10, 25, 33, 50 and 75 %."""
    percents = sorted([percent for percent, _ in tables.LOSSES] + [tables.DESTROYED_PERCENT])
    losses = {str(percent): tables.share_of(strength, percent) for percent in percents}
    because = [f"{percent} % of {strength} is {lost}, rounded up"
               for percent, lost in losses.items()]  # fmt: skip
    return {"losses": losses, "because": because, "readings": ["S-H.5"]}


@QUESTIONS.asks("S-B.3 S-B.4 S-B.6")
def _move_dice(
    facts: Facts,
    unit: UnitFacts | None = None,
    commander: bool = False,
    command_distance_in: Inches | None = None,
    events: tuple[tables.Event, ...] = (),
    dice: Dice | None = None,
    choose: Dice | None = None,
) -> Json:
    """The dice with which a unit or a commander moves, and what they allow."""
    if (unit is not None) == commander:
        raise FactError("unit", "expected a unit, or commander true")
    pool, must_use = marches.COMMANDER_DICE, "any"
    if unit is not None:
        troops = unit.troops("experience")
        rain = facts.options.get("rain_affects") == "fire_and_move"
        pool = marches.move_dice(troops, command_distance_in, events, rain_slows=rain)
        must_use = tables.MUST_USE[troops.skill.move]
    answer = as_answer(pool) | {"must_use": must_use}
    if dice is None:
        return answer
    _check_count("dice", dice, pool.dice)
    values_in = [*pool.values_in(dice)]
    used_in = values_in[-1] if values_in else 0.0
    answer |= {"values_in": values_in, "greatest_in": used_in}
    if choose is not None:
        odd = next((die for die in choose if choose.count(die) > dice.count(die)), None)
        if odd is not None:
            raise FactError("choose", f"expected some of {[*dice]}, got {odd}")
        if not 1 <= len(choose) <= pool.choose_at_most:
            most = f"expected 1 to {pool.choose_at_most} dice, got {len(choose)}"
            raise FactError("choose", most)
        used_in = answer["final_value_in"] = pool.value_in(choose)
    return answer | {"least_use_in": used_in * tables.SHARES[must_use]}


@QUESTIONS.asks("S-B.7")
def _brigade_move(
    units: Annotated[tuple[UnitFacts, ...], Limits(min_length=1)],
    command_distances_in: tuple[Inches | None, ...],
) -> Json:
    """The dice of a brigade that moves as one."""
    if len(command_distances_in) != len(units):
        message = f"expected {len(units)} distances, got {len(command_distances_in)}"
        raise FactError("command_distances_in", message)
    brigade = [unit.troops("experience") for unit in units]
    if any(troops.is_disordered for troops in brigade):
        why_not = Ban("S-B.7", "a brigade with a disordered unit cannot move as one")
        return {"possible": False, "why_not": why_not}
    return {"possible": True} | as_answer(marches.brigade_dice(brigade, command_distances_in))


@QUESTIONS.asks("S-B.8")
def _path(frontage_in: Inches, steps: tuple[Step, ...], final_value_in: Inches) -> Json:
    """What a way of marches (in) and wheels (degrees) costs."""
    cost_in = math.fsum(
        amount if kind == "march" else frontage_in * math.radians(abs(amount))
        for kind, amount in steps
    )
    why = f"the way costs {cost_in:.2f} in, and the final value is {final_value_in:g} in"
    why_not = None if cost_in <= final_value_in + 1e-9 else Ban("S-B.8", why)
    return {"cost_in": cost_in, "legal": why_not is None, "why_not": why_not}


@QUESTIONS.asks("S-B.11 S-B.12")
def _charge_path(
    final_value_in: Inches,
    steps: Annotated[tuple[Step, ...], Limits(min_length=1)],
    off_square_deg: Degrees = 0.0,
    obstructed: bool = False,
) -> Json:
    """Whether a way of marches and wheels, by the inches of their arc, is a charge."""
    length_in = math.fsum(amount for _, amount in steps)
    charge_in = min(tables.CHARGE_IN, length_in)
    last = takewhile(lambda step: step[0] == "march", reversed(steps))
    straight_in = math.fsum(amount for _, amount in last)
    why_not = charges.charge_ban(charge_in, straight_in, off_square_deg)
    if length_in > final_value_in + 1e-9:
        why = f"the way is {length_in:g} in long, and the final value {final_value_in:g} in"
        why_not = Ban("S-B.8", why)
    elif why_not is None and obstructed:
        why_not = Ban("S-B.12", "something stands in the way of the charge distance")
    legal = why_not is None
    charge = charge_in if legal else None
    return {"legal": legal, "charge_distance_in": charge, "why_not": why_not}


@QUESTIONS.asks("S-C.1 S-C.2 S-C.3 S-C.4")
def _response_fire(
    firer: UnitFacts, event: fire.Occasion, nearest_range_in: Inches = 0.0, share_ahead: Share = 1.0
) -> Json:
    """Fire in the enemy's sequence, at one who crosses the front or makes contact."""
    troops = firer.troops("experience")
    ban = fire.ban_on_response(troops, event, nearest_range_in)
    if ban is not None:
        return {"may_fire": False, "why_not": ban, "dice": None, "marker_after": troops.marker}
    pool = fire.passing_pool(troops, nearest_range_in)
    if event == "contacted_front":
        # A section of a line would count apart; the whole unit is struck on its front.
        section = fire.Section(fire.figures_firing(troops), share_ahead)
        enemy = Troops(skill=troops.skill, figures_start=0, figures=0)
        pool = fire.fire_pool(troops, enemy, fire.Shot((section,), 0.0))
    marker = "orange" if troops.is_disordered else "none"
    return {"may_fire": True, "dice": pool.dice, "marker_after": marker, "parts": pool.parts}


class FireThrow(NestedFacts):
    """The dice of fire, and the target's die for the casualty TEST."""

    fire: Dice
    test: Die | None = None


@QUESTIONS.asks("S-D.1 S-D.3 S-D.4 S-D.5 S-D.8")
def _fire(
    table: OnTable,
    firer: UnitFacts,
    target: UnitFacts,
    range_in: Inches | None = None,
    share_ahead: Share = 1.0,
    ahead: bool = True,
    in_cone: bool = True,
    sections: tuple[fire.Section, ...] = (),
    face: Face | None = None,
    events: tuple[tables.Event, ...] = (),
    dice: FireThrow | None = None,
    with_: Company = morale.ALONE,
) -> Json:
    """Fire as the bases lie, or by what counts: the share of the front ahead, and the range."""
    troops, there = firer.troops("experience", "figures"), target.troops()
    answer = Json()
    if firer.bases and target.bases:
        position = table.position({"firer": firer, "target": target})
        ground, (a, b) = field_of(position), position.units[:2]
        troops, there, (lies, ban) = ground.troops[a.id], ground.target_of(a, b), ground.aim(a, b)
        if lies is None:
            return {"may_fire": False, "why_not": ban, "dice": None}
        shot = lies
        answer = {"files_ahead": round(shot.share_ahead * shot.files), "files": shot.files}
    elif range_in is None:
        raise FactError("range_in", "expected this key, or bases of both units")
    else:
        whole = fire.Section(fire.figures_firing(troops), share_ahead)
        shot = fire.Shot(sections or (whole,), range_in, ahead, in_cone)
    ban = fire.ban_on_firing(troops) or fire.ban_on_shot(troops, there, shot)
    band = fire.range_band(troops, shot.range_in)
    answer |= {"may_fire": ban is None, "range_in": shot.range_in, "range_band": band}
    if ban is not None:
        return answer | {"why_not": ban, "dice": None}
    pool = fire.fire_pool(troops, there, shot, events)
    if troops.arm == "artillery":
        answer |= {"ahead": shot.is_ahead, "in_cone": shot.is_in_cone}
    answer |= as_answer(pool) | {
        "dice": pool.dice,
        "canister": pool.parts["canister"] > 0,
        "dense": pool.parts["dense"] > 0,
        "because": pool.because,
    }
    if dice is None:
        return answer
    _check_count("dice.fire", dice.fire, pool.dice)
    casualties = fire.hits(dice.fire)
    struck = there.after_losses(casualties)
    is_called = fire.is_called_to_test(struck) and not struck.is_destroyed
    marks = {"disordered": struck.is_disordered, "destroyed": struck.is_destroyed}
    answer |= {
        "casualties": casualties,
        "target": {"figures": struck.figures} | marks,
        "casualty_test": is_called,
    }
    if is_called and dice.test is not None:
        test = morale.take_test(struck, "casualty", with_, dice.test, table.chart)
        answer |= {"test": test, "asks_for": test.asks_for}
    return answer


@QUESTIONS.asks("S-C.7 S-C.8 S-F.1")
def _evade(evader: UnitFacts, gap_in: Inches, charger_final_value_in: Inches, dice: Dice) -> Json:
    """Whether an evader is caught by its charger."""
    _check_count("dice", dice, evader.troops().rate)
    evade_in, charge_in = float(sum(dice)), min(tables.CHARGE_IN, gap_in)
    caught = charger_final_value_in >= gap_in + evade_in
    between_in = None if caught else (gap_in - charge_in, charger_final_value_in)
    return {
        "evade_in": evade_in,
        "caught": caught,
        "charge_distance_in": charge_in,
        "charger_may_stop_between_in": between_in,
        "allowed": True,
        "contacted_on": "rear" if caught else None,
        "evader_disordered": True,
        # A charger that fails to make contact is disordered (S-F.1).
        "charger_disordered": not caught,
    }


@QUESTIONS.asks("S-C.6 S-C.9")
def _counter_charge(unit: UnitFacts, charge_distance_in: Inches, dice: Dice | None = None) -> Json:
    """A counter-charge, and whether it has the charge bonus."""
    troops = unit.troops("experience")
    if not troops.may_counter_charge:
        why_not = Ban("S-C.6", "only cavalry in order counter-charges")
        return {"allowed": False, "why_not": why_not, "moves_in": None, "charge_bonus": None}
    if dice is None:
        return {"allowed": True}
    _check_count("dice", dice, charges.counter_charge_dice(troops))
    moves_in = float(sum(dice))
    return {"allowed": True, "moves_in": moves_in, "charge_bonus": moves_in >= charge_distance_in}


@QUESTIONS.asks("S-H.1 S-H.3 S-H.4 S-F.2")
def _test(
    facts: Charted,
    unit: UnitFacts,
    kind: TestKind = "casualty",
    die: Die | None = None,
    with_: Company = morale.ALONE,
) -> Json:
    """The TEST of a unit, factor by factor."""
    test = morale.take_test(unit.troops("experience", "figures"), kind, with_, die, facts.chart)
    return as_answer(test) | {"because": morale.test_terms(test.parts)}


class MeleeThrow(NestedFacts):
    """A die for each side, and one for the loser's TEST."""

    attacker: Die
    defender: Die
    loser_test: Die | None = None


class Totals(NestedFacts):
    """The totals of a melee."""

    attacker: int
    defender: int


Side = Literal["attacker", "defender"]
SIDES: Final[tuple[Side, Side]] = ("attacker", "defender")


@QUESTIONS.asks("S-F.2 S-F.3 S-F.4 S-F.6 S-F.7")
def _melee(
    facts: Charted,
    attacker: UnitFacts,
    defender: UnitFacts,
    with_: Mapping[Side, morale.Company] | None = None,
    dice: MeleeThrow | None = None,
    totals: Totals | None = None,
    wishes: Mapping[Side, bool] | None = None,
) -> Json:
    """A round of melee between two units, from the totals to what they lead to."""
    units = zip(SIDES, (attacker, defender), strict=True)
    troops = {side: unit.troops("experience", "figures") for side, unit in units}
    companies = {side: (with_ or {}).get(side, morale.ALONE) for side in SIDES}

    def test_of(side: Side, die: int | None) -> morale.MoraleTest:
        return morale.take_test(troops[side], "melee", companies[side], die, facts.chart)

    tests = {side: test_of(side, getattr(dice, side, None)) for side in SIDES}
    answer: Json = {"asks_for": [], "totals": totals}
    if totals is None:
        asks = (row for test in tests.values() for row in test.asks_for)
        answer = {
            "asks_for": list(dict.fromkeys(asks)),
            "totals": {side: test.total for side, test in tests.items()},
            "parts": {side: test.parts for side, test in tests.items()},
            "because": [
                f"{side}: {line}"
                for side, test in tests.items()
                for line in morale.test_terms(test.parts)
            ],
        }
    attack, defence = as_answer(answer["totals"]).values()
    if None in (attack, defence) or (dice is None and totals is None):
        return answer | {"loser": None, "result": None}
    goes_on = attack == defence and any((wishes or {}).values())
    loser: Side | None = None
    if attack != defence:
        loser = "attacker" if attack < defence else "defender"
        troops[loser] = troops[loser].after_losses(melee.figures_due(attack - defence))
    destroyed = [loser] if loser is not None and troops[loser].is_destroyed else []
    gone = [side for side in SIDES if troops[side].is_destroyed]
    answer |= {
        "loser": loser,
        "figures_due": melee.figures_due(attack - defence),
        "figures": {side: troops[side].figures for side in SIDES},
        "destroyed": destroyed,
        "continues": goes_on,
        "charge_bonus_continues": goes_on and companies["attacker"].charging,
        "disordered": [
            side for side in SIDES if not goes_on and (loser is None or side not in gone)
        ],
    }
    if loser is None or destroyed:
        event: Literal["destroyed"] | None = "destroyed" if destroyed else None
        tests_due = {"moves_in": None, "moral_tests": _moral_tests(event)}
        return answer | {"result": event or "draw"} | tests_due
    if dice is None or dice.loser_test is None:
        return answer
    test = test_of(loser, dice.loser_test)
    rows = list(dict.fromkeys([*answer["asks_for"], *test.asks_for]))
    answer |= {"loser_test": test, "asks_for": rows, "result": test.of_loser}
    if test.result is None:
        return answer
    tested = _moral_tests("routs" if test.is_rout else "retreats")
    return answer | {"moves_in": "owner's-next-sequence", "moral_tests": tested}


def _moral_tests(event: Call | None) -> Json:
    """Returns the moral TESTs that an event calls, and what it counts in them (S-G.1)."""
    same, other = (None, None) if event is None else tables.FRIENDS[event]
    factors = {"same_brigade": same, "other_brigade": other}
    return {"called": event is not None, "within_in": tables.COMMAND_IN} | factors


@QUESTIONS.asks("S-G.1 S-G.2 S-G.3")
def _moral_order(event: Call, unit: UnitFacts, friends: dict[str, morale.Friend]) -> Json:
    """Who takes the moral TEST, in which order, and what the event counts for each."""
    order, brigade = morale.moral_order(friends), unit.brigade
    same, other = tables.FRIENDS[event]
    own = {name for name in order if brigade and friends[name].brigade == brigade}
    factors = {name: same if name in own else other for name in order}
    not_tested = [name for name in friends if name not in order]
    return {"order": order, "factors": factors, "not_tested": not_tested}


@QUESTIONS.asks("S-A.3 S-A.4")
def _clear(
    facts: Facts,
    unit: UnitFacts,
    dice: Annotated[Dice, Limits(min_length=1)] | None = None,
    centre_before_mm: Point | None = None,
    centre_after_mm: Point | None = None,
) -> Json:
    """The throw of a unit with a red marker."""
    troops, answer = unit.troops("experience"), Json()
    if dice is not None:
        _check_count("dice", dice, forming.clearing_dice(troops.skill.clear, dice[0]))
        is_kind = facts.options.get("second_chance") == "not_one"
        is_cleared = forming.clears(dice, is_kind=is_kind)
        failed = "orange" if troops.status == "routing" else "red"
        answer = {"cleared": is_cleared, "dice_used": len(dice)}
        answer["marker"] = "none" if is_cleared else failed
    if centre_before_mm is not None and centre_after_mm is not None:
        moved_in = math.dist(centre_before_mm, centre_after_mm) / INCH_MM
        answer |= {
            "centre_legal": moved_in <= tables.FORM_UP_IN + 1e-9,
            "centre_moved_in": moved_in,
        }
    return answer


@QUESTIONS.asks("S-0.12")
def _fog(
    first_die: Die | None = None,
    roll: Annotated[Dice, Limits(min_length=2, max_length=2)] | None = None,
    active: Name | None = None,
    event: tables.Event | None = None,
    pool: Count | None = None,
) -> Json:
    """The Fog of War: the first die, the throw of the table, or an event and a pool of fire."""
    answer: Json = {} if first_die is None else {"consulted": first_die == tables.FOG_ON}
    if roll is not None:
        if active is None:
            raise FactError("active", "expected the active side, but the key is missing")
        event = fog_of_war.event_of(roll, active)
    if event is None and pool is not None:
        raise FactError("event", "expected an event, but the key is missing")
    if event is not None:
        rule = fog_of_war.FOG[event].rule
        answer |= {"event": event, "rule": rule, "rules": [rule]}
        if pool is not None:
            answer["pool"] = max(0, pool + tables.WEATHER.get(event, 0))
    return answer


@QUESTIONS.asks("S-M.2 S-M.3")
def _fog_lot(
    commanders: Annotated[tuple[Name, ...], Limits(min_length=1)],
    army: Name,
    value: Some | None = None,
) -> Json:
    """On which commander the lot falls."""
    if army not in commanders:
        raise FactError("army", f"expected one of {', '.join(commanders)}")
    sides = fog_of_war.lot_sides(len(commanders))
    if value is None:
        return {"sides": sides}
    if value > sides:
        raise FactError("value", f"expected 1 to {sides}, got {value}")
    return {"sides": sides, "falls": fog_of_war.lot(commanders, army, value)}


@QUESTIONS.asks("S-L.7 S-L.8 S-L.9 S-L.12 S-L.14")
def _formation(unit: UnitFacts | None = None, bends_deg: tuple[Degrees, ...] | None = None) -> Json:
    """The formation in which a unit lies, or of a line with bends, forward positive."""
    if (unit is None) == (bends_deg is None):
        raise FactError("unit", "expected a unit with bases, or bends_deg")
    if unit is None:
        read = bent_line(bends_deg or (), 1, 1)
        answer: Json = {"formation": read.formation, "why_not": read.why_not}
    else:
        read = formation_of(unit.poses, unit.troops(), inch_mm=INCH_MM)
        answer = as_answer(read)
    return answer | {"correct": read.why_not is None}


@QUESTIONS.asks("S-E.5")
def _gap(gap_in: Inches, target_frontage_in: Inches) -> Json:
    """Whether a gap between two friends is wide enough to fire through."""
    may_fire, needed_in = fire.may_fire_through(gap_in, target_frontage_in)
    return {"may_fire": may_fire, "needed_in": needed_in}


class CommanderFacts(NestedFacts):
    """A commander and the brigades that he commands."""

    level: Literal["brigade", "division", "army"]
    commands: tuple[Name, ...] = ()


@QUESTIONS.asks("S-K.3 S-K.4")
def _commander_contacted(commander: CommanderFacts, friends: tuple[morale.Friend, ...]) -> Json:
    """What the loss of a commander counts for his units."""
    factors = [
        tables.FRIENDS["destroyed"][0]
        if friend.brigade in commander.commands and friend.distance_in <= tables.COMMAND_IN
        else None
        for friend in friends
    ]
    return {"removed": True, "factors": factors}


@QUESTIONS.asks("S-J.6")
def _interpenetration(a: UnitFacts, b: UnitFacts) -> Json:
    """Two friendly units that pass through each other."""
    return {"disordered": not may_pass(a.troops(), b.troops())}


# --- as the bases lie --------------------------------------------------------------------------


def _state_of(position: Position, own: Unit) -> State:
    """Returns a battle on a question's table; the unit's own edge is the long one nearer to it."""
    other = next((unit.side for unit in position.units if unit.side != own.side), "enemy")
    is_low = centre_mm(own.bases)[1] <= position.table.depth_mm / 2
    edges = ("south", "north") if is_low else ("north", "south")
    sides = (own.side, other)
    return State(position, sides, edges=dict(zip(sides, edges, strict=True)))


@QUESTIONS.asks("S-B.11 S-B.12 S-B.14 S-L.11")
def _charge(
    table: OnTable,
    charger: UnitFacts,
    target: UnitFacts,
    direction_deg: float,
    final_value_in: Inches,
) -> Json:
    """A charge straight ahead at an enemy, as the bases lie."""
    position = table.position({"charger": charger, "target": target})
    unit, enemy = position.units[:2]
    front = axes_of(unit)
    turn_deg = difference_deg(direction_deg, front.heading_deg)
    unit = replace(unit, bases=wheeled(unit.bases, front.middle_mm, turn_deg))
    state = _state_of(replace(position, units=(unit, *position.units[1:])), unit)
    ground = state.field
    room_mm = room_ahead_mm(axes_of(unit), [ground.outlines[enemy.id]], _FAR_MM)
    if math.isinf(room_mm):
        why_not = Ban("S-B.14", f"{unit.id} does not meet {enemy.id} in that direction")
        return {"legal": False, "why_not": why_not}
    bases = ahead(unit.bases, direction_deg, room_mm)
    ruling, way = charges.judged_charge(state, unit, enemy, bases, final_value_in)
    answer: Json = {"legal": way is not None, "path_in": ground.inches(room_mm)}
    struck = charges.struck_edge(ground, enemy, replace(unit, bases=bases))
    if struck is not None:
        place, face, edge = struck
        off_deg = abs(difference_deg(direction_deg, edge.heading_deg + 180.0))
        answer |= {"edge": FACES[place], "contacted_on": face, "off_square_deg": off_deg}
    if way is None:
        return answer | {"why_not": Ban(ruling.rule, ruling.because)}
    bonus = charges.has_charge_bonus(ground.troops[unit.id], way.face)
    return answer | {"charge_distance_in": way.charge_in, "charge_bonus": bonus}


@QUESTIONS.asks("S-C.11 S-C.12 S-C.13")
def _flight(
    table: OnTable,
    kind: Literal["evade", "retreat", "rout"],
    unit: UnitFacts,
    distance_in: Inches,
    attacker: UnitFacts | None = None,
    attacker_centre_mm: Point | None = None,
    table_mm: tuple[Positive, Positive] = (_FAR_MM, _FAR_MM),
    first: bool = True,
) -> Json:
    """A flight from an attacker, as the bases lie."""
    if first and (attacker is None) == (attacker_centre_mm is None):
        raise FactError("attacker", "expected an attacker, or attacker_centre_mm")
    named = {"unit": unit} if attacker is None else {"unit": unit, "attacker": attacker}
    position = table.position(named, table_mm)
    own = position.units[0]
    state, enemy = _state_of(position, own), "" if attacker is None else position.units[1].id
    start = attacker_centre_mm or centre_mm(position.units[len(named) - 1].bases)
    away = flights.away_deg(state, own, start if first else None)
    way = flights.way_out(state, own, away, distance_in, enemy=enemy, turns=kind != "retreat")
    ground = state.field

    def distances_mm(there: State) -> Json:
        enemies = there.field.enemies(own)
        unit = there.unit(own.id)
        return {other.id: there.field.apart_in(unit, other) * INCH_MM for other in enemies}

    answer: Json = {
        "straight_away_allowed": way is not None and way.turn_deg == 0,
        "distances_before_mm": distances_mm(state),
        "disordered": True,
        "destroyed": way is None,
        "off_table": way is not None and way.is_off,
    }
    if way is None:
        return answer
    gone = state.changed(own.id, bases=way.bases)
    shaken = marches.disordered_on_the_way(gone, ground, own, way.swept).position.units
    before = {friend.id for friend in ground.friends(own) if not friend.state.get("disordered")}
    return answer | {
        "turn_deg": way.turn_deg,
        "distances_after_mm": distances_mm(gone),
        "bases": [] if way.is_off else to_plain(way.bases),
        "disordered_friends": [
            one.id for one in shaken if one.id in before and one.state.get("disordered")
        ],
    }


class TargetFacts(NestedFacts):
    """Where a target stands."""

    on_hill: bool = False
    at_in: Inches = 0.0


_BELOW = TargetFacts()


@QUESTIONS.asks("S-E.1 S-E.2 S-E.3 S-E.4")
def _sight(
    firer_on_hill: bool = False, target: TargetFacts = _BELOW, between: tuple[Between, ...] = ()
) -> Json:
    """Whether a firer sees past what stands between."""
    bans = (one.ban(firer_on_hill=firer_on_hill, target_on_hill=target.on_hill) for one in between)
    why_not = next((ban for ban in bans if ban is not None), None)
    return {"may_fire": why_not is None, "why_not": why_not}


class TerrainFacts(NestedFacts):
    """A piece of terrain as it counts."""

    kind: Name
    designated: bool = True
    disorders: bool | None = None


@QUESTIONS.asks("S-J.2 S-J.8 S-J.9")
def _terrain_move(
    unit: UnitFacts,
    ground: TerrainFacts,
    where: Literal["entering", "inside", "leaving"],
    final_value_in: Inches,
    edge_ahead_in: Inches = 0.0,
    base_depth_in: Inches = 0.0,
) -> Json:
    """A move into, in or out of terrain: where it must stop, and whether it disorders."""
    crosses = where != "inside" and edge_ahead_in <= final_value_in
    must_stop, between_in = ground.designated and crosses, None
    if must_stop:
        deep_in = edge_ahead_in + base_depth_in
        first_in = edge_ahead_in if where == "entering" else deep_in
        between_in = [min(stop_in, final_value_in) for stop_in in (first_in, deep_in)]
    disorders = ground.designated if ground.disorders is None else ground.disorders
    is_touched = where == "inside" or (where == "entering" and crosses)
    return {
        "must_stop": must_stop,
        "ends_between_in": between_in,
        "disordered": disorders and is_touched and unit.suffers_terrain,
    }


class RetreatThrow(NestedFacts):
    """The die of the TEST, and the dice of the move."""

    test: Die
    move: Dice


@QUESTIONS.asks("S-B.10")
def _manufactured_retreat(
    facts: Charted, unit: UnitFacts, dice: RetreatThrow, with_: Company = morale.ALONE
) -> Json:
    """A retreat that a unit takes of its own choice."""
    troops = unit.troops("experience", "figures")
    _check_count("dice.move", dice.move, troops.rate)
    left = troops.after_losses(tables.RETREAT_FIGURES)
    test = morale.take_test(left, "melee", with_, dice.test, facts.chart)
    return {
        "figures": left.figures,
        "test": test,
        "result": test.of_loser,
        "distance_in": float(sum(dice.move)),
        "disordered": True,
        "asks_for": test.asks_for,
    }
