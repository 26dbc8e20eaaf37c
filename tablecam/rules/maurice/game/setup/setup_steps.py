"""Before the first round: terrain, edges, the armies' places, and who plays first (M-2)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import shapely

from tablecam.errors import BadInput
from tablecam.geometry.shapes import Shape, shapes_of
from tablecam.rules.dice import Roll, values_of
from tablecam.rules.game import Asked, Event, Refused
from tablecam.rules.maurice.game.setup.deploying import (
    barred,
    check_room,
    deployed,
    outside,
    third,
    usual_places,
    with_commanders,
)
from tablecam.rules.maurice.game.state.actions import (
    Action,
    ChooseEdge,
    ChooseOrder,
    Deploy,
    Done,
    LayTerrain,
)
from tablecam.rules.maurice.game.state.sequence import first_step
from tablecam.rules.maurice.game.state.state import State
from tablecam.rules.maurice.game.state.step_rules import Followed
from tablecam.rules.maurice.game.state.steps import (
    ChoosingEdge,
    ChoosingOrder,
    Deploying,
    LayingTerrain,
    RollingFirstRound,
    RollingTerrain,
)
from tablecam.rules.maurice.game.state.table import field_on
from tablecam.table.model import Position, Terrain
from tablecam.table.sides import side_name

_KINDS: Final = ("woods", "hill", "rough")
_CELLS: Final = 30
"""Of the middle third, ten beside each other and three behind: a piece of ground fits into each."""


class RollingTerrainRules:
    """`RollingTerrain`: the first die is the first side's; ties are rolled again (M-2.1)."""

    def asked(self, state: State, step: RollingTerrain) -> Asked:
        """Chance."""
        return Asked(f"A die each for the terrain: {' and '.join(_called(state))}")

    def legal(self, state: State, step: RollingTerrain) -> tuple[Action, ...]:
        """The roll."""
        return (_due("terrain"),)

    def apply(self, state: State, step: RollingTerrain, action: Action) -> Followed:
        """The higher lays at least his die, and at most both dice, of pieces."""
        dice, higher, told = _rolled(state, action, "terrain", "M-2.1")
        if higher is None:
            return state, (told,)
        return state.to(LayingTerrain(higher, max(dice), sum(dice), step.then)), (told,)


class LayingTerrainRules:
    """`LayingTerrain`: the pieces that lie now, or others instead."""

    def asked(self, state: State, step: LayingTerrain) -> Asked:
        """Who rolled higher."""
        pieces = f"from {step.least} to {step.most} pieces of terrain"
        return Asked(f"{side_name(step.side)} lays {pieces}", step.side)

    def legal(self, state: State, step: LayingTerrain) -> tuple[Action, ...]:
        """What lies, if the dice say as much, else a proposal; any other is taken as well."""
        if step.least <= len(state.position.terrain) <= step.most:
            return (Done(),)
        return (LayTerrain(_proposed(state, step)),)

    def apply(self, state: State, step: LayingTerrain, action: Action) -> Followed:
        """The other side chooses its edge (M-2.2)."""
        if isinstance(action, LayTerrain):
            state = _with_terrain(state, step, action)
        elif isinstance(action, Done):
            _check_count(step, len(state.position.terrain))
        else:
            raise Refused(f"expected terrain, or done, got {action.type}", rule="M-2.1")
        deed = "leaves the terrain as it lies"
        if isinstance(action, LayTerrain):
            pieces = len(action.terrain)
            deed = f"has laid {pieces} of {step.least} to {step.most} pieces"
        text = f"{side_name(step.side)} {deed}"
        edge = ChoosingEdge(state.other(step.side), step.then)
        drawn = tuple(
            Shape("polygon", piece.outline_mm, "terrain", piece.id)
            for piece in state.position.terrain
        )
        return state.to(edge), (Event("terrain", text, "M-2.1", {"side": step.side}, drawn),)


