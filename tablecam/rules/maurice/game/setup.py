"""Setup before round 1 (M-2): terrain, edges, deployment in thirds, and who plays first."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Final

import shapely

from tablecam.errors import BadInput
from tablecam.geometry.moves.poses import Bases, ahead, has_same_bases, laid, wheeled
from tablecam.geometry.outlines import footprint
from tablecam.geometry.shapes import Shape, shapes_of
from tablecam.rules.dice import Roll
from tablecam.rules.game import DiceGroup, PendingDecision, Refused
from tablecam.rules.maurice.field.ground import ground_of, is_partly_in
from tablecam.rules.maurice.field.tables import SLIVER_MM
from tablecam.rules.maurice.game import actions as act
from tablecam.rules.maurice.game.commander import first_step
from tablecam.rules.maurice.game.state import State, Step, refusing
from tablecam.rules.maurice.game.table import compared, field_on
from tablecam.rules.miniatures.ground import area_of, footprints
from tablecam.table.headings import mean_deg
from tablecam.table.model import Point, Position, TableSize, Terrain
from tablecam.table.sides import side_name, side_plural
from tablecam.wording import joined

_GAP_MM = 5.0
"""Gap between units in proposed rows, so that none touches another."""
_STEP_MM = 20.0
"""Step along a row past impassable ground."""


def deployment_zone(table: TableSize, *, is_near: bool) -> shapely.Polygon:
    """Returns the third of the table at an edge."""
    deep_mm = table.depth_mm / 3
    low = 0.0 if is_near else table.depth_mm - deep_mm
    return shapely.box(0.0, low, table.width_mm, low + deep_mm)


def zones(table: TableSize, is_near: Mapping[str, bool]) -> tuple[Shape, ...]:
    """Draws thirds of the table, by their labels."""
    thirds = {name: deployment_zone(table, is_near=near) for name, near in is_near.items()}
    return tuple(
        shape for name, third in thirds.items() for shape in shapes_of(third, "zone", name)
    )


def check_room(position: Position, sides: Collection[str]) -> None:
    """Checks that each side fits into either third of the table.

    Edges are chosen only after the terrain is laid (M-2.3).

    Raises:
        BadInput: A side does not fit; with its name.
    """
    for side in sides:
        # Whichever edge it gets.
        for near in sides:
            usual_places(position, side, near)


def with_units_at(
    position: Position, sides: Collection[str], places: Mapping[str, Bases]
) -> Position:
    """Returns the position with units of these sides at given poses.

    Raises:
        BadInput: A unit is of another side, or has other bases.
    """
    own = {unit.id: unit for unit in position.units if unit.side in sides}
    for name, bases in places.items():
        if name not in own:
            expected = " or ".join(map(side_name, sides))
            raise BadInput("deploy", f"expected units of {expected}, got {name}")
        if not has_same_bases(bases, own[name].bases):
            raise BadInput("deploy", f"expected the {len(own[name].bases)} bases of {name}")
    units = tuple(
        laid(unit, places[unit.id]) if unit.id in places else unit for unit in position.units
    )
    return replace(position, units=units)


def with_commanders(position: Position, side: str, places: Mapping[str, Point]) -> Position:
    """Returns the position with commanders of a side at given places.

    Raises:
        BadInput: One is of another side, or stands off the table.
    """
    own = [leader.id for leader in position.commanders if leader.side == side]
    table = position.table
    for name, (x_mm, y_mm) in places.items():
        if name not in own:
            raise BadInput("deploy", f"expected a commander of {side_name(side)}, got {name}")
        if not (0 <= x_mm <= table.width_mm and 0 <= y_mm <= table.depth_mm):
            raise BadInput("deploy", f"expected {name} on the table, got {x_mm:g}, {y_mm:g} mm")
    return with_commanders_at(position, places)


def with_commanders_at(position: Position, places: Mapping[str, Point]) -> Position:
    """Returns a position with some commanders, by id, at other places."""
    leaders = tuple(
        replace(leader, x_mm=places[leader.id][0], y_mm=places[leader.id][1], pose=None)
        if leader.id in places
        else leader
        for leader in position.commanders
    )
    return replace(position, commanders=leaders)


def usual_places(position: Position, side: str, near: str) -> Mapping[str, Bases]:
    """Returns poses in rows for all units of a side, in their formation and facing the enemy.

    Raises:
        BadInput: They do not fit into the third.
    """
    is_near = side == near
    heading_deg = 90.0 if is_near else 270.0
    units = (unit for unit in position.units if unit.side == side)
    own = {unit.id: _facing(unit.bases, heading_deg) for unit in units}
    closed = ground_of(position.terrain).impassable
    placed = _in_rows(own, position.table, closed, is_near=is_near)
    if len(placed) < len(own):
        why = f"expected the {side_name(side)} units to fit into a third of the table"
        raise BadInput("position", why)
    return {name: placed[name] for name in own}


def _in_rows(
    units: Mapping[str, Bases], table: TableSize, closed: shapely.Geometry, *, is_near: bool
) -> dict[str, Bases]:
    """Places units in rows from the front of a third, the deepest first, as many as fit."""
    # Deep units first: a row is as deep as its first unit.
    waiting = sorted(units, key=lambda name: -_size(units[name])[1])
    placed: dict[str, Bases] = {}
    front_mm = 0.0
    while waiting and front_mm + (deep_mm := _size(units[waiting[0]])[1]) <= table.depth_mm / 3:
        x_mm = 0.0
        while x_mm < table.width_mm:
            middle_mm = table.depth_mm / 3 - front_mm - deep_mm / 2
            y_mm = middle_mm if is_near else table.depth_mm - middle_mm
            fit = _fitting(units, waiting, (x_mm, y_mm), table.width_mm, closed)
            if fit is None:
                # Impassable ground here: try a little farther along the row.
                x_mm += _STEP_MM
                continue
            name, placed[name] = fit
            waiting.remove(name)
            x_mm += _size(units[name])[0] + _GAP_MM
        front_mm += deep_mm + _GAP_MM
    return placed


def _fitting(
    units: Mapping[str, Bases],
    names: Sequence[str],
    at_mm: Point,
    width_mm: float,
    closed: shapely.Geometry,
) -> tuple[str, Bases] | None:
    """Returns the first unit that fits with its left end at a place, and its poses there."""
    for name in names:
        wide_mm = _size(units[name])[0]
        if at_mm[0] + wide_mm <= width_mm:
            bases = _moved_to(units[name], (at_mm[0] + wide_mm / 2, at_mm[1]))
            if not any(is_partly_in(footprint(base), closed) for base in bases):
                return name, bases
    return None


def _size(bases: Bases) -> tuple[float, float]:
    left, low, right, high = shapely.bounds(footprints(bases)).tolist()
    return right - left, high - low


def _facing(bases: Bases, heading_deg: float) -> Bases:
    middle = bases[0].place_mm
    return wheeled(bases, middle, heading_deg - mean_deg(base.heading_deg for base in bases))


def _moved_to(bases: Bases, middle: Point) -> Bases:
    left, low, right, high = shapely.bounds(footprints(bases)).tolist()
    x, y = middle[0] - (left + right) / 2, middle[1] - (low + high) / 2
    return ahead(bases, math.degrees(math.atan2(y, x)), math.hypot(x, y))


_KINDS: Final = ("woods", "hill", "rough")
_CELLS: Final = 30
"""Cells of the middle third, ten across and three deep; each takes a terrain piece."""


class RollOff(Step, is_family=True):
    """A roll of a die for each side, the first side's first; ties re-roll."""

    for_: ClassVar[str]

    def asked(self, state: State) -> PendingDecision:
        """Asks both sides to roll."""
        sides = joined(side_plural(name) for name in _names(state))
        return PendingDecision(f"{sides} each roll a die for the {self.for_}")

    def roll(self, state: State) -> Roll:
        """Returns the roll of both dice."""
        return Roll(self.for_, 2)

    def won(self, state: State, side: str, dice: tuple[int, ...]) -> State:
        """Returns the state after a side has rolled higher."""
        raise NotImplementedError

    def decided(self, state: State, dice: tuple[int, ...]) -> State:
        """Goes on with the higher roller, or rolls again on a tie."""
        names = _names(state)
        by_side = zip(names, dice, strict=True)
        text = ", ".join(f"{side_plural(name)} roll {die}" for name, die in by_side)
        if dice[0] == dice[1]:
            return state.tells("tie", f"{text}: a tie, roll again", self.dice_rule, dice=list(dice))
        text = f"{text}, for the {self.for_}"
        state = state.tells("rolled", text, self.dice_rule, dice=list(dice))
        return self.won(state, names[dice.index(max(dice))], dice)

    def dice_groups(self, state: State) -> tuple[DiceGroup, ...]:
        """Returns a die for each side."""
        return compared(side_name(side.name) for side in state.sides)


