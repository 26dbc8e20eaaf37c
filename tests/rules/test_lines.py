"""The engine's lines: each request has one answer, and what is wrong with it is said there."""

import json
from random import Random

import pytest

from tablecam.commands.engine import Lines
from tablecam.table.model import Position, TableSize
from tablecam.table.position_file import position_to_json

TABLE = position_to_json(Position("nim", TableSize(100, 100, 10)))


@pytest.fixture
def lines(nim):
    return Lines(nim, chance=Random(1))


def ask(lines, do, **more):
    return lines.answer(json.dumps({"do": do, **more}))


@pytest.fixture
def loaded(lines):
    assert ask(lines, "load", position=TABLE)["ok"]
    return lines


def test_a_game_from_load_to_its_end(lines):
    assert ask(lines, "load", position=TABLE) == {
        "ok": True,
        "at": 0,
        "asked": {"question": "a die for the counters", "seat": None, "over": False},
    }
    (due,) = ask(lines, "legal")["legal"]
    assert due == {"type": "roll", "for": "counters", "count": 1, "sides": 6}
    rolled = ask(lines, "apply", action=due | {"values": [2]})
    assert rolled["events"][0]["text"] == "there are 2"
    assert ask(lines, "state")["state"] == {"left": 2, "turn": 0}
    for action in ask(lines, "legal")["legal"]:
        assert ask(lines, "apply", action=action)["ok"]
        assert ask(lines, "undo") == rolled_back(rolled, action)
    assert ask(lines, "apply", action={"type": "take", "count": 2})["asked"]["over"]
    assert ask(lines, "legal")["legal"] == []


def rolled_back(answer, action):
    kept = {key: answer[key] for key in ("ok", "at", "asked")}
    return kept | {"undone": [action]}


def test_a_roll_without_values_is_rolled(loaded):
    due = ask(loaded, "legal")["legal"][0]
    answer = ask(loaded, "apply", action=due)
    (value,) = answer["action"]["values"]
    assert ask(loaded, "state")["state"]["left"] == value


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("{", "request: not valid JSON: Expecting property name enclosed in double quotes"),
        ("", "request: not valid JSON: Expecting value in column 1"),
        ("[" * 100_000, "request: not valid JSON: nested too deeply"),
        ('{"do": NaN}', "request: do: expected a finite number, got NaN"),
        ('{"do": 1e999}', "request: do: expected a finite number, got Infinity"),
        (
            '{"do": -1e300}',
            "request: do: expected a number from -1e15 to 1e15, got -1e+300",
        ),
        ('{"do": ' + "[" * 40 + "]" * 40 + "}", "request: do: expected at most 32 nested levels"),
        ("9" * 5000, "request: not valid JSON: a number has too many digits"),
        ('{"do": "state", "do": "undo"}', "request: do: the key is given twice"),
        (json.dumps({"do": "x" * 501}), "request: do: expected a text of 500 characters or less"),
        ("7", "request: expected an object with keys, got 7"),
        ("{}", "request: do: expected one of load, state, legal, apply, moved, undo, but the key"),
        ('{"do": "fly"}', "request: do: expected one of load, state, legal, apply, moved, undo, "),
        ('{"do": "state", "of": 1}', "request: of: unknown key"),
        ('{"do": "apply"}', "request: action: expected this key, but it is missing"),
        ('{"do": "apply", "action": {"type": "steal"}}', "action: expected type to be one of roll"),
        ('{"do": "apply", "action": {}}', "action: expected a key that gives the type"),
        ('{"do": "apply", "action": {"type": "take"}}', "action: count: expected this key"),
        (
            '{"do": "apply", "action": {"type": "take", "count": "2"}}',
            'action: count: expected a whole number, got "2"',
        ),
        ('{"do": "apply", "action": {"type": "take", "count": 2}}', "action: expected one of"),
        ('{"do": "undo"}', "action: expected an action to undo, but none has been done yet"),
        ('{"do": "load", "position": {}}', "position: format: expected"),
        ('{"do": "moved"}', "request: position: expected this key, but it is missing"),
    ],
)
def test_a_request_that_makes_no_sense_is_refused_in_one_line(loaded, line, error):
    before = ask(loaded, "state")
    answer = loaded.answer(line)
    assert not answer["ok"]
    assert answer["error"].startswith(error)
    assert "\n" not in answer["error"]
    assert ask(loaded, "state") == before


@pytest.mark.parametrize("do", ["state", "legal", "undo"])
def test_nothing_is_done_before_a_game_is_loaded(lines, do):
    answer = ask(lines, do)
    assert answer == {
        "ok": False,
        "error": "request: do: no game is loaded: expected a load first",
    }


def test_an_action_before_a_game_is_loaded_is_refused(lines):
    assert not ask(lines, "apply", action={"type": "take", "count": 1})["ok"]


def test_an_action_sent_twice_is_refused_if_it_says_when(loaded):
    roll = {"type": "roll", "for": "counters", "count": 1, "sides": 6, "values": [6]}
    ask(loaded, "apply", action=roll)
    take = {"action": {"type": "take", "count": 1}, "at": 1}
    assert ask(loaded, "apply", **take)["ok"]
    again = ask(loaded, "apply", **take)
    assert again["error"].startswith("action: at: expected 2, the number of actions done, got 1")
    assert ask(loaded, "state")["state"]["left"] == 5


def test_a_load_that_is_refused_leaves_the_game_as_it_is(loaded):
    ask(loaded, "apply", action={"type": "roll", "for": "counters", "count": 1, "values": [3]})
    assert not ask(loaded, "load", position=TABLE, options={"odd": 1})["ok"]
    assert ask(loaded, "state")["state"]["left"] == 3
