"""A game between two actions: the counters on the folio's map, whose phase it is, what is due."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Final, Literal

from tablecam.geometry.shapes import Shape
from tablecam.rules.frozen_json import Variant
from tablecam.rules.game import DiceGroup, Refused
from tablecam.rules.hexes.files import checked_files
from tablecam.rules.hexes.grid import Hex, grid_of
from tablecam.rules.hexes.hex_game import Counter, HexOverrule, HexState
from tablecam.rules.hexes.zones import Hexes
from tablecam.rules.memo import answered_once, remembered
from tablecam.rules.musket_saber.combat import Check, Deed, Manner, Tactic, check_of
from tablecam.rules.musket_saber.field import Field, Map
from tablecam.rules.musket_saber.files import FILE_MODELS, Charts, MapFile, Scenario, ScenarioUnit
from tablecam.rules.musket_saber.tables import GAME, Code, FowChoice, Time, code_of
from tablecam.rules.musket_saber.troops import Leader, LineKind, Post, Unit, is_active
from tablecam.rules.steps import Events, Step
from tablecam.table.model import BasePose, HexMap, Position

Units = tuple[str, ...]


# What players do.


class Act(Variant, is_family=True):
    """What players do."""


class UnitAct(Act, is_family=True):
    """What players do with one counter."""

    unit: str


class Start(UnitAct):
    """Begin the move of a unit, a leader, an HQ or trains; a leader may help it (K-10.3b)."""

    march: bool = False
    leader: str = ""


class Move(Act):
    """Move a unit, with a leader who goes along, or a stack that charges a hex (K-4, K-7.13c)."""

    units: Units
    path: tuple[Hex, ...]
    march: bool = False
    charge: Hex | None = None


class Recover(UnitAct):
    """Let a unit recover instead of moving, a leader helping (K-11.1f, K-11.3)."""

    leader: str = ""


class Square(UnitAct):
    """Form a Square, or end it (K-9.5b, K-9.5d)."""

    forms: bool = True


class Exit(UnitAct):
    """Leave the map by a hex of its edge (K-4.1)."""


class Place(UnitAct):
    """Return a unit to the map (K-13.2)."""

    hex: Hex


class Replace(UnitAct):
    """Use a replacement step on a unit (K-11.2a)."""


class Bombard(Act):
    """Bombard a hex with all the batteries that will (K-8.4b)."""

    units: Units
    target: Hex


class Aim(UnitAct):
    """Aim at a unit of the hex (K-8.4b)."""


class Attack(Act):
    """Put an attack on a hex together, beginning with some units (K-7.5, K-7.13a, K-7.13c)."""

    units: Units
    target_hex: Hex
    how: Literal["attack", "skirmish", "charge"] = "attack"


class Join(UnitAct):
    """Let a unit, a supporting battery or a leader take part in the attack, or no longer."""

    joins: bool = True


class Primary(UnitAct):
    """Name the primary unit of the attack (K-7.5)."""


class Declare(Act):
    """Declare the attack as it is put together, or drop it."""

    yes: bool = True


class Defend(Act):
    """Say which units of the hex defend it, and how (K-7.4, K-9.4, K-9.5a)."""

    units: Units
    primary: str
    countercharge: bool = False
    square: bool = False
    leader: str = ""


class UseTactic(Act, type="tactic"):
    """Choose a tactic (K-7.13)."""

    choice: Tactic


class Choose(Act):
    """Choose between the ends that a result leaves open (K-7.8)."""

    choice: Literal["disrupt", "retreat", "step"]


class Retreat(UnitAct):
    """Retreat along a line (K-7.9)."""

    path: tuple[Hex, ...]


class StepLoss(UnitAct, type="step_loss"):
    """Take the loss of a step, or flip a battery (K-7.11, K-8.5)."""


class Advance(UnitAct):
    """Advance after a combat (K-7.12)."""

    to: Hex


class Capture(Act, type="capture_try"):
    """Try to capture what a charge has routed, instead of going on (K-9.3)."""


class Fow(Act):
    """Use a Fortune of War (K-12.4)."""

    choice: FowChoice
    unit: str
    path: tuple[Hex, ...] = ()
    target: Hex | None = None
    others: Units = ()
    """Those of its stack that move with it."""


class Pass(Act):
    """Let it pass, or end the phase."""


class Overrule(Act, HexOverrule):
    """Set the table and the state, against any rule."""

    disrupted: Mapping[str, bool] = field(default_factory=dict)
    ineffective: Mapping[str, bool] = field(default_factory=dict)
    steps: Mapping[str, int] = field(default_factory=dict)


class Due(Step, is_family=True):
    """What must be settled before the game goes on, about its `unit`, `units` or `guns`."""

    least_answers = 2
    passing = "Pass"

    def names(self, state: State) -> Units:
        """Returns whom it is still about."""
        unit = getattr(self, "unit", None)
        units: Units = getattr(self, "units", getattr(self, "guns", ()))
        return units if unit is None else (unit,)

    def owner(self, state: State) -> str:
        """Returns the side that it names, else that of its first unit."""
        side = getattr(self, "side", "")
        return str(side or state.side_of(self.names(state)[0]))

    def shapes(self, state: State) -> tuple[Shape, ...]:
        """Draws the combat that it puts together, or belongs to."""
        battle: Battle | None = getattr(self, "battle", state.battle)
        return () if battle is None else battle.shapes(state)


class MoraleDie(Due, is_family=True):
    """The dice of a unit's morale check (K-2.4c); `counts_disruption` if that adds to them.

    The log says what they needed, and then what follows from them.
    """

    unit: str
    counts_disruption: ClassVar[bool] = False

    def help(self, state: State) -> int:
        """Returns what a leader adds to the unit's MR."""
        return 0

    def check(self, state: State) -> Check:
        """Returns what the dice need."""
        unit = state.unit(self.unit)
        is_disrupted = self.counts_disruption and unit.disrupted
        return check_of(
            unit.morale, disrupted=is_disrupted, time=state.time, leader=self.help(state)
        )

    def dice_groups(self, state: State) -> tuple[DiceGroup, ...]:
        """Returns the dice, and on which of them the unit passes."""
        roll = self.roll(state)
        places = range(0 if roll is None else roll.count)
        return (DiceGroup(self.unit, None, tuple(places), self.check(state).goal),)

    def follow(self, state: State, answer: tuple[int, ...]) -> State:
        """Returns the state after the check, which is logged first."""
        check = self.check(state)
        words = f"{self.unit} {check.verdict(*answer)}"
        state = state.logs("check", words, str(self.dice_rule), self.unit)
        return self.checked(state, all(map(check.passes, answer)), answer)

    @abstractmethod
    def checked(self, state: State, passed: bool, dice: tuple[int, ...]) -> State:
        """Returns the state with what follows from the check."""


