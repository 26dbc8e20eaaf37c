"""Games of the house folio for tests: the whole of it, or a few counters on an open map."""

from __future__ import annotations

from copy import deepcopy
from random import Random
from typing import Any

from tablecam.rules.game_files import house_options
from tablecam.rules.musket_saber.game import GAME
from tablecam.rules.play import Play
from tablecam.table.model import HexMap, Position, TableSize

HOUSE_MAP = HexMap("flat", 21.0, (40.0, 320.0), 14, 12, "CCRR", "even")
POSITION = Position("musket-saber", TableSize(440, 340, hex_map=HOUSE_MAP))


def files(**changes: Any) -> dict[str, Any]:
    """The house folio's files, some of their keys changed."""
    options = deepcopy(dict(house_options("musket-saber")))
    for kind, keys in changes.items():
        options[kind] |= keys
    return options


def begun(seed: int = 0, **changes: Any) -> Play[Any, Any]:
    """A game of the house folio."""
    return Play(GAME, POSITION, files(**changes), chance=Random(seed))


OPEN = HexMap("flat", 20.0, (30.0, 420.0), 16, 19, "CCRR", "even")


def unit(name: str, place: str | None, **keys: Any) -> dict[str, Any]:
    """An entry of `[[unit]]`; the side follows from the first letter of its name, R or G."""
    faces = {
        "infantry": {"cf": 5, "mr": 4, "ma": 5},
        "cavalry": {"cf": 4, "charge": 7, "mr": 4, "ma": 8},
        "artillery": {"attack": 5, "defence": 2, "range": 3, "ma": 4},
    }
    arm = keys.pop("arm", "infantry")
    front = faces[arm] | keys.pop("front", {})
    back = front | {"cf": 3} if arm == "infantry" else front | ({"charge": 0} if "charge" in front
           else {"attack": 0, "range": 0})  # fmt: skip
    entry = {
        "id": name, "side": "red" if name.startswith("R") else "grey", "arm": arm,
        "formation": name[0], "front": front, "back": back, "hex": place,
    }  # fmt: skip
    return {key: value for key, value in (entry | keys).items() if value is not None}


def battle(
    *units: dict[str, Any], seed: int = 0, phase: str = "movement", side: str = "red",
    time: str = "day", map: dict[str, Any] | None = None,
    marks: dict[str, dict[str, Any]] | None = None, **scenario: Any,
) -> Play[Any, Any]:  # fmt: skip
    """A game of a few units on an open map, where each side's LOC hex is far behind it.

    `marks` are what earlier turns would have made of the units.
    """
    options = files()
    options["map"] = {
        key: value for key, value in options["map"].items()
        if key in ("format", "version", "game", "source", "default")
    } | (map or {})  # fmt: skip
    options["scenario"] = options["scenario"] | {
        "sides": ["red", "grey"], "first_player": "red", "turns": ["day", "day", "day", "day"],
        "loc": {"red": ["0101"], "grey": ["1619"]}, "hq": [], "trains": [], "leader": [],
        "reinforcement": [], "replacements": {}, "unit": list(units),
        "victory": [{"side": "red", "kind": "enemy_steps", "points": 1}],
        "victory_level": {"red": 1, "grey": 1},
    } | scenario  # fmt: skip
    options["begin"] = {"phase": phase, "active_side": side, "time": time}
    position = Position("musket-saber", TableSize(400, 460, hex_map=OPEN))
    play = Play(GAME, position, options, chance=Random(seed))
    for name, changes in (marks or {}).items():
        play._first = play.first.changed(name, **changes)
    return play


def close_up(seed: int = 0, **scenario: Any) -> Play[Any, Any]:
    """The house folio with the two lines two hexes apart, on open ground."""
    options = files(scenario=scenario)
    plain = ("format", "version", "game", "source", "default", "path")
    options["map"] = {key: value for key, value in options["map"].items() if key in plain}
    for entry in (*options["scenario"]["unit"], *options["scenario"]["leader"]):
        if entry["side"] == "house-grey" and "hex" in entry:
            entry["hex"] = f"{entry['hex'][:2]}{int(entry['hex'][2:]) - 1:02}"
    return Play(GAME, POSITION, options, chance=Random(seed))


def eager(actions: tuple[Any, ...], players: Random) -> Any:
    """Choose a kind of action first, and rather fight than go away or give up."""
    kinds = sorted({action.type for action in actions})
    idle = {"pass", "exit", "square", "declare"}
    if "declare" in kinds and players.random() < 0.4:
        idle -= {"declare"}
        actions = tuple(a for a in actions if a.type != "declare" or a.yes)
    wanted = [kind for kind in kinds if kind not in idle]
    if "attack" in kinds and players.random() < 0.8:
        wanted = ["attack"]
    kind = players.choice(wanted if wanted and players.random() < 0.9 else kinds)
    some = [action for action in actions if action.type == kind]
    charges = [
        a for a in some if getattr(a, "charge", None) or getattr(a, "choice", "") == "charge"
    ]
    return players.choice(charges or some)
