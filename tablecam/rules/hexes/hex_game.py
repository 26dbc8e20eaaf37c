"""What games on hex maps have in common: the beginning, counters as they lie, and overrules."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, Self, TypeVar

from tablecam.documents import Json
from tablecam.errors import BadInput
from tablecam.geometry.shapes import Shape
from tablecam.rules.descriptions import Setting
from tablecam.rules.frozen_json import Variant, to_plain
from tablecam.rules.game import Offer, Refused
from tablecam.rules.game_files import house_files
from tablecam.rules.hexes.counters import face_of, laid, place_of
from tablecam.rules.hexes.grid import Grid, grid_of
from tablecam.rules.hexes.stacks import box_of
from tablecam.rules.hexes.zones import Hexes
from tablecam.rules.lay import Lay
from tablecam.rules.overrules import overrule_event
from tablecam.rules.steps import PhaseGame, Stepping
from tablecam.table.model import Arm, BasePose, Commander, HexMap, Point, Position, Unit
from tablecam.table.sections import StrictModel


@dataclass(frozen=True, slots=True)
class Counter:
    """A counter on the map as its game has it; without a facing, only its hexes count.

    `face` are the keys of the printed face that lies upward, `marks` the state of its unit. It
    `is_covered` by the top counter of its stack.
    """

    id: str
    side: str
    hexes: Hexes
    marks: Mapping[str, Any]
    facing_deg: int | None = None
    face: Mapping[str, Any] | None = None
    arm: Arm = "infantry"
    formation: str | None = None
    is_covered: bool = False

    def is_at(self, grid: Grid, base: BasePose) -> bool:
        """Whether a base lies in its hexes with its facing."""
        place = place_of(grid, base, has_facing=self.facing_deg is not None)
        return place.hexes == self.hexes and self.facing_deg in (None, place.facing_deg)


class HexState(Stepping):
    """A base for states; `lies` are the actual poses of counters within their hexes."""

    options: Mapping[str, Any]
    lies: Mapping[str, BasePose]

    @property
    def hex_map(self) -> HexMap:
        """The map of the table."""
        if self.position.table.hex_map is None:
            raise BadInput("position", "expected where the hexes lie", key="map")
        return self.position.table.hex_map

    @property
    def grid(self) -> Grid:
        """The hexes."""
        return grid_of(self.hex_map)

    @property
    @abstractmethod
    def names(self) -> Iterable[str]:
        """The ids of all units that the table may have."""

    @abstractmethod
    def counters_on_map(self) -> Iterable[Counter]:
        """The counters of units on the map."""

    @abstractmethod
    def leaders_on_map(self) -> Iterable[Counter]:
        """The counters of leaders on the map."""

    @abstractmethod
    def put_down(self, name: str, hexes: Hexes, facing_deg: int) -> Self:
        """Returns the state with a unit or a leader where players put it, wherever it was."""


def position_of(state: HexState) -> Position:
    """Returns the table as the game has it, where only the top counter of a stack is seen."""
    units = [_unit(state, counter) for counter in state.counters_on_map()]
    boxes = (unit for unit in state.position.units if box_of(unit) is not None)
    leaders = [_leader(state, counter) for counter in state.leaders_on_map()]
    return replace(state.position, units=(*units, *boxes), commanders=tuple(leaders))


def _unit(state: HexState, counter: Counter) -> Unit:
    listed, lies = state.position.unit(counter.id), state.lies.get(counter.id)
    like = listed.bases[0] if listed is not None and listed.bases else None
    tag = None if like is None else like.tag
    if listed is not None and counter.face is not None:
        tag = (face_of(listed, counter.face) or {}).get("tag", tag)
    tag = lies.tag if tag is None and lies is not None else tag  # was hidden when the game began
    facing_deg = counter.facing_deg
    if facing_deg is None:
        facing_deg = state.grid.facings_deg[0] if like is None else round(like.heading_deg)
    base = laid(state.grid, counter.hexes, facing_deg, like=like, tag=tag)
    if lies is not None and lies.tag in (None, tag) and counter.is_at(state.grid, lies):
        base = lies
    base = replace(base, seen="held") if counter.is_covered else base
    extra = {} if listed is None else listed.extra
    return Unit(
        counter.id, counter.side, counter.arm, (base,), counter.formation, counter.marks, extra
    )


def _leader(state: HexState, counter: Counter) -> Commander:
    x_mm, y_mm = state.grid.middle_mm(counter.hexes)
    poses = {leader.id: leader.pose for leader in state.position.commanders}
    pose, lies = poses.get(counter.id), state.lies.get(counter.id)
    if lies is not None and counter.is_at(state.grid, lies):
        x_mm, y_mm, pose = lies.x_mm, lies.y_mm, lies
    elif pose is not None:
        pose = replace(pose, x_mm=x_mm, y_mm=y_mm)
    return Commander(counter.id, counter.side, x_mm, y_mm, pose=pose, state=counter.marks)


class HexOverrule(Variant, is_family=True):
    """What players set against any rule; a game adds a key for each of its settings.

    `asked` are the counters whose move the game waits for, `off` those taken off the table.
    """

    why: str = ""
    units: Mapping[str, tuple[BasePose, ...]] = field(default_factory=dict)
    commanders: Mapping[str, Point] = field(default_factory=dict)
    asked: tuple[str, ...] = ()
    off: tuple[str, ...] = ()
    turn: int | None = None


AnyState = TypeVar("AnyState", bound=HexState)


class HexGame(PhaseGame[AnyState]):
    """A game of counters on a hex map, from its owner's files."""

    counters_join: Literal["", "top", "bottom"] = "bottom"
    offers: ClassVar[Mapping[type, Callable[[Any, Any], Offer]]]
    """The headings and labels of actions, by their type."""
    position = staticmethod(position_of)

    @abstractmethod
    def begun(self, position: Position, options: Mapping[str, Any]) -> AnyState:
        """Returns the state at the beginning or in the middle of a game.

        Raises:
            BadInput: A file is missing or wrong, or there is no such beginning.
        """

    @abstractmethod
    def marked(self, state: AnyState, action: Any) -> AnyState:
        """Returns the state with the game's own settings, and without the units taken off."""

    def begin(self, position: Position, options: Mapping[str, Any]) -> AnyState:
        """Returns the first state: each counter in the hex that the scenario states."""
        state = self.begun(position, options)
        for unit in position.units:
            if unit.id not in state.names and box_of(unit) is None:
                raise BadInput("position", f"expected a unit of the scenario, got {unit.id}")
        return replace(self.settled(state), told=())  # type: ignore[type-var]

    def read_keys(self, thing: Unit | Commander) -> None:
        """Reads the box that a marker stands for."""
        if isinstance(thing, Unit):
            box_of(thing)

    def offered(self, state: AnyState, action: Any) -> Offer:
        """Returns the heading and the label of an action."""
        return self.offers[type(action)](state, action)

    def step_shapes(self, state: AnyState) -> tuple[Shape, ...]:
        """Draws the step due."""
        return () if state.step is None else tuple(state.step.shapes(state))

    def laid(self, state: AnyState, action: Lay) -> AnyState:
        """Returns the state with counters as they really lie within their hexes."""
        bases = {name: laid[0] for name, laid in action.units.items() if len(laid) == 1}
        return replace(state, lies={**state.lies, **bases})  # type: ignore[type-var]

    def adopt_positions(self, state: AnyState, position: Position) -> Lay | None:
        """Returns an action with the actual poses of counters within their hexes.

        If players push counters under others, they say whether one that comes to light is on top.
        """
        there = {}
        for counter in state.counters_on_map():
            unit = position.unit(counter.id)
            if unit is None or len(unit.bases) != 1:
                continue
            if counter.is_covered and self.counters_join == "bottom":
                continue
            (base,) = unit.bases
            is_news = base.seen != "held" and base != state.lies.get(counter.id)
            if is_news and counter.is_at(state.grid, base):
                there[unit.id] = unit.bases
        return Lay(there) if there else None

    def overruled(self, state: AnyState, action: Any) -> AnyState:
        """Returns the state as players set it."""
        for name, bases in action.units.items():
            place = place_of(state.grid, bases[0], has_facing=self.counters_face) if bases else None
            if place is None or not place.hexes:
                raise Refused(f"expected {name} on the map", key="units")
            state = state.put_down(name, place.hexes, place.facing_deg)
        for name, place_mm in action.commanders.items():
            number = state.grid.hex_at(place_mm)
            if number is None:
                raise Refused(f"expected {name} on the map", key="commanders")
            state = state.put_down(name, (number,), 0)
        state = self.marked(state, action)
        if action.turn is not None:
            state = replace(state, turn=action.turn)  # type: ignore[type-var]
        # What follows from the marks at once is part of the overrule.
        event = overrule_event(action, self.settings(state))
        return replace(state, told=(event,))  # type: ignore[type-var]

    def seen_by(self, state: AnyState, seat: str | None) -> Json:
        """Returns the state without positions and files; nothing else is concealed."""
        document: Json = to_plain(replace(state, lies={}))  # type: ignore[type-var]
        del document["options"], document["position"]
        return document | {"house": bool(house_files(state.options))}


def unit_setting(
    units: Iterable[Any], key: str, kind: Literal["number", "switch"], **more: Any
) -> Setting:
    """Returns the setting of a mark that units have as a field."""
    values = {unit.id: getattr(unit, key) for unit in units}
    return Setting(key, key.capitalize(), "unit", kind, values, **more)


class HexOptions(StrictModel):
    """The options that a game begins with; each of its files has a model of its own."""

    charts: Mapping[str, Any] | None = None
    map: Mapping[str, Any] | None = None
    scenario: Mapping[str, Any] | None = None
