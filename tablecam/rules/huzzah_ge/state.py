"""The game in progress: its state, the players' actions, and what happens to units."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, ClassVar, Literal

import shapely

from tablecam.geometry.moves.poses import laid_at
from tablecam.geometry.outlines import table_outline
from tablecam.geometry.shapes import shapes_of
from tablecam.rules.dice import Roll
from tablecam.rules.frozen_json import Variant
from tablecam.rules.game import DiceGroup, Sum
from tablecam.rules.huzzah_ge import fire
from tablecam.rules.huzzah_ge.field import (
    Field,
    artillery_base,
    expected_of,
    field_of,
    formation_of,
)
from tablecam.rules.huzzah_ge.tables import CM_MM, COMMAND, TOUCH_MM, Factor, Order, together
from tablecam.rules.huzzah_ge.troops import QualityRoll, Troops, heading_of, quality
from tablecam.rules.miniatures import battle
from tablecam.rules.miniatures.battle import Charge as Charge
from tablecam.rules.miniatures.battle import Move as Move
from tablecam.rules.miniatures.ground import centre_mm, footprints, hull, overlaps, without_rear
from tablecam.rules.miniatures.reckon import spans, terms
from tablecam.table.headings import forward
from tablecam.table.model import Point, Unit
from tablecam.wording import counted, joined


class Fire(battle.OfUnit):
    """Declare fire at an enemy by some bases of the front line, given by index (H-7.6)."""

    target: str
    bases: tuple[int, ...]


class Address(Variant):
    """Have an officer address a unit or a group, to give it an order (H-11.3)."""

    officer: str
    group: str


class GiveOrder(Variant):
    """Name the order (H-11.3)."""

    order: Order


class Deploy(battle.OfUnit):
    """Lay out a unit in another formation, or into or out of dense terrain (H-14)."""

    bases: battle.Bases


class Skirmish(battle.OfUnit):
    """Send bases into the skirmish line (H-14.5)."""

    count: int


class PassLines(battle.OfUnit):
    """Change places with a friend (H-14.9)."""

    other: str


class MoveOfficer(Variant):
    """Move an officer, who attaches to the unit if one is given (H-15.3)."""

    officer: str
    x_mm: float
    y_mm: float
    to: str | None = None


class GiveNumber(Variant):
    """State a number that the book at hand lacks: a factor, hits, or centimetres (H-15)."""

    value: int


class GiveName(Variant):
    """State a name or a word that the game asks for; None for nobody."""

    name: str | None


class Overrule(battle.BattleOverrule):
    """What players set themselves."""

    quality: Mapping[str, str] = field(default_factory=dict)
    hits: Mapping[str, int] = field(default_factory=dict)
    status: Mapping[str, str] = field(default_factory=dict)
    skirmish_factor: Mapping[str, int] = field(default_factory=dict)
    artillery_factor: Mapping[str, int] = field(default_factory=dict)


class Due(battle.BattleStep, is_family=True):
    """A step of the book; `number` is the wording of a number that it asks for."""

    number: ClassVar[str] = "{}"


@dataclass(frozen=True, slots=True)
class Army:
    """A side's factors, its number of bases in the skirmish line, and its last tests (H-5, H-6)."""

    skirmish_factor: int | None = None
    artillery_factor: int | None = None
    skirmish_bases: int = 0
    last_superiority: Literal["won", "passed", "failed"] | None = None
    last_effect: Literal["won", "passed", "failed"] | None = None


@dataclass(frozen=True, slots=True)
class Struck:
    """The effects of fire on a unit until its test, with its support ranks before it (H-9.3)."""

    hits: int
    bases_lost: int
    support_ranks: int


@dataclass(frozen=True, slots=True)
class Rush:
    """A charge that has made contact."""

    unit: str
    target: str


@dataclass(frozen=True, slots=True)
class Given:
    """An order given in this phase; none follows a second one for the same units (H-11.8)."""

    officer: str
    group: str
    units: tuple[str, ...]
    is_second: bool = False