class RollingTerrain(RollOff):
    """Terrain roll, a die per side: the higher lays terrain (M-2.1); `then` follows setup."""

    is_setup = True
    then: Step
    for_ = "terrain"
    dice_rule = "M-2.1"

    def won(self, state: State, side: str, dice: tuple[int, ...]) -> State:
        """Lets the higher roller lay from the higher die to the sum of both (M-2.1)."""
        return state.to(LayingTerrain(side, max(dice), sum(dice), self.then))


class LayingTerrain(Step):
    """Terrain laying: the higher roller `side` lays `least` to `most` pieces (M-2.1)."""

    is_setup = True
    question = "{who} lay from {least} to {most} pieces of terrain"
    kinds, expects, answer_rule = (act.LayTerrain, act.Done), "terrain or done", "M-2.1"
    side: str
    least: int
    most: int
    then: Step

    def legal(self, state: State) -> tuple[act.Action, ...]:
        """Lists keeping the terrain if its count fits, else a proposal."""
        if self.least <= len(state.position.terrain) <= self.most:
            return (act.Done(),)
        return (act.LayTerrain(_proposed(state, self)),)

    def decided(self, state: State, action: act.LayTerrain | act.Done) -> State:
        """Lays the terrain; the other side chooses its edge (M-2.2)."""
        if isinstance(action, act.LayTerrain):
            state = _with_terrain(state, self, action)
            outcome = f"have laid {len(action.terrain)} of {self.least} to {self.most} pieces"
        else:
            _check_count(self, len(state.position.terrain))
            outcome = "keep the terrain as it is"
        text = f"{side_plural(self.side)} {outcome}"
        # The side that laid no terrain chooses its edge (M-2.3).
        edge = ChoosingEdge(state.other(self.side), self.then)
        drawn = tuple(
            Shape("polygon", piece.outline_mm, "terrain", piece.id)
            for piece in state.position.terrain
        )
        return state.to(edge).tells("terrain", text, "M-2.1", *drawn, side=self.side)


