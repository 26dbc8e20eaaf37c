"""The game in progress: what it remembers, what players do, and what may be due (S-0.10)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import shapely

from tablecam.geometry.shapes import Shape
from tablecam.rules.frozen_json import Variant
from tablecam.rules.game import Refused
from tablecam.rules.miniatures import battle
from tablecam.rules.miniatures.battle import Charge as Charge
from tablecam.rules.miniatures.battle import Move as Move
from tablecam.rules.miniatures.drawing import names_in, shapes_about
from tablecam.rules.miniatures.ground import without_rear
from tablecam.rules.syw_d6 import tables
from tablecam.rules.syw_d6.field import Field, field_of
from tablecam.rules.syw_d6.troops import Face, Formation, bases_needed
from tablecam.table.model import Unit
from tablecam.wording import counted


class Throw(battle.OfUnit):
    """Throw the dice of a unit's or a commander's move (S-B.4)."""


class ThrowTogether(Variant):
    """Throw once for a brigade that moves as one (S-B.7)."""

    brigade: str


class Take(Variant):
    """Take some of the dice thrown, which give this final value (S-B.4)."""

    value_in: float


class MoveCommander(Variant):
    """Move a commander within his final value (S-K.5)."""

    commander: str
    x_mm: float
    y_mm: float


class StayPut(battle.OfUnit):
    """Leave a unit where it is, though its dice are thrown."""


class ChangeFormation(battle.OfUnit):
    """Give a unit a red marker instead of a move (S-B.5)."""


class RetreatByChoice(battle.OfUnit):
    """Retreat as after a lost melee (S-B.10)."""


class Reform(battle.OfUnit):
    """Swap the orange marker for red (S-A.6)."""


class FormUp(battle.OfUnit):
    """Lay out a unit that has cleared its disorder (S-A.4), or limber or unlimber guns (S-L.6).

    Without a `formation`, how the bases lie says which it is.
    """

    bases: battle.Bases
    formation: Formation | None = None
    limbered: bool | None = None


class Fire(battle.OfUnit):
    """Fire at an enemy."""

    target: str


class Respond(Variant):
    """Answer a charge (S-C.6)."""

    way: Literal["stand", "evade", "counter-charge"]


class ShareLosses(Variant):
    """Share the figures that a side lost over its units in contact (S-F.5)."""

    figures: Mapping[str, int]


class GiveRow(Variant):
    """State a row that the sheet has lost; None where it has no such result (S-N.3)."""

    row: str
    value: int | None


class Overrule(battle.BattleOverrule):
    """What players set themselves."""

    figures: Mapping[str, int] = field(default_factory=dict)
    marker: Mapping[str, str] = field(default_factory=dict)
    status: Mapping[str, str] = field(default_factory=dict)


class Due(battle.BattleStep, is_family=True):
    """What the sheet makes due."""

    def shapes(self, state: State) -> tuple[Shape, ...]:
        """Draws whom it is about, and the ways of charges that are not over yet."""
        own = self.drawn(state)
        ways = (shape for due in state.due for shape in due.way_drawn(state))
        return (*shapes_about(state.position, names_in(self), *own), *own, *ways)

    def drawn(self, state: State) -> tuple[Shape, ...]:
        """Draws more than the units that it is about."""
        return ()

    def way_drawn(self, state: State) -> tuple[Shape, ...]:
        """Draws the way and the end of a charge."""
        return ()

    def leads(self, state: State, name: str, bases: battle.Bases) -> bool:
        """Whether a unit lies on the way or at the end of its charge."""
        return False


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a unit may move: its final value, and how much of it must be used (S-B.6).

    A unit that moves with its brigade may not stay (S-B.7).
    """

    value_in: float
    least_in: float = 0.0
    with_brigade: bool = False

    @property
    def words(self) -> str:
        """How far, in words."""
        if self.least_in == self.value_in:
            return f"exactly {self.value_in:g} in"
        to = f"{self.value_in:g} in"
        return f"{self.least_in:g} to {to}" if self.least_in else f"up to {to}"


