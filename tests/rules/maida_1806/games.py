"""Games of the house sample for tests: the whole of it, or a few counters on an open map."""

from __future__ import annotations

from copy import deepcopy
from random import Random
from typing import Any

from tablecam.rules.game_files import house_options
from tablecam.rules.maida_1806.game import GAME
from tablecam.rules.play import Play
from tablecam.simulate.demo import embedded_demo
from tablecam.table.model import HexMap, Position, TableSize

POSITION = embedded_demo("maida-1806").truth()


def files(**changes: Any) -> dict[str, Any]:
    """The house sample's files, some of their keys changed."""
    options = deepcopy(dict(house_options("maida-1806")))
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


def horse_in_front(seed: int = 0) -> Play[Any, Any]:
    """A turn of the house sample, its French horse in the open before the British foot."""
    options = files(scenario={"turns": 1, "pool": {"1": ["General Blue", "General Rouge"]}})
    places = {
        "Chasseurs": "0605", "General Rouge": "0604",
        "Hussars": "1105", "General Blue": "1104",
    }  # fmt: skip
    for entry in (*options["scenario"]["unit"], *options["scenario"]["leader"]):
        entry |= {"hex": places[entry["id"]]} if entry["id"] in places else {}
    return Play(GAME, POSITION, options, chance=Random(seed))


FRENCH = {"line": 66, "column": 20, "square": 20}


def unit(name: str, place: Any, facing_deg: int = 60, **keys: Any) -> dict[str, Any]:
    """An entry of `[[unit]]`; the side follows from the first letter of its name."""
    side = "french" if name.startswith("F") else "british"
    hexes = place if isinstance(place, list) else [place]
    there = dict(zip(("hex", "second_hex"), hexes, strict=False)) if place else {}
    usual: dict[str, Any] = {
        "side": side, "leader": f"{name[0]}1", "arm": "infantry", "kind": "battalion",
        "full_strength": 5, "morale": [7, 6], "firepower": FRENCH, "formation": "column",
        "facing_deg": facing_deg,
    }  # fmt: skip
    if keys.get("arm") == "cavalry":
        usual |= {"kind": "squadron", "firepower": None}
    if keys.get("arm") == "artillery":
        usual |= {"kind": "foot-battery", "firepower": None, "full_strength": None, "stars": 1,
                  "morale": None, "formation": None,
                  "ranges": [{"from": 1, "to": 4, "result": "1M"}]}  # fmt: skip
    if len(hexes) > 1:
        usual["formation"] = "line"
    entry = {"id": name} | usual | there | keys
    return {key: value for key, value in entry.items() if value is not None}


def battle(
    *units: dict[str, Any],
    leaders: dict[str, str] | None = None,
    map: dict[str, Any] | None = None,
    active: str | None = "F1",
    seed: int = 0,
    **scenario: Any,
) -> Play[Any, Any]:
    """A game of a few units on an open map, in the movement subphase of a leader."""
    places = {
        "F-OC": "0101",
        "F1": "0102",
        "F2": "0103",
        "B-OC": "1619",
        "B1": "1618",
        "B2": "1617",
    }
    places |= leaders or {}
    options = files()
    options["map"] = options["map"] | {
        "thicket": [], "marsh": [], "hexsides": {},
        "edges": {"british_reinforcements": ["0119", "0219", "0319", "0419", "0519", "0619"]},
    } | (map or {})  # fmt: skip
    sides = {"F": "french", "B": "british"}
    options["scenario"] = options["scenario"] | {
        "overall_commander": {"french": "F-OC", "british": "B-OC"},
        "pool": {"1": ["F1", "B1"]},
        "leader": [{"id": n, "side": sides[n[0]], "hex": at} for n, at in places.items()],
        "unit": list(units),
    } | scenario  # fmt: skip
    if active is not None:
        options["begin"] = {"active_leader": active, "pool": []}
    position = Position("maida-1806", TableSize(400, 460, hex_map=OPEN))
    return Play(GAME, position, options, chance=Random(seed))
