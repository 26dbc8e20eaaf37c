"""Plain questions to single rules, on counters as they stand on a map or as they count."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from itertools import chain
from typing import Annotated, Any, Final, Literal

from pydantic import Field as Limits

from tablecam.documents import Json, document_from
from tablecam.rules.game import Ban
from tablecam.rules.hexes import asking
from tablecam.rules.hexes.asking import HexName, ground_in, map_of, on_map
from tablecam.rules.hexes.grid import Hex, grid_of
from tablecam.rules.musket_saber import combat, movement, results, retreat, sequence, tables, troops
from tablecam.rules.musket_saber.combat import Manner, Role, Tactic
from tablecam.rules.musket_saber.field import CLEAR, OPEN_GROUND, OPEN_SIDE, Field, Map
from tablecam.rules.musket_saber.files import Allowance, Path, Secondary, SomeCharts, with_paths
from tablecam.rules.musket_saber.movement import Step
from tablecam.rules.musket_saber.results import Choice
from tablecam.rules.musket_saber.tables import Arm, Code, Time, code_of
from tablecam.rules.musket_saber.troops import Leader, LineKind, Post, Unit, fighting
from tablecam.rules.questions import FactError, Facts, NestedFacts, Questions, charts_in, is_house
from tablecam.table.sections import StrictModel

QUESTIONS: Final = Questions(tables.GAME)
Die = Annotated[int, Limits(ge=1, le=6)]
Dice = tuple[Die, ...]
Names = tuple[str, ...]
Tactics = Mapping[Role, Tactic | None] | None
Kind = Literal["brigade", "battery", "battalion", "squadron", "leader", "hq", "trains"]

QUESTIONS.asks("K-G2")(asking.neighbours)
QUESTIONS.asks("K-G4")(asking.stacks_seen)


@QUESTIONS.asks("K-G1 K-G2 K-G3", "R-01")
def _place(facts: Facts, map: Mapping[str, Any], counters: tuple[asking.CounterFacts, ...]) -> Json:
    """In which hexes counters lie; they have no facing."""
    return asking.places(facts, map, counters, has_facing=False)


def _why(ban: Ban | None, key: str = "legal") -> Json:
    return {key: ban is None, "why_not": ban}


def _code(text: str, key: str = "code", owner: object = None) -> Code:
    try:
        return code_of(text)
    except ValueError as fault:
        raise FactError(key, str(fault), owner) from None


def _crt(charts: SomeCharts, value: int, die: int | None) -> Json:
    """Returns the column of a differential, and with a die the result printed there."""
    if charts.crt is None:
        return {"column": None, **({} if die is None else {"printed": None}), "asks_for": ["crt"]}
    answer: Json = {"column": str(charts.crt.columns[charts.crt.column_of(value)])}
    return answer if die is None else answer | {"printed": charts.crt.printed(value, die)}


Posts = Post | tuple[Post, ...]


class _Drawn(StrictModel):
    """What a map has besides the kit's keys."""

    paths: list[Path] = Limits(default_factory=list)
    secondary: list[Secondary] = Limits(default_factory=list)


class Begin(NestedFacts):
    """When it is, and whose phase."""

    turn: int = 1
    turns: int = 99
    phase: Literal["movement", "combat"] = "movement"
    active_side: str = ""
    time: Time = "day"


class Setup(NestedFacts):
    """The counters on a map, with the charts that the question needs."""

    map: Mapping[str, Any]
    charts: Mapping[str, Any] | None = None
    begin: Begin = field(default_factory=Begin)
    units: tuple[Unit, ...] = ()
    leaders: tuple[Leader, ...] = ()
    hq: Posts = ()
    trains: Posts = ()
    loc: Mapping[str, HexName | tuple[HexName, ...]] | HexName | tuple[HexName, ...] = ()

    def field(self, charts: Mapping[str, Any] | None = None) -> Field:
        """Returns the map with all that stands on it.

        Raises:
            BadInput: A hex is off the map, or a chart is wrong.
        """
        ground = ground_in(self.map)
        keys = {key: value for key, value in self.map.items() if key in _Drawn.model_fields}
        drawn = document_from(keys, "map").parsed(_Drawn)
        loc = self.loc if isinstance(self.loc, Mapping) else {"": self.loc}
        lines = {side: (n,) if isinstance(n, str) else n for side, n in loc.items()}
        for number in chain.from_iterable(lines.values()):
            on_map(ground.grid, number, "loc")
        hq, trains = ((p,) if isinstance(p, Post) else p for p in (self.hq, self.trains))
        things: list[Unit | Leader | Post] = [*self.units, *self.leaders, *hq, *trains]
        for thing in things:
            if thing.hex is not None:
                on_map(ground.grid, thing.hex, owner=thing)
        ground = with_paths(ground, drawn.paths, drawn.secondary)
        return Field(
            Map(ground, charts_in(self.charts or charts, SomeCharts)), self.units, self.leaders, hq,
            trains, lines, self.begin.time, self.begin.active_side,
        )  # fmt: skip

    def unit(self, name: str, key: str = "unit") -> Unit:
        """Returns a unit by its id."""
        unit = next((unit for unit in self.units if unit.id == name), None)
        if unit is None:
            raise FactError(key, f"expected one of the setup's units, got {name}")
        return unit

    def hex(self, number: Hex, key: str) -> Hex:
        """Returns a hex that must be on the map."""
        return on_map(grid_of(map_of(self.map)), number, key)