@dataclass(frozen=True, slots=True)
class Under:
    """The order in force, with the allowance of each unit that may still act (H-11.5)."""

    officer: str
    group: str
    order: Order
    allowed_cm: Mapping[str, float]
    has_second: bool = False

    def less(self, name: str) -> Under:
        """Returns the order without a unit, which has acted or is gone."""
        left = {unit: cm for unit, cm in self.allowed_cm.items() if unit != name}
        return replace(self, allowed_cm=left)


@dataclass(frozen=True, slots=True)
class State(battle.Battle):
    """A battle between two actions."""

    due: tuple[Due, ...] = ()
    armies: Mapping[str, Army] = field(default_factory=dict)
    superiority: str | None = None
    effective: tuple[str, ...] = ()
    shots: tuple[Fire, ...] = ()
    struck: Mapping[str, Struck] = field(default_factory=dict)
    given: tuple[Given, ...] = ()
    done_officers: tuple[str, ...] = ()
    under: Under | None = None
    rushes: tuple[Rush, ...] = ()
    rout_table: tuple[str, ...] = ()
    killed: Mapping[str, bool] = field(default_factory=dict)
    """Units whose officer was killed this turn, each with whether he was inspirational."""

    @property
    def field(self) -> Field:
        """The table as the rules see it."""
        return field_of(self.position)

    def troops(self, name: str) -> Troops:
        """Returns a unit as it counts, with its army's results of this turn."""
        side, troops = self.unit(name).side, self.field.troops[name]
        return _in_army(troops, self.superiority == side, side in self.effective)

    def struck_of(self, name: str) -> Struck:
        """Returns the effects of fire on a unit before its test."""
        return self.struck.get(name, Struck(0, 0, self.troops(name).support_ranks))

    def order_of(self, name: str) -> Order | None:
        """Returns the order on which a unit may act now."""
        under = self.under
        return under.order if under is not None and name in under.allowed_cm else None

    def with_army(self, side: str, **changes: Any) -> State:
        """Returns the state with an army changed."""
        armies = {**self.armies, side: replace(self.armies[side], **changes)}
        return replace(self, armies=armies)


@lru_cache(maxsize=256)
def _in_army(troops: Troops, has_superiority: bool, effective: bool) -> Troops:
    return replace(troops, side_has_superiority=has_superiority, effective=effective)


class QualityDice(Due):
    """The grade of a unit, rolled when it is first needed (H-3.1)."""

    unit: str
    is_again: bool = False

    def roll(self, state: State) -> Roll:
        """Returns the dice."""
        return Roll(f"the quality of {self.unit}{', again' if self.is_again else ''}", 2)

    def dice_groups(self, state: State) -> tuple[DiceGroup, ...]:
        """Returns both dice with the totals that make each grade (H-3.1)."""
        throws = {low + high: (low, high) for low in (1, 6) for high in range(1, 7)}
        rolled = {total: self._rolled(state, dice) for total, dice in throws.items()}
        grades = {total: one.grade if one else "roll again" for total, one in rolled.items()}
        return (DiceGroup(self.unit, None, (0, 1), spans(grades)),)

    def _rolled(self, state: State, answer: tuple[int, ...]) -> QualityRoll | None:
        """Returns the grade for the dice; None if they are rolled again (H-3.2)."""
        facts = state.field.facts[self.unit]
        throws = [(1, 1), answer] if self.is_again else [answer]
        return quality(expected_of(facts), facts.abilities, throws)

    def follow(self, state: State, answer: tuple[int, ...]) -> State:
        """Returns the state with the grade; after a double one, it is rolled again (H-3.2)."""
        rolled = self._rolled(state, answer)
        if rolled is None:
            return state.pushed(QualityDice(self.unit, is_again=True))
        text = f"{self.unit} proves {rolled.grade}"
        held = state.field.facts[self.unit].abilities
        gained = [one for one in rolled.abilities if one not in held]
        text += f", and is now {gained[0]}" if gained else ""
        state = state.changed(self.unit, quality=rolled.grade, abilities=rolled.abilities)
        return state.tells("quality", text, "H-3.1", unit=self.unit, grade=rolled.grade)