# The folio.


@dataclass(frozen=True, eq=False)
class Folio:
    """What does not change in a game: the map with its charts, and the scenario."""

    map: Map
    scenario: Scenario
    charts: Charts

    def printed(self, differential: int, die: int) -> Code:
        """Returns the result that the CRT prints for a die (K-7.8)."""
        return code_of(self.charts.crt.printed(differential, die))

    def entry(self, name: str) -> ScenarioUnit:
        """Returns a unit of the scenario."""
        return self._entries[name]

    @cached_property
    def _entries(self) -> Mapping[str, ScenarioUnit]:
        return {unit.id: unit for unit in self.scenario.unit}

    def shown(self, unit: Unit) -> Unit:
        """Returns a unit with the numbers of the side of its counter that shows (K-G4)."""
        entry = self.entry(unit.id)
        back = entry.back if unit.face == "back" else None
        return replace(unit, **(back or entry.front).model_dump())

    def first_units(self) -> tuple[Unit, ...]:
        """Returns the units where the scenario puts them (K-3.1, K-2.5 to K-2.7)."""
        unprinted = {"front", "back", "printed_id"}
        units = (Unit(**entry.model_dump(exclude=unprinted)) for entry in self.scenario.unit)
        return tuple(self.shown(replace(u, steps=self.most_steps(u))) for u in units)

    def most_steps(self, unit: Unit) -> int:
        """Returns the steps of a whole unit: two if its back is that of a reduced one (K-2.5)."""
        return 1 if unit.flips or self.entry(unit.id).back is None else 2