# --- zones and movement ---------------------------------------------------------------------------


@QUESTIONS.asks("K-6.1 K-6.4 K-9.5d K-G5")
def _zones(setup: Setup) -> Json:
    """The zones of control of all units, and what each side's enemies control."""
    field = setup.field()
    sides = dict.fromkeys(unit.side for unit in field.units)
    enemy = {side: sorted(field.enemy_zone(side)) for side in sides}
    return {"zones": field.zones, "enemy_zone": enemy, "house": is_house(setup.charts)}


@QUESTIONS.asks(
    "K-4.2 K-4.3 K-4.5 K-4.6a K-4.6b K-4.7a K-4.7c K-6.2a K-6.2b K-6.3 K-10.1 K-12.2",
    "R-02 R-08 R-09",
)
def _move(
    facts: Facts, setup: Setup, unit: str, path: tuple[HexName, ...], march: bool = False,
    charge: HexName | None = None,
) -> Json:  # fmt: skip
    """Whether a unit, a leader alone, an HQ or trains may move so, and what it costs."""
    field = setup.field(facts.charts)
    for number in path:
        setup.hex(number, "path")
    others: tuple[Leader | Post, ...] = (*field.leaders, *field.hq, *field.trains)
    thing = next((other for other in others if other.id == unit), None) or setup.unit(unit)
    if thing.hex is None:
        raise FactError("unit", f"expected a hex of {unit}, but it is missing")
    hexes = path[1:] if path[:1] == (thing.hex,) else path
    move = movement.walker_of(field, thing, march=march, charge=charge).move(hexes)
    return {
        **_why(move.ban), "mp": move.mp, "mp_of": move.mp_of, "must_stop_at": move.must_stop_at,
        "because": [f"it rolls for its MA: {reason}" for reason in move.rolls],
        "house": is_house(setup.charts),
    }  # fmt: skip


class StepFacts(NestedFacts):
    """A step of a path, and the ground of the hex that is entered."""

    terrain: str = CLEAR
    hexside: str | None = None
    path: Literal["road", "trail"] | None = None
    enemy_zone: bool = False
    combat_unit: bool = False


@QUESTIONS.asks("K-4.5 K-4.6a K-4.6b K-4.7c K-10.1")
def _path_cost(
    facts: Facts, arm: Literal["infantry", "cavalry", "artillery", "leader"],
    steps: tuple[StepFacts, ...], march: bool = False, of: float | None = None,
) -> Json:  # fmt: skip
    """What a path costs."""
    charts = charts_in(facts.charts, SomeCharts)
    known = {f"terrain.{kind}" for kind in (CLEAR, *charts.terrain)}
    known |= {f"hexside.{kind}" for kind in (None, *charts.hexside)}
    rows = [row for step in steps for row in (f"terrain.{step.terrain}", f"hexside.{step.hexside}")]
    missing = [row for row in dict.fromkeys(rows) if row not in known]
    if missing and arm != "leader":
        return {"mp": None, "legal": None, "asks_for": missing}
    ground = [
        Step(
            (charts.terrain.get(step.terrain, OPEN_GROUND),),
            charts.hexside.get(step.hexside or "", OPEN_SIDE), step.path, step.enemy_zone,
            step.combat_unit,
        )
        for step in steps
    ]  # fmt: skip
    cost = movement.path_cost(arm, ground, march=march)
    left = None if of is None else of - cost.mp
    ban = cost.ban
    if ban is None and left is not None and left < 0:
        ban = Ban("K-4.3", f"it costs {cost.mp:g} of {of:g}")
    answer = {**_why(ban), "mp": cost.mp, "house": is_house(facts.charts)}
    return answer if left is None else answer | {"mp_left": left}


Reason = Literal["disrupted", "overstacked", "disengaging", "fow", "hq_inactive"]


@QUESTIONS.asks("K-4.4 K-4.7a K-4.7b K-9.5d K-10.3b", "R-06 R-07")
def _allowance(
    ma: Allowance, arm: Arm = "infantry", march: bool = False,
    why: Reason | tuple[Reason, ...] | None = None, leader_movement: int = 0, square: bool = False,
    dice: Dice = (),
) -> Json:  # fmt: skip
    """The Movement Allowance of a unit, printed or rolled."""
    allowed = movement.allowance(
        arm, ma, dice, must_roll=bool(why), march=march, leader=leader_movement, square=square
    )
    if dice and (allowed.ma is None or allowed.dice_used != len(dice)):
        expected = "another die" if allowed.ma is None else f"{allowed.dice_used} dice"
        raise FactError("dice", f"expected {expected}, got {len(dice)}")
    return vars(allowed)