class ChoosingEdgeRules:
    """`ChoosingEdge`: whoever laid no terrain takes the edge he likes (M-2.3)."""

    def asked(self, state: State, step: ChoosingEdge) -> Asked:
        """Who laid no terrain."""
        return Asked(f"Which long edge does {side_name(step.side)} take?", step.side)

    def legal(self, state: State, step: ChoosingEdge) -> tuple[Action, ...]:
        """Both."""
        return (ChooseEdge("near"), ChooseEdge("far"))

    def apply(self, state: State, step: ChoosingEdge, action: Action) -> Followed:
        """The other side says who deploys first."""
        if not isinstance(action, ChooseEdge):
            raise Refused(f"expected an edge, got {action.type}", rule="M-2.3")
        other = state.other(step.side)
        near = step.side if action.edge == "near" else other
        far = state.other(near)
        text = f"{side_name(near)} deploys at the near edge, {side_name(far)} at the far one"
        drawn = (*_zone(state, near, is_near=True), *_zone(state, far, is_near=False))
        told = Event("edge", text, "M-2.3", {"near": near, "far": far}, drawn)
        return state.to(ChoosingOrder(other, near, step.then)), (told,)


class ChoosingOrderRules:
    """`ChoosingOrder`: the higher roller deploys first or second (M-2.3)."""

    def asked(self, state: State, step: ChoosingOrder) -> Asked:
        """Who rolled higher."""
        return Asked(f"Who deploys first? {side_name(step.side)} decides", step.side)

    def legal(self, state: State, step: ChoosingOrder) -> tuple[Action, ...]:
        """Either side."""
        return tuple(ChooseOrder(name) for name in _names(state))

    def apply(self, state: State, step: ChoosingOrder, action: Action) -> Followed:
        """Both deploy, one after the other."""
        if not isinstance(action, ChooseOrder) or action.first not in _names(state):
            raise Refused(f"expected one of {', '.join(_names(state))}", rule="M-2.3", key="first")
        second = Deploying(state.other(action.first), step.near, step.then)
        text = f"{side_name(action.first)} deploys first"
        deploying = Deploying(action.first, step.near, second)
        drawn = _zone(state, action.first, is_near=action.first == step.near)
        return state.to(deploying), (Event("order", text, "M-2.3", {"first": action.first}, drawn),)


class DeployingRules:
    """`Deploying`: all units of a side wholly in its outer third of the table (M-2.3)."""

    def asked(self, state: State, step: Deploying) -> Asked:
        """The side."""
        edge = "near" if step.side == step.near else "far"
        return Asked(f"{side_name(step.side)} deploys in the third at the {edge} edge", step.side)

    def legal(self, state: State, step: Deploying) -> tuple[Action, ...]:
        """As all lies, where that is in its third; else in rows that face the enemy.

        With them go the enemy's where he has yet to deploy: he may lie in the way.
        """
        if why_not_deployed(state.position, step) is None:
            return (Deploy(step.side),)
        places = [usual_places(state.position, each, step.near) for each in yet_to_deploy(step)]
        return (
            Deploy(step.side, {name: bases for each in places for name, bases in each.items()}),
        )

    def apply(self, state: State, step: Deploying, action: Action) -> Followed:
        """The other side deploys, or the dice for the first round are due."""
        if not isinstance(action, Deploy) or action.side != step.side:
            expected = f"expected {side_name(step.side)} to deploy"
            raise Refused(f"{expected}, got {action.type}", rule="M-2.3")
        try:
            position = deployed(state.position, yet_to_deploy(step), action.units)
            position = with_commanders(position, step.side, action.commanders)
            field_on(position)
        except BadInput as error:
            raise Refused(error.message, rule="M-2.3", key="units") from None
        if (why_not := why_not_deployed(position, step)) is not None:
            raise why_not
        state = replace(state, position=position, step=step.then)
        own = [each.id for each in position.units if each.side == step.side]
        facts = {"side": step.side, "units": own}
        return state, (Event("deployed", f"{side_name(step.side)} has deployed", "M-2.3", facts),)


def why_not_deployed(position: Position, step: Deploying) -> Refused | None:
    """Why a side does not lie as it may be deployed; None where it does."""
    is_near = step.side == step.near
    if (unit := outside(position, step.side, is_near=is_near)) is not None:
        why = f"{unit} does not lie wholly in the third of {side_name(step.side)}"
        return Refused(why, rule="M-2.3", key="units")
    if (unit := barred(position, step.side)) is not None:
        return Refused(f"{unit} lies on impassable ground", rule="M-5.1", key="units")
    return None