def folio_from(files: Mapping[str, Any], hex_map: HexMap) -> Folio:
    """Returns the folio that a game's files describe on a map.

    Raises:
        BadInput: Names the file and key, and what was expected.
    """
    stated = {kind: files[kind] for kind in FILE_MODELS if kind in files}
    return _folio(json.dumps(stated, default=list), hex_map)


@lru_cache(maxsize=64)
def _folio(files: str, hex_map: HexMap) -> Folio:
    documents = checked_files(json.loads(files), GAME, FILE_MODELS, hex_map)
    charts, ground = documents["charts"].parsed(Charts), documents["map"].parsed(MapFile)
    scenario = documents["scenario"].parsed(Scenario)
    return Folio(Map(ground.ground(grid_of(hex_map)), charts), scenario, charts)


_folio_of: Final = remembered(folio_from)
_field_of: Final = remembered(Field)


# The state.


@dataclass(frozen=True)
class Charging:
    """Units that charge a hex in the combat phase, or go on charging at once (K-7.13c, K-9.3)."""

    units: Units
    target: Hex
    goes_on: bool = False


@dataclass(frozen=True)
class Battle(Manner):
    """A combat: who fights, how, and the lines of retreat when it began (K-7.6).

    `square` is the unit that tried to form one.
    """

    side: str
    target: Hex
    attackers: Units
    support: Units = ()
    leaders: Units = ()
    primary: str = ""
    defenders: Units = ()
    defence_primary: str = ""
    square: str = ""
    by_fow: bool = False
    lines: Mapping[str, LineKind] = field(default_factory=dict)

    def shapes(self, state: State) -> tuple[Shape, ...]:
        """Draws the target and who attacks it, until no enemy is there."""
        if self.target not in state.enemy_hexes(self.side):
            return ()
        hexes = [state.unit(name).hex for name in self.attackers]
        lines = (state.grid.way(((n,), (self.target,)), "attack") for n in hexes if n)
        return (*state.grid.outlines((self.target,), "target"), *lines)