@QUESTIONS.asks("K-6.3 K-14.2", "R-09")
def _disengage(
    ma: Allowance, held_by: tuple[Allowance, ...], friend_stays: bool = False,
    enters_zone: bool = False, die: Die | None = None, cheapest_exit_mp: float = 1.0,
    time: Time = "day",
) -> Json:  # fmt: skip
    """Whether a unit may leave an enemy zone of control, and with a die whether it does."""
    ban = movement.ban_on_disengaging(ma, held_by, friend_stays=friend_stays, time=time)
    if ban is None and enters_zone:
        ban = Ban("K-6.3", "a unit that disengages enters no enemy zone of control")
    answer: Json = {**_why(ban, "allowed"), "rolls": ban is None}
    if ban is None and die is not None:
        rolled = movement.allowance("infantry", ma, (die,), must_roll=True).ma
        answer["moved"] = None if rolled is None else rolled >= cheapest_exit_mp
    return answer


@QUESTIONS.asks("K-7.13c K-9.3 K-9.4 K-14.2 K-14.3")
def _may_charge(
    facts: Facts, arm: Arm, units: tuple[Kind, ...] = ("brigade",),
    kind: Literal["charge", "countercharge"] = "charge", disrupted: bool = False,
    ineffective: bool = False, mp_to_adjacent: float | None = None, through_friends: bool = False,
    path_terrain: str | tuple[str, ...] = (), target_terrain: str = CLEAR,
    against: Literal["attack", "charge", "bombardment"] = "attack", time: Time = "day",
) -> Json:  # fmt: skip
    """Whether units may charge or countercharge."""
    kinds = (path_terrain,) if isinstance(path_terrain, str) else path_terrain
    kinds = (*kinds, target_terrain)
    terrain = charts_in(facts.charts, SomeCharts).terrain
    ban = movement.ban_on_charge(
        arm, units, counters=kind == "countercharge", disrupted=disrupted, ineffective=ineffective,
        mp=mp_to_adjacent, through_friends=through_friends, path_terrain=kinds, against=against,
        bars=any(name in terrain and not terrain[name].charge for name in kinds), time=time,
    )  # fmt: skip
    return {**_why(ban), "readings": ["R-20"] if time == "twilight" else []}


@QUESTIONS.asks("K-13.1")
def _enter(
    facts: Facts, units: tuple[Unit, ...], march: bool = False,
    path: Literal["road", "trail"] | None = None, terrain: str = CLEAR, zone: bool = False,
    enemy: bool = False,
) -> Json:  # fmt: skip
    """What reinforcements that enter at one hex have left."""
    if zone or enemy:
        return _why(Ban("K-13.1", "an enemy or an enemy zone of control is there"), "enter")
    charts = charts_in(facts.charts, SomeCharts)
    if terrain not in {CLEAR, *charts.terrain} and path is None:
        return {"enter": None, "mp_left": None, "asks_for": [f"terrain.{terrain}"]}
    step = Step((charts.terrain.get(terrain, OPEN_GROUND),), path=path)
    left: list[float | None] = []
    ahead = 0
    for unit in units:
        most = tables.most_points(unit.printed("ma"))
        cost = movement.entry_cost(unit, step, ahead, march=march)
        points = movement.allowance(unit.arm, most, (), must_roll=False, march=march).ma
        rest = (points or 0) - cost.mp
        left.append(rest if rest >= 0 and cost.ban is None else None)
        ahead += not unit.is_small
    return {"enter": True, "mp_left": left, "house": is_house(facts.charts)}


@QUESTIONS.asks("K-5.2 K-5.3 K-7.7")
def _overstacked(units: tuple[Kind, ...], fight: tuple[StackedFacts, ...] = ()) -> Json:
    """Whether a hex is overstacked, and what those count that fight from it."""
    counters = [_kind(kind) for kind in units if kind not in ("leader", "hq", "trains")]
    is_over = troops.is_overstacked(counters)
    who = [replace(_kind(fact.kind), id=str(place)) for place, fact in enumerate(fight)]
    fighters = {unit.id for unit in fighting(who)}
    counts = [
        tables.halved(fact.cf, int(is_over)) if str(place) in fighters else 0
        for place, fact in enumerate(fight)
    ]
    return {"overstacked": is_over, "all_roll_ma": is_over, "counts": counts}


class StackedFacts(NestedFacts):
    """A unit that fights from a stack."""

    kind: Kind
    cf: int = 0


def _kind(kind: Kind) -> Unit:
    if kind == "battery":
        return Unit(arm="artillery")
    return Unit(size=kind) if kind in ("battalion", "squadron") else Unit()


# --- lines of retreat -----------------------------------------------------------------------------