class FactorDice(Due, is_family=True):
    """2D6 against a factor; for a unit, once its grade is known (H-1.1, H-3.1)."""

    @abstractmethod
    def factor(self, state: State) -> Factor:
        """Returns the factor to roll against, with its terms."""

    def needs(self, state: State) -> tuple[QualityDice, ...]:
        """Returns the roll for the unit's quality, if that is not known."""
        first, facts = self.names(state)[:1], state.field.facts
        return tuple(QualityDice(name) for name in first if not facts[name].quality)

    def roll(self, state: State) -> Roll:
        """Returns the dice."""
        words = self._words(self.dice, state)
        return Roll(f"{words}, on {self.factor(state).value} or less", 2)

    def sums(self, state: State) -> tuple[Sum, ...]:
        """Returns the terms of its factor."""
        factor = self.factor(state)
        return (Sum(f"{factor.value} or less", tuple(terms(factor.parts))),)

    def dice_groups(self, state: State) -> tuple[DiceGroup, ...]:
        """Returns both dice with their limit."""
        whose = getattr(self, "officer", None) or self.names(state)[0]
        return together(whose, self.factor(state).value)


def placed(state: State, name: str, bases: battle.Bases) -> State:
    """Returns the state with a unit elsewhere, its officer with it, and officers in its way moved.

    An officer under a friend is placed just behind its centre; an enemy officer escapes to the
    nearest unit of his own within his radius, or is captured (H-11.12, H-11.14).
    """
    unit = state.unit(name)
    state = state.changed(name, bases=laid_at(unit.bases, bases))
    area = footprints(bases)
    way = hull(unit.bases, bases)
    for officer in state.position.commanders:
        to = officer.state.get("attached_to")
        place, is_friend = shapely.Point(officer.place_mm), officer.side == unit.side
        marker = footprints([officer.pose]) if officer.pose else place.buffer(1.0)
        # Friends pass through officers and meet them only at the end; enemies meet them on the way.
        met = overlaps(area, marker) if is_friend else shapely.dwithin(way, place, 1.0)
        if to == name:
            state = state.with_commander(officer.id, *behind(state, officer.id, state.unit(name)))
        elif to is None and met:
            state = _met_officer(state, name, officer.id)
    return state


def _met_officer(state: State, name: str, officer: str) -> State:
    """Returns the state after a unit has met an officer (H-11.14)."""
    ground, unit = state.field, state.unit(name)
    him, facts = ground.officers[officer], ground.officer_facts[officer]
    if him.side == unit.side:
        return state.with_commander(officer, *behind(state, officer, unit))
    radius_mm = COMMAND[facts.quality or "average"][1] * CM_MM
    own = [
        (ground.outlines[one.id].distance(shapely.Point(him.place_mm)), one.id)
        for one in ground.units.values()
        if one.side == him.side and not one.state.get("routing")
    ]
    near = min((pair for pair in own if pair[0] <= radius_mm), default=None)
    if near is None:
        text = f"{officer} is captured by {name}"
        return state.without_commander(officer).tells("loss", text, "H-11.14", officer=officer)
    text = f"{officer} escapes to {near[1]}"
    return attached(state, officer, near[1]).tells("officer", text, "H-11.14", officer=officer)


def attached(state: State, officer: str, name: str) -> State:
    """Returns the state with an officer attached to a unit, standing behind it."""
    at_mm = behind(state, officer, state.unit(name))
    return state.with_commander(officer, *at_mm, attached_to=name)


def behind(state: State, officer: str, unit: Unit) -> Point:
    """Returns where an officer stands behind a unit's centre, just out of contact (H-11.14)."""
    rear, pose = fire.Rear.of(unit.bases).rear, state.field.officers[officer].pose
    deep_mm = state.position.table.marker_mm if pose is None else pose.depth_mm
    away_mm = deep_mm / 2 + TOUCH_MM
    (x, y), (back_x, back_y) = rear.middle_mm, forward(rear.heading_deg)
    return x + back_x * away_mm, y + back_y * away_mm


