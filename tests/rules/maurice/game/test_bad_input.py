"""Bad input to the engine: one clear answer, nothing changed, never an internal error.

Documents are spoilt in any place: numbers that overflow, strings instead of numbers, lists instead
of objects, missing and superfluous keys, and lines that are not JSON at all.
"""

from __future__ import annotations

import copy
import json
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tablecam.commands.engine import Lines
from tablecam.rules.maurice.game import GAME
from tablecam.table.model import Commander
from tablecam.table.position_file import position_to_json
from tests.rules.maurice.tables import SOUTH, box, gun, line, massed, position

TABLE = position_to_json(
    position(
        line("F1", "french", 500, 400),
        gun("F2", "french", 700, 400),
        line("B1", "british", 500, 540, SOUTH),
        massed("B2", "british", 700, 700, SOUTH),
        terrain=[box("woods", 900, 400, 1000, 500, "wood")],
        commanders=[Commander("fc", "french", 500, 200), Commander("bc", "british", 500, 1000)],
    )
)
OPTIONS = {"active": "french", "deck_size": 30, "hands": {"french": 4}, "morale": {"british": 2}}
BASE = TABLE["units"][0]["bases"][0]
WHOLE = st.sampled_from([0, 1, -1, 2, 6, 7, 10**6, -(10**19), 10**400]) | st.integers(-20, 40)
NUMBERS = WHOLE | st.sampled_from([0.5, -0.0, 1e-308, 1e308, -1e308, 1e17]) | st.floats(0, 2000)
NAMES = st.sampled_from(["F1", "F2", "B1", "B2", "F1/1", "french", "british", "fc", "nobody", ""])
ANYTHING = st.recursive(
    st.none() | st.booleans() | NUMBERS | NAMES | st.text(max_size=6),
    lambda each: st.lists(each, max_size=4) | st.dictionaries(NAMES, each, max_size=3),
    max_leaves=6,
)


@st.composite
def spoilt(draw: st.DrawFn, document: dict[str, Any]) -> dict[str, Any]:
    """A document with one value replaced by anything at all, or left out."""
    changed: dict[str, Any] = copy.deepcopy(document)
    node: Any = changed
    while True:
        key = draw(st.sampled_from(list(node) if isinstance(node, dict) else range(len(node))))
        if not isinstance(node[key], dict | list) or not node[key] or draw(st.booleans()):
            break
        node = node[key]
    if draw(st.integers(0, 9)) == 0:
        del node[key]
    else:
        node[key] = draw(ANYTHING)
    return changed


TERRAIN = {"id": "t1", "kind": "woods", "outline_mm": [[0, 0], [50, 0], [50, 50]]}
ACTIONS: tuple[dict[str, Any], ...] = (
    {"type": "volleys", "invoke": True},
    {"type": "declare", "command": "march"},
    {"type": "activate", "force": ["F1"], "spans": [12]},
    {"type": "fire-from", "direction": "left"},
    {"type": "fire", "unit": "F1", "targets": {"F1/1": "B1", "F1/2": "B1"}},
    {"type": "march", "unit": "F1", "bases": [BASE]},
    {"type": "charge", "unit": "F1", "target": "B1", "bases": [BASE]},
    {"type": "roll", "for": "F1 to hit", "count": 4, "sides": 6, "values": [1, 2, 3, 4]},
    {"type": "draw", "side": "french", "count": 1, "reshuffle_at": 1},
    {"type": "interrupt", "effect": "foil"},
    {"type": "modify", "side": "french", "symbol": "bugle", "amounts": {"F1": 1}},
    {"type": "decline", "side": "british"},
    {"type": "remove", "side": "french"},
    {"type": "clear-smoke"},
    {"type": "fall-back", "unit": "F1"},
    {"type": "rally", "unit": "F1"},
    {"type": "place-commander", "side": "french", "x_mm": 500, "y_mm": 200},
    {"type": "discard", "side": "french", "count": 1},
    {"type": "done"},
    {"type": "overrule", "units": {"F1": [BASE]}, "morale": {"french": 2}, "step": "command"},
    {"type": "overrule", "off": ["F1"], "commanders": {"fc": [500, 200]}, "number": 2},
    {"type": "lay", "units": {"F1": [BASE]}},
    {"type": "lay-terrain", "terrain": [TERRAIN]},
    {"type": "deploy", "side": "french", "units": {"F1": [BASE]}},
)
"""One action of each type, as the page sends it; most are not due."""