@QUESTIONS.asks("K-7.6 K-G8", "R-04 R-05")
def _line(setup: Setup, unit: str) -> Json:
    """A unit's best line of retreat."""
    line = setup.field().line(setup.unit(unit))
    return {"line": line.kind, "path": line.path}


@QUESTIONS.asks("K-7.9a K-7.9b K-11.1e", "R-13 R-14")
def _retreat(
    setup: Setup, unit: str, hexes: Literal[1, 2, 3] = 1, combat_hex: HexName | None = None
) -> Json:
    """How far a unit retreats, and where it may end."""
    piece = setup.unit(unit)
    away = retreat.retreats(setup.field(), piece, hexes, combat_hex or piece.hex or "")
    ends = sorted({path[-1] for path in away.paths})
    return {"line": away.line, "must_go": away.must_go, "routs_from": away.routs_from, "ends": ends}


@QUESTIONS.asks("K-7.9a K-7.9b K-7.9c", "R-14 R-15")
def _retreat_path(ma: Allowance, line: tuple[retreat.LineStep, ...], hexes: int = 1) -> Json:
    """Where a retreat along the only line ends."""
    return vars(retreat.along(ma, line, hexes))


@QUESTIONS.asks("K-7.10 K-4.1")
def _rout(line: LineKind, turn: int, turns: int) -> Json:
    """What becomes of a unit that routs."""
    return vars(retreat.rout(line, turn, turns))


@QUESTIONS.asks("K-7.12 K-8.3 K-11.1c")
def _advance(
    facts: Facts, setup: Setup, vacated: HexName, units: Names, defenders_only_routed: bool = False
) -> Json:
    """Where victors may advance."""
    field = setup.field(facts.charts)
    setup.hex(vacated, "vacated")
    victors, only_routed = [setup.unit(name, "units") for name in units], defenders_only_routed
    ends = {u.id: retreat.advances(field, u, vacated, only_routed=only_routed) for u in victors}
    return {"hexes": ends, "house": is_house(setup.charts)}


@QUESTIONS.asks("K-13.2 K-12.3")
def _reentry(setup: Setup, side: str | None = None) -> Json:
    """Where units of a side return to the map."""
    field = setup.field()
    posts = [post for post in (*field.hq, *field.trains) if post.side]
    known = [side, *(post.side for post in posts), *filter(None, field.loc), field.active_side]
    hexes = {post.hex for post in (*field.hq, *field.trains)}
    known += [unit.side for unit in field.units if unit.hex in hexes]
    return {"hexes": sequence.reentry_hexes(field, next(filter(None, known), ""))}


# --- sight and guns -------------------------------------------------------------------------------


@QUESTIONS.asks("K-8.6 K-14.2 K-14.3 K-G7", "R-03")
def _sight(
    facts: Facts, setup: Setup, to: HexName, from_: HexName, time: Time | None = None
) -> Json:
    """Whether there is a line of sight between two hexes."""
    field = setup.field(facts.charts)
    field = field if time is None else replace(field, time=time)
    firer, target = setup.hex(from_, "from"), setup.hex(to, "to")
    if firer == target:
        raise FactError("to", f"expected another hex, got {to}")
    ban = field.ban_on_sight(firer, target)
    blockers = field.map.sight_blockers(firer, target)
    return {**_why(ban, "sight"), "blocked_by": blockers}


@QUESTIONS.asks("K-8.2 K-8.4a K-8.6 K-8.7 K-14.2 K-14.3")
def _may_bombard(facts: Facts, setup: Setup, unit: str, target: HexName) -> Json:
    """Whether a battery may bombard a hex."""
    field, gun = setup.field(facts.charts), setup.unit(unit)
    setup.hex(target, "target")
    ban = combat.ban_on_bombarding(field, gun, target)
    answer = {**_why(ban, "may"), "house": is_house(setup.charts)}
    if gun.hex is None or gun.range is None:
        return answer
    hexes, most = combat.range_to(field, gun, target)
    return answer | {"range": hexes, "of": most}


@QUESTIONS.asks("K-8.8")
def _may_support(facts: Facts, setup: Setup, unit: str, attackers: Names, target: HexName) -> Json:
    """Whether a battery may support an attack."""
    field, setup_hex = setup.field(facts.charts), setup.hex(target, "target")
    units = [setup.unit(name, "attackers") for name in attackers]
    return _why(combat.ban_on_support(field, setup.unit(unit), units, setup_hex), "may")


