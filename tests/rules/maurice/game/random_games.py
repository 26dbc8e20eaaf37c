"""Whole games on random tables with random legal actions, and their invariants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

from tablecam.rules.maurice.game import GAME
from tablecam.rules.maurice.game.actions import Action
from tablecam.rules.maurice.game.state import State
from tablecam.rules.play import Play
from tablecam.rules.play_log import Done
from tablecam.table.model import BasePose, Commander, Position, Terrain, Unit
from tests.rules.maurice.tables import column, gun, line, massed, position

MOST_ACTIONS = 4000
"""Few games of random players reach a quarter of this."""
_CELL_MM = 200.0
_SIGMA_MM, _SIGMA_DEG = 0.2, 0.3
"""The sigmas of a base in the interfaces' example of a measured position."""
_LAYERS = ((line, "infantry"), (line, "infantry"), (massed, "cavalry"), (column, "infantry"))
_IDLE = ("done", "decline", "interruptfoil", "declarepass", "declareevent", "place-commander")
"""Actions that end a step without any effect on the table."""
_IDLENESS = 0.15
_KINDS = ("woods", "rough", "wall", "marsh", "impassable", "hill")


def random_table(seed: int) -> Position:
    """Two armies about 3 BW apart, in lines of battle on separate cells, and terrain."""
    chance = Random(seed)
    units: list[Unit] = []
    for side, name, y_mm, heading in (("french", "F", 540.0, 90.0), ("british", "B", 740.0, 270.0)):
        cells = [(column, row) for row in (0, 1) for column in range(8)]
        for place, (across, behind) in enumerate(chance.sample(cells, chance.randint(3, 6))):
            x_mm = 100.0 + (across + 0.5) * _CELL_MM
            back = -behind * _CELL_MM * (1 if heading == 90.0 else -1)
            place_mm = x_mm + chance.uniform(-15, 15), y_mm + back + chance.uniform(-15, 15)
            layer, arm = chance.choice([*_LAYERS, (gun, "artillery")])
            most = 1 if arm == "artillery" else 3
            units.append(
                layer(
                    f"{name}{place + 1}",
                    side,
                    *place_mm,
                    heading,
                    arm=arm,
                    disruption=chance.randint(0, most),
                )
            )
    commanders = (Commander("fc", "french", 900, 150), Commander("bc", "british", 900, 1100))
    return position(*units, terrain=ground(chance), commanders=commanders)


def ground(chance: Random) -> list[Terrain]:
    """Up to three boxes of different kinds, anywhere."""
    found = []
    for place in range(chance.randint(0, 3)):
        x, y = chance.uniform(100, 1500), chance.uniform(250, 900)
        kind = chance.choice(_KINDS)
        wide = chance.uniform(60, 250)
        deep = 8.0 if kind == "wall" else chance.uniform(40, 160)
        corners = ((x, y), (x + wide, y), (x + wide, y + deep), (x, y + deep))
        found.append(Terrain(f"t{place}", kind, corners))
    return found


def measured(table: Position, seed: int) -> Position:
    """The table as a camera sees it: every base slightly off, according to its sigmas."""
    chance = Random(seed)
    units = tuple(
        replace(unit, bases=tuple(_seen(base, chance) for base in unit.bases))
        for unit in table.units
    )
    leaders = tuple(replace(each, sigma_mm=_SIGMA_MM) for each in table.commanders)
    return replace(table, units=units, commanders=leaders)


def _seen(base: BasePose, chance: Random) -> BasePose:
    return replace(
        base,
        x_mm=base.x_mm + chance.gauss(0.0, _SIGMA_MM),
        y_mm=base.y_mm + chance.gauss(0.0, _SIGMA_MM),
        heading_deg=base.heading_deg + chance.gauss(0.0, _SIGMA_DEG),
        sigma_mm=_SIGMA_MM,
        sigma_deg=_SIGMA_DEG,
    )


def random_game(seed: int, *, is_measured: bool = False, **options: Any) -> Play[State, Action]:
    """A new game, its table and chance with the same seed."""
    table = random_table(seed)
    if is_measured:
        table = measured(table, seed)
    return Play(GAME, table, options, chance=Random(seed))


def eager(actions: tuple[Action, ...], players: Random) -> Action:
    """Chooses for players who mostly do something: first a kind of action, then one of it."""
    kinds: dict[str, list[Action]] = {}
    for action in actions:
        kind = action.type + getattr(action, "command", getattr(action, "effect", ""))
        kinds.setdefault(kind, []).append(action)
    idle = [kind for kind in kinds if kind.startswith(_IDLE)]
    deeds = [kind for kind in kinds if kind not in idle]
    is_idle = not deeds or (idle and players.random() < _IDLENESS)
    return players.choice(kinds[players.choice(idle if is_idle else deeds)])


class Keeping:
    """Checks after each action that no bases, morale or cards are lost."""

    def __init__(self, play: Play[State, Action]) -> None:
        self._bases = _bases(play.state.position)
        self._cards = cards_of(play.state)
        self._morale = sum(side.morale for side in play.state.sides)
        self._told: list[tuple[Done[State, Action], Counter[str]]] = []

    def check(self, play: Play[State, Action]) -> None:
        """Checks that only events account for differences from the start of the game."""
        told, state = self._told_until_now(play.done), play.state
        bases = {unit: has for unit, has in self._bases.items() if not told[f"{unit} broken"]}
        assert _bases(state.position) == bases
        assert bool(told["over"]) == play.asked().is_over
        assert self._morale - told["morale"] == sum(side.morale for side in state.sides)
        assert cards_of(state) == self._cards - told["removed"]
        assert all(side.hand >= 0 and side.morale >= 0 for side in state.sides)
        for unit in state.position.units:
            assert 0 <= int(unit.state.get("disruption", 0)) <= len(unit.bases)

    def _told_until_now(self, done: tuple[Done[State, Action], ...]) -> Counter[str]:
        """Returns the number of events of each kind, without actions that were taken back."""
        told = self._told
        while told and (len(told) > len(done) or told[-1][0] is not done[len(told) - 1]):
            told.pop()
        for each in done[len(told) :]:
            so_far = told[-1][1] if told else Counter[str]()
            told.append((each, so_far + Counter(_kinds(each))))
        return told[-1][1] if told else Counter[str]()


def _kinds(done: Done[State, Action]) -> Iterator[str]:
    for event in done.events:
        yield event.kind
        if event.kind == "broken":
            yield f"{event.facts['unit']} broken"


def _bases(position: Position) -> dict[str, int]:
    return {unit.id: len(unit.bases) for unit in position.units}


def cards_of(state: State) -> int:
    """Returns the number of all cards, without the Reshuffle card, wherever they are."""
    in_deck = state.deck.left - (state.deck.stage == "second")
    return in_deck + state.deck.discarded + sum(side.hand for side in state.sides)