def ask(lines: Lines, do: str, **more: Any) -> dict[str, Any]:
    return lines.answer(json.dumps({"do": do, **more}))


def loaded(*played: dict[str, Any], **options: Any) -> Lines:
    lines = Lines(GAME, chance=Random(1))
    assert ask(lines, "load", position=TABLE, options=options or OPTIONS)["ok"]
    for action in played:
        assert ask(lines, "apply", action=action)["ok"]
    return lines


MARCHING = (
    {"type": "volleys", "invoke": False},
    {"type": "declare", "command": "march"},
    {"type": "activate", "force": ["F1"], "spans": [12]},
    {"type": "decline", "side": "british"},
    {"type": "decline", "side": "french"},
    {"type": "decline", "side": "british"},
)
GAMES = {
    "before it": loaded(setup=True),
    "in a march": loaded(*MARCHING),
    "in a volley": loaded({"type": "volleys", "invoke": True}),
    "with a hand dealt": loaded(deck="house"),
}


def is_one_clear_answer(answer: dict[str, Any]) -> bool:
    return answer["ok"] or ("fault" not in answer["error"] and "\n" not in answer["error"])


@pytest.mark.parametrize("name", GAMES)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(action=st.sampled_from(ACTIONS).flatmap(spoilt))
@example(action={"type": "overrule", "units": {"F1": []}})
@example(action={"type": "overrule", "units": {"F1": [BASE | {"x_mm": 1e308}] * 4}})
@example(action={"type": "activate", "force": ["F1"], "spans": [10**400]})
@example(action={"type": "place-commander", "side": "french", "x_mm": 1e308, "y_mm": -1e308})
def test_any_action_is_taken_or_refused_in_one_line_and_then_nothing_has_changed(name, action):
    lines = GAMES[name]
    before = ask(lines, "state")
    answer = ask(lines, "apply", action=action)
    assert is_one_clear_answer(answer), answer
    if answer["ok"]:
        assert ask(lines, "legal")["ok"]
        ask(lines, "undo")
    assert ask(lines, "state") == before


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(request=spoilt({"position": TABLE, "options": OPTIONS}))
@example(request={"position": TABLE | {"table": TABLE["table"] | {"width_mm": 1e308}}})
@example(request={"position": TABLE, "options": {"deck_size": 10**4000}})
def test_a_table_or_options_that_do_not_fit_leave_the_game_as_it_was(request):
    lines = GAMES["in a march"]
    before = ask(lines, "state")
    answer = ask(lines, "load", **request)
    assert is_one_clear_answer(answer), answer
    if answer["ok"]:
        assert ask(lines, "legal")["ok"]
        GAMES["in a march"] = loaded(*MARCHING)
    else:
        assert ask(lines, "state") == before


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(seen=spoilt(TABLE))
def test_whatever_is_seen_is_told_of_or_refused(seen):
    lines = GAMES["in a march"]
    before = ask(lines, "state")
    answer = ask(lines, "moved", position=seen)
    assert is_one_clear_answer(answer), answer
    assert ask(lines, "state") == before


@settings(max_examples=60, deadline=None)
@given(
    text=st.text(max_size=20)
    | ANYTHING.map(json.dumps)
    | st.sampled_from(
        ["{" * 9000, "[" * 9000, '{"do": NaN}', '{"do": "undo", "steps": 1e999}', "9" * 5000]
    )
)
def test_a_line_of_anything_is_answered(text):
    lines = GAMES["in a march"]
    before = ask(lines, "state")
    answer = lines.answer(text)
    assert not answer["ok"]
    assert is_one_clear_answer(answer), answer
    assert ask(lines, "state") == before