@QUESTIONS.asks("K-8.4c K-8.5", "R-17")
def _bombard(
    facts: Facts, guns: tuple[Unit, ...], target: Unit, coordinated: bool = False, dice: Dice = ()
) -> Json:
    """What bombardments of a unit do, one die a roll."""
    charts = charts_in(facts.charts, SomeCharts)
    groups = combat.bombardments([gun.id for gun in guns], coordinated=coordinated)
    if dice and len(dice) != len(groups):
        raise FactError("dice", f"expected {len(groups)} dice, one a roll, got {len(dice)}")
    answer: Json = {"rolls": [], "house": is_house(facts.charts)}
    for place, names in enumerate(groups):
        total = sum(combat.support_factor(gun, (target,)) for gun in guns if gun.id in names)
        row = _crt(charts, total, dice[place] if dice else None)
        if "asks_for" in row:
            answer["asks_for"] = row.pop("asks_for")
        if row.get("printed"):
            printed = code_of(row["printed"])
            row |= {"result": str(combat.bombarding(printed)), "ammo": "Ammo" in printed.added}
        answer["rolls"].append({"guns": names, "total": total, **row})
    return answer


# --- combat ---------------------------------------------------------------------------------------


class AttackFacts(NestedFacts):
    """An attack of units on a map."""

    units: Annotated[Names, Limits(min_length=1)]
    target_hex: HexName
    support: Names = ()


@QUESTIONS.asks("K-2.4b K-5.3 K-7.4 K-7.5 K-7.7 K-7.14 K-8.8 K-10.3d K-11.1b")
def _differential(
    facts: Facts, attackers: tuple[Unit, ...] = (), support: tuple[Unit, ...] = (),
    defenders: tuple[Unit, ...] = (),
    leaders: Mapping[Role, Leader | tuple[Leader, ...]] | None = None,
    tactics: Tactics = None, overstacked: Mapping[Role, bool] | None = None,
    setup: Setup | None = None, attack: AttackFacts | None = None, time: Time = "day",
) -> Json:  # fmt: skip
    """The combat differential, with what each unit counts and why it is halved."""
    needs, manner = bool(facts.options.get("coordination", True)), Manner(tactics=tactics or {})
    if setup is not None and attack is not None:
        field, target = setup.field(facts.charts), setup.hex(attack.target_hex, "attack.target_hex")
        units = [setup.unit(name, "attack.units") for name in attack.units]
        bans = (combat.ban_on_attack(field, unit, target) for unit in units)
        if (ban := next(filter(None, bans), None)) is not None:
            return {"differential": None, "why_not": ban}
        guns = [setup.unit(name, "attack.support") for name in attack.support]
        counted = combat.attack_on(
            field, units, target, guns, manner=manner, needs_coordination=needs
        )
    elif attackers and defenders:
        led = {s: (one,) if isinstance(one, Leader) else one for s, one in (leaders or {}).items()}
        over = overstacked or {}
        crowded = [*(attackers if over.get("attacker") else ())]
        crowded += defenders if over.get("defender") else ()
        halvings = {unit.id: ("overstacked",) for unit in crowded}
        near = [leader for leader in led.get("attacker", ()) if leader.coordinates]
        counted = combat.Attack(
            attackers, defenders, support, led, near, halvings, time, needs, manner
        )
    else:
        raise FactError("attackers", "expected attackers and defenders, or a setup and an attack")
    reckoned = combat.differential(counted)
    terms = (*reckoned.attack.terms, *reckoned.defence.terms)
    more = {**reckoned.attack.more, **reckoned.defence.more}
    parts = [*((term.unit, term.counts) for term in terms), *more.items()]
    return {
        "counts": {term.unit: term.counts for term in terms} | more,
        "halved": {
            term.unit: [why if why in combat.HALVED_BY else "terrain" for why in term.halved]
            for term in terms if term.halved
        },
        "coordinated": reckoned.coordinated, "attack_total": reckoned.attack.value,
        "defence_total": reckoned.defence.value, "differential": reckoned.value,
        "because": [f"{name} counts {value}" for name, value in parts],
        "readings": ["R-11"], "house": is_house((setup and setup.charts) or facts.charts),
    }  # fmt: skip


class CoordinatingFacts(NestedFacts):
    """A leader who may coordinate."""

    span: Names
    place: Literal["stacked", "adjacent", "farther"] = "stacked"
    ineffective: bool = False


@QUESTIONS.asks("K-2.4a K-7.14 K-14.3", "R-20")
def _coordinated(
    formations: Names, leader: CoordinatingFacts | None = None, time: Time = "day"
) -> Json:
    """Whether an attack is coordinated."""
    near = [] if leader is None or leader.place == "farther" else [leader]
    leaders = [Leader(span=one.span, ineffective=one.ineffective) for one in near]
    return {"coordinated": combat.is_coordinated(formations, leaders, time)}


@QUESTIONS.asks("K-2.4c K-8.1 K-9.5c K-10.3c K-11.1d K-14.2 K-14.3")
def _morale(
    mr: int, modifiers: tuple[Literal["disrupted", "night", "twilight"], ...] = (), leader: int = 0,
    square: bool = False, die: Die | None = None,
) -> Json:  # fmt: skip
    """On which dice a morale check passes."""
    times: tuple[Time, ...] = ("twilight", "night", "day")
    time = next(time for time in times if time in (*modifiers, "day"))
    disrupted = "disrupted" in modifiers
    check = combat.check_of(mr, disrupted=disrupted, leader=leader, square=square, time=time)
    answer: Json = {"mr": check.mr, "added": check.added, "passes_on": check.passes_on}
    return answer if die is None else answer | {"passed": check.passes(die)}


