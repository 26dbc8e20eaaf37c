"""The smallest table on which to play cards: two opposing lines, each with its commander."""

from collections.abc import Sequence

from tablecam.rules.maurice.game.state import State
from tablecam.table.model import Commander, Position, Terrain, Unit
from tests.rules.maurice.tables import SOUTH, line, position

COMMANDERS = (Commander("fc", "french", 600, 100), Commander("bc", "british", 600, 1100))


def table(*more: Unit, terrain: Sequence[Terrain] = ()) -> Position:
    """F1 and B1, 20 BW apart, plus any further units."""
    return position(
        line("F1", "french", 600, 200),
        line("B1", "british", 600, 1000, SOUTH),
        *more,
        terrain=terrain,
        commanders=COMMANDERS,
    )


def hand(state: State, side: str) -> int:
    """Returns the number of cards that a side holds."""
    return state.side(side).hand
