"""Games as varied as possible: any armies, bases, terrain and options, and meddling players.

`random_games` plays straight on; here players move units anywhere, take actions back, repeat old
ones and overrule, and games are saved and loaded in the middle.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any, get_args

from hypothesis import strategies as st

from tablecam.rules.game import Refused
from tablecam.rules.lay import Lay
from tablecam.rules.maurice.field.tables import KINDS
from tablecam.rules.maurice.game import GAME
from tablecam.rules.maurice.game.actions import (
    Action,
    Charge,
    Deploy,
    March,
    Overrule,
    PlaceCommander,
)
from tablecam.rules.maurice.game.charge import Charging
from tablecam.rules.maurice.game.march import Marching
from tablecam.rules.maurice.game.state import DeckStage, State
from tablecam.rules.play import Play
from tablecam.table.model import BasePose, Commander, Position, TableSize, Terrain, Unit
from tests.rules.conformance import check_state
from tests.rules.maurice.game.random_games import Keeping, cards_of, eager, measured

BASES_MM = ((40.0, 40.0, 40.0), (40.0, 30.0, 40.0), (50.0, 50.0, 50.0), (38.0, 30.0, 40.0))
"""Width and depth of a base, and the agreed BW (M-1.1, M-1.2)."""
_FORMED = (
    ("infantry", "line"),
    ("infantry", "line"),
    ("infantry", "column"),
    ("cavalry", "line"),
    ("cavalry", "massed"),
    ("cavalry", "column"),
    ("artillery", "artillery"),
)
STAGES: tuple[DeckStage, ...] = get_args(DeckStage)
_LINEAR = tuple(name for name, kind in KINDS.items() if kind.is_linear)


def varied_game(seed: int) -> Play[State, Action]:
    """A new, wholly random game."""
    chance = Random(seed)
    table = _table(chance)
    if chance.random() < 0.2:
        table = measured(table, seed)
    return Play(GAME, table, _options(chance, table), chance=Random(seed))


def small_table(seed: int) -> Position:
    """At most four units a side, on any terrain, without a tolerance."""
    table = _table(Random(seed), most=4)
    return replace(table, table=replace(table.table, tolerance_mm=0.0))


small_tables = st.builds(small_table, st.integers(0, 2**32 - 1))


def _table(chance: Random, most: int = 8) -> Position:
    wide_mm, deep_mm, bw_mm = chance.choice(BASES_MM)
    tolerance_mm = chance.choice((0.0, 0.0, 0.0, 2.0))
    size = TableSize(*chance.choice(((1800.0, 1200.0), (2400.0, 1500.0))), bw_mm, tolerance_mm)
    units = [
        unit
        for side, is_near in (("french", True), ("british", False))
        for unit in _army(chance, size, side, (wide_mm, deep_mm), most, is_near=is_near)
    ]
    leaders = tuple(
        Commander(f"{side}-cinc", side, chance.uniform(50, size.width_mm - 50), y_mm)
        for side, y_mm in (("french", 150.0), ("british", size.depth_mm - 150.0))
        if chance.random() < 0.9
    )
    return Position(GAME.name, size, tuple(units), leaders, tuple(_ground(chance, size)))


def _army(
    chance: Random,
    size: TableSize,
    side: str,
    base_mm: tuple[float, float],
    most: int,
    *,
    is_near: bool,
) -> Iterator[Unit]:
    """Units on separate cells: side by side near the middle, in depth, or all over."""
    most = chance.randint(1, most)
    cell_mm = 4.4 * max(base_mm)
    columns, rows = int(size.width_mm // cell_mm), int(size.depth_mm * 0.48 // cell_mm)
    cells = [(column, row) for row in range(rows) for column in range(columns)]
    wide, deep = chance.randint(3, columns), chance.randint(1, rows)
    here = [(column, row) for column, row in cells if column < wide and row < deep]
    for place, (across, row) in enumerate(chance.sample(here, min(len(here), most))):
        arm, formation = chance.choice(_FORMED)
        x_mm = (across + 0.5) * cell_mm
        from_middle_mm = (row + 0.5) * cell_mm + 10.0
        y_mm = size.depth_mm / 2 + (-from_middle_mm if is_near else from_middle_mm)
        heading_deg = 90.0 if is_near else 270.0
        heading_deg += chance.choice((0.0, 0.0, chance.uniform(-25, 25), chance.uniform(0, 360)))
        bases = _laid(formation, base_mm, (x_mm, y_mm), heading_deg)
        if chance.random() < 0.3:
            bases = tuple(uneven(chance, base) for base in bases)
        state: dict[str, Any] = {"disruption": chance.randint(0, 1 if arm == "artillery" else 4)}
        if arm == "artillery" and chance.random() < 0.3:
            state["smoke"] = True
        name = f"{side[0].upper()}{place + 1}"
        yield Unit(name, side, arm, bases, chance.choice((formation, None)), state)


def _laid(
    formation: str, base_mm: tuple[float, float], middle: tuple[float, float], heading_deg: float
) -> tuple[BasePose, ...]:
    wide_mm, deep_mm = base_mm
    places = {
        "line": [(0.0, place - 1.5) for place in range(4)],
        "column": [(1.5 - place, 0.0) for place in range(4)],
        "massed": [(ahead, right) for ahead in (0.5, -0.5) for right in (-0.5, 0.5)],
        "artillery": [(0.0, 0.0)],
    }[formation]
    turn_rad = math.radians(heading_deg)
    x, y = math.cos(turn_rad), math.sin(turn_rad)
    return tuple(
        BasePose(
            middle[0] + ahead * deep_mm * x + right * wide_mm * y,
            middle[1] + ahead * deep_mm * y - right * wide_mm * x,
            heading_deg % 360.0,
            wide_mm,
            deep_mm,
        )
        for ahead, right in places
    )


def uneven(chance: Random, base: BasePose) -> BasePose:
    """A base placed slightly ahead of or behind the others, as in real lines."""
    by_mm, turn_rad = chance.uniform(-1.5, 1.5), math.radians(base.heading_deg)
    x_mm, y_mm = base.x_mm + by_mm * math.cos(turn_rad), base.y_mm + by_mm * math.sin(turn_rad)
    return replace(base, x_mm=x_mm, y_mm=y_mm)


def _ground(chance: Random, size: TableSize) -> Iterator[Terrain]:
    for place in range(chance.randint(0, 5)):
        kind = chance.choice(tuple(KINDS))
        x, y = chance.uniform(0, size.width_mm * 0.9), chance.uniform(0, size.depth_mm * 0.9)
        long_mm = chance.uniform(40, 400)
        deep_mm = 6.0 if kind in _LINEAR else chance.uniform(30, 250)
        turn_rad = chance.choice((0.0, chance.uniform(0, math.pi)))
        along = math.cos(turn_rad), math.sin(turn_rad)
        corners = tuple(
            (
                x + right * long_mm * along[0] - up * deep_mm * along[1],
                y + right * long_mm * along[1] + up * deep_mm * along[0],
            )
            for right, up in ((0, 0), (1, 0), (1, 1), (0, 1))
        )
        yield Terrain(f"t{place}", kind, corners)


def _options(chance: Random, table: Position) -> dict[str, Any]:
    options: dict[str, Any] = {}
    sides = list(dict.fromkeys(unit.side for unit in table.units))
    if chance.random() < 0.3:
        options["setup"] = True
    elif chance.random() < 0.5:
        options["active"] = chance.choice(sides)
    if chance.random() < 0.5:
        options["deck"] = "house"
    else:
        options["deck_size"] = chance.choice((13, 16, 24, 60))
    if chance.random() < 0.3:
        options["hands"] = {side: chance.randint(0, 6) for side in sides}
    if chance.random() < 0.3:
        options["morale"] = {side: chance.randint(1, 9) for side in sides}
    if chance.random() < 0.3:
        options["measuring"] = "declared"
    return options


class Meddler:
    """A player who mostly plays on, and sometimes does anything else.

    `told` counts the results.
    """

    def __init__(self, seed: int) -> None:
        self._chance, self._card_chance = Random(seed), Random(seed)
        self.told = Counter[str]()

    def after_each(self, play: Play[State, Action]) -> None:
        """Meddles at random between two actions."""
        before = play.state
        if self._chance.random() < 0.05:
            check_state(play, tried=2, seed=len(play.done))
            self.told["checked"] += 1
        if self._chance.random() < 0.1 and not play.asked().is_over:
            self._told_nonsense(play)
            assert play.state is before
        if self._chance.random() < 0.03:
            self._taken_back(play)

    def choice(self, play: Play[State, Action]) -> Action:
        """Returns the next action, mostly a listed one."""
        is_his_move = isinstance(play.state.step, Marching | Charging)
        likely = 0.5 if is_his_move else 0.02
        if self._chance.random() < likely and (moved := self._by_hand(play)) is not None:
            return moved
        return eager(play.legal(), self._chance)

    def _taken_back(self, play: Play[State, Action]) -> None:
        """Takes back some actions, and checks that the earlier state returns."""
        steps = min(self._chance.randint(1, 4), len(play.done))
        states = [done.state for done in play.done]
        if steps and steps < len(states):
            play.undo(steps)
            assert play.state is states[-1 - steps]
            self.told["undone"] += 1

    def _told_nonsense(self, play: Play[State, Action]) -> None:
        """Tries an old action, or one that is not due: accepted or refused, never an error."""
        old = self._chance.choice(play.done).action if play.done else Lay({})
        self._tried(play, old, "old")
        for made in self._anything(play.state):
            self._tried(play, made, "anything")

    def _tried(self, play: Play[State, Action], action: Action, what: str) -> None:
        try:
            settled = GAME.settle(play.state, action, Random(1))
            state, _ = GAME.apply(play.state, settled)
        except Refused:
            self.told[f"{what} refused"] += 1
        else:
            self.told[f"{what} taken"] += 1
            if isinstance(action, Overrule) and state.is_dealt:
                assert cards_of(state) == cards_of(play.state)

    def _anything(self, state: State) -> Iterator[Action]:
        chance, position = self._chance, state.position
        if position.units:
            unit = chance.choice(position.units)
            yield March(unit.id, self._shifted(unit))
            yield Charge(unit.id, chance.choice(position.units).id, self._shifted(unit))
            yield Deploy(unit.side, {unit.id: self._shifted(unit)})
            yield Overrule(units={unit.id: self._shifted(unit)}, step="command")
            yield Overrule(off=(unit.id,), active=state.passive)
        size = position.table
        place = chance.uniform(-50, size.width_mm + 50), chance.uniform(-50, size.depth_mm + 50)
        yield PlaceCommander(state.active, *place)
        yield self._other_cards(state)

    def _other_cards(self, state: State) -> Overrule:
        """Overrules the hands and the deck."""
        chance = self._card_chance
        hands = {side.name: chance.randint(0, 9) for side in state.sides}
        return Overrule(hands=hands, deck=chance.randint(0, 60), stage=chance.choice(STAGES))

    def _by_hand(self, play: Play[State, Action]) -> Action | None:
        """Moves a unit anywhere and returns the suggested action; None if there is none.

        An action that is said to be legal must be accepted.
        """
        position = play.state.position
        if not position.units or play.asked().is_over:
            return None
        named = getattr(play.state.step, "force", getattr(play.state.step, "attackers", ()))
        due = [unit for unit in position.units if unit.id in named]
        unit = self._chance.choice(due or position.units)
        there = replace(unit, bases=self._shifted(unit), formation=None)
        seen = tuple(there if each.id == unit.id else each for each in position.units)
        legal = [
            each.action
            for each in GAME.detect_moves(play.state, replace(position, units=seen))
            if each.action is not None and each.answer.answer != "no"
        ]
        self.told["hands legal" if legal else "hands not"] += 1
        action: Any = self._chance.choice(legal) if legal else None
        return action

    def _shifted(self, unit: Unit) -> tuple[BasePose, ...]:
        """Returns its bases moved together, turned about the first, or moved separately."""
        chance = self._chance
        kind = chance.choice(("ahead", "wheel", "anywhere", "slip", "scatter"))
        first, turn_deg = unit.bases[0], 0.0
        x_mm = y_mm = 0.0
        if kind == "ahead":
            far_mm, heading_rad = chance.uniform(-90, 340), math.radians(first.heading_deg)
            x_mm, y_mm = far_mm * math.cos(heading_rad), far_mm * math.sin(heading_rad)
        elif kind == "wheel":
            turn_deg = chance.choice((90.0, 180.0, chance.uniform(-60, 60)))
        elif kind == "anywhere":
            x_mm, y_mm = chance.uniform(-300, 300), chance.uniform(-300, 300)
            turn_deg = chance.uniform(0, 360)
        slip = 2.0 if kind == "slip" else 30.0 if kind == "scatter" else 0.0
        return tuple(
            replace(
                base,
                x_mm=x + x_mm + chance.uniform(-slip, slip),
                y_mm=y + y_mm + chance.uniform(-slip, slip),
                heading_deg=(base.heading_deg + turn_deg) % 360.0,
            )
            for base, (x, y) in ((base, _turned(base, first, turn_deg)) for base in unit.bases)
        )


def _turned(base: BasePose, about: BasePose, turn_deg: float) -> tuple[float, float]:
    turn_rad = math.radians(turn_deg)
    x, y = base.x_mm - about.x_mm, base.y_mm - about.y_mm
    cos, sin = math.cos(turn_rad), math.sin(turn_rad)
    return about.x_mm + x * cos - y * sin, about.y_mm + x * sin + y * cos


def play_varied(seed: int, *, most: int) -> tuple[Play[State, Action], Counter[str]]:
    """Plays and checks a whole varied game; returns it with the counts of meddling.

    Raises:
        BadInput: Its armies do not fit on its table.
    """
    play = varied_game(seed)
    keeping, player = Keeping(play), Meddler(seed)
    for _ in range(most):
        if play.asked().is_over:
            assert play.legal() == ()
            return play, player.told
        play.apply(player.choice(play))
        keeping.check(play)
        player.after_each(play)
    raise AssertionError(f"not over after {most} actions: {play.asked().question}")