@QUESTIONS.asks("K-7.3")
def _check_before_combat(
    unit: Unit, line: LineKind, die: Die | None = None, turn: int = 1, turns: int = 99
) -> Json:
    """Whether a defender checks its morale before a combat, and what follows."""
    if line == "safe":
        return {"check": False, "defends": True}
    if die is None:
        return {"check": True}
    fate = results.fate_without_safe_line(replace(unit, line=line), die, turn, turns)
    return {
        "check": True, "passed": fate.check == "pass", "disrupted": unit.id in fate.disrupted,
        "defends": unit.id in fate.stays, "fate": fate,
    }  # fmt: skip


@QUESTIONS.asks("K-7.8 K-7.9 K-7.10 K-7.11 K-7.12 K-9.2", "R-12 R-18 R-21")
def _result(
    code: str, units: tuple[Unit, ...], attacker: str, choice: Choice | None = None,
    dice: Dice = (), turn: int = 1, turns: int = 99, time: Time = "day",
) -> Json:  # fmt: skip
    """What a result does to the units of both sides."""
    sides = [[unit for unit in units if (unit.side == attacker) is own] for own in (True, False)]
    parsed = _code(code)
    fought = results.Combat(sides[0], sides[1], turn, turns, choice, dice, time, attacker)
    return {"fate": results.fate_of(fought, parsed)}


@QUESTIONS.asks("K-7.13a")
def _skirmish(facts: Facts, setup: Setup, unit: str, target: str, die: Die | None = None) -> Json:
    """What a skirmish does."""
    field, enemy = setup.field(facts.charts), setup.unit(target, "target")
    ban = combat.ban_on_skirmish(field, setup.unit(unit), enemy)
    if ban is not None:
        return _why(ban)
    defenders = fighting(field.units_at(enemy.hex))
    skirmish = combat.Attack((setup.unit(unit),), defenders, manner=Manner(how="skirmish"))
    value = combat.differential(skirmish).value
    answer = {"legal": True, "differential": value, **_crt(field.map.charts, value, die)}
    if answer.get("printed"):
        answer["becomes"] = str(results.in_skirmish(code_of(answer["printed"])))
    return {**answer, "readings": ["R-16"], "house": is_house(setup.charts or facts.charts)}


@QUESTIONS.asks("K-7.13d")
def _tactic_result(code: str, disengages: Literal["attacker", "defender", "both"]) -> Json:
    """What a result is to sides that disengage."""
    own, other = results.in_disengaging(
        _code(code), attacker=disengages != "defender", defender=disengages != "attacker"
    )
    return {
        "attacker": own and str(own), "defender": other and str(other),
        "first": "defender" if own and other else None, "flips": False,
    }  # fmt: skip


class CaptureFacts(NestedFacts):
    """The regular CF of chargers, and a die for each routed unit."""

    cf: int
    dice: Dice


class Countercharge(NestedFacts):
    """The charge factor of a defender that countercharges."""

    charge: int


