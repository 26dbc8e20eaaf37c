"""Actions that somebody has tampered with: taken if they are legal, else refused in one line.

Each is a legal action, of now or of a while ago, with something in it left out, doubled or changed.
"""

from __future__ import annotations

import copy
import json
from random import Random
from typing import Any

import pytest

from tablecam.commands.engine import Lines
from tablecam.rules.maurice.game import GAME
from tablecam.table.position_file import position_to_json
from tests.rules.maurice.game.random_games import measured, random_table

NUMBERS = (0, -1, 1, 2, 7, 99, 10**9, -1000.5, 1e9, 1e300, -1e300, None, "x", [])
NAMES = ("F1", "F2", "B1", "french", "british", "nobody", "", "F1/1", "rider-1", "reshuffle")
STEPS, TRIED = 40, 3


def tampered(document: dict[str, Any], chance: Random) -> dict[str, Any]:
    """The document with one thing in it changed, somewhere."""
    changed = copy.deepcopy(document)
    node: Any = changed
    while True:
        keys = (
            [key for key in node if key != "type"] if isinstance(node, dict) else range(len(node))
        )
        if not keys:
            return changed
        key = chance.choice(list(keys))
        if not isinstance(node[key], dict | list) or chance.random() < 0.3:
            break
        node = node[key]
    if chance.random() < 0.2:
        del node[key]
    elif isinstance(node, list) and chance.random() < 0.3:
        node.append(node[key])
    else:
        node[key] = _other(node[key], chance)
    return changed


def _other(value: object, chance: Random) -> object:
    if isinstance(value, bool):
        return not value
    return chance.choice(NAMES if isinstance(value, str) else NUMBERS)


def ask(lines: Lines, do: str, **more: Any) -> dict[str, Any]:
    return lines.answer(json.dumps({"do": do, **more}))


@pytest.mark.parametrize(
    ("seed", "options"), [(0, {"deck_size": 24}), (1, {"deck": "house"}), (2, {"setup": True})]
)
def test_what_was_tampered_with_is_judged_like_anything_else(seed, options):
    chance = Random(seed)
    lines = Lines(GAME, chance=Random(seed))
    table = position_to_json(measured(random_table(seed), seed))
    assert ask(lines, "load", position=table, options=options)["ok"]
    known: list[dict[str, Any]] = []
    for _ in range(STEPS):
        before, legal = ask(lines, "state"), ask(lines, "legal")["legal"]
        known += chance.sample(legal, min(2, len(legal)))
        for action in chance.choices([*legal, *known], k=TRIED):
            answer = ask(lines, "apply", action=tampered(action, chance))
            if answer["ok"]:
                ask(lines, "undo")
            else:
                assert "fault" not in answer["error"], answer
            assert ask(lines, "state") == before
        assert ask(lines, "apply", action=chance.choice(legal))["ok"]


@pytest.mark.parametrize("number", [1e9, -1e9, 10**12])
def test_a_number_that_no_table_has_is_refused_by_its_key(number):
    lines = Lines(GAME, chance=Random(0))
    table = position_to_json(measured(random_table(0), 0))
    assert ask(lines, "load", position=table)["ok"]
    base = table["units"][0]["bases"][0] | {"x_mm": number}
    answer = ask(lines, "apply", action={"type": "march", "unit": "F1", "bases": [base]})
    assert answer["ok"] is False
    said = "action: bases[1].x_mm: expected a number from -1000000 to 1000000, got"
    assert said in answer["error"]