class ChoosingEdge(Step):
    """Edge choice: `side`, which laid no terrain, chooses its long edge (M-2.3)."""

    is_setup = True
    question = "{who}: choose a long edge"
    kinds, expects, answer_rule = (act.ChooseEdge,), "an edge", "M-2.3"
    answers = (act.ChooseEdge("near"), act.ChooseEdge("far"))
    side: str
    then: Step

    def decided(self, state: State, action: act.ChooseEdge) -> State:
        """Assigns the edges; the other side chooses who deploys first."""
        other = state.other(self.side)
        near = self.side if action.edge == "near" else other
        far, order = state.other(near), ChoosingOrder(other, near, self.then)
        text = f"{side_plural(near)} deploy at the near edge, {side_plural(far)} at the far edge"
        state = state.tells("edge", text, "M-2.3", *order.shapes(state), near=near, far=far)
        return state.to(order)

    def shapes(self, state: State) -> tuple[Shape, ...]:
        """Draws both thirds."""
        return zones(state.position.table, {"near": True, "far": False})


class ChoosingOrder(Step):
    """Order choice: the higher roller `side` says who deploys first (M-2.3).

    `near` is the side that deploys at the edge y = 0.
    """

    is_setup = True
    question = "{who}: who deploys first?"
    side: str
    near: str
    then: Step

    def legal(self, state: State) -> tuple[act.Action, ...]:
        """Lists both sides."""
        return tuple(act.ChooseOrder(name) for name in _names(state))

    def decided(self, state: State, action: act.Action) -> State:
        """Lets both sides deploy, one after the other."""
        if not isinstance(action, act.ChooseOrder) or action.first not in _names(state):
            raise Refused(f"expected one of {', '.join(_names(state))}", rule="M-2.3", key="first")
        # Built from the last step back, as each holds the next.
        second = Deploying(state.other(action.first), self.near, self.then)
        deploying = Deploying(action.first, self.near, second)
        text, drawn = f"{side_plural(action.first)} deploy first", deploying.shapes(state)
        return state.to(deploying).tells("order", text, "M-2.3", *drawn, first=action.first)

    def shapes(self, state: State) -> tuple[Shape, ...]:
        """Draws the thirds of both sides."""
        far = state.other(self.near)
        return zones(state.position.table, {side_name(self.near): True, side_name(far): False})