@QUESTIONS.asks("K-7.13b K-7.13c K-7.13e K-9.3 K-9.4 K-9.5 K-14.2", "R-11 R-19")
def _combat(
    facts: Facts, attack: int = 0, defence: int = 0, tactics: Tactics = None,
    charge: Literal["infantry", "cavalry"] | None = None, charge_factor: int | None = None,
    countercharge: Countercharge | None = None, square: bool = False,
    mr: Mapping[Role, int] | None = None, morale_die: Die | None = None, die: Die | None = None,
    choice: Choice | None = None, dice: Dice = (), capture: CaptureFacts | None = None,
    time: Time = "day",
) -> Json:  # fmt: skip
    """A whole combat by its totals: differential, result, and what follows from it."""
    tactics, mr = tactics or {}, mr or {}
    if charge == "cavalry" and charge_factor is None:
        raise FactError("charge_factor", "expected this key, but it is missing")
    failed, counters = False, countercharge is not None
    if charge is not None and morale_die is not None:
        if "attacker" not in mr:
            raise FactError("mr", "expected the attacker's MR, but it is missing")
        failed = not combat.check_of(mr["attacker"], time=time).passes(morale_die)
    manner = Manner(charge=charge, failed=failed, countercharge=counters, tactics=tactics)
    totals: dict[Role, tuple[bool, int, int | None]] = {
        "attacker": (charge == "cavalry", attack, charge_factor),
        "defender": (counters, defence, countercharge.charge if countercharge else None),
    }
    sides = {
        role: Unit(id=role, side=role, arm="cavalry" if is_horse else "infantry", cf=cf,
                   charge=factor, steps=2, mr=mr.get(role))
        for role, (is_horse, cf, factor) in totals.items()
    }  # fmt: skip
    counted = combat.differential(
        combat.Attack((sides["attacker"],), (sides["defender"],), time=time, manner=manner)
    )
    roles: tuple[Role, Role] = ("attacker", "defender")
    first, struck = roles[::-1] if manner.is_turned else roles
    answer: Json = {
        "attack_counts": counted.attack.value, "differential": counted.value,
        "who_attacks": first, "ineffective_at_end": manner.is_by_horse,
        "house": is_house(facts.charts),
        **_crt(charts_in(facts.charts, SomeCharts), counted.value, die),
    }  # fmt: skip
    if answer["column"] is None or die is None:
        answer.pop("printed", None)
        return answer
    codes = results.becoming(code_of(answer["printed"]), manner, square=square)
    answer |= {
        "becomes": ", ".join(map(str, codes)),
        "leader_check": any("Leader" in code.added for code in codes),
    }
    fought = results.Combat(
        (sides[first],), (sides[struck],), 1, 99, choice, dice, time, first, square, manner
    )
    try:
        fate = results.fate_of(fought, *codes)
    except results.UndecidedError:
        return answer
    routs = next(iter(fate.routs), None)
    again = manner.is_by_horse and routs == struck
    advance = tables.ADVANCE_OF_CHARGE if again else fate.advance_up_to
    gives_way = "attacker" in (*fate.retreats, *fate.routs)
    answer |= {
        "fate": fate, **({} if routs is None else {"routs": routs}), "retreats": fate.retreats,
        "attacker_loses_extra_step": tactics.get("attacker") == "press" and routs != "defender",
        "defender_loses_extra_step": tactics.get("defender") == "last_stand" and not gives_way,
        "advance_up_to": min(advance, tables.ADVANCE) if time == "night" else advance,
        "may_charge_again": again,
    }  # fmt: skip
    if capture is not None and again:
        answer["captures"] = [caught <= capture.cf for caught in capture.dice]
    return answer


@QUESTIONS.asks("K-9.5a K-9.5b K-9.5c K-9.5d")
def _square(
    mr: int, form_die: Die | None = None, result: str | None = None, morale_die: Die | None = None,
    ma: int | None = None, time: Time = "day",
) -> Json:  # fmt: skip
    """Whether infantry that cavalry charges forms a Square, and how it stands."""
    formed = form_die is None or combat.check_of(mr, time=time).passes(form_die)
    answer: Json = {"formed": formed, "disrupted": not formed, "defends_alone": True}
    if ma is not None:
        answer["ma"] = movement.allowance("infantry", ma, (), must_roll=False, square=formed).ma
    if result is None:
        return answer
    code = _code(result, "result")
    becomes = results.on_square(code) if formed else results.in_charge(code)
    answer |= {"becomes": str(becomes), "leader_check": "Leader" in becomes.added}
    if becomes.main == "Dm" and morale_die is not None:
        check = combat.check_of(mr, disrupted=not formed, square=formed, time=time)
        passes = check.passes(morale_die)
        then = becomes.second if passes else None
        answer |= {"passes": passes, "routs": not passes, "then": then}
    elif becomes.main != "Dm":
        answer |= {"routs": False, "then": str(becomes)}
    return answer


# --- combat phases, armies ------------------------------------------------------------------------


@QUESTIONS.asks("K-7.2a", "R-10")
def _triggered(setup: Setup) -> Json:
    """Which defenders trigger combats, and by whom."""
    field = setup.field()
    attacker = field.active_side or (field.units[0].side if field.units else "")
    by = combat.triggered(field, attacker)
    return {"triggered": [*by], "by": by}


class DeedFacts(NestedFacts):
    """What was done in a combat phase: one of its first three keys."""

    attack: str | None = None
    skirmish: str | None = None
    bombard: str | None = None
    result: str | None = None
    took_effect: bool | None = None

    def deed(self) -> combat.Deed:
        """Returns what was done; a bombardment takes effect by its result unless it is said."""
        for how in ("attack", "skirmish", "bombard"):
            if (name := getattr(self, how)) is not None:
                code = combat.bombarding(_code(self.result or "NE", "result", self))
                struck = code.main in ("Dr", "Dx", "Ex")
                effect = struck if self.took_effect is None else self.took_effect
                return combat.Deed(name, how, effect or how != "bombard")
        raise FactError("attack", "expected one of attack, skirmish and bombard", self)


@QUESTIONS.asks("K-7.2b K-8.4d", "R-10")
def _fow_due(
    triggered: Names, same_hex: tuple[Names, ...] = (), done: tuple[DeedFacts, ...] = (),
    for_: str | None = None,
) -> Json:  # fmt: skip
    """For which triggered units the defender receives Fortunes of War."""
    on = combat.fow_due(triggered, same_hex, [fact.deed() for fact in done])
    on = () if for_ == "attacker" else on
    return {"on": on, "count": len(on)}