@dataclass(frozen=True, slots=True)
class Fight:
    """A melee: attackers, their target, and who charged (S-F)."""

    attackers: tuple[str, ...]
    defender: str
    chargers: tuple[str, ...] = ()
    is_new: bool = True

    @property
    def sides(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The attackers, and who defends."""
        return self.attackers, (self.defender,)

    @property
    def units(self) -> tuple[str, ...]:
        """All units in it."""
        return (*self.attackers, self.defender)


Call = Literal["destroyed", "routs", "retreats"]
"""What befalls a unit that calls its friends to test (S-G.1)."""
CalamityKind = Literal[Call, "evades"]


@dataclass(frozen=True, slots=True)
class Calamity:
    """A unit that fled or fell this turn, and the friends that it passed (S-G.1, S-H.9)."""

    unit: str
    kind: CalamityKind
    brigade: str | None
    near_in: tuple[tuple[str, float], ...]
    has_called: bool = False


@dataclass(frozen=True, slots=True)
class Weather:
    """An event of the Fog of War in force, and how many more sequences it lasts (S-M)."""

    event: tables.Event
    side: str
    sequences: int = 1


@dataclass(frozen=True, slots=True)
class State(battle.Battle):
    """A battle between two actions."""

    due: tuple[Due, ...] = ()
    edges: Mapping[str, str] = field(default_factory=dict)
    chart: Mapping[str, int | None] = field(default_factory=dict)
    in_force: tuple[Weather, ...] = ()
    allowed: Mapping[str, Allowance] = field(default_factory=dict)
    fights: tuple[Fight, ...] = ()
    calamities: tuple[Calamity, ...] = ()

    @property
    def field(self) -> Field:
        """The table as the rules see it."""
        return field_of(self.position)

    @property
    def events(self) -> tuple[tables.Event, ...]:
        """The events in force."""
        return tuple(weather.event for weather in self.in_force)

    def allowance(self, name: str) -> Allowance:
        """Returns what a unit may move.

        Raises:
            Refused: It has not thrown its dice.
        """
        if name not in self.allowed:
            raise Refused(f"{name} throws its dice first", rule="S-B.4")
        return self.allowed[name]

    def is_held(self, unit: Unit) -> bool:
        """Whether a unit is line cavalry that may not advance (S-M.5)."""
        held = any(one.event == "sackville" and one.side == unit.side for one in self.in_force)
        return held and unit.arm == "cavalry" and unit.extra.get("weight") != "light"


def destroyed(state: State, name: str, why: str) -> State:
    """Returns the state without a unit that is destroyed, which calls friends to test (S-G.1)."""
    state = with_calamity(parted(state, name), name, "destroyed")
    state = state.changed(name, bases=())
    kept = tuple(due for due in state.due if name not in vars(due).values())
    allowed = {unit: value for unit, value in state.allowed.items() if unit != name}
    state = replace(state, due=kept, allowed=allowed)
    return state.tells("loss", f"{name} is destroyed: {why}", "S-H.4", unit=name)


def parted(state: State, name: str) -> State:
    """Returns the state without a unit in its melees, which end for those left alone (S-A.1)."""
    for fight in (fight for fight in state.fights if name in fight.units):
        others = tuple(unit for unit in fight.attackers if unit != name)
        goes_on = name != fight.defender and others
        left = (replace(fight, attackers=others),) if goes_on else ()
        fights = (*(one for one in state.fights if one != fight), *left)
        state = ended(replace(state, fights=fights), (name,) if goes_on else fight.units)
    return state


def ended(state: State, names: Iterable[str]) -> State:
    """Returns the state after a melee: all who were in it are disordered (S-F.7)."""
    for name in filter(state.has, names):
        state = disordered(state.changed(name, melee_with=None), name, "S-F.7")
    return state


def with_calamity(
    state: State, name: str, kind: CalamityKind, swept: shapely.Geometry | None = None
) -> State:
    """Returns the state with a unit's fate, and who was near (S-G.1, S-H.9).

    A fate counts once a turn, from where the unit stood and all along the way that it `swept`.
    """
    unit, ground = state.unit(name), state.field
    way = ground.outlines[name] if swept is None else ground.outlines[name].union(swept)
    near = {}
    for friend in ground.friends(unit):
        apart_in = ground.inches(float(shapely.distance(way, ground.outlines[friend.id])))
        if apart_in <= tables.COMMAND_IN:
            near[friend.id] = round(apart_in, 6)
    same = [one for one in state.calamities if (one.unit, one.kind) == (name, kind)]
    for before in same:
        for friend_id, apart_in in before.near_in:
            near[friend_id] = min(apart_in, near.get(friend_id, apart_in))
    others = tuple(one for one in state.calamities if one not in same)
    calamity = Calamity(name, kind, unit.extra.get("brigade"), tuple(near.items()))
    return replace(state, calamities=(*others, calamity))


def with_losses(
    state: State, name: str, figures: int, why: str, rule: str, *, causes: Iterable[str] = ()
) -> State:
    """Returns the state after a unit has lost figures: disorder, bases, destruction (S-J.1)."""
    unit = state.unit(name)
    before = state.field.troops[name]
    after = before.after_losses(figures)
    removed = before.figures - after.figures
    text = f"{name} loses {counted(removed, 'figure')}{why}: {after.figures} left"
    state = state.tells("casualties", text, rule, unit=name, figures=removed).changed(
        name,
        figures=after.figures,
        casualties_this_turn=after.casualties_this_turn,
        casualties_from=tuple(sorted({*unit.state.get("casualties_from", ()), *causes})),
        bases=without_rear(unit.bases, max(bases_needed(after), 1)),
        disordered=after.disordered,
    )
    if after.disordered and not before.is_disordered:
        lost = tables.DISORDERS["S-J.1"]
        state = state.tells("disorder", f"{name} is disordered: {lost}", "S-J.1", unit=name)
    if after.is_destroyed:
        why = f"it has lost {after.lost} of {after.figures_start} figures"
        return destroyed(state, name, why)
    return state


def disordered(state: State, name: str, rule: str) -> State:
    """Returns the state with a unit in disorder, with an event if that is new.

    Friends and losses leave a red marker, which counts as disorder already (S-A.7, S-B.5).
    """
    if rule in ("S-J.1", "S-J.6") and state.has(name) and state.unit(name).state.get("reforming"):
        return state
    return battle.disordered(state, name, rule, tables.DISORDERS[rule], reforming=False)


def still(unit: Unit, bases: battle.Bases) -> battle.Bases:
    """Returns the places on a unit's way for the bases that fire has left it."""
    tags = {base.tag for base in unit.bases}
    return tuple(base for base in bases if base.tag in tags)[: len(unit.bases)]


def face_word(face: Face) -> str:
    """Returns where something struck, in words."""
    return {"front": "in front", "flank": "in the flank", "rear": "in the rear"}[face]