@dataclass(frozen=True)
class State(HexState):
    """A game. `began` is where everything was when the phase began, `entered` who came in where.

    `triggered` are the defenders that trigger combats in this phase, each with the units that it
    threatens, until it is known whether it is attacked; `deeds` what was done to
    units, `targets` the hexes that were attacked. `fortunes` are the Fortunes of War to be used,
    each with its side, the only unit that it may be used on, if any, and why. `lies` are counters
    as they really lie, `given_time` is the time of day that a beginning states.
    """

    position: Position
    options: Mapping[str, Any] = field(hash=False)
    units: tuple[Unit, ...]
    leaders: tuple[Leader, ...]
    hq: tuple[Post, ...]
    trains: tuple[Post, ...]
    turn: int = 1
    phase: Literal["movement", "combat", "closing", "over"] = "movement"
    active: str = ""
    began: Mapping[str, Hex] = field(default_factory=dict, hash=False)
    entered: Mapping[Hex, int] = field(default_factory=dict, hash=False)
    replacements: int = 0
    charges: tuple[Charging, ...] = ()
    triggered: Mapping[str, Units] = field(default_factory=dict, hash=False)
    deeds: tuple[Deed, ...] = ()
    targets: tuple[Hex, ...] = ()
    battle: Battle | None = None
    fortunes: tuple[tuple[str, str, str], ...] = ()
    due: tuple[Due, ...] = ()
    lies: Mapping[str, BasePose] = field(default_factory=dict, hash=False)
    given_time: Time | None = None
    told: Events = field(default=(), compare=False)

    @cached_property
    def folio(self) -> Folio:
        """The map, the charts and the scenario."""
        return _folio_of(self.options, self.hex_map)

    @property
    def time(self) -> Time:
        """The time of day of the turn (K-14)."""
        turns = self.folio.scenario.turns
        return self.given_time or turns[min(self.turn, len(turns)) - 1]

    @cached_property
    def field(self) -> Field:
        """The map with all that stands on it."""
        return _field_of(
            self.folio.map, self.units, self.leaders, self.hq, self.trains,
            self.folio.scenario.loc, self.time, self.active,
        )  # fmt: skip

    @property
    def fight(self) -> Battle:
        """The combat that goes on."""
        assert self.battle is not None
        return self.battle

    @property
    def passive(self) -> str:
        """The side whose phase it is not."""
        return self.enemy_of(self.active)

    def enemy_of(self, side: str) -> str:
        """Returns the other side."""
        one, other = self.folio.scenario.sides
        return other if side == one else one

    def plays(self, rule: str) -> bool:
        """Whether neither the folio nor the options turn a rule off (K-1.1)."""
        if rule == "K-7.14" and not self.options.get("coordination", True):
            return False
        return rule not in self.folio.scenario.off

    @cached_property
    def _by_id(self) -> Mapping[str, Unit | Leader | Post]:
        return {thing.id: thing for thing in (*self.counters, *self.leaders)}

    @property
    def counters(self) -> tuple[Unit | Post, ...]:
        """The units, the HQ and the trains."""
        return (*self.units, *self.hq, *self.trains)

    @property
    def names(self) -> Iterable[str]:
        """The ids of all counters."""
        return self._by_id.keys()

    def thing(self, name: str) -> Unit | Leader | Post:
        """Returns a counter by its id.

        Raises:
            Refused: There is none.
        """
        if name not in self._by_id:
            raise Refused(f"expected a counter of the game, got {name}")
        return self._by_id[name]

    def unit(self, name: str) -> Unit:
        """Returns a unit by its id.

        Raises:
            Refused: There is none.
        """
        unit = self.thing(name)
        if not isinstance(unit, Unit):
            raise Refused(f"expected a combat unit, got {name}")
        return unit

    def some(self, names: Iterable[str]) -> tuple[Unit, ...]:
        """Returns units by their ids."""
        return tuple(map(self.unit, names))

    def combat_units(self, names: Iterable[str]) -> Units:
        """Returns those of some counters that are combat units."""
        return tuple(name for name in names if isinstance(self.thing(name), Unit))

    def side_of(self, name: str) -> str:
        """Returns a counter's side."""
        return self.thing(name).side

    def hexes(self) -> dict[str, Hex]:
        """Returns the hex of each counter on the map."""
        return {name: thing.hex for name, thing in self._by_id.items() if thing.hex is not None}

    @answered_once
    def enemy_hexes(self, side: str) -> Iterable[Hex]:
        """Returns the hexes that a side's enemies alone hold, in the order of the counters."""
        own = {unit.hex for unit in self.own(side)}
        enemies = (number for name, number in self.hexes().items() if self.side_of(name) != side)
        return dict.fromkeys(number for number in enemies if number not in own)

    def own(self, side: str) -> tuple[Unit, ...]:
        """Returns a side's units on the map."""
        return self.field.enemies(self.enemy_of(side))

    def changed(self, name: str, **marks: Any) -> State:
        """Returns the state with a changed counter; one in another hex goes under its stack."""
        old = self.thing(name)
        new = replace(old, **marks)
        if isinstance(new, Unit):
            if {"reduced", "ineffective"} & marks.keys():
                new = self.folio.shown(new)
            if new.hex != old.hex:
                return replace(self, units=(*(u for u in self.units if u is not old), new))
        some: dict[str, Any] = {
            kind: tuple(new if it is old else it for it in getattr(self, kind))
            for kind in ("units", "leaders", "hq", "trains")
        }
        return replace(self, **some)

    def logs(self, kind: str, text: str, rule: str, *units: str) -> State:
        """Returns the state with an event about some units."""
        return self.tells(kind, text, rule, **({"units": list(units)} if units else {}))

    def logged(self, name: str, kind: str, words: str, rule: str, **marks: Any) -> State:
        """Returns the state with a changed counter, and an event that says what becomes of it."""
        return self.changed(name, **marks).logs(kind, f"{name} {words}", rule, name)

    def put_down(self, name: str, hexes: Hexes, facing_deg: int) -> State:
        """Returns the state with a counter where players put it, whatever was."""
        marks = {"trt": None, "set_aside": False, "captured": False, "destroyed": False}
        on_map = marks if isinstance(self.thing(name), Unit) else {}
        return self.changed(name, hex=hexes[0], **on_map)

    def counters_on_map(self) -> Iterator[Counter]:
        """Yields the counters of units, HQ and trains on the map (K-G4)."""
        tops = {thing.hex: thing for thing in reversed(self.counters)}
        for thing in self.counters:
            if thing.hex is None:
                continue
            covered = thing is not tops[thing.hex]
            counter = Counter(thing.id, thing.side, (thing.hex,), {}, is_covered=covered)
            if isinstance(thing, Unit):
                yield replace(
                    counter, marks=unit_state(self, thing), face={"side": thing.face},
                    arm=thing.arm, formation="square" if thing.square else None,
                )  # fmt: skip
            else:
                post = "HQ" if thing in self.hq else "trains"
                yield replace(counter, marks={"post": post, "active": thing.active})

    def leaders_on_map(self) -> Iterator[Counter]:
        """Yields the counters of the leaders on the map."""
        for leader in self.leaders:
            if leader.hex is not None:
                marks = {"ineffective": True} if leader.ineffective else {}
                yield Counter(leader.id, leader.side, (leader.hex,), marks)

    def all_changed(self, side: str = "", **marks: Any) -> State:
        """Returns the state with the same marks on all units, or on those of a side."""
        units = (replace(u, **marks) if side in ("", u.side) else u for u in self.units)
        return replace(self, units=tuple(units))

    def put(self, name: str, *path: Hex) -> State:
        """Returns the state with a counter at the end of a path: posts on it are captured.

        Only combat units capture the HQ and trains of their enemies (K-12.1, K-12.2).
        """
        state = self.changed(name, hex=path[-1])
        for post in (*self.hq, *self.trains) if isinstance(self.thing(name), Unit) else ():
            if post.hex in path and post.side != self.side_of(name):
                state = state.changed(post.id, hex=None, active=False)
        return state

    def with_posts_judged(self, side: str, *, wakes: bool = False) -> State:
        """Returns the state with a side's HQ and trains active or not (K-12.1, K-12.2).

        Only where it `wakes` them, at the end of its movement phase, they are active again.
        """
        state = self
        loc = frozenset(n for n in self.field.loc_of(side) if self.field.works(side, n))
        for post in self.field.posts(self.trains, side):
            state = state._judged(post, loc, wakes)
        trains = {post.hex for post in state.field.posts(state.trains, side) if post.active}
        for post in self.field.posts(self.hq, side):
            state = state._judged(post, loc.union(filter(None, trains)), wakes)
        return state

    def _judged(self, post: Post, goals: frozenset[Hex], wakes: bool) -> State:
        """Returns the state with a post active, if it has a safe line to one of the goals."""
        stand_in = Unit(id="", side=post.side, arm="cavalry", hex=post.hex)
        way = self.field.way(stand_in, post.hex or "", goals, self.field.open_to(stand_in))
        active = is_active(
            moved=post.moved, in_zone=post.hex in self.field.enemy_zone(post.side),
            has_line=way is not None, attacked=post.attacked,
        )  # fmt: skip
        return self.changed(post.id, active=active and (post.active or wakes))


def unit_state(state: State, unit: Unit) -> dict[str, Any]:
    """Returns what documents and pages say of a unit."""
    counts = f"{unit.attack}/{unit.defence}" if unit.is_battery else f"{unit.cf}"
    marks = {key: getattr(unit, key) for key in _MARKS}
    marks["cf"] = f"({counts})" if unit.paren else counts
    return {key: value for key, value in marks.items() if value}


_MARKS: Final = (
    "cf", "formation", "charge", "morale", "ma", "hex", "steps", "reduced", "disrupted",
    "ineffective", "square", "moved", "fought", "charging", "trt", "set_aside", "captured",
)  # fmt: skip