def yet_to_deploy(step: Deploying) -> tuple[str, ...]:
    """The side that deploys, and the other where it does so after it: it has no place yet."""
    return (step.side, step.then.side) if isinstance(step.then, Deploying) else (step.side,)


class RollingFirstRoundRules:
    """`RollingFirstRound`: the higher plays the first round; ties are rolled again (M-2.6)."""

    def asked(self, state: State, step: RollingFirstRound) -> Asked:
        """Chance."""
        return Asked(f"A die each for the first round: {' and '.join(_called(state))}")

    def legal(self, state: State, step: RollingFirstRound) -> tuple[Action, ...]:
        """The roll."""
        return (_due("first round"),)

    def apply(self, state: State, step: RollingFirstRound, action: Action) -> Followed:
        """The first round begins."""
        _, higher, told = _rolled(state, action, "first round", "M-2.6")
        if higher is None:
            return state, (told,)
        return first_step(state, 1, higher), (told,)


def _zone(state: State, side: str, *, is_near: bool) -> tuple[Shape, ...]:
    return shapes_of(third(state.position.table, is_near=is_near), "zone", side_name(side))


def _rolled(
    state: State, action: Action, for_: str, rule: str
) -> tuple[tuple[int, ...], str | None, Event]:
    """The dice of both sides, who rolled higher (None: a tie), and what is told of it."""
    if not isinstance(action, Roll):
        raise Refused(f"expected dice for the {for_}, got {action.type}", rule=rule)
    dice = values_of(action, _due(for_), rule=rule)
    names = _names(state)
    text = ", ".join(f"{name} rolls {die}" for name, die in zip(_called(state), dice, strict=True))
    facts: dict[str, Any] = {"dice": list(dice)}
    if dice[0] == dice[1]:
        return dice, None, Event("tie", f"{text}: again", rule, facts)
    higher = names[dice.index(max(dice))]
    return dice, higher, Event("rolled", f"{text}, for the {for_}", rule, facts)


def _check_count(step: LayingTerrain, pieces: int) -> None:
    if not step.least <= pieces <= step.most:
        expected = f"expected from {step.least} to {step.most} pieces"
        raise Refused(f"{expected}, got {pieces}", rule="M-2.1", key="terrain")


def _proposed(state: State, step: LayingTerrain) -> tuple[Terrain, ...]:
    """As much of what lies as the dice allow; where that is too little, more in the middle."""
    table, laid = state.position.table, [*state.position.terrain[: step.most]]
    names = {piece.id for piece in laid}
    for cell in range(_CELLS):
        if len(laid) >= step.least:
            break
        across, up = (7 * cell % 10 + 0.5) / 10, (cell % 3 + 3.5) / 9
        half_mm = min(2 * table.base_width_mm, table.width_mm / 20)
        x, y = across * table.width_mm, up * table.depth_mm
        box = shapely.box(
            *(x - half_mm, y - table.base_width_mm),
            *(x + half_mm, y + table.base_width_mm),
        )
        name = f"ground-{cell + 1}"
        if name not in names and not any(shapely.intersects(box, _outline(each)) for each in laid):
            corners = tuple((float(x), float(y)) for x, y in shapely.get_coordinates(box)[:-1])
            laid.append(Terrain(name, _KINDS[cell % len(_KINDS)], corners))
    return tuple(laid)


def _outline(piece: Terrain) -> shapely.Polygon:
    return shapely.Polygon(piece.outline_mm)


def _with_terrain(state: State, step: LayingTerrain, action: LayTerrain) -> State:
    _check_count(step, len(action.terrain))
    position = replace(state.position, terrain=action.terrain)
    try:
        field_on(position)
    except BadInput as error:
        raise Refused(error.message, rule="M-2.2", key=error.key) from None
    try:
        check_room(position, _names(state))
    except BadInput as error:
        raise Refused(error.message, rule="M-2.3", key="terrain") from None
    return replace(state, position=position)


def _due(for_: str) -> Roll:
    return Roll(for_, 2)


def _names(state: State) -> tuple[str, str]:
    first, second = state.sides
    return first.name, second.name


def _called(state: State) -> tuple[str, ...]:
    """Both sides as people call them."""
    return tuple(map(side_name, _names(state)))