@QUESTIONS.asks("K-10.1 K-10.4")
def _leader(role: Literal["stacked", "coordinating", "participating", "alone"], die: Die) -> Json:
    """Whether a leader dies."""
    return {"dead": die >= tables.CASUALTY[role]}


@QUESTIONS.asks("K-11.1f K-11.3 K-14.2", "R-02")
def _recovery(
    facts: Facts, setup: Setup, unit: str,
    what: Literal["disruption", "effectiveness"] = "disruption", moved: bool = False,
    fought: bool = False, die: Die | None = None, leader: int = 0,
) -> Json:  # fmt: skip
    """Whether a unit may recover, and with a die whether it does."""
    field, piece = setup.field(facts.charts), setup.unit(unit)
    ban = sequence.ban_on_recovery(
        field, piece, moved=moved or piece.moved, fought=fought or piece.fought
    )
    answer, is_night = _why(ban, "offered"), field.time == "night"
    if ban is not None:
        return answer | {"recovers": False}
    is_sure = is_night or what == "effectiveness"
    recovers: bool | None = is_sure or None
    if not is_sure and die is not None:
        recovers = combat.check_of(piece.morale, time=field.time, leader=leader).passes(die)
    return answer | {"die_needed": not is_sure, "recovers": recovers, "may_move": is_night}


class HqFacts(NestedFacts):
    """An HQ at the end of a movement phase."""

    moved: bool = False
    in_zone: bool = False
    safe_line_to: Literal["trains", "loc"] | None = None
    attacked: bool = False


class PostAttack(NestedFacts):
    """An attack on the hex of an HQ or of trains."""

    target: Literal["hq_alone", "hq_with_brigade", "trains"]


@QUESTIONS.asks("K-12.1 K-12.2 K-12.3")
def _hq(
    hq: HqFacts | None = None, attack: PostAttack | None = None,
    loc: Mapping[Literal["enemy_unit", "enemy_zone"], bool] | None = None,
) -> Json:  # fmt: skip
    """Whether an HQ is active, a LOC hex works, and what an attack on a post does."""
    answer: Json = {}
    if hq is not None:
        active = troops.is_active(
            moved=hq.moved, in_zone=hq.in_zone, has_line=hq.safe_line_to is not None,
            attacked=hq.attacked,
        )  # fmt: skip
        bars = ["none"] if active else ["march", "reenter", "line"]
        answer |= {"active": active, "bars": bars, "all_roll_ma": not active}
    if loc is not None:
        answer["works"] = not any(loc.values())
    if attack is not None:
        answer |= {
            "die": attack.target != "hq_alone", "fow_to_attacker": tables.HQ_FOW,
            "captured_on_advance": attack.target != "hq_with_brigade",
        }  # fmt: skip
    return answer


@QUESTIONS.asks("K-12.4")
def _fow(
    choice: tables.FowChoice, die: Die | None = None, ma_die: Die | None = None,
    ma: Allowance | None = None, path: Literal["on_map", "off_map"] = "on_map",
    unit: Mapping[Literal["in_zone", "disrupted", "fought"], bool] | None = None,
    morale: Literal["pass", "fail"] | None = None,
    cf: tuple[int, ...] = (), leader_combat: int = 0,
    what: Literal["disruption", "step", "effectiveness"] = "disruption",
) -> Json:  # fmt: skip
    """What a Fortune of War does."""
    stands: Any = unit or {}
    ban = sequence.ban_on_fow(choice, **stands, leaves_map=path == "off_map")
    answer = _why(ban)
    if ban is not None:
        return answer
    if choice in ("move_enemy", "move_friend"):
        answer["march"] = choice == "move_friend"
        if choice == "move_enemy" and die is not None:
            answer["moves"] = die <= tables.ENEMY_MOVES_ON
        if ma is not None and ma_die is not None and answer.get("moves", True):
            rolled = movement.allowance("infantry", ma, (ma_die,), must_roll=True).ma
            answer |= {"rolls_again": rolled is None, "ma": rolled}
    elif choice == "charge" and cf and morale is not None:
        chargers, leader = [Unit(cf=factor) for factor in cf], Leader(combat=leader_combat)
        passed, leaders = morale == "pass", [replace(leader, participates=True)]
        manner = Manner(failed=not passed, doubled=passed)
        charge = combat.Attack(chargers, (), leaders={"attacker": leaders}, manner=manner)
        answer["attack_total"] = combat.differential(charge).attack.value
    elif choice == "recover_friend" and morale is not None:
        answer |= {"recovers": morale == "pass", "destroyed": False}
    return answer


Doing = Literal[
    "attack", "infantry_charge", "cavalry_charge", "bombard", "support", "coordinate_by_leader",
    "enter_zone",
]  # fmt: skip


@QUESTIONS.asks("K-14.1 K-14.2 K-14.3", "R-20")
def _may(time: Time, do: Doing, distance: int = 1) -> Json:
    """What may be done by night and at twilight."""
    return _why(combat.ban_by_time(time, do, distance), "may")
