"""Hostile input at every edge, 2,000 times: it is refused in one line, never by an internal error.

What a page, a program or a file may send is taken as it should be and corrupted by a seeded
generator: a value that no table has, a header that no browser sends, a damaged text.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest
from flask import Flask

from tablecam.commands.engine import Lines
from tablecam.errors import BadInput
from tablecam.record.camera_file import read_camera_file, to_json
from tablecam.record.game_file import GameFile
from tablecam.replay.copies import copy_of
from tablecam.replay.lines import copy_from_lines, lines_of
from tablecam.rules.games import known_games
from tablecam.rules.maurice.game import GAME
from tablecam.table.position_file import position_to_json, read_position_file
from tests.record.games import FACTS
from tests.record.test_camera_file import WHOLE
from tests.referee.tables import table
from tests.replay.evening import evening
from tests.web.of_four import ROSTER_OF_FOUR, begin
from tests.web.standing import StandingControls, StandingTable
from web import create_app

DEEP: Final = 200
"""Python reads JSON of such a depth, but not everything done with it afterwards copes."""
VALUES: Final = (
    *(2**63, -(2**63) - 1, 10**30, 2**53, -1, 0, 1e308, -1e308, 5e-324, float("nan"), float("inf")),
    *("", "\ud800", "\0", "\u202e", "F" * 5000, "unit:F1", "F1", "point:nan,1e999"),
    *(None, True, [], {}, [[]], [1], [1, 2], {"type": "roll"}, {"F1": [[1, 2]]}),
)
RAW: Final = (
    "[" * 100_000, "[" * DEEP + "]" * DEEP, '{"a":' * DEEP + "1" + "}" * DEEP, "9" * 5000, "1e999",
    "NaN", '"\\ud800"', "\\", "{", "]", ",", "\0", "é",
)  # fmt: skip
"""Inserted into the text as they are."""
HEADERS: Final = (
    {"Origin": "http://["}, {"Origin": "null"}, {"Origin": "http://localhost:99999999"},
    {"Host": "["}, {"Host": "[::1"}, {"Host": "]"}, {"Host": ""}, {"Content-Type": "text/plain"},
    {"Content-Type": "application/json; charset=x"}, {"Content-Length": "-1"},
    {"Cookie": "tablecam_seat=\xff"},
)  # fmt: skip
ARMS: Final = {"F1": [[500.0, 400.0, 90.0]] * 4}
BRANCH: Final = {"moment": 3, "laid": ARMS}
BODIES: Final[dict[str, dict[str, Any]]] = {
    "/api/game/begin": {"options": {"active": "french", "deck_size": 30}},
    "/api/game/act": {"action": {"type": "declare", "command": "march"}, "version": 1},
    "/api/game/confirm": {"unit": "F1", "version": 1},
    "/api/game/confirm-all": {"units": ["F1", "F2"], "version": 1},
    "/api/game/agree": {"proposal": 1},
    "/api/game/accept": {"units": ["F1"], "why": "agreed", "version": 1},
    "/api/game/intend": {"unit": "F1", "of": "B1", "range_bw": 4, "is_within": True},
    "/api/game/undo": {"steps": 1, "deed": 0},
    "/api/game/redo": {"version": 1},
    "/api/game/correct": {"deed": 0, "values": [3, 4], "why": "misread"},
    "/api/take-off": {"thing": "unit:F1"},
    "/api/seat": {"seat": "shared"},
    "/api/disputes": {"question": "near:F1", "active": "french"},
    "/api/simulated/move-together": {
        "moves": [{"unit": "F1", "x_mm": 600, "y_mm": 400, "heading_deg": 90}]
    },
    "/api/masks": {"outline_mm": [[0, 0], [300, 0], [300, 200]]},
    "/api/masks/remove": {"outline_mm": [[0, 0], [300, 0], [300, 200]]},
    "/api/simulated/move": {"unit": "F1", "x_mm": 600, "y_mm": 400, "heading_deg": 90},
    "/api/simulated/take-off": {"unit": "F1", "tag": 10},
    "/api/simulated/bump": {"right_px": 1, "down_px": 2},
    "/api/simulated/light": {"light": 0.5},
    "/api/replay/measure": BRANCH | {"a": "unit:F1", "b": "unit:B1"},
    "/api/replay/about": BRANCH | {"thing": "unit:F1"},
    "/api/replay/sheet": BRANCH | {"a": "F1", "b": "B1", "active": "french"},
    "/api/replay/odds": BRANCH | {"wanted": {"kind": "volley", "unit": "F1", "target": "B1"}},
}
ADDRESSES: Final = (
    "/api/measure?a=unit:F1&b=point:{}&within_bw=4", "/api/about?thing={}", "/api/state?after={}",
    "/api/replay/film?after={}", "/api/replay/film?after=2&pictures={}",
    "/api/replay/pictures/{}/table", "/api/disputes/{}/position", "/api/game/others/{}",
    "/api/game?after={}", "/api/rulings/unit?unit={}&active=french", "/seat/{}",
    "/api/seats/{}/code.svg",
)  # fmt: skip
LEGAL: Final = '{"do": "legal"}'
IN_ADDRESS: Final = (
    "0", "-1", str(2**63), str(10**30), "9" * 5000, "nan", "1e999", "%00", "%ED%A0%80", "F1", "[",
)  # fmt: skip


def spoilt(data: Any, chance: Random) -> str:
    """A document's text in which one value is replaced, or something is inserted."""
    text = json.dumps(data)
    places = [*_places(data)]
    if places and chance.random() < 0.6:
        changed = json.loads(text)
        *path, last = chance.choice(places)
        inside = changed
        for part in path:
            inside = inside[part]
        if chance.random() < 0.2:
            del inside[last]
        else:
            inside[last] = chance.choice(VALUES)
        return json.dumps(changed)
    at = chance.randrange(len(text))
    until = at + chance.choice((0, 1, 1, 5))
    return text[:at] + chance.choice(RAW) + text[until:]


