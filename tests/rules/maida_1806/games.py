"""Games of the house sample for tests: the whole of it, or a few counters on an open map."""

from __future__ import annotations

from copy import deepcopy
from random import Random
from typing import Any

from tablecam.rules.maida_1806.game import GAME
from tablecam.rules.maida_1806.page import house_options
from tablecam.rules.play import Play
from tablecam.simulate.demo import demo_roster
from tablecam.table.model import HexMap, Position, TableSize

HOUSE_MAP = demo_roster("maida-1806").table.hex_map
assert HOUSE_MAP is not None
TABLE = TableSize(440, 340, hex_map=HOUSE_MAP)
POSITION = Position("maida-1806", TABLE)


def files(**changes: Any) -> dict[str, Any]:
    """The house sample's files, some of their keys changed."""
    options = deepcopy(dict(house_options()))
    for kind, keys in changes.items():
        options[kind] |= keys
    return options


def begun(seed: int = 0, **changes: Any) -> Play[Any, Any]:
    """A game of the house sample."""
    return Play(GAME, POSITION, files(**changes), chance=Random(seed))


OPEN = HexMap("flat", 20.0, (30.0, 420.0), 16, 19, "CCRR", "even")


def close_up(seed: int = 0, turns: int = 3) -> Play[Any, Any]:
    """The house sample with the French three hexes farther on, for fewer turns."""
    options = files(scenario={"turns": turns})
    for entry in (*options["scenario"]["unit"], *options["scenario"]["leader"]):
        for key in ("hex", "second_hex"):
            if entry["side"] == "french" and key in entry:
                entry[key] = f"{entry[key][:2]}{int(entry[key][2:]) + 3:02}"
    return Play(GAME, POSITION, options, chance=Random(seed))