class Deploying(Step):
    """Deployment of `side` in its third of the table (M-2.3); `then` follows."""

    is_setup = True
    side: str
    near: str
    then: Step

    def asked(self, state: State) -> PendingDecision:
        """Asks the deploying side."""
        edge = "near" if self.side == self.near else "far"
        question = f"{side_plural(self.side)} deploy in the third at the {edge} edge"
        hint = (
            "Put every unit and the commander into the zone drawn on the table; tablecam sees when "
            "all are in place."
        )
        return PendingDecision(question, self.side, hint=hint)

    def legal(self, state: State) -> tuple[act.Action, ...]:
        """Lists the poses as they are if they lie in the third, else rows that face the enemy.

        The rows also move enemies that have yet to deploy, as they may be in the way.
        """
        if why_not_deployed(state.position, self) is None:
            return (act.Deploy(self.side),)
        places: dict[str, Bases] = {}
        for side in yet_to_deploy(self):
            places |= usual_places(state.position, side, self.near)
        return (act.Deploy(self.side, places),)

    def decided(self, state: State, action: act.Action) -> State:
        """Deploys the side; then the other deploys, or the dice for round 1 are rolled."""
        if not isinstance(action, act.Deploy) or action.side != self.side:
            expected = f"expected {side_plural(self.side)} to deploy"
            raise Refused(f"{expected}, got {action.type}", rule="M-2.3")
        with refusing("M-2.3", "units"):
            position = with_units_at(state.position, yet_to_deploy(self), action.units)
            position = with_commanders(position, self.side, action.commanders)
            # This refuses impossible poses of bases.
            field_on(position)
        if (why_not := why_not_deployed(position, self)) is not None:
            raise why_not
        state = replace(state, position=position, step=self.then)
        own = [unit.id for unit in position.units if unit.side == self.side]
        text = f"{side_plural(self.side)} have deployed"
        return state.tells("deployed", text, "M-2.3", side=self.side, units=own)

    def shapes(self, state: State) -> tuple[Shape, ...]:
        """Draws the side's third."""
        return zones(state.position.table, {side_name(self.side): self.side == self.near})


def why_not_deployed(position: Position, step: Deploying) -> Refused | None:
    """Returns why a side's poses are not a legal deployment, or None if they are."""
    own = [unit for unit in position.units if unit.side == step.side]
    zone = deployment_zone(position.table, is_near=step.side == step.near)
    # A sliver over the zone's edge does not count (G-5).
    zone = shapely.buffer(zone, SLIVER_MM, join_style="mitre")
    for unit in own:
        if not all(shapely.covers(zone, footprint(base)) for base in unit.bases):
            why = f"{unit.id} is not wholly in the {side_name(step.side)} third of the table"
            return Refused(why, rule="M-2.3", key="units")
    closed = ground_of(position.terrain).impassable
    for unit in own:
        if any(is_partly_in(footprint(base), closed) for base in unit.bases):
            return Refused(f"{unit.id} is on impassable ground", rule="M-5.1", key="units")
    return None


def yet_to_deploy(step: Deploying) -> tuple[str, ...]:
    """Returns the deploying side, and the other if it deploys after it."""
    return (step.side, step.then.side) if isinstance(step.then, Deploying) else (step.side,)


class RollingFirstRound(RollOff):
    """First-round roll, a die per side: the higher plays the first round (M-2.6)."""

    for_ = "first round"
    dice_rule = "M-2.6"

    def won(self, state: State, side: str, dice: tuple[int, ...]) -> State:
        """Begins the first round."""
        return first_step(state, 1, side)


def _check_count(step: LayingTerrain, pieces: int) -> None:
    if not step.least <= pieces <= step.most:
        expected = f"expected {step.least} to {step.most} pieces"
        raise Refused(f"{expected}, got {pieces}", rule="M-2.1", key="terrain")


def _proposed(state: State, step: LayingTerrain) -> tuple[Terrain, ...]:
    """Proposes terrain: existing pieces up to the limit, or new ones if there are too few."""
    table, laid = state.position.table, [*state.position.terrain[: step.most]]
    names = {piece.id for piece in laid}
    for cell in range(_CELLS):
        if len(laid) >= step.least:
            break
        # 7 is coprime to 10, so consecutive numbers are spread over the columns.
        x, y = (7 * cell % 10 + 0.5) / 10 * table.width_mm, (cell % 3 + 3.5) / 9 * table.depth_mm
        # A piece is never wider than its cell.
        half_mm = min(2 * table.bw_mm, table.width_mm / 20)
        box = shapely.box(*(x - half_mm, y - table.bw_mm), *(x + half_mm, y + table.bw_mm))
        name = f"ground-{cell + 1}"
        outlines = (area_of(piece) for piece in laid)
        if name not in names and not any(shapely.intersects(box, other) for other in outlines):
            corners = tuple((float(x), float(y)) for x, y in shapely.get_coordinates(box)[:-1])
            laid.append(Terrain(name, _KINDS[cell % len(_KINDS)], corners))
    return tuple(laid)


def _with_terrain(state: State, step: LayingTerrain, action: act.LayTerrain) -> State:
    """Returns the state with the laid terrain, if it is valid and leaves room to deploy."""
    _check_count(step, len(action.terrain))
    position = replace(state.position, terrain=action.terrain)
    with refusing("M-2.2"):
        field_on(position)
    # Refused now, as an army that does not fit could not deploy later.
    with refusing("M-2.3", "terrain"):
        check_room(position, _names(state))
    return replace(state, position=position)


def _names(state: State) -> tuple[str, str]:
    first, second = state.sides
    return first.name, second.name