def _places(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    if isinstance(data, dict | list):
        for key, each in data.items() if isinstance(data, dict) else enumerate(data):
            yield from _places(each, (*path, key))


def hostile_requests(chance: Random) -> Iterator[tuple[str, bytes | None, dict[str, str]]]:
    """Hostile requests to a page: an address, a posted body, and headers."""
    for number in itertools.count():
        headers = chance.choice(HEADERS) if number % 5 == 0 else {}
        if number % 5 == 1:
            yield chance.choice(ADDRESSES).format(chance.choice(IN_ADDRESS)), None, headers
        else:
            path, body = chance.choice([*BODIES.items()])
            sent = {"Content-Type": "application/json"} | headers
            yield path, spoilt(body, chance).encode(), sent


def hostile_lines(engine: Lines, chance: Random) -> Iterator[str]:
    """Hostile lines to an engine that has loaded a game."""
    load = {"do": "load", "position": position_to_json(table()), "options": {"active": "french"}}
    assert engine.answer(json.dumps(load))["ok"]
    requests = (
        *({"do": "apply", "action": action, "at": 0} for action in engine.answer(LEGAL)["legal"]),
        *({"do": "state", "seat": "french"}, {"do": "undo", "steps": 1}, load),
        load | {"do": "moved"},
    )
    while True:
        yield spoilt(chance.choice(requests), chance)


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> GameFile:
    path = tmp_path_factory.mktemp("recordings") / "evening.tablecam"
    return GameFile.create(path, FACTS, evening())


def table_of(recording: GameFile) -> Flask:
    """The application of a table whose game is in this recording."""
    live = StandingTable(simulated=StandingControls(), roster=ROSTER_OF_FOUR, position=table())
    return create_app(live, recording=lambda: recording)


def test_hostile_requests_are_never_an_internal_error(recording: GameFile) -> None:
    client = table_of(recording).test_client()
    begin(client)
    for path, body, headers in islice(hostile_requests(Random(13)), 1000):
        method = "GET" if body is None else "POST"
        answer = client.open(path, method=method, data=body, headers=headers)
        assert answer.status_code < 500, (path, body, headers)
        if answer.status_code >= 400 and path.startswith("/api") and answer.is_json:
            assert "\n" not in answer.json["error"]


def test_hostile_lines_are_never_a_fault_of_the_engines_own() -> None:
    engine = Lines(GAME, chance=Random(1))
    for line in islice(hostile_lines(engine, Random(13)), 400):
        assert "internal error in tablecam" not in engine.answer(line).get("error", ""), line


def test_hostile_files_are_refused_in_one_line(tmp_path: Path, recording: GameFile) -> None:
    chance, path = Random(13), tmp_path / "file.json"
    told = [json.loads(line) for line in lines_of(copy_of(recording, pictures=False))]
    camera, refusals = json.loads(to_json(WHOLE)), list[str]()
    for number in range(600):
        try:
            if number % 3 == 0:
                path.write_text(spoilt(position_to_json(table()), chance), "utf-8")
                read_position_file(path, known_games())
            elif number % 3 == 1:
                path.write_text(spoilt(camera, chance), "utf-8")
                read_camera_file(path)
            else:
                lines = [json.dumps(line).encode() for line in told]
                place = chance.choice((0, chance.randrange(len(lines))))
                lines[place] = spoilt(told[place], chance).encode()
                copy = copy_from_lines(lines, str(path))
                GameFile.create(tmp_path / f"{number}.tablecam", copy.facts, copy.entries)
        except BadInput as error:
            refusals.append(str(error))
    assert len(refusals) > 300
    assert all(said.startswith(str(path)) and "\n" not in said for said in refusals)