def hit(state: State, name: str, hits: int, rule: str = "H-7.10") -> State:
    """Returns the state after hits on a unit: bases removed, odd hits kept (H-7.10, H-7.11)."""
    unit, troops = state.unit(name), state.troops(name)
    off = fire.removal(troops, hits)
    gone = min(off.bases_removed, len(unit.bases))
    left, guns = len(unit.bases) - gone, artillery_base(unit)
    # The rear rank goes first and the guns last, but the guns never remain alone (H-7.11).
    bases = without_rear(unit.bases, left, spared=guns, faced_deg=heading_of(unit.bases))
    if not bases:
        return removed(state, name, "has lost its last base", rule)
    lost, lie = unit.state.get("bases_lost_this_turn", 0), formation_of(replace(unit, bases=bases))
    marks = {"hits": off.odd_hits, "bases_lost_this_turn": lost + gone, "formation": lie}
    state = state.changed(name, bases=bases, **marks)
    if not gone:
        return state
    text = f"{name} loses {counted(gone, 'base')}, {len(bases)} left"
    return state.tells("casualties", text, rule, unit=name, bases=gone)


def removed(state: State, name: str, why: str, rule: str) -> State:
    """Returns the state without a unit; an attached officer goes with it (H-10.3)."""
    officer = state.field.attached_to(name)
    if officer is not None:
        state = state.without_commander(officer)
        why += f", and {officer} with it"
    state = parted(state, name).changed(name, bases=())
    shots = tuple(shot for shot in state.shots if name not in (shot.unit, shot.target))
    struck = {unit: done for unit, done in state.struck.items() if unit != name}
    state = replace(state, shots=shots, struck=struck, under=state.under and state.under.less(name))
    return state.tells("loss", f"{name} {why}", rule, unit=name)


def parted(state: State, name: str) -> State:
    """Returns the state with a unit removed from its combats."""
    for enemy in state.unit(name).state.get("in_combat_with", ()):
        if state.has(enemy):
            others = state.unit(enemy).state.get("in_combat_with", ())
            left = tuple(other for other in others if other != name)
            state = state.changed(enemy, in_combat_with=left)
    rushes = tuple(rush for rush in state.rushes if name not in (rush.unit, rush.target))
    return replace(state.changed(name, in_combat_with=()), rushes=rushes)


def gone_back(state: State, name: str, distance_cm: float, *, routs: bool) -> State:
    """Returns the state after a unit has fallen back or routed (H-9.8 to H-9.12)."""
    unit = state.unit(name)
    rear = fire.Rear.of(unit.bases)
    sectors, friends = state.field.spans_behind(unit, rear)
    way = fire.way_back(distance_cm, rear.deep_cm, sectors, friends, routs=routs)
    state = parted(state, name)
    if routs:
        state = state.changed(name, routing=True, disordered=True, charging=None)
    word, rule = ("routs", "H-9.8") if routs else ("falls back", "H-9.5")
    if way.is_captured:
        return removed(state, name, "routs into a sector of the enemy and is captured", "H-9.11")
    bases = tuple(rear.moved(unit.bases, way.distance_cm, turned=routs))
    behind = f", set down behind {joined(way.disordered_friends)}" if way.disordered_friends else ""
    text = f"{name} {word} {round(way.distance_cm, 1):g} cm{behind}"
    drawn = shapes_of(hull(unit.bases, bases), "path")
    state = state.tells("flight", text, rule, *drawn, unit=name, cm=way.distance_cm)
    if not table_outline(state.position.table).contains(shapely.Point(centre_mm(bases))):
        state = replace(state, rout_table=(*state.rout_table, name))
        return removed(state, name, "leaves the battlefield", "H-9.12")
    state = placed(state, name, bases)
    state = state.changed(name, sector=way.deployed_in)
    for friend in way.disordered_friends:
        state = battle.disordered(state, friend, "H-9.9")
    if way.extra_hits:
        state = hit(state, name, way.extra_hits, "H-9.9")
    # A unit that could only end on an enemy is captured (H-9.11).
    met = state.field.met(state.field.outlines[name], name) if state.has(name) else ()
    enemy = next((other.id for other in met if other.side != unit.side), None)
    why = f"runs into {enemy} and is captured"
    return state if enemy is None else removed(state, name, why, "H-9.11")


def settled_sector(state: State, name: str) -> State:
    """Returns the state with the sector in which a unit now lies (H-1.7)."""
    unit = state.unit(name)
    return state.changed(name, sector=state.field.sector_under(unit.bases))
